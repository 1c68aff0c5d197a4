"""RATSS: all-gather, all-to-all and barrier against messages that are simulated one by one by the rules of LogGP."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from predicting import parse_ratss, predict, tree_notes

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
        (MODEL.replace("KIND", "all-gather").replace(f"bytes: {BYTES}, ", ""), "the all-gather 'move' says no `bytes`"),
        (MODEL.replace("KIND", "barrier"), "bytes changes nothing for a barrier"),
        (MODEL.replace("KIND", "all-to-all, gap_s: 1.0e-6"), "gap_s changes nothing for an all-to-all"),
        (MODEL.replace("KIND", "scatter").replace(f"bytes: {BYTES}, ", ""), "the scatter 'move' says no `bytes`"),
        (MODEL.replace("KIND", "all-gather, table: t"), "an all-gather has no time from a transfer table"),
        (BARRIER.replace(f", latency_s: {LATENCY_S}", ""), "the barrier 'move' has no time. Name a `network`"),
    ],
)
def test_what_is_wrong_with_an_exchange_is_reported(text: str, expected: str) -> None:
    _, problems = parse_ratss(text, "model.yaml", {})
    assert expected in "\n".join(p.text() for p in problems)
    assert all((p.file, p.line) == ("model.yaml", 7) for p in problems)
