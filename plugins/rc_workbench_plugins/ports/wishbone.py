"""Wishbone ports (OpenCores, Wishbone B4, 2010): classic cycles, and pipelined ones where the design has a stall.

Rules of their timing: resources/card/README.md.
"""

from collections.abc import Iterator, Mapping

from pydantic import Field, PositiveInt

from rc_workbench_plugins.ports.bus import AnsweringPort
from rc_workbench_plugins.ports.memory_front import MemoryFront, accesses, place_registers
from rc_workbench_plugins.ports.names import WISHBONE
from workbench.api import Activity, MonitorFront
from workbench.api.ports import DRIVERS, USER_WIRE
from workbench.api.unstable import ReadOut


class WishbonePort(AnsweringPort):
    """Wishbone: the design answers each word."""

    style = WISHBONE
    driver = "WishbonePort"
    driver_header = DRIVERS / "wishbone.h"
    address_roles = ("adr",)
    unit_hint = "Write 1 where addresses count bytes."

    kind: str = Field("wishbone", description="wishbone")
    address_unit_bytes: PositiveInt = Field(1, description="bytes per step of the address")
    outstanding: PositiveInt = Field(
        1, description="requests that may be unanswered at once, where the design has a stall"
    )

    def activity(self, bits: Mapping[str, int]) -> Activity:
        pin = self.pins(bits)
        asks = f"{pin('cyc', '1')} & {pin('stb')}"
        ends = f"({' | '.join(pin(role) for role in ('ack', 'err', 'rty'))})"
        opens = {"open": (f"{asks} & ~{pin('stall')}", ends)} if pin("stall", "") else {}
        return Activity(ends, "1'b0", f"{asks} | [open]" if opens else asks, opens)

    def quiet(self, clock: str) -> Iterator[str]:
        """Each word is answered in the cycle in which it is asked for."""
        pins = {role: signal.name for role, signal in self.signals().items()}
        yield f"assign {pins['ack']} = {pins['stb']};"
        yield f"assign {pins['dat_r']} = 0;"

    def monitor(self, read_out: ReadOut, bits: Mapping[str, int], waits: bool = False) -> MonitorFront:
        pins = {role: signal.name for role, signal in self.signals().items()}
        address_bits = bits[pins["adr"]]
        registers = place_registers(
            read_out, self.word_bits, self.step, min(self.address_bits, address_bits), blocks=False
        )
        held = ["ack", *(["stall"] if pins["stall"] in bits else [])]
        front = MemoryFront(registers, address_bits, self.word_bits, 1, held=tuple(held))
        asks = " & ".join(pins[role] for role in ("cyc", "stb") if pins[role] in bits)
        taken = ("stb", *held)
        return MonitorFront(
            text=front.text,
            connections={
                "asks_write": f"{asks} & {pins['we']}",
                "asks_read": f"{asks} & ~{pins['we']}",
                "write_address": pins["adr"],
                "read_address": pins["adr"],
                "written": pins["dat_w"],
                "data": pins["dat_r"],
                "user_data": USER_WIRE + pins["dat_r"],
                **{role: pins[role] for role in taken},
                **{f"user_{role}": USER_WIRE + pins[role] for role in taken},
            },
            taken=tuple(pins[role] for role in ("dat_r", *taken)),
            **accesses(registers, self.word_bits),
        )
