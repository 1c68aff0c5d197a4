"""A run as rules use it: its blocks and calls, and each host thread's time by what could go with it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from workbench.analysis.custom import custom_results, custom_values
from workbench.analysis.dependences import Dependences
from workbench.analysis.graph import build_graph
from workbench.analysis.host_times import HostTimes
from workbench.analysis.memory import memory_metrics
from workbench.analysis.metrics import block_metrics, call_metrics
from workbench.analysis.rounds import CallOrder, call_order
from workbench.analysis.streams import fifo_metrics, stream_metrics
from workbench.analysis.waited_for import waited_for
from workbench.api.metrics import HostSide, Metrics, Waiting
from workbench.api.queues import Deeper, RunQueues
from workbench.api.results import BlockMetrics, CallMetrics, CustomResult, FifoMetrics, MemoryPortMetrics, StreamMetrics
from workbench.model.blocks import BlockGraph, Side
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import Platform
from workbench.model.pragma import COMMUNICATION
from workbench.model.prediction import Bottleneck
from workbench.model.run import Run
from workbench.replay.deeper import deeper_alone, least_alone
from workbench.replay.fronts import Replay, replay_of, shared_id
from workbench.replay.queues import NoReplayError
from workbench.traces.trace import Trace, has_trace, trace_of


@dataclass(frozen=True)
class MeasuredRun:
    """The run to which rules apply and which exports write. `metrics` are those that rules may name, `threshold` is the
    smallest reported speedup. `path` is the critical path by block and state, empty if unknown."""

    run: Run
    platform: Platform | None = None
    metrics: Metrics = field(default_factory=dict)
    threshold: float = 1.0
    path: tuple[Bottleneck, ...] = ()

    @cached_property
    def blocks(self) -> tuple[BlockMetrics, ...]:
        return block_metrics(self.run)

    @cached_property
    def calls(self) -> tuple[CallMetrics, ...]:
        return call_metrics(self.run, self.platform)

    @cached_property
    def streams(self) -> tuple[StreamMetrics, ...]:
        return stream_metrics(self.run)

    @cached_property
    def fifos(self) -> tuple[FifoMetrics, ...]:
        return fifo_metrics(self.run, self.streams)

    @cached_property
    def custom(self) -> tuple[CustomResult, ...]:
        return custom_results(self.run, self.blocks)

    @cached_property
    def custom_values(self) -> Mapping[str, float]:
        """The values of the custom metrics that expressions may read."""
        return custom_values(self.custom)

    @cached_property
    def memory_ports(self) -> tuple[MemoryPortMetrics, ...]:
        return memory_metrics(self.run)

    def least_depth(self, fifo: str) -> int:
        try:
            depth = least_alone(self._words, shared_id(fifo)) if self._words else None
        except WorkbenchError:  # no C compiler is here
            return 0
        return depth.words if depth else 0

    def deeper_edges(self, queues: RunQueues) -> Mapping[str, Deeper]:
        least_saved_ps = round(self.run.manifest.time_ps * (1 - 1 / self.threshold))
        try:
            return deeper_alone(replay_of(self.run, queues, self.platform), least_saved_ps)
        except (NoReplayError, WorkbenchError):  # or no C compiler is here
            return {}

    @cached_property
    def _words(self) -> Replay | None:
        try:
            return replay_of(self.run, None, self.platform)
        except NoReplayError:
            return None

    @cached_property
    def _trace(self) -> Trace | None:
        return trace_of(self.run)

    @property
    def traced(self) -> bool:
        return has_trace(self.run)

    def pieces(self, number: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        return self._trace.pieces(number) if self._trace else iter(())

    @cached_property
    def times(self) -> HostTimes:
        return HostTimes(self.run, self.blocks, self.calls)

    @cached_property
    def _sides(self) -> dict[str, HostSide]:
        return {b.block.id: self._side(b) for b in self.blocks if b.block.side is Side.HOST}

    def _side(self, block: BlockMetrics) -> HostSide:
        mine = [c for c in self.calls if c.block == block.block.id]
        waiting, hidden_s = self.times.all_waiting(block, mine)
        transfer_s = max(block.time_of(*COMMUNICATION) - hidden_s, 0.0)
        own_s = max(self.run.time_s - transfer_s - waiting.total_s, 0.0)
        return HostSide(own_s, transfer_s, waiting, self._longest_wait_s(block, mine))

    def _longest_wait_s(self, block: BlockMetrics, calls: Sequence[CallMetrics]) -> float:
        """The longest wait (s); 0 if transfers may be under way during waits, since these could become faster."""
        entries = zip(self.run.manifest.entries, self.platform.host.entries if self.platform else (), strict=False)
        asynchronous = {entry for entry, described in entries if described.asynchronous}
        return 0.0 if any(c.entry in asynchronous for c in calls) else self.times.longest_wait_s(block)

    def order_of(self, block: BlockMetrics) -> CallOrder | None:
        """The ordered calls of a host thread; for an FPGA block, those of the thread that waits most often."""
        if block.block.side is Side.HOST:
            return self._orders[block.block.id]
        orders = [order for order in self._orders.values() if order is not None]
        return max(orders, key=lambda order: order.rounds, default=None)

    @cached_property
    def _orders(self) -> dict[str, CallOrder | None]:
        return {b.block.id: call_order(self.run, b) for b in self.blocks if b.block.side is Side.HOST}

    @cached_property
    def waited_for(self) -> frozenset[str]:
        needed = waited_for(self.blocks)
        return needed - {b.block.id for b in self.blocks if b.block.id in needed and self.times.runs_freely(b)}

    @cached_property
    def graph(self) -> tuple[BlockGraph, tuple[Diagnostic, ...]]:
        """The run's block graph, and its targets that name no block."""
        return build_graph(self.blocks, self.calls, self.streams)

    @cached_property
    def dependences(self) -> Dependences:
        return Dependences(self.blocks, self.graph[0])

    @cached_property
    def on_path(self) -> BlockMetrics | None:
        """The FPGA block with the most time on the critical path; the first of its replicas."""
        spent_s: dict[str, float] = {}
        for part in self.path:
            spent_s[part.block] = spent_s.get(part.block, 0.0) + part.time_s
        on_path_blocks = [b for b in self.blocks if b.block.side is Side.FPGA and spent_s.get(b.block.id, 0.0) > 0]
        return max(on_path_blocks, key=lambda b: spent_s[b.block.id], default=None)

    def host_of(self, block: BlockMetrics) -> HostSide:
        """The host side of a thread; for an FPGA block, that of the thread that waits least among those that wait, or
        else of the first."""
        if block.block.id in self._sides:
            return self._sides[block.block.id]
        waiting = [side for side in self._sides.values() if side.waiting.total_s > 0]
        sides = sorted(waiting, key=lambda side: side.waiting.total_s) or list(self._sides.values())
        return sides[0] if sides else HostSide(0.0, 0.0, Waiting(self.run.time_s, self.run.time_s))

    def at_most(self, left_s: float) -> float:
        """The largest possible speedup if `left_s` of the run's time T remain: T / `left_s`; infinite if nothing is
        known to remain, 1 if nothing can go."""
        if math.isnan(left_s):
            return math.nan
        return max(self.run.time_s / left_s, 1.0) if left_s > 0 else math.inf
