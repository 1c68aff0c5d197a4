"""The user's top level, elaborated: the ports and parameters that the generated wrapper repeats."""

from typing import Any

from pyslang import ast

from workbench.api.instrument.wrapper import Top, TopParameter, TopPort
from workbench.model.diagnostic import Diagnostic, WorkbenchError

_DIRECTIONS = {
    ast.ArgumentDirection.In: "input",
    ast.ArgumentDirection.Out: "output",
    ast.ArgumentDirection.InOut: "inout",
}


def read_top(symbol: Any, inner: str) -> Top:
    """WorkbenchError for ports and parameters that a plain Verilog module cannot pass on."""
    return Top(
        symbol.name,
        inner,
        tuple(_port(symbol, port) for port in symbol.body.portList),
        tuple(_parameter(symbol, parameter) for parameter in symbol.body.parameters if not parameter.isLocalParam),
    )


def _port(top: Any, port: Any) -> TopPort:
    direction = _DIRECTIONS.get(port.direction) if port.kind == ast.SymbolKind.Port else None
    if direction is None:
        raise WorkbenchError(_refused(top, f"port '{port.name}'"))
    kind, unpacked = port.type, ""
    while kind.isUnpackedArray and hasattr(kind, "range"):
        unpacked += f" [{kind.range.left}:{kind.range.right}]"
        kind = kind.elementType
    if not kind.isIntegral:
        raise WorkbenchError(_refused(top, f"port '{port.name}' of type {port.type}"))
    scalar = kind.bitWidth == 1 and not kind.isPackedArray
    return TopPort(port.name, direction, "" if scalar else f"[{kind.bitWidth - 1}:0]", unpacked, kind.isSigned)


def _parameter(top: Any, parameter: Any) -> TopParameter:
    if parameter.kind != ast.SymbolKind.Parameter:
        raise WorkbenchError(_refused(top, f"type parameter '{parameter.name}'"))
    name, kind, value = parameter.name, parameter.type, parameter.value
    if kind.isIntegral:
        if kind.bitWidth == 32 and kind.isSigned and not value.value.hasUnknown:
            return TopParameter(name, f"parameter {name}", str(int(value.value)))
        signed = "signed " if kind.isSigned else ""
        text = value.value.toString(kind.bitWidth + 1) if value.value.hasUnknown else ""
        literal = text or f"{kind.bitWidth}'{'s' if signed else ''}h{int(value.value) & ((1 << kind.bitWidth) - 1):x}"
        return TopParameter(name, f"parameter {signed}[{kind.bitWidth - 1}:0] {name}", literal)
    if kind.isString or kind.isFloating:
        text = str(value.value)
        return TopParameter(name, f"parameter {name}", f'"{text}"' if kind.isString else text)
    raise WorkbenchError(_refused(top, f"parameter '{name}' of type {kind}"))


def _refused(top: Any, what: str) -> Diagnostic:
    return Diagnostic(
        f"the top module '{top.name}' has the {what}, which the generated top level cannot pass on",
        "Put a module with plain ports and parameters around it, and name that as the top: New from sources writes one "
        "around interfaces.",
    )
