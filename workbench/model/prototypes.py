"""Reads the C and C++ prototypes of a platform template; gathers the entries that share one (ReCAP 2011, section 3.1).

A name without `::` is a C function's, or one of C++ that is not overloaded. One with it is C++'s: a function of a
namespace (`void ns::reset(int card)`; `void ::reset(int card)` of the global one), a method, a constructor
(`xrt::bo::bo(...)`), a destructor or an operator. Those of one name are distinguished by the types of their parameters.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from workbench.model.diagnostic import Diagnostic
from workbench.model.platform import CallKind, Host, HostEntry

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
#: The variables that the C of `Transfers` speaks of besides the API's own handles.
_OF_TRANSFERS = {"self", "data", "words", "bytes", "address", "index", "result"}
C_WORDS = {
    "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "const", "volatile", "restrict",
    "bool", "_Bool", "std", "size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t", "off_t", "FILE",
    *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}  # fmt: skip
_TYPE_WORDS = re.compile(
    r"void|char|short|int|long|float|double|(un)?signed|const|volatile|restrict|struct|union|enum|_?[Bb]ool"
)
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)(?!\s*\))|\[\[.*?\]\]")
_SPECIFIER = re.compile(r"\b(?:extern|inline|static|virtual|explicit|constexpr|friend)\b\s*")
_CALLBACK = re.compile(
    r"\(\s*[*&]+\s*\w*\s*\)\s*\(|\bfunction\s*<|(?:[Cc]allback|[Hh]andler)(?![a-z])|(?<![A-Za-z])(?:cb|isr)(?:_t|_fn)?\b"
)
_AFTER = re.compile(r"\s*(?:\b(?:const|volatile|noexcept|override|final)|&&?|=\s*(?:0|default))\s*$")
_NAME = re.compile(
    r"(?P<scope>(?:(?:[A-Za-z_]\w*(?:<(?:[^<>()]|<(?:[^<>()]|<[^<>()]*>)*>)*>)?)?::\s*)*)"
    r"(?P<name>operator\s*(?:\(\s*\)|\[\s*\]|[^\s\w()\[\]]+|[A-Za-z_][\w:<>,*&\s]*)|~?[A-Za-z_]\w*)\s*$"
)


@dataclass(frozen=True)
class Prototype:
    """`name` with its parameters as (declaration, name); `returns` is the return type's text, empty where there is none
    (constructors and destructors).

    Of C++: `scope` is the namespace or class (`xrt::bo`), `cpp` says that there is one, be it the global one;
    `defaults` are default arguments, by the parameter's name.
    """

    text: str
    name: str
    returns: str
    parameters: tuple[tuple[str, str], ...]
    variadic: bool = False
    scope: str = ""
    cpp: bool = False
    defaults: tuple[tuple[str, str], ...] = ()

    @property
    def qualified(self) -> str:
        return f"{self.scope}::{self.name}" if self.scope else self.name

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(type_of(text, name) for text, name in self.parameters)

    @property
    def is_constructor(self) -> bool:
        return bool(self.scope) and self.name == _last_name(self.scope)

    @property
    def is_destructor(self) -> bool:
        return self.name.startswith("~")

    @property
    def is_static(self) -> bool:
        return re.match(r"(?:inline\s+)?static\b", _without_template(self.text)) is not None

    @property
    def is_template(self) -> bool:
        return re.match(r"template\s*<", self.text) is not None

    @property
    def qualifiers(self) -> str:
        """What follows the parameters of a method: `const noexcept`."""
        after = self.text[self.text.rindex(")") + 1 :] if ")" in self.text else ""
        return " ".join(re.findall(r"\b(?:const|volatile|noexcept)\b|&&?", after))


@dataclass(frozen=True)
class Callee:
    """An API function and the template's entries for it: (number in the template, entry), in order."""

    prototype: Prototype
    entries: tuple[tuple[int, HostEntry], ...]

    @property
    def name(self) -> str:
        return self.prototype.qualified

    @property
    def kinds(self) -> tuple[CallKind, ...]:
        """What its calls are for, each once, in the entries' order."""
        return tuple(dict.fromkeys(entry.kind for _, entry in self.entries))

    @property
    def kind(self) -> str:
        return "|".join(kind.value for kind in self.kinds)

    @property
    def entry_text(self) -> str:
        return "; ".join(
            dict.fromkeys(
                (e.prototype or f"{e.access} of {e.of}") + (f" [{e.subtype}]" if e.subtype else "")
                for _, e in self.entries
            )
        )


