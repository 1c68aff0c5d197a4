"""Finds the FPGA events that end the host's waits: those of each row of polls and of each wait for an interrupt."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Side
from workbench.model.platform import CallKind
from workbench.model.pragma import WAITS, Category
from workbench.model.targets import resolve_target
from workbench.replay.causes import Causes
from workbench.replay.events import STAY, WORD, AllEvents, Events
from workbench.replay.host import ASK, ASYNC, IRQ, MOVE, OTHER, cycles_at
from workbench.replay.points import SHORT

Numbers = NDArray[np.int64]
_WORKS = (Category.WORK, Category.OVERHEAD)


@dataclass(frozen=True)
class AwaitedEvents:
    """The events that an operation waits for, all of which must be over, and the cycles until it sees that (`lag`).

    `kind` is the events' kind; for a word, `byte` is the end of the word in its call. `latest` is the largest lag that
    the run allows. If `opaque`, the lag is all that is known of the FPGA's time from a word to the answer.
    """

    kind: int
    sources: tuple[int, ...]
    byte: int
    lag: int
    latest: int
    opaque: bool = False


def find_answers(
    events: AllEvents, causes: Causes, explained: Numbers | None = None
) -> tuple[dict[int, AwaitedEvents], tuple[str, ...]]:
    """The awaited events by number of the operation, and a text for each wait without any. `explained` are rows of
    table `calls` whose cause is known from elsewhere."""
    ops = events.host.ops
    waiting = np.flatnonzero(np.isin(ops["kind"], (ASK, IRQ)))
    answers: dict[int, AwaitedEvents] = {}
    missing = []
    begun = np.full(len(events.fpga.first), -1, np.int64)  # for each stretch the call whose word started it
    of_words = causes.edges[causes.edges["kind"] == WORD]
    begun[of_words["stretch"]] = of_words["source"]
    kinds = np.stack([
        ops["site"][waiting], np.where(ops["kind"][waiting] == IRQ, -1, ops["address"][waiting]), events.cards[waiting],
    ])  # fmt: skip
    for site, address, card in np.unique(kinds, axis=1).T.tolist():
        rows = waiting[(kinds[0] == site) & (kinds[1] == address) & (kinds[2] == card)]
        polled_addresses = np.unique(kinds[1, (kinds[0] == site) & (kinds[2] == card)])
        clock, failed, seen_cycles = seen_by(events, rows)
        events_of_block = _of_blocks(events, begun, rows, clock, failed, seen_cycles, polled_addresses) or _of_words(
            events, rows, clock, failed, seen_cycles
        )
        answers |= events_of_block
        place = events.run.manifest.sites[site]
        without = rows[~np.isin(rows, list(events_of_block))]
        if explained is not None:
            without = without[~np.isin(_last_rows(events, without), explained)]
        if lost := len(without):
            missing.append(f"{lost} waits at {place.file}:{place.line} end without a known cause")
    return answers, tuple(missing)


def begun_earlier(events: AllEvents, answers: dict[int, AwaitedEvents], back: int) -> dict[int, AwaitedEvents]:
    """The same answers read otherwise: opaque work begins with the first word after the answer `back` answers before,
    instead of the last word, as if the FPGA worked while words still arrive, or on several batches. Empty if this
    reading is the same, or contradicts the run."""
    ops = events.host.ops
    awaited: dict[int, AwaitedEvents] = {}
    opaque = np.array(sorted(number for number, answer in answers.items() if answer.opaque), np.int64)
    clocks = np.array([_clock_of(events, number) for number in opaque.tolist()], np.int64)
    of_threads = np.stack([ops["thread"][opaque], events.cards[opaque], clocks])
    for thread, card, clock in np.unique(of_threads, axis=1).T.tolist():
        rows = opaque[(ops["thread"][opaque] == thread) & (events.cards[opaque] == card) & (clocks == clock)]
        _, failed, seen_cycles = seen_by(events, rows)
        sent = [events.words(site, clock, card) for site in _sends(events)]
        if not sent:
            continue
        time, source, byte = (
            np.concatenate([getattr(events_of_site, name) for events_of_site in sent])
            for name in ("time", "source", "byte")
        )
        order = np.argsort(time, kind="stable")
        time, source, byte = time[order], source[order], byte[order]
        first = np.searchsorted(time, np.append(np.full(back, -1), seen_cycles)[: len(seen_cycles)], side="right")
        for row, at, before, high in zip(
            rows.tolist(), first.tolist(), failed.tolist(), seen_cycles.tolist(), strict=True
        ):
            earlier = answers[row]
            if at == len(time) or source[at] >= row or time[at] > high:
                continue
            latest = high - int(time[at])
            lag = max(before - int(time[at]) + 1, 0) if before >= 0 else latest
            if (int(source[at]), int(byte[at])) != (earlier.sources[0], earlier.byte) and lag <= latest:
                awaited[row] = AwaitedEvents(WORD, (int(source[at]),), int(byte[at]), lag, latest, True)
    return {**answers, **awaited} if awaited else {}


def _clock_of(events: AllEvents, number: int) -> int:
    op = events.host.ops[number]
    return events.host.clock_of_table[int(op["table"])] if op["kind"] == ASK else events.host.clock_of_interrupt


def _last_rows(events: AllEvents, ops: Numbers) -> Numbers:
    """The row in table `calls` of each operation's last call."""
    host, block = events.host.ops[ops], np.asarray(events.run.tables["calls"]["block"])
    last = np.zeros(len(ops), np.int64)
    for thread in np.unique(host["thread"]).tolist():
        is_of_thread, of_thread = host["thread"] == thread, np.flatnonzero(block == thread)
        last[is_of_thread] = of_thread[
            np.searchsorted(of_thread, host["row"][is_of_thread]) + host["rows"][is_of_thread] - 1
        ]
    return last


