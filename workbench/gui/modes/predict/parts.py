"""The entries in the list of a model's parts, from its schema and the document; and adding a part."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_origin

from pydantic.fields import FieldInfo

from workbench.api.forms import Field, Group
from workbench.api.models import ModelDocument as Schema
from workbench.api.models import PartDocument, domain_in
from workbench.formats.units import UNITS
from workbench.gui.modes.forms.fields import fields_of
from workbench.gui.modes.forms.parts import DocumentPart, PartSection
from workbench.model.document import part_in
from workbench.model.text import capitalised, value_text
from workbench.predict.kinds import heading
from workbench.session.edit.model_document import Kinds, ModelDocument, ModelFound
from workbench.session.edit.yaml_document import Path_

INPUT = (
    Group("Input", "formulas use this name", (
        Field(("value",), "Value", "unit", "with a unit if one is set below"),
        Field(("unit",), "Unit", "choice", "empty: a plain number", ("", *UNITS)),
        Field(("title",), "Title"),
        Field(("type",), "Type", "choice", "integer: whole numbers only", ("real", "integer")),
        Field(("minimum",), "Minimum", "unit"),
        Field(("maximum",), "Maximum", "unit"),
    )),
    Group("Uncertainty", "for bands, and to rank the inputs", (
        Field(("low",), "Least", "unit", "uniform from low to high"),
        Field(("high",), "Most", "unit"),
        Field(("deviation",), "Deviation", "unit", "or normal: standard deviation"),
    )),
)  # fmt: skip

FORMULA = (Group("Formula", "over the inputs", (Field((), "Value", "code"),)),)


def model_sections(models: Sequence[ModelFound], kinds: Kinds) -> tuple[PartSection, ...]:
    """The list of models: the project's, then the bundled ones by kind. A model's path is ("model", its file)."""

    def part(model: ModelFound) -> DocumentPart:
        note = f"{model.name}, {heading(model.kind)}" if model.own else model.name
        return DocumentPart(("model", str(model.path)), model.title, note, "", (), code=False)

    own = [part(m) for m in models if m.own]
    bundled = [
        PartSection(
            f"{heading(kinds[name])}, bundled", tuple(part(m) for m in models if not m.own and m.kind.name == name)
        )
        for name in kinds
    ]
    return (*([PartSection("In this project", tuple(own))] if own else []), *(s for s in bundled if s.parts))


def sections_of(document: ModelDocument) -> tuple[PartSection, ...]:
    """Every part of the document, in the order of the list."""
    kind = document.model_kind
    if kind is None:
        return ()
    schema = kind.document()
    model = DocumentPart((), "Model and application", "", "model", _form(document, schema), code=False)
    return (
        PartSection("Model", (model,)),
        PartSection("Inputs", tuple(_input(document, name) for name in _keys(document, "inputs")), "input"),
        *_lists(document, schema),
        _readings(document),
    )


def add_part(document: ModelDocument, what: str) -> Path_ | None:
    """Add a part with the least that is valid; its path, or None where that failed."""
    if what == "input":
        return _add_named(document, "inputs", what, {"value": 1})
    kind = document.model_kind
    added = next((a for a in _addable(document, kind.document()) if a.what == what), None) if kind else None
    if added is None:
        return None
    if added.part is None:
        return _add_named(document, str(added.path[0]), what, 1)
    value = dict(added.part.new)
    if not added.many:
        return added.path if document.set(added.path, value, f"Add the {what}") else None
    items = _items(document, added.path)
    name = ""
    if "name" in added.part.model_fields:
        taken = {item.get("name") for item in items}
        name = next(n for k in range(len(items) + 1, 10_000) if (n := f"{added.part.called} {k}") not in taken)
        value = {"name": name, **value}
    said = f"Add {name or f'a {what}'}"
    return (*added.path, len(items)) if document.append(added.path, value, said) else None


@dataclass(frozen=True)
class _Added:
    """Where a part can be added: an item of a list, a named formula (no `part`), or the one that there can be."""

    what: str
    path: Path_
    part: type[PartDocument] | None
    many: bool = True


def _addable(document: ModelDocument, schema: type[PartDocument], at: Path_ = (), of: str = "") -> Iterator[_Added]:
    for name, info in schema.model_fields.items():
        path, part = (*at, name), _part(info)
        if part and get_origin(info.annotation) is tuple:
            yield _Added(f"{part.called}{of}", path, part)
            for index in range(len(_items(document, path))):
                yield from _addable(document, part, (*path, index), f" to {part.called} {index}")
        elif part:
            yield _Added(part.called, path, part, many=False)
        elif _is_formulas(info):
            yield _Added(name.removesuffix("s"), path, None)


def _lists(document: ModelDocument, schema: type[Schema]) -> Iterator[PartSection]:
    """A section for each of the schema's lists, and for each item of one whose items hold lists themselves."""
    for name, info in schema.model_fields.items():
        part, title = _part(info), name.replace("_", " ").capitalize()
        if part and get_origin(info.annotation) is tuple:
            inner = [(n, p) for n, i in part.model_fields.items() if (p := _part(i))]
            items = _items(document, (name,))
            if inner:
                yield from (_inside(document, part, inner, (name, n), item) for n, item in enumerate(items))
                yield PartSection(f"More {name}", (), part.called)
            else:
                parts = (_item(document, part, (name, n), item) for n, item in enumerate(items))
                yield PartSection(title, tuple(parts), part.called)
        elif part:
            given = document.value((name,)) is not None
            shown = DocumentPart((name,), part.called.capitalize(), "", part.called, _form(document, part), False, True)
            yield PartSection(part.called.capitalize(), (shown,) if given else (), "" if given else part.called)
        elif _is_formulas(info):
            what = name.removesuffix("s")
            parts = (
                DocumentPart((name, key), key, str(document.value((name, key))), what, FORMULA, removable=True)
                for key in _keys(document, name)
            )
            yield PartSection(title, tuple(parts), what)


