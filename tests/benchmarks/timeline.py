"""How long a frame of the timeline takes, by number of intervals and rows: zooming and panning, 1600 x 1000 pixels.

    python tests/benchmarks/timeline.py [--json] [--quick] [--huge]

Each run is a folder on disk, its trace in chunks, opened in a process of its own. `open_s` is from the folder to the
first frame, `first_open_s` the same of a folder without a pyramid, which is then kept; `bytes` is the trace with its
pyramid, `peak_bytes` the most memory that opening held, the window's libraries (`empty_bytes`) and what is mapped of
files included. `p50_ms` and `p95_ms` are of frames drawn while things move (`cpu_` of it the processor's time, for busy
machines), `exact_p95_ms` of the exact ones drawn when they rest, `cpu_shares_p95_ms` with the shares of states.
`find_s` is what counting all hits of a word takes, `statistics_s` the table of every block's states, over all of the
run. `--huge` adds 10^8 intervals.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from command_line import command, show

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from workbench.formats.run_folder import RunWriter, open_run
from workbench.gui.look import theme
from workbench.gui.modes.timeline.view import TimelineView
from workbench.model.blocks import Block, Side, State
from workbench.model.pragma import Category
from workbench.model.run import Manifest, RunClock, RunStatus, Site
from workbench.model.run_tables import TABLES
from workbench.run.tap_trace import CHUNK_TAPS
from workbench.traces.find import hits
from workbench.traces.scene import build_scene
from workbench.traces.state_table import state_rows
from workbench.traces.writer import TraceWriter

CALLED = ("send", "poll", "receive", "check", "start")
END_PS = 64_506_000_000_000
STATES = (State(0, "unclassified"), *(State(n, c.value, c) for n, c in enumerate(Category, 1)))


def made_calls(calls: int) -> dict[str, np.ndarray]:
    """Calls of a host's thread, one after the other: rounds of a send, two polls, a receive and a check."""
    rng = np.random.default_rng(2)
    edges = np.cumsum(rng.exponential(1.0, 2 * calls))
    edges = (edges * (END_PS * 0.999 / edges[-1])).astype(np.int64)
    none = np.full(calls, -1)
    given = {"site": np.array([4, 0, 1, 1, 2, 3])[np.arange(calls) % 6], "state": np.ones(calls),
             "t0_ps": edges[::2], "t1_ps": edges[1::2], "message": none, "entry": none, "resource": none}  # fmt: skip
    return {name: np.asarray(given.get(name, np.zeros(calls)), kind) for name, kind in TABLES["calls"].items()}