def seen_by(events: AllEvents, rows: Numbers) -> tuple[int, Numbers, Numbers]:
    """The port's clock, the cycle of each operation's last failed poll (-1: unknown), and the cycle in which it saw the
    answer."""
    ops = events.host.ops[rows]
    if ops["kind"][0] == ASK:
        return events.host.clock_of_table[ops["table"][0]], ops["failed"].copy(), ops["seen"].copy()
    clock = events.host.clock_of_interrupt
    period = events.periods_ps[clock]
    asked_ps, ended_ps = ops["begin_ps"] + ops["before_ps"], ops["end_ps"] - ops["after_ps"]
    seen_cycles = cycles_at(ended_ps, period)
    return clock, np.where(ended_ps > asked_ps, seen_cycles - 1, -1), seen_cycles


def _of_blocks(
    events: AllEvents, begun: Numbers, rows: Numbers, clock: int, failed: Numbers, seen: Numbers, asked: Numbers
) -> dict[int, AwaitedEvents]:
    """Answers by a state change of a block that the pragma names or, if none fits, of another that waits. Of several
    replicas it is the one started at the polled address, or the one with the same position among the replicas as the
    address has among all polled addresses (`asked`); if one address is for all replicas, all of them."""
    blocks = events.run.manifest.blocks
    ops = events.host.ops
    host = blocks[events.run.manifest.sites[int(ops["site"][rows[0]])].block]
    numbers = {b.id: n for n, b in enumerate(blocks)}
    state = host.states[int(ops["state"][rows[0]])]
    numbers_of = {
        numbers[b.id]: None for t in state.targets for b in resolve_target(t, blocks, host) if b.side is Side.FPGA
    }
    card = int(events.cards[rows[0]])
    near = [n for n in events.waiting_blocks if events.card_of(n) in (-1, card)]
    named = [n for n in near if n in numbers_of]
    waiting = [n for n in near if any(s.category in WAITS for s in blocks[n].states)]
    for candidates in (named, waiting):
        if answers := _likeliest_change(events, begun, rows, clock, failed, seen, asked, candidates):
            return answers
    return {}


def _likeliest_change(
    events: AllEvents, begun: Numbers, rows: Numbers, clock: int, failed: Numbers, seen: Numbers, asked: Numbers,
    candidates: Sequence[int],
) -> dict[int, AwaitedEvents]:  # fmt: skip
    """Answers by the state change of these blocks that fits best; empty if none fits."""
    ops, blocks = events.host.ops, events.run.manifest.blocks
    best: tuple[tuple[int, ...], list[AwaitedEvents]] | None = None
    for members, key in _groups_of(events, candidates, clock):
        events_of_members = [events.changes(n, clock)[key] for n in members]
        here = _begun_there(events, begun, events_of_members, ops["address"][rows[0]], asked)
        rank = int(key[0] == 0 and blocks[members[0]].states[key[1]].category in _WORKS)
        sets = [([one], is_here) for one, is_here in zip(events_of_members, here, strict=True)]
        for events_used, is_here in [*sets, *([(events_of_members, False)] if len(events_of_members) > 1 else [])]:
            fitted = _fit(events_used, failed, seen)
            if fitted is None:
                continue
            sources, lag, latest, total = fitted
            once = all(len(one) == len(rows) for one in events_used)
            every = len(events_used) > 1 and len(asked) == 1
            score = (int(is_here), rank, int(once), int(every), total, int(len(events_used) == 1), -lag)
            if best is None or score > best[0]:
                answers = [
                    AwaitedEvents(STAY, tuple(int(s[i]) for s in sources), -1, lag, latest) for i in range(len(rows))
                ]
                best = score, answers
    return dict(zip(rows.tolist(), best[1], strict=True)) if best else {}


def _groups_of(events: AllEvents, named: Sequence[int], clock: int) -> Iterator[tuple[list[int], tuple[int, int, int]]]:
    blocks = events.run.manifest.blocks
    for group in dict.fromkeys(blocks[n].group for n in named):
        members = [n for n in named if blocks[n].group == group]
        keys = set.intersection(*(set(events.changes(n, clock)) for n in members))
        for key in sorted(keys):
            if key[0] == 0:
                yield members, key


