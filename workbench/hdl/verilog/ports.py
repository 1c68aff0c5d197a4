"""A top's ports one by one, with the fields of structs and the members of interfaces; which are used, which reset."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pyslang import ast

from workbench.hdl.verilog.design import Design
from workbench.model.scan import HdlPort

Kind = ast.SymbolKind
_DIRECTIONS = {
    ast.ArgumentDirection.In: "input",
    ast.ArgumentDirection.Out: "output",
    ast.ArgumentDirection.InOut: "inout",
}
_MOST_ELEMENTS = 64  # of an array whose elements are looked at one by one


def hdl_ports(design: Design) -> tuple[HdlPort, ...]:
    """The ports of the elaborated top; none where it could not be elaborated."""
    if design.top is None:
        return ()
    uses, ports = _Uses(), []
    own = {port.internalSymbol for port in design.top.body.portList if port.kind == Kind.Port}  # no interface's
    for port, symbol in ports_of(design, design.top.body):
        used = port.direction != "input" or symbol not in own or uses.uses(design.top.body, symbol)
        ports.append(port if used else replace(port, used=False))
    return tuple(ports)


def ports_of(design: Design, body: Any) -> Iterator[tuple[HdlPort, Any]]:
    """The ports of an elaborated instance in leaves, each with the signal within that it is a part of."""
    for port in body.portList:
        path, line, _ = design.place(port.location)
        place = (design.name_of(path), line)
        if port.kind == Kind.InterfacePort:
            several = interfaces(port)
            for number, (_, modport) in enumerate(several):
                name = f"{port.name}[{number}]" if _is_array(port) else port.name
                for member in modport or ():
                    if member.kind == Kind.ModportPort and member.direction in _DIRECTIONS:
                        way = _DIRECTIONS[member.direction]
                        for one, bits, lsb in _leaves(f"{name}.{member.name}", member.type):
                            yield HdlPort(one, way, bits, port.name, lsb, True, *place), member.internalSymbol
        elif port.kind == Kind.Port and port.direction in _DIRECTIONS:
            for name, bits, lsb in _leaves(port.name, port.type):
                part = port.name if name != port.name else ""
                yield HdlPort(name, _DIRECTIONS[port.direction], bits, part, lsb, True, *place), port.internalSymbol


def interfaces(port: Any) -> list[tuple[Any, Any]]:
    """The interfaces that are connected to a port, each with its modport: several where the port is an array."""
    instance, modport = port.connection or (None, None)
    if instance is None:
        return []
    if instance.kind != Kind.InstanceArray:
        return [(instance, modport)] if instance.kind == Kind.Instance else []
    elements = [one for one in instance.elements if one.kind == Kind.Instance]
    return [(one, one.body.find(port.modport)) for one in elements] if port.modport else []


def _is_array(port: Any) -> bool:
    return bool(port.connection[0].kind == Kind.InstanceArray)


def _leaves(name: str, kind: Any, lsb: int = 0) -> Iterator[tuple[str, int, int]]:
    """What a port of this type is made of: (name, bits, lowest bit)."""
    kind = kind.canonicalType
    if kind.isStruct and kind.isIntegral:
        for member in kind:
            if member.kind == Kind.Field:
                yield from _leaves(f"{name}.{member.name}", member.type, lsb + member.bitOffset)
        return
    if kind.isPackedArray or kind.isUnpackedArray:
        element = kind.elementType.canonicalType if hasattr(kind, "range") else None
        whole = element is None or (kind.isPackedArray and not element.isStruct)
        if element is not None and not whole and kind.range.width <= _MOST_ELEMENTS:
            step = element.bitWidth
            for index in range(kind.range.width):
                low = lsb + index * step if kind.isPackedArray else 0
                yield from _leaves(f"{name}[{index}]", element, low)
            return
    yield name, max(1, int(kind.bitWidth)), lsb


class _Uses:
    """Whether a design reads a port: somewhere in its module, other than to hand it to one that does not."""

    def __init__(self) -> None:
        self._seen: dict[Any, tuple[Counter[Any], dict[Any, list[tuple[Any, Any]]]]] = {}

    def uses(self, body: Any, symbol: Any) -> bool:
        if symbol is None:
            return False
        mentioned, handed = self._body(body)
        below = handed.get(symbol, [])
        return mentioned[symbol] > len(below) or any(self.uses(inner, port) for inner, port in below)

    def _body(self, body: Any) -> tuple[Counter[Any], dict[Any, list[tuple[Any, Any]]]]:
        """How often each symbol is named in a module, and which ports of its instances it is just connected to."""
        if body in self._seen:
            return self._seen[body]
        mentioned: Counter[Any] = Counter()
        handed: dict[Any, list[tuple[Any, Any]]] = defaultdict(list)

        def look(node: Any) -> Any:
            if isinstance(node, ast.NamedValueExpression):
                mentioned[node.symbol] += 1
            elif isinstance(node, ast.InstanceSymbol):
                for connection in node.portConnections:
                    expression, port = connection.expression, connection.port
                    if expression is None:
                        continue
                    expression.visit(look)
                    plain = expression
                    while plain.kind == ast.ExpressionKind.Conversion:
                        plain = plain.operand
                    inner = getattr(port, "internalSymbol", None)
                    if plain.kind == ast.ExpressionKind.NamedValue and (inner is not None or port.kind == Kind.Port):
                        handed[plain.symbol].append((node.body, inner))
                return ast.VisitAction.Skip
            return ast.VisitAction.Advance

        body.visit(look)
        self._seen[body] = mentioned, handed
        return mentioned, handed
