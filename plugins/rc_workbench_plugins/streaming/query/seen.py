"""What a run tells that can be asked about: the events of its edges, and the states of its blocks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from rc_workbench_plugins.streaming.agents.conditions import ends_of, valued_edges
from rc_workbench_plugins.streaming.agents.kept import kept_answers
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.host_queues import host_queues, with_design
from rc_workbench_plugins.streaming.query.measures import (
    Assert,
    AssertResult,
    Measure,
    MeasureResult,
    Query,
    about_states,
)
from rc_workbench_plugins.streaming.query.rtl import OUTSIDE, counted_edge, rtl_events, rtl_topology
from workbench.api import Block, Diagnostic, Run, WorkbenchError
from workbench.api.state_events import RunStates
from workbench.api.stream_events import EDGES, Events, events_of, head_of
from workbench.api.unstable import Topology


@dataclass(frozen=True)
class Seen:
    """`topology` has no edges of a run that recorded none. `host` are the queues of a program that is no streaming
    application, and what it sends and receives."""

    run: Run
    topology: Topology
    host: Events | None = None

    @cached_property
    def events(self) -> Events:
        """WorkbenchError where they are damaged."""
        if recorded := events_of(self.run.tables, str(self.run.path or "")):
            return recorded
        design, host = rtl_events(self.run), self.host
        if host is None:
            return design
        return replace(design, edges={**host.edges, **design.edges}, stands={**design.stands, **host.stands})

    @property
    def is_application(self) -> bool:
        """Whether its edges are a streaming application's, and not an ordinary design's."""
        return EDGES in self.run.tables

    def answer(self, query: Query, trusted: bool = True) -> tuple[tuple[MeasureResult, ...], tuple[AssertResult, ...]]:
        """The replies of a query, as `evaluate` gives them. For an ordinary design without a trace they are what agents
        counted for the same statement."""
        counted = None if self.is_application else partial(counted_edge, self.run)
        agents = {one: self._of_agents[key] for one in query.statements
                  if (key := _key(one)) in self._of_agents and not self._traced(one)}  # fmt: skip
        left = replace(query, measures=tuple(one for one in query.measures if one not in agents),
                       asserts=tuple(one for one in query.asserts if one not in agents))  # fmt: skip
        measures, asserts = evaluate(left, self.events, trusted, self.states, counted)
        held = {one.asserted: one for one in asserts}
        taken = {one.measure: one for one in measures}
        for statement, result in agents.items():
            if isinstance(statement, Measure) and isinstance(result, MeasureResult):
                taken[statement] = replace(result, measure=statement)
            elif isinstance(statement, Assert) and isinstance(result, AssertResult):
                held[statement] = replace(result, asserted=statement)
        return tuple(taken[one] for one in query.measures), tuple(held[one] for one in query.asserts)

    def _traced(self, of: Measure | Assert) -> bool:
        """Whether the run's trace has all that a statement asks about."""
        edges, labels = self.events.edges, {label for label, _ in ends_of(of)}
        if not labels <= edges.keys() or any(edges[label].values is None for label in valued_edges(of)):
            return False
        return self.states.traced or not about_states(of)

    @cached_property
    def _of_agents(self) -> Mapping[object, MeasureResult | AssertResult]:
        """What agents counted of an ordinary design."""
        kept = None if self.is_application else kept_answers(self.run.tables, str(self.run.path or ""))
        results = kept.results if kept else ()
        return {_key(one.measure if isinstance(one, MeasureResult) else one.asserted): one for one in results}

    @cached_property
    def states(self) -> RunStates:
        return RunStates(self.run)

    @property
    def blocks(self) -> Sequence[Block]:
        return self.run.manifest.blocks

    def __bool__(self) -> bool:
        return bool(self.topology.edges or "state_time" in self.run.tables or self.states.traced)


def _key(of: Measure | Assert) -> object:
    """By what a statement is the same, whatever its label, its line, and how much of its names is written out."""
    label = of.label.partition("[")[0]  # without of which edge it is
    text = of.text.removeprefix(f"{label}:").strip() if label else of.text
    if isinstance(of, Assert):
        return text
    within = of.within and (of.within.states, of.within.into)
    what, condition = re.split(" (?:at|of) ", text, maxsplit=1)[0], text.partition(" when ")[2]
    return what, condition, of.where, of.tap, within, of.frame


def seen(run: Run) -> Seen:
    """WorkbenchError where its record of edges is damaged."""
    head = head_of(run.tables, str(run.path or ""))
    return Seen(run, head.topology) if head else Seen(run, *_ordinary(run))


def _ordinary(run: Run) -> tuple[Topology, Events | None]:
    """The streams of a design, with the queues of a program that is no streaming application, and their events."""
    design, queues = rtl_topology(run), host_queues(run)
    return with_design(run, queues, design, OUTSIDE) if queues else (design, None)


def something_seen(run: Run, folder: str) -> Seen:
    """`seen`, of a run that tells something. WorkbenchError with what would make it do so."""
    if there := seen(run):
        return there
    raise WorkbenchError(no_streams(run, folder))


def no_streams(run: Run, folder: str) -> Diagnostic:
    hint = "For a project with a 'streaming' section, `workbench run PROJECT --trace --out RUN` records them."
    if "streams" in run.tables:
        hint = f"`workbench streams {folder or 'RUN'}` shows what its design's streams counted."
    return Diagnostic("this run did not record the transfers of any stream", hint, file=folder)
