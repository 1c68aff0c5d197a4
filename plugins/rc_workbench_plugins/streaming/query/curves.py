"""Distributions as lines: how much of a histogram is at or below a value, and what was replayed beside it."""

import numpy as np

from rc_workbench_plugins.streaming.crossing import Replayed
from rc_workbench_plugins.streaming.query.bins import cumulative
from rc_workbench_plugins.streaming.query.measures import TIMED, MeasureResult, unit_of
from workbench.api.unstable import Curve, Curves

CUMULATIVE, BESIDE = "Cumulative share", "Counted and replayed"
_WIDE = 1000.0  # of bounds, from which on their axis is logarithmic
_LEAST = 1e-6  # of the time: what is rarer at the ends is not drawn


def curves_of(result: MeasureResult) -> tuple[Curves, ...]:
    """The pictures of a histogram's distribution."""
    unit, factor = unit_of(result.measure)
    x, y = cumulative(result.measure, np.sum([frame.histogram for frame in result.frames if frame.histogram], axis=0))
    if len(x) < 2:
        return ()
    shown = tuple(value / factor for value in x)
    log = result.measure.metric in TIMED and shown[0] > 0 and shown[-1] / shown[0] > _WIDE
    lines = [Curve("counted", shown, tuple(y))]
    replays = [_beside(part) for part in result.replayed]
    if result.replayed:
        whole = result.replayed[0].replayed
        lines.append(Curve("replayed", tuple(map(float, range(len(whole)))), tuple(np.cumsum(whole).tolist()), True))
    return (Curves(CUMULATIVE, unit, tuple(lines), log), *replays)


def _beside(part: Replayed) -> Curves:
    """Counted and replayed shares of the time, by elements."""
    asked = {"counted": part.counted, "replayed": part.replayed, "replayed without the bus": part.without_bus}
    shares = {name: found for name, found in asked.items() if found is not None}
    used = [np.flatnonzero(found > _LEAST) for found in shares.values()]
    first, last = min(int(at[0]) for at in used if len(at)), max(int(at[-1]) for at in used if len(at))
    lines = []
    for name, found in shares.items():
        at = np.arange(first, last + 1)
        inside = np.where(at < len(found), np.append(found, 0.0)[np.minimum(at, len(found))], 0.0)
        lines.append(Curve(name, tuple(map(float, at)), tuple(inside.tolist()), name != "counted"))
    return Curves(f"{BESIDE}: {part.part}", "elements", tuple(lines))
