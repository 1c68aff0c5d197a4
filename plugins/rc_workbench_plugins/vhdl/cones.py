"""What ends a wait in VHDL: the decisions of each process, by the signals of what is simulated."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Any

from tree_sitter import Node

from rc_workbench_plugins.vhdl.blocks import anded
from rc_workbench_plugins.vhdl.joined import Joined
from rc_workbench_plugins.vhdl.streams import instances_called
from rc_workbench_plugins.vhdl.syntax import child, children, matches, plain, text_of, tidy
from rc_workbench_plugins.vhdl.translated import names_called
from rc_workbench_plugins.vhdl.units import Unit
from workbench.api import Block, Clock
from workbench.hdl.instances import BlockUse, Instance
from workbench.hdl.verilog import design as verilog
from workbench.hdl.verilog.cones import combinational, depending, has_waits, quiet_of
from workbench.hdl.verilog.decisions import Assigned, Branch, Decisions, Guard, decisions_of, marked_arms
from workbench.hdl.verilog.elaborate import elaborate
from workbench.hdl.verilog.expressions import Kind, Part

_WORD = re.compile(r"\b[xbo]+\"[^\"]*\"|\"[^\"]*\"|'.'|(?<![\w.'])([a-z]\w*)", re.IGNORECASE)
_PLAIN = re.compile(r"[a-z]\w*", re.IGNORECASE)
_EQUAL = re.compile(r"\(*\s*([a-z]\w*)\s*=\s*([a-z]\w*)\s*\)*", re.IGNORECASE)
_ALIAS = re.compile(r"\balias\s+(\w+)", re.IGNORECASE)
_HELD = ("if_statement_body", "sequential_block", "loop_body")
_NOT_IN = ("if", "elsif", "else", "then", *_HELD)
_EDGE = re.compile(r"\b(?:rising|falling)_edge\b|'\s*(?:event|stable)\b", re.IGNORECASE)


def with_depends(
    blocks: tuple[Block, ...], simulated: verilog.Design, joined: Joined, top: Instance, clocks: Iterable[Clock]
) -> tuple[Block, ...]:
    """The blocks, whose waits say what they depend on in the simulated design `simulated`."""
    read = elaborate(simulated, {}) if has_waits(blocks) else None
    if read is None:
        return blocks
    bodies = {one.path: one.body for one in read.walk()}
    clocked: dict[str, Decisions] = {}
    logic = combinational(simulated.nets)
    called = {one.path: (path, one) for path, one in instances_called(joined, top, read.path)}
    for path, instance in called.values():
        if path not in bodies or instance.body is None:
            continue
        if isinstance(instance.body, Unit):
            of_instance = Within(instance, instance.body, bodies[path])
            clocked |= of_instance.clocked()
            logic += of_instance.logic()
        else:
            clocked |= _of_module(instance, bodies[path])
    return depending(blocks, clocked, logic, simulated.nets, read.body, quiet_of(top, clocks))


def _of_module(instance: Instance, body: Any) -> dict[str, Decisions]:
    """The cones of a module's clocked blocks, by the symbols of its copy with this slang `body`."""
    begin = f"{instance.body.parentInstance.hierarchicalPath}."

    def there(symbol: Any) -> Any:
        place = str(symbol.hierarchicalPath)
        signal = body.lookupName(place.removeprefix(begin)) if place.startswith(begin) else None
        return signal if signal is not None and signal.kind in (Kind.Net, Kind.Variable) else place

    return {use.path: decisions_of(use).moved(there) for use in instance.blocks}


