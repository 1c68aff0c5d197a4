"""How long a block graph takes to lay out, and to draw while it is zoomed and moved, 1200 x 500 pixels.

    python tests/benchmarks/graph.py [--json] [--quick]

`p95_ms` is of frames while a gesture lasts (a snapshot is moved where a whole drawing is slow), `redraw_ms` of a whole
drawing, both in processor time of the one thread, as `layout_s` is. Nodes are counted as drawn: replicas share one;
`blocks` counts them all.
"""

import os
import time

from command_line import command, show

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from workbench.gui.look import theme
from workbench.gui.modes.analyse.graph import GraphView
from workbench.model.blocks import Block, BlockGraph, Edge, Side, State
from workbench.model.pragma import Category
from workbench.pictures.graph import NodeFacts
from workbench.pictures.layout import layout_graph

SHARES = tuple((category, 1 / len(Category)) for category in Category)


def made_up_graph(nodes: int) -> BlockGraph:
    """A host, and stages of blocks of which each talks to one or two of the next stage."""
    rng = np.random.default_rng(1)
    states = (State(0, "unclassified"), State(1, "work", Category.WORK))
    blocks = [Block("host.main", Side.HOST, "host", "thread", "host.main", states)]
    names = [f"top.stage{n}.ctrl" for n in range(nodes - 1)]
    blocks += [Block(n, Side.FPGA, n.rsplit(".", 1)[0], "always", n, states) for n in names]
    edges = [Edge("host.main", names[0], "in", count=100, bytes=4096, time_s=1.0)]
    for n in range(1, len(names)):
        source = max(0, n - 1 - int(rng.integers(0, 8)))
        edges.append(Edge(names[source], names[n], f"m{n}", count=int(rng.integers(1, 1000))))
    return BlockGraph(tuple(blocks), tuple(edges))


def gestures(nodes: int, frames: int) -> dict[str, float]:
    graph = made_up_graph(nodes)
    started = time.thread_time()
    layout = layout_graph(graph)
    laid_out = time.thread_time() - started
    view = GraphView()
    view.resize(1200, 500)
    view.show()
    QApplication.processEvents()
    facts = NodeFacts(SHARES, "17 %", "working", "33 % moving data")
    view.show_graph(layout, {node.key: facts for node in layout.nodes}, {})
    view.viewport().repaint()
    redraw = view.frame_ms
    times = []
    for frame in range(frames):
        if frame % 2:
            view.pan(QPointF(9, 5))
        else:
            view.zoom(1.1 if frame < frames // 2 else 1 / 1.1)
        begun = time.thread_time()
        view.viewport().repaint()
        times.append((time.thread_time() - begun) * 1e3)
    view.close()
    return {
        "nodes": len(layout.nodes),
        "blocks": len(graph.blocks),
        "layout_s": round(laid_out, 4),
        "p95_ms": round(float(np.percentile(times, 95)), 2),
        "redraw_ms": round(redraw, 2),
    }


def main() -> None:
    arguments = command(__doc__).parse_args()
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    theme.apply_theme(application, "light")
    rows = [gestures(nodes, 40) for nodes in ((50, 200) if arguments.quick else (50, 500, 5000))]
    show({"rows": rows}, arguments.json)


if __name__ == "__main__":
    main()
