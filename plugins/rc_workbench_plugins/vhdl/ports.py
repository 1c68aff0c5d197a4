"""A top's ports with their widths, which the elaborated design tells, and which of them it reads."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from rc_workbench_plugins.vhdl.clocks import associated
from rc_workbench_plugins.vhdl.syntax import plain, without_comments
from rc_workbench_plugins.vhdl.types import Leaf, leaves, shared_types
from rc_workbench_plugins.vhdl.units import Declared, Unit
from workbench.api import HdlPort
from workbench.hdl.instances import Instance

_DIRECTIONS = {"in": "input", "out": "output", "buffer": "output", "inout": "inout", "linkage": "inout"}


def telling(top: Unit, units: Sequence[Unit]) -> tuple[str, str]:
    """Declarations and statements of a process in the top's architecture that tells the widths of its ports: lines
    "recap PART NUMBER", or the ends of an integer's range."""
    types = shared_types(units)
    declared: list[str] = []
    said: list[str] = []
    number = count()
    for port in top.ports:
        for leaf in leaves(port.name, port.type, types):
            if leaf.kind == "bits":
                said.append(_report(leaf, f"integer'image({leaf.expression})"))
            else:
                name = f"recap_t{next(number)}"
                declared.append(f"subtype {name} is {leaf.type};")
                ends = f"integer'image({name}'low) & \" \" & integer'image({name}'high)"
                said.append(_report(leaf, f'{ends} & " " & integer\'image({leaf.expression})'))
    return " ".join(declared), " ".join(said)


def _report(leaf: Leaf, value: str) -> str:
    return f'report "recap {plain(leaf.name)} " & {value};'


def hdl_ports(top: Unit | None, units: Sequence[Unit], values: Mapping[str, str], shown: str) -> Iterator[HdlPort]:
    """The top's ports, those of a record's type field by field. `shown` is what its file is called."""
    types = shared_types(units)
    for port in top.ports if top is not None else ():
        way = _DIRECTIONS.get(port.mode, "input")
        parts = list(leaves(port.name, port.type, types)) or [Leaf(port.name, "bits", "", port.type)]
        lowest = 0
        for leaf in reversed(parts):  # the first field is the highest
            bits = _bits(leaf, values.get(plain(leaf.name), ""))
            whole = port.name if leaf.name != port.name else ""
            yield HdlPort(leaf.name, way, bits, whole, lowest if whole else 0, True, shown, port.line)
            lowest += bits


def _bits(leaf: Leaf, value: str) -> int:
    numbers = [int(word) for word in value.split() if re.fullmatch(r"-?\d+", word)]
    if len(numbers) == 3:
        low, high, times = numbers
        return max(1, times * (max(high.bit_length(), (-low - 1).bit_length() + 1) if low < 0 else high.bit_length()))
    return max(1, numbers[0]) if numbers else 1


def uses(instance: Instance, port: Declared, seen: frozenset[str] = frozenset()) -> bool:
    """Whether an instance reads an input: anywhere in its architecture, other than to hand it to one that does not."""
    unit = instance.body
    if unit is None or instance.path in seen:
        return True
    data = unit.file.data[unit.node.start_byte : unit.node.end_byte].decode("latin-1")
    mentioned = len(re.findall(rf"(?<![\w.]){re.escape(port.name)}\b(?!\s*=>)", without_comments(data), re.IGNORECASE))
    handed = [
        (child, formal)
        for child in instance.children
        for association, formal in associated(child)
        if plain(association.actual) == plain(port.name)
    ]
    written = {child.key for child, _ in handed}
    return mentioned > len(written) or any(uses(child, formal, seen | {instance.path}) for child, formal in handed)
