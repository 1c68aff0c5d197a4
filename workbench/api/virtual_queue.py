"""Virtual queues: queues whose two ends stand on different platforms (Lancaster 2011, chapter 5).

Elements wait in a queue at the producer until `bulk` of them are there, cross a bus together, and wait in a second
queue for the consumer (the tandem of Fig. 5.7; a bulk of one that takes no time is the ideal queue of section 5.1).
Each end sees its own queue, and the intervals between its own events; how full the whole is, nobody sees. It is
replayed from intervals that are drawn from those measured.

Intervals are drawn each by itself, as the dissertation does (`Draw.ALONE`), or in blocks of neighbours, so that what
they owe to one another is kept: a block bootstrap (Politis and Romano 1994), its blocks drawn from about the same time
of the run (Paparoditis and Politis 2002), so that slow changes are kept as well.

Times are in any one unit. Occupancies are shares of the time, by the number of elements; the element that the consumer
works on is in no queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]
Shares = NDArray[np.float64]

BLOCK_TIMES = 50  # a block's length over the time in which intervals forget: some 2 % of what they owe is lost
BLOCK_TRANSFERS = 10  # and at least so many, where transfers differ
FRAMES = 20  # of a run: intervals are told from those in other frames, and blocks drawn from a frame around


class Draw(StrEnum):
    """How intervals are drawn for a replay."""

    ALONE = "each by itself"
    BLOCKS = "in blocks of neighbours"


@dataclass(frozen=True, eq=False)
class Bus:
    """What carries elements between the two queues: `bulk` of them at a time, or those that are there `flush` after the
    first. A transfer begins `lags` after these are there and the one before is over, and takes `times`: those measured,
    of which replays draw; the dissertation's bus has one time and no lag. Elements arrive `gap` apart, the last one at
    the transfer's end, and none before it begins.

    `rooms` are the elements that fit in the queue before the bus and in the one behind it: the producer waits for the
    former, a transfer looks for the latter every `flush`. A bus that `gathers` takes elements out of their queue while
    it waits for more. `of` is the number of the transfer that carried each element measured.
    """

    bulk: int = 1
    times: Sequence[float] | Times = (0.0,)
    lags: Sequence[float] | Times = (0.0,)
    gap: float = 0.0
    flush: float = np.inf
    rooms: tuple[float, float] = (np.inf, np.inf)
    gathers: bool = False
    of: NDArray[np.int64] | None = None

    def drawn(self, transfers: NDArray[np.int64]) -> Bus:
        """With a time and a lag of each element's transfer, by the numbers of these."""
        return replace(self, times=np.asarray(self.times)[transfers], lags=np.asarray(self.lags)[transfers])


IDEAL = Bus()


@dataclass(frozen=True)
class Intervals:
    """What the two ends measured of each element in turn: `between` is how long after the one before it was inserted,
    `service` how long after its removal the consumer was ready for another; nan where that is not known."""

    between: Times
    service: Times

    def __len__(self) -> int:
        return len(self.between)

    @property
    def services(self) -> Times:
        """The known service times."""
        return self.service[~np.isnan(self.service)]


@dataclass(frozen=True)
class Passage:
    """When each element was inserted, taken by the bus, delivered, and removed by the consumer; each ascends."""

    inserted: Times
    taken: Times
    delivered: Times
    removed: Times


@dataclass(frozen=True)
class Occupancy:
    """Shares of the time with 0, 1, 2, ... elements in the whole queue (what is on the bus is in it too), and in the
    two that are seen."""

    total: Shares
    upstream: Shares
    downstream: Shares


def mean(shares: Shares) -> float:
    """The mean number of elements."""
    return float(shares @ np.arange(len(shares)))


def distance(one: Shares, other: Shares) -> float:
    """The distance of Kolmogorov and Smirnov: the greatest difference of two distribution functions, from 0 to 1."""
    longest = max(len(one), len(other))
    differences = np.zeros(longest)
    differences[: len(one)] += one
    differences[: len(other)] -= other
    return float(np.abs(differences.cumsum()).max())


def average(parts: list[Shares]) -> Shares:
    whole = np.zeros(max(map(len, parts)))
    for part in parts:
        whole[: len(part)] += part
    return whole / len(parts)


def services(delivered: Times, removed: Times) -> Times:
    """Intervals between removals that are services: those that began with another element waiting. nan for the others,
    in which the consumer waited too. (All intervals have the mean of the insertions', so that a replay would never
    settle; those that *end* with an element waiting are too often long ones.)"""
    intervals = np.full(len(removed), np.nan)
    waiting = delivered[1:] <= removed[:-1]
    intervals[:-1][waiting] = np.diff(removed)[waiting]
    return intervals


