"""What one parsed source says: uses of API functions, statements, functions, macros; everything by place in a file."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from clang.cindex import Cursor

from rc_workbench_plugins.c.clang_parse import TokenPlace
from rc_workbench_plugins.c.cpp_forms import Form


@dataclass(frozen=True)
class Signature:
    """A function as it is declared: types as text; `parameters` is None for a declaration without them, `f()`."""

    returns: str
    parameters: tuple[str, ...] | None
    variadic: bool


@dataclass(frozen=True)
class Range:
    """Offsets of a file, `end` excluded. `name` is a function's or a macro's."""

    file: Path
    start: int
    end: int
    name: str = ""

    def holds(self, file: Path, offset: int) -> bool:
        return file == self.file and self.start <= offset < self.end


@dataclass(frozen=True)
class Access:
    """A read or write through a pointer: `place` is what is accessed, `whole` that with an assignment's value, which
    begins at `value`, or with the `step` (`+` or `-`, `+after` or `-after`). Where it is not volatile, one of `roots`
    has to be a mapping's pointer. `why_missed` is empty where it can be instrumented. `given_to` is the function, by
    clang's name of it, that may access what it gets."""

    place: Range
    whole: Range
    step: str = ""
    roots: frozenset[str] | None = None
    why_missed: str = ""
    value: int = 0
    given_to: str = ""


@dataclass(frozen=True)
class Use:
    """An API function's name in use: called, or its address taken (`is_call` False); or an `access`.

    `place` is where its name is written or, when a macro's body brings it (`written` False), where the macro is used.
    `signature` is None when the name is a macro's. `arguments` are the types of a variadic call's extra arguments. A
    call in C++ that no wrapper in C can stand in for has a `form`; `callee` is its key among the template's.
    """

    place: TokenPlace
    callee: str
    is_call: bool
    written: bool
    signature: Signature | None
    arguments: tuple[str, ...] = ()
    access: Access | None = None
    form: Form | None = None
    why_missed: str = ""


@dataclass(frozen=True)
class Statement:
    """A statement, and the range of the block or branch that it stands in.

    What its closing brace may lead to: the condition of the do-while of which it is the body, or the else branch.
    """

    range: Range
    holder: Range
    do_condition: Range | None = None
    otherwise: Range | None = None


@dataclass(frozen=True)
class Ask:
    """What a loop, or a function's result, depends on: a call, or an access (without a `name`).

    `function` is clang's name of the called function. `arguments`: of each the value of a constant, or the name of the
    integer parameter (of the function around the call) in it. `places` are where a use of the API would be noted; a
    call's last place is where it begins, `within` the function around it.
    """

    places: tuple[tuple[Path, int], ...]
    name: str
    function: str
    arguments: tuple[int | str | None, ...]
    within: str = ""


@dataclass(frozen=True)
class Decided:
    """The reads that decide a loop's end or a function's result, and what the loop or function does `beside`.
    `function` is clang's name of it, or of the one around the loop; `parameters` are its parameters' names."""

    function: str
    parameters: tuple[str, ...]
    asks: tuple[Ask, ...]
    beside: tuple[Ask, ...]


@dataclass
class Reading:
    """The facts of one source and the headers it includes, as far as they are the user's own."""

    uses: list[Use] = field(default_factory=list)
    accesses: list[Use] = field(default_factory=list)  # which of them are uses is told once all sources are read
    statements: list[Statement] = field(default_factory=list)
    functions: list[Range] = field(default_factory=list)
    declarations: list[Range] = field(default_factory=list)  # at the file's top level
    macro_uses: list[Range] = field(default_factory=list)
    texts: list[Range] = field(default_factory=list)  # those uses of macros that make a text of an argument
    macros: list[Range] = field(default_factory=list)  # their definitions, from the name on
    includes: list[tuple[Range, Path]] = field(default_factory=list)
    loops: list[Decided] = field(default_factory=list)
    calls: list[Ask] = field(default_factory=list)  # in functions that were read for loops
    results: list[Decided] = field(default_factory=list)  # of functions
    bodies: list[tuple[Range, Cursor]] = field(default_factory=list)  # of functions, until they are read for loops
    deciding: set[Range] = field(default_factory=set)  # functions that were read for loops
    called: list[tuple[str, tuple[Path, int]]] = field(default_factory=list)  # all calls: (function's name, place)
    others_includes: list[tuple[Range, Path]] = field(default_factory=list)  # in headers that are not the user's


def innermost(ranges: Iterable[Range], where: TokenPlace) -> Range | None:
    """The shortest of the ranges that hold a place."""
    held = [r for r in ranges if r.holds(where.file, where.offset)]
    return min(held, key=lambda r: r.end - r.start, default=None)
