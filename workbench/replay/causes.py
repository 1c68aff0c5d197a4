"""Finds which block each wait in a run is for. The order of messages and channel capacity give the causes; times give
only their lags."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block
from workbench.model.pragma import Category
from workbench.model.run_tables import RowArray
from workbench.replay.cones import States
from workbench.replay.events import STAY, WORD, AllEvents, Events, mark_questions, merged, merged_times
from workbench.replay.order import by_order, by_order_of_words
from workbench.replay.points import (
    EDGES,
    FAR,
    NEAR,
    SHORT,
    Partners,
    PointClass,
    classes,
    edges_to,
    readings_of,
    words_for,
)  # fmt: skip

Numbers = NDArray[np.int64]
#: A kind of event that may let points go on: numbers of blocks that wait, and the series of their partners' events.
Candidate = list[tuple[list[int], list[Events]]]


@dataclass
class Causes:
    """The causes of stretches (dtype EDGES): events, with the least number of cycles from the event to the stretch's
    begin.

    `lag_after` is the least number of cycles from the previous stretch's end to a stretch's begin. The stretches marked
    in `unknown` have no known cause, and keep their recorded wait. `reasons` names their blocks, `in_turn` the blocks
    that go on in the order of the run. `no_waits` are states that were `taken` for waits but have no event that ends
    them.
    """

    edges: RowArray
    lag_after: Numbers
    unknown: NDArray[np.bool_]
    reasons: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    in_turn: tuple[str, ...] = ()
    no_waits: States = frozenset()


def find_causes(events: AllEvents, taken: States = frozenset()) -> Causes:
    """The causes of waits, some of which are `taken` for waits without a pragma. Those of blocks that only pass data on
    end soon after an event, or in its cycle."""
    fpga, blocks = events.fpga, events.run.manifest.blocks
    mark_questions(events)
    count = len(fpga.first)
    lag_after, unknown = np.zeros(count, np.int64), np.zeros(count, bool)
    parts: list[RowArray] = []
    reasons, assumed, in_turn = [], [], []
    no_waits: set[tuple[int, int]] = set()
    for points in classes(fpga, blocks):
        lag_after[points.stretches] = points.least
        states_of_class = {(member, points.wait) for member in points.members}
        marked = not (states_of_class <= taken and events.passing.issuperset(points.members))
        why = _likeliest(points, events, marked)
        causes, explained = why.edges, why.explained
        if not explained.all() and len(points.members) > 1:  # each of them may have a lag of its own
            causes, explained = _explain_each(points, events, marked)
        if states_of_class <= taken and not (explained.all() and _ends(points, causes, blocks)):
            no_waits |= states_of_class
        parts += causes
        steady = _steady(points, explained, why.partners, events)
        if steady:
            assumed.append(steady)
        missing = points.stretches[points.binding & ~explained]
        unknown[missing] = not steady
        lag_after[missing] = points.waited[points.binding & ~explained]
        name = blocks[points.members[0]].states[points.wait].name
        if len(missing) and not steady:
            reasons.append(f"{points.group} leaves '{name}' {len(missing)} times without a known cause")
        if why.guessed:
            assumed.append(f"{points.group} never has to wait in '{name}', as its mark says it may")
        if why.in_turn:
            in_turn.append(f"waiters in '{name}' of {points.group} are served in the order of this run")
    _after_questions(np.flatnonzero(unknown), lag_after, events)
    edges = np.concatenate(parts) if parts else np.zeros(0, EDGES)
    return Causes(edges, lag_after, unknown, tuple(reasons), tuple(assumed), tuple(in_turn), frozenset(no_waits))


def _ends(points: PointClass, causes: Sequence[RowArray], blocks: Sequence[Block]) -> bool:
    """Whether these causes end a state that no pragma calls a wait: by an event shortly before its end, or, for a state
    without a pragma and of constant length, by an event within it and right before its end."""
    if points.wait or not any(map(len, causes)):  # for a block without marked waits
        return any(map(len, causes))
    lags, lasts = np.concatenate([edges["lag"] for edges in causes]), np.unique(points.waited)
    return bool(lags.max() <= (SHORT if len(lasts) > 1 else min(NEAR, int(lasts[0]) - 1)))


def _after_questions(missing: Numbers, lag_after: Numbers, events: AllEvents) -> None:
    """Give stretches without a cause their recorded distance from the last activity of their port. Answers to polls in
    between are computed again, so these keep their own distance from there."""
    fpga = events.fpga
    for stretch in missing.tolist():
        while (
            stretch and fpga.block[stretch] == fpga.block[stretch - 1] and events.of_questions[fpga.first[stretch - 1]]
        ):
            stretch -= 1
            lag_after[stretch] = max(lag_after[stretch], fpga.begin[stretch] - fpga.end[stretch - 1])


@dataclass(frozen=True)
class _Why:
    """The causes of a class of points, and the mask of the points that they explain. They are for `partners`; `guessed`
    if none of them binds in this run, `in_turn` if several blocks share one and go on in the order of the run."""

    edges: list[RowArray]
    explained: NDArray[np.bool_]
    partners: Partners
    guessed: bool = False
    in_turn: bool = False


def _likeliest(points: PointClass, events: AllEvents, marked: bool) -> _Why:
    """The causes by the reading of the pragmas that explains most points; on a tie, one with causes shortly before the
    points."""
    best: _Why | None = None
    best_score = 0, False
    for partners in readings_of(points, events):
        why = _explain(points, events, partners, marked)
        short = max((int(edges["lag"].max()) for edges in why.edges if len(edges)), default=0) <= SHORT
        if best is None or (int(why.explained.sum()), short) > best_score:
            best, best_score = why, (int(why.explained.sum()), short)
        if best.explained.all() and best_score[1]:
            break
    assert best is not None
    return best


def _explain(points: PointClass, events: AllEvents, partners: Partners, marked: bool) -> _Why:
    fpga, blocks = events.fpga, events.run.manifest.blocks
    explained = ~points.binding
    of_questions = events.of_questions[fpga.first[points.stretches]]
    explained |= of_questions  # an answering port has the times of the polls
    if of_questions.all():
        return _Why([], explained, partners)
    clock = fpga.clock[points.members[0]]
    times = fpga.begin[points.stretches]
    causes: list[RowArray] = []
    in_turn = False
    if points.binding.any():
        of_words = by_order_of_words(points, times, events, clock, partners)
        ordered = of_words or by_order(points, times, events, clock, partners, FAR if marked else SHORT)
        if ordered is not None:
            causes.append(ordered.edges)
            explained |= ordered.explained
            in_turn = ordered.in_turn
    for _ in range(3):
        if explained.all():
            break
        best = _by_time(points, times, explained, events, clock, partners, marked)
        if best is None:
            break
        edges, right = best
        causes.append(edges)
        explained |= right
    if not points.binding.any() and blocks[points.members[0]].states[points.wait].category is Category.WAIT_SEND:
        guess = _assumed(points, times, events, clock, partners)
        return _Why([guess] if guess is not None else [], explained, partners, guessed=guess is not None)
    return _Why(causes, explained, partners, in_turn=in_turn)


def _steady(points: PointClass, explained: NDArray[np.bool_], partners: Partners, events: AllEvents) -> str:
    """A sentence if all waits for a block that never waits have one length, since they may always have it; ""
    otherwise."""
    waited = points.waited[points.binding]
    if (
        explained.all() or partners.host or not partners.restless or len(waited) < 2 or waited.min() != waited.max()
    ):  # fmt: skip
        return ""
    name = events.run.manifest.blocks[points.members[0]].states[points.wait].name
    return f"{points.group} waits {waited[0]} cycles in '{name}' each time, for a block that is not said to wait"


def _explain_each(points: PointClass, events: AllEvents, marked: bool) -> tuple[list[RowArray], NDArray[np.bool_]]:
    """The causes of the points of each replica by itself."""
    edges, explained = [], np.zeros(len(points.stretches), bool)
    block_of = events.fpga.block[points.stretches]
    for member in points.members:
        rows = np.flatnonzero(block_of == member)
        of_member = replace(
            points, members=(member,), stretches=points.stretches[rows], waited=points.waited[rows],
            turns=points.turns[rows], own_turns=points.own_turns[rows],
        )  # fmt: skip
        why = _likeliest(of_member, events, marked)
        explained[rows] = why.explained
        edges += why.edges
    return edges, explained


def _by_time(
    points: PointClass,
    times: Numbers,
    explained: NDArray[np.bool_],
    events: AllEvents,
    clock: int,
    partners: Partners,
    marked: bool,
) -> tuple[RowArray, NDArray[np.bool_]] | None:
    """The edges of the kind of event that explains most of the unexplained points: the last event before each, with one
    lag; and the mask of these points."""
    block_of = events.fpga.block[points.stretches]
    best: tuple[tuple[int, int, int], Candidate, int, NDArray[np.bool_]] | None = None
    longest_lag = SHORT if partners.host or partners.known else NEAR
    for rank, candidate in enumerate(_candidates(points, events, clock, partners)):
        lags = np.full(len(times), np.iinfo(np.int64).max)
        shortest_lag = -1 if candidate[0][1][0].kind == WORD else int(marked)
        for members, series in candidate:
            is_of_members = np.isin(block_of, members)
            event_times = merged_times(series)
            at = np.searchsorted(event_times, times[is_of_members] - shortest_lag, side="right") - 1
            lags[is_of_members] = np.where(
                at >= 0, times[is_of_members] - event_times[np.maximum(at, 0)], lags[is_of_members]
            )
        open_ = lags[~explained]
        open_ = open_[open_ < FAR]
        if not len(open_):
            continue
        values, counts = np.unique(open_, return_counts=True)
        lag, count = int(values[counts.argmax()]), int(counts.max())
        if count == 1 and (lag > longest_lag or points.binding.sum() > 1):
            continue
        score = (count, -rank if lag <= SHORT else -rank - 1000, -lag)
        if best is None or score > best[0]:
            best = score, candidate, lag, ~explained & (lags == lag)
    if best is None:
        return None
    _, events_used, lag, right = best
    parts = []
    for members, series in events_used:
        rows = np.flatnonzero(np.isin(block_of, members))
        parts += _latest(points.stretches[rows], times[rows], merged(series), lag)
    return np.concatenate(parts), right


def _latest(stretches: Numbers, times: Numbers, given: Events, lag: int) -> list[RowArray]:
    """Edges from the last event that may have started each stretch, without events that an earlier stretch used."""
    at = np.searchsorted(given.time, times - lag, side="right") - 1
    fresh = at >= 0
    fresh[1:] &= np.diff(at) != 0
    return [edges_to(stretches[fresh], given.kind, given.source[at[fresh]], given.byte[at[fresh]], lag)]


def _candidates(points: PointClass, events: AllEvents, clock: int, partners: Partners) -> Iterator[Candidate]:
    """The kinds of events that may let points go on, the likeliest first."""
    blocks = events.run.manifest.blocks
    every = list(points.members)
    if partners.restless and not partners.host and not partners.known:
        return
    if partners.host or not partners.known:
        for words in words_for(events, partners.messages, clock):
            last = words.some(words.byte < 0)
            if len(last) < len(words):
                yield [(every, [last])]
            yield [(every, [words])]
    if partners.known:
        sets = {member: tuple(members) for member, members in partners.blocks.items()}
    else:
        other_blocks = tuple(n for n in events.waiting_blocks if blocks[n].group != points.group)
        sets = dict.fromkeys(points.members, other_blocks)
    keys = sorted(
        {(blocks[n].group, key) for members in sets.values() for n in members for key in events.changes(n, clock)}
    )
    for group, key in keys:
        candidate = []
        for members in dict.fromkeys(sets.values()):
            series = [
                events.changes(n, clock)[key]
                for n in members
                if blocks[n].group == group and key in events.changes(n, clock)
            ]
            if series:
                candidate.append(([m for m in points.members if sets[m] == members], series))
        if candidate:
            yield candidate


def _assumed(points: PointClass, times: Numbers, events: AllEvents, clock: int, to: Partners) -> RowArray | None:
    """Edges for a sender that never had to wait: it hands over once its receiver, whose wait names it, begins to
    wait."""
    blocks = events.run.manifest.blocks
    partners = sorted({n for others in to.blocks.values() for n in others})
    if len(partners) != 1 or len(points.members) != 1:
        return None
    receiver = blocks[partners[0]]
    waits = {s.index for s in receiver.states if s.category is Category.WAIT_RECV and set(s.messages) & to.messages}
    wait_begins = [e for (how, _, into), e in events.changes(partners[0], clock).items() if how == 0 and into in waits]
    if not wait_begins:
        return None
    receiver_waits = merged(wait_begins)
    for shift in (0, 1):
        event_of_point = np.arange(len(times)) - shift
        rows = np.flatnonzero((event_of_point >= 0) & (event_of_point < len(receiver_waits)))
        if len(rows) and (times[rows] - receiver_waits.time[event_of_point[rows]] >= 1).all():
            return edges_to(
                points.stretches[rows],
                STAY,
                receiver_waits.source[event_of_point[rows]],
                receiver_waits.byte[event_of_point[rows]],
                1,
            )
    return None
