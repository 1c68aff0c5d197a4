"""Reads the C prototypes of a platform template; gathers the entries that share one (ReCAP 2011, section 3.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.model.diagnostic import Diagnostic
from workbench.model.platform import CallKind, Host, HostEntry

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
#: The variables that the C of `Transfers` speaks of besides the API's own handles.
_OF_TRANSFERS = {"data", "words", "bytes", "address", "index", "result"}
_TYPE_WORDS = re.compile(
    r"void|char|short|int|long|float|double|(un)?signed|const|volatile|restrict|struct|union|enum|_?[Bb]ool"
)


@dataclass(frozen=True)
class Prototype:
    """`name` with its parameters as (declaration, name); `returns` is the return type's text."""

    text: str
    name: str
    returns: str
    parameters: tuple[tuple[str, str], ...]
    variadic: bool = False


@dataclass(frozen=True)
class Callee:
    """An API function and the template's entries for it: (number in the template, entry), in order."""

    prototype: Prototype
    entries: tuple[tuple[int, HostEntry], ...]

    @property
    def name(self) -> str:
        return self.prototype.name

    @property
    def kind(self) -> str:
        return "|".join(dict.fromkeys(entry.kind.value for _, entry in self.entries))

    @property
    def entry_text(self) -> str:
        return "; ".join(dict.fromkeys(e.prototype + (f" [{e.subtype}]" if e.subtype else "") for _, e in self.entries))


def parse_prototype(text: str) -> Prototype | None:
    """A C function's prototype, or None for what is none: a class member (`a::b`), or text without parameters."""
    clean = " ".join(text.split()).rstrip("; ")
    head = re.match(r"(?P<returns>[\w\s*]*?)(?P<name>[A-Za-z_]\w*)\s*\(", clean)
    if head is None or not clean.endswith(")") or not head["returns"].strip():
        return None
    inside = clean[head.end() : -1]
    parts = [part.strip() for part in _split(inside)]
    variadic = parts[-1:] == ["..."]
    if variadic:
        parts.pop()
    if parts in ([""], ["void"]):
        parts = []
    parameters = tuple((part, _parameter_name(part) or f"rcw_p{i}") for i, part in enumerate(parts))
    named = tuple((part if _parameter_name(part) else f"{part} {name}", name) for part, name in parameters)
    returns = re.sub(r"\b(extern|inline|static)\b\s*", "", head["returns"]).strip()
    return Prototype(clean, head["name"], returns, named, variadic)


def callees(entries: Sequence[HostEntry]) -> tuple[dict[str, Callee], tuple[Diagnostic, ...]]:
    """The template's entries by callee. A prototype that C cannot have is reported and left out."""
    found: dict[str, Callee] = {}
    problems: list[Diagnostic] = []
    for number, entry in enumerate(entries):
        prototype = parse_prototype(entry.prototype)
        if prototype is None:
            problems.append(
                Diagnostic(
                    f"the platform's entry '{entry.prototype}' is not a C prototype",
                    "Write it as the API's header does: int fpgaWrite(int fpga, const uint32_t *data, int words).",
                )
            )
            continue
        known = found.get(prototype.name)
        if known and len(known.prototype.parameters) != len(prototype.parameters):
            problems.append(
                Diagnostic(
                    f"the platform's entries for {prototype.name} differ in their parameters",
                    "C has one prototype a function; give the entries the same one and tell them apart by condition.",
                )
            )
            continue
        earlier = known.entries if known else ()
        found[prototype.name] = Callee(known.prototype if known else prototype, (*earlier, (number, entry)))
    return found, tuple(problems)


def handles(host: Host) -> dict[str, str]:
    """What the C that moves the workbench's own data needs of the program: a parameter's name -> its C type.

    They are the parameters of the API's calls that `transfers` name, such as `fpga` -> `fpga_t *`.
    """
    moves = host.transfers
    texts = (moves.send_c, moves.receive_c, moves.allocate_c, moves.free_c, moves.access_c)
    named = {word for text in texts for word in _IDENTIFIER.findall(text)} - _OF_TRANSFERS
    found: dict[str, str] = {}
    for entry in host.entries:
        prototype = parse_prototype(entry.prototype)
        if prototype is None or entry.kind is CallKind.ACQUIRE:  # there a handle is made, or stands behind a pointer
            continue
        for declaration, name in prototype.parameters:
            if name in named:
                found.setdefault(name, declaration[: declaration.rindex(name)].strip())
    return found


def type_of(declaration: str, name: str) -> str:
    """The type in a parameter's declaration, its blanks even: `const int  *data` -> `const int *`."""
    return _squeezed(re.sub(rf"\b{re.escape(name)}\b(?!.*\b{re.escape(name)}\b)", "", declaration))


def pointed_type(declaration: str, name: str) -> str:
    """What a parameter points to: `fpga_t **board` -> `fpga_t *`; empty where it is no pointer."""
    kind = type_of(declaration, name)
    return _squeezed(kind[: kind.rindex("*")]) if "*" in kind else ""


def handle_types(host: Host) -> dict[str, bool]:
    """The types by which a program keeps hold of a card: what an `acquire` returns, or fills in, and other calls take.

    True for one that is the card's number, as an `acquire` that returns an integer gives it.
    """
    known = callees(host.entries)[0].values()
    acquires = [c.prototype for c in known if any(entry.kind is CallKind.ACQUIRE for _, entry in c.entries)]
    others = [c.prototype for c in known if c.prototype not in acquires]
    parameters = [(type_of(text, name), name) for prototype in others for text, name in prototype.parameters]
    spoken = {entry.fpga.strip() for entry in host.entries if entry.kind is not CallKind.ACQUIRE}
    numbers = {kind for kind, name in parameters if name in spoken and "*" not in kind}
    returned = {_squeezed(p.returns) for p in acquires if "*" in p.returns or p.returns in numbers}
    filled = {pointed_type(text, name) for p in acquires for text, name in p.parameters if "*" in text}
    taken = {kind for kind, _ in parameters}
    return {kind: kind in returned and "*" not in kind for kind in sorted((returned | filled) & taken)}


def handle_of(prototype: Prototype, kept: Mapping[str, bool]) -> str | None:
    """The parameter of a call that is a handle, not a number; None where there is none."""
    return next((name for text, name in prototype.parameters if kept.get(type_of(text, name)) is False), None)


def without_card(host: Host) -> tuple[str, ...]:
    """The calls that do not say which card they mean, by a handle or by their entry's `fpga`."""
    kept = handle_types(host)
    return tuple(
        callee.name
        for callee in callees(host.entries)[0].values()
        if handle_of(callee.prototype, kept) is None and not all(entry.fpga.strip() for _, entry in callee.entries)
    )


def _squeezed(kind: str) -> str:
    return re.sub(r"\s*\*\s*", " *", " ".join(kind.split())).strip()


def _split(text: str) -> list[str]:
    """Split at the commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
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
    if not last or _TYPE_WORDS.fullmatch(last) or not re.search(rf"\b{last}\s*(\[[^]]*\]\s*)*$", declaration):
        return None
    types = [w for w in words[:-1] if w not in ("const", "volatile", "restrict", "struct", "union", "enum")]
    return last if types else None
