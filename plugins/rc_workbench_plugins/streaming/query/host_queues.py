"""Queues between a program's own threads as edges that a query asks about: those whose calls a template or a project
names (`host.queues`).

Every call is a record: of which queue, and how many elements it moved. A push counts when its call ends, or when its
element was popped, where that came first; a pop when its call ends. A producer is held up from the begin of a push that
found the queue as full as it ever was, or that moved nothing; a consumer waits from the begin of a pop that found it
empty, or moved nothing. Threads that share an end of a queue are one block.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from workbench.api import Run, Site
from workbench.api.stream_events import NO_SPELLS, EdgeEvents, Events, Times
from workbench.api.tables import Table
from workbench.api.unstable import At, End, MappedTo, Resource, StreamEdge, Topology

PUSH, POP = "push", "pop"
ELEMENTS = "elements"  # the type of a queue's edge
HOST = Resource("host", MappedTo.CORE)
_ELEMENTS = 0xFFFFFFFF


@dataclass(frozen=True)
class _Calls:
    """The calls of one kind of a queue, in order of their ends: `moved` elements each."""

    begin_ps: Times
    end_ps: Times
    moved: Times
    blocks: Times
    sites: Times

    def each(self, column: Times) -> Times:
        """A column with a row for each element."""
        return np.repeat(column, self.moved)


def host_queues(run: Run) -> Events | None:
    """The queues of a run whose calls were recorded one by one; None where there are none."""
    calls, kinds = run.tables.get("calls"), np.array([one.kind for one in run.manifest.entries] + [""])
    if calls is None or not {PUSH, POP} & {*kinds.tolist()}:
        return None
    kind = kinds[np.asarray(calls["entry"])]
    mine = np.isin(kind, (PUSH, POP)) & (np.asarray(calls["address"]) > 0)
    numbers = np.asarray(calls["address"]) >> 32
    queues = []
    for number in np.unique(numbers[mine]).tolist():
        of = mine & (numbers == number)
        queues.append((_calls(calls, of & (kind == PUSH)), _calls(calls, of & (kind == POP))))
    if not queues:
        return None
    names = _names([_called(run.manifest.sites, *one) for one in queues])
    ends = _ends([calls.blocks for one in queues for calls in one])
    threads = _threads(run)
    edges = {}
    for name, (pushes, pops), source, sink in zip(names, queues, ends[::2], ends[1::2], strict=True):
        site = run.manifest.sites[int((pushes if len(pushes.sites) else pops).sites[0])]
        blocks = _block(threads, source) or f"{name}.producers", _block(threads, sink) or f"{name}.consumers"
        edge = StreamEdge(name, End(blocks[0], name), End(blocks[1], name), ELEMENTS, 0, At(site.file, site.line))
        edges[name] = _events(edge, pushes, pops)
    stands = {end.block: HOST for one in edges.values() for end in (one.edge.source, one.edge.sink)}
    return Events(run.manifest.name, edges, run.manifest.time_ps, stands=stands)


def _calls(calls: Table, of: NDArray[np.bool_]) -> _Calls:
    names = ("t0_ps", "t1_ps", "address", "block", "site")
    rows = [np.asarray(calls[name])[of].astype(np.int64) for name in names]
    order = np.lexsort((rows[0], rows[1]))
    begin, end, address, blocks, sites = (column[order] for column in rows)
    return _Calls(begin, end, address & _ELEMENTS, blocks, sites)


def _events(edge: StreamEdge, pushes: _Calls, pops: _Calls) -> EdgeEvents:
    popped, pushed, began = pops.each(pops.end_ps), pushes.each(pushes.end_ps), np.sort(pushes.each(pushes.begin_ps))
    before = np.searchsorted(began, popped, "right")  # pushes that had begun: others' elements were there already
    there = int(max(0, (np.arange(1, len(popped) + 1) - before).max(initial=0)))
    pushed = np.append(np.zeros(there, np.int64), pushed)
    both = min(len(pushed), len(popped))
    pushed[:both] = np.minimum(pushed[:both], popped[:both])
    held = np.arange(1, len(pushed) + 1) - np.searchsorted(popped, pushed, "right")
    depth = int(held.max(initial=1))

    def holds(at: Times) -> Times:
        return np.searchsorted(pushed, at, "right") - np.searchsorted(popped, at, "right")

    return EdgeEvents(
        replace(edge, depth=depth), pushed, popped,
        blocked_ps=_waits(pushes, holds(pushes.begin_ps) >= depth),
        waiting_ps=_waits(pops, holds(pops.begin_ps) <= 0),
        push_by=np.append(np.full(there, -1), pushes.each(pushes.blocks)), pop_by=pops.each(pops.blocks),
    )  # fmt: skip


def _waits(calls: _Calls, waited: NDArray[np.bool_]) -> Times:
    """From the begin of each call that waited to its end; of one that moved nothing to its thread's next one."""
    ends = calls.end_ps.copy()
    for block in np.unique(calls.blocks):
        mine = np.flatnonzero(calls.blocks == block)
        later = np.append(calls.begin_ps[mine[1:]], ends[mine[-1:]])
        ends[mine] = np.where(calls.moved[mine] == 0, np.maximum(later, ends[mine]), ends[mine])
    some = (waited | (calls.moved == 0)) & (ends > calls.begin_ps)
    spans = np.stack((calls.begin_ps[some], ends[some]), axis=1)
    return spans[np.argsort(spans[:, 0], kind="stable")] if len(spans) else NO_SPELLS


