"""What of the host's time could go with what: waiting before and after the FPGA was ready, and the messages that go
with transfers.

The calls of a run tell it, in their order: a poll that is followed by another of the same address was in vain, so the
FPGA was not ready when its word passed the port (`port_last_ps`), nor, in a traced run, until the block that it waits
for ended the work it was at. Whatever of such a stretch of polls lies later is all that a prompter answer can save;
a poll that is answered at once has nothing before it that a faster FPGA could save. Without the calls (a run that kept
only their sums) the same is bounded from counts.
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

#: Reasons of messages that carry no data: they are there for the transfers beside them.
CONTROL = frozenset({"ctrl", "control", "poll"})
POLL_KINDS = frozenset({"receive"})
_LATE_CYCLES = 4  # after work ends until a register shows it
_DELAYS = 33  # how many are tried
_COLUMNS = ("site", "state", "entry", "address", "t0_ps", "t1_ps", "port_first_ps", "port_last_ps")


@dataclass(frozen=True)
class _Rows:
    """One thread's calls in order. `site` and `state` number them as the tables do, `kind` each pair (`numbers`);
    times are picoseconds."""

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
        wanted[-1] = False  # calls that the table does not hold
        chosen: Mask = wanted[self.kind]
        return chosen

    @cached_property
    def looped(self) -> Times:
        """Between each call and the next: the host's own code there, where it is shorter than the call (a loop around
        calls, rather than work that stays); 0 where it is longer."""
        if len(self.start) < 2:
            return np.zeros(0, dtype=np.int64)
        gaps = np.maximum(self.start[1:] - self.end[:-1], 0)
        return np.where(gaps <= self.took[:-1], gaps, 0)

    @cached_property
    def moving(self) -> Times:
        """For each call, the part (ps) in which words of earlier calls were still passing the port."""
        until = np.concatenate(([-1], np.maximum.accumulate(self.port_last)[:-1])) if len(self.start) else self.start
        return np.clip(until - self.start, 0, self.took)

    @cached_property
    def least_gap(self) -> int:
        """The shortest loop's code between two calls that takes any time: what the host needs to make a call at all."""
        gaps = self.looped
        return int(gaps[gaps > 0].min()) if (gaps > 0).any() else 0


@dataclass(frozen=True)
class _Stretches:
    """Stretches of polls: each poll's number in `stretch`, and of each stretch its first and last poll, when it begins
    and ends, and when the FPGA was ready at the earliest (ps). `quickest` is what polls that have to be made take."""

    stretch: Times
    first: Times
    last: Times
    begins: Times
    ends: Times
    ready: Times
    quickest: int


