"""The X language read (`x.lark`), and a project's `streaming` section: both become declarations, which `flatten.py`
makes a topology of. Every fault has its line and column."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from workbench.api import Diagnostic, WorkbenchError, listed
from workbench.api.unstable import (
    MOST_DEPTH,
    At,
    Config,
    Implementation,
    Language,
    MappedTo,
    Streaming,
    TypedPort,
    Value,
    Way,
    did_you_mean,
)

ANY_ORDER = "any_order"  #: of an edge: its reader does not depend on the order of elements
X_LIMIT = 1 << 20  # bytes of a file: more than any application of as many blocks as are read needs
_STARTS = ["file", "setting_type", "made", "connection"]
_WORDS = {
    "NAME": "a name", "STRING": "a text in quotes", "NUMBER": "a number", "WAY": "'input' or 'output'",
    "LANGUAGE": "'cpp', 'verilog' or 'vhdl'", "PLACE": "'core' or 'fpga'", "$END": "the end",
}  # fmt: skip


@dataclass(frozen=True)
class BlockInstance:
    """A block that a composite one holds."""

    name: str
    kind: str
    config: Mapping[str, Value]
    at: At


@dataclass(frozen=True)
class Connection:
    """An edge as it is written; ends as names with dots. `depth` None: the default."""

    label: str
    source: str
    sink: str
    depth: int | None
    at: At
    any_order: bool = False


@dataclass
class Definition:
    """A block's definition; it is composed where it holds blocks."""

    name: str
    at: At
    ports: list[TypedPort] = field(default_factory=list)
    config: list[Config] = field(default_factory=list)
    instances: list[BlockInstance] = field(default_factory=list)
    edges: list[Connection] = field(default_factory=list)


@dataclass
class Declared:
    """All that files and the project's section say of an application."""

    definitions: list[Definition] = field(default_factory=list)
    implementations: list[tuple[str, Implementation]] = field(default_factory=list)
    resources: list[tuple[str, MappedTo, At]] = field(default_factory=list)
    maps: list[tuple[str, str, At]] = field(default_factory=list)
    top: tuple[str, At] | None = None
    depth: int | None = None
    depths: dict[str, tuple[int, At]] = field(default_factory=dict)
    threads: dict[str, tuple[int, At]] = field(default_factory=dict)


@cache
def _parser() -> Lark:
    grammar = files(__package__).joinpath("x.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", start=_STARTS, propagate_positions=True, maybe_placeholders=True)


def read_x(text: str, file: str, into: Declared) -> None:
    """Add what an X file says. WorkbenchError with the place where it cannot be read."""
    _File(file, into).read(_parsed(text, "file", lambda line, column: At(file, line, column)))


def read_section(section: Streaming, place: Callable[[tuple[str | int, ...]], At], into: Declared) -> None:
    """Add what a project's section says; `place` tells where its keys stand. WorkbenchError for what cannot be read."""

    def parsed(text: str, start: str, keys: tuple[str | int, ...]) -> tuple[Tree[Token], At]:
        at = place(keys)
        return _parsed(text, start, lambda line, column: at), at

    for name, block in section.blocks.items():
        keys: tuple[str | int, ...] = ("streaming", "blocks", name)
        definition = Definition(name, place(keys))
        for way, key, ports in ((Way.IN, "inputs", block.inputs), (Way.OUT, "outputs", block.outputs)):
            definition.ports += [TypedPort(port, way, kind, place((*keys, key, port))) for port, kind in ports.items()]
        for config, text in block.config.items():
            tree, at = parsed(text, "setting_type", (*keys, "config", config))
            kind, default = tree.children
            definition.config.append(Config(config, str(kind), _value(default), at))
        for name_inside, text in block.blocks.items():
            tree, at = parsed(text, "made", (*keys, "blocks", name_inside))
            definition.instances.append(
                BlockInstance(name_inside, str(tree.children[0]), _assignments(tree.children[1]), at)
            )
        for label, text in block.edges.items():
            tree, at = parsed(text, "connection", (*keys, "edges", label))
            definition.edges += _connections(label, tree.children[0], tree.children[1], at)
        if definition.ports or definition.config or definition.instances:
            into.definitions.append(definition)
        for language, sources in (
            (Language.CPP, block.cpp), (Language.VERILOG, block.verilog), (Language.VHDL, block.vhdl),
        ):  # fmt: skip
            if sources:
                at = place((*keys, language.value))
                unit = block.unit.get(language.value, name)
                into.implementations.append((name, Implementation(language, sources, unit, at)))
    for name, what in section.resources.items():
        into.resources.append((name, MappedTo(what), place(("streaming", "resources", name))))
    for block_name, resource in section.mapping.items():
        into.maps.append((block_name, resource, place(("streaming", "mapping", block_name))))
    if section.top:
        into.top = (section.top, place(("streaming", "top")))
    into.depth = section.depth
    for label, depth in section.depths.items():
        into.depths[label] = (depth, place(("streaming", "depths", label)))
    for block_name, threads in section.threads.items():
        into.threads[block_name] = (threads, place(("streaming", "threads", block_name)))


