"""A kind of port: its fields in a template, and the signals that it consists of."""

from pydantic import Field

from workbench.api.ports import HardwarePort, Signal


class StrobePort(HardwarePort):
    """A word, and a strobe in the cycle in which it is there."""

    kind: str = Field("example_strobe", description="example_strobe")
    data: str = Field(description="the word's signal")
    strobe: str = Field(description="the strobe's signal")

    def signals(self):
        return {"data": Signal(self.data, "input", self.word_bits), "strobe": Signal(self.strobe, "input", 1)}
