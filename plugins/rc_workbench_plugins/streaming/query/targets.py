"""Which edges of a topology a query's names mean."""

from collections.abc import Iterator, Sequence

from rc_workbench_plugins.streaming.query.measures import Tap
from workbench.api import near
from workbench.api.unstable import End, StreamEdge, Topology, Way

#: Edges in the order of the data: one, or a path.
Route = tuple[StreamEdge, ...]


class UnknownTarget(Exception):
    """Names that mean no edge, or not clearly one path. `point` is the number of the name that is to blame."""

    def __init__(self, message: str, hint: str, point: int = 0) -> None:
        super().__init__(message)
        self.message, self.hint, self.point = message, hint, point


def routes(topology: Topology, points: Sequence[str]) -> list[Route]:
    """What names in a row mean, each of an edge: a label, or a port ("total.x", ".in" and ".out" for whichever it has);
    all may begin anywhere in a dotted name, and a kind's name stands for its blocks. Where names fit several edges,
    all are meant, a route each. Between two names that share no edge lies the one way of the data. UnknownTarget.
    """
    chosen = [_edges(topology, point, number) for number, point in enumerate(points)]
    ways: list[Route] = [(edge,) for edge in chosen[0]]
    for number, edges in enumerate(chosen[1:], 1):
        shared = [route for route in ways if route[-1] in edges]
        ways = shared or [way for route in ways for edge in edges for way in _way(topology, route, edge, number)]
        if not ways:
            message = f"no data goes from {points[number - 1]} to {points[number]}"
            raise UnknownTarget(message, "A path follows the data, from edge to edge.", number)
    return ways


def tap_of(topology: Topology, point: str) -> Tap:
    """Where transfers are counted at a name that stands alone: a consumer's port sees pops."""
    at_sinks = not _labelled(topology, point) and any(_fits(topology, e.sink, Way.IN, point) for e in topology.edges)
    return Tap.POP if at_sinks else Tap.PUSH


def names(topology: Topology) -> list[str]:
    """What edges may be called, without the application's name: labels, then ports."""
    said = [edge.label for edge in topology.edges]
    said += [str(end) for edge in topology.edges for end in (edge.source, edge.sink)]
    return list(dict.fromkeys(topology.within(name) for name in said))


def _edges(topology: Topology, name: str, number: int) -> list[StreamEdge]:
    if labelled := _labelled(topology, name):
        return labelled
    for of_kinds in (False, True):
        into = [e for e in topology.edges if _fits(topology, e.sink, Way.IN, name, of_kinds)]
        out = [e for e in topology.edges if _fits(topology, e.source, Way.OUT, name, of_kinds)]
        if into or out:
            return list(dict.fromkeys(into + out))
    ports = [
        topology.within(str(end))
        for edge in topology.edges
        for end in (edge.source, edge.sink)
        if _ends_in(end.block, name)
    ]
    if ports:
        hint = f"Its ports: {', '.join(dict.fromkeys(ports))}."
        raise UnknownTarget(f"{name} is a block; only edges are measured", hint, number)
    known = names(topology)
    if not known:
        hint = "States can be asked about: measure share of state STATE of BLOCK."
        raise UnknownTarget(f"there is no edge or port '{name}': no streams were recorded", hint, number)
    raise UnknownTarget(f"there is no edge or port '{name}'", near(name, known, "Known"), number)


def _labelled(topology: Topology, name: str) -> list[StreamEdge]:
    exact = [edge for edge in topology.edges if edge.label == name]
    return exact or [edge for edge in topology.edges if _ends_in(edge.label, name)]


def _fits(topology: Topology, end: End, way: Way, name: str, of_kinds: bool = False) -> bool:
    if _ends_in(str(end), name):
        return True
    of, _, port = name.rpartition(".")
    if not of or port not in (end.port, way.value):
        return False
    block = topology.block_by_name.get(end.block)
    return block is not None and block.kind.name == of if of_kinds else _ends_in(end.block, of)


def _ends_in(dotted: str, name: str) -> bool:
    return dotted == name or dotted.endswith(f".{name}")


def _way(topology: Topology, route: Route, last: StreamEdge, number: int) -> list[Route]:
    """The route, continued to an edge: one, or none where no data gets there. UnknownTarget where there are several."""
    followers = {e.label: [f for f in topology.edges if f.source.block == e.sink.block] for e in topology.edges}
    reaching, waiting = {last.label}, [last]
    while waiting:
        edge = waiting.pop()
        before = [e for e in topology.edges if edge in followers[e.label] and e.label not in reaching]
        reaching |= {e.label for e in before}
        waiting += before

    def ways(path: Route) -> Iterator[Route]:
        if path[-1] == last:
            yield path
            return
        been = {edge.source.block for edge in path[len(route) - 1 :]}  # a loop leads nowhere
        for edge in followers[path[-1].label]:
            if edge.label in reaching and edge not in path and (edge == last or edge.sink.block not in been):
                yield from ways((*path, edge))

    if route[-1].label not in reaching:
        return []
    continued = ways(route)
    first, second = next(continued, None), next(continued, None)
    if first is not None and second is not None:
        apart = next(e for e in first if e not in second)
        message = f"there are several ways from {route[-1].label} to {last.label}"
        raise UnknownTarget(message, f"Name an edge in between, such as {apart.label}.", number)
    return [first] if first else []
