"""`workbench demo`: the bundled application in both forms, from instrumenting to the report."""

import argparse
import os
import shutil
import sys
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from workbench.analysis.compare import compare, faster_words
from workbench.analysis.equal_work import equal_work
from workbench.analysis.html_report import html_report
from workbench.api.job import Job
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED
from workbench.cli.progress import progress
from workbench.formats.run_folder import open_run
from workbench.model.diagnostic import WorkbenchError
from workbench.model.run import Run
from workbench.model.text import time_text
from workbench.run.machine import WINDOW_EXTRA
from workbench.session.keep.results import open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.examples import EXAMPLES, copy_example
from workbench.session.open.opening import open_workspace
from workbench.session.open.trust import trust
from workbench.session.program.files import write_result_text
from workbench.system.files import real

FORMS = ("original", "optimised")
STREAMS = "streams"  # the third run, of a streaming application


def run_demo(arguments: argparse.Namespace, workbench: Opened) -> int:
    out: Path = real(arguments.out)
    plugins = workbench.plugins
    runs: dict[str, Run] = {}
    project = Path()
    for form, example in zip((*FORMS, STREAMS), EXAMPLES, strict=False):
        print(f"{example.title}: on the simulated card", file=sys.stderr)
        path = copy_example(example, out / "project")
        project = path if form == FORMS[0] else project
        with suppress(WorkbenchError):
            open_run(out / form)  # a run, and not something else of that name
            shutil.rmtree(out / form, ignore_errors=True)
        workspace = open_workspace(path, plugins)
        trust(workspace)  # our own code, and the person asked for it
        with progress() as watch:
            runs[form] = run_workspace(workspace, RunOptions(out=out / form, trace=True), Job(watch))
    original, optimised = (open_result(out / form, plugins) for form in FORMS)
    pair = original.run, optimised.run
    comparison = replace(compare(original.analysis, optimised.analysis, pair), equal=equal_work(*pair))
    write_result_text(out / "report.html", html_report(original.run, original.analysis, original.platform, comparison))
    first = original.analysis.findings[0] if original.analysis.findings else None
    before, after = (time_text(run.time_s, 4) for run in pair)
    times = f"original {before}, optimised {after} virtual"
    print(f"{times}: {faster_words(comparison, 'optimised')}")
    if first:
        print(f"fix first: {first.title} ({first.where}), at most {first.gain:.2f}x")
    print(f"report: {out / 'report.html'}")
    if not find_spec("PySide6"):
        print(f"no pictures: they need the window; install it with pip install {WINDOW_EXTRA}")
    elif arguments.headless or not has_display():
        take(out, out)
    else:
        from workbench.gui.app import run_window  # Qt only where there is a display

        return run_window(project, [out / form for form in FORMS])
    return DONE if all(run.complete for run in runs.values()) else FAILED


def run_pictures(arguments: argparse.Namespace, workbench: Opened) -> int:
    take(real(arguments.demo), real(arguments.out), arguments.sizes)
    return DONE


def take(demo: Path, out: Path, sizes: bool = False) -> None:
    from workbench.gui.pictures import SIZES, take_pictures  # Qt only where pictures are asked for

    project = demo / "project" / "pdf2d" / EXAMPLES[0].project
    shown = [(project, [demo / form for form in FORMS])]
    if (demo / STREAMS).is_dir():
        shown.append((demo / "project" / EXAMPLES[2].folder / EXAMPLES[2].project, [demo / STREAMS]))
    for picture in take_pictures(out, shown, sizes=SIZES if sizes else SIZES[:1]):
        print(f"picture: {picture}")


def has_display() -> bool:
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
