"""Places custom metrics beside the clocked block of their clock, and connects them to the monitors like states."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.api.source.metric_text import BadMetric, parse_metric
from workbench.hdl.blocks import SourceBlock
from workbench.hdl.instances import Instance, Key
from workbench.model.blocks import State
from workbench.model.custom import (
    FAILED,
    HELD,
    MOST_VALUE_BITS,
    OF_DESIGN,
    CustomMetric,
    MetricKind,
    PlacedMetric,
    ValueType,
)
from workbench.model.diagnostic import Diagnostic, OfProject, Severity, near
from workbench.model.pragma import PlacedPragma
from workbench.model.text import listed

__all__ = [
    "FAILED", "HELD", "MOST_VALUE_BITS", "ClockedRegister", "CustomMetric", "Key", "Mark", "MetricBlock", "MetricKind",
    "OfModules", "PlacedMetric", "SourceBlock", "ValueType", "Written", "metric_blocks", "not_reached", "too_wide",
    "unknown_modules", "with_clocks", "with_metrics",
]  # fmt: skip
_CLOCK = "Write it in a clocked block: it counts the cycles of that block's clock."
_ALONE = "Write begin and end around the block."


@dataclass(frozen=True)
class Mark:
    """Where a block sets the state of one of its decisions or assertions: before the statement at `place`, or first in
    it. The state is `code`; with a `condition` that of an assertion which holds, or fails, by it. `line` is of what the
    state stands for."""

    place: Any
    code: int
    line: int
    condition: str = ""


@dataclass(frozen=True)
class ClockedRegister:
    """What is kept of the cycle before: the text that declares it, and the statement that sets it at the clock's
    edge."""

    declared: str
    sets: str


@dataclass(frozen=True)
class MetricBlock(SourceBlock):
    """A metric, put beside its `anchor`: a clocked block in whose scope, and by whose clock, it counts; without one by
    its own clock where it stands. Its conditions name what is `kept`. Where it has
    `marks` the block that begins at `at` sets its states itself; what leads it up is written there. `resets` is 1 of
    the decision that its block begins with, which may be one for a reset. The conditions that are `late` are over what
    is kept, and hold behind the cycle that they are about. `value` is the type that its signal's values have in any
    instance; None where it has no signal, or that is not known."""

    placed: PlacedMetric | None = None
    anchor: SourceBlock | None = None
    marks: tuple[Mark, ...] = ()
    at: int = -1
    kept: tuple[ClockedRegister, ...] = ()
    late: tuple[str, ...] = ()
    value: ValueType | None = None

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
        lines = {mark.code: mark.line for mark in self.marks}
        said = tuple(filter(None, (self.metric.severity, self.metric.says)))
        return tuple(
            State(n, name, reasons=said if n == FAILED else (), file=self.placed.file, line=lines.get(n, self.line))
            for n, name in enumerate(self.metric.states, 1)
        )

    @property
    def own_bits(self) -> int:
        """Its conditions, and above them the signal's value; or its states."""
        return self.metric.bits + (self.value.bits if self.value else 0)

    @property
    def early(self) -> bool:
        """Whether it is in a block without a clock, which sets its state at once."""
        return bool(self.marks) and self.anchor is not None and self.node is not self.anchor.node


@dataclass(frozen=True)
class Written:
    """A file's metrics with their offsets, and its modules by name with their first and last lines."""

    path: Path
    metrics: Sequence[tuple[int, PlacedMetric]]
    modules: Sequence[tuple[str, int, int]]


@dataclass(frozen=True)
class OfModules:
    """The project's metrics (`hardware.metrics`) by module, what a module's name is compared as, and what a source is
    called to people."""

    metrics: Mapping[str, Sequence[str]]
    name_of: Callable[[Path], str]
    plain: Callable[[str], str] = str


def metric_blocks(
    written: Iterable[Written],
    blocks: Sequence[SourceBlock],
    project: OfModules,
    in_generate: Callable[[SourceBlock], bool],
    alone: Callable[[SourceBlock], bool] = lambda _: False,
) -> tuple[tuple[MetricBlock, ...], tuple[Diagnostic, ...]]:
    """A block for each metric, of the sources and of the `project`, and what is wrong with where the others are. Those
    `in_generate` give their clock to no metric outside of them; beside one that is `alone` in it nothing can be put."""
    usable = [block for block in blocks if block.clock and not block.why_not]
    found: list[MetricBlock] = []
    wrong: list[Diagnostic] = []
    taken = {(block.module, block.label): block.line for block in blocks}
    places: list[tuple[int, PlacedMetric, SourceBlock | Diagnostic]] = [
        (offset, placed, _anchor(placed, file.modules, [one for one in usable if one.path == file.path], in_generate))
        for file in written
        for offset, placed in file.metrics
    ]
    places += _of_project(project, usable, in_generate)
    for offset, placed, anchor in places:
        if isinstance(anchor, Diagnostic):
            wrong.append(anchor)
            continue
        name = placed.metric.name
        if alone(anchor):
            message = f"the metric '{name}' cannot be placed beside the only block of a generate"
            wrong.append(placed.diagnostic(message, _ALONE))
        elif other := taken.get((anchor.module, name), 0):
            hint = "Give one of the two another name."
            wrong.append(placed.diagnostic(f"the name '{name}' is also that of another block, on line {other}", hint))
        else:
            taken[anchor.module, name] = placed.line
            found.append(_beside(anchor, placed, offset))
    return tuple(found), tuple(wrong)


