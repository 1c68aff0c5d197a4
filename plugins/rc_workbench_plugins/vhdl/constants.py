"""GHDL 2.0 takes a part of a value that it knows from its wrong end where the rest is assigned elsewhere
(ghdl/ghdl#2013):

    o <= x"1234"; if e = '1' then o(3 downto 0) <= i; end if;

In what it synthesises for a simulation no value of what is assigned in part is known to it: where a variable `v` got
one, `v(its whole range) := v;` follows, and a signal gets its values by such a variable.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from rc_workbench_plugins.vhdl.elaborate import PART
from rc_workbench_plugins.vhdl.syntax import (
    VhdlFile,
    child,
    children,
    matches,
    plain,
    text_of,
    tidy,
    with_data,
    without_comments,
)
from rc_workbench_plugins.vhdl.types import Type, is_open, resolved, shared_types, types_of
from rc_workbench_plugins.vhdl.units import Declared, Unit, units_of
from workbench.hdl.edits import Edits

_BODIES = "(process_statement) @b (subprogram_definition) @b"
_TARGETS = """
    (simple_waveform_assignment . (label_declaration)? . [(name) (aggregate)] @t)
    (conditional_signal_assignment . (label_declaration)? . [(name) (aggregate)] @t)
    (simple_variable_assignment . (label_declaration)? . [(name) (aggregate)] @t)
    (select_target [(name) (aggregate)] @t)
"""
_CALLS = "(procedure_call_statement) @c"
_IN_CALL = "(association_element (conditional_expression (simple_expression . (name) @n .)))"
_SIGNALS = "(signal_declaration) @s"
_PARAMETERS = "(interface_declaration) @p (interface_variable_declaration) @p"
_VARIABLES = f"(variable_declaration) @v {_PARAMETERS}"
_ASSIGNED = "(simple_variable_assignment) @v (selected_variable_assignment) @v"
_SENT = "(simple_waveform_assignment) @s"
_IMPURE = re.compile(rb"\bimpure\s+function\s+(\w+)", re.IGNORECASE)
_NOT_READ = re.compile(r"[\w.]+\s*'\s*[a-z]\w*|\w+\s*=>|\"[^\"]*\"|'.'", re.IGNORECASE)  # attributes, names, literals
_SAME = re.compile(r"(?:\(\s*others\s*=>\s*)+'.'[\s)]*|(?:[box]|u[box])?\"(?:0|_)*\"|\"1*\"", re.IGNORECASE)
_PATH = re.compile(r"(\w+)(?:\s*\.\s*\w+)*")
_WIDE = re.compile(r'(?P<base>\b[us]?[xb])?"(?P<digits>[0-9a-f_]{16,})"', re.IGNORECASE)
_WORD = re.compile(r"\w+")
_MOST_DEEP = 16
_VALUE = "recap_value"


def kept_apart(texts: Iterable[tuple[VhdlFile, bytes]]) -> Iterator[tuple[VhdlFile, bytes]]:
    """A design's files with their texts, each line where it was, in which GHDL knows no such value."""
    parts = [(file, [with_data(file, part) for part in text.split(PART)]) for file, text in texts]
    units = [unit for _, those in parts for part in those for unit in units_of(part)]
    types = shared_types(units)
    entities = {plain(unit.name): unit for unit in units if unit.kind == "entity"}
    impure = {plain(name.decode()) for _, those in parts for part in those for name in _IMPURE.findall(part.data)}
    for file, those in parts:
        yield file, PART.join(_apart(part, types, entities, impure) for part in those)


