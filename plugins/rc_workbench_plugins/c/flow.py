"""What the values in a loop, or a function, depend on: which reads decide its end.

A value decides a loop's end where its condition, or that of a branch that leaves it, depends on it, directly, through
variables, or through branches that set them. It does not where the loop also uses the value otherwise (words taken from
a queue), or where its address changes from turn to turn.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from clang.cindex import Cursor, CursorKind, TypeKind

from rc_workbench_plugins.c.clang_parse import children, constant, file_offset
from rc_workbench_plugins.c.facts import Ask
from rc_workbench_plugins.c.lvalues import assigns, dereferences, step_of, takes_address

K = CursorKind
LOOPS = (K.WHILE_STMT, K.DO_STMT, K.FOR_STMT)
_LEAVE = frozenset([K.BREAK_STMT, K.RETURN_STMT, K.GOTO_STMT, K.CXX_THROW_EXPR])
_OWN = frozenset([K.BREAK_STMT, K.CONTINUE_STMT])  # end an inner loop, or its turn, and no more
#: calls that take nothing of what they are given: they print, wait, or look at the time
HARMLESS = re.compile(
    r"print|puts|log|warn|debug|trace|sleep|yield|pause|relax|delay|wait|nop|time|clock|now|flush|barrier|"
    r"operator<<|exit|abort|assert|expect",
    re.IGNORECASE,
)
_ENDS = re.compile(r"(?:_?exit|abort|longjmp|err|errx|die|fatal|quick_exit|terminate)\Z")
_UNEVALUATED = (K.CXX_UNARY_EXPR, K.STATIC_ASSERT, K.LAMBDA_EXPR)
_PLACES = (K.ARRAY_SUBSCRIPT_EXPR, K.UNARY_OPERATOR, K.MEMBER_REF_EXPR)
NUMBERS = (
    TypeKind.CHAR_U, TypeKind.UCHAR, TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.USHORT, TypeKind.SHORT, TypeKind.UINT,
    TypeKind.INT, TypeKind.ULONG, TypeKind.LONG, TypeKind.ULONGLONG, TypeKind.LONGLONG, TypeKind.ENUM,
)  # fmt: skip

Place = tuple[Path, int]
Names = frozenset[str]
NONE: Names = frozenset()


@dataclass(frozen=True)
class _Set:
    """An assignment: `grows` where the variable's own value goes into it, `stores` through a pointer or into an array.
    `under`: what its branches ask."""

    target: str
    sources: Names
    under: Names
    grows: bool
    stores: bool


@dataclass
class Read:
    """A call, or a read through a pointer. `given`: the variables that its arguments consist of."""

    ask: Ask
    given: Names
    stays: bool  # on a way on which the loop goes on


@dataclass
class Flow:
    """What a loop's or a function's statements do with values: variables by clang's names, results as `#number`. A loop
    of `goto` goes on where that leads to its label, `back`, and ends where it does not."""

    accesses: frozenset[Place]
    parameters: dict[str, str] = field(default_factory=dict)  # integers: clang's name -> name
    back: str = ""
    reads: dict[str, Read] = field(default_factory=dict)
    sets: list[_Set] = field(default_factory=list)
    ends: set[str] = field(default_factory=set)  # what decides whether the loop goes on
    asked: set[str] = field(default_factory=set)  # what any condition asks
    returned: set[str] = field(default_factory=set)
    passed: list[tuple[str, Names]] = field(default_factory=list)  # given to a call: (its result, variables)
    used: set[str] = field(default_factory=set)  # variables in subscripts and arguments
    again: set[str] = field(default_factory=set)  # variables that begin anew in each turn
    works: bool = False  # a loop within it changes memory
    left: dict[tuple[Cursor, frozenset[CursorKind]], bool] = field(default_factory=dict)  # what `leaves` found
    jumps: dict[Cursor, Names] = field(default_factory=dict)  # of each statement the labels that its `goto`s lead to

    # ---- expressions

    def value(self, cursor: Cursor, under: Names, *, condition: bool = False, stays: bool = True) -> Names:
        """The names that an expression's value depends on."""
        kind = cursor.kind
        if kind in _UNEVALUATED:
            return NONE
        parts = list(children(cursor))
        if assigns(cursor) and len(parts) == 2:
            sources = self.value(parts[1], under, condition=condition, stays=stays)
            return self.set(parts[0], sources, under, grows=kind is K.COMPOUND_ASSIGNMENT_OPERATOR)
        if parts and step_of(cursor):
            return self.set(parts[0], NONE, under, grows=True)
        if kind is K.CALL_EXPR:
            return self.call(cursor, parts, under, condition, stays)
        if kind is K.DECL_REF_EXPR:
            named = cursor.referenced
            known = named is not None and named.kind in (K.VAR_DECL, K.PARM_DECL)
            return frozenset([named.get_usr()]) if known else NONE
        names = frozenset(chain(*(self.value(p, under, condition=condition, stays=stays) for p in parts)))
        if kind is K.MEMBER_REF_EXPR and cursor.referenced is not None:
            names |= {cursor.referenced.get_usr()}
        if kind is K.ARRAY_SUBSCRIPT_EXPR and len(parts) == 2:
            self.used |= self.value(parts[1], under)
        if kind in _PLACES and (kind is not K.UNARY_OPERATOR or dereferences(cursor)):
            where = file_offset(cursor.extent.start)
            if where in self.accesses:
                return names | self.read(Ask((where,), "", "", self.arguments(parts)), names, stays)
        return names

    def call(self, cursor: Cursor, parts: list[Cursor], under: Names, condition: bool, stays: bool) -> Names:
        function = cursor.referenced
        if cursor.spelling == "operator()":  # it stands among the arguments
            parts = [part for part in parts if part.spelling != cursor.spelling]
        arguments = [] if function is not None and not list(cursor.get_arguments()) else parts[1:]
        before = parts[: len(parts) - len(arguments)]
        given: Names = frozenset(chain(*(self.value(p, under) for p in before)))
        targets = []
        types = [p.type.kind for p in function.get_arguments()] if function is not None else []
        for number, argument in enumerate(arguments):
            names = self.value(argument, under, condition=condition, stays=stays)
            if (target := _filled(argument, types[number : number + 1])) is not None:
                targets.append(target)
                names -= {_base(target)[0]}
            given |= names
        places = tuple(p for part in (*before[:1], cursor) if (p := file_offset(_plain(part).location))) + tuple(
            p for p in [file_offset(cursor.extent.start)] if p
        )
        lambda_ = _plain(parts[0]).referenced if cursor.spelling == "operator()" and parts else None
        usr = named.get_usr() if (named := lambda_ or function) is not None else ""
        result = self.read(Ask(places, cursor.spelling, usr, self.arguments(arguments)), given, stays)
        if not condition and not HARMLESS.search(cursor.spelling):
            self.passed.append((next(iter(result)), given))
            self.used |= given
        for target in targets:
            self.set(target, result, under, grows=False)
        return result | given

    def read(self, ask: Ask, given: Names, stays: bool) -> Names:
        name = f"#{len(self.reads)}"
        self.reads[name] = Read(ask, given, stays)
        return frozenset([name])

    def set(self, place: Cursor, sources: Names, under: Names, *, grows: bool) -> Names:
        target, stores = _base(place)
        if stores:
            self.used |= self.value(place, under) - {target}
        self.sets.append(_Set(target, sources, under, grows or target in sources, stores))
        return sources | ({target} if grows else NONE)

    def arguments(self, parts: Iterable[Cursor]) -> tuple[int | str | None, ...]:
        """Of each a constant's value, or the names of the function's integer parameters in it."""
        return tuple(self.argument(part) for part in parts)

    def argument(self, part: Cursor) -> int | str | None:
        if part.type.get_canonical().kind not in NUMBERS:
            return None
        value = constant(part)
        if value is not None:
            return value
        names = {c.referenced.get_usr() for c in every(part) if c.kind is K.DECL_REF_EXPR and c.referenced is not None}
        numbers = [self.parameters[name] for name in names if name in self.parameters]
        return numbers[0] if len(numbers) == 1 else None

    # ---- statements

    def statement(self, cursor: Cursor, under: Names = NONE, *, stays: bool = True) -> None:
        kind, parts = cursor.kind, list(children(cursor))
        if kind is K.IF_STMT or kind is K.SWITCH_STMT:
            while parts and parts[0].kind in (K.DECL_STMT, K.VAR_DECL):
                self.statement(parts.pop(0), under, stays=stays)
            names = self.value(parts[0], under, condition=True, stays=stays) if parts else NONE
            self.asked |= names
            within = frozenset[CursorKind]() if kind is K.IF_STMT else frozenset([K.BREAK_STMT])
            self.ends |= names if any(self.decides(p, within) for p in parts[1:]) else NONE
            for part in parts[1:]:
                stays_on = not self.leaves(part, within | {K.CONTINUE_STMT})
                self.statement(part, under | names, stays=stays and stays_on)
        elif kind in LOOPS:
            first, condition, step, body = loop_parts(cursor)
            for part in first:
                self.statement(part, under, stays=stays)
                self.again |= {one.target for one in self.sets[-1:]}
            names = frozenset(chain(*(self.value(p, under, condition=True, stays=stays) for p in condition)))
            self.asked |= names
            self.ends |= names if any(self.decides(p, _OWN) for p in body) else NONE
            for part in (*body, *step):
                self.statement(part, under | names, stays=stays)
            self.works |= any(one.stores for one in self.sets)
        elif kind is K.DECL_STMT:
            for part in parts:
                self.statement(part, under, stays=stays)
        elif kind is K.VAR_DECL:
            values = [p for p in parts if p.kind.is_expression()]
            sources = frozenset(chain(*(self.value(p, under, stays=stays) for p in values)))
            self.sets.append(_Set(cursor.get_usr(), sources, under, False, False))
            self.again.add(cursor.get_usr())
        elif kind is K.RETURN_STMT:
            self.returned |= under.union(*(self.value(p, under, condition=True, stays=stays) for p in parts))
        elif kind.is_expression():
            self.value(cursor, under, stays=stays)
        else:
            ends = kind is K.COMPOUND_STMT and parts and parts[-1].kind in _LEAVE  # all after the last `continue` does
            ends = ends and not self.goes_back(parts[-1])
            goes_on = (n for n, p in enumerate(parts) if self.leaves(p, _LEAVE) or self.goes_back(p))
            last = max(goes_on, default=-1) if ends else len(parts)
            for number, part in enumerate(parts):
                if part.kind.is_statement() or part.kind.is_expression():
                    self.statement(part, under, stays=stays and number <= last)

    def decides(self, part: Cursor, but: frozenset[CursorKind]) -> bool:
        """Whether a part that a condition chooses may end the loop, or alone lets it go on."""
        return self.leaves(part, but) or self.goes_back(part)

    def leaves(self, statement: Cursor, but: frozenset[CursorKind]) -> bool:
        """Whether a statement may leave the loop that it stands in, or (`continue`) the turn; not by a `goto` to
        `back`."""
        if (statement, but) not in self.left:
            self.left[statement, but] = self._leaves(statement, but)
        return self.left[statement, but]

    def _leaves(self, statement: Cursor, but: frozenset[CursorKind]) -> bool:
        kind = statement.kind
        if kind is K.CONTINUE_STMT or kind in _LEAVE:
            return kind not in but and not self.goes_back(statement)
        if kind is K.CALL_EXPR:
            return bool(_ENDS.match(statement.spelling))
        if kind in LOOPS:
            but |= _OWN
        elif kind is K.SWITCH_STMT:
            but |= {K.BREAK_STMT}
        return kind is not K.LAMBDA_EXPR and any(self.leaves(part, but) for part in children(statement))

    def goes_back(self, statement: Cursor) -> bool:
        """Whether a `goto` in a statement leads to the loop's label."""
        if self.back and statement not in self.jumps:
            self.jumps[statement] = labels(statement)
        return bool(self.back) and self.back in self.jumps[statement]

    # ---- what follows

    def reached(self, name: str) -> tuple[Names, Names]:
        """The variables that hold a result, and those and others that depend on it."""
        holds, depends = {name}, {name}
        changed = True
        while changed:
            before = len(holds) + len(depends)
            for one in self.sets:
                if one.sources & holds:
                    holds.add(one.target)
                if one.sources & depends or one.under & depends:
                    depends.add(one.target)
            changed = len(holds) + len(depends) > before
        return frozenset(holds), frozenset(depends)

    def changing(self) -> Names:
        """What differs from one turn to the next."""
        grown = {one.target for one in self.sets if one.grows} - self.again
        changing = {*self.reads, *grown}
        while more := {one.target for one in self.sets if one.sources & changing} - changing:
            changing |= more
        return frozenset(changing)

    def only_asks(self, name: str, outputs: Names = NONE) -> bool:
        """Whether a result is held against something and used for nothing else."""
        holds, _ = self.reached(name)
        if any(given & holds for result, given in self.passed if result != name):
            return False
        steps = {one.target for one in self.sets if one.grows and not one.stores}  # a place for each value in turn
        kept = {*self.asked, *self.ends, *self.returned, *outputs}
        stored = (one for one in self.sets if (one.stores or one.grows) and one.sources & (holds - {one.target}))
        return all(one.target in kept and not (one.stores and one.target in steps) for one in stored)

    def deciding(self, own: Names, changing: Names) -> Iterator[str]:
        """The reads that decide whether a loop goes on, each of one place. `own` is what its own condition asks."""
        for name, read in self.reads.items():
            _, depends = self.reached(name)
            filled = {one.target for one in self.sets if name in one.sources}
            if not (depends & self.ends) or read.given & (changing - filled) or not self.only_asks(name):
                continue
            if not ((own & changing) - depends) & self.used:  # else it goes over things, one after the other
                yield name


