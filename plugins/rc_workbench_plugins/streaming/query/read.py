"""The language's grammar (Fig. 3.4, and what the dissertation's own examples use besides), and text to statements.

A statement begins with `measure`, `assert` or a label, so that one that is wrong hides none of the others:

    m1: measure hist(bins=16) occupancy at Stream.a when (rate at b > 5 Mtps | !backpressure at c)
    a1: assert m1 >= 100 Mtps & latency at a < 5 us;     // a comment
    vq: readdb.out -> stage1.in                          // a name for an edge or a path
    measure mean dwell of state wait_mem of fir when occupancy at a > 0     // what is within a block

`&` binds closer than `|`. A path goes from edge to edge, each named by its label or by a port: `a -> b`, and
`X.out -> Y.in` is the edge between the two; `=<` and `=>` are edges to and from several blocks. `of` is `at`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from workbench.api import Diagnostic
from workbench.api.unstable import did_you_mean

METRICS = ("rate", "util", "occupancy", "latency", "backpressure", "value", "interval")
STATISTICS = ("min", "max", "mean", "sum", "hist", "trace")
#: What is measured of a block's states.
INNER = ("share", "dwell", "visits", "transitions")
RESERVED = ("measure", "assert", "at", "of", "when", "state", *METRICS, *STATISTICS, *INNER)
#: Units, by what they measure, with how many of them make the base unit (see `measures.py`).
TIMES = {"s": 1e12, "ms": 1e9, "us": 1e6, "µs": 1e6, "ns": 1e3, "ps": 1.0}
RATES = {"tps": 1.0, "ktps": 1e3, "Mtps": 1e6, "Gtps": 1e9}
PERCENT = {"%": 0.01}
SIZES = {"B": 1.0, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3}
#: How deep a statement may be nested, and how many parts its conditions may have, each with what it refers to.
DEEPEST, MOST_PARTS = 50, 1000

#: A name that needs no quotes.
NAME = r"[A-Za-z_]\w*(\[(\d+|\*)\])*(\.[A-Za-z_]\w*(\[(\d+|\*)\])*)*"

_GRAMMAR = rf"""
statement: [label] (measure | assertion | target)
label: NAME ":"
measure: "measure" (what | within | reference) ["when" condition]
assertion: "assert" condition
what: [statistic] METRIC [parameters] _AT target
within: [statistic] INNER [parameters] _AT (state | block)
state: _STATE name [ARROW name] _AT name
block: name
name: NAME | QUOTED
statistic: STATISTIC [parameters]
parameters: "(" parameter ("," parameter)* ")"
parameter: [NAME "="] number
?condition: conjunction | conjunction ("|" conjunction)+ -> either
?conjunction: negation | negation ("&" negation)+ -> both
?negation: "!" negation -> negated | "(" condition ")" | comparison
comparison: operand [RELATION operand]
?operand: number | what | within | state | reference
reference: NAME
number: NUMBER [UNIT]
target: _point (ARROW _point)*
_point: NAME | QUOTED
METRIC.2: /({"|".join(METRICS)})(?![\w.])/
STATISTIC.2: /({"|".join(STATISTICS)})(?![\w.])/
INNER.2: /({"|".join(INNER)})(?![\w.])/
_STATE.2: /state(?![\w.])/
_AT.2: /(at|of)(?![\w.])/
UNIT.2: /({"|".join(sorted([*TIMES, *RATES, *SIZES], key=len, reverse=True))})(?!\w)|%/
ARROW: "->" | "=<" | "=>"
RELATION: ">=" | "<=" | "==" | "!=" | ">" | "<"
NAME: /{NAME}/
QUOTED: /"[^"\n]+"/
NUMBER: /[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?/
%import common.WS
%ignore WS
%ignore ";"
"""

_SAID = {
    "METRIC": "what to measure (" + ", ".join(METRICS) + ")",
    "STATISTIC": "a statistic (" + ", ".join(STATISTICS) + ")",
    "INNER": "what to measure of a block (" + ", ".join(INNER) + ")",
    "_STATE": "'state'",
    "_AT": "'at'",
    "NAME": "a name",
    "NUMBER": "a number",
    "RELATION": "a comparison (> >= < <= == !=)",
    "ARROW": "'->'",
    "UNIT": "a unit (" + ", ".join([*TIMES, *RATES, *SIZES]) + ")",
    "WHEN": "'when'",
    "MEASURE": "'measure'",
    "ASSERT": "'assert'",
    "COLON": "':'",
    "LPAR": "'('",
    "RPAR": "')'",
    "EQUAL": "'='",
    "COMMA": "','",
    "BANG": "'!'",
    "VBAR": "'|'",
    "__ANON_0": "'&'",
    "AMPERSAND": "'&'",
    "$END": "the statement's end",
}
_INSTEAD = {"=": "==", "=>": ">=", "=<": "<="}
_COMMENT = re.compile(r"//[^\n]*")
_BEGIN = re.compile(r"(?<![\w.])(?:[A-Za-z_]\w*\s*:(?:\s*(?:measure|assert)(?![\w.]))?|(?:measure|assert)(?![\w.]))")


@dataclass(frozen=True)
class QueryPlace:
    """Where something stands in a query: line and column from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Statement:
    """A statement as it was read. The tree's tokens count from the statement's beginning: `place` says where one is."""

    label: str
    text: str  #: as written, white space made single
    tree: Tree[Token]  #: `measure`, `assertion` or `target`
    begin: int  #: in the query's text
    of: str  #: the query's text

    def place(self, part: Tree[Token] | Token | None = None) -> QueryPlace:
        token = next(tokens(part), None) if isinstance(part, Tree) else part
        return place_of(self.of, self.begin + (token.start_pos or 0 if token is not None else 0))

    def words(self, part: Tree[Token]) -> str:
        """A part as written, white space made single."""
        first, *_, last = [*tokens(part)] * 2
        begin, end = self.begin + (first.start_pos or 0), self.begin + (last.end_pos or 0)
        return " ".join(_COMMENT.sub(" ", self.of[begin:end]).split())


def tokens(part: Tree[Token]) -> Iterator[Token]:
    return part.scan_values(lambda child: isinstance(child, Token))


def points(target: Tree[Token]) -> list[Token]:
    """The names of a target, without their quotes."""
    named = (part for part in target.children if isinstance(part, Token) and part.type in ("NAME", "QUOTED"))
    return [token.update(value=str(token).strip('"')) for token in named]


def weight(tree: Tree[Token]) -> tuple[int, int]:
    """How deep conditions are nested in a statement, and how many comparisons they have."""
    deepest, parts, pending = 0, 0, [(tree, 0)]
    while pending:
        part, deep = pending.pop()
        deepest, parts = max(deepest, deep), parts + (part.data == "comparison")
        inside = deep + (part.data in ("negated", "both", "either"))
        pending += [(child, inside) for child in part.children if isinstance(child, Tree)]
    return deepest, parts


def statements(text: str, file: str = "") -> tuple[list[Statement], list[Diagnostic]]:
    """A query's statements, and what is wrong with those that are none."""
    plain = _COMMENT.sub(lambda parsed: " " * len(parsed[0]), text)
    starts = [parsed.start() for parsed in _BEGIN.finditer(plain)]
    parsed: list[Statement] = []
    problems: list[Diagnostic] = []
    head = plain[: starts[0]] if starts else plain
    if head.strip(" \t\r\n;"):
        begin = len(head) - len(head.lstrip(" \t\r\n;"))
        word = head.split()[0].strip(";")
        hint = did_you_mean(word, ("measure", "assert")) or "For example: measure mean occupancy at a"
        message = f"a statement begins with 'measure' or 'assert', not with '{word[:40]}'"
        problems.append(_problem(message, hint, text, begin, file))
    for begin, end in pairwise([*starts, len(plain)]):
        part = plain[begin:end]
        try:
            tree = _parser().parse(part)
        except UnexpectedInput as error:
            problems.append(_unexpected(error, part, text, begin, file))
            continue
        label, body = tree.children
        assert isinstance(body, Tree)
        if too_large := too_heavy(*weight(body)):
            problems.append(_problem(*too_large, text, begin, file))
            continue
        name = str(label.children[0]) if isinstance(label, Tree) else ""
        parsed.append(Statement(name, " ".join(part.strip(" \t\r\n;").split()), body, begin, text))
    return parsed, problems


def too_heavy(deep: int, parts: int) -> tuple[str, str] | None:
    """What is wrong with a statement of so many levels and comparisons, and what would be right; None: nothing."""
    if deep > DEEPEST:
        return (
            f"this statement is nested more than {DEEPEST} deep",
            "Leave out '!!' and brackets around &.",
        )
    if parts > MOST_PARTS:
        return (f"this statement compares more than {MOST_PARTS} times", "Write several statements.")
    return None


def place_of(text: str, offset: int) -> QueryPlace:
    before = text[:offset]
    return QueryPlace(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", start="statement")


def _unexpected(error: UnexpectedInput, part: str, text: str, begin: int, file: str) -> Diagnostic:
    wanted: Sequence[str] = ()
    if isinstance(error, UnexpectedToken):
        wanted, token = sorted(error.accepts or error.expected), error.token
        unexpected = "" if token.type == "$END" else str(token)
        offset = len(part.rstrip(" \t\r\n;")) if token.type == "$END" else token.start_pos or 0
    elif isinstance(error, UnexpectedCharacters):
        wanted, offset = sorted(error.allowed or ()), error.pos_in_stream
        unexpected = re.match(r"\w+|.", part[offset:], re.DOTALL)[0]  # type: ignore[index]
    else:
        wanted, offset, unexpected = sorted(getattr(error, "expected", ())), len(part.rstrip(" \t\r\n;")), ""
        assert isinstance(error, UnexpectedEOF)
    before = re.search(r"measure\s+([\w.]+)\s*$", part[:offset])
    if before and unexpected in ("at", "of"):
        hint = did_you_mean(before[1], [*METRICS, *INNER, *STATISTICS])
        hint = hint or f"Known: {', '.join(METRICS)}; of a block's states {', '.join(INNER)}."
        return _problem(f"'{before[1]}' cannot be measured", hint, text, begin + before.start(1), file)
    inside = re.search(rf"(?:{'|'.join(INNER)})[^@]*?\s(?:of|at)\s+([\w.]+)\s*$", part[:offset])
    if inside and unexpected and (unexpected[0].isalpha() or unexpected[0] == "_"):
        hint = did_you_mean(inside[1], ["state"]) or "Write a state as: state NAME of BLOCK."
        return _problem(f"'{inside[1]}' is not expected here", hint, text, begin + inside.start(1), file)
    relation = re.search(r"(=[<>])\s*$", part[:offset])
    if relation and unexpected[:1].isdigit():  # read as an arrow
        unexpected, wanted, offset = relation[1], ["RELATION"], relation.start()
    message = f"'{unexpected}' is not expected here" if unexpected else "the statement is not finished"
    return _problem(message, _hint(unexpected, wanted), text, begin + offset, file)


def _hint(unexpected: str, wanted: Sequence[str]) -> str:
    words = [*(METRICS if "METRIC" in wanted else ()), *(STATISTICS if "STATISTIC" in wanted else ())]
    words += [*(INNER if "INNER" in wanted else ()), *(["state"] if "_STATE" in wanted else [])]
    words += ["at"] if "_AT" in wanted else []
    if near := did_you_mean(unexpected, words) if unexpected else "":
        return near
    if unexpected in _INSTEAD and "RELATION" in wanted:
        return f"Write this comparison as {_INSTEAD[unexpected]}."
    if unexpected in ("and", "or", "not"):
        return "Write & for and, | for or, ! for not."
    left_out = ("$END", "QUOTED")  # quotes are for few names
    said = [_SAID.get(name, name) for name in wanted if name not in left_out or len(wanted) == 1]
    return f"Wanted: {' or '.join(said)}." if said else ""


def _problem(message: str, hint: str, text: str, offset: int, file: str) -> Diagnostic:
    place = place_of(text, offset)
    return Diagnostic(message, hint, file=file or None, line=place.line, column=place.column)
