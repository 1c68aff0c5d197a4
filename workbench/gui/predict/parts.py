"""What the list of a model's parts holds, read from the document, and adding one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.gui.platform.parts import Part, Section
from workbench.gui.predict import fields
from workbench.predict.algorithms import ALGORITHMS
from workbench.session.model_document import ModelDocument, ModelFound
from workbench.session.yaml_document import Path_


def model_sections(found: Sequence[ModelFound]) -> tuple[Section, ...]:
    """The list of models: the project's, then the bundled ones by kind. A model's path is ("model", its file)."""
    kinds = {"ratss": "RATSS", "density": "Density"}

    def part(model: ModelFound) -> Part:
        return Part(("model", str(model.path)), model.title, kinds[model.kind] if model.own else "", "", (), code=False)

    own = [part(m) for m in found if m.own]
    bundled = [
        Section(f"{title}, bundled", tuple(part(m) for m in found if not m.own and m.kind == kind))
        for kind, title in kinds.items()
    ]
    return (*([Section("Of the project", tuple(own))] if own else []), *bundled)


def sections_of(document: ModelDocument) -> tuple[Section, ...]:
    """Every part of the document, in the order of the list."""
    names = tuple(document.platforms)
    density = document.model_kind == "density"
    groups = fields.density_model(names, tuple(ALGORITHMS)) if density else fields.ratss_model(names)
    model = Section("Model", (Part((), "Model and application", "", "model", groups, code=False),))
    inputs = Section("Inputs", tuple(_input(document, name) for name in _keys(document, "inputs")), "input")
    if density:
        return (model, inputs, *_density(document), _readings(document))
    return (
        model,
        inputs,
        *_stages(document),
        Section("Resources", tuple(_resource(document, n) for n in _keys(document, "resources")), "resource"),
        Section(
            "Measured",
            tuple(_measured(document, n, m) for n, m in enumerate(_items(document, ("measured",)))),
            "measurement",
        ),
        _readings(document),
    )


def _items(document: ModelDocument, path: Path_) -> list[Mapping[str, Any]]:
    found = document.value(path)
    return [item if isinstance(item, Mapping) else {} for item in found] if isinstance(found, list) else []


def _keys(document: ModelDocument, key: str) -> list[str]:
    found = document.value((key,))
    return [str(name) for name in found] if isinstance(found, Mapping) else []


def _input(document: ModelDocument, name: str) -> Part:
    note = str(document.value(("inputs", name, "value")))
    given = [document.value(("inputs", name, bound)) for bound in ("low", "high", "deviation")]
    if any(value is not None for value in given):
        note += " ±"
    return Part(("inputs", name), name, note, "input", fields.INPUT, removable=True)


def _resource(document: ModelDocument, name: str) -> Part:
    note = str(document.value(("resources", name)))
    return Part(("resources", name), name, note, "resource", fields.FORMULA, removable=True)


def _measured(document: ModelDocument, number: int, given: Mapping[str, Any]) -> Part:
    inputs = given.get("inputs")
    at = ", ".join(f"{k} {v}" for k, v in inputs.items()) if isinstance(inputs, Mapping) else ""
    title = str(given.get("stage") or at or f"measurement {number + 1}")
    groups = (*fields.MEASURED, fields.at_inputs(tuple(_keys(document, "inputs")), ("inputs",)))
    return Part(("measured", number), title, str(given.get("source", "")), "measurement", groups, False, True)


def _readings(document: ModelDocument) -> Section:
    groups = (fields.at_inputs(tuple(_keys(document, "inputs")), ()),)
    names = _keys(document, "readings")
    return Section("Readings", tuple(Part(("readings", n), n, "", "reading", groups, False, True) for n in names))


def _stages(document: ModelDocument) -> tuple[Section, ...]:
    """A section for each stage: the stage, its nodes, its transactions."""
    platform = document.platforms.get(str(document.value(("platform",)) or ""))
    networks = tuple(n.name for n in platform.networks) if platform else ()
    tables = tuple(platform.transfer_tables) if platform else ()
    sections = []
    for index, stage in enumerate(_items(document, ("stages",))):
        at: Path_ = ("stages", index)
        overlapped = "overlapped" if stage.get("overlapped") else "serial"
        parts = [Part(at, "stage", overlapped, "stage", fields.STAGE, False, index > 0)]
        for n, node in enumerate(_items(document, (*at, "nodes"))):
            title = str(node.get("name", "FPGA"))
            parts.append(Part((*at, "nodes", n), title, "FPGA node", "FPGA node", fields.NODE, False, True))
        for n, move in enumerate(_items(document, (*at, "transactions"))):
            title, kind = str(move.get("name", "transaction")), str(move.get("kind", ""))
            path = (*at, "transactions", n)
            parts.append(Part(path, title, kind, "transaction", fields.transaction(networks, tables), False, True))
        sections.append(Section(f"Stage {stage.get('name', index + 1)}", tuple(parts), f"transaction to stage {index}"))
    add = Section("More stages", (), "stage")
    return (*sections, add)


def _density(document: ModelDocument) -> tuple[Section, ...]:
    layers = tuple(
        Part(("layers", n), str(item.get("name", "layer")), "", "memory layer", fields.LAYER, False, True)
        for n, item in enumerate(_items(document, ("layers",)))
    )
    given = document.value(("compute",))
    compute = (Part(("compute",), "Processing elements", "", "compute bound", fields.COMPUTE, False, True),)
    return (
        Section("Memory layers", layers, "layer"),
        Section("Compute bound", compute if given else (), "" if given else "compute bound"),
    )


def add_part(document: ModelDocument, what: str) -> Path_ | None:
    """Add a part with the least that is valid; its path, or None where that failed."""
    if what in ("input", "resource"):
        key = f"{what}s"
        taken = _keys(document, key)
        name = next(n for k in range(1, 10_000) if (n := f"{what}_{k}") not in taken)
        value = {"value": 1} if what == "input" else 1
        return (key, name) if document.set((key, name), value, f"Add {name}") else None
    if what == "compute bound":
        new: dict[str, Any] = {"units": 1, "clock_hz": "100 MHz"}
        return ("compute",) if document.set(("compute",), new, "Add the processing elements") else None
    if what.startswith("transaction"):
        index = int(what.rpartition(" ")[2])
        return _append(document, ("stages", index, "transactions"), "transaction",
                       {"kind": "io", "bytes": 4, "rate_bytes_per_s": "100 MB/s"})  # fmt: skip
    if what == "stage":
        node = {"name": "FPGA", "elements": 1, "clock_hz": "100 MHz", "ops_per_cycle": 1}
        return _append(document, ("stages",), "stage", {"nodes": [node]})
    if what == "layer":
        return _append(document, ("layers",), "layer", {"layer_bytes": "1 MB", "bandwidth_bytes_per_s": "1 GB/s"})
    count = len(_items(document, ("measured",)))
    return ("measured", count) if document.append(("measured",), {"total_s": 1}, "Add a measurement") else None


def _append(document: ModelDocument, path: Path_, what: str, rest: dict[str, Any]) -> Path_ | None:
    count = len(_items(document, path))
    taken = {item.get("name") for item in _items(document, path)}
    name = next(n for k in range(count + 1, 10_000) if (n := f"{what} {k}") not in taken)
    return (*path, count) if document.append(path, {"name": name, **rest}, f"Add {name}") else None
