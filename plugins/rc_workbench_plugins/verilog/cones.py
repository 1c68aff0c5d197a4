"""What ends a wait: the blocks whose registers the conditions depend on by which a block leaves a marked state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyslang import ast

from rc_workbench_plugins.verilog.blocks import id_of, meaning
from rc_workbench_plugins.verilog.expressions import Part, reads
from rc_workbench_plugins.verilog.instances import BlockUse, Instance
from rc_workbench_plugins.verilog.nets import Nets
from workbench.model.blocks import Block
from workbench.model.hardware import Clock
from workbench.model.pragma import CPU, Category

_Branch = tuple[int, int]  # where it stands
_WAITS = (Category.WAIT_SEND, Category.WAIT_RECV)
_Is, _Of = ast.ExpressionKind, ast.StatementKind


@dataclass
class _Decisions:
    """What a block looks at: by branch those around it and what is asked for there; and what is assigned where."""

    around: dict[_Branch, tuple[_Branch, ...]] = field(default_factory=dict)
    asked: dict[_Branch, frozenset[Part]] = field(default_factory=dict)
    assigned: list[tuple[tuple[_Branch, ...], Any, frozenset[Part]]] = field(default_factory=list)


def with_depends(blocks: Sequence[Block], nets: Nets, top: Instance, clocks: Sequence[Clock]) -> tuple[Block, ...]:
    """The blocks, whose waits say what they depend on; the platform's `clocks` and their resets are no part of it."""
    uses = {use.path: use for instance in top.walk() for use in instance.blocks}
    if not any(state.category in _WAITS for block in blocks for state in block.states):
        return tuple(blocks)
    owners: dict[Any, str] = {}
    decisions = {path: _decisions(use) for path, use in uses.items()}
    for path, of in decisions.items():
        owners |= {symbol: path for _, symbol, _ in of.assigned}
    ports = {port.internalSymbol for port in top.body.portList if getattr(port, "internalSymbol", None) is not None}
    quiet = {name for clock in clocks for name in (clock.pin, clock.reset)}
    quiet |= {use.reset[0] for use in uses.values() if use.reset}
    cones = _Cones(nets, owners, ports, quiet)
    found = []
    for block in blocks:
        use = uses.get(block.id)
        states = [
            replace(state, depends=cones.of(use, decisions[use.path], state.index))
            if use and state.category in _WAITS else state
            for state in block.states
        ]  # fmt: skip
        found.append(replace(block, states=tuple(states)))
    return tuple(found)


@dataclass
class _Cones:
    """`owners` are the blocks that registers are assigned in, `ports` the top's; clocks and resets are `quiet`."""

    nets: Nets
    owners: dict[Any, str]
    ports: set[Any]
    quiet: set[str]
    known: dict[Part, frozenset[str]] = field(default_factory=dict)

    def of(self, use: BlockUse, decisions: _Decisions, state: int) -> tuple[str, ...]:
        """The ids of the blocks by which `use` leaves one of its states, and `$CPU` where inputs of the design do."""
        pragma = use.source.states[state - 1].pragma
        arms = [arm for arm in use.source.arms if any(meaning(p.pragma) == meaning(pragma) for p in arm.pragmas)]
        asked: set[Part] = set()
        for arm in arms:
            place = id_of(arm.statement)
            if place in decisions.around:
                asked |= self._leaves(use, decisions, (*decisions.around[place], place))
        found = set().union(*(self._registers(part) for part in asked)) - {use.path}
        return tuple(sorted(found))

    def _leaves(self, use: BlockUse, decisions: _Decisions, arm: tuple[_Branch, ...]) -> set[Part]:
        """What is asked for around a branch and in it, and what the block's own registers among it are assigned."""
        asked: set[Part] = set()
        for place, around in decisions.around.items():
            if _joined((*around, place), arm):
                asked |= decisions.asked[place]
        grown = True
        while grown:
            own = {part.symbol for part in asked if self.owners.get(part.symbol) == use.path}
            more = {
                part for around, symbol, sources in decisions.assigned
                if symbol in own and _joined(around, arm) for part in sources
            }  # fmt: skip
            grown = not more <= asked
            asked |= more
        return asked

    def _registers(self, start: Part) -> frozenset[str]:
        """The blocks that a part of a signal depends on, with no register between."""
        if start not in self.known:
            found: set[str] = set()
            seen, open_ = {start}, [start]
            while open_:
                part = open_.pop()
                if part.symbol in self.owners:
                    found.add(self.owners[part.symbol])
                elif part.symbol in self.ports:
                    if self.nets.input_name(part.symbol) not in self.quiet:
                        found.add(CPU)
                else:
                    more = self.nets.sources(part) - seen
                    seen |= more
                    open_ += more
            self.known[start] = frozenset(found)
        return self.known[start]


def _joined(one: tuple[_Branch, ...], other: tuple[_Branch, ...]) -> bool:
    """Whether one of two places is within the other."""
    count = min(len(one), len(other))
    return one[:count] == other[:count]


def _decisions(use: BlockUse) -> _Decisions:
    found = _Decisions()
    _look(use.body, (), found)
    return found


def _look(statement: Any, around: tuple[_Branch, ...], found: _Decisions) -> None:
    kind = statement.kind
    if kind == _Of.Timed:
        _branch(statement.stmt, around, frozenset(), found)
    elif kind == _Of.Block:
        _look(statement.body, around, found)
    elif kind == _Of.List:
        for one in statement.list:
            _look(one, around, found)
    elif kind == _Of.Conditional:
        asked = frozenset().union(*(reads(condition.expr) for condition in statement.conditions))
        _branch(statement.ifTrue, around, asked, found)
        if statement.ifFalse is not None:
            _branch(statement.ifFalse, around, asked, found)
    elif kind == _Of.Case:
        labels = (reads(e) for item in statement.items for e in item.expressions)
        asked = frozenset(reads(statement.expr)).union(*labels)
        for one in (*(item.stmt for item in statement.items), statement.defaultCase):
            if one is not None:
                _branch(one, around, asked, found)
    elif kind == _Of.ForLoop:
        _look(statement.body, around, found)
    elif kind == _Of.ExpressionStatement and statement.expr.kind == _Is.Assignment:
        sources = frozenset(reads(statement.expr.right))
        for part in reads(statement.expr.left):
            found.assigned.append((around, part.symbol, sources))


def _branch(statement: Any, around: tuple[_Branch, ...], asked: frozenset[Part], found: _Decisions) -> None:
    place = id_of(statement.syntax) if statement.syntax is not None else (-1, len(found.around))
    found.around[place], found.asked[place] = around, asked
    _look(statement, (*around, place), found)
