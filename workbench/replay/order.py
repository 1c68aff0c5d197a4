"""Causes by the order of messages: the n-th event is for the n-th that waits for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.replay.events import STAY, WORD, AllEvents, Events
from workbench.replay.points import FAR, SHORT, PointClass, edges_to, partners_of, words_for

Numbers = NDArray[np.int64]
#: Share of points that may have another cause than the order of messages.
_OTHERWISE = 0.1
#: Words that a channel may hold.
_CAPACITY = 8


def by_order(
    points: PointClass, times: Numbers, events: AllEvents, clock: int
) -> tuple[NDArray[np.void], NDArray[np.bool_]] | None:
    """Causes by the order of messages: of one partner the n-th for the n-th, of replicas in turn; and the same of the
    receiver's places in a channel. Which points they explain. Only where nearly all fit one lag, none is earlier, and
    as many events are there."""
    named, _, _, _ = partners_of(points, events)
    partners = sorted({n for found in named.values() for n in found})
    if not partners:
        return None
    groups: dict[str, list[int]] = {}
    for n in partners:
        groups.setdefault(events.run.manifest.blocks[n].group, []).append(n)
    best: tuple[tuple[int, int, int], NDArray[np.void], NDArray[np.bool_]] | None = None
    block_of = events.fpga.block[points.stretches]
    turn = np.empty(len(times), np.int64)  # of each point, how many of its block are before it
    for member in points.members:
        mine = np.flatnonzero(block_of == member)
        turn[mine] = np.arange(len(mine))
    place = np.searchsorted(points.members, block_of)
    for members in groups.values():
        keys = {key for n in members for key in events.changes(n, clock)}
        for key in sorted(keys):
            given = [events.changes(n, clock).get(key) for n in members]
            if any(one is None for one in given):
                continue
            for shift in range(_CAPACITY):
                matched = _matched(points, turn, place, [one for one in given if one], shift)
                if matched is None:
                    break
                rows, time, source = matched
                lags = np.full(len(times), FAR)
                lags[rows] = times[rows] - time
                fits = _one_lag(lags, points.binding, 1)
                if fits is None:
                    continue
                lag, right = fits
                rank = (int((points.binding & ~right).sum()), lag, shift)
                if best is None or rank < best[0]:
                    none = np.full(len(rows), -1, np.int64)
                    best = rank, edges_to(points.stretches[rows], STAY, source, none, lag), right
                break
    return best[1:] if best else None


def _matched(
    points: PointClass, turn: Numbers, place: Numbers, given: Sequence[Events], shift: int
) -> tuple[Numbers, Numbers, Numbers] | None:
    """Points and, for each, the time and source of the event that is so many before the one of its number. Points are
    the `turn`-th of the `place`-th member."""
    mine, others = len(points.members), len(given)
    if abs(sum(map(len, given)) - len(turn)) > max(shift, 1) * max(mine, others) + 1:
        return None
    if mine == 1 or others == 1:
        if others == 1:
            time, source = given[0].time, given[0].source
        else:  # in turn
            least = min(map(len, given))
            time = np.stack([one.time[:least] for one in given], axis=1).reshape(-1)
            source = np.stack([one.source[:least] for one in given], axis=1).reshape(-1)
        wanted = (place + mine * turn) - shift * mine * others
        rows = np.flatnonzero((wanted >= 0) & (wanted < len(time)))
        return rows, time[wanted[rows]], source[wanted[rows]]
    if mine != others:
        return None
    lengths = np.array([len(one) for one in given])
    wanted = turn - shift
    rows = np.flatnonzero((wanted >= 0) & (wanted < lengths[place]))
    at = (np.cumsum(lengths) - lengths)[place[rows]] + wanted[rows]
    time, source = (np.concatenate([getattr(one, name) for one in given]) for name in ("time", "source"))
    return rows, time[at], source[at]


def _one_lag(lags: Numbers, binding: NDArray[np.bool_], least: int) -> tuple[int, NDArray[np.bool_]] | None:
    """The least lag of the binding points, where it is at least so much, no other point is earlier, and nearly all
    binding points have it; and which points have it."""
    lag = int(lags[binding].min())
    right = lags == lag
    if not least <= lag < FAR or lags.min() < lag or (binding & ~right).sum() > binding.sum() * _OTHERWISE:
        return None
    return lag, right


def by_order_of_words(
    points: PointClass, times: Numbers, events: AllEvents, clock: int
) -> tuple[NDArray[np.void], NDArray[np.bool_]] | None:
    """The same of words of the host: the n-th point is for the n-th word, or for the last word of the n-th call."""
    named, from_host, messages, _ = partners_of(points, events)
    if not from_host or any(named.values()):
        return None
    own = np.empty(len(times), np.int64)
    own[np.argsort(times, kind="stable")] = np.arange(len(times))
    best: tuple[int, NDArray[np.void], NDArray[np.bool_]] | None = None
    for words in words_for(events, messages, clock):
        for given in (words, words.some(words.byte < 0)):
            for turns, count in ((own, len(times)), (points.turns, points.count)):
                if len(given) != count or count < 2:
                    continue
                fits = _one_lag(times - given.time[turns], points.binding, -1)
                if fits and fits[0] <= SHORT and (best is None or fits[0] < best[0]):
                    edges = edges_to(points.stretches, WORD, given.source[turns], given.byte[turns], fits[0])
                    best = fits[0], edges, fits[1]
    return best[1:] if best else None
