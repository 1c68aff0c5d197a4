"""Ports of mode `out` that a metric asks about in VHDL-93, where no statement may read them: in the copies their
architecture drives a signal in place of the port, and that signal drives the port."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tree_sitter import Node

from rc_workbench_plugins.vhdl.metrics import MetricBlock, anchor_of
from rc_workbench_plugins.vhdl.syntax import children, matches, plain, text_of
from rc_workbench_plugins.vhdl.types import Type, is_open
from rc_workbench_plugins.vhdl.units import Declared, Unit
from workbench.api import Diagnostic
from workbench.hdl.edits import Edits

_WORDS = re.compile(r'"[^"]*"|\'.\'|(?<![\w.])[a-z]\w*', re.IGNORECASE)
_HINT = "Give the port's signal a name of its own in the architecture, or write `vhdl_standard: 2008`."


def with_outs(
    metrics: Iterable[MetricBlock], units: Sequence[Unit]
) -> tuple[tuple[MetricBlock, ...], tuple[Diagnostic, ...]]:
    """The metrics of a VHDL-93 design, each with the ports of mode `out` that it asks about; and diagnostics of those
    whose ports' drivers cannot be distinguished from other names."""
    usable, problems = list[MetricBlock](), list[Diagnostic]()
    for block in metrics:
        unit = next((unit for unit in units if anchor_of(block).region in unit.regions), None)
        outs = _outs(block, unit.entity_ports) if unit else ()
        hidden = [port.name for port in outs if unit and _declared_again(unit, port.name)]
        if not hidden or block.placed is None:
            usable.append(replace(block, outs=outs))
            continue
        what = f"VHDL-93 cannot read the out port '{hidden[0]}', and the architecture declares this name again"
        problems.append(block.placed.diagnostic(f"{block.placed.title} is wrong: {what}", _HINT))
    return tuple(usable), tuple(problems)


def drive_signals(edits: Edits, unit: Unit, outs: Iterable[Declared], types: Mapping[str, Type | str]) -> None:
    """Let an architecture drive signals in place of these ports of its entity."""
    assert unit.region is not None
    declared, driven = "", ""
    for port in {plain(one.name): one for one in outs}.values():
        name = signal_of(port)
        bounds = f"({port.name}'range)" if is_open(port.type, types) else ""
        declared += f"signal {name} : {port.type}{bounds}{f' := {port.default}' if port.default else ''}; "
        driven += f" {port.name} <= {name};"
        for node in _named(unit, port.name):
            if _is_meant(node):
                edits.replace(node.start_byte, node.end_byte, name)
    edits.insert(unit.region.declare_at, declared)
    edits.insert(unit.region.statements_at, driven)


def signal_of(port: Declared) -> str:
    return f"recap_out_{plain(port.name)}"


def _outs(block: MetricBlock, ports: Sequence[Declared]) -> tuple[Declared, ...]:
    texts = (*block.metric.conditions, block.metric.signal, *(one.sets for one in block.kept))
    words = {plain(word) for text in texts for word in _WORDS.findall(text)}
    return tuple(port for port in ports if port.mode.lower() == "out" and plain(port.name) in words)


def _named(unit: Unit, name: str) -> Iterator[Node]:
    """The places in an architecture's statements that have a name."""
    for body in children(unit.node, "concurrent_block"):
        yield from (node for node in matches(body, "(identifier) @n") if plain(text_of(node)) == plain(name))


def _declared_again(unit: Unit, name: str) -> bool:
    return any(node.parent is None or node.parent.type not in ("name", "selection") for node in _named(unit, name))


def _is_meant(node: Node) -> bool:
    """Whether a name is that of the port: not a field's, and not what another unit, or a record, calls its own."""
    name = node.parent
    if name is None or name.type != "name":
        return False
    side = name
    while side.parent is not None and side.parent.type not in ("association_element", "element_association"):
        if side.parent.type not in ("simple_expression", "conditional_expression"):
            return True
        side = side.parent
    after = side.next_sibling
    return after is None or text_of(after) != "=>"
