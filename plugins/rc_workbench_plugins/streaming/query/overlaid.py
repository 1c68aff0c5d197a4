"""What agents counted beside what a trace says, on the bars of what a run shows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rc_workbench_plugins.streaming.agents.packets import Answers, losses
from rc_workbench_plugins.streaming.query.limits import overall
from rc_workbench_plugins.streaming.query.measures import Measure, MeasureResult
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.query.words import value_words
from workbench.api import Explained, ExplainedBar
from workbench.api.unstable import Topology

APART = 0.01  # of the longest bar, from which on two numbers differ
_Key = tuple[object, ...]


def overlaid(explained: Sequence[Explained], answers: Answers | None, topology: Topology) -> list[Explained]:
    """The answers, with what agents counted of the same at their bars, and a warning where the two differ or where
    agents lost something."""
    counted = {_key(one.measure): one for one in answers.measures} if answers else {}
    if answers is None or not counted:
        return list(explained)
    lost = ". ".join(losses(answers.diagnostics))
    return [replace(one, bars=_bars(one.bars, counted, lost, topology)) for one in explained]


def _bars(
    bars: Sequence[ExplainedBar], counted: Mapping[_Key, MeasureResult], lost: str, topology: Topology
) -> tuple[ExplainedBar, ...]:
    query = read_query("\n".join(bar.statement for bar in bars if bar.statement), topology)
    by_text = {one.text: counted[key] for one in query.measures if (key := _key(one)) in counted}
    longest = max((bar.value for bar in bars), default=0.0)
    return tuple(_bar(bar, by_text.get(bar.statement), lost, longest) for bar in bars)


def _bar(bar: ExplainedBar, result: MeasureResult | None, lost: str, longest: float) -> ExplainedBar:
    if result is None:
        return bar
    value = overall(result)
    if value is None:
        return replace(bar, warning=lost) if lost else bar
    words = value_words(result.measure, value)
    differs = abs(value - bar.value) > APART * max(bar.whole or longest, value)
    who = f"the {result.agent}'s agent"
    warning = f"{who} counted {words}" if differs else ""
    if lost:
        warning = f"{warning or f'{who} counted {words}'}, but not everything was counted: {lost}"
    return replace(bar, counted=value, counted_words=words, warning=warning)


def _key(measure: Measure) -> _Key:
    """What is measured, whatever it is called; of a condition its words, which is all that is kept of it."""
    statistic = None if measure.single else measure.statistic
    return measure.text.partition(" when ")[2], measure.metric, statistic, measure.tap, measure.edges
