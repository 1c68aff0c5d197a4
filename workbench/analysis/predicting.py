"""Predicts the gain of findings' advice, and ranks the findings by it."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain, combinations
from time import thread_time

from workbench.analysis.finding_words import LEAST_GAIN
from workbench.analysis.plugin_findings import severity_of
from workbench.api.job import Job
from workbench.api.results import Analysis, WhatIf
from workbench.model.blocks import Side
from workbench.model.changes import Change, OtherClock, ScaleHost, ScaleState
from workbench.model.diagnostic import WorkbenchError
from workbench.model.finding import Advice, Finding, tops
from workbench.model.prediction import Bottleneck, Prediction, Trust
from workbench.model.text import ratio_text
from workbench.replay.predict import Replayed

#: The number of pieces of advice considered for the best sets.
_MOST_PIECES = 6
#: The common subject of kinds of changes that change the same thing.
_OF = {
    "interrupt": "polls", "poll_delay": "polls", "fewer_starts": "starts", "control_in_fpga": "starts",
    "unite": "sizes", "split": "sizes", "resize": "sizes",
}  # fmt: skip
#: A speedup is a quotient of whole picoseconds.
_ROUNDED = 1e-6


@dataclass(frozen=True)
class Trial:
    """The prediction for a set of changes, and the run's critical path by block and state, today (`now`) and after
    them."""

    prediction: Prediction
    now: tuple[Bottleneck, ...] = ()
    after: tuple[Bottleneck, ...] = ()


def try_changes(replayed: Replayed, changes: Sequence[Change]) -> Trial:
    """Predict a set of changes together. Raises WorkbenchError if a change names something that the run lacks."""
    prediction = replayed.predict(changes)
    if prediction.trust is Trust.REFUSED:
        return Trial(prediction)
    return Trial(prediction, replayed.next_bottlenecks(), replayed.next_bottlenecks(changes))


def with_predictions(
    analysis: Analysis, replayed: Replayed, job: Job | None = None, budget_s: float = math.inf,
    known: Mapping[tuple[Change, ...], Prediction] | None = None,
) -> Analysis:  # fmt: skip
    """The analysis with predictions for its advice. Findings are ranked again: first those with a predicted speedup, by
    it, then the others by their upper bound, and last those that follow from others.

    Predictions end when `budget_s` seconds of processor time are used. `known` are those of earlier.
    """
    budget = _Budget(budget_s)
    now = replayed.next_bottlenecks()
    ordered = _in_order(analysis, now)
    predictions = {changes: one for changes, one in (known or {}).items() if changes in ordered}
    left = [changes for changes in ordered if changes not in predictions]
    for number, changes in enumerate(left):
        if job:
            job.check()
            job.progress(number / len(left))
        if not replayed.exact or budget.allows():
            predictions[changes] = prediction_of(replayed, changes)
    findings = _with_advice_of_parts([_predicted(finding, predictions) for finding in analysis.findings])
    findings = tuple(sorted(findings, key=_rank))
    if not replayed.exact:
        return replace(analysis, findings=findings, what_if=WhatIf(replayed.why))
    best = _best_sets(findings, replayed, budget)
    after = replayed.next_bottlenecks(best[0].changes) if best else ()
    path = replace(replayed.critical_path(), steps=())
    what_if = WhatIf("", best, now, after, len(ordered) - len(predictions), path)
    return replace(analysis, findings=findings, what_if=what_if)


def _in_order(analysis: Analysis, path: Sequence[Bottleneck]) -> list[tuple[Change, ...]]:
    """The advised changes in the order of their prediction: the most promising advice of each finding comes before the
    second of any, and last that of findings which are parts of others or follow from them. Those that may gain most
    come first, by their bounds and the critical path, then the advice that changes most."""
    host = {one.block.id for one in analysis.blocks if one.block.side is Side.HOST}
    host_share = sum(one.share for one in path if one.block in host)
    places: dict[tuple[Change, ...], tuple[bool, int, float, int]] = {}
    for finding in analysis.findings:
        follows = bool(finding.part_of) or finding.points_elsewhere
        advice = [
            (-_promised(one, host_share if path else None), -len(one.changes), one.changes)
            for one in finding.advice if one.changes
        ]  # fmt: skip
        for turn, (promised, size, changes) in enumerate(sorted(advice, key=lambda one: one[:2])):
            place = follows, turn, promised, size
            places[changes] = min(places.get(changes, place), place)
    return sorted(places, key=places.__getitem__)


def _promised(advice: Advice, host_share: float | None) -> float:
    """The speedup that advice may bring: its bound, or the share of the critical path that the changed side has, if
    this is less. It only serves for an order, since another order of calls may remove more of the path."""
    bound, sides = advice.at_most or 0.0, set(map(_side_of, advice.changes))
    if host_share is None or len(sides) > 1 or None in sides:
        return bound
    stays = 1 - host_share if sides == {Side.HOST} else host_share
    return min(bound, 1 / max(stays, _ROUNDED))


def _side_of(change: Change) -> Side | None:
    """The side whose work a change makes shorter; None if it may be either's."""
    if hasattr(change, "calls") or isinstance(change, ScaleHost):
        return Side.HOST
    return Side.FPGA if isinstance(change, ScaleState | OtherClock) else None


