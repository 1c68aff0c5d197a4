"""Which files a project's names and patterns stand for: bounded walks that stay where the project may look."""

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import translate
from functools import lru_cache
from pathlib import Path

#: Folder entries that one pattern may look at, and files that it may stand for.
ENTRY_LIMIT = 20_000
MATCH_LIMIT = 2_000
_WILD = re.compile(r"[*?\[]")


class TooManyFiles(Exception):
    """A pattern that would look through more of the disk than any project's sources take."""


def is_pattern(name: str) -> bool:
    return _WILD.search(name) is not None


def expand_sources(root: Path, patterns: Iterable[str]) -> tuple[Path, ...]:
    """The files that names and globs (relative to `root`) stand for: in order, each once, a glob's sorted.

    `**` looks into folders below, but follows no links. A glob that stands for too much stands for nothing here.
    """
    paths: dict[Path, None] = {}
    for pattern in patterns:
        try:
            paths.update(dict.fromkeys(matches(root, pattern)))
        except TooManyFiles:
            continue
    return tuple(paths)


def matches(root: Path, pattern: str) -> tuple[Path, ...]:
    """The regular files that one name or glob stands for. Raises TooManyFiles."""
    named = os.path.join(root, pattern)
    if os.path.isfile(named) or not is_pattern(pattern):
        return (Path(named),) if os.path.isfile(named) else ()
    parts = tuple(part for part in pattern.split("/") if part not in ("", "."))
    names = sorted(set(_Walk(root).names("/" if pattern.startswith("/") else "", parts)))
    files = [path for name in names if os.path.isfile(path := os.path.join(root, name))]
    if len(files) > MATCH_LIMIT:
        raise TooManyFiles
    return tuple(Path(path) for path in files)


class _Walk:
    def __init__(self, root: Path) -> None:
        self._root, self._looked = root, 0

    def names(self, base: str, parts: tuple[str, ...]) -> Iterator[str]:
        """Names (relative to the root, or absolute) of what matches `parts` below `base`."""
        pending = [(base, parts)]
        while pending:
            name, (part, *rest) = pending.pop()
            if part == "**":
                rest = rest or ["*"]
                pending.append((name, tuple(rest)))
                pending += [(inner, ("**", *rest)) for inner, is_folder in self._entries(name, "*") if is_folder]
                continue
            matching = (
                [inner for inner, _ in self._entries(name, part)] if is_pattern(part) else [os.path.join(name, part)]
            )
            if rest:
                pending += [(inner, tuple(rest)) for inner in matching]
            else:
                yield from matching

    def _entries(self, name: str, part: str) -> Iterator[tuple[str, bool]]:
        """What stands in a folder under a name that matches, and whether it is a folder itself (and no link to one).
        Hidden entries only where the pattern says so."""
        fits = _matcher(part)
        try:
            with os.scandir(os.path.join(self._root, name)) as entries:
                for entry in entries:
                    self._looked += 1
                    if self._looked > ENTRY_LIMIT:
                        raise TooManyFiles
                    if (part.startswith(".") or not entry.name.startswith(".")) and fits.fullmatch(entry.name):
                        yield os.path.join(name, entry.name), entry.is_dir(follow_symlinks=False)
        except OSError:
            return


@lru_cache(maxsize=64)
def _matcher(part: str) -> re.Pattern[str]:
    return re.compile(translate(part))


def within(path: str | Path, folders: Iterable[Path]) -> bool:
    """Whether a path, its links followed, lies in one of the folders."""
    real = os.path.realpath(path)
    return any(real == folder or real.startswith(folder.rstrip("/") + "/") for folder in map(os.path.realpath, folders))


def fixed_folder(pattern: str) -> str:
    """The folder of a glob that its wildcards begin below, or the name itself."""
    parts = pattern.split("/")
    fixed = next((n for n, part in enumerate(parts) if is_pattern(part)), len(parts))
    return "/".join(parts[:fixed]) or ("/" if pattern.startswith("/") else ".")


def is_there(path: Path) -> bool:
    """Whether anything has this path, also a folder, a device or a link that leads nowhere."""
    try:
        return os.path.lexists(path)
    except ValueError:
        return False


def is_file(path: Path) -> bool:
    """Whether a path names a file that can be seen; not so for names that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
