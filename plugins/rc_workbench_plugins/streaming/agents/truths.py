"""What an agent in hardware decides: the conditions of `when` and `assert`, as wires."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from rc_workbench_plugins.streaming.agents.conditions import RELATIONS, in_cycles, turned, whole
from rc_workbench_plugins.streaming.agents.joints import OFF
from rc_workbench_plugins.streaming.agents.measured import EdgeNumbers, Refused, Values, range_of
from rc_workbench_plugins.streaming.agents.netlist import Bits, Gate, Logic, PartSelect, Signal, both
from rc_workbench_plugins.streaming.query.measures import (
    And,
    Blocked,
    Comparison,
    Condition,
    InState,
    Measure,
    Metric,
    Not,
    Number,
    Or,
    Statistic,
)
from workbench.api.unstable import ValueType


@dataclass(frozen=True)
class Truth:
    """What a condition is worth (Kleene): `true` and `false` are low together while it is not known."""

    true: Logic
    false: Logic


class Truths(EdgeNumbers):
    """Comparison i is worth c<i>_holds where c<i>_known."""

    def _true(self, of: Condition | None, clock: int) -> Logic:
        return self._truth(of, clock).true if of else True

    def _truth(self, of: Condition, clock: int) -> Truth:
        match of:
            case Blocked(edge):
                wire = f"{self._tap(edge)}_blocked"
                return Truth(wire, Gate("not", (wire,)))
            case Not(inner):
                worth = self._truth(inner, clock)
                return Truth(worth.false, worth.true)
            case And(parts) | Or(parts):
                truths = [self._truth(part, clock) for part in parts]
                true, false = ("and", "or") if isinstance(of, And) else ("or", "and")
                return Truth(
                    Gate(true, tuple(one.true for one in truths)), Gate(false, tuple(one.false for one in truths))
                )
            case Comparison():
                known, holds = self._compared(turned(of), clock)
                return Truth(both(known, holds), both(known, Gate("not", (holds,))))
            case InState(within):
                wire = f"{self._state(within)}_there"
                return Truth(wire, Gate("not", (wire,)))

    def _compared(self, of: Comparison, clock: int) -> tuple[Logic, Logic]:
        """Whether both sides are known, and whether the relation holds then."""
        if (name := self._names.get(of)) is not None:
            return f"{name}_known", f"{name}_holds"
        left, right, relation = of.left, of.right, RELATIONS.index(of.relation)
        if not isinstance(left, Measure):
            raise Refused("it compares two numbers")
        if isinstance(right, Measure) and left.instant != right.instant:
            raise Refused("it compares an instantaneous value with a frame's")
        at = f"c{len(self._names)}"
        known: Logic
        holds: Logic = self.net.wire(f"{at}_is")
        if left.instant:
            known, holds = self._instant(at, left, of, clock)
        elif left.statistic in (Statistic.MIN, Statistic.MAX) and not left.single:
            known, holds = self._extreme(at, left, of, clock)
        else:
            known = self.net.wire(f"{at}_some")
            self._linear(at, left, right, relation, clock)
        self._names[of] = at
        return self._wire(f"{at}_known", known), self._wire(f"{at}_holds", holds)

    def _instant(self, at: str, left: Measure, of: Comparison, clock: int) -> tuple[Logic, Logic]:
        one, known = self._latest(left, clock)
        least, most = range_of(one)
        if isinstance(of.right, Measure):
            other, known_too = self._latest(of.right, clock)
            if one.bias_ps != other.bias_ps:
                raise Refused("it compares times of paths from different clocks")
            both_types = ValueType.around([ValueType(value.bits, value.signed) for value in (one, other)])
            limit = self._wide(f"{at}_other", other, both_types.bits)
            one = replace(one, value=self._wide(f"{at}_one", one, both_types.bits), **vars(both_types))
            known, relation = both(known, known_too), of.relation
        else:
            rounded = whole(of.relation, self._limit(left, one, of.right, clock), least, most)
            if rounded.answer is not None:
                return known, rounded.answer
            limit, relation = Bits(rounded.limit, one.bits), rounded.relation
        return known, self._relation(at, one, limit, relation)

    def _limit(self, of: Measure, values: Values, number: Number, clock: int) -> Fraction:
        """A number that a measure is compared with, as hardware counts it."""
        period_ps = self._clocks[clock].period_ps
        return in_cycles(of, number.value, period_ps) - values.bias_ps / period_ps

    def _wide(self, name: str, values: Values, bits: int) -> Signal:
        """Its value in so many bits."""
        if values.bits == bits:
            return values.value
        wire = self.net.wire(name, bits)
        self.net.joins[PartSelect(wire, 0, values.bits - 1)] = values.value
        for bit in range(values.bits, bits):
            self.net.joins[PartSelect(wire, bit)] = PartSelect(wire, values.bits - 1) if values.signed else Bits(0, 1)
        return wire

    def _relation(self, at: str, one: Values, limit: Signal, relation: str) -> str:
        parameters = {"BITS": one.bits, "IS_SIGNED": int(one.signed), "RELATION": RELATIONS.index(relation)}
        wire = self.net.wire(f"{at}_is")
        self.net.add("agent_relation", f"{at}_relation", parameters, a=one.value, b=limit, holds=wire)
        return wire

    def _latest(self, of: Measure, clock: int) -> tuple[Values, Logic]:
        """What an instant operand is worth, and when it is known."""
        values = self._values(of)
        gate = self._true(of.when, clock)
        if values.event is None:
            return values, gate
        self._check_type(replace(of, statistic=Statistic.MEAN), values)
        at = self._names.get(("latest", of, clock))
        if at is None:
            at = self._names["latest", of, clock] = f"v{len(self._names)}"
            self.net.add(
                "agent_last", at, {"VALUE_BITS": values.bits}, clock=f"clock_{clock}", reset=f"c{clock}_reset",
                sample=values.event, value=values.value, known=self.net.wire(f"{at}_known"),
                latest=self.net.wire(f"{at}_latest", values.bits),
            )  # fmt: skip
        return replace(values, value=f"{at}_latest"), both(f"{at}_known", gate)

    def _extreme(self, at: str, left: Measure, of: Comparison, clock: int) -> tuple[Logic, Logic]:
        """The truth of a comparison with the least or largest value of the last frame."""
        if isinstance(of.right, Measure):
            raise Refused("it compares a least or largest value with another measure")
        key, values = self._group(left, clock), self._values(left)
        self._check_type(left, values)
        gate = both(self._true(left.when, clock), self._ticks(clock))
        sample = self._wire(f"{at}_sample", both(values.event or True, gate))
        words = ceil(values.bits / 32)
        held = self.net.wire(f"{at}_held", 32 * (1 + 2 * words))
        self.net.add(
            "agent_average", at, {"VALUE_BITS": values.bits, "EXTREMES": words, "IS_SIGNED": int(values.signed),
             "WORDS": 1 + 2 * words},
            **self._clocked(key), collects=OFF, sample=sample, value=values.value,
            frame_end=self._frame_wire(key, "end"), shift=OFF, chain_in=Bits(0, 32),
            chain_out=self.net.wire(f"{at}_unused", 32), held=held,
        )  # fmt: skip
        some = Values(None, PartSelect(held, 0, 31), 32)
        known = self._relation(f"{at}_count", some, Bits(0, 32), ">")
        low = 32 + (0 if left.statistic is Statistic.MIN else 32 * words)
        least, most = range_of(values)
        rounded = whole(of.relation, self._limit(left, values, of.right, clock), least, most)
        if rounded.answer is not None:
            return known, rounded.answer
        bias = 1 << values.bits - 1 if values.signed else 0  # as they are held
        one = Values(None, PartSelect(held, low, low + values.bits - 1), values.bits)
        return known, self._relation(at, one, Bits(rounded.limit + bias, values.bits), rounded.relation)

    def _linear(self, at: str, left: Measure, right: Measure | Number, relation: int, clock: int) -> None:
        """The truth of a comparison of sums or quotients: a sum on each side."""
        key = self._group(left, clock)
        gate = both(self._true(left.when, clock), self._ticks(clock))
        a, base = self._summed(left), Fraction(1)
        a_sample = self._wire(f"{at}_a", both(a.event or True, gate))
        some: Logic = a_sample
        if isinstance(right, Measure):
            if self._group(right, clock) != key or left.when != right.when or not (left.single and right.single):
                raise Refused("it compares quotients with divisors of their own")
            b = self._summed(right)
            b_sample, some = self._wire(f"{at}_b", both(b.event or True, gate)), gate
        else:
            b, base = Values(None, Bits(1, 1), 1), self._limit(left, a, right, clock)
            if left.metric in (Metric.VISITS, Metric.TRANSITIONS):
                raise Refused("hardware cannot compare how often something happens in a frame")
            if left.statistic is Statistic.SUM and not left.single:
                raise Refused("hardware cannot compare a sum over a frame")
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

    def _summed(self, of: Measure) -> Values:
        values = self._values(of)
        self._check_type(of, values)
        return replace(values, value=Bits(1, 1), bits=1) if of.single else values
