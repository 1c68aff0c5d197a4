"""A project begun from sources: three small applications, each as it may lie in a folder of its author's."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from workbench.cli.main import main
from workbench.formats.project_file import load_project
from workbench.run.job import Job
from workbench.session.new_project import Choice, Proposal, propose
from workbench.session.pipeline import RunOptions, run_workspace
from workbench.session.plugins import load_plugins
from workbench.session.workspace import open_workspace

#: A filter in SystemVerilog: a package that another uses, a macro file that sorts last, a test bench, and the top,
#: which sorts first. The port is named as the platform names it, with 16 address bits.
FILTER = {
    "hdl/a_filter.sv": """
        module a_filter import sample_pkg::*; #(parameter int TAPS = 4) (
            input logic clk, input logic rst, input logic [15:0] addr,
            input logic wr_en, input sample_t wr_data, input logic rd_en, output sample_t rd_data);
            sample_t sum;
            mac #(.TAPS(TAPS)) u_mac (.clk, .rst, .take(wr_en && addr == 16'h0010), .sample(wr_data), .sum);
            always_ff @(posedge clk)
                if (rd_en) rd_data <= (addr == `STATUS_ADDRESS) ? sample_t'(1) : sum;
        endmodule""",
    "hdl/mac.sv": """
        module mac #(parameter int TAPS = 4) (
            input logic clk, rst, take, input logic [31:0] sample, output logic [31:0] sum);
            import weight_pkg::*;
            logic unused;  // a signal that is called as a module is
            always_ff @(posedge clk)
                if (rst) sum <= 0;
                else if (take) sum <= sum + weighted(sample);
        endmodule""",
    "hdl/sample_pkg.sv": "package sample_pkg; typedef logic [31:0] sample_t; endpackage\n",
    "hdl/weight_pkg.sv": """
        package weight_pkg;
            import sample_pkg::*;
            function automatic sample_t weighted(sample_t s); return s << 1; endfunction
        endpackage""",
    "hdl/z_defines.v": "`define STATUS_ADDRESS 16'h0020\n",
    "hdl/unused.sv": "module unused(input a); missing_module m(); endmodule\n",
    "sim/filter_tb.sv": "module filter_tb; logic clk = 0; a_filter dut(.clk(clk)); initial #10 $finish; endmodule\n",
    "host/main.c": """
        #include <stdio.h>
        #include "fpga.h"
        #include "samples.h"
        int main(void) {
            fpga_t *fpga = fpgaOpen(0);
            for (int i = 0; i < COUNT; i++) fpgaWriteReg(fpga, 0x10, sample_at(i));
            printf("%u\\n", fpgaReadReg(fpga, 0x11));
            fpgaClose(fpga);
            return 0;
        }""",
    "host/samples.c": '#include "samples.h"\nunsigned sample_at(int i)\n{\n    return (unsigned)i + 1;\n}\n',
    "include/samples.h": "unsigned sample_at(int i);\n",
    "host/make_table.c": "#include <stdio.h>\nint main(void) { puts(\"table\"); return 0; }\n",
    "host/old.c": "int nobody_calls_this(void)\n{\n    return 1;\n}\n",
}  # fmt: skip

#: A copy engine whose author had another card in mind: ports by other names, an active-low reset, an included header.
COPY = {
    "copy_engine.v": """
        `include "widths.vh"
        module copy_engine #(parameter DEPTH = 64, parameter NAME = "copy") (
            input clock, input resetn, input [9:0] avs_address, input avs_write, input [`W-1:0] avs_writedata,
            input avs_read, output reg [`W-1:0] avs_readdata, output reg avs_irq);
            reg [`W-1:0] store [0:DEPTH-1];
            always @(posedge clock)
                if (!resetn) avs_irq <= 0;
                else if (avs_write && avs_address < 10'd64) store[avs_address[5:0]] <= avs_writedata;
                else if (avs_read) avs_readdata <= store[avs_address[5:0]];
        endmodule""",
    "rtl_inc/widths.vh": "`define W 32\n",
    "copy.c": """
        #include "fpga.h"
        int main(void) {
            fpga_t *card = fpgaOpen(0);
            fpgaWriteReg(card, 3, 7);
            int wrong = fpgaReadReg(card, 3) != 7;
            fpgaClose(card);
            return wrong;
        }""",
}


