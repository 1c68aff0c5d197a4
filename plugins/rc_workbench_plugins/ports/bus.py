"""AXI4-Lite, AXI4, AXI4-Stream and Avalon-MM ports.

Rules of their timing: resources/card/README.md. Standards: ARM IHI 0022 (AXI4) and IHI 0051 (AXI4-Stream), Intel's
Avalon Interface Specifications.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

from pydantic import Field, PositiveInt

from rc_workbench_plugins.ports import activity
from rc_workbench_plugins.ports.axi_front import axi_front
from rc_workbench_plugins.ports.memory_front import MemoryFront, accesses, place_registers
from rc_workbench_plugins.ports.names import AXI_LITE
from rc_workbench_plugins.ports.stream_front import stream_front
from workbench.api import Activity, HardwarePort, MonitorFront, Problem, Signal
from workbench.api.ports import DRIVERS, USER_WIRE
from workbench.api.unstable import ReadOut

Unsigned = Annotated[int, Field(ge=0)]
Roles = Mapping[str, tuple[str, int | None, bool]]  # role -> direction at the design, bits, whether it may be missing


class BusPort(HardwarePort):
    """A port whose signals are told by a prefix, or one by one."""

    #: What the simulated card's driver calls a role that the kind's own standard calls otherwise.
    driver_roles: ClassVar[Mapping[str, str]] = {}

    prefix: str = Field("", description="prefix of its signals' names", examples=["s_axi_"])
    names: dict[str, str] = Field(
        default_factory=dict,
        description="signals with other names, by role",
        examples=[{"awaddr": "write_address"}],
    )

    def roles(self) -> Roles:
        raise NotImplementedError

    def signals(self) -> Mapping[str, Signal]:
        return {
            self.driver_roles.get(role, role): Signal(
                self.names.get(role, self.prefix + role), direction, bits, optional
            )
            for role, (direction, bits, optional) in self.roles().items()
        }

    def pins(self, bits: Mapping[str, int]) -> activity.Pin:
        return activity.pins({role: signal.name for role, signal in self.signals().items()}, bits)

    @classmethod
    def fields_of(cls, signals: Mapping[str, str]) -> Mapping[str, object]:
        role, name = next(iter(signals.items()))
        prefix = name.removesuffix(role)
        whole = all(name == prefix + role for role, name in signals.items())
        return {"prefix": prefix} if whole else {"names": dict(signals)}

    def problems(self) -> Iterator[Problem]:
        for role in self.names:
            if role not in self.roles():
                known = f"Its signals are: {', '.join(self.roles())}."
                yield Problem("names", f"a port of kind {self.kind} has no signal '{role}'", known)
        if self.word_bits % 8:
            yield Problem("word_bits", f"{self.word_bits} bits are not whole bytes", "Write 32 or 64.")


#: What a design that is asked has to have, and what bursts take besides.
AXI_NEEDS = frozenset().union(*AXI_LITE.needs)
AXI_BURSTS = frozenset({"awlen", "arlen", "wlast", "rlast"})


def axi_roles(word_bits: int, sides: tuple[str, str], needed: frozenset[str], more: Mapping[str, int | None]) -> Roles:
    """AXI's signals. `sides` are the directions of what the initiator drives, and the target; `more` are fields of a
    request with their widths."""
    request: Mapping[str, int | None] = {
        "addr": None, "valid": 1, "len": None, "size": 3, "burst": 2, "id": None, **more
    }  # fmt: skip
    asked: Mapping[str, int | None] = {
        **{f"{channel}{field}": bits for channel in ("aw", "ar") for field, bits in request.items()},
        "wdata": word_bits, "wstrb": word_bits // 8, "wlast": 1, "wvalid": 1, "bready": 1, "rready": 1,
    }  # fmt: skip
    answered: Mapping[str, int | None] = {
        "awready": 1, "arready": 1, "wready": 1, "bid": None, "bresp": 2, "bvalid": 1,
        "rid": None, "rdata": word_bits, "rresp": 2, "rlast": 1, "rvalid": 1,
    }  # fmt: skip
    return {
        role: (side, bits, role not in needed)
        for side, driven in zip(sides, (asked, answered), strict=True)
        for role, bits in driven.items()
    }


def _stream_roles(word_bits: int, forth: str, back: str, ends: bool = False) -> Roles:
    """AXI4-Stream's signals, by the directions of its words and of what takes them; whether packets have to end."""
    return {
        "tdata": (forth, word_bits, False),
        "tvalid": (forth, 1, False),
        "tready": (back, 1, True),
        "tlast": (forth, 1, not ends),
        "tkeep": (forth, word_bits // 8, True),
        "tstrb": (forth, word_bits // 8, True),
    }


class AxiLitePort(BusPort):
    """AXI4-Lite: the design answers each word."""

    driver = "AxiPort"
    driver_header = DRIVERS / "axi.h"
    address_roles = ("araddr",)
    bursts: ClassVar[bool] = False

    kind: str = Field("axi_lite", description="axi_lite")
    address_bits: PositiveInt = Field(32, description="width of an address")
    address_unit_bytes: PositiveInt = Field(1, description="bytes per step of the host's addresses")
    outstanding: PositiveInt = Field(1, description="addresses that may be unanswered at once")
    response_cycles: Unsigned = Field(
        1, description="cycles from a word's request to its answer; the last request comes so much earlier"
    )
    buffer_words: Unsigned = Field(0, description="words that the link buffers while the design stalls; 0: any number")

    def roles(self) -> Roles:
        needed = AXI_NEEDS | (AXI_BURSTS if self.bursts else set())
        more = {"prot": 3, "lock": None, "cache": 4, "qos": 4, "region": 4}
        return axi_roles(self.word_bits, ("input", "output"), needed, more)

    def problems(self) -> Iterator[Problem]:
        yield from super().problems()
        if self.word_bits // 8 % self.address_unit_bytes:
            message = f"words of {self.word_bits // 8} bytes do not start at whole addresses"
            yield Problem("address_unit_bytes", message, "Write 1: AXI addresses count bytes.")

    def constants(self) -> Mapping[str, int]:
        return {
            "address_step": self.word_bits // 8 // self.address_unit_bytes,
            "outstanding": self.outstanding,
            "response_cycles": self.response_cycles,
            "buffer_words": self.buffer_words,
            "burst_words": self.longest_burst(),
            "bursts": int(self.bursts),
        }

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
        stride = self.word_bits // 8 // self.address_unit_bytes
        return axi_front(self.signals(), roles, read_out, self.word_bits, self.address_bits, stride)

    def activity(self, bits: Mapping[str, int]) -> Activity:
        return activity.axi(self.pins(bits), asked=True)

    def lead_cycles(self, receive: bool) -> int:
        return self.response_cycles


class AxiPort(AxiLitePort):
    """AXI4: INCR bursts of full width, cut at 4 KiB."""

    bursts: ClassVar[bool] = True

    kind: str = Field("axi", description="axi")
    burst_words: Annotated[int, Field(ge=1, le=256)] = Field(16, description="the longest burst, in words")

    def longest_burst(self) -> int:
        return self.burst_words


class StreamInPort(BusPort):
    """AXI4-Stream into the design."""

    driver = "StreamInPort"
    driver_header = DRIVERS / "stream.h"
    addressed = False

    kind: str = Field("stream_in", description="stream_in")
    buffer_words: Unsigned = Field(0, description="words that the link buffers while the design stalls; 0: any number")

    def roles(self) -> Roles:
        return _stream_roles(self.word_bits, "input", "output")

    def constants(self) -> Mapping[str, int]:
        return {"buffer_words": self.buffer_words, "starts": 0}

    def activity(self, bits: Mapping[str, int]) -> Activity:
        return activity.stream(self.pins(bits), inward=True)

    def stream_monitor(self, back: HardwarePort, bits: Mapping[str, int]) -> MonitorFront | None:
        if not isinstance(back, StreamOutPort) or back.word_bits != self.word_bits:
            return None
        come, go = self.signals(), back.signals()
        return stream_front(come, go, bits, self.word_bits, back.name) if go["tready"].name in bits else None


class StreamOutPort(BusPort):
    """AXI4-Stream out of the design."""

    driver = "StreamOutPort"
    driver_header = DRIVERS / "stream.h"
    addressed = False

    kind: str = Field("stream_out", description="stream_out")
    buffer_words: Unsigned = Field(
        1024, description="words that the link takes before the host's receive is due; 0: none"
    )

    packets: bool = Field(
        False, description="whether a receive ends with the design's tlast; otherwise it ends with its last word"
    )

    def activity(self, bits: Mapping[str, int]) -> Activity:
        return activity.stream(self.pins(bits), inward=False)

    def in_packets(self) -> bool:
        return self.packets

    def roles(self) -> Roles:
        return _stream_roles(self.word_bits, "output", "input", ends=self.packets)

    def quiet(self, clock: str) -> Iterator[str]:
        """A word in every cycle, without an end."""
        for role, signal in self.signals().items():
            if signal.direction == "output" and not signal.optional:
                yield f"assign {signal.name} = {int(role == 'tvalid')};"

    def constants(self) -> Mapping[str, int]:
        return {"buffer_words": self.buffer_words, "packets": int(self.packets)}


class AvalonPort(BusPort):
    """Avalon-MM: the design answers; its addresses count words."""

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

    def roles(self) -> Roles:
        return {
            "address": ("input", None, False),
            "read": ("input", 1, False),
            "write": ("input", 1, False),
            "writedata": ("input", self.word_bits, False),
            "readdata": ("output", self.word_bits, False),
            "byteenable": ("input", self.word_bits // 8, True),
            "waitrequest": ("output", 1, True),
            "readdatavalid": ("output", 1, True),
        }

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
