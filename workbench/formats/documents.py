"""A versioned YAML document read from a file: its text, its schema's version and migrations, its model."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from workbench.api.source.lines import read_source
from workbench.formats.yaml_marks import Marked, check, read_marked
from workbench.formats.yaml_nodes import SIZE_LIMIT
from workbench.model.diagnostic import Diagnostic, Severity, has_errors, near, nearest

M = TypeVar("M", bound=BaseModel)

#: One small step: a document of some version as one of the next. Steps in order, the first from version 1 to 2.
Migration = Callable[[Marked], Marked]


@dataclass(frozen=True)
class Schema(Generic[M]):
    """What a kind of document is read as. `version` is one more than the number of migrations.

    A document of an earlier version is held against that version's model in `earlier`, where there is one, so that what
    is wrong with it is reported in its own words. `prepare` fills in what may be left
    out, `complete` reads what is left to plugins. `semantic` looks at a document whose keys and values are right.
    """

    title: str  # "platform template"
    model: type[M]
    migrations: Sequence[Migration] = ()
    earlier: Mapping[int, type[BaseModel]] = field(default_factory=dict)
    prepare: Callable[[Any], Any] = lambda data: data
    complete: Callable[[M, Marked], tuple[M, Sequence[Diagnostic]]] = lambda model, marked: (model, ())
    semantic: Callable[[M, Marked], list[Diagnostic]] = lambda model, marked: []

    @property
    def version(self) -> int:
        return len(self.migrations) + 1


def read_text(path: Path, title: str) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """A file's text (UTF-8). None, with a diagnostic, where it cannot be read."""
    try:
        return read_source(path, SIZE_LIMIT).decode("utf-8-sig"), ()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return None, (
            Diagnostic("this file is not UTF-8 text", "Save it as UTF-8.", file=str(path), line=line, column=1),
        )
    except OSError as error:
        hint = nearest_file(path) if isinstance(error, FileNotFoundError) else ""
        return None, (Diagnostic(f"cannot read this {title}: {error.strerror}", hint, file=str(path)),)


def nearest_file(path: Path) -> str:
    """A hint naming a file that exists and is called nearly so, or the folder's absence."""
    folder = path.parent
    if not os.path.isdir(folder):
        return f"There is no folder {folder.name}." if folder.name else ""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ""
    hint = near(path.name, [name for name in names if name != path.name], "")  # a link may lead nowhere
    return hint if hint.startswith("Did") else ""


def load_document(schema: Schema[M], path: Path) -> tuple[M | None, tuple[Diagnostic, ...]]:
    """Read and check a document's file. None where there are errors; warnings may come with a model."""
    text, problems = read_text(path, schema.title)
    return (None, problems) if text is None else parse_document(schema, text, str(path))


def parse_document(schema: Schema[M], text: str, file: str | None) -> tuple[M | None, tuple[Diagnostic, ...]]:
    """Read and check a document's text."""
    marked, problems = read_marked(text, file)
    return (None, problems) if marked is None else check_document(schema, marked)


def check_document(schema: Schema[M], marked: Marked) -> tuple[M | None, tuple[Diagnostic, ...]]:
    """Check a document whose YAML was read: its schema's version, its keys and values."""
    if version_problem := _version_problem(schema, marked):
        return None, (version_problem,)
    version = marked.data["schema_version"]
    if version in schema.earlier and (earlier := check(schema.earlier[version], marked))[0] is None:
        return None, earlier[1]
    for number, step in enumerate(schema.migrations[version - 1 :], version + 1):
        marked = step(marked)
        marked = replace(marked, data={**marked.data, "schema_version": number})
    marked = replace(marked, data=schema.prepare(marked.data))
    model, problems = check(schema.model, marked)
    if model is not None:
        model, more = schema.complete(model, marked)
        problems = (*problems, *more, *(() if has_errors(more) else schema.semantic(model, marked)))
    problems = tuple(sorted(problems, key=lambda p: (p.line or 0, p.column or 0)))
    return (None if has_errors(problems) else model), problems


def _version_problem(schema: Schema[Any], marked: Marked) -> Diagnostic | None:
    path = ("schema_version",)
    if not isinstance(marked.data, dict):
        return marked.diagnostic((), f"this is not a {schema.title}", "It should hold `key: value` lines.")
    if "schema_version" not in marked.data:
        close = nearest("schema_version", map(str, marked.data))
        hint = f"Rename '{close}'." if close else f"Add `schema_version: {schema.version}` as its first line."
        return marked.diagnostic((), "the key 'schema_version' is missing", hint)
    version = marked.data["schema_version"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        return marked.diagnostic(path, "schema_version should be a whole number from 1", f"Write {schema.version}.")
    if version > schema.version:
        message = f"this {schema.title} has schema {version}; this workbench reads up to {schema.version}"
        return marked.diagnostic(path, message, "It was written by a newer workbench: update this one.")
    return None


def warning(marked: Marked, path: tuple[int | str, ...], message: str, hint: str = "") -> Diagnostic:
    """A warning at the value of a path."""
    return marked.diagnostic(path, message, hint, Severity.WARNING)
