"""What pragmas' targets name, and the graph that follows from them."""

import pytest
from small_runs import Calls, Spent, small_run

from workbench.analysis.graph import build_graph
from workbench.analysis.metrics import block_metrics, call_metrics
from workbench.model.blocks import Block, Side
from workbench.model.pragma import Category
from workbench.model.run import Run
from workbench.model.targets import resolve_target
from workbench.testing.runs import synthetic_platform, synthetic_run


def _block(id_: str, side: Side = Side.FPGA) -> Block:
    group = id_[: id_.index("[")] + "[*]" + id_[id_.index("]") + 1 :] if "[" in id_ else id_
    return Block(id_, side, id_.rpartition(".")[0], "always", group, ())


BLOCKS = (
    _block("host.main", Side.HOST),
    _block("top.port"),
    *(_block(f"top.core[{n}].ctrl") for n in range(3)),
    *(_block(f"top.core[{n}].fifo") for n in range(3)),
    *(_block(f"top.lane[{n}].pe.step") for n in range(2)),
)


def _named(target: str, source: str | None = None) -> list[str]:
    by_id = {block.id: block for block in BLOCKS}
    return [block.id for block in resolve_target(target, BLOCKS, by_id[source] if source else None)]


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("$CPU", ["host.main"]),
        ("$MEM", []),
        ("top.port", ["top.port"]),
        ("port", ["top.port"]),
        ("top.core[1].ctrl", ["top.core[1].ctrl"]),
        ("core[*].ctrl", [f"top.core[{n}].ctrl" for n in range(3)]),
        ("core.ctrl", [f"top.core[{n}].ctrl" for n in range(3)]),
        ("ctrl", [f"top.core[{n}].ctrl" for n in range(3)]),
        ("core[2]", ["top.core[2].ctrl", "top.core[2].fifo"]),
        ("top.core", [b.id for b in BLOCKS if "core" in b.id]),
        ("top.lane[*]", ["top.lane[0].pe.step", "top.lane[1].pe.step"]),
        ("ore", []),
        ("core[9]", []),
        ("", []),
        ("a..b", []),
    ],
)
def test_targets_are_matched_from_their_end(target: str, found: list[str]) -> None:
    assert _named(target) == found


def test_a_replica_means_its_own_neighbour() -> None:
    assert _named("fifo", "top.core[1].ctrl") == ["top.core[1].fifo"]
    assert _named("core[*].fifo", "top.core[1].ctrl") == [f"top.core[{n}].fifo" for n in range(3)]
    assert _named("fifo", "top.port") == [f"top.core[{n}].fifo" for n in range(3)]


@pytest.fixture(scope="module")
def run() -> Run:
    return synthetic_run(cores=4, rounds=2)


def test_edges_carry_the_calls_exactly(run: Run) -> None:
    graph, problems = build_graph(block_metrics(run), call_metrics(run, synthetic_platform()))
    assert problems == ()
    calls = run.tables["calls"]
    told = [edge for edge in graph.edges if edge.time_s is not None]
    assert sum(edge.count or 0 for edge in told) == len(calls["site"])
    assert sum(edge.bytes or 0 for edge in told) == calls["bytes"].sum()
    assert sum(edge.time_s or 0 for edge in told) == pytest.approx((calls["t1_ps"] - calls["t0_ps"]).sum() * 1e-12)
    assert len({(edge.source, edge.target, edge.message) for edge in graph.edges}) == len(graph.edges)


def test_receiving_edges_lead_to_the_receiver(run: Run) -> None:
    graph, _ = build_graph(block_metrics(run), call_metrics(run, None))
    bins = next(edge for edge in graph.edges if edge.message == "bins" and edge.target == "host.main")
    assert bins.source == "pdf2d_top.lad_if"
    to_merge = next(edge for edge in graph.edges if edge.target == "pdf2d_top.merge")
    assert (to_merge.source, to_merge.count) == ("pdf2d_top.core[*].ctrl", 8)


def test_a_target_that_names_nothing_is_told_with_its_line() -> None:
    run = small_run(1.0, [Spent("w", Category.SEND, 0.1, ("data",), "top.nobody", "x", calls=Calls(1, 4))])
    _, problems = build_graph(block_metrics(run), call_metrics(run, None))
    assert "top.nobody" in problems[0].message
    assert (problems[0].file, problems[0].line) == ("main.c", 19)


def test_several_targets_count_a_message_once() -> None:
    run = small_run(1.0, [Spent("w", Category.SEND, 0.1, ("data",), "top", "x", calls=Calls(7, 28))],
                    {"top.a": [], "top.b": []})  # fmt: skip
    graph, _ = build_graph(block_metrics(run), call_metrics(run, None))
    assert [(edge.target, edge.count) for edge in graph.edges] == [("top.a", 7), ("top.b", None)]
