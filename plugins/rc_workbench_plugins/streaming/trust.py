"""Whether a replayed virtual queue may be trusted (Lancaster 2011, section 5.1, step 4).

The dissertation holds the replay against the two sub-queues that are seen, and leaves open how. Here it is the distance
of Kolmogorov and Smirnov, and the threshold is what replays of the same length are from one another, at least
`LEAST_DISTANCE`. That check is nearly blind where a bus carries bulks (the upstream queue is then even over its bulk,
whatever the source does), so that the intervals themselves are tested too: against their own past, against the other
end's, and against the run's other frames. A queue is consistent with what was measured, or not to be trusted; never
right.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.api import counted, listed
from workbench.api.unstable import significant
from workbench.api.virtual_queue import (
    FRAMES,
    Bus,
    Draw,
    Intervals,
    Occupancy,
    Shares,
    Times,
    average,
    block_length,
    distance,
    replays,
)

LEAST_DISTANCE = 0.03
LAGS = 10
DEVIATIONS = 4.0  # standard errors of an autocorrelation beyond which it is none by chance
CONSTANT = 1e-3  # standard deviation over the mean, below which intervals do not vary: their queue would not show it
CHANCE = 1e-4  # how improbable the scatter of the frames' means must be
LEAST_REPLAYS, MOST_REPLAYS, REPLAYED = 5, 20, 1_000_000  # of a run; in between, so many elements in all of them
BLOCKS_IN_RUN = 10  # at least, for a run's blocks to say anything
ACROSS = "insertions and services"


@dataclass(frozen=True)
class Dependence:
    """What intervals owe to something: `value` is a correlation (at its greatest, `lag` elements apart) or a ratio of
    variances (Fisher's F), and `chance` what chance alone would reach."""

    of: str
    value: float
    chance: float
    lag: int = 0

    @property
    def is_significant(self) -> bool:
        return abs(self.value) > self.chance

    def __str__(self) -> str:
        at = f" at lag {self.lag}" if self.lag else ""
        return f"{self.of} ({significant(self.value)}{at}; chance reaches {significant(self.chance)})"


@dataclass(frozen=True)
class SubQueue:
    """A sub-queue as measured, held against its replay: `ks` is their distance."""

    name: str
    ks: float
    threshold: float

    @property
    def agrees(self) -> bool:
        return self.ks <= self.threshold


@dataclass(frozen=True)
class Estimate:
    """How full a virtual queue was, by replays. `reason` says what speaks against it, "" where nothing does;
    `dependences` are all that were looked for, `block` is how long blocks were (1: intervals were drawn each by
    itself)."""

    occupancy: Occupancy
    draw: Draw
    block: int
    sub_queues: tuple[SubQueue, ...]
    dependences: tuple[Dependence, ...]
    reason: str

    @property
    def consistent(self) -> bool:
        return not self.reason

    @property
    def model(self) -> str:
        """What was replayed, in words, and why it was not simpler."""
        if self.draw is Draw.ALONE:
            return f"measured intervals, drawn {self.draw}"
        why = listed([str(d) for d in self.dependences if d.is_significant])
        return f"measured intervals, drawn in blocks of some {self.block:,} neighbours" + (f": {why}" if why else "")

    @property
    def verdict(self) -> str:
        return f"not to be trusted: {self.reason}" if self.reason else "consistent with what was measured"

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": "consistent" if self.consistent else "not to be trusted",
            "reason": self.reason,
            "model": self.model,
            "block": self.block,
            "sub_queues": [{"name": q.name, "ks": q.ks, "threshold": q.threshold} for q in self.sub_queues],
            "dependences": [
                {"of": d.of, "value": d.value, "chance": d.chance, "lag": d.lag, "found": d.is_significant}
                for d in self.dependences
            ],
        }


def dependences(intervals: Intervals, bus: Bus) -> tuple[Dependence, ...]:
    """What the intervals owe to their own past, to the other end's, and to the time of the run; and what transfers owe
    to those before."""
    ends = {"insertions": intervals.between, "services": intervals.service}
    every: list[Dependence] = []
    for name, values in {**ends, "transfers": np.add(bus.times, bus.lags)}.items():
        every += _greatest(f"{name} depend on earlier ones", {n: (values, values, n) for n in range(1, LAGS + 1)})
    pairs = {n: (intervals.between, intervals.service, n) for n in range(-LAGS, LAGS + 1)}
    every += _greatest(f"{ACROSS} depend on one another", pairs)
    for name, values in ends.items():
        every += _changes(f"{name} change over the run", values)
    return tuple(every)


