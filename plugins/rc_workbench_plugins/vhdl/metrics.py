"""Metrics of one's own in VHDL: where they are counted, what types their signals are of, and the VHDL that leads them
up."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from rc_workbench_plugins.vhdl.blocks import SourceBlock
from rc_workbench_plugins.vhdl.lengths import key_of, told_bits, type_text, written_bits
from rc_workbench_plugins.vhdl.states import declared_signals
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.types import Type, builtin, resolved, types_of
from rc_workbench_plugins.vhdl.units import Declared, Unit
from workbench.api import Diagnostic
from workbench.api.source.metric_text import BadMetric, parse_metric
from workbench.api.unstable import did_you_mean
from workbench.hdl import metrics
from workbench.hdl.instances import BlockUse, Instance
from workbench.hdl.metrics import FAILED, HELD, MOST_VALUE_BITS, MetricKind, ValueType
from workbench.hdl.source_file import SourceFile

_SIGNED = ("signed", "u_signed", "unresolved_signed")
_VECTORS = ("std_logic_vector", "std_ulogic_vector", "bit_vector", "unsigned", "u_unsigned", "unresolved_unsigned")
_INTEGER = ValueType(32, signed=True)
_SIGNAL_HINT = "Name a signal that is an integer, a bit, or a vector of up to 64 bits (std_logic_vector, signed ...)."


@dataclass(frozen=True)
class MetricBlock(metrics.MetricBlock):
    """A metric beside a process. `value_kind` is what its signal is: "vector", "signed", "integer", "bit" or "boolean";
    "" where it has none. `outs` are ports that it asks about, whose signals the copy has for it (`read_back.py`)."""

    value_kind: str = ""
    outs: tuple[Declared, ...] = ()


def read_metrics(
    files: Sequence[SourceFile],
    units: Sequence[Unit],
    blocks: Sequence[SourceBlock],
    shared: Mapping[str, Type | str],
    project: metrics.OfModules,
    told: Sequence[Mapping[str, str]],
) -> tuple[tuple[MetricBlock, ...], tuple[Diagnostic, ...]]:
    """The metrics of these files and of the project, and what is wrong with them. What elaborated designs have `told`
    has the lengths of signals."""
    bodies = [unit for unit in units if unit.region is not None]
    written = [
        metrics.Written(source.path, source.metrics, [
            (unit.of, unit.line, unit.node.end_point.row + 1) for unit in bodies if unit.file.path == source.path
        ])
        for source in files if source.metrics
    ]  # fmt: skip
    regions = {block.key: block.region for block in blocks}

    def in_generate(block: metrics.SourceBlock) -> bool:
        region = regions.get(block.key)
        return region is None or region.kind != "architecture"

    found, wrong = metrics.metric_blocks(written, blocks, project, in_generate)
    typed: list[MetricBlock] = []
    problems = list(wrong)
    for one in found:
        unit = next(u for u in bodies if u.file.path == one.path and _within(u, one))
        kind, value, what, hint = _value_kind(one.metric.signal, unit, shared, told)
        if what and one.placed is not None:
            problems.append(one.placed.diagnostic(f"{one.placed.title} is wrong: {what}", hint))
            continue
        typed.append(
            MetricBlock(
                one.key, one.path, one.module, one.label, one.kind, one.node, one.clock, one.edge, 0, one.line,
                one.end_line, placed=one.placed, anchor=one.anchor, value=value, value_kind=kind,
            )
        )  # fmt: skip
    return tuple(typed), tuple(problems)


def anchor_of(block: SourceBlock | MetricBlock) -> SourceBlock:
    """The process beside which a metric is counted; of a process itself."""
    anchor = block.anchor if isinstance(block, MetricBlock) else block
    assert isinstance(anchor, SourceBlock)
    return anchor


def in_their_regions(top: Instance | None) -> None:
    """Move what is counted in a generate by the clock of a process around that: an assertion where no process is."""
    for instance in top.walk() if top is not None else ():
        instance.metrics = [moved for use in instance.metrics for moved in _moved(instance, use)]


def _moved(instance: Instance, use: BlockUse) -> Iterator[BlockUse]:
    region = anchor_of(use.source).region if isinstance(use.source, MetricBlock) else use.scope
    if region is use.scope:
        yield use
        return
    for within, path, loops in instance.regions:
        if within is region and loops[: len(use.loops)] == use.loops:
            yield replace(use, path=f"{path}.{use.source.label}", loops=loops, scope=region)


def _within(unit: Unit, block: metrics.MetricBlock) -> bool:
    start = block.node.start_byte  # of the process beside it
    return bool(unit.node.start_byte <= start < unit.node.end_byte)


def signals_of(files: Sequence[SourceFile], project: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The signals whose values metrics count, as names are compared."""
    for file in files:
        yield from (key_of(placed.metric.signal) for _, placed in file.metrics if placed.metric.signal)
    for text in (text for texts in project.values() for text in texts):
        with suppress(BadMetric):  # which is reported where it is placed
            if signal := parse_metric(text).signal:
                yield key_of(signal)


