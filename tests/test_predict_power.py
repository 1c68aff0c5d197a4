"""RATSS: power beside time by hand, and messages that share a network, against messages that are counted one by one."""

from collections.abc import Mapping

import pytest
from answers import document_of
from predicting import load_named, parse_ratss, predict

from workbench.model.platform import Platform
from workbench.predict.explore import explore
from workbench.predict.formulas import ModelFile
from workbench.predict.space import make_space, parse_axis

MODEL = """\
schema_version: 1
name: powered
inputs:
  nodes: {value: 4, type: integer, minimum: 1}
  clock: {value: 100 MHz, unit: Hz}
networks:
  - {name: ring, latency_s: 1 ms, gap_per_byte_s: 1 us/B}
stages:
  - name: work
    iterations: 10
    preprocessing_s: 0.5
    nodes: [{name: sum, elements: 1e8 / nodes, clock_hz: clock, ops_per_cycle: 1}]
    transactions: [{name: out, kind: scatter, network: ring, nodes: nodes, bytes: 1000}]
iterations: 2
power: {nodes: nodes, static_w: 2 W, kernels: 8, kernel_cycle_j: 1 nJ, utilisation: 0.5, host_idle_w: 100,
        host_busy_w: 50 W, network_idle_w: 3, network_busy_w: 1, sources: {static_w: a data sheet}}
"""


def model(text: str) -> ModelFile:
    file, problems = parse_ratss(text, "m.ratss.yaml", {})
    assert file is not None, problems
    return file


def test_energy_is_what_each_part_takes() -> None:
    nodes, times, scatter_s, work_s = 4, 20, 2 * 1e-3 + 3 * 1e-3, 0.25
    total_s = times * (0.5 + work_s + scatter_s)
    energy = predict(model(MODEL)).energy
    assert energy is not None
    assert dict(energy.parts_j) == pytest.approx({
        "FPGA, static": nodes * 2 * total_s,
        "FPGA, dynamic": nodes * 8 * 0.5 * 1e-9 * 100e6 * work_s * times,
        "host": nodes * (100 * total_s + 50 * times * (0.5 + scatter_s)),
        "network": nodes * (3 * total_s + 1 * times * scatter_s),
    })  # fmt: skip
    assert energy.per_iteration_j == energy.total_j / 2
    assert energy.power_w == pytest.approx(energy.total_j / total_s)
    assert predict(model(MODEL.partition("power:")[0])).energy is None


def test_twice_the_clock_takes_the_same_dynamic_energy_in_less_time() -> None:
    slow, fast = (predict(model(MODEL), {"clock": clock}).energy for clock in (100e6, 200e6))
    assert slow is not None
    assert fast is not None
    assert fast.parts_j["FPGA, dynamic"] == pytest.approx(slow.parts_j["FPGA, dynamic"])
    assert fast.parts_j["FPGA, static"] < slow.parts_j["FPGA, static"]


def test_a_sweep_has_the_front_of_time_and_power(capsys: pytest.CaptureFixture[str]) -> None:
    """More nodes are faster and take more: all are on the front, by default too."""
    document = document_of(capsys, ["predict", "ratss", "pdf2d", "--sweep", "nodes=1,2,4,8", "--json"])
    front = document["pareto"]
    assert [point["inputs"]["nodes"] for point in front] == [1, 2, 4, 8]
    assert [point["x"] for point in front] == pytest.approx([row["power_w"] for row in document["rows"]])
    point = document_of(capsys, ["predict", "ratss", "pdf2d", "--json"])
    assert point["energy"]["power_w"] == pytest.approx(front[1]["x"])
    assert sum(point["energy"]["parts_j"].values()) == pytest.approx(point["energy"]["total_j"])


