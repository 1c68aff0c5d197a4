"""The query language for the window: what can be asked of a run, what is wrong, what came of it."""

from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from rc_workbench_plugins.streaming.agents.kept import kept_answers
from rc_workbench_plugins.streaming.agents.packets import Answers, losses
from rc_workbench_plugins.streaming.composer import read_topology
from rc_workbench_plugins.streaming.dummies import advice
from rc_workbench_plugins.streaming.limit_finding import limits
from rc_workbench_plugins.streaming.query import read
from rc_workbench_plugins.streaming.query.blocks import (
    asked_of_block,
    block_names,
    drawn_blocks,
    run_blocks,
    share_of,
    state_names,
)
from rc_workbench_plugins.streaming.query.frames import frame_of
from rc_workbench_plugins.streaming.query.limits import overall
from rc_workbench_plugins.streaming.query.measures import SHARES, FrameLength, MeasureResult, Metric
from rc_workbench_plugins.streaming.query.overlaid import overlaid
from rc_workbench_plugins.streaming.query.replies import beside, reply_of
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.query.rtl_window import rtl_explained, rtl_subject, stream_words
from rc_workbench_plugins.streaming.query.seen import Seen, seen, something_seen
from rc_workbench_plugins.streaming.query.targets import names
from rc_workbench_plugins.streaming.query.words import value_words
from workbench.api import (
    PS_PER_S,
    Block,
    Composition,
    Diagnostic,
    Explained,
    ExplainedBar,
    QueriedBlock,
    QueriedEdge,
    QueueFill,
    Reply,
    Run,
    Side,
    Subject,
    WorkbenchError,
    has_errors,
    listed,
    percent_text,
)
from workbench.api.stream_events import Events, events_of, head_of
from workbench.api.unstable import ANY_CORE, At, MappedTo, StreamBlock, StreamEdge, Topology, as_target, prefixed

_PLACES = {MappedTo.CORE: "core", MappedTo.FPGA: "FPGA"}
FRAMES = 20  # in which a run's course is drawn that was asked about as a whole
_LONGEST = 3  # states of a block that are named
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
    there, head = seen(run), head_of(run.tables, str(run.path or ""))
    if head is None and there.topology.edges:
        return rtl_subject(there, _subject(there.topology, stream_words(there), frozenset(), there.blocks))
    if head is None:
        shown = _subject(there.topology, {}, frozenset(), there.blocks)
        return replace(shown, blocks=_state_blocks(there)) if there else shown if _counted(run) else None
    time_s = max(head.end_ps - head.start_ps, 1) / PS_PER_S
    rates = {label: pushes / time_s for label, pushes in head.pushes.items()}
    words = {
        label: (prefixed(rate, "/s"), prefixed(rate, "/s", 2), prefixed(rate, "", 2)) for label, rate in rates.items()
    }
    return _subject(head.topology, words, head.valued, there.blocks)


def _state_blocks(there: Seen) -> tuple[QueriedBlock, ...]:
    """The blocks of a run without edges, replicas as one, with what can be asked of their states."""
    blocks = []
    for group, of_group in drawn_blocks(there.blocks).items():
        first, many = of_group[0], len(of_group)
        stands = ("FPGA" if first.side is Side.FPGA else "host") + (f", {many} of them" if many > 1 else "")
        place = (first.file, first.line) if first.file and first.line else None
        statements = asked_of_block(first, group)
        blocks.append(QueriedBlock(group, stands, first.side is Side.FPGA, place, statements))
    return tuple(blocks)


def planned(composition: Composition) -> Subject | None:
    if composition.project.streaming is None:
        return None
    topology = read_topology(composition)
    labels = {edge.label: (f"{edge.depth} deep", str(edge.depth)) for edge in topology.edges}
    return _subject(topology, labels, frozenset(labels))