@dataclass
class Within:
    """The processes of one instance of an architecture, by the signals of its module in Verilog."""

    instance: Instance
    unit: Unit
    body: Any  # slang's
    signals: Mapping[str, Any] = field(init=False)
    declared: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.signals = {one.name.lower(): one for one in self.body if one.kind in (Kind.Net, Kind.Variable)}
        self.declared = _declared(self.unit.node).union(plain(port.name) for port in self.unit.entity_ports)

    def clocked(self) -> dict[str, Decisions]:
        """The clocked processes by their paths, with their pragmas."""
        uses = self.instance.blocks
        places = [use.path[len(self.instance.path) + 1 :] for use in uses]
        decisions = {}
        names = names_called(places)
        numbered = cache(partial(self._numbered, names=names))
        for use, place, name in zip(uses, places, names, strict=True):
            around = name.rpartition(f"_{place.rpartition('.')[2].lower()}")[0] if "." in place else ""
            loops = [around[: one.start()] for one in re.finditer(r"_n\d+", around)]
            around = around if all(map(numbered, loops)) else ""  # then the signals declared there are not known
            read = _Reader(self, use.source.node, around, plain(use.source.clock), use.path)
            decisions[use.path] = read.marked(use)
        return decisions

    def logic(self) -> Iterator[Decisions]:
        """The architecture's own processes without a clock."""
        keys = {use.source.key[1] for use in self.instance.blocks}
        for node in self.unit.region.processes if self.unit.region is not None else ():
            if (
                node.start_byte not in keys
                and not _EDGE.search(tidy(node))
                and not matches(node, "(wait_statement) @w")
            ):
                yield _Reader(self, node, "", "", f"{self.instance.path}.{node.start_byte}").read()

    def _numbered(self, loop: str, names: Iterable[str]) -> bool:
        """Whether a loop's iterations are those that GHDL numbers so: each of them has some of the processes."""
        numbers = re.compile(rf"{re.escape(loop)}_n(\d+)_")
        known = {one[1] for name in names if (one := numbers.match(name))}
        return all(one[1] in known for name in self.signals if (one := numbers.match(name)))


@lru_cache(2000)
def _declared(architecture: Node) -> frozenset[str]:
    """The names of signals, and of what may be another name of one."""
    aliases = map(plain, _ALIAS.findall(tidy(architecture)))
    return _names_in(architecture, "(signal_declaration) @d").union(aliases)


def _names_in(node: Node, declarations: str) -> frozenset[str]:
    """The names in declarations below a node; the parser knows some of them, such as `write`, as functions' names."""
    lists = (tidy(child(one, "identifier_list")) for one in matches(node, declarations))
    return frozenset(plain(name.strip()) for text in lists for name in text.split(","))


