"""Measures and assertions of a trace of a run: no sampling, no agent, every event there. The oracle of all agents."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.streaming.crossing import Across, across
from rc_workbench_plugins.streaming.query.frames import few_enough, time_bounds
from rc_workbench_plugins.streaming.query.measures import (
    COUNTED,
    And,
    Assert,
    AssertResult,
    Blocked,
    Comparison,
    Condition,
    FrameValue,
    InState,
    Measure,
    MeasureResult,
    Metric,
    Not,
    Number,
    Or,
    Query,
    Statistic,
    Tap,
    about_states,
    operands,
)
from rc_workbench_plugins.streaming.query.states import last_dwells, no_trace, state_result, while_in
from rc_workbench_plugins.streaming.query.statistics import with_statistic
from rc_workbench_plugins.streaming.query.steps import (
    FALSE,
    TRUE,
    UNKNOWN,
    Pieces,
    Steps,
    last_of_each_time,
    merged,
    occupancy,
    spells,
)
from workbench.api import PS_PER_S, Diagnostic, WorkbenchError
from workbench.api.state_events import RunStates
from workbench.api.stream_events import EdgeEvents, Events, Times
from workbench.api.virtual_queue import worked

RELATIONS = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}


def evaluate(
    query: Query,
    events: Events,
    trusted: bool = True,
    states: RunStates | None = None,
    counted: Callable[[Measure], MeasureResult] | None = None,
) -> tuple[tuple[MeasureResult, ...], tuple[AssertResult, ...]]:
    """What the measures come to, and whether the assertions hold, in the query's order. Its labels are the events', its
    blocks those of `states`. Without `trusted` no result says how far it can be trusted, which takes half of the time
    to find out. `counted` answers what is measured of edges without events."""
    run = _Run(events, trusted, states, counted)
    return tuple(map(run.result, query.measures)), tuple(map(run.held, query.asserts))


def waiting_for_the_bus(events: Events) -> dict[str, float]:
    """For each edge that crosses a bus: the share of the run in which the consumer waits for elements on their way."""
    bounds = np.array([events.start_ps, max(events.end_ps, events.start_ps + 1)])
    shares = {}
    for label, edge in events.edges.items():
        if edge.taken_ps is not None or edge.delivered_ps is not None:
            pieces = Pieces(bounds, spells(edge.waiting_ps, bounds[0]), occupancy(edge, bounds[0]))
            shares[label] = float(pieces.sums(pieces.durations * (pieces.values[0] > 0))[0] / np.diff(bounds)[0])
    return shares


class _Run:
    """A run, of which measures are taken; what a measure came to is kept, since conditions ask for it too."""

    def __init__(
        self, events: Events, trusted: bool, states: RunStates | None,
        counted: Callable[[Measure], MeasureResult] | None,
    ) -> None:  # fmt: skip
        self._trusted, self._states, self._counted = trusted, states, counted
        self._events, self._start, self._end = events, events.start_ps, events.end_ps
        self._results: dict[Measure, MeasureResult] = {}
        self._trusts: dict[str, Across] = {}

    def result(self, measure: Measure) -> MeasureResult:
        if measure.within and measure not in self._results:
            worth = self._truth(measure.when) if measure.when else None
            self._results[measure] = state_result(measure, self._blocks(), worth)
        elif self._counted and measure not in self._results and measure.edges[-1] not in self._events.edges:
            self._results[measure] = self._counted(measure)
        elif measure not in self._results:
            rests = self._trust(measure)
            parts = rests.parts if measure.statistic is Statistic.HIST else ()
            self._results[measure] = MeasureResult(measure, tuple(self._frames(measure)), rests.words, replayed=parts)
        return self._results[measure]

    def _edge(self, label: str) -> EdgeEvents:
        if label not in self._events.edges:
            raise no_trace(f"transfers at {label} over time")
        return self._events.edges[label]

    def _blocks(self) -> RunStates:
        if self._states is None:
            raise WorkbenchError(Diagnostic("the query asks about states, but this run counted none"))
        return self._states

    def _trust(self, measure: Measure) -> Across:
        """A note on the occupancy of an edge across a bus: what its ends alone would have shown, and which part was
        recorded."""
        edge = self._edge(measure.edges[-1])
        parts = dict.fromkeys(part for label in measure.edges if (part := self._edge(label).part))
        if parts:
            where = f"at {', '.join(parts)} alone"
            return Across(f"{COUNTED} {where}: a run on a real machine does not record what happens in an FPGA")
        if (
            not self._trusted
            or measure.metric is not Metric.OCCUPANCY
            or len(measure.edges) > 1
            or edge.taken_ps is None
            or edge.delivered_ps is None
        ):
            return Across(COUNTED)
        if edge.edge.label not in self._trusts:
            self._trusts[edge.edge.label] = across(edge)
        return self._trusts[edge.edge.label]

    def held(self, asserted: Assert) -> AssertResult:
        worth = self._truth(asserted.condition)
        end = max(self._end, self._states.end_ps) if self._states and about_states(asserted) else self._end
        ends = np.append(worth.times[1:], end)
        broken: list[tuple[int, int]] = []
        for begin, end in zip(worth.times[worth.values == FALSE].tolist(), ends[worth.values == FALSE].tolist(),
                              strict=True):  # fmt: skip
            if broken and broken[-1][1] == begin:
                begin = broken.pop()[0]
            broken.append((begin, end))
        sides = operands(asserted.condition) if broken else ()
        compared = tuple((side, float(self._steps(side).at(np.array([broken[0][0]]))[0])) for side in sides)
        known = bool((worth.values != UNKNOWN).any())
        return AssertResult(asserted, tuple(broken), known, compared=compared)

    # frames

    def _frames(self, measure: Measure) -> Sequence[FrameValue]:
        frames, asked = [*self._whole_frames(measure)], measure.frame
        last = self._edge(measure.edges[-1])
        transfers = last.pop_ps if measure.tap is Tap.POP else last.push_ps
        if frames and asked.time_ps:
            part = (frames[-1].end_ps - frames[-1].start_ps) / asked.time_ps
            frames[-1] = replace(frames[-1], part=min(part, 1.0))
        elif asked.elements and (rest := len(transfers) - asked.elements * (len(frames) - 1)) < asked.elements:
            frames[-1] = replace(frames[-1], part=rest / asked.elements)
        return frames

    def _whole_frames(self, measure: Measure) -> Sequence[FrameValue]:
        last = self._edge(measure.edges[-1])
        transfers = last.pop_ps if measure.tap is Tap.POP else last.push_ps
        bounds = self._bounds(measure, transfers)
        worth = self._truth(measure.when) if measure.when else None
        pieces = Pieces(bounds, worth)
        if measure.metric in (Metric.OCCUPANCY, Metric.BACKPRESSURE):
            return self._over_time(measure, last, bounds, worth)
        if measure.frame.elements:
            frame = np.arange(len(transfers)) // measure.frame.elements
        else:
            frame = np.minimum(np.searchsorted(bounds[1:], transfers, "left"), len(bounds) - 2)
        kept = np.ones(len(transfers), bool) if worth is None else worth.before(transfers) == TRUE
        if measure.metric in (Metric.LATENCY, Metric.VALUE, Metric.INTERVAL):
            return self._of_elements(measure, transfers, frame, kept, bounds, pieces.collected)
        counts = np.bincount(frame[kept], minlength=len(bounds) - 1)
        values: NDArray[Any] = counts * (last.tick_ps if measure.metric is Metric.UTIL else PS_PER_S)
        if measure.metric is Metric.UTIL and not last.tick_ps:
            waiting = Pieces(bounds, worth, spells(last.waiting_ps, self._start))
            values = pieces.collected - waiting.sums(waiting.durations * (waiting.values[0] == TRUE))
        return [
            FrameValue(begin, end, collected, count, value / collected if collected else None)
            for (begin, end), collected, count, value in zip(
                pairwise(bounds.tolist()), pieces.collected.tolist(), counts.tolist(), values.tolist(), strict=True
            )
        ]

    def _bounds(self, measure: Measure, transfers: Times) -> Times:
        """The starts of frames, and the end of the last one. WorkbenchError if there are too many to list."""
        frame = measure.frame
        if not frame.elements:
            return time_bounds(measure, self._start, self._end)
        few_enough(measure, len(transfers) // frame.elements)
        ends = transfers[frame.elements - 1 :: frame.elements]
        over = not len(ends) or ends[-1] < self._end or len(transfers) % frame.elements
        return np.concatenate(([self._start], ends, [self._end] if over else [])).astype(np.int64)

    def _over_time(self, measure: Measure, edge: EdgeEvents, bounds: Times, worth: Steps | None) -> list[FrameValue]:
        if measure.metric is Metric.BACKPRESSURE:
            state = spells(edge.blocked_ps, self._start)
        else:
            state = self._holds(measure.edges)
        pieces = Pieces(bounds, worth, state)
        frames = []
        for number, (begin, end) in enumerate(pairwise(bounds.tolist())):
            part = slice(*np.searchsorted(pieces.frames, [number, number + 1]))
            times, lasting, values = pieces.times[part], pieces.durations[part], pieces.values[0][part]
            times, values, lasting = times[lasting > 0], values[lasting > 0], lasting[lasting > 0]
            collected = int(lasting.sum())
            if measure.metric is Metric.BACKPRESSURE:
                blocked = int(lasting[values == TRUE].sum())
                frames.append(FrameValue(begin, end, collected, 0, blocked / collected if collected else None))
                continue
            unsure = 0.0
            if edge.uncertain_ps and collected:  # every element may have stayed so much longer or shorter
                first, after = np.searchsorted(edge.push_ps, [begin, end]).tolist()
                unsure = (after - first) * edge.uncertain_ps / collected
            frame = FrameValue(begin, end, collected, uncertainty=unsure)
            frames.append(with_statistic(frame, measure, times, values, lasting))
        return frames

    def _of_elements(
        self, measure: Measure, transfers: Times, frame: NDArray[np.intp], kept: NDArray[np.bool_], bounds: Times,
        collected: Times,
    ) -> list[FrameValue]:  # fmt: skip
        values: NDArray[Any]
        if measure.metric is Metric.LATENCY:
            values, known = self._latencies(measure.edges)
            kept = kept & known
        elif measure.metric is Metric.INTERVAL:
            values = _intervals(self._edge(measure.edges[-1]), measure.tap)
            kept = kept & (np.arange(len(kept)) > 0)
        else:
            values = _values(self._edge(measure.edges[-1]))
        unsure = sum(self._edge(label).uncertain_ps for label in measure.edges)
        frames = []
        for number, (begin, end) in enumerate(pairwise(bounds.tolist())):
            part = slice(*np.searchsorted(frame, [number, number + 1]))
            chosen = kept[part]
            times, of_frame = transfers[part][chosen], values[part][chosen]
            lasting = np.ones(len(times), np.int64)
            off = float(unsure * (len(times) if measure.statistic is Statistic.SUM else 1))
            off = off if measure.metric is Metric.LATENCY else 0.0
            seen = FrameValue(begin, end, int(collected[number]), len(times), uncertainty=off)
            frames.append(with_statistic(seen, measure, times, of_frame, lasting))
        return frames

    def _latencies(self, labels: Sequence[str]) -> tuple[Times, NDArray[np.bool_]]:
        """From the push of what it was made of on the first edge to the pop of each element on the last, and whether
        that is known. A block that takes and gives equally many gives them in order; what another gives is made of
        what it took last."""
        path = [self._edge(label) for label in labels]
        source = np.arange(len(path[-1].pop_ps))
        for into, out in reversed(list(pairwise(path))):
            if into.pop_by is not None and out.push_by is not None:
                source = np.append(_by_threads(into, out), -1)[source]
            elif len(into.pop_ps) != len(out.push_ps):
                made_of = np.searchsorted(into.pop_ps, out.push_ps, "right") - 1
                source = np.append(made_of, -1)[source]  # -1 stays -1: not known
        known = source >= 0
        return np.where(known, path[-1].pop_ps - np.append(path[0].push_ps, 0)[source], 0), known

    def _holds(self, labels: Sequence[str]) -> Steps:
        """How many elements are in a queue; along a path how many entered the first edge and did not leave the last:
        a virtual queue. Where the two do not give equally many, what did not leave is not counted."""
        path = [self._edge(label) for label in labels]
        if len(path) == 1:
            return occupancy(path[0], self._start)
        last = path[-1]
        stays, known = self._latencies(labels)
        left, entered = last.pop_ps[known], (last.pop_ps - stays)[known]
        if all(len(into.pop_ps) == len(out.push_ps) for into, out in pairwise(path)):
            entered = path[0].push_ps
        return occupancy(EdgeEvents(last.edge, np.sort(entered), np.sort(left)), self._start)

    # conditions

    def _truth(self, condition: Condition) -> Steps:
        match condition:
            case Blocked(edge):
                return spells(self._edge(edge).blocked_ps, self._start)
            case InState(within):
                return while_in(within, self._blocks())
            case Not(of):
                worth = self._truth(of)
                return Steps(worth.times, -worth.values, -worth.otherwise)
            case And(of) | Or(of):
                least = np.minimum if isinstance(condition, And) else np.maximum
                parts = [self._truth(part) for part in of]
                times = merged(*(part.times for part in parts))
                return Steps(times, reduce(least, [part.at(times) for part in parts]), UNKNOWN)
            case Comparison(left, relation, right):
                sides = [self._steps(side) for side in (left, right)]
                times = merged(sides[0].times, sides[1].times)
                one, other = (side.at(times) for side in sides)
                truth = np.where(RELATIONS[relation](one, other), TRUE, FALSE)
                known = ~(np.isnan(one) | np.isnan(other))
                return Steps(times, np.where(known, truth, UNKNOWN).astype(np.int8), UNKNOWN)

    def _steps(self, side: Measure | Number) -> Steps:
        """What a condition compares, over time."""
        if isinstance(side, Number):
            return Steps(np.array([self._start]), np.array([float(side.value)]))
        if not side.instant:
            frames = self.result(side).frames
            ends, values = [frame.end_ps for frame in frames], [frame.value for frame in frames]
            return last_of_each_time(np.array(ends), np.array([np.nan if v is None else v for v in values], float))
        if side.within:
            steps = last_of_each_time(*last_dwells(side.within, self._blocks()))
            return self._when_true(side, steps)
        edge = self._edge(side.edges[-1])
        if side.metric is Metric.OCCUPANCY:
            held = self._holds(side.edges)
            steps = Steps(held.times, held.values.astype(np.float64))
        elif side.metric is Metric.LATENCY:
            latencies, known = self._latencies(side.edges)
            steps = last_of_each_time(edge.pop_ps[known], latencies[known])
        elif side.metric is Metric.INTERVAL:
            times = edge.pop_ps if side.tap is Tap.POP else edge.push_ps
            steps = last_of_each_time(times[1:], _intervals(edge, side.tap)[1:])
        else:
            steps = last_of_each_time(edge.push_ps, _values(edge))
        return self._when_true(side, steps)

    def _when_true(self, side: Measure, steps: Steps) -> Steps:
        """The steps where the measure's own condition holds, not known elsewhere."""
        if side.when is None:
            return steps
        worth = self._truth(side.when)
        times = merged(steps.times, worth.times)
        return Steps(times, np.where(worth.at(times) == TRUE, steps.at(times), np.nan))


