"""Host time that could go with another change: waits before and after the FPGA was ready, and messages that accompany
transfers.

A run's calls show this in their order. If a poll is followed by another one of the same address, it was in vain: the
FPGA was not ready when the poll's word passed the port (`port_last_ps`), nor, in a traced run, before the awaited block
ended its work. An earlier answer can save only the later part of such a stretch of polls; a poll that succeeds at once
contains no time that a faster FPGA could save. For a run that kept only the sums of its calls the same times are
bounded from counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.api.metrics import Waiting
from workbench.api.results import BlockMetrics, CallMetrics
from workbench.formats.columns import let_go
from workbench.model.blocks import Side
from workbench.model.pragma import COMMUNICATION, WAITS, Category
from workbench.model.run import PS_PER_S, Run
from workbench.model.targets import resolve_target
from workbench.traces.trace import Trace, category_code, trace_of

WORK = category_code(Category.WORK)
Mask = NDArray[np.bool_]
Times = NDArray[np.int64]

#: Reasons of messages without data, which accompany transfers.
CONTROL = frozenset({"ctrl", "control", "poll"})
POLL_KINDS = frozenset({"receive"})
_LATE_CYCLES = 4  # from the end of work until a register shows it
_DELAYS = 33  # tried delays
_COLUMNS = ("site", "state", "entry", "address", "t0_ps", "t1_ps", "port_first_ps", "port_last_ps")


@dataclass(frozen=True)
class _Rows:
    """One thread's calls in order, as columns. `site` and `state` number them as the tables do, `kind` numbers each
    (site, state) pair (`numbers`); times are picoseconds."""

    kind: Times
    numbers: Mapping[tuple[int, int], int]
    site: Times
    state: Times
    address: Times
    start: Times
    end: Times
    port_first: Times
    port_last: Times
    waits: Mask
    polls: Mask
    sends: Mask
    control: Mask
    data: Mask

    @cached_property
    def took(self) -> Times:
        return self.end - self.start

    def of(self, calls: Sequence[CallMetrics]) -> Mask:
        wanted: Mask = np.zeros(len(self.numbers) + 1, dtype=bool)
        for call in calls:
            wanted[self.numbers.get((call.site_number, call.state.index), -1)] = True
        wanted[-1] = False  # for calls that are not in the table
        chosen: Mask = wanted[self.kind]
        return chosen

    @cached_property
    def looped(self) -> Times:
        """The host's own code (ps) between each call and the next if it is shorter than the call, as in a loop around
        calls; 0 if it is longer, since it is then work that stays."""
        if len(self.start) < 2:
            return np.zeros(0, dtype=np.int64)
        gaps = np.maximum(self.start[1:] - self.end[:-1], 0)
        return np.where(gaps <= self.took[:-1], gaps, 0)

    @cached_property
    def moving(self) -> Times:
        """For each call the time (ps) in which words of earlier calls still passed the port."""
        until = np.concatenate(([-1], np.maximum.accumulate(self.port_last)[:-1])) if len(self.start) else self.start
        return np.clip(until - self.start, 0, self.took)

    @cached_property
    def least_gap(self) -> int:
        """The shortest nonzero loop code (ps) between two calls: the host's minimum cost of a call."""
        gaps = self.looped
        return int(gaps[gaps > 0].min()) if (gaps > 0).any() else 0


@dataclass(frozen=True)
class _Stretches:
    """Stretches of polls. `stretch` is each poll's stretch number; the other arrays hold for each stretch its first and
    last poll, its begin and end, and the earliest time at which the FPGA was ready (ps). `quickest` is the time (ps) of
    the necessary polls: of several, one as quick as the quickest of its address in the run, since their code varies."""

    stretch: Times
    first: Times
    last: Times
    begins: Times
    ends: Times
    ready: Times
    quickest: int


