"""The query language for the window: what can be asked of a run, what is wrong, what came of it."""

from argparse import ArgumentTypeError
from collections.abc import Collection, Mapping, Sequence

from rc_workbench_plugins.streaming.agents.kept import kept_answers
from rc_workbench_plugins.streaming.agents.packets import Answers
from rc_workbench_plugins.streaming.composer import read_topology
from rc_workbench_plugins.streaming.limit_finding import limits
from rc_workbench_plugins.streaming.query import read
from rc_workbench_plugins.streaming.query.command import recorded
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.frames import frame_of
from rc_workbench_plugins.streaming.query.limits import BUSY
from rc_workbench_plugins.streaming.query.measures import FrameLength
from rc_workbench_plugins.streaming.query.replies import beside, reply_of
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.query.targets import names
from workbench.api import (
    PS_PER_S,
    Composition,
    Diagnostic,
    Explained,
    QueriedBlock,
    QueriedEdge,
    Reply,
    Run,
    Subject,
    WorkbenchError,
    has_errors,
    percent_text,
)
from workbench.api.stream_events import Events, events_of, head_of
from workbench.api.unstable import ANY_CORE, At, MappedTo, StreamBlock, StreamEdge, Topology, prefixed

_PLACES = {MappedTo.CORE: "core", MappedTo.FPGA: "FPGA"}
MENU = (
    ("Rate", "measure rate at {}"),
    ("Utilisation", "measure util at {}"),
    ("Occupancy, histogram", "measure hist occupancy at {}"),
    ("Occupancy, mean", "measure mean occupancy at {}"),
    ("Latency, mean", "measure mean latency at {}"),
    ("Latency, histogram", "measure hist latency at {}"),
    ("Intervals, histogram", "measure hist interval at {}"),
    ("Backpressure", "measure backpressure at {}"),
    ("Values", "measure trace value at {}"),
)


def subject(run: Run) -> Subject | None:
    head = head_of(run.tables, str(run.path or ""))
    if head is None:
        return _subject(Topology(run.manifest.name, (), ()), {}, frozenset()) if _counted(run) else None
    time_s = max(head.end_ps - head.start_ps, 1) / PS_PER_S
    rates = {label: pushes / time_s for label, pushes in head.pushes.items()}
    words = {
        label: (prefixed(rate, "/s"), prefixed(rate, "/s", 2), prefixed(rate, "", 2)) for label, rate in rates.items()
    }
    return _subject(head.topology, words, head.valued)


def planned(composition: Composition) -> Subject | None:
    if composition.project.streaming is None:
        return None
    topology = read_topology(composition)
    labels = {edge.label: (f"{edge.depth} deep", str(edge.depth)) for edge in topology.edges}
    return _subject(topology, labels, frozenset(labels))


def _subject(topology: Topology, words: Mapping[str, Sequence[str]], valued: Collection[str]) -> Subject:
    """`words` stand on edges, by label: the first of each, or a shorter one where there is little room. Of edges that
    are `valued` values can be asked."""
    return Subject(
        topology.name,
        tuple(_block(topology, block) for block in topology.blocks),
        tuple(_edge(topology, edge, words[edge.label], edge.label in valued) for edge in topology.edges),
        read.RESERVED,
        tuple(names(topology)),
        lambda text: read_query(text, topology).diagnostics if topology.edges else (),
    )


def _block(topology: Topology, block: StreamBlock) -> QueriedBlock:
    resource, place = topology.mapping.get(block.name, ""), topology.place(block.name)
    stands = "any core" if resource == ANY_CORE else f"{_PLACES[place]} {resource}" if resource else ""
    return QueriedBlock(block.name, stands, place is MappedTo.FPGA, _place(block.at))


def _place(at: At) -> tuple[str, int] | None:
    return (at.file, at.line) if at.line else None


def ask(run: Run, text: str, frame: str) -> Sequence[Reply]:
    counted = _counted(run)
    of_agents = [(f"the {one.agent}'s agent", reply_of(one)) for one in counted.results] if counted else []
    if of_agents and (not text.strip() or head_of(run.tables) is None):
        return beside((), of_agents)
    events = recorded(run.tables, str(run.path or ""))
    query = read_query(text, events.topology, frame=_frame(frame))
    if has_errors(query.diagnostics):
        raise WorkbenchError(*query.diagnostics)
    measures, asserts = evaluate(query, events)
    return beside([*map(reply_of, measures), *map(reply_of, asserts)], of_agents)


def _counted(run: Run) -> Answers | None:
    """What the run's agents counted, where they counted anything."""
    answers = kept_answers(run.tables, str(run.path or ""))
    return answers if answers and answers.results else None


def explain(run: Run) -> Sequence[Explained]:
    events = _events(run)
    if events is None:
        return _of_agents(run)
    walked = limits(events)
    busy = {block.name: f"{percent_text(block.busy)} busy" for block in walked.blocks}
    first = walked.answers[-2:]  # what limits the throughput, and what would then: what one came for
    return [
        Explained(one.question, one.words, one.evidence, busy if one.question == BUSY else {})
        for one in (*first, *walked.answers[:-2])
    ] + _of_agents(run)


def _of_agents(run: Run) -> list[Explained]:
    """What agents could not count, or lost, and what they cost; nothing without agents."""
    kept = kept_answers(run.tables, str(run.path or ""))
    if kept is None:
        return []
    missed = [". ".join(filter(None, (one.message, one.hint))) for one in kept.diagnostics]
    cost = [f"{words[:1].upper()}{words[1:]}." for words in (one.words() for one in kept.costs)]
    answers = {"What did agents not count?": dict.fromkeys(missed), "What did agents cost?": cost}
    return [Explained(question, "\n".join(lines), ()) for question, lines in answers.items() if lines]


def _events(run: Run) -> Events | None:
    return events_of(run.tables, str(run.path or ""))


def _frame(text: str) -> FrameLength:
    try:
        return frame_of(text) if text.strip() else FrameLength()
    except ArgumentTypeError as error:
        raise WorkbenchError(Diagnostic(f"the length of a frame: {error}")) from None


def _edge(topology: Topology, edge: StreamEdge, words: Sequence[str], valued: bool) -> QueriedEdge:
    short = topology.short(edge)
    menu = tuple((title, text.format(short)) for title, text in MENU if "value" not in text or valued)
    return QueriedEdge(
        edge.label, edge.source.block, edge.sink.block, words[0], menu, _place(edge.at), tuple(words[1:])
    )
