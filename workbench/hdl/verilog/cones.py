"""Finds the blocks that end a wait: their registers drive the conditions by which a block leaves a state."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.hdl.instances import Instance, uses_in
from workbench.hdl.verilog.decisions import Assigned, Branch, Decisions, Guard, decisions_of, read_decisions
from workbench.hdl.verilog.expressions import Part
from workbench.hdl.verilog.nets import Nets
from workbench.model.blocks import Block, State
from workbench.model.hardware import Clock
from workbench.model.pragma import COMMUNICATION, CPU, Category

_WAITS = (Category.WAIT_SEND, Category.WAIT_RECV)
_UNKNOWN = ""  # what no block is known to assign


def with_depends(blocks: Sequence[Block], nets: Nets, top: Instance, clocks: Sequence[Clock]) -> tuple[Block, ...]:
    """The blocks, whose waits say what they depend on; the platform's `clocks` and their resets are no part of it."""
    if not has_waits(blocks):
        return tuple(blocks)
    clocked = {use.path: decisions_of(use) for use in uses_in(top)}
    return depending(blocks, clocked, combinational(nets), nets, top.body, quiet_of(top, clocks))


def has_waits(blocks: Iterable[Block]) -> bool:
    """Whether any block waits, or may do so since all its pragmas are of communication."""
    return any(
        categories & set(_WAITS) or (categories and categories <= set(COMMUNICATION))
        for block in blocks
        if (categories := {state.category for state in block.states} - {None})
    )


def quiet_of(top: Instance, clocks: Iterable[Clock]) -> set[str]:
    """The top's inputs that are clocks and resets."""
    resets = {use.reset[0] for use in uses_in(top) if use.reset}
    return resets.union(*((clock.pin, clock.reset) for clock in clocks))


def combinational(nets: Nets) -> list[Decisions]:
    return [read_decisions(process.body, process.parentScope) for process in nets.combinational]


def depending(
    blocks: Sequence[Block], clocked: Mapping[str, Decisions], logic: Iterable[Decisions], nets: Nets, top: Any,
    quiet: Collection[str],
) -> tuple[Block, ...]:  # fmt: skip
    """The blocks with what their waits depend on. `clocked` are the decisions of all clocked blocks by their paths,
    `logic` those of processes without registers, all by the symbols of `nets`; a text stands for what has no
    symbol there. `top` is its body in slang."""
    ports = {port.internalSymbol for port in top.portList if getattr(port, "internalSymbol", None) is not None}
    cones = _Cones(nets, ports, {name.lower() for name in quiet})
    for path, decisions in clocked.items():
        for assigned in decisions.assigned:
            cones.owners[assigned.part.symbol].add((assigned.part.bit, path))
    for symbol, owners in list(cones.owners.items()):  # GHDL's registers have names of their own
        for source in nets.sources(Part(symbol)) if not isinstance(symbol, str) else ():
            if nets.is_register(source.symbol) and source.symbol not in cones.owners:
                cones.owners[source.symbol] |= {(None, path) for _, path in owners}
    for decisions in logic:
        for assigned in decisions.assigned if decisions.whole else ():
            cones.logic[assigned.part.symbol].append((decisions, assigned))
    return tuple(
        replace(block, states=tuple(
            replace(state, depends=cones.of(block.id, clocked[block.id], state.index))
            if _may_wait(state, block) and block.id in clocked else state
            for state in block.states
        ))
        for block in blocks
    )  # fmt: skip


def _may_wait(state: State, block: Block) -> bool:
    """Whether a state is marked as a wait, or may be one: it has no mark, or its block is marked to wait nowhere."""
    return state.category in (None, *_WAITS) or not any(one.category in _WAITS for one in block.states)


