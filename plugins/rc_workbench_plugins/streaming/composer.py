"""The project's `streaming` section: its topology read, its sources made, and what a run recorded of its edges."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Mapping
from pathlib import Path

from rc_workbench_plugins.streaming.agents.host import FILE, HostAgent, host_agent, host_answers
from rc_workbench_plugins.streaming.flatten import flattened
from rc_workbench_plugins.streaming.generate import RESOURCES, made
from rc_workbench_plugins.streaming.query.frames import frame_of
from rc_workbench_plugins.streaming.query.measures import Frame
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.topology import At, Place, Topology
from rc_workbench_plugins.streaming.x_language import Declared, read_section, read_x
from workbench.api import Composed, Composition
from workbench.api.source.lines import read_source
from workbench.model.diagnostic import Diagnostic, WorkbenchError, has_errors
from workbench.model.run import Manifest, Table
from workbench.model.streaming import Streaming


def compose(composition: Composition) -> Composed:
    topology = read_topology(composition)
    section = _section(composition)
    agent = agent_of(composition, topology)
    result = made(topology, section, composition, agent.plan if agent else "")
    cores = len(topology.cores)  # and one that is the agent's
    made_of = (block.kind.implementations for block in topology.blocks)
    parts = (*section.sources, *(file for these in made_of for one in these for file in one.files), section.query)
    return Composed(
        result.texts,
        result.host,
        result.hdl,
        (RESOURCES,),
        (RESOURCES,),
        cores + bool(cores and agent),
        len(topology.fpgas),
        tuple(dict.fromkeys(filter(None, parts))),
    )


def tables(composition: Composition, raw: Path, run: Manifest) -> Mapping[str, Table]:
    from rc_workbench_plugins.streaming.agents.told import table_of_answers
    from rc_workbench_plugins.streaming.recorded import recorded

    topology = read_topology(composition)
    found = dict(recorded(topology, _section(composition), raw, run))
    agent = agent_of(composition, topology)
    return found | table_of_answers(host_answers(agent, raw / FILE)) if agent else found


def stopped(composition: Composition, raw: Path, run: Manifest) -> tuple[Diagnostic, ...]:
    from rc_workbench_plugins.streaming.stuck import told

    return told(read_topology(composition), raw, run)


def agent_of(composition: Composition, topology: Topology) -> HostAgent | None:
    """What the project's query asks of queues between processor cores. WorkbenchError with all that is wrong in it."""
    section = _section(composition)
    if not section.query:
        return None
    file = composition.root / section.query
    try:
        text = read_source(file).decode("utf-8-sig", "replace")
        frame = frame_of(section.frame) if section.frame else Frame()
    except (OSError, ArgumentTypeError) as error:
        key = "frame" if isinstance(error, ArgumentTypeError) else "query"
        line, column = composition.place(("streaming", key))
        why = str(error.strerror if isinstance(error, OSError) else error)
        message = f"cannot read '{section.query}': {why}" if key == "query" else why
        raise WorkbenchError(Diagnostic(message, file=str(composition.path), line=line, column=column)) from None
    query = read_query(text, topology, str(file), frame)
    if has_errors(query.diagnostics):
        raise WorkbenchError(*query.diagnostics)
    on_cores = {
        number: edge
        for number, edge in enumerate(topology.edges)
        if Place.FPGA not in (topology.place(edge.source.block), topology.place(edge.sink.block))
    }
    if (agent := host_agent(query, on_cores, str(file))) is None:
        message = "no statement stands on edges between processor cores alone, which are those that an agent counts"
        hint = "Ask for the others after the run: workbench run --trace, then workbench query RUN QUERY_FILE."
        raise WorkbenchError(Diagnostic(message, hint, file=str(file)))
    return agent


def read_topology(composition: Composition) -> Topology:
    """The application of a project. WorkbenchError with every fault."""
    section, file = _section(composition), str(composition.path)
    declared, problems = Declared(), list[Diagnostic]()
    for number, name in enumerate(section.sources):
        path = composition.root / name
        try:
            read_x(read_source(path).decode("utf-8", "replace"), str(path), declared)
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
