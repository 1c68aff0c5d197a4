"""Texts for findings and their advice, the same in window, report and terminal."""

from collections.abc import Iterable
from pathlib import PurePath

from workbench.api.results import Analysis
from workbench.model.blocks import below_top
from workbench.model.exits import shortfall
from workbench.model.finding import Advice, Finding
from workbench.model.prediction import Prediction, Trust
from workbench.model.run import Manifest
from workbench.model.text import at_most_text, bound_text, counted, is_limit, listed, ratio_text, time_text

#: Changes that gain less are folded.
LEAST_GAIN = 1.05
FOLLOWING = "Not ranked: these findings follow from the findings above."


def what_if_applied(findings: Iterable[Finding]) -> bool:
    """Whether a what-if model was applied to any of these findings."""
    return predicted(findings := list(findings)) or any(a.prediction for f in findings for a in f.advice)


def predicted(findings: Iterable[Finding]) -> bool:
    """Whether any of these findings has a predicted speedup."""
    return any(f.speedup_predicted is not None for f in findings)


def order_words(analysis: Analysis) -> str:
    """The criterion of the findings' rank, and a warning not to add speedups."""
    by = "predicted speedup" if predicted(analysis.findings) else "upper bound of the speedup"
    return f"sorted by {by}. Speedups overlap; do not add them."


def left_out(analysis: Analysis) -> int:
    """The number of changes not predicted for lack of time."""
    return analysis.what_if.left_out if analysis.what_if else 0


def ranked_words(analysis: Analysis, hint: str = "") -> str:
    """`order_words`, and the number of changes not predicted for lack of time. `hint` says how to give more time."""
    changes = counted(left_out(analysis), "change")
    more = f" {changes} not predicted: the time limit was reached{hint}." if left_out(analysis) else ""
    return f"{order_words(analysis)}{more}"


def best_prediction(finding: Finding) -> Prediction | None:
    """The prediction that gives the finding's predicted speedup."""
    predictions = [a.prediction for a in finding.advice if a.prediction and a.prediction.speedup is not None]
    return max(predictions, key=lambda p: p.speedup or 0.0, default=None)


def not_predicted_words(finding: Finding) -> str:
    """The reason for a missing predicted speedup; "" if there is one, or if no model was applied."""
    if finding.speedup_predicted is not None:
        return ""
    refused = [a.prediction.why for a in finding.advice if a.prediction and a.prediction.trust is Trust.REFUSED]
    return (refused[0] or "the replay gave no answer") if refused else ""


def was_left_out(finding: Finding) -> bool:
    """Whether a finding without a predicted speedup has advice that could be predicted, and was not yet."""
    return finding.speedup_predicted is None and any(a.changes and a.prediction is None for a in finding.advice)


def is_small(finding: Finding) -> bool:
    """Whether the predicted gain is too small for the list."""
    return finding.speedup_predicted is not None and finding.speedup_predicted < LEAST_GAIN


def block_words(block_id: str) -> str:
    """`host.main` as `host main`; a hardware block without its top level."""
    if block_id.startswith("host."):
        return "host " + block_id.removeprefix("host.")
    return below_top(block_id)


def where_words(finding: Finding) -> str:
    """The place of a finding for a column: the block, and the call's name for a finding about a call."""
    if finding.scope == "application":
        return "whole application"
    if finding.scope in ("fifo", "memory_port"):
        return block_words(finding.group or finding.where)
    block = block_words(finding.group or finding.block)
    names = [
        name for name in dict.fromkeys(p.label for p in finding.places) if name not in ("", block.rpartition(" ")[2])
    ]
    if finding.scope == "call":
        place = finding.places[0] if finding.places else None
        line = f", {PurePath(place.file).name}:{place.line}" if place else ""
        return f"{block}: {names[0]}{line}" if names else block_words(finding.where)
    if names and finding.block.startswith("host."):
        block += f", {len(names)} call sites" if len(names) > 2 else f": {', '.join(names)}"
    late = finding.culprit if finding.culprit not in finding.title else ""
    return f"{block}, late: {block_words(late)}" if late else block


def part_words(finding: Finding, whole: Finding) -> tuple[str, str]:
    """The name of a part under the `whole` finding, and its place: its own title if it has another, or a call's name
    and line."""
    if finding.title != whole.title:
        return finding.title, where_words(finding)
    place = finding.places[0] if finding.places else None
    if finding.scope == "call" and place and place.label:
        return place.label, f"{PurePath(place.file).name}:{place.line}"
    return where_words(finding), ""


