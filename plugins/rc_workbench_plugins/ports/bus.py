"""AXI4-Lite, AXI4 and Avalon-MM ports.

Rules of their timing: resources/card/README.md. Standards: ARM IHI 0022 (AXI4), Intel's Avalon Interface
Specifications.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

from pydantic import Field, PositiveInt

from rc_workbench_plugins.ports import activity
from rc_workbench_plugins.ports.axi_front import axi_front
from rc_workbench_plugins.ports.memory_front import MemoryFront, accesses, place_registers
from rc_workbench_plugins.ports.names import AVALON_MM, AXI4, AXI_LITE
from workbench.api import Activity, MonitorFront, Problem, TablePort
from workbench.api.ports import DRIVERS, USER_WIRE
from workbench.api.table_port import Unsigned
from workbench.api.unstable import ReadOut


class AnsweringPort(TablePort):
    """A port whose design answers each word."""

    #: What is right where words do not start at whole addresses.
    unit_hint: ClassVar[str]

    address_bits: PositiveInt = Field(32, description="width of an address")
    address_unit_bytes: PositiveInt = Field(1, description="bytes per step of the host's addresses")
    outstanding: PositiveInt = Field(1, description="addresses that may be unanswered at once")
    response_cycles: Unsigned = Field(
        1, description="cycles from a word's request to its answer; the last request comes that much earlier"
    )
    buffer_words: Unsigned = Field(0, description="words that the link buffers while the design stalls; 0: any number")

    def problems(self) -> Iterator[Problem]:
        yield from super().problems()
        if self.word_bits // 8 % self.address_unit_bytes:
            message = f"words of {self.word_bits // 8} bytes do not start at whole addresses"
            yield Problem("address_unit_bytes", message, self.unit_hint)

    def constants(self) -> Mapping[str, int]:
        return {
            "address_step": self.step,
            "outstanding": self.outstanding,
            "response_cycles": self.response_cycles,
            "buffer_words": self.buffer_words,
        }

    def lead_cycles(self, receive: bool) -> int:
        return self.response_cycles

    @property
    def step(self) -> int:
        """From a word's address to the next one's."""
        return self.word_bits // 8 // self.address_unit_bytes


class AxiLitePort(AnsweringPort):
    """AXI4-Lite: the design answers each word."""

    driver = "AxiPort"
    driver_header = DRIVERS / "axi.h"
    address_roles = ("araddr",)
    style = AXI_LITE
    bursts: ClassVar[bool] = False
    unit_hint = "Write 1: AXI addresses count bytes."

    kind: str = Field("axi_lite", description="axi_lite")

    def constants(self) -> Mapping[str, int]:
        return {**super().constants(), "burst_words": self.longest_burst(), "bursts": int(self.bursts)}

    def longest_burst(self) -> int:
        return 1

    def quiet(self, clock: str) -> Iterator[str]:
        """Requests are taken as they come; the words of a read follow one a cycle, those of the next without a gap."""
        pins = {role: signal.name for role, signal in self.signals().items()}
        asked, written, left = (f"{self.name}_{what}" for what in ("asked", "written", "left"))
        last, words = (pins["wlast"], pins["arlen"]) if self.bursts else ("1'b1", "8'd0")
        taken = f"({pins['bvalid']} & {pins['bready']})"
        given = f"({pins['rvalid']} & {pins['rready']})"
        yield from (
            f"reg [31:0] {asked} = 0, {written} = 0;  // requests to write, and their data, not answered yet",
            f"reg [8:0] {left} = 0;  // words of a read",
            f"assign {pins['awready']} = 1;",
            f"assign {pins['wready']} = 1;",
            f"assign {pins['bvalid']} = {asked} != 0 & {written} != 0;",
            f"assign {pins['arready']} = {left} == 0 | ({left} == 1 & {pins['rready']});",
            f"assign {pins['rvalid']} = {left} != 0;",
            f"assign {pins['rdata']} = 0;",
            *((f"assign {pins['rlast']} = {left} == 1;",) if self.bursts else ()),
            f"always @(posedge {clock}) begin",
            f"    {asked} <= {asked} + {{31'd0, {pins['awvalid']}}} - {{31'd0, {taken}}};",
            f"    {written} <= {written} + {{31'd0, {pins['wvalid']} & {last}}} - {{31'd0, {taken}}};",
            f"    if ({pins['arvalid']} & {pins['arready']}) {left} <= {{1'b0, {words}}} + 9'd1;",
            f"    else if ({given}) {left} <= {left} - 9'd1;",
            "end",
        )

    def monitor(self, read_out: ReadOut, bits: Mapping[str, int], waits: bool = False) -> MonitorFront:
        roles = {role: bits[signal.name] for role, signal in self.signals().items() if signal.name in bits}
        return axi_front(self.signals(), roles, read_out, self.word_bits, self.address_bits, self.step)

    def activity(self, bits: Mapping[str, int]) -> Activity:
        return activity.axi(self.pins(bits), asked=True)


class AxiPort(AxiLitePort):
    """AXI4: INCR bursts of full width, cut at 4 KiB."""

    style = AXI4
    bursts: ClassVar[bool] = True

    kind: str = Field("axi", description="axi")
    burst_words: Annotated[int, Field(ge=1, le=256)] = Field(16, description="the longest burst, in words")

    def longest_burst(self) -> int:
        return self.burst_words


class AvalonPort(TablePort):
    """Avalon-MM: the design answers; its addresses count words."""

    style = AVALON_MM
    lacks = frozenset({"burstcount"})
    driver = "AvalonPort"
    driver_header = DRIVERS / "avalon.h"
    address_roles = ("address",)

    kind: str = Field("avalon", description="avalon")
    address_bits: PositiveInt = Field(32, description="width of an address")
    outstanding: PositiveInt = Field(1, description="reads that may be unanswered at once")
    read_latency: Unsigned = Field(
        0, description="cycles from a read's acceptance to its data, where the design has no readdatavalid"
    )
    response_cycles: Unsigned = Field(
        1, description="cycles from a read to its data; the last request comes so much earlier"
    )
    buffer_words: Unsigned = Field(0, description="words that the link buffers while the design stalls; 0: any number")

    def monitor(self, read_out: ReadOut, bits: Mapping[str, int], waits: bool = False) -> MonitorFront | None:
        """None where reads are answered later, and cannot be held: the monitors' would come amid the design's."""
        pins = {role: signal.name for role, signal in self.signals().items()}
        held = [role for role in ("waitrequest", "readdatavalid") if pins[role] in bits]
        if held == ["readdatavalid"]:
            return None
        registers = place_registers(read_out, self.word_bits, 1, min(self.address_bits, bits[pins["address"]]), False)
        answer_cycles = 1 if "readdatavalid" in held else self.read_latency
        front = MemoryFront(registers, bits[pins["address"]], self.word_bits, answer_cycles, held=tuple(held))
        taken = ["readdata", *held, *(("read", "write") if held else ())]
        return MonitorFront(
            text=front.text,
            connections={
                "write_address": pins["address"],
                "read_address": pins["address"],
                "written": pins["writedata"],
                "data": pins["readdata"],
                "user_data": USER_WIRE + pins["readdata"],
                **{role: pins[role] for role in ("read", "write", *held)},
                **{f"user_{role}": USER_WIRE + pins[role] for role in taken[1:]},
            },
            taken=tuple(pins[role] for role in taken),
            **accesses(registers, self.word_bits),
        )

    def activity(self, bits: Mapping[str, int]) -> Activity:
        return activity.avalon(self.pins(bits), asked=True)

    def constants(self) -> Mapping[str, int]:
        return {
            "address_step": 1,
            "outstanding": self.outstanding,
            "read_latency": self.read_latency,
            "response_cycles": self.response_cycles,
            "buffer_words": self.buffer_words,
        }

    def lead_cycles(self, receive: bool) -> int:
        return self.response_cycles if receive else 0
