"""The dissertation's topologies, and traces of them for tests."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from rc_workbench_plugins.streaming.flatten import flattened
from rc_workbench_plugins.streaming.x_language import Declared, read_section, read_x

from workbench.api.stream_events import EdgeEvents, Events, Times, of_topology, tables
from workbench.model.run import Run
from workbench.model.streaming import Streaming
from workbench.model.topology import At, BlockKind, End, StreamBlock, StreamEdge, Topology, TypedPort, Way


def topology(name: str, edges: str, depth: int = 4, type_: str = "unsigned16") -> Topology:
    """Lines "label: block.port -> block.port"; a block is called "kind" or "kind@number"."""
    found = []
    for line in edges.strip().splitlines():
        label, _, ends = line.strip().partition(": ")
        source, sink = (end.rpartition(".") for end in ends.split(" -> "))
        ports = [End(f"{name}.{block.replace('@', '')}", port) for block, _, port in (source, sink)]
        found.append((StreamEdge(f"{name}.{label}", *ports, type_, depth), source[0], sink[0]))
    kinds: dict[str, dict[str, TypedPort]] = {}
    for edge, source, sink in found:
        for end, block, way in ((edge.source, source, Way.OUT), (edge.sink, sink, Way.IN)):
            kinds.setdefault(block.split("@")[0], {})[end.port] = TypedPort(end.port, way, type_)
    made = {kind: BlockKind(kind, tuple(ports.values())) for kind, ports in kinds.items()}
    names = dict.fromkeys(block for _, source, sink in found for block in (source, sink))
    blocks = tuple(StreamBlock(f"{name}.{block.replace('@', '')}", made[block.split("@")[0]]) for block in names)
    return Topology(name, blocks, tuple(edge for edge, _, _ in found))


CHAPTERS = Path(__file__).parent / "data" / "chapters"
DEPTH = 4  # of all queues there


def chapter(name: str) -> Topology:
    """One of the figures' topologies; All: all of them."""
    declared = Declared()
    read_x((CHAPTERS / "chapters.x").read_text(), "chapters.x", declared)
    read_section(Streaming(top=name, depth=DEPTH), lambda keys: At(), declared)
    found, problems = flattened(declared, At())
    assert found, problems
    return found


STREAM, ASTRO, TANDEM, LAPLACE, BLASTN, STAGES = map(
    chapter, ("Stream", "Astro", "Tandem", "Laplace", "Blastn", "Stages")
)

#: Every statement of chapters 3, 4, 6 and 7; misprints that name nothing are fixed (FFI.in).
EXAMPLES = {
    "section 3.4": (
        STREAM,
        """m1: measure rate at Stream.a
           m2: measure mean latency at Stream.b
           a1: assert m1 >= 100 Mtps
           m3: measure mean occupancy at Stream.b
           m4: measure m1 when (m3 >= 1 & !backpressure at acc_out)
           a2: assert (m1 < m4) | (util at acc_in < 0.5)""",
    ),
    "section 3.4.2": (
        ASTRO,
        """measure rate at Convert.out -> FFT.in
           measure mean latency at FFT.in -> Measure.in
           measure util at FFT.in
           measure util at Measure.in
           measure hist occupancy at ReadEvent.out -> Split.in
           measure hist occupancy at Split.out =< Convert.in
           measure hist occupancy at Convert.out -> FFT.in
           measure mean backpressure at Measure.in
           measure hist occupancy at CalcMoment.out -> StoreResult.in
           measure hist occupancy at Merge.out -> CalcMoment.in
           measure hist occupancy at Measure.out => Merge.in
           measure util of Measure.in
           measure util of IFFT.in
           measure util of Deconvolve.in""",
    ),
    "section 4.5": (TANDEM, "measure sum util at B.out -> C.in"),
    "section 6.1": (
        LAPLACE,
        """measure rate at e1;
           measure rate at e21;
           measure rate at e22;
           measure hist occupancy at e1;
           measure hist occupancy at e21;
           measure hist occupancy at e22;
           measure hist occupancy at e31;
           measure hist occupancy at e32;
           measure hist occupancy at e4;
           measure backpressure at e4;""",
    ),
    "Fig. 6.17": (
        BLASTN,
        """// edge labels (X language)
           queryq: prepquery.out -> readdb.in
           vqA: readdb.out -> FPGA1.BLASTstage1a.in
           vqB: readdb.out -> FPGA2.BLASTstage1a.in
           hw1q1b: FPGA1.BLASTstage1a.out -> FPGA1.BLASTstage1b.in
           hw2q1b: FPGA2.BLASTstage1a.out -> FPGA2.BLASTstage1b.in
           resultsq: enqueue.out -> BLASTstage3.in
           // measure utilization on FPGA1
           measure mean util at FPGA1.BLASTstage1a.in
           measure mean util at FPGA1.BLASTstage1b.in
           measure mean util at FPGA1.BLASTstage2.in
           measure mean util at FPGA1.BLASTstage2.out
           // measure utilization on FPGA2
           measure mean util at FPGA2.BLASTstage1a.in
           measure mean util at FPGA2.BLASTstage1b.in
           measure mean util at FPGA2.BLASTstage2.in
           measure mean util at FPGA2.BLASTstage2.out
           // measure histograms of queues
           measure hist occupancy at queryq
           measure hist occupancy at vqA
           measure hist occupancy at vqB
           measure hist occupancy at hw1q1b
           measure hist occupancy at hw2q1b
           measure hist occupancy at resultsq""",
    ),
    "section 7.1": (
        STAGES,
        """measure mean rate at Stage1.in
           measure mean rate at Stage1.in when
               (occupancy at Stage1.in > 0 & !backpressure at Stage1.out)
           measure mean rate at Stage2.in when
               (occupancy at Stage2.in > 0 & !backpressure at Stage2.out)
           measure mean occupancy at Stage1.in
           measure mean occupancy at Stage2.in
           measure mean util at Stage1.in
           measure mean util at Stage2.in""",
    ),
}


