"""The tables of the host's calls, against counting them one by one."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.api.records import CALLS, TRANSFERS
from workbench.model.run import PS_PER_S, Table
from workbench.run import host_tables
from workbench.run.host_tables import call_stats, calls_table, host_intervals, host_states
from workbench.run.host_threads import thread_blocks
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
    return calls_table(
        calls, np.zeros(0, TRANSFERS), thread_blocks(MAIN, calls), ENTRIES, MESSAGES, synthetic_platform()
    )


@given(made_calls())
@settings(deadline=None)
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
    found = [[None if value != value else value for value in row]
             for row in zip(*(column.tolist() for column in call_stats(calls).values()), strict=True)]  # fmt: skip
    assert found == expected


@given(made_calls(), st.integers(1, 9))
@settings(deadline=None)
def test_states_are_summed_piece_by_piece_as_in_one(calls: Table, length: int) -> None:
    blocks = thread_blocks(MAIN, np.array([(n,) for n in set(calls["block"].tolist())], [("thread", "<i4")]))
    whole = host_states(calls, blocks, END_PS)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(host_tables, "_PIECE", length)
        pieces = host_states(calls, blocks, END_PS)
    assert {n: {k: c.tolist() for k, c in t.items()} for n, t in pieces.items()} == {
        n: {k: c.tolist() for k, c in t.items()} for n, t in whole.items()
    }


@given(made_calls())
@settings(deadline=None)
def test_times_and_moves_are_those_of_the_stretches(calls: Table) -> None:
    blocks = thread_blocks(MAIN, np.array([(n,) for n in set(calls["block"].tolist())], [("thread", "<i4")]))
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
    made = calls_table(calls, transfers, thread_blocks(MAIN, calls), ENTRIES, MESSAGES, synthetic_platform())
    assert made["grant_ps"].tolist() == [11, 21, 31, -1]
    assert made["port_first_ps"].tolist() == [13, 22, -1, -1]
    assert made["port_last_ps"].tolist() == [16, 23, -1, -1]
    assert made["host_ps"].tolist() == [10, 20, 15, 5]


@pytest.mark.parametrize("high", [10, 1 << 50])
@given(data=st.data())
def test_numbers_are_told_apart(high: int, data: st.DataObject) -> None:
    keys = np.array(data.draw(st.lists(st.integers(-5, high), max_size=50)), np.int64)
    kinds, places = numbered(keys)
    assert kinds.tolist() == sorted(set(keys.tolist()))
    assert kinds[places].tolist() == keys.tolist()
