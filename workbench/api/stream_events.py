"""What a run tells of its edges: every push and pop, the truth that all answers are checked against.

Times are integer ps on the host's virtual clock, in hardware the clock edge at which a transfer takes effect. A queue
is first in, first out: pop i takes what push i brought. `tables` and `events_of` keep them in a run's folder.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run_tables import Table
from workbench.model.topology import BlockKind, End, MappedTo, Resource, StreamBlock, StreamEdge, Topology

Times = NDArray[np.int64]

NO_TIMES: Times = np.empty(0, np.int64)
NO_SPELLS: Times = np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class Crossing:
    """How an edge crosses a bus: `bulk` elements at a time, or those that are there after `flush_ps`, from a queue that
    holds `rooms[0]` to one that holds `rooms[1]`; `into` the FPGA or out of it."""

    bulk: int
    flush_ps: int
    rooms: tuple[int, int]
    into: bool

    @property
    def words(self) -> str:
        """What its parts hold."""
        host, fpga = self.rooms if self.into else self.rooms[::-1]
        return f"{host} on the processor, {fpga} in the FPGA, {self.bulk} on their way"


@dataclass(frozen=True)
class EdgeEvents:
    """One edge's queue: times in order, as many pushes as pops or more; spells as rows (begin, end) in order.

    `values` are the elements pushed, None where they were not recorded. In `blocked_ps` the producer has an element and
    the queue takes none (in hardware: valid and not ready); in `waiting_ps` the consumer wants one and there is none.
    `tick_ps` is the period of the clock of an edge in hardware, which carries a transfer a cycle; 0 on the host.
    `uncertain_ps` is how far its two ends' clocks may be apart, 0 where one clock timed both.

    Of an edge that crosses a bus, `taken_ps` is when the transfer that carried each element began (elements of one
    transfer have one time), and `delivered_ps` when it stood on the consumer's side: of as many elements as it happened
    to, None where nobody saw it. `crossing` is None of runs that do not tell. Where only a part of the edge was
    recorded, `part` names it, and all else is said of that part. `declared` is the depth that the application declares,
    0 in runs that do not say: `edge.depth` is what all its queues hold. Where several threads push or pop, `push_by`
    and `pop_by` number the one of each element, -1 where that is not known.
    """

    edge: StreamEdge
    push_ps: Times
    pop_ps: Times
    values: NDArray[Any] | None = None
    blocked_ps: Times = field(default_factory=NO_SPELLS.copy)
    waiting_ps: Times = field(default_factory=NO_SPELLS.copy)
    tick_ps: float = 0.0
    uncertain_ps: int = 0
    taken_ps: Times | None = None
    delivered_ps: Times | None = None
    crossing: Crossing | None = None
    part: str = ""
    declared: int = 0
    push_by: Times | None = None
    pop_by: Times | None = None


@dataclass(frozen=True)
class Pool:
    """A block of several threads: for how long these were busy, and were ready while others had their cores, summed."""

    threads: int
    busy_ps: int
    queued_ps: int


@dataclass(frozen=True)
class Events:
    """All edges of a run by label; a topology of these edges alone, with what is known of their blocks, is `topology`.
    `kinds` and `stands` (on what resource) are of blocks by name; so are, of those on processor cores, `queued_ps`
    (spells in which they were ready and others had their core) and `lives_ps` (when they began and ended). A machine
    itself tells only how long in all they were ready and others had their core: `ready_ps`. Blocks of several threads
    are in `pools` instead. Transfers over a bus carry `bulk` elements, or those that are there after `flush_ps`; 0 in
    runs that do not say."""

    name: str
    edges: Mapping[str, EdgeEvents]
    end_ps: int
    start_ps: int = 0
    kinds: Mapping[str, str] | None = None
    stands: Mapping[str, Resource] = field(default_factory=dict)
    queued_ps: Mapping[str, Times] = field(default_factory=dict)
    lives_ps: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    ready_ps: Mapping[str, int] = field(default_factory=dict)
    bulk: int = 0
    flush_ps: int = 0
    pools: Mapping[str, Pool] = field(default_factory=dict)

    @property
    def topology(self) -> Topology:
        threads = {name: pool.threads for name, pool in self.pools.items()}
        return _topology(self.name, [one.edge for one in self.edges.values()], self.kinds or {}, self.stands, threads)


def of_topology(topology: Topology, edges: Mapping[str, EdgeEvents], end_ps: int, start_ps: int = 0) -> Events:
    """What was recorded of a topology's edges."""
    kinds = {block.name: block.kind.name for block in topology.blocks}
    resources = {resource.name: resource for resource in topology.resources}
    stands = {block: resources[name] for block, name in topology.mapping.items() if name in resources}
    return Events(topology.name, edges, end_ps, start_ps, kinds, stands)


