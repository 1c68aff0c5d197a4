"""Which call a pragma speaks of, and where a new pragma for a call would be inserted.

A pragma belongs to the next statement: to the API call in it, to the first that has no nearer pragma of its own when
there are several. At the end of a block it belongs to what the closing brace leads to: a do-while's condition, or an
`else if` on the brace's line.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from rc_workbench_plugins.c.clang_parse import TokenPlace
from rc_workbench_plugins.c.facts import Range, Statement
from workbench.api import Diagnostic, PlacedPragma


@dataclass(frozen=True)
class Placing:
    """The pragmas of one file's calls; `insertion` says where another one would go."""

    data: bytes
    offsets: Sequence[int]
    statements: Sequence[Statement]  # by their offsets, an outer one before what it holds
    do_bodies: Sequence[Statement]
    of_call: dict[TokenPlace, tuple[PlacedPragma, ...]]

    def insertion(self, call: TokenPlace) -> tuple[int, int]:
        """The line before which a pragma for this call would stand, and its column (from 1)."""
        before = bisect_right(self.statements, call.offset, key=lambda s: s.range.start)
        nearest = next((s.range for s in reversed(self.statements[:before]) if call.offset < s.range.end), None)
        line = call.line
        if nearest:
            line = bisect_right(self.offsets, nearest.start)
            for body in self.do_bodies:
                if body.holder == nearest and body.range.end <= call.offset:
                    brace = body.range.end - 1  # which leads to the condition
                    line = bisect_right(self.offsets, brace)
        text = self.data[self.offsets[line - 1] :].split(b"\n", 1)[0]
        return line, len(text) - len(text.lstrip()) + 1


def place_pragmas(
    data: bytes,
    offsets: Sequence[int],
    pragmas: Sequence[PlacedPragma],
    calls: Sequence[TokenPlace],
    statements: Sequence[Statement],
) -> tuple[Placing, tuple[Diagnostic, ...]]:
    """Give each call of a file (in order of offset) its pragmas. `offsets` are those of the lines' first bytes."""
    groups: dict[int, list[PlacedPragma]] = {}
    targets: dict[int, list[TokenPlace]] = {}
    problems: list[Diagnostic] = []
    scopes = _scopes(statements)
    for pragma in pragmas:
        anchor, held = _held_calls(offsets, offsets[pragma.line - 1], calls, scopes)
        if not held:
            problems.append(_orphan(pragma))
            continue
        groups.setdefault(anchor, []).append(pragma)
        targets[anchor] = held
    of_calls: dict[TokenPlace, tuple[PlacedPragma, ...]] = {}
    for anchor, group in sorted(groups.items(), reverse=True):  # a pragma nearer to a call comes before one farther off
        free = [call for call in targets[anchor] if call not in of_calls]
        if not free:
            problems += [_orphan(pragma) for pragma in group]
            continue
        of_calls[free[0]] = tuple(group)
        problems += _several(group, free)
        problems += _unreachable(group)
    ordered = sorted(statements, key=lambda s: (s.range.start, -s.range.end))
    return Placing(data, offsets, ordered, [s for s in ordered if s.do_condition], of_calls), tuple(problems)


@dataclass(frozen=True)
class _Scope:
    """A block or branch: the statements in it by their offset, and those that are it themselves."""

    range: Range
    inside: list[Range]
    itself: list[Statement]


def _scopes(statements: Sequence[Statement]) -> list[_Scope]:
    """The scopes of a file in the order of their offsets, an outer one before what it holds."""
    scopes: dict[Range, _Scope] = {}
    for statement in statements:
        holder = scopes.setdefault(statement.holder, _Scope(statement.holder, [], []))
        holder.inside.append(statement.range)
        if statement.do_condition or statement.otherwise:
            scopes.setdefault(statement.range, _Scope(statement.range, [], [])).itself.append(statement)
    for scope in scopes.values():
        scope.inside.sort(key=lambda r: (r.start, -r.end))
    return sorted(scopes.values(), key=lambda scope: (scope.range.start, -scope.range.end))


def _held_calls(
    offsets: Sequence[int], position: int, calls: Sequence[TokenPlace], scopes: Sequence[_Scope]
) -> tuple[int, list[TokenPlace]]:
    """The calls that a pragma at an offset may speak of, and the offset of what holds them."""
    before = bisect_left(scopes, position, key=lambda scope: scope.range.start)
    scope = next((scope for scope in reversed(scopes[:before]) if position < scope.range.end), None)
    if scope is None:
        return position, []
    after = scope.inside[bisect_left(scope.inside, position, key=lambda r: r.start) :]
    for statement in after:
        if bisect_right(offsets, statement.start) != bisect_right(offsets, after[0].start):
            break
        if held := _inside(calls, statement):
            return statement.start, held
    for body in scope.itself if not after else ():
        if body.do_condition:
            return body.range.end, _inside(calls, body.do_condition)
        if body.otherwise:
            brace = bisect_right(offsets, scope.range.end - 1)
            return body.range.end, [c for c in _inside(calls, body.otherwise) if c.line == brace]
    return position, []


def _inside(calls: Sequence[TokenPlace], part: Range) -> list[TokenPlace]:
    first = bisect_left(calls, part.start, key=lambda call: call.offset)
    return list(takewhile(lambda call: call.offset < part.end, islice(calls, first, None)))


def _orphan(pragma: PlacedPragma) -> Diagnostic:
    message = f"no API call follows the pragma '{pragma.pragma.name}', so it has no effect"
    return pragma.diagnostic(message, "Put it on the line before the statement that holds the call.")


def _several(group: Sequence[PlacedPragma], calls: Sequence[TokenPlace]) -> list[Diagnostic]:
    if len(calls) == 1:
        return []
    others = ", ".join(f"{c.line}:{c.column}" for c in calls[1:4])
    first = group[0]
    message = f"{len(calls)} API calls follow in one statement; the pragma '{first.pragma.name}' applies to the first"
    return [first.diagnostic(message, f"Give the others ({others}) statements and pragmas of their own.")]


def _unreachable(group: Sequence[PlacedPragma]) -> list[Diagnostic]:
    """Pragmas after one without a condition: it always holds, so they never do."""
    always = next((i for i, p in enumerate(group) if p.pragma.condition is None), len(group))
    return [
        p.diagnostic(
            f"the pragma '{p.pragma.name}' is never reached: '{group[always].pragma.name}' before it has no condition",
            "Give the first one a condition, or put it last.",
        )
        for p in group[always + 1 :]
    ]
