"""A hardware language: Verilog in which `at clk` stands for `always @(posedge clk)` and `word x` for `reg [31:0] x`."""

import re

_WORDS = ((r"\bat (\w+)", r"always @(posedge \1)"), (r"\bword\b", "reg [31:0]"))


def verilog(text: str) -> str:
    """The text in Verilog, line by line."""
    for short, long in _WORDS:
        text = re.sub(short, long, text)
    return text
