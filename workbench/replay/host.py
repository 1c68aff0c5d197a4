"""The host of a run as operations: its calls, with the polls for one answer as one operation, and its own code
between."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.model.platform import CallKind, Platform, TransferTable
from workbench.model.pragma import WAITS
from workbench.model.run import Run
from workbench.model.run_tables import RowArray, Table
from workbench.model.syncs import SyncKind
from workbench.model.transfer_time import transfer_ps

#: Kinds of operations: a call of fixed length, a transfer, one that returns at once, a wait for that, for an interrupt,
#: and reads of one address until it answers.
OTHER, MOVE, ASYNC, AWAIT, IRQ, ASK = range(6)
#: Reads of more bytes are data and not polls.
ANSWER_BYTES = 8
OPS = np.dtype(
    [
        ("thread", "<i4"), ("kind", "u1"), ("site", "<i4"), ("state", "<i4"), ("table", "<i4"), ("bus", "<i4"),
        ("bytes", "<i8"), ("address", "<i8"),
        ("own_ps", "<i8"),     # the thread's own code before it
        ("before_ps", "<i8"),  # the host's part of the call, before it requests the bus
        ("after_ps", "<i8"),   # and after it has its answer
        ("work_ps", "<i8"),    # its time on the bus, or its whole time
        ("beyond_ps", "<i8"),  # the part that the table does not explain
        ("shorter", "<i4"),    # the cycles by which its words come earlier
        ("row", "<i8"), ("rows", "<i8"),  # of table `calls`
        ("begin_ps", "<i8"), ("grant_ps", "<i8"), ("end_ps", "<i8"),  # as recorded; `end_ps` is the call's return
        ("gap_ps", "<i8"), ("gap_first", "<i8"), ("gaps", "<i8"),  # ASK: from the end of a poll to the next one
        ("failed", "<i8"), ("seen", "<i8"),  # ASK: cycles of the last failed poll (-1: none) and of the successful one
    ]
)  # fmt: skip
Operations: TypeAlias = RowArray
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class HostPart:
    """The operations in order, thread after thread. `gaps_ps` are times between polls, `rest_ps` each thread's own code
    after its last call. `tables` are the platform's transfer tables, numbered by column `table`, with each port's clock
    number and width. `why` gives the reason if the host cannot be replayed, else ""."""

    ops: Operations
    gaps_ps: Numbers
    rest_ps: dict[int, int]
    tables: tuple[tuple[str, TransferTable], ...]
    clock_of_table: tuple[int, ...]
    word_bytes: tuple[int, ...]
    clock_of_interrupt: int
    why: str

    @property
    def last_thread(self) -> int:
        """The thread that ends the run: the first one, or, with ranks, the one that ends last."""
        last = np.append(self.ops["thread"][1:] != self.ops["thread"][:-1], True)[: len(self.ops)]
        ends_ps = {
            int(op["thread"]): int(op["end_ps"]) + self.rest_ps.get(int(op["thread"]), 0) for op in self.ops[last]
        }
        return max(ends_ps, key=lambda thread: ends_ps[thread], default=0)


def read_host(run: Run, platform: Platform | None, periods_ps: Sequence[Fraction]) -> HostPart:
    """The operations of a run whose clocks have these periods. Calls that are not understood keep their length."""
    calls = run.tables["calls"]
    tables = tuple(platform.transfer_tables.items()) if platform else ()
    clocks, widths, interrupt = _ports(run, platform, tables)
    parts, gaps, rest_ps, why = [np.zeros(0, OPS)], [np.zeros(0, np.int64)], dict[int, int](), ""
    for thread in np.unique(calls["block"]).tolist():
        rows = np.flatnonzero(calls["block"] == thread)
        mine = {name: np.asarray(column)[rows] for name, column in calls.items()}
        if (np.diff(mine["t0_ps"]) < 0).any():
            why = "calls of a thread overlap"
        ops = _operations(run, platform, mine, rows, tables)
        _look_at_ports(ops, mine, clocks, periods_ps)
        ops, gap = _with_polls(run, ops, mine, clocks, periods_ps)
        ops = _without_messages(run, ops, mine)
        ops["gap_first"] += sum(map(len, gaps))
        gaps.append(gap)
        parts.append(ops)
        if not len(ops):
            continue
        ends = run.manifest.threads[thread].end_ps if thread < len(run.manifest.threads) else run.manifest.time_ps
        rest_ps[thread] = int(ends - ops["end_ps"][-1])
    host = HostPart(np.concatenate(parts), np.concatenate(gaps), rest_ps, tables, clocks, widths, interrupt, why)
    if rest_ps:  # another rank without such calls may end later
        last = host.ops[host.ops["thread"] == host.last_thread][-1]
        rest_ps[host.last_thread] = int(run.manifest.time_ps - last["end_ps"])
    return host


def _ports(
    run: Run, platform: Platform | None, tables: Sequence[tuple[str, TransferTable]]
) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """The clock number of each table's port, the bytes of its words, and the clock number of the interrupt."""
    hardware = platform.hardware if platform else None
    names = [clock.name for clock in run.manifest.clocks]
    clocks, widths = [], []
    for _, table in tables:
        port = next((p for p in hardware.ports if p.name == table.port), hardware.ports[0]) if hardware else None
        clock = hardware.clock_of(port).name if hardware and port else ""
        clocks.append(names.index(clock) if clock in names else 0)
        widths.append(port.word_bits // 8 if port else 4)
    interrupt = hardware.clocks[hardware.interrupt_clock_number].name if hardware else ""
    return tuple(clocks), tuple(widths), names.index(interrupt) if interrupt in names else 0


def _operations(
    run: Run,
    platform: Platform | None,
    calls: Table,
    rows: Numbers,
    tables: Sequence[tuple[str, TransferTable]],
) -> Operations:
    """An operation for every call of a thread."""
    ops = np.zeros(len(rows), OPS)
    names = [name for name, _ in tables]
    entries = run.manifest.entries
    table_of = np.array([*(names.index(e.transfer) if e.transfer in names else -1 for e in entries), -1], np.int32)
    later = _asynchronous(run, platform)
    ops["thread"], ops["site"], ops["state"] = calls["block"], calls["site"], calls["state"]
    ops["bytes"], ops["address"] = calls["bytes"], calls["address"]
    ops["row"], ops["rows"] = rows, 1
    ops["begin_ps"], ops["end_ps"], ops["grant_ps"] = calls["t0_ps"], calls["t1_ps"], calls["grant_ps"]
    ops["own_ps"] = calls["t0_ps"] - np.append(0, calls["t1_ps"][:-1])
    ops["table"] = table_of[calls["entry"]]
    ops["bus"] = np.where(calls["grant_ps"] >= 0, calls["resource"], -1)
    ops["gap_first"] = 0
    ops["failed"], ops["seen"] = -1, -1
    followed = _KINDS if run.manifest.simulated else {}  # on a real machine calls keep their length
    kinds = np.array([*(followed.get(e.kind, OTHER) for e in entries), OTHER], np.uint8)[calls["entry"]]
    moves = (kinds == MOVE) & (calls["grant_ps"] >= 0)
    ops["kind"] = np.where(kinds == MOVE, np.where(moves, MOVE, OTHER), kinds)
    ops["kind"][moves & later[calls["entry"]]] = ASYNC
    asked_ps = np.array(np.where(calls["call_ps"] >= 0, calls["call_ps"], calls["t0_ps"]), np.int64)
    ended = np.array(np.where(calls["end_ps"] >= 0, calls["end_ps"], calls["t1_ps"]), np.int64)
    ops["before_ps"] = asked_ps - calls["t0_ps"]
    ops["after_ps"] = calls["t1_ps"] - np.where(ops["kind"] == ASYNC, asked_ps, ended)
    ops["work_ps"] = np.where(moves, ended - calls["grant_ps"], calls["t1_ps"] - calls["t0_ps"])
    fixed = ops["kind"] == OTHER
    ops["before_ps"][fixed] = ops["after_ps"][fixed] = 0
    of_table = moves & (ops["table"] >= 0)
    sizes, size_index = np.unique(np.stack([ops["table"], ops["bytes"]])[:, of_table], axis=1, return_inverse=True)
    times_ps = np.array([transfer_ps(tables[t][1], max(int(n), 1)) for t, n in sizes.T], np.int64)
    taken_of = times_ps[size_index.reshape(-1)] if len(times_ps) else np.zeros(0, np.int64)
    # the end of one that returns at once is not recorded with its call in earlier runs
    no_end = (ops["kind"] == ASYNC)[of_table] & (ended == calls["t1_ps"])[of_table]
    ops["work_ps"][of_table] = np.where(no_end, taken_of, ops["work_ps"][of_table])
    ops["beyond_ps"][of_table] = ops["work_ps"][of_table] - taken_of
    _waits_for_design(ops)
    return ops


def _waits_for_design(ops: Operations) -> None:
    """Set the kind of waits that end later than each transfer under way: the design, such as a kernel, ends them."""
    later, waits = ops["kind"] == ASYNC, np.flatnonzero(ops["kind"] == AWAIT)
    end_ps = ops["grant_ps"] + ops["work_ps"]
    last_ps = np.maximum.accumulate(np.where(later, end_ps, 0))
    ops["kind"][waits[ops["end_ps"][waits] > np.maximum(ops["begin_ps"], last_ps)[waits]]] = IRQ


MESSAGES = (CallKind.SEND_MESSAGE.value, CallKind.AWAIT_MESSAGE.value)
_KINDS = {"send": MOVE, "receive": MOVE, "wait": AWAIT, "interrupt": IRQ}


def _asynchronous(run: Run, platform: Platform | None) -> NDArray[np.bool_]:
    """For each entry of the run whether it returns before its transfer is done."""
    is_asynchronous = {
        (e.prototype.partition("(")[0].replace("*", " ").split()[-1], e.subtype)
        for e in (platform.host.entries if platform else ())
        if e.asynchronous and e.prototype
    }
    return np.array([*((e.name, e.subtype) in is_asynchronous for e in run.manifest.entries), False])


def _look_at_ports(ops: Operations, calls: Table, clocks: Sequence[int], periods_ps: Sequence[Fraction]) -> None:
    """Set for each transfer the number of cycles from its last word to its end, as an answer takes."""
    for table, clock in enumerate(clocks):
        rows = np.flatnonzero((ops["table"] == table) & (calls["port_last_ps"] >= 0) & (ops["grant_ps"] >= 0))
        if len(rows):
            ends = ops["grant_ps"][rows] + ops["work_ps"][rows]
            due = cycles_at(ends, periods_ps[clock]) - 1
            ops["shorter"][rows] = due - cycles_at(calls["port_last_ps"][rows].astype(np.int64), periods_ps[clock])


def cycles_at(ps: Numbers, period_ps: Fraction) -> Numbers:
    """The number of whole cycles at these times."""
    num, den = period_ps.numerator, period_ps.denominator
    if den == 1:
        return ps // num
    if len(ps) and int(np.abs(ps).max()) < (1 << 62) // den:
        return ps * den // num
    return np.array([int(t) * den // num for t in ps.tolist()], np.int64)


def _with_polls(
    run: Run, ops: Operations, calls: Table, clocks: Sequence[int], periods_ps: Sequence[Fraction]
) -> tuple[Operations, Numbers]:
    """The operations, with consecutive reads of one address at one site joined to one, and the times between polls."""
    small = (ops["kind"] == MOVE) & (ops["bytes"] <= ANSWER_BYTES) & (ops["table"] >= 0)
    small &= np.array([e.kind == "receive" for e in run.manifest.entries] + [False])[calls["entry"]]
    block = run.manifest.blocks[int(ops["thread"][0])]
    waits = np.array([state.category in WAITS for state in block.states])[ops["state"]]
    goes_on = np.zeros(len(ops), bool)  # belongs to the row of the previous call
    goes_on[1:] = small[1:] & small[:-1]
    for name in ("site", "address", "bytes"):
        goes_on[1:] &= ops[name][1:] == ops[name][:-1]
    questions = small & waits
    values = np.asarray(calls["value"]) if calls["value_bytes"].any() else None
    for site in np.unique(ops["site"][goes_on & ~waits]).tolist():
        mine = np.flatnonzero(ops["site"] == site)
        if values is not None and _asks(goes_on, values, mine):
            questions[mine] = True
        else:
            goes_on[mine] = False
    heads = np.flatnonzero(~goes_on)
    ends = np.append(heads[1:], len(ops))
    polls = ops[heads].copy()
    asks = questions[heads]
    last = ops[ends - 1]
    polls["rows"] = ends - heads
    polls["end_ps"], polls["after_ps"] = last["end_ps"], last["after_ps"]
    polls["kind"][asks] = ASK
    gap = ops["begin_ps"] - np.append(0, ops["end_ps"][:-1]) + ops["before_ps"] + np.append(0, ops["after_ps"][:-1])
    inner = np.ones(len(ops), bool)
    inner[heads] = False
    gaps = gap[inner].astype(np.int64)
    polls["gaps"] = ends - heads - 1
    polls["gap_first"] = np.cumsum(polls["gaps"]) - polls["gaps"]
    usual: dict[int, int] = {}
    sites = ops["site"][inner]
    for site in np.unique(polls["site"][asks]).tolist():
        mine = gaps[sites == site]
        usual[site] = int(np.median(mine)) if len(mine) else int(polls["own_ps"][polls["site"] == site].min())
    for row in np.flatnonzero(asks):
        polls["gap_ps"][row] = usual[int(polls["site"][row])]
    _when_seen(polls, asks, calls, ends, clocks, periods_ps)
    return polls, gaps


def _without_messages(run: Run, ops: Operations, calls: Table) -> Operations:
    """The operations without calls that exchange messages with other ranks. Table `syncs` has these, and their time
    lies between the operations before and after."""
    of_messages = np.array([*(entry.kind in MESSAGES for entry in run.manifest.entries), False])[calls["entry"]]
    if not of_messages.any():
        return ops
    first_call = np.cumsum(ops["rows"]) - ops["rows"]
    left_out = of_messages[first_call]
    if not run.manifest.simulated and "syncs" in run.tables:  # others that take time, such as MPI_Irecv
        syncs = run.tables["syncs"]
        mine = np.flatnonzero(np.asarray(syncs["block"]) == calls["block"][0])
        at_ps = np.asarray(syncs["t0_ps"])[mine]
        place = np.minimum(np.searchsorted(ops["begin_ps"], at_ps), len(ops) - 1)
        whole = (ops["begin_ps"][place] == at_ps) & (ops["end_ps"][place] == np.asarray(syncs["t1_ps"])[mine])
        at_ps = at_ps[~whole | (np.asarray(syncs["kind"])[mine] != SyncKind.SLEEP)]  # such a row is a call's own
        before, after = (np.searchsorted(at_ps, ops[name]) for name in ("begin_ps", "end_ps"))
        left_out |= after > before
    ops = ops[~left_out]
    ops["own_ps"] = ops["begin_ps"] - np.append(0, ops["end_ps"][:-1])[: len(ops)]
    return ops


def _asks(goes_on: NDArray[np.bool_], values: NDArray[np.integer], reads: Numbers) -> bool:
    """Whether the reads at one site are polls: all answers of a row but its last are equal. Consecutive rows are split
    in `goes_on`."""
    in_vain = values[reads[np.flatnonzero(goes_on[reads])[0]] - 1]
    after = reads[1:][values[reads[:-1]] != in_vain]
    goes_on[after] = False
    last = np.append(~goes_on[reads[1:]], True)
    return bool(((values[reads] != in_vain) == last).all())


def _when_seen(
    ops: Operations,
    asks: NDArray[np.bool_],
    calls: Table,
    ends: Numbers,
    clocks: Sequence[int],
    periods_ps: Sequence[Fraction],
) -> None:
    """Set the cycles in which polls looked at the port: the last failed one and the successful one."""
    for table, clock in enumerate(clocks):
        rows = np.flatnonzero(asks & (ops["table"] == table))
        cycle = cycles_at(np.asarray(calls["port_last_ps"]).astype(np.int64), periods_ps[clock])
        ops["seen"][rows] = cycle[ends[rows] - 1]
        several = rows[ops["rows"][rows] > 1]
        ops["failed"][several] = cycle[ends[several] - 2]
