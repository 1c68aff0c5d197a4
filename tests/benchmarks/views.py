"""What the pyqtgraph views cost: opened and closed over and over, painted over and over, side by side in one run.

    python tests/benchmarks/views.py [--json] [--quick]

`paint_ms` is the median of whole repaints of 900 x 500 pixels, first and last hundred (flat where nothing is kept), in
processor time of the one thread, as all times here are.
`grown_mib` is what the process grew by over as many views opened, painted and closed, after the first tenth of them.
`alive` counts views that a collection left over.
"""

import gc
import os
import time
import weakref
from collections.abc import Callable
from pathlib import Path

from command_line import command, show

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from graph import SHARES, made_up_graph
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from workbench.api.predictions import Bar as TimingBar
from workbench.api.predictions import Lane, StageSpan, Timing
from workbench.gui.look import theme
from workbench.gui.modes.analyse.graph import GraphView
from workbench.gui.modes.predict.timing_view import TimingView
from workbench.gui.modes.timeline.view import TimelineView
from workbench.gui.views.bars_view import BarsView
from workbench.gui.views.house_view import HouseView
from workbench.gui.views.plot_view import PlotView
from workbench.model.pragma import Category
from workbench.pictures.bars import Bar, Bars
from workbench.pictures.graph import STYLE, NodeFacts
from workbench.pictures.layout import layout_graph
from workbench.pictures.plot import Axis, Line, Mark, Plot
from workbench.testing.runs import synthetic_run
from workbench.traces.scene import build_scene


def plot() -> HouseView:
    view, x = PlotView("Sweep", 300), np.linspace(1, 100, 161)
    lines = tuple(Line(f"line {n}", x, x ** (1 + n / 8), band=(x, x**1.9) if n == 0 else None) for n in range(5))
    view.show_plot(Plot(Axis("x", "{:g}".format), Axis("y", "{:g}".format, True), lines, (Mark("mark", 50, 1e3),)))
    return view


def graph() -> HouseView:
    view, layout = GraphView(), layout_graph(made_up_graph(50), STYLE)
    facts = NodeFacts(SHARES, "17 %", "working", "33 % moving data")
    view.show_graph(layout, {node.key: facts for node in layout.nodes}, {})
    return view


def bars() -> HouseView:
    view = BarsView("Speedup estimates")
    bounds = [(None, 2.0 + n, None) for n in range(30)]
    rows = tuple(
        Bar(f"f{n}", "a finding", 1 + n, ("1x",), (), "host main", bound, "high") for n, bound in enumerate(bounds)
    )
    view.show_bars(Bars(Axis("speedup", "{:g}".format, True), (), rows, (0, 1.5), 1.0))
    return view


def timeline() -> HouseView:
    scene = build_scene(synthetic_run(cores=20, rounds=12))
    view = TimelineView()
    view.set_scene(scene)
    return view


def timing() -> HouseView:
    view = TimingView()
    parts = [
        TimingBar(n % 6, Category.WORK, f"part {n}", "stage", n, 60, n * 1.0, n + 0.8, n * 1.0, "") for n in range(60)
    ]
    span = StageSpan("stage", 0.0, 60.0, 60, tuple(map(float, range(60))), 0, 0.0, 0.0, 0.0, True)
    view.show_timing(Timing(tuple(Lane(f"lane {n}", "") for n in range(6)), tuple(parts), (span,), 60.0))
    return view


def resident_mib() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def shown(make: Callable[[], HouseView]) -> HouseView:
    view = make()
    view.resize(900, 500)
    view.show()
    QApplication.processEvents()
    view.show_all()
    return view


def measure(make: Callable[[], HouseView], opened: int, repaints: int) -> dict[str, float]:
    alive: weakref.WeakSet[HouseView] = weakref.WeakSet()
    before = 0.0
    for number in range(opened):
        view = shown(make)
        view.viewport().repaint()
        alive.add(view)
        view.close()
        view.deleteLater()
        del view
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        if number == opened // 10:
            gc.collect()
            before = resident_mib()
    gc.collect()
    grown = resident_mib() - before
    view, times = shown(make), []
    for number in range(repaints):
        view.zoom(1.02 if number % 100 < 50 else 1 / 1.02)
        begun = time.thread_time()
        view.viewport().repaint()
        times.append((time.thread_time() - begun) * 1e3)
    view.close()
    return {
        "opened": opened,
        "alive": len(alive),
        "grown_mib": round(grown, 1),
        "first_paint_ms": round(float(np.median(times[:100])), 2),
        "last_paint_ms": round(float(np.median(times[-100:])), 2),
    }


def main() -> None:
    arguments = command(__doc__).parse_args()
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    theme.apply_theme(application, "light")
    counts = (30, 200) if arguments.quick else (200, 1000)
    rows = {make.__name__: measure(make, *counts) for make in (plot, graph, bars, timeline)}
    show({"views": rows}, arguments.json)


if __name__ == "__main__":
    main()
