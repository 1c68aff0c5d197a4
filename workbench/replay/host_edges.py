"""The queues of edges on the host: their semaphores, the threads at their ends, and which call moved which element.

An edge's queue is two semaphores (`resources/streaming/streaming.hpp`): its room, and the elements there. A thread
that pushes takes from the first and posts the second; one that pops, the other way round.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.api.queues import EdgeQueue, RunQueues
from workbench.model.syncs import SyncKind
from workbench.replay.thread_rows import Rows
from workbench.replay.traffic import Cycles

NO_ELEMENT = -1  # of a call: it moves none


@dataclass(frozen=True)
class Moves:
    """One end of a queue: which threads moved its elements, in which of their rows they took from a semaphore, and
    between which moments they moved each; in the order of the elements."""

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
    """The queue of an edge on the host: its semaphores, and who pushes and pops. Where the work `follows_elements`,
    what a thread does after it popped an element is what the run's thread did after it popped the same one."""

    edge: int
    room: int
    there: int
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
        """By row of a thread, the number of the element that it pushes, or popped; NO_ELEMENT of other rows."""
        numbers = np.full(len(mine), NO_ELEMENT, np.int64)
        for moves, later in ((self.push, 1), (self.pop, 0)):
            is_mine = (moves.thread == mine.number) & (np.arange(len(moves)) < len(self.push_ps))
            numbers[moves.row[is_mine] + later] = np.flatnonzero(is_mine)
        return numbers


def host_queues(rows: Sequence[Rows], queues: RunQueues) -> list[Queue] | str:
    """The queues on the host by their semaphores, each with its edge; or why they cannot be matched."""
    threads: dict[tuple[int, int], set[int]] = defaultdict(set)  # by (taken, posted)
    first: dict[int, int] = {}  # when each semaphore was first taken and another posted
    for mine in rows:
        at = np.flatnonzero(mine.took[:-1] & (mine.kind[1:] == SyncKind.POST) & (mine.object[:-1] != mine.object[1:]))
        if not len(at):
            continue
        pairs, begin = np.unique(np.stack((mine.object[at], mine.object[at + 1])), axis=1, return_index=True)
        for (taken, posted), place in zip(pairs.T.tolist(), at[begin].tolist(), strict=True):
            threads[taken, posted].add(mine.number)
            first[taken] = min(first.get(taken, int(mine.t1[place])), int(mine.t1[place]))
    left = {n: e for n, e in enumerate(queues.edges) if e.on_host and len(e.push_ps) and len(e.pop_ps)}
    matched: list[Queue] = []
    for (room, there), sources in threads.items():
        sinks = threads.get((there, room))
        if sinks is None or (first[room], min(sources)) > (first[there], min(sinks)):
            continue
        push, pop = _moves(rows, sources, room, there), _moves(rows, sinks, there, room)
        of = [n for n, edge in left.items() if _is(edge, push, pop)]
        if not of:
            return "a queue of the host's threads belongs to no edge of the application"
        del left[of[0]]
        matched.append(Queue(of[0], room, there, push, pop, queues.edges[of[0]].push_ps))
    if left:
        return f"the queue of {next(iter(left.values())).label} was not found among the host's threads"
    return _followed(matched)


def _moves(rows: Sequence[Rows], threads: set[int], taken: int, posted: int) -> Moves:
    parts = [(mine, mine.moves(taken, posted)) for mine in rows if mine.number in threads]
    thread = np.concatenate([np.full(len(at), mine.number) for mine, at in parts])
    row = np.concatenate([at for _, at in parts])
    begin_ps = np.concatenate([mine.t1[at] for mine, at in parts])
    end_ps = np.concatenate([mine.t0[at + 1] for mine, at in parts])
    order = np.argsort(end_ps, kind="stable")  # one thread at a time is between the two
    return Moves(thread[order], row[order], begin_ps[order], end_ps[order])


def _is(edge: EdgeQueue, push: Moves, pop: Moves) -> bool:
    """Whether an edge's elements came and went with these, as far as it is the host that did it."""
    for moments, moves, fpga in ((edge.push_ps, push, edge.source_fpga), (edge.pop_ps, pop, edge.sink_fpga)):
        count = min(len(moments), len(moves))
        between = (moves.begin_ps[:count] <= moments[:count]) & (moments[:count] <= moves.end_ps[:count])
        if not fpga and (count < len(moments) or not between.all()):
            return False
    return 0 <= len(push) - len(edge.push_ps) <= len(push.threads)  # those that nobody reads any more are lost


def _followed(queues: Sequence[Queue]) -> list[Queue]:
    """The same queues. Those whose elements may come in another order than in the run, or to another thread, follow
    their elements."""
    inputs: dict[int, list[Queue]] = defaultdict(list)  # by thread
    for queue in queues:
        for sink in queue.sinks:
            inputs[sink].append(queue)
    reordered: set[int] = set()
    for _ in queues:  # a path is no longer than that
        for queue in queues:
            before = [one for source in queue.sources for one in inputs[source]]
            if len(queue.sources) > 1 or any(len(one.sinks) > 1 or one.edge in reordered for one in before):
                reordered.add(queue.edge)
    moved = [len(queue.sinks) > 1 or queue.edge in reordered for queue in queues]
    return [
        replace(queue, follows_elements=is_moved and _alike(queue, queues, inputs))
        for queue, is_moved in zip(queues, moved, strict=True)
    ]


def _alike(queue: Queue, queues: Sequence[Queue], inputs: Mapping[int, Sequence[Queue]]) -> bool:
    """Whether each of a queue's sinks can do the work of any of them: they pop from no other queue, and push to the
    same ones."""
    sinks = set(queue.sinks)
    outputs = [set(other.sources) for other in queues if sinks & set(other.sources)]
    return all(list(inputs[sink]) == [queue] for sink in sinks) and all(sinks <= sources for sources in outputs)
