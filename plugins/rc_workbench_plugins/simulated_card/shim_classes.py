"""The classes that a C++ API's headers declare, as far as their text says: names, what is hidden, what is not defined.

Read without a compiler. Of a class these count: its bases, the methods that a derived class has to define (`= 0`),
copy and move operations and constructors that are declared and not defined, members that every constructor has to
initialise (references and constants), and other names of its pointers (`using Ptr = std::shared_ptr<Dev>;`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from workbench.model.prototypes import Prototype, parse_prototype, type_of

WORD = re.compile(r"[A-Za-z_]\w*")
_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL | re.MULTILINE)
#: A scope's begin or end, and a class that is declared: the macro of a library may stand before its name.
_SCOPES = re.compile(
    r"(?P<friend>\bfriend\s+)?(?<!enum )\b(?P<kind>namespace|class|struct)\s+(?:[A-Z_]+\s+)?(?P<name>\w[\w:]*)"
    r"(?:\s+final)?\s*(?P<bases>:(?!:)[^{};()]*)?(?P<end>[{;])|[{}]"
)
_TEMPLATE = re.compile(r"\btemplate\s*<[^;{}]*>\s*\Z")
_LABEL = re.compile(r"^\s*(?:(?:public|protected|private|signals|slots)\s*:\s*)+")
_ALIAS = re.compile(r"\busing\s+(\w+)\s*=([^;{}]*);|\btypedef\s+([^;{}()]*?)\b(\w+)\s*;")
_BASE = re.compile(r"(?:public|protected|private|virtual)\s+|\s")
_HELD = re.compile(r"(?:.*[\w>]\s*&\s*|.*\*\s*const\s+|(?!.*\*\s*\w+$)(?:mutable\s+)?const\s[^()=]*[\w>]\s+)(\w+)")
_SPECIAL = re.compile(
    r"(?:explicit\s+|virtual\s+|inline\s+)*(?P<what>[\w:&\s<>=]*?)\s*(?P<list>\(.*\))\s*(?P<after>noexcept)?"
)
_MOST, _DEEPEST = 2000, 100  # characters of a declaration, scopes in scopes
_WRAPPERS = ("unique_ptr", "shared_ptr", "optional", "vector")


@dataclass(frozen=True)
class Class:
    """What a class's body says. `pure` are methods without a definition; `specials` definitions that are missing."""

    bases: tuple[str, ...] = ()
    pure: tuple[Prototype, ...] = ()
    defined: frozenset[str] = frozenset()  # methods that it declares and are not pure
    specials: tuple[tuple[str, str, str], ...] = ()  # name, parameters, what follows them
    held: tuple[str, ...] = ()  # members that every constructor initialises


@dataclass(frozen=True)
class Classes:
    """What the API's headers say of classes: `names`, types within them that are declared and not defined, the bodies
    of those that are, and other names of types (name -> what it stands for)."""

    names: frozenset[str] = frozenset()
    undefined: tuple[str, ...] = ()
    bodies: Mapping[str, Class] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)

    def has_object(self, prototype: Prototype) -> bool:
        """Whether a function is called on an object."""
        made = prototype.is_constructor or prototype.is_destructor
        return bool(prototype.scope) and not prototype.is_static and (made or prototype.scope in self.names)

    def object_of(self, prototype: Prototype) -> str:
        """C++ for the object that tells which card a call is for; empty where none does."""
        if self.has_object(prototype) and not prototype.is_constructor:
            return "this"
        named = (name for text, name in prototype.parameters if self.known(type_of(text, name)))
        return next((f"rcw_at({name})" for name in named), "")

    def makes_object(self, prototype: Prototype) -> bool:
        """Whether a function returns an object of the API's, or a pointer or reference to one, that it would have to
        make. Not where it returns its own."""
        own = self.has_object(prototype) and re.fullmatch(
            rf"(?:const )?(?:{re.escape(prototype.scope)}|{_last(prototype.scope)}) ?&", prototype.returns
        )
        return self.known(prototype.returns) and not own

    def can_make(self, kind: str) -> bool:
        """Whether it is known how to make what a type's text says: an object, or a pointer, list or the like of it."""
        outer = [name for name in re.findall(r"([A-Za-z_]\w*)\s*<", self._plain(kind)) if name not in _WRAPPERS]
        return not set(outer) - {_last(name) for name in self.names}

    def known(self, kind: str) -> bool:
        """Whether a type's text names a class of the API's, be it by another name."""
        return not {_last(name) for name in self.names}.isdisjoint(WORD.findall(self._plain(kind)))

    def _plain(self, kind: str) -> str:
        for _ in range(4):
            whole = WORD.sub(lambda word: self.aliases.get(word[0], word[0]), kind)
            if whole == kind:
                break
            kind = whole
        return kind

    def pure_of(self, name: str) -> tuple[Prototype, ...]:
        """The methods that a class derived from this one has to define, those of its bases included."""
        body = self.bodies.get(name, Class())
        found = {(one.name, one.types): one for one in body.pure}
        for base in body.bases:
            whole = next((one for one in self.bodies if one == base or _last(one) == _last(base)), "")
            for one in self.pure_of(whole) if whole and whole != name else ():
                if one.name not in body.defined:
                    found.setdefault((one.name, one.types), one)
        return tuple(found.values())