def scope_words(finding: Finding) -> str:
    """The line under a finding's title: the place with its lines."""
    lines = listed(list(dict.fromkeys(f"{PurePath(p.file).name}:{p.line}" for p in finding.places)))
    return f"{where_words(finding)}{'; ' + lines if lines else ''}"


def bound_words(advice: Advice, with_reason: bool = True) -> str:
    """The upper bound, with its reason if asked: `At most 1.57×: only the FPGA becomes faster.`"""
    if advice.at_most is None:
        return "This run does not show the speedup of this change."
    if not is_limit(advice.at_most):
        return f"No limit is known: {advice.stays}."
    return f"At most {ratio_text(advice.at_most)}{f': {advice.stays}' if with_reason else ''}."


def interval_text(prediction: Prediction | None) -> str:
    """`5.60 to 6.10`, or `exact` where the interval has no width."""
    if prediction is None or prediction.interval is None:
        return ""
    low, high = (ratio_text(end).removesuffix("×") for end in prediction.interval)
    return "exact" if low == high else f"{low} to {high}"


def prediction_words(prediction: Prediction) -> str:
    """A prediction in a sentence."""
    if prediction.speedup is None:
        return f"Not predicted: {prediction.why}."
    interval = interval_text(prediction)
    sure = "" if interval in ("", "exact") else f", {interval} in 9 of 10 cases"
    doubt = f"; doubtful: {prediction.why}" if prediction.trust is Trust.DOUBTFUL and prediction.why else ""
    return f"Predicted {ratio_text(prediction.speedup)}{sure}{doubt}."


def short_gain_text(finding: Finding) -> str:
    """The predicted speedup (`1.29×`), otherwise the upper bound (`≤ 8.90×`), or an assertion's number of failures."""
    if finding.failures:
        return counted(finding.failures, "failure")
    if finding.speedup_predicted is not None:
        return ratio_text(finding.speedup_predicted)
    return at_most_text(finding.gain)


def gain_words(finding: Finding) -> str:
    """The gain of a finding in a few words: the predicted speedup, or its upper bound."""
    if finding.failures:
        open_s = finding.open_s if finding.first_s is None else None
        return f"first at {time_text(finding.first_s or 0.0)}" if open_s is None else f"open since {time_text(open_s)}"
    cap = finding.speedup_cap
    bound = "" if cap is None else f"at most {bound_text(cap)}" if is_limit(cap) else "no limit known"
    if finding.speedup_predicted is not None:
        return f"predicted {ratio_text(finding.speedup_predicted)}{', ' if bound else ''}{bound}"
    return bound or f"{bound_text(finding.speedup_ideal)} if only this time is saved"


def becomes_words(total_s: float, gain: float) -> str:
    """The best possible time of a run that takes `total_s`."""
    if not is_limit(gain):
        return "by an unknown factor"
    return f"{time_text(total_s)} becomes {time_text(total_s / gain) if gain else '–'}"


def shortfall_words(manifest: Manifest) -> str:
    """A sentence for the top of a report on an incomplete run; "" for a complete one."""
    reason = shortfall(manifest)
    if not reason:
        return ""
    stop = "" if reason.endswith((".", "!", "?")) else "."
    covers = "Times and findings cover the recorded part." if manifest.time_ps else "It recorded nothing."
    return f"{reason[0].upper()}{reason[1:]}{stop} {covers}"


def nothing_words(manifest: Manifest, analysis: Analysis) -> str:
    """The reason for a missing finding: none gains enough, or the run recorded too little."""
    if not any(block.time_s for block in analysis.blocks):
        return "No times were recorded, so there are no findings."
    if shortfall(manifest):
        return "The part that this run recorded shows no finding. Fix the failure first, then run again."
    more = "" if manifest.traced else " A run with a trace (--trace) may show more."
    return f"No findings above {analysis.threshold:g}×.{more}"


def folded_words(advice: Iterable[Advice]) -> str:
    """The title of the fold over the remaining advice."""
    folded = list(advice)
    if not folded:
        return ""
    if all(a.prediction and a.prediction.speedup is not None for a in folded):
        return f"{len(folded)} change{'s' if len(folded) > 1 else ''} below {LEAST_GAIN:g}×"
    best = max((a.at_most for a in folded if a.at_most is not None), default=None)
    limit = "" if best is None else f", at most {bound_text(best)}"
    return f"{len(folded)} more{limit}"
