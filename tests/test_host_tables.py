"""The tables of the host's calls, against counting them one by one."""

import tempfile
from collections import Counter
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unfolding import unfold

from workbench.api.records import CALLS, RECEIVE, SEND, TRANSFERS, RecordFile, Records
from workbench.model.run import PS_PER_S
from workbench.model.run_tables import TABLES, Table
from workbench.run import call_sums, host_calls, host_tables
from workbench.run.call_sums import call_tables
from workbench.run.host_calls import call_pieces
from workbench.run.host_tables import host_intervals, host_states
from workbench.run.host_threads import UNKNOWN, thread_blocks
from workbench.testing.runs import ENTRIES, MESSAGES, synthetic_platform, synthetic_run
from workbench.traces.groups import numbered

MAIN = synthetic_run(cores=1, rounds=1).manifest.blocks[0]
END_PS = 1_000_000
TIMES = ("t0_ps", "t1_ps")
KEY = ("site", "block", "state", "entry")


@st.composite
def made_calls(draw: st.DrawFn) -> Table:
    """The table of some threads' calls, in random states, with transfers."""
    threads, count = draw(st.integers(1, 3)), draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    calls = np.zeros(count, CALLS)
    calls["thread"] = rng.integers(0, threads, count)
    for thread in range(threads):
        mine = np.flatnonzero(calls["thread"] == thread)
        times = np.sort(rng.integers(0, END_PS, 2 * len(mine)))
        calls["t0_ps"][mine], calls["t1_ps"][mine] = times[::2], times[1::2]
    for name, low, high in (("site", -1, 4), ("state", 2, 7), ("entry", -1, 3), ("bytes", -1, 500)):
        calls[name] = rng.integers(low, high, count)
    return calls_table(calls, np.zeros(0, TRANSFERS))


