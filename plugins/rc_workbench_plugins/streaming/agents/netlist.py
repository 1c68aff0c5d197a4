"""A module that only joins others, as data, and its text in Verilog-2001.

A `Signal` is a wire, a bit or a part of one, or a constant; `Logic` is a tree of single wires.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Bits:
    """A constant of a width, 0 for a single wire."""

    value: int
    width: int

    @property
    def digits(self) -> str:
        width = max(1, self.width)
        return format(self.value & ((1 << width) - 1), f"0{width}b")


@dataclass(frozen=True)
class PartSelect:
    """Bits `high` to `low` of a wire; one bit where `high` is None."""

    wire: str
    low: int
    high: int | None = None


@dataclass(frozen=True)
class Gate:
    """A condition: `of` are joined by `operator`, "and" or "or"; "not" has one."""

    operator: str
    of: tuple[Logic, ...]


Signal = str | Bits | PartSelect
Logic = str | bool | Gate


@dataclass(frozen=True)
class Instance:
    """`parameters` are integers, or `Bits` where they are wider than an integer may be."""

    module: str
    name: str
    parameters: Mapping[str, int | Bits]
    ports: Mapping[str, Signal]


@dataclass
class Netlist:
    """`inputs`, `outputs` and `wires` give widths; 0 is a single wire.
    `joins` are wires or parts, of any width, that are another signal."""

    name: str
    inputs: dict[str, int] = field(default_factory=dict)
    outputs: dict[str, int] = field(default_factory=dict)
    wires: dict[str, int] = field(default_factory=dict)
    assigns: dict[str | PartSelect, Logic] = field(default_factory=dict)
    joins: dict[str | PartSelect, Signal] = field(default_factory=dict)
    instances: list[Instance] = field(default_factory=list)

    def wire(self, name: str, width: int = 0) -> str:
        self.wires[name] = width
        return name

    def assign(self, name: str, logic: Logic) -> str:
        """A new wire that is so."""
        self.assigns[self.wire(name)] = logic
        return name

    def add(self, module: str, name: str, parameters: Mapping[str, int | Bits], **ports: Signal) -> None:
        self.instances.append(Instance(module, name, parameters, ports))


def both(*parts: Logic) -> Logic:
    """The conjunction; operands that always hold are left out."""
    wanted = tuple(part for part in parts if part is not True)
    return Gate("and", wanted) if len(wanted) > 1 else wanted[0] if wanted else True


def verilog(net: Netlist) -> str:
    ports = [f"    {way} wire {_range(width)}{name}" for way, of in _ways(net) for name, width in of.items()]
    lines = [f"module {net.name} (", ",\n".join(ports), ");"]
    lines += [f"    wire {_range(width)}{name};" for name, width in net.wires.items() if name not in net.outputs]
    for one in net.instances:
        values = ", ".join(f".{key}({_verilog(value)})" for key, value in one.parameters.items())
        joins = ", ".join(f".{key}({_verilog(value)})" for key, value in one.ports.items())
        lines += [f"    {one.module} {f'#({values}) ' if values else ''}{one.name} (", f"        {joins}", "    );"]
    lines += [f"    assign {_verilog(to)} = {_verilog(signal)};" for to, signal in net.joins.items()]
    lines += [f"    assign {_verilog(to)} = {_verilog_logic(logic)};" for to, logic in net.assigns.items()]
    return "\n".join([*lines, "endmodule", ""])


def _ways(net: Netlist) -> Sequence[tuple[str, Mapping[str, int]]]:
    return (("input ", net.inputs), ("output", net.outputs))


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width else ""


def _verilog(value: Signal | int) -> str:
    match value:
        case Bits():
            return f"{max(1, value.width)}'b{value.digits}"
        case PartSelect(wire, low, high):
            return f"{wire}[{low}]" if high is None else f"{wire}[{high}:{low}]"
        case _:
            return str(value)


_VERILOG_OPERATORS = {"and": " & ", "or": " | "}


def _verilog_logic(logic: Logic) -> str:
    match logic:
        case bool():
            return f"1'b{int(logic)}"
        case Gate("not", (of,)):
            return f"~{_verilog_logic(of)}"
        case Gate(operator, of):
            return f"({_VERILOG_OPERATORS[operator].join(map(_verilog_logic, of))})"
        case _:
            return logic
