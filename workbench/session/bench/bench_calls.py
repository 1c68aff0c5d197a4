"""Generates calls of a platform's API from its template: the argument for each parameter, and the descriptors, handles
and objects that must be made before."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain

from workbench.api.c_header import KNOWN, WORD, used
from workbench.model.opened import opened
from workbench.model.platform import CallKind, HostEntry
from workbench.model.prototypes import Callee, HandleTypes, Prototype, pointed_type, type_of

_EQUAL = re.compile(r"(?P<one>[\w:]+)\s*==\s*(?P<other>[\w:]+|'[^']*'|\"[^\"]*\"|-?\d\w*)")
_SAME_TEXT = re.compile(
    r"(?:like\s*\(\s*(?P<like>\w+)(?:\.c_str\(\))?\s*,\s*(?P<pattern>\"[^\"]*\"|\w+)\s*\)"
    r"|(?:!\s*)?strcmp\s*\(\s*(?P<text>\w+)(?:\.c_str\(\))?\s*,\s*(?P<same>\"[^\"]*\"|\w+)\s*\)(?:\s*==\s*0)?)"
)
_POINTERS = re.compile(r"(?:std::(?:unique|shared)_ptr\s*<\s*(?P<held>[\w:]+)\s*>|(?P<at>[\w:]+)\s*\*)")
_THERE = r"\b{}\s*!=\s*(?:NULL|nullptr|0)\b"


class Unmade(Exception):
    """The reason why a call cannot be generated."""


class Calls:
    """Generates calls. `largest_bytes` is the largest size of a transfer; `kept` are the types of handles that the
    program has already."""

    def __init__(
        self, known: Mapping[str, Callee], kept: HandleTypes, constants: Mapping[str, object], largest_bytes: int
    ) -> None:
        self.known, self.kept, self.constants, self.largest_bytes = known, kept, constants, largest_bytes
        self.lacking = _lacking(known, kept)
        self.functions: dict[str, list[str]] = {}  # the functions that make an item, by its name or class
        self._making: list[str] = []
        entries = [(callee, entry) for callee in known.values() for _, entry in callee.entries]
        types = " ".join(t for callee, _ in entries for t in (callee.prototype.returns, *callee.prototype.types))
        scopes = {callee.prototype.scope for callee, _ in entries}
        makes = {callee.prototype.scope for callee, _ in entries if callee.prototype.is_constructor}
        self._classes = {one for one in scopes if one in makes or re.search(rf"{re.escape(one)}\b(?!::)", types)} - {""}
        self._named: dict[tuple[str, str], tuple[str, ...]] = {}  # names of opened parameters, by type and name
        for callee, entry in entries:
            of, prototype = opened(entry.of), callee.prototype
            for text, name in prototype.parameters if of else ():
                kind = type_of(text, name)
                if of and name == self._value(of.expression, prototype) and set(WORD.findall(kind)) <= KNOWN:
                    self._named[kind, name] = of.names

    def call(self, callee: Callee, entry: HostEntry, sized: str = "") -> str:
        """A call with `count` for the parameter `sized`. Raises Unmade."""
        name, self_, arguments = callee.prototype.name, self.object(callee, entry), self.arguments(callee, entry, sized)
        named = f"{self_}.{name}" if self_ else callee.name
        return f"{named}({', '.join(arguments)})"

    def object(self, callee: Callee, entry: HostEntry) -> str:
        """The object of a method call; "" for a function. Raises Unmade."""
        prototype = callee.prototype
        if not self.is_method(prototype):
            return ""
        of = opened(entry.of)
        if of and self._value(of.expression, prototype) == "self":
            return self.named(of.names)
        return self.of_class(prototype.scope)

    def is_method(self, prototype: Prototype) -> bool:
        return prototype.scope in self._classes and not re.match(r"(template\s*<.*>\s*)?static\b", prototype.text)

    def arguments(self, callee: Callee, entry: HostEntry, sized: str = "") -> list[str]:
        """The arguments of a call. Raises Unmade."""
        return list(self._arguments(callee, entry, sized).values())

    def _arguments(self, callee: Callee, entry: HostEntry, sized: str = "") -> dict[str, str]:
        prototype, values = callee.prototype, self._given(callee, entry)
        if prototype.text.startswith("template"):
            raise Unmade("is a template, whose arguments are not known")
        values |= {sized: "count"} if sized else {}
        return {
            name: values.get(name) or self._argument(callee, entry, text, name) for text, name in prototype.parameters
        }

    def named(self, names: tuple[str, ...]) -> str:
        """An item that a call opens under one of these names. Raises Unmade."""
        return self._first(((name, callee, entry) for name in names for callee in self.known.values()
                            for _, entry in callee.entries if (opens := opened(entry.opens)) and name in opens.names),
                           f"needs what was opened by a name, such as {names[0]}")  # fmt: skip

    def of_class(self, kind: str) -> str:
        """An object of a class. Raises Unmade."""
        makers = [(kind, callee, callee.entries[0][1]) for callee in self.known.values() if _makes(callee, kind)]
        makers.sort(key=lambda one: CallKind.ACQUIRE not in one[1].kinds)
        return self._first(makers, f"takes a {kind}, which no call of the template returns")

    def filled(self, kind: str) -> str:
        """An item that a call writes where a parameter points. Raises Unmade."""
        makers = [(kind, callee, callee.entries[0][1]) for callee in self.known.values() if _filled(callee, kind)]
        return self._first(makers, f"takes a {kind}, which no call of kind acquire returns")

    def _is_opened(self, kind: str) -> bool:
        """Whether the call that returns a handle of this type can be generated."""
        if kind in self.lacking and kind not in self._making:
            self._making.append(kind)
            try:
                for callee in self.known.values():
                    if CallKind.ACQUIRE in callee.kinds and kind in (callee.prototype.returns, *_outs(callee)):
                        self.arguments(callee, callee.entries[0][1])
            except Unmade:
                return False
            finally:
                self._making.remove(kind)
        return True

    def ends(self) -> Iterator[str]:
        """Calls that release the named items, the last one first."""
        entries = [(callee, entry) for callee in self.known.values() for _, entry in callee.entries]
        for item in reversed(list(self.functions)):
            for callee, entry in entries:
                of = opened(entry.of)
                if of and item in of.names and entry.kind is CallKind.RELEASE and not callee.prototype.is_destructor:
                    condition = f"{of.expression} is {item}" if of.expression else item
                    with suppress(Unmade):
                        yield f"{self.call(callee, entry.model_copy(update={'of': condition}))};"

    def _first(self, makers: Iterable[tuple[str, Callee, HostEntry]], lacks: str) -> str:
        """The result of the first of these makers that can be called. Raises Unmade."""
        for item, callee, entry in makers:
            if item in self.functions:
                return self._use(item)
            if item in self._making:
                continue
            self._making.append(item)
            try:
                self.functions[item] = list(self._maker(item, callee, entry))
                return self._use(item)
            except Unmade:
                continue
            finally:
                self._making.remove(item)
        raise Unmade(lacks)

    def _use(self, item: str) -> str:
        return f"{_function(item)}()"

    def _maker(self, item: str, callee: Callee, entry: HostEntry) -> Iterator[str]:
        """A function that makes an item on its first call, and returns it every time."""
        prototype, opening = callee.prototype, opened(entry.opens)
        expression = opening.expression if opening and item in opening.names else ""
        filled = next(((text, name) for text, name in prototype.parameters if expression in (name, f"*{name}")), None)
        if not opening:
            filled, expression = _filled(callee, item), "*"
        if prototype.cpp and not filled:
            yield from self._object_maker(item, callee, entry)
            return
        if expression and not filled:
            raise Unmade(f"needs what '{entry.opens}' opens")
        kind, value, call = prototype.returns, "made", self._arguments(callee, entry)
        if filled:
            kind, value = pointed_type(*filled), "made" if expression.startswith("*") else "&made"
            call[filled[1]] = "&made"
        assigned = "" if filled else "made = "
        yield from (f"static {kind} {'*' * (value == '&made')}{_function(item)}(void)", "{",
                    f"    static {kind} made;", "    static int ready;", "    if (!ready) {", "        ready = 1;",
                    f"        {assigned}{callee.name}({', '.join(call.values())});", "    }", f"    return {value};",
                    "}")  # fmt: skip

    def _object_maker(self, item: str, callee: Callee, entry: HostEntry) -> Iterator[str]:
        """A function that makes an object of the program's lifetime on its first call, and returns it every time."""
        prototype = callee.prototype
        kind = prototype.scope if prototype.is_constructor else prototype.returns
        pointer = _POINTERS.fullmatch(kind.strip())
        held_type = pointer["held"] or pointer["at"] if pointer else kind
        arguments = f"({', '.join(self.arguments(callee, entry))})"
        initialiser = "" if arguments == "()" else arguments
        if not prototype.is_constructor:
            initialiser = f" = {self.call(callee, entry)}"
        yield from (f"static {held_type} {'&' * (held_type in self._classes)}{_function(item)}()", "{",
                    f"    static {kind} made{initialiser};", f"    return {'*' * bool(pointer)}made;", "}")  # fmt: skip

    def _given(self, callee: Callee, entry: HostEntry) -> dict[str, str]:
        """The parameter values that an entry's condition and `of` require. Raises Unmade."""
        prototype = callee.prototype
        names = {name for _, name in prototype.parameters}
        pointers = {name for text, name in prototype.parameters if "*" in text}
        values: dict[str, str] = {}
        for clause in re.split(r"&&", entry.condition):
            bare = clause.strip()
            equal, text = _EQUAL.fullmatch(bare), _SAME_TEXT.fullmatch(bare)
            if equal and (sides := {equal["one"], equal["other"]}) & names:
                name = (sides & names).pop()
                values[name] = (sides - {name} or {name}).pop()
            elif text and (text["like"] or text["text"]) in names:
                values[text["like"] or text["text"]] = self._path(text["pattern"] or text["same"])
            elif any(name in pointers and not re.search(_THERE.format(name), bare) for name in WORD.findall(bare)):
                raise Unmade(f"applies only where {bare}")
        of = opened(entry.of)
        if of and (value := self._value(of.expression, prototype)) in names:
            values[value] = self.named(of.names)
        return values

    def _value(self, expression: str, prototype: Prototype) -> str:
        """The opened item or the object of a call: a parameter, or `self`."""
        first = "self" if self.is_method(prototype) else next((name for _, name in prototype.parameters), "")
        return expression or first

    def _path(self, pattern: str) -> str:
        """A text that matches a pattern, with 0 for its wildcards."""
        constant = self.constants.get(pattern)
        text = json.dumps(constant) if isinstance(constant, str) else pattern
        return re.sub(r"[*?]", "0", text) if text.startswith('"') else text

    def _argument(self, callee: Callee, entry: HostEntry, declaration: str, name: str) -> str:
        prototype, kind = callee.prototype, type_of(declaration, name)
        bare, moves = re.sub(r"\bconst\b|&", "", kind).strip(), entry.kind.moves
        if self.kept.holds(kind, name) and self._is_opened(kind):
            return handle(kind)
        if self.kept.has(handle_type := pointed_type(declaration, name).removeprefix("const "), name):
            return f"&{handle(handle_type)}"
        if kind in self.lacking or kind.startswith("struct "):
            return self.filled(kind)
        if names := self._named.get((kind, name)):
            return self.named(names)
        if not moves and (default := dict(prototype.defaults).get(name)):
            return default
        is_own_type = not set(WORD.findall(bare)) <= KNOWN
        if (
            "*" not in kind
            and is_own_type
            and (bare in self._classes or any(_makes(one, bare) for one in self.known.values()))
        ):
            return self.of_class(bare)
        if bare == "std::string" or ("char" in kind and "*" in kind and not moves):
            return '""'
        if "*" in declaration or "[" in declaration:
            if not moves and ("const" in kind or not set(WORD.findall(kind)) <= KNOWN):
                return "0"
            return f"({kind})data" if self.cpp and "[" not in kind else "data"
        if default := dict(prototype.defaults).get(name):
            return default
        if not is_own_type or not prototype.cpp:
            return self._number(callee, entry, kind, name)
        if name in used(entry.bytes) or ("&" in kind and not kind.startswith("const ")):
            raise Unmade(f"takes a {kind}, and the template does not say how to create one")
        return f"{bare}{{}}"

    def _number(self, callee: Callee, entry: HostEntry, kind: str, name: str) -> str:
        if name == "flags" and callee.name == "open":
            return "O_RDWR"
        if name in used(entry.bytes) or name.startswith("max"):  # for a buffer that a call may fill
            return "1"
        if kind != "size_t":
            return "0"
        if callee.prototype.is_constructor:
            return str(self.largest_bytes)
        return f"({entry.bytes.strip()})" if entry.bytes.strip().isdigit() else "0"

    @property
    def cpp(self) -> bool:
        """Whether the program must be in C++."""
        return any(callee.prototype.cpp for callee in self.known.values())


