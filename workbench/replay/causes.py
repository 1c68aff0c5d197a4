"""Who waits for whom in a run: messages, their order and capacity give the causes of waits, times only their lags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from workbench.model.pragma import Category
from workbench.replay.events import STAY, WORD, AllEvents, Events, mark_questions, merged
from workbench.replay.order import by_order, by_order_of_words
from workbench.replay.points import EDGES, FAR, NEAR, SHORT, PointClass, classes, edges_to, partners_of, words_for

Numbers = NDArray[np.int64]


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
    for points in classes(fpga, blocks):
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
    _after_questions(np.flatnonzero(unknown), lag_after, events)
    edges = np.concatenate(parts) if parts else np.zeros(0, EDGES)
    return Causes(edges, lag_after, unknown, tuple(reasons), tuple(assumed))


def _after_questions(missing: Numbers, lag_after: Numbers, events: AllEvents) -> None:
    """What has no cause comes as long after what its port did last: answers to questions in between, whose times are
    made anew, keep theirs from there on."""
    fpga = events.fpga
    for stretch in missing.tolist():
        while (
            stretch and fpga.block[stretch] == fpga.block[stretch - 1] and events.of_questions[fpga.first[stretch - 1]]
        ):
            stretch -= 1
            lag_after[stretch] = max(lag_after[stretch], fpga.begin[stretch] - fpga.end[stretch - 1])


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
        ordered = by_order_of_words(points, times, events, clock) or by_order(points, times, events, clock)
        if ordered is not None:
            found.append(ordered[0])
            explained |= ordered[1]
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
    _, from_host, _, restless = partners_of(points, events)
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
        one = replace(
            points, members=(member,), stretches=points.stretches[rows], waited=points.waited[rows],
            turns=points.turns[rows],
        )  # fmt: skip
        found, explained[rows], _ = _explain(one, events)
        edges += found
    return edges, explained


def _by_time(
    points: PointClass, times: Numbers, explained: NDArray[np.bool_], events: AllEvents, clock: int
) -> tuple[NDArray[np.void], NDArray[np.bool_]] | None:
    """The kind of event that explains most of the points not yet explained: the last one before each, by one lag."""
    block_of = events.fpga.block[points.stretches]
    best: tuple[tuple[int, int, int], list[tuple[list[int], Events]], int, NDArray[np.bool_]] | None = None
    named, from_host, _, _ = partners_of(points, events)
    most = SHORT if from_host or any(named.values()) else NEAR
    for rank, candidate in enumerate(_candidates(points, events, clock)):
        lags = np.full(len(times), np.iinfo(np.int64).max)
        least = -1 if candidate[0][1].kind == WORD else 1
        for members, given in candidate:
            mine = np.isin(block_of, members)
            at = np.searchsorted(given.time, times[mine] - least, side="right") - 1
            lags[mine] = np.where(at >= 0, times[mine] - given.time[np.maximum(at, 0)], lags[mine])
        open_ = lags[~explained]
        open_ = open_[open_ < FAR]
        if not len(open_):
            continue
        values, counts = np.unique(open_, return_counts=True)
        lag, count = int(values[counts.argmax()]), int(counts.max())
        if count == 1 and (lag > most or points.binding.sum() > 1):
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
    return [edges_to(stretches[fresh], given.kind, given.source[at[fresh]], given.byte[at[fresh]], lag)]


def _candidates(points: PointClass, events: AllEvents, clock: int) -> Iterator[list[tuple[list[int], Events]]]:
    """Kinds of events that may let points go on, the likeliest first: each as events for some of the members."""
    named, from_host, messages, restless = partners_of(points, events)
    blocks = events.run.manifest.blocks
    every = list(points.members)
    if restless and not from_host and not any(named.values()):
        return
    if from_host or not any(named.values()):
        for words in words_for(events, messages, clock):
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


def _assumed(points: PointClass, times: Numbers, events: AllEvents, clock: int) -> NDArray[np.void] | None:
    """Of a sender that never had to wait: it hands over once its receiver, whose wait names it, begins to wait."""
    named, _, messages, _ = partners_of(points, events)
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
            return edges_to(points.stretches[rows], STAY, ready.source[wanted[rows]], ready.byte[wanted[rows]], 1)
    return None