def _called(sites: Sequence[Site], pushes: _Calls, pops: _Calls) -> list[str]:
    """What the source calls a queue, what is no parameter first."""
    at = [sites[number].queue for part in (pushes, pops) for number in np.unique(part.sites).tolist()]
    said = [name for name in dict.fromkeys(at) if name]
    return sorted(said, key=lambda name: name.startswith("(")) or ["queue"]


def _names(called: Sequence[Sequence[str]]) -> list[str]:
    """A name for each queue: the first that the source has for it alone, else with a number."""
    uses = [name for names in called for name in names]
    chosen = [next((name for name in names if uses.count(name) == 1), names[0]).strip("()") for names in called]
    numbers = {name: count() for name in chosen}
    return [name if chosen.count(name) == 1 else f"{name}[{next(numbers[name])}]" for name in chosen]


def _ends(ends: Sequence[Times]) -> list[tuple[int, ...]]:
    """The threads at each end, with all that share another end with one of them."""
    groups: list[set[int]] = []
    for end in ends:
        mine = {*end.tolist()}
        touched = [group for group in groups if group & mine]
        groups = [group for group in groups if not group & mine] + [mine.union(*touched)]
    of = {thread: group for group in groups for thread in group}
    return [tuple(sorted(of[int(end[0])])) if len(end) else () for end in ends]


def _threads(run: Run) -> list[str]:
    return [block.id.removeprefix("host.") for block in run.manifest.blocks]


def _block(threads: Sequence[str], numbers: Iterable[int]) -> str:
    """What threads are called together: worker[*] of worker_1 and worker_2."""
    names = [threads[number] for number in numbers]
    alike = {re.sub(r"_\d+$", "", name) for name in names}
    return f"{alike.pop()}[*]" if len(names) > 1 and len(alike) == 1 else ", ".join(names)


def with_design(run: Run, queues: Events, design: Topology, outside: tuple[str, str]) -> tuple[Topology, Events]:
    """A design's streams with the queues of the program that feeds it, and what the program sends and receives as edges
    between the two, one for each function that does. They lead to the design's only block that takes from no stream,
    and from the only one that gives to none, or to what stands for the program among its streams, `outside`."""
    gives = {edge.source.block for edge in design.edges if edge.source != edge.sink}
    takes = {edge.sink.block for edge in design.edges if edge.source != edge.sink}
    first = outside[0] if outside[0] in gives else _only(gives - takes)
    last = outside[1] if outside[1] in takes else _only(takes - gives)
    edges = {**queues.edges, **_transfers(run, queues, first, last)}
    ends = dict.fromkeys(end.block for one in edges.values() for end in (one.edge.source, one.edge.sink))
    events = replace(queues, edges=edges, stands={name: HOST for name in ends if name not in (first, last)})
    host = events.topology
    blocks = {block.name: block for block in (*host.blocks, *design.blocks)}
    mapping, resources = {**host.mapping, **design.mapping}, (*design.resources, *host.resources)
    name = design.name if design.edges else host.name
    return Topology(name, tuple(blocks.values()), (*host.edges, *design.edges), resources, mapping), events


def _only(names: set[str]) -> str:
    return names.pop() if len(names) == 1 else "FPGA"


def _transfers(run: Run, queues: Events, first: str, last: str) -> dict[str, EdgeEvents]:
    """The transfers of threads that form one block. A call that sends leaves its thread when it begins, and is there
    when its first word passes the port; one that receives begins with its first word, and is there when it returns."""
    calls, manifest = run.tables["calls"], run.manifest
    threads = dict(enumerate(_threads(run)))
    for one in queues.edges.values():
        for end, by in ((one.edge.source, one.push_by), (one.edge.sink, one.pop_by)):
            threads |= dict.fromkeys(np.unique(by).tolist() if by is not None else (), end.block)
    kind = np.array([*(entry.kind for entry in manifest.entries), ""])[np.asarray(calls["entry"])]
    callee = np.array([site.callee for site in manifest.sites])[np.asarray(calls["site"])]
    edges: dict[str, EdgeEvents] = {}
    for way in ("send", "receive"):
        for name in np.unique(callee[kind == way]).tolist():
            of, sends = (kind == way) & (callee == name), way == "send"
            begin, end, word, blocks = (
                np.asarray(calls[column])[of].astype(np.int64)
                for column in ("t0_ps", "t1_ps", "port_first_ps", "block")
            )
            names = {threads[number] for number in np.unique(blocks).tolist()}
            if len(names) > 1 or name in edges or name in queues.edges:
                continue
            left = begin if sends else np.where(word >= 0, word, begin)
            came = np.where(word >= 0, word, end) if sends else end
            mover = blocks[np.argsort(begin if sends else end, kind="stable")]
            left, came = np.sort(left), np.sort(came)
            held = np.arange(1, len(left) + 1) - np.searchsorted(came, left, "right")
            thread = End(names.pop(), name)
            source, sink = (thread, End(first, "in")) if sends else (End(last, "out"), thread)
            site = next(site for site in manifest.sites if site.callee == name)
            at, depth = At(site.file, site.line), int(held.max(initial=1))
            edge = StreamEdge(name, source, sink, "transfers", depth, at)
            movers = (mover, None) if sends else (None, mover)
            edges[name] = EdgeEvents(edge, left, came, push_by=movers[0], pop_by=movers[1])
    return edges
