"""Measures of the states of blocks: of a trace, or of a run without one, what its counters say of the whole run.

A visit is an interval of the trace. It counts when it begins, its dwell when it ends. The run's end cuts the last one
off, which is counted as it is.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.streaming.query.frames import time_bounds
from rc_workbench_plugins.streaming.query.measures import (
    COUNTED,
    FrameValue,
    Measure,
    MeasureResult,
    Metric,
    Statistic,
    Within,
)
from rc_workbench_plugins.streaming.query.statistics import with_statistic
from rc_workbench_plugins.streaming.query.steps import FALSE, TRUE, Pieces, Steps, last_at_time
from workbench.api import Diagnostic, WorkbenchError, percent_text
from workbench.api.state_events import RunStates, StateEvents
from workbench.api.stream_events import Times

OF_COUNTERS = "of the run's counters: it has no trace"
_UNLIKE = 0.01  # of the run by which trace and counters differ, from which on it is said


def state_result(measure: Measure, states: RunStates, worth: Steps | None) -> MeasureResult:
    """What a measure within a block came to, while its condition's `worth` is true. WorkbenchError where the run has no
    trace, and counters do not show it."""
    within = measure.within
    assert within
    if not states.traced:
        return MeasureResult(measure, (_counted(measure, within, states),), OF_COUNTERS)
    events = states.events(within.block)
    bounds = time_bounds(measure, 0, states.end_ps)
    frames = _over_time(within, events, bounds, worth)
    if measure.metric is not Metric.SHARE:
        frames = _of_visits(measure, within, events, bounds, worth, frames)
    if frames and measure.frame.time_ps:
        last = frames[-1]
        part = min(1.0, (last.end_ps - last.start_ps) / measure.frame.time_ps)
        frames[-1] = replace(last, part=part)
    return MeasureResult(measure, tuple(frames), _trust(within, states))


def while_in(within: Within, states: RunStates) -> Steps:
    """`TRUE` while a block is in one of the states, else `FALSE`. WorkbenchError where the run has no trace."""
    if not states.traced:
        raise no_trace("a condition of a state")
    return _inside(within, states.events(within.block))


def last_dwells(within: Within, states: RunStates) -> tuple[Times, Times]:
    """When visits ended, and how long they had lasted. WorkbenchError where the run has no trace."""
    if not states.traced:
        raise no_trace("the dwell of the last visit")
    events = states.events(within.block)
    visits = np.flatnonzero(_chosen(within, events))
    return events.edges_ps[visits + 1], np.diff(events.edges_ps)[visits]


def _inside(within: Within, events: StateEvents) -> Steps:
    times, inside = events.edges_ps[:-1], np.where(_chosen(within, events), TRUE, FALSE).astype(np.int8)
    last = last_at_time(times)
    return Steps(times[last], inside[last], FALSE)


def _chosen(within: Within, events: StateEvents) -> NDArray[np.bool_]:
    return np.isin(events.states, within.states) if within.states else np.ones(len(events.states), bool)


def _over_time(within: Within, events: StateEvents, bounds: Times, worth: Steps | None) -> list[FrameValue]:
    pieces = Pieces(bounds, worth, _inside(within, events))
    inside = pieces.sums(pieces.durations * (pieces.values[0] == TRUE)).tolist()
    return [
        FrameValue(
            begin, end, collected, value=part / collected if collected else None, uncertainty_ps=events.uncertain_ps
        )
        for begin, end, collected, part in zip(
            bounds[:-1].tolist(), bounds[1:].tolist(), pieces.collected.tolist(), inside, strict=True
        )
    ]


def _of_visits(
    measure: Measure, within: Within, events: StateEvents, bounds: Times, worth: Steps | None,
    frames: list[FrameValue],
) -> list[FrameValue]:  # fmt: skip
    """The frames with what is counted visit by visit, or transition by transition, where it happens."""
    chosen = _chosen(within, events)
    if measure.metric is Metric.TRANSITIONS:
        chosen = np.append(chosen[:-1], False)  # nothing follows the last one
        if within.into:
            chosen[:-1] &= np.isin(events.states[1:], within.into)
    visits = np.flatnonzero(chosen)
    ends = measure.metric in (Metric.DWELL, Metric.TRANSITIONS)
    times, values = events.edges_ps[visits + ends], np.diff(events.edges_ps)[visits]
    kept = np.ones(len(times), bool) if worth is None else worth.before(times) == TRUE
    times, values = times[kept], values[kept]
    cuts = np.searchsorted(times, bounds[1:-1], "right")
    result = []
    for frame, moments, lasted in zip(frames, np.split(times, cuts), np.split(values, cuts), strict=True):
        of_frame = replace(frame, count=len(moments), value=None)
        if measure.metric is Metric.DWELL:
            result.append(with_statistic(of_frame, measure, moments, lasted, np.ones(len(moments), np.int64)))
        else:
            result.append(replace(of_frame, value=len(moments)))
    return result


def _counted(measure: Measure, within: Within, states: RunStates) -> FrameValue:
    """The whole run as one frame, of its counters."""
    if measure.when is not None or measure.frame.time_ps:
        raise no_trace("a condition" if measure.when is not None else "a frame")
    counts, chosen = states.counted(within.block), list(within.states)
    end_ps = states.end_ps
    time_ps, visits = int(counts.time_ps[chosen].sum()), int(counts.visits[chosen].sum())
    value: float | None
    match measure.metric, measure.statistic:
        case Metric.SHARE, _:
            value = time_ps / end_ps if end_ps else None
        case Metric.VISITS, _:
            value = visits
        case Metric.TRANSITIONS, _:
            moves = counts.moves
            visits = int(moves[np.ix_(chosen, list(within.into))].sum() if within.into else moves.sum())
            value = visits
        case _, Statistic.MEAN:
            value = time_ps / visits if visits else None
        case _, Statistic.SUM:
            value = time_ps
        case _, statistic:
            raise no_trace(f"'{statistic}'")
    return FrameValue(0, end_ps, end_ps, visits, value)


def _trust(within: Within, states: RunStates) -> str:
    """A note on a block that was not traced throughout: the difference between trace and counters."""
    events, counted = states.events(within.block), states.counted(within.block)
    chosen = _chosen(within, events)
    traced_ps, counted_ps = int(np.diff(events.edges_ps)[chosen].sum()), int(counted.time_ps[list(within.states)].sum())
    if not within.states or abs(traced_ps - counted_ps) <= _UNLIKE * states.end_ps:
        return COUNTED
    shares = (percent_text(ps / max(states.end_ps, 1)) for ps in (traced_ps, counted_ps))
    return "from an incomplete trace: it shows {} of the run there, but the counters {}".format(*shares)


def no_trace(what: str, counted: str = "share, mean and sum of dwell, visits and transitions") -> WorkbenchError:
    """The error of what a run without a trace does not show."""
    message = f"this run has no trace, and its counters do not show {what}"
    return WorkbenchError(
        Diagnostic(message, f"Run with --trace. Without it, counters give {counted} of the whole run.")
    )
