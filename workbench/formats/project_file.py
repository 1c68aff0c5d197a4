"""Project files (`*.workbench.yaml`) read from YAML, and held against the folder they stand in."""

from __future__ import annotations

import difflib
import glob
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from workbench.formats.documents import Schema, load_document, parse_document, warning
from workbench.formats.yaml_marks import Marked
from workbench.model.application import Project
from workbench.model.diagnostic import Diagnostic

_GLOB = re.compile(r"[*?\[]")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".inc")
_FILE_LIMIT = 2000


def load_project(path: Path | str) -> tuple[Project | None, tuple[Diagnostic, ...]]:
    """Read a project file and check that its sources are there. None where there is an error."""
    return load_document(SCHEMA, Path(path))


def parse_project(text: str, file: str | None = None) -> tuple[Project | None, tuple[Diagnostic, ...]]:
    """Like `load_project`, from a text that may not be saved yet; without `file` no folder is looked at."""
    return parse_document(SCHEMA, text, file)


def expand_sources(root: Path, patterns: Iterable[str]) -> tuple[Path, ...]:
    """The files that names and globs (relative to `root`) stand for: in order, each once, a glob's sorted."""
    found = [root / name for pattern in patterns for name in _matches(root, pattern)]
    return tuple(dict.fromkeys(path for path in found if path.is_file()))


def _matches(root: Path, pattern: str) -> list[str]:
    return sorted(glob.glob(pattern, root_dir=root, recursive=True)) if _GLOB.search(pattern) else [pattern]


def _semantic(project: Project, marked: Marked) -> list[Diagnostic]:
    problems = [*_check_read_out(project, marked), *_check_settings(project, marked)]
    if marked.file is not None:
        root = Path(marked.file).parent
        problems += [*_check_sources(project, marked, root), *_check_use_of_settings(project, marked, root)]
    return problems


SCHEMA: Schema[Project] = Schema("project file", Project, semantic=_semantic)


def _check_read_out(project: Project, marked: Marked) -> Iterator[Diagnostic]:
    read_out = project.hardware.read_out
    if read_out.last < read_out.first:
        message = f"the read-out ends ({read_out.last:#x}) before it begins ({read_out.first:#x})"
        yield marked.diagnostic(("hardware", "read_out", "last"), message, "Swap the two.")
    if not _IDENTIFIER.fullmatch(project.hardware.top):
        hint = "Write the top module's name, without a path or file type."
        yield marked.diagnostic(("hardware", "top"), f"'{project.hardware.top}' is no module's name", hint)


def _check_settings(project: Project, marked: Marked) -> Iterator[Diagnostic]:
    hint = "Write letters, digits and underscores: it becomes a macro."
    for path, names in (
        (("settings",), project.settings),
        (("host", "defines"), project.host.defines),
        (("hardware", "parameters"), project.hardware.parameters),
    ):
        for name in names:
            if not _IDENTIFIER.fullmatch(name):
                yield marked.diagnostic((*path, name), f"'{name}' is no name", hint, key=True)
    for name in project.settings.keys() & project.host.defines.keys():
        message = f"the setting '{name}' replaces the define of that name"
        yield warning(marked, ("host", "defines", name), message, "Remove one of them.")


def _check_sources(project: Project, marked: Marked, root: Path) -> Iterator[Diagnostic]:
    for part, sources in (("host", project.host.sources), ("hardware", project.hardware.sources)):
        if not sources:
            yield marked.diagnostic((part, "sources"), "no sources are named", "Write sources: [src/*.c].")
        for index, pattern in enumerate(sources):
            if not expand_sources(root, [pattern]):
                verb = "matches no file" if _GLOB.search(pattern) else "is not there"
                message = f"'{pattern}' {verb} in {root.resolve().name or root}"
                yield marked.diagnostic((part, "sources", index), message, _nearest_source(root, pattern))
    for part, folders in (("host", project.host.include_dirs), ("hardware", project.hardware.include_dirs)):
        for index, folder in enumerate(folders):
            if not (root / folder).is_dir():
                yield marked.diagnostic((part, "include_dirs", index), f"there is no folder '{folder}'")


def _nearest_source(root: Path, pattern: str) -> str:
    """The file that may be meant, or those of the same type."""
    files = list(_files(root))
    close = difflib.get_close_matches(pattern, files, 1)
    name = Path(pattern).name
    close = close or [file for file in files if Path(file).name == name]
    if close:
        return f"Did you mean '{close[0]}'?"
    alike = [file for file in files if Path(file).suffix == Path(pattern).suffix][:3]
    return f"Files of that type: {', '.join(alike)}." if alike else "Paths are relative to the project file."


def _files(root: Path) -> Iterator[str]:
    """Files below a folder as relative names, without hidden folders and run folders; not endlessly many."""
    count = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "runs")
        for name in sorted(names):
            yield (Path(folder) / name).relative_to(root).as_posix()
            count += 1
            if count >= _FILE_LIMIT:
                return


def _check_use_of_settings(project: Project, marked: Marked, root: Path) -> Iterator[Diagnostic]:
    """A setting that nothing reads is a misspelt one."""
    sources = expand_sources(root, project.host.sources)
    folders = {source.parent for source in sources} | {root / folder for folder in project.host.include_dirs}
    headers = [p for folder in sorted(folders) if folder.is_dir() for p in folder.iterdir() if p.suffix in _HEADERS]
    used = set(project.hardware.parameters)
    for path in (*sources, *headers):
        try:
            used.update(_IDENTIFIER.findall(path.read_text("utf-8", errors="replace")))
        except OSError:
            return
    for name in project.settings:
        if name not in used:
            candidates = [other for other in used if other.isupper() or other in project.hardware.parameters]
            close = difflib.get_close_matches(name, sorted(candidates), 1)
            hint = f"Did you mean '{close[0]}'?" if close else "Use it in the host's sources, or as a parameter."
            message = f"the setting '{name}' is read by no host source and is no parameter of the top module"
            yield warning(marked, ("settings", name), message, hint)
