"""Runs of streaming applications that another program (ciw) simulates."""

from dataclasses import replace
from pathlib import Path

import ciw
import numpy as np

from workbench.api.stream_events import EdgeEvents, Events, tables
from workbench.formats.run_folder import RunWriter
from workbench.model.run import RunStatus
from workbench.model.topology import End, StreamEdge

US = 1e6  # ps


def simulated(constant: bool = False, seen_waiting: bool = True) -> Events:
    """A source at 0.7 an us, a (1.25 an us, or constant), then to 0.6 of them b (1 an us): times of ciw's records."""
    ciw.seed(3)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(0.7), None],
        service_distributions=[
            ciw.dists.Deterministic(0.8) if constant else ciw.dists.Exponential(1.25),
            ciw.dists.Exponential(1.0),
        ],
        routing=[[0.0, 0.6], [0.0, 0.0]],
        number_of_servers=[1, 1],
    )
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_time(20_000)
    edges = {}
    for node, (label, source, sink) in enumerate((("app.x", "app.s", "app.a"), ("app.y", "app.a", "app.b")), 1):
        rows = [r for r in simulation.get_all_records(only=["service"]) if r.node == node]
        times = np.sort(np.array([[r.arrival_date, r.service_start_date, r.service_end_date] for r in rows]), axis=0)
        push, pop, end = (US * times.T).round().astype(np.int64)
        waiting = np.stack([end[:-1], pop[1:]], axis=1)
        waiting = waiting[waiting[:, 0] < waiting[:, 1]] if seen_waiting else np.empty((0, 2), np.int64)
        edge = StreamEdge(label, End(source, "out"), End(sink, "in"), "unsigned32", depth=16)
        edges[label] = EdgeEvents(edge, push, pop, waiting_ps=waiting)
    return Events("app", edges, int(20_000 * US))


def kept(events: Events | None, folder: Path) -> Path:
    writer = RunWriter(folder)
    manifest = replace(writer.manifest, name="first", status=RunStatus.COMPLETE)
    writer.finish(manifest, tables(events) if events else {})
    return folder
