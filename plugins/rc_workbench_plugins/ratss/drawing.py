"""A RATSS model edited by its drawings: stages, FPGA nodes, transactions and networks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rc_workbench_plugins.ratss.model import ComputeNode, NetworkPart, Transaction
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
_OUT, _BACK = ("scatter", "broadcast", "all-gather", "all-to-all", "barrier"), ("gather", "reduce")
#: What a collective without a network begins with.
_NUMBERS = {"nodes": 2, "bytes": 4096, "latency_s": "10 us", "gap_per_byte_s": "8 ns/B"}


class Drawing:
    """What `workbench.api.model_diagrams.DiagramEditor` promises."""

    def additions(self, data: Data, diagram: str, at: FieldPath) -> Sequence[DiagramChange]:
        if diagram == "Platform":
            name = free_name(items_of(data, "networks"), "network")
            step = appended(data, ("networks",), {"name": name, **NetworkPart.new})
            return [DiagramChange("Network", (step,), ("networks", len(items_of(data, "networks"))))]
        return [*self._stages(data), *self._in_stages(data, at)]

    def _stages(self, data: Data) -> Iterator[DiagramChange]:
        stages = items_of(data, "stages")
        stage = {"name": free_name(stages, "stage"), "nodes": [{"name": "FPGA", **ComputeNode.new}]}
        yield DiagramChange("Stage", (appended(data, ("stages",), stage),), ("stages", len(stages)))

    def _in_stages(self, data: Data, at: FieldPath) -> Iterator[DiagramChange]:
        for number, stage in enumerate(items_of(data, "stages")):
            if not at or at[:2] == ("stages", number):
                path: FieldPath = ("stages", number, "nodes")
                node = {"name": free_name(_parts(data, number), "FPGA"), **ComputeNode.new}
                place = (*path, len(items_of(data, *path)))
                yield DiagramChange(f"FPGA node in {stage.get('name')}", (appended(data, path, node),), place)

    def connections(
        self, data: Data, diagram: str, source: DiagramNode, target: DiagramNode
    ) -> Sequence[DiagramChange]:
        of = self._on_platform if diagram == "Platform" else self._between
        return list(of(data, source, target))

    def _between(self, data: Data, source: DiagramNode, target: DiagramNode) -> Iterator[DiagramChange]:
        """Edits in the drawing of stages."""
        if len(source.field) < 2 or len(target.field) < 2:
            return
        (one, other), names = (int(n.field[1]) for n in (source, target)), _names(data)
        if one != other:
            needed = [str(name) for name in items(data, "stages", other, "after")]
            if names[one] not in needed:
                step = DocumentStep(("stages", other, "after"), [*needed, names[one]])
                yield DiagramChange(f"{names[other]} after {names[one]}", (step,), ("stages", other))
        elif _is_fpga(target) and not _is_fpga(source):
            yield _moved(data, one, "Input to the FPGA", "write", **Transaction.new)
        elif _is_fpga(source) and not _is_fpga(target):
            yield _moved(data, one, "Output of the FPGA", "read", **Transaction.new, returns=True)
        elif source is not target and not _is_fpga(source):
            back = target.id.endswith(".root")
            for kind in _BACK if back else _OUT:
                yield _collective(data, one, kind, "", kind.capitalize())

    def _on_platform(self, data: Data, source: DiagramNode, target: DiagramNode) -> Iterator[DiagramChange]:
        """Edits in the drawing of the platform: over a network, or a bus, in each stage."""
        ends, names = {source.id, target.id}, _names(data)
        for number, name in enumerate(names):
            said = f" in {name}" if len(names) > 1 else ""
            if ends == {"cpu", "fpga"}:
                back = {"returns": True} if source.id == "fpga" else {}
                title = "Output of the FPGA" if back else "Input to the FPGA"
                yield _moved(data, number, title + said, "read" if back else "write", **Transaction.new, **back)
            elif ends - {"cpu", "fpga"}:
                network = (ends - {"cpu", "fpga"}).pop()
                for kind in _OUT if source.id == "cpu" else _BACK:
                    yield _collective(data, number, kind, network, f"{kind.capitalize()}{said}")

    def removal(self, data: Data, part: FieldPath) -> DiagramChange:
        if len(part) > 2 and part[2] == "after":
            needed = [name for n, name in enumerate(items(data, *part[:3])) if n != part[3]]
            step = DocumentStep(part[:3], needed) if needed else DocumentStep(part[:3])
            return DiagramChange("Remove the order of two stages", (step,))
        name, steps = str(_at(data, part).get("name", part[-1])), [DocumentStep(part)]
        if len(part) == 2 and part[0] == "stages":
            steps = [*_forgotten(data, name), DocumentStep(part)]
        elif part[0] == "networks":
            over = [DocumentStep(path) for path, move in _moves(data) if move.get("network") == name]
            steps = [*reversed(over), DocumentStep(part)]
        return DiagramChange(f"Remove {name}", tuple(steps))

    def renamed(self, data: Data, part: FieldPath, name: str) -> DiagramChange:
        old = str(_at(data, part).get("name", ""))
        steps = [DocumentStep((*part, "name"), name)]
        if len(part) == 2 and part[0] == "stages":
            for number in range(len(items_of(data, "stages"))):
                needed = items(data, "stages", number, "after")
                steps += [
                    DocumentStep(("stages", number, "after", n), name) for n, n_ in enumerate(needed) if n_ == old
                ]
            measured = enumerate(items_of(data, "measured"))
            steps += [DocumentStep(("measured", n, "stage"), name) for n, row in measured if row.get("stage") == old]
        elif part[0] == "networks":
            steps += [DocumentStep((*path, "network"), name) for path, m in _moves(data) if m.get("network") == old]
        return DiagramChange(f"Rename {old}", tuple(steps), part)


def items(data: Data, *path: str | int) -> list[Any]:
    """The plain items of a list, such as names."""
    here: Any = _at(data, path[:-1]).get(str(path[-1]))
    return here if isinstance(here, list) else []


def _at(data: Data, path: FieldPath) -> Mapping[str, Any]:
    *above, last = path
    found = items_of(data, *above)
    return found[last] if isinstance(last, int) and last < len(found) else {}


def _names(data: Data) -> list[str]:
    return [str(stage.get("name")) for stage in items_of(data, "stages")]


def _parts(data: Data, stage: int) -> list[Mapping[str, Any]]:
    """What has a name in a stage."""
    return [part for kind in ("nodes", "transactions") for part in items_of(data, "stages", stage, kind)]


def _moves(data: Data) -> Iterator[tuple[FieldPath, Mapping[str, Any]]]:
    for number in range(len(items_of(data, "stages"))):
        path: FieldPath = ("stages", number, "transactions")
        for n, move in enumerate(items_of(data, *path)):
            yield (*path, n), move


def _is_fpga(node: DiagramNode) -> bool:
    return len(node.field) > 2


def _moved(data: Data, stage: int, title: str, word: str, **fields: object) -> DiagramChange:
    """A new transaction of a stage."""
    path: FieldPath = ("stages", stage, "transactions")
    move = {"name": free_name(_parts(data, stage), word), **fields}
    return DiagramChange(title, (appended(data, path, move),), (*path, len(items_of(data, *path))))


def _collective(data: Data, stage: int, kind: str, network: str, title: str) -> DiagramChange:
    own = [str(one.get("name")) for one in items_of(data, "networks")]
    over = network or next(iter(own), "")
    numbers: dict[str, object] = {"network": over, "nodes": 2, "bytes": 4096} if over else dict(_NUMBERS)
    if kind == "barrier":
        numbers = {name: value for name, value in numbers.items() if name not in ("bytes", "gap_per_byte_s")}
    more = {"reduction_s": "1 ns"} if kind == "reduce" else {}
    return _moved(data, stage, title, kind, kind=kind, **numbers, **more)


def _forgotten(data: Data, stage: str) -> list[DocumentStep]:
    """What names a stage, taken out: the last items of a list first."""
    measured = [n for n, row in enumerate(items_of(data, "measured")) if row.get("stage") == stage]
    steps = [DocumentStep(("measured", n)) for n in reversed(measured)]
    for number in range(len(items_of(data, "stages"))):
        needed = items(data, "stages", number, "after")
        kept = [name for name in needed if name != stage]
        if kept != needed:
            path: FieldPath = ("stages", number, "after")
            steps.append(DocumentStep(path, kept) if kept else DocumentStep(path))
    return steps