def lay_out(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def found(proposal: Proposal, what: str) -> str:
    return next(one.value for one in proposal.found if one.what == what)


def test_packages_come_first_and_only_what_the_top_reaches_is_listed(tmp_path: Path) -> None:
    proposal = propose(lay_out(tmp_path / "filter", FILTER), load_plugins())
    assert found(proposal, "top") == "a_filter"
    sources = found(proposal, "hardware sources").split(", ")
    assert set(sources) == {f"hdl/{name}" for name in
                            ("z_defines.v", "sample_pkg.sv", "weight_pkg.sv", "mac.sv", "a_filter.sv")}  # fmt: skip
    assert sources[-1] == "hdl/a_filter.sv"
    assert sources.index("hdl/sample_pkg.sv") < sources.index("hdl/weight_pkg.sv") < sources.index("hdl/mac.sv")
    left = dict(proposal.left_out)
    assert left["hdl/unused.sv"] == "a_filter does not reach it; unused does"
    assert "a_filter does not reach it" in left["sim/filter_tb.sv"]
    assert left["host/make_table.c"] == "another program: main stands here too"
    assert left["host/old.c"] == "nothing of it is used"


def test_host_port_settings_and_addresses_are_found_with_their_reasons(tmp_path: Path) -> None:
    proposal = propose(lay_out(tmp_path / "filter", FILTER), load_plugins())
    assert found(proposal, "host sources") == "host/main.c, host/samples.c"
    assert found(proposal, "platform") == "nallatech_h101"
    assert (found(proposal, "clock"), found(proposal, "reset")) == ("clk", "rst")
    assert found(proposal, "parameters") == "TAPS = 4"
    assert found(proposal, "unused addresses") == "0xfff0 to 0xffff"  # of a port with 16 address bits
    assert {one.value for one in proposal.found if one.what == "setting"} == {"TAPS = 4", "COUNT = 1"}
    assert [d.message for d in proposal.diagnostics] == ["the value of COUNT is not known"]
    assert all(one.reason for one in proposal.found)
    (text,) = proposal.files.values()
    assert "include_dirs: [include]" in text
    for one in proposal.found:
        if one.what in ("platform", "host sources", "top"):
            assert one.reason[1:20] in text


def test_what_new_writes_opens_and_runs_and_says_where_to_begin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = lay_out(tmp_path / "filter", FILTER)
    assert main(["new", str(folder), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["written"] == [document["project"]] == [str(folder / "filter.workbench.yaml")]
    assert {"what", "value", "reason", "others"} == set(document["found"][0])
    workspace = open_workspace(folder, load_plugins())
    assert not workspace.diagnostics
    run = run_workspace(workspace, RunOptions(out=tmp_path / "run", deterministic=True, settings={"COUNT": 3}), Job())
    assert run.complete
    assert (tmp_path / "run" / "stdout.txt").read_text() == "12\n"  # twice 1 + 2 + 3
    (unmarked,) = [d for d in run.manifest.diagnostics if "no branch of the hardware carries a pragma" in d.message]
    assert "Begin with the block mac." in unmarked.hint
    assert unmarked.file == "hdl/mac.sv"
    copied = {path.name for path in (tmp_path / "run" / "build" / "hdl").rglob("*.sv")}
    assert copied == {"sample_pkg.sv", "weight_pkg.sv", "mac.sv", "a_filter.sv"}
    assert main(["new", str(folder)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_a_pattern_is_read_in_an_order_that_works(tmp_path: Path) -> None:
    """`hdl/*` gives the alphabet's order, in which the top stands before its packages and macros."""
    folder = lay_out(tmp_path / "filter", FILTER)
    main(["new", str(folder), "--name", "filter"])
    path = folder / "filter.workbench.yaml"
    path.write_text(re.sub(r"  sources:\n(    - .*\n)+", "  sources: ['hdl/*v']\n", path.read_text()))
    workspace = open_workspace(path, load_plugins())
    assert workspace.project.hardware.sources[0] == "hdl/a_filter.sv"
    scan = workspace.scan()
    assert not scan.hdl.diagnostics
    assert ("a_filter.u_mac", "mac") in scan.hdl.instances
    assert run_workspace(workspace, RunOptions(out=tmp_path / "run", plain=True, deterministic=True), Job()).complete


def test_a_port_by_other_names_gets_a_template_of_its_own(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "copy", COPY)
    assert main(["new", str(folder)]) == 0
    project, problems = load_project(folder / "copy.workbench.yaml")
    assert project is not None
    assert not problems
    assert project.platform == "copy.platform.yaml"
    assert project.hardware.include_dirs == ("rtl_inc",)
    assert dict(project.hardware.parameters) == {"DEPTH": 64, "NAME": "copy"}
    assert (project.hardware.read_out.first, project.hardware.read_out.last) == (0x3F0, 0x3FF)
    workspace = open_workspace(folder, load_plugins())
    port = workspace.platform.hardware
    assert port is not None
    assert (port.clock, port.reset, port.reset_hdl, port.interrupt) == ("clock", "resetn", "!resetn", "avs_irq")
    assert (port.incoming.address_signal, port.incoming.data_signal) == ("avs_address", "avs_writedata")
    assert (port.write_enable, port.outgoing.data_signal) == ("avs_write", "avs_readdata")
    run = run_workspace(workspace, RunOptions(out=tmp_path / "run", deterministic=True), Job())
    assert (run.complete, run.manifest.exit) == (True, 0)


def test_a_person_may_choose_instead(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "filter", FILTER)
    proposal = propose(folder, load_plugins(), Choice(name="other", host="host/make_table.c", top="a_filter"))
    assert proposal.path.name == "other.workbench.yaml"
    assert found(proposal, "host sources") == "host/make_table.c"
    assert any("calls nothing of the platform" in d.message for d in proposal.diagnostics)


@pytest.mark.parametrize(
    ("change", "arguments", "said"),
    [
        ({"host/main.c": "", "host/make_table.c": ""}, [], "no C program was found here"),
        ({}, ["--top", "a_fliter"], "there is no top module 'a_fliter' Did you mean 'a_filter'?"),
        ({}, ["--platform", "nalatech_h101"], "Did you mean 'nallatech_h101'?"),
        ({}, ["--host", "man.c"], "there is no program 'man.c'"),
        ({"hdl/mac.sv": "module mac(; endmodule"}, [], "mac.sv:1:"),
    ],
)
def test_what_cannot_be_found_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, str], arguments: list[str], said: str
) -> None:
    folder = lay_out(tmp_path / "filter", FILTER | change)
    assert main(["new", str(folder), "--dry-run", *arguments]) in (1, 2)
    assert said in capsys.readouterr().err
    assert not list(folder.glob("*.yaml"))


def test_a_port_that_cannot_be_told_is_named_with_what_could_be_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ports = {"copy_engine.v": COPY["copy_engine.v"].replace("avs_write,", "go,").replace("avs_write ", "go ")}
    assert main(["new", str(lay_out(tmp_path / "copy", COPY | ports)), "--dry-run"]) == 1
    assert "no write enable that could be told by its name" in (text := capsys.readouterr().err)
    assert "go" in text


@pytest.mark.parametrize(
    ("template", "yes"),
    [("nallatech_h101", {"describe", "predict", "simulate"}), ("src6_map", {"predict"}), ("xd1000", set())],
)
def test_template_check_says_what_a_template_can_serve(
    template: str, yes: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["template", "check", f"platform_templates/{template}.yaml", "--json"]) == 0
    serves = json.loads(capsys.readouterr().out)["serves"]
    assert list(serves) == ["describe", "predict", "simulate", "measure on a board"]
    assert {name for name, one in serves.items() if one["can"]} == yes
    assert all(one["why"] for one in serves.values())


def test_an_unknown_platform_is_answered_with_the_path_of_a_template_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = lay_out(tmp_path / "copy", COPY)
    main(["new", str(folder)])
    project = folder / "copy.workbench.yaml"
    project.write_text(re.sub("platform: .*", "platform: my_card", project.read_text()))
    line = project.read_text().splitlines().index("platform: my_card") + 1
    capsys.readouterr()
    assert main(["scan", str(project)]) == 2
    said = capsys.readouterr().err
    assert f"copy.workbench.yaml:{line}:" in said
    assert "The path of a template works too" in said
