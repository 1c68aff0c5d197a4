"""What a run tells that can be asked about: the events of its edges, and the states of its blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.measures import AssertResult, MeasureResult, Query
from rc_workbench_plugins.streaming.query.rtl import counted_edge, rtl_events, rtl_topology
from workbench.api import Block, Diagnostic, Run, WorkbenchError
from workbench.api.state_events import RunStates
from workbench.api.stream_events import EDGES, Events, events_of, head_of
from workbench.api.unstable import Topology


@dataclass(frozen=True)
class Seen:
    """`topology` has no edges of a run that recorded none."""

    run: Run
    topology: Topology

    @cached_property
    def events(self) -> Events:
        """WorkbenchError where they are damaged."""
        return events_of(self.run.tables, str(self.run.path or "")) or rtl_events(self.run)

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
    return Seen(run, head.topology if head else rtl_topology(run))


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