def classes_of(texts: Iterable[str], prototypes: Iterable[Prototype]) -> Classes:
    """The classes of headers' texts, and those that the prototypes show."""
    names = {one.scope for one in prototypes if one.is_constructor or one.is_destructor or "const" in one.qualifiers}
    declared: set[str] = set()
    bodies: dict[str, Class] = {}
    aliases: dict[str, str] = {}
    for text in texts:
        plain = _NOISE.sub(" ", text)
        aliases |= {
            one[1] or one[4]: one[2] or one[3] for one in _ALIAS.finditer(plain) if "<" in one[0] or "*" in one[0]
        }
        scopes: list[tuple[str, str, str, int]] = []  # kind, name, bases, where it begins; no kind: other braces
        for found in _SCOPES.finditer(plain):
            if len(scopes) > _DEEPEST:
                break
            kind, name, end = found["kind"] or "", found["name"] or "", found["end"]
            whole = "::".join([*(outer for _, outer, _, _ in scopes if outer), name])
            if found[0] == "}":
                if scopes and scopes[-1][0] in ("class", "struct"):
                    outer = "::".join(outer for _, outer, _, _ in scopes if outer)
                    bodies[outer] = _body(scopes[-1][1], scopes[-1][2], plain[scopes[-1][3] : found.start()])
                scopes = scopes[:-1]
            elif end != ";":
                kind = (
                    "template"
                    if _TEMPLATE.search(plain, max(0, found.start() - _MOST), found.start()) and kind
                    else kind
                )
                scopes.append((kind, name, found["bases"] or "", found.end()))
                names |= {whole} if kind in ("class", "struct", "template") else set()
            elif scopes and scopes[-1][0] in ("class", "struct") and not found["friend"]:
                declared.add(whole)
    return Classes(frozenset(names), tuple(sorted(declared - names)), bodies, aliases)


def _body(name: str, bases: str, text: str) -> Class:
    own = _last(name)
    pure: list[Prototype] = []
    defined: set[str] = set()
    specials: list[tuple[str, str, str]] = []
    held: list[str] = []
    for statement, declared in _statements(text):
        if len(statement) > _MOST:
            continue
        method = parse_prototype(statement) if "(" in statement else None
        if declared and re.search(r"\)[^()]*=\s*0$", statement) and method:
            if not method.is_destructor:
                pure.append(method)
        elif method and not re.match(r"(using|typedef|friend)\b", statement):
            defined.add(method.name)
        if not declared or re.search(r"=\s*(?:0|default|delete)$", statement):
            continue
        special = _SPECIAL.fullmatch(statement)
        if special and (kind := _special(own, special["what"], special["list"])):
            specials.append((kind, special["list"], special["after"] or ""))
        elif "(" not in statement and "=" not in statement and (member := _HELD.fullmatch(statement)):
            held += [] if re.match(r"(static|using|typedef|friend|enum)\b", statement) else [member[1]]
    return Class(tuple(_BASE.sub("", one) for one in bases.lstrip(":").split(",") if one.strip()), tuple(pure),
                 frozenset(defined), tuple(specials), tuple(held))  # fmt: skip


def _special(own: str, what: str, parameters: str) -> str:
    """The name of a constructor without arguments, or of a copy or move of an object; empty for all else."""
    copies = re.fullmatch(rf"\(\s*(?:const\s+)?(?:\w+::)*{own}\s*(?:const\s*)?&&?\s*\w*\s*\)", parameters)
    if what == own and (copies or re.fullmatch(r"\(\s*(?:void)?\s*\)", parameters)):
        return own
    return "operator=" if copies and re.fullmatch(rf"(?:\w+::)*{own}\s*&\s*operator\s*=", what) else ""


def _statements(text: str) -> Iterator[tuple[str, bool]]:
    """What stands in a class's body outside of inner braces, and whether a semicolon ends it."""
    depth, begin = 0, 0
    kept: list[str] = []
    for at, character in enumerate(text):
        if character == "{":
            kept += [text[begin:at]] if not depth else []
            depth += 1
        elif character == "}":
            depth -= 1
            if not depth:
                yield _even("".join(kept)), False
                kept, begin = [], at + 1
        elif character == ";" and not depth:
            yield _even("".join([*kept, text[begin:at]])), True
            kept, begin = [], at + 1


def _even(statement: str) -> str:
    return " ".join(_LABEL.sub("", statement).split())


def _last(name: str) -> str:
    return name.rpartition("::")[2]
