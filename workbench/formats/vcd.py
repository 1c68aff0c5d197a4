"""Reads the signals of a VCD file (IEEE 1364-2005, section 18) moment by moment, without holding it in memory."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.model.diagnostic import Diagnostic, WorkbenchError


@dataclass(frozen=True)
class VcdSignals:
    """The signals of one scope of a file that are wanted: the code of each by its name in small letters, and where the
    changes begin."""

    path: Path
    codes: dict[str, str]
    body_at: int


def read_scope(path: Path, scope: str, names: Collection[str]) -> VcdSignals:
    """The signals of these names in a scope that has no scope around it. WorkbenchError where the file cannot be read,
    or lacks one."""
    wanted, codes = {name.lower() for name in names}, dict[str, str]()
    scopes: list[str] = []
    try:
        with path.open(encoding="latin-1") as file:
            while line := file.readline():
                words = line.split()
                if words[:1] == ["$scope"]:
                    scopes.append(words[2])
                elif words[:1] == ["$upscope"]:
                    scopes.pop()
                elif words[:1] == ["$var"] and [one.lower() for one in scopes] == [scope.lower()]:
                    if (name := words[4].lower()) in wanted:
                        codes[name] = words[3]
                elif words[:1] == ["$enddefinitions"]:
                    break
            body_at = file.tell()
    except OSError as error:
        raise WorkbenchError(Diagnostic(f"cannot read this file: {error.strerror}", file=str(path))) from None
    if lacking := sorted(wanted - codes.keys()):
        raise WorkbenchError(Diagnostic(f"this file has no signal '{lacking[0]}' in {scope}", file=str(path)))
    return VcdSignals(path, codes, body_at)


def moments(signals: VcdSignals) -> Iterator[tuple[int, dict[str, int]]]:
    """Each time in the file's unit with the values, by name, that signals take then. Values that are not known are
    0."""
    names: dict[str, list[str]] = {}
    for name, code in signals.codes.items():
        names.setdefault(code, []).append(name)
    now, changed = -1, dict[str, int]()
    with signals.path.open(encoding="latin-1") as file:
        file.seek(signals.body_at)
        for line in file:
            first = line[:1]
            if first == "#":
                if changed:
                    yield now, changed
                now, changed = int(line[1:]), {}
                continue
            if first in "bB":
                value, _, code = line[1:].strip().partition(" ")
            else:
                value, code = first, line[1:].strip()
            for name in names.get(code, ()):
                changed[name] = int(value, 2) if set(value) <= {"0", "1"} else 0
    if changed:
        yield now, changed