def random_edge(
    edge: StreamEdge, random: np.random.Generator, end_ps: int, most: int = 30, tick_ps: float = 0
) -> EdgeEvents:
    """Transfers at random, several of them often at one time, and some elements left in the queue."""
    pushes = np.sort(random.integers(0, end_ps + 1, random.integers(0, most + 1)))
    pops = np.maximum.accumulate(pushes + random.integers(0, max(2, end_ps // 5), len(pushes)))
    return EdgeEvents(
        edge,
        pushes,
        pops[pops <= end_ps],
        random.integers(0, 8, len(pushes)).astype(np.uint64),
        random_spells(random, end_ps),
        random_spells(random, end_ps),
        tick_ps,
        int(random.integers(0, 2)) * 3,
    )


def random_spells(random: np.random.Generator, end_ps: int) -> Times:
    cuts = np.unique(random.integers(0, end_ps + 1, 2 * int(random.integers(0, 5))))
    return cuts[: len(cuts) // 2 * 2].reshape(-1, 2)


def random_events(of: Topology, random: np.random.Generator, end_ps: int = 60) -> Events:
    """Times of a few ps, so that what happens at one time is common."""
    start = int(random.integers(0, 2)) * 0
    return of_topology(of, {e.label: random_edge(e, random, end_ps) for e in of.edges}, end_ps, start)


def flow(of: Topology, service_ps: dict[str, int], ways: list[list[str]], count: int, tick_ps: float = 0) -> Events:
    """Elements one after the other through blocks that take so long for each: element k goes the way k % len(ways), by
    labels. A block takes the next once it has given what it has; a queue that is full holds up who brings."""
    edges = {e.label.removeprefix(f"{of.name}."): e for e in of.edges}
    pushes, pops, blocked, waiting = ({label: [] for label in edges} for _ in range(4))
    free = dict.fromkeys((b.name.removeprefix(f"{of.name}.") for b in of.blocks), 0)
    for number in range(count):
        ready = None
        for label in ways[number % len(ways)]:
            edge = edges[label]
            source, sink = (end.block.removeprefix(f"{of.name}.") for end in (edge.source, edge.sink))
            done = (free[source] if ready is None else ready) + service_ps[source]
            room = pops[label][-edge.depth] if len(pops[label]) >= edge.depth else 0
            push = max(done, room)
            if push > done:
                blocked[label].append((done, push))
            free[source] = push
            pushes[label].append(push)
            pop = max(push, free[sink])
            if pop > free[sink]:
                waiting[label].append((free[sink], pop))
            pops[label].append(pop)
            ready = pop
        free[sink] = ready + service_ps[sink]
    found = {}
    for label, edge in edges.items():
        spells = [np.array(of_one[label], np.int64).reshape(-1, 2) for of_one in (blocked, waiting)]
        found[edge.label] = EdgeEvents(
            edge, np.array(pushes[label]), np.array(pops[label]), None, *spells, tick_ps=tick_ps
        )
    return of_topology(of, found, max(free.values()))


#: Of the edges of `STREAM`: all metrics, statistics, histograms and conditions.
STATEMENTS = """
    t1: measure trace occupancy at a when occupancy at b < 3
    v1: measure hist value at b
    v2: measure sum value at b when value at a == value at b
    v3: measure max value at c when t1 > 1
    l3: measure min latency at b
    l4: measure sum latency at a when l3 < 3 ps
    o1: measure hist(2) occupancy at a when !backpressure at a
    o2: measure sum occupancy at c
    o3: measure max(frame = 7 ps) occupancy at c when backpressure at a | util at b >= 50 %
    o4: measure min occupancy at c
    d1: measure mean(frame = 3) occupancy at b when value at b > 2
    d2: measure trace(frame = 2) rate at total.acc_in when o4 == 0
    u1: measure util at b when occupancy at b != 1
    i1: measure hist(bins=4, low=0, high=8 ps) interval at b
    i2: measure mean interval at total.acc_in
    i3: measure trace interval at c when interval at b > 2 ps
    i4: measure max interval at a when !(interval at total.acc_in < 3 ps | backpressure at b)
    b1: measure backpressure at c when d1 > 1
    a1: assert occupancy at a <= 6
    a2: assert b1 < 0.5 | d1 <= 2
    a3: assert !(backpressure at a & backpressure at b)
    a4: assert latency at b < 10 ps & o4 < 2
"""


def with_streams(run: Run, count: int = 200) -> Run:
    """A run that recorded the streams of Laplace's equation too; its split block is slow."""
    service_ps = {"mt": 40_000, "s1": 400_000, "w1": 200_000, "w2": 200_000, "a1": 20_000, "out": 10_000}
    events = flow(LAPLACE, service_ps, [["e1", "e21", "e31", "e4"], ["e1", "e22", "e32", "e4"]], count)
    return replace(run, tables={**run.tables, **tables(events)})


#: What shows all of the mode's pictures of such a run.
ASKED = "h: measure hist(frame = 20 us) occupancy at e1\nr: measure rate at e4\nl: measure mean latency at e21\n"
