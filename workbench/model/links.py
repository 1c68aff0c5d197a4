"""Links between the FPGAs of a project."""

from __future__ import annotations

import re

from pydantic import Field, PositiveInt

from workbench.model.platform import Document


class Link(Document):
    """A link between two FPGAs: words that one design gives come to another, in order."""

    source: str = Field(
        description="the FPGA and the signals of its top that send: NAME.SIGNALS, where * means valid, ready, "
        "data and, if it has one, last",
        examples=["left.out_*"],
    )
    target: str = Field(description="the FPGA and the signals of its top that receive", examples=["right.m_axis_t*"])
    network: str = Field(
        "",
        description="the template's network that it is: a word leaves for its bytes times `gap_per_byte_s`, the next "
        "one at least `gap_s` after its begin, and arrives `latency_s` after it left; empty: no time at all",
        examples=["neighbour"],
    )
    words: PositiveInt = Field(
        16, le=1 << 20, description="words that it can hold, from sending until the sender knows the word was taken"
    )

    @property
    def name(self) -> str:
        """What it is called where FIFOs are reported."""
        return f"link:{_end_name(self.source)}-{_end_name(self.target)}"


def _end_name(end: str) -> str:
    fpga, _, signals = end.partition(".")
    return f"{fpga}_{link_words(signals)}"


def link_words(signals: str) -> str:
    """What the signals at the end of a link are called together: out for out_*, m_axis for m_axis_t*."""
    return re.sub(r"_?t?\*_?", "", signals) or "link"
