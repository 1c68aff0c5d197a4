"""A run's critical path over time, what could end later, and what each wait was for: as its replay finds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
#: Slack of what nobody waits for.
NO_LIMIT_PS = np.iinfo(np.int64).max
#: The slack of what nothing is known of.
UNKNOWN_PS = -1


class PathShare(NamedTuple):
    """How much of the critical path a block (or the first of its replicas, for all) spends in a state, or in the calls
    of a site."""

    block: int
    state: int
    site: int
    time_ps: float
    part: float


@dataclass(frozen=True)
class Steps:
    """The critical path in order of time, without gaps: a block in a state from `begin_ps` to `end_ps`; `site` is that
    of the call (-1: none), and `on_bus` says whether a transfer has its bus."""

    block: Numbers
    state: Numbers
    site: Numbers
    on_bus: NDArray[np.bool_]
    begin_ps: Numbers
    end_ps: Numbers

    def __len__(self) -> int:
        return len(self.block)

    def shares(self, groups: Sequence[str]) -> tuple[PathShare, ...]:
        """The path by state and call, the longest first; blocks of one group (by number) together."""
        first = {group: number for number, group in reversed(list(enumerate(groups))) if group}
        head = np.array([first.get(group, number) for number, group in enumerate(groups)], np.int64)
        states, sites = (int(numbers.max(initial=0)) + 2 for numbers in (self.state, self.site))
        kinds = (head[self.block] * states + self.state) * sites + self.site + 1  # one number: pairs take long to sort
        present, which = np.unique(kinds, return_inverse=True)
        spent = np.bincount(which, (self.end_ps - self.begin_ps).astype(float))
        total = max(float(spent.sum()), 1.0)
        shares = [
            PathShare(kind // sites // states, kind // sites % states, kind % sites - 1, ps, ps / total)
            for kind, ps in zip(present.tolist(), spent.tolist(), strict=True)
        ]
        return tuple(sorted(shares, key=lambda share: -share.time_ps))

    def between(self, from_ps: float, to_ps: float) -> range:
        """The steps that are under way in a span of time."""
        low = int(np.searchsorted(self.end_ps, int(from_ps), "right"))
        return range(low, max(int(np.searchsorted(self.begin_ps, int(to_ps), "left")), low))


@dataclass(frozen=True)
class Cause:
    """What something waited for: a block at a time (`block` -1: the run's begin), by a call of `site` (-1: none).
    `bus` says that it waited for the bus, which another transfer had."""

    block: int
    site: int
    time_ps: int
    bus: bool = False


@dataclass(frozen=True)
class Causes:
    """A `Cause` of each of many parts."""

    block: Numbers
    site: Numbers
    time_ps: Numbers
    bus: NDArray[np.bool_]

    def some(self, chosen: Numbers) -> Causes:
        return Causes(self.block[chosen], self.site[chosen], self.time_ps[chosen], self.bus[chosen])

    def at(self, part: int) -> Cause:
        return Cause(int(self.block[part]), int(self.site[part]), int(self.time_ps[part]), bool(self.bus[part]))


@dataclass(frozen=True)
class Parts:
    """What a block did, in order of time: a hardware block's stretches of work, or a host thread's calls, with polls
    for one answer as one. Part i lasts from `begin_ps` to `end_ps`, could end `slack_ps` later without a longer run
    (`NO_LIMIT_PS`: nothing waits for it; `UNKNOWN_PS`: nobody knows), and ends (a call) or begins (a stretch) when its
    cause has come so far.
    """

    begin_ps: Numbers
    end_ps: Numbers
    slack_ps: Numbers
    site: Numbers
    causes: Causes

    def __len__(self) -> int:
        return len(self.begin_ps)

    def between(self, from_ps: float, to_ps: float) -> range:
        """The parts of which, or of whose slack, something may be seen in a span of time."""
        low = max(int(np.searchsorted(self.begin_ps, int(from_ps), "right")) - 1, 0)
        return range(low, max(int(np.searchsorted(self.begin_ps, int(to_ps), "left")), low))

    @cached_property
    def least_slack_ps(self) -> int:
        """How much later any one of them may end of which that is known; `UNKNOWN_PS` where none is."""
        known = self.slack_ps[self.slack_ps != UNKNOWN_PS]
        return int(known.min(initial=NO_LIMIT_PS)) if len(known) or not len(self) else UNKNOWN_PS


@dataclass(frozen=True)
class RunPath:
    """Of a run its critical path, and of each block that replay knows its parts, by number. `hosts` are threads;
    `unknown` says of which waits no cause is known."""

    steps: Steps
    parts: Mapping[int, Parts]
    hosts: frozenset[int]
    unknown: tuple[str, ...] = ()

    @cached_property
    def blocks(self) -> frozenset[int]:
        """Those that the path is in anywhere."""
        return frozenset(np.unique(self.steps.block).tolist())

    def part_at(self, block: int, time_ps: float) -> int | None:
        """The call of a host thread under way at a time, or the stretch of a hardware block that is, or that begins
        next after a wait; None where there is none."""
        parts = self.parts.get(block)
        if parts is None or not len(parts):
            return None
        number = int(np.searchsorted(parts.begin_ps, int(time_ps), "right")) - 1
        inside = number >= 0 and time_ps < parts.end_ps[number]
        if block in self.hosts:
            return number if inside else None
        number += not inside
        return number if number < len(parts) else None

    def cause_at(self, block: int, time_ps: float) -> Cause | None:
        """What a block's wait, or a host's call, at a time is for."""
        part = self.part_at(block, time_ps)
        if part is None:
            return None
        parts = self.parts[block]
        if block not in self.hosts and parts.begin_ps[part] <= time_ps:
            return None  # it works
        return parts.causes.at(part)

    def waiter_of(self, block: int, time_ps: float) -> tuple[int, int] | None:
        """Who waited for what a block did at a time, or did next: block, and when it went on. The soonest."""
        best: tuple[int, int, int] | None = None
        for other, parts in self.parts.items():
            if other == block:
                continue
            mine = np.flatnonzero((parts.causes.block == block) & (parts.causes.time_ps >= int(time_ps)))
            if len(mine):
                first = int(mine[np.argmin(parts.causes.time_ps[mine])])
                at_ps = parts.end_ps[first] if other in self.hosts else parts.begin_ps[first]
                cause = int(parts.causes.time_ps[first]), other, int(at_ps)
                best = min(best, cause) if best else cause
        return best[1:] if best else None
