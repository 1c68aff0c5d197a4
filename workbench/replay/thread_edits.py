"""The calls of a host's threads after changes: rows of `syncs` are removed, repeated and moved like their
operations."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from workbench.model.syncs import SyncKind
from workbench.replay.editing import RefusedError, loops_ps
from workbench.replay.host import ASYNC, IRQ
from workbench.replay.program import Program
from workbench.replay.several_threads import WITHIN, HostThreads, rows_in_order

Numbers = NDArray[np.int64]


def edited_threads(threads: HostThreads, program: Program) -> HostThreads:
    """The threads with the calls of an edited program; its `loop_ps` and `sooner_ps` move to them. Raises RefusedError
    if a call moves over a synchronising call of its thread."""
    was, base, at = program.host.ops, program.base, program.at
    first, last = _rows_of(threads.op_of, len(was))
    _refuse_hidden(program, first)
    with_rows = np.flatnonzero(first[base] >= 0)  # operations with rows
    of = base[with_rows]
    key = np.minimum.accumulate(first[of][::-1])[::-1] if len(of) else of  # the row before which each is now called
    removed = np.setdiff1d(np.flatnonzero(first >= 0), base)
    into = removed[at[removed] >= 0]
    _refuse_moves(threads, program, key, first[of], of)
    _refuse_moves(threads, program, first[into], first[base[at[into]]], into)

    covered = np.zeros(len(threads.op_of) + 1, np.int64)
    with_first = np.flatnonzero(first >= 0)
    np.add.at(covered, first[with_first], 1)
    np.add.at(covered, last[with_first] + 1, -1)
    plain = np.flatnonzero(np.cumsum(covered)[:-1] == 0)
    begins, keys = np.concatenate([plain, first[of]]), np.concatenate([plain, key])
    counts = np.concatenate([np.ones(len(plain), np.int64), last[of] - first[of] + 1])
    numbers = np.concatenate([np.full(len(plain), -1, np.int64), with_rows])
    pieces = np.lexsort((numbers, keys))
    begins, keys, counts, numbers = begins[pieces], keys[pieces], counts[pieces], numbers[pieces]
    place = np.cumsum(counts) - counts
    order = np.repeat(begins - place, counts) + np.arange(int(counts.sum()))
    rows = rows_in_order(threads.rows, order)
    op_of = np.where(threads.op_of[order] >= 0, np.repeat(numbers, counts), -1)

    head = np.full(len(program.ops), -1, np.int64)
    head[numbers[numbers >= 0]] = place[numbers >= 0]
    again = with_rows[1:][of[1:] == of[:-1]]
    rows["own_ps"][head[again]] = 0
    rows["own_ps"][head[with_rows]] -= np.minimum(program.sooner_ps[with_rows], rows["own_ps"][head[with_rows]])
    own_ps = np.asarray(threads.rows["own_ps"])
    out = removed[at[removed] < 0]
    after = place[np.searchsorted(keys, last[out], "right")]
    for where, operations in ((after, out), (head[at[into]], into)):
        np.add.at(rows["own_ps"], where, own_ps[first[operations]])
    of_calls_ps = np.where(first >= 0, own_ps[first], 0)
    is_out = np.isin(np.arange(len(was)), out)
    np.add.at(rows["gone_ps"], after, loops_ps(of_calls_ps, was["thread"], is_out)[out])
    for op, mine in _united(at, into):
        least_ps = int(own_ps[first[mine[1:]]].min())
        rows["gone_ps"][head[op]] += least_ps * (len(mine) - 1)
    program.loop_ps = np.zeros_like(program.loop_ps)
    _change_kinds(rows, program, head, with_rows)
    return replace(threads, rows=rows, op_of=op_of)


def _rows_of(op_of: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """The first and the last row of each operation, -1 if it has none."""
    first, last = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    rows = np.flatnonzero(op_of >= 0)
    first[op_of[rows[::-1]]] = rows[::-1]
    last[op_of[rows]] = rows
    return first, last


def _united(at: Numbers, into: Numbers) -> list[tuple[int, Numbers]]:
    """The operations that now unite others, each with the united operations of the run."""
    united = np.flatnonzero(np.isin(at, np.unique(at[into])))
    united = united[np.argsort(at[united], kind="stable")]
    ends = np.flatnonzero(np.diff(at[united])) + 1
    return [(int(at[each[0]]), each) for each in np.split(united, ends) if len(each)]


def _refuse_hidden(program: Program, first: Numbers) -> None:
    """Refuse changes of calls whose time is part of a thread's own time."""
    was, base = program.host.ops, program.base
    lasts = np.zeros(len(was), np.int64)
    lasts[base] = program.ops["work_ps"]
    hidden = np.flatnonzero((first < 0) & (lasts != was["work_ps"]))
    if len(hidden):
        where = _place(program, int(hidden[0]))
        raise RefusedError(f"the call at {where} is not a transfer: its time is mixed with its thread's own code")


def _refuse_moves(threads: HostThreads, program: Program, to: Numbers, rows: Numbers, ops: Numbers) -> None:
    """Refuse to move these operations of the run from their rows over a synchronising call."""
    meets = ~np.isin(threads.rows["kind"], WITHIN)
    before = np.append(0, np.cumsum(meets))
    over = np.flatnonzero(before[to] != before[rows])
    if not len(over):
        return
    low, high = sorted((int(to[over[0]]), int(rows[over[0]])))
    kind = SyncKind(threads.rows["kind"][low + int(np.argmax(meets[low:high]))]).name.lower().replace("_", " ")
    raise RefusedError(
        f"the call at {_place(program, int(ops[over[0]]))} would move over a call by which its thread meets others "
        f"({kind}): the run does not show whether its data are ready or free there"
    )


def _place(program: Program, op: int) -> str:
    site = program.run.manifest.sites[int(program.host.ops["site"][op])]
    return f"{site.file}:{site.line}"


def _change_kinds(rows: dict[str, NDArray[np.generic]], program: Program, head: Numbers, operations: Numbers) -> None:
    """Change rows to the waits of the changed operations: for an interrupt, none, or with or without their core."""
    was, ops = program.host.ops[program.base[operations]], program.ops[operations]
    keeps_core = [np.array([*(table.holds_core for _, table in tables), False])[of["table"]]
            for tables, of in ((program.host.tables, was), (program.tables, ops))]  # fmt: skip
    other = (was["kind"] != ops["kind"]) & np.isin(ops["kind"], (IRQ, ASYNC))
    rows["woken_ps"][head[operations[other]]] = -1
    rows["kind"][head[operations[other & (ops["kind"] == IRQ)]]] = SyncKind.INTERRUPT
    changed = (keeps_core[0] != keeps_core[1]) & (ops["kind"] != IRQ)
    rows["kind"][head[operations[changed]]] = np.where(keeps_core[1][changed], SyncKind.CARD_HELD, SyncKind.CARD)
