"""The project's `streaming` section: its topology read, its sources made, and what a run recorded of its edges."""

from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rc_workbench_plugins.streaming.agents.cost import costs
from rc_workbench_plugins.streaming.agents.division import NO_AGENTS, Agents, agents_of, answers_in, switching_of
from rc_workbench_plugins.streaming.agents.fpga import clock_of
from rc_workbench_plugins.streaming.agents.kept import table_of_answers
from rc_workbench_plugins.streaming.compared import compared
from rc_workbench_plugins.streaming.flatten import flattened
from rc_workbench_plugins.streaming.generate import RESOURCES, generated
from rc_workbench_plugins.streaming.limit_finding import limits_table
from rc_workbench_plugins.streaming.overtaking import overtaking_table
from rc_workbench_plugins.streaming.query.frames import frame_of
from rc_workbench_plugins.streaming.query.measures import FrameLength
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.recorded import recorded
from rc_workbench_plugins.streaming.stuck import stuck_diagnostics
from rc_workbench_plugins.streaming.x_language import X_LIMIT, Declared, read_section, read_x
from workbench.api import Composed, Composition, Diagnostic, Manifest, Platform, Table, WorkbenchError, has_errors
from workbench.api.source.lines import read_source
from workbench.api.unstable import At, Streaming, Topology
from workbench.api.virtual_time import TABLE, table_of_frames


def compose(composition: Composition) -> Composed:
    topology = read_topology(composition)
    section = _section(composition)
    agents = agents_in(composition, topology)
    result = generated(topology, section, composition, agents)
    cores = len(topology.cores)  # and one that is the agents'
    of_blocks = (block.kind.implementations for block in topology.blocks)
    parts = (*section.sources, *(file for these in of_blocks for one in these for file in one.files), section.query)
    return Composed(
        result.texts,
        result.host,
        result.hdl,
        (RESOURCES,),
        (RESOURCES,),
        cores + bool(cores and agents),
        len(topology.fpgas),
        result.names,
        tuple(dict.fromkeys(filter(None, parts))),
        partial(_tables, topology, section, agents, fpga_clock_hz(composition.platform)),
        partial(stuck_diagnostics, topology),
        partial(switching_of, agents),
        partial(compared, result.synthesised) if result.synthesised else None,
        tuple(path for path in _LIBRARIES if path.is_dir())[:1],
        kept=_kept_adapter().dump_python(_kept(topology, section, composition), mode="json"),
    )


#: Where the system may have the one library of the run-time's (resources/streaming/streaming.hpp).
_LIBRARIES = tuple(Path(folder) / "readerwriterqueue" for folder in ("/usr/local/include", "/usr/include"))


@dataclass(frozen=True)
class _Kept:
    """What a run's tables are made by: the application, and the statements that its agents count."""

    topology: Topology
    section: Streaming
    clock_hz: float
    query: str
    query_file: str


def _kept(topology: Topology, section: Streaming, composition: Composition) -> _Kept:
    file = str(composition.root / section.query) if section.query else ""
    text = _query_text(Path(file)) if file else ""
    return _Kept(topology, section, fpga_clock_hz(composition.platform), text, file)


def _kept_adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(_Kept)


def restored(kept: Any) -> Composed:
    """The tables of what `compose` kept, without its sources. ValueError where it is damaged."""
    of: _Kept = _kept_adapter().validate_python(kept)
    frame = frame_of(of.section.frame) if of.section.frame else FrameLength()
    query = read_query(of.query, of.topology, of.query_file, frame)
    agents = agents_of(query, of.topology, of.clock_hz, of.query_file) if of.query else NO_AGENTS
    tables = partial(_tables, of.topology, of.section, agents, of.clock_hz)
    return Composed({}, (), (), tables=tables, stopped=partial(stuck_diagnostics, of.topology),
                    switching=partial(switching_of, agents))  # fmt: skip


def _tables(
    topology: Topology, section: Streaming, agents: Agents, clock_hz: float, raw: Path, run: Manifest
) -> Mapping[str, Table]:
    tables = dict(recorded(topology, section, raw, run))
    tables |= limits_table(tables, topology, section.sources) | overtaking_table(tables, topology)
    exact = run.simulated and run.clock_hz == clock_hz and not run.drift_ppm_per_s
    clocks = {card: clock for card in agents.fpgas if (clock := clock_of(raw, card))}
    if clocks:  # of a simulation whose clock is the platform's: what would be known of it on a board
        tables[TABLE] = table_of_frames({(card, 0): clock for card, clock in clocks.items()})
    answers = answers_in(agents, topology, raw, {} if exact else clocks)
    return tables | table_of_answers(answers, agents.diagnostics, costs(tuple(answers), raw, run))


def agents_in(composition: Composition, topology: Topology) -> Agents:
    """The agents that count what the project's query asks. WorkbenchError with all that is wrong in it, and where no
    agent can count any of it."""
    section = _section(composition)
    if not section.query:
        return NO_AGENTS
    file = composition.root / section.query
    try:
        text = _query_text(file)
        frame = frame_of(section.frame) if section.frame else FrameLength()
    except (OSError, ArgumentTypeError) as error:
        key = "frame" if isinstance(error, ArgumentTypeError) else "query"
        line, column = composition.place(("streaming", key))
        why = str(error.strerror if isinstance(error, OSError) else error)
        message = f"cannot read '{section.query}': {why}" if key == "query" else why
        raise WorkbenchError(Diagnostic(message, file=str(composition.path), line=line, column=column)) from None
    query = read_query(text, topology, str(file), frame)
    if has_errors(query.diagnostics):
        raise WorkbenchError(*query.diagnostics)
    agents = agents_of(query, topology, fpga_clock_hz(composition.platform), str(file))
    if not agents:
        message = "no agent can count what the query asks for"
        hint = "Ask for it after the run: workbench run --trace, then workbench query RUN QUERY_FILE."
        raise WorkbenchError(Diagnostic(message, hint, file=str(file)), *agents.diagnostics)
    return agents


def _query_text(file: Path) -> str:
    return read_source(file).decode("utf-8-sig", "replace")


def fpga_clock_hz(platform: Platform) -> float:
    """The frequency of the clock of all blocks on FPGAs: that of the port that carries the streams."""
    hardware = platform.hardware
    return hardware.clock_of(hardware.ports[0]).frequency_hz if hardware and hardware.ports else 1.0


def read_topology(composition: Composition) -> Topology:
    """The application of a project. WorkbenchError with every fault."""
    section, file = _section(composition), str(composition.path)
    declared, problems = Declared(), list[Diagnostic]()
    for number, name in enumerate(section.sources):
        path = composition.root / name
        try:
            read_x(read_source(path, X_LIMIT).decode("utf-8", "replace"), str(path), declared)
        except OSError as error:
            line, column = composition.place(("streaming", "sources", number))
            problems.append(Diagnostic(f"cannot read '{name}': {error.strerror}", file=file, line=line, column=column))
        except WorkbenchError as error:
            problems += error.diagnostics
    if problems:
        raise WorkbenchError(*problems)
    read_section(section, lambda keys: At(file, *composition.place(keys)), declared)
    topology, problems_found = flattened(declared, At(file, *composition.place(("streaming",))))
    if topology is None:
        raise WorkbenchError(*problems_found)
    return topology


def _section(composition: Composition) -> Streaming:
    section = composition.project.streaming
    assert section is not None
    return section
