"""Checks custom metrics in Verilog: their place, and their expressions by slang."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.hdl.blocks import SourceBlock
from workbench.hdl.instances import Instance, Key
from workbench.hdl.metrics import MetricBlock, OfModules, Written, metric_blocks, too_wide
from workbench.hdl.verilog.blocks import modules_of
from workbench.hdl.verilog.conditions import Conditions
from workbench.hdl.verilog.design import Design
from workbench.hdl.verilog.rewrite import in_generate, is_alone
from workbench.hdl.verilog.source_file import read_sources
from workbench.hdl.verilog.watched import read_assertions, read_branches
from workbench.model.application import HardwareSources
from workbench.model.custom import MOST_VALUE_BITS, OF_DESIGN, ValueType
from workbench.model.diagnostic import Diagnostic, Severity

_SIGNAL_HINT = f"Name a vector of up to {MOST_VALUE_BITS} bits of this module."


def read_metrics(
    design: Design, blocks: Sequence[SourceBlock], hardware: HardwareSources
) -> tuple[tuple[MetricBlock, ...], tuple[Diagnostic, ...]]:
    """The metrics of all sources and, by module, of the project, and, where it asks for them, the assertions and the
    branches; and what is wrong with where they are."""
    written = []
    for path, source in read_sources(design)[0].items():
        if source.metrics:
            modules = [
                (str(node.header.name.valueText), design.place(node.sourceRange.start)[1],
                 design.place(node.sourceRange.end)[1])
                for node in modules_of(design) if design.place(node.sourceRange.start)[0] == path
            ]  # fmt: skip
            written.append(Written(path, source.metrics, modules))
    project = OfModules(hardware.metrics, design.name_of)
    metrics, wrong = metric_blocks(written, blocks, project, in_generate, is_alone)
    taken = {(one.module, one.label.lower()) for one in (*blocks, *metrics)}
    for asked, read in ((hardware.assertions, read_assertions), (hardware.branches, read_branches)):
        more, not_read = read(design, blocks, taken) if asked else ((), ())
        metrics, wrong = (*metrics, *more), (*wrong, *not_read)
    return metrics, wrong


def check_metrics(
    design: Design, metrics: Sequence[MetricBlock], top: Instance | None, why_not: Mapping[Key, str]
) -> Iterator[Diagnostic]:
    """A diagnostic for each metric whose condition is no expression, that names what its module does not know, or whose
    signal is no vector: an error where it is counted, else a warning."""
    conditions = Conditions(design)
    scopes: dict[Key, Any] = {}
    for instance in top.walk() if top else ():
        for use in instance.metrics:
            scopes.setdefault(use.source.key, use.scope)
    for block in metrics:
        scope, placed = scopes.get(block.key), block.placed
        if placed is None or block.metric.kind in OF_DESIGN:  # which is the design's own text
            continue
        severity = Severity.ERROR if scope is not None and block.key not in why_not else Severity.WARNING
        for text in (*block.metric.conditions, *([block.metric.signal] if block.metric.signal else ())):
            for what, hint in conditions.wrong(text, frozenset(), scope):
                yield placed.diagnostic(f"{placed.title} is wrong: {what}", hint, severity)
        if block.metric.signal and scope is not None and (wrong := _no_value(scope, block.metric.signal)):
            yield placed.diagnostic(f"{placed.title} is wrong: {wrong[0]}", wrong[1], severity)


def value_type(scope: Any, name: str) -> ValueType | None:
    """The type of the values of a scope's signal; None where it is none, or not a number."""
    kind = getattr(scope.lookupName(name), "type", None)
    return ValueType(int(kind.bitWidth), bool(kind.isSigned)) if kind is not None and kind.isIntegral else None


def _no_value(scope: Any, name: str) -> tuple[str, str] | None:
    """Why a signal has no value that can be counted, and what has one."""
    if scope.lookupName(name) is None:
        return None  # told already
    value = value_type(scope, name)
    if value is None:
        return f"'{name}' is not a number", _SIGNAL_HINT
    if value.bits > MOST_VALUE_BITS:
        part = f"wire [{MOST_VALUE_BITS - 1}:0] part = {name}[{MOST_VALUE_BITS - 1}:0];"
        return too_wide(name, value.bits), f"Count a slice: write {part} and name that."
    return None
