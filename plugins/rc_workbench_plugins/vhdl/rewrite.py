"""The edits that make observed copies of VHDL files: insertions within lines, so that line numbers stay.

States are bit vectors, which need no use clause, and are seen wherever a design unit stands.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from tree_sitter import Node

from rc_workbench_plugins.vhdl.blocks import Arm, SourceBlock
from rc_workbench_plugins.vhdl.design import Design
from rc_workbench_plugins.vhdl.elaborate import PART
from rc_workbench_plugins.vhdl.metrics import (
    MetricBlock,
    anchor_of,
    declarations,
    is_set_within,
    names_of,
    process,
    told,
)
from rc_workbench_plugins.vhdl.read_back import drive_signals
from rc_workbench_plugins.vhdl.skeleton import cuts
from rc_workbench_plugins.vhdl.syntax import child, children, matches, plain, text_of
from rc_workbench_plugins.vhdl.types import types_of
from rc_workbench_plugins.vhdl.units import Instantiation, Interface, Region, Unit
from workbench.api import Clock
from workbench.api.instrument.probes import state_bits
from workbench.api.instrument.wrapper import STATE_PORT
from workbench.hdl.blocks import meaning
from workbench.hdl.edits import Edits
from workbench.hdl.instances import Instance, Key, uses_in
from workbench.hdl.layout import Layout, Site
from workbench.hdl.metrics import FAILED, HELD, MetricKind

_ENTITY_CLASS = re.compile(rb"\bof\s+(\w+)\s*:\s*entity\b", re.IGNORECASE)
_STATEMENTS = ("if_statement_body", "sequential_block", "loop_body")


def edits_of(
    design: Design,
    top: Instance,
    layout: Layout,
    inner: str,
    generics: Mapping[str, str],
    clocks: Mapping[str, Clock],
) -> dict[Path, Edits]:
    """The edits of every file. The design's own top, where it has one, is called `inner`, and has the values of
    `generics` by itself. `clocks` are the platform's, by their names at the top. What of the layout is no entity is
    left alone, but for the components that stand for it."""
    held = _held_in_reset(top, clocks)
    edits: dict[Path, Edits] = {file.path: Edits(file.path) for file in design.needed}
    _part(design, edits)
    blocks: dict[Key, SourceBlock | MetricBlock] = {}
    instantiations: dict[Key, Instantiation] = {}
    entities: dict[str, Unit] = {}
    components: dict[str, int] = {}
    for instance in top.walk():
        if isinstance(instance.body, Unit) and (entity := design.entity_of(instance.body)) is not None:
            entities[instance.module] = entity
        if isinstance(instance.node, Instantiation):
            instantiations[instance.key] = instance.node
            if instance.node.kind == "component" and layout.widths.get(instance.module):
                components[plain(instance.node.unit.rpartition(".")[2])] = layout.widths[instance.module]
        own = (use.source for use in instance.observed)
        blocks.update({block.key: block for block in own if isinstance(block, SourceBlock | MetricBlock)})
    for module, sites in layout.sites.items():
        width = layout.widths[module]
        if not width or (entity := entities.get(module)) is None:
            continue
        if entity.interface is not None:
            _add_port(edits[entity.file.path], entity.interface, width)
        regions: dict[int, tuple[Region, list[tuple[SourceBlock | MetricBlock, Site]]]] = {}
        for key, site in sites.items():
            if (block := blocks.get(key)) is None:
                _connect(edits[Path(key[0])], instantiations[key], site)
            elif (region := anchor_of(block).region) is not None:
                regions.setdefault(id(region), (region, []))[1].append((block, site))
        for region, observed in regions.values():
            _observe(edits[region.file.path], region, observed, held)
    for unit in design.units:
        asking = [one for one in blocks.values() if isinstance(one, MetricBlock) and one.outs]
        if outs := [port for one in asking if anchor_of(one).region in unit.regions for port in one.outs]:
            drive_signals(edits[unit.file.path], unit, outs, types_of([unit]))
        for component in unit.all_components:
            if (width := components.get(plain(component.name), 0)) and component.file.path in edits:
                _add_port(edits[component.file.path], component.interface, width)
    if design.top is not None:
        _rename(design, edits, top.module, inner)
        _set_defaults(edits[design.top.file.path], design.top, {plain(name): v for name, v in generics.items()})
    return edits


def _part(design: Design, edits: Mapping[Path, Edits]) -> None:
    for file in design.needed:
        for cut in cuts([unit for unit in design.units if unit.file is file]):
            edits[file.path].insert(cut, PART.decode())


def slice_of(site: Site) -> str:
    """The part of `recap_state` for a place, as VHDL within the loops' scope."""
    if not site.ranges:
        return f"({site.offset + site.width - 1} downto {site.offset})"
    index = ""
    for name, low, high in site.ranges:
        term = f"({name} - ({low}))" if low else name
        index = f"({index} * {high - low + 1} + {term})" if index else term
    return f"({site.offset + site.width - 1} + {index} * {site.width} downto {site.offset} + {index} * {site.width})"


