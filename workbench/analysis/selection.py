"""Selects the part of a block to which a rule applies, and gives the metrics that its expressions read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.analysis.culprit import find_culprit, spoken
from workbench.analysis.custom import PREFIX
from workbench.analysis.knowledge import CheckedRule, Scope, Select
from workbench.analysis.measured import MeasuredRun
from workbench.analysis.rounds import CallOrder
from workbench.analysis.transfer_tables import transfer_time_s
from workbench.analysis.waited_for import somebody_waits_for
from workbench.api.faults import caught, plugin_fault
from workbench.api.metrics import HostSide, Together, Value, Waiting
from workbench.api.results import BlockMetrics, CallMetrics, FifoMetrics, MemoryPortMetrics, StateMetrics
from workbench.model.blocks import Block, Side
from workbench.model.diagnostic import Diagnostic, WorkbenchError, near
from workbench.model.pragma import WAITS, Category

#: Scopes of subjects other than blocks.
PARTS: tuple[Scope, ...] = ("fifo", "memory_port")


@dataclass(frozen=True)
class Selection:
    """Some states of a block, and the host calls made in them, as described by `api.metrics.Selected`. `rule_saves_s`
    is None until the rule's saving is computed."""

    of: MeasuredRun
    block: BlockMetrics
    states: tuple[StateMetrics, ...]
    calls: tuple[CallMetrics, ...]
    time_s: float
    replicas_s: tuple[float, ...] = ()
    names_culprit: bool = False
    fifo: FifoMetrics | None = None
    memory_port: MemoryPortMetrics | None = None
    rule_saves_s: float | None = None

    @property
    def saved_s(self) -> float:
        return self.time_s if self.rule_saves_s is None else self.rule_saves_s

    @property
    def state_indexes(self) -> frozenset[int]:
        return frozenset(s.state.index for s in self.states)

    @property
    def on_host(self) -> bool:
        return self.block.block.side is Side.HOST

    @cached_property
    def culprit(self) -> tuple[str, Side | None]:
        """For the host: the block on the critical path, if known; otherwise the block that the waits name."""
        named_block = find_culprit(self.block, self.states, self.of.blocks) if self.names_culprit else ("", None)
        late = self.of.on_path
        if named_block[1] is not Side.FPGA or not self.on_host or late is None:
            return named_block
        alone = sum(b.block.group == late.block.group for b in self.of.blocks) == 1
        return late.block.id if alone else late.block.group, Side.FPGA

    @cached_property
    def late_block(self) -> BlockMetrics | None:
        culprit, side = self.culprit
        if side is Side.HOST:
            return None
        if self.on_host and self.of.on_path is not None:
            return self.of.on_path
        fpga = [b for b in self.of.blocks if b.block.side is Side.FPGA]
        candidates = [b for b in fpga if culprit in (b.block.id, b.block.group)]
        if self.on_host or not any(b.time_of(Category.WORK) for b in candidates):
            candidates = [b for b in fpga if b.block.id in self.of.waited_for] or candidates
        return max(candidates, key=lambda b: b.time_of(Category.WORK), default=None)

    @property
    def culprit_title(self) -> str:
        return spoken(*self.culprit, self.block.block.side) if self.names_culprit else ""

    @cached_property
    def targets(self) -> int:
        return len(self.of.times.targets(self.block, self.state_indexes)) if self.on_host else 0

    @cached_property
    def waited_for(self) -> bool:
        needed = self.block.block.id in self.of.waited_for
        return self.on_host or needed or somebody_waits_for(self.block, self.of.blocks)

    @property
    def host(self) -> HostSide:
        return self.of.host_of(self.block)

    @cached_property
    def parallel(self) -> Sequence[BlockMetrics]:
        return () if self.on_host else self.of.dependences.parallel(self.block)

    @cached_property
    def stages(self) -> Sequence[Sequence[BlockMetrics]]:
        return () if self.on_host else self.of.dependences.stages(self.block)

    @cached_property
    def waiting(self) -> Waiting:
        if not self.on_host:
            return Waiting(self.time_s, self.time_s)
        waits_s = sum(s.time_s for s in self.states if s.state.category in WAITS)
        return self.of.times.waiting(self.block, min(waits_s, self.time_s), self.calls)

    @cached_property
    def loops_s(self) -> float:
        return self.of.times.loops_s(self.block, self.calls) if self.on_host else 0.0

    @cached_property
    def served_s(self) -> float:
        return self.of.times.served_s(self.block, self.calls) if self.on_host else 0.0

    @cached_property
    def order(self) -> CallOrder | None:
        return self.of.order_of(self.block)

    @cached_property
    def together(self) -> Together:
        if self.order is not None:
            chosen = self.order.of({(call.site_number, call.state.index) for call in self.calls})
            count, size, data = self.order.longest_row(chosen)
            return Together(count, size, data, self._quickest_table(size))
        call = max(self.calls, key=lambda one: one.runs.max, default=None)
        size = round(call.runs.max * call.bytes_per_call) if call else 0
        return Together(call.runs.max if call else 0, size, 0, self._quickest_table(size))

    def _quickest_table(self, size: int) -> str:
        """The transfer table in the direction of the selected calls that takes the least time for so many bytes."""
        tables = self.of.platform.transfer_tables if self.of.platform else {}
        own = next((tables[c.table.type] for c in self.calls if c.table and c.table.type in tables), None)
        if own is None or not size:
            return ""
        rivals = {name: table for name, table in tables.items() if table.points and table.direction == own.direction}
        return min(rivals, key=lambda name: transfer_time_s(rivals[name], size))

    @property
    def starts_together(self) -> int:
        return self.order.starts_together if self.order else 0

    @property
    def poll_sites(self) -> int:
        return len(self.order.used(self.order.waits & self.order.asks)) if self.order else 0

    @cached_property
    def due_s(self) -> float:
        return self.of.times.due_s(self.block, self.calls) if self.on_host else 0.0

    @cached_property
    def values(self) -> Values:
        return Values(self)


