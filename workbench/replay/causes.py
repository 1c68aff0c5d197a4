"""Who waits for whom in a run: messages, their order and capacity give the causes of waits, times only their lags.

A point is where a block of the FPGA goes on after a wait, or passes where it waits at other times. Points alike (block
or replicas, wait, what follows) have causes alike: the marks of the wait and of what follows name whom it is for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block, Side
from workbench.model.pragma import CPU, Category
from workbench.model.targets import resolve_target
from workbench.replay.events import STAY, WORD, AllEvents, Events, mark_questions, merged
from workbench.replay.fpga import FpgaPart, wait_states

Numbers = NDArray[np.int64]
EDGES = np.dtype([("stretch", "<i8"), ("kind", "u1"), ("source", "<i8"), ("byte", "<i8"), ("lag", "<i8")])
#: The longest lag, in cycles, that one event alone may show.
SHORT = 64
#: Words that a channel may hold.
_CAPACITY = 8


@dataclass(frozen=True)
class PointClass:
    """Points alike: the numbers of their stretches, `waited` cycles each, of which `least` always pass."""

    group: str
    members: tuple[int, ...]
    wait: int
    state: int
    stretches: Numbers
    waited: Numbers
    least: int

    @property
    def binding(self) -> NDArray[np.bool_]:
        return self.waited > self.least


@dataclass
class Causes:
    """Causes of stretches (dtype EDGES): events and how many cycles later a stretch begins at the earliest.

    `lag_after` is how long after the end of the one before it a stretch begins at the earliest. Of the stretches
    `unknown` no cause is known: that long they waited. `reasons` say of which blocks these are.
    """

    edges: NDArray[np.void]
    lag_after: Numbers
    unknown: NDArray[np.bool_]
    reasons: tuple[str, ...] = ()
    assumed: tuple[str, ...] = field(default=())


def find_causes(events: AllEvents) -> Causes:
    fpga, blocks = events.fpga, events.run.manifest.blocks
    mark_questions(events)
    count = len(fpga.first)
    lag_after, unknown = np.zeros(count, np.int64), np.zeros(count, bool)
    parts: list[NDArray[np.void]] = []
    reasons, assumed = [], []
    for points in _classes(fpga, blocks):
        lag_after[points.stretches] = points.least
        found, explained, guessed = _explain(points, events)
        if not explained.all() and len(points.members) > 1:  # each of them may have a lag of its own
            found, explained = _explain_each(points, events)
        parts += found
        steady = _steady(points, explained, events)
        if steady:
            assumed.append(steady)
        missing = points.stretches[points.binding & ~explained]
        unknown[missing] = not steady
        lag_after[missing] = points.waited[points.binding & ~explained]
        name = blocks[points.members[0]].states[points.wait].name
        if len(missing) and not steady:
            reasons.append(f"{points.group} leaves '{name}' {len(missing)} times for no known cause")
        if guessed:
            assumed.append(f"{points.group} never has to wait in '{name}', as its mark says it may")
    edges = np.concatenate(parts) if parts else np.zeros(0, EDGES)
    return Causes(edges, lag_after, unknown, tuple(reasons), tuple(assumed))


def _classes(fpga: FpgaPart, blocks: Sequence[Block]) -> Iterator[PointClass]:
    """Points of all blocks, by (group, wait before, state, state after)."""
    first = fpga.first
    if not len(first):
        return
    state, block = fpga.stay_state.astype(np.int64), fpga.stay_block
    begun = np.append(True, block[first][1:] != block[first][:-1])  # a block's first stretch is no point
    before = state[np.maximum(first - 1, 0)]
    following = np.minimum(first + 1, len(state) - 1)
    after = np.where(block[following] == block[first], state[following], -1)
    waited = fpga.begin - np.append(0, fpga.end[:-1])
    groups: dict[str, list[int]] = {}
    for number in fpga.blocks:
        groups.setdefault(blocks[number].group, []).append(number)
    for group, members in groups.items():
        mine = np.flatnonzero(np.isin(block[first], members) & ~begun)
        waits = wait_states(blocks[members[0]])
        from_wait = waits[before[mine]]
        wait = np.where(from_wait, before[mine], -1)
        for entered in np.unique(state[first[mine]]).tolist():
            here = state[first[mine]] == entered
            known = wait[here & from_wait]
            usual = int(np.bincount(known).argmax()) if len(known) else -1
            wait[here & ~from_wait] = usual
        width = len(waits) + 2
        key = ((wait + 1) * width + state[first[mine]]) * width + after[mine] + 1
        for one in np.unique(key).tolist():
            rows = mine[key == one]
            which = one // width // width - 1
            if which < 0:
                continue
            always = bool((waits[before[rows]]).all())
            yield PointClass(group, tuple(members), which, one // width % width, rows, waited[rows], 1 if always else 0)


def _explain(points: PointClass, events: AllEvents) -> tuple[list[NDArray[np.void]], NDArray[np.bool_], bool]:
    """The causes of points alike, which of them these explain, and whether they are assumed."""
    fpga, blocks = events.fpga, events.run.manifest.blocks
    explained = ~points.binding
    of_questions = events.of_questions[fpga.first[points.stretches]]
    explained |= of_questions  # a port that answers: its times are those of the questions
    if of_questions.all():
        return [], explained, False
    clock = fpga.clock[points.members[0]]
    times = fpga.begin[points.stretches]
    found: list[NDArray[np.void]] = []
    if points.binding.any():
        ordered = _by_order(points, times, events, clock)
        if ordered is not None:
            return [ordered], np.ones_like(explained), False
    for _ in range(3):
        if explained.all():
            break
        best = _by_time(points, times, explained, events, clock)
        if best is None:
            break
        edges, right = best
        found.append(edges)
        explained |= right
    if not points.binding.any() and blocks[points.members[0]].states[points.wait].category is Category.WAIT_SEND:
        guess = _assumed(points, times, events, clock)
        return ([guess] if guess is not None else []), explained, guess is not None
    return found, explained, False


def _steady(points: PointClass, explained: NDArray[np.bool_], events: AllEvents) -> str:
    """That waits for a block which never waits itself last equally long, where they do: they may always."""
    waited = points.waited[points.binding]
    _, from_host, _, restless = _partners(points, events)
    if explained.all() or from_host or not restless or len(waited) < 2 or waited.min() != waited.max():
        return ""
    name = events.run.manifest.blocks[points.members[0]].states[points.wait].name
    return f"{points.group} waits {waited[0]} cycles in '{name}' each time, for a block that is not said to wait"


def _explain_each(points: PointClass, events: AllEvents) -> tuple[list[NDArray[np.void]], NDArray[np.bool_]]:
    """The same, of each replica by itself."""
    edges, explained = [], np.zeros(len(points.stretches), bool)
    of = events.fpga.block[points.stretches]
    for member in points.members:
        rows = np.flatnonzero(of == member)
        one = replace(points, members=(member,), stretches=points.stretches[rows], waited=points.waited[rows])
        found, explained[rows], _ = _explain(one, events)
        edges += found
    return edges, explained


def _partners(points: PointClass, events: AllEvents) -> tuple[dict[int, list[int]], bool, frozenset[str], bool]:
    """Of each member the blocks that its marks name there, whether they name the host, the messages, and whether they
    name a block that never waits: what such a one does, and when, has no cause that is known."""
    blocks = events.run.manifest.blocks
    named: dict[int, list[int]] = {}
    host = restless = False
    numbers = {b.id: n for n, b in enumerate(blocks)}
    messages: set[str] = set()
    for member in points.members:
        block = blocks[member]
        found: dict[int, None] = {}
        for state in (block.states[points.wait], block.states[points.state]):
            for target in state.targets:
                host |= target == CPU
                for other in resolve_target(target, blocks, block):
                    if other.side is Side.FPGA:
                        found[numbers[other.id]] = None
            messages |= set(state.messages)
        named[member] = [n for n in found if n in events.waiting_blocks and n != member]
        restless |= any(n in events.fpga.blocks and n not in events.waiting_blocks for n in found)
    return named, host, frozenset(messages), restless


def _edges(points: Numbers, kind: int, source: Numbers, byte: Numbers, lag: int) -> NDArray[np.void]:
    edges = np.zeros(len(points), EDGES)
    edges["stretch"], edges["kind"], edges["source"], edges["byte"] = points, kind, source, byte
    edges["lag"] = lag
    return edges


def _by_order(points: PointClass, times: Numbers, events: AllEvents, clock: int) -> NDArray[np.void] | None:
    """Causes by the order of messages: of one partner the n-th for the n-th, of replicas in turn; and the same of the
    receiver's places in a channel. Only where all points fit one lag, and as many events are there."""
    named, _, _, _ = _partners(points, events)
    partners = sorted({n for found in named.values() for n in found})
    if not partners:
        return None
    groups: dict[str, list[int]] = {}
    for n in partners:
        groups.setdefault(events.run.manifest.blocks[n].group, []).append(n)
    best: tuple[tuple[int, int], NDArray[np.void]] | None = None
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
                lag = _one_lag(times[rows], time, points.binding[rows])
                others = points.binding.copy()
                others[rows] = False
                if lag is None or others.any():
                    continue
                rank = (lag, shift)
                if best is None or rank < best[0]:
                    none = np.full(len(rows), -1, np.int64)
                    best = rank, _edges(points.stretches[rows], STAY, source, none, lag)
                break
    return best[1] if best else None


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


