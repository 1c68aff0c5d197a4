"""Finds causes by the order of messages: the n-th event ends the n-th wait."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.model.run_tables import RowArray
from workbench.replay.events import STAY, WORD, AllEvents, Events, merged
from workbench.replay.points import FAR, SHORT, Partners, PointClass, edges_to, words_for

Numbers = NDArray[np.int64]
#: The share of points that may have a cause other than the order of messages.
_OTHERWISE = 0.1
#: Words that a channel may hold.
_CAPACITY = 8


@dataclass(frozen=True)
class Ordered:
    """Causes, and the mask of the points that they explain. With `in_turn`, several blocks share a partner in the order
    of the run."""

    edges: RowArray
    explained: NDArray[np.bool_]
    in_turn: bool = False


class _Matched(NamedTuple):
    """Points, the time at which all awaited events have happened, and these events: one row for each event of a
    point."""

    rows: Numbers
    time: Numbers
    sources: Numbers
    in_turn: bool = False


def by_order(
    points: PointClass, times: Numbers, events: AllEvents, clock: int, partners: Partners, longest: int
) -> Ordered | None:  # fmt: skip
    """Causes by the order of messages: n-th to n-th for one partner, in turn or all together for replicas, or in order
    of arrival for several blocks; also for free places in a receiver's channel. None unless nearly all points fit one
    lag, of `longest` cycles at most, none is earlier, and there are as many events."""
    blocks = events.run.manifest.blocks
    groups: dict[str, list[int]] = {}
    for n in sorted({n for others in partners.blocks.values() for n in others}):
        groups.setdefault(blocks[n].group, []).append(n)
    if points.group in groups and len(points.members) > 1:  # a replica that waits for the others must arrive too
        groups[points.group] = sorted({*groups[points.group], *points.members})
    best: tuple[tuple[int, ...], Ordered] | None = None
    for members in groups.values():
        keys = {key for n in members for key in events.changes(n, clock)}
        for key in sorted(keys):
            events_of_members = [events.changes(n, clock).get(key) for n in members]
            if any(one is None for one in events_of_members):
                continue
            for way, matched in _ways(points, events, [one for one in events_of_members if one]):
                lags = np.full(len(times), FAR)
                lags[matched.rows] = times[matched.rows] - matched.time
                fits = _one_lag(lags, points.binding, 1)
                if fits is None or fits[0] > longest:
                    continue
                lag, right = fits
                rank = (int((points.binding & ~right).sum()), lag, *way)
                if best is None or rank < best[0]:
                    to = np.tile(points.stretches[matched.rows], len(matched.sources))
                    sources = matched.sources.reshape(-1)
                    edges = edges_to(to, STAY, sources, np.full(len(to), -1, np.int64), lag)
                    best = rank, Ordered(edges, right, matched.in_turn)
    return best[1] if best else None


def _ways(
    points: PointClass, events: AllEvents, events_of_members: Sequence[Events]
) -> Iterator[tuple[tuple[int, int], _Matched]]:
    """The possible matches of events to points, each with its rank."""
    block_of = events.fpga.block[points.stretches]
    place = np.searchsorted(points.members, block_of)
    turn = np.empty(len(place), np.int64)  # for each point the number of earlier ones of its block
    for member in points.members:
        mine = np.flatnonzero(block_of == member)
        turn[mine] = np.arange(len(mine))
    turns = [(turn, len(turn))]
    if len(turn) != points.count:
        turns.append((points.own_turns, points.count))
    for number, (turn_of_point, count) in enumerate(turns):
        for shift in range(_CAPACITY):
            matched = _matched(points, turn_of_point, count, place, events_of_members, shift)
            if matched is None:
                break
            yield (2 * number, shift), matched
        if len(events_of_members) > 1:
            for shift in range(_CAPACITY):
                matched = _all_of(turn_of_point, count // len(points.members), events_of_members, shift)
                if matched is None:
                    break
                yield (2 * number + 1, shift), matched
    others, members = len(events_of_members), len(points.members)
    if (others == 1) != (members == 1) and abs(sum(map(len, events_of_members)) - points.count) <= max(others, members):
        every = merged(events_of_members)
        rows = np.flatnonzero(points.turns < len(every))
        at = points.turns[rows]
        yield (4, 0), _Matched(rows, every.time[at], every.source[at][None], True)


def _matched(
    points: PointClass, turn: Numbers, count: int, place: Numbers, events_of_members: Sequence[Events], shift: int
) -> _Matched | None:  # fmt: skip
    """The match of `count` points, each the `turn`-th of the `place`-th member, to the event that is `shift` before the
    one with its number; None if the counts differ."""
    mine, others = len(points.members), len(events_of_members)
    if abs(sum(map(len, events_of_members)) - count) > max(shift, 1) * max(mine, others) + 1:
        return None
    if mine == 1 or others == 1:
        if others == 1:
            time, source = events_of_members[0].time, events_of_members[0].source
        else:  # in turn
            least = min(map(len, events_of_members))
            time = np.stack([one.time[:least] for one in events_of_members], axis=1).reshape(-1)
            source = np.stack([one.source[:least] for one in events_of_members], axis=1).reshape(-1)
        event_of_point = (place + mine * turn) - shift * mine * others
        rows = np.flatnonzero((event_of_point >= 0) & (event_of_point < len(time)))
        return _Matched(rows, time[event_of_point[rows]], source[event_of_point[rows]][None])
    if mine != others:
        return None
    lengths = np.array([len(one) for one in events_of_members])
    event_of_point = turn - shift
    rows = np.flatnonzero((event_of_point >= 0) & (event_of_point < lengths[place]))
    at = (np.cumsum(lengths) - lengths)[place[rows]] + event_of_point[rows]
    time, source = (np.concatenate([getattr(one, name) for one in events_of_members]) for name in ("time", "source"))
    return _Matched(rows, time[at], source[at][None])


def _all_of(turn: Numbers, count: int, events_of_members: Sequence[Events], shift: int) -> _Matched | None:
    """The match for a barrier: each point waits for the event of its number from every member."""
    lengths = [len(events) for events in events_of_members]
    if max(abs(length - count) for length in lengths) > max(shift, 1):
        return None
    event_of_point = turn - shift
    rows = np.flatnonzero((event_of_point >= 0) & (event_of_point < min(lengths)))
    time = np.max([events.time[event_of_point[rows]] for events in events_of_members], axis=0)
    return _Matched(rows, time, np.stack([events.source[event_of_point[rows]] for events in events_of_members]))


def _one_lag(lags: Numbers, binding: NDArray[np.bool_], least: int) -> tuple[int, NDArray[np.bool_]] | None:
    """The least lag of the binding points, and the mask of points with it; None if it is below `least`, if another
    point has a smaller lag, or if it does not fit nearly all binding points."""
    lag = int(lags[binding].min())
    right = lags == lag
    if not least <= lag < FAR or lags.min() < lag or (binding & ~right).sum() > binding.sum() * _OTHERWISE:
        return None
    return lag, right


def by_order_of_words(
    points: PointClass, times: Numbers, events: AllEvents, clock: int, partners: Partners
) -> Ordered | None:
    """Causes by the order of the host's words: the n-th point is for the n-th word, or for the last word of the n-th
    call."""
    if not partners.host or partners.known:
        return None
    turn_in_time = np.empty(len(times), np.int64)
    turn_in_time[np.argsort(times, kind="stable")] = np.arange(len(times))
    best: tuple[int, Ordered] | None = None
    for words in words_for(events, partners.messages, clock):
        for host_words in (words, words.some(words.byte < 0)):
            for turns, count in ((turn_in_time, len(times)), (points.turns, points.count)):
                if len(host_words) != count or count < 2:
                    continue
                fits = _one_lag(times - host_words.time[turns], points.binding, -1)
                if fits and fits[0] <= SHORT and (best is None or fits[0] < best[0]):
                    edges = edges_to(points.stretches, WORD, host_words.source[turns], host_words.byte[turns], fits[0])
                    best = fits[0], Ordered(edges, fits[1])
    return best[1] if best else None
