"""The events that may end a wait: words that the host moves, and state changes in the FPGA, each with its time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import fpga_of
from workbench.model.cycles import starts_ps
from workbench.model.pragma import CPU, Category
from workbench.model.run import Run
from workbench.model.run_tables import RowArray, Table
from workbench.replay.cones import Cones
from workbench.replay.fpga import FpgaPart
from workbench.replay.host import ASK, ASYNC, MOVE, HostPart, cycles_at

Numbers = NDArray[np.int64]
STAY, WORD = 0, 1  # kinds of events
#: The largest number of words used of one call; for longer calls this many at the begin and at the end.
_MOST_WORDS = 1 << 20


@dataclass(frozen=True)
class Events:
    """Events of one kind in order of time. `time` is in cycles of the waiting block's clock: for a word, the number of
    whole cycles when it has passed. `source` is the number of a stay or an operation, `byte` the end of the word in its
    call (-1: the call's last word)."""

    kind: int
    time: Numbers
    source: Numbers
    byte: Numbers

    def __len__(self) -> int:
        return len(self.time)

    def some(self, chosen: NDArray[np.bool_] | Numbers | slice) -> Events:
        return Events(self.kind, self.time[chosen], self.source[chosen], self.byte[chosen])


def merged(parts: Sequence[Events]) -> Events:
    """Several series of events of one kind as one, in order of time."""
    if len(parts) == 1:
        return parts[0]
    time = np.concatenate([p.time for p in parts])
    order = np.argsort(time, kind="stable")
    source, byte = (np.concatenate([getattr(p, name) for p in parts])[order] for name in ("source", "byte"))
    return Events(parts[0].kind, time[order], source, byte)


def merged_times(parts: Sequence[Events]) -> Numbers:
    """The times of `merged(parts)`, in a third of its time."""
    return parts[0].time if len(parts) == 1 else np.sort(np.concatenate([p.time for p in parts]), kind="stable")


class AllEvents:
    """The events of a run, as seen from each clock. Blocks in `passing` only pass data on, by their pragmas."""

    def __init__(
        self, run: Run, host: HostPart, fpga: FpgaPart, periods_ps: Sequence[Fraction], passing: Collection[int] = ()
    ) -> None:
        self.run, self.host, self.fpga, self.periods_ps, self.passing = run, host, fpga, periods_ps, frozenset(passing)
        changes = np.flatnonzero(fpga.stay_block[1:] != fpga.stay_block[:-1]) + 1
        bounds = np.concatenate(([0], changes, [len(fpga.stay_block)]))
        self._rows = {int(fpga.stay_block[a]): (a, b) for a, b in pairwise(bounds.tolist()) if b > a}
        count = np.bincount(fpga.block, minlength=1) if len(fpga.first) else np.zeros(1, np.int64)
        self.waiting_blocks = tuple(n for n in fpga.blocks if count[n] > 1)
        self._words: dict[tuple[int, int, int], Events] = {}
        self._changes: dict[tuple[int, int], dict[tuple[int, int, int], Events]] = {}
        self.numbers = {block.id: n for n, block in enumerate(run.manifest.blocks)}
        self.cones = Cones(run.manifest.blocks, set(fpga.blocks) - self.passing)
        #: for each operation its card, -1: none
        self.cards: Numbers = np.asarray(run.tables["calls"]["card"]).astype(np.int64)[host.ops["row"]]
        places = dict.fromkeys(fpga_of(run.manifest.blocks[n].id) for n in fpga.blocks)
        self._places = list(places) if len(places) == len(np.unique(self.cards[self.cards >= 0])) > 1 else []
        #: stays that only answer a poll; they are computed again with the polls
        self.of_questions = np.zeros(len(fpga.stay_block), bool)

    def changes(self, block: int, clock: int) -> dict[tuple[int, int, int], Events]:
        """A block's state changes in cycles of a clock, by (0, from, to), by (1, state, next), and, for states with
        several predecessors, by (2, to, to)."""
        if (block, clock) not in self._changes:
            self._changes[block, clock] = dict(self._changes_of(block, clock))
        return self._changes[block, clock]

    def _changes_of(self, block: int, clock: int) -> Iterator[tuple[tuple[int, int, int], Events]]:
        low, high = self._rows.get(block, (0, 0))
        stays = np.arange(low + 1, high)
        stays = stays[~(self.of_questions[stays] | self.of_questions[stays - 1])]
        if not len(stays):
            return
        states = self.fpga.stay_state.astype(np.int64)
        time = self.fpga.stay_begin[stays]
        own_clock = self.fpga.clock[block]
        if own_clock != clock:
            time = cycles_at(starts_ps(time, self.periods_ps[own_clock]), self.periods_ps[clock])
        width = int(states.max()) + 2
        after = np.where(stays + 1 < high, states[np.minimum(stays + 1, high - 1)], width - 1)
        ways = [states[stays - 1] * width + states[stays], states[stays] * width + after]
        if len(np.unique(ways[0])) > len(np.unique(states[stays])):
            ways.append(states[stays] * width + states[stays])
        for how, key in enumerate(ways):
            kinds, kind_index, counts = np.unique(key, return_inverse=True, return_counts=True)
            order = np.split(np.argsort(kind_index, kind="stable"), np.cumsum(counts)[:-1])
            for kind, rows in zip(kinds.tolist(), order, strict=True):
                none = np.full(len(rows), -1, np.int64)
                yield (how, kind // width, kind % width), Events(STAY, time[rows], stays[rows], none)

    def sites_with(self, messages: Collection[str]) -> list[int]:
        """The sites whose calls' pragmas name any of these messages."""
        return [site for site in self.sites if not self._messages_of(site).isdisjoint(messages)]

    def _messages_of(self, site: int) -> frozenset[str]:
        """The messages that the pragmas of a site's calls name."""
        ops = self.host.ops
        states = np.unique(ops["state"][ops["site"] == site]).tolist()
        block = self.run.manifest.blocks[self.run.manifest.sites[site].block]
        return frozenset(m for state in states for m in block.states[state].messages)

    def card_of(self, block: int) -> int:
        """The number of the block's card; -1 if there is one card only."""
        return self._places.index(fpga_of(self.run.manifest.blocks[block].id)) if self._places else -1

    def words(self, site: int, clock: int, card: int = -1) -> Events:
        """All words of a site's calls to one card (-1: any), in cycles of a clock."""
        if (site, clock, card) not in self._words:
            ops = self.host.ops
            is_chosen = (ops["site"] == site) & np.isin(ops["kind"], (MOVE, ASYNC)) & (ops["table"] >= 0)
            is_chosen &= (self.cards == card) | (card < 0)
            self._words[site, clock, card] = self._words_of(np.flatnonzero(is_chosen), clock)
        return self._words[site, clock, card]

    def _words_of(self, rows: Numbers, clock: int) -> Events:
        ops = self.host.ops[rows]
        width = np.array([*self.host.word_bytes, 4], np.int64)[ops["table"]]
        count = np.maximum(-(-ops["bytes"] // width), 1)
        if not len(rows) or count.sum(dtype=float) > _MOST_WORDS:  # a damaged run's may not fit 64 bits
            count = np.minimum(count, 1)
        row_of_word = np.repeat(np.arange(len(rows)), count)
        number = np.arange(len(row_of_word)) - np.repeat(np.cumsum(count) - count, count)
        byte = (number + 1) * width[row_of_word]
        last = number + 1 == count[row_of_word]
        byte[last] = -1
        ends = ops["grant_ps"][row_of_word] + word_ps(ops, width, row_of_word, byte, self.host, self.periods_ps)
        time = cycles_at(ends, self.periods_ps[clock])
        order = np.argsort(time, kind="stable")
        return Events(WORD, time[order], rows[row_of_word][order], byte[order])

    @cached_property
    def sites(self) -> tuple[int, ...]:
        """The sites at which the host moves data, without polls."""
        ops = self.host.ops
        asking = set(np.unique(ops["site"][ops["kind"] == ASK]).tolist())
        moving = np.unique(ops["site"][np.isin(ops["kind"], (MOVE, ASYNC)) & (ops["table"] >= 0)]).tolist()
        return tuple(site for site in moving if site not in asking)


def mark_questions(events: AllEvents) -> None:
    """Mark the stays of ports that answer a poll of the host in one cycle."""
    calls, fpga = events.run.tables["calls"], events.fpga
    ops = events.host.ops
    asks = ops[ops["kind"] == ASK]
    if not len(asks) or not len(fpga.stay_begin):
        return
    rows = _rows_of(calls, asks)
    for number in fpga.blocks:
        block = events.run.manifest.blocks[number]
        to_host = np.array([CPU in s.targets and s.category is Category.SEND for s in block.states])
        if not to_host.any():
            continue
        card = events.card_of(number)
        of_card = rows[(calls["card"][rows] == card) | (card < 0)]
        poll_cycles = np.unique(cycles_at(np.asarray(calls["port_last_ps"])[of_card].astype(np.int64),
                                    events.periods_ps[fpga.clock[number]]))  # fmt: skip
        stays = np.flatnonzero(fpga.stay_block == number)
        stays = stays[to_host[fpga.stay_state[stays]]]
        hit = np.isin(fpga.stay_begin[stays], poll_cycles) | np.isin(fpga.stay_begin[stays] - 1, poll_cycles)
        events.of_questions[stays[hit]] = True


def _rows_of(calls: Table, asks: RowArray) -> Numbers:
    """The rows in table `calls` of these operations: consecutive calls of one thread from `row` on; calls of other
    threads may lie between."""
    rows = []
    for thread in np.unique(asks["thread"]).tolist():
        calls_of_thread = np.flatnonzero(calls["block"] == thread)
        asks_of_thread = asks[asks["thread"] == thread]
        firsts = np.searchsorted(calls_of_thread, asks_of_thread["row"])
        rows += [
            calls_of_thread[first : first + count]
            for first, count in zip(firsts.tolist(), asks_of_thread["rows"].tolist(), strict=True)
        ]
    return np.concatenate(rows)


def word_ps(
    ops: RowArray,
    width: Numbers,
    which: Numbers,
    byte: Numbers,
    host: HostPart,
    periods_ps: Sequence[Fraction],
) -> Numbers:
    """The end of words at the port (ps), after their transfers got the bus: of the first `byte` bytes of operation
    `which`."""
    earlier = np.zeros(len(ops), np.int64)
    for table, clock in enumerate(host.clock_of_table):
        mine = ops["table"] == table
        earlier[mine] = starts_ps(ops["shorter"][mine].astype(np.int64), periods_ps[clock])
    lasts = (ops["work_ps"] - earlier)[which]
    words = np.maximum(-(-ops["bytes"] // width), 1)[which]
    return np.where(byte < 0, lasts, np.minimum(-(-byte // width[which]), words) * lasts // words)
