"""What a run tells that can be asked about: the events of its edges, and the states of its blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.api import Block, Diagnostic, Run, WorkbenchError
from workbench.api.state_events import RunStates
from workbench.api.stream_events import Events, events_of, head_of
from workbench.api.unstable import Topology


@dataclass(frozen=True)
class Seen:
    """`topology` has no edges of a run that recorded none."""

    run: Run
    topology: Topology

    @cached_property
    def events(self) -> Events:
        """WorkbenchError where they are damaged."""
        run = self.run
        return events_of(run.tables, str(run.path or "")) or Events(run.manifest.name, {}, run.manifest.time_ps)

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
    return Seen(run, head.topology if head else Topology(run.manifest.name, (), ()))


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
