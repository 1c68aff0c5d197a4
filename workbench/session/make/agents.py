"""Adds agents that count the project's questions to the instrumented copy of an ordinary design, and switches agents as
a program starts, those of streaming applications too."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from workbench.api import Composed, HdlBuild
from workbench.api.builds import AgentQuery
from workbench.api.instrument.board import settings_of
from workbench.api.instrument.monitor_text import AGENTS_FILE
from workbench.formats.platform_file import load_platform
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic, OfProject, Severity, WorkbenchError, near
from workbench.model.platform import Platform
from workbench.model.read_out import AgentSettings, MonitorWords
from workbench.model.scan import HdlScan
from workbench.run.agents import clocks_of_platform, counting
from workbench.run.cards import on_fpgas
from workbench.session.make.composed import restored_composed
from workbench.session.make.tree import open_tree
from workbench.session.open.workspace import Workspace, once_each
from workbench.session.program.plugins import Plugins
from workbench.system.files import read_file

#: The names of the FPGAs that have a design, and of the project's others.
FpgaNames = tuple[tuple[str, ...], tuple[str, ...]]
_OF_FIFO = 32  # words beyond those of its depth, of what an agent sends of a FIFO
_FRAMES = 3  # that the memory has room for at least


def agent_query(root: Path, hardware: HardwareSources, scan: HdlScan, fpgas: FpgaNames = ((), ())) -> AgentQuery | None:
    """The query for the agent in a design: the project's questions, and the occupancy of each FIFO unless a trace has
    every word. `fpgas` are the names of the FPGAs with this design, and of the others. None without questions.
    WorkbenchError if the file cannot be read."""
    fifos = scan.fifos if hardware.count_streams and hardware.trace is None else ()
    made = counting()
    if not (hardware.query or fifos) or made is None:
        return None
    text = ""
    if hardware.query:
        try:
            text = read_file(root / hardware.query).decode("utf-8-sig", "replace")
        except OSError as error:
            message = f"cannot read '{hardware.query}': {error.strerror}"
            raise WorkbenchError(OfProject(message, "Name a file of questions.", keys=("hardware", "query"))) from None
    words = _FRAMES * sum((fifo.depth or 255) + _OF_FIFO for fifo in fifos)
    room = 1 << (max(hardware.query_words, words) - 1).bit_length()
    own, others = fpgas
    values = made.valued(text, scan.streams, scan.fifos, own)
    return AgentQuery(text, hardware.query, bool(fifos), room, values, own, others)


def of_fpga(problem: Diagnostic, query: str, fpga: str) -> Diagnostic:
    """A problem in the `query` of one of several FPGAs, with the FPGA's name; another problem unchanged."""
    if not (fpga and query and problem.file == query):
        return problem
    own = f"An FPGA may have questions of its own: fpgas: [{{name: {fpga}, query: FILE}}]."
    return replace(problem, message=f"FPGA {fpga}: {problem.message}", hint=f"{problem.hint} {own}".strip())


def check_questions(builds: Mapping[str, HdlBuild]) -> tuple[Diagnostic, ...]:
    """A warning for each statement that does not apply to an FPGA's design, by the FPGAs' names. WorkbenchError for one
    that applies to none of the FPGAs whose agent was asked."""
    warnings: list[Diagnostic] = []
    agents = {name: build.agent for name, build in builds.items() if build.agent}
    for name, own in agents.items():
        asked = [one for one in agents.values() if one.file == own.file]
        for problem in own.misfits:
            same = [
                other for one in asked for other in one.misfits
                if (other.line, other.column) == (problem.line, problem.column)
            ]  # fmt: skip
            if problem.severity is Severity.NOTE and any(one.severity is Severity.ERROR for one in same):
                continue  # said for the FPGA that it names
            if len(same) == len(asked):
                raise WorkbenchError(of_fpga(replace(problem, severity=Severity.ERROR), problem.file or "", name))
            if problem.severity is Severity.ERROR:
                said = of_fpga(replace(problem, hint="", severity=Severity.WARNING), problem.file or "", name)
                warnings.append(replace(said, message=f"{said.message}; only other FPGAs' agents count it"))
    return tuple(warnings)


def agent_switches(path: Path, plugins: Plugins, frame: str, only: Sequence[str]) -> tuple[int, ...]:
    """The numbers in $RCW_AGENT for a program built from a tree, so that its agents use this frame length ("": as
    built) and count `only` these statements (none: all). WorkbenchError if that is not possible."""
    tree = open_tree(path)
    platform, problems = load_platform(tree.platform_path, plugins.port_kinds)
    if platform is None:
        raise WorkbenchError(*problems)
    return _numbers(tree.hdl, restored_composed(tree, plugins), platform, frame, only, str(path))


