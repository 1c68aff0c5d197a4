"""Metrics of one's own whose states the new top makes of what the design tells: bins of a histogram, what has come of a
sequence, and whether an assertion held."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from workbench.api.instrument.checker import Checker, as_verilog, checker
from workbench.api.instrument.probes import AGE_BITS, state_bits
from workbench.model.custom import FAILED, HELD, CustomMetric, MetricKind, ValueType
from workbench.model.hardware import Clock

#: The module that sorts a value into its bins, which the agents of queries have too (`resources/hdl/agent`).
BIN_MODULE, BIN_SOURCE = "recap_bin", "agent/agent_bin.v"
DERIVED = (MetricKind.HISTOGRAM, MetricKind.SEQUENCE, MetricKind.ASSERT)


@dataclass(frozen=True)
class MetricProbe:
    """Such a metric: its number among the blocks, its clock, the lowest bit of what the design tells of it, and that of
    its state, both in the state vector; and the type of its signal's values."""

    block: int
    metric: CustomMetric
    clock: Clock
    told: int
    lsb: int
    value: ValueType | None = None

    @property
    def state_bits(self) -> int:
        return state_bits(len(self.metric.states) + 1)

    @property
    def is_strong(self) -> bool:
        """Whether what is open at the end of the run has failed: above the state are then a bit, whether a check is
        open behind the cycle, and the age of the oldest."""
        return self.metric.checks is not None and self.metric.checks.is_strong

    @property
    def bits(self) -> int:
        return self.state_bits + (1 + AGE_BITS if self.is_strong else 0)

    def text(self, reset: str, state: str) -> Iterator[str]:
        """Verilog at the top that computes its state, as late as the signals that it reads."""
        if self.metric.kind is MetricKind.HISTOGRAM:
            yield from self._bins(state)
        elif self.metric.kind is MetricKind.ASSERT:
            yield from self._assertion(reset, state)
        else:
            yield from self._sequence(reset, state)

    def _bins(self, state: str) -> Iterator[str]:
        bits, bounds, name = self.state_bits, self.metric.bounds, f"recap_bin_{self.block}"
        assert self.value is not None
        own = self.value.bits
        top = f"{state}[{self.told + own}]" if self.value.signed else "1'b0"
        width = 1 + max(own, *(bound.bit_length() for bound in bounds))  # in which the bounds are numbers too
        value = f"{{{{{width - own}{{{top}}}}}, {state}[{self.told + 1} +: {own}]}}"
        at = ", ".join(f"{width}'h{bound & (1 << width) - 1:x}" for bound in reversed(bounds))
        sizes = f".VALUE_BITS({width}), .IS_SIGNED(1), .BIN_BITS({bits}), .BOUNDS({len(bounds)}), .AT({{{at}}})"
        yield f"    wire [{bits - 1}:0] {name};"
        yield f"    {BIN_MODULE} #({sizes}) {name}_of (.value({value}), .bin({name}));"
        yield f"    assign {state}[{self.lsb} +: {bits}] = {state}[{self.told}] ? {name} + 1'b1 : {bits}'d0;"

    def _assertion(self, reset: str, state: str) -> Iterator[str]:
        """Registers that follow started attempts; reset, and an abort of the assertion, set them to 0."""
        temporal = self.metric.checks
        assert temporal is not None
        made, number = checker(temporal), self.block
        over, waits, later = f"recap_when_{number}", f"recap_due_{number}", f"recap_next_{number}"
        bits = len(made.next)
        given_up = f"{over}[{temporal.disable}]" if temporal.disable is not None else "1'b0"

        def verilog(text: str) -> str:
            return as_verilog(text, {"c": over, "s": waits, "n": later})

        asked = len(self.metric.conditions)
        yield f"    wire [{asked - 1}:0] {over} = {state}[{self.told} +: {asked}];"
        if bits:
            yield f"    reg [{bits - 1}:0] {waits} = 0;  // what is waited for"
            yield f"    wire [{bits - 1}:0] {later};"
            yield from (f"    assign {later}[{n}] = {verilog(text)};" for n, text in enumerate(made.next))
            yield f"    reg {waits}_reset = 0;"
            yield f"    always @(posedge {self.clock.pin}) begin"
            yield f"        {waits}_reset <= {reset};"
            yield f"        {waits} <= ({reset}) | {waits}_reset | {given_up} ? {bits}'d0 : {later};"
            yield "    end"
        yield f"    assign {state}[{self.lsb} +: 2] = {given_up} ? 2'd0 : {verilog(made.failed)} ? 2'd{FAILED} :"
        yield f"        {verilog(made.held)} ? 2'd{HELD} : 2'd0;"
        if self.is_strong:
            yield from self._open(made, verilog, given_up, f"{state}[{self.lsb + self.state_bits} +: {1 + AGE_BITS}]")

    def _open(self, made: Checker, verilog: Callable[[str], str], given_up: str, bits: str) -> Iterator[str]:
        """Whether a check is open behind a cycle, and how many cycles before that the oldest began. Cycles are numbered
        by a counter of the clock's own."""
        now, begun, none = f"recap_now_{self.block}", f"recap_begun_{self.block}", f"{AGE_BITS}'d0"
        ages = sorted(made.open_ages, key=lambda one: -one[1])
        whens = [when for when, _ in ages] + [f"n[{register}]" for register in made.open_begun]
        age = "".join(f"{verilog(when)} ? {AGE_BITS}'d{age} : " for when, age in ages) + none
        if made.begun:
            yield f"    reg [{AGE_BITS - 1}:0] {now} = 0;"
            yield f"    always @(posedge {self.clock.pin}) {now} <= {now} + 1'b1;"
            for register, sources in made.begun.items():
                yield f"    reg [{AGE_BITS - 1}:0] {begun}_{register} = 0;"
                of_each = [(verilog(when), now if before is None else f"{begun}_{before}") for before, when in sources]
                yield from self._oldest(f"{begun}_{register}_next", of_each, now)
                yield f"    always @(posedge {self.clock.pin}) {begun}_{register} <= {begun}_{register}_next;"
            of_open = [(verilog(f"n[{register}]"), f"{begun}_{register}_next") for register in made.open_begun]
            of_open += [(verilog(when), f"({now} - {AGE_BITS}'d{age_})") for when, age_ in ages]
            yield from self._oldest(f"{begun}_first", of_open, now)
            age = f"{now} - {begun}_first"
        yield f"    assign {bits} = {{~{given_up} & ({' | '.join(map(verilog, whens))}), {age}}};"

    def _oldest(self, name: str, of_each: Sequence[tuple[str, str]], now: str) -> Iterator[str]:
        """A wire that is the least of some cycles, of those for which it holds what is asked; else this one."""
        for number, (when, cycle) in enumerate(of_each):
            before = f"{name}_{number - 1}" if number else now
            last = f"{name}_{number}" if number < len(of_each) - 1 else name
            yield f"    wire [{AGE_BITS - 1}:0] {last} = {when} && {cycle} < {before} ? {cycle} : {before};"

    def _sequence(self, reset: str, state: str) -> Iterator[str]:
        left, most = f"recap_left_{self.block}", self.metric.within
        bits, none = most.bit_length(), f"{most.bit_length()}'d0"
        first, then = f"{state}[{self.told}]", f"{state}[{self.told + 1}]"
        yield f"    reg [{bits - 1}:0] {left} = 0;  // cycles in which the second condition may come"
        yield f"    reg {left}_reset = 0;"
        yield f"    always @(posedge {self.clock.pin}) begin"
        yield f"        {left}_reset <= {reset};"
        yield f"        {left} <= ({reset}) | {left}_reset ? {none} : {first} ? {bits}'d{most} :"
        yield f"            {then} | {left} == {none} ? {none} : {left} - 1'b1;"
        yield "    end"
        yield f"    assign {state}[{self.lsb} +: 2] = {left} == {none} ? 2'd0 : {then} ? 2'd2 :"
        yield f"        {left} == {bits}'d1 ? 2'd3 : 2'd1;"
