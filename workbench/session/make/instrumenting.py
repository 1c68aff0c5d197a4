"""Makes the sources of a run's host and designs from an open project: instrumented copies, or the designs as they
are."""

import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path

from workbench.api import HdlBuild, HdlLanguage, HostBuild
from workbench.api.builds import BecomesC, InOwnSimulator, too_large
from workbench.api.descriptors import VariesDepths
from workbench.api.host_units import FIRST_STATES, entries_of, host_block
from workbench.api.instrument.stream_probe import not_counted, with_streams
from workbench.api.job import Job
from workbench.api.source import suffixes
from workbench.model.application import HardwareSources, Project
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.platform import Platform
from workbench.model.scan import HdlScan
from workbench.run.cards import on_fpgas
from workbench.session.make.agents import FpgaNames, agent_query, check_questions, of_fpga, with_agent
from workbench.session.make.kept_builds import keeping
from workbench.session.open.places import placed
from workbench.session.open.reading import instrumented, read
from workbench.session.open.workspace import Value, Workspace, once_each
from workbench.system.files import check_name


def instrument(
    workspace: Workspace,
    settings: Mapping[str, Value],
    out: Path,
    job: Job,
    own_build: bool = False,
    simulator: str = "",
    varied: bool = False,
) -> tuple[HostBuild, HdlBuild]:
    """Write instrumented copies below `out`. In the project's own build each host source is instrumented when it is
    compiled, and the program reports its calls itself. `simulator` is the project's simulator for a simulated run. With
    `varied`, FIFO depths are chosen at the start of a simulation, and the design's states are not observed."""
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

    def build_of(one: Workspace) -> HdlBuild:
        out = folders[id(one)]
        if varied:
            return with_depths(one, settings, out, job)
        try:
            return _instrument_design(one, settings, out, job, simulator, _fpgas_of(workspace, one))
        except WorkbenchError as error:
            query, fpga = one.project.hardware.query, _fpga(workspace, one)
            raise WorkbenchError(*(of_fpga(problem, query, fpga) for problem in error.diagnostics)) from None

    hdl = on_each(workspace, build_of)
    names = [fpga.name for fpga in workspace.project.hardware.fpgas] or [""]
    misfits = check_questions(dict(zip(names, hdl.each, strict=False)))
    return placed(host, root), replace(hdl, diagnostics=(*hdl.diagnostics, *misfits))


def check_names(workspace: Workspace, out: Path) -> None:
    """Raise WorkbenchError for file names that cannot be passed to compilers and simulators."""
    every = (workspace.host.sources, *(one.project.hardware.sources for one in workspace.boards))
    for path in (workspace.root, out, *(workspace.root / name for sources in every for name in sources)):
        check_name(path)


def plain_host(workspace: Workspace, out: Path) -> Workspace:
    """The project with host sources for a compiler; generated ones are written below `out`."""
    language, project = workspace.host_language, workspace.project
    if not isinstance(language, BecomesC):
        return workspace
    sources = read(lambda: language.plain(workspace.root, project.host, workspace.platform, out), workspace.path)
    host = project.host.model_copy(update={"sources": tuple(map(str, sources))})
    return replace(workspace, project=project.model_copy(update={"host": host}))


def plain_designs(workspace: Workspace, settings: Mapping[str, Value], simulator: str = "") -> HdlBuild:
    """The designs as they are. `simulator` is the project's simulator for a simulated run."""

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
    """The build of all FPGAs; `make` builds a design, which several may share."""
    return on_fpgas(once_each(workspace.boards, make), workspace.project.hardware)


def check_driven(workspace: Workspace, hdl: HdlBuild) -> None:
    """Raise WorkbenchError for inputs of the FPGAs' designs that nothing drives."""
    problems = {id(one): one.undriven(build.ports) for one, build in zip(workspace.boards, hdl.each, strict=True)}
    if undriven := placed(tuple(problem for of_design in problems.values() for problem in of_design), workspace.root):
        raise WorkbenchError(*undriven)


def _folders(workspace: Workspace, out: Path) -> dict[int, Path]:
    """The folder for the copies of each design, named after its first FPGA."""
    return {id(one): out / _fpga(workspace, one) for one in workspace.designs}


def _fpga(workspace: Workspace, design: Workspace) -> str:
    """The name of the first FPGA with this design; "" if the project names none."""
    names = [fpga.name for fpga in workspace.project.hardware.fpgas] or [""]
    return names[workspace.boards.index(design)]


