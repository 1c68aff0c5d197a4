"""Predictions of what findings advise: each advice with changes gets its own, and findings are ranked by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.analysis.rules import severity_of
from workbench.api.job import Job
from workbench.api.results import Analysis
from workbench.model.changes import Change
from workbench.model.diagnostic import WorkbenchError
from workbench.model.finding import Advice, Finding, tops
from workbench.model.prediction import Bottleneck, Prediction, Trust
from workbench.replay.predict import Replayed


@dataclass(frozen=True)
class Trial:
    """What changes made together would gain, and by block and state what then holds the run (`now`: what does now)."""

    prediction: Prediction
    now: tuple[Bottleneck, ...] = ()
    after: tuple[Bottleneck, ...] = ()


def try_changes(replayed: Replayed, changes: Sequence[Change]) -> Trial:
    """Predict a set of changes. Raises WorkbenchError where one names what the run lacks."""
    prediction = replayed.predict(changes)
    if prediction.trust is Trust.REFUSED:
        return Trial(prediction)
    return Trial(prediction, replayed.next_bottlenecks(), replayed.next_bottlenecks(changes))


def asks(analysis: Analysis) -> bool:
    """Whether any advice has changes that could be predicted."""
    return any(advice.changes for finding in analysis.findings for advice in finding.advice)


def with_predictions(analysis: Analysis, replayed: Replayed, job: Job | None = None) -> Analysis:
    """The analysis with what its advice is predicted to gain. Findings are ranked anew: first those with a predicted
    speedup, by it, then the others by their upper bound; those that follow from others stay last."""
    known: dict[tuple[Change, ...], Prediction] = {}
    findings = []
    for number, finding in enumerate(analysis.findings):
        if job:
            job.progress(number / len(analysis.findings))
        findings.append(_predicted(finding, replayed, known))
    return replace(analysis, findings=tuple(sorted(findings, key=_rank)))


def _rank(finding: Finding) -> tuple[bool, bool, float]:
    unknown = finding.speedup_predicted is None
    return finding.points_elsewhere and unknown, unknown, -finding.gain


def _predicted(finding: Finding, replayed: Replayed, known: dict[tuple[Change, ...], Prediction]) -> Finding:
    advice = [_with_prediction(a, replayed, known) if a.changes else a for a in finding.advice]
    gains = [a.prediction.speedup for a in advice if a.prediction and a.prediction.speedup is not None]
    advice.sort(key=lambda a: -(a.prediction.speedup or 0.0) if a.prediction else 0.0)
    best = max(gains, default=None)
    found = replace(finding, advice=tuple(advice), speedup_predicted=best)
    return replace(found, severity=severity_of(found.gain))


def _with_prediction(advice: Advice, replayed: Replayed, known: dict[tuple[Change, ...], Prediction]) -> Advice:
    if advice.changes not in known:
        try:
            known[advice.changes] = replayed.predict(advice.changes)
        except WorkbenchError as error:
            why = error.diagnostics[0].message
            known[advice.changes] = Prediction(advice.changes, Trust.REFUSED, why=why)
    return replace(advice, prediction=known[advice.changes])


def suggestions(analysis: Analysis) -> Iterator[Advice]:
    """The advice of top findings that has changes, each set once, by predicted speedup; what is refused comes last."""
    found = [a for f in tops(analysis.findings) for a in f.advice if a.changes]
    seen: set[tuple[Change, ...]] = set()
    for advice in sorted(found, key=lambda a: -((a.prediction and a.prediction.speedup) or 0.0)):
        if advice.changes not in seen:
            seen.add(advice.changes)
            yield advice