def parse_prototype(text: str) -> Prototype | None:
    """A function's prototype, or None for what is none: text without parameters, or without what they give back."""
    clean = " ".join(text.split()).rstrip("; ")
    bare = _ATTRIBUTE.sub("", _without_template(clean))
    while _AFTER.search(bare):
        bare = _AFTER.sub("", bare)
    opening = _opening(bare)
    named = _NAME.search(bare[:opening]) if opening else None
    if named is None:
        return None
    scope = re.sub(r"\s+", "", named["scope"])
    name = re.sub(r"\s*([^\w\s])\s*", r"\1", named["name"])
    returns = _SPECIFIER.sub("", bare[: named.start()]).strip()
    cpp, scope = bool(scope), scope.removesuffix("::").removeprefix("::")
    makes = bool(scope) and name.removeprefix("~") == _last_name(scope)
    converts = re.match(r"operator\s\w", name) is not None
    if not (returns or makes or converts) or re.fullmatch(r"[\w\s*&:<>,()]*", returns) is None:
        return None
    parts = [part.strip() for part in _split(bare[opening + 1 : -1])]
    variadic = parts[-1:] == ["..."]
    if variadic:
        parts.pop()
    if parts in ([""], ["void"]):
        parts = []
    parameters, defaults = [], []
    for number, part in enumerate(parts):
        declaration, _, default = (piece.strip() for piece in part.partition("="))
        known = _parameter_name(declaration)
        parameter = known or f"rcw_p{number}"
        parameters.append((declaration if known else f"{declaration} {parameter}", parameter))
        defaults += [(parameter, default)] if default else []
    return Prototype(clean, name, returns, tuple(parameters), variadic, scope, cpp, tuple(defaults))


def callees(entries: Sequence[HostEntry]) -> tuple[dict[str, Callee], tuple[Diagnostic, ...]]:
    """The template's entries by callee: C's by their name, C++'s by their name and the types of their parameters. A
    prototype that cannot be is reported and left out."""
    by_name: dict[str, Callee] = {}
    problems: list[Diagnostic] = []
    for number, entry in enumerate(entries):
        if entry.access:
            continue
        prototype = parse_prototype(entry.prototype)
        if prototype is None:
            problems.append(
                Diagnostic(
                    f"the platform's entry '{entry.prototype}' is not a C or C++ prototype",
                    "Write it as the API's header does: int fpgaWrite(int fpga, const uint32_t *data, int words); "
                    "methods with their class: void bo::sync(int direction).",
                )
            )
            continue
        key = f"{prototype.qualified}({', '.join(prototype.types)})" if prototype.cpp else prototype.name
        known = by_name.get(key)
        if known and len(known.prototype.parameters) != len(prototype.parameters):
            problems.append(
                Diagnostic(
                    f"the platform's entries for {prototype.name} differ in their parameters",
                    "C has one prototype a function; give the entries the same one and separate them by condition. "
                    f"Overloads of C++ are written with their scope, the global one as ::{prototype.name}.",
                )
            )
            continue
        earlier = known.entries if known else ()
        by_name[key] = Callee(known.prototype if known else prototype, (*earlier, (number, entry)))
    return by_name, tuple(problems)


def c_callees(entries: Sequence[HostEntry]) -> dict[str, Callee]:
    """Those of them that C can call, by their name."""
    return {key: callee for key, callee in callees(entries)[0].items() if not callee.prototype.cpp}


