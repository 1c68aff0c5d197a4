"""What findings and their advice are called wherever they are shown: the window, the report, the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.api.results import Analysis
from workbench.model.exits import shortfall
from workbench.model.finding import Advice, Finding
from workbench.model.run import Manifest
from workbench.model.text import ratio_text, time_text

RANKED = "ranked by what their best advice gains at most. Gains overlap; they do not add up."
FOLLOWING = "Not ranked, since they follow from the findings above; how much time they would give back at most:"


def bound_text(speedup: float | None) -> str:
    """A bound as a person reads it."""
    if speedup is None:
        return "none"
    return "no limit" if speedup == float("inf") else ratio_text(speedup)


def bound_words(advice: Advice) -> str:
    """`At most 1.57×: only the FPGA becomes faster`: the bound with what it rests on, and no more."""
    if advice.at_most is None:
        return "What it gains, this run cannot tell."
    if advice.at_most == float("inf"):
        return f"No limit is known: {advice.stays}."
    return f"At most {ratio_text(advice.at_most)}: {advice.stays}."


def becomes_words(total_s: float, gain: float) -> str:
    """What a run of `total_s` becomes at best."""
    if gain == float("inf"):
        return "how far is not known"
    return f"{time_text(total_s)} becomes {time_text(total_s / gain) if gain else '–'}"


def shortfall_words(manifest: Manifest) -> str:
    """A sentence for the top of a report on a run that did not complete; empty for one that did."""
    said = shortfall(manifest)
    if not said:
        return ""
    stop = "" if said.endswith((".", "!", "?")) else "."
    return f"{said[0].upper()}{said[1:]}{stop} Times and findings cover what was recorded until then."


def nothing_words(manifest: Manifest, analysis: Analysis) -> str:
    """Why there is no finding: nothing would gain enough, or nothing that it could be concluded from was recorded."""
    if not any(block.time_s for block in analysis.blocks):
        return "No times were recorded, so nothing can be said of bottlenecks."
    if shortfall(manifest):
        return "What this run recorded before it ended shows no finding. Fix the failure first, then run again."
    return f"No bottleneck would gain {analysis.threshold:g}× or more, as far as the pragmas tell."


def cap_words(finding: Finding) -> str:
    """What the cap is, under the figure."""
    return "no bound known" if finding.speedup_cap is None else "by its best advice"


def folded_words(advice: Iterable[Advice]) -> str:
    """What the advice after the first is folded under."""
    kept = list(advice)
    best = max((a.at_most for a in kept if a.at_most is not None), default=None)
    limit = "" if best is None else f", at most {bound_text(best)}"
    return f"{len(kept)} more{limit}"