def measured(passage: Passage) -> Intervals:
    """What the two ends of a queue measure of what passes it."""
    return Intervals(
        np.diff(passage.inserted, prepend=passage.inserted[0]), services(passage.delivered, passage.removed)
    )


def passage(between: Times, service: Times, bus: Bus = IDEAL) -> Passage:
    """What becomes of elements that are inserted and served so, `between` being what the producer works where it may
    wait for room. Without a `flush`, elements beyond the last full bulk are left out. The bus has one time and lag, or
    those of each element's transfer."""
    if np.isfinite([bus.flush, *bus.rooms]).any():
        return _in_transfers(between, service, bus)
    count = len(between) // bus.bulk * bus.bulk
    inserted = between[:count].cumsum()
    taken = delivered = inserted
    if bus is not IDEAL:
        times, lags = (np.broadcast_to(each, len(between))[: count : bus.bulk] for each in (bus.times, bus.lags))
        starts = _in_turn(inserted[bus.bulk - 1 :: bus.bulk], lags + times) + lags
        taken = starts.repeat(bus.bulk)
        arriving = (starts + times)[:, None] - bus.gap * np.arange(bus.bulk)[::-1]
        delivered = np.maximum(arriving, starts[:, None]).ravel()
    return Passage(inserted, taken, delivered, _in_turn(delivered, service[:count]))


def _in_transfers(work: Times, service: Times, bus: Bus) -> Passage:
    """The same, one transfer after another."""
    count = len(work)
    before, behind = (int(min(room, count)) for room in bus.rooms)
    carry = min(bus.times)
    times, lags = (np.broadcast_to(each, count) for each in (bus.times, bus.lags))
    inserted, left, taken, delivered, removed = np.empty((5, count))  # `left` made room before the bus
    first, free, ready = 0, 0.0, 0.0  # the bus is free from then on, the consumer ready
    while first < count:
        upto = min(first + bus.bulk, count)
        left[first:upto] = free  # what this transfer gathers is out of the queue
        since = np.arange(first, upto) - before
        room = np.where(since < 0, 0.0, left[since.clip(0)])
        room[0] = max(room[0], (inserted[first - 1] if first else 0.0) + work[first])
        put = _in_turn(room, np.append(work[first + 1 : upto], 0.0))
        late = max(put[0], free) + bus.flush
        full = max(put[-1], free) if len(put) == bus.bulk else np.inf
        begin = min(full, late) + lags[first]
        size = max(1, int(put.searchsorted(late if bus.gathers else begin, "right")))
        over, time, look = first + size, times[first], times[first] - carry if bus.gathers else lags[first]
        if over > behind:
            late = removed[over - behind - 1] - (begin + look if bus.gathers else begin)
            held = max(0.0, np.ceil(late / (bus.flush + look))) * (bus.flush + look)
            begin, time = (begin, time + held) if bus.gathers else (begin + held, time)
        part = slice(first, over)
        inserted[part], taken[part] = put[:size], begin
        left[part] = np.maximum(put[:size], free) if bus.gathers else begin
        free = begin + time
        delivered[part] = np.maximum(free - bus.gap * np.arange(size)[::-1], begin)
        arrived = delivered[part].copy()
        arrived[0] = max(arrived[0], ready)
        removed[part] = _in_turn(arrived, service[part])
        ready = removed[over - 1] + service[over - 1]
        first = over
    return Passage(inserted, taken, delivered, removed)


def _in_turn(ready: Times, work: Times) -> Times:
    """When a server that works on one after another begins with each (Lindley 1952), without a loop."""
    before = np.zeros(len(work))
    work[:-1].cumsum(out=before[1:])
    return np.maximum(np.maximum.accumulate(ready - before) + before, ready)  # the last against rounding


def occupancy(passage: Passage, skipped: float = 0.0) -> Occupancy:
    """How full the queue and its parts were between the first and the last insertion, the first `skipped` (a share) of
    the elements left out."""
    since, until = passage.inserted[int(skipped * len(passage.inserted))], passage.inserted[-1]
    total = shares_of_time(passage.inserted, passage.removed, since, until)
    if passage.taken is passage.inserted:
        return Occupancy(total, np.ones(1), total)
    upstream = shares_of_time(passage.inserted, passage.taken, since, until)
    return Occupancy(total, upstream, shares_of_time(passage.delivered, passage.removed, since, until))