def handle(kind: str) -> str:
    """The variable that keeps a handle of this type."""
    return "_".join(["rcw", *WORD.findall(kind), "at" * kind.count("*")]).rstrip("_")


def _function(item: str) -> str:
    """The name of the function that makes the item of this name or class."""
    return "_".join(["rcw_the", *WORD.findall(item)])


def _makes(callee: Callee, kind: str) -> bool:
    """Whether a call makes an object of a class: its constructor, or a function that returns one."""
    prototype = callee.prototype
    if prototype.is_constructor:
        return prototype.scope == kind
    pointer = _POINTERS.fullmatch(prototype.returns.strip())
    object_type = (pointer["held"] or pointer["at"]) if pointer else prototype.returns
    return prototype.cpp and CallKind.ACQUIRE in callee.kinds and object_type == kind


def _outs(callee: Callee) -> dict[str, tuple[str, str]]:
    """The parameters by which a call may return something, by type."""
    pairs = callee.prototype.parameters
    return {pointed_type(text, name): (text, name) for text, name in pairs if "*" in text and "const" not in text}


def _filled(callee: Callee, kind: str) -> tuple[str, str] | None:
    """The parameter through which a call returns an item of this type of the API; None if there is none."""
    moves = any(kind_.moves for kind_ in callee.kinds)
    return None if moves or CallKind.RELEASE in callee.kinds else _outs(callee).get(kind)


def _lacking(known: Mapping[str, Callee], kept: Mapping[str, bool]) -> set[str]:
    """Types that only calls other than opening ones return, such as buffers and queues, and types of handles whose
    opening call takes such a type."""
    lacking: set[str] = set()
    opening = []
    for callee in known.values():
        prototype = callee.prototype
        returned = {
            prototype.returns,
            *(pointed_type(text, name) for text, name in prototype.parameters if "*" in text),
        }
        returned = {kind for kind in returned if not set(WORD.findall(kind)) <= KNOWN}
        if CallKind.ACQUIRE in callee.kinds:
            opening.append((returned, set(prototype.types)))
        elif callee.kinds == (CallKind.OTHER,):
            lacking |= returned - set(kept)
    return lacking | set(chain(*(returned & set(kept) for returned, taken in opening if taken & lacking)))