def _add_port(edits: Edits, interface: Interface, width: int) -> None:
    declaration = f"{STATE_PORT} : out bit_vector({width - 1} downto 0)"
    edits.insert(interface.closing, f"; {declaration}" if interface.has_ports else f" port ({declaration});")


def _connect(edits: Edits, instantiation: Instantiation, site: Site) -> None:
    association = f"{STATE_PORT} => {STATE_PORT}{slice_of(site)}"
    edits.insert(instantiation.closing, f", {association}" if instantiation.has_ports else f" port map ({association})")


def signal_name(block: SourceBlock | MetricBlock) -> str:
    """VHDL's names have no two underscores in a row, and none at an end."""
    return "recap_st_" + re.sub(r"\W|_", "_", block.label).strip("_").replace("__", "_")


def _held_in_reset(top: Instance, clocks: Mapping[str, Clock]) -> set[Key]:
    """The blocks whose one reset is their clock's, and asynchronous: their states keep meanwhile what they tell of the
    last cycle that counts, which the reset would end at once."""
    kept: dict[Key, bool] = {}
    for use in uses_in(top):
        block, clock = use.source, clocks.get(use.root_clock)
        if not isinstance(block, SourceBlock):
            continue
        arms = [arm for arm in block.arms if arm.in_reset]
        before = bool(arms) and all(arm.statement.start_byte < block.arms[0].statement.start_byte for arm in arms)
        asked = use.reset is not None and clock is not None and plain(use.reset[0]) == plain(clock.reset)
        unmarked = not any(arm.pragmas for arm in arms)
        kept[block.key] = kept.get(block.key, True) and block.resets == 1 and before and asked and unmarked
    return {key for key, all_ in kept.items() if all_}


def _observe(
    edits: Edits, region: Region, observed: list[tuple[SourceBlock | MetricBlock, Site]], held: Collection[Key]
) -> None:
    """Give blocks of one region their state signals, and set these in every branch."""
    declared, driven = "", ""
    states: dict[int, SourceBlock] = {}
    marked: dict[int, list[MetricBlock]] = {}
    for block, site in observed:
        name, bits = signal_name(block), state_bits(len(block.states) + 1)
        if site.clock:
            declared += f"signal {name}_clock : bit; "
            driven += f" {name}_clock <= '1' when {block.clock} = '1' else '0';"
        shown = name
        if isinstance(block, MetricBlock):
            declared += declarations(block)
            shown = told(block)
            if is_set_within(block):
                driven += process(block)
            if block.marks:
                marked.setdefault(block.node.id, []).append(block)
            else:
                driven += process(block)
                _leave_out(edits, region, block)
            if block.placed is not None and not block.marks:
                edits.conditions[region.file.line(region.statements_at)] = block.placed
        else:
            declared += f"signal {name} : bit_vector({bits - 1} downto 0) := {_code(0, bits)}; "
            states[block.node.id] = block
        driven += f" {STATE_PORT}{slice_of(site)} <= {f'{name}_clock & ' if site.clock else ''}{shown};"
    for node in dict.fromkeys((*states, *marked)):
        beside = marked.get(node, [])
        one = states.get(node) or anchor_of(beside[0])
        if one.node.id == node:
            _set_states(edits, one, node in states, beside, one.key in held)
        else:
            _set_at_once(edits, beside)
        for mark_of in beside:
            _set_marks(edits, region, mark_of)
    if region.begins:
        edits.insert(region.declare_at, f" {declared}begin{driven}")
    else:
        edits.insert(region.declare_at, declared)
        edits.insert(region.statements_at, driven)


def _code(number: int, bits: int) -> str:
    return f'"{number:0{bits}b}"'


def _set_states(
    edits: Edits, block: SourceBlock, observed: bool, marked: Sequence[MetricBlock], held: bool
) -> None:  # fmt: skip
    """Set a process's state in its branches, where it is observed, and what is `marked` in it to none of its own."""
    name, bits = signal_name(block), state_bits(len(block.states) + 1)
    codes = {meaning(placed.pragma): _code(code, bits) for code, placed in enumerate(block.states, 1)}
    none = f" {name} <= {_code(0, bits)};" if observed else ""
    none += "".join(_none_of(one) for one in marked if not is_set_within(one))
    outermost = set() if held else {arm.statement.id for arm in _reset_arms(block)}
    for arm in block.arms:
        whole = arm.kind == "body"
        text = none if whole or arm.statement.id in outermost else ""
        for placed in arm.pragmas if observed else ():
            condition, code = placed.pragma.condition, f" {name} <= {codes[meaning(placed.pragma)]};"
            if condition and not arm.in_reset:
                text += f" if {condition} then{code} end if;"
                edits.conditions[arm.line] = placed
            elif not condition:
                text += code
        if whole and block.enable:
            text = f"{none} if {block.enable} then{text.removeprefix(none)}"
            _ask_edge_alone(edits, block, arm)
        if text:
            edits.insert(arm.at, text)