def shares_of_time(entered: Times, left: Times, since: float, until: float) -> Shares:
    """The shares of the time with 0, 1, 2, ... elements between two points, of those that enter and leave in turn."""
    if until <= since:
        return np.ones(1)
    events = np.concatenate([entered, left])
    order = events.argsort(kind="stable")
    moments = events[order].clip(since, until)
    counts = np.where(order < len(entered), 1, -1).cumsum()
    spent = np.bincount(counts[:-1], weights=np.diff(moments), minlength=1)
    spent[0] += moments[0] - since
    spent[counts[-1]] += until - moments[-1]
    return spent / spent.sum()


def memory(values: Times) -> float:
    """For how many of them values remember one another, beside what changes slowly (from frame to frame): one plus
    twice their autocorrelations (Geyer's initial positive sequence, 1992), 1 where they do not."""
    if len(values) < 4 * FRAMES:
        return 1.0
    differences = np.concatenate([part - part.mean() for part in np.array_split(values, FRAMES)])
    spread = float(differences @ differences)
    if spread <= 1e-18 * float(values @ values):
        return 1.0
    length = 1 << (2 * len(values) - 1).bit_length()
    power = np.abs(np.fft.rfft(differences, length)) ** 2
    correlation = np.fft.irfft(power, length)[: len(values)] / spread
    pairs = correlation[: len(values) // 2 * 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs < 4 / np.sqrt(len(values)))  # what chance alone reaches
    return max(1.0, 2 * float(pairs[: ends[0] if len(ends) else None].sum()) - 1)


def block_length(intervals: Intervals, bus: Bus) -> int:
    """How long blocks must be to keep what intervals owe to one another, and transfers to those before."""
    length = BLOCK_TIMES * max(memory(intervals.between), memory(intervals.services))
    return int(np.ceil(length if bus.of is None else max(length, BLOCK_TRANSFERS * bus.bulk)))


def drawn(intervals: Intervals, bus: Bus, draw: Draw, random: np.random.Generator, block: int) -> tuple[Intervals, Bus]:
    """As many intervals as were measured, drawn anew, and what carries these; blocks have a mean length of `block`, and
    keep their transfers."""
    count, known = len(intervals), np.flatnonzero(~np.isnan(intervals.service))
    if draw is Draw.ALONE:
        service = intervals.service[known[random.integers(0, len(known), count)]]
        carried = bus if bus.of is None else bus.drawn(random.integers(0, len(bus.times), count))
        return Intervals(intervals.between[random.integers(0, count, count)], service), carried
    picked = _blocks(count, block, random, 1 if bus.of is None else bus.bulk)
    service = intervals.service[picked]
    missing = np.flatnonzero(np.isnan(service))
    near = known.searchsorted(picked[missing]) + random.integers(-block, block, len(missing))
    service[missing] = intervals.service[known[near.clip(0, len(known) - 1)]]
    return Intervals(intervals.between[picked], service), bus if bus.of is None else bus.drawn(bus.of[picked])


def _blocks(count: int, length: int, random: np.random.Generator, step: int) -> NDArray[np.int64]:
    """The numbers of elements in blocks of geometrically distributed lengths, each from near where it now stands; by
    `step` at a time."""
    if step > 1:
        steps = _blocks(-(-count // step), -(-length // step), random, 1)
        return np.minimum((step * steps[:, None] + np.arange(step)).ravel()[:count], count - 1)
    begins = random.random(count) < 1 / length
    begins[0] = True
    places = np.flatnonzero(begins)
    lengths = np.diff(places, append=count)
    reach, last = max(length, count // FRAMES), count - lengths
    sources = np.abs(places + random.integers(-reach, reach + 1, len(places)))  # mirrored at the run's ends
    sources = np.clip(last - np.abs(last - sources), 0, last)
    return np.arange(count) + (sources - places).repeat(lengths)


def replays(
    intervals: Intervals, bus: Bus, draw: Draw, random: np.random.Generator, times: int, skipped: float = 0.0
) -> Iterator[Occupancy]:
    """The run played again, so many times."""
    block = block_length(intervals, bus) if draw is Draw.BLOCKS else 1
    for _ in range(times):
        again, carried = drawn(intervals, bus, draw, random, block)
        yield occupancy(passage(again.between, again.service, carried), skipped)


def worked(times: NDArray[np.int64], waiting: NDArray[np.int64]) -> Times:
    """What of the time between two transfers in turn was not spent waiting (spells, as rows); nan after the last."""
    if not len(waiting):
        return np.append(np.diff(times).astype(np.float64), np.nan)
    begins, ends = waiting.T.astype(np.float64)
    waited = np.concatenate([[0.0], (ends - begins).cumsum()])
    edges = np.stack([begins, ends], axis=1).ravel()
    until = np.interp(times, edges, np.stack([waited[:-1], waited[1:]], axis=1).ravel(), left=0.0)
    return np.append(np.diff(times) - np.diff(until), np.nan)
