"""RATSS: all-gather, all-to-all and barrier against messages that are simulated one by one by the rules of LogGP."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest
from predicting import parse_ratss, predict, tree_notes

from workbench.model.diagnostic import WorkbenchError
from workbench.model.network import Network
from workbench.model.platform import Platform

LATENCY_S, OVERHEAD_S, SHORT_GAP_S, GAP_S, BYTES = 1.0e-3, 1.0e-4, 1.1e-3, 1.0e-6, 1000
#: Blocks of data by (source, destination); a block of an all-gather has its source alone.
Blocks = frozenset[tuple[int, ...]]
#: What a node does in a round, from what it holds: whom it sends which blocks, and from whom it receives.
Rounds = Callable[[int, int, Callable[[], Blocks]], Iterator[tuple[int, Blocks, int]]]


@dataclass
class Node:
    """A node of LogGP: its processor is free, its next message may begin and its link is empty from these times on."""

    holds: Blocks
    free_s: float = 0.0
    next_s: float = 0.0
    link_s: float = 0.0
    inbox: dict[int, tuple[float, Blocks]] = field(default_factory=dict)


def send(sender: Node, number: int, receiver: Node, blocks: Blocks, block_bytes: int) -> None:
    """o on the processor, G a byte on the link, L on the way; messages of a node begin at least g apart."""
    begin_s = max(sender.free_s, sender.next_s, sender.link_s - OVERHEAD_S)
    sender.free_s, sender.next_s = begin_s + OVERHEAD_S, begin_s + SHORT_GAP_S
    sender.link_s = begin_s + OVERHEAD_S + GAP_S * block_bytes * len(blocks)
    receiver.inbox[number] = (sender.link_s + LATENCY_S, blocks)


def receive(node: Node, sender: int) -> None:
    """o on the processor, once the last byte is there."""
    arrived_s, blocks = node.inbox.pop(sender)
    node.free_s = max(node.free_s, arrived_s) + OVERHEAD_S
    node.holds |= blocks


def simulated(
    nodes: int, rounds: Rounds, first: Callable[[int], Blocks], block_bytes: int
) -> tuple[float, list[Blocks]]:
    """When the last node is ready, and what each holds then."""
    all_nodes = [Node(first(n)) for n in range(nodes)]
    programs = [rounds(n, nodes, lambda node=node: node.holds) for n, node in enumerate(all_nodes)]  # type: ignore[misc]
    while steps := [step for program in programs if (step := next(program, None)) is not None]:
        for n, (to, blocks, _) in enumerate(steps):
            send(all_nodes[n], n, all_nodes[to], blocks, block_bytes)
        for n, (_, _, source) in enumerate(steps):
            receive(all_nodes[n], source)
    return max(node.free_s for node in all_nodes), [node.holds for node in all_nodes]


def doubling(n: int, nodes: int, holds: Callable[[], Blocks]) -> Iterator[tuple[int, Blocks, int]]:
    """Bruck's all-gather, and dissemination: to the node 1, 2, 4, ... before, what it does not have yet."""
    distance = 1
    while distance < nodes:
        to = (n - distance) % nodes
        new = range(min(distance, nodes - distance))
        yield to, frozenset(((n + i) % nodes,) for i in new) & holds(), (n + distance) % nodes
        distance *= 2


def pairwise(n: int, nodes: int, holds: Callable[[], Blocks]) -> Iterator[tuple[int, Blocks, int]]:
    """In round i the block for the i-th node after this one, and one from the i-th before."""
    for i in range(1, nodes):
        to = (n + i) % nodes
        yield to, frozenset({(n, to)}) & holds(), (n - i) % nodes


def own(n: int) -> Blocks:
    return frozenset({(n,)})


MODEL = f"""schema_version: 1
name: exchange
inputs: {{P: {{value: 4}}}}
stages:
  - name: talk
    transactions:
      - {{name: move, kind: KIND, nodes: P, bytes: {BYTES}, latency_s: {LATENCY_S}, overhead_s: {OVERHEAD_S}, \
gap_per_byte_s: {GAP_S}}}
"""
BARRIER = MODEL.replace(f"bytes: {BYTES}, ", "").replace(f", gap_per_byte_s: {GAP_S}", "").replace("KIND", "barrier")


def computed_s(text: str, nodes: int) -> float:
    file, problems = parse_ratss(text, "model.yaml", {})
    assert file is not None, problems
    assert not problems
    assert tree_notes(file, {"P": nodes}) == ()  # exact for any P
    return float(predict(file, {"P": nodes}).total_s)


@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 5, 7, 8, 13, 16])
def test_exchanges_take_what_their_messages_take(nodes: int) -> None:
    time_s, held = simulated(nodes, doubling, own, BYTES)
    assert held == [frozenset((n,) for n in range(nodes))] * nodes
    assert computed_s(MODEL.replace("KIND", "all-gather"), nodes) == pytest.approx(time_s)

    time_s, _ = simulated(nodes, doubling, own, 0)  # each hears of all, in messages of no bytes
    assert computed_s(BARRIER, nodes) == pytest.approx(time_s)

    time_s, held = simulated(nodes, pairwise, lambda n: frozenset((n, to) for to in range(nodes)), BYTES)
    assert all((source, n) in held[n] for n in range(nodes) for source in range(nodes))
    assert computed_s(MODEL.replace("KIND", "all-to-all"), nodes) == pytest.approx(time_s)


