"""The queues of a run's edges, for a replay with other depths."""

from functools import partial

from rc_workbench_plugins.streaming.edge_queues import rooms
from workbench.api import Run
from workbench.api.queues import EdgeQueue, RunQueues
from workbench.api.stream_events import EdgeEvents, Events, events_of


def queues(run: Run) -> RunQueues | None:
    """The queues of a traced run on the simulated card; None for other runs, and for runs without declared depths."""
    events = events_of(run.tables, str(run.path or ""))
    if events is None or not events.bulk or not run.manifest.simulated:
        return None
    return RunQueues(tuple(_queue(events, one) for one in events.edges.values()), events.bulk, events.flush_ps)


def _queue(events: Events, one: EdgeEvents) -> EdgeQueue:
    edge, topology = one.edge, events.topology
    source, sink = (topology.fpga(end.block) for end in (edge.source, edge.sink))
    return EdgeQueue(
        edge.label, edge.source.block, edge.sink.block, source, sink, one.declared, 8 * edge.width_bytes,
        one.push_ps, one.pop_ps,
        partial(rooms, bulk=events.bulk, crosses=source != sink, leaves=bool(source)),
        (edge.at.file, edge.at.line) if edge.at.line else None,
    )  # fmt: skip
