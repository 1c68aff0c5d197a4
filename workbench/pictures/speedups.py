"""Speedup estimates as bars: what mending each finding gains at most, on one logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable

from workbench.model.finding import Finding
from workbench.model.text import ratio_text, time_text, trimmed
from workbench.pictures.bars import Bar, Bars
from workbench.pictures.plot import Axis

SPEEDUP = Axis("speedup of the whole run", lambda v: trimmed(ratio_text(v)), log=True)
HEADS = ("finding", "where", "gain at most", "cap", "ideal")
FOOT = "speedup of the whole run, logarithmic; above: what the run's time becomes"


def estimate_bars(
    findings: Iterable[Finding], aside: Collection[str], where: Callable[[Finding], str], time_s: float
) -> Bars:
    """Findings in the order given, of a run that takes `time_s`; `where` words each one's place, and a part of another
    is that place alone."""
    findings = list(findings)
    known = {f.id for f in findings}
    rows = tuple(_row(f, f.part_of in known, f.id in aside, where(f)) for f in findings)
    values = [v for r in rows for v in (r.value, r.cap, r.ideal) if v is not None and math.isfinite(v)]
    return Bars(
        SPEEDUP, HEADS, rows, (0.0, math.log10(max([2.0, *values])) * 1.04), 1.0, FOOT,
        above=lambda ratio: time_text(time_s / ratio),
        say=lambda ratio: f"{ratio_text(ratio)}: {time_text(time_s)} becomes {time_text(time_s / ratio)}",
    )  # fmt: skip


def _row(finding: Finding, part: bool, aside: bool, where: str) -> Bar:
    name = (where or finding.title) if part else finding.title
    cap = finding.speedup_cap
    cells = (finding.title, where, finding.gain, "" if cap is None else cap, finding.speedup_ideal)
    said = ratio_text(finding.gain) if math.isfinite(finding.gain) else "no limit"
    return Bar(
        finding.id, name, finding.gain, (said,), cells, where if where != name else "", cap, finding.speedup_ideal,
        "aside" if aside else finding.severity, not part, int(part),
    )  # fmt: skip