def _numbers(
    hdl: HdlBuild, composed: Sequence[Composed], platform: Platform, frame: str, only: Sequence[str], file: str
) -> tuple[int, ...]:
    asked, made = [one.switching(frame, only) for one in composed], counting()
    if made is not None and any(one.agent for one in hdl.each):
        asked.append(made.switches(hdl.each, clocks_of_platform(platform), frame, only))
    names = [name for one in asked for name in one.names]
    if not names:
        hint = "Name questions in hardware.query or streaming.query of the project, and build it again."
        raise WorkbenchError(Diagnostic("no agent counts a statement", hint, file=file))
    for name in only:
        if name not in names:
            raise WorkbenchError(Diagnostic(f"no agent counts a statement '{name}'", near(name, names, "Counted")))
    if frame and not any(one.framed for one in asked):
        raise WorkbenchError(Diagnostic(f"no statement has frames with a length such as '{frame}'"))
    return tuple(number for one in asked for number in one.numbers)


def questions(workspace: Workspace) -> tuple[str, ...]:
    """The statements that agents of a project count, by label or text, as far as its files can be read."""
    made, section, root = counting(), workspace.project.streaming, workspace.root
    files = [one.project.hardware.query for one in workspace.boards] + [section.query if section else ""]
    names: list[str] = []
    for name in dict.fromkeys(filter(None, files)) if made else ():
        with suppress(OSError):
            names += made.names(read_file(root / name).decode("utf-8-sig", "replace")) if made else ()
    return tuple(dict.fromkeys(names))


def check_frame(frame: str) -> None:
    """WorkbenchError for a text that is no length of frames."""
    if frame and (made := counting()):
        made.check_frame(frame)


def switch_numbers(hdl: HdlBuild, workspace: Workspace, frame: str, only: Sequence[str]) -> tuple[int, ...]:
    """What $RCW_AGENT is in a run whose agents count frames of that length ("": as the statements say), and `only`
    these statements (none: all). WorkbenchError where that cannot be."""
    if not (frame or only):
        return ()
    return _numbers(hdl, workspace.composed, workspace.platform, frame, only, str(workspace.path))


def switched_agents(hdl: HdlBuild, workspace: Workspace, numbers: Sequence[int]) -> HdlBuild:
    """The designs with agents that these numbers switch."""
    if not numbers:
        return hdl
    text = " ".join(map(str, numbers))
    of_build = {id(one): settings_of(text, number) for number, one in reversed([*enumerate(hdl.each)])}
    builds = once_each(
        hdl.each, lambda one: replace(one, agent=replace(one.agent, switched=of_build[id(one)])) if one.agent else one
    )
    return on_fpgas(builds, workspace.project.hardware)


def with_agent(build: HdlBuild, asked: AgentQuery, root: Path, platform: Platform) -> HdlBuild:
    """The build with agents, if its monitors have room for them. WorkbenchError with the errors in the query."""
    made, plan = counting(), build.read_out
    if made is None or plan is None or not build.sources:
        return build
    agents = made.agents(build, asked, clocks_of_platform(platform))
    path = next(path for path in build.sources if path.name == AGENTS_FILE)
    try:
        first = path.read_text("utf-8").partition("module ")[0]  # a time scale that all begin with
        path.write_text(first + agents.text, "utf-8")
    except OSError as error:
        message = f"cannot write the instrumented design: {error.strerror}"
        raise WorkbenchError(Diagnostic(message, "Choose another folder.", file=str(path))) from None
    used = (_used(monitor, agents.sizes.get(n, (0, 0))) for n, monitor in enumerate(plan.monitors))
    return replace(
        build,
        agent=replace(asked, misfits=agents.misfits),
        read_out=replace(plan, monitors=tuple(used)),
        read=(*build.read, root / asked.file) if asked.file and build.read else build.read,
        diagnostics=(*build.diagnostics, *agents.diagnostics),
    )


def _used(monitor: MonitorWords, sizes: tuple[int, int]) -> MonitorWords:
    """A monitor with only those settings that its agent supports."""
    codes = AgentSettings.used(*sizes) if any(sizes) else ()
    return replace(monitor, settings={code: monitor.settings[code] for code in codes if code in monitor.settings})
