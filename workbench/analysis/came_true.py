"""Compares a run of changed sources with its prediction, on equal work, and explains the difference."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.equal_work import equal_work
from workbench.model.ledger import Entry, Expected, Fate, MeasuredResult, Score, Work
from workbench.model.run import Run
from workbench.model.text import percent_text, ratio_text, time_text
from workbench.traces.trace import has_trace


@dataclass(frozen=True)
class Explained:
    """A block's state with its predicted and its measured time on the critical path."""

    block: str
    state: str
    predicted_s: float
    came_s: float

    @property
    def difference_s(self) -> float:
        return self.came_s - self.predicted_s


def changed_result(base: Run, changed: Run, run_name: str) -> MeasuredResult:
    """The measured result of a changed run. If the work is unequal, the speedup is that of a part with equal work, if
    any."""
    work = work_of(base, changed)
    speedup = base.time_s / changed.time_s if base.time_s and changed.time_s else None
    if work is not Work.EQUAL:
        equal = equal_work(base, changed) if has_trace(base) and has_trace(changed) else None
        speedup = equal.speedup if equal else None
    outputs = [run.manifest.stdout_sha256 for run in (base, changed)]
    same = outputs[0] == outputs[1] if all(outputs) else None
    return MeasuredResult(changed.manifest.created, run_name, changed.time_s, speedup, work, same)


def work_of(base: Run, changed: Run) -> Work:
    """Whether two runs did equal work: the call that moves most bytes in A moves as many in B, or all shared calls
    together do.

    Calls that move nothing count only if no call moves anything.
    """
    a, b = (_amounts(run) for run in (base, changed))
    shared = [label for label in a if label in b and (a[label] or b[label])]
    if not shared:
        return Work.UNKNOWN
    most = max(shared, key=lambda label: a[label])
    return Work.EQUAL if a[most] == b[most] or sum(a.values()) == sum(b.values()) else Work.UNEQUAL


def _amounts(run: Run) -> dict[str, int]:
    """Bytes moved by calls, by label; numbers of calls if no call moved any."""
    table = run.tables.get("call_stats")
    if table is None:
        return {}
    column = "bytes" if np.any(table["bytes"]) else "count"
    amounts: dict[str, int] = {}
    for site, amount in zip(table["site"].tolist(), table[column].tolist(), strict=True):
        if 0 <= site < len(run.manifest.sites):
            label = run.manifest.sites[site].label
            amounts[label] = amounts.get(label, 0) + amount
    return amounts


def explain(expected: Sequence[Expected], measured: Sequence[Expected]) -> tuple[Explained, ...]:
    """The critical paths of both runs side by side, the largest difference first. Each path sums to its run's time, so
    the differences sum to the difference of the times."""
    paths = [{(one.block, one.state): one.time_s for one in path} for path in (expected, measured)]
    keys = dict.fromkeys((*paths[0], *paths[1]))
    rows = (Explained(*key, paths[0].get(key, 0.0), paths[1].get(key, 0.0)) for key in keys)
    return tuple(sorted(rows, key=lambda row: -abs(row.difference_s)))


def outcome_words(entry: Entry) -> str:
    """The measured result beside the prediction, in one sentence."""
    predicted, result = entry.prediction.speedup, entry.came
    predicted_words = f"predicted {ratio_text(predicted)}" if predicted else "not predicted"
    if result is None:
        return f"{predicted_words}, no run of changed sources yet"
    measured_words = f"measured {ratio_text(result.speedup)}" if result.speedup else f"took {time_text(result.time_s)}"
    if result.work is not Work.EQUAL:
        why = "did other work" if result.work is Work.UNEQUAL else "has no call to compare its work by"
        per = " per unit of work" if result.speedup else ""
        return f"{predicted_words}, {measured_words}{per}: the run {why}, so the prediction is not judged"
    return f"{predicted_words}, {measured_words}: {fate_words(entry)}"


def fate_words(entry: Entry) -> str:
    """Whether the measured speedup lies inside the interval, and its distance from the prediction."""
    if entry.fate not in (Fate.INSIDE, Fate.OUTSIDE):
        return entry.fate.value
    return f"{interval_fate(entry)}, {error_words(entry)}"


def interval_fate(entry: Entry) -> str:
    """Whether the measured speedup lies in the interval: `inside 6.20× to 6.70×`, or `outside (exact)` for an interval
    without width."""
    interval = interval_words(entry)
    return f"{entry.fate.value} ({interval})" if interval == "exact" else f"{entry.fate.value} {interval}"


def interval_words(entry: Entry) -> str:
    """The 90 % interval: `6.20× to 6.70×`, or `exact` if it has no width."""
    if entry.prediction.interval is None:
        return ""
    lower, upper = (ratio_text(bound) for bound in entry.prediction.interval)
    return "exact" if lower == upper else f"{lower} to {upper}"


def error_words(entry: Entry) -> str:
    """How much less or more the measured speedup is than the predicted one."""
    if entry.error is None:
        return ""
    if abs(entry.error) < 5e-5:
        return "as predicted"
    return f"{percent_text(abs(entry.error))} {'more' if entry.error > 0 else 'less'} than predicted"


def score_words(score: Score) -> str:
    """How reliable past predictions were, in a sentence."""
    if score.median_error is None or score.worst_error is None:
        return "No prediction was judged yet."
    return (
        f"{score.inside} of {score.judged} inside the interval, median error {percent_text(score.median_error)}, "
        f"worst {percent_text(score.worst_error)}."
    )


def entry_json(entry: Entry) -> dict[str, Any]:
    """A ledger entry as `workbench ledger` and `compare` print it."""
    prediction, result, confirmed = entry.prediction, entry.came, entry.confirmed
    return {
        "id": entry.id, "at": entry.at, "project": entry.project, "base": entry.base.run,
        "change": entry.title, "predicted": prediction.speedup, "predicted_s": prediction.time_s,
        "interval": list(prediction.interval) if prediction.interval else None, "trust": prediction.trust.value,
        "confirmed": confirmed.speedup if confirmed else None,
        "came": result.speedup if result else None, "came_s": result.time_s if result else None,
        "run": result.run if result else None, "work": result.work.value if result else None,
        "same_output": result.same_output if result else None, "error": entry.error, "fate": entry.fate.value,
        "words": outcome_words(entry),
    }  # fmt: skip


def explained_json(row: Explained) -> dict[str, Any]:
    """A row of the explanation, in seconds on the critical path."""
    return {
        "block": row.block, "state": row.state, "predicted_s": row.predicted_s, "came_s": row.came_s,
        "difference_s": row.difference_s,
    }  # fmt: skip


def score_json(score: Score) -> dict[str, Any]:
    """The statistics of a ledger."""
    return {
        "judged": score.judged, "inside": score.inside, "median_error": score.median_error,
        "worst_error": score.worst_error,
    }  # fmt: skip