@pytest.mark.parametrize("nodes", [1, 2, 3, 6])
def test_exchanges_on_one_serial_network(nodes: int) -> None:
    """One message after the other on the only link; the first node to finish waits for the last message."""
    link_s = 0.0
    for _ in [(a, b) for a in range(nodes) for b in range(nodes) if a != b]:
        link_s += GAP_S * BYTES
    expected_s = link_s + LATENCY_S if nodes > 1 else 0.0
    serial = MODEL.replace("nodes: P", "serial: true, nodes: P").replace(f"overhead_s: {OVERHEAD_S}, ", "")
    for kind in ("all-gather", "all-to-all"):
        assert computed_s(serial.replace("KIND", kind), nodes) == pytest.approx(expected_s)
    meeting = BARRIER.replace("nodes: P", "serial: true, nodes: P").replace(f", overhead_s: {OVERHEAD_S}", "")
    assert computed_s(meeting, nodes) == pytest.approx(2 * LATENCY_S if nodes > 1 else 0.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MODEL.replace("KIND", "all-gather").replace(f"bytes: {BYTES}, ", ""), "the all-gather 'move' has no `bytes`"),
        (MODEL.replace("KIND", "barrier"), "bytes has no effect for a barrier"),
        (MODEL.replace("KIND", "all-to-all, gap_s: 1.0e-6"), "gap_s has no effect for an all-to-all"),
        (MODEL.replace("KIND", "scatter").replace(f"bytes: {BYTES}, ", ""), "the scatter 'move' has no `bytes`"),
        (MODEL.replace("KIND", "all-gather, table: t"), "an all-gather cannot take its time from a transfer table"),
        (BARRIER.replace(f", latency_s: {LATENCY_S}", ""), "the barrier 'move' has no time. Name a `network`"),
    ],
)
def test_what_is_wrong_with_an_exchange_is_reported(text: str, expected: str) -> None:
    _, problems = parse_ratss(text, "model.yaml", {})
    assert expected in "\n".join(p.text() for p in problems)
    assert all((p.file, p.line) == ("model.yaml", 7) for p in problems)


NODES = 7
SLOW = np.array([1.0, 1.0, 1.0, 4.0, 1.0, 1.0, 1.0])


def platform_with(platforms: Mapping[str, Platform], **more: object) -> Platform:
    scalars = {"latency_s": LATENCY_S, "overhead_s": OVERHEAD_S, "gap_s": SHORT_GAP_S, "gap_per_byte_s": GAP_S,
               "reduction_per_byte_s": 2e-9}  # fmt: skip
    network = Network.model_validate({"name": "net", **scalars, **more})
    return platforms["nallatech_h101"].model_copy(update={"networks": (network,)})


def on_network_s(kind: str, nodes: int, platform: Platform, more: str = "") -> float:
    text = f"""schema_version: 1
name: between
platform: {platform.name}
inputs: {{P: {{value: {nodes}}}}}
stages:
  - name: talk
    transactions:
      - {{name: move, kind: {kind}, nodes: P, network: net{"" if kind == "barrier" else f", bytes: {BYTES}"}{more}}}
"""
    file, problems = parse_ratss(text, "model.yaml", {platform.name: platform})
    assert file is not None, problems
    return float(predict(file, {"P": nodes}).total_s)


KINDS = ("scatter", "gather", "broadcast", "reduce", "all-gather", "all-to-all", "barrier")


@pytest.mark.parametrize("kind", KINDS)
def test_equal_numbers_for_all_nodes_are_the_one_number(kind: str, platforms: Mapping[str, Platform]) -> None:
    """HLogGP's vectors and matrices of equal numbers give LogGP's times, for any P and with contention."""
    full = [[v] * NODES for v in (LATENCY_S, GAP_S)]
    alike = platform_with(
        platforms,
        overheads_s=[OVERHEAD_S] * NODES, gaps_s=[SHORT_GAP_S] * NODES, latencies_s=[full[0]] * NODES,
        gaps_per_byte_s=[full[1]] * NODES, latency_s=9, overhead_s=9, gap_s=9, gap_per_byte_s=9,
    )  # fmt: skip
    more = ["", *([", capacity: 2"] if kind != "barrier" else []), *([", reading: fitted"] if kind == "reduce" else [])]
    for nodes in (1, 2, 4, 5, 7):
        for one in more:
            expected = pytest.approx(on_network_s(kind, nodes, platform_with(platforms), one), rel=1e-12)
            assert on_network_s(kind, nodes, alike, one) == expected, (nodes, one)


