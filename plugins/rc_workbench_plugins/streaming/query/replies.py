"""Results as replies for the window: a trace's, and beside them what agents counted while the application ran."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.streaming.query.curves import curves_of
from rc_workbench_plugins.streaming.query.measures import (
    COUNTED,
    AssertResult,
    MeasureResult,
    Metric,
    Statistic,
    unit_of,
)
from rc_workbench_plugins.streaming.query.words import (
    assert_lines,
    bin_words,
    result_lines,
    times_words,
)
from workbench.api import PS_PER_S, Reply, percent_text

MOST_SAMPLES = 20_000  # of a trace, that are shown


def reply_of(result: MeasureResult | AssertResult) -> Reply:
    """What a statement came to. What agents counted is of statements of the project, which have no line here."""
    if isinstance(result, AssertResult):
        asserted, line = result.asserted, 0 if result.agent else result.asserted.line
        words = "; ".join(assert_lines(result))
        return Reply(asserted.label, asserted.text, words, line, holds=result.holds and result.known)
    measure, frames = result.measure, result.frames
    unit, factor = unit_of(measure)
    times = [frame.start_ps / PS_PER_S for frame in frames[:1]] + [frame.end_ps / PS_PER_S for frame in frames]
    unsure_s = max((frame.uncertainty_ps for frame in frames), default=0) / PS_PER_S
    line, words = 0 if result.agent else measure.line, "; ".join(result_lines(result))
    reply = Reply(measure.label, measure.text, words, line, unit, tuple(times), unsure_s=unsure_s)
    if measure.statistic is Statistic.HIST and frames:
        return _histogram(reply, result)
    if samples := [frame.samples for frame in frames if frame.samples]:
        moments, values = thinned(np.concatenate([t for t, _ in samples]), np.concatenate([v for _, v in samples]))
        shown = tuple((values / factor).tolist()), tuple((moments / PS_PER_S).tolist())
        return replace(reply, values=shown[0], moments_s=shown[1], stays=measure.metric is Metric.OCCUPANCY)
    off = tuple(frame.uncertainty / factor for frame in frames)
    numbers = tuple(None if f.value is None else f.value / factor for f in frames)
    return replace(reply, values=numbers, uncertain=off if any(off) else ())


def beside(asked: Sequence[Reply], of_agents: Sequence[tuple[str, Reply]]) -> list[Reply]:
    """Replies of a trace, with what agents counted of the same statements; then what agents counted beside."""
    replies, texts = [], {one.text for one in asked}
    for reply in asked:
        others = [(by, one) for by, one in of_agents if one.text == reply.text]
        said = (f"; {by} counted{' the same' if o.words == reply.words else f': {o.words}'}" for by, o in others)
        numbers = tuple(one for _, one in others if one.values)
        replies.append(replace(reply, words="".join([reply.words, *said]), counted=numbers))
    more = ((by, one) for by, one in of_agents if one.text not in texts)
    return [*replies, *(replace(one, words=f"{one.words}; counted by {by}") for by, one in more)]


def _histogram(reply: Reply, result: MeasureResult) -> Reply:
    """The reply with each frame's counts (a row) as shares, over the bins that are used, and the bin with the most."""
    names = bin_words(result.measure)
    counts = [frame.histogram or (0,) * len(names) for frame in result.frames]
    sums = [sum(column) for column in zip(*counts, strict=True)]
    used = [number for number, total in enumerate(sums) if total]
    unsure = f"; {times_words(round(reply.unsure_s * PS_PER_S))}" if reply.unsure_s else ""
    trust = unsure + ("" if result.trust == COUNTED else f"; {result.trust}")
    if not used:
        return replace(reply, words=f"nothing was seen{trust}")
    kept, most = slice(used[0], used[-1] + 1), max(used, key=sums.__getitem__)
    words = f"most often {names[most]}: {percent_text(sums[most] / sum(sums))}{trust}"
    shares = tuple(tuple(part / (sum(row) or 1) for part in row[kept]) for row in counts)
    events = tuple(float(sum(row)) for row in counts)
    bins = tuple(names[kept])
    return replace(reply, words=words, bin_words=bins, shares=shares, events=events, curves=curves_of(result))


def thinned(moments: NDArray[Any], values: NDArray[Any], most: int = MOST_SAMPLES) -> tuple[NDArray[Any], NDArray[Any]]:
    """At most `most` of many samples: the first, the least and the largest of each part of them."""
    if len(values) <= most:
        return moments, values
    bounds = np.linspace(0, len(values), most // 3 + 1).astype(int)
    kept = {int(first) for first in bounds[:-1]}
    for first, end in pairwise(bounds.tolist()):
        part = values[first:end]
        kept |= {first + int(part.argmin()), first + int(part.argmax())}
    at = sorted(kept)
    return moments[at], values[at]
