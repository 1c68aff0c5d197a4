"""From an open project to what its host and designs are built from: the instrumented copies, or the designs as they
are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from workbench.api import HdlBuild, HdlLanguage, HostBuild
from workbench.api.builds import InOwnSimulator, too_large
from workbench.api.host_units import FIRST_STATES, entries_of, host_block
from workbench.api.job import Job
from workbench.model.diagnostic import WorkbenchError
from workbench.run.cards import on_fpgas
from workbench.session.kept_builds import keeping
from workbench.session.places import placed
from workbench.session.reading import instrumented, read
from workbench.session.workspace import Value, Workspace
from workbench.system.files import check_name


def instrument(
    workspace: Workspace,
    settings: Mapping[str, Value],
    out: Path,
    job: Job,
    own_build: bool = False,
    simulator: str = "",
) -> tuple[HostBuild, HdlBuild]:
    """Write instrumented copies below `out`. With a build of the project's own, each host source is instrumented as it
    is compiled: the program tells of its calls itself. `simulator` is what the project asks for, where one runs it."""
    root, platform, defines = workspace.root, workspace.platform, workspace.defines(settings)
    host = HostBuild((), blocks=(host_block(FIRST_STATES, None),), entries=entries_of(platform))
    if not own_build:
        host = instrumented(
            root,
            workspace.outside,
            workspace.host,
            workspace.host_scanner(settings, job),
            lambda part: workspace.host_language.instrument(root, part, platform, defines, out / "host", job),
            job,
            keeping(workspace.host_language, root, platform, defines, out / "host"),
        )
    folders = _folders(workspace, out / "hdl")
    hdl = on_each(workspace, lambda one: _instrument_design(one, settings, folders[id(one)], job, simulator))
    return placed(host, root), hdl


def check_names(workspace: Workspace, out: Path) -> None:
    """WorkbenchError where compilers and simulators cannot be told the name of a source, or of what is written."""
    every = (workspace.host.sources, *(one.project.hardware.sources for one in workspace.each))
    for path in (workspace.root, out, *(workspace.root / name for sources in every for name in sources)):
        check_name(path)


def plain_designs(workspace: Workspace, settings: Mapping[str, Value], simulator: str = "") -> HdlBuild:
    """The designs as they are. `simulator` is what the project asks for, where one runs them."""

    def plain(one: Workspace) -> HdlBuild:
        parameters = one.parameters(settings)
        language, own = _languages(one, simulator)
        return read(
            lambda: language.plain(one.root, one.project.hardware, parameters),
            one.path,
            otherwise=(lambda why: too_large(own.plain(one.root, one.project.hardware, parameters), why))
            if own
            else None,
        )

    return on_each(workspace, plain)


def on_each(workspace: Workspace, make: Callable[[Workspace], HdlBuild]) -> HdlBuild:
    """The build of all FPGAs; `make` gives that of a design, which several may share."""
    builds = {id(one): make(one) for one in workspace.different}
    return on_fpgas([builds[id(one)] for one in workspace.each], workspace.project.hardware)


def check_driven(workspace: Workspace, hdl: HdlBuild) -> None:
    """WorkbenchError for inputs of the FPGAs' designs that nothing drives."""
    told = {id(one): one.undriven(build.ports) for one, build in zip(workspace.each, hdl.each, strict=True)}
    if undriven := placed(tuple(problem for of_design in told.values() for problem in of_design), workspace.root):
        raise WorkbenchError(*undriven)


def _folders(workspace: Workspace, out: Path) -> dict[int, Path]:
    """Where the copies of each design lie: in a folder of its first FPGA's name."""
    names = [fpga.name for fpga in workspace.project.hardware.fpgas] or [""]
    return {id(one): out / names[workspace.each.index(one)] for one in workspace.different}


def _languages(workspace: Workspace, simulator: str) -> tuple[HdlLanguage, HdlLanguage | None]:
    """What reads a design for this simulator, and what may read it instead where it is too large for that."""
    language = workspace.hdl_language
    own = language.in_own_simulator() if isinstance(language, InOwnSimulator) else None
    return (own, None) if own is not None and simulator == "ghdl" else (language, own)


def _instrument_design(
    workspace: Workspace, settings: Mapping[str, Value], out: Path, job: Job, simulator: str
) -> HdlBuild:
    root, platform = workspace.root, workspace.platform
    language, own = _languages(workspace, simulator)
    parameters = workspace.parameters(settings)
    return workspace.instrument_hdl(
        settings,
        lambda part: language.instrument(root, part, platform, parameters, out, job),
        job,
        keeping(language, root, platform, parameters, out),
        (lambda part, why: too_large(own.instrument(root, part, platform, parameters, out, job), why)) if own else None,
    )
