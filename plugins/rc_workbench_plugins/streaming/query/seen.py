"""What a run tells that can be asked about: the events of its edges, and the states of its blocks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.host_queues import host_queues, with_design
from rc_workbench_plugins.streaming.query.measures import AssertResult, MeasureResult, Query
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
        """As `evaluate`."""
        counted = None if self.is_application else partial(counted_edge, self.run)
        return evaluate(query, self.events, trusted, self.states, counted)

    @cached_property
    def states(self) -> RunStates:
        return RunStates(self.run)

    @property
    def blocks(self) -> Sequence[Block]:
        return self.run.manifest.blocks

    def __bool__(self) -> bool:
        return bool(self.topology.edges or "state_time" in self.run.tables or self.states.traced)


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
    hint = "A project with a 'streaming' section has them recorded by `workbench run PROJECT --trace --out RUN`."
    if "streams" in run.tables:
        hint = f"What its design's streams counted: workbench streams {folder or 'RUN'}."
    return Diagnostic("this run did not record the transfers of any stream", hint, file=folder)
