"""What an agent in hardware measures of an edge or a path, as numbers that are there in some cycles."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rc_workbench_plugins.streaming.agents.conditions import ends_of, withins_of
from rc_workbench_plugins.streaming.agents.joints import GroupKey, Joints
from rc_workbench_plugins.streaming.agents.layout import LINK_BITS, MOST_AT_ONCE, WHOLE, Place
from rc_workbench_plugins.streaming.agents.netlist import Bits, PartSelect, Signal
from rc_workbench_plugins.streaming.query.measures import (
    Condition,
    Measure,
    Metric,
    Statistic,
    Tap,
    Within,
)
from workbench.api.unstable import MOST_VALUE_BITS

WITHOUT_VALUES = "no single signal carries its words beside valid and ready"
_SLICE = (
    "Assign a slice of the words to a signal, and count it by a custom metric: //pragma recap mean NAME of SLICE when "
    "VALID && READY."
)
BETWEEN_BITS = 32  # of how many elements are along a path
ELSEWHERE = 4096  # elements that may be on that part of a path that is not in the FPGA


@dataclass(frozen=True)
class Values:
    """A number that is there in some cycles: on `event`, or where that is None in all."""

    event: str | None
    value: Signal
    bits: int
    signed: bool = False
    lost: str = ""  # goes high where an event's value is not known
    bias_ps: Fraction = Fraction(0)  # by which a time is longer than its cycles
    unsure_ps: Fraction = Fraction(0)


class Refused(Exception):
    """What an agent in hardware cannot do, in words, and where there is one what to ask instead."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.hint = hint