def _fit(chosen: Sequence[Events], failed: Numbers, seen: Numbers) -> tuple[list[Numbers], int, int, int] | None:
    """Match events to answers: the last event before each answer, or the n-th event to the n-th answer if there are as
    many. Returns the sources, the smallest common lag after which no failed poll came, the largest lag and the sum of
    times; None if an event would answer twice or no lag fits."""
    sources, times = [], np.full(len(seen), -1)
    for events in chosen:
        at = np.searchsorted(events.time, seen, side="right") - 1
        if len(events) == len(seen) and (events.time <= seen).all():
            at = np.arange(len(seen))
        if (at < 0).any() or (np.diff(at) == 0).any():
            return None
        sources.append(events.source[at])
        times = np.maximum(times, events.time[at])
    lag = max(0, int((failed - times + 1)[failed >= 0].max(initial=0)))
    latest = int((seen - times).min())
    return (sources, lag, latest, int(times.sum())) if lag <= min(latest, SHORT) else None


def _begun_there(
    events: AllEvents, begun: Numbers, given: Sequence[Events], address: int, asked: Numbers
) -> list[bool]:
    """For each replica whether the polled address is its own: words at that address started it, or there are as many
    addresses as replicas and both have the same order (by start address, else by number)."""
    ops = events.host.ops
    firsts = []
    for events_of_member in given:
        began = begun[events.fpga.stretch_of[np.maximum(events_of_member.source - 1, 0)]]
        places = np.unique(ops["address"][began[began >= 0]]) if (began >= 0).all() else began[:0]
        firsts.append(int(places[0]) if len(places) == 1 else -1)
    if address in firsts:
        return [first == address for first in firsts]
    if len(given) != len(asked) or len(given) == 1:
        return [False] * len(given)
    all_differ = -1 not in firsts and len(set(firsts)) == len(firsts)
    order = sorted(range(len(given)), key=lambda n: firsts[n]) if all_differ else range(len(given))
    place = int(np.searchsorted(asked, address))
    return [number == order[place] for number in range(len(given))]


def _of_words(events: AllEvents, rows: Numbers, clock: int, failed: Numbers, seen: Numbers) -> dict[int, AwaitedEvents]:
    """Answers by the last word of an earlier call and the FPGA's time from there, the same for all answers if one
    fits."""
    ops = events.host.ops
    best: tuple[tuple[int, ...], dict[int, AwaitedEvents]] | None = None
    card = int(events.cards[rows[0]])
    sent = (words.some(words.byte < 0) for words in (events.words(site, clock, card) for site in _sends(events)))
    for words in (*sent, *_starts(events, rows, clock)):
        at = np.searchsorted(words.source, rows) - 1
        if not len(words) or (at < 0).any():
            continue
        time, source = words.time[at], words.source[at]
        low = np.where(failed >= 0, failed - time + 1, 0)
        high = seen - time
        if (high < 0).any():
            continue
        lag, latest = int(low.max()), int(high.min())
        fits = lag <= latest
        usual = lag if fits else int(np.median(low[failed >= 0])) if (failed >= 0).any() else 0
        lags = np.where(low > usual, low, np.minimum(usual, high))
        spread = int(high.max() - low[failed >= 0].min()) if (failed >= 0).any() else 0
        score = (int(fits), -spread, int(ops["bytes"][source[0]] <= 8), int(source[0]))
        if best is None or score > best[0]:
            best = (
                score,
                {
                    int(row): AwaitedEvents(WORD, (int(s),), -1, int(one), latest if fits else int(most), True)
                    for row, s, one, most in zip(rows, source, lags, high, strict=True)
                },
            )
    return best[1] if best else {}


def _starts(events: AllEvents, rows: Numbers, clock: int) -> Iterator[Events]:
    """For waits that end with the design's work: the ends of calls, of one site each, that may start it, such as a
    kernel, though the run has no word of them. One is before each wait."""
    ops, entry = events.host.ops, np.asarray(events.run.tables["calls"]["entry"])
    kinds = np.array([*(e.kind for e in events.run.manifest.entries), ""])[entry[ops["row"]]]
    if (kinds[rows] != CallKind.WAIT.value).any():
        return
    others = (ops["kind"] == OTHER) & (kinds == CallKind.OTHER.value)
    for site in np.unique(ops["site"][others]).tolist():
        mine = np.flatnonzero(others & (ops["site"] == site))
        before = np.searchsorted(mine, rows) - 1
        if before[0] >= 0 and (np.diff(before) > 0).all():
            time = cycles_at(ops["end_ps"][mine].astype(np.int64), events.periods_ps[clock])
            yield Events(WORD, time, mine, np.full(len(mine), -1, np.int64))


def _sends(events: AllEvents) -> list[int]:
    """The sites at which the host sends data."""
    ops, entries = events.host.ops, events.run.manifest.entries
    kinds = np.array([e.kind == "send" for e in entries] + [False])
    entry = np.asarray(events.run.tables["calls"]["entry"])[ops["row"]]
    sends = kinds[entry] & np.isin(ops["kind"], (MOVE, ASYNC)) & (ops["table"] >= 0)
    return np.unique(ops["site"][sends]).tolist()
