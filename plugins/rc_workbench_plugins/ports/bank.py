"""Memory on the card, and the AXI4 masters of the design's own that ask it for bursts."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated

from pydantic import Field, PositiveFloat, PositiveInt

from rc_workbench_plugins.ports.bus import BusPort, Roles, Unsigned, axi_roles
from workbench.api.ports import DRIVERS, HardwarePort, Signal

_PS = 10**12
Seconds = Annotated[float, Field(ge=0)]


class CardMemory(HardwarePort):
    """Memory on the card: the host's transfers go straight into it, and the design's own masters ask it for bursts.

    A burst waits for its bank; then come tCL where its row is open, tRCD + tCL where none is, tRP + tRCD + tCL where
    another one is; then the bus is its own for `bytes / bandwidth`.
    """

    driver = "Dram"
    driver_header = DRIVERS / "dram.h"

    kind: str = Field("memory_bank", description="memory_bank")
    bytes: PositiveInt = Field(description="its size")
    base: Unsigned = Field(0, description="the address of its first byte")
    bandwidth_bytes_per_s: PositiveFloat = Field(description="how fast its bus is")
    banks: PositiveInt = Field(8, description="banks, in which consecutive rows lie by turns")
    row_bytes: PositiveInt = Field(8192, description="the length of a row")
    fixed_s: Seconds = Field(0.0, description="what every burst takes before its bank", examples=["30 ns"])
    cas_s: Seconds = Field(0.0, description="tCL: from a read to its data", examples=["14 ns"])
    rcd_s: Seconds = Field(0.0, description="tRCD: opening a row", examples=["14 ns"])
    rp_s: Seconds = Field(0.0, description="tRP: closing one", examples=["14 ns"])

    def signals(self) -> Mapping[str, Signal]:
        return {}

    def constants(self) -> Mapping[str, int]:
        rate = Fraction(str(self.bandwidth_bytes_per_s)) / _PS
        return {
            "bytes": self.bytes,
            "base": self.base,
            "banks": self.banks,
            "row_bytes": self.row_bytes,
            "rate_bytes": rate.numerator,
            "rate_ps": rate.denominator,
            **{f"{name}_ps": round(getattr(self, f"{name}_s") * _PS) for name in ("fixed", "cas", "rcd", "rp")},
        }


class AxiMasterPort(BusPort):
    """An AXI4 master of the design's own, which asks a memory on the card for bursts. It may only read or write."""

    driver = "AxiMasterPort"
    driver_header = DRIVERS / "dram.h"
    takes_transfers = False

    kind: str = Field("axi_master", description="axi_master")
    memory: str = Field(description="the name of the memory_bank that it asks", examples=["ddr"])
    outstanding: PositiveInt = Field(8, description="reads, and writes, that may be unanswered at once")

    def roles(self) -> Roles:
        return axi_roles(self.word_bits, ("output", "input"), frozenset(), {})

    def constants(self) -> Mapping[str, int]:
        return {"outstanding": self.outstanding}

    def served_by(self) -> str:
        return self.memory
