"""Programs made at random: what is recorded of them is what they counted (more: benchmarks/call_properties.py)."""

from __future__ import annotations

import pytest
from host_programs import Maker, hold
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize(("cpp", "flags"), [(False, ["-O2"]), (True, ["-O1"])])
@settings(max_examples=1, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(random=st.randoms(use_true_random=False))
def test_what_is_recorded_is_what_was_done(tmp_path_factory, cpp, flags, random) -> None:
    text = Maker(random, cpp).program(4)
    held = hold(tmp_path_factory.mktemp("program") / "root", text, cpp, ["gcc"], flags)
    assert held.truth == held.recorded
    assert (held.counted, held.missed, held.same_output) == (0, (), True)
