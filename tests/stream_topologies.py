"""The dissertation's topologies, and traces of them for tests."""

from __future__ import annotations

import numpy as np
from rc_workbench_plugins.streaming.events import EdgeEvents, Events, Times, of_topology
from rc_workbench_plugins.streaming.topology import Block, BlockKind, Edge, End, Port, Topology, Way


def topology(name: str, edges: str, depth: int = 4, type_: str = "unsigned16") -> Topology:
    """Lines "label: block.port -> block.port"; a block is called "kind" or "kind@number"."""
    found = []
    for line in edges.strip().splitlines():
        label, _, ends = line.strip().partition(": ")
        source, sink = (end.rpartition(".") for end in ends.split(" -> "))
        ports = [End(f"{name}.{block.replace('@', '')}", port) for block, _, port in (source, sink)]
        found.append((Edge(f"{name}.{label}", *ports, type_, depth), source[0], sink[0]))
    kinds: dict[str, dict[str, Port]] = {}
    for edge, source, sink in found:
        for end, block, way in ((edge.source, source, Way.OUT), (edge.sink, sink, Way.IN)):
            kinds.setdefault(block.split("@")[0], {})[end.port] = Port(end.port, way, type_)
    made = {kind: BlockKind(kind, tuple(ports.values())) for kind, ports in kinds.items()}
    names = dict.fromkeys(block for _, source, sink in found for block in (source, sink))
    blocks = tuple(Block(f"{name}.{block.replace('@', '')}", made[block.split("@")[0]]) for block in names)
    return Topology(name, blocks, tuple(edge for edge, _, _ in found))


#: Fig. 2.3, with the ports of `total` that m4 and a2 of section 3.4 name.
STREAM = topology(
    "Stream",
    """a: acquire.y -> filter.x
       b: filter.y -> total.acc_in
       c: total.acc_out -> report.x""",
)

#: Fig. 3.1: two pipelines between a split and a merge.
ASTRO = topology(
    "Astro",
    """r: ReadEvent.out -> Split.in
       s1: Split.out -> Convert@1.in
       s2: Split.out -> Convert@2.in
       c1: Convert@1.out -> FFT@1.in
       c2: Convert@2.out -> FFT@2.in
       f1: FFT@1.out -> Deconvolve@1.in
       f2: FFT@2.out -> Deconvolve@2.in
       d1: Deconvolve@1.out -> IFFT@1.in
       d2: Deconvolve@2.out -> IFFT@2.in
       i1: IFFT@1.out -> Measure@1.in
       i2: IFFT@2.out -> Measure@2.in
       m1: Measure@1.out -> Merge.in
       m2: Measure@2.out -> Merge.in
       g: Merge.out -> CalcMoment.in
       o: CalcMoment.out -> StoreResult.in""",
)

#: Fig. 4.1.
TANDEM = topology("Tandem", "ab: A.out -> B.in\nbc: B.out -> C.in\ncd: C.out -> D.in\nde: D.out -> E.in")

#: Fig. 6.1: Laplace's equation by two random walks.
LAPLACE = topology(
    "Laplace",
    """e1: mt.out -> s1.in
       e21: s1.upper -> w@1.in
       e22: s1.lower -> w@2.in
       e31: w@1.out -> a1.upper
       e32: w@2.out -> a1.lower
       e4: a1.out -> out.in""",
)

#: Fig. 6.16, as far as Fig. 6.17 names it.
BLASTN = topology(
    "Blastn",
    """e0: prepquery.out -> readdb.in
       e1: readdb.out -> FPGA1.BLASTstage1a.in
       e2: readdb.out -> FPGA2.BLASTstage1a.in
       e3: FPGA1.BLASTstage1a.out -> FPGA1.BLASTstage1b.in
       e4: FPGA2.BLASTstage1a.out -> FPGA2.BLASTstage1b.in
       e5: FPGA1.BLASTstage1b.out -> FPGA1.BLASTstage2.in
       e6: FPGA2.BLASTstage1b.out -> FPGA2.BLASTstage2.in
       e7: FPGA1.BLASTstage2.out -> enqueue.in1
       e8: FPGA2.BLASTstage2.out -> enqueue.in2
       e9: enqueue.out -> BLASTstage3.in""",
)

#: Fig. 7.1.
STAGES = topology("Stages", "q1: Source.out -> Stage1.in\nq2: Stage1.out -> Stage2.in\nq3: Stage2.out -> Sink.in")


def random_edge(edge: Edge, random: np.random.Generator, end_ps: int, most: int = 30, tick_ps: float = 0) -> EdgeEvents:
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
