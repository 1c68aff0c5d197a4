"""State registers, and what each branch's condition asks for: what marks can be proposed from.

A state register is a signal, a variable, or a field of either, that one clocked process assigns, itself or by a name
that is assigned elsewhere, and that a case or comparisons ask for one value after another. Its values are those of an
enumerated type, or constants that it is asked for and given.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from rc_workbench_plugins.vhdl.blocks import Arm, SourceBlock, anded
from rc_workbench_plugins.vhdl.design import Design
from rc_workbench_plugins.vhdl.syntax import child, children, declared_in, matches, plain, tidy
from rc_workbench_plugins.vhdl.types import Type, resolved, shared_types, types_of
from rc_workbench_plugins.vhdl.units import Unit
from workbench.api.unstable import StateRegister, StateValue

_NAME = r"[a-z]\w*(?:\s*\.\s*[a-z]\w*)*"
_ASSIGNED = re.compile(rf"(?:\w+\s*:\s*)?({_NAME})\s*(?:<=|:=)\s*(.*?)\s*;?", re.IGNORECASE | re.DOTALL)
_WHOLE = re.compile(_NAME, re.IGNORECASE)
_CHOSEN = re.compile(r"\s+when\s.*?(?:\selse\s+|$)", re.IGNORECASE | re.DOTALL)
_AFTER = re.compile(r"\s+after\s.*$|^(?:transport|inertial)\s+", re.IGNORECASE | re.DOTALL)
_EQUAL = re.compile(rf"\(*\s*({_NAME})\s*=\s*({_NAME})\s*\)*", re.IGNORECASE)
_ASSIGNMENTS = (
    "(simple_waveform_assignment) @a (simple_variable_assignment) @a (conditional_signal_assignment) @a "
    "(concurrent_simple_signal_assignment) @a (concurrent_conditional_signal_assignment) @a"
)
_DECLARED = "(signal_declaration) @d (variable_declaration) @d"
_CONSTANTS = "(constant_declaration) @d"


@dataclass(frozen=True)
class States:
    """`asked` tells by the block's key and a branch's offset which register it asks for, and for which values."""

    registers: tuple[StateRegister, ...] = ()
    asked: Mapping[tuple[tuple[str, int], int], tuple[str, tuple[str, ...]]] = field(default_factory=dict)

    def of(self, block: SourceBlock, arm: Arm) -> tuple[str, tuple[str, ...]]:
        return self.asked.get((block.key, arm.at), ("", ()))


@dataclass(frozen=True)
class _Signal:
    """What may be a state register: its declared name, and the literals of its type, or the constants that it is asked
    for."""

    name: str
    literals: tuple[str, ...]
    first: str  # what it begins with; "" where that is not told
    line: int


def find_states(design: Design, blocks: Sequence[SourceBlock]) -> States:
    """The state registers of the architectures that the top reaches."""
    types = shared_types(design.used)
    shared = {name: of for unit in design.used if unit.kind == "package" for name, of in _constants(unit).items()}
    registers: list[StateRegister] = []
    asked: dict[tuple[tuple[str, int], int], tuple[str, tuple[str, ...]]] = {}
    for unit in design.used:
        own = [b for b in blocks if unit.region is not None and str(unit.file.path) == b.key[0]
               and unit.node.start_byte <= b.key[1] < unit.node.end_byte]  # fmt: skip
        if own:
            read = _Architecture(unit, {**types, **types_of([unit])}, {**shared, **_constants(unit)}, own)
            registers += read.registers(design, own)
            asked |= read.asked(own)
    return States(tuple(registers), asked)


class _Architecture:
    def __init__(
        self, unit: Unit, types: Mapping[str, Type | str], constants: Mapping[str, str], blocks: Sequence[SourceBlock]
    ) -> None:
        self._unit, self._types, self._constants = unit, types, constants
        self._declared = {plain(name): (node, kind) for node in matches(unit.node, _DECLARED)
                          for name, kind in declared_in(node)}  # fmt: skip
        self._given: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for node in matches(unit.node, _ASSIGNMENTS):
            if assigned := _ASSIGNED.fullmatch(tidy(node)):
                for value in _values(assigned[2]):
                    self._given[_key(assigned[1])].append((value, node.start_byte))
        self._asked: dict[str, dict[str, int]] = defaultdict(dict)  # each value's first line
        for case in matches(unit.node, "(case_statement) @c"):
            name = _key(_expression(case))
            for one in children(child(case, "case_body"), "case_statement_alternative"):
                for choice in _choices(one):
                    self._asked[name].setdefault(choice, one.start_point.row + 1)
        for arm in (arm for block in blocks for arm in block.arms):
            for name, values in self._of(arm):
                for value in values:
                    self._asked[name].setdefault(value, arm.line)
        self._signals = {name: signal for name in [*self._asked] if (signal := self._signal(name)) is not None}

    def registers(self, design: Design, blocks: Sequence[SourceBlock]) -> Iterator[StateRegister]:
        for name, signal in self._signals.items():
            block = self._block(name, blocks)
            given: set[str] = {plain(signal.first)} if signal.first else set()
            whole = self._reached(name, signal, given, set())
            if block is None or len(self._asked[name]) < 2 or len(given) < 2:
                continue
            values = tuple(
                StateValue(one, f"{signal.name} = {one}", self._asked[name].get(plain(one), 0),
                           not whole or plain(one) in given)
                for one in signal.literals
            )  # fmt: skip
            yield StateRegister(
                signal.name, block.module, f"{block.module}.{block.label}", design.name_of(self._unit.file.path),
                signal.line, values,
            )  # fmt: skip

    def asked(
        self, blocks: Sequence[SourceBlock]
    ) -> Iterator[tuple[tuple[tuple[str, int], int], tuple[str, tuple[str, ...]]]]:
        for block in blocks:
            for arm in block.arms:
                for name, values in self._of(arm):
                    signal = self._signals.get(name)
                    known = {plain(one): one for one in signal.literals} if signal is not None else {}
                    if signal is not None and values and all(value in known for value in values):
                        yield (block.key, arm.at), (signal.name, tuple(known[value] for value in values))
                        break

    def _of(self, arm: Arm) -> Iterator[tuple[str, tuple[str, ...]]]:
        """What a branch asks for: names, and the values that they must have one of."""
        if arm.kind == "case":
            body = arm.statement.parent
            yield _key(_expression(body.parent)), tuple(_choices(arm.statement))
        elif arm.kind in ("if", "elsif"):
            for term in anded(arm.label):
                if equal := _EQUAL.fullmatch(term.strip()):
                    yield _key(equal[1]), (_key(equal[2]),)

    def _signal(self, name: str) -> _Signal | None:
        first, *fields = name.split(".")
        if first not in self._declared:
            return None
        node, text = self._declared[first]
        default = tidy(child(node, "initialiser")).removeprefix(":=").strip()
        for one in fields:
            kind, default = resolved(text, self._types), ""
            text = next((of for of_name, of in kind.fields if plain(of_name) == one), "") if kind is not None else ""
        kind = resolved(text, self._types) if text else None
        if kind is not None and kind.literals:
            return _Signal(name, kind.literals, default or kind.literals[0], node.start_point.row + 1)
        if kind is None or kind.kind not in ("vector", "integer"):
            return None
        named = tuple(self._constants[value] for value in self._asked[name] if value in self._constants)
        return _Signal(name, named, default if default in named else "", node.start_point.row + 1)

    def _block(self, name: str, blocks: Sequence[SourceBlock]) -> SourceBlock | None:
        """The clocked process that assigns a name, where it is one alone."""
        places = [at for whole in _prefixes(name) for _, at in self._given.get(whole, ())]
        around = {b.key: b for b in blocks for at in places if b.node.start_byte <= at < b.node.end_byte}
        return next(iter(around.values())) if len(around) == 1 else None

    def _reached(self, name: str, signal: _Signal, given: set[str], seen: set[str]) -> bool:
        """Add the values that a name is given; False where it is given something that is not understood."""
        seen.add(name)
        literals = set(map(plain, signal.literals))
        known = True
        for whole in _prefixes(name):
            for value, _ in self._given.get(whole, ()):
                rest = name[len(whole) :]
                if plain(value) in literals and not rest:
                    given.add(plain(value))
                elif _WHOLE.fullmatch(value) is None:
                    known = False
                elif (source := _key(value) + rest) not in seen:
                    known &= source.split(".")[0] in self._declared and self._reached(source, signal, given, seen)
        return known


def signals_of(unit: Unit) -> frozenset[str]:
    """The signals and variables that an architecture declares."""
    return frozenset(plain(name) for node in matches(unit.node, _DECLARED) for name, _ in declared_in(node))


def declared_signals(unit: Unit) -> dict[str, str]:
    """The signals that an architecture declares, with their types as they are written."""
    return {name: of for node in matches(unit.node, "(signal_declaration) @d") for name, of in declared_in(node)}


def _constants(unit: Unit) -> dict[str, str]:
    """The constants that a unit declares, as they are written."""
    return {plain(name): name for node in matches(unit.node, _CONSTANTS) for name, _ in declared_in(node)}


def _key(name: str) -> str:
    return ".".join(plain(part.strip()) for part in name.split("."))


def _prefixes(name: str) -> Iterator[str]:
    parts = name.split(".")
    return (".".join(parts[: number + 1]) for number in range(len(parts)))


def _values(text: str) -> list[str]:
    """What is assigned: several where conditions choose."""
    return [_AFTER.sub("", part).strip() for part in _CHOSEN.split(text) if part.strip()]


def _expression(case: Node) -> str:
    return re.sub(r"^case\b\??\s*", "", tidy(child(case, "case_expression")), flags=re.IGNORECASE).strip("() ")


def _choices(alternative: Node) -> Iterator[str]:
    text = tidy(child(alternative, "when_element")).partition(" ")[2]
    return (plain(choice.strip()) for choice in text.split("|") if choice.strip().lower() != "others")