def calls_table(calls: Records, transfers: Records) -> Table:
    """Table `calls` of records that were left in files, in pieces of a few calls."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as changed:
        changed.setattr(host_calls, "PIECE", 7)
        files = []
        for records in (calls, transfers):
            records.tofile(Path(name) / f"{len(files)}")
            files.append(RecordFile(Path(name) / f"{len(files)}", records.dtype))
        blocks, platform = thread_blocks(MAIN, calls["thread"]), synthetic_platform()
        pieces = call_pieces(files[0].in_order("t0_ps"), files[1], UNKNOWN, blocks, ENTRIES, MESSAGES, platform)
        found = [{column: np.zeros(0, kind) for column, kind in TABLES["calls"].items()}, *pieces]
    return {column: np.concatenate([piece[column] for piece in found]) for column in TABLES["calls"]}


@given(made_calls())
def test_statistics_are_those_of_the_calls(calls: Table) -> None:
    rows = list(zip(*(calls[name].tolist() for name in (*KEY, *TIMES, "bytes")), strict=True))
    of_thread = {b: [row[:3] for row in rows if row[1] == b] for b in {row[1] for row in rows}}
    runs = [(kind, len(list(some))) for thread in of_thread.values() for kind, some in groupby(thread)]
    expected = []
    for key in sorted({row[:4] for row in rows}):
        mine = [row for row in rows if row[:4] == key]
        rates = [size * (PS_PER_S / (end - start)) for *_, start, end, size in mine if size > 0 and end > start]
        lengths = [length for kind, length in runs if kind == key[:3]]
        expected.append([
            *key, len(mine), sum(max(row[6], 0) for row in mine), sum(row[5] - row[4] for row in mine),
            min(rates, default=None), max(rates, default=None), len(lengths), min(lengths), max(lengths),
        ])  # fmt: skip
    stats = call_tables(calls)["call_stats"]
    found = [[None if value != value else value for value in row]
             for row in zip(*(column.tolist() for column in stats.values()), strict=True)]  # fmt: skip
    assert found == expected


@given(made_calls(), st.integers(1, 9))
def test_calls_and_states_are_summed_piece_by_piece_as_in_one(calls: Table, length: int) -> None:
    def summed() -> dict[str, dict[str, list[float | None]]]:
        tables = {**host_states(calls, thread_blocks(MAIN, calls["block"]), END_PS), **call_tables(calls)}
        return {n: {k: [v if v == v else None for v in c.tolist()] for k, c in t.items()} for n, t in tables.items()}

    whole = summed()
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(host_tables, "_PIECE", length)
        changed.setattr(call_sums, "_PIECE", length)
        assert summed() == whole


@given(made_calls())
def test_each_thread_s_calls_are_in_its_own_order(calls: Table) -> None:
    order = call_tables(calls)["call_order"]
    for block in np.unique(calls["block"]).tolist():
        mine = calls["block"] == block
        of_block = {name: column[order["block"] == block] for name, column in order.items()}
        assert list(unfold(of_block)) == list(zip(calls["site"][mine], calls["state"][mine], strict=True))


@given(made_calls())
def test_times_and_moves_are_those_of_the_stretches(calls: Table) -> None:
    blocks = thread_blocks(MAIN, calls["block"])
    tables = host_states(calls, blocks, END_PS)
    for number, block in enumerate(blocks):
        mine = tables["state_time"]["block"] == number
        assert tables["state_time"]["time_ps"][mine].sum() == END_PS
        starts, states = host_intervals(calls, number, END_PS)
        spent = np.bincount(states, weights=np.diff(starts, append=END_PS), minlength=len(block.states))
        assert tables["state_time"]["time_ps"][mine].tolist() == spent.tolist()
        visits = dict(enumerate(tables["state_time"]["visits"][mine].tolist()))
        into: Counter[int] = Counter()
        out: Counter[int] = Counter()
        here = tables["transitions"]["block"] == number
        columns = (tables["transitions"][name][here].tolist() for name in ("from_state", "to_state", "count"))
        for before, after, count in zip(*columns, strict=True):
            out[before] += count
            into[after] += count
        first = 0 if number else 1
        assert all(visits[s] == into[s] + (s == first) for s in visits)
        assert sum(visits[s] - out[s] for s in visits) == 1  # it ends somewhere


def test_a_call_s_port_times_are_of_its_own_transfers() -> None:
    calls = np.zeros(4, CALLS)
    calls["thread"] = [0, 1, 0, 0]
    calls["t0_ps"], calls["t1_ps"] = [10, 20, 30, 40], [15, 25, 35, 45]
    calls["state"], calls["site"], calls["entry"] = 2, 0, 0
    calls["first_transfer"], calls["transfers"] = [0, 0, 2, -1], [2, 5, 1, 0]
    transfers = np.zeros(4, TRANSFERS)
    transfers["thread"] = [0, 1, 0, 0]
    transfers["grant_ps"] = [11, 21, 12, 31]
    transfers["port_first_ps"], transfers["port_last_ps"] = [14, 22, 13, -1], [16, 23, 14, -1]
    transfers["call_ps"], transfers["end_ps"] = [10, 20, 12, 31], [17, 24, 14, 40]
    transfers["card"] = [1, 0, 1, 0]
    made = calls_table(calls, transfers)
    assert made["grant_ps"].tolist() == [11, 21, 31, -1]
    assert made["port_first_ps"].tolist() == [13, 22, -1, -1]
    assert made["port_last_ps"].tolist() == [16, 23, -1, -1]
    assert made["host_ps"].tolist() == [10, 20, 15, 5]
    assert made["call_ps"].tolist() == [10, 20, 31, -1]
    assert made["end_ps"].tolist() == [17, 24, 40, -1]
    assert made["card"].tolist() == [1, 0, 0, -1]
    assert made["parts"].tolist() == [2, 1, 1, 0]


def test_a_call_s_value_is_what_all_its_receives_brought() -> None:
    calls = np.zeros(5, CALLS)
    calls["t0_ps"], calls["state"] = [10, 20, 30, 40, 50], 2
    calls["first_transfer"], calls["transfers"] = [0, 2, 3, 5, -1], [2, 1, 2, 3, 0]
    transfers = np.zeros(8, TRANSFERS)
    transfers["kind"] = [SEND, RECEIVE, RECEIVE, RECEIVE, RECEIVE, RECEIVE, SEND, RECEIVE]
    transfers["bytes"] = [4, 4, 16, 4, 8, 4, 4, 4]
    transfers["value"] = [0, 7, 0, 1, 2, 0xFFFFFFFF, 0, 0x80000000]
    transfers["value_bytes"] = [0, 4, 0, 4, 8, 4, 0, 4]
    made = calls_table(calls, transfers)
    assert made["value_bytes"].tolist() == [4, 0, 0, 8, 0]
    assert made["value"].tolist() == [7, 0, 0, 0x80000000FFFFFFFF, 0]


def test_a_receive_tells_the_bytes_that_it_brought() -> None:
    calls = np.zeros(3, CALLS)
    calls["t0_ps"], calls["t1_ps"], calls["bytes"] = [10, 20, 30], [15, 25, 35], [256, 256, 64]
    calls["state"], calls["first_transfer"], calls["transfers"] = 2, [0, 1, 2], 1
    transfers = np.zeros(3, TRANSFERS)
    transfers["kind"], transfers["bytes"] = [RECEIVE, SEND, RECEIVE], [40, 40, 128]
    made = calls_table(calls, transfers)
    assert made["bytes"].tolist() == [40, 256, 64]  # a packet; nothing is known of a send; an API that rounds up


@pytest.mark.parametrize("high", [10, 1 << 50])
@given(data=st.data())
def test_numbers_are_told_apart(high: int, data: st.DataObject) -> None:
    keys = np.array(data.draw(st.lists(st.integers(-5, high), max_size=50)), np.int64)
    kinds, places = numbered(keys)
    assert kinds.tolist() == sorted(set(keys.tolist()))
    assert kinds[places].tolist() == keys.tolist()
