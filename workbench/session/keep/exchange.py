"""Exports runs for other programs, and imports other programs' files as runs, with plugins' formats."""

import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from workbench.analysis.measured import MeasuredRun
from workbench.api import Importer
from workbench.api.faults import caught, plugin_fault
from workbench.api.job import Job
from workbench.formats.run_folder import RunWriter
from workbench.model.diagnostic import Cancelled, Diagnostic, Severity, WorkbenchError, unknown_name
from workbench.model.run import Run
from workbench.session.keep.results import open_recorded
from workbench.session.program.files import write_result
from workbench.session.program.plugins import Plugins
from workbench.system.files import open_regular


def export_run(path: Path, form: str, out: Path, plugins: Plugins) -> tuple[Diagnostic, ...]:
    """Write a run folder to `out` in a plugin's format. WorkbenchError if that fails; `out` then stays as it was."""
    if form not in plugins.exporters:
        raise WorkbenchError(unknown_name("format", form, plugins.exporters))
    measured, problems = measured_run(path, plugins)
    exporter = plugins.exporters[form]
    try:
        if exporter.write_folder:
            _fill_folder(out, partial(exporter.write_folder, measured))
        else:
            write_result(out, lambda file: exporter.write(measured, file))
    except (WorkbenchError, Cancelled):
        raise
    except BaseException as raised:
        fault = caught(raised)
        raise WorkbenchError(plugin_fault(fault, f"to export as {form}", Severity.ERROR)) from fault
    return problems


def _fill_folder(out: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a new folder. WorkbenchError if the folder exists, which then stays, or cannot be made."""
    if out.exists():
        raise WorkbenchError(Diagnostic("this file or folder already exists", "Choose another name.", file=str(out)))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=".export-") as folder:
            filled = Path(folder, "filled")
            filled.mkdir()
            write(filled)
            filled.rename(out)
    except OSError as error:
        problem = f"cannot write: {error.strerror or error}"
        raise WorkbenchError(Diagnostic(problem, "Choose another place.", file=str(out))) from None


def measured_run(path: Path, plugins: Plugins) -> tuple[MeasuredRun, tuple[Diagnostic, ...]]:
    """A run folder with its metrics; missing parts become diagnostics."""
    run, platform, problems = open_recorded(path, plugins)
    return MeasuredRun(run, platform, plugins.metrics), problems


def import_run(path: Path, form: str, out: Path, plugins: Plugins, job: Job) -> tuple[Run, tuple[Diagnostic, ...]]:
    """Import another program's file as the run folder `out`. With an empty `form` the file's suffix decides.
    WorkbenchError if that fails; there is then no folder."""
    importer = _importer(path, form, plugins)
    try:
        open_regular(path).close()
        read = importer.read(path, job)
    except (WorkbenchError, Cancelled):
        raise
    except OSError as error:
        raise WorkbenchError(Diagnostic(f"cannot read this file: {error.strerror}", file=str(path))) from None
    except BaseException as raised:
        fault = caught(raised)
        raise WorkbenchError(plugin_fault(fault, f"to read {path.name}", Severity.ERROR)) from fault
    writer = RunWriter(out, read.manifest)
    try:
        return writer.finish(read.manifest, read.tables), read.manifest.diagnostics
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)  # an incomplete run would block the next try
        raise


def _importer(path: Path, form: str, plugins: Plugins) -> Importer:
    if form:
        if form not in plugins.importers:
            raise WorkbenchError(unknown_name("format", form, plugins.importers))
        return plugins.importers[form]
    fitting = [i for i in plugins.importers.values() if path.name.lower().endswith(i.suffixes)]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(f"{i.name} ({' '.join(i.suffixes)})" for i in fitting or plugins.importers.values())
    problem = "several formats have this suffix" if fitting else "no format has this suffix"
    raise WorkbenchError(Diagnostic(problem, f"Name one with --format: {names}.", file=str(path)))
