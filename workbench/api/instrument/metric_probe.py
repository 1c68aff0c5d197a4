"""Metrics of one's own whose states the new top makes of what the design tells: bins of a histogram, what has come of a
sequence, and whether an assertion held."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.api.instrument.checker import checker
from workbench.api.instrument.probes import state_bits
from workbench.model.custom import FAILED, HELD, VALUE_BITS, CustomMetric, MetricKind
from workbench.model.hardware import Clock

#: The module that sorts a value into its bins, which the agents of queries have too (`resources/hdl/agent`).
BIN_MODULE, BIN_SOURCE = "recap_bin", "agent/agent_bin.v"
DERIVED = (MetricKind.HISTOGRAM, MetricKind.SEQUENCE, MetricKind.ASSERT)
_TERM = re.compile(r"\b([cs])\[(\d+)\]|\b([01])\b")


@dataclass(frozen=True)
class MetricProbe:
    """Such a metric: its number among the blocks, its clock, the lowest bit of what the design tells of it, and that of
    its state, both in the state vector."""

    block: int
    metric: CustomMetric
    clock: Clock
    told: int
    lsb: int

    @property
    def bits(self) -> int:
        return state_bits(len(self.metric.states) + 1)

    def text(self, reset: str, state: str) -> Iterator[str]:
        """Verilog at the top that computes its state, as late as the signals that it reads."""
        if self.metric.kind is MetricKind.HISTOGRAM:
            yield from self._bins(state)
        elif self.metric.kind is MetricKind.ASSERT:
            yield from self._assertion(reset, state)
        else:
            yield from self._sequence(reset, state)

    def _bins(self, state: str) -> Iterator[str]:
        bits, bounds, name = self.bits, self.metric.bounds, f"recap_bin_{self.block}"
        at = ", ".join(f"{VALUE_BITS}'h{bound & (1 << VALUE_BITS) - 1:x}" for bound in reversed(bounds))
        sizes = f".VALUE_BITS({VALUE_BITS}), .IS_SIGNED(1), .BIN_BITS({bits}), .BOUNDS({len(bounds)}), .AT({{{at}}})"
        yield f"    wire [{bits - 1}:0] {name};"
        yield f"    {BIN_MODULE} #({sizes}) {name}_of (.value({state}[{self.told + 1} +: {VALUE_BITS}]), .bin({name}));"
        yield f"    assign {state}[{self.lsb} +: {bits}] = {state}[{self.told}] ? {name} + 1'b1 : {bits}'d0;"

    def _assertion(self, reset: str, state: str) -> Iterator[str]:
        """Registers that follow started attempts; reset, and an abort of the assertion, set them to 0."""
        temporal = self.metric.checks
        assert temporal is not None
        made, number = checker(temporal), self.block
        over, waits = f"recap_when_{number}", f"recap_due_{number}"
        bits = len(made.next)
        given_up = f"{over}[{temporal.disable}]" if temporal.disable is not None else "1'b0"

        def verilog(text: str) -> str:
            names = {"c": over, "s": waits}
            return _TERM.sub(lambda one: f"{names[one[1]]}[{one[2]}]" if one[1] else f"1'b{one[3]}", text)

        asked = len(self.metric.conditions)
        yield f"    wire [{asked - 1}:0] {over} = {state}[{self.told} +: {asked}];"
        if bits:
            yield f"    reg [{bits - 1}:0] {waits} = 0;  // what is waited for"
            yield f"    reg {waits}_reset = 0;"
            yield f"    always @(posedge {self.clock.pin}) begin"
            yield f"        {waits}_reset <= {reset};"
            yield f"        if (({reset}) | {waits}_reset | {given_up}) {waits} <= 0;"
            yield "        else begin"
            yield from (f"            {waits}[{n}] <= {verilog(text)};" for n, text in enumerate(made.next))
            yield "        end"
            yield "    end"
        yield f"    assign {state}[{self.lsb} +: 2] = {given_up} ? 2'd0 : {verilog(made.failed)} ? 2'd{FAILED} :"
        yield f"        {verilog(made.held)} ? 2'd{HELD} : 2'd0;"

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