class HostTimes:
    """The host's side of a run. Every method takes a host block and some of its calls."""

    def __init__(self, run: Run, blocks: Sequence[BlockMetrics], calls: Sequence[CallMetrics]) -> None:
        self._run, self._blocks, self._calls = run, blocks, calls
        self._cycle_ps = round(PS_PER_S / run.manifest.clock_hz) if run.manifest.clock_hz else 0
        self._rows = {b.number: self._read(b) for b in blocks if b.block.side is Side.HOST}

    def _read(self, block: BlockMetrics) -> _Rows | None:
        table = self._run.tables.get("calls")
        if table is None:
            return None
        mine = table["block"] == block.number
        rows_of = slice(None) if mine.all() else np.flatnonzero(mine)
        column = {}
        for name in _COLUMNS:
            column[name] = np.asarray(table[name][rows_of])
            let_go({name: table[name]})
        states = block.block.states
        by_state = {
            "waits": [s.category in WAITS for s in states],
            "sends": [s.category is Category.SEND for s in states],
            "control": [s.category in COMMUNICATION and bool(CONTROL & set(s.reasons)) for s in states],
            "data": [s.category in COMMUNICATION and not CONTROL & set(s.reasons) for s in states],
        }
        state = column["state"]
        of_state = {name: np.array(flags, dtype=bool)[state] for name, flags in by_state.items()}
        kinds = np.array([*(e.kind in POLL_KINDS for e in self._run.manifest.entries), False], dtype=bool)
        asks = kinds[column["entry"]]
        pair = (column["site"].astype(np.int64) + 1) * len(states) + state  # a call without a site has -1
        pairs = np.flatnonzero(np.bincount(pair))
        number_of = np.zeros(pairs[-1] + 1 if len(pairs) else 1, dtype=np.int32)
        number_of[pairs] = np.arange(len(pairs))
        rows = _Rows(
            kind=number_of[pair],
            numbers={(p // len(states) - 1, p % len(states)): n for n, p in enumerate(pairs.tolist())},
            site=column["site"],
            state=state,
            address=column["address"],
            start=column["t0_ps"],
            end=column["t1_ps"],
            port_first=column["port_first_ps"],
            port_last=column["port_last_ps"],
            polls=of_state["waits"] & asks,
            **of_state,
        )
        again = asked_again(rows.control & asks, rows.address, rows.site)
        return replace(rows, waits=rows.waits | again, polls=rows.polls | again, control=rows.control & ~again)

    def waiting(self, block: BlockMetrics, time_s: float, calls: Sequence[CallMetrics]) -> Waiting:
        """The waits of `block`, `time_s` in all, that are in these calls (or partly in none)."""
        waits = [c for c in calls if c.state.category in WAITS]
        silent = max(time_s - sum(c.time_s for c in waits), 0.0)
        rows = self._rows.get(block.number)
        waiting = self._by_sums(waits) if rows is None else self._by_calls(rows, rows.of(waits), block)
        return Waiting(waiting.total_s + silent, waiting.late_s + silent, waiting.after_ready_s, waiting.chance_s)

    def all_waiting(self, block: BlockMetrics, calls: Sequence[CallMetrics]) -> tuple[Waiting, float]:
        """All waits of `block`, and the seconds of them in states marked as control: registers that are polled."""
        rows = self._rows.get(block.number)
        if rows is None:
            return self.waiting(block, block.time_of(*WAITS), calls), 0.0
        marked = np.array([s.category in WAITS for s in block.block.states], dtype=bool)[rows.state]
        silent = max(block.time_of(*WAITS) - int(rows.took[marked].sum()) / PS_PER_S, 0.0)
        waiting = self._by_calls(rows, rows.waits, block)
        hidden = int(rows.took[rows.waits & ~marked].sum()) / PS_PER_S
        return replace(waiting, total_s=waiting.total_s + silent, late_s=waiting.late_s + silent), hidden

    def runs_freely(self, block: BlockMetrics) -> bool:
        """Whether an FPGA block works longer than the span from the host's first call to its last one's end, and so
        also without a request."""
        threads = [rows for rows in self._rows.values() if rows is not None and len(rows.start)]
        if not threads:
            return False
        span_ps = max(int(rows.end.max()) for rows in threads) - min(int(rows.start.min()) for rows in threads)
        return round(block.time_of(Category.WORK) * PS_PER_S) > span_ps + self._cycle_ps

    def longest_wait_s(self, block: BlockMetrics) -> float:
        """The longest single wait (s) of a host block until the FPGA was ready; 0 without the calls in order."""
        rows = self._rows.get(block.number)
        if rows is None or not rows.waits.any():
            return 0.0
        single = max(int((rows.took - rows.moving)[rows.waits & ~rows.polls].max(initial=0)) - self._cycle_ps, 0)
        polls = np.flatnonzero(rows.polls)
        if not len(polls):
            return single / PS_PER_S
        stretches = self._stretches(rows, polls, block)
        return max(single, int((stretches.ready - stretches.begins).max())) / PS_PER_S

    def due_s(self, block: BlockMetrics, calls: Sequence[CallMetrics]) -> float:
        """The delay (s) of the first poll after a wait begins that minimises the total time, if every wait has the same
        delay. 0 without the calls in order."""
        rows = self._rows.get(block.number)
        if rows is None or not len(polls := np.flatnonzero(rows.of(calls) & rows.polls)):
            return 0.0
        stretches = self._stretches(rows, polls, block)
        looked = np.where(rows.port_last >= 0, rows.port_last, rows.end)
        first, last = polls[stretches.first], polls[stretches.last]
        ready_ps = stretches.ready
        if trace_of(self._run) is None:  # between the last failed poll and the successful one
            ready_ps = (ready_ps + looked[last]) // 2
        due = np.maximum(ready_ps - stretches.begins - (looked - rows.start)[first], 0) + _LATE_CYCLES * self._cycle_ps
        between = np.diff(rows.start[polls])[np.diff(stretches.stretch) == 0]
        period = int(between.mean()) if len(between) else int(rows.took[first].mean())
        tried = np.unique(np.quantile(due, np.linspace(0, 1, _DELAYS), method="nearest"))
        again = np.maximum(np.ceil((due[None, :] - tried[:, None]) / max(period, 1)), 0)
        return float(tried[(tried[:, None] + again * period).sum(axis=1).argmin()]) / PS_PER_S

    def _by_sums(self, calls: Sequence[CallMetrics]) -> Waiting:
        """Waits estimated from sums: one poll in each run of polls is necessary, and the last two may come after the
        FPGA was ready."""
        total = late = after = chance = 0.0
        for call in calls:
            total += call.time_s
            if call.entry is None or call.entry.kind not in POLL_KINDS or not call.count:
                late += call.time_s
                continue
            last = call.time_s * min(call.runs.count / call.count, 1.0)
            late += call.time_s - last
            after += min(2 * last, call.time_s)
            chance += min(last, call.time_s - last)
        return Waiting(total, late, after, chance)

    def _by_calls(self, rows: _Rows, chosen: Mask, block: BlockMetrics) -> Waiting:
        polls = np.flatnonzero(chosen & rows.polls)
        other_waits_ps = int(rows.took[chosen & ~rows.polls].sum())
        moving = int(rows.moving[chosen & ~rows.polls].sum())  # part of these waits is for a transfer, not for the FPGA
        edges = int((chosen & ~rows.polls).sum()) * self._cycle_ps  # the end of a wait is known to one cycle
        if not len(polls):
            return Waiting(other_waits_ps / PS_PER_S, (other_waits_ps - moving) / PS_PER_S, 0.0, edges / PS_PER_S)
        stretches = self._stretches(rows, polls, block)
        count, ends, ready = len(stretches.first), stretches.ends, stretches.ready
        least_idle_ps = min(self._idle(rows, polls, polls[stretches.last], block))
        goes_on = np.diff(stretches.stretch) == 0
        between = rows.looped[polls[:-1]][goes_on]
        code = count * max(rows.least_gap, int(between.max(initial=0)))
        cycles = count * self._cycle_ps
        after = min(int(np.maximum(ends - ready, 0).sum()), least_idle_ps) + code + cycles
        first_ends = rows.end[polls[stretches.first]]
        chance = min(int(np.maximum(ends - np.maximum(ready, first_ends), 0).sum()), least_idle_ps) + cycles + edges
        total = (int((ends - stretches.begins).sum()) + other_waits_ps) / PS_PER_S
        return Waiting(total, total - (stretches.quickest + moving) / PS_PER_S, after / PS_PER_S, chance / PS_PER_S)

    def _stretches(self, rows: _Rows, polls: Times, block: BlockMetrics) -> _Stretches:
        stretch = _numbered(rows, polls)
        last = np.concatenate((np.flatnonzero(np.diff(stretch)), [len(stretch) - 1]))
        first = np.concatenate(([0], last[:-1] + 1))
        begins, ends = rows.start[polls[first]], rows.end[polls[last]]
        # polls by address within their stretch: one of each is necessary, all but the last failed
        order = np.lexsort((rows.address[polls], stretch))
        same = (np.diff(stretch[order]) == 0) & (np.diff(rows.address[polls][order]) == 0)
        heads = np.concatenate(([0], np.flatnonzero(~same) + 1))
        took, alone = rows.took[polls][order], np.diff(heads, append=len(polls)) == 1
        least = _least_of(rows.address[polls][order], took)
        quickest = int(np.where(alone, took[heads], least[heads]).sum())
        vain = np.zeros(len(polls), dtype=bool)
        vain[order[:-1]] = same
        looked = np.where(rows.port_last[polls] >= 0, rows.port_last[polls], rows.start[polls])
        ready = begins.copy()
        np.maximum.at(ready, stretch[vain], self._work_ends(rows, polls[vain], looked[vain], block))
        return _Stretches(stretch, first, last, begins, ends, ready, quickest)

    def _work_ends(self, rows: _Rows, polls: Times, moments: Times, block: BlockMetrics) -> Times:
        """For each moment the end of the current work of the block that the poll waits for, since it is not ready
        before. The moment itself if the run has no trace or the block does not work."""
        trace = trace_of(self._run)
        if trace is None or not len(polls):
            return moments
        ready = moments.copy()
        for state in np.unique(rows.state[polls]).tolist():
            mine = rows.state[polls] == state
            working = [target for target in self.targets(block, [state]) if not self.runs_freely(target)]
            ends = [_ends_of_work(trace, target, moments[mine]) for target in working]
            if ends:
                ready[mine] = np.minimum.reduce(ends)
        return ready

    def targets(self, block: BlockMetrics, states: Iterable[int]) -> list[BlockMetrics]:
        """The FPGA blocks that these states of a host block name."""
        all_blocks = [b.block for b in self._blocks]
        names = [target for state in states for target in block.block.states[state].targets]
        ids = {one.id for name in names for one in resolve_target(name, all_blocks, block.block)}
        return [b for b in self._blocks if b.block.id in ids]

    def _idle(self, rows: _Rows, polls: Times, last: Times, block: BlockMetrics) -> list[int]:
        """Upper bounds (ps) of the time after the FPGA was ready, for polls that wait for one block, from that block's
        total work.

        The block is not ready while it works, so the run's time minus its work is one bound. If the same messages
        precede every stretch of polls and no message follows the last, the FPGA works only from a stretch's first
        message to its end; these times minus its work are a second bound. `last` is the last poll of each stretch.
        """
        whole = self._run.manifest.time_ps
        targets = self.targets(block, np.unique(rows.state[polls]).tolist())
        if len(targets) != 1 or self.runs_freely(targets[0]):
            return [whole]
        works = round(targets[0].time_of(Category.WORK) * PS_PER_S)
        bounds = [whole - works]
        sent = np.flatnonzero(rows.sends & (rows.port_first >= 0))
        window = np.searchsorted(last, sent, side="left")  # the stretch after each message
        heads = np.searchsorted(window, np.arange(len(last) + 1))  # the first message of each stretch
        if not works or (np.diff(heads) == 0).any():
            return bounds
        alike, more = True, False
        for kind in np.unique(rows.kind[sent[: heads[1]]]).tolist():  # the first stretch's
            counts = np.bincount(window[rows.kind[sent] == kind], minlength=len(last) + 1)
            alike &= bool((counts[:-1] >= counts[0]).all())
            more |= bool(counts[-1] < counts[0])
        if alike and more:
            spare = int((rows.end[last] - rows.port_first[sent[heads[:-1]]]).sum()) - works
            bounds += [spare] if spare >= 0 else []
        return bounds

    def loops_s(self, block: BlockMetrics, calls: Sequence[CallMetrics]) -> float:
        """The loop code (s) between consecutive ones of these calls."""
        rows = self._rows.get(block.number)
        if rows is None:
            return 0.0
        return _code(rows, rows.of(calls)) / PS_PER_S

    def served_s(self, block: BlockMetrics, calls: Sequence[CallMetrics]) -> float:
        """The time (s), beside these calls' own, that could go with them: adjacent control messages and waits (without
        another data transfer between), the loops around all of them, and the part of the other waits that chance may
        take."""
        rows = self._rows.get(block.number)
        if rows is None:
            ids = {(c.site_number, c.state.index) for c in calls}
            others = [c for c in self._calls if c.block == block.block.id and (c.site_number, c.state.index) not in ids]
            beside_s = sum(c.time_s for c in others if c.state.category in WAITS or CONTROL & set(c.state.reasons))
            silent_s = block.time_of(*WAITS) - sum(c.time_s for c in others if c.state.category in WAITS)
            return beside_s + max(silent_s, 0.0)
        chosen = rows.of(calls)
        anchor = np.flatnonzero(chosen | rows.data)
        beside = ~chosen & (rows.waits | rows.control)
        if not len(anchor):
            return 0.0
        at = np.flatnonzero(beside)
        after = np.searchsorted(anchor, at)
        before_is = chosen[anchor[np.maximum(after - 1, 0)]] & (after > 0)
        after_is = chosen[anchor[np.minimum(after, len(anchor) - 1)]] & (after < len(anchor))
        served = at[before_is | after_is]
        going = chosen.copy()
        going[served] = True
        loops = _code(rows, going)
        return (int(rows.took[served].sum()) + loops) / PS_PER_S + self._by_calls(
            rows, rows.waits & ~going, block
        ).chance_s


def asked_again(chosen: Mask, address: Times, site: Times) -> Mask:
    """A mask of the chosen calls that read the same address consecutively: polls, whatever their name."""
    at = np.flatnonzero(chosen)
    same = (np.diff(at) == 1) & (np.diff(address[at]) == 0) & (np.diff(site[at]) == 0)
    again: Mask = np.zeros(len(chosen), dtype=bool)
    again[at[1:][same]] = True
    again[at[:-1][same]] = True
    return again


def _code(rows: _Rows, going: Mask) -> int:
    """The host's own code (ps) that goes with these calls: the loops around them, and the minimum cost of a call for
    each row of calls."""
    runs = int((going[1:] & ~going[:-1]).sum()) + int(going[:1].sum())
    return int(rows.looped[going[1:] & going[:-1]].sum()) + runs * rows.least_gap


def _least_of(kind: Times, took: Times) -> Times:
    """For each call the least time of any of its kind."""
    _, number = np.unique(kind, return_inverse=True)
    least = np.full(int(number.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, number, took)
    return least[number]


def _numbered(rows: _Rows, polls: Times) -> Times:
    """The stretch number of each poll; loop code alone is between those of one, or they repeat the same read."""
    gaps = rows.start[polls[1:]] - rows.end[polls[:-1]]
    again = (np.diff(rows.address[polls]) == 0) & (np.diff(rows.site[polls]) == 0)
    follows = (np.diff(polls) == 1) & (again | (gaps <= rows.took[polls[:-1]]))
    return np.concatenate(([0], np.cumsum(~follows)))


def _ends_of_work(trace: Trace, block: BlockMetrics, moments: Times) -> Times:
    """For each moment the end of the block's current work; the moment itself if the block does not work."""
    edges, states = trace.row(block.number)
    if not len(states):
        return moments
    works = trace.codes[block.number][states] == WORK
    # the end of each stretch of work, however many states of work it passes through
    stops = np.where(works, len(works), np.arange(len(works)))
    until = edges[np.minimum.accumulate(stops[::-1])[::-1]]
    at = np.maximum(np.searchsorted(edges[:-1], moments, side="right") - 1, 0)
    return np.where(works[at], until[at], moments)
