"""A document's fields, from its schema: what each is called, may hold, and means. As data, and as Markdown."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from workbench.formats.units import example, unit_of_name, written

Json = dict[str, Any]
_TYPES = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
_BOUNDS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
_HANDIEST = ("s", "Hz", "B", "B/s")
_LONGEST = 60  # characters of an example


@dataclass(frozen=True)
class Field:
    """One field. `path` is where it is ("host.entries[].kind"); `default` is None where it must be given."""

    path: str
    type: str
    unit: str
    bounds: str
    default: str | None
    meaning: str
    example: str


@dataclass(frozen=True)
class MappingFields:
    """A mapping of the document: the whole ("") or what is at `path`, and its fields."""

    path: str
    about: str
    fields: tuple[Field, ...]


def json_schema(document: type) -> Json:
    """The document's JSON Schema for editors: a field with a unit may also be a text such as "100 MHz"."""
    schema = _schema(document)
    for mapping in (schema, *schema.get("$defs", {}).values()):
        for name, field in mapping.get("properties", {}).items():
            kinds = {choice.get("type") for choice in field.get("anyOf", [field])}
            if unit_of_name(name) and kinds & {"integer", "number"} and "string" not in kinds:
                bare = {key: field[key] for key in ("type", *_BOUNDS) if key in field}
                rest = {key: value for key, value in field.items() if key not in (*bare, "anyOf")}
                mapping["properties"][name] = {**rest, "anyOf": [*field.get("anyOf", [bare]), {"type": "string"}]}
    return schema


def _schema(document: type) -> Json:
    return TypeAdapter(document).json_schema(mode="validation")


def sections(document: type, examples: Iterable[object] = ()) -> tuple[MappingFields, ...]:
    """The document's mappings with their fields, the outermost first. `examples` are documents as data: each field
    shows the first value that one of them has."""
    schema = _schema(document)
    shown: dict[str, object] = {}
    for document_data in examples:
        _collect(schema, schema, document_data, "", shown)
    return tuple(_sections(schema, schema, "", shown, frozenset()))


def markdown(kept: Iterable[MappingFields]) -> str:
    """The sections as tables."""
    lines: list[str] = []
    for section in kept:
        lines += [f"### `{section.path}`" if section.path else "### The whole file", ""]
        lines += [section.about, ""] if section.about else []
        lines += ["| field | holds | default | meaning | example |", "| --- | --- | --- | --- | --- |"]
        for field in section.fields:
            holds = ", ".join(part for part in (field.type, field.unit and f"in {field.unit}", field.bounds) if part)
            default = "needed" if field.default is None else _code(field.default)
            name = field.path.removeprefix(section.path).removeprefix(".")
            cells = (f"`{name}`", holds, default, field.meaning, _code(field.example))
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _sections(
    schema: Json, part: Json, path: str, shown: Mapping[str, object], above: frozenset[str]
) -> Iterator[MappingFields]:
    """A mapping's own section, then those of what is in it; a mapping inside itself is not gone into again."""
    fields = []
    inner: list[tuple[str, Json, str]] = []
    for name, field in part["properties"].items():
        at = f"{path}.{name}".removeprefix(".")
        words, mappings = _described(schema, field, at)
        inner += mappings
        unit = unit_of_name(name) if "number" in words else ""
        default = None if name in part.get("required", ()) else "" if mappings else _value(field.get("default"))
        text = "" if mappings else _example(field, words, unit, shown.get(at))
        fields.append(Field(at, words, unit, _bounds(field), default, field.get("description", ""), text))
    yield MappingFields(path, _paragraph(part.get("description", "")), tuple(fields))
    for at, mapping, name in inner:
        if name not in above:
            yield from _sections(schema, mapping, at, shown, above | {name})


