"""The laid-out block graph: everything has its place, and nothing lies on anything else."""

import time
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.analysis.graph import build_graph
from workbench.analysis.metrics import block_metrics, call_metrics
from workbench.api.instrument.port_probe import PortProbe
from workbench.api.ports import Activity
from workbench.api.results import BlockMetrics, StateMetrics
from workbench.model.blocks import Block, BlockGraph, Edge, Side, State
from workbench.model.hardware import Clock
from workbench.model.pragma import MEM, UNCLASSIFIED, Category
from workbench.pictures.layout import GraphLayout, LayoutStyle, layout_graph
from workbench.pictures.layout_fit import fit_scale, layout_to_fit
from workbench.pictures.states import mean_shares
from workbench.testing.runs import synthetic_platform, synthetic_run
from workbench.traces.trace import CATEGORIES, state_codes

STATES = (State(0, UNCLASSIFIED),)


def _block(id_: str, side: Side = Side.FPGA) -> Block:
    group = id_[: id_.index("[")] + "[*]" + id_[id_.index("]") + 1 :] if "[" in id_ else id_
    return Block(id_, side, id_.rpartition(".")[0], "always", group, STATES)


def _graph(names: list[str], edges: list[tuple[int, int]]) -> BlockGraph:
    blocks = (_block("host.main", Side.HOST), *(_block(f"top.{name}") for name in names))
    links = tuple(
        Edge(blocks[a % len(blocks)].id, blocks[b % len(blocks)].id, f"m{n}", count=n, bytes=64 * n, time_s=1e-5 * n)
        for n, (a, b) in enumerate(edges)
    )
    return BlockGraph(blocks, links)


def check(layout: GraphLayout, graph: BlockGraph) -> None:
    boxes = [node.box for node in layout.nodes]
    labels = [edge.label_box for edge in layout.edges]
    assert {i for node in layout.nodes for i in node.block_ids} == {block.id for block in graph.blocks}
    for a, b in combinations(boxes, 2):
        assert not a.overlaps(b)
    for a, b in combinations(labels, 2):
        assert not a.overlaps(b)
    for label in labels:
        assert not any(label.overlaps(box) for box in boxes)
        assert label.x >= 0
        assert label.right <= layout.width
    for a, b in combinations([frame.box for frame in layout.frames], 2):
        assert not a.overlaps(b)
    for node in layout.nodes:
        frame = next(f.box for f in layout.frames if f.title == node.frame)
        assert frame.x <= node.box.x
        assert node.box.right <= frame.right
        assert frame.y <= node.box.y
        assert node.box.bottom <= frame.bottom
        for tile in node.tiles:
            assert node.box.x <= tile.box.x
            assert tile.box.right <= node.box.right
            assert tile.box.bottom <= node.box.bottom
    for edge in layout.edges:
        ends = [next(n.box for n in layout.nodes if n.key == key) for key in (edge.source, edge.target)]
        for box, (x, y) in zip(ends, (edge.points[0], edge.points[-1]), strict=True):
            assert x == pytest.approx(box.x) or x == pytest.approx(box.right)
            assert box.y <= y <= box.bottom
        for (x0, y0), (x1, y1) in zip(edge.points, edge.points[1:], strict=False):
            assert x0 == pytest.approx(x1) or y0 == pytest.approx(y1)
            inside = {n.frame for n in layout.nodes if n.key in (edge.source, edge.target)}
            for frame in layout.frames if len(inside) == 1 else ():  # an edge within a frame does not leave it
                if frame.title in inside:
                    assert frame.box.x <= min(x0, x1) <= max(x0, x1) <= frame.box.right
                    assert frame.box.y <= min(y0, y1) <= max(y0, y1) <= frame.box.bottom
                    assert edge.label_box.right <= frame.box.right
            for box in boxes:
                inside_x = min(x0, x1) < box.right - 0.01 and max(x0, x1) > box.x + 0.01
                inside_y = min(y0, y1) < box.bottom - 0.01 and max(y0, y1) > box.y + 0.01
                assert not (inside_x and inside_y), "an edge runs through a node"


NAMES = st.lists(st.sampled_from([f"b{n}.p" for n in range(12)] + [f"core[{n}].c" for n in range(9)] + ["a", "b"]),
                 unique=True, max_size=14)  # fmt: skip


@settings(max_examples=150)
@given(NAMES, st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=30), st.booleans())
def test_nothing_overlaps_in_any_graph(names: list[str], edges: list[tuple[int, int]], flow: bool) -> None:
    graph = _graph(names, edges)
    check(layout_graph(graph, LayoutStyle(flow=flow)), graph)


def test_columns_follow_the_data() -> None:
    blocks = tuple(_block(f"top.{name}") for name in ("out", "join", "left", "right", "far", "split", "back"))
    ways = ("split left", "split right", "right far", "left join", "far join", "join out", "out back", "back out")
    edges = tuple(Edge(*(f"top.{end}" for end in way.split()), way) for way in ways)
    layout = layout_graph(BlockGraph(blocks, edges), LayoutStyle(flow=True, columns_per_band=9))
    middle = {node.title: node.box.centre[0] for node in layout.nodes}
    assert middle["split"] < middle["left"] == middle["right"] < middle["far"] < middle["join"] < middle["out"]
    assert middle["out"] < middle["back"]  # of a circle, in the order in which they are written