def _subject(
    topology: Topology, words: Mapping[str, Sequence[str]], valued: Collection[str],
    blocks: Sequence[Block] | None = None,
) -> Subject:  # fmt: skip
    """`words` stand on edges, by label: the first of each, or a shorter one where there is little room. Of edges that
    are `valued` values can be asked, and of a run's `blocks` their states."""
    of_states = dict.fromkeys(state for block in blocks or () for state in state_names(block))
    return Subject(
        topology.name,
        tuple(_block(topology, block, blocks or ()) for block in topology.blocks),
        tuple(_edge(topology, edge, words[edge.label], edge.label in valued) for edge in topology.edges),
        read.RESERVED,
        (*names(topology), *block_names(blocks or ()), *of_states),
        lambda text: read_query(text, topology, blocks=blocks).diagnostics if topology.edges or blocks else (),
    )


def _block(topology: Topology, block: StreamBlock, of_run: Sequence[Block]) -> QueriedBlock:
    own = [
        one for one in of_run if f"host.{block.name}" == one.id or as_target(one.component) == block.name
    ] or run_blocks(topology, of_run, block.name)
    own = [one for one in own if len(one.states) > 1]
    statements = asked_of_block(own[0], as_target(own[0].id)) if len(own) == 1 else ()
    resource, place = topology.mapping.get(block.name, ""), topology.place(block.name)
    stands = "any core" if resource == ANY_CORE else f"{_PLACES[place]} {resource}" if resource else ""
    if block.threads > 1:
        stands = f"{block.threads} threads" + (f", {stands}" if resource not in ("", ANY_CORE) else "")
    return QueriedBlock(block.name, stands, place is MappedTo.FPGA, _place(block.at), statements)


def _place(at: At) -> tuple[str, int] | None:
    return (at.file, at.line) if at.line else None


def ask(run: Run, text: str, frame: str) -> Sequence[Reply]:
    counted = _counted(run)
    of_agents = [(f"the {one.agent}'s agent", reply_of(one)) for one in counted.results] if counted else []
    if of_agents and (not text.strip() or not seen(run)):
        return beside((), of_agents)
    there = something_seen(run, str(run.path or ""))
    query = read_query(text, there.topology, frame=_frame(frame), blocks=there.blocks)
    if has_errors(query.diagnostics):
        raise WorkbenchError(*query.diagnostics)
    measures, asserts = there.answer(query)
    replies = [*map(reply_of, measures), *map(reply_of, asserts)]
    if not frame.strip():
        of_counted = (
            [one.measure.frame.time_ps for one in counted.results if isinstance(one, MeasureResult)] if counted else []
        )
        replies = _drawn(replies, there, text, max(of_counted, default=0))
    return beside(replies, of_agents)