@dataclass
class _Budget:
    """A limit (s) on this thread's processor time for predictions. The next prediction is expected to take as long as
    the longest so far. The window's painting does not count."""

    seconds: float
    begun_s: float = field(default_factory=thread_time)
    last_s: float = field(default_factory=thread_time)
    longest_s: float = 0.0

    def allows(self) -> bool:
        now = thread_time()
        self.longest_s, self.last_s = max(self.longest_s, now - self.last_s), now
        return now - self.begun_s + self.longest_s <= self.seconds


def _rank(finding: Finding) -> tuple[int, bool, bool, float]:
    unknown = finding.speedup_predicted is None
    return finding.order, finding.points_elsewhere, unknown, -finding.gain


def prediction_of(replayed: Replayed, changes: tuple[Change, ...]) -> Prediction:
    """The prediction of changes; it is refused if they name something that the run lacks."""
    try:
        return replayed.predict(changes)
    except WorkbenchError as error:
        return Prediction(changes, Trust.REFUSED, why=error.diagnostics[0].message)


def _predicted(finding: Finding, known: Mapping[tuple[Change, ...], Prediction]) -> Finding:
    if finding.failures:
        return finding
    advice = [replace(a, prediction=_within(known.get(a.changes), a)) if a.changes else a for a in finding.advice]
    if not finding.points_elsewhere:
        advice.sort(key=_by_gain)
    predicted = replace(finding, advice=tuple(advice))
    return replace(predicted, severity=severity_of(predicted.gain))


def _with_advice_of_parts(findings: Sequence[Finding]) -> Sequence[Finding]:
    """The findings; one that gains less than a part of it has the part's best advice too."""
    best = {}
    for finding in sorted(findings, key=lambda one: one.speedup_predicted or 0.0):
        if finding.part_of and finding.speedup_predicted and not finding.points_elsewhere:
            best[finding.part_of] = finding

    def with_best(finding: Finding) -> Finding:
        part = best.get(finding.id)
        if part is None or finding.points_elsewhere or part.gain <= (finding.speedup_predicted or 0.0):
            return finding
        advice = sorted((*finding.advice, part.advice[0]), key=_by_gain)
        return replace(finding, advice=tuple(advice), severity=severity_of(part.gain))

    return [with_best(finding) for finding in findings]


def _by_gain(advice: Advice) -> tuple[bool, float]:
    """A sort key for advice: the best prediction first, then unpredicted advice by its bound."""
    speedup = advice.prediction.speedup if advice.prediction else None
    return speedup is None, -(speedup if speedup is not None else advice.at_most or 0.0)


