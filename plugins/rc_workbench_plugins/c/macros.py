"""API calls that a macro of the user's brings: its body is rewritten so that every use of the macro is a site.

The function's name in the body becomes a name that ends in the line of the macro's use (`__LINE__`); each source
begins with a definition of that name for every line on which the macro is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rc_workbench_plugins.c.numbering import Hook
from rc_workbench_plugins.c.reading import Range
from rc_workbench_plugins.c.survey import FoundUse, Unit

_TOKEN = re.compile(rb"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|##?|[A-Za-z_]\w*|[0-9]\w*""", re.DOTALL)

PREAMBLE = ("#define RCW_JOIN(a, b) a##b", "#define RCW_AT(a, b) RCW_JOIN(a, b)")


@dataclass(frozen=True)
class Carrier:
    """An API function's name in a macro's body."""

    number: int
    file: Path
    offset: int
    macro: str
    callee: str

    @property
    def replacement(self) -> str:
        return f"RCW_AT(rcw_m{self.number}_, __LINE__)"

    def at(self, line: int) -> str:
        return f"rcw_m{self.number}_{line}"


@dataclass(frozen=True)
class Macros:
    """The user's macros over all sources: what each mentions, and which carry an API function."""

    carriers: tuple[Carrier, ...]
    mentions: dict[str, frozenset[str]]

    @cached_property
    def by_macro(self) -> dict[str, list[Carrier]]:
        found: dict[str, list[Carrier]] = {}
        for carrier in self.carriers:
            found.setdefault(carrier.macro, []).append(carrier)
        return found

    def reached(self, names: Iterable[str]) -> list[Carrier]:
        """The carriers in the bodies of macros that expanding these names can lead to."""
        if not self.carriers:
            return []
        pending, seen = list(names), set()
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending += self.mentions.get(name, ())
        return [carrier for name in sorted(seen) for carrier in self.by_macro.get(name, ())]


def find_macros(units: Iterable[Unit], callees: Collection[str], text: Callable[[Path], bytes]) -> Macros:
    """Look through the bodies of the user's macros."""
    bodies = {body for unit in units for body in unit.reading.macros}
    carriers: list[Carrier] = []
    mentions: dict[str, frozenset[str]] = {}
    for body in sorted(bodies, key=lambda b: (str(b.file), b.start)):
        tokens = list(_TOKEN.finditer(text(body.file), body.start, body.end))[1:]
        names = [token[0].decode("latin-1") for token in tokens]
        mentions[body.name] = mentions.get(body.name, frozenset()) | frozenset(names)
        for i, token in enumerate(tokens):
            pasted = names[max(0, i - 1) : i] in (["#"], ["##"]) or names[i + 1 : i + 2] == ["##"]
            if names[i] in callees and not pasted:
                carriers.append(Carrier(len(carriers), body.file, token.start(), body.name, names[i]))
    return Macros(tuple(carriers), mentions)


def names_in(part: Range, text: Callable[[Path], bytes]) -> list[str]:
    """The words of a piece of source, outside strings and comments."""
    return [m[0].decode("latin-1") for m in _TOKEN.finditer(text(part.file), part.start, part.end)]


def around(found: FoundUse, uses: Iterable[Range]) -> list[Range]:
    """The macro uses that a place stands in, innermost first."""
    where = found.use.place
    held = [u for u in uses if u.holds(where.file, where.offset)]
    return sorted(held, key=lambda u: u.end - u.start)


def carriers_of(
    found: FoundUse, unit: Unit, macros: Macros, text: Callable[[Path], bytes]
) -> tuple[list[Carrier], Range | None]:
    """The carriers that can have brought a use whose name is not written there, and the outermost macro use."""
    parts = around(found, unit.reading.macro_uses)
    for part in parts:
        for names in ([part.name], names_in(part, text)):
            if fitting := [c for c in macros.reached(names) if c.callee == found.callee.name]:
                return fitting, parts[-1]
    return [], None


def definitions(
    unit: Unit,
    hooks: Iterable[Hook],
    macros: Macros,
    text: Callable[[Path], bytes],
    line_of: Callable[[Path, int], int],
) -> tuple[str, ...]:
    """The definitions that a source begins with: a carrier on a line is the hook's choice, or the function itself."""
    if not macros.carriers:
        return ()
    chosen: dict[str, str] = {}
    for hook in hooks:
        carriers, whole = carriers_of(hook.found, unit, macros, text)
        if whole:
            for carrier in carriers:
                for line in _lines(whole, line_of):
                    chosen.setdefault(carrier.at(line), hook.expression)
    for use in unit.reading.macro_uses:
        for carrier in macros.reached(names_in(use, text)):
            for line in _lines(use, line_of):
                chosen.setdefault(carrier.at(line), carrier.callee)
    return (*PREAMBLE, *(f"#define {name} {value}" for name, value in chosen.items()))


def _lines(part: Range, line_of: Callable[[Path, int], int]) -> range:
    return range(line_of(part.file, part.start), line_of(part.file, part.end - 1) + 1)
