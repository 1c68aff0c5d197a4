"""Finds the queues of a streaming application's edges in the calls of its host threads, for replay.

The queue of an edge has two semaphores (`resources/streaming/streaming.hpp`): `room` counts its free places, `filled`
the elements in it. A thread that pushes takes from `room` and posts `filled`; a thread that pops does the reverse.
Table `syncs` has these calls without the edge's name. The edge is the one whose elements moved between them.

For example, thread 1 takes from semaphore 7 and posts 8, again and again, and thread 2 takes from 8 and posts 7. This
is a queue from thread 1 to thread 2, with room 7 and filled 8. If edge a -> b pushed its elements at those times, the
queue is that edge's.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.api.queues import EdgeQueue, RunQueues
from workbench.model.syncs import SyncKind
from workbench.replay.thread_rows import Rows
from workbench.replay.traffic import Cycles

#: In place of an element's number: the call moves none.
NO_ELEMENT = -1


@dataclass(frozen=True)
class Moves:
    """One end of a queue, by element: the `thread` that moved it, its `row` that took from a semaphore, and the times
    (ps) between which the element moved. Columns of equal length, in the order of the elements."""

    thread: Cycles
    row: Cycles
    begin_ps: Cycles
    end_ps: Cycles

    @property
    def threads(self) -> tuple[int, ...]:
        return tuple(np.unique(self.thread).tolist())

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True)
class Queue:
    """The queue of an edge on the host: the edge's number, its semaphores `room` and `filled`, and its two ends.

    `push_ps` are the times at which elements were pushed. With `follows_elements`, a thread's work after it popped an
    element is the work that followed the same element in the run, be it by another thread.
    """

    edge: int
    room: int
    filled: int
    push: Moves
    pop: Moves
    push_ps: Cycles
    follows_elements: bool = False

    @property
    def sources(self) -> tuple[int, ...]:
        return self.push.threads

    @property
    def sinks(self) -> tuple[int, ...]:
        return self.pop.threads

    def elements(self, mine: Rows) -> Cycles:
        """For each row of a thread the number of the element that it pushes or has popped, else NO_ELEMENT."""
        numbers = np.full(len(mine), NO_ELEMENT, np.int64)
        for moves, rows_later in ((self.push, 1), (self.pop, 0)):
            is_mine = (moves.thread == mine.number) & (np.arange(len(moves)) < len(self.push_ps))
            numbers[moves.row[is_mine] + rows_later] = np.flatnonzero(is_mine)
        return numbers


def host_queues(rows: Sequence[Rows], queues: RunQueues) -> list[Queue] | str:
    """The queues on the host, each with its edge, or the reason why they cannot be matched."""
    threads: dict[tuple[int, int], set[int]] = defaultdict(set)  # by semaphores taken and posted
    first_ps: dict[int, int] = {}  # when each semaphore was first taken before another was posted
    for mine in rows:
        at = np.flatnonzero(mine.took[:-1] & (mine.kind[1:] == SyncKind.POST) & (mine.object[:-1] != mine.object[1:]))
        if not len(at):
            continue
        pairs, begin = np.unique(np.stack((mine.object[at], mine.object[at + 1])), axis=1, return_index=True)
        for (taken, posted), place in zip(pairs.T.tolist(), at[begin].tolist(), strict=True):
            threads[taken, posted].add(mine.number)
            first_ps[taken] = min(first_ps.get(taken, int(mine.t1[place])), int(mine.t1[place]))
    edges = {n: e for n, e in enumerate(queues.edges) if e.on_host and len(e.push_ps) and len(e.pop_ps)}
    matched: list[Queue] = []
    for (room, filled), sources in threads.items():
        sinks = threads.get((filled, room))
        if sinks is None or (first_ps[room], min(sources)) > (first_ps[filled], min(sinks)):
            continue
        push, pop = _moves(rows, sources, room, filled), _moves(rows, sinks, filled, room)
        number = next((n for n, edge in edges.items() if _is_queue_of(edge, push, pop)), None)
        if number is None:
            return "a queue of the host's threads belongs to no edge of the application"
        matched.append(Queue(number, room, filled, push, pop, edges.pop(number).push_ps))
    if edges:
        return f"the queue of {next(iter(edges.values())).label} was not found among the host's threads"
    return _with_followed_elements(matched)


def _moves(rows: Sequence[Rows], threads: set[int], taken: int, posted: int) -> Moves:
    """The elements that these threads moved by taking from one semaphore and posting the other."""
    parts = [(mine, mine.moves(taken, posted)) for mine in rows if mine.number in threads]
    thread = np.concatenate([np.full(len(at), mine.number) for mine, at in parts])
    row = np.concatenate([at for _, at in parts])
    begin_ps = np.concatenate([mine.t1[at] for mine, at in parts])
    end_ps = np.concatenate([mine.t0[at + 1] for mine, at in parts])
    order = np.argsort(end_ps, kind="stable")  # one thread at a time is between the two
    return Moves(thread[order], row[order], begin_ps[order], end_ps[order])


def _is_queue_of(edge: EdgeQueue, push: Moves, pop: Moves) -> bool:
    """Whether the host pushed and popped an edge's elements by these moves. An end in an FPGA shows nothing."""
    for moments, moves, fpga in ((edge.push_ps, push, edge.source_fpga), (edge.pop_ps, pop, edge.sink_fpga)):
        count = min(len(moments), len(moves))
        between = (moves.begin_ps[:count] <= moments[:count]) & (moments[:count] <= moves.end_ps[:count])
        if not fpga and (count < len(moments) or not between.all()):
            return False
    return 0 <= len(push) - len(edge.push_ps) <= len(push.threads)  # elements that nobody pops are not recorded


def _with_followed_elements(queues: Sequence[Queue]) -> list[Queue]:
    """The queues, with `follows_elements` set for those whose elements may come in another order than in the run, or to
    another thread."""
    inputs: dict[int, list[Queue]] = defaultdict(list)  # by thread
    for queue in queues:
        for sink in queue.sinks:
            inputs[sink].append(queue)
    reordered: set[int] = set()
    for _ in queues:  # no path has more queues
        for queue in queues:
            before = [one for source in queue.sources for one in inputs[source]]
            if len(queue.sources) > 1 or any(len(one.sinks) > 1 or one.edge in reordered for one in before):
                reordered.add(queue.edge)
    may_change = [len(queue.sinks) > 1 or queue.edge in reordered for queue in queues]
    return [
        replace(queue, follows_elements=changes and _has_equal_sinks(queue, queues, inputs))
        for queue, changes in zip(queues, may_change, strict=True)
    ]


def _has_equal_sinks(queue: Queue, queues: Sequence[Queue], inputs: Mapping[int, Sequence[Queue]]) -> bool:
    """Whether each sink of a queue can do the work of any other: all pop from this queue only, and push to the same
    queues."""
    sinks = set(queue.sinks)
    outputs = [set(other.sources) for other in queues if sinks & set(other.sources)]
    return all(list(inputs[sink]) == [queue] for sink in sinks) and all(sinks <= sources for sources in outputs)