def _one_lag(times: Numbers, events: Numbers, binding: NDArray[np.bool_]) -> int | None:
    """The lag of all binding points, where it is one, is a cycle at least, and no other point was earlier."""
    lags = times - events
    bound = lags[binding]
    if not len(bound) or bound.min() != bound.max() or bound[0] < 1:
        return None
    return int(bound[0]) if lags.min() >= bound[0] else None


def _by_time(
    points: PointClass, times: Numbers, explained: NDArray[np.bool_], events: AllEvents, clock: int
) -> tuple[NDArray[np.void], NDArray[np.bool_]] | None:
    """The kind of event that explains most of the points not yet explained: the last one before each, by one lag."""
    block_of = events.fpga.block[points.stretches]
    best: tuple[tuple[int, int, int], list[tuple[list[int], Events]], int, NDArray[np.bool_]] | None = None
    for rank, candidate in enumerate(_candidates(points, events, clock)):
        lags = np.full(len(times), np.iinfo(np.int64).max)
        least = -1 if candidate[0][1].kind == WORD else 1
        for members, given in candidate:
            mine = np.isin(block_of, members)
            at = np.searchsorted(given.time, times[mine] - least, side="right") - 1
            lags[mine] = np.where(at >= 0, times[mine] - given.time[np.maximum(at, 0)], lags[mine])
        open_ = lags[~explained]
        open_ = open_[open_ < 1 << 40]
        if not len(open_):
            continue
        values, counts = np.unique(open_, return_counts=True)
        lag, count = int(values[counts.argmax()]), int(counts.max())
        if count == 1 and (lag > SHORT or points.binding.sum() > 1):
            continue
        score = (count, -rank if lag <= SHORT else -rank - 1000, -lag)
        if best is None or score > best[0]:
            best = score, candidate, lag, ~explained & (lags == lag)
    if best is None:
        return None
    _, chosen, lag, right = best
    parts = []
    for members, given in chosen:
        rows = np.flatnonzero(np.isin(block_of, members))
        parts += _latest(points.stretches[rows], times[rows], given, lag)
    return np.concatenate(parts), right


