"""The agent in an FPGA, generated from a query: what counts each of its measures, cycle by cycle.

After Lancaster 2011, section 4.3, but for this: a frame that ends while the one before is still being sent goes on to
the next end, so that no cycle is left out; and `when` and `assert` are decided in hardware. The modules that
are joined are those of `resources/hdl/agent`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.resources import files
from math import ceil

from rc_workbench_plugins.streaming.agents.bins import binned
from rc_workbench_plugins.streaming.agents.conditions import RELATIONS, edges_of, in_cycles, turned, whole
from rc_workbench_plugins.streaming.agents.joints import OFF, AgentEdge, GroupKey, Joints
from rc_workbench_plugins.streaming.agents.layout import (
    AgentClock,
    Field,
    Group,
    HardwareAgent,
    Histogram,
    Monitor,
    Trace,
)
from rc_workbench_plugins.streaming.agents.netlist import Bits, Gate, Logic, Part, Signal, both, verilog
from rc_workbench_plugins.streaming.query.measures import (
    And,
    Assert,
    Blocked,
    Comparison,
    Condition,
    Measure,
    Metric,
    Not,
    Number,
    Or,
    Query,
    Statistic,
    operands,
)
from workbench.model.diagnostic import Diagnostic, Severity

TRACE_RECORDS = 256  # in a frame
NAME = "stream_agent"


@dataclass(frozen=True)
class _Values:
    """A number that is there in some cycles: on `event`, or where that is None in all."""

    event: str | None
    value: Signal
    bits: int
    signed: bool = False
    lost: str = ""  # goes high where an event's value is not known


@dataclass(frozen=True)
class _Truth:
    """What a condition is worth (Kleene): `true` and `false` are low together while it is not known."""

    true: Logic
    false: Logic


class _Refused(Exception):
    """What an agent in hardware cannot do, in words."""


def hardware_agent(
    query: Query, edges: Sequence[AgentEdge], clocks: Sequence[AgentClock], file: str = "", name: str = NAME
) -> HardwareAgent:
    """An agent for the statements of which all edges are in hardware. What it cannot count is a warning with its line;
    statements that stand in part on other edges are among these, unless none of theirs is in hardware."""
    builder = _Builder({edge.edge.label: edge for edge in edges}, clocks, name)
    statements: list[Measure | Assert] = [*query.measures, *query.asserts]
    for statement in statements:
        of = statement if isinstance(statement, Measure) else statement.condition
        inside = [label in builder.edges for label in edges_of(of)]
        if not any(inside):
            continue
        before = deepcopy(builder)
        try:
            if not all(inside):
                raise _Refused("it stands on edges in hardware and elsewhere: no one agent sees both")
            builder.measure(statement) if isinstance(statement, Measure) else builder.assertion(statement)
        except _Refused as why:
            builder = before
            builder.refuse(statement, str(why), file)
    return builder.done()


class _Builder(Joints):
    def refuse(self, statement: Measure | Assert, why: str, file: str) -> None:
        message = f"the agent in hardware leaves out '{statement.label or statement.text}': {why}"
        line, column = statement.line or None, statement.column or None
        problem = Diagnostic(message, severity=Severity.WARNING, file=file or None, line=line, column=column)
        self._diagnostics.append(problem)

    # statements

    def measure(self, of: Measure) -> None:
        clock = self._clock(of)
        gate = self._true(of.when, clock)
        key = self._group(of, clock)
        values = self._values(of)
        at = f"m{len(self._diagnostics)}_{sum(map(len, self._groups.values()))}"
        counted, fields = of.metric is not Metric.OCCUPANCY, list[Field]()
        memory: Histogram | Trace | None = None
        if of.when:
            fields.append(Field("collected", 1))
        if counted:
            fields.append(Field("count", 1))
        width = 0
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
            self._average(f"{at}_out", key, _Values(None, Bits(0, 1), 1), lost, True, {"count": 1})
            fields.append(Field("lost", 1))
        monitors.append(Monitor(of, tuple(fields), memory))

    def assertion(self, of: Assert) -> None:
        clock = self._clock(of.condition)
        truth = self._truth(of.condition, clock)
        at = f"a{sum(map(len, self._groups.values()))}"
        first = next(operands(of.condition), None)
        key = self._group(replace(first, when=None) if first else None, clock)
        state = self.net.wire(f"{at}_state", 2)
        for bit, logic in enumerate((truth.true, truth.false)):
            self.net.assigns[Part(state, bit)] = logic
        self._memory("agent_trace", at, key, {"VALUE_BITS": 2, "ROOM_BITS": _log2(TRACE_RECORDS), "STATE": 1},
                     sample=OFF, value=state, since=self._frame_wire(key, "since"))  # fmt: skip
        self._groups[key].append(Monitor(of, (), Trace(1, True)))

    def _check_type(self, of: Measure, values: _Values) -> None:
        type_ = self.edges[of.edges[-1]].edge.type
        if of.metric is Metric.VALUE and type_.startswith("float") and of.statistic is not Statistic.TRACE:
            raise _Refused(f"of {type_} only a trace is taken in hardware")

    # monitors

    def _average(
        self, at: str, key: GroupKey, values: _Values, sample: str, gate: Logic, words: dict[str, int]
    ) -> None:
        made = {name.upper(): words.get(name, 0) for name in ("collected", "count", "sum")}
        held = sum(words.values())
        self.net.add(
            "agent_average", at,
            {"VALUE_BITS": values.bits, **made, "EXTREMES": words.get("least", 0), "IS_SIGNED": int(values.signed),
             "WORDS": held},
            **self._clocked(key), collects=self._wire(f"{at}_gate", gate), sample=sample, value=values.value,
            frame_end=self._frame_wire(key, "end"), shift=self._frame_wire(key, "shift"),
            chain_in=self.net.wire(f"{at}_in", 32), chain_out=self.net.wire(f"{at}_chain", 32),
            held=self.net.wire(f"{at}_held", 32 * held),
        )  # fmt: skip
        self._chains.setdefault(key, []).append((at, held))

    def _histogram(self, of: Measure, values: _Values, gate: Logic, key: GroupKey, at: str) -> Histogram:
        period = self._clocks[self._clock(of)].period_ps
        least, most = _range_of(values)
        if of.metric is Metric.OCCUPANCY:
            most = self.edges[of.edges[-1]].edge.depth
        found = binned([in_cycles(of, bound, period) for bound in of.bins], least, most)
        bounds = len(found.bounds)
        bits = max(1, bounds.bit_length())
        table = sum((bound & ((1 << values.bits) - 1)) << i * values.bits for i, bound in enumerate(found.bounds))
        parameters: dict[str, int | Bits] = {
            "VALUE_BITS": values.bits, "IS_SIGNED": int(values.signed), "BIN_BITS": bits, "BOUNDS": bounds,
            "EVEN": int(found.scale > 0), "SCALE": Bits(found.scale, 48), "SHIFT": found.shift,
            "AT": Bits(table, values.bits * bounds),
        }  # fmt: skip
        bin_ = self.net.wire(f"{at}_bin", bits)
        self.net.add("agent_bin", f"{at}_bins", parameters, value=values.value, bin=bin_)
        sample = self._wire(f"{at}_hit", both(values.event or True, gate))
        self._memory("agent_histogram", at, key, {"BIN_BITS": bits, "BINS": bounds + 1}, sample=sample, bin=bin_)
        return Histogram(found.bin_of, len(of.bins) + 1)

    def _trace(self, of: Measure, values: _Values, gate: Logic, key: GroupKey, at: str) -> Trace:
        if values.event is None and of.when:
            raise _Refused("a trace of occupancy is taken of all cycles, without 'when'")
        sample = self._wire(f"{at}_hit", both(values.event or True, gate))
        parameters = {
            "VALUE_BITS": values.bits, "VALUE_WORDS": ceil(values.bits / 32), "ROOM_BITS": _log2(TRACE_RECORDS),
            "STATE": int(values.event is None),
        }  # fmt: skip
        self._memory("agent_trace", at, key, parameters, sample=sample, value=values.value,
                     since=self._frame_wire(key, "since"))  # fmt: skip
        type_ = self.edges[of.edges[-1]].edge.type if of.metric is Metric.VALUE else "unsigned64"
        return Trace(ceil(values.bits / 32), values.event is None, type_)

    def _memory(self, module: str, at: str, key: GroupKey, parameters: dict[str, int], **ports: Signal) -> None:
        memories = self._memories.setdefault(key, [])
        number, group = len(memories), self._numbers[key]
        memories.append(at)
        self.net.add(
            module, f"{at}_memory", parameters, **self._clocked(key), **ports,
            frame_end=self._frame_wire(key, "end"), selected=Part(f"g{group}_selected", number),
            take=f"g{group}_take", ready=Part(f"g{group}_ready", number), last=Part(f"g{group}_last", number),
            word_in=f"g{group}_word_{number - 1}" if number else Bits(0, 32),
            word=self.net.wire(f"g{group}_word_{number}", 32),
        )  # fmt: skip

    # what is measured

    def _clock(self, of: Measure | Condition) -> int:
        found = {self.edges[label].clock for label in edges_of(of)}
        if len(found) > 1:
            raise _Refused("its edges stand on several clocks")
        return found.pop() if found else 0

    def _values(self, of: Measure) -> _Values:
        edge = self._tap(of.edges[-1], of.metric is Metric.VALUE)
        match of.metric:
            case Metric.RATE | Metric.UTIL:
                return _Values(f"{edge}_{of.tap}", Bits(0, 1), 1)
            case Metric.BACKPRESSURE:
                return _Values(f"{edge}_blocked", Bits(0, 1), 1)
            case Metric.OCCUPANCY:
                return _Values(None, f"{edge}_occupancy", self._occupancy_bits)
            case Metric.LATENCY:
                at = self._latency(of.edges)
                return _Values(f"{at}_sample", f"{at}_cycles", 32, lost=f"{at}_lost")
        label = of.edges[-1]
        return _Values(f"{edge}_push", f"{edge}_value", self._data[label], self.edges[label].edge.type.startswith("s"))

    def _tap(self, label: str, data: bool = False) -> str:
        at = f"e{self._labels.index(label)}"
        if data:
            self._data[label] = 8 * self.edges[label].edge.width_bytes
        self._made[("tap", label)] = at
        return at

    def _latency(self, labels: Sequence[str]) -> str:
        if (made := self._made.get(("latency", *labels))) is not None:
            return made
        at = self._made[("latency", *labels)] = f"l{len(self._made)}"
        first, last = self._tap(labels[0]), self._tap(labels[-1])
        room = sum(self.edges[label].edge.depth + 2 for label in labels) + 64 * (len(labels) - 1)
        clock = self.edges[labels[-1]].clock
        self.net.add(
            "agent_latency", at, {"ROOM_BITS": _log2(room)}, clock=f"clock_{clock}", reset=f"c{clock}_reset_1",
            enters=f"{first}_push_1", leaves=f"{last}_pop_1", cycle=Part(f"c{clock}_cycle", 0, 31),
            sample=self.net.wire(f"{at}_sample"), cycles=self.net.wire(f"{at}_cycles", 32),
            lost=self.net.wire(f"{at}_lost"),
        )  # fmt: skip
        return at

    # conditions

    def _true(self, of: Condition | None, clock: int) -> Logic:
        return self._truth(of, clock).true if of else True

    def _truth(self, of: Condition, clock: int) -> _Truth:
        match of:
            case Blocked(edge):
                wire = f"{self._tap(edge)}_blocked"
                return _Truth(wire, Gate("not", (wire,)))
            case Not(inner):
                worth = self._truth(inner, clock)
                return _Truth(worth.false, worth.true)
            case And(parts) | Or(parts):
                found = [self._truth(part, clock) for part in parts]
                true, false = ("and", "or") if isinstance(of, And) else ("or", "and")
                return _Truth(
                    Gate(true, tuple(one.true for one in found)), Gate(false, tuple(one.false for one in found))
                )
            case Comparison():
                known, holds = self._compared(turned(of), clock)
                return _Truth(both(known, holds), both(known, Gate("not", (holds,))))

    def _compared(self, of: Comparison, clock: int) -> tuple[Logic, Logic]:
        """Whether both sides are known, and whether the relation holds then."""
        if (made := self._made.get(of)) is not None:
            return f"{made}_known", f"{made}_holds"
        left, right, relation = of.left, of.right, RELATIONS.index(of.relation)
        if not isinstance(left, Measure):
            raise _Refused("it compares two numbers")
        if isinstance(right, Measure) and left.instant != right.instant:
            raise _Refused("it compares a value of the moment with one of a frame")
        at = f"c{len(self._made)}"
        known: Logic
        holds: Logic = self.net.wire(f"{at}_is")
        if left.instant:
            known, holds = self._instant(at, left, of, clock)
        elif left.statistic in (Statistic.MIN, Statistic.MAX) and not left.single:
            known, holds = self._extreme(at, left, of, clock)
        else:
            known = self.net.wire(f"{at}_some")
            self._linear(at, left, right, relation, clock)
        self._made[of] = at
        return self._wire(f"{at}_known", known), self._wire(f"{at}_holds", holds)

    def _instant(self, at: str, left: Measure, of: Comparison, clock: int) -> tuple[Logic, Logic]:
        one, known = self._latest(left, clock)
        least, most = _range_of(one)
        if isinstance(of.right, Measure):
            other, known_too = self._latest(of.right, clock)
            if (one.bits, one.signed) != (other.bits, other.signed):
                raise _Refused("it compares values of different types")
            known, limit, relation = both(known, known_too), other.value, of.relation
        else:
            found = whole(of.relation, in_cycles(left, of.right.value, self._clocks[clock].period_ps), least, most)
            if found.answer is not None:
                return known, found.answer
            limit, relation = Bits(found.limit, one.bits), found.relation
        return known, self._relation(at, one, limit, relation)

    def _relation(self, at: str, one: _Values, limit: Signal, relation: str) -> str:
        parameters = {"BITS": one.bits, "IS_SIGNED": int(one.signed), "RELATION": RELATIONS.index(relation)}
        wire = self.net.wire(f"{at}_is")
        self.net.add("agent_relation", f"{at}_relation", parameters, a=one.value, b=limit, holds=wire)
        return wire

    def _latest(self, of: Measure, clock: int) -> tuple[_Values, Logic]:
        """What an instant operand is worth, and when it is known."""
        values = self._values(of)
        gate = self._true(of.when, clock)
        if values.event is None:
            return values, gate
        self._check_type(replace(of, statistic=Statistic.MEAN), values)
        at = f"v{len(self._made)}"
        self._made[("latest", at)] = at
        latest, known = self.net.wire(f"{at}_latest", values.bits), self.net.wire(f"{at}_known")
        self.net.add(
            "agent_last", at, {"VALUE_BITS": values.bits}, clock=f"clock_{clock}", reset=f"c{clock}_reset",
            sample=values.event, value=values.value, known=known, latest=latest,
        )  # fmt: skip
        return replace(values, value=latest), both(known, gate)

    def _extreme(self, at: str, left: Measure, of: Comparison, clock: int) -> tuple[Logic, Logic]:
        """Of the least or the largest value of the last frame."""
        if isinstance(of.right, Measure):
            raise _Refused("it compares a least or largest value with another measure")
        key, values = self._group(left, clock), self._values(left)
        self._check_type(left, values)
        sample = self._wire(f"{at}_sample", both(values.event or True, self._true(left.when, clock)))
        words = ceil(values.bits / 32)
        held = self.net.wire(f"{at}_held", 32 * (1 + 2 * words))
        self.net.add(
            "agent_average", at, {"VALUE_BITS": values.bits, "EXTREMES": words, "IS_SIGNED": int(values.signed),
             "WORDS": 1 + 2 * words},
            **self._clocked(key), collects=OFF, sample=sample, value=values.value,
            frame_end=self._frame_wire(key, "end"), shift=OFF, chain_in=Bits(0, 32),
            chain_out=self.net.wire(f"{at}_unused", 32), held=held,
        )  # fmt: skip
        some = _Values(None, Part(held, 0, 31), 32)
        known = self._relation(f"{at}_count", some, Bits(0, 32), ">")
        low = 32 + (0 if left.statistic is Statistic.MIN else 32 * words)
        least, most = _range_of(values)
        found = whole(of.relation, in_cycles(left, of.right.value, self._clocks[clock].period_ps), least, most)
        if found.answer is not None:
            return known, found.answer
        bias = 1 << values.bits - 1 if values.signed else 0  # as they are held
        one = _Values(None, Part(held, low, low + values.bits - 1), values.bits)
        return known, self._relation(at, one, Bits(found.limit + bias, values.bits), found.relation)

    def _linear(self, at: str, left: Measure, right: Measure | Number, relation: int, clock: int) -> None:
        """Of sums and of quotients: a sum on one side, a sum on the other."""
        key = self._group(left, clock)
        gate = self._true(left.when, clock)
        a, base = self._summed(left), Fraction(1)
        a_sample = self._wire(f"{at}_a", both(a.event or True, gate))
        some: Logic = a_sample
        if isinstance(right, Measure):
            if self._group(right, clock) != key or left.when != right.when or not (left.single and right.single):
                raise _Refused("it compares quotients with divisors of their own")
            b = self._summed(right)
            b_sample, some = self._wire(f"{at}_b", both(b.event or True, gate)), gate
        else:
            b, base = _Values(None, Bits(1, 1), 1), in_cycles(left, right.value, self._clocks[clock].period_ps)
            if left.statistic is Statistic.SUM and not left.single:
                raise _Refused("a sum over a frame is not compared in hardware")
            divisor = True if left.single or a.event is None else a.event
            b_sample = self._wire(f"{at}_b", both(divisor, gate))
            some = b_sample
        bits = 34 + max(a.bits + base.denominator.bit_length(), b.bits + abs(base.numerator).bit_length())
        parameters: dict[str, int | Bits] = {
            "BITS": bits, "A_BITS": a.bits, "B_BITS": b.bits, "IS_SIGNED": int(a.signed), "RELATION": relation,
            "A_SCALE": Bits(base.denominator, bits), "B_SCALE": Bits(base.numerator, bits),
        }  # fmt: skip
        if a.signed:
            parameters["B_BITS"], b = 2, replace(b, value=Bits(1, 2))
        self.net.add(
            "agent_compare", at, parameters, **self._clocked(key), any=self._wire(f"{at}_any", some),
            a_sample=a_sample, a=a.value, b_sample=b_sample, b=b.value, frame_end=self._frame_wire(key, "end"),
            known=f"{at}_some", holds=f"{at}_is",
        )  # fmt: skip

    def _summed(self, of: Measure) -> _Values:
        values = self._values(of)
        self._check_type(of, values)
        return replace(values, value=Bits(1, 1), bits=1) if of.single else values

    def _group(self, of: Measure | None, clock: int) -> GroupKey:
        """What measures have in common whose frames end together."""
        key = GroupKey(clock)
        if of and of.frame.elements:
            key = GroupKey(clock, 2, of.frame.elements, f"{self._tap(of.edges[-1])}_{of.tap}")
        elif of and of.frame.time_ps:
            cycles = of.frame.time_ps / self._clocks[clock].period_ps
            if cycles.denominator != 1 or cycles < 1:
                raise _Refused(f"a frame is a whole number of cycles, and its time is {float(cycles):.6g} of them")
            key = GroupKey(clock, 1, int(cycles))
        if key not in self._groups:
            self._numbers[key] = len(self._groups)
            self._groups[key] = []
        return key

    # the whole

    def done(self) -> HardwareAgent:
        net, used = self.net, sorted({0, *(key.clock for key in self._groups)})
        for clock in used:
            net.inputs |= {f"clock_{clock}": 0, f"reset_{clock}": 0}
        net.inputs |= {"command_valid": 0, "command_data": 32, "report_ready": 0}
        net.outputs |= {"command_ready": 0, "report_valid": 0, "report_last": 0, "report_data": 32}
        self._taps()
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
        return self._agent(used)

    def _agent(self, used: Sequence[int]) -> HardwareAgent:
        folder = files("workbench.resources").joinpath("hdl", "agent")
        modules = sorted({one.module for one in self.net.instances})
        texts = {f"{name}.v": folder.joinpath(f"{name}.v").read_text("utf-8") for name in modules}
        texts[f"{self.net.name}.v"] = verilog(self.net)
        groups = tuple(Group(self._numbers[key], key.clock, tuple(monitors)) for key, monitors in self._groups.items())
        data_bits = tuple(self._data.get(label, 0) for label in self._labels)
        tapped = tuple(("tap", label) in self._made for label in self._labels)
        return HardwareAgent(
            self.net.name, tuple(self._clocks), tuple(self._labels), data_bits, tapped, groups, texts,
            tuple(self._diagnostics),
        )  # fmt: skip


def _range_of(values: _Values) -> tuple[int, int]:
    half = 1 << values.bits - 1
    return (-half, half - 1) if values.signed else (0, 2 * half - 1)


def _log2(room: int) -> int:
    return max(1, (room - 1).bit_length())
