"""The findings that remain after changes: each is weighed again on the critical path of the replayed changed run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import Any

from workbench.analysis.change_words import change_title
from workbench.analysis.finding_words import LEAST_GAIN, block_words, where_words
from workbench.analysis.predicting import Trial, apart, over_bound, prediction_of
from workbench.api import views
from workbench.api.job import Job
from workbench.api.results import Analysis
from workbench.model.finding import Finding, tops
from workbench.model.pragma import WAITS
from workbench.model.prediction import Bottleneck, Prediction
from workbench.model.text import at_most_text, ratio_text, time_text
from workbench.replay.predict import Replayed

Key = tuple[str, str]  # a block's group and a state


@dataclass(frozen=True)
class After:
    """A finding, or a state without a finding, after the changes. Times are those on the critical path, now and after.

    `gain` is the gain of its best remaining advice (`advice`) on top of the changes; None if none is predicted, for the
    reason `why`. `at_most` is the gain if all of `after_s` went.
    """

    title: str
    where: str
    now_s: float
    after_s: float
    gain: float | None
    advice: str
    why: str
    at_most: float

    @property
    def stays(self) -> bool:
        """Whether a further change here would still gain at least `LEAST_GAIN`."""
        return (self.at_most if self.gain is None else self.gain) >= LEAST_GAIN

    @property
    def _rank(self) -> tuple[bool, bool, float]:
        return not self.stays, self.gain is None, -(self.gain or self.after_s)


def findings_after(
    analysis: Analysis, replayed: Replayed, trial: Trial, job: Job | None = None, budget_s: float = math.inf
) -> tuple[After, ...]:
    """The findings after a trial's changes, remaining ones first, ranked by the gain of the next change. States that
    then limit the run without a finding are among them. Advice is predicted on top of the changes until `budget_s`
    seconds of processor time are used."""
    time_s = trial.prediction.time_s
    if not trial.after or time_s is None:
        return ()
    groups = {m.block.id: m.block.group for m in analysis.blocks}
    now, after = (_times(path, groups) for path in (trial.now, trial.after))
    begun_s, rows, covered = thread_time(), [], set[Key]()
    findings = [finding for finding in tops(analysis.findings) if finding.scope != "application"]
    for number, finding in enumerate(findings):
        if job:
            job.check()
            job.progress(number / len(findings))
        keys = _keys(finding, analysis)
        covered |= keys
        now_s, after_s = (sum(times.get(key, 0.0) for key in keys) for times in (now, after))
        in_time = thread_time() - begun_s < budget_s
        advice, best, why = _best(finding, replayed, trial) if in_time else ("", None, "not enough time to predict it")
        gain = time_s / best.time_s if best and best.time_s else None
        rows.append(
            After(finding.title, where_words(finding), now_s, after_s, gain, advice, why, _bound(time_s, after_s))
        )
    for key in after.keys() - covered:
        bound = _bound(time_s, after[key])
        if bound >= LEAST_GAIN:
            why = "it has no finding"
            rows.append(After(key[1], block_words(key[0]), now.get(key, 0.0), after[key], None, "", why, bound))
    return tuple(sorted((row for row in rows if row.stays or row.now_s), key=lambda row: row._rank))


def _bound(time_s: float, after_s: float) -> float:
    return time_s / (time_s - after_s) if after_s < time_s else math.inf


def _times(path: Sequence[Bottleneck], groups: Mapping[str, str]) -> dict[Key, float]:
    times: dict[Key, float] = {}
    for part in path:
        key = groups.get(part.block, part.block), part.state
        times[key] = times.get(key, 0.0) + part.time_s
    return times


def _keys(finding: Finding, analysis: Analysis) -> set[Key]:
    """Block group and state of all states that a finding concerns: at its places, of the calls there, and the culprit's
    work."""
    places = {(place.file, place.line) for place in finding.places}
    keys = {
        (m.block.group, s.state.name)
        for m in analysis.blocks
        for s in m.states
        if ({finding.block, finding.group} & {m.block.id, m.block.group} and (s.state.file, s.state.line) in places)
        or (finding.culprit in (m.block.id, m.block.group) and s.state.category not in WAITS)
    }
    calls = (c for c in analysis.calls if (c.site.file, c.site.line) in places)
    return keys | {(call.block, call.state.name) for call in calls}


def _best(finding: Finding, replayed: Replayed, trial: Trial) -> tuple[str, Prediction | None, str]:
    """The advice that gains most on top of the changes: its text, its prediction, and, without a prediction, the
    reason."""
    applied = trial.prediction.changes
    best: tuple[str, Prediction | None, str] = "", None, "its advice is already applied, or is not a change"
    for advice in finding.advice:
        changes = tuple(change for change in advice.changes if change not in applied)
        if not changes or not apart((applied, changes)):
            continue
        alone = advice.prediction or prediction_of(replayed, advice.changes)
        if alone.speedup is None or over_bound(alone, advice):
            best = best if best[1] else ("", None, alone.why or "alone it comes above its upper bound")
            continue
        answer = prediction_of(replayed, (*applied, *changes))
        if answer.speedup is None:
            best = best if best[1] else ("", None, answer.why)
        elif best[1] is None or answer.speedup > (best[1].speedup or 0.0):
            best = ", ".join(map(change_title, changes)), answer, ""
    return best


def after_section(rows: Sequence[After], speedup: float) -> views.Section:
    """The table of findings after the changes, which alone gain `speedup`."""
    stay, best = sum(row.stays for row in rows), max((row.gain or 0.0 for row in rows), default=0.0)
    summary = f"{stay} of {len(rows)} can then gain {LEAST_GAIN:g}× or more on top of these changes."
    if best >= LEAST_GAIN:
        summary += f" With the best of them, the whole gains {ratio_text(speedup * best)}."
    columns = (
        views.Column("Finding", lambda row: row.title, share=1.0, tip_of=lambda row: f"{row.title}: {row.where}",
                     ink=lambda row: ("text", 13, 600) if row.stays else ("muted", 13, 400)),
        views.Column("Now", lambda row: _time(row.now_s), width_px=72, right=True, key=lambda row: row.now_s,
                     ink=lambda row: ("second", 13, 400), tip="Its time on the critical path"),
        views.Column("After", lambda row: _time(row.after_s), width_px=72, right=True, key=lambda row: row.after_s,
                     ink=lambda row: ("text" if row.stays else "muted", 13, 400),
                     tip="Its time on the critical path after the changes"),
        views.Column("Next gains", gain_text, width_px=98, right=True, key=lambda row: row.gain or row.at_most,
                     ink=_gain_ink, tip_of=gain_words,
                     tip="Predicted speedup of its best other advice after the changes, or the upper bound"),
    )  # fmt: skip
    table = views.Table("Findings after these changes", columns, rows)
    return views.Section("Findings after these changes", (views.Text(summary, "second"), table))


def gain_text(row: After) -> str:
    if not row.stays and row.at_most < LEAST_GAIN:
        return "gone"
    return at_most_text(row.at_most) if row.gain is None else ratio_text(row.gain)


def gain_words(row: After) -> str:
    """The tooltip of a row's gain: which advice it is for, or why none is predicted."""
    if not row.after_s:
        return "It takes no time after the changes"
    if row.gain is not None:
        return f"{row.advice}: {ratio_text(row.gain)} once the changes are made"
    return f"Not predicted: {row.why}. Without its time the run would be at most {ratio_text(row.at_most)} faster"


def _gain_ink(row: After) -> tuple[str, int, int]:
    if not row.stays:
        return ("good" if row.at_most < LEAST_GAIN else "muted", 13, 400)
    return ("second", 12, 400) if row.gain is None else ("accent", 13, 600)


def _time(seconds: float) -> str:
    return time_text(seconds) if seconds else "none"


def after_json(row: After) -> dict[str, Any]:
    """A row of `workbench whatif --findings --json`."""
    return {
        "title": row.title, "where": row.where, "now_s": row.now_s, "after_s": row.after_s, "stays": row.stays,
        "predicted": row.gain, "advice": row.advice or None, "why": row.why or None,
        "at_most": row.at_most if math.isfinite(row.at_most) else None,
    }  # fmt: skip