def _latest(stretches: Numbers, times: Numbers, given: Events, lag: int) -> list[NDArray[np.void]]:
    """The last event that may have let each stretch begin; none that a stretch before it has already used."""
    at = np.searchsorted(given.time, times - lag, side="right") - 1
    fresh = at >= 0
    fresh[1:] &= at[1:] != at[:-1]
    return [_edges(stretches[fresh], given.kind, given.source[at[fresh]], given.byte[at[fresh]], lag)]


def _candidates(points: PointClass, events: AllEvents, clock: int) -> Iterator[list[tuple[list[int], Events]]]:
    """Kinds of events that may let points go on, the likeliest first: each as events for some of the members."""
    named, from_host, messages, restless = _partners(points, events)
    blocks, sites = events.run.manifest.blocks, events.sites
    every = list(points.members)
    if restless and not from_host and not any(named.values()):
        return
    if from_host or not any(named.values()):
        labels = {site: _messages_at(events, site) for site in sites}
        matching = [site for site in sites if messages & labels[site]]
        for chosen in ([matching] if matching else []) + [[site] for site in sites] + [list(sites)]:
            words = merged([events.words(site, clock) for site in chosen]) if chosen else None
            if words is None or not len(words):
                continue
            last = words.some(words.byte < 0)
            if len(last) < len(words):
                yield [(every, last)]
            yield [(every, words)]
    if any(named.values()):
        sets = {member: tuple(found) for member, found in named.items()}
    else:
        others = tuple(n for n in events.waiting_blocks if blocks[n].group != points.group)
        sets = dict.fromkeys(points.members, others)
    keys = sorted(
        {(blocks[n].group, key) for found in sets.values() for n in found for key in events.changes(n, clock)}
    )
    for group, key in keys:
        candidate = []
        for found in dict.fromkeys(sets.values()):
            given = [
                events.changes(n, clock)[key]
                for n in found
                if blocks[n].group == group and key in events.changes(n, clock)
            ]
            if given:
                candidate.append(([m for m in points.members if sets[m] == found], merged(given)))
        if candidate:
            yield candidate


def _messages_at(events: AllEvents, site: int) -> frozenset[str]:
    ops = events.host.ops
    states = np.unique(ops["state"][ops["site"] == site]).tolist()
    block = events.run.manifest.blocks[events.run.manifest.sites[site].block]
    return frozenset(m for state in states for m in block.states[state].messages)


def _assumed(points: PointClass, times: Numbers, events: AllEvents, clock: int) -> NDArray[np.void] | None:
    """Of a sender that never had to wait: it hands over once its receiver, whose wait names it, begins to wait."""
    named, _, messages, _ = _partners(points, events)
    blocks = events.run.manifest.blocks
    partners = sorted({n for found in named.values() for n in found})
    if len(partners) != 1 or len(points.members) != 1:
        return None
    receiver = blocks[partners[0]]
    waits = {s.index for s in receiver.states if s.category is Category.WAIT_RECV and set(s.messages) & messages}
    given = [e for (how, _, to), e in events.changes(partners[0], clock).items() if how == 0 and to in waits]
    if not given:
        return None
    ready = merged(given)
    for shift in (0, 1):
        wanted = np.arange(len(times)) - shift
        rows = np.flatnonzero((wanted >= 0) & (wanted < len(ready)))
        if len(rows) and (times[rows] - ready.time[wanted[rows]] >= 1).all():
            return _edges(points.stretches[rows], STAY, ready.source[wanted[rows]], ready.byte[wanted[rows]], 1)
    return None
