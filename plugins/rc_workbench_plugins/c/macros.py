"""API calls that a macro of the user's brings: its body is rewritten so that every use of the macro is a site.

The function's name in the body becomes a name that ends in the line of the macro's use (`__LINE__`); each source
begins with a definition of that name for every line on which the macro is used. In C++ a call of a method gets two: one
before its object, one for what leads from that to the method.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rc_workbench_plugins.c.facts import Range
from rc_workbench_plugins.c.numbering import Hook
from rc_workbench_plugins.c.survey import ApiUse, SurveyedUnit

_TOKEN = re.compile(rb"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|##?|[A-Za-z_]\w*|[0-9]\w*""", re.DOTALL)

PREAMBLE = ("#define RCW_JOIN(a, b) a##b", "#define RCW_AT(a, b) RCW_JOIN(a, b)")


@dataclass(frozen=True)
class Carrier:
    """An API function's name in a macro's body, or in C++ what is a `part` of its call: "call" (all up to the
    arguments), "object" or "pointer" (what comes before that of a method), "member" (what follows it). `text` stands
    there."""

    number: int
    file: Path
    offset: int
    macro: str
    callee: str
    text: str
    part: str = ""

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
        carriers: dict[str, list[Carrier]] = {}
        for carrier in self.carriers:
            carriers.setdefault(carrier.macro, []).append(carrier)
        return carriers

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


def find_macros(
    units: Iterable[SurveyedUnit], callees: Collection[str], in_cpp: Collection[str], text: Callable[[Path], bytes]
) -> Macros:
    """Look through the bodies of the user's macros for callees in C, and for the names of those in C++."""
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
                carriers.append(Carrier(len(carriers), body.file, token.start(), body.name, names[i], names[i]))
            elif names[i] in in_cpp and not pasted:
                for start, end, part in _cpp_parts(text(body.file), body, token.start(), token.end()):
                    there = text(body.file)[start:end].decode("latin-1")
                    carriers.append(Carrier(len(carriers), body.file, start, body.name, names[i], there, part))
    return Macros(tuple(carriers), mentions)


def _cpp_parts(data: bytes, body: Range, start: int, end: int) -> list[tuple[int, int, str]]:
    """The parts to rewrite of a call whose name is at `start` to `end` in a macro's definition; none if they cannot be
    determined."""
    if data[end : body.end].strip()[:1] not in (b"(", b""):
        return []
    if member := re.search(rb"\s*(\.|->)\s*$", data[body.start : start]):
        last = body.start + member.start()
        first = _object(data, body.start, last)
        return (
            [(first, first, "object" if member[1] == b"." else "pointer"), (last, end, "member")]
            if first < last
            else []
        )
    named = re.search(rb"(?:::\s*)?(?:\w+\s*::\s*)*$", data[body.start : start])
    return [(body.start + named.start() if named else start, end, "call")]


def _object(data: bytes, begin: int, end: int) -> int:
    """Where the expression begins that ends at `end`: names, calls and indices, joined by `.`, `->` and `::`."""
    at = end
    while True:
        depth = 0
        while at > begin and (depth or data[at - 1] in b")]"):
            at -= 1
            depth += (data[at] in b")]") - (data[at] in b"([")
        while at > begin and re.match(rb"\w", data[at - 1 : at]):
            at -= 1
        joined = re.search(rb"\s*(?:\.|->|::)\s*$", data[begin:at])
        if joined is None:
            return at
        at = begin + joined.start()


def names_in(part: Range, text: Callable[[Path], bytes]) -> list[str]:
    """The words of a piece of source, outside strings and comments."""
    return [m[0].decode("latin-1") for m in _TOKEN.finditer(text(part.file), part.start, part.end)]


def around(use: ApiUse, uses: Iterable[Range]) -> list[Range]:
    """The macro uses that a place stands in, innermost first."""
    where = use.use.place
    held = [u for u in uses if u.holds(where.file, where.offset)]
    return sorted(held, key=lambda u: u.end - u.start)


def carriers_of(
    use: ApiUse, unit: SurveyedUnit, macros: Macros, text: Callable[[Path], bytes]
) -> tuple[list[Carrier], Range | None]:
    """The carriers that can have brought a use whose name is not written there, and the outermost macro use."""
    in_cpp = use.use.form is not None
    name = use.callee.prototype.name if in_cpp else use.callee.name
    parts = around(use, unit.reading.macro_uses)
    for part in parts:
        for names in ([part.name], names_in(part, text)):
            if fitting := [c for c in macros.reached(names) if c.callee == name and bool(c.part) == in_cpp]:
                return fitting, parts[-1]
    return [], None


def definitions(
    unit: SurveyedUnit,
    hooks: Iterable[Hook],
    macros: Macros,
    text: Callable[[Path], bytes],
    line_of: Callable[[Path, int], int],
    written: Callable[[Hook, str], str],
) -> tuple[str, ...]:
    """The definitions that a source begins with: a carrier on a line is what is `written` of a hook, by the part, or
    the function itself."""
    if not macros.carriers:
        return ()
    chosen: dict[str, str] = {}
    for hook in hooks:
        carriers, whole = carriers_of(hook.api_use, unit, macros, text)
        if whole:
            for carrier in carriers:
                for line in _lines(whole, line_of):
                    chosen.setdefault(carrier.at(line), written(hook, carrier.part))
    for use in unit.reading.macro_uses:
        for carrier in macros.reached(names_in(use, text)):
            for line in _lines(use, line_of):
                chosen.setdefault(carrier.at(line), carrier.text)
    return (*PREAMBLE, *(f"#define {name} {value}" for name, value in chosen.items()))


def _lines(part: Range, line_of: Callable[[Path, int], int]) -> range:
    return range(line_of(part.file, part.start), line_of(part.file, part.end - 1) + 1)
