"""The compiler's flags of a project's host sources: those of all, and those that single sources have of their own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from workbench.api.source.suffixes import is_cpp

if TYPE_CHECKING:  # `workbench cc` reads flags without a project's schemas
    from workbench.model.application import HostSources

_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter")
_FILES = ("-include", "-imacros")
SYSTEM = ("/usr", "/opt")  # where systems keep headers


def options(flags: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Options that lead to headers, as option and path (`-Idir` or `-I dir`); all other words with an empty path."""
    words = iter(flags)
    for word in words:
        kind = next((one for one in _FOLDERS if word.startswith(one)), word if word in _FILES else "")
        yield (kind, word[len(kind) :] or next(words, "")) if kind else (word, "")


def names_headers(flag: str) -> bool:
    """Whether a word is such an option, be its path in it or the next."""
    return flag in _FILES or flag.startswith(_FOLDERS)


def readable(flags: Sequence[str], root: Path, allowed: Iterable[Path]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The flags without those that lead to headers elsewhere than in some folders or the system's (`SYSTEM`), and
    these. Relative paths are from `root`."""
    inside = [os.path.realpath(os.fspath(folder)) for folder in (*allowed, *map(Path, SYSTEM))]
    kept: list[str] = []
    refused: list[str] = []
    for kind, path in options(flags):
        resolved = os.path.realpath(root / path) if path else ""
        if not path or any(resolved == one or resolved.startswith(f"{one.rstrip('/')}/") for one in inside):
            kept += [kind, path] if path else [kind]
        elif kind in _FILES and not os.path.exists(resolved):  # to be found in the include folders
            kept += [kind, path]
        else:
            refused.append(f"{kind} {path}".rstrip())
    return tuple(kept) if refused else tuple(flags), tuple(dict.fromkeys(refused))


def absolute(flags: Iterable[str], folder: Path) -> Iterator[str]:
    """Flags that lead to the same headers for a compiler that is not started in this folder. A file that is not there
    is one to be found in the include folders."""
    for kind, path in options(flags):
        yield kind
        if path:
            given = os.path.normpath(folder / path)
            yield path if kind in _FILES and not os.path.exists(given) else given


def include_folders(flags: Iterable[str]) -> list[str]:
    """The folders that flags have the compiler look for headers in."""
    return [path for kind, path in options(flags) if kind in _FOLDERS]


def header_folders(flags: Iterable[str]) -> list[Path]:
    """All folders of headers that flags name, by themselves or by a file."""
    return [Path(path).parent if kind in _FILES else Path(path) for kind, path in options(flags) if path]


def flags_of(host: HostSources, source: str) -> tuple[str, ...]:
    """The flags of a source, as the project names it: of standards those of its own language."""
    flags = (*host.flags, *host.source_flags.get(source, ()))
    cpp = is_cpp(PurePath(source))
    return tuple(one for one in flags if not (one.startswith("-std=") and source and ("++" in one) != cpp))


def cpp_standard(host: HostSources) -> tuple[str, ...]:
    """The flag for the C++ standard of sources that are made for all; the last one that any source has."""
    every = (*host.flags, *(word for flags in host.source_flags.values() for word in flags))
    return tuple(word for word in every if word.startswith("-std=") and "++" in word)[-1:]


def folders_of_all(host: HostSources) -> tuple[str, ...]:
    """The include folders that single sources have of their own, each once: code that is made for all may need any."""
    every: Iterable[str] = (word for flags in host.source_flags.values() for word in flags)
    return tuple(dict.fromkeys(include_folders(every)))


def macros_of_all(host: HostSources) -> tuple[str, ...]:
    """The `-D` and `-U` of single sources in which all of these agree."""
    first, *others = list(host.source_flags.values()) or [()]
    return tuple(word for word in first if word[:2] in ("-D", "-U") and all(word in other for other in others))
