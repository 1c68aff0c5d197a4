"""Programs made at random: what is recorded of them is what they counted (more: benchmarks/call_properties.py)."""

import pytest
from host_programs import Maker, hold, made
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize(("standard", "api"), [(0, False), (17, True)])
@settings(max_examples=1, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(random=st.randoms(use_true_random=False))
def test_what_is_recorded_is_what_was_done(tmp_path_factory, standard, api, random) -> None:
    root = tmp_path_factory.mktemp("program")
    program = made(root / "root", Maker(random, standard, api))
    words = f"-std=gnu++{standard}" if standard else "-std=gnu11"
    assert hold(program, ["g++" if standard else "gcc"], ["-O1"], words, root / "kept").wrong == ""