class EdgeNumbers(Joints):
    """Numbers of edges e<i>, of paths l<i> and between transfers i<i>, and the groups whose frames end together."""

    def _clock(self, of: Measure | Condition) -> int:
        clocks = {self.edges[label].clock for label, _ in ends_of(of)}  # far ones have their agent's
        clocks |= {self._blocks[one.block].clock for one in withins_of(of)}
        if len(clocks) > 1:
            raise Refused("its edges are on several clocks")
        return clocks.pop() if clocks else 0

    def _values(self, of: Measure) -> Values:
        if of.within:
            return self._of_states(of.within, of)
        edge = self._tap(of.edges[-1], of.metric is Metric.VALUE)
        match of.metric:
            case Metric.UTIL if len(self.edges[of.edges[-1]].sees) < len(Tap):
                raise Refused("only a trace shows how long its consumer waits for the bus")
            case Metric.RATE | Metric.UTIL:
                return Values(f"{edge}_{of.tap}", Bits(0, 1), 1)
            case Metric.BACKPRESSURE:
                return Values(f"{edge}_blocked", Bits(0, 1), 1)
            case Metric.OCCUPANCY if len(of.edges) > 1:
                return Values(None, self._between(of.edges), BETWEEN_BITS)
            case Metric.OCCUPANCY:
                return Values(None, f"{edge}_occupancy", self._occupancy_bits)
            case Metric.LATENCY:
                at = self._latency(of.edges)
                bias_ps, unsure_ps = self._bias_ps(of.edges)
                return Values(
                    f"{at}_sample", f"{at}_cycles", 32, lost=f"{at}_lost", bias_ps=bias_ps, unsure_ps=unsure_ps
                )
            case Metric.INTERVAL:
                at = self._interval(edge, of.tap)
                return Values(f"{at}_sample", f"{at}_cycles", 32)
        label = of.edges[-1]
        return Values(f"{edge}_push", f"{edge}_value", self._data[label], self.edges[label].element.signed)

    def _tap(self, label: str, data: bool = False) -> str:
        if self.edges[label].far_ps is not None:
            raise Refused(f"'{label}' is on another clock")
        at = self._tap_name(label)
        if data:
            edge = self.edges[label]
            if not edge.element.bits and (bits := edge.edge.bits) > MOST_VALUE_BITS:
                raise Refused(f"its words have {bits} bits; values of at most {MOST_VALUE_BITS} are counted", _SLICE)
            if not edge.element.bits:
                raise Refused(WITHOUT_VALUES)
            self._data[label] = edge.element.bits
        self._names[("tap", label)] = at
        return at

    def _latency(self, labels: Sequence[str]) -> str:
        if (known := self._names.get(("latency", *labels))) is not None:
            return known
        at = self._names[("latency", *labels)] = f"l{len(self._names)}"
        if self.edges[labels[0]].far_ps is not None:
            return self._far_latency(at, labels)
        first, last = self._tap(labels[0]), self._tap(labels[-1])
        clock = self.edges[labels[-1]].clock
        self.net.add(
            "agent_latency", at, {"ROOM_BITS": self._room_bits(labels)},
            clock=f"clock_{clock}", reset=f"c{clock}_reset_1",
            enters=f"{first}_push_1", leaves=f"{last}_pop_1", cycle=PartSelect(f"c{clock}_next", 0, 31),
            sample=self.net.wire(f"{at}_sample"), cycles=self.net.wire(f"{at}_cycles", 32),
            lost=self.net.wire(f"{at}_lost"),
        )  # fmt: skip
        return at

    def _room_bits(self, labels: Sequence[str]) -> int:
        inside = [edge.edge.depth + 2 for edge in map(self.edges.__getitem__, labels) if len(edge.sees) == len(Tap)]
        return bits_for(sum(inside) + 64 * (len(labels) - 1) + ELSEWHERE * (len(labels) > len(inside)))

    def _far_latency(self, at: str, labels: Sequence[str]) -> str:
        clock = self.edges[labels[-1]].clock
        self.net.add(
            "agent_far_latency", at, {"BITS": LINK_BITS, "ROOM_BITS": self._room_bits(labels)},
            clock=f"clock_{clock}", reset=f"c{clock}_reset_1", enters=self._passes((labels[0], Tap.PUSH)),
            leaves=self._leaves(labels), cycle=PartSelect(f"c{clock}_next", 0, 31),
            sample=self.net.wire(f"{at}_sample"), cycles=self.net.wire(f"{at}_cycles", 32),
            lost=self.net.wire(f"{at}_lost"),
        )  # fmt: skip
        return at

    def _late_cycles(self, labels: Sequence[str]) -> int:
        """How many cycles later than it happens one is told that an element came out of a path that begins on another
        clock, so that one knows by then that it came in."""
        far_ps, period_ps = self.edges[labels[0]].far_ps, self._clocks[self.edges[labels[-1]].clock].period_ps
        return int(far_ps / period_ps) if far_ps else 0

    def _bias_ps(self, labels: Sequence[str]) -> tuple[Fraction, Fraction]:
        """How much longer a time along a path is than the cycles that are counted, and by how much it may be off either
        way: an element that comes in on another clock is known a cycle of that later, at the second edge after it."""
        far_ps, half_ps = self.edges[labels[0]].far_ps, self._clocks[self.edges[labels[-1]].clock].period_ps / 2
        if far_ps is None:
            return Fraction(0), Fraction(0)
        return far_ps + half_ps - 2 * half_ps * self._late_cycles(labels), half_ps

    def _leaves(self, labels: Sequence[str]) -> str:
        """The wire that says, at the taps' first stage, that an element came out of a path, so many cycles later."""
        last, cycles = self._tap(labels[-1]), self._late_cycles(labels)
        if not cycles:
            return f"{last}_pop_1"
        if (known := self._names.get(("late", labels[-1], cycles))) is not None:
            return known
        at = self._names["late", labels[-1], cycles] = f"{last}_late_{cycles}"
        clock = self.edges[labels[-1]].clock
        self.net.add("agent_late", f"{at}_of", {"CYCLES": cycles}, clock=f"clock_{clock}", reset=f"reset_{clock}",
                     early=f"{last}_pop_1", late=self.net.wire(at))  # fmt: skip
        return at

    def _passes(self, place: Place) -> str:
        """How many elements passed a place that is on another clock."""
        if (known := self._names.get(("far", place))) is not None:
            return known
        edge, period_ps = self.edges[place[0]], self._clocks[0].period_ps
        if edge.far_ps is not None and period_ps > MOST_AT_ONCE * edge.far_ps:
            raise Refused(f"'{place[0]}' is on a clock that is more than {MOST_AT_ONCE} times faster")
        number = len(self._far)
        at = self._names["far", place] = f"far_{number}_passes"
        self._far.append(place)
        self.net.inputs[f"far_{number}"] = LINK_BITS
        self.net.add("agent_far", f"far_of_{number}", {"BITS": LINK_BITS}, clock="clock_0", gray=f"far_{number}",
                     passes=self.net.wire(at, LINK_BITS))  # fmt: skip
        return at

    def _between(self, labels: Sequence[str]) -> str:
        """How many elements a virtual queue holds, from the first edge's push to the last one's pop."""
        if (known := self._names.get(("between", *labels))) is not None:
            return known
        at = self._names[("between", *labels)] = f"q{len(self._names)}_held"
        clock = self.edges[labels[-1]].clock
        if self.edges[labels[0]].far_ps is not None:
            self.net.add(
                "agent_far_between", f"{at}_of", {"BITS": LINK_BITS}, clock=f"clock_{clock}",
                reset=f"c{clock}_reset_1", enters=self._passes((labels[0], Tap.PUSH)), leaves=self._leaves(labels),
                held=self.net.wire(at, BETWEEN_BITS),
            )  # fmt: skip
            return at
        first, last = self._tap(labels[0]), self._tap(labels[-1])
        self.net.add(
            "agent_between", f"{at}_of", {}, clock=f"clock_{clock}", reset=f"reset_{clock}", enters=f"{first}_push",
            leaves=f"{last}_pop", held=self.net.wire(at, BETWEEN_BITS),
        )  # fmt: skip
        return at

    def _of_states(self, within: Within, of: Measure) -> Values:
        at = self._state(within, first=of.when is None)
        match of.metric:
            case Metric.SHARE:
                return Values(f"{at}_there", Bits(0, 1), 1)
            case Metric.VISITS:
                return Values(f"{at}_begins", f"{at}_visits", 2)
            case Metric.TRANSITIONS:
                return Values(f"{at}_moves", Bits(0, 1), 1)
        return Values(f"{at}_ends", f"{at}_cycles", 32)

    def _state(self, within: Within, first: bool = True) -> str:
        """The wires that say of a block's states what is asked about; a visit that begins with the counting is one of
        those that no condition limits (`first`)."""
        if (known := self._names.get(("state", within, first))) is not None:
            return known
        block = self._blocks[within.block]
        at = self._names["state", within, first] = f"s{len(self._names)}"
        if block.id not in self._watched:
            self._watched.append(block.id)
        every = 1 << block.bits
        masks = (
            sum(1 << code for code in codes) if codes else (1 << every) - 1 for codes in (within.states, within.into)
        )
        chosen, into = (Bits(mask, every) for mask in masks)
        names = ("there", "ends", "begins", "moves")
        self.net.add(
            "agent_state", at, {"BITS": block.bits, "CHOSEN": chosen, "INTO": into, "FIRST": int(first)},
            clock=f"clock_{block.clock}", reset=f"c{block.clock}_reset", state=f"state_{self._watched.index(block.id)}",
            counts_1=f"c{block.clock}_counts_1", counts_2=f"c{block.clock}_counts_2",
            **{name: self.net.wire(f"{at}_{name}") for name in names}, visits=self.net.wire(f"{at}_visits", 2),
            cycles=self.net.wire(f"{at}_cycles", 32),
        )  # fmt: skip
        return at

    def _interval(self, edge: str, tap: Tap) -> str:
        if (known := self._names.get(("interval", edge, tap))) is not None:
            return known
        at = self._names[("interval", edge, tap)] = f"i{len(self._names)}"
        clock = self.edges[self._labels[int(edge[1:])]].clock
        self.net.add(
            "agent_interval", at, {}, clock=f"clock_{clock}", reset=f"c{clock}_reset_1", transfer=f"{edge}_{tap}",
            waits=f"{edge}_{'waiting' if tap is Tap.POP else 'blocked'}", counts=f"c{clock}_counts_2",
            sample=self.net.wire(f"{at}_sample"), cycles=self.net.wire(f"{at}_cycles", 32),
        )  # fmt: skip
        return at

    def _type(self, of: Measure) -> str:
        """That of the elements of which a measure sees values."""
        edge = self.edges[of.edges[-1]]
        return f"{'' if edge.value.signed else 'un'}signed{edge.value.bits}" if edge.value else edge.edge.type

    def _check_type(self, of: Measure, values: Values) -> None:
        type_ = self.edges[of.edges[-1]].edge.type if of.edges else ""
        if of.metric is Metric.VALUE and type_.startswith("float") and of.statistic is not Statistic.TRACE:
            raise Refused(f"hardware can only trace {type_} values")

    def _group(self, of: Measure | None, clock: int) -> GroupKey:
        """What measures have in common whose frames end together."""
        key = GroupKey(clock, WHOLE)
        if of and of.frame.elements:
            key = GroupKey(clock, of.frame.elements, f"{self._tap(of.edges[-1])}_{of.tap}")
        elif of and of.frame.time_ps:
            cycles = of.frame.time_ps / self._clocks[clock].period_ps
            if cycles.denominator != 1 or cycles < 1:
                raise Refused(f"a frame must be a whole number of cycles, and this one has {float(cycles):.6g}")
            key = GroupKey(clock, int(cycles))
        if key not in self._groups:
            self._numbers[key] = len(self._groups)
            self._groups[key] = []
        return key


def range_of(values: Values) -> tuple[int, int]:
    half = 1 << values.bits - 1
    return (-half, half - 1) if values.signed else (0, 2 * half - 1)


def bits_for(room: int) -> int:
    return max(1, (room - 1).bit_length())