def _beside(anchor: SourceBlock, placed: PlacedMetric, offset: int) -> MetricBlock:
    key, kind = (str(anchor.path), offset), placed.metric.kind.value
    return MetricBlock(key, anchor.path, anchor.module, placed.metric.name, kind, anchor.node, anchor.clock,
                       anchor.edge, 0, placed.line, placed.line, placed=placed, anchor=anchor)  # fmt: skip


def _of_project(
    project: OfModules, blocks: Sequence[SourceBlock], in_generate: Callable[[SourceBlock], bool]
) -> Iterator[tuple[int, PlacedMetric, SourceBlock | Diagnostic]]:
    """The project's metrics of modules with blocks, each with a number below all offsets and the block beside which it
    is counted."""
    number = 0
    for module, texts in project.metrics.items():
        mine = [one for one in blocks if project.plain(one.module) == project.plain(module)]
        for at, text in enumerate(texts if mine else ()):
            number -= 1
            keys = ("hardware", "metrics", module, at)
            try:
                metric = parse_metric(text)
            except BadMetric as bad:
                wrong = OfProject(f"{bad.message}, at character {bad.offset + 1}", bad.hint, keys=keys)
                yield number, PlacedMetric(CustomMetric(MetricKind.COUNT, ""), "", 0, 1, keys), wrong
                continue
            placed = PlacedMetric(metric, project.name_of(mine[0].path), mine[0].line, 1, keys)
            outer = [one for one in mine if not in_generate(one)]
            anchor = _only_clock(placed, module, outer)
            yield number, placed, anchor


def unknown_modules(
    metrics: Iterable[str], blocks: Iterable[SourceBlock], plain: Callable[[str], str] = str
) -> Iterator[Diagnostic]:
    """An error for each module that the project has metrics of and that has no clocked block."""
    names = list(dict.fromkeys(block.module for block in blocks))
    known = set(map(plain, names))
    for module in metrics:
        if plain(module) not in known:
            message = f"there is no module '{module}' with a clocked block"
            yield OfProject(message, near(module, names, "Those with one are"), keys=("hardware", "metrics", module))


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
    return _only_clock(placed, module[0], mine)


def _only_clock(placed: PlacedMetric, module: str, blocks: Sequence[SourceBlock]) -> SourceBlock | Diagnostic:
    """The first of a module's blocks, all of which have its clock."""
    clocks = list(dict.fromkeys((one.clock, one.edge) for one in blocks))
    if len(clocks) == 1:
        return blocks[0]
    has = (
        f"clocks {listed([f'{clock} ({edge})' for clock, edge in clocks])}"
        if clocks
        else "no clocked block outside of generates"
    )
    message = f"it is unclear which clock counts the metric '{placed.metric.name}': {module} has {has}"
    return placed.diagnostic(message, _CLOCK)


def with_clocks(blocks: Sequence[SourceBlock], metrics: Sequence[MetricBlock]) -> dict[Key, SourceBlock]:
    """The blocks, and the metrics that have a clock of their own, by where they stand."""
    return {one.key: one for one in (*blocks, *(metric for metric in metrics if metric.anchor is None))}


def with_metrics(
    top: Instance | None, metrics: Sequence[MetricBlock], type_of: Callable[[Any, str], ValueType | None]
) -> None:
    """Give each instance the metrics of its blocks, on their clocks, and those that were elaborated with the blocks.
    `type_of` tells the type of a scope's signal of that name, where a metric does not tell it itself."""
    beside: dict[Key, list[MetricBlock]] = {}
    for metric in metrics:
        if metric.anchor is not None:
            beside.setdefault(metric.anchor.key, []).append(metric)
    for instance in top.walk() if top is not None and metrics else ():
        own = [use for use in instance.blocks if isinstance(use.source, MetricBlock)]
        instance.blocks = [use for use in instance.blocks if not isinstance(use.source, MetricBlock)]
        instance.metrics = own + [
            replace(use, path=f"{use.path.removesuffix(use.source.label)}{metric.label}", source=metric)
            for use in instance.blocks
            for metric in beside.get(use.source.key, ())
        ]
    uses = [use for instance in top.walk() for use in instance.metrics] if top is not None else []
    types: dict[Key, list[ValueType]] = {}
    for use, block in ((use, use.source) for use in uses if isinstance(use.source, MetricBlock)):
        if block.metric.signal and block.value is None and (value := type_of(use.scope, block.metric.signal)):
            types.setdefault(block.key, []).append(value)
    typed = {
        use.source.key: replace(use.source, value=ValueType.around(types[use.source.key]))
        for use in uses
        if isinstance(use.source, MetricBlock) and use.source.key in types
    }
    for instance in top.walk() if top is not None else ():
        instance.metrics = [replace(use, source=typed.get(use.source.key, use.source)) for use in instance.metrics]


def too_wide(name: str, bits: int) -> str:
    """What is wrong with a signal of more bits than are counted."""
    return f"'{name}' has {bits} bits; values of at most {MOST_VALUE_BITS} are counted"


def not_reached(
    top: Instance | None, metrics: Sequence[MetricBlock], known: Collection[Key] = ()
) -> Iterator[Diagnostic]:
    """A warning for each metric that no instance of the design has."""
    reached = {use.source.key for instance in top.walk() for use in instance.metrics} if top is not None else set()
    for metric in metrics:
        if metric.key not in reached and metric.placed is not None and metric.key not in known:
            if metric.metric.kind in OF_DESIGN:
                continue  # as of all that the top does not reach
            message = f"the metric '{metric.label}' is in no part of the design below its top, and is not counted"
            yield metric.placed.diagnostic(message, "", Severity.WARNING)