def handles(host: Host) -> dict[str, str]:
    """What the C that moves the workbench's own data needs of the program: a parameter's name -> its C type.

    They are the parameters of the API's calls that `transfers` name, such as `fpga` -> `fpga_t *`.
    """
    moves = host.transfers
    texts = (moves.send_c, moves.receive_c, moves.allocate_c, moves.free_c, moves.access_c)
    named = {word for text in texts for word in _IDENTIFIER.findall(text)} - _OF_TRANSFERS
    names: dict[str, str] = {}
    for entry in host.entries:
        prototype = parse_prototype(entry.prototype)
        if (
            prototype is None or prototype.cpp or entry.kind is CallKind.ACQUIRE
        ):  # there a handle is made, or is behind a pointer
            continue
        for declaration, name in prototype.parameters:
            if name in named:
                names.setdefault(name, declaration[: declaration.rindex(name)].strip())
    return names


def object_class(host: Host) -> str:
    """The class of the object, `self`, by whose method `transfers` move data; empty where they name none."""
    moves = host.transfers
    names = set(re.findall(r"\bself\s*\.\s*(\w+)\s*\(", f"{moves.send_c} {moves.receive_c}"))
    known = (parse_prototype(entry.prototype) for entry in host.entries)
    return next((one.scope for one in known if one and one.scope and one.name in names and not one.is_static), "")


def type_of(declaration: str, name: str) -> str:
    """The type in a parameter's declaration, its blanks even: `const int  *data` -> `const int *`."""
    return _squeezed(re.sub(rf"\b{re.escape(name)}\b(?!.*\b{re.escape(name)}\b)", "", declaration))


def callbacks(prototype: Prototype) -> list[str]:
    """The parameters that are functions of the program, by their types or by what those and they are called."""
    return [name for text, name in prototype.parameters if _CALLBACK.search(text)]


def pointed_type(declaration: str, name: str) -> str:
    """What a parameter points to: `fpga_t **board` -> `fpga_t *`; empty where it is no pointer."""
    kind = type_of(declaration, name)
    return _squeezed(kind[: kind.rindex("*")]) if "*" in kind else ""


class HandleTypes(dict[str, bool]):
    """The types by which a program keeps hold of a card; True for one that is the card's number.

    `returned` are those that an `acquire` returns; others it fills in. `names`: of those that C itself has, such as
    `int`, only parameters of this name are handles.
    """

    def __init__(self, types: Mapping[str, bool], returned: Collection[str], names: Mapping[str, str]) -> None:
        super().__init__(types)
        self.returned, self.names = returned, names

    def holds(self, kind: str, name: str) -> bool:
        """Whether a parameter keeps hold of a card, by a handle or its number."""
        return kind in self and self.names.get(kind, name) == name

    def has(self, kind: str, name: str) -> bool:
        """Whether a parameter is a handle that is no number."""
        return self.holds(kind, name) and not self[kind]


@dataclass(frozen=True)
class Handle:
    """The parameter by which a call says which card it is for. `by_address`: it points to what the program keeps."""

    name: str
    kind: str
    by_address: bool = False

    @property
    def value(self) -> str:
        return f"*{self.name}" if self.by_address else self.name


def handle_types(host: Host, *, cpp: bool = False) -> HandleTypes:
    """What an `acquire` returns, or fills in, and other calls take, by value or by its address.

    A type that only the API's header knows is a handle too where an `acquire` returns it and fills in none; whether
    it is a pointer is the compiler's to see. An integer that other entries' `fpga` names is the card's number.
    Of C's functions; with `cpp` of C++'s too.
    """
    known = (callees(host.entries)[0] if cpp else c_callees(host.entries)).values()
    acquires = [c.prototype for c in known if CallKind.ACQUIRE in c.kinds]
    others = [c for c in known if c.prototype not in acquires]
    parameters = [(type_of(text, name), name) for one in others for text, name in one.prototype.parameters]
    used = {type_of(text, name) for one in others if set(one.kinds) != {CallKind.OTHER}
            for text, name in one.prototype.parameters}  # fmt: skip
    spoken = {entry.fpga.strip() for entry in host.entries if entry.kind is not CallKind.ACQUIRE}
    numbers = {kind for kind, name in parameters if name in spoken and "*" not in kind}
    taken = {kind for kind, _ in parameters}
    taken |= {_pointed(kind) for kind in taken if "*" in kind}
    outputs = [(_pointed(type_of(text, name)), name) for p in acquires for text, name in p.parameters
               if "*" in text and "const" not in text]  # fmt: skip
    names = {kind: name for kind, name in outputs if is_plain(kind)}
    filled = {kind for kind, name in outputs if kind in taken and (kind not in names or (kind, name) in parameters)}
    returned = {_squeezed(p.returns) for p in acquires}
    returned = {kind for kind in returned if "*" in kind or kind in numbers or (
        not is_plain(kind) and kind in used and not filled)}  # fmt: skip
    kept = sorted((returned | {kind for kind in filled if f"{kind} *" not in returned}) & taken)
    return HandleTypes({kind: kind in returned and kind in numbers for kind in kept}, returned, names)


