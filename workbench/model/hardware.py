"""The hardware side of a platform (ReCAP 2011, section 3.2): its clocks, and the ports by which a design is reached.

A port's kind decides what else is said of it; `workbench.api.ports` and the plugins that bring kinds know those fields.
"""

from typing import Annotated

from pydantic import ConfigDict, Field, PositiveFloat, PositiveInt, SerializeAsAny, field_serializer

from workbench.model.alignment import Alignment
from workbench.model.document import Document


class Clock(Document):
    """A clock of the design, and what resets the part that it drives."""

    name: str = Field(description="name in ports and blocks")
    signal: str = Field("", description="its signal at the top level; empty: its name")
    frequency_hz: PositiveFloat = Field(description="its frequency")
    reset: str = Field("", description="the signal that resets its logic; empty: none")
    reset_hdl: str = Field(
        "", description="HDL: when that is in reset; empty: the reset signal is high", examples=["!rst_n"]
    )
    derived_from: str = Field("", description="its source clock", examples=["clk"])
    alignment: Alignment = Field(
        Alignment.START,
        description="alignment of its cycles with the host's clock: cycle 0 is the run's start (start), or its "
        "counters were frozen when the host did so (read_out)",
    )
    alignment_uncertainty_s: Annotated[float, Field(ge=0)] = Field(
        0.0, description="uncertainty of this clock's times on the host's clock", examples=["1 us"]
    )

    @property
    def pin(self) -> str:
        return self.signal or self.name


class Port(Document):
    """A port of the design as the platform drives it. Its kind asks for more fields than these."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str = Field("host", description="name in transfer tables")
    kind: str = Field(description="memory, block, axi_lite, ...: `workbench plugins` lists the kinds there are")
    clock: str = Field("", description="the name of its clock; empty: the first", examples=["clk"])
    word_bits: PositiveInt = Field(32, description="width of a data word")


class PortDirection(Document):
    """One direction of a memory-style or block port, named as the application's top level sees it."""

    data_signal: str = Field(description="the data's signal")
    address_signal: str = Field(description="the address's signal")
    condition_hdl: str = Field(description="HDL: when a word arrives (incoming), or is asked for (outgoing)")
    action_hdl: str = Field(
        "", description="HDL: statement for each word that is sent or received", examples=["ack <= 1;"]
    )
    delay_cycles: Annotated[int, Field(ge=0)] = Field(0, description="cycles from the condition to the data")


class Hardware(Document):
    """Clocks and ports; the first of each is the one meant where none is named."""

    clocks: tuple[Clock, ...] = Field(description="the clocks that the platform provides")
    ports: tuple[Port, ...] = Field(description="the ports through which the host reaches a design")
    interrupt: str = Field("", description="the interrupt's signal")
    interrupt_clock: str = Field("", description="the name of its clock; empty: the first", examples=["clk"])

    @field_serializer("ports", return_type=tuple[SerializeAsAny[Port], ...])
    def _with_fields_of_kinds(self, ports: tuple[Port, ...]) -> tuple[Port, ...]:
        return ports

    def clock_of(self, port: Port) -> Clock:
        return next((clock for clock in self.clocks if clock.name == port.clock), self.clocks[0])

    @property
    def interrupt_clock_number(self) -> int:
        return next((n for n, clock in enumerate(self.clocks) if clock.name == self.interrupt_clock), 0)

    @property
    def clock_hz(self) -> float:
        """The first clock's frequency."""
        return self.clocks[0].frequency_hz
