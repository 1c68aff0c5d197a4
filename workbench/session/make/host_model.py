"""Measures a model from a project's own host, which runs on the simulated card with a probe."""

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.api.host_probe import HostRegion, MeasuredHost
from workbench.api.job import Job
from workbench.api.model_kinds import ModelKind
from workbench.formats.run_folder import open_run
from workbench.model.diagnostic import Diagnostic, WorkbenchError, has_errors, near
from workbench.model.text import time_text
from workbench.session.keep.results import newest_run
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.workspace import Workspace

_LINES = re.compile(r"(.+):(\d+)(?:-(\d+))?$")
WHOLE = "main"


@dataclass(frozen=True)
class HotPlace:
    """A place of the host to measure, by the name that users know, with the reason."""

    region: str
    why: str


def functions_of(workspace: Workspace) -> tuple[str, ...]:
    """The functions defined in the host's sources, by name."""
    files = workspace.host_language.outline(workspace.root, workspace.host.sources)
    return tuple(dict.fromkeys(name for file in files for name in file.functions))


def hottest(workspace: Workspace) -> HotPlace:
    """The call with the longest own code before it in the newest run; the whole program if there is no run."""
    newest = newest_run(workspace)
    run = open_run(newest)[0] if newest else None
    calls = run.tables.get("call_order") if run else None
    if newest is None or run is None or calls is None or not len(calls["site"]):
        return HotPlace(WHOLE, "no run shows which part of the host takes longest, so this is the whole program")
    has_site = calls["site"] >= 0
    of_site = np.bincount(calls["site"][has_site], calls["host_ps"][has_site], len(run.manifest.sites))
    if not of_site.any():
        return HotPlace(WHOLE, f"{newest.name} spent no time in the host's own code, so this is the whole program")
    site, took_s = run.manifest.sites[int(of_site.argmax())], float(of_site.max()) / 1e12
    why = f"its own code before {site.label} takes longest of the host's in {newest.name}, {time_text(took_s)}"
    return HotPlace(f"{site.file}:{site.line}", why)


def region_of(workspace: Workspace, text: str) -> HostRegion:
    """The region of a function's name, of the function around `FILE:LINE`, or of the lines `FILE:FIRST-LAST`.
    WorkbenchError if the host has no such region."""
    if match := _LINES.match(text):
        file, first, last = match[1], int(match[2]), int(match[3] or 0)
        path = Path(os.path.realpath(workspace.root / file))
        real_paths = {name: Path(os.path.realpath(workspace.root / name)) for name in workspace.host.sources}
        source_name = next((one for name, one in real_paths.items() if one == path or Path(name).name == file), None)
        if source_name is None:
            raise WorkbenchError(
                Diagnostic(f"'{file}' is no source of the host", near(file, real_paths, "Its sources"))
            )
        if match[3] and last < first:
            raise WorkbenchError(Diagnostic(f"line {last} is before line {first}", "Write FILE:FIRST-LAST."))
        region_text = f"lines {first} to {last} of {file}" if last else f"the function around {file}:{first}"
        return HostRegion(region_text, file=source_name, first=first, last=last)
    names = functions_of(workspace)
    if names and text.rpartition("::")[2] not in {name.rpartition("::")[2] for name in names}:
        hint = near(text, names, "Its functions")
        raise WorkbenchError(Diagnostic(f"the host defines no function '{text[:80]}'", hint))
    return HostRegion(f"function {text}", function=text)


def measured_model(workspace: Workspace, kind: ModelKind, region: str, job: Job) -> str:
    """The document of a model measured from a region of the host (empty: the hottest one) in a run for this purpose.

    The project's runs stay unchanged. WorkbenchError if it cannot be built and run for this, or if the region does not
    run.
    """
    assert kind.of_host is not None
    target = workspace.target()
    if not target.simulated:
        message = "a host is measured on the simulated card only"
        hint = "Set target.name to simulated, or measure a copy of the project."
        raise WorkbenchError(Diagnostic(message, hint, file=str(workspace.path)))
    if workspace.project.host.build:
        message = "a host that is built by a command of its own cannot be measured"
        hint = "Leave host.build out, and name its sources and flags: the workbench then compiles them."
        raise WorkbenchError(Diagnostic(message, hint, file=str(workspace.path)))
    probe = kind.of_host(region_of(workspace, region or hottest(workspace).region))
    with tempfile.TemporaryDirectory(prefix="measured-host-") as folder:
        options = RunOptions(out=Path(folder) / "run", deterministic=True, settles=False, probe=probe)
        run = run_workspace(workspace, options, job)
    if not run.complete:
        raise WorkbenchError(*(d for d in job.diagnostics if has_errors([d])))
    layered = workspace.platform.name if workspace.platform.memories else ""
    title = f"{workspace.project.title or workspace.project.name}: {region or 'hottest part'} of the host"
    return probe.model(MeasuredHost(workspace.project.name, title, layered))
