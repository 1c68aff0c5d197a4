"""Which library each file of a project is analysed into: as the project says, or else as the sources call its units."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from rc_workbench_plugins.vhdl.syntax import plain, without_comments
from rc_workbench_plugins.vhdl.units import Unit

WORK = "work"
GIVEN = (WORK, "ieee", "std")
_CLAUSE = re.compile(r"\blibrary\s+([\w\s,]+);", re.IGNORECASE)


def called(units: Sequence[Unit], known: Mapping[Path, str]) -> dict[Path, str]:
    """The libraries of files that the project puts in none (`known`): one that no file is in, and by whose name
    sources call what such a file declares; and with it what is called from there as its own."""
    library_of: dict[Path, str] = {}
    homes: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        if unit.kind not in ("architecture", "package body") and unit.file.path not in known:
            homes[plain(unit.name)].append(unit)
    by_path: dict[Path, list[Unit]] = defaultdict(list)
    for unit in units:
        by_path[unit.file.path].append(unit)
    for library in sorted(libraries_named(units) - set(known.values()) - set(GIVEN)):
        names = {name for unit in units for first, name in unit.uses if first == library}
        while names:
            moved = {one.file.path for name in names for one in homes.get(name, ()) if one.file.path not in library_of}
            library_of |= dict.fromkeys(moved, library)
            names = {name for path in moved for unit in by_path[path] for name in _own(unit)}
    return library_of


def libraries_named(units: Sequence[Unit]) -> set[str]:
    """The libraries that the sources name."""
    texts = {unit.file.path: unit.file.data for unit in units}.values()
    return {name for text in texts for name in _named(text)}


@lru_cache(2000)
def _named(data: bytes) -> frozenset[str]:
    clauses = _CLAUSE.findall(without_comments(data.decode("latin-1")))
    return frozenset(plain(name.strip()) for clause in clauses for name in clause.split(","))


def _own(unit: Unit) -> Iterator[str]:
    """What a unit calls as its own library's."""
    yield from (name for first, name in unit.uses if first == WORK)
    yield from unit.names
