"""What a run tells of its edges: every push and pop, the truth that all answers are checked against.

Times are integer ps on the host's virtual clock, in hardware the clock edge at which a transfer takes effect. A queue
is first in, first out: pop i takes what push i brought. `tables` and `events_of` keep them in a run's folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.streaming.topology import Block, BlockKind, Edge, End, Topology
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import Table

Times = NDArray[np.int64]

NO_TIMES: Times = np.empty(0, np.int64)
NO_SPELLS: Times = np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class EdgeEvents:
    """One edge's queue: times in order, as many pushes as pops or more; spells as rows (begin, end) in order.

    `values` are the elements pushed, None where they were not recorded. In `blocked_ps` the producer has an element and
    the queue takes none (in hardware: valid and not ready); in `waiting_ps` the consumer wants one and there is none.
    `tick_ps` is the period of the clock of an edge in hardware, which carries a transfer a cycle; 0 on the host.
    `uncertain_ps` is how far its two ends' clocks may be apart, 0 where one clock timed both.

    Of an edge that crosses a bus, `taken_ps` is when the transfer that carried each element began (elements of one
    transfer have one time), and `delivered_ps` when it stood on the consumer's side: of as many elements as it happened
    to, None where nobody saw it.
    """

    edge: Edge
    push_ps: Times
    pop_ps: Times
    values: NDArray[Any] | None = None
    blocked_ps: Times = field(default_factory=NO_SPELLS.copy)
    waiting_ps: Times = field(default_factory=NO_SPELLS.copy)
    tick_ps: float = 0.0
    uncertain_ps: int = 0
    taken_ps: Times | None = None
    delivered_ps: Times | None = None


@dataclass(frozen=True)
class Events:
    """All edges of a run by label; a topology of these edges alone, with the kinds of their blocks, is `topology`."""

    name: str
    edges: Mapping[str, EdgeEvents]
    end_ps: int
    start_ps: int = 0
    kinds: Mapping[str, str] | None = None  # of blocks, by name

    @property
    def topology(self) -> Topology:
        kinds = self.kinds or {}
        ends = {end.block: None for events in self.edges.values() for end in (events.edge.source, events.edge.sink)}
        blocks = tuple(Block(name, BlockKind(kinds.get(name, ""), ())) for name in ends)
        return Topology(self.name, blocks, tuple(events.edge for events in self.edges.values()))


def of_topology(topology: Topology, edges: Mapping[str, EdgeEvents], end_ps: int, start_ps: int = 0) -> Events:
    """What was recorded of a topology's edges."""
    kinds = {block.name: block.kind.name for block in topology.blocks}
    return Events(topology.name, edges, end_ps, start_ps, kinds)


#: Tables of a run folder. They hold numbers alone: what is said of the edges stands in one as UTF-8, `stream_edges`.
EDGES, PUSHES, POPS, VALUES, SPELLS = "stream_edges", "stream_pushes", "stream_pops", "stream_values", "stream_spells"
CROSSINGS = "stream_crossings"


def tables(events: Events) -> dict[str, Table]:
    """As tables of a run folder, the edges one after another."""
    said = [
        {
            "label": one.edge.label,
            "source": asdict(one.edge.source),
            "sink": asdict(one.edge.sink),
            "type": one.edge.type,
            "depth": one.edge.depth,
            "tick_ps": one.tick_ps,
            "uncertain_ps": one.uncertain_ps,
            "pushes": len(one.push_ps),
            "pops": len(one.pop_ps),
            "values": one.values is not None,
            "blocked": len(one.blocked_ps),
            "waiting": len(one.waiting_ps),
            "taken": -1 if one.taken_ps is None else len(one.taken_ps),
            "delivered": -1 if one.delivered_ps is None else len(one.delivered_ps),
        }
        for one in events.edges.values()
    ]
    head = {
        "name": events.name,
        "start_ps": events.start_ps,
        "end_ps": events.end_ps,
        "kinds": dict(events.kinds or {}),
    }
    text = json.dumps({**head, "edges": said}).encode()
    all_of = list(events.edges.values())
    spells = np.concatenate([NO_SPELLS, *(part for one in all_of for part in (one.blocked_ps, one.waiting_ps))])
    crossings = [part for one in all_of for part in (one.taken_ps, one.delivered_ps) if part is not None]
    values = [one.values.astype(value_kind(one.edge.type)).view("i8") for one in all_of if one.values is not None]
    return {
        EDGES: {"utf8": np.frombuffer(text, "u1")},
        PUSHES: {"time_ps": np.concatenate([NO_TIMES, *(one.push_ps for one in all_of)])},
        POPS: {"time_ps": np.concatenate([NO_TIMES, *(one.pop_ps for one in all_of)])},
        VALUES: {"bits": np.concatenate([NO_TIMES, *values])},
        SPELLS: {"begin_ps": spells[:, 0].copy(), "end_ps": spells[:, 1].copy()},
        CROSSINGS: {"time_ps": np.concatenate([NO_TIMES, *crossings])},
    }


def value_kind(type_: str) -> str:
    """How the values of elements of a type are kept: in 8 bytes."""
    return "f8" if type_.startswith("float") else "i8" if type_.startswith("signed") else "u8"


def events_of(found: Mapping[str, Table], file: str = "") -> Events | None:
    """The events in the tables of a run (at `file`, for messages); None where it has none. WorkbenchError where they do
    not fit one another."""
    if EDGES not in found:
        return None
    try:
        said = json.loads(bytes(np.asarray(found[EDGES]["utf8"])))
        pushes, pops = _Column(found[PUSHES]["time_ps"]), _Column(found[POPS]["time_ps"])
        bits = _Column(found[VALUES]["bits"])
        spells = _Column(np.stack((found[SPELLS]["begin_ps"], found[SPELLS]["end_ps"]), axis=1))
        crossings = _Column(found[CROSSINGS]["time_ps"])
        edges = {}
        for one in said["edges"]:
            source, sink = End(**one["source"]), End(**one["sink"])
            edges[one["label"]] = EdgeEvents(
                Edge(one["label"], source, sink, one["type"], one["depth"]),
                pushes.next(one["pushes"]),
                pops.next(one["pops"]),
                bits.next(one["pushes"]).view(value_kind(one["type"])) if one["values"] else None,
                spells.next(one["blocked"]),
                spells.next(one["waiting"]),
                float(one["tick_ps"]),
                int(one["uncertain_ps"]),
                *(crossings.next(one[side]) if one[side] >= 0 else None for side in ("taken", "delivered")),
            )
        return Events(said["name"], edges, int(said["end_ps"]), int(said["start_ps"]), said["kinds"])
    except (KeyError, TypeError, ValueError) as error:
        message = f"the run's record of its streams is damaged: {error}"
        raise WorkbenchError(Diagnostic(message, "Run again.", file=file or None)) from None


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