def _topology(
    name: str, edges: Sequence[StreamEdge], kinds: Mapping[str, str], stands: Mapping[str, Resource],
    threads: Mapping[str, int],
) -> Topology:  # fmt: skip
    ends = dict.fromkeys(end.block for edge in edges for end in (edge.source, edge.sink))
    kind = {block: BlockKind(kinds.get(block, ""), ()) for block in ends}
    blocks = tuple(StreamBlock(block, kind[block], threads=threads.get(block, 1)) for block in ends)
    mapping = {block: stands[block].name for block in ends if block in stands}
    return Topology(name, blocks, tuple(edges), tuple(dict.fromkeys(stands.values())), mapping)


#: Tables of a run folder. They hold numbers alone: what is said of the edges stands in one as UTF-8, `stream_edges`.
EDGES, PUSHES, POPS, VALUES, SPELLS = "stream_edges", "stream_pushes", "stream_pops", "stream_values", "stream_spells"
CROSSINGS, QUEUED, THREADS = "stream_crossings", "stream_queued", "stream_threads"


def tables(events: Events) -> dict[str, Table]:
    """The events as tables of a run folder, one edge after another."""
    said = [
        {
            "label": one.edge.label,
            "source": asdict(one.edge.source),
            "sink": asdict(one.edge.sink),
            "type": one.edge.type,
            "depth": one.edge.depth,
            "declared": one.declared,
            "tick_ps": one.tick_ps,
            "uncertain_ps": one.uncertain_ps,
            "pushes": len(one.push_ps),
            "pops": len(one.pop_ps),
            "values": one.values is not None,
            "blocked": len(one.blocked_ps),
            "waiting": len(one.waiting_ps),
            "taken": -1 if one.taken_ps is None else len(one.taken_ps),
            "delivered": -1 if one.delivered_ps is None else len(one.delivered_ps),
            "crossing": asdict(one.crossing) if one.crossing else None,
            "part": one.part,
            "push_by": one.push_by is not None,
            "pop_by": one.pop_by is not None,
        }
        for one in events.edges.values()
    ]
    head = {
        "name": events.name,
        "start_ps": events.start_ps,
        "end_ps": events.end_ps,
        "bulk": events.bulk,
        "flush_ps": events.flush_ps,
        "kinds": dict(events.kinds or {}),
        "queued": {block: len(intervals) for block, intervals in events.queued_ps.items()},
        "lives_ps": dict(events.lives_ps),
        "ready_ps": dict(events.ready_ps),
        "stands": {block: [resource.name, resource.place] for block, resource in events.stands.items()},
        "pools": {block: asdict(pool) for block, pool in events.pools.items()},
    }
    text = json.dumps({**head, "edges": said}).encode()
    all_of = list(events.edges.values())
    spells = np.concatenate([NO_SPELLS, *(part for one in all_of for part in (one.blocked_ps, one.waiting_ps))])
    queued = np.concatenate([NO_SPELLS, *events.queued_ps.values()])
    crossings = [part for one in all_of for part in (one.taken_ps, one.delivered_ps) if part is not None]
    threads = [by for one in all_of for by in (one.push_by, one.pop_by) if by is not None]
    values = [one.values.astype(value_kind(one.edge.type)).view("i8") for one in all_of if one.values is not None]
    return {
        EDGES: {"utf8": np.frombuffer(text, "u1")},
        PUSHES: {"time_ps": np.concatenate([NO_TIMES, *(one.push_ps for one in all_of)])},
        POPS: {"time_ps": np.concatenate([NO_TIMES, *(one.pop_ps for one in all_of)])},
        VALUES: {"bits": np.concatenate([NO_TIMES, *values])},
        SPELLS: {"begin_ps": spells[:, 0].copy(), "end_ps": spells[:, 1].copy()},
        **({THREADS: {"number": np.concatenate(threads).astype(np.int32)}} if threads else {}),
        CROSSINGS: {"time_ps": np.concatenate([NO_TIMES, *crossings])},
        QUEUED: {"begin_ps": queued[:, 0].copy(), "end_ps": queued[:, 1].copy()},
    }


def value_kind(type_: str) -> str:
    """How the values of elements of a type are kept: in 8 bytes."""
    return "f8" if type_.startswith("float") else "i8" if type_.startswith("signed") else "u8"


@dataclass(frozen=True)
class Head:
    """What a run's tables say of its edges without their events: `pushes` and whether values were kept, by label."""

    topology: Topology
    start_ps: int
    end_ps: int
    pushes: Mapping[str, int]
    valued: frozenset[str]


