"""A kind of port: its fields in a template, the signals that it consists of, and its driver on the simulated card."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from workbench.api import HardwarePort, Signal


class StrobePort(HardwarePort):
    """A word into the design, and a strobe in the cycle in which it is there."""

    driver = "StrobePort"
    driver_header = Path(__file__).with_name("strobe.h")
    answers = False

    kind: str = Field("example_strobe", description="example_strobe")
    data: str = Field(description="the word's signal")
    strobe: str = Field(description="the strobe's signal")

    def signals(self) -> Mapping[str, Signal]:
        return {"data": Signal(self.data, "input", self.word_bits), "strobe": Signal(self.strobe, "input", 1)}

    @classmethod
    def fields_of(cls, signals: Mapping[str, str]) -> Mapping[str, object]:
        return signals
