"""FIFOs, memory ports and the critical path in the block graph."""

from dataclasses import replace

import pytest

from workbench.analysis import analyse, load_knowledge
from workbench.analysis.graph_nodes import node_page, with_memory_ports
from workbench.analysis.path_page import path_page
from workbench.api.results import Analysis
from workbench.api.views import Facts, Page, Table
from workbench.model.blocks import MEMORY, PORT, Block, BlockGraph, Edge, Side, State
from workbench.model.pragma import MEM
from workbench.model.prediction import CriticalPath, PathLine, PathPart, PathStep, PathWait, Slack
from workbench.pictures.graph import STYLE, draw_graph, node_facts
from workbench.pictures.graph_path import path_pairs, with_path
from workbench.pictures.layout import layout_graph
from workbench.pictures.palette import LIGHT
from workbench.pictures.svg import SvgCanvas
from workbench.testing.runs import synthetic_platform, synthetic_run


def words(page: Page | None) -> str:
    """The titles and values of a page's facts and the texts of its tables."""
    assert page is not None
    parts = [part for section in page.sections for part in section.items]
    facts = [f"{fact.title}: {fact.value}" for part in parts if isinstance(part, Facts) for fact in part.facts]
    tables = [part for part in parts if isinstance(part, Table)]
    return "\n".join(
        [*facts, *(column.text(row) for table in tables for row in table.rows for column in table.columns)]
    )


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse(synthetic_run(cores=2, rounds=2), synthetic_platform(), load_knowledge([], [])[0])


def test_a_fifo_is_a_node_that_says_how_full_it_is(analysis: Analysis) -> None:
    layout = layout_graph(analysis.graph, STYLE)
    facts = node_facts(layout, analysis)["pdf2d_top.fifo"]
    assert (facts.figure, facts.words, facts.second) == ("8.00", "of 16 words", "full 50.0\u202f%")
    assert [edge.target for edge in layout.edges if edge.source == "pdf2d_top.fifo"] == ["pdf2d_top.core[*].ctrl"]
    assert "At most: 16 words" in words(node_page("pdf2d_top.fifo", analysis))
    assert node_page("pdf2d_top.core[0].ctrl", analysis) is None


def test_a_memory_port_is_a_node_with_what_it_moved(analysis: Analysis) -> None:
    key = f"{MEMORY}loader"
    moved = [(e.source, e.target, e.message, e.bytes) for e in analysis.graph.edges if key in (e.source, e.target)]
    assert moved == [(key, "pdf2d_top", "read", 64), ("pdf2d_top", key, "written", 64)]  # no pragma says who asks
    layout = layout_graph(analysis.graph, STYLE)
    assert {node.key: node.title for node in layout.nodes}[key] == "loader"
    facts = node_facts(layout, analysis)[key]
    assert (facts.figure, facts.words) == ("320\u202fMB/s", "ddr")
    assert "Read: 64\u202fB in 2 bursts" in words(node_page(key, analysis))


def test_who_asks_memory_is_its_observed_port_or_the_blocks_whose_pragmas_target_it(analysis: Analysis) -> None:
    state, key = (State(0, "unclassified"),), f"{MEMORY}loader"
    mover = Block("top.mover", Side.FPGA, "top", "always", "top.mover", state)
    targeted = BlockGraph((mover,), (Edge("top.mover", MEM, "rows"),))
    ports = analysis.memory_ports
    assert with_memory_ports(targeted, ports).edges == (Edge("top.mover", key, "rows"),)
    two = (*ports, replace(ports[0], port=replace(ports[0].port, id="other")))
    joined = [(edge.source, edge.target) for edge in with_memory_ports(targeted, two).edges]
    assert joined == [("top.mover", MEM), (key, MEM), (MEM, key), (f"{MEMORY}other", MEM), (MEM, f"{MEMORY}other")]
    observed = replace(mover, id="top.port.loader", kind=PORT)
    joined = [(e.source, e.target) for e in with_memory_ports(BlockGraph((mover, observed), ()), ports).edges]
    assert joined == [(key, "top.port.loader"), ("top.port.loader", key)]
    assert with_memory_ports(targeted, ()) == targeted


def test_the_critical_path_is_framed_and_what_is_not_on_it_says_its_slack(analysis: Analysis) -> None:
    host, core, group = "host.main", "pdf2d_top.core[0].ctrl", "pdf2d_top.core[*].ctrl"
    steps = (
        PathStep(Side.HOST, host, "work", 0.0, 3e-3, ""),
        PathStep(Side.FPGA, core, "busy", 3e-3, 4e-3, host),
    )
    lines = (PathLine(host, "work", "", 0, 3e-3, 0.75), PathLine(core, "busy", "pdf2d.v", 1, 1e-3, 0.25))
    spare = (
        Slack("pdf2d_top.merge", "idle", 2e-6),
        Slack("pdf2d_top.merge", "busy", 1e-6),
        Slack("pdf2d_top.dist", "x", None),
    )
    path = CriticalPath(4e-3, steps, lines, spare)
    layout = layout_graph(analysis.graph, STYLE)
    facts = with_path(node_facts(layout, analysis), layout, path)
    said = {key: (one.on_path, one.foot.replace("\u202f", " ")) for key, one in facts.items() if one.foot}
    assert said == {
        host: (True, "75.0 % of the path"),
        group: (True, "25.0 % of the path"),
        "pdf2d_top.merge": (False, "slack 1.00 µs"),
    }
    assert path_pairs(layout, path) == {frozenset((host, group))}
    canvas = SvgCanvas(LIGHT)
    draw_graph(canvas, layout, facts, {}, path=path_pairs(layout, path))
    assert "75.0\u202f% of the path" in canvas.document(layout.width, layout.height, "")
    blocks = [metrics.block for metrics in analysis.blocks]
    assert "3.00\u202fms" in words(path_page(path, blocks))
    read = PathPart(host, "readDone", "pdf2d.c", 105)
    two = [PathWait(read, PathPart(f"pdf2d_top.core[{n}].ctrl", "busy", "core.v", 40), 3, 1e-3) for n in range(2)]
    said = words(path_page(replace(path, waits=tuple(two)), blocks)).replace("\u202f", " ")
    assert "\nreadDone, host main\nbusy, core[*].ctrl\n2.00 ms\n6" in said, "replicas are counted together"


def test_a_small_node_says_what_it_has_room_for(analysis: Analysis) -> None:
    layout = layout_graph(analysis.graph, STYLE)
    facts, host = node_facts(layout, analysis), layout.nodes[0]
    written = {}
    for scale in (0.4, 0.12):
        canvas = SvgCanvas(LIGHT)
        with canvas.placed(0, 0, scale):
            draw_graph(canvas, layout, facts, {})
        written[scale] = canvas.document(100, 100, "a small graph")
    shares = [share for _, _, share, _ in facts[host.key].rows[:2]]
    assert all(f">{share}<" in written[0.4] and f">{share}<" not in written[0.12] for share in shares)
    assert f">{host.title}<" in written[0.4]
