"""A design with two clocks: whose clock an edge has, how full FIFOs between them get, and its deadlocks."""

from pathlib import Path

import pytest

from workbench.api.job import Job
from workbench.model.diagnostic import Severity
from workbench.model.run import Run
from workbench.session.keep.results import open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

PROJECT = Path(__file__).parent / "data" / "applications" / "round_trip"
FAST = ["round_trip.there.out", "round_trip.adder.m_axis"]


def run_of(folder: Path, **settings: int) -> Run:
    workspace = open_workspace(PROJECT, load_plugins())
    assert not workspace.diagnostics
    return run_workspace(workspace, RunOptions(out=folder / "run", deterministic=True, settings=settings), Job())


def error_of(run: Run) -> str:
    (said,) = (d for d in run.manifest.diagnostics if d.severity is Severity.ERROR)
    assert not run.complete
    return f"{said.message}. {said.hint}"


def test_a_fifo_between_two_clocks_holds_what_one_side_gave_and_the_other_did_not_take(tmp_path: Path) -> None:
    words = 8
    run = run_of(tmp_path, WORDS=words)
    assert (run.complete, run.manifest.exit) == (True, 0), run.manifest.reason
    assert run.path is not None
    assert (run.path / "stdout.txt").read_text().split() == [str(sum(range(1, words + 1)))]
    analysis = open_result(run.path, load_plugins()).analysis
    streams = {one.stream.id: one for one in analysis.streams}
    cycles = {clock.name: clock.cycles for clock in run.manifest.clocks}
    assert {one.stream.clock for one in streams.values()} == {"bus", "fast"}
    assert [name for name, one in streams.items() if one.stream.clock == "fast"] == FAST
    assert all(one.cycles == cycles[one.stream.clock] for one in streams.values())
    assert {streams[name].transfers for name in (*FAST, "round_trip.feeder.m_axis", "round_trip.back.out")} == {words}
    there, back = analysis.fifos
    assert (there.fifo.id, there.fifo.depth, there.most) == ("round_trip.there", 4, 4)
    assert (there.cycles, back.cycles) == (cycles["bus"], cycles["fast"])  # in cycles of the clock that they take on
    assert dict(there.occupancy)[4] <= there.input.sink_stalls + there.input.idle  # until its taking side hears of room
    # A word is there for the three edges at least that its being there takes to the other clock.
    assert there.mean * there.cycles >= words * 2 * 100 / 150
    findings = [one for one in open_result(run.path, load_plugins(), 1.0).analysis.findings if one.scope == "fifo"]
    found = {(one.rule, one.where): one for one in findings}
    starved = found["empty buffer", "round_trip.there"]
    assert starved.title == "adder waits for words from feeder"
    assert starved.time_s == pytest.approx(there.output.source_stalls / 150e6)  # of the clock that it gives on
    assert found["full buffer", "round_trip.there"].time_s == pytest.approx(there.input.sink_stalls / 100e6)
    held = {one.other for name in FAST for one in streams[name].held}
    assert held <= {"round_trip.adder.m_axis", "round_trip.back.out"}, "not what a block itself remembers"


@pytest.mark.parametrize("poll", [False, True], ids=["the host waits for an interrupt", "the host polls"])
def test_a_deadlock_across_two_clocks_is_named(tmp_path: Path, poll: bool) -> None:
    """More words than both FIFOs and the adder have room for; the feeder takes none before it has given all."""
    said = error_of(run_of(tmp_path, WORDS=30, POLL=int(poll)))
    assert "it is a deadlock: round_trip.adder waits for round_trip.back, which is full, " in said
    assert "round_trip.feeder waits for round_trip.there, which is full" in said
    assert "Deepen the FIFO round_trip.back (now 4 words) or round_trip.there (now 4 words)." in said


def test_a_ring_in_which_all_wait_for_words_is_no_deadlock_and_what_the_host_reads_is_told(tmp_path: Path) -> None:
    said = error_of(run_of(tmp_path, WORDS=0, POLL=1))
    assert "all wait for input: " in said
    assert "reads were all of address 0x0 and returned 0x0" in said
    assert "deadlock" not in said