@dataclass
class _Cones:
    """`owners` are the blocks that bits of registers are assigned in, `ports` the top's; clocks and resets are `quiet`.
    `logic` is what processes without registers assign."""

    nets: Nets
    ports: set[Any]
    quiet: set[str]
    owners: dict[Any, set[tuple[int | None, str]]] = field(default_factory=lambda: defaultdict(set))
    logic: dict[Any, list[tuple[Decisions, Assigned]]] = field(default_factory=lambda: defaultdict(list))
    known: dict[tuple[Part, frozenset[Guard]], frozenset[str]] = field(default_factory=dict)

    def of(self, path: str, decisions: Decisions, state: int) -> tuple[str, ...]:
        """The ids of the blocks by which that at `path` leaves one of its states, and `$CPU` where inputs of the design
        do; none where some of them are not known. Without a mark that is all that it looks at where there is none."""
        registers: set[str] = set()
        for part in self._unmarked(path, decisions) if state == 0 else ():
            registers |= self._registers(part, frozenset())
        for place, asked in decisions.marked.get(state, ()):
            if place in decisions.around:
                arm = (*decisions.around[place], place)
                guards = (guard for one in arm for guard in decisions.guards[one])
                known = frozenset(g for g in guards if g.symbol in self.owners and g.symbol not in decisions.changing)
                parts = self._leaves(path, decisions, arm, known, asked)
                registers = registers.union(*(self._registers(part, known) for part in parts))
        return () if _UNKNOWN in registers or not decisions.whole else tuple(sorted(registers - {path}))

    def _leaves(
        self, path: str, decisions: Decisions, arm: tuple[Branch, ...], known: frozenset[Guard], also: frozenset[Part]
    ) -> set[Part]:
        """What is asked for around a branch and in it, and what the block's own registers among it are assigned where
        that branch is taken."""
        asked = set(also)
        for place, around in decisions.around.items():
            if _joined((*around, place), arm):
                asked |= decisions.asked[place]
        assigned = [one for one in decisions.assigned if decisions.together(one.around, arm, known)]
        return self._with_own(path, decisions, asked, assigned)

    def _unmarked(self, path: str, decisions: Decisions) -> set[Part]:
        """The same of all that is in no branch with a mark; without marks, of all that the block does."""
        marks = [one for several in decisions.marked.values() for one in several]
        arms = [(*decisions.around[place], place) for place, _ in marks if place in decisions.around]

        def outside(around: tuple[Branch, ...]) -> bool:
            return not any(around[: len(arm)] == arm for arm in arms)

        asked = {p for place, around in decisions.around.items() if outside(around) for p in decisions.asked[place]}
        asked = asked.union(*(conditions for _, conditions in marks))
        assigned = [one for one in decisions.assigned if outside(one.around)]
        if not marks:
            return asked.union(*(one.sources for one in assigned))
        return self._with_own(path, decisions, asked, assigned)

    def _with_own(
        self, path: str, decisions: Decisions, asked: set[Part], assigned: Collection[Assigned]
    ) -> set[Part]:  # fmt: skip
        """What is asked for, and what the block's own registers among it are assigned."""
        grown = True
        while grown:
            own = {part.symbol for part in asked if path in self._owners(part)}
            more = set().union(*(_sources_of(decisions, one) for one in assigned if one.part.symbol in own))
            grown = not more <= asked
            asked |= more
        return asked

    def _owners(self, part: Part) -> set[str]:
        return {
            path for bit, path in self.owners.get(part.symbol, ()) if bit is None or part.bit is None or bit == part.bit
        }

    def _registers(self, start: Part, known: frozenset[Guard]) -> frozenset[str]:
        """The blocks that a part of a signal depends on, with no register between, where the guards `known` hold."""
        if (start, known) not in self.known:
            registers: set[str] = set()
            seen, open_ = {start}, [start]
            while open_:
                part = open_.pop()
                if owners := self._owners(part):
                    registers |= owners
                elif part.symbol in self.ports:
                    if self.nets.input_name(part.symbol).lower() not in self.quiet:
                        registers.add(CPU)
                elif self._is_unknown(part.symbol):
                    registers.add(_UNKNOWN)
                else:
                    more = self._sources(part, known) - seen
                    seen |= more
                    open_ += more
            self.known[start, known] = frozenset(registers)
        return self.known[start, known]

    def _is_unknown(self, symbol: Any) -> bool:
        """Whether it is a register of no block, or has no symbol and nothing is assigned to it."""
        return symbol not in self.logic if isinstance(symbol, str) else self.nets.is_register(symbol)

    def _sources(self, part: Part, known: frozenset[Guard]) -> set[Part]:
        """What a part is made of, where the guards hold; of one that is assigned bit by bit, where any do."""
        logic = self.logic.get(part.symbol, ())
        if not isinstance(part.symbol, str) and not any(assigned.part.bit is None for _, assigned in logic):
            return self.nets.sources(part)
        reached = (
            _sources_of(decisions, assigned)
            for decisions, assigned in logic
            if decisions.reached(assigned.around, known)
        )
        return set().union(*reached)


def _sources_of(decisions: Decisions, assigned: Assigned) -> frozenset[Part]:
    return assigned.sources.union(*(decisions.asked[place] for place in assigned.around))


def _joined(one: tuple[Branch, ...], other: tuple[Branch, ...]) -> bool:
    """Whether one of two places is within the other."""
    count = min(len(one), len(other))
    return one[:count] == other[:count]