def is_plain(kind: str) -> bool:
    """A type that is C's own: no pointer, and none that only an API's header knows."""
    return all(word in C_WORDS for word in _IDENTIFIER.findall(kind)) and "*" not in kind


def _pointed(kind: str) -> str:
    """What a pointer's type points to, without const."""
    return _squeezed(re.sub(r"\bconst\b", "", kind[: kind.rindex("*")])) if "*" in kind else ""


def handle_of(prototype: Prototype, kept: HandleTypes) -> Handle | None:
    """The parameter of a call that is a handle, not a number; None where there is none."""
    for text, name in prototype.parameters:
        kind = type_of(text, name)
        if kept.has(kind, name):
            return Handle(name, kind)
        if kept.has(pointed := _pointed(kind), name):
            return Handle(name, pointed, by_address=True)
    return None


def without_card(host: Host) -> tuple[str, ...]:
    """The calls that do not say which card they mean, by a handle or by their entry's `fpga`."""
    kept = handle_types(host)
    return tuple(
        callee.name
        for callee in c_callees(host.entries).values()
        if handle_of(callee.prototype, kept) is None
        and not all(entry.fpga.strip() or entry.of for _, entry in callee.entries)
    )


def _squeezed(kind: str) -> str:
    return re.sub(r"\s*\*\s*", " *", " ".join(kind.split())).strip()


def _without_template(text: str) -> str:
    """Without `template <...>` before it."""
    if re.match(r"template\s*<", text) is None:
        return text
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "<") - (character == ">")
        if character == ">" and not depth:
            return _without_template(text[place + 1 :].strip())
    return text


def _opening(text: str) -> int:
    """Where the bracket opens that the last one closes; 0 for text that does not end with one."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        depth += (text[place] == ")") - (text[place] == "(")
        if not depth:
            return place if text.endswith(")") else 0
    return 0


def _last_name(scope: str) -> str:
    return re.sub(r"<.*", "", re.sub(r".*::(?![^<]*>)", "", scope))


def _split(text: str) -> list[str]:
    """Split at the commas that are in no bracket."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and not depth:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def _parameter_name(declaration: str) -> str | None:
    """The name in a parameter's declaration: `const int *data[4]` -> data, `void (*done)(int)` -> done."""
    pointer = re.search(r"\(\s*\*+\s*(?:const\s+)?([A-Za-z_]\w*)?\s*(\[[^]]*\]\s*)?\)\s*\(", declaration)
    if pointer:
        return pointer[1]
    words = _IDENTIFIER.findall(re.sub(r"\[[^]]*\]", "", declaration))
    last = words[-1] if words else ""
    if not last or _TYPE_WORDS.fullmatch(last) or not re.search(rf"(?<!::)\b{last}\s*(\[[^]]*\]\s*)*$", declaration):
        return None
    types = [w for w in words[:-1] if w not in ("const", "volatile", "restrict", "struct", "union", "enum")]
    return last if types else None


def words_of_calls(host: Host) -> tuple[str, ...]:
    """Of these words a file holds one where it calls the platform: the last one of each name, or the class of an
    operator, which is not written where it is called. Where accesses to memory are calls, which hold none, it is the
    empty word."""
    words = [""] if any(entry.access for entry in host.entries) else []
    for callee in callees(host.entries)[0].values():
        *scopes, last = callee.prototype.qualified.split("::")
        words.append(scopes[-1] if last.startswith("operator") and scopes else re.sub(r"^~|\W.*", "", last))
    return tuple(dict.fromkeys(words))