class HostTimes:
    """The host's side of a run. Every method takes one host block and some of its calls."""

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
        """The waits of `block` that take `time_s`, in these calls (or partly in none)."""
        waits = [c for c in calls if c.state.category in WAITS]
        silent = max(time_s - sum(c.time_s for c in waits), 0.0)
        rows = self._rows.get(block.number)
        waiting = self._by_sums(waits) if rows is None else self._by_calls(rows, rows.of(waits), block)
        return Waiting(waiting.total_s + silent, waiting.late_s + silent, waiting.after_ready_s, waiting.chance_s)

    def all_waiting(self, block: BlockMetrics, calls: Sequence[CallMetrics]) -> tuple[Waiting, float]:
        """All waits of `block`, and seconds of them that its states call control: registers asked again and again."""
        rows = self._rows.get(block.number)
        if rows is None:
            return self.waiting(block, block.time_of(*WAITS), calls), 0.0
        marked = np.array([s.category in WAITS for s in block.block.states], dtype=bool)[rows.state]
        silent = max(block.time_of(*WAITS) - int(rows.took[marked].sum()) / PS_PER_S, 0.0)
        waiting = self._by_calls(rows, rows.waits, block)
        hidden = int(rows.took[rows.waits & ~marked].sum()) / PS_PER_S
        return replace(waiting, total_s=waiting.total_s + silent, late_s=waiting.late_s + silent), hidden

    def runs_freely(self, block: BlockMetrics) -> bool:
        """Whether an FPGA block works more than there is time between the host's first call and the last one's end: it
        then works when nobody has asked for anything."""
        rows = [one for one in self._rows.values() if one is not None and len(one.start)]
        if not rows:
            return False
        asked_ps = max(int(one.end.max()) for one in rows) - min(int(one.start.min()) for one in rows)
        return round(block.time_of(Category.WORK) * PS_PER_S) > asked_ps + self._cycle_ps

    def longest_wait_s(self, block: BlockMetrics) -> float:
        """The longest single wait of a host block until the FPGA was ready; 0 without the calls in order."""
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
        """How long these polls had better be put off after each wait begins: what would take least in all if every wait
        had the same delay. 0 without the calls in order."""
        rows = self._rows.get(block.number)
        if rows is None or not len(polls := np.flatnonzero(rows.of(calls) & rows.polls)):
            return 0.0
        stretches = self._stretches(rows, polls, block)
        seen = np.where(rows.port_last >= 0, rows.port_last, rows.end)
        first, last = polls[stretches.first], polls[stretches.last]
        ready = stretches.ready
        if trace_of(self._run) is None:  # between the last poll in vain and the one that was answered
            ready = (ready + seen[last]) // 2
        due = np.maximum(ready - stretches.begins - (seen - rows.start)[first], 0) + _LATE_CYCLES * self._cycle_ps
        between = np.diff(rows.start[polls])[np.diff(stretches.stretch) == 0]
        period = int(between.mean()) if len(between) else int(rows.took[first].mean())
        tried = np.unique(np.quantile(due, np.linspace(0, 1, _DELAYS), method="nearest"))
        again = np.maximum(np.ceil((due[None, :] - tried[:, None]) / max(period, 1)), 0)
        return float(tried[(tried[:, None] + again * period).sum(axis=1).argmin()]) / PS_PER_S

    def _by_sums(self, calls: Sequence[CallMetrics]) -> Waiting:
        """One poll a run is made even so, and of each run the last two may lie after the FPGA was ready."""
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
        others = int(rows.took[chosen & ~rows.polls].sum())
        moving = int(rows.moving[chosen & ~rows.polls].sum())  # of these waits a transfer, not the FPGA
        edges = int((chosen & ~rows.polls).sum()) * self._cycle_ps  # when a wait ends is known to a cycle
        if not len(polls):
            return Waiting(others / PS_PER_S, (others - moving) / PS_PER_S, 0.0, edges / PS_PER_S)
        stretches = self._stretches(rows, polls, block)
        count, ends, ready = len(stretches.first), stretches.ends, stretches.ready
        least = min(self._idle(rows, polls, polls[stretches.last], block))
        between = rows.looped[polls[:-1]][np.diff(stretches.stretch) == 0]
        code = count * max(rows.least_gap, int(between.max(initial=0)))
        cycles = count * self._cycle_ps
        after = min(int(np.maximum(ends - ready, 0).sum()), least) + code + cycles
        first_ends = rows.end[polls[stretches.first]]
        chance = min(int(np.maximum(ends - np.maximum(ready, first_ends), 0).sum()), least) + cycles + edges
        total = (int((ends - stretches.begins).sum()) + others) / PS_PER_S
        return Waiting(total, total - (stretches.quickest + moving) / PS_PER_S, after / PS_PER_S, chance / PS_PER_S)

    def _stretches(self, rows: _Rows, polls: Times, block: BlockMetrics) -> _Stretches:
        stretch = _numbered(rows, polls)
        last = np.concatenate((np.flatnonzero(np.diff(stretch)), [len(stretch) - 1]))
        first = np.concatenate(([0], last[:-1] + 1))
        begins, ends = rows.start[polls[first]], rows.end[polls[last]]
        # polls by address within their stretch: the quickest of each has to be made, all but the last were in vain
        order = np.lexsort((rows.address[polls], stretch))
        same = (np.diff(stretch[order]) == 0) & (np.diff(rows.address[polls][order]) == 0)
        heads = np.concatenate(([0], np.flatnonzero(~same) + 1))
        quickest = int(np.minimum.reduceat(rows.took[polls][order], heads).sum())
        vain = np.zeros(len(polls), dtype=bool)
        vain[order[:-1]] = same
        seen = np.where(rows.port_last[polls] >= 0, rows.port_last[polls], rows.start[polls])
        ready = begins.copy()
        np.maximum.at(ready, stretch[vain], self._work_ends(rows, polls[vain], seen[vain], block))
        return _Stretches(stretch, first, last, begins, ends, ready, quickest)

    def _work_ends(self, rows: _Rows, polls: Times, seen: Times, block: BlockMetrics) -> Times:
        """When each of these moments' work under way ends, in the block that the poll waits for: not before that is it
        ready. The moment itself where the run has no trace or the block is not at work."""
        trace = trace_of(self._run)
        if trace is None or not len(polls):
            return seen
        ready = seen.copy()
        for state in np.unique(rows.state[polls]).tolist():
            mine = rows.state[polls] == state
            working = [target for target in self.targets(block, [state]) if not self.runs_freely(target)]
            ends = [_ends_of_work(trace, target, seen[mine]) for target in working]
            if ends:
                ready[mine] = np.minimum.reduce(ends)
        return ready

    def targets(self, block: BlockMetrics, states: Iterable[int]) -> list[BlockMetrics]:
        """The blocks that these states of a host block name."""
        all_blocks = [b.block for b in self._blocks]
        named = [target for state in states for target in block.block.states[state].targets]
        ids = {target_block.id for target in named for target_block in resolve_target(target, all_blocks, block.block)}
        return [b for b in self._blocks if b.block.id in ids]

    def _idle(self, rows: _Rows, polls: Times, last: Times, block: BlockMetrics) -> list[int]:
        """Upper bounds (ps) of the time after the FPGA was ready, where one block is waited for: from how long that one
        worked in the whole run.

        It is not ready while at work, so all of the run but its work is one. Where every stretch of polls has the same
        messages before it and nothing is sent after the last, the FPGA works between a stretch's first message and its
        end only: then those times less its work are another. `last` is the last poll of each stretch.
        """
        whole = self._run.manifest.time_ps
        targets = self.targets(block, np.unique(rows.state[polls]).tolist())
        if len(targets) != 1 or self.runs_freely(targets[0]):
            return [whole]
        works = round(targets[0].time_of(Category.WORK) * PS_PER_S)
        bounds = [whole - works]
        sent = np.flatnonzero(rows.sends & (rows.port_first >= 0))
        window = np.searchsorted(last, sent, side="left")  # which stretch a message comes before
        heads = np.searchsorted(window, np.arange(len(last) + 1))  # where each stretch's messages begin
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
        """The host's own code between consecutive ones of these calls, as far as it is the loop around them."""
        rows = self._rows.get(block.number)
        if rows is None:
            return 0.0
        return _code(rows, rows.of(calls)) / PS_PER_S

    def served_s(self, block: BlockMetrics, calls: Sequence[CallMetrics]) -> float:
        """What could go together with these calls beside their own time: the control messages and waits next to them
        (with no other transfer of data between), the loops around all of those, and what chance may take of
        the other waits."""
        rows = self._rows.get(block.number)
        if rows is None:
            ids = {(c.site_number, c.state.index) for c in calls}
            rest = [c for c in self._calls if c.block == block.block.id and (c.site_number, c.state.index) not in ids]
            beside_s = sum(c.time_s for c in rest if c.state.category in WAITS or CONTROL & set(c.state.reasons))
            return beside_s + max(block.time_of(*WAITS) - sum(c.time_s for c in rest if c.state.category in WAITS), 0.0)
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
    """The chosen calls that read the same address in turn: polls, whatever their name."""
    at = np.flatnonzero(chosen)
    same = (np.diff(at) == 1) & (np.diff(address[at]) == 0) & (np.diff(site[at]) == 0)
    again: Mask = np.zeros(len(chosen), dtype=bool)
    again[at[1:][same]] = True
    again[at[:-1][same]] = True
    return again