def over_bound(prediction: Prediction | None, advice: Advice) -> bool:
    """Whether a prediction exceeds the advice's upper bound, so that one of the two is wrong."""
    speedup = prediction.speedup if prediction else None
    return speedup is not None and advice.at_most is not None and speedup > advice.at_most * (1 + _ROUNDED)


def _within(prediction: Prediction | None, advice: Advice) -> Prediction | None:
    """The prediction, refused if it exceeds the bound."""
    if prediction is None or not over_bound(prediction, advice):
        return prediction
    speedup = ratio_text(prediction.speedup or 0.0)
    why = f"replay comes to {speedup}, above the upper bound, so it changes more than this advice does"
    return Prediction(prediction.changes, Trust.REFUSED, why=why)


def _best_sets(findings: Sequence[Finding], replayed: Replayed, budget: _Budget) -> tuple[Prediction, ...]:
    """The best single advice, and the best sets of two and of three that change different things."""
    advice = [a for f in tops(findings) if not f.points_elsewhere for a in f.advice if a.changes]
    predictions = [a.prediction for a in advice if a.prediction]
    single = {one.changes: one for one in predictions if one.speedup is not None and one.speedup >= LEAST_GAIN}
    pieces = sorted(single.values(), key=lambda one: -(one.speedup or 0))[:_MOST_PIECES]
    return (*pieces[:1], *best_sets(replayed, pieces, budget.allows))


def best_sets(
    replayed: Replayed, pieces: Sequence[Prediction], allowed: Callable[[], bool] = lambda: True
) -> tuple[Prediction, ...]:
    """The best set of two, then of three, of these pieces, which were each predicted alone. Pieces of a set change
    different things, and the larger set is given only if it gains more. `allowed` says whether there is time for
    another prediction."""
    best: list[Prediction] = []
    best_speedup = max((piece.speedup or 0.0 for piece in pieces), default=0.0)
    for size in (2, 3):
        sets = [chosen for chosen in combinations([piece.changes for piece in pieces], size) if apart(chosen)]
        answers = [prediction_of(replayed, tuple(chain(*chosen))) for chosen in sets if allowed()]
        fastest = max(
            (piece for piece in answers if piece.speedup is not None),
            key=lambda piece: piece.speedup or 0,
            default=None,
        )
        if fastest is None or (fastest.speedup or 0) <= best_speedup:
            break
        best.append(fastest)
        best_speedup = fastest.speedup or 0
    return tuple(best)


def apart(chosen: Sequence[tuple[Change, ...]]) -> bool:
    """Whether no two of these sets of changes concern the same call or part."""
    places = [{(_OF.get(c.kind, c.kind), part) for c in changes for part in _parts(c)} for changes in chosen]
    return sum(map(len, places)) == len(set().union(*places))


def _parts(change: Change) -> tuple[str, ...]:
    """The subjects of a change: its calls, or the names in its other texts."""
    calls: tuple[str, ...] = getattr(change, "calls", ())
    return calls or (" ".join(str(getattr(change, each.name)) for each in fields(change) if each.type == "str"),)


def predictions_of(analysis: Analysis) -> dict[tuple[Change, ...], Prediction]:
    """The predictions that an analysis holds, by their changes; without those that were refused."""
    known = (advice.prediction for finding in analysis.findings for advice in finding.advice)
    return {one.changes: one for one in known if one is not None and one.speedup is not None}


def suggestions(analysis: Analysis) -> Iterator[Advice]:
    """The advice of top findings that has changes, each set once, by predicted speedup; refused ones come last."""
    offered = [a for f in tops(analysis.findings) for a in f.advice if a.changes]
    listed_changes: set[tuple[Change, ...]] = set()
    for advice in sorted(offered, key=lambda a: -((a.prediction and a.prediction.speedup) or 0.0)):
        if advice.changes not in listed_changes:
            listed_changes.add(advice.changes)
            yield advice
