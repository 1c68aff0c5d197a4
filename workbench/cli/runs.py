"""`workbench report`, `export` and `import`."""

import argparse
import shutil
from pathlib import Path

from workbench.analysis.report import report_json, virtual_time_json
from workbench.analysis.text_report import text_report
from workbench.api.job import Job
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, as_json, print_diagnostics, print_json
from workbench.cli.progress import progress
from workbench.formats.units import UnitError, quantity
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import PS_PER_S, Run
from workbench.model.text import listed
from workbench.session.keep.exchange import export_run, import_run
from workbench.session.keep.results import OpenRun, open_result, predicted
from workbench.session.keep.time_range import narrowed
from workbench.session.program.files import write_result, write_result_text
from workbench.session.program.plugins import Plugins
from workbench.session.program.settings import value

MOST_COLUMNS = 100  # longer lines are hard to read


def open_printed(path: Path, plugins: Plugins, threshold: float = 1.05) -> OpenRun:
    """A run, analysed; what is wrong with it is printed."""
    opened = open_result(path, plugins, threshold)
    print_diagnostics((*opened.diagnostics, *opened.analysis.diagnostics))
    return opened


def _part(opened: OpenRun, first: str | None, last: str | None) -> OpenRun:
    """What lies between two moments of a run, where one is named."""
    if first is None and last is None:
        return opened
    return narrowed(opened, *moments_ps(opened.run, first, last))


def moments_ps(run: Run, first: str | None, last: str | None) -> tuple[int, int]:
    """The moments that --from and --to name, or the run's start and end."""
    begin = 0 if first is None else moment_ps("--from", first)
    return begin, run.manifest.time_ps if last is None else min(moment_ps("--to", last), run.manifest.time_ps)


def moment_ps(option: str, text: str) -> int:
    try:
        return round(quantity(text, "s") * PS_PER_S)
    except UnitError as error:
        raise WorkbenchError(Diagnostic(f"{option} {text}: {error}", 'Write a time, as in "1.5 ms".')) from None


def run_report(arguments: argparse.Namespace, workbench: Opened) -> int:
    opened = _part(
        open_printed(arguments.run_folder, workbench.plugins, arguments.threshold), arguments.first, arguments.last
    )
    whole = arguments.first is None and arguments.last is None
    budget_s = float(value("predict_s")) if arguments.predict is None else arguments.predict
    if budget_s > 0 and whole and opened.analysis.predictable:
        opened, _ = predicted(opened, budget_s)
    if arguments.html:
        from workbench.analysis.html_report import html_report  # what draws is imported where a picture is asked for
        from workbench.session.make.scaling import scaling_of

        scaling = scaling_of(opened.run) if whole else None
        page = html_report(opened.run, opened.analysis, opened.platform, scaling=scaling)
        write_result_text(arguments.html, page)
    if arguments.svg:
        write_result_text(arguments.svg, _picture(opened, arguments))
    if arguments.png:
        from workbench.gui.pictures import take_picture

        write_result(arguments.png, lambda file: take_picture(arguments.run_folder, Path(file.name)))
    if arguments.json:
        print_json(report_json(opened.run.manifest, opened.analysis) | {"virtual_time": virtual_time_json(opened.run)})
    else:
        width = min(shutil.get_terminal_size().columns, MOST_COLUMNS)
        print(text_report(opened.run, opened.analysis, opened.platform, width, arguments.all))
    run = opened.run
    return DONE if run.complete or run.manifest.time_ps else FAILED  # of a run that recorded nothing there is no report


def _picture(opened: OpenRun, arguments: argparse.Namespace) -> str:
    """The block graph as SVG, or the run's time, or the states of a block, or of a group of replicas. WorkbenchError
    without such."""
    block = arguments.states
    if arguments.flame or arguments.treemap:
        from workbench.pictures.time_drawing import FLAME, TREEMAP, times_svg
        from workbench.pictures.time_tree import time_tree

        tree = time_tree(opened.analysis, waits=not arguments.no_waits)
        return times_svg(FLAME if arguments.flame else TREEMAP, tree)
    if not block:
        from workbench.pictures.graph import graph_svg

        return graph_svg(opened.analysis, opened.platform)
    from workbench.pictures.state_diagram import state_diagram, states_svg

    diagram = state_diagram(block, opened.analysis.members(block))
    if diagram is None:
        named = [g.group for g in opened.analysis.groups() if any(m.transitions for m in g.members)]
        hint = f"Name one of these: {listed(named)}." if named else "Mark states, and run again."
        raise WorkbenchError(Diagnostic(f"no state changes were counted for a block '{block}'", hint))
    return states_svg(diagram)


def run_export(arguments: argparse.Namespace, workbench: Opened) -> int:
    print_diagnostics(export_run(arguments.run_folder, arguments.format, arguments.out, workbench.plugins))
    return DONE


def run_import(arguments: argparse.Namespace, workbench: Opened) -> int:
    with progress() as watch:
        run, problems = import_run(arguments.file, arguments.format, arguments.out, workbench.plugins, Job(watch))
    print_diagnostics(problems)
    if arguments.json:
        print_json({"run": str(run.path), "time_s": run.time_s, "diagnostics": as_json(problems)})
    return DONE