def _code(rows: _Rows, going: Mask) -> int:
    """The host's own code (ps) that goes with these calls: the loops around them, and the least a call takes."""
    runs = int((going[1:] & ~going[:-1]).sum()) + int(going[:1].sum())
    return int(rows.looped[going[1:] & going[:-1]].sum()) + runs * rows.least_gap


def _numbered(rows: _Rows, polls: Times) -> Times:
    """The number of each poll's stretch: polls that follow each other with nothing but a loop's code between, however
    long that is where the same is asked again."""
    gaps = rows.start[polls[1:]] - rows.end[polls[:-1]]
    again = (np.diff(rows.address[polls]) == 0) & (np.diff(rows.site[polls]) == 0)
    follows = (np.diff(polls) == 1) & (again | (gaps <= rows.took[polls[:-1]]))
    return np.concatenate(([0], np.cumsum(~follows)))


def _ends_of_work(trace: Trace, block: BlockMetrics, moments: Times) -> Times:
    """For each moment the end of the work that the block is at; the moment itself where it is at none."""
    edges, states = trace.row(block.number)
    if not len(states):
        return moments
    works = trace.codes[block.number][states] == WORK
    # the end of each stretch of work, however many states of work it passes through
    stops = np.where(works, len(works), np.arange(len(works)))
    until = edges[np.minimum.accumulate(stops[::-1])[::-1]]
    at = np.maximum(np.searchsorted(edges[:-1], moments, side="right") - 1, 0)
    return np.where(works[at], until[at], moments)
