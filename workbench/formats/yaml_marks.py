"""YAML with the place of every key and value, checked against a pydantic model, errors said in a person's terms.

Only plain data is read (no tags that construct objects, no merge keys). A key given twice is an error. Nothing here
raises for bad input.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from workbench.formats.schema import Path, fields_at, suggestion, with_units
from workbench.formats.yaml_nodes import DEPTH_LIMIT, TOO_LARGE, YamlError, compose, plain_value
from workbench.model.diagnostic import Diagnostic, Severity, near

M = TypeVar("M", bound=BaseModel)

_PLAIN = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


@dataclass(frozen=True)
class Span:
    """Where a key or value is: offsets in the text (end excluded), line and column from 1."""

    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True)
class Marked:
    """A YAML document: its data, and where each key and value is by its path from the top."""

    file: str | None
    data: Any
    keys: Mapping[Path, Span]
    values: Mapping[Path, Span]

    def span(self, path: Path, *, key: bool = False) -> Span:
        """Where the value (or its key) at `path` is, or the nearest thing around it."""
        if span := (self.keys if key else self.values).get(path):
            return span
        while path:
            if span := self.keys.get(path) or self.values.get(path):
                return span
            path = path[:-1]
        return self.values.get((), Span(0, 0, 1, 1))

    def below(self, above: Path) -> Marked:
        """What is at `above`, as a document of its own."""
        keys, values = (
            {path[len(above) :]: span for path, span in marks.items() if path[: len(above)] == above}
            for marks in (self.keys, self.values)
        )
        return Marked(self.file, value_at(self.data, above), keys, values)

    def diagnostic(
        self, path: Path, message: str, hint: str = "", severity: Severity = Severity.ERROR, *, key: bool = False
    ) -> Diagnostic:
        span = self.span(path, key=key)
        return Diagnostic(message, hint, severity, self.file, span.line, span.column)


def check(model_class: type[M], marked: Marked) -> tuple[M | None, tuple[Diagnostic, ...]]:
    """Hold a read document against a model. Texts with units become numbers where a field's name shows the unit."""
    problems: list[Diagnostic] = []

    def unit_problem(path: Path, message: str, hint: str) -> None:
        problems.append(marked.diagnostic(path, message, hint))

    data = with_units(model_class, marked.data, unit_problem)
    bad_units = {(problem.line, problem.column) for problem in problems}
    try:
        model = model_class.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        value = _explain(model_class, marked, error)
        problems += [problem for problem in value if (problem.line, problem.column) not in bad_units]
        return None, _ordered(problems)
    return (None if problems else model), _ordered(problems)


def read_marked(text: str, file: str | None = None) -> tuple[Marked | None, tuple[Diagnostic, ...]]:
    """Parse a YAML text. None, with diagnostics, where it cannot be read as plain data."""

    def bad(message: str, hint: str, line: int = 1, column: int = 1) -> tuple[None, tuple[Diagnostic, ...]]:
        return None, (Diagnostic(message, hint, Severity.ERROR, file, line, column),)

    try:
        node = compose(text)
    except YamlError as error:
        return bad(error.message, error.hint, error.line, error.column)
    if node is None:
        return bad("the file is empty", "It should begin with `schema_version: 1`.")
    walker = _Walker(file)
    data = walker.walk(node, (), ())
    if walker.problems:
        return None, _ordered(walker.problems)
    return Marked(file, data, walker.keys, walker.values), ()