def _inside(
    document: ModelDocument, part: type[PartDocument], inner: Sequence[tuple[str, type[PartDocument]]], at: Path_,
    item: Mapping[str, Any],
) -> PartSection:  # fmt: skip
    """An item and the items of its lists; the last of these can be added to."""
    own = DocumentPart(at, part.called, "", part.called, _form(document, part), False, at[-1] != 0)
    below = [
        _item(document, p, (*at, name, n), child)
        for name, p in inner
        for n, child in enumerate(_items(document, (*at, name)))
    ]
    called, name = part.called, str(item.get("name", int(at[-1]) + 1))
    title = capitalised(name) if name.startswith(called) else f"{called.capitalize()} {name}"
    return PartSection(title, (own, *below), f"{inner[-1][1].called} to {part.called} {at[-1]}")


def _item(document: ModelDocument, part: type[PartDocument], at: Path_, item: Mapping[str, Any]) -> DocumentPart:
    inputs = item.get("inputs")
    where = ", ".join(f"{k} {v}" for k, v in inputs.items()) if isinstance(inputs, Mapping) else ""
    name = item.get("name") or item.get("stage") or item.get("design") or where or f"{part.called} {int(at[-1]) + 1}"
    note = str(item.get("kind") or item.get("source") or "")
    groups = _form(document, part)
    if "inputs" in part.model_fields:
        groups = (*groups, _at_inputs(document, ("inputs",)))
    return DocumentPart(at, str(name), note, part.called, groups, False, True)


def _input(document: ModelDocument, name: str) -> DocumentPart:
    value = document.value(("inputs", name, "value"))
    note = value_text(value) if isinstance(value, int | float) else str(value)
    given = [document.value(("inputs", name, bound)) for bound in ("low", "high", "deviation")]
    if any(value is not None for value in given):
        note += " ±"
    title = document.value(("inputs", name, "title"))
    what = f"input {name}" if title else "input"
    return DocumentPart(("inputs", name), str(title or name), "", what, INPUT, not title, removable=True, value=note)


def _readings(document: ModelDocument) -> PartSection:
    groups = (_at_inputs(document, ()),)
    names = _keys(document, "readings")
    return PartSection(
        "Readings", tuple(DocumentPart(("readings", n), n, "", "reading", groups, False, True) for n in names)
    )


def _at_inputs(document: ModelDocument, at: tuple[str, ...]) -> Group:
    """A value for each input; empty leaves the model's own."""
    names = _keys(document, "inputs")
    return Group("Inputs", "empty: the model's value", tuple(Field((*at, n), n, "unit") for n in names))


# ---- the schema


def _part(info: FieldInfo) -> type[PartDocument] | None:
    """The part that a field holds, or a list of; an input is none."""
    document = part_in(info)
    return document if document is not None and issubclass(document, PartDocument) else None


def _is_formulas(info: FieldInfo) -> bool:
    return get_origin(info.annotation) is dict and domain_in((info.annotation,)) is not None


def _form(document: ModelDocument, part: type[PartDocument]) -> tuple[Group, ...]:
    """A part's form: its own, or its fields in their order; with the names that the platform has to choose from."""
    hidden = ("schema_version", "name") if issubclass(part, Schema) else ()
    groups = part.form or (Group(part.called.capitalize() or "Model", "", tuple(fields_of(part, hidden=hidden))),)
    return tuple(
        replace(group, fields=tuple(replace(f, choices=("", *_offered(document, f.of))) if f.of else f
                                    for f in group.fields))
        for group in groups
    )  # fmt: skip


def _offered(document: ModelDocument, of: str) -> Collection[str]:
    if of == "platforms":
        return document.platforms
    platform = document.platforms.get(str(document.value(("platform",)) or ""))
    offered = getattr(platform, of, ())
    return offered if isinstance(offered, Mapping) else [thing.name for thing in offered]


# ---- the document


def _items(document: ModelDocument, path: Path_) -> list[Mapping[str, Any]]:
    items = document.value(path)
    return [item if isinstance(item, Mapping) else {} for item in items] if isinstance(items, list) else []


def _keys(document: ModelDocument, key: str) -> list[str]:
    keys = document.value((key,))
    return [str(name) for name in keys] if isinstance(keys, Mapping) else []


def _add_named(document: ModelDocument, key: str, what: str, value: object) -> Path_ | None:
    taken = _keys(document, key)
    name = next(n for k in range(1, 10_000) if (n := f"{what}_{k}") not in taken)
    return (key, name) if document.set((key, name), value, f"Add {name}") else None