def loop_parts(loop: Cursor) -> tuple[list[Cursor], list[Cursor], list[Cursor], list[Cursor]]:
    """What begins a loop, its condition, what ends each turn, and its body: nothing where the source lacks it."""
    parts = list(children(loop))
    if loop.kind is K.DO_STMT:
        return [], parts[1:], [], parts[:1]
    if loop.kind is K.WHILE_STMT:
        return parts[:-2], parts[-2:-1], [], parts[-1:]
    head, body = parts[:-1], parts[-1:]
    condition = [p for p in head if not (p.kind is K.DECL_STMT or assigns(p) or step_of(p))]
    at = head.index(condition[0]) if condition else sum(p.kind is K.DECL_STMT for p in head)
    return head[:at], condition[:1], [p for p in head[at:] if p not in condition[:1]], body


def goto_loops(block: Cursor) -> Iterator[tuple[str, list[Cursor]]]:
    """The loops that `goto` makes of a block's statements: the label, and what stands from it to the last `goto` that
    leads back to it."""
    parts = list(children(block))
    jumps = [labels(part) for part in parts] if any(part.kind is K.LABEL_STMT for part in parts) else []
    for number, part in enumerate(parts):
        if part.kind is K.LABEL_STMT:
            last = max((n for n in range(number, len(parts)) if part.spelling in jumps[n]), default=-1)
            if last >= 0:
                yield part.spelling, parts[number : last + 1]


