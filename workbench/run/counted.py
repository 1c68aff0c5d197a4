"""The tables of a run whose calls were counted while it ran, without a record of each."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.api.host_stats import CountedThread, HostStats
from workbench.api.tables import table_of
from workbench.model.blocks import Block
from workbench.model.run_tables import TABLES, Table
from workbench.run.host_tables import WORK


def counted_blocks(main: Block, stats: HostStats) -> tuple[Block, ...]:
    """`host.main`, and a block with the same states for every further thread and every thread of forked children, in
    the order of `stats.threads`."""
    ids = ("host.main", *(f"host.{_name(thread)}" for thread in stats.threads[1:]))
    return tuple(replace(main, id=id_, group=id_) for id_ in ids)


def _name(thread: CountedThread) -> str:
    of_child = f"child_{thread.process}" if thread.process else ""
    thread_name = f"thread_{thread.number}" if thread.number else ""
    return "_".join(part for part in (of_child, thread_name) if part)


def counted_tables(stats: HostStats, blocks: Sequence[Block], time_ps: int) -> dict[str, Table]:
    """`call_stats`, `state_time` and `transitions` of the host's blocks, which are those of `counted_blocks`.

    A block is in a call's state during the call and calls within it, and at `work` between calls; threads other than
    the first are unclassified until their first call. Every block's times sum to `time_ps`.
    """
    rows_of_threads = [_of_thread(thread, number, block, time_ps) for number, (thread, block) in
             enumerate(zip(stats.threads, blocks, strict=True))]  # fmt: skip
    return {
        "call_stats": _call_stats(stats),
        "state_time": table_of("state_time", [row for rows, _ in rows_of_threads for row in rows]),
        "transitions": table_of("transitions", [row for _, rows in rows_of_threads for row in rows]),
    }


def _call_stats(stats: HostStats) -> Table:
    parts = [(number, thread.rows[thread.rows["count"] > 0]) for number, thread in enumerate(stats.threads)]
    columns = {
        name: np.concatenate(
            [np.zeros(0), *(np.full(len(rows), number) if name == "block" else rows[name] for number, rows in parts)]
        )
        for name in TABLES["call_stats"]
    }
    return {name: columns[name].astype(kind) for name, kind in TABLES["call_stats"].items()}


def _of_thread(
    thread: CountedThread, number: int, block: Block, time_ps: int
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """A thread's rows of `state_time` and of `transitions`."""
    rows, count = thread.rows, len(block.states)
    spent = np.bincount(rows["state"], rows["time_ps"] - rows["inner_ps"], count).astype(np.int64)
    visits = np.bincount(rows["state"], rows["count"] - rows["inner"], count).astype(np.int64)
    begin_ps = min(thread.first_ps, time_ps) if number else 0
    moves = [(number, WORK, state, int(n)) for state, n in enumerate(visits) if n]
    moves += [(number, state, WORK, n) for _, _, state, n in moves]
    visits[WORK] += visits.sum() + 1
    rest_ps = time_ps - begin_ps - int(spent.sum())
    spent[WORK] += max(rest_ps, 0)
    spent[np.argmax(spent)] += min(rest_ps, 0)  # the sum of rounding errors
    if number:
        spent[0], visits[0] = begin_ps, 1
        moves.append((number, 0, WORK, 1))
    return [(number, state, int(spent[state]), 0, int(visits[state])) for state in range(count)], sorted(moves)
