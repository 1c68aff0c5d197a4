"""Metrics of one's own beside the clocked block whose clock they are counted by: what leads them up as blocks' states
are led."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.hdl.blocks import SourceBlock
from workbench.hdl.instances import Instance, Key
from workbench.model.blocks import State
from workbench.model.custom import VALUE_BITS, CustomMetric, PlacedMetric
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.pragma import PlacedPragma
from workbench.model.text import listed

__all__ = [
    "VALUE_BITS", "Key", "MetricBlock", "PlacedMetric", "SourceBlock", "Written", "metric_blocks", "not_reached",
    "with_metrics",
]  # fmt: skip
_CLOCK = "Write it in a clocked block: it counts the cycles of that one's clock."
_ALONE = "Write begin and end around the block."


@dataclass(frozen=True)
class MetricBlock(SourceBlock):
    """A metric, put beside its `anchor`: a clocked block in whose scope, and by whose clock, it counts."""

    placed: PlacedMetric | None = None
    anchor: SourceBlock | None = None

    @property
    def metric(self) -> CustomMetric:
        assert self.placed is not None
        return self.placed.metric

    @property
    def states(self) -> tuple[PlacedPragma, ...]:
        return ()

    @property
    def named(self) -> tuple[State, ...]:
        assert self.placed is not None
        return tuple(
            State(n, name, file=self.placed.file, line=self.line) for n, name in enumerate(self.metric.states, 1)
        )

    @property
    def own_bits(self) -> int:
        return self.metric.bits


@dataclass(frozen=True)
class Written:
    """A file's metrics with their offsets, and its modules by name with their first and last lines."""

    path: Path
    metrics: Sequence[tuple[int, PlacedMetric]]
    modules: Sequence[tuple[str, int, int]]


def metric_blocks(
    written: Iterable[Written], blocks: Sequence[SourceBlock], in_generate: Callable[[SourceBlock], bool],
    alone: Callable[[SourceBlock], bool] = lambda _: False,
) -> tuple[tuple[MetricBlock, ...], tuple[Diagnostic, ...]]:  # fmt: skip
    """A block for each metric, and what is wrong with where the others are. Those `in_generate` give their clock to no
    metric outside of them; beside one that is `alone` in it nothing can be put."""
    found: list[MetricBlock] = []
    wrong: list[Diagnostic] = []
    taken = {(block.module, block.label): block.line for block in blocks}
    for file in written:
        here = [block for block in blocks if block.path == file.path and block.clock and not block.why_not]
        for offset, placed in file.metrics:
            one = _anchor(placed, file.modules, here, in_generate)
            if isinstance(one, Diagnostic):
                wrong.append(one)
                continue
            if alone(one):
                message = f"beside the only block of a generate nothing can be put: the metric '{placed.metric.name}'"
                wrong.append(placed.diagnostic(message, _ALONE))
                continue
            name = placed.metric.name
            if other := taken.get((one.module, name), 0):
                hint = "Give one of the two another name."
                wrong.append(placed.diagnostic(f"the name '{name}' is that of another block, in line {other}", hint))
                continue
            taken[one.module, name] = placed.line
            key, kind = (str(file.path), offset), placed.metric.kind.value
            block = MetricBlock(key, file.path, one.module, name, kind, one.node, one.clock, one.edge, 0, placed.line,
                                placed.line, placed=placed, anchor=one)  # fmt: skip
            found.append(block)
    return tuple(found), tuple(wrong)


def _anchor(
    placed: PlacedMetric, modules: Sequence[tuple[str, int, int]], blocks: Sequence[SourceBlock],
    in_generate: Callable[[SourceBlock], bool],
) -> SourceBlock | Diagnostic:  # fmt: skip
    """The block whose clock a metric is counted by: the one that it is written in, or one of its module's."""
    name = placed.metric.name
    around = [block for block in blocks if block.line <= placed.line <= block.end_line]
    if around:
        return max(around, key=lambda block: block.line)
    module = next((one for one in modules if one[1] <= placed.line <= one[2]), None)
    if module is None:
        return placed.diagnostic(f"the metric '{name}' is in no module", "Move it into the module of its signals.")
    mine = [one for one in blocks if module[1] <= one.line <= module[2] and not in_generate(one)]
    clocks = list(dict.fromkeys((one.clock, one.edge) for one in mine))
    if len(clocks) != 1:
        has = f"clocks {listed([clock for clock, _ in clocks])}" if clocks else "no clocked block outside of generates"
        return placed.diagnostic(f"which clock counts the metric '{name}' is not clear: {module[0]} has {has}", _CLOCK)
    return mine[0]


def with_metrics(top: Instance | None, metrics: Sequence[MetricBlock]) -> None:
    """Give each instance the metrics of its blocks, on their clocks."""
    beside: dict[Key, list[MetricBlock]] = {}
    for metric in metrics:
        if metric.anchor is not None:
            beside.setdefault(metric.anchor.key, []).append(metric)
    for instance in top.walk() if top is not None and beside else ():
        instance.metrics = [
            replace(use, path=f"{use.path.removesuffix(use.source.label)}{metric.label}", source=metric)
            for use in instance.blocks
            for metric in beside.get(use.source.key, ())
        ]


def not_reached(
    top: Instance | None, metrics: Sequence[MetricBlock], known: Collection[Key] = ()
) -> Iterator[Diagnostic]:
    """A warning for each metric that no instance of the design has."""
    reached = {use.source.key for instance in top.walk() for use in instance.metrics} if top is not None else set()
    for metric in metrics:
        if metric.key not in reached and metric.placed is not None and metric.key not in known:
            message = f"the metric '{metric.label}' is in no part of the design below its top, and is not counted"
            yield metric.placed.diagnostic(message, "", Severity.WARNING)
