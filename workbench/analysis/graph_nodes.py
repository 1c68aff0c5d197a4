"""Nodes of the block graph for FIFOs and memory ports: their edges and pages."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.analysis.streams import rate_words
from workbench.api import views
from workbench.api.results import Analysis, FifoMetrics, MemoryPortMetrics, StreamMetrics
from workbench.model.blocks import MEMORY, PORT, BlockGraph, Edge, Side, below_top
from workbench.model.finding import Place
from workbench.model.pragma import MEM
from workbench.model.text import bytes_text, count_text, percent_text, rate_text, significant, thousands, time_text


def with_memory_ports(graph: BlockGraph, ports: Sequence[MemoryPortMetrics]) -> BlockGraph:
    """The graph with edges for each memory port's reads and writes: at its observed block, or else at the memory that
    pragmas target, or else at the design. If the design has one unobserved port, the pragmas' memory is that port."""
    observed = {block.id.rpartition(".")[2]: block.id for block in graph.blocks if block.kind == PORT}
    targeted = any(MEM in (edge.source, edge.target) for edge in graph.edges)
    top = next((block.id.partition(".")[0] for block in graph.blocks if block.side is Side.FPGA), "")
    if targeted and len(ports) == 1 and ports[0].port.id not in observed:
        node = MEMORY + ports[0].port.id
        ends = {MEM: node}
        edges = [
            replace(edge, source=ends.get(edge.source, edge.source), target=ends.get(edge.target, edge.target))
            for edge in graph.edges
        ]
        return replace(graph, edges=tuple(edges))
    asking = [(one, observed.get(one.port.id, MEM if targeted else top)) for one in ports]
    return replace(graph, edges=(*graph.edges, *(edge for one, asks in asking if asks for edge in _moved(one, asks))))


def _moved(one: MemoryPortMetrics, asks: str) -> Iterator[Edge]:
    node, time_s = MEMORY + one.port.id, max(one.cycles / one.clock_hz, 1e-30)
    moved = ((node, asks, "read", one.reads, one.read_bytes), (asks, node, "written", one.writes, one.written_bytes))
    for source, target, name, count, size in moved:
        if count:
            yield Edge(source, target, name, "memory", count, size, rate=rate_text(size / time_s))


def node_page(key: str, analysis: Analysis) -> views.Page | None:
    """The page of a FIFO, by its id, or of a memory port, by its node; None for another node."""
    fifo = next((one for one in analysis.fifos if one.fifo.id == key), None)
    if fifo is not None:
        return _fifo_page(fifo)
    port = next((one for one in analysis.memory_ports if MEMORY + one.port.id == key), None)
    return _memory_page(port) if port else None


def _fifo_page(one: FifoMetrics) -> views.Page:
    fifo = one.fifo
    facts = (
        views.Fact("Mean fill", f"{significant(one.mean)}{f' of {fifo.depth}' if fifo.depth else ''} words"),
        views.Fact("At most", f"{one.most} words"),
        views.Fact("Full", f"{percent_text(one.full_share)} of the cycles"),
        views.Fact("Empty", f"{percent_text(one.empty_share)} of the cycles"),
    )
    columns = (
        views.Column("Words", lambda row: str(row[0]), width_px=68, right=True, key=lambda row: row[0]),
        views.Column("Cycles", lambda row: thousands(row[1]), share=1.0, right=True, key=lambda row: row[1]),
        views.Column("Share", lambda row: percent_text(row[1] / one.cycles), width_px=76, right=True,
                     key=lambda row: row[1]),
    )  # fmt: skip
    sections = [
        views.Section("", (views.Facts(facts),)),
        views.Section("Streams", (views.Facts((_side("In", one.input), _side("Out", one.output))),)),
        views.Section("How full", (views.Table("Words held", columns, one.occupancy),)),
    ]
    if fifo.file and fifo.line:
        sections.append(views.Section("Source", (views.Source((Place(fifo.file, fifo.line, fifo.module),)),)))
    return views.Page(fifo.id, below_top(fifo.id), f"FIFO, {fifo.module}", tuple(sections))


def _side(title: str, stream: StreamMetrics) -> views.Fact:
    stalled = percent_text(stream.sink_stalls / max(stream.cycles, 1))
    return views.Fact(title, f"{rate_words(stream)}, {stalled} of the cycles not taken")


def _memory_page(one: MemoryPortMetrics) -> views.Page:
    port, cycles = one.port, max(one.cycles, 1)
    facts = (
        views.Fact("Read", f"{bytes_text(one.read_bytes)} in {count_text(one.reads)} bursts"),
        views.Fact("Written", f"{bytes_text(one.written_bytes)} in {count_text(one.writes)} bursts"),
        views.Fact("Rate while busy", f"{rate_text(one.bytes_per_s)} of {rate_text(port.memory_bytes_per_s)}"),
        views.Fact("Waits", percent_text(one.waiting / cycles)),
        views.Fact("Idle", percent_text(one.idle / cycles)),
        views.Fact("Latency of a burst", time_text(one.latency_s)),
        views.Fact("Bursts on their way", significant(one.outstanding)),
    )
    sections = (views.Section("", (views.Facts(facts),)),)
    return views.Page(MEMORY + port.id, port.id, f"memory port, {port.memory}, {port.kind}", sections)