def _described(schema: Json, field: Json, path: str) -> tuple[str, list[tuple[str, Json, str]]]:
    """A field's type in words, and the mappings in it: path, schema, name."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        meant = schema["$defs"][name]
        if "properties" in meant:
            return f"fields, see `{path}`", [(path, meant, name)]
        return _described(schema, meant, path)
    if "enum" in field or "const" in field:
        return " or ".join(f"`{value}`" for value in field.get("enum", [field.get("const")])), []
    if "anyOf" in field:
        choices = [_described(schema, choice, path) for choice in field["anyOf"] if choice.get("type") != "null"]
        kinds = list(dict.fromkeys(words for words, _ in choices))
        if "number" in kinds:
            kinds = [kind for kind in kinds if kind != "whole number"]
        said = "number or formula" if kinds == ["number", "text"] and _is_formula(field) else " or ".join(kinds)
        return said, [mapping for _, mappings in choices for mapping in mappings]
    if field.get("type") == "array":
        words, mappings = _described(schema, field.get("items", {}), f"{path}[]")
        return f"list of {words}", mappings
    if field.get("type") == "object":
        words, mappings = _described(schema, field.get("additionalProperties") or {}, f"{path}.NAME")
        return f"by name: {words}", mappings
    return _TYPES.get(field.get("type", ""), "anything"), []


def _is_formula(field: Json) -> bool:
    """Whether a field that holds a number or a text has bounds: then the text computes to a number."""
    return any(bound in field for bound in (*_BOUNDS, "multipleOf")) or any(
        "anyOf" in choice and _is_formula(choice) for choice in field["anyOf"]
    )


def _bounds(field: Json) -> str:
    """A field's bounds in words; those of the items of a list hold for each."""
    parts = ["whole"] if field.get("multipleOf") == 1 else []
    parts += [f"{words} {field[key]:g}" for key, words in _BOUNDS.items() if key in field]
    if "minItems" in field:
        parts.append(f"at least {field['minItems']} of them")
    inner = [field["items"]] if "items" in field else []
    inner += [choice for choice in field.get("anyOf", ()) if isinstance(choice, dict)]
    if isinstance(field.get("additionalProperties"), dict):
        inner.append(field["additionalProperties"])
    parts += [bounds for choice in inner if (bounds := _bounds(choice))]
    return ", ".join(dict.fromkeys(parts))


def _collect(schema: Json, part: Json, data: object, path: str, shown: dict[str, object]) -> None:
    """The first value that a document has at each path."""
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].rpartition("/")[2]]
    if "anyOf" in part:
        for choice in part["anyOf"]:
            _collect(schema, choice, data, path, shown)
    elif isinstance(data, dict) and "properties" in part:
        for name, value in data.items():
            if name in part["properties"]:
                at = f"{path}.{name}".removeprefix(".")
                if value not in ("", None, [], {}):
                    shown.setdefault(at, value)
                _collect(schema, part["properties"][name], value, at, shown)
    elif isinstance(data, dict) and isinstance(part.get("additionalProperties"), dict):
        for value in data.values():
            _collect(schema, part["additionalProperties"], value, f"{path}.NAME", shown)
    elif isinstance(data, list) and "items" in part:
        for value in data:
            _collect(schema, part["items"], value, f"{path}[]", shown)


def _example(field: Json, words: str, unit: str, value: object) -> str:
    """A value as it may be written: a document's own, the schema's, or what the type allows; the beginning of a long
    one. Numbers come with the unit of their field."""
    if value is None:
        value = next(iter(field.get("examples", ())), None)
    if value is None and unit:
        return example(unit).strip('"')
    if value is None:
        default = field.get("default")
        value = (not default) if words == "true or false" else default
    if isinstance(value, int | float) and not isinstance(value, bool) and unit in _HANDIEST:
        return written(value, unit)
    text = _value(value) if value not in (None, "", [], {}) else ""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3].rstrip() + "..."


def _value(value: object) -> str:
    """A value as YAML writes it on one line; nothing for nothing."""
    if isinstance(value, str):
        return value.strip().splitlines()[0] if value.strip() else value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_value(inner)}" for key, inner in value.items()) + "}" if value else ""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(inner) for inner in value) + "]" if value else ""
    return "" if value is None else json.dumps(value)


def _paragraph(text: str) -> str:
    """A docstring's paragraphs as Markdown."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
