"""A part of a run: its states, calls and findings, by sums over the run's own intervals and calls."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from answers import document_of

from workbench.analysis import analyse, load_knowledge
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.model.diagnostic import WorkbenchError
from workbench.model.run import PS_PER_S, Run
from workbench.session.keep.results import open_knowledge
from workbench.session.keep.time_range import between
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_platform, synthetic_run

RUN = synthetic_run(cores=3, rounds=4)
WHOLE = RUN.manifest.time_ps


def state_time(run: Run) -> dict[tuple[int, int], int]:
    table = run.tables["state_time"]
    return {(b, s): t for b, s, t in zip(*(table[n].tolist() for n in ("block", "state", "time_ps")), strict=True) if t}


def by_intervals(run: Run, first: int, last: int) -> dict[tuple[int, int], int]:
    """Time in each state between two moments, interval by interval."""
    offsets, table = run.tables["interval_offsets"]["offset"], run.tables["intervals"]
    found: dict[tuple[int, int], int] = {}
    for block in range(len(offsets) - 1):
        starts = table["start_ps"][offsets[block] : offsets[block + 1]].tolist()
        states = table["state"][offsets[block] : offsets[block + 1]].tolist()
        for begin, end, state in zip(starts, [*starts[1:], run.manifest.time_ps], states, strict=True):
            if (inside := min(end, last) - max(begin, first)) > 0:
                found[block, state] = found.get((block, state), 0) + inside
    return found


def test_the_whole_run_as_a_range_is_the_run() -> None:
    cut = between(RUN, 0, WHOLE)
    assert state_time(cut) == state_time(RUN)
    for name in ("count", "bytes", "time_ps", "runs", "max_run"):
        assert cut.tables["call_stats"][name].tolist() == RUN.tables["call_stats"][name].tolist()
    knowledge = open_knowledge(load_plugins())[0]
    platform = synthetic_platform()
    findings = analyse(RUN, platform, knowledge).findings
    assert len(findings) > 3
    of_states = tuple(one for one in findings if one.scope != "fifo")  # streams are counted over whole runs
    assert analyse(cut, platform, knowledge).findings == of_states


@pytest.mark.parametrize(("first", "last"), [(0.1, 0.2), (0.0, 0.5), (0.5, 1.0), (0.31, 0.3101), (0.999, 1.0)])
def test_states_are_those_of_the_intervals_and_sum_to_the_range(first: float, last: float) -> None:
    begin, end = round(WHOLE * first), round(WHOLE * last)
    cut = between(RUN, begin, end)
    assert cut.manifest.time_ps == end - begin
    assert state_time(cut) == by_intervals(RUN, begin, end)
    blocks = analyse(cut, synthetic_platform(), load_knowledge([], [])[0]).blocks
    assert all(m.time_s == pytest.approx((end - begin) / PS_PER_S) for m in blocks)


def test_neighbouring_ranges_add_up_to_the_whole() -> None:
    cuts = [0, WHOLE // 7, WHOLE // 3, WHOLE // 3 + 12_345, WHOLE]
    parts = [between(RUN, a, b) for a, b in pairwise(cuts)]
    summed: dict[tuple[int, int], int] = {}
    for part in parts:
        for key, spent in state_time(part).items():
            summed[key] = summed.get(key, 0) + spent
    assert summed == state_time(RUN)
    calls = [p.tables["calls"] for p in parts]
    assert sum(int((c["t1_ps"] - c["t0_ps"]).sum()) for c in calls) == int(
        (RUN.tables["calls"]["t1_ps"] - RUN.tables["calls"]["t0_ps"]).sum()
    )
    moved = sum(int(c["bytes"].sum()) for c in calls)
    assert moved == pytest.approx(int(RUN.tables["calls"]["bytes"].sum()), abs=len(cuts))


def test_a_call_over_an_end_keeps_its_rate() -> None:
    calls = RUN.tables["calls"]
    row = int(np.argmax(calls["bytes"]))
    t0, t1, size = (int(calls[name][row]) for name in ("t0_ps", "t1_ps", "bytes"))
    cut = between(RUN, (t0 + t1) // 2, t1).tables["calls"]
    assert len(cut["bytes"]) == 1
    assert int(cut["t0_ps"][0]) == int(cut["host_ps"][0]) == 0
    rate = int(cut["bytes"][0]) / int(cut["t1_ps"][0] - cut["t0_ps"][0])
    assert rate == pytest.approx(size / (t1 - t0), rel=0.01)


def test_what_cannot_be_cut_is_said() -> None:
    profile = Run(None, RUN.manifest, {n: t for n, t in RUN.tables.items() if not n.startswith("interval")})
    with pytest.raises(WorkbenchError, match="no trace"):
        between(profile, 0, 10)
    with pytest.raises(WorkbenchError, match="empty"):
        between(RUN, 10, 10)


def test_the_command_line_reports_a_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    RunWriter(folder, RUN.manifest).finish(RUN.manifest, RUN.tables)
    last = WHOLE / PS_PER_S / 2
    document = document_of(capsys, ["report", str(folder), "--from", "0 s", "--to", f"{last:.12f} s", "--json"])
    assert document["time_s"] == pytest.approx(last)
    assert document["time_s"] < RUN.time_s
    assert main(["report", str(folder), "--to", f"{last * 1e6:.6f} us"]) == 0
    assert f", 0 s to {last * 1e6:.3f}" in capsys.readouterr().out.splitlines()[0].replace("\n", " ")
    assert main(["report", str(folder), "--to", "5 apples"]) == 2
    assert "--to 5 apples" in capsys.readouterr().err
    assert main(["report", str(folder), "--from", "5 s"]) == 2
    assert "this range is empty" in capsys.readouterr().err
