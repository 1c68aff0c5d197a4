"""Streams and FIFOs of ordinary RTL on a real machine: monitors in the design's copy, read out through the platform's
port, say what the simulated card says."""

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.streaming.agents.kept import kept_answers
from rc_workbench_plugins.streaming.query.measures import AssertResult, MeasureResult, Metric
from rc_workbench_plugins.streaming.query.seen import seen
from rtl_simulator import make_board
from run_query import asked

from workbench.api.instrument.stream_probe import with_streams
from workbench.api.job import Job
from workbench.model.diagnostic import WorkbenchError
from workbench.model.run import PS_PER_S, Run
from workbench.session.change.run_depths import front_of_run
from workbench.session.keep.collecting import collect_records
from workbench.session.make.agents import agent_switches, questions
from workbench.session.make.pipeline import RunOptions, instrument_workspace, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

QUEUED = Path(__file__).parent / "data" / "queued"
ROUNDS, BURST, DELAY, DEPTH = 3, 24, 9, 16
#: A word in each round, which the design turns into a burst; the next one comes when that has passed.
MAIN = """#include <stdint.h>
#include <stdio.h>

#include "fpga.h"

int main(void)
{
    fpga_t *fpga = fpgaOpen(0);
    for (uint32_t word = 1; word <= 3; word++) {
        fpgaWrite(fpga, &word, 0, 1);
        while (!fpgaReadReg(fpga, 0x100)) {}
    }
    printf("%u\\n", fpgaReadReg(fpga, 0x101));
    fpgaClose(fpga);
    return 0;
}
"""
PROJECT = """schema_version: 1
name: bursts
platform: nallatech_h101
host: {sources: [main.c]}
hardware:
  sources: [hdl/*.v]
  top: queued_top
  parameters: {DELAY: 9, BURST: 24}
  read_out: {first: 0x400, last: 0x40F}
  count_streams: true
  query: board.query
  query_words: 2048
  trace: {records: 1024, burst: 64}
"""
TRACE = "  trace: {records: 1024, burst: 64}\n"
#: What agents count in the FPGA: streams, a FIFO, states of a block, and both in one. On the board, what does not
#: depend on when the counting began: there that is as the program first calls it.
ON_BOARD = (
    "measure max occupancy at queue",
    "measure rate(frame=24) at queue.m when occupancy at queue > 12",
    "measure backpressure at taker.m when occupancy at queue > 12",
    "measure min interval at queue.m when occupancy at queue > 0",
    "measure mean latency at taker.m -> queue.m",
    "measure mean occupancy at taker.m -> queue.m when occupancy at taker.m -> queue.m > 0",
    "measure visits of state fetch of adder",
    "measure max dwell of state add of adder when occupancy at queue > 3",
    "measure hist dwell of state add of adder",
    "measure transitions of state fetch -> add of adder",
    "measure rate at queue.m when state fetch of adder & !backpressure at taker.m",
    "assert occupancy at queue < 12",
    "measure max value at taker.m",
    "measure mean(frame=24) value at queue.m when occupancy at queue > 3",
    "measure sum value at taker.m",
    "measure hist(bins=2, low=0, high=18446744073709551616) value at queue",
    "measure min interval at queue.m when value at queue.m >= 9223372036854775808",
    "assert value at queue.m < 9223372036854775811 | occupancy at queue < 5",
)
QUERY = (
    *ON_BOARD,
    "measure hist occupancy at queue",
    "measure hist occupancy at taker.m -> queue.m",
    "measure mean(frame=24) latency at queue",
    "measure max(frame=2 us) occupancy at taker.m -> queue.m when occupancy at taker.m -> queue.m > 7",
    "measure mean(frame=2 us) occupancy at queue",
    "measure trace(frame=12) latency at queue when occupancy at queue > 9",
    "measure share of state add of adder",
    "measure sum dwell of state starve of adder",
    "measure share(frame=1 us) of state add of adder when occupancy at queue > 3",
    "measure visits of state starve of adder when occupancy at queue == 0",
    "assert !backpressure at taker.m | occupancy at queue == 16",
    "assert state add of adder | occupancy at queue < 15",
)


