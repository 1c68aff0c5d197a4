"""A module around a top whose ports are interfaces or structs: their members and fields one by one, as plain ports."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from pyslang import ast

from workbench.api.instrument.port_finder import is_clock, is_reset, plain_name
from workbench.hdl.verilog.design import Design
from workbench.hdl.verilog.ports import interfaces
from workbench.model.scan import HdlPort, HdlTop


def flattened(design: Design, top: HdlTop) -> HdlTop:
    """The top with a module around it where it needs one, which is among its `made` files; else the top as it is.

    The module has no parameters: the top keeps its own values. A port of another kind leaves the top as it is.
    """
    body = design.top.body if design.top is not None else None
    if body is None or not any(port.port for port in top.ports):
        return top
    unpacked = any(getattr(port, "type", None) and port.type.isUnpackedArray for port in body.portList)
    if unpacked or {port.name for port in body.portList} - {port.port or port.name for port in top.ports}:
        return top  # of some port the members are not known
    names = _names(top.ports)
    plain = tuple(replace(port, name=names[port.name], port="", lsb=0) for port in top.ports)
    passed = ", ".join(f".{port.name}({_whole(port.name, top.ports)})" for port in body.portList)
    text = "\n".join(
        [
            f"// Plain ports around {top.name}, whose own are interfaces or structs.",
            f"module {top.name}_flat (",
            ",\n".join(f"    {port.direction} wire {_range(port.bits)}{port.name}" for port in plain),
            ");",
            *(f"    {line}" for line in _inside(body, top, names)),
            f"    {top.name} flat ({passed});",
            "endmodule",
            "",
        ]
    )
    file = str(PurePosixPath(top.file).with_name(f"{top.name}_flat.sv"))
    sources = (*top.sources, file)
    return replace(
        top, name=f"{top.name}_flat", file=file, line=2, sources=sources, ports=plain, parameters=(),
        made=((file, text),),
    )  # fmt: skip


def _names(ports: Sequence[HdlPort]) -> dict[str, str]:
    """What each port is called around the top: in words alone, unless two would then be called the same."""
    names: dict[str, str] = {}
    for port in ports:
        words = plain_name(port) if port.port else port.name
        if words in names.values():
            words = "".join(c if c.isalnum() else "_" for c in port.name)
        names[port.name] = words
    return names


def _whole(name: str, ports: Sequence[HdlPort]) -> str:
    return name if any(port.name == name for port in ports) else f"{name}_whole"


def _range(bits: int) -> str:
    return f"[{bits - 1}:0] " if bits > 1 else ""


def _inside(body: Any, top: HdlTop, names: dict[str, str]) -> Iterator[str]:
    """The wires and interfaces between the plain ports and the top's own."""
    for port in body.portList:
        parts = [one for one in top.ports if one.port == port.name]
        if not parts:
            continue
        whole = f"{port.name}_whole"
        if port.kind == ast.SymbolKind.InterfacePort:
            elements = [instance for instance, _ in interfaces(port)]
            many = f" [{len(elements)}]" if parts[0].name.startswith(f"{port.name}[") else ""
            yield f"{elements[0].definition.name} {whole}{many} ({_connections(elements[0], top)});"
        else:
            yield f"wire {_range(max(one.lsb + one.bits for one in parts))}{whole};"
        for one in parts:
            place = whole + one.name.removeprefix(port.name)
            if port.kind != ast.SymbolKind.InterfacePort:
                place = f"{whole}[{one.lsb} +: {one.bits}]"
            sides = (place, names[one.name]) if one.direction == "input" else (names[one.name], place)
            yield f"assign {sides[0]} = {sides[1]};"


def _connections(interface: Any, top: HdlTop) -> str:
    """An interface's own ports: the top's of that name, else its clock and its reset."""
    plain = [port.name for port in top.ports if not port.port and port.direction == "input"]
    connections = []
    for port in interface.body.portList:
        candidates = [port.name] if port.name in plain else []
        if is_clock(port.name):
            candidates += [name for name, _ in top.clocks]
        elif is_reset(port.name):
            candidates += [name for name, _ in top.resets]
        if candidates:
            connections.append(f".{port.name}({candidates[0]})")
    return ", ".join(connections)
