"""How long a frame of the timeline takes, by number of intervals and rows: zooming and panning, 1600 x 1000 pixels.

    python tests/benchmarks/timeline.py [--json] [--quick] [--huge]

`open_s` is from the run's tables to the first frame, `bytes` the index with its pyramids. `p50_ms` and `p95_ms` are of
frames drawn while things move (`cpu_` of it the processor's time, for busy machines), `exact_p95_ms` of the exact
ones drawn when they rest. `--huge` adds 10^8 intervals.
"""

from __future__ import annotations

import argparse
import json
import os
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtWidgets import QApplication

from workbench.gui import theme
from workbench.gui.timeline.scene import build_scene
from workbench.gui.timeline.view import TimelineView
from workbench.model.blocks import Block, Side, State
from workbench.model.pragma import Category
from workbench.model.run import Manifest, Run, RunClock, RunStatus

END_PS = 64_506_000_000_000
STATES = (State(0, "unclassified"), *(State(n, c.value, c) for n, c in enumerate(Category, 1)))


def made_up_run(intervals: int, rows: int) -> Run:
    """A host thread and replicas whose states follow one another at random lengths."""
    rng = np.random.default_rng(1)
    each = intervals // rows
    starts = np.empty((rows, each), np.int64)
    for row in range(rows):
        at = np.cumsum(rng.exponential(1.0, each).astype(np.float32), dtype=np.float64)
        starts[row] = at * (END_PS * 0.999 / at[-1])
        starts[row, 0] = 0
    states = np.tile((np.arange(each) % len(Category) + 1).astype(np.uint8), rows)
    blocks = [Block("host.main", Side.HOST, "host", "thread", "host.main", STATES)]
    for n in range(rows - 1):
        blocks.append(Block(f"top.core[{n}].ctrl", Side.FPGA, f"top.core[{n}]", "always", "top.core[*].ctrl", STATES))
    tables = {
        "intervals": {"start_ps": starts.reshape(-1), "state": states},
        "interval_offsets": {"offset": np.arange(rows + 1, dtype=np.int64) * each},
    }
    manifest = Manifest(
        "made up",
        RunStatus.COMPLETE,
        "",
        traced=True,
        clocks=(RunClock("clk", 100e6),),
        time_ps=END_PS,
        blocks=tuple(blocks),
    )
    return Run(None, manifest, tables)


def measure(intervals: int, rows: int, frames: int) -> dict[str, float]:
    run = made_up_run(intervals, rows)
    view = TimelineView()
    view.resize(1600, 1000)
    view.show()
    QApplication.processEvents()
    started = time.perf_counter()
    scene = build_scene(run)
    assert scene is not None
    view.set_scene(scene)
    view.repaint()
    opened = time.perf_counter() - started
    moving: list[float] = []
    exact: list[float] = []
    busy: list[float] = []
    steps = [lambda: view.zoom(0.7, 300.0)] * (frames // 4) + [lambda: view.pan(37.0)] * (frames // 4)
    steps += [lambda: view.zoom(1 / 0.7, 900.0)] * (frames // 4) + [lambda: view.scroll_to(view.scroll_px + 44)] * (
        frames // 4
    )
    for step in steps:
        step()
        begun, worked = time.perf_counter(), time.thread_time()
        view.repaint()
        moving.append((time.perf_counter() - begun) * 1e3)
        busy.append((time.thread_time() - worked) * 1e3)
        view.refresh()
        view.moving = False
        begun = time.perf_counter()
        view.repaint()
        exact.append((time.perf_counter() - begun) * 1e3)
    view.close()
    return {
        "intervals": intervals,
        "rows": rows,
        "p50_ms": round(float(np.percentile(moving, 50)), 2),
        "p95_ms": round(float(np.percentile(moving, 95)), 2),
        "cpu_p50_ms": round(float(np.percentile(busy, 50)), 2),
        "cpu_p95_ms": round(float(np.percentile(busy, 95)), 2),
        "exact_p95_ms": round(float(np.percentile(exact, 95)), 2),
        "open_s": round(opened, 3),
        "bytes": scene.index.bytes,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--huge", action="store_true", help="also 10^8 intervals: 1.5 GB of memory, a minute")
    arguments = parser.parse_args()
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    theme.apply_theme(application, "light")
    sizes = [(10**6, 60)] if arguments.quick else [(10**6, 60), (10**7, 60), (10**7, 1000)]
    if arguments.huge:
        sizes.append((10**8, 60))
    rows = [measure(intervals, count, 40 if arguments.quick else 160) for intervals, count in sizes]
    if arguments.json:
        print(json.dumps({"rows": rows}, indent=1))
        return
    for row in rows:
        print(
            f"{row['intervals']:>11,} intervals, {row['rows']:>5} rows: moving p50 {row['p50_ms']:6.2f} ms, "
            f"p95 {row['p95_ms']:6.2f} ms (processor {row['cpu_p50_ms']:.2f}, {row['cpu_p95_ms']:.2f}); "
            f"exact p95 {row['exact_p95_ms']:6.2f} ms; "
            f"open {row['open_s']:6.2f} s; {row['bytes'] / 2**20:,.0f} MiB"
        )


if __name__ == "__main__":
    main()
