"""Memory on the card: its size, and how long it takes. Rules of its timing: resources/card/README.md."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from workbench.api import HardwarePort, Problem, Signal
from workbench.api.ports import DRIVERS
from workbench.api.table_port import Unsigned

_PS = 10**12
Seconds = Annotated[float, Field(ge=0)]
Mapped = Literal["row_bank_column", "bank_row_column"]


class CardMemory(HardwarePort):
    """Memory on the card: the host's transfers go straight into it, and the design's own ports ask it for bursts.

    A burst waits for its bank; then come tCL where its row is open, tRCD + tCL where none is, tRP + tRCD + tCL where
    another one is; then a channel's bus is its own for `bytes / bandwidth`.
    """

    driver = "MemoryBank"
    driver_header = DRIVERS / "memory_bank.h"

    kind: str = Field("memory_bank", description="memory_bank")
    bytes: PositiveInt = Field(description="its size", examples=["1 GiB"])
    base: Unsigned = Field(0, description="the address of its first byte")
    bandwidth_bytes_per_s: PositiveFloat = Field(
        description="peak rate of its bus; with several channels, of each channel's bus", examples=["19.2 GB/s"]
    )
    channels: PositiveInt = Field(1, description="channels, each with a bus and banks of its own")
    interleave_bytes: PositiveInt = Field(4096, description="consecutive bytes in one channel, before the next channel")
    banks: PositiveInt = Field(8, description="banks of a channel")
    row_bytes: PositiveInt = Field(8192, description="the length of a row")
    mapping: Mapped = Field(
        "row_bank_column",
        description="how an address gives row and bank: consecutive rows lie in the banks by turns (row_bank_column), "
        "or one after the other in one bank (bank_row_column)",
    )
    fixed_s: Seconds = Field(0.0, description="fixed time of each burst before its bank", examples=["30 ns"])
    cas_s: Seconds = Field(0.0, description="tCL: from a read to its data", examples=["14 ns"])
    rcd_s: Seconds = Field(0.0, description="tRCD: opening a row", examples=["14 ns"])
    rp_s: Seconds = Field(0.0, description="tRP: closing one", examples=["14 ns"])
    turnaround_s: Seconds = Field(
        0.0, description="time for the bus to change between read and write", examples=["8 ns"]
    )
    refresh_s: Seconds = Field(
        0.0, description="tREFI: how often all rows are refreshed; 0: never", examples=["7.8 us"]
    )
    refreshing_s: Seconds = Field(0.0, description="tRFC: how long a refresh takes", examples=["350 ns"])

    def signals(self) -> Mapping[str, Signal]:
        return {}

    def moves_bytes_per_s(self) -> float:
        return self.channels * self.bandwidth_bytes_per_s

    def problems(self) -> Iterator[Problem]:
        if self.refresh_s and self.refreshing_s >= self.refresh_s:
            yield Problem(
                "refreshing_s",
                "a refresh (tRFC) takes as long as the interval between refreshes (tREFI)",
                "Write a time below refresh_s (tREFI).",
            )
        if self.channels > 1 and self.bytes % (self.channels * self.interleave_bytes):
            turn = self.channels * self.interleave_bytes
            message = (
                f"{self.bytes} bytes are not a multiple of {self.channels} channels x {self.interleave_bytes} bytes"
            )
            yield Problem("bytes", message, f"Write a multiple of {turn}.")

    def constants(self) -> Mapping[str, int]:
        rate = Fraction(str(self.bandwidth_bytes_per_s)) / _PS
        of_bank = -(-self.bytes // (self.channels * self.row_bytes * self.banks))
        times = ("fixed", "cas", "rcd", "rp", "turnaround", "refresh", "refreshing")
        return {
            "bytes": self.bytes,
            "base": self.base,
            "channels": self.channels,
            "interleave_bytes": self.interleave_bytes,
            "banks": self.banks,
            "row_bytes": self.row_bytes,
            "bank_rows": of_bank if self.mapping == "bank_row_column" else 0,
            "rate_bytes": rate.numerator,
            "rate_ps": rate.denominator,
            **{f"{name}_ps": round(getattr(self, f"{name}_s") * _PS) for name in times},
        }
