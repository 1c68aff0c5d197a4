"""The least time of a run once something is fixed: metrics `left.*`, which a suggestion's upper bound rests on.

Each bound states what takes less time and what stays. What stays is time on the host's thread, or the work of the
busiest FPGA block that somebody waits for, whichever is more ("thus limiting speedup to at most 1/0.541 = 1.85x",
ReCAP, section 6.1). Waiting is a result and never stays by itself: it is bounded by the FPGA's work. Where advice
changes how long something takes but not the order of things, a host that polls may also by chance find the FPGA ready
up to a poll earlier than before, so that counts as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rc_workbench_plugins.recap_rules.calls import time_at_best, time_of_empty_calls, waits_for_them
from workbench.api import Category, Metric, Selected, Side

if TYPE_CHECKING:  # every start reads this table
    from workbench.api import BlockMetrics


def _work_time(blocks: Iterable[BlockMetrics]) -> float:
    return max((b.time_of(Category.WORK) for b in blocks if b.block.side is Side.FPGA), default=0.0)


def work_s(s: Selected) -> float:
    """Time that the busiest block works for which somebody waits."""
    return _work_time(b for b in s.of.blocks if b.block.id in s.of.waited_for)


def _fpga_time(s: Selected) -> float:
    """Time that the FPGA takes at least while nothing of it changes.

    Where no such work is marked, it is what its memories need to move the same bytes, or the host's longest single
    wait. That holds while only the host changes: a wait may include what a change of the FPGA does away with.
    """
    works = work_s(s)
    if works or s.block.block.side is Side.FPGA:
        return works
    moved: dict[str, float] = {}
    for one in s.of.memory_ports:
        if one.port.memory_bytes_per_s:
            moved[one.port.memory] = moved.get(one.port.memory, 0.0) + one.bytes / one.port.memory_bytes_per_s
    return max(*moved.values(), s.host.longest_wait_s, 0.0)


def _without(s: Selected, lost_s: float) -> float:
    """Least time when the selection takes so much less, and what goes with it goes too."""
    if s.block.block.side is Side.HOST:
        less = lost_s + (s.loops_s + s.host.waiting.chance_s - s.waiting.chance_s)
    else:
        less = min(max(s.saved_s, sum(s.replicas_s)) + s.host.waiting.chance_s, s.host.waiting.late_s)
    return max(s.of.run.time_s - less, _fpga_time(s))


def _without_culprit(s: Selected) -> float:
    culprit, side = s.culprit
    left = s.of.run.time_s - s.host.waiting.late_s
    if side is Side.HOST:
        return max(work_s(s), 0.0)
    if s.block.block.side is Side.HOST:
        return max(left, 0.0)
    rest = (b for b in s.of.blocks if b.block.id in s.of.waited_for)
    others = _work_time(b for b in rest if culprit not in (b.block.id, b.block.group))
    return max(left, others if culprit else 0.0)


def _united(s: Selected, takes_s: float, fpga_s: float) -> float:
    """Least time with the selected calls, and what goes with them, in the time given, beside the FPGA's."""
    return max(s.of.run.time_s - (s.time_s + s.served_s) + takes_s, fpga_s)


_EVERYTHING_ELSE = "all other times stay the same"

BOUND_METRICS = (
    Metric(
        "left.without_this",
        "Least time without the loss in these states or calls",
        "time",
        lambda s: _without(s, s.saved_s),
        stays=_EVERYTHING_ELSE,
    ),
    Metric(
        "left.without_all",
        "Least time without these states or calls",
        "time",
        lambda s: _without(s, s.time_s),
        stays=_EVERYTHING_ELSE,
    ),
    Metric(
        "left.packed",
        "Least time if each of these calls moved almost nothing",
        "time",
        lambda s: _without(s, s.time_s - time_of_empty_calls(s) + waits_for_them(s)),
        stays="each call takes as long as the smallest transfer, and all other times stay the same",
    ),
    Metric(
        "left.overlapped",
        "Least time with the host's work and transfers beside the FPGA's work",
        "time",
        lambda s: max(s.host.own_s + s.host.transfer_s, _fpga_time(s)),
        stays="the FPGA works while the host works and transfers; the longer of the two remains",
    ),
    Metric(
        "left.side_by_side",
        "Least time with host, transfers and FPGA side by side",
        "time",
        lambda s: max(s.host.own_s, s.host.transfer_s, _fpga_time(s)),
        stays="the host's work, the transfers and the FPGA's work overlap; the longest of the three remains",
    ),
    Metric(
        "left.without_culprit",
        "Least time if the late block took no time",
        "time",
        _without_culprit,
        stays="only the late block becomes faster",
    ),
    Metric(
        "left.united",
        "Least time with these transfers united, without the polls and control beside them",
        "time",
        lambda s: _united(s, time_at_best(s), _fpga_time(s)),
        stays="the same bytes at the best rate, the host's own work and the FPGA's work remain; control messages and"
        " polls beside these transfers can disappear",
    ),
    Metric(
        "left.fewer",
        "Least time without these calls and the polls beside them",
        "time",
        lambda s: _united(s, 0.0, work_s(s)),
        stays="the data transfers, the host's own work and the FPGA's work remain; polls beside these messages can"
        " disappear",
    ),
    Metric(
        "left.prompt",
        "Least time if the host knew at once that the FPGA is ready",
        "time",
        lambda s: max(s.of.run.time_s - s.host.waiting.after_ready_s, work_s(s)),
        stays="the FPGA is ready no earlier than in this run",
    ),
)
