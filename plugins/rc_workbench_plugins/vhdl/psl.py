"""The properties of PSL in VHDL's comments that are watched: a subset, and what is outside of it by name.

    -- psl default clock is rising_edge(CLOCK);
    -- psl [LABEL :] assert always EXPRESSION [abort EXPRESSION] [@rising_edge(CLOCK)] [report "TEXT"] [severity LEVEL];
    -- psl [LABEL :] assert never EXPRESSION ...;
    -- psl [LABEL :] assert always (EXPRESSION -> [next [[N]]] EXPRESSION) ...;       (also {A} |-> {B}, {A} |=> {B})

Comment lines that follow belong to a statement until its semicolon.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rc_workbench_plugins.vhdl.blocks import bare
from workbench.hdl.watched import MOST_DELAY

_BEGINS = re.compile(rb"--[ \t]*psl[ \t]+(?=\S)", re.IGNORECASE)
_MORE = re.compile(rb"[ \t]*\r?\n[ \t]*--[ \t]*(?:psl\b)?", re.IGNORECASE)
_DEFAULT = re.compile(r"default\s+clock\s+is\s+(.*)", re.IGNORECASE)
_ASSERT = re.compile(r"(?:(\w+)\s*:\s*)?assert\s+(.*)", re.IGNORECASE)
_OTHERS = re.compile(r"(property|sequence)\b", re.IGNORECASE)
_SAYS = re.compile(r"(.*?)\breport\s+\"((?:[^\"]|\"\")*)\"(.*)", re.IGNORECASE)
_SEVERITY = re.compile(r"(.*?)\bseverity\s+(note|warning|error|failure)\b(.*)", re.IGNORECASE)
_CLOCKED = re.compile(r"(.*?)@\s*\(*\s*(rising|falling)_edge\s*\(\s*([\w.]+)\s*\)\s*\)*\s*", re.IGNORECASE)
_CLOCK = re.compile(r"\(*\s*(rising|falling)_edge\s*\(\s*([\w.]+)\s*\)\s*\)*", re.IGNORECASE)
_ALWAYS = re.compile(r"(always|never)\b(.*)", re.IGNORECASE)
_NEXT = re.compile(r"next\b\s*(?:\[\s*(\d+)\s*\])?(.*)", re.IGNORECASE)
_ABORT = re.compile(r"(.*?)\babort\b(.*)", re.IGNORECASE)
_OUTSIDE = re.compile(
    r"\b(next\w*|until\w*|before\w*|eventually|always|never|within|whilenot|forall|prev|rose|fell|stable)\b|[{};]|"
    r"\[[*=+-]|->|\|->|\|=>|@", re.IGNORECASE
)  # fmt: skip
_ARROWS = re.compile(r"\"[^\"]*\"|[({\[]|[)}\]]|\|->|\|=>|->")


class Unwatched(Exception):
    """Why a property is not watched."""


@dataclass(frozen=True)
class Property:
    """In a cycle of the clock in which `antecedent` holds, `consequent` has to hold `delay` cycles later, unless
    `disable` (where it is not "") did meanwhile. `edge` is "rising" or "falling"."""

    label: str
    clock: str
    edge: str
    antecedent: str
    consequent: str
    delay: int = 0
    disable: str = ""
    says: str = ""
    severity: str = "error"


def properties(data: bytes) -> Iterator[tuple[int, Property | Unwatched]]:
    """What PSL in the comments of a design unit asserts, or why that is not watched, with where it begins."""
    default = ""
    for match in _BEGINS.finditer(data):
        text = _statement(data, match.end())
        if clock := _DEFAULT.fullmatch(text):
            default = clock[1]
        elif (found := _ASSERT.fullmatch(text)) is not None:
            try:
                yield match.start(), _property(found[1] or "", found[2], default)
            except Unwatched as why:
                yield match.start(), why
        elif (other := _OTHERS.match(text)) is not None:
            what = f"a declared {other[1].lower()} is outside of the subset that is watched"
            yield match.start(), Unwatched(what)


def _statement(data: bytes, at: int) -> str:
    """The text from there on to its semicolon, over comment lines that follow one another."""
    parts: list[bytes] = []
    while True:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        line = data[at:end]
        quoted = re.match(rb"(?:[^\";{]|\"[^\"]*\"|\{[^}]*\})*;", line)
        if quoted is not None:
            parts.append(quoted[0][:-1])
            break
        parts.append(line)
        more = _MORE.match(data, end - (1 if data[end - 1 : end] == b"\r" else 0))
        if more is None:
            break
        at = more.end()
    return " ".join(b" ".join(parts).decode("utf-8", "replace").split())


def _property(label: str, text: str, default: str) -> Property:
    says, severity, disable = "", "error", ""
    if found := _SAYS.fullmatch(text):
        text, says = f"{found[1]}{found[3]}", found[2]
    if found := _SEVERITY.fullmatch(text):
        text, severity = f"{found[1]}{found[3]}", found[2].lower()
    if found := _CLOCKED.fullmatch(text):
        text, edge, clock = found[1], found[2].lower(), found[3]
    elif "@" in text:
        raise Unwatched(f"'{text[text.index('@') :]}' is not @rising_edge(CLOCK)")
    elif found := _CLOCK.fullmatch(default.strip()):
        edge, clock = found[1].lower(), found[2]
    else:
        raise Unwatched("it names no clock: write @rising_edge(clk) behind it, or a default clock")
    text = bare(text)
    found = _ALWAYS.fullmatch(text)
    if found is None:
        raise Unwatched("it is neither always nor never: it would be asked in the first cycle alone")
    never, text = found[1].lower() == "never", bare(found[2])
    if found := _ABORT.fullmatch(text):
        text, disable = bare(found[1]), _expression(found[2])
    antecedent, consequent, delay = ("true", f"not ({_expression(text)})", 0) if never else _implied(text)
    return Property(label, clock, edge, antecedent, consequent, delay, disable, says, severity)


def _implied(text: str) -> tuple[str, str, int]:
    level = 0
    for match in _ARROWS.finditer(text):
        if match[0] in "({[":
            level += 1
        elif match[0] in ")}]":
            level -= 1
        elif level == 0 and match[0] in ("->", "|->", "|=>"):
            right, delay = bare(text[match.end() :]), int(match[0] == "|=>")
            while found := _NEXT.fullmatch(right):
                delay, right = delay + int(found[1] or 1), bare(found[2])
            if delay > MOST_DELAY:
                raise Unwatched(f"it waits for more than {MOST_DELAY} cycles")
            return _expression(text[: match.start()]), _expression(right), delay
    return "true", _expression(text), 0


def _expression(text: str) -> str:
    """A text that is one condition of VHDL; a sequence of one is that."""
    text = bare(text)
    if re.fullmatch(r"\{[^{};]*\}", text):
        text = bare(text[1:-1])
    if not text:
        raise Unwatched("a condition is missing")
    if found := _OUTSIDE.search(re.sub(r"\"[^\"]*\"", "", text)):
        raise Unwatched(f"'{found[0]}' is outside of the subset that is watched: always, never, ->, next and next[N]")
    return text