class _Walker:
    """Turns nodes into plain data, and keeps their places."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self.keys: dict[Path, Span] = {}
        self.values: dict[Path, Span] = {}
        self.problems: list[Diagnostic] = []

    def walk(self, node: Any, path: Path, above: tuple[int, ...]) -> Any:
        self.values[path] = _span(node)
        if id(node) in above:
            return self._bad(node, "this alias refers to a value that contains it", "Write the value out.")
        if len(above) > DEPTH_LIMIT:
            return None if self.problems else self._bad(node, *TOO_LARGE)
        above = (*above, id(node))
        if not isinstance(node, yaml.ScalarNode) and node.tag not in _PLAIN:
            return self._bad(node, f"values of kind {node.tag} are not supported", "Write plain lists and keys.")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, above)
        if isinstance(node, yaml.SequenceNode):
            return [self.walk(item, (*path, index), above) for index, item in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, path: Path, above: tuple[int, ...]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._bad(key_node, "a key should be a plain name", "Write `name: value`.")
                continue
            key = str(key_node.value)
            if key == "<<" and not key_node.style:
                self._bad(key_node, "merge keys (<<) are not supported", "Write the keys out.")
                continue
            if key in data:
                first = self.keys[(*path, key)].line
                self._bad(key_node, f"the key '{key}' is given twice", f"It is on line {first} already.")
                continue
            self.keys[(*path, key)] = _span(key_node)
            data[key] = self.walk(value_node, (*path, key), above)
        return data

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        try:
            value = plain_value(node)
        except ValueError:
            if node.tag.endswith(":int"):
                return self._bad(node, f"'{node.value[:40]}' is too large a whole number", "Write it as in 1e30.")
            return self._bad(node, f"'{str(node.value)[:40]}' cannot be read as {node.tag}", "Write plain values.")
        if isinstance(value, float) and abs(value) == float("inf"):
            return self._bad(node, f"'{node.value[:40]}' is too large a number", "Numbers go up to 1.8e308.")
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
            return self._bad(node, f"'{node.value[:40]}' is too large a whole number", "Write it as in 1e30.")
        return value

    def _bad(self, node: yaml.Node, message: str, hint: str) -> None:
        span = _span(node)
        self.problems.append(Diagnostic(message, hint, Severity.ERROR, self._file, span.line, span.column))


def _span(node: yaml.Node) -> Span:
    start, end = node.start_mark, node.end_mark
    return Span(start.index, end.index, start.line + 1, start.column + 1)


def _ordered(problems: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(problems, key=lambda p: (p.line or 0, p.column or 0)))


_SHOULD_BE = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "keys with values",
    "model_type": "keys with values",
}
_HINTS = {
    "a text": "Put it in quotes.",
    "a list": "Start each item with '- ', or write [a, b].",
    "keys with values": "Write `key: value` lines, indented.",
}


def _explain(model_class: type[BaseModel], marked: Marked, error: ValidationError) -> list[Diagnostic]:
    """One diagnostic for each place that pydantic complains of (a union complains once for each member)."""
    grouped: dict[tuple[Path, str], list[Any]] = {}
    for item in error.errors(include_url=False):
        location = item["loc"]
        missing = item["type"] == "missing"
        path = _real_path(marked.data, location[:-1] if missing else location)
        grouped.setdefault((path, str(location[-1]) if missing else ""), []).append(item)
    return [_one(model_class, marked, path, missing, items) for (path, missing), items in grouped.items()]


def _one(model_class: type[BaseModel], marked: Marked, path: Path, missing: str, items: list[Any]) -> Diagnostic:
    if missing:
        hint = f"Add `{missing}: {suggestion(model_class, (*path, missing))}`."
        return marked.diagnostic(path, f"the key '{missing}' is missing", hint, key=True)
    kind, context = items[0]["type"], items[0].get("ctx", {})
    value = value_at(marked.data, path)
    if kind == "extra_forbidden":
        return marked.diagnostic(
            path,
            f"there is no key '{path[-1]}' here",
            near(str(path[-1]), fields_at(model_class, path[:-1]), "Keys here are"),
            key=True,
        )
    if kind in ("enum", "literal_error"):
        known = re.findall(r"'([^']*)'", str(context.get("expected", "")))
        return marked.diagnostic(path, f"'{value}' is not one of the choices", near(str(value), known, "Choices are"))
    if value is None and kind in _SHOULD_BE:
        hint = f"Write {suggestion(model_class, path)} after the colon, or leave the key out."
        return marked.diagnostic(path, "a value is missing", hint, key=True)
    wanted = list(dict.fromkeys(_SHOULD_BE[item["type"]] for item in items if item["type"] in _SHOULD_BE))
    if wanted:
        if "a number" in wanted:
            wanted = [one for one in wanted if one != "a whole number"]
        hint = _HINTS.get(wanted[-1], "") if len(wanted) == 1 else ""
        hint = hint or f"Write for example {suggestion(model_class, path)}."
        return marked.diagnostic(path, f"{_shown(value)} should be {' or '.join(wanted)}", hint)
    limits = {"greater_than": ("gt", "above"), "greater_than_equal": ("ge", "at least")}
    limits |= {"less_than": ("lt", "below"), "less_than_equal": ("le", "at most")}
    if kind in limits:
        name, word = limits[kind]
        return marked.diagnostic(path, f"{_shown(value)} should be {word} {context[name]:g}")
    message = str(items[0]["msg"]).removeprefix("Value error, ")
    return marked.diagnostic(path, message[:1].lower() + message[1:])


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "this"
    return json.dumps(value, ensure_ascii=False)[:60]


def value_at(data: Any, path: Path) -> Any:
    """What is at a path of plain data."""
    for part in path:
        data = data[part]
    return data


def _real_path(data: Any, location: tuple[int | str, ...]) -> Path:
    """Pydantic's location without the labels of union members, which are no part of the document."""
    path: list[int | str] = []
    for part in location:
        inside = part in data if isinstance(data, dict) else isinstance(data, list) and part in range(len(data))
        if inside:
            data = data[part]
            path.append(part)
    return tuple(path)
