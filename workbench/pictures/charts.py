"""Plots a chart of a model's results."""

from itertools import cycle

import numpy as np

from workbench.api.predictions import Chart
from workbench.model.text import significant
from workbench.pictures.density import INKS
from workbench.pictures.plot import Axis, Line, Plot

#: More curves are named at their ends, since a legend would hide some.
MOST_IN_LEGEND = 3


def chart_plot(chart: Chart) -> Plot:
    """The chart as a plot: its curves as points, each in its own colour; plain curves are dashed lines in the colour of
    their neighbours."""
    inks = dict(zip((curve.name for curve in chart.curves if not curve.plain), cycle(INKS), strict=False))
    lines = []
    for curve in chart.curves:
        ink = inks.get(curve.beside if curve.plain else curve.name, "muted")
        x, y, has_own_ink = np.array(curve.x), np.array(curve.y), not curve.plain
        name = "" if curve.beside in inks else curve.name
        lines.append(Line(name, x, y, ink, dashed=curve.plain, points=has_own_ink, joined=curve.plain))
    return Plot(
        Axis(chart.x, significant),
        Axis(chart.y, significant, chart.log),
        tuple(lines),
        legend=sum(bool(line.name) for line in lines) <= MOST_IN_LEGEND,
        say=lambda line, point: (
            f"{chart.curves[line].name}: {significant(float(lines[line].y[point]))} by "
            f"{significant(float(lines[line].x[point]))}"
            f"{'; a click opens its run' if chart.curves[line].run_at(point) else ''}"
        ),
    )
