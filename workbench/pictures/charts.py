"""A chart of a model's results as a plot."""

from __future__ import annotations

import numpy as np

from workbench.api.predictions import Chart
from workbench.model.text import significant
from workbench.pictures.density import INKS
from workbench.pictures.plot import Axis, Line, Plot


def chart_plot(chart: Chart) -> Plot:
    """Its curves as points, each in an ink of its own; plain ones are dashed lines."""
    lines, inked = [], 0
    for curve in chart.curves:
        ink = "muted" if curve.plain else INKS[inked % len(INKS)]
        inked += not curve.plain
        x, y, own = np.array(curve.x), np.array(curve.y), not curve.plain
        lines.append(Line(curve.name, x, y, ink, dashed=curve.plain, points=own, joined=curve.plain))
    return Plot(
        Axis(chart.x, significant),
        Axis(chart.y, significant),
        tuple(lines),
        legend=True,
        say=lambda line, point: (
            f"{lines[line].name}: {significant(float(lines[line].y[point]))} by "
            f"{significant(float(lines[line].x[point]))}"
            f"{'; a click opens its run' if chart.curves[line].run_at(point) else ''}"
        ),
    )
