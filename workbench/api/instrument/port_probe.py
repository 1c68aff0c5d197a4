"""Ports that are observed in hardware beside the design's blocks: each is a block of its own, whose states say what the
port does in a cycle (`workbench.api.ports.Activity`)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.api.ports import Activity
from workbench.model.blocks import PORT, Block, Side, State
from workbench.model.hardware import Clock
from workbench.model.pragma import UNCLASSIFIED

#: In their order, from 1 on; 0 is where nothing is asked for. They have no category: what a port does is no work of the
#: application's, and where one waits for it, the block says so that asked.
STATES = ("moving", "waiting", "held")
STATE_BITS = 2
_OPEN_BITS = 16  # of what has begun and not ended


@dataclass(frozen=True)
class PortProbe:
    """A port that is observed: its name, clock, what it does, and the lowest bit of the state vector that tells."""

    port: str
    clock: Clock
    activity: Activity
    lsb: int
    bits: int = STATE_BITS

    def block(self, top: str) -> Block:
        named = (State(n, name) for n, name in enumerate(STATES, 1))
        place = f"{top}.port.{self.port}"
        states = (State(0, UNCLASSIFIED), *named)
        return Block(place, Side.FPGA, top, PORT, place, states, clock=self.clock.name)

    def text(self, reset: str, state: str) -> Iterator[str]:
        """Verilog at the top that tells its state, one cycle late, in the vector `state`."""
        doing, prefix = self.activity, f"recap_{re.sub('[^A-Za-z0-9_]', '_', self.port)}"

        def within(text: str) -> str:
            return re.sub(r"\[([a-z]+)\]", rf"({prefix}_\1 != 0)", text)

        clocked = f"    always @(posedge {self.clock.pin})"
        for name, (begins, ends) in doing.opens.items():
            signal, bits = f"{prefix}_{name}", _OPEN_BITS
            yield f"    reg [{bits - 1}:0] {signal} = 0;"
            yield f"    wire [{bits - 1}:0] {signal}_begins = {within(begins)};"
            yield f"    wire {signal}_ends = {within(ends)};"
            yield f"{clocked} {signal} <= {reset} ? {bits}'d0 : {signal} + {signal}_begins - {signal}_ends;"
        for name, (begins, cycles) in doing.recent.items():
            signal = f"{prefix}_{name}"
            yield f"    reg [{cycles - 1}:0] {signal} = 0;"
            yield f"    wire {signal}_begins = {within(begins)};"
            yield f"{clocked} {signal} <= {reset} ? 0 : {{{signal}, {signal}_begins}};"
        yield f"    reg [{STATE_BITS - 1}:0] {prefix}_does = 0;"
        ways = zip((doing.moving, doing.waiting, doing.held), range(1, 4), strict=True)
        chosen = " : ".join(f"({within(way)}) ? 2'd{number}" for way, number in ways)
        yield f"{clocked} {prefix}_does <= {chosen} : 2'd0;"
        yield f"    assign {state}[{self.lsb} +: {STATE_BITS}] = {prefix}_does;"
