"""Applications behind AXI ports, run from their project files: every transfer's times equal to sums by hand.

All clocks are 100 MHz: a cycle is 10,000 ps, and cycle k begins at k times that. The rules: resources/card/README.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partialmethod
from itertools import pairwise
from pathlib import Path

import pytest

from workbench.api.job import Job
from workbench.formats.run_folder import RunWriter
from workbench.run.records import read_transfers
from workbench.session.pipeline import RunOptions, run_workspace
from workbench.session.plugins import load_plugins
from workbench.session.workspace import open_workspace

APPLICATIONS = Path(__file__).parent / "data" / "applications"
P = 10_000
REGISTER_WRITE, REGISTER_READ = 200_000, 300_000  # as the cards' tables say


@dataclass(frozen=True)
class Moved:
    """A transfer, or the wait for an interrupt (`table` is then empty): when it began and ended."""

    table: str
    start_ps: int
    end_ps: int


def run_of(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Moved]:
    """Run an application as it is, deterministically; its transfers in order."""
    monkeypatch.setattr(RunWriter, "finish", partialmethod(RunWriter.finish, keep_raw=True))
    workspace = open_workspace(APPLICATIONS / name, load_plugins())
    assert not workspace.diagnostics
    assert not workspace.scan().diagnostics
    run = run_workspace(workspace, RunOptions(out=folder / name, plain=True, deterministic=True), Job())
    assert (run.complete, run.manifest.exit) == (True, 0), run.manifest.reason
    tables = [*workspace.platform.transfer_tables, ""]
    records = read_transfers(folder / name / "raw")
    moved = [Moved(tables[row["table"]], int(row["call_ps"]), int(row["end_ps"])) for row in records]
    assert all(before.end_ps <= after.start_ps for before, after in pairwise(moved))
    return moved


def test_sha256_behind_axi_lite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = run_of("sha256", tmp_path, monkeypatch)
    assert (tmp_path / "sha256" / "stdout.txt").read_text().split() == [
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",  # FIPS 180-2, appendix B
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ]
    blocks = 3 * ["write", "write_reg", *3 * ["read_reg"]]
    assert [one.table for one in moved] == [*blocks[:5], "read", *blocks[5:], "read"]
    ready = 0  # the cycle from which on the core says that it is ready
    for number, one in enumerate(moved):
        if one.table in ("write", "read"):
            # The table would have a word every cycle or so; this design takes one every second cycle. The first is due
            # at the table's time for it, a cycle earlier for the answer, which the last word has in its own cycle.
            words, duration = (16, 200_000) if one.table == "write" else (8, 150_000)
            first = (one.start_ps + (duration - P) // words) // P - 1
            last_answer = first + 2 * (words - 1) + 1
            assert one.end_ps == (last_answer + 1) * P > one.start_ps + duration
        elif one.table == "write_reg":
            assert one.end_ps == one.start_ps + REGISTER_WRITE
            written = (one.start_ps + REGISTER_WRITE - P) // P - 1
            ready = written + 1 + 1 + 64 + 1  # the register's cycle, one to take the block, 64 rounds, one to add
        else:
            assert one.end_ps == one.start_ps + REGISTER_READ
            asked = (one.start_ps + REGISTER_READ - P) // P - 1
            last = moved[number + 1].table != "read_reg"
            assert (asked >= ready) == last  # it is asked until it is ready, and no longer


def test_a_filter_between_two_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    *coefficients, sent, received = run_of("fir", tmp_path, monkeypatch)
    assert (tmp_path / "fir" / "stdout.txt").read_text() == "0 wrong\n"
    assert [one.end_ps - one.start_ps for one in coefficients] == 4 * [REGISTER_WRITE]
    samples, each = 128, 4 + 2  # cycles: one to take a sample, one for each tap, one to give the sum away
    whole = 100_000 + (2_660_000 - 100_000) * (512 - 4) // (1024 - 4)  # the table, between its two sizes
    first = (sent.start_ps + whole // samples) // P - 1
    last = first + (samples - 1) * each
    assert sent.end_ps == (last + 1) * P > sent.start_ps + whole  # the design holds the stream up
    assert (last + each) * P <= received.start_ps + whole  # all sums wait in the link by then
    assert received.end_ps == received.start_ps + whole


def test_a_copy_engine_with_a_master_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill, *registers, waited, copy = run_of("copy", tmp_path, monkeypatch)
    assert (tmp_path / "copy" / "stdout.txt").read_text() == "0 wrong\n"
    whole = 100_000 + (2_660_000 - 100_000) * (160 - 4) // (1024 - 4)
    for one in (fill, copy):  # the host's own way into the memory is as its tables say
        assert one.end_ps == one.start_ps + whole
    assert [one.end_ps - one.start_ps for one in registers] == 4 * [REGISTER_WRITE]
    written = (registers[-1].start_ps + REGISTER_WRITE - P) // P - 1
    # The memory: 20 ns for a burst to come to its bank, 15 ns each for tRP, tRCD and tCL, then a word a cycle.
    # Both places lie in the same bank, in rows 0 and 8: all bursts but the first find another row open.
    cycle = written + 2  # in which the engine asks for the first burst
    for burst, words in enumerate((16, 16, 8)):
        read = cycle * P + 20_000 + (30_000 if burst == 0 else 45_000) + words * P
        last_read = -(-read // P) - 1  # the cycle that ends when the bus has moved the last word, or the next
        last_written = last_read + 1 + words  # a cycle to ask, then a word a cycle
        answer = last_written * P + 20_000 + 45_000 + words * P
        cycle = -(-answer // P)  # the cycle after the answer's
    assert waited.table == ""
    assert waited.start_ps < cycle * P == waited.end_ps