def _value_kind(
    signal: str, unit: Unit, shared: Mapping[str, Type | str], told: Sequence[Mapping[str, str]]
) -> tuple[str, ValueType | None, str, str]:
    """What a signal is, and the type of its values; or what is wrong with it, and what would be right."""
    if not signal:
        return "", None, "", ""
    types = {**shared, **types_of([unit])}
    known = declared_signals(unit) | {port.name: port.type for port in unit.entity_ports}
    first = signal.partition(".")[0]
    if not type_text(first, known, types):
        return "", None, f"there is no '{first}' here", did_you_mean(first, known) or _SIGNAL_HINT
    text = type_text(signal, known, types)
    kind, of = resolved(text, types), builtin(text, types)
    if of in _SIGNED or of in _VECTORS:
        bits = written_bits(text) or told_bits(unit, signal, told) or MOST_VALUE_BITS
        if bits > MOST_VALUE_BITS:
            part = f"({MOST_VALUE_BITS - 1} downto 0)"
            hint = f"Count a slice: declare signal part : {of}{part}, write part <= {signal}{part}; and name that."
            return "", None, metrics.too_wide(signal, bits), hint
        return "signed" if of in _SIGNED else "vector", ValueType(bits, of in _SIGNED), "", ""
    if kind is not None and kind.kind in ("integer", "bit"):
        value = _INTEGER if kind.kind == "integer" else ValueType(1)
        return "boolean" if of == "boolean" else kind.kind, value, "", ""
    return "", None, f"'{signal}' is not a number", _SIGNAL_HINT


def names_of(block: MetricBlock) -> tuple[str, str]:
    """The signals of its conditions and of its value. VHDL's names have no two underscores in a row."""
    name = f"recap_metric_{block.label.replace('__', '_').strip('_')}"
    return name, f"{name}_value"


def declarations(block: MetricBlock) -> str:
    name, value = names_of(block)
    bits = block.metric.bits if block.marks else max(1, len(block.metric.conditions))
    text = f"signal {name} : bit_vector({bits - 1} downto 0) := (others => '0'); "
    text += "".join(one.declared for one in block.kept)
    if is_set_within(block):
        text += f"signal {name}_was, {name}_is : bit_vector(1 downto 0) := (others => '0'); "
    if block.value is not None:
        text += f"signal {value} : bit_vector({block.value.bits - 1} downto 0) := (others => '0'); "
    return text


def is_set_within(block: MetricBlock) -> bool:
    """Whether it is an assertion that its process asks for: a change of a bit says that it held, or failed, which no
    reset takes back."""
    return bool(block.marks) and block.metric.kind is MetricKind.ASSERT


def told(block: MetricBlock) -> str:
    """What is led up, the highest bits first."""
    name, value = names_of(block)
    if is_set_within(block):
        return f"{name}_is({FAILED - 1}) & ({name}_is({HELD - 1}) and not {name}_is({FAILED - 1}))"
    return f"{value} & {name}" if block.value is not None else name


def process(block: MetricBlock) -> str:
    """The process that keeps what a metric's conditions and its signal were in the cycle before."""
    anchor, (name, value) = block.anchor, names_of(block)
    assert isinstance(anchor, SourceBlock)
    if is_set_within(block):
        inner = f"{name}_was <= {name};"
        return f" {name}_is <= {name} xor {name}_was;{_at_edge(anchor, '', inner)}"
    conditions = block.metric.conditions or ("true",)
    sets = [f"if {text} then {name}({n}) <= '1'; else {name}({n}) <= '0'; end if;" for n, text in enumerate(conditions)]
    sets += [one.sets for one in block.kept]
    variable = ""
    if block.value is not None:
        variable = f"variable x : bit_vector({block.value.bits - 1} downto 0); "
        sets.append(f"{''.join(_value(block.metric.signal, block.value_kind, block.value.bits))} {value} <= x;")
    text = _at_edge(anchor, variable, " ".join(sets))
    if not block.outs:
        return text
    hides = " ".join(f"alias {port.name} is recap_out_{plain(port.name)};" for port in block.outs)
    return f" {name}_outs : block {hides} begin{text} end block;"


def _at_edge(anchor: SourceBlock, variable: str, inner: str) -> str:
    if anchor.waits:
        return f" process {variable}begin wait until {anchor.condition}; {inner} end process;"
    return f" process ({anchor.clock}) {variable}begin if {anchor.condition} then {inner} end if; end process;"


def _value(signal: str, kind: str, bits: int) -> Iterator[str]:
    """Statements that set the variable x, of so many bits, to a signal's value."""
    yield "x := (others => '0');"
    if kind in ("vector", "signed"):
        yield f" x({signal}'length - 1) := '0';"  # where it does not fit there is no such bit
    if kind == "signed":
        yield f" if {signal}({signal}'left) = '1' then x := (others => '1'); end if;"
    if kind in ("vector", "signed"):
        shifted = f" x := x({bits - 2} downto 0) & '0';" if bits > 1 else " x(0) := '0';"
        yield f" for recap_i in {signal}'range loop{shifted}"
        yield f" if {signal}(recap_i) = '1' then x(0) := '1'; end if; end loop;"
    elif kind == "integer":
        yield f" for recap_i in 0 to 29 loop if {signal} mod 2**(recap_i + 1) >= 2**recap_i then x(recap_i) := '1';"
        yield f" end if; end loop; if {signal} >= 2**30 or ({signal} < 0 and {signal} >= -(2**30)) then x(30) := '1';"
        yield f" end if; if {signal} < 0 then x(31) := '1'; end if;"
    else:
        asked = signal if kind == "boolean" else f"{signal} = '1'"
        yield f" if {asked} then x(0) := '1'; end if;"


def asked(block: MetricBlock) -> Iterator[tuple[str, str]]:
    """Each condition, with a statement in which GHDL reads it where the metric is counted."""
    kept = "".join(one.declared for one in block.kept)
    kept += "".join(f"signal {port.name} : {port.type}; " for port in block.outs)
    for number, condition in enumerate(block.metric.conditions):
        text = f" process begin if ({condition}) then null; end if; wait; end process;"
        yield condition, f" {names_of(block)[0]}_{number} : block {kept}begin{text} end block;" if kept else text
