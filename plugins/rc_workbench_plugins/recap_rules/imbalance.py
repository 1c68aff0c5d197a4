"""Metrics of blocks that share the work: those side by side, the stages of a pipeline, and the host beside the FPGA
(ReCAP 2011, section 5.4: "specific data about the best and worst performing blocks as well as the average")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.api import Category, Metric, Selected, Side, Value

if TYPE_CHECKING:
    from workbench.api import BlockMetrics


def _work_s(block: BlockMetrics) -> float:
    return block.time_of(Category.WORK)


def _busiest_of_each(s: Selected) -> Sequence[BlockMetrics]:
    """A stage is as slow as the busiest of its replicas."""
    return [max(stage, key=_work_s) for stage in s.stages]


def _times(blocks: Callable[[Selected], Sequence[BlockMetrics]], of: Callable[[Sequence[float]], float]
           ) -> Callable[[Selected], Value]:  # fmt: skip
    def compute(s: Selected) -> Value:
        times_s = [_work_s(one) for one in blocks(s)]
        return of(times_s) if times_s else 0.0

    return compute


def _mean(times_s: Sequence[float]) -> float:
    return sum(times_s) / len(times_s)


def _name(blocks: Callable[[Selected], Sequence[BlockMetrics]], pick: Callable[..., BlockMetrics], whole: bool
          ) -> Callable[[Selected], Value | None]:  # fmt: skip
    def compute(s: Selected) -> Value | None:
        there = blocks(s)
        if not there:
            return None
        block = pick(there, key=_work_s).block
        return block.group if whole else block.id

    return compute


def _parallel(s: Selected) -> Sequence[BlockMetrics]:
    return s.parallel


def _partner_s(s: Selected) -> float:
    """What the other side works: the busiest block that somebody waits for, or the host thread beside hardware."""
    if s.block.block.side is Side.FPGA:
        return s.host.own_s
    return max((_work_s(b) for b in s.of.blocks if b.block.id in s.of.waited_for), default=0.0)


def _balanced_s(s: Selected) -> float:
    """Least time of the run once the work is spread evenly: all that the host waited for may go, and what it gives away
    of its own work, but each block works as long as they do on average."""
    given_s = s.saved_s if s.block.block.side is Side.HOST else 0.0
    return max(s.of.run.time_s - s.host.waiting.late_s - given_s, s.time_s - s.saved_s)


IMBALANCE_METRICS = (
    Metric("parallel.count", "Parallel blocks", "count", lambda s: len(s.parallel)),
    Metric("parallel.most", "Work of the busiest parallel block", "time", _times(_parallel, max)),
    Metric("parallel.mean", "Average work of the parallel blocks", "time", _times(_parallel, _mean)),
    Metric("parallel.least", "Work of the least busy parallel block", "time", _times(_parallel, min)),
    Metric("parallel.busiest", "Busiest parallel block", "text", _name(_parallel, max, whole=False)),
    Metric("parallel.idlest", "Least busy parallel block", "text", _name(_parallel, min, whole=False)),
    Metric("stages.count", "Stages of the pipeline", "count", lambda s: len(s.stages)),
    Metric("stages.most", "Work of the slowest stage", "time", _times(_busiest_of_each, max)),
    Metric("stages.mean", "Average work of a stage", "time", _times(_busiest_of_each, _mean)),
    Metric("stages.least", "Work of the fastest stage", "time", _times(_busiest_of_each, min)),
    Metric("stages.sum", "Work of all stages together", "time", _times(_busiest_of_each, sum)),
    Metric("stages.slowest", "Slowest stage", "text", _name(_busiest_of_each, max, whole=True)),
    Metric("stages.fastest", "Fastest stage", "text", _name(_busiest_of_each, min, whole=True)),
    Metric("partner.work", "Work of the other side: the FPGA's busiest block, or the host", "time", _partner_s),
    Metric(
        "left.balanced",
        "Least time once the work is spread evenly",
        "time",
        _balanced_s,
        stays="each of these blocks works as long as they do on average, and the host's own time stays",
    ),
)