def _by_threads(into: EdgeEvents, out: EdgeEvents) -> NDArray[np.intp]:
    """For each element that threads pushed, the popped element that it was computed from; -1: none."""
    made_of = np.full(len(out.push_ps), -1)
    assert into.pop_by is not None
    assert out.push_by is not None
    for thread in np.unique(out.push_by):
        popped, pushed = np.flatnonzero(into.pop_by == thread), np.flatnonzero(out.push_by == thread)
        if len(popped) == len(pushed):
            made_of[pushed] = popped
        elif len(popped):
            last = np.searchsorted(into.pop_ps[popped], out.push_ps[pushed], "right") - 1
            made_of[pushed] = np.where(last >= 0, popped[last], -1)
    return made_of


def _intervals(edge: EdgeEvents, tap: Tap) -> Times:
    """Between each transfer and the one before, without the waiting of that end; 0 for the first."""
    times, waited = (edge.pop_ps, edge.waiting_ps) if tap is Tap.POP else (edge.push_ps, edge.blocked_ps)
    return np.append(0, np.rint(worked(times, waited)[:-1]).astype(np.int64))[: len(times)]


def _values(edge: EdgeEvents) -> NDArray[Any]:
    if edge.values is None:
        message = f"the run did not record the values on {edge.edge.label}"
        hint = "In a design without a 'streaming' section, an agent counts them: write the statement in hardware.query."
        raise WorkbenchError(Diagnostic(message, hint))
    return edge.values