def _fpgas_of(workspace: Workspace, design: Workspace) -> FpgaNames:
    """The names of the FPGAs with this design, and of the others."""
    names = [fpga.name for fpga in workspace.project.hardware.fpgas]
    own = tuple(name for name, one in zip(names, workspace.boards, strict=False) if one is design)
    return own, tuple(name for name in names if name not in own)


def _languages(workspace: Workspace, simulator: str) -> tuple[HdlLanguage, HdlLanguage | None]:
    """The language that reads a design for this simulator, and an alternative if the design is too large for it."""
    language = workspace.hdl_language
    for_simulator = language.in_own_simulator() if isinstance(language, InOwnSimulator) else None
    return (for_simulator, None) if for_simulator is not None and simulator == "ghdl" else (language, for_simulator)


def _instrument_design(
    workspace: Workspace, settings: Mapping[str, Value], out: Path, job: Job, simulator: str, fpgas: FpgaNames
) -> HdlBuild:
    root, platform = workspace.root, workspace.platform
    language, own = _languages(workspace, simulator)
    parameters = workspace.parameters(settings)
    return workspace.instrument_hdl(
        settings,
        lambda part: instrument_by(language, root, part, platform, parameters, out, job, fpgas),
        job,
        keeping(language, root, platform, {**parameters, "": repr(fpgas)}, out),
        (lambda part, why: too_large(instrument_by(own, root, part, platform, parameters, out, job, fpgas), why))
        if own
        else None,
    )


def instrument_by(
    language: HdlLanguage, root: Path, hardware: HardwareSources, platform: Platform, parameters: dict[str, str],
    out: Path, job: Job, fpgas: FpgaNames = ((), ()),
) -> HdlBuild:  # fmt: skip
    """The language's `instrument`, with streams as blocks if the project asks for that, and with an agent for its
    questions."""

    def first(folder: Path) -> HdlBuild:
        return language.instrument(root, hardware, platform, parameters, folder, job)

    if not (hardware.count_streams or hardware.query):
        return first(out)
    scan = _with_streams_of_vhdl(language.scan(root, hardware, platform, parameters, job), first)
    query = agent_query(root, hardware, scan, fpgas)
    hardware = with_streams(hardware, scan, query.valued if query else ()).with_agent(query.room if query else 0)
    build = language.instrument(root, hardware, platform, parameters, out, job)
    build = with_agent(build, query, root, platform) if query else build
    return replace(build, diagnostics=(*build.diagnostics, *not_counted(build.streams, build.blocks)))


def _with_streams_of_vhdl(scan: HdlScan, instrument: Callable[[Path], HdlBuild]) -> HdlScan:
    """The scan of a design, with the streams that are found in VHDL only during instrumentation."""
    if not any(block.file.lower().endswith(tuple(suffixes.VHDL)) for block in scan.blocks):
        return scan
    with tempfile.TemporaryDirectory(prefix="recap-streams-") as folder:
        build = instrument(Path(folder))
    return replace(scan, streams=build.streams, fifos=build.fifos)


def with_depths(workspace: Workspace, settings: Mapping[str, Value], out: Path, job: Job) -> HdlBuild:
    """A design with FIFO depths chosen at the start of a simulation. With several FPGAs, a design whose language cannot
    do that stays unchanged, with a note."""
    language, root, platform = workspace.hdl_language, workspace.root, workspace.platform
    parameters = workspace.parameters(settings)
    problems: tuple[Diagnostic, ...] = ()
    if isinstance(language, VariesDepths):
        make = language.with_depths
    else:
        problem = Diagnostic(f"depths of FIFOs cannot be tried in designs of the language '{language.name}'")
        if not workspace.ends:
            raise WorkbenchError(problem)
        make, problems = language.instrument, (replace(problem, severity=Severity.NOTE, file=str(workspace.path)),)
    build = workspace.instrument_hdl(settings, lambda part: make(root, part, platform, parameters, out, job), job)
    return replace(build, diagnostics=(*build.diagnostics, *problems))


def check_varied(depths: Collection[str], hdl: HdlBuild, project: Project) -> None:
    """Raise WorkbenchError for a FIFO whose depth cannot be chosen."""
    varied_fifos = {
        place + name for one, place in zip(hdl.each, hdl.places, strict=True) for name in one.simulation.varied
    }
    varied_fifos |= {link.name for link in project.hardware.links}
    if missing := [name for name in depths if name not in varied_fifos]:
        hint = f"Depths that can be varied: {', '.join(sorted(varied_fifos)) or 'none'}."
        raise WorkbenchError(Diagnostic(f"the depth of FIFO '{missing[0]}' cannot be varied", hint))
