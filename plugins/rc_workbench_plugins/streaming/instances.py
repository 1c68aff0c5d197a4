"""Hardware blocks in the design that is made: each block's module, joined to the queues of its edges."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rc_workbench_plugins.streaming.modules import Module
from workbench.api.unstable import StreamBlock, Value, Way


@dataclass
class _Joined:
    """What a block's module is connected to, and what else stands beside it."""

    connections: list[tuple[str, str]]
    lines: list[str] = field(default_factory=list)
    unended: list[str] = field(default_factory=list)  # nets out of it whose end the block does not tell


def instance(
    number: int, block: StreamBlock, module: Module, parts: list[dict[str, Any]], clock: str
) -> dict[str, Any]:
    """The values of a block for the template. WorkbenchError if its module lacks ports that it needs."""
    queues = [part for part in parts if "edge" in part]  # others are of agents
    ends = {str(part["edge"].sink): part for part in queues if part["way"] != "out"}
    ends |= {str(part["edge"].source): part for part in queues if part["way"] != "in"}
    joined_to = {port: ends[f"{block.name}.{port.name}"] for port in block.kind.ports}
    reset = next((part["reset"] for part in joined_to.values()), "stream_reset")
    net = f"b{number}_{identifier(block.name)}"
    joined = _Joined([*module.clocked(clock, reset)])
    for port, part in joined_to.items():
        (_join_in if port.way is Way.IN else _join_out)(joined, module, module.named(port.name), part, clock)
    into = [part["net"] for port, part in joined_to.items() if port.way is Way.IN]
    if joined.unended:
        _end(joined, net, into, clock, reset)
    bound = {} if module.translated else block.config
    parameters = ", ".join(f".{name}({_verilog_value(value)})" for name, value in bound.items())
    return {"name": block.name, "net": net, "unit": module.name, "parameters": parameters,
            "connections": joined.connections, "lines": joined.lines}  # fmt: skip


def _join_in(joined: _Joined, module: Module, port: str, part: Mapping[str, Any], clock: str) -> None:
    """A block that does not know of the stream's end never meets it."""
    style, net = module.style(port, Way.IN), part["net"]
    knows = f"{port}_tlast" in module.ports
    at_end, taken, late = f"({net}_out_valid && {net}_out_last)", f"{net}_taken", f"{net}_late"
    there = f"{net}_out_valid" if knows else f"({net}_out_valid && !{net}_out_last)"
    joined.lines += [f"wire {taken};", f"assign {net}_out_ready = {taken if knows else f'{taken} || {at_end}'};"]
    if style.late:
        joined.lines += [
            f"reg [{part['bits'] - 1}:0] {late};",
            f"always @(posedge {clock}) if ({taken}) {late} <= {net}_out;",
        ]
    data, valid, ready = style.of(port)
    joined.connections += [(data, late if style.late else f"{net}_out"), (valid, style.no + there), (ready, taken)]
    if knows:
        joined.connections.append((f"{port}_tlast", f"{net}_out_last"))


def _join_out(joined: _Joined, module: Module, port: str, part: Mapping[str, Any], clock: str) -> None:
    style, net = module.style(port, Way.OUT), part["net"]
    knows = f"{port}_tlast" in module.ports
    data, valid, ready = style.of(port)
    valid_wire = f"{net}_in_valid" if knows else f"{net}_made"
    joined.connections += [(data, f"{net}_in"), (valid, valid_wire), (ready, f"{style.no}{net}_in_ready")]
    if knows:
        joined.connections.append((f"{port}_tlast", f"{net}_in_last"))
    else:
        joined.unended.append(net)
        joined.lines.append(f"wire {valid_wire};")


def _end(joined: _Joined, block: str, into: list[str], clock: str, reset: str) -> None:
    """The stream's end after a block that does not tell it: once all that goes in has ended and nothing came out for
    a while. A block into which nothing goes never ends."""
    all_ended = " || ".join(f"{net}_made" for net in joined.unended)
    over = " && ".join(f"{net}_over" for net in into) or "1'b0"
    for net in into:
        joined.lines += [
            f"reg {net}_over;",
            f"always @(posedge {clock}) {net}_over <= !{reset} && "
            f"({net}_over || ({net}_out_valid && {net}_out_ready && {net}_out_last));",
        ]
    joined.lines += [
        f"wire {block}_ends;",
        f"stream_end #(.QUIET(FLUSH)) {block}_end (.clk({clock}), .rst({reset}), .over({over}), .made({all_ended}), "
        f".ends({block}_ends));",
    ]
    for net in joined.unended:
        joined.lines += [
            f"assign {net}_in_last = {block}_ends && !{net}_made && !{net}_ended;",
            f"assign {net}_in_valid = {net}_made || {net}_in_last;",
        ]


def _verilog_value(value: Value) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, int) and not -(1 << 31) <= value < 1 << 31:
        return f"{'-' if value < 0 else ''}64'd{abs(value)}"
    return repr(value)


def identifier(text: str) -> str:
    return re.sub(r"\W", "_", text)
