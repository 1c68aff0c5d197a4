"""The agent in an FPGA, generated from a query: what counts each of its measures, cycle by cycle.

After Lancaster 2011, section 4.3, but for this: a frame that ends while the one before is still being sent goes on to
the next end, so that no cycle is left out; and `when` and `assert` are decided in hardware. The modules that
are joined are those of `resources/hdl/agent`.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from math import ceil

from rc_workbench_plugins.streaming.agents.conditions import edges_along
from rc_workbench_plugins.streaming.agents.joints import OFF, AgentBlock, AgentEdge, GroupKey
from rc_workbench_plugins.streaming.agents.layout import (
    LINK_BITS,
    AgentClock,
    Field,
    Group,
    HardwareAgent,
    Histogram,
    Monitor,
    Operand,
    Place,
    Trace,
)
from rc_workbench_plugins.streaming.agents.measured import Refused, Values, bits_for
from rc_workbench_plugins.streaming.agents.monitors import Monitors
from rc_workbench_plugins.streaming.agents.netlist import (
    Bits,
    Gate,
    Logic,
    PartSelect,
    Signal,
    both,
    verilog,
)
from rc_workbench_plugins.streaming.query.measures import Assert, Measure, Metric, Query, Statistic, Tap, operands
from workbench.api import Diagnostic, Severity

NAME = "stream_agent"


def hardware_agent(
    query: Query, edges: Sequence[AgentEdge], clocks: Sequence[AgentClock], file: str = "", name: str = NAME,
    blocks: Sequence[AgentBlock] = (), links: Sequence[Place] = (),
) -> HardwareAgent:  # fmt: skip
    """An agent for statements that need no other ends of edges than are in the FPGA, and states of `blocks` alone. What
    it cannot count is a warning with its line. It tells agents on other clocks what passes the places of `links`."""
    builder = _Builder({edge.edge.label: edge for edge in edges}, clocks, name, blocks)
    statements: list[Measure | Assert] = [*query.measures, *query.asserts]
    for statement in statements:
        before = deepcopy(builder)
        try:
            builder.measure(statement) if isinstance(statement, Measure) else builder.assertion(statement)
        except Refused as why:
            builder = before
            builder.refuse(statement, why, file)
    return builder.done(links)


class _Builder(Monitors):
    def refuse(self, statement: Measure | Assert, why: Refused, file: str) -> None:
        message = f"the agent in hardware leaves out '{statement.label or statement.text}': {why}"
        line, column = statement.line or None, statement.column or None
        problem = Diagnostic(message, why.hint, severity=Severity.WARNING, file=file or None, line=line, column=column)
        self._diagnostics.append(problem)

    def measure(self, of: Measure) -> None:
        clock = self._clock(of)
        key = self._group(of, clock)
        number = sum(map(len, self._groups.values()))
        gate = both(self._true(of.when, clock), self._counts(clock, number))
        values = self._values(of)
        at = f"m{len(self._diagnostics)}_{number}"
        counted, fields = of.metric not in (Metric.OCCUPANCY, Metric.VISITS), list[Field]()
        memory: Histogram | Trace | None = None
        if of.when:
            fields.append(Field("collected", 1))
        if counted:
            fields.append(Field("count", 1))
        width = 0
        if of.metric is Metric.VISITS:
            fields.append(Field("sum", 1))
        if not of.single:
            self._check_type(of, values)
            if of.statistic in (Statistic.MEAN, Statistic.SUM):
                width = ceil((values.bits + 32) / 32)
                fields.append(Field("sum", width, values.signed))
            elif of.statistic in (Statistic.MIN, Statistic.MAX):
                words, bias = ceil(values.bits / 32), -(1 << values.bits - 1) if values.signed else 0
                fields += [Field("least", words, bias=bias), Field("largest", words, bias=bias)]
            elif of.statistic is Statistic.HIST:
                memory = self._histogram(of, values, gate, key, at)
            else:
                memory = self._trace(of, values, gate, key, at)
        sample = self._wire(f"{at}_sample", both(values.event or True, gate))
        names = {field.name: field.words for field in fields}
        if fields:
            self._average(at, key, values, sample, gate, names)
        monitors = self._groups[key]
        if values.lost:
            lost = self._wire(f"{at}_lost", both(values.lost, gate))
            self._average(f"{at}_out", key, Values(None, Bits(0, 1), 1), lost, True, {"count": 1})
            fields.append(Field("lost", 1))
        fields += self._balances(of, key, at)
        monitors.append(Monitor(of, tuple(fields), memory, number, values.bias_ps, values.unsure_ps))

    def assertion(self, of: Assert) -> None:
        clock = self._clock(of.condition)
        truth = self._truth(of.condition, clock)
        number = sum(map(len, self._groups.values()))
        at = f"a{number}"
        first = next(operands(of.condition), None)
        key = self._group(replace(first, when=None) if first else None, clock)
        compared = list(self._instants(of, clock))
        width = 2 + sum(1 + part.bits for part, _, _ in compared)
        state = self.net.wire(f"{at}_state", width)
        for bit, logic in enumerate((truth.true, truth.false)):
            self.net.assigns[PartSelect(state, bit)] = logic
        for part, known, value in compared:
            self.net.assigns[PartSelect(state, part.low)] = known
            self.net.joins[PartSelect(state, part.low + 1, part.low + part.bits)] = value
        words = ceil(width / 32)
        parameters = {
            "VALUE_BITS": width, "KEY_BITS": 2, "VALUE_WORDS": words, "ROOM_BITS": bits_for(self._records), "STATE": 1,
        }  # fmt: skip
        counts = self._wire(f"{at}_counts", self._counts(clock, number))
        self._memory("agent_trace", at, key, parameters, counts=counts, sample=OFF, value=state,
                     since=self._frame_wire(key, "since"))  # fmt: skip
        trace = Trace(words, True, operands=tuple(part for part, _, _ in compared), records=self._records)
        self._groups[key].append(Monitor(of, tuple(self._balances(of, key, at)), trace, number))

    def _counts(self, clock: int, number: int) -> Logic:
        """Whether the monitor of that number counts in a cycle, whatever its condition says."""
        return both(self._ticks(clock), self._enabled(clock, number))

    def _instants(self, of: Assert, clock: int) -> Iterator[tuple[Operand, Logic, Signal]]:
        """The values of the moment that an assertion compares, as far as a record has room for them, and when they are
        known."""
        low = 2
        sides = [(n, side, *self._latest(side, clock)) for n, side in enumerate(operands(of.condition)) if side.instant]
        most = max((one.bits for *_, one, _ in sides), default=0)
        room = 64 if most <= 32 else 2 + 2 * (1 + most)  # bits of a record
        for number, side, values, known in sides:
            if values.bits > 1 and low + 1 + values.bits <= room:
                type_ = self._type(side) if side.metric is Metric.VALUE else ""
                yield Operand(number, low, values.bits, type_, values.bias_ps), known, values.value
                low += 1 + values.bits

    def _balances(self, of: Measure | Assert, key: GroupKey, at: str) -> Iterator[Field]:
        """Between the edges of paths that no statement before asked of, how many elements more are taken than given:
        +1 or -1 where only one of the two happens in a cycle."""
        for path in edges_along(of):
            if ("along", path) in self._names:
                continue
            self._names["along", path] = at
            seen = [label for label in path if self.edges[label].sees]
            if {self.edges[label].clock for label in seen} != {key.clock}:
                raise Refused("its edges are on several clocks")
            for number, (before, after) in enumerate(pairwise(seen)):
                name = f"{at}_passed_{len(self._names)}_{number}"
                if any(self.edges[label].far_ps is not None for label in (before, after)):
                    yield self._far_balance(name, before, after, key, path, number)
                    continue
                taken = f"{self._tap(before)}_{Tap.POP if Tap.POP in self.edges[before].sees else Tap.PUSH}"
                given = f"{self._tap(after)}_{Tap.PUSH if Tap.PUSH in self.edges[after].sees else Tap.POP}"
                one = [Gate("and", (a, Gate("not", (b,)))) for a, b in ((taken, given), (given, taken))]
                step = self.net.wire(f"{name}_step", 2)
                self.net.assigns[PartSelect(step, 0)], self.net.assigns[PartSelect(step, 1)] = True, given
                sample = self._wire(f"{name}_one", Gate("or", tuple(one)))
                self._average(name, key, Values(None, step, 2, signed=True), sample, True, {"sum": 1})
                yield Field(f"passed_{number}", 1, signed=True, along=path)

    def _far_balance(
        self, name: str, before: str, after: str, key: GroupKey, path: tuple[str, ...], number: int
    ) -> Field:
        """As `_balances`, of two edges that are not both on the agent's clock."""
        taken, given = (
            self._passes((label, tap))
            if self.edges[label].far_ps is not None
            else self._one(f"{name}_{tap}", label, tap)
            for label, tap in ((before, Tap.POP), (after, Tap.PUSH))
        )
        step = self.net.wire(f"{name}_step", LINK_BITS + 1)
        self.net.add("agent_difference", f"{name}_of", {"BITS": LINK_BITS}, a=taken, b=given, more=step)
        each = self._wire(f"{name}_each", True)
        self._average(name, key, Values(None, step, LINK_BITS + 1, signed=True), each, True, {"sum": 1})
        return Field(f"passed_{number}", 1, signed=True, along=path)

    def _one(self, name: str, label: str, tap: Tap) -> str:
        """How many elements pass a place on the agent's own clock."""
        wire = self.net.wire(name, LINK_BITS)
        self.net.joins[PartSelect(wire, 1, LINK_BITS - 1)] = Bits(0, LINK_BITS - 1)
        self.net.assigns[PartSelect(wire, 0)] = f"{self._tap(label)}_{tap}"
        return wire

    def done(self, links: Sequence[Place] = ()) -> HardwareAgent:
        for label, _ in links:
            self._tap(label)
        net, used = self.net, sorted({0, *(key.clock for key in self._groups)})
        for clock in used:
            net.inputs |= {f"clock_{clock}": 0, f"reset_{clock}": 0}
        net.inputs |= {"command_valid": 0, "command_data": 32, "report_ready": 0}
        net.outputs |= {"command_ready": 0, "report_valid": 0, "report_last": 0, "report_data": 32}
        self._taps()
        self._states()
        for number, place in enumerate(links):
            self._link(place, number)
        streams: dict[int, list[str]] = {clock: [] for clock in used}
        for clock in used:
            self._control(clock)
            streams[clock].append(f"c{clock}_told")
        for key in self._groups:
            streams[key.clock].append(self._frames(key))
        self._commands(used)
        joined = []
        for clock in used:
            one = self._merged(streams[clock], clock)
            joined.append(one if clock == 0 else self._crossed(one, clock))
        last = self._merged(joined, 0)
        for name in ("valid", "last", "data"):
            net.joins[f"report_{name}"] = f"{last}_{name}"
        net.joins[f"{last}_ready"] = "report_ready"
        return self._agent(used, tuple(links))

    def _agent(self, used: Sequence[int], links: tuple[Place, ...]) -> HardwareAgent:
        folder = files("workbench.resources").joinpath("hdl", "agent")
        modules = sorted({one.module for one in self.net.instances})

        texts = {f"{name}.v": folder.joinpath(f"{name}.v").read_text("utf-8") for name in modules}
        groups = tuple(
            Group(self._numbers[key], key.clock, tuple(monitors), key.length, bool(key.element))
            for key, monitors in self._groups.items()
        )
        data_bits = tuple(self._data.get(label, 0) for label in self._labels)
        tapped = tuple(("tap", label) in self._names for label in self._labels)
        return HardwareAgent(
            self.net.name, tuple(self._clocks), tuple(self._labels), data_bits, tapped, groups,
            {**texts, f"{self.net.name}.v": verilog(self.net)}, tuple(self._diagnostics), tuple(self._watched),
            links, tuple(self._far),
        )  # fmt: skip
