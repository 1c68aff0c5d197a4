"""How often blocks that give less than they take must send dummy messages, so that no split and join deadlocks.

Of two ways from a split to a join one may be silent while the other one fills up: the join waits for the silent one,
the split for room on the full one. A dummy message says that nothing comes. Li, Agrawal, Buhler and Chamberlain (SPAA
2010) give two intervals for every edge, in elements that its block takes: one for splits alone, whose dummy messages
all blocks behind pass on, and one for every block on the way, none of which passes on any.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import networkx as nx

from workbench.api import listed
from workbench.api.unstable import StreamEdge, Topology

MOST_CYCLES = 20_000
INTERVALS = (
    "If a block between a split and its join sends less than it receives, dummy messages rule out a deadlock. Send "
    "each after at most this number of elements:"
)

#: Edges in the order of the data.
Way = tuple[StreamEdge, ...]


@dataclass(frozen=True)
class DummyInterval:
    """For how many elements that its block takes an edge may have no dummy message at most. `passed_on`: since the last
    one, whatever else was sent, where all blocks behind pass them on; None behind the split, where none is begun.
    `each`: since any message, where every block on the way keeps its own."""

    edge: StreamEdge
    passed_on: int | None
    each: int

    def as_json(self) -> dict[str, object]:
        return {"edge": self.edge.label, "passed_on": self.passed_on, "each": self.each}


def dummy_intervals(topology: Topology) -> tuple[DummyInterval, ...] | None:
    """The intervals of all edges between a split and a join, in the topology's order; None if there are too many paths
    to examine."""
    passed_on, each = dict[str, int](), dict[str, int]()
    cycles = list(islice(_cycles(topology), MOST_CYCLES + 1))
    if len(cycles) > MOST_CYCLES:
        return None
    for cycle in cycles:
        for way, other in _ways(cycle):
            room = sum(edge.depth for edge in other)
            first = way[0].label
            passed_on[first] = max(min(room, passed_on.get(first, room)), 1)
            for edge in way:
                each[edge.label] = max(min(room // len(way), each.get(edge.label, room)), 1)
    edges = (edge for edge in topology.edges if edge.label in each)
    return tuple(DummyInterval(edge, passed_on.get(edge.label), each[edge.label]) for edge in edges)


def _cycles(topology: Topology) -> Iterator[list[tuple[StreamEdge, bool]]]:
    """Cycles of edges whatever their direction, each edge with whether the cycle follows the data."""
    graph: nx.Graph[str | StreamEdge] = nx.Graph()
    for edge in topology.edges:
        if edge.source.block != edge.sink.block:
            graph.add_edge(edge.source.block, edge)
            graph.add_edge(edge, edge.sink.block)
    for cycle in nx.simple_cycles(graph):
        at = next(number for number, node in enumerate(cycle) if isinstance(node, str))
        nodes = [*cycle[at:], *cycle[:at]]
        pairs = zip(nodes[::2], nodes[1::2], strict=True)
        yield [(edge, edge.source.block == block) for block, edge in pairs if isinstance(edge, StreamEdge)]


def _ways(cycle: Sequence[tuple[StreamEdge, bool]]) -> Iterator[tuple[Way, Way]]:
    """Of every split in a cycle the two ways that leave it, up to where they meet others, both ways round; none of a
    cycle that the data goes round in."""
    count = len(cycle)
    for at, (_, forward) in enumerate(cycle):
        if not forward or cycle[at - 1][1]:
            continue
        right = list(_while(cycle[(at + step) % count] for step in range(count)))
        left = list(_while((edge, not ahead) for edge, ahead in (cycle[at - 1 - step] for step in range(count))))
        yield tuple(right), tuple(left)
        yield tuple(left), tuple(right)


def _while(steps: Iterable[tuple[StreamEdge, bool]]) -> Iterator[StreamEdge]:
    for edge, along in steps:
        if not along:
            return
        yield edge


def advice(topology: Topology, silent: Sequence[StreamEdge]) -> str:
    """What blocks may send on edges that are silent, so that a join does not wait for them; empty where no dummy
    message would help."""
    known = {one.edge.label: one for one in dummy_intervals(topology) or ()}
    asked = [known[edge.label] for edge in silent if edge.label in known]
    if not asked:
        return ""
    begun = [
        f"let {topology.within(one.edge.source.block)} send a dummy message on {topology.within(one.edge.label)} after "
        f"at most {one.passed_on} elements, which the blocks behind it pass on"
        for one in asked
        if one.passed_on is not None
    ]
    own = listed([f"{topology.within(one.edge.label)} {one.each}" for one in asked], 8)
    return "; or ".join([*begun, f"let each block send one after this number of elements without output: {own}"])