def write_project(parent: Path) -> Path:
    """The project file, with variants beside it."""
    folder = shutil.copytree(QUEUED, parent / "bursts", ignore=shutil.ignore_patterns("*.yaml"))
    (folder / "main.c").write_text(MAIN)
    (folder / "board.query").write_text("\n".join(ON_BOARD))
    (folder / "card.query").write_text("\n".join(QUERY))
    untraced = PROJECT.replace(TRACE, "")
    (folder / "vhdl.workbench.yaml").write_text(untraced.replace("hdl/*.v", "vhdl/*.vhd"))
    card = untraced.replace("board.query", "card.query").replace("2048", "8192")
    (folder / "card.workbench.yaml").write_text(card)
    (folder / "bursts.workbench.yaml").write_text(PROJECT)
    return folder / "bursts.workbench.yaml"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def records(project: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return recorded(project, tmp_path_factory.mktemp("board"))


def recorded(project: Path, folder: Path) -> tuple[Path, Path]:
    """The tree, and what its program left on a board that is a simulation."""
    tree, build, raw = (folder / name for name in ("tree", "build", "raw"))
    build.mkdir()
    raw.mkdir()
    instrument_workspace(open_workspace(project, load_plugins()), {}, tree)
    command = make_board(tree, "WORD_CYCLES=20", "READ_CYCLES=0", level="-O1")
    made = subprocess.run(command, cwd=build, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    run_again(folder, raw)
    return tree, raw


def run_again(folder: Path, raw: Path, agent: str = "") -> None:
    """What was built in a folder, started with `agent` for its agents."""
    environment = {**os.environ, "RCW_RAW": str(raw), "RCW_TRACE": "1", "RCW_AGENT": agent}
    done = subprocess.run(
        [folder / "build" / "host"], cwd=folder / "tree" / "hdl", env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, f"{BURST * 6}\n")


@pytest.fixture(scope="module")
def board(records: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Run:
    return collect_records(*records, tmp_path_factory.mktemp("collected") / "run", load_plugins())


@pytest.fixture(scope="module")
def card(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    options = RunOptions(out=tmp_path_factory.mktemp("card") / "run", deterministic=True, trace=True)
    return run_workspace(open_workspace(project.with_name("card.workbench.yaml"), load_plugins()), options, Job())


def columns(run: Run, table: str, *names: str) -> list[list[int]]:
    return [np.asarray(run.tables[table][name]).tolist() for name in names]


def test_a_board_counts_streams_as_the_card_does(board: Run, card: Run) -> None:
    for run in (board, card):
        assert [one.id for one in run.manifest.streams] == ["queued_top.taker.m", "queued_top.queue.m"]
    names = ("stream", "transfers", "sink_stalls")
    assert columns(board, "streams", *names) == columns(card, "streams", *names)
    assert columns(board, "streams", "transfers") == [[ROUNDS * BURST] * 2]
    (stalls,) = columns(board, "streams", "sink_stalls")
    assert min(stalls) > 0, "the FIFO is full, and the adder is slow"


def test_a_board_tells_every_word_and_what_a_fifo_held(board: Run, card: Run) -> None:
    held = []
    for run in (board, card):
        rows = zip(*columns(run, "occupancy", "words", "cycles"), strict=True)
        held.append({words: cycles for words, cycles in rows if words and cycles})
    assert held[0] == held[1]
    assert max(held[0]) == DEPTH
    for number in (0, 1):
        steps = []
        for run in (board, card):
            stream, cycle, early = map(np.array, columns(run, "stream_transfers", "stream", "cycle", "early"))
            mine = stream == number
            rounds = cycle[mine].reshape(ROUNDS, BURST)
            steps.append((np.diff(rounds, axis=1).tolist(), early[mine].reshape(ROUNDS, BURST)[:, 1:].tolist()))
        assert steps[0] == steps[1]


def test_a_boards_fifos_are_replayed_though_its_clock_is_measured(board: Run) -> None:
    """A measured frequency has more digits than the replay's numbers hold."""
    front = front_of_run(board, load_plugins(), Job())
    assert front.replayed_ps is not None
    assert front.replayed_ps / front.run_ps == pytest.approx(1, rel=1e-3)


def measured(run: Run, text: str) -> MeasureResult:
    (result,) = asked(run, text)
    assert isinstance(result, MeasureResult)
    return result


@pytest.mark.parametrize(
    "text",
    [
        "measure max occupancy at queue",
        "measure rate at queue.m when occupancy at queue > 12",
        "measure backpressure at taker.m when occupancy at queue > 12",
        "measure min interval at queue.m when occupancy at queue > 0",
    ],
)
def test_questions_are_answered_alike(board: Run, card: Run, text: str) -> None:
    """A board's clock is as fast as it was measured: a rate of its own, not the platform's."""
    one, other = measured(board, text).frames[0], measured(card, text).frames[0]
    assert one.count == other.count
    if "rate" in text or "interval" in text:
        hz = [run.manifest.clocks[0].frequency_hz for run in (board, card)]
        assert one.value is not None
        assert other.value is not None
        scale = hz[0] / hz[1] if "rate" in text else hz[1] / hz[0]
        assert one.value == pytest.approx(other.value * scale, rel=1e-3)
    else:
        assert one.value == pytest.approx(other.value, rel=1e-3)


def test_latencies_of_the_fifo_are_alike(board: Run, card: Run) -> None:
    cycles = []
    for run in (board, card):
        edge = seen(run).events.edges["queued_top.queue"]
        waits = (edge.pop_ps - edge.push_ps) * run.manifest.clocks[0].frequency_hz / 1e12
        cycles.append(np.rint(waits).astype(int).tolist())
    assert cycles[0] == cycles[1]
    assert len(cycles[0]) == ROUNDS * BURST


def test_a_trace_that_is_too_short_says_so(board: Run, records: tuple[Path, Path], tmp_path: Path) -> None:
    """Without the taps of one stream's last words they are fewer than the counters have."""
    raw = shutil.copytree(records[1], tmp_path / "raw")
    os.environ.pop("RCW_TRACE", None)
    (raw / "host_calls.bin").unlink()
    run = collect_records(records[0], raw, tmp_path / "run", load_plugins())
    assert columns(run, "streams", "transfers") == columns(board, "streams", "transfers")
    assert "stream_transfers" not in run.tables
    assert any("of the 144 words of its streams" in one.message for one in run.manifest.diagnostics)


def test_vhdl_asks_in_its_own_words(project: Path) -> None:
    workspace = open_workspace(project, load_plugins())
    scan = workspace.scan().hdl
    blocks = tuple(replace(block, file=block.file.replace(".v", ".vhd")) for block in scan.blocks)
    said = with_streams(workspace.project.hardware, replace(scan, blocks=blocks)).metrics
    assert said["take"] == ("correlate m_tvalid_passes when m_tvalid = '1' with m_tready = '1'",)
    said = with_streams(workspace.project.hardware, scan).metrics
    assert said == {
        "take": ("correlate m_tvalid_passes when m_tvalid with m_tready",),
        "fifo": ("correlate m_tvalid_passes when m_tvalid with m_tready",),
    }


@pytest.fixture(scope="module")
def vhdl_built(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same design in VHDL, without a trace: agents alone know more than sums."""
    folder = tmp_path_factory.mktemp("vhdl")
    recorded(project.with_name("vhdl.workbench.yaml"), folder)
    return folder


@pytest.fixture(scope="module")
def vhdl_board(vhdl_built: Path) -> Run:
    return collect_records(vhdl_built / "tree", vhdl_built / "raw", vhdl_built / "run", load_plugins())


def told(result: MeasureResult | AssertResult) -> str:
    return result.measure.text if isinstance(result, MeasureResult) else result.asserted.text


def counted_by(run: Run) -> dict[tuple[str, str], MeasureResult | AssertResult]:
    """What agents counted, by the FPGA and the statement."""
    answers = kept_answers(run.tables, "")
    assert answers is not None
    assert [one.message for one in answers.diagnostics] == []
    return {(one.agent, told(one)): one for one in answers.results}


def counted(run: Run) -> dict[str, MeasureResult | AssertResult]:
    """What the agents of the only FPGA counted, by the statements."""
    return {text: one for (_, text), one in counted_by(run).items()}


def test_agents_count_what_a_trace_shows(card: Run) -> None:
    """Every statement, frame by frame, of one run: counted cycle by cycle, and evaluated event by event. The run ends
    within a cycle, of which no counter has a part."""
    counts, period_ps = counted(card), PS_PER_S / card.manifest.clocks[0].frequency_hz
    traced = asked(card, "\n".join(QUERY))
    assert counts.keys() == {told(one) for one in traced} == set(QUERY)
    for result in traced:
        other = counts[told(result)]
        if isinstance(result, AssertResult):
            assert isinstance(other, AssertResult)
            assert (other.broken_ps, other.known) == (result.broken_ps, result.known), told(result)
            continue
        assert isinstance(other, MeasureResult)
        for one, frame in zip(other.frames, result.frames, strict=True):
            assert (one.start_ps, one.count) == (frame.start_ps, frame.count), told(result)
            lengths = ((one.end_ps, frame.end_ps), (one.collected_ps, frame.collected_ps))
            assert all(abs(a - b) < period_ps for a, b in lengths), told(result)
            value = None if frame.value is None else pytest.approx(frame.value, rel=1e-3)
            assert one.value == value, told(result)
            assert (one.histogram is None) == (frame.histogram is None)
            assert np.allclose(one.histogram or (), frame.histogram or (), atol=period_ps)
            for a, b in zip(one.samples or (), frame.samples or (), strict=True):
                assert a.tolist() == b.tolist(), told(result)


def in_cycles(run: Run, result: MeasureResult | AssertResult) -> list[object]:
    """What a statement of `ON_BOARD` came to, in cycles of its FPGA's clock."""
    own = [clock for clock in run.manifest.clocks if clock.name.startswith(f"{result.agent}:")]
    hz = (own or run.manifest.clocks)[0].frequency_hz

    def cycles(ps: float) -> int:
        return round(ps * hz / PS_PER_S)

    if isinstance(result, AssertResult):
        return [cycles(end - begin) for begin, end in result.broken_ps]
    rows: list[object] = []
    of = result.measure
    for frame in result.frames:
        value = frame.value
        if value is not None and of.metric in (Metric.LATENCY, Metric.INTERVAL, Metric.DWELL):
            value = cycles(value * 1000) / 1000
        elif value is not None and of.metric is Metric.RATE:
            value = round(value / hz, 6)
        collected = cycles(frame.collected_ps) if of.when else 0
        rows.append((frame.count, collected, value, frame.histogram))
    return rows


def test_agents_on_boards_count_what_those_on_the_card_do(board: Run, vhdl_board: Run, card: Run) -> None:
    counts = {run.manifest.created + str(run.path): (run, counted(run)) for run in (board, vhdl_board, card)}
    for text in ON_BOARD:
        verilog, vhdl, of_card = (in_cycles(run, results[text]) for run, results in counts.values())
        assert verilog == vhdl == of_card, text


def test_values_of_words_are_those_that_the_program_sent(board: Run, vhdl_board: Run) -> None:
    """1, 2 and 3, each so often, 2**63 more where they are odd."""
    words = [(1 << 63) + 1, 2, (1 << 63) + 3]
    for run in (board, vhdl_board):
        counts = counted(run)
        most, mean, total, bins, interval, held = (counts[text] for text in ON_BOARD[-6:])
        assert isinstance(most, MeasureResult)
        assert isinstance(mean, MeasureResult)
        assert isinstance(total, MeasureResult)
        assert isinstance(bins, MeasureResult)
        assert isinstance(interval, MeasureResult)
        assert isinstance(held, AssertResult)
        assert [frame.value for frame in most.frames] == [words[2]]
        assert [frame.value for frame in mean.frames[:ROUNDS]] == words
        assert [frame.value for frame in total.frames] == [BURST * sum(words)]
        assert [frame.histogram for frame in bins.frames] == [(0, BURST, 2 * BURST, 0)]
        assert [frame.count for frame in interval.frames] == [2 * BURST - 1]
        assert len(held.broken_ps) == 1
        assert held.compared[0][1] == words[2]


def test_streams_and_fifos_of_vhdl_are_counted_without_a_trace(vhdl_board: Run, card: Run) -> None:
    assert [one.id for one in vhdl_board.manifest.streams] == [one.id for one in card.manifest.streams]
    names = ("stream", "transfers", "sink_stalls")
    assert columns(vhdl_board, "streams", *names) == columns(card, "streams", *names)
    assert "stream_transfers" not in vhdl_board.tables
    held = [
        {words: n for words, n in zip(*columns(run, "occupancy", "words", "cycles"), strict=True) if words and n}
        for run in (vhdl_board, card)
    ]
    assert held[0] == held[1]
    assert max(held[0]) == DEPTH


def test_a_run_without_a_trace_is_answered_by_its_agents(vhdl_board: Run, card: Run) -> None:
    (answer,) = asked(vhdl_board, f"label: {ON_BOARD[1]}")
    assert isinstance(answer, MeasureResult)
    assert (answer.agent, answer.measure.label) == ("FPGA", "label")
    assert [frame.count for frame in answer.frames] == [frame.count for frame in measured(card, ON_BOARD[1]).frames]
    (held,) = asked(vhdl_board, "assert occupancy at queue < 12")
    assert isinstance(held, AssertResult)
    assert len(held.broken_ps) == ROUNDS
    with pytest.raises(WorkbenchError, match="this run has no trace"):
        asked(vhdl_board, "measure rate(frame=25) at queue.m")


def test_frames_and_statements_are_switched_without_a_new_build(
    project: Path, vhdl_built: Path, vhdl_board: Run, tmp_path: Path
) -> None:
    rate, visits, plugins = ON_BOARD[1], ON_BOARD[6], load_plugins()
    assert questions(open_workspace(project, plugins)) == ON_BOARD
    tree, raw = vhdl_built / "tree", tmp_path / "raw"
    raw.mkdir()
    numbers = agent_switches(tree, plugins, "12", [rate, visits])
    run_again(vhdl_built, raw, " ".join(map(str, numbers)))
    run = collect_records(tree, raw, tmp_path / "run", plugins)
    counts, built = counted(run), counted(vhdl_board)
    assert counts.keys() == {rate, visits}
    short, long = counts[rate], built[rate]
    assert isinstance(short, MeasureResult)
    assert isinstance(long, MeasureResult)
    assert short.measure.frame.elements == 12
    assert "in frames of 12 words" in short.trust
    in_pairs = [sum(frame.count for frame in short.frames[n : n + 2]) for n in range(0, ROUNDS * BURST // 12, 2)]
    assert in_pairs == [frame.count for frame in long.frames[:ROUNDS]]
    assert columns(run, "occupancy", "words") == columns(vhdl_board, "occupancy", "words")
    options = RunOptions(out=tmp_path / "card", deterministic=True, frame="12", only=(rate, visits))
    on_card = run_workspace(open_workspace(project.with_name("card.workbench.yaml"), plugins), options, Job())
    of_card = counted(on_card)
    assert of_card.keys() == counts.keys()
    for text, result in of_card.items():
        assert isinstance(result, MeasureResult)
        assert in_cycles(on_card, result) == in_cycles(run, counts[text])
    switched = of_card[rate]
    assert isinstance(switched, MeasureResult)
    assert switched.trust == short.trust
    for frame, only, message in (
        ("3 kg", [], "length of a frame"),
        ("5 ns", [], "cannot be counted"),
        ("", ["m9"], "m9"),
    ):
        with pytest.raises(WorkbenchError, match=message):
            agent_switches(tree, plugins, frame, only)
