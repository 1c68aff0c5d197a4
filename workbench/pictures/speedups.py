"""Speedup estimates as bars: the gain of each finding, on one logarithmic axis."""

import math
from collections.abc import Callable, Collection, Iterable

from workbench.model.finding import Finding
from workbench.model.text import at_most_text, ratio_text, time_text, trimmed
from workbench.pictures.bars import Bar, Bars
from workbench.pictures.plot import Axis

SPEEDUP = Axis("speedup of the whole run", lambda v: trimmed(ratio_text(v)), log=True)
HEADS = ("finding", "where", "predicted", "upper bound")
FOOT = "speedup of the whole run, logarithmic; top: time of the run"


def estimate_bars(
    findings: Iterable[Finding], aside: Collection[str], where: Callable[[Finding], str], time_s: float
) -> Bars:
    """Bars for the findings in the order given, of a run that takes `time_s`; `where` gives each one's place as text,
    which is the whole title of a part."""
    findings = list(findings)
    ids = {f.id for f in findings}
    rows = tuple(_row(f, f.part_of in ids, f.id in aside, where(f)) for f in findings)
    values = [v for f in findings for v in (f.gain, f.speedup_cap) if v is not None and math.isfinite(v)]
    return Bars(
        SPEEDUP, HEADS, rows, (0.0, math.log10(max([2.0, *values])) * 1.04), 1.0, FOOT,
        above=lambda ratio: time_text(time_s / ratio),
        say=lambda ratio: f"{ratio_text(ratio)}: {time_text(time_s)} becomes {time_text(time_s / ratio)}",
    )  # fmt: skip


def _row(finding: Finding, part: bool, aside: bool, where: str) -> Bar:
    name = (where or finding.title) if part else finding.title
    predicted, bound = finding.speedup_predicted, finding.speedup_cap
    cells = (finding.title, where, "" if predicted is None else predicted, "" if bound is None else bound)
    gain_text = ratio_text(finding.gain) if predicted is not None else at_most_text(finding.gain)
    intervals = [a.prediction.interval for a in finding.advice if a.prediction and a.prediction.speedup == predicted]
    return Bar(
        finding.id, name, finding.gain, (gain_text,), cells,
        where if where != name else "", (predicted, bound, intervals[0] if intervals and predicted else None),
        "aside" if aside else finding.sign, not part, int(part),
    )  # fmt: skip