class Values(Mapping[str, Value]):
    """The metrics of a selection by name, each computed on first access. WorkbenchError if one cannot be computed."""

    def __init__(self, selection: Selection) -> None:
        self._selection, self._metrics = selection, selection.of.metrics
        self._known: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name.startswith(PREFIX):
            return self._custom(name)
        if name not in self._known:
            metric = self._metrics[name]
            try:
                self._known[name] = metric.value(self._selection)
            except BaseException as raised:
                fault = caught(raised)
                raise WorkbenchError(plugin_fault(fault, f"to compute the metric '{name}'")) from fault
        return self._known[name]

    def _custom(self, name: str) -> Value:
        """The value of a custom metric; 0 if the run has no custom metrics."""
        values = self._selection.of.custom_values
        if values and name not in values:
            message = f"this run counted no metric '{name}'"
            raise WorkbenchError(Diagnostic(message, near(name, sorted(values), "Its own metrics are")))
        return values.get(name, 0.0)

    def __contains__(self, name: object) -> bool:
        return name in self._metrics or (isinstance(name, str) and name.startswith(PREFIX))

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)


def select_block(rule: CheckedRule, block: BlockMetrics, of: MeasuredRun) -> Selection | None:
    """A rule's selection in a block; None if it is empty.

    A rule that asks for kinds of calls, or for a condition on calls, selects those calls and the states they are in,
    and its time is the calls'; otherwise the states decide.
    """
    select, names = rule.rule.select, rule.rule.names_culprit
    states = tuple(s for s in block.states if s.state.index and has(select, s))
    indexes = {s.state.index for s in states}
    mine = tuple(c for c in of.calls if c.block == block.block.id and c.state.index in indexes)
    if not select.kinds and rule.call_condition is None:
        time_s = sum(s.time_s for s in states)
        return Selection(of, block, states, mine, time_s, names_culprit=names) if states else None
    kinds = [kind.value for kind in select.kinds]
    chosen = [c for c in mine if not kinds or (c.entry is not None and c.entry.kind in kinds)]
    if (condition := rule.call_condition) is not None:
        chosen = [c for c in chosen if condition.evaluate(Selection(of, block, (), (c,), c.time_s).values)]
    if not chosen:
        return None
    used = {c.state.index for c in chosen}
    picked = tuple(s for s in states if s.state.index in used)
    return Selection(of, block, picked, tuple(chosen), sum(c.time_s for c in chosen), names_culprit=names)


def select_parts(scope: Scope, of: MeasuredRun) -> list[Selection]:
    """The selections of a rule of scope `fifo` or `memory_port`, each as a block without states."""
    if scope == "fifo":
        return [_select_fifo(fifo, of) for fifo in of.fifos]
    return [_select_memory_port(port, of) for port in of.memory_ports]


def _select_fifo(fifo: FifoMetrics, of: MeasuredRun) -> Selection:
    """The selection of a FIFO; its time is the time in which it takes no offered word."""
    queue, into = fifo.fifo, fifo.input
    component = queue.id.rpartition(".")[0]
    block = Block(
        queue.id, Side.FPGA, component, queue.module, _alike(queue.id), (), queue.file, queue.line, into.stream.clock
    )
    time_s = into.sink_stalls / into.clock_hz
    return Selection(of, BlockMetrics(-1, block, of.run.time_s, into.cycles, (), ()), (), (), time_s, fifo=fifo)


def _select_memory_port(port: MemoryPortMetrics, of: MeasuredRun) -> Selection:
    """The selection of a memory port; its time is its wait for the memory."""
    described = port.port
    block = Block(described.id, Side.FPGA, "", described.kind, _alike(described.id), (), clock=described.clock)
    whole = BlockMetrics(-1, block, of.run.time_s, port.cycles, (), ())
    return Selection(of, whole, (), (), port.waiting_s, memory_port=port)


def _alike(name: str) -> str:
    return re.sub(r"\[-?\d+\]", "[*]", name)


def has(select: Select, measured: StateMetrics) -> bool:
    """Whether a state has the category and the combination of reasons that `select` requires."""
    state = measured.state
    reasons = set(state.reasons)
    return (
        (not select.categories or state.category in select.categories)
        and (not select.reasons or bool(reasons & set(select.reasons)))
        and set(select.all_reasons) <= reasons
        and not reasons & set(select.without_reasons)
        and (not select.not_only or not reasons or bool(reasons - set(select.not_only)))
    )