def test_one_slow_node_slows_the_rounds_that_it_is_in(platforms: Mapping[str, Platform]) -> None:
    slow = platform_with(platforms, overheads_s=(OVERHEAD_S * SLOW).tolist())
    more_s = 3 * OVERHEAD_S  # what node 3 takes more for a message
    for kind, rounds in (("barrier", 2), ("all-gather", 2), ("all-to-all", 3), ("broadcast", 1), ("scatter", 1)):
        # of a broadcast among four, node 3 gets its message in the last round; of a scatter o counts once
        assert on_network_s(kind, 4, slow) == pytest.approx(
            on_network_s(kind, 4, platform_with(platforms)) + rounds * more_s
        )
        assert on_network_s(kind, 3, slow) == pytest.approx(on_network_s(kind, 3, platform_with(platforms))), (
            "it takes no part"
        )
    far = np.full((4, 4), GAP_S)
    far[0, 2] = 3 * GAP_S  # one way, of the first round of a scatter among four, with two shares
    one_way = platform_with(platforms, gaps_per_byte_s=far.tolist())
    assert on_network_s("scatter", 4, one_way) == pytest.approx(
        on_network_s("scatter", 4, platform_with(platforms)) + 2 * GAP_S * 2 * BYTES
    )
    assert on_network_s("gather", 4, one_way) == pytest.approx(on_network_s("gather", 4, platform_with(platforms)))


def test_more_nodes_than_a_network_describes_are_reported(platforms: Mapping[str, Platform]) -> None:
    with pytest.raises(WorkbenchError) as error:
        on_network_s("barrier", 8, platform_with(platforms, overheads_s=SLOW.tolist()))
    assert "describes 7 nodes, but 8 take part" in str(error.value)
    with pytest.raises(ValueError, match="latencies_s has 2 nodes, and another list has 7"):
        platform_with(platforms, overheads_s=SLOW.tolist(), latencies_s=[[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="needs a row for each node"):
        platform_with(platforms, latencies_s=[[0, 1], [1]])


UNLIKE = """
networks:
  - name: net
    gap_s: 1.1 ms
    reduction_per_byte_s: 2 ns/B
    overheads_s: [o, 0.1 ms, 0.1 ms, "4 * o"]
    latencies_s: [[0, 1 ms, 2 ms, 3 ms], [1 ms, 0, 1 ms, 5 ms], [2 ms, 1 ms, 0, 1 ms], [3 ms, 2 ms, 1 ms, 0]]
    gaps_per_byte_s: [[0, 1, G, 1], [1, 0, 1, 1], [1, 1, 0, 2 us], [3, 1, 1, 0]]
inputs: {o: {value: 1e-4}, G: {value: 2e-6}}
stages:
  - name: talk
    transactions:
      - {name: move, kind: KIND, nodes: 4, network: netBYTES}
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_models_own_network_describes_its_nodes_too(kind: str, platforms: Mapping[str, Platform]) -> None:
    """Its vectors and matrices may hold formulas, and give what a template's with these numbers give."""
    bytes_ = "" if kind == "barrier" else f", bytes: {BYTES}"
    text = "schema_version: 1\nname: own" + UNLIKE.replace("KIND", kind).replace("BYTES", bytes_)
    file, problems = parse_ratss(text, "model.yaml", platforms)
    assert file is not None, problems
    swept = predict(file, {"o": np.array([1e-4, 5e-4])}).total_s
    for o, total_s in zip((1e-4, 5e-4), np.ravel(swept), strict=True):
        far = [[0, 1e-3, 2e-3, 3e-3], [1e-3, 0, 1e-3, 5e-3], [2e-3, 1e-3, 0, 1e-3], [3e-3, 2e-3, 1e-3, 0]]
        per_byte = [[0, 1, 2e-6, 1], [1, 0, 1, 1], [1, 1, 0, 2e-6], [3, 1, 1, 0]]
        lists = {"overheads_s": [o, 1e-4, 1e-4, 4 * o], "latencies_s": far, "gaps_per_byte_s": per_byte}
        assert float(total_s) == pytest.approx(on_network_s(kind, 4, platform_with(platforms, **lists)), rel=1e-12)


def test_a_models_own_network_of_uneven_lists_is_reported(platforms: Mapping[str, Platform]) -> None:
    text = "schema_version: 1\nname: own" + UNLIKE.replace("KIND", "barrier").replace("BYTES", "")
    for old, new, message in (
        (', "4 * o"]', "]", "overheads_s has 3 nodes, and another list has 4"),
        ("[3, 1, 1, 0]", "[3, 1]", "gaps_per_byte_s needs a row for each node"),
        ("o, 0.1 ms", "-1, 0.1 ms", "overheads_s"),
        ("[0, 1 ms, 2 ms", "[0, 1 MHz, 2 ms", "'MHz' is not a time"),
    ):
        file, problems = parse_ratss(text.replace(old, new), "model.yaml", platforms)
        assert any(message in f"{one.message} {one.hint}" and one.line for one in problems), (message, problems)
    file, problems = parse_ratss(text.replace("nodes: 4", "nodes: 8"), "model.yaml", platforms)
    assert file is not None
    with pytest.raises(WorkbenchError, match="describes 4 nodes, but 8 take part") as error:
        predict(file, {})
    assert "model's network" in error.value.diagnostics[0].hint
