"""Models drawn: RATSS's structures and platforms as in Figs. 4, 5, 7 to 9, a queueing network's rates, and --svg."""

import json
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest
from predicting import KINDS, load_named, parse_ratss

from workbench.api.model_diagrams import Diagram
from workbench.cli.main import main
from workbench.model.platform import Platform
from workbench.pictures.diagram import diagrams_svg, fitted_diagram
from workbench.pictures.layout_fit import fit_scale
from workbench.predict.formulas import Evaluation, ModelFile
from workbench.predict.kinds import parse_model
from workbench.predict.shown import results_of


def drawn(file: ModelFile, **inputs: float) -> Mapping[str, Diagram]:
    return results_of(Evaluation(file, inputs)).diagrams


def ways(diagram: Diagram) -> list[tuple[str, str, str]]:
    titles = {node.id: node.title for node in diagram.nodes}
    return [(titles[link.source], link.name, titles[link.target]) for link in diagram.links]


def test_fig_4_samples_are_scattered_written_counted_read_and_reduced(
    platforms: Mapping[str, Platform],
) -> None:
    structure = drawn(load_named("ratss", "pdf2d", platforms), nodes=8)["Stages"]
    one, each, node = "microprocessor", "microprocessor × 8", "kernels × 8"
    assert ways(structure) == [
        (one, "scatter X", each), (one, "scatter Y", each), (each, "write X", node), (each, "write Y", node),
        (each, "reduce", one), (node, "read", each),
    ]  # fmt: skip
    kernels = next(n for n in structure.nodes if n.title == node)
    assert (kernels.figure, kernels.strong, kernels.second) == ("35.2\u202fs", True, "240 a cycle, 195\u202fMHz")
    assert kernels.field == ("stages", 0, "nodes", 0)
    assert [link.amount for link in structure.links[:1]] == ["32\u202fMiB, 2.25\u202fs"]


def test_fig_5_a_network_between_hosts_and_a_bus_to_each_fpga(platforms: Mapping[str, Platform]) -> None:
    platform = drawn(load_named("ratss", "pdf2d", platforms), nodes=4)["Platform"]
    host, fpga, network = "microprocessor × 4", "FPGA × 4", "Gigabit Ethernet"
    assert sorted(ways(platform)) == sorted([
        (host, "", network), (network, "", host), (host, "PCI-X write", fpga), (fpga, "PCI-X read", host),
    ])  # fmt: skip
    assert {n.title: n.second or n.words for n in platform.nodes} == {
        network: "latency 108\u202fµs", host: "Pentium 4 Xeon 3.2 GHz", fpga: "Virtex-4 XC4VLX100",
    }  # fmt: skip


@pytest.mark.parametrize(("name", "node", "count", "to"), [
    ("image_filter", "filter", 2, "broadcast"), ("molecular_dynamics", "pipeline", 4, "scatter"),
])  # fmt: skip
def test_figs_7_to_9_one_network_joins_the_host_and_all_nodes(
    platforms: Mapping[str, Platform], name: str, node: str, count: int, to: str
) -> None:
    shown = drawn(load_named("ratss", name, platforms))
    host, nodes, fpga = "microprocessor", f"{node} × {count}", f"FPGA × {count}"
    assert ways(shown["Stages"]) == [(host, to, nodes), (nodes, "gather", host)]
    assert all(one.figure or one.words for one in shown["Stages"].nodes)  # no box is empty
    assert sorted(ways(shown["Platform"])) == sorted(
        [(host, "", "SNAP"), ("SNAP", "", host), ("SNAP", "", fpga), (fpga, "", "SNAP")]
    )


def test_exchanges_stand_at_those_who_exchange_and_stages_are_apart() -> None:
    text = """
schema_version: 1
name: two
stages:
  - name: load
    nodes: [{name: reader, elements: 10, clock_hz: 100 MHz, ops_per_cycle: 1}]
    transactions:
      - {name: halo, kind: all-gather, nodes: 4, bytes: 1000, gap_per_byte_s: 1e-9}
      - {name: in, kind: io, bytes: 4, rate_bytes_per_s: 100 MB/s}
  - name: sum
    transactions: [{name: total, kind: reduce, nodes: 4, bytes: 4, gap_per_byte_s: 1e-9, reduction_s: 0}]
"""
    file, problems = parse_ratss(text, "two.ratss.yaml", {})
    assert file is not None, problems
    structure = drawn(file)["Stages"]
    several = [node for node in structure.nodes if node.title == "microprocessor × 4"]
    assert [node.second.partition(",")[0] for node in several if node.second] == ["halo (all-gather)"]
    assert ("microprocessor × 4", "in", "reader × 4") in ways(structure)
    assert ("microprocessor × 4", "total (reduce)", "microprocessor") in ways(structure)
    assert structure.note == "2 stages, one after another"
    assert sum(node.words in ("stage load", "stage sum") for node in structure.nodes) == 2


def test_a_queueing_network_has_the_rate_on_every_way() -> None:
    text = """
schema_version: 1
name: loop
stations:
  - {name: a, arrivals_per_s: 10, service_per_s: 100, to: [{station: b, jobs: 1}]}
  - {name: b, service_per_s: 50, to: [{station: a, jobs: 0.5}]}
"""
    file, problems = parse_model(KINDS["queueing"], text, "loop.queueing.yaml", {})
    assert file is not None, problems
    network = drawn(file)["Network"]
    assert ways(network) == [("outside", "10\u202f/s", "a"), ("a", "20\u202f/s", "b"), ("b", "10\u202f/s", "a")]
    assert {node.title: node.figure for node in network.nodes} == {
        "outside": "", "a": "20.0\u202f%", "b": "40.0\u202f%",
    }  # fmt: skip
    assert [node.title for node in network.nodes if node.strong] == ["b"]


@pytest.mark.parametrize("size", [(510.0, 500.0), (900.0, 700.0), (1900.0, 300.0)])
def test_nodes_lie_apart_whatever_the_room(platforms: Mapping[str, Platform], size: tuple[float, float]) -> None:
    for diagram in drawn(load_named("ratss", "pdf2d", platforms)).values():
        layout = fitted_diagram(diagram, *size)
        assert {node.title for node in layout.nodes} == {node.title for node in diagram.nodes}
        boxes = [node.box for node in layout.nodes]
        assert not [(a, b) for n, a in enumerate(boxes) for b in boxes[n + 1 :] if a.overlaps(b)]
        assert fit_scale(layout, *size) > 0.6


def test_a_picture_has_every_diagram_under_one_another(platforms: Mapping[str, Platform]) -> None:
    shown = drawn(load_named("ratss", "pdf2d", platforms))
    root = ElementTree.fromstring(diagrams_svg(shown, "2-D PDF estimation"))
    words = {element.text for element in root.iter() if element.text}
    assert {"Stages", "Platform", "scatter X", "Gigabit Ethernet", "kernels × 2"} <= words


def test_the_command_draws_beside_its_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "blastn.svg"
    assert main(["predict", "queueing", "blastn", "--svg", str(picture), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["busiest"] == "PCI-X"
    assert "PCI-X" in picture.read_text()
    assert main(["predict", "density", "dot_product", "--svg", str(tmp_path / "no.svg")]) == 2
    assert "models of the kind 'density' are not drawn" in capsys.readouterr().err
    assert main(["predict", "ratss", "pdf2d", "--svg", str(picture), "--sensitivity"]) == 2
    assert "--svg does not go with --sensitivity" in capsys.readouterr().err
