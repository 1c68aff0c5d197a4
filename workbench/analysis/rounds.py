"""One host thread's calls in order, and their rounds: data, start, wait.

A round ends when the host has waited. A run that kept its calls gives all of them with addresses; a run that kept only
their order (`call_order`) gives the first ones without addresses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.analysis.host_times import CONTROL, POLL_KINDS, asked_again
from workbench.api.results import BlockMetrics
from workbench.model.pragma import COMMUNICATION, WAITS, Category
from workbench.model.run import Run
from workbench.model.run_tables import Table
from workbench.traces.groups import Numbers, numbered, rows_of_block

Mask = NDArray[np.bool_]

MOST_UNFOLDED = 200_000  # calls unfolded from an order stored as loops
_COLUMNS = ("site", "state", "entry", "address", "bytes")
#: Calls that belong to a round occur in at least this share of the rounds, unlike calls before the first one.
_MOSTLY = 0.5


@dataclass(frozen=True)
class CallOrder:
    """A thread's calls, one in each row. `address` is -1 if unknown; `kind` numbers each pair of site and state.

    The masks `sends` and `receives` give the direction of data, `control` marks calls without data, `waits` marks waits
    for the FPGA, and `asks` marks reads.
    """

    block: str
    pairs: tuple[tuple[int, int], ...]
    kind: Numbers
    address: Numbers
    bytes: Numbers
    sends: Mask
    receives: Mask
    control: Mask
    waits: Mask
    asks: Mask

    def of(self, wanted: set[tuple[int, int]]) -> Mask:
        chosen: Mask = np.array([pair in wanted for pair in self.pairs], dtype=bool)[self.kind]
        return chosen

    def used(self, rows: Mask) -> set[tuple[int, int]]:
        """The pairs of site and state in these rows."""
        return {self.pairs[kind] for kind in np.unique(self.kind[rows]).tolist()}

    @cached_property
    def round_of(self) -> Numbers:
        """For each call the number of the round: of the wait that it precedes or belongs to, one more after the last
        wait."""
        ended = np.concatenate(([False], self.waits[:-1] & ~self.waits[1:]))
        return np.cumsum(ended)

    @cached_property
    def rounds(self) -> int:
        """The number of the host's waits."""
        return int((self.waits & ~np.concatenate(([False], self.waits[:-1]))).sum())

    @cached_property
    def in_rounds(self) -> Mask:
        """A mask of the calls whose sites are reached in most rounds; all calls if the host never waits."""
        return self._in_most_rounds(self.round_of <= max(self.rounds - 1, 0))

    @cached_property
    def starts(self) -> Mask:
        """A mask of the calls that start the FPGA: control messages right before a wait, or else the last data before
        it."""
        right_before = self._in_most_rounds(_reaches(self.sends & self.control, self.waits))
        if right_before.any():
            return right_before
        last = self.sends & np.concatenate((self.waits[1:], [False]))
        return self._in_most_rounds(last)

    @cached_property
    def next_data(self) -> Mask:
        """A mask of the data sent in a round before the FPGA's start (or, without a start, before the wait)."""
        until = self.starts if (self.starts & self.control).any() else self.waits
        return self._in_most_rounds(self.sends & ~self.control & self._followed_in_round(until))

    @cached_property
    def starts_together(self) -> int:
        """The largest number of consecutive rounds in which the FPGA is started and no data move between."""
        moved = np.cumsum((self.sends | self.receives) & ~self.control & ~self.waits & ~self.starts)
        rounds = np.unique(moved[self.starts] * (self.rounds + 1) + self.round_of[self.starts])
        _, counts = np.unique(rounds // (self.rounds + 1), return_counts=True)
        return int(counts.max(initial=0))

    def before_reads(self, chosen: Mask) -> Mask:
        """A mask of the chosen messages that precede a read of data, with only such messages between."""
        return chosen & self.sends & _reaches(chosen & self.sends, self.receives & ~self.control & ~self.waits)

    def groups(self, chosen: Mask) -> list[set[tuple[int, int]]]:
        """Sets of (site, state) pairs whose chosen calls follow one another in one direction, without another call
        between, at least half of the times."""
        groups: list[set[tuple[int, int]]] = []
        follows = np.flatnonzero(self._follows(chosen)) + 1
        links, link_of = numbered(self.kind[follows - 1] * len(self.pairs) + self.kind[follows])
        counts = np.bincount(self.kind, minlength=len(self.pairs))
        for link, count in zip(links.tolist(), np.bincount(link_of).tolist(), strict=True):
            before, after = divmod(link, len(self.pairs))
            if count < _MOSTLY * min(counts[before], counts[after]):
                continue
            pairs = {self.pairs[before], self.pairs[after]}
            apart = [one for one in groups if not one & pairs]
            groups = [*apart, pairs.union(*(one for one in groups if one & pairs))]
        return groups

    def longest_row(self, chosen: Mask) -> tuple[int, int, int]:
        """The longest row of consecutive chosen calls: their number, their bytes, and the number of data calls among
        them."""
        rows = np.flatnonzero(chosen)
        if not len(rows):
            return 0, 0, 0
        row_of = np.cumsum(np.concatenate(([True], ~self._follows(chosen)[rows[1:] - 1]))) - 1
        counts = np.bincount(row_of)
        longest = rows[row_of == counts.argmax()]
        return len(longest), int(self.bytes[longest].sum()), int((~self.control[longest]).sum())

    def beside(self, chosen: Mask) -> Mask:
        """A mask of the data sent right before or after the chosen calls, of sites that mostly send it there."""
        data = self.sends & ~self.control
        near = np.zeros(len(chosen), dtype=bool)
        near[1:] |= chosen[:-1]
        near[:-1] |= chosen[1:]
        counts = np.bincount(self.kind[data], minlength=len(self.pairs))
        mostly = np.bincount(self.kind[data & near], minlength=len(self.pairs)) >= np.maximum(_MOSTLY * counts, 1)
        return data & mostly[self.kind]

    def _follows(self, chosen: Mask) -> Mask:
        """Between each call and the next: whether both are chosen, have one direction and are not waits."""
        both: Mask = chosen[:-1] & chosen[1:] & (self.sends[:-1] == self.sends[1:])
        return both & ~self.waits[:-1] & ~self.waits[1:]

    def _in_most_rounds(self, chosen: Mask) -> Mask:
        """The mask without calls of sites that are chosen in only few of the rounds with chosen calls."""
        rows = np.flatnonzero(chosen)
        rounds, round_of = numbered(self.round_of[rows])
        pairs, _ = numbered(self.kind[rows] * max(len(rounds), 1) + round_of)
        counts = np.bincount(pairs // max(len(rounds), 1), minlength=len(self.pairs))
        return chosen & (counts >= _MOSTLY * len(rounds))[self.kind]

    def _followed_in_round(self, wanted: Mask) -> Mask:
        """For each call, whether a wanted one follows in its round."""
        after = _next(wanted)
        has_next = after < len(wanted)
        same: Mask = has_next & (self.round_of[np.minimum(after, len(wanted) - 1)] == self.round_of)
        return same


def _next(wanted: Mask) -> Numbers:
    """For each row, the next wanted row at or after it; the number of rows if there is none."""
    at = np.where(wanted, np.arange(len(wanted)), len(wanted))
    return np.minimum.accumulate(at[::-1])[::-1]


def _reaches(chosen: Mask, wanted: Mask) -> Mask:
    """The chosen rows before a wanted row with only chosen rows between."""
    reached: Mask = chosen & np.append(wanted, False)[_next(~chosen)]
    return reached


def call_order(run: Run, block: BlockMetrics) -> CallOrder | None:
    """The calls of a host thread in order; None if the run kept no order."""
    columns = _kept_calls(run, block.number) or _unfolded(run, block.number)
    if columns is None or not len(columns["site"]):
        return None
    states = block.block.states
    pairs, kind = numbered((columns["site"].astype(np.int64) + 1) * len(states) + columns["state"])
    control = [s.category in COMMUNICATION and bool(CONTROL & set(s.reasons)) for s in states]
    waiting = [s.category is Category.WAIT_RECV for s in states]
    is_wait = [s.category in WAITS for s in states]
    kinds = [entry.kind for entry in run.manifest.entries]
    state, entry = columns["state"], columns["entry"]
    sends = _flags([one == "send" for one in kinds])[entry] & ~_flags(is_wait)[state]
    receives = _flags([one in POLL_KINDS for one in kinds])[entry]
    located = columns["address"] >= 0
    again = asked_again(_flags(control)[state] & receives & located, columns["address"], columns["site"])
    waits = _flags(waiting)[state] | again
    return CallOrder(
        block=block.block.id,
        pairs=tuple((pair // len(states) - 1, pair % len(states)) for pair in pairs.tolist()),
        kind=kind,
        address=columns["address"],
        bytes=columns["bytes"],
        sends=sends,
        receives=receives & ~waits,
        control=_flags(control)[state] & ~waits,
        waits=waits,
        asks=receives,
    )


def _flags(values: Sequence[bool]) -> Mask:
    """The values as a mask with a final False, for index -1."""
    return np.array([*values, False], dtype=bool)


def _kept_calls(run: Run, block: int) -> Table | None:
    table = run.tables.get("calls")
    if table is None:
        return None
    rows = rows_of_block(table["block"], block)
    return {name: np.asarray(table[name][rows]) for name in _COLUMNS}


def _unfolded(run: Run, block: int) -> Table | None:
    """The first calls of an order that is stored as loops."""
    order, stats = run.tables.get("call_order"), run.tables.get("call_stats")
    if order is None or stats is None:
        return None
    rows = rows_of_block(order["block"], block)
    site, state, repeat, body = (order[name][rows].tolist() for name in ("site", "state", "repeat", "body"))

    def unfold(begin: int, end: int) -> list[int]:
        order: list[int] = []
        at = begin
        while at < end and len(order) < MOST_UNFOLDED:
            inner = unfold(at + 1, at + 1 + body[at]) if body[at] else [at]
            order += inner * min(repeat[at], MOST_UNFOLDED // max(len(inner), 1) + 1)
            at += 1 + body[at]
        return order[:MOST_UNFOLDED]

    at = np.array(unfold(0, len(site)), dtype=np.int64)
    site_of, state_of = np.array(site, dtype=np.int64)[at], np.array(state, dtype=np.int64)[at]
    mine = stats["block"] == block
    stats_rows = zip(
        *(stats[name][mine].tolist() for name in ("site", "state", "entry", "bytes", "count")), strict=True
    )
    entries = {(s, q): (entry, round(size / count) if count else 0) for s, q, entry, size, count in stats_rows}
    entry_and_bytes = [entries.get(pair, (-1, 0)) for pair in zip(site_of.tolist(), state_of.tolist(), strict=True)]
    return {
        "site": site_of,
        "state": state_of,
        "entry": np.array([entry for entry, _ in entry_and_bytes], dtype=np.int64),
        "address": np.full(len(at), -1, dtype=np.int64),
        "bytes": np.array([size for _, size in entry_and_bytes], dtype=np.int64),
    }