def head_of(tables: Mapping[str, Table], file: str = "") -> Head | None:
    """The edges of `events_of` without their events, however many there are."""
    if EDGES not in tables:
        return None
    with _damage_told(file):
        said = _said(tables)
        return Head(
            _topology(
                said["name"], [_edge(one) for one in said["edges"]], said["kinds"], _stands(said), _threads(said)
            ),
            int(said["start_ps"]),
            int(said["end_ps"]),
            {one["label"]: int(one["pushes"]) for one in said["edges"]},
            frozenset(one["label"] for one in said["edges"] if one["values"]),
        )


def _said(tables: Mapping[str, Table]) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(bytes(np.asarray(tables[EDGES]["utf8"])))
    return said


def _edge(one: Mapping[str, Any]) -> StreamEdge:
    return StreamEdge(one["label"], End(**one["source"]), End(**one["sink"]), one["type"], one["depth"])


def _threads(said: Mapping[str, Any]) -> dict[str, int]:
    return {name: int(pool["threads"]) for name, pool in said.get("pools", {}).items()}


def _stands(said: Mapping[str, Any]) -> dict[str, Resource]:
    stands = said.get("stands", {})  # runs of earlier versions do not tell
    return {block: Resource(name, MappedTo(place)) for block, (name, place) in stands.items()}


@contextmanager
def _damage_told(file: str) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        message = f"the run's record of its streams is damaged: {error}"
        raise WorkbenchError(Diagnostic(message, "Run again.", file=file or None)) from None


def events_of(tables: Mapping[str, Table], file: str = "") -> Events | None:
    """The events in the tables of a run (at `file`, for messages); None where it has none. WorkbenchError where they do
    not fit one another."""
    if EDGES not in tables:
        return None
    with _damage_told(file):
        said = _said(tables)
        pushes, pops = _Column(tables[PUSHES]["time_ps"]), _Column(tables[POPS]["time_ps"])
        bits = _Column(tables[VALUES]["bits"])
        spells = _Column(np.stack((tables[SPELLS]["begin_ps"], tables[SPELLS]["end_ps"]), axis=1))
        crossings = _Column(tables[CROSSINGS]["time_ps"])
        threads = _Column(tables[THREADS]["number"] if THREADS in tables else NO_TIMES)
        edges = {}
        for one in said["edges"]:
            edges[one["label"]] = EdgeEvents(
                _edge(one),
                pushes.next(one["pushes"]),
                pops.next(one["pops"]),
                bits.next(one["pushes"]).view(value_kind(one["type"])) if one["values"] else None,
                spells.next(one["blocked"]),
                spells.next(one["waiting"]),
                float(one["tick_ps"]),
                int(one["uncertain_ps"]),
                crossings.next(one["taken"]) if one["taken"] >= 0 else None,
                crossings.next(one["delivered"]) if one["delivered"] >= 0 else None,
                _crossing(one.get("crossing")),
                str(one.get("part", "")),
                int(one.get("declared", 0)),
                threads.next(one["pushes"]) if one.get("push_by") else None,
                threads.next(one["pops"]) if one.get("pop_by") else None,
            )
        return Events(
            said["name"],
            edges,
            int(said["end_ps"]),
            int(said["start_ps"]),
            said["kinds"],
            _stands(said),
            _queued(tables, said),
            {block: (int(begin), int(end)) for block, (begin, end) in said.get("lives_ps", {}).items()},
            {block: int(ready) for block, ready in said.get("ready_ps", {}).items()},
            int(said.get("bulk", 0)),
            int(said.get("flush_ps", 0)),
            {name: Pool(**pool) for name, pool in said.get("pools", {}).items()},
        )


def _queued(tables: Mapping[str, Table], said: Mapping[str, Any]) -> dict[str, Times]:
    if not said.get("queued"):  # runs of earlier versions do not tell
        return {}
    spells = _Column(np.stack((tables[QUEUED]["begin_ps"], tables[QUEUED]["end_ps"]), axis=1))
    return {block: spells.next(count) for block, count in said["queued"].items()}


def _crossing(said: Mapping[str, Any] | None) -> Crossing | None:
    return Crossing(**{**said, "rooms": tuple(said["rooms"])}) if said else None


class _Column:
    """A column that is read from its beginning to its end. ValueError where it is too short."""

    def __init__(self, values: NDArray[np.int64]) -> None:
        self._values, self._done = np.asarray(values), 0

    def next(self, count: int) -> NDArray[np.int64]:
        part = self._values[self._done : self._done + count]
        if count < 0 or len(part) != count:
            raise ValueError("a column is too short")
        self._done += count
        return part
