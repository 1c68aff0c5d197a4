"""Streams and FIFOs of ordinary RTL on a real machine: monitors in the design's copy, read out through the platform's
port, say what the simulated card says."""

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.streaming.query.measures import MeasureResult
from rc_workbench_plugins.streaming.query.seen import seen
from rtl_simulator import make_board
from run_query import asked

from workbench.api.instrument.stream_probe import with_streams
from workbench.api.job import Job
from workbench.model.run import Run
from workbench.session.keep.collecting import collect_records
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
  trace: {records: 1024, burst: 64}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(
        QUEUED, tmp_path_factory.mktemp("project") / "bursts", ignore=shutil.ignore_patterns("*.yaml")
    )
    (folder / "main.c").write_text(MAIN)
    (folder / "bursts.workbench.yaml").write_text(PROJECT)
    return folder / "bursts.workbench.yaml"


@pytest.fixture(scope="module")
def records(project: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The tree, and what its program left on a board that is a simulation."""
    tree, build, raw = (tmp_path_factory.mktemp(name) / name for name in ("tree", "build", "raw"))
    build.mkdir()
    raw.mkdir()
    instrument_workspace(open_workspace(project, load_plugins()), {}, tree)
    made = subprocess.run(make_board(tree, "WORD_CYCLES=20"), cwd=build, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    environment = {**os.environ, "RCW_RAW": str(raw), "RCW_TRACE": "1"}
    done = subprocess.run([build / "host"], cwd=tree / "hdl", env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{BURST * 6}\n")
    return tree, raw


@pytest.fixture(scope="module")
def board(records: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Run:
    return collect_records(*records, tmp_path_factory.mktemp("collected") / "run", load_plugins())


@pytest.fixture(scope="module")
def card(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    options = RunOptions(out=tmp_path_factory.mktemp("card") / "run", deterministic=True, trace=True)
    return run_workspace(open_workspace(project, load_plugins()), options, Job())


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