class _Reader:
    """Reads one process, whose generate statements GHDL calls `around`."""

    def __init__(self, within: Within, node: Node, around: str, clock: str, path: str) -> None:
        self._within, self._node, self._clock, self._path = within, node, clock, path
        self.decisions = Decisions(whole=not node.has_error)
        self._statements = 0
        head = child(node, "process_head")
        self._variables = _names_in(head, "(variable_declaration) @d") if head is not None else frozenset()
        parts = around.split("_") if around else []
        self._before = ["_".join([*parts[:count], ""]) for count in range(len(parts), 0, -1)] + [""]

    def read(self) -> Decisions:
        body = child(self._node, "sequential_block")
        if body is not None:
            around = self.decisions.enter((body.start_byte, body.end_byte), (), (), 0)
            self._held(body, around)
        return self.decisions

    def marked(self, use: BlockUse) -> Decisions:
        self.read()
        for state, arm in marked_arms(use):
            asked = self._parts(*(one.pragma.condition or "" for one in arm.pragmas))
            place = arm.statement.start_byte, arm.statement.end_byte
            self.decisions.marked.setdefault(state, []).append((place, asked))
        return self.decisions

    def _symbol(self, name: str) -> Any:
        """What stands for a name: the Verilog's symbol, or a text where it has none, as variables and memories; None of
        one that is no signal."""
        name = plain(name)
        if name in self._variables:
            return f"{self._path}:{name}"
        if name not in self._within.declared or name == self._clock:
            return None
        for before in self._before:
            if (symbol := self._within.signals.get(before + name)) is not None:
                return symbol
        return f"{self._within.instance.path}.{name}"

    def _parts(self, *texts: str) -> frozenset[Part]:
        self.decisions.whole &= not any("\\" in text for text in texts)
        names = (word[1] for text in texts for word in _WORD.finditer(text) if word[1])
        return frozenset(Part(symbol) for name in names if (symbol := self._symbol(name)) is not None)

    def _held(self, node: Node | None, around: tuple[Branch, ...]) -> None:
        for one in children(node):
            if one.is_named and not one.type.startswith(("end_", "sequential_block_head")):
                self._look(one, around)

    def _look(self, statement: Node, around: tuple[Branch, ...]) -> None:
        kind = statement.type
        if kind == "if_statement_block":
            self._if(statement, around)
        elif kind == "case_statement":
            self._case(statement, around)
        elif kind == "loop_statement":
            self._statements += 1
            asked = self._parts(*(tidy(one) for one in children(statement, "while_loop", "for_loop")))
            place = statement.start_byte, statement.end_byte
            self._held(child(statement, "loop_body"), self.decisions.enter(place, around, asked, self._statements))
        elif kind == "sequential_block_statement":
            self._held(child(statement, "sequential_block"), around)
        elif kind.endswith("_assignment"):
            self._assignment(statement, around)
        elif kind == "procedure_call_statement":
            self.decisions.whole &= not self._parts(tidy(statement))  # it may assign some of them

    def _if(self, statement: Node, around: tuple[Branch, ...]) -> None:
        self._statements += 1
        number = self._statements
        asked: frozenset[Part] = frozenset()
        before: list[Guard] = []
        for branch in children(statement, "if_statement", "elsif_statement", "else_statement"):
            words = [one for one in children(branch) if one.type not in _NOT_IN]
            condition = tidy(words[0]) if words else ""
            asked |= self._parts(condition)
            terms = list(anded(condition)) if condition else []
            guards = [guard for term in terms for guard in self._equal(term)]
            inside = self.decisions.enter(
                (branch.start_byte, branch.end_byte), around, asked, number, (*before, *guards)
            )
            self._held(next(children(branch, *_HELD), None), inside)
            before += [one._replace(among=False) for one in guards if len(terms) == 1]

    def _equal(self, term: str) -> Iterator[Guard]:
        """What a term says of a signal: that it has a value with a name."""
        if equal := _EQUAL.fullmatch(term.strip()):
            for name, value in ((equal[1], equal[2]), (equal[2], equal[1])):
                yield from self._guard(name, {value})

    def _guard(self, name: str, values: set[str], among: bool = True) -> Iterator[Guard]:
        """Variables change within the process, and values without names may be written in several ways."""
        known = {*self._variables, *self._within.declared}
        named = all(_PLAIN.fullmatch(one) and plain(one) not in known for one in values)
        signal = named and _PLAIN.fullmatch(name) and plain(name) not in self._variables
        if signal and (symbol := self._symbol(name)) is not None:
            yield Guard(symbol, frozenset(map(plain, values)), among)

    def _case(self, statement: Node, around: tuple[Branch, ...]) -> None:
        self._statements += 1
        number = self._statements
        of = tidy(child(statement, "case_expression")).partition(" ")[2]
        alternatives = list(children(child(statement, "case_body"), "case_statement_alternative"))
        labels = [tidy(child(one, "when_element")).partition(" ")[2] for one in alternatives]
        asked = self._parts(of, *labels)
        every: set[str] = set()
        for one, label in zip(alternatives, labels, strict=True):
            values = {value.strip() for value in label.split("|")}
            others = label.lower() == "others"
            guards = tuple(self._guard(of, every if others else values, not others))
            every |= values
            place = one.start_byte, one.end_byte
            self._held(one, self.decisions.enter(place, around, asked, number, guards))

    def _assignment(self, statement: Node, around: tuple[Branch, ...]) -> None:
        operator = child(statement, "signal_assignment", "variable_assignment")
        target = child(statement, "name", "aggregate") or child(child(statement, "select_target"), "name", "aggregate")
        if operator is None or target is None:
            self.decisions.whole = False
            return
        inner = [target] if target.type == "name" else matches(target, "(name) @n")
        behind = text_of(statement).encode()[operator.start_byte - statement.start_byte :].decode()
        chosen = tidy(child(statement, "with_expression"))
        for one in inner:
            written = tidy(one)
            name = match[0] if (match := _PLAIN.match(written)) else ""
            symbol = self._symbol(name)
            if symbol is None:
                continue
            bit = None if self._clock or written == name or isinstance(symbol, str) else -1
            sources = self._parts(behind, chosen, written[len(name) :])
            self.decisions.assigned.append(Assigned(around, Part(symbol, bit), sources))