def taken_for_zeros(file: VhdlFile) -> Iterator[tuple[int, str]]:
    """Lines with literals of 64, 96 ... bits, zeros but in the first 32: GHDL 2.0 makes zeros of all."""
    for number, line in enumerate(file.data.decode("latin-1").splitlines(), 1):
        for literal in _WIDE.finditer(line.partition("--")[0]):
            digits = literal["digits"].replace("_", "")
            bits = 4 if (literal["base"] or "b")[-1] in "xX" else 1
            rest = digits[32 // bits :]
            if rest and len(digits) * bits % 32 == 0 and not rest.strip("0") and digits.strip("0"):
                yield number, literal[0]


def _apart(file: VhdlFile, types: Mapping[str, Type | str], entities: Mapping[str, Unit], impure: set[str]) -> bytes:
    edits = Edits(file.path)
    for unit in units_of(file):
        region, known = unit.region, {**types, **types_of([unit])}
        aliases = list(_aliases(unit))
        entity = entities.get(plain(unit.of)) if unit.kind == "architecture" else None
        signals = signals_of(unit, entity) if unit.kind == "architecture" else set()
        signals |= {name for names in aliases if names & signals for name in names}
        kinds = _kinds(unit, entity, known) if signals else {}
        for node in matches(unit.node, _BODIES):
            if _outermost(node, unit.node):
                body = _body(node, signals, known, aliases)
                for at, text in body.held():
                    edits.insert(at, text)
                if region is not None and node.type == "process_statement":
                    _by_variables(edits, node, body.sent(impure), kinds, known)
    return edits.apply(file.data)


def _by_variables(
    edits: Edits, process: Node, sent: Iterable[tuple[str, Node, Node]], kinds: Mapping[str, tuple[str, str]],
    types: Mapping[str, Type | str],
) -> None:  # fmt: skip
    """Let variables give signals of a process their values. `kinds` are the signals' types, and ranges."""
    declared = ""
    for number, (signal, statement, value) in enumerate(sent):
        kind, whole = kinds.get(signal, ("", ""))
        name, text = f"{_VALUE}_{number}", text_of(value)
        held = "".join(_unknown(name, kind, types, whole)) if kind else ""
        if held:
            declared += f" variable {name} : {kind};"
            given = " ".join(without_comments(text).splitlines())
            edits.insert(statement.start_byte, f"{name} := {given};{held} ")
            edits.replace(value.start_byte, value.end_byte, name + "\n" * text.count("\n"))
    if declared:
        edits.insert(declares_at(process), f"{declared} ")


def declares_at(process: Node) -> int:
    """Where a process may declare a variable before its own."""
    head = child(process, "process_head")
    opening = child(head, "is") or child(process, "is")
    if opening is not None:
        return opening.end_byte
    begins = head or child(child(process, "sequential_block"), "begin") or process
    return begins.start_byte


def signals_of(unit: Unit, entity: Unit | None) -> set[str]:
    """Ports and signals of an architecture."""
    return {plain(port.name) for port in _ports(unit, entity)} | {
        plain(name) for node in matches(unit.node, _SIGNALS) for name in _names(node)
    }


def _ports(unit: Unit, entity: Unit | None) -> Sequence[Declared]:
    return entity.ports if entity is not None else unit.entity_ports


def _kinds(unit: Unit, entity: Unit | None, types: Mapping[str, Type | str]) -> dict[str, tuple[str, str]]:
    """The types of an architecture's ports, signals and aliases as a variable has them, and the ranges of these."""
    kinds = {plain(port.name): _closed(port.name, port.type, types) for port in _ports(unit, entity)}
    for node in (*matches(unit.node, _SIGNALS), *matches(unit.node, "(alias_declaration) @a")):
        kind = tidy(child(node, "subtype_indication"))
        names = _names(node) if node.type == "signal_declaration" else [text_of(child(node, "identifier"))]
        if kind:
            kinds |= {plain(name): _closed(name, kind, types) for name in names}
    return kinds


def _closed(name: str, kind: str, types: Mapping[str, Type | str]) -> tuple[str, str]:
    """The type of a signal with its range, and that range; "" for the latter where it has none."""
    mark, _, constraint = kind.partition("(")
    of = resolved(mark, types)
    if of is None or of.kind not in ("vector", "array"):
        return kind, ""
    if constraint:
        return kind, constraint.rpartition(")")[0]
    return (f"{mark}({name}'range)", f"{name}'range") if is_open(mark, types) else (kind, f"{mark}'range")


@dataclass
class _Body:
    """A process or subprogram, the variables of it with the statements by which their values are known no more, and
    what is assigned in part."""

    node: Node
    signals: set[str]
    variables: dict[str, tuple[str, ...]]
    partly: set[str] = field(default_factory=set)

    def held(self) -> Iterator[tuple[int, str]]:
        """What follows a variable's values."""
        for node in matches(self.node, _ASSIGNED):
            targets = matches(node, _TARGETS)[:1]
            if targets and not self._calm(_value(node)):
                yield from self._after(node.end_byte, _whole(targets[0]))
        for call in matches(self.node, _CALLS):
            yield from self._after(call.end_byte, [base for n in matches(call, _IN_CALL) for base in _whole(n)])
        for node in matches(self.node, "(subprogram_definition) @s"):
            begin = child(child(node, "sequential_block"), "begin")
            if begin is not None:
                yield from self._after(begin.end_byte, self._begun(node))

    def sent(self, impure: set[str]) -> Iterator[tuple[str, Node, Node]]:
        """The signals that are given values, where, and these."""
        for node in matches(self.node, _SENT):
            target, waveform = child(node, "name"), child(node, "waveform")
            if target is None or waveform is None or not self.partly & self.signals & set(_whole(target)):
                continue
            elements = list(children(waveform, "waveform_element"))
            value = next(children(elements[0]), None) if len(elements) == 1 else None
            text = without_comments(text_of(value))
            read = {plain(word) for word in _WORD.findall(_NOT_READ.sub(" ", text))}
            if value is not None and not (_SAME.fullmatch(text.strip()) or read & (self.signals | impure)):
                yield _base(target), node, value

    def _after(self, at: int, names: Iterable[str]) -> Iterator[tuple[int, str]]:
        for name in dict.fromkeys(names):
            if name in self.partly and self.variables.get(name):
                yield at, "".join(self.variables[name])

    def _begun(self, subprogram: Node) -> Iterator[str]:
        """The variables of a subprogram that begin with a value."""
        for node in children(child(subprogram, "subprogram_head"), "variable_declaration"):
            value = child(node, "initialiser")
            if value is not None and not self._calm(text_of(value).removeprefix(":=")):
                yield from map(plain, _names(node))
        specification = child(subprogram, "procedure_specification")
        for node in matches(specification, _PARAMETERS) if specification is not None else ():
            if plain(text_of(child(child(node, "simple_mode_indication"), "mode"))) == "inout":
                yield from map(plain, _names(node))

    def _calm(self, value: str) -> bool:
        """Whether a value is the same from both ends, or a signal's."""
        value = without_comments(value).strip()
        path = _PATH.fullmatch(value)
        return bool(_SAME.fullmatch(value) or (path and plain(path[1]) in self.signals - self.variables.keys()))


def _aliases(unit: Unit) -> Iterator[set[str]]:
    """Names with those of which they are aliases."""
    for alias in matches(unit.node, "(alias_declaration) @a"):
        if (of := child(alias, "name")) is not None:
            yield {plain(text_of(child(alias, "identifier"))), _base(of)}


def _body(node: Node, signals: set[str], types: Mapping[str, Type | str], aliases: Iterable[set[str]]) -> _Body:
    kinds: dict[str, set[tuple[str, ...]]] = {}
    for one in matches(node, _VARIABLES):
        kind = tidy(child(child(one, "simple_mode_indication") or one, "subtype_indication"))
        for name in _names(one):
            kinds.setdefault(plain(name), set()).add(tuple(_unknown(name, kind, types, _range(one, name))))
    body = _Body(node, signals, {name: several.pop() for name, several in kinds.items() if len(several) == 1})
    for target in matches(node, _TARGETS):
        for one in [target] if target.type == "name" else matches(target, "(name) @n"):
            if child(one, "parenthesis_group") is not None:
                body.partly.add(_base(one))
    body.partly |= {_base(one) for call in matches(node, _CALLS) for one in matches(call, _IN_CALL)}
    for names in aliases:
        if names & body.partly:
            body.partly |= names
    return body


def _unknown(name: str, kind: str, types: Mapping[str, Type | str], whole: str, depth: int = 0) -> Iterator[str]:
    """Statements by which GHDL knows no value of a variable of some type. `whole` is its range."""
    of = resolved(kind, types)
    if of is None or depth > _MOST_DEEP:
        return
    if of.kind == "record":
        for part, inner in of.fields:
            yield from _unknown(f"{name}.{part}", inner, types, f"{name}.{part}'range", depth + 1)
    elif of.kind == "vector" or (of.kind == "array" and of.indices == 1):
        yield f" {name}({whole}) := {name};"


def _range(variable: Node, name: str) -> str:
    """The declared range of a whole variable: its value may have another in GHDL."""
    if variable.type != "variable_declaration":
        return f"{name}'range"
    kind = tidy(child(variable, "subtype_indication"))
    mark = child(child(variable, "subtype_indication"), "name")
    constraint = tidy(child(mark, "parenthesis_group"))
    return constraint[1:-1] if constraint and constraint != "(open)" else f"{kind.partition('(')[0]}'range"


def _value(assignment: Node) -> str:
    kinds = ("conditional_or_unaffected_expression", "selected_expressions")
    return text_of(child(assignment, *kinds))


def _whole(target: Node) -> list[str]:
    """What is assigned, or given, as a whole."""
    names = [target] if target.type == "name" else matches(target, "(name) @n")
    return [_base(name) for name in names if len(name.children) == 1]


def _base(name: Node) -> str:
    return plain(text_of(child(name, "identifier")))


def _names(declaration: Node) -> list[str]:
    return [text_of(one) for one in children(child(declaration, "identifier_list"), "identifier")]


def _outermost(node: Node, within: Node) -> bool:
    """Whether it stands in no process or subprogram of `within`."""
    around = node.parent
    while around is not None and around != within:
        if around.type in ("process_statement", "subprogram_definition"):
            return False
        around = around.parent
    return True
