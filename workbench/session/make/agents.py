"""The agent that counts the project's questions in an ordinary design, added to its instrumented copy."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.api import HdlBuild
from workbench.api.builds import AgentQuery
from workbench.api.instrument.board import setting_number
from workbench.api.instrument.monitor_text import AGENTS_FILE
from workbench.formats.platform_file import load_platform
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic, OfProject, WorkbenchError
from workbench.model.platform import Platform
from workbench.model.read_out import AgentSettings, MonitorWords
from workbench.model.scan import HdlScan
from workbench.run.agents import clocks_of_platform, counting
from workbench.session.make.tree import open_tree
from workbench.session.program.plugins import Plugins
from workbench.system.files import read_file

_OF_FIFO = 32  # words beyond those of its depth, of what an agent sends of a FIFO
_FRAMES = 3  # that the memory has room for at least


def agent_query(root: Path, hardware: HardwareSources, scan: HdlScan) -> AgentQuery | None:
    """What an agent is asked in a design: the project's questions, and how many words each FIFO holds, unless a trace
    has every word. None where that is nothing. WorkbenchError where the file cannot be read."""
    fifos = scan.fifos if hardware.count_streams and hardware.trace is None else ()
    if not (hardware.query or fifos) or counting() is None:
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
    return AgentQuery(text, hardware.query, bool(fifos), room)


def of_fpga(problem: Diagnostic, query: str, fpga: str) -> Diagnostic:
    """What is wrong in the `query` of one of several FPGAs, with its name; any other problem as it is."""
    if not (fpga and query and problem.file == query):
        return problem
    own = f"An FPGA may have questions of its own: fpgas: [{{name: {fpga}, query: FILE}}]."
    return replace(problem, message=f"FPGA {fpga}: {problem.message}", hint=f"{problem.hint} {own}".strip())


def agent_switches(path: Path, plugins: Plugins, frame: str, only: Sequence[str]) -> tuple[int, ...]:
    """What $RCW_AGENT has to be for a program built from a tree, so that agents' frames have that length ("": as they
    were built), and of their statements they count `only` these (none: all). WorkbenchError where that cannot be."""
    tree, made = open_tree(path), counting()
    platform, problems = load_platform(tree.platform_path, plugins.port_kinds)
    if platform is None:
        raise WorkbenchError(*problems)
    if made is None or not any(one.agent for one in tree.hdl.each):
        hint = "Name questions in hardware.query of the project, and instrument it again."
        raise WorkbenchError(Diagnostic("no agent counts in this tree's FPGA", hint, file=str(path)))
    codes = made.switches(tree.hdl.each, clocks_of_platform(platform), frame, only)
    return tuple(
        setting_number(fpga, monitor, code)
        for fpga, of_fpga in enumerate(codes) for monitor, own in of_fpga.items() for code in own
    )  # fmt: skip


def with_agent(build: HdlBuild, asked: AgentQuery, root: Path, platform: Platform) -> HdlBuild:
    """A build whose monitors have room for agents, with these. WorkbenchError with what is wrong in the query."""
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
        agent=asked,
        read_out=replace(plan, monitors=tuple(used)),
        read=(*build.read, root / asked.file) if asked.file and build.read else build.read,
        diagnostics=(*build.diagnostics, *agents.diagnostics),
    )


def _used(monitor: MonitorWords, sizes: tuple[int, int]) -> MonitorWords:
    """A monitor with those settings alone that its agent understands."""
    codes = AgentSettings.used(*sizes) if any(sizes) else ()
    return replace(monitor, settings={code: monitor.settings[code] for code in codes if code in monitor.settings})