def _drawn(replies: Sequence[Reply], there: Seen, text: str, length_ps: int) -> list[Reply]:
    """Answers for the whole run, with its course over time to be drawn: in frames of a length, that of what agents
    counted, or else in `FRAMES` of them. What conditions see depends on frames, so these are not drawn."""
    if not length_ps and there.topology.edges:
        length_ps = -((there.events.start_ps - there.events.end_ps) // FRAMES)  # rounded up
    if length_ps < 1:
        return list(replies)
    query = read_query(text, there.topology, frame=FrameLength(time_ps=length_ps), blocks=there.blocks)
    try:
        measures, _ = there.answer(replace(query, measures=tuple(one for one in query.measures if one.when is None)))
    except WorkbenchError:  # counters alone answer, of the whole run
        return list(replies)
    framed = {(one.line, one.text): one for one in map(reply_of, measures)}
    return [_in_frames(reply, framed.get((reply.line, reply.text))) for reply in replies]


def _in_frames(reply: Reply, framed: Reply | None) -> Reply:
    if framed is None or len(reply.times_s) > 2 or reply.moments_s:
        return reply
    return replace(framed, words=reply.words, curves=reply.curves, counted=reply.counted, holds=reply.holds)


def _counted(run: Run) -> Answers | None:
    """What the run's agents counted, where they counted anything."""
    answers = kept_answers(run.tables, str(run.path or ""))
    return answers if answers and answers.results else None


def explain(run: Run) -> Sequence[Explained]:
    events = _events(run)
    if events is None:
        there = seen(run)
        explained = overlaid(rtl_explained(there), _counted(run), there.topology)
        return _counts_alone(run) + _of_agents(run) + explained + _of_states(there)
    walked = limits(events)
    first = walked.answers[-2:]  # what limits the throughput, and what would then: what one came for
    asked = (*first, *walked.answers[:-2])
    answers = [Explained(one.question, one.words, one.evidence, bars=one.bars, note=one.note) for one in asked]
    answers = overlaid(answers, _counted(run), events.topology)
    answers[0] = replace(
        answers[0],
        blocks={block.name: f"{percent_text(block.busy)} busy" for block in walked.blocks},
        busy={block.name: block.busy for block in walked.blocks},
        limit=walked.limit if walked.by in ("block", "core") else (),
        queues={
            one.edge.label: QueueFill(one.rate_per_s, one.backpressure, one.occupancy, one.edge.depth)
            for one in walked.queues
        },
    )
    return [*answers, *_of_dummies(events), *_of_agents(run)]


def _counts_alone(run: Run) -> list[Explained]:
    """What agents counted where nothing was traced: a number of each statement, by what it measures."""
    answers = _counted(run)
    lost = ". ".join(losses(answers.diagnostics)) if answers else ""
    numbers = [(one, value) for one in answers.measures if (value := overall(one)) is not None] if answers else []
    by_metric: dict[Metric, list[ExplainedBar]] = {}
    for one, value in numbers:
        whole = 1.0 if one.measure.metric in SHARES else 0.0
        words = value_words(one.measure, value)
        where = f"{one.measure.statistic} {one.measure.where}".strip()
        name = where if one.measure.label[:1] in ("", "[") else one.measure.label
        by_metric.setdefault(one.measure.metric, []).append(ExplainedBar(name, value, words, "", whole, warning=lost))
    return [
        Explained(f"What did agents count: {metric}?", "; ".join(f"{bar.name} {bar.words}" for bar in bars), (),
                  bars=tuple(bars))
        for metric, bars in by_metric.items()
    ]  # fmt: skip


def _of_dummies(events: Events) -> list[Explained]:
    """The dummy messages that prevent a deadlock by the declared depths, at splits and joins with a block that sent
    less than it received."""
    edges = [replace(one.edge, depth=one.declared or one.edge.depth) for one in events.edges.values()]
    taken: Counter[str] = Counter()
    for edge in edges:
        taken[edge.sink.block] = max(taken[edge.sink.block], len(events.edges[edge.label].pop_ps))
    silent = [e for e in edges if 0 < len(events.edges[e.label].push_ps) < taken[e.source.block]]
    said = advice(replace(events.topology, edges=tuple(edges)), silent)
    question = "Which dummy messages prevent a deadlock of a split and its join?"
    return [Explained(question, f"{said[:1].upper()}{said[1:]}.", ())] if said else []


def _of_agents(run: Run) -> list[Explained]:
    """What agents could not count, or lost, and what they cost; nothing without agents."""
    kept = kept_answers(run.tables, str(run.path or ""))
    if kept is None:
        return []
    missed = [". ".join(filter(None, (one.message, one.hint))) for one in kept.diagnostics]
    cost = [f"{words[:1].upper()}{words[1:]}." for words in (one.words() for one in kept.costs)]
    answers = {"What did agents not count?": dict.fromkeys(missed), "What did agents cost?": cost}
    return [Explained(question, "\n".join(lines), ()) for question, lines in answers.items() if lines]


def _of_states(there: Seen) -> list[Explained]:
    """The states in which blocks were longest, of replicas the first one's."""
    lines, statements, bars, end_ps = [], [], [], max(there.states.end_ps, 1)
    for name, of_group in drawn_blocks(there.blocks).items():
        counted, first = there.states.counted(of_group[0].id), of_group[0]
        longest = [number for number in (-counted.time_ps).argsort(kind="stable")[:_LONGEST] if counted.time_ps[number]]
        said = [f"{first.states[number].name} {percent_text(counted.time_ps[number] / end_ps)}" for number in longest]
        if said:
            lines.append(f"{name}: {listed(said)}.")
            statements.append(share_of(first.states[longest[0]].name, name))
        for number in longest:
            state, share = first.states[number].name, counted.time_ps[number] / end_ps
            words = percent_text(share)
            bars.append(ExplainedBar(f"{name}: {state}", float(share), words, share_of(state, name), 1.0))
    question = "In which states are the blocks longest?"
    return [Explained(question, "\n".join(lines), tuple(statements), bars=tuple(bars))] if lines else []


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
