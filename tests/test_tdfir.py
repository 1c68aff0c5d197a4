"""ReCAP's time-domain FIR on a platform whose transfer times are estimates: forms, answers, and what results say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from workbench.model.changes import read_change
from workbench.model.prediction import Trust
from workbench.replay.prepare import prepare
from workbench.session.keep.results import OpenRun

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))
import tdfir


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> tdfir.Bench:
    return tdfir.Bench(tmp_path_factory.mktemp("tdfir"))


@pytest.fixture(scope="module")
def original(bench: tdfir.Bench) -> OpenRun:
    """A run of set A's original on one FPGA; its output was held against NumPy's."""
    return bench.measure("original", 1, "A")[0]


def test_a_run_by_estimates_says_so(original: OpenRun) -> None:
    (told,) = (one.message for one in original.run.manifest.diagnostics if "estimates" in one.message)
    assert told == (
        "transfer times of GiDEL PROCStar III are estimates: write, read up to 2 times longer or shorter; "
        "write_reg, read_reg up to 4 times longer or shorter"
    )


def test_what_is_predicted_by_estimates_is_doubtful_and_its_interval_has_those_that_are_off(original: OpenRun) -> None:
    batch = tdfir.SETS["A"].batch
    changes = [read_change(f"unite calls={calls} count={batch}") for calls in tdfir.UNITED]
    told = prepare(original.run, original.platform).predict(changes)
    assert told.trust is Trust.DOUBTFUL
    assert "transfer times are estimates, and may be 4 times longer or shorter" in told.why
    assert told.speedup is not None
    assert told.interval is not None
    lower, upper = told.interval
    assert lower < 0.95 * told.speedup
    assert upper > 1.02 * told.speedup


def test_known_times_are_no_estimates(original: OpenRun) -> None:
    """Without what says that they are estimates, the same prediction is the same, with a narrow interval."""
    assert original.platform is not None
    tables = {
        name: one.model_copy(update={"estimated_within": None})
        for name, one in original.platform.transfer_tables.items()
    }
    known = original.platform.model_copy(update={"transfer_tables": tables})
    change = [read_change("unite calls=readOutput count=10")]
    told, by_estimates = (prepare(original.run, one).predict(change) for one in (known, original.platform))
    assert told.speedup == by_estimates.speedup
    assert told.interval is not None
    assert told.interval[1] - told.interval[0] < 0.02
    assert "estimates" not in told.why
