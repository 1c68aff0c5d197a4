"""What a piece of advice can gain at most: the least time that the run takes once it is followed, and T over that.

Every bound says who does less and who stays. What stays is a lower bound of the run's new time: time on the host's
thread, or the busiest FPGA block's work, whichever is more ("thus limiting speedup to at most 1/0.541 = 1.85x", ReCAP
2011, section 6.1). Waiting is a result and never stays by itself: it is bounded by the FPGA's work. Where advice
changes how long something takes but not the order of things, a host that polls may also by chance find the FPGA ready
up to a poll earlier than before, so that counts as well.

The metrics `left.*` are these lower bounds; a rule's suggestions name one (`time_left`) or compute their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.analysis.host_times import HostTimes, Waiting
from workbench.analysis.results import BlockMetrics, CallMetrics
from workbench.analysis.selection import Selection, Values
from workbench.model.blocks import Side
from workbench.model.pragma import COMMUNICATION, WAITS, Category


@dataclass(frozen=True)
class HostSide:
    """One host thread: seconds of its own work (and whatever else is no transfer and no wait), transfers, waits."""

    block: BlockMetrics | None
    own_s: float
    transfer_s: float
    waiting: Waiting


class Bounds:
    """The lower bounds of one run. `total_s` is its time."""

    def __init__(
        self, total_s: float, blocks: Sequence[BlockMetrics], calls: Sequence[CallMetrics], times: HostTimes
    ) -> None:
        self.total_s, self._blocks, self._times = total_s, blocks, times
        self._sides = {b.block.id: self._side(b, calls) for b in blocks if b.block.side is Side.HOST}

    def _side(self, block: BlockMetrics, calls: Sequence[CallMetrics]) -> HostSide:
        mine = [c for c in calls if c.block == block.block.id]
        waiting, hidden_s = self._times.all_waiting(block, mine)
        transfer_s = max(block.time_of(*COMMUNICATION) - hidden_s, 0.0)
        return HostSide(block, max(self.total_s - transfer_s - waiting.total_s, 0.0), transfer_s, waiting)

    def host_of(self, block: BlockMetrics) -> HostSide:
        """The thread itself; for hardware, the thread that waits least among those that wait, or else the first."""
        if block.block.id in self._sides:
            return self._sides[block.block.id]
        waiting = [side for side in self._sides.values() if side.waiting.total_s > 0]
        sides = sorted(waiting, key=lambda side: side.waiting.total_s) or list(self._sides.values())
        everything = Waiting(self.total_s, self.total_s)
        return sides[0] if sides else HostSide(None, 0.0, 0.0, everything)

    def general_values(self, selection: Selection) -> Values:
        """Metrics of the two sides, and of the selection's waits."""
        side = self.host_of(selection.block)
        mine, targets = Waiting(selection.time_s, selection.time_s), 0
        if selection.block.block.side is Side.HOST:
            waits_s = sum(s.time_s for s in selection.states if s.state.category in WAITS)
            mine = self._times.waiting(selection.block, min(waits_s, selection.time_s), selection.calls)
            targets = len(self._times.targets(selection.block, selection.state_indexes))
        return {
            "targets": targets,
            "late_time": mine.late_s,
            "after_ready_time": mine.after_ready_s,
            "host.own_time": side.own_s,
            "host.transfer_time": side.transfer_s,
            "host.wait_time": side.waiting.total_s,
            "host.late_time": side.waiting.late_s,
            "host.after_ready_time": side.waiting.after_ready_s,
            "chance_time": mine.chance_s,
            "host.chance_time": side.waiting.chance_s,
            "fpga.work_time": work_time(self._blocks),
        }

    def left_values(
        self, selection: Selection, values: Values, saved_s: float, culprit: str, culprit_side: Side | None
    ) -> Values:
        """The `left.*` metrics of a rule that holds for this selection and could save `saved_s` there."""
        total, work = self.total_s, work_time(self._blocks)
        side = self.host_of(selection.block)
        on_host = selection.block.block.side is Side.HOST
        chance = side.waiting.chance_s
        time_s, best = float(values["time"]), float(values["table.time_at_best"])
        if on_host:
            loops = self._times.loops_s(selection.block, selection.calls)
            served = self._times.served_s(selection.block, selection.calls)
            beside = loops + chance - float(values["chance_time"])
            less, whole = saved_s + beside, time_s + beside
        else:
            loops = served = 0.0
            everyone = max(saved_s, float(values["replicas.time_sum"]))
            less = whole = min(everyone + chance, side.waiting.late_s)
        if culprit_side is Side.HOST:
            without = work
        elif on_host:
            without = total - side.waiting.late_s
        else:
            others = work_time(b for b in self._blocks if culprit not in (b.block.id, b.block.group))
            without = max(total - side.waiting.late_s, others if culprit else 0.0)
        united = time_s + served  # with the loops around all of them
        return {
            "loop_time": loops,
            "served_time": served,
            "left.without_this": max(total - less, work),
            "left.without_all": max(total - whole, work),
            "left.overlapped": max(side.own_s + side.transfer_s, work),
            "left.side_by_side": max(side.own_s, side.transfer_s, work),
            "left.without_culprit": max(without, 0.0),
            "left.united": max(total - united + best, work),
            "left.fewer": max(total - united, work),
            "left.prompt": max(total - side.waiting.after_ready_s, work),
        }

    def at_most(self, left_s: float) -> float:
        """T over the least time; infinite where nothing is known to stay, and 1 where nothing can go."""
        if math.isnan(left_s):
            return math.nan
        return max(self.total_s / left_s, 1.0) if left_s > 0 else math.inf


def work_time(blocks: Iterable[BlockMetrics]) -> float:
    """Seconds that the busiest FPGA block works."""
    return max((b.time_of(Category.WORK) for b in blocks if b.block.side is Side.FPGA), default=0.0)


def work_share(blocks: Iterable[BlockMetrics]) -> float:
    """The share of the run that the busiest FPGA block works."""
    return max((b.share_of(Category.WORK) for b in blocks if b.block.side is Side.FPGA), default=0.0)


def host_wait_share(blocks: Iterable[BlockMetrics]) -> float:
    """The share of the run that the host waits for the FPGA: of the thread that waits least among those that wait."""
    shares = [b.share_of(*WAITS) for b in blocks if b.block.side is Side.HOST]
    return min((share for share in shares if share > 0), default=0.0)
