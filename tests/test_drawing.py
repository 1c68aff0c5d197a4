"""Models edited by their drawings: what is added, connected, renamed and taken out; the rest of the text stays."""

from pathlib import Path
from typing import Any

import pytest
from predicting import KINDS, model_path

from workbench.api.model_diagrams import DiagramChange, DiagramEditor, DiagramNode
from workbench.formats.yaml_marks import read_marked
from workbench.model.diagnostic import WorkbenchError
from workbench.predict.formulas import Evaluation
from workbench.predict.kinds import parse_model
from workbench.predict.shown import results_of
from workbench.session.edit.diagram_edit import apply_change, changed
from workbench.session.edit.model_document import ModelDocument
from workbench.session.program.plugins import load_plugins

STAGES = """\
# Written by hand.
schema_version: 1
name: own
networks:
  - {name: ring, latency_s: 1 us, gap_per_byte_s: 1 ns/B} # fast
stages:
  - name: load # the first
    nodes:
      - {name: unpack, elements: 1000, clock_hz: 100 MHz, ops_per_cycle: 1}
    transactions:
      - {name: out, kind: scatter, network: ring, nodes: 4, bytes: 4096}
  - name: work
    after: [load]
    nodes: [{name: FPGA, elements: 1000, clock_hz: 100 MHz, ops_per_cycle: 1}]
measured:
  - {stage: load, total_s: 1}
"""
QUEUES = """\
schema_version: 1
name: flow
stations:
  - {name: in, arrivals_per_s: 1, service_per_s: 3, to: [{station: out}]} # the bus
  - {name: out, service_per_s: 4}
measured:
  - {station: out, utilisation: 0.2}
"""


