"""An input that the design reads and nothing drives is told before anything is built, for plain runs too."""

import json
import shutil
from pathlib import Path

import pytest
from answers import document_of

from workbench.cli.main import main

TINY = Path(__file__).parent / "data" / "tiny"


def tiny(folder: Path, extra_ports: str, uses: str = "") -> Path:
    """The small example with more ports at its top, and a use of them."""
    shutil.copytree(TINY, folder)
    top = folder / "hdl" / "tiny_top.v"
    text = top.read_text().replace(
        "    output reg [31:0] rd_data", f"    {extra_ports},\n    output reg [31:0] rd_data", 1
    )
    head, end, tail = text.rpartition("endmodule")
    top.write_text(f"{head}{uses}\n{end}{tail}")
    return next(folder.glob("*.workbench.yaml"))


@pytest.mark.parametrize("how", [[], ["--plain"]])
def test_a_run_is_refused_with_the_place_and_nothing_is_built(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], how: list[str]
) -> None:
    project = tiny(tmp_path / "p", "input wire [3:0] mode", "wire [3:0] seen = mode;")
    assert main(["run", str(project), "--out", str(tmp_path / "run"), *how, "--json"]) in (1, 2)
    said = capsys.readouterr().err
    assert "tiny_top.v:" in said
    assert "nothing drives the input 'mode'" in said
    assert not (tmp_path / "run" / "build" / "card").exists()
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["status"] == "failed"


def test_an_interface_is_told_as_one_and_what_the_design_leaves_alone_is_not_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ports = "input wire s_tvalid, input wire [7:0] s_tdata, output wire s_tready, input wire spare"
    project = tiny(tmp_path / "p", ports, "assign s_tready = s_tvalid & s_tdata[0];")
    source = tmp_path / "p" / "hdl" / "tiny_top.v"
    source.write_text(source.read_text().replace("output reg [31:0] rd_data", "output reg [63:0] rd_data", 1))
    document = document_of(capsys, ["scan", str(project), "--json"], 1)
    (width, problem) = [d for d in document["diagnostics"] if d["severity"] == "error"]
    assert problem["message"] == "nothing drives the AXI4-Stream in s: s_tvalid, s_tdata"
    assert "{name: s, kind: stream_in, prefix: s_, word_bits: 8}" in problem["hint"]
    assert width["message"].startswith("'rd_data' has 64 bits, but ")
    assert width["message"].endswith(" of the platform's port host has 32")
    assert width["hint"].startswith("Say `word_bits: 64` in the template")
    assert source.read_text().splitlines()[width["line"] - 1].strip().startswith("output reg [63:0] rd_data")
    assert problem["file"].endswith("tiny_top.v")
    assert problem["line"]


def test_a_design_whose_inputs_are_all_driven_or_not_read_is_not_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tiny(tmp_path / "p", "input wire spare, output wire [3:0] seen", "assign seen = 4'd3;")
    assert not document_of(capsys, ["scan", str(project), "--json"])["diagnostics"]


MODE = 'reg [31:0] kept; always @(posedge clk) if (rd_en) $display("mode %0d", mode);'


def test_a_constant_drives_an_input_through_the_whole_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = tiny(tmp_path / "p", "input wire [39:0] mode", MODE)
    with_constants(project, "mode: 0x1234567890")
    assert main(["run", str(project), "--out", str(tmp_path / "run"), "--deterministic"]) == 0
    said = {line for line in capsys.readouterr().err.splitlines() if "card: mode" in line}
    assert said == {f"card: mode {0x1234567890}"}


def with_constants(project: Path, entries: str) -> None:
    project.write_text(project.read_text().replace("hardware:", f"hardware:\n  constants: {{{entries}}}", 1))


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("mode: 16", "16 does not fit into the 4 bits of 'mode'. The largest value there is 15."),
        ("mdoe: 1", "the top module has no input 'mdoe'. Did you mean 'mode'?"),
        ("rd_en: 1", "the platform drives 'rd_en'"),
        ("mode: -1", "-1 should be at least 0"),
    ],
)
def test_a_constant_that_cannot_be_is_told_at_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], entry: str, said: str
) -> None:
    project = tiny(tmp_path / "p", "input wire [3:0] mode", "wire [3:0] seen = mode;")
    with_constants(project, entry)
    line = next(n for n, text in enumerate(project.read_text().splitlines(), 1) if "constants" in text)
    assert main(["scan", str(project)]) in (1, 2)
    err = capsys.readouterr().err
    assert f"{project.name}:{line}" in err
    assert said in err