class _File:
    def __init__(self, file: str, into: Declared) -> None:
        self._file, self._into = file, into

    def read(self, tree: Tree[Token]) -> None:
        for item in tree.children:
            assert isinstance(item, Tree)
            at, parts = self._at(item), item.children
            if item.data == "block":
                self._into.definitions.append(self._block(item))
            elif item.data == "implementation":
                kind, language, *sources, unit = parts
                implementation = Implementation(Language(str(language)), tuple(_unquoted(s) for s in sources),
                                      str(unit or kind), at)  # fmt: skip
                self._into.implementations.append((str(kind), implementation))
            elif item.data == "resource":
                place, *names = parts
                self._into.resources += [(str(name), MappedTo(str(place)), self._at(name)) for name in names]
            elif item.data == "mapping":
                self._into.maps.append((_dotted(parts[0]), str(parts[1]), at))
            else:
                self._into.top = (str(parts[0]), at)

    def _block(self, tree: Tree[Token]) -> Definition:
        name, *members = tree.children
        definition = Definition(str(name), self._at(tree))
        for member in members:
            assert isinstance(member, Tree)
            at, parts = self._at(member), member.children
            if member.data == "ports":
                said, kind, *names = parts
                way = Way.IN if said == "input" else Way.OUT
                definition.ports += [TypedPort(str(port), way, str(kind), at) for port in names]
            elif member.data == "config":
                kind, config, default = _tree(parts[0]).children
                definition.config.append(Config(str(config), str(kind), _value(default), at))
            elif member.data == "instances":
                kind, *instances = parts
                for instance in map(_tree, instances):
                    title, config = instance.children
                    definition.instances.append(
                        BlockInstance(str(title), str(kind), _assignments(config), self._at(instance))
                    )
            else:
                label, path, assigned = parts
                definition.edges += _connections(str(label or ""), path, assigned, at)
        return definition

    def _at(self, tree: Any) -> At:
        place = tree if isinstance(tree, Token) else tree.meta
        return At(self._file, place.line or 0, place.column or 0)


def _connections(label: str, path: Any, assigned: Any, at: At) -> Iterable[Connection]:
    """The edges of a path; where it has several, all but the first are labelled by their number too."""
    settings = _assignments(assigned)
    depth = settings.pop("depth", None)
    any_order = settings.pop(ANY_ORDER, 0)
    if settings:
        name = next(iter(settings))
        hint = did_you_mean(name, ["depth", ANY_ORDER]) or "Write, for example, (depth=32)."
        raise _wrong(at, f"an edge has no '{name}'", hint)
    if any_order not in (0, 1):
        raise _wrong(at, f"{ANY_ORDER} is {any_order}", f"Write ({ANY_ORDER}=1), or leave it out.")
    if depth is not None and not (isinstance(depth, int) and 0 < depth <= MOST_DEPTH):
        raise _wrong(at, f"{depth} is not a queue depth", f"Write a whole number of elements from 1 to {MOST_DEPTH:,}.")
    ends = [_dotted(end) for end in _tree(path).children]
    several = len(ends) > 2
    for number, (source, sink) in enumerate(pairwise(ends), 1):
        own = f"{label}{number}" if several and label else label
        yield Connection(own, source, sink, depth, at, bool(any_order))


def _tree(item: Any) -> Tree[Token]:
    assert isinstance(item, Tree)
    return item


def _dotted(item: Any) -> str:
    return ".".join(map(str, _tree(item).children))


def _assignments(item: Any) -> dict[str, Value]:
    if item is None:
        return {}
    values: dict[str, Value] = {}
    for assignment in map(_tree, item.children):
        value = _value(assignment.children[1])
        assert value is not None
        values[str(assignment.children[0])] = value
    return values


_LONGEST = len(str(-(1 << 64)))  # digits and sign of a whole number


def _value(item: Any) -> Value | None:
    if item is None:
        return None
    (token,) = _tree(item).children
    assert isinstance(token, Token)
    if token.type == "STRING":
        return _unquoted(token)
    text = str(token)
    if text.lower().lstrip("-").startswith("0x"):
        return int(text, 16)
    whole = not any(sign in text for sign in ".eE") and len(text) <= _LONGEST
    return int(text) if whole else float(text)


def _unquoted(token: Any) -> str:
    return str(token)[1:-1]


def _parsed(text: str, start: str, place: Callable[[int, int], At]) -> Tree[Token]:
    try:
        return _parser().parse(text, start=start)
    except UnexpectedCharacters as error:
        raise _wrong(place(error.line, error.column), f"'{error.char}' is not expected here", _wanted(error)) from None
    except UnexpectedEOF as error:
        raise _wrong(place(text.count("\n") + 1, 1), "the text ends too early", _wanted(error)) from None
    except UnexpectedToken as error:
        if error.token.type == "$END":
            lines = text.rstrip().split("\n")
            raise _wrong(place(len(lines), len(lines[-1]) + 1), "the text ends too early", _wanted(error)) from None
        raise _wrong(place(error.line, error.column), f"'{error.token}' is not expected here", _wanted(error)) from None


def _wanted(error: UnexpectedInput) -> str:
    expected = getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", None)
    terminals = {terminal.name: terminal for terminal in _parser().terminals}
    words = []
    for name in sorted(expected or ()):
        pattern = terminals[name].pattern.value if name in terminals else name
        words.append(_WORDS.get(name, f"'{pattern}'".replace("\\", "")))
    return f"Wanted: {listed(words, 8)}." if words else ""


def _wrong(at: At, message: str, hint: str = "") -> WorkbenchError:
    return WorkbenchError(problem(at, message, hint))


def problem(at: At, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(message, hint, file=at.file or None, line=at.line or None, column=at.column or None)
