"""Summarises a finished run: the comparison with the run before, and the first change to make."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from workbench.analysis.finding_words import (
    best_prediction,
    gain_words,
    interval_text,
    is_small,
    nothing_words,
    where_words,
)
from workbench.analysis.report import finding_json
from workbench.api.results import Analysis
from workbench.model.finding import Finding, tops
from workbench.model.run import PS_PER_S, Manifest, RunStatus
from workbench.model.text import at_most_text, counted, faster_text, ratio_text, time_text


@dataclass(frozen=True)
class Best:
    """The first change to make. `count` says how many findings there are, `what` names the best, `gain` is its gain (or
    the time of an assertion's first failure), and `sure` is its reliability. Without a finding `count` gives the
    reason, and the rest is empty."""

    count: str
    what: str = ""
    gain: str = ""
    sure: str = ""

    @property
    def text(self) -> str:
        sure = f" ({self.sure})" if self.sure else ""
        return f"{self.count} {self.what}, {self.gain}{sure}" if self.what else self.count


def best_finding(analysis: Analysis, aside: Collection[str] = ()) -> Finding | None:
    """The first ranked finding that suggests a change, without findings set aside or with too small a gain."""
    candidates = (
        f for f in tops(analysis.findings) if f.id not in aside and not f.points_elsewhere and not is_small(f)
    )
    return next(candidates, None)


def best_of(manifest: Manifest, analysis: Analysis, aside: Collection[str] = ()) -> Best:
    """The first change to make in a run."""
    best, number = best_finding(analysis, aside), len(tops(analysis.findings))
    count = f"{counted(number, 'finding')}."
    if best is None:
        why = "None gains enough, or all are set aside or follow from others."
        return Best(f"{count} {why}" if number else nothing_words(manifest, analysis))
    if best.failures:
        return Best(count, best.title, gain_words(best))
    name = f"Best: {best.title}, {where_words(best)}"
    if best.speedup_predicted is None:
        return Best(count, name, at_most_text(best.gain))
    return Best(count, name, f"predicted {ratio_text(best.speedup_predicted)}", interval_text(best_prediction(best)))


def time_words(manifest: Manifest) -> str:
    """`46.07 ms of virtual time`."""
    kind = "virtual" if manifest.simulated else "measured"
    return f"{time_text(manifest.time_ps / PS_PER_S, 4)} of {kind} time"


def beside_words(manifest: Manifest, before: Manifest | None, name: str) -> str:
    """`2.00× faster than run-1, same output`: a complete run compared with the run before."""
    complete = before is not None and {manifest.status, before.status} == {RunStatus.COMPLETE}
    if before is None or not complete or not before.time_ps or not manifest.time_ps:
        return ""
    faster = faster_text(before.time_ps / manifest.time_ps)
    faster = f"{faster} {'as' if faster.startswith('the same') else 'than'} {name}"
    if before.settings != manifest.settings:
        return f"{faster}, with different settings"
    same = _same_output(manifest, before)
    output_text = {True: ", same output", False: ", but their outputs differ", None: ""}[same]
    return f"{faster}{output_text}"


def _same_output(manifest: Manifest, before: Manifest) -> bool | None:
    both_hashes = manifest.stdout_sha256 and before.stdout_sha256
    return manifest.stdout_sha256 == before.stdout_sha256 if both_hashes else None


def best_json(analysis: Analysis) -> dict[str, Any]:
    """The number of findings, and the best one as in a report; null without findings."""
    best = best_finding(analysis)
    return {"findings": len(tops(analysis.findings)), "best": finding_json(best) if best else None}


def before_json(manifest: Manifest, before: Manifest | None, path: str) -> dict[str, Any] | None:
    """The comparison with the run before; null if there is none."""
    if before is None:
        return None
    complete = {manifest.status, before.status} == {RunStatus.COMPLETE} and manifest.time_ps > 0
    return {
        "run": path,
        "speedup": before.time_ps / manifest.time_ps if complete else None,
        "same_output": _same_output(manifest, before) if complete else None,
        "same_settings": before.settings == manifest.settings,
    }
