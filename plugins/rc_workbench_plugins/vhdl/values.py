"""Generics as parameters and the other way round: a value of one language as the other one writes it."""

import re
import struct
from collections.abc import Collection, Mapping
from typing import Any

from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.types import Type, resolved
from workbench.hdl.verilog.expressions import quoted

_BITS = re.compile(r"(\d+)'b([01xzXZ]+)")


def kind_of(written: str, types: Mapping[str, Type | str]) -> str:
    """What kind of value a generic's type has: "string", "boolean", "real", "bit", "vector", "integer", or ""."""
    name = plain(re.split(r"[\s(]", written.strip(), maxsplit=1)[0].rpartition(".")[2])
    if name in ("string", "boolean", "real"):
        return name
    type_ = resolved(written, types)
    return type_.kind if type_ is not None and type_.kind in ("bit", "vector", "integer") else ""


def verilog_of(kind: str, value: str) -> str:
    """A value as VHDL's `to_string` tells it, as Verilog writes it; '' where it cannot be written there."""
    if kind == "string":
        return quoted(value)
    if kind == "boolean":
        return f"1'b{int(value.lower() == 'true')}"
    if kind in ("bit", "vector") and re.fullmatch(r"[01xzXZ]+", value):
        return f"{len(value)}'b{value}"
    if (kind == "integer" and re.fullmatch(r"-?\d+", value)) or kind == "real":
        return value
    return ""


def meant(kind: str, written: str) -> str:
    """A value as GHDL writes it into a netlist, whatever its type all bits, as Verilog writes one of that kind."""
    bits = _BITS.fullmatch(written)
    if bits is None:
        return written
    width, number = int(bits[1]), int(re.sub("[^01]", "0", bits[2]), 2)
    if kind == "integer":
        return str(number - (1 << 32) if width == 32 and number >> 31 else number)
    if kind == "string":
        return quoted(number.to_bytes(width // 8, "big").decode("latin-1"))
    if kind == "real":
        return repr(struct.unpack(">d", number.to_bytes(8, "big"))[0])
    return written


def generic_of(kind: str, parameter: Any) -> str | None:
    """The value of a slang parameter as GHDL takes a generic of that kind; None if it has no such form."""
    value, type_ = parameter.value.value, parameter.type
    if type_.isFloating or kind in ("real", ""):
        return None
    if type_.isString or kind == "string":
        return str(value) if type_.isString else _text(int(value))
    if value is None or value.hasUnknown:
        return None
    number = int(value)
    if kind == "boolean":
        return "true" if number else "false"
    if kind == "bit":
        return f"'{number & 1}'"
    if kind == "vector":
        return format(number & ((1 << type_.bitWidth) - 1), f"0{type_.bitWidth}b")
    return str(number)


def _text(number: int) -> str:
    """Verilog's texts are numbers, a byte a letter."""
    return number.to_bytes((number.bit_length() + 7) // 8, "big").decode("latin-1")


def known_names(what: str, names: Collection[str]) -> str:
    return f"Its {what} are {', '.join(names)}." if names else f"It has no {what}."