def labels(statement: Cursor) -> Names:
    """The labels that a statement's `goto`s lead to."""
    jumps = (one for one in every(statement) if one.kind is K.GOTO_STMT)
    return frozenset(part.spelling for jump in jumps for part in children(jump))


def every(cursor: Cursor) -> Iterator[Cursor]:
    """A cursor and all below it, each before its parts."""
    ahead = [cursor]
    while ahead:
        yield (one := ahead.pop())
        ahead += reversed(list(children(one)))


def _plain(cursor: Cursor) -> Cursor:
    while cursor.kind in (K.UNEXPOSED_EXPR, K.PAREN_EXPR, K.CSTYLE_CAST_EXPR, K.CXX_STATIC_CAST_EXPR):
        inner = [part for part in children(cursor) if part.kind.is_expression()]
        if len(inner) != 1:
            break
        cursor = inner[0]
    return cursor


def _base(place: Cursor) -> tuple[str, bool]:
    """The variable or field that an assignment goes to, and whether through a pointer or into an array."""
    stores, place = False, _plain(place)
    while place.kind in (K.ARRAY_SUBSCRIPT_EXPR, K.UNARY_OPERATOR):
        parts = list(children(place))
        if not parts:
            break
        stores, place = True, _plain(parts[0])
    named = place.referenced
    return (named.get_usr() if named is not None else ""), stores


def _filled(argument: Cursor, kinds: list[TypeKind]) -> Cursor | None:
    """What a call fills through an argument: `&variable`, an array, or what a reference means."""
    plain = _plain(argument)
    if takes_address(plain):
        return next(iter(children(plain)), None)
    arrays = (TypeKind.CONSTANTARRAY, TypeKind.VARIABLEARRAY)
    if plain.kind is K.DECL_REF_EXPR and plain.type.get_canonical().kind in arrays:
        return plain
    return plain if TypeKind.LVALUEREFERENCE in kinds and plain.kind is K.DECL_REF_EXPR else None
