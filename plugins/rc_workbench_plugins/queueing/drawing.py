"""A queueing network edited by its drawing: stations, and where their jobs go on to."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rc_workbench_plugins.queueing.model import Route, Station
from workbench.api.model_diagrams import (
    DiagramChange,
    DiagramNode,
    DocumentStep,
    appended,
    free_name,
    items_of,
)
from workbench.api.models import FieldPath

Data = Mapping[str, Any]


class Drawing:
    """What `workbench.api.model_diagrams.DiagramEditor` promises."""

    def additions(self, data: Data, diagram: str, at: FieldPath) -> Sequence[DiagramChange]:
        stations = items_of(data, "stations")
        station = {"name": free_name(stations, "station"), **Station.new}
        added = [DiagramChange("Station", (appended(data, ("stations",), station),), ("stations", len(stations)))]
        for number, one in enumerate(stations):
            path: FieldPath = ("stations", number)
            if (not at or at == path) and "arrivals_per_s" not in one:
                step = DocumentStep((*path, "arrivals_per_s"), 1)
                added.append(DiagramChange(f"Arrivals at {one.get('name')}", (step,), path))
        return added

    def connections(
        self, data: Data, diagram: str, source: DiagramNode, target: DiagramNode
    ) -> Sequence[DiagramChange]:
        name = str(items_of(data, "stations")[int(target.field[1])].get("name"))
        if source.part or target.part:  # what arrives from outside
            return []
        path: FieldPath = (*source.field, "to")
        routes = items_of(data, *path)
        if any(route.get("station") == name for route in routes):
            return []
        step = appended(data, path, {"station": name, **Route.new})
        return [DiagramChange(f"Jobs go on to {name}", (step,), (*path, len(routes)))]

    def removal(self, data: Data, part: FieldPath) -> DiagramChange:
        if len(part) != 2:
            return DiagramChange("Remove arrivals" if part[-1] == "arrivals_per_s" else "Remove the route",
                                 (DocumentStep(part),))  # fmt: skip
        name = str(items_of(data, "stations")[int(part[1])].get("name"))
        named = [DocumentStep(path) for path in reversed([*_naming(data, name)])]
        return DiagramChange(f"Remove {name}", (*named, DocumentStep(part)))

    def renamed(self, data: Data, part: FieldPath, name: str) -> DiagramChange:
        old = str(items_of(data, "stations")[int(part[1])].get("name"))
        named = [DocumentStep((*path, "station"), name) for path in _naming(data, old)]
        return DiagramChange(f"Rename {old}", (DocumentStep((*part[:2], "name"), name), *named), part[:2])


def _naming(data: Data, station: str) -> Iterator[FieldPath]:
    """The routes to a station, and what was measured at it."""
    for number in range(len(items_of(data, "stations"))):
        for n, route in enumerate(items_of(data, "stations", number, "to")):
            if route.get("station") == station:
                yield "stations", number, "to", n
    for n, row in enumerate(items_of(data, "measured")):
        if row.get("station") == station:
            yield "measured", n
