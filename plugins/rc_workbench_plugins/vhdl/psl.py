"""What PSL in VHDL's comments asserts.

    -- psl default clock is rising_edge(CLOCK);
    -- psl [LABEL :] assert always|never PROPERTY [@rising_edge(CLOCK)] [report "TEXT"] [severity LEVEL];
    -- psl sequence NAME is {...};    -- psl property NAME is PROPERTY;

Comment lines that follow belong to a statement until its semicolon.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rc_workbench_plugins.vhdl.blocks import bare
from rc_workbench_plugins.vhdl.psl_properties import Reader
from rc_workbench_plugins.vhdl.syntax import plain
from workbench.hdl.watched import TOO_LARGE, ClockedRegister, Temporal, TooLarge, Unwatched, checked, temporal

_BEGINS = re.compile(rb"--[ \t]*psl[ \t]+(?=\S)", re.IGNORECASE)
_MORE = re.compile(rb"[ \t]*\r?\n[ \t]*--[ \t]*(?:psl\b)?", re.IGNORECASE)
_DEFAULT = re.compile(r"default\s+clock\s+is\s+(.*)", re.IGNORECASE)
_ASSERT = re.compile(r"(?:(\w+)\s*:\s*)?assert\s+(.*)", re.IGNORECASE)
_DECLARED = re.compile(r"(property|sequence)\s+(\w+)\s*(\(.*?\))?\s*is\s+(.*)", re.IGNORECASE)
_SAYS = re.compile(r"(.*?)\breport\s+\"((?:[^\"]|\"\")*)\"(.*)", re.IGNORECASE)
_SEVERITY = re.compile(r"(.*?)\bseverity\s+(note|warning|error|failure)\b(.*)", re.IGNORECASE)
_CLOCKED = re.compile(r"(.*?)@\s*\(*\s*(rising|falling)_edge\s*\(\s*([\w.]+)\s*\)\s*\)*\s*", re.IGNORECASE)
_CLOCK = re.compile(r"\(*\s*(rising|falling)_edge\s*\(\s*([\w.]+)\s*\)\s*\)*", re.IGNORECASE)
_TOKEN = re.compile(
    r"(?:\d*[su]?[boxd])?\"(?:[^\"]|\"\")*\"|'[^']'(?!\w)|\w+(?:\.\w+)*|\|->|\|=>|->|<->|&&|\[->|\[[*=+]|[/:<>]=|=>|\*\*|\S",
    re.IGNORECASE,
)  # fmt: skip


@dataclass(frozen=True)
class Property:
    """What an assertion checks in the cycles of its clock, over these conditions, which name what is `kept`. `edge` is
    "rising" or "falling"."""

    label: str
    clock: str
    edge: str
    conditions: tuple[str, ...]
    checks: Temporal
    kept: tuple[ClockedRegister, ...] = ()
    says: str = ""
    severity: str = "error"


def properties(data: bytes, signals: Mapping[str, str]) -> Iterator[tuple[int, Property | Unwatched]]:
    """What PSL in the comments of a design unit asserts, or why that is not watched, with where it begins. `signals`
    have the types of registers for what they were in cycles before, by their names in small letters."""
    default = ""
    declared: dict[str, list[str]] = {}
    for match in _BEGINS.finditer(data):
        text = _statement(data, match.end())
        if clock := _DEFAULT.fullmatch(text):
            default = clock[1]
        elif (found := _ASSERT.fullmatch(text)) is not None:
            try:
                yield match.start(), _property(found[1] or "", found[2], default, signals, declared, match.start())
            except TooLarge:
                yield match.start(), Unwatched(TOO_LARGE)
            except Unwatched as why:
                yield match.start(), why
        elif (other := _DECLARED.fullmatch(text)) is not None:
            inner = _tokens(other[4], declared)
            if other[3]:
                what = f"the {other[1].lower()} '{other[2]}' has ports: write it where it is used"
                yield match.start(), Unwatched(what)
            declared[plain(other[2])] = [*("{", *inner, "}")] if other[1].lower() == "sequence" else ["(", *inner, ")"]


def _statement(data: bytes, at: int) -> str:
    """The text from there on to its semicolon, over comment lines that follow one another."""
    parts: list[bytes] = []
    while True:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        line = data[at:end]
        parts.append(line)
        level = 0
        whole = b" ".join(parts)
        for one in re.finditer(rb"\"[^\"]*\"|[{};]", whole):
            level += {b"{": 1, b"}": -1}.get(one[0], 0)
            if one[0] == b";" and level == 0:
                return _tidy(whole[: one.start()])
        more = _MORE.match(data, end - (1 if data[end - 1 : end] == b"\r" else 0))
        if more is None:
            return _tidy(whole)
        at = more.end()


def _tidy(text: bytes) -> str:
    return " ".join(text.decode("utf-8", "replace").split())


def _tokens(text: str, declared: Mapping[str, list[str]]) -> list[str]:
    return [one for token in _TOKEN.findall(text) for one in declared.get(plain(token), [token])]


def _property(
    label: str, text: str, default: str, signals: Mapping[str, str], declared: Mapping[str, list[str]], number: int
) -> Property:
    says, severity = "", "error"
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
    tokens = _tokens(bare(text), declared)
    if tokens and tokens[0].lower() not in ("always", "never"):
        raise Unwatched("it is neither always nor never: it would be checked in the first cycle only")
    reader = Reader(tokens, signals, f"recap_past_{number}")
    try:
        checks = checked(temporal(reader.whole(), reader.disable))
    except ValueError as why:
        raise Unwatched(str(why)) from None
    return Property(label, clock, edge, tuple(reader.conditions), checks, tuple(reader.kept), says, severity)