def make_run(folder: Path, intervals: int, rows: int, calls: int) -> None:
    """A folder of a host thread and replicas whose states follow one another at random lengths."""
    rng = np.random.default_rng(1)
    chunks = -(-intervals // CHUNK_TAPS)
    each = intervals // rows // chunks
    bounds = np.linspace(0, END_PS, chunks + 1).astype(np.int64)
    blocks = [Block("host.main", Side.HOST, "host", "thread", "host.main", STATES)]
    for n in range(rows - 1):
        blocks.append(Block(f"top.core[{n}].ctrl", Side.FPGA, f"top.core[{n}]", "always", "top.core[*].ctrl", STATES))
    writer = RunWriter(folder)
    trace = TraceWriter(writer.part, len(STATES))
    states = np.tile((np.arange(each) % len(Category) + 1).astype(np.uint8), rows)
    for begin, end in pairwise(bounds.tolist()):
        at = np.cumsum(rng.exponential(1.0, (rows, each)).astype(np.float32), axis=1, dtype=np.float64)
        starts = (begin + (at - at[:, :1]) * ((end - begin) * 0.999 / at[:, -1:])).astype(np.int64)
        trace.append(starts.reshape(-1), states, np.full(rows, each))
    manifest = Manifest(
        "made up", RunStatus.COMPLETE, "", traced=True, clocks=(RunClock("clk", 100e6),), time_ps=END_PS,
        blocks=tuple(blocks), sites=tuple(Site("main.c", 10 + n, 5, name, name, 0) for n, name in enumerate(CALLED)),
    )  # fmt: skip
    tables = {"calls": made_calls(calls)} if calls else {}
    writer.finish(manifest, {**trace.close(rows), **tables})


def open_view(folder: Path) -> tuple[TimelineView, dict[str, float]]:
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    theme.apply_theme(application, "light")
    view = TimelineView()
    view.resize(1600, 1000)
    view.show()
    QApplication.processEvents()
    empty = peak_bytes()
    started, busy = time.perf_counter(), time.process_time()
    run, problems = open_run(folder)
    assert not problems, problems
    scene = build_scene(run)
    assert scene is not None
    view.set_scene(scene)
    view.viewport().repaint()
    return view, {
        "open_s": round(time.perf_counter() - started, 3),
        "open_cpu_s": round(time.process_time() - busy, 3),
        "bytes": scene.index.bytes,
        "peak_bytes": peak_bytes(),
        "empty_bytes": empty,
    }


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def draw(folder: Path, frames: int) -> dict[str, float]:
    view, opened = open_view(folder)
    moving: list[float] = []
    exact: list[float] = []
    busy: list[float] = []
    exact_busy: list[float] = []
    shares: list[float] = []
    gestures = (
        lambda: view.zoom(1 / 0.7, QPointF(508, 500)),
        lambda: view.pan(QPointF(-37, 0)),
        lambda: view.zoom(0.7, QPointF(1108, 500)),
        lambda: view.scroll_to(view.scroll_px + 44),
    )
    for gesture in (gesture for gesture in gestures for _ in range(frames // 4)):
        gesture()
        begun, worked = time.perf_counter(), time.thread_time()
        view.viewport().repaint()
        moving.append((time.perf_counter() - begun) * 1e3)
        busy.append((time.thread_time() - worked) * 1e3)
        view.refresh()
        view.moving = False
        begun, worked = time.perf_counter(), time.thread_time()
        view.viewport().repaint()
        exact.append((time.perf_counter() - begun) * 1e3)
        exact_busy.append((time.thread_time() - worked) * 1e3)
    view.aggregate = True
    view.refresh()
    for gesture in (gesture for gesture in gestures for _ in range(frames // 4)):
        gesture()
        worked = time.thread_time()
        view.viewport().repaint()
        shares.append((time.thread_time() - worked) * 1e3)
    scene = view.traced
    assert scene is not None
    begun = time.thread_time()
    found = hits(scene, "wait")
    counted = time.thread_time()
    states = sum(1 for _ in state_rows(scene, 0, scene.index.end_ps))
    return {
        "find_s": round(counted - begun, 3),
        "hits": found.count,
        "statistics_s": round(time.thread_time() - counted, 3),
        "states": states,
        "cpu_shares_p95_ms": round(float(np.percentile(shares, 95)), 2),
        "p50_ms": round(float(np.percentile(moving, 50)), 2),
        "p95_ms": round(float(np.percentile(moving, 95)), 2),
        "cpu_p50_ms": round(float(np.percentile(busy, 50)), 2),
        "cpu_p95_ms": round(float(np.percentile(busy, 95)), 2),
        "exact_p95_ms": round(float(np.percentile(exact, 95)), 2),
        "cpu_exact_p95_ms": round(float(np.percentile(exact_busy, 95)), 2),
        **opened,
    }


def measure(intervals: int, rows: int, calls: int, frames: int, scratch: Path) -> dict[str, float]:
    def child(part: str) -> dict[str, float]:
        numbers = [str(number) for number in (intervals, rows, calls, frames)]
        command = [sys.executable, __file__, "--part", part, str(scratch / "run"), *numbers]
        return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))

    child("make")
    first = child("open")
    return {"intervals": intervals, "rows": rows, "calls": calls, **child("draw"), "first_open_s": first["open_s"],
            "first_open_cpu_s": first["open_cpu_s"], "first_peak_bytes": first["peak_bytes"]}  # fmt: skip


def part(what: str, folder: Path, intervals: int, rows: int, calls: int, frames: int) -> dict[str, float]:
    """One step of a measurement, in this process."""
    if what == "make":
        make_run(folder, intervals, rows, calls)
        return {}
    return draw(folder, frames) if what == "draw" else open_view(folder)[1]


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--huge", action="store_true", help="also 10^8 intervals: 1 GB of disk, a minute")
    parser.add_argument("--part", nargs=6, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        what, folder, *numbers = arguments.part
        print(json.dumps(part(what, Path(folder), *map(int, numbers))))
        return
    sizes = [(10**6, 60, 0), (10**6, 60, 10**6)]
    if not arguments.quick:
        sizes += [(10**6, 60, 10**7), (10**7, 60, 0), (10**7, 1000, 0)]
    if arguments.huge:
        sizes.append((10**8, 60, 0))
    rows = []
    for intervals, count, calls in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            rows.append(measure(intervals, count, calls, 40 if arguments.quick else 160, Path(scratch)))
    show({"rows": rows}, arguments.json)


if __name__ == "__main__":
    main()