def test_points_that_another_beats_are_not_on_the_front(platforms: Mapping[str, Platform]) -> None:
    """More kernels on the same FPGAs take less time and less energy: the most are best in both."""
    file = load_named("ratss", "pdf2d", platforms)
    space = make_space(file, dict([parse_axis("kernels=20,40,80", file)]))
    front = explore(file, space, "total_s", "energy_j").front
    assert [point.inputs["kernels"] for point in front] == [80]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("static_w: a", "static: a"), "power has no field 'static'"),
        (("static_w: 2 W", "static_w: 2 Hz"), "'Hz' is not a power"),
        (("utilisation: 0.5", "utilisation: 2"), "utilisation"),
        (("iterations: 2\n", "iterations: 2\nresources: {power_w: 3}\n"), "'power_w' is an output of every model"),
        (("network: ring", "network: rink"), "there is no network 'rink'"),
    ],
)
def test_what_is_wrong_is_said_at_its_line(change: tuple[str, str], message: str) -> None:
    text = MODEL.replace(*change)
    file, problems = parse_ratss(text, "m.ratss.yaml", {})
    assert file is None
    assert message in problems[0].message
    assert problems[0].line


# ---- contention

LATENCY_S, OVERHEAD_S, GAP_S, BYTES = 1e-3, 1e-4, 1e-6, 1000


def tree(nodes: int) -> list[list[int]]:
    """The messages of a binomial scatter, round by round, each by how many nodes' shares it carries."""
    blocks, rounds, step = {0: nodes}, [], 1
    while step < nodes:
        step *= 2
    while step > 1:
        step //= 2
        sent = []
        for node, held in list(blocks.items()):
            if held > step:
                blocks[node], blocks[node + step] = step, held - step
                sent.append(held - step)
        rounds.append(sent)
    return rounds


def shared_time(rounds: list[list[int]], capacity: float) -> float:
    """Messages of a round share what the network carries; the round lasts as long as its longest message."""
    return sum(max(sent) * GAP_S * BYTES * max(1.0, len(sent) / capacity) for sent in rounds)


def collective(kind: str, nodes: int, capacity: str) -> float:
    network = f"name: bus, latency_s: {LATENCY_S}, overhead_s: {OVERHEAD_S}, gap_per_byte_s: {GAP_S}{capacity}"
    move = f"name: m, kind: {kind}, network: bus, nodes: {nodes}, bytes: {BYTES}, reduction_s: 1 ns"
    text = f"schema_version: 1\nname: c\nnetworks: [{{{network}}}]\nstages: [{{name: s, transactions: [{{{move}}}]}}]\n"
    return float(predict(model(text)).parts["s", "m"])


@pytest.mark.parametrize("nodes", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("capacity", [1, 2, 3])
def test_messages_of_a_round_share_the_network(nodes: int, capacity: int) -> None:
    given = f", capacity: {capacity}"
    rounds = tree(nodes)
    for kind, messages in (
        ("scatter", rounds),
        ("broadcast", [[1] * len(sent) for sent in rounds]),
        ("all-to-all", [[1] * nodes] * (nodes - 1)),
        ("all-gather", [[2**i] * nodes for i in range(len(rounds))]),
    ):
        free = collective(kind, nodes, "")
        expected = free - shared_time(messages, nodes) + shared_time(messages, capacity)
        assert collective(kind, nodes, given) == pytest.approx(expected), kind


@pytest.mark.parametrize("kind", ["scatter", "gather", "broadcast", "reduce", "all-gather", "all-to-all", "barrier"])
def test_a_network_that_carries_all_messages_delays_none(kind: str) -> None:
    assert collective(kind, 6, ", capacity: 6") == collective(kind, 6, "")
    slower = collective(kind, 6, ", capacity: 1") > collective(kind, 6, "")
    assert slower is (kind != "barrier")


def test_uneven_trees_send_as_many_bytes() -> None:
    """Of 6 nodes: 2, 2 and 1 shares in three rounds of 1, 2 and 2 messages."""
    expected = GAP_S * BYTES * (2 + 2 * 2 + 1 * 2)
    assert collective("scatter", 6, ", capacity: 1") - 3 * LATENCY_S - 2 * OVERHEAD_S == pytest.approx(expected)


def test_a_capacity_that_changes_nothing_is_said() -> None:
    text = MODEL.replace("kind: scatter,", "kind: io, capacity: 1,")
    _, problems = parse_ratss(text, "m.ratss.yaml", {})
    assert [p.message for p in problems] == ["capacity has no effect for an io transaction"]