def _none_of(block: MetricBlock) -> str:
    return f" {told(block)} <= {_code(0, block.metric.bits)};"


def _set_at_once(edits: Edits, marked: Sequence[MetricBlock]) -> None:
    """Set what is marked in a process without a clock to none at its beginning."""
    body = child(marked[0].node, "sequential_block")
    begin = child(body, "begin")
    if begin is not None:
        edits.insert(begin.end_byte, "".join(map(_none_of, marked)))


def _set_marks(edits: Edits, region: Region, block: MetricBlock) -> None:
    name, bits = names_of(block)[0], block.metric.bits
    for mark in block.marks:
        code = f"{name} <= {_code(mark.code, bits)};"
        if mark.condition:
            held, failed = (f"{name}({one - 1}) <= not {name}({one - 1});" for one in (HELD, FAILED))
            code = f"if {mark.condition} then {held} else {failed} end if;"
        edits.insert(mark.place, f" {code} ")
    _leave_out(edits, region, block)


def _leave_out(edits: Edits, region: Region, block: MetricBlock) -> None:
    """Take an assertion that is watched out of the copy, and keep its lines: it would end a simulation, or say what the
    run says."""
    if block.metric.kind is not MetricKind.ASSERT:
        return
    at = block.key[1]
    kinds = "[(assertion_statement) (concurrent_assertion_statement)] @a"
    root = block.node
    while root.parent is not None:
        root = root.parent
    for node in matches(root, kinds):
        if node.start_byte == at:
            instead = "null;" if node.type == "assertion_statement" else ""
            edits.replace(at, node.end_byte, instead + "\n" * text_of(node).count("\n"))


def _reset_arms(block: SourceBlock) -> Iterator[Arm]:
    """The arms in reset that stand in no other."""
    ends = -1
    for arm in sorted((a for a in block.arms if a.in_reset), key=lambda a: a.statement.start_byte):
        if arm.statement.start_byte >= ends:
            ends = arm.statement.end_byte
            yield arm


def _ask_edge_alone(edits: Edits, block: SourceBlock, arm: Arm) -> None:
    """What is asked for besides the edge becomes a condition within, so that there is a state without it too."""
    words = [one for one in arm.statement.children if one.is_named and one.type not in (*_STATEMENTS, "line_comment")]
    if words:
        gone = text_of(words[0]).count("\n")
        edits.replace(words[0].start_byte, words[0].end_byte, block.condition + "\n" * gone)
        edits.insert(arm.statement.end_byte, " end if;")


def _rename(design: Design, edits: Mapping[Path, Edits], top: str, inner: str) -> None:
    for unit in design.units:
        own = unit.kind == "entity" and plain(unit.name) == plain(top)
        of = unit.kind in ("architecture", "configuration") and plain(unit.of) == plain(top)
        if unit.file.path not in edits or not (own or of):
            continue
        named = [child(unit.node, "identifier")] if own else [unit.node.child_by_field_name("entity")]
        if own:
            named.append(child(child(unit.node, "end_entity"), "identifier"))
        for node in named:
            if isinstance(node, Node):
                edits[unit.file.path].replace(node.start_byte, node.end_byte, inner)
        whole = unit.file.data[unit.node.start_byte : unit.node.end_byte]
        for match in _ENTITY_CLASS.finditer(whole) if own else ():
            if plain(match[1].decode("latin-1")) == plain(top):
                start = unit.node.start_byte
                edits[unit.file.path].replace(start + match.start(1), start + match.end(1), inner)


def _set_defaults(edits: Edits, top: Unit, values: Mapping[str, str]) -> None:
    """Give the top's generics the project's values as their defaults: those that are declared one by one."""
    listed = child(child(child(top.node, "entity_head"), "generic_clause"), "interface_list")
    for one in children(listed):
        names = [text_of(name) for name in children(child(one, "identifier_list"), "identifier")]
        indication = child(one, "simple_mode_indication")
        kind = child(indication, "subtype_indication")
        if len(names) != 1 or (value := values.get(plain(names[0]))) is None or kind is None:
            continue
        old = child(indication, "initialiser")
        text = f" := {written(text_of(kind), value)}"
        if old is None:
            edits.insert(kind.end_byte, text)
        else:
            edits.replace(old.start_byte, old.end_byte, text.lstrip() + "\n" * text_of(old).count("\n"))


def written(kind: str, value: str) -> str:
    """A generic's value as VHDL has it, of numbers, names of values, bits and strings."""
    if re.match(r"(std_u?logic|bit|character)\s*$", kind, re.IGNORECASE):
        return f"'{value}'"
    if value.startswith(('"', "'")) or not re.match(r"(string|\w*vector|unsigned|signed)\b", kind, re.IGNORECASE):
        return value
    return f'"{value}"'
