"""The clocks of concurrent assertions in SystemVerilog: their own, and the default clocking of a module."""

import re

from pyslang import syntax

from workbench.hdl.verilog.design import Node
from workbench.hdl.verilog.order import plain_text
from workbench.hdl.watched import Unwatched


def default_clocking(module: Node) -> Node | None:
    for member in module.members:
        if isinstance(member, syntax.ClockingDeclarationSyntax):
            if str(member.globalOrDefault).strip() == "default" and member.event is not None:
                return member.event
        elif type(member).__name__ == "DefaultClockingReferenceSyntax":
            raise Unwatched("its default clocking is named elsewhere: write @(posedge clk) in it")
    return None


def edge_of(clocking: Node) -> tuple[str, str]:
    words = re.fullmatch(r"@?\(*(posedge|negedge)([A-Za-z_]\w*)\)*", "".join(plain_text(str(clocking)).split()))
    if words is None:
        raise Unwatched(f"'{plain_text(str(clocking))}' is not one edge of a clock")
    return words[1], words[2]
