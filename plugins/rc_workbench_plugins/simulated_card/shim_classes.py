"""The classes that a C++ API's headers declare, as far as their text says: names, what is hidden, what is not defined.

Read without a compiler. Of a class these count: its bases, the methods that a derived class has to define (`= 0`),
copy and move operations and constructors that are declared and not defined, members that every constructor has to
initialise (references and constants), and other names of its pointers (`using Ptr = std::shared_ptr<Dev>;`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.api import Prototype, parse_prototype
from workbench.api.unstable import type_of

WORD = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(r"[A-Za-z_]\w*(?:::\w+)*")
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
_HELD = re.compile(r"<\s*(?:const\s+)?(?:\w+::)*(\w+)\s*[>,]")
_MEMBER = re.compile(
    r"(?:mutable\s+)?(?P<type>(?:(?:const|volatile|unsigned|signed|long|struct)\s+)*[\w:]+(?:\s*<.*>[\w:]*)?"
    r"(?:\s+(?:const|int|long|char))*\s*[*&]*(?:\s*const)?)\s*(?<=[\s*&])(?P<name>\w+)"
)
_NO_MEMBER = re.compile(r"\b(?:static|inline|constexpr|using|typedef|friend|enum|class|struct|union|operator)\b|\(")
#: Whole numbers by their types.
INTEGER = re.compile(
    r"(?:unsigned |signed )?(?:char|short|int|long|long long|unsigned)(?: int)?"
    r"|(?:std::)?(?:u?int\d+_t|s?size_t|u?intptr_t)|off_t|[us](?:8|16|32|64)"
)
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
    members: tuple[tuple[str, str, bool], ...] = ()  # type, name, and whether it has a value to begin with
    others: tuple[Prototype, ...] = ()  # declared constructors with arguments, destructor and virtual methods
    needs: tuple[tuple[str, str], ...] = ()  # parameters of a constructor, where none does without


@dataclass(frozen=True)
class Classes:
    """What the API's headers say of classes: `names`, types within them that are declared and not defined, the bodies
    of those that are, and other names of types (name -> what it stands for)."""

    names: frozenset[str] = frozenset()
    undefined: tuple[str, ...] = ()
    bodies: Mapping[str, Class] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    holders: frozenset[str] = frozenset()  # classes whose objects hold what their calls move

    def has_object(self, prototype: Prototype) -> bool:
        """Whether a function is called on an object."""
        is_structor = prototype.is_constructor or prototype.is_destructor
        return bool(prototype.scope) and not prototype.is_static and (is_structor or prototype.scope in self.names)

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
        return self.known(prototype.returns, prototype.scope) and not own

    def holds_data(self, prototype: Prototype) -> bool:
        """Whether a function is called on an object that holds data in the program's memory: it, or another of its
        class, moves what no parameter of it is."""
        return self.has_object(prototype) and prototype.scope in self.holders

    def can_make(self, kind: str, scope: str = "") -> bool:
        """Whether it is known how to make what a type's text says: an object, or a pointer, list or the like of it."""
        outer = [name for name in re.findall(r"([A-Za-z_]\w*)\s*<", self._plain(kind, scope)) if name not in _WRAPPERS]
        return not set(outer) - {_last(name) for name in self.names}

    def known(self, kind: str, scope: str = "") -> bool:
        """Whether a type's text names a class of the API's, be it by another name."""
        return not {_last(name) for name in self.names}.isdisjoint(WORD.findall(self._plain(kind, scope)))

    def whole(self, name: str) -> str:
        """The class that a name means, by its whole name; empty where that is not known."""
        return next((one for one in self.bodies if one == name or _last(one) == _last(name)), "")

    def whole_of(self, kind: str, scope: str = "") -> str:
        """The class of the object that a type is, points to or holds; of those with one name that nearest a scope."""
        words = WORD.findall(self._plain(kind, scope))
        named = [one for one in self.bodies if _last(one) in words]
        spaces = (scope, scope.rpartition("::")[0])
        return max(named, key=lambda one: one.rpartition("::")[0] in spaces, default="")

    def _plain(self, kind: str, scope: str = "") -> str:
        """A type's text without other names, those of a class before those that stand anywhere."""

        def meant(name: re.Match[str]) -> str:
            inside = (one for one in self.aliases if "::" in name[0] and one.endswith(f"::{name[0]}"))
            known = (f"{scope}::{name[0]}", name[0], next(inside, ""))
            return next((self.aliases[one] for one in known if one in self.aliases), name[0])

        for _ in range(4):
            whole = _NAME.sub(meant, kind)
            if whole == kind:
                break
            kind = whole
        return kind

    def pure_of(self, name: str) -> tuple[Prototype, ...]:
        """The methods that a class derived from this one has to define, those of its bases included."""
        body = self.bodies.get(name, Class())
        methods = {(one.name, one.types): one for one in body.pure}
        for base in body.bases:
            whole = self.whole(base)
            for one in self.pure_of(whole) if whole and whole != name else ():
                if one.name not in body.defined:
                    methods.setdefault((one.name, one.types), one)
        return tuple(methods.values())


