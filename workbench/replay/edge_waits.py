"""The causes of waits of the threads that move elements between host and FPGA, from the records of one run.

A thread out of an FPGA waits for an interrupt: elements that fill a transfer, an element that waited too long, or a
stream's end (`resources/streaming/stream_port.v`). A thread into an FPGA asks for free room: what was popped before it
asks. A cause is known if these moments are the run's to the cycle.
"""

import numpy as np
from numpy.typing import NDArray

from workbench.model.cycles import starts_ps
from workbench.model.syncs import SyncKind
from workbench.replay.host import cycles_at
from workbench.replay.queue_threads import Role
from workbench.replay.queues import End, Queues
from workbench.replay.thread_rows import Rows

Numbers = NDArray[np.int64]


def explained_calls(queues: Queues) -> Numbers:
    """The rows of table `calls` that are waits or polls of these threads and have a known cause."""
    calls = [np.zeros(0, np.int64)]
    for number, role in enumerate(queues.threads.roles):
        ends_of_thread = [end for end in queues.ends if end.edge in queues.threads.edges.get(number, ())]
        if role is Role.OUT_OF:
            calls.append(_interrupts(queues, number, [end for end in ends_of_thread if not end.into]))
        elif role is Role.INTO:
            calls += [_questions(queues, number, end) for end in ends_of_thread if end.into]
    return np.concatenate(calls)


def _moments(queues: Queues, end: End) -> tuple[Numbers, Numbers]:
    """The cycles in which elements entered and left an end's FIFO."""
    assert queues.words is not None
    fifo, cycles = queues.run.manifest.fifos[end.fifo], queues.words.traffic.cycles
    return cycles[fifo.input], cycles[fifo.output]


def _interrupts(queues: Queues, thread: int, ends: list[End]) -> Numbers:
    rows = Rows(queues.run, thread)
    at = np.flatnonzero(rows.kind == SyncKind.INTERRUPT)
    period = queues.period_ps
    asked_ps, woken_ps = rows.t0[at], np.where(rows.woken[at] >= 0, rows.woken[at], rows.t1[at])
    due_cycles = np.full(len(at), np.iinfo(np.int64).max)
    over = np.zeros(len(at), bool)
    for end in ends:
        pushes, pops = _moments(queues, end)
        popped = np.searchsorted(pops, cycles_at(asked_ps, period))
        last = np.append(-1, pops)[popped]
        some = popped < len(pushes)
        first = pushes[np.minimum(popped, len(pushes) - 1)] if len(pushes) else last
        late = np.maximum(first, last) + 1 + queues.flush_cycles
        due_cycles = np.where(some, np.minimum(due_cycles, late), due_cycles)
        full = popped + queues.bulk <= len(pushes)
        filled = pushes[np.minimum(popped + queues.bulk, len(pushes)) - 1] + 1 if len(pushes) else last
        due_cycles = np.where(full, np.minimum(due_cycles, filled), due_cycles)
        over |= cycles_at(woken_ps, period) > (pushes[-1] if len(pushes) else -1)
    asks = due_cycles < np.iinfo(np.int64).max
    due_ps = np.full(len(at), -1, np.int64)
    due_ps[asks] = np.maximum(asked_ps[asks], starts_ps(due_cycles[asks], period))
    by_end = over & (~asks | (woken_ps < due_ps))
    return rows.calls[at[(woken_ps == due_ps) | by_end]]


def _questions(queues: Queues, thread: int, end: End) -> Numbers:
    calls, entries = queues.run.tables["calls"], queues.run.manifest.entries
    receives = np.array([*(entry.kind == "receive" for entry in entries), False])
    rows = np.flatnonzero((calls["block"] == thread) & receives[calls["entry"]] & (calls["port_last_ps"] >= 0))
    pushes, pops = _moments(queues, end)
    cycle = cycles_at(np.asarray(calls["port_last_ps"])[rows].astype(np.int64), queues.period_ps)
    occupancy = np.searchsorted(pushes, cycle) - np.searchsorted(pops, cycle)
    edge = queues.edges[end.edge]
    return rows[calls["value"][rows] == edge.rooms(edge.depth)[1] - 1 - occupancy]
