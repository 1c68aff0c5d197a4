"""The ports by which a design asks the card's memory: AXI4 and Avalon-MM masters, and plain memory ports.

Standards: ARM IHI 0022 (AXI4), Intel's Avalon Interface Specifications; the plain ones are as OpenHW's OBI and
PicoRV32's native interface have them. Rules of their timing: resources/card/README.md.
"""

from collections.abc import Iterator, Mapping

from pydantic import Field, PositiveInt

from rc_workbench_plugins.ports import activity
from rc_workbench_plugins.ports.names import AVALON_MM, AXI4, AXI_TARGET, MEMORY_MASTER
from workbench.api import Activity, Problem, TablePort
from workbench.api.ports import DRIVERS


class MasterPort(TablePort):
    """A port of the design's own into a memory on the card."""

    initiator = True
    takes_transfers = False

    memory: str = Field(description="the name of the memory_bank that it accesses", examples=["ddr"])
    outstanding: PositiveInt = Field(8, description="reads, and writes, that may be unanswered at once")

    def constants(self) -> Mapping[str, int]:
        return {"outstanding": self.outstanding}

    def served_by(self) -> str:
        return self.memory


class AxiMasterPort(MasterPort):
    """An AXI4 master of the design's own, which asks a memory on the card for bursts. It may only read or write."""

    style = AXI4
    lacks = AXI_TARGET
    driver = "AxiMasterPort"
    driver_header = DRIVERS / "axi_master.h"

    kind: str = Field("axi_master", description="axi_master")

    def needed(self) -> frozenset[str]:
        return frozenset()

    def activity(self, bits: Mapping[str, int]) -> Activity:
        return activity.axi(self.pins(bits), asked=False)


class AvalonMasterPort(MasterPort):
    """An Avalon-MM master of the design's own: single words or bursts.

    Without readdatavalid a read waits for its word.
    """

    style = AVALON_MM
    driver = "AvalonMasterPort"
    driver_header = DRIVERS / "avalon_master.h"

    kind: str = Field("avalon_master", description="avalon_master")
    address_unit_bytes: PositiveInt = Field(1, description="bytes per step of the design's addresses")

    def needed(self) -> frozenset[str]:
        return frozenset({"address", "waitrequest"})

    def activity(self, bits: Mapping[str, int]) -> Activity:
        return activity.avalon(self.pins(bits), asked=False)

    def constants(self) -> Mapping[str, int]:
        return {**super().constants(), "address_unit": self.address_unit_bytes}


class MemoryMasterPort(MasterPort):
    """A plain memory port of the design's own: an enable, an address and data.

    With `grant` and `valid`, requests are granted and answered later, in order. With `valid` alone a request stays
    until it is answered. With neither, a word of a read is there `read_latency` cycles after its request, whatever else
    goes on in the memory.
    """

    style = MEMORY_MASTER
    driver = "MemoryMasterPort"
    driver_header = DRIVERS / "memory_master.h"

    kind: str = Field("memory_master", description="memory_master")
    address_unit_bytes: PositiveInt = Field(1, description="bytes per step of the design's addresses")
    read_latency: PositiveInt = Field(1, description="cycles from a request to its word, where there is no valid")
    answers_writes: bool = Field(True, description="whether valid marks the end of a write too")
    active_low: tuple[str, ...] = Field((), description="roles that are active low", examples=[["enable"]])

    def activity(self, bits: Mapping[str, int]) -> Activity | None:
        pin, low = self.pins(bits), {role: "~" if role in self.active_low else "" for role in self.signals()}
        asks = f"{low['enable']}{pin('enable')}"
        mask = f"{low['byte_enable']}{pin('byte_enable')}"
        writes = f"{low['write_enable']}{pin('write_enable')}" if pin("write_enable", "") else f"(|({mask}))"
        writes = writes if pin("write_enable", "") or pin("byte_enable", "") else "1'b0"
        if not (answer := pin("valid", "")):
            recent = {"reads": (f"{asks} & ~({writes})", self.read_latency)}
            return Activity(asks, "[reads]", "1'b0", recent=recent)
        if writes != "1'b0" and not self.answers_writes:
            return None  # the end of a write is told by nothing
        opens = {"open": (f"{asks} & {grant}", answer)} if (grant := pin("grant", "")) else {}
        return Activity(answer, asks + (" | [open]" if grant else ""), "1'b0", opens)

    def problems(self) -> Iterator[Problem]:
        yield from super().problems()
        possible = ("enable", "write_enable", "byte_enable")
        for role in self.active_low:
            if role not in possible:
                yield Problem(
                    "active_low", f"'{role}' cannot be active low", f"These roles can: {', '.join(possible)}."
                )

    def constants(self) -> Mapping[str, int]:
        return {
            **super().constants(),
            "address_unit": self.address_unit_bytes,
            "read_latency": self.read_latency,
            "answers_writes": int(self.answers_writes),
            **{f"{role}_low": int(role in self.active_low) for role in ("enable", "write_enable", "byte_enable")},
        }