def _greatest(of: str, pairs: Mapping[int, tuple[Times, Times, int]]) -> list[Dependence]:
    """The correlation that is farthest from chance, of one value and another so many elements later; none where values
    do not vary."""
    tried = []
    for lag, (one, other, apart) in pairs.items():
        early, late = (one, other) if apart >= 0 else (other, one)
        early, late = early[: max(0, len(early) - abs(apart))], late[abs(apart) :]
        both = ~(np.isnan(early) | np.isnan(late))
        early, late = early[both], late[both]
        if len(early) > LAGS and _vary(early) and _vary(late):
            correlation = float(np.corrcoef(early, late)[0, 1])
            tried.append(Dependence(of, correlation, DEVIATIONS / np.sqrt(len(early)), lag))
    return [max(tried, key=lambda d: abs(d.value) / d.chance)] if tried else []


def _vary(values: Times) -> bool:
    return bool(values.std() > CONSTANT * values.mean())


def _changes(of: str, values: Times) -> list[Dependence]:
    """Fisher's analysis of variance of the intervals in each part of the run."""
    from scipy.special import fdtri  # here, since it is long to import

    frames = [part[~np.isnan(part)] for part in np.array_split(values, FRAMES)]
    if min(map(len, frames)) <= 1 or not _vary(np.concatenate(frames)):
        return []
    count, within = sum(map(len, frames)), sum(len(part) * part.var() for part in frames)
    between = sum(len(part) * part.mean() ** 2 for part in frames) - np.concatenate(frames).sum() ** 2 / count
    value = between / (FRAMES - 1) / (within / (count - FRAMES))
    return [Dependence(of, float(value), float(fdtri(FRAMES - 1, count - FRAMES, 1 - CHANCE)))]


def replayed(
    intervals: Intervals, bus: Bus, seen: Mapping[str, Shares], draw: Draw, *, seed: int = 0, skipped: float = 0.0
) -> tuple[Occupancy, tuple[SubQueue, ...]]:
    """The queue replayed, and held against the sub-queues that were `seen` (by the fields of `Occupancy`).

    A threshold is the 95th percentile of how far one replay is from all others. Replays are as long as the run.
    """
    times = int(np.clip(REPLAYED // len(intervals), LEAST_REPLAYS, MOST_REPLAYS))
    runs = list(replays(intervals, bus, draw, np.random.default_rng(seed), times, skipped))
    parts = {name: [getattr(run, name) for run in runs] for name in ("total", "upstream", "downstream")}
    whole = Occupancy(**{name: average(shares) for name, shares in parts.items()})
    held = []
    for name, shares in seen.items():
        among = [distance(part, average(others)) for part, others in _each_and_others(parts[name])]
        threshold = max(LEAST_DISTANCE, float(np.quantile(among, 0.95, method="higher")))
        held.append(SubQueue(name, distance(shares, getattr(whole, name)), threshold))
    return whole, tuple(held)


def _each_and_others(parts: list[Shares]) -> Iterator[tuple[Shares, list[Shares]]]:
    for n, part in enumerate(parts):
        yield part, parts[:n] + parts[n + 1 :]


def estimate(
    intervals: Intervals, bus: Bus, seen: Mapping[str, Shares], *, seed: int = 0, skipped: float = 0.0
) -> Estimate:
    """How full the queue was, and whether that may be trusted. Intervals are drawn in blocks where they depend on
    anything, or where a replay without blocks does not give the sub-queues that were seen."""
    owed = dependences(intervals, bus)
    depend = [d for d in owed if d.is_significant]
    for draw in (Draw.BLOCKS,) if depend else (Draw.ALONE, Draw.BLOCKS):
        occupancy, held = replayed(intervals, bus, seen, draw, seed=seed, skipped=skipped)
        if all(queue.agrees for queue in held):
            break
    block = block_length(intervals, bus) if draw is Draw.BLOCKS else 1
    reasons = [
        f"the measured {queue.name} queue differs from the replayed one (they are {significant(queue.ks)} apart, of "
        f"{significant(queue.threshold)} that chance allows)"
        for queue in held
        if not queue.agrees
    ]
    if block * BLOCKS_IN_RUN > len(intervals):
        reasons.append(f"the run has {counted(len(intervals), 'element')}, too few for blocks of {block:,}")
    across = [d for d in depend if d.of.startswith(ACROSS)]
    if across and np.isnan(intervals.service).any():
        reasons.append(f"{across[0]}, and service times are known only while another element waited")
    return Estimate(occupancy, draw, block, held, owed, "; ".join(reasons))