def classes_of(texts: Iterable[str], prototypes: Iterable[Prototype]) -> Classes:
    """The classes of headers' texts, and those that the prototypes show."""
    names = {one.scope for one in prototypes if one.is_constructor or one.is_destructor or "const" in one.qualifiers}
    declared: set[str] = set()  # and not defined, so far
    outside, held = set[str](), set[str]()  # those of namespaces; the last names of what templates hold
    bodies: dict[str, Class] = {}
    aliases: dict[str, str] = {}
    for text in texts:
        plain = _NOISE.sub(" ", text)
        aliases |= dict(_aliases(plain))
        scopes: list[tuple[str, str, str, int]] = []  # kind, name, bases, where it begins; no kind: other braces
        for match in _SCOPES.finditer(plain):
            if len(scopes) > _DEEPEST:
                break
            kind, name, end = match["kind"] or "", match["name"] or "", match["end"]
            whole = "::".join([*(outer for _, outer, _, _ in scopes if outer), name])
            if match[0] == "}":
                if scopes and scopes[-1][0] in ("class", "struct"):
                    outer = "::".join(outer for _, outer, _, _ in scopes if outer)
                    body = plain[scopes[-1][3] : match.start()]
                    bodies[outer] = _body(scopes[-1][1], scopes[-1][2], body)
                    aliases |= {f"{outer}::{name}": of for name, of in _aliases(body)}
                scopes = scopes[:-1]
                continue
            if kind and _TEMPLATE.search(plain, max(0, match.start() - _MOST), match.start()):
                kind = "template"
            if end != ";":
                scopes.append((kind, name, match["bases"] or "", match.end()))
                names |= {whole} if kind in ("class", "struct", "template") else set()
            elif kind != "template" and not match["friend"]:
                inside = bool(scopes) and scopes[-1][0] in ("class", "struct")
                (declared if inside else outside).add(whole)
        held |= set(_HELD.findall(plain))
    declared |= {one for one in outside if _last(one) in held}
    return Classes(frozenset(names), tuple(sorted(declared - names)), bodies, aliases)


def _aliases(text: str) -> Iterator[tuple[str, str]]:
    """Other names of pointers and of what templates make, with what they stand for."""
    for one in _ALIAS.finditer(text):
        if "<" in one[0] or "*" in one[0]:
            yield one[1] or one[4], one[2] or one[3]


def _body(name: str, bases: str, text: str) -> Class:
    own = _last(name)
    pure: list[Prototype] = []
    defined: set[str] = set()
    specials: list[tuple[str, str, str]] = []
    members: list[tuple[str, str, bool]] = []
    makers: list[Prototype] = []
    others: list[Prototype] = []
    for statement, declared in _statements(text):
        if len(statement) > _MOST:
            continue
        method = parse_prototype(statement) if "(" in statement else None
        if maker := _constructor(own, statement):
            makers.append(maker)
        closed = declared and not re.search(r"=\s*(?:0|default|delete)$", statement)
        if closed and method and (re.match(r"virtual\b", statement) or re.search(r"\boverride\b", statement)):
            others.append(replace(method, returns=re.sub(r"\bvirtual\s+", "", method.returns)))
        elif closed and (end := re.fullmatch(rf"(?:virtual\s+)?~{own}\s*\(\s*(?:void)?\s*\)(.*)", statement)):
            others.append(Prototype(f"(){end[1]}", f"~{own}", "", ()))
        elif closed and maker and maker.parameters:
            others.append(replace(maker, name=own, returns=""))
        if declared and re.search(r"\)[^()]*=\s*0$", statement) and method:
            if not method.is_destructor:
                pure.append(method)
        elif method and not re.match(r"(using|typedef|friend)\b", statement):
            defined.add(method.name)
        plain, valued = statement.partition("=")[0].rstrip(), "=" in statement or not declared
        if (member := _MEMBER.fullmatch(plain)) and not _NO_MEMBER.search(plain):
            members.append((" ".join(member["type"].split()), member["name"], valued))
        if not declared or re.search(r"=\s*(?:0|default|delete)$", statement):
            continue
        special = _SPECIAL.fullmatch(statement)
        if special and (kind := _special(own, special["what"], special["list"])):
            specials.append((kind, special["list"], special["after"] or ""))
    return Class(tuple(_BASE.sub("", one) for one in bases.lstrip(":").split(",") if one.strip()), tuple(pure),
                 frozenset(defined), tuple(specials), tuple(members), tuple(others), _needs(makers))  # fmt: skip


def _constructor(own: str, statement: str) -> Prototype | None:
    """A constructor, neither a copy nor a move, that is not deleted."""
    match = re.fullmatch(rf"(?:(?:explicit|inline|constexpr)\s+)*{own}\s*(\(.*)", statement)
    special = _SPECIAL.fullmatch(statement)
    copies = special and _special(own, special["what"], special["list"]) and "&" in special["list"]
    if not match or copies or re.search(r"=\s*delete$", statement):
        return None
    return parse_prototype(f"void rcw{match[1].partition(' : ')[0]}")


def _needs(makers: Sequence[Prototype]) -> tuple[tuple[str, str], ...]:
    """The parameters of the first constructor, where each has some."""
    return makers[0].parameters if makers and all(one.parameters for one in makers) else ()


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
    plain = re.sub(r"\bnoexcept\s*\(\s*(true|false)\s*\)", lambda one: "noexcept" * (one[1] == "true"), statement)
    return " ".join(_LABEL.sub("", plain).split())


def _last(name: str) -> str:
    return name.rpartition("::")[2]