def test_the_papers_application_stands_as_it_should() -> None:
    run = synthetic_run(cores=20, rounds=1)
    graph, problems = build_graph(block_metrics(run), call_metrics(run, synthetic_platform()))
    assert problems == ()
    layout = layout_graph(graph)
    check(layout, graph)
    assert layout == layout_graph(graph)
    host, card = layout.frames
    assert host.side is Side.HOST
    assert host.box.right < card.box.x
    cores = layout.node_of("pdf2d_top.core[7].ctrl")
    assert cores is not None
    assert cores is layout.node_of("pdf2d_top.core[*].ctrl")
    assert cores.title == "core × 20"
    assert [tile.block_id for tile in cores.tiles] == [f"pdf2d_top.core[{n}].ctrl" for n in range(20)]
    samples = next(e for e in layout.edges if e.source == "host.main" and e.edges[0].message == "samples")
    assert samples.target == "pdf2d_top.lad_if"
    assert len(samples.points) == 2, "neighbours' edges are straight"
    assert samples.label.replace("\u202f", " ") == "20 × 2 KiB"


def test_long_chains_are_folded() -> None:
    names = [f"s{n}" for n in range(40)]
    graph = _graph(names, [(n, n + 1) for n in range(40)])
    layout = layout_graph(graph)
    check(layout, graph)
    assert layout.width < 2500
    assert len({round(node.box.y) for node in layout.nodes if node.side is Side.FPGA}) >= 8


def test_memory_outside_is_a_node() -> None:
    graph = BlockGraph((_block("top.a"),), (Edge("top.a", MEM, "bank"),))
    layout = layout_graph(graph)
    check(layout, graph)
    assert layout.node_of(MEM) is not None


def test_each_fpga_is_a_frame_and_links_between_them_stand_in_their_own() -> None:
    blocks = (_block("host.main", Side.HOST), _block("left:sender.send"), _block("right:receiver.take"))
    ends = ("left:sender.send", "link:left_out-right_in", "right:receiver.take")
    layout = layout_graph(BlockGraph(blocks, tuple(Edge(a, b, "words") for a, b in pairwise(ends))))
    framed = {(node.frame, node.title) for node in layout.nodes}
    assert framed == {
        ("host", "main"), ("left:sender", "send"), ("right:receiver", "take"), ("links", "left_out-right_in"),
    }  # fmt: skip


def test_many_parallel_messages_share_a_line() -> None:
    graph = _graph(["a"], [(0, 1)] * 30)
    layout = layout_graph(graph)
    check(layout, graph)
    assert len(layout.edges) == 6
    assert sum(len(edge.edges) for edge in layout.edges) == 30


def test_nothing_at_all_has_a_layout() -> None:
    assert layout_graph(BlockGraph((), ())).nodes == ()


def test_a_thousand_blocks_take_little_time() -> None:
    names = [f"u{n % 40}_{n // 40}" for n in range(1000)]
    graph = _graph(names, [(n, (n * 7) % 1000) for n in range(1, 1000)])
    began_s = time.process_time()
    layout_graph(graph)
    assert time.process_time() - began_s < 20


ROOMS = st.tuples(st.integers(200, 2600), st.integers(120, 1400))


@settings(max_examples=60)
@given(NAMES, st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=30), ROOMS)
def test_a_layout_for_a_room_is_no_smaller_there_and_nothing_overlaps(
    names: list[str], edges: list[tuple[int, int]], room: tuple[int, int]
) -> None:
    graph = _graph(names, edges)
    layout = layout_to_fit(graph, LayoutStyle(), *room)
    check(layout, graph)
    assert fit_scale(layout, *room) >= fit_scale(layout_graph(graph), *room) - 1e-9


@pytest.mark.parametrize(("width", "height"), [(1040, 360), (760, 264), (2000, 572)])
def test_the_papers_application_uses_its_room(width: float, height: float) -> None:
    """At the sizes of the window's panel it takes most of the room, and at the usual one in full size."""
    run = synthetic_run(cores=20, rounds=1)
    graph, _ = build_graph(block_metrics(run), call_metrics(run, synthetic_platform()))
    layout = layout_to_fit(graph, LayoutStyle(), width, height)
    check(layout, graph)
    assert layout.width * fit_scale(layout, width, height) > 0.7 * width


def test_many_threads_stand_low_and_can_be_read() -> None:
    graph = BlockGraph(tuple(_block(f"host.thread_{n}", Side.HOST) for n in range(7)), ())
    layout = layout_to_fit(graph, LayoutStyle(), 1040, 360)
    check(layout, graph)
    assert fit_scale(layout, 1040, 360) > 2 * fit_scale(layout_graph(graph), 1040, 360)
    assert fit_scale(layout, 1040, 360) * 22 >= 11  # a title's line, in pixels


def test_an_observed_port_bears_its_name_and_its_states_are_drawn() -> None:
    """Its states have no category, for no rule is about them, and yet are seen."""
    block = PortProbe("host", Clock(name="clk", frequency_hz=1e8), Activity("1", "0", "0"), 0).block("top")
    layout = layout_graph(BlockGraph((_block("host.main", Side.HOST), _block("top.port"), block), ()))
    assert [node.title for node in layout.nodes] == ["main", "port", "port.host"]
    parts = zip(block.states, (0.5, 0.25, 0.125, 0.125), strict=True)
    seen = tuple(StateMetrics(state, share, share, 0, 0) for state, share in parts)
    shares = mean_shares([BlockMetrics(0, block, 1.0, 0, seen, ())])
    assert dict(shares) == {None: 0.5, Category.SEND: 0.25, Category.WAIT_RECV: 0.125, Category.WAIT_SEND: 0.125}
    assert [CATEGORIES[code] for code in state_codes(block)] == ["unclassified", "send", "wait_recv", "wait_send"]
    assert {state.category for state in block.states} == {None}
