"""A trace is written in chunks while taps come in, and reads as if it had been written at once."""

import errno
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from workbench.api.records import TAPS, Records
from workbench.formats.run_folder import RunWriter
from workbench.model.cycles import cycle_starts_ps
from workbench.model.run import Run
from workbench.run import tap_trace
from workbench.run.host_tables import host_intervals
from workbench.run.tap_trace import TapTrace
from workbench.testing.runs import synthetic_run
from workbench.traces.trace import trace_of

CLOCKS_HZ = (100e6, 133.3e6, 100e6, 66e6)


@pytest.fixture(scope="module")
def run() -> Run:
    """A run with four hardware blocks, of which the taps here say other things."""
    made = synthetic_run(cores=1, rounds=2)
    return replace(made, manifest=replace(made.manifest, blocks=made.manifest.blocks[: 1 + len(CLOCKS_HZ)]))


@pytest.fixture
def chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tap_trace, "CHUNK_TAPS", 64)
    monkeypatch.setattr(tap_trace, "_POLL_S", 0.001)


def some_taps(count: int) -> Records:
    """Of blocks 0 to 2, in order of time; the first of block 0 is at its very beginning, block 3 has none."""
    rng = np.random.default_rng(count)
    taps = np.zeros(count, TAPS)
    taps["block"] = rng.integers(0, 3, count)
    taps["state"] = rng.integers(0, 3, count)
    taps["cycle"] = np.sort(rng.integers(0, 10_000, count))
    if count:
        taps[0] = (0, 0, 2)
    return taps


def followed(run: Run, writer: RunWriter) -> TapTrace:
    return TapTrace(writer.raw, writer.part, run.manifest.blocks[0], run.manifest.blocks[1:], CLOCKS_HZ)


def expected(run: Run, taps: Records, row: int) -> tuple[list[int], list[int]]:
    if row == 0:
        starts, states = host_intervals(run.tables["calls"], 0, run.manifest.time_ps)
        return starts.tolist(), states.tolist()
    mine = taps[taps["block"] == row - 1]
    starts, states = cycle_starts_ps(mine["cycle"], CLOCKS_HZ[row - 1]).tolist(), mine["state"].tolist()
    return (starts, states) if starts and starts[0] == 0 else ([0, *starts], [0, *states])


def check(run: Run, opened: Run, taps: Records) -> None:
    trace = trace_of(opened)
    assert trace is not None
    for row in range(trace.rows):
        edges, states = trace.row(row)
        assert (edges[:-1].tolist(), states.tolist()) == expected(run, taps, row)
        assert edges[-1] == run.manifest.time_ps


@pytest.mark.usefixtures("chunks")
@pytest.mark.parametrize("count", [0, 1, 63, 64, 1000])
def test_chunks_read_as_what_the_taps_say(tmp_path: Path, run: Run, count: int) -> None:
    writer = RunWriter(tmp_path / "run")
    taps, trace = some_taps(count), followed(run, writer)
    data = taps.tobytes()
    with (writer.raw / "taps.bin").open("wb") as stream:
        for piece in range(0, len(data), 777):  # records are cut through
            stream.write(data[piece : piece + 777])
            stream.flush()
            trace.catch_up()
    tables = trace.finish(run.tables["calls"], 1, run.manifest.time_ps)
    assert len(tables["interval_offsets"]["offset"]) == (count // 64 + 1) * len(run.manifest.blocks) + 1
    check(run, writer.finish(run.manifest, {"calls": run.tables["calls"], **tables}), taps)


@pytest.mark.usefixtures("chunks")
def test_the_trace_grows_while_the_run_goes_on(tmp_path: Path, run: Run) -> None:
    writer = RunWriter(tmp_path / "run")
    taps, trace = some_taps(1000), followed(run, writer)
    written = writer.part / "intervals" / "state.npy"
    with trace.following(), (writer.raw / "taps.bin").open("wb") as stream:
        stream.write(taps[:500].tobytes())
        stream.flush()
        while len(np.load(written)) < 500 // 64 * 64:
            pass
        stream.write(taps[500:].tobytes())
    check(run, writer.finish(run.manifest, trace.finish(run.tables["calls"], 1, run.manifest.time_ps)), taps)


@pytest.mark.usefixtures("chunks")
def test_a_disk_that_fills_up_is_told_at_the_end(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = RunWriter(tmp_path / "run")
    (writer.raw / "taps.bin").write_bytes(some_taps(500).tobytes())
    trace = followed(run, writer)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(trace._writer, "append", full)
    with trace.following():
        while trace._failed is None:
            pass
    with pytest.raises(OSError, match="No space left"):
        trace.finish(run.tables["calls"], 1, run.manifest.time_ps)
