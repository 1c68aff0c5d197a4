"""The fields of a form, from a document's schema: their values, labels and notes."""

from collections.abc import Collection, Iterator, Mapping
from enum import EnumType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from workbench.api.forms import Field, Group
from workbench.model.document import part_in
from workbench.model.text import title_of

_MANY = {"lines": "one per line", "lists": "several values with commas"}
_PROSE = ("description", "note", "source")  # a source with an example is an end of a link or a stream
Choices = Mapping[str, Collection[str]]
#: What a dialog may choose for fields of these names.
_PICKS = {
    "sources": "files", "api_sources": "files", "rules": "files *.yaml *.yml", "library": "files",
    "exclude_files": "files", "include_dirs": "folders", "outside": "folders", "api_dir": "folder",
    "compile_commands": "file",
}  # fmt: skip


def groups_of(
    schema: type[BaseModel], title: str, note: str = "", choices: Choices | None = None, pairs: bool = False,
    hidden: Collection[str] = (),
) -> tuple[Group, ...]:  # fmt: skip
    """A schema's own fields but for the `hidden`, then a group for each part that it has one of. `choices`, `pairs`:
    see `fields_of`."""
    inner = [(name, info, part_in(info)) for name, info in schema.model_fields.items() if not _many(info)]
    parts = [(name, part, info.description or "") for name, info, part in inner if part]
    return (
        Group(title, note, tuple(fields_of(schema, choices=choices, hidden=hidden, pairs=pairs))),
        *(Group(title_of(name), said, tuple(fields_of(part, (name,)))) for name, part, said in parts),
    )


def fields_of(
    schema: type[BaseModel],
    above: tuple[str, ...] = (),
    choices: Choices | None = None,
    hidden: Collection[str] = (),
    pairs: bool = False,
) -> Iterator[Field]:
    """The fields that are one value each, or a list of texts; with `pairs` mappings of names to such too. `choices` are
    what those may be that a schema takes as any text."""
    for name, info in schema.model_fields.items():
        kind, chosen = _kind(name, info), tuple((choices or {}).get(name, _chosen(info.annotation)))
        if name in hidden or part_in(info) or (kind in ("pairs", "lists") and not pairs):
            continue
        note = _MANY.get(kind, "")
        said = ", ".join(text for text in (info.description, note) if text)
        default = bool(info.default) if kind == "check" else _default(info.default)
        kind = "choice" if chosen or name == "platform" else kind
        of = "platforms" if name == "platform" else ""
        picks = _PICKS.get(name, "") if kind in ("code", "lines") else ""
        yield Field((*above, name), title_of(name), kind, said, chosen, default=default, of=of, picks=picks)


def _kind(name: str, info: FieldInfo) -> str:
    annotation = info.annotation
    if annotation is bool:
        return "check"
    if get_origin(annotation) is tuple:
        return "lines"
    if get_origin(annotation) is dict:
        return "lists" if get_origin(get_args(annotation)[1]) is tuple else "pairs"
    if annotation is str:
        return "prose" if name in _PROSE and not info.examples else "text" if name in ("name", "title") else "code"
    return "unit"  # a number, a quantity or a formula


def _default(value: Any) -> str:
    """What a field has that is left empty, where that is a number or a text."""
    return f"{value:g}" if isinstance(value, float) else str(value) if isinstance(value, int | str) else ""


def _chosen(annotation: Any) -> tuple[str, ...]:
    if isinstance(annotation, EnumType):
        return tuple(map(str, annotation.__members__.values()))
    return tuple(map(str, get_args(annotation))) if get_origin(annotation) is Literal else ()


def _many(info: FieldInfo) -> bool:
    return get_origin(info.annotation) in (tuple, dict)
