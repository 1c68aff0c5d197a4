"""`compile_commands.json`: the flags with which a project's own build compiles each source.

CMake writes it (CMAKE_EXPORT_COMPILE_COMMANDS), as do Meson, Bear and others:
https://clang.llvm.org/docs/JSONCompilationDatabase.html. Flags on the sources' meaning and compilation are used; flags
for linking, for other written files and for starting other programs are not.
"""

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.api.source.flags import absolute, names_headers
from workbench.formats.json_text import JsonError, read_json
from workbench.model.application import HostSources
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.session.make.compiler.command import CompilerCommand, parse_words
from workbench.system.files import read_regular

NAME = "compile_commands.json"
_TAKEN = re.compile(r"-([DUOmf]|std=|ansi)")
_LEFT_OUT = re.compile(r"-f(sanitize|lto|no-lto|plugin|pass-plugin|use-ld|diagnostics|color|prebuilt|module)")


def find_commands(root: Path, host: HostSources) -> Path | None:
    """The named file, or the one beside the project file."""
    path = root / (host.compile_commands or NAME)
    return path if host.compile_commands or os.path.lexists(path) else None


def flags_of_sources(path: Path, root: Path, host: HostSources) -> tuple[dict[str, tuple[str, ...]], list[Diagnostic]]:
    """Source, by its name in the project -> its flags with absolute paths; and what cannot be read in the file."""
    try:
        read = read_json(read_regular(path))
    except OSError as error:
        return {}, [_problem(path, f"it cannot be read: {error.strerror or error}")]
    except JsonError as error:
        return {}, [_problem(path, f"it is not JSON: {error.message}", error.line, error.column)]
    if not isinstance(read, list):
        return {}, [_problem(path, "it is not a list of commands")]
    names = {os.path.realpath(root / name): name for name in host.sources}
    flags: dict[str, tuple[str, ...]] = {}
    problems: list[Diagnostic] = []
    for number, entry in enumerate(read, 1):
        command = _command(entry)
        if command is None:
            problems.append(_problem(path, f"entry {number} has no directory, file and command"))
            continue
        if "\0" in "".join((entry["directory"], entry["file"], *_words(entry))):
            problems.append(
                _problem(path, f"entry {number} has a character (U+0000) that names and flags cannot contain")
            )
            continue
        folder = path.parent / entry["directory"]
        name = names.get(os.path.realpath(folder / entry["file"]))
        if name is None or name in flags:
            continue
        flags[name] = tuple(_flags(command, folder))
        if lists := [one.name for one in command.inputs if one.name.startswith("@")]:
            problems.append(_problem(path, f"entry {number}: the flags in {lists[0]} are not read"))
    return flags, problems


def _problem(path: Path, why: str, line: int | None = None, column: int | None = None) -> Diagnostic:
    hint = "Sources are read and built with the project's flags only. Let the build system write the file again."
    return Diagnostic(f"flags of sources are missing: {why}", hint, Severity.WARNING, str(path), line, column)


def _command(entry: Any) -> CompilerCommand | None:
    """The source and flags of an entry; None if it is not valid."""
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("directory", "file")):
        return None
    words = _words(entry)
    return parse_words(words) if words else None


def _words(entry: Mapping[str, Any]) -> list[str]:
    """The words of an entry's command; none without one."""
    words = entry.get("arguments")
    if isinstance(entry.get("command"), str) and words is None:
        try:
            words = shlex.split(entry["command"])
        except ValueError:
            return []
    return words if isinstance(words, list) and all(isinstance(word, str) for word in words) else []


def _flags(command: CompilerCommand, folder: Path) -> Iterator[str]:
    options = (option for option in command.options if _is_taken(option))
    words = (option if names_headers(option[0]) else ("".join(option),) for option in options)
    return absolute((word for several in words for word in several), folder)


def _is_taken(option: tuple[str, ...]) -> bool:
    if names_headers(option[0]):
        return True
    has_meaning = _TAKEN.match(option[0]) and not _LEFT_OUT.match(option[0])
    return bool(has_meaning) and not CompilerCommand((option,)).writes_beside