class Drawn:
    """A model's text, its drawings, and what edits them."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind, self.text = KINDS[kind], text
        assert self.kind.drawing
        self.editor: DiagramEditor = self.kind.drawing()

    @property
    def data(self) -> Any:
        marked, _ = read_marked(self.text, None)
        assert marked
        return marked.data

    def nodes(self, page: str) -> dict[str, DiagramNode]:
        """By their ids; the model has no errors then."""
        file, problems = parse_model(self.kind, self.text, None, {})
        assert file, problems
        return {node.id: node for node in results_of(Evaluation(file)).diagrams[page].nodes}

    def make(self, change: DiagramChange) -> "Drawn":
        self.text = changed(self.text, change)
        return self

    def connect(self, page: str, source: str, target: str, title: str) -> "Drawn":
        nodes = self.nodes(page)
        offered = {c.title: c for c in self.editor.connections(self.data, page, nodes[source], nodes[target])}
        return self.make(offered[title])

    def add(self, page: str, title: str, at: tuple[str | int, ...] = ()) -> "Drawn":
        return self.make({c.title: c for c in self.editor.additions(self.data, page, at)}[title])


def test_stages_nodes_and_transactions_are_added_and_connected() -> None:
    drawn = Drawn("ratss", STAGES).add("Stages", "Stage").add("Stages", "FPGA node in load", ("stages", 0))
    assert [stage["name"] for stage in drawn.data["stages"]] == ["load", "work", "stage 1"]
    assert [node["name"] for node in drawn.data["stages"][0]["nodes"]] == ["unpack", "FPGA 1"]
    drawn.connect("Stages", "1.False.root", "2.False.root", "stage 1 after work")
    assert drawn.data["stages"][2]["after"] == ["work"]
    drawn.connect("Stages", "1.False.root", "1.0", "Input to the FPGA")
    drawn.connect("Stages", "1.0", "1.False.root", "Output of the FPGA")
    assert [move["name"] for move in drawn.data["stages"][1]["transactions"]] == ["write 1", "read 1"]
    drawn.connect("Stages", "0.False.root", "0.False.each", "Broadcast")
    assert drawn.data["stages"][0]["transactions"][1]["network"] == "ring"
    nodes = drawn.nodes("Stages")
    assert {node.field for node in nodes.values() if node.field[:1] == ("stages",)} >= {("stages", 2), ("stages", 0)}
    for line in ("# Written by hand.", "  - name: load # the first", "gap_per_byte_s: 1 ns/B} # fast"):
        assert line in drawn.text


def test_networks_are_added_and_used() -> None:
    drawn = Drawn("ratss", STAGES).add("Platform", "Network")
    drawn.connect("Platform", "cpu", "network 1", "All-to-all in work")
    drawn.connect("Platform", "network 1", "cpu", "Reduce in load")
    drawn.connect("Platform", "cpu", "fpga", "Input to the FPGA in work")
    drawn.nodes("Platform")
    moves = drawn.data["stages"][1]["transactions"]
    assert [(move["kind"], move.get("network")) for move in moves] == [("all-to-all", "network 1"), ("io", None)]
    drawn.make(drawn.editor.renamed(drawn.data, ("networks", 1), "mesh"))
    assert drawn.data["stages"][1]["transactions"][0]["network"] == "mesh"
    drawn.make(drawn.editor.removal(drawn.data, ("networks", 1)))
    assert [m["name"] for m in drawn.data["stages"][0]["transactions"]] == ["out"]
    assert "mesh" not in drawn.text
    drawn.nodes("Platform")


def test_what_names_a_stage_follows_it() -> None:
    drawn = Drawn("ratss", STAGES)
    drawn.make(drawn.editor.renamed(drawn.data, ("stages", 0), "fetch"))
    assert drawn.data["stages"][1]["after"] == ["fetch"]
    assert drawn.data["measured"][0]["stage"] == "fetch"
    drawn.nodes("Stages")
    drawn.make(drawn.editor.removal(drawn.data, ("stages", 0)))
    assert [stage["name"] for stage in drawn.data["stages"]] == ["work"]
    assert "fetch" not in drawn.text
    drawn.nodes("Stages")


def test_an_order_of_stages_is_drawn_and_taken_out() -> None:
    drawn = Drawn("ratss", STAGES)
    file, _ = parse_model(drawn.kind, drawn.text, None, {})
    assert file
    (link,) = (one for one in results_of(Evaluation(file)).diagrams["Stages"].links if one.name == "then")
    assert (link.source, link.target) == ("0.False.root", "1.False.root")
    drawn.make(drawn.editor.removal(drawn.data, link.field))
    assert "after" not in drawn.data["stages"][1]


def test_stations_and_routes() -> None:
    page = "Queueing network"
    drawn = Drawn("queueing", QUEUES)
    page = next(iter(results_of(Evaluation(parse_model(drawn.kind, QUEUES, None, {})[0])).diagrams))  # type: ignore[arg-type]
    drawn.add(page, "Station").connect(page, "out", "station 1", "Jobs go on to station 1")
    drawn.add(page, "Arrivals at station 1", ("stations", 2))
    assert drawn.data["stations"][1]["to"] == [{"station": "station 1", "jobs": 1}]
    nodes = drawn.nodes(page)
    assert not drawn.editor.connections(drawn.data, page, nodes["out"], nodes["station 1"])  # it is there already
    drawn.make(drawn.editor.renamed(drawn.data, ("stations", 1), "last"))
    assert drawn.data["stations"][0]["to"] == [{"station": "last"}]
    assert drawn.data["measured"][0]["station"] == "last"
    outside = drawn.nodes(page)["to 0"]
    assert outside.part == ("stations", 0, "arrivals_per_s")
    drawn.make(drawn.editor.removal(drawn.data, ("stations", 1)))
    assert [one["name"] for one in drawn.data["stations"]] == ["in", "station 1"]
    assert "last" not in drawn.text
    assert "# the bus" in drawn.text
    drawn.nodes(page)


def test_a_copy_of_a_bundled_kernel_s_model_has_the_kernel_beside_it(tmp_path: Path) -> None:
    document = ModelDocument(load_plugins(), print)
    bundled = model_path("kmeans", "opencl")
    document.open(bundled)
    document.save_as(tmp_path / "kmeans.opencl.yaml")
    assert (tmp_path / "kmeans.cl").read_bytes() == (bundled.parent / "../kernels/kmeans.cl").read_bytes()
    assert document.value(("kernel_file",)) == "kmeans.cl"
    assert (document.dirty, document.errors) == (False, ())
    (tmp_path / "kmeans.cl").write_text("// another's")
    document.open(bundled)
    document.save_as(tmp_path / "other.opencl.yaml")
    assert (tmp_path / "kmeans.cl").read_text() == "// another's", "what is there stays"
    assert Path(document.value(("kernel_file",))).is_absolute()


def test_a_change_is_one_step_and_leaves_no_errors(tmp_path: Path) -> None:
    said: list[object] = []
    document = ModelDocument(load_plugins(), lambda *problems: said.extend(problems))
    path = tmp_path / "own.ratss.yaml"
    path.write_text(STAGES)
    document.open(path)
    drawn = Drawn("ratss", STAGES)
    apply_change(document, drawn.editor.removal(drawn.data, ("stages", 0)))
    assert document.text != STAGES
    document.history.undo()
    assert document.text == STAGES
    document.history.redo()
    one = Drawn("ratss", document.text)
    before = document.text
    with pytest.raises(WorkbenchError, match="no stages"):
        apply_change(document, one.editor.removal(one.data, ("stages", 0)))
    assert (document.text, said) == (before, [])
