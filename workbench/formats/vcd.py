"""Reads the signals of a VCD file (IEEE 1364-2005, section 18) moment by moment, without holding it in memory."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.model.diagnostic import Diagnostic, WorkbenchError

_MOMENT = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class VcdVariable:
    """A signal as a file's head declares it: the names of its scopes, its own, its code in the body, and its range as
    in "[7:0]", where it has one."""

    scopes: tuple[str, ...]
    name: str
    code: str
    bits: str


@dataclass(frozen=True)
class VcdHead:
    """What a file declares, and where the changes begin: at which byte, and after how many lines."""

    variables: tuple[VcdVariable, ...]
    body_at: int
    body_line: int


@dataclass(frozen=True)
class VcdSignals:
    """The signals of one scope of a file that are wanted: the code of each by its name in small letters, and where the
    changes begin: at which byte, and after how many lines."""

    path: Path
    codes: dict[str, str]
    body_at: int
    body_line: int


def read_head(path: Path) -> VcdHead:
    """The signals that a file declares. WorkbenchError where it cannot be read."""
    scopes, variables, number = list[str](), list[VcdVariable](), 0
    try:
        with path.open(encoding="latin-1") as file:
            while line := file.readline():
                number += 1
                match line.split():
                    case ["$scope", _, name, *_]:
                        scopes.append(name)
                    case ["$upscope", *_] if scopes:
                        scopes.pop()
                    case ["$var", _, _, code, name, *rest]:
                        bits = rest[0] if rest and rest[0] != "$end" else ""
                        variables.append(VcdVariable(tuple(scopes), name, code, bits))
                    case ["$enddefinitions", *_]:
                        break
                    case ["$scope" | "$upscope" | "$var", *_]:
                        raise _bad_line(path, number, line, "$scope module NAME $end, $var wire BITS CODE NAME $end")
            body_at = file.tell()
    except OSError as error:
        raise WorkbenchError(Diagnostic(f"cannot read this file: {error.strerror}", file=str(path))) from None
    return VcdHead(tuple(variables), body_at, number)


def read_scope(path: Path, scope: str, names: Collection[str], others: Collection[str] = ()) -> VcdSignals:
    """The signals of these names in a scope that has no scope around it, and those of the `others` that are there, or
    in the scope `recap` of what observes a design. WorkbenchError where the file cannot be read, or lacks one."""
    head, wanted = read_head(path), {name.lower() for name in names}
    more = {name.lower() for name in others}
    places = [(one, [name.lower() for name in one.scopes]) for one in head.variables]
    codes = {one.name.lower(): one.code for one, at in places if at == [scope.lower()] and one.name.lower() in wanted}
    codes |= {
        one.name.lower(): one.code
        for one, at in places if at in ([scope.lower()], ["recap"]) and one.name.lower() in more
    }  # fmt: skip
    if lacking := sorted(wanted - codes.keys()):
        raise WorkbenchError(Diagnostic(f"this file has no signal '{lacking[0]}' in {scope}", file=str(path)))
    return VcdSignals(path, codes, head.body_at, head.body_line)


def moments(signals: VcdSignals) -> Iterator[tuple[int, dict[str, int]]]:
    """Each time in the file's unit with the values, by name, that signals take then. Values that are not known are
    0. WorkbenchError at a moment that is no number, or earlier than the one before it."""
    names: dict[str, list[str]] = {}
    for name, code in signals.codes.items():
        names.setdefault(code, []).append(name)
    now, changed = -1, dict[str, int]()
    with signals.path.open(encoding="latin-1") as file:
        file.seek(signals.body_at)
        for number, line in enumerate(file, signals.body_line + 1):
            first = line[:1]
            if first == "#":
                if changed:
                    yield now, changed
                moment = line[1:].strip()
                if not _MOMENT.fullmatch(moment) or int(moment) < now:
                    raise _bad_line(signals.path, number, line, f"#TIME, a number from {max(now, 0)} on")
                now, changed = int(moment), {}
                continue
            if first in "bB":
                value, _, code = line[1:].strip().partition(" ")
            else:
                value, code = first, line[1:].strip()
            for name in names.get(code, ()):
                changed[name] = int(value, 2) if set(value) <= {"0", "1"} else 0
    if changed:
        yield now, changed


def _bad_line(path: Path, number: int, line: str, right: str) -> WorkbenchError:
    what = f"this line of a VCD file cannot be read: {line.strip()[:40]!r}"
    return WorkbenchError(
        Diagnostic(what, file=str(path), line=number, hint=f"Expected {right}. Record the run again.")
    )
