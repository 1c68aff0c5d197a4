"""A project begun from sources: two small applications, each as it may lie in a folder of its author's."""

import json
import re
import shutil
from pathlib import Path

import pytest
from answers import document_of
from rc_workbench_plugins.ports.memory import MemoryPort

from workbench.api.job import Job
from workbench.cli.main import main
from workbench.formats.project_file import load_project
from workbench.model.diagnostic import Severity
from workbench.session.begin.new_choice import Choice
from workbench.session.begin.new_project import Proposal, propose
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

#: `filter` is in SystemVerilog: a package that another uses, a macro file that sorts last, a test bench, a module that
#: nothing reaches, and the top, which sorts first. Its port is named as the platform names it, with 16 address bits.
#: `copy` had another card in mind: ports by other names, an active-low reset, an included header.
APPLICATIONS = Path(__file__).parent / "data" / "from_sources"


CPP_HOST = {
    "main.cpp": """#include <cstdio>
#include "filter.hpp"
int main()
{
    dsp::Filter filter(0);
    for (unsigned i = 0; i < COUNT; i++) filter.put(i + 1);
    std::printf("%u\\n", filter.sum());
}
""",
    "filter.hpp": """#pragma once
#include "fpga.h"
namespace dsp {
class Filter {
public:
    explicit Filter(int card);
    ~Filter() { fpgaClose(fpga_); }
    void put(uint32_t value);
    uint32_t sum() const { return fpgaReadReg(fpga_, 0x11); }
private:
    fpga_t *fpga_;
};
}
""",
    "filter.cc": """#include "filter.hpp"
namespace dsp {
Filter::Filter(int card) : fpga_(fpgaOpen(card)) {}
void Filter::put(uint32_t value) { fpgaWriteReg(fpga_, 0x10, value); }
}
""",
    "old.cxx": "namespace old { int nobody_calls_this() { return 1; } }\n",
    "table.cpp": '#include <cstdio>\nint main() { std::puts("table"); }\n',
}


def lay_out(folder: Path, changes: dict[str, str] | None = None) -> Path:
    """A copy of the application that the folder is named after, with some of its files written anew."""
    shutil.copytree(APPLICATIONS / folder.name, folder)
    for name, text in (changes or {}).items():
        (folder / name).write_text(text)
    return folder


def found(proposal: Proposal, what: str) -> str:
    return next(one.value for one in proposal.decisions if one.what == what)


def test_packages_come_first_and_only_what_the_top_reaches_is_listed(tmp_path: Path) -> None:
    proposal = propose(lay_out(tmp_path / "filter"), load_plugins())
    assert found(proposal, "top") == "a_filter"
    sources = found(proposal, "hardware sources").split(", ")
    assert set(sources) == {f"hdl/{name}" for name in
                            ("z_defines.v", "sample_pkg.sv", "weight_pkg.sv", "mac.sv", "a_filter.sv")}  # fmt: skip
    assert sources[-1] == "hdl/a_filter.sv"
    assert sources.index("hdl/sample_pkg.sv") < sources.index("hdl/weight_pkg.sv") < sources.index("hdl/mac.sv")
    left = dict(proposal.left_out)
    assert left["hdl/unused.sv"] == "not reached from a_filter, but from unused"
    assert left["sim/filter_tb.sv"].startswith("not reached from a_filter")
    assert left["host/make_table.c"] == "another program: it has a main() too"
    assert left["host/old.c"] == "not used"


def test_host_port_settings_and_addresses_are_found_with_their_reasons(tmp_path: Path) -> None:
    proposal = propose(lay_out(tmp_path / "filter"), load_plugins())
    assert found(proposal, "host sources") == "host/main.c, host/samples.c"
    assert found(proposal, "platform") == "nallatech_h101"
    assert (found(proposal, "clock"), found(proposal, "reset")) == ("clk", "rst")
    assert found(proposal, "parameters") == "TAPS = 4"
    assert found(proposal, "unused addresses") == "0xfff0 to 0xffff"  # of a port with 16 address bits
    assert {one.value for one in proposal.decisions if one.what == "setting"} == {"TAPS = 4", "COUNT = 1"}
    assert [d.message for d in proposal.diagnostics] == ["the value of COUNT is not known"]
    assert all(one.reason for one in proposal.decisions)
    (text,) = proposal.files.values()
    assert "include_dirs: [include]" in text
    for one in proposal.decisions:
        if one.what in ("platform", "host sources", "top"):
            assert one.reason[1:20] in text


def test_each_value_that_is_not_known_says_where_it_is_used_and_comes_from_build_files(tmp_path: Path) -> None:
    main_c = (APPLICATIONS / "filter" / "host" / "main.c").read_text()
    line = next(number for number, text in enumerate(main_c.splitlines(), 1) if "COUNT" in text)

    def reason(files: dict[str, str]) -> tuple[str, str, bool]:
        folder = tmp_path / str(len(list(tmp_path.iterdir()))) / "filter"
        folder.parent.mkdir()
        proposal = propose(lay_out(folder, {"hdl/a_filter.sv": hardware, **files}), load_plugins())
        assert any("not known" in one.message for one in proposal.diagnostics) == any(
            one.unknown for one in proposal.decisions
        )
        (macro,) = [one for one in proposal.decisions if one.what == "macro"]
        assert macro.reason.startswith(f"used in hdl/a_filter.sv:{wide_line}; no file here gives its value")
        (one,) = [one for one in proposal.decisions if one.value.startswith("COUNT")]
        return one.value, one.reason, one.unknown

    hardware = (APPLICATIONS / "filter" / "hdl" / "a_filter.sv").read_text()
    hardware = hardware.replace("endmodule", "wire [`WIDE:0] unused_wide = 0;\nendmodule")
    wide_line = next(number for number, text in enumerate(hardware.splitlines(), 1) if "`WIDE" in text)
    value, why, unknown = reason({})
    assert (value, unknown) == ("COUNT = 1", True)
    assert why.startswith(f"used in host/main.c:{line}; no file here gives its value: look for -DCOUNT=")
    assert reason({"Makefile": "all:\n\tgcc -DCOUNT=0x10 host/main.c\n"}) == (
        "COUNT = 16", "defined in Makefile:2", False
    )  # fmt: skip
    value, why, unknown = reason({"Makefile": "A = -DCOUNT=4\n", "run.sh": "gcc -D COUNT=8u -DCOUNT_2=9\n"})
    assert (value, unknown) == ("COUNT = 1", True)
    assert why.endswith("build files give different values: 4 (Makefile:1), 8 (run.sh:1)")


def test_values_that_are_not_known_are_one_warning(tmp_path: Path) -> None:
    main_c = (APPLICATIONS / "filter" / "host" / "main.c").read_text()
    both = main_c.replace("COUNT", "(COUNT + EXTRA)", 1)
    proposal = propose(lay_out(tmp_path / "filter", {"host/main.c": both}), load_plugins())
    assert [d.message for d in proposal.diagnostics] == ["the values of COUNT and EXTRA are not known"]
    assert {"COUNT = 1", "EXTRA = 1"} <= {one.value for one in proposal.decisions}


def test_what_new_writes_opens_and_runs_and_says_where_to_begin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = lay_out(tmp_path / "filter")
    document = document_of(capsys, ["new", str(folder), "--json"])
    assert document["written"] == [document["project"]] == [str(folder / "filter.workbench.yaml")]
    assert {"what", "value", "reason", "others", "unknown"} == set(document["found"][0])
    workspace = open_workspace(folder, load_plugins())
    assert not workspace.diagnostics
    run = run_workspace(workspace, RunOptions(out=tmp_path / "run", deterministic=True, settings={"COUNT": 3}), Job())
    assert run.complete
    assert (tmp_path / "run" / "stdout.txt").read_text() == "12\n"  # twice 1 + 2 + 3
    (unmarked,) = [d for d in run.manifest.diagnostics if "no branch of the hardware has a pragma" in d.message]
    assert "Begin with the block mac." in unmarked.hint
    assert unmarked.file == "hdl/mac.sv"
    copied = {path.name for path in (tmp_path / "run" / "build" / "hdl").rglob("*.sv")}
    assert copied == {"sample_pkg.sv", "weight_pkg.sv", "mac.sv", "a_filter.sv"}
    assert main(["new", str(folder)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_a_host_in_cpp_is_found_with_the_classes_that_it_uses_and_runs(tmp_path: Path) -> None:
    """`main` calls the API through a class of another source, and a header's inline class."""
    folder = lay_out(tmp_path / "filter")
    shutil.rmtree(folder / "host")
    (folder / "host").mkdir()
    for name, text in CPP_HOST.items():
        (folder / "host" / name).write_text(text)
    proposal = propose(folder, load_plugins())
    assert found(proposal, "host sources") == "host/main.cpp, host/filter.cc"
    assert found(proposal, "platform") == "nallatech_h101"
    (platform,) = [one for one in proposal.decisions if one.what == "platform"]
    assert platform.reason.startswith("the host calls fpgaOpen, fpgaWriteReg, fpgaReadReg")
    left = dict(proposal.left_out)
    assert (left["host/old.cxx"], left["host/table.cpp"]) == ("not used", "another program: it has a main() too")
    assert main(["new", str(folder)]) == 0
    run = run_workspace(
        open_workspace(folder, load_plugins()),
        RunOptions(out=tmp_path / "run", deterministic=True, settings={"COUNT": 3}),
        Job(),
    )
    assert run.complete
    assert (tmp_path / "run" / "stdout.txt").read_text() == "12\n"  # twice 1 + 2 + 3


def test_names_that_a_port_has_by_chance_do_not_make_a_top(tmp_path: Path) -> None:
    """Of two that have none of a platform's ports, the one that reaches more is the top."""
    seen = "module a (input clk, rst, wr_en, output reg q); always @(posedge clk) q <= wr_en; endmodule"
    (tmp_path / "a.v").write_text(seen)
    (tmp_path / "b.v").write_text("module b (input ck, output q); c inner (ck, q); endmodule")
    (tmp_path / "c.v").write_text("module c (input ck, output reg q); always @(posedge ck) q <= ~q; endmodule")
    assert found(propose(tmp_path, load_plugins()), "top") == "b"


def test_a_pattern_is_read_in_an_order_that_works(tmp_path: Path) -> None:
    """`hdl/*` gives the alphabet's order, in which the top stands before its packages and macros."""
    folder = lay_out(tmp_path / "filter")
    main(["new", str(folder), "--name", "filter"])
    path = folder / "filter.workbench.yaml"
    path.write_text(re.sub(r"  sources:\n(    - .*\n)+", "  sources: ['hdl/*v']\n", path.read_text()))
    workspace = open_workspace(path, load_plugins())
    assert workspace.project.hardware.sources[0] == "hdl/a_filter.sv"
    scan = workspace.scan()
    assert not scan.hdl.diagnostics
    assert ("a_filter.u_mac", "mac") in scan.hdl.instances
    assert run_workspace(workspace, RunOptions(out=tmp_path / "run", plain=True, deterministic=True), Job()).complete


def test_a_port_by_other_names_is_kept_in_the_project(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "copy")
    assert main(["new", str(folder)]) == 0
    project, problems = load_project(folder / "copy.workbench.yaml")
    assert project is not None
    assert not problems
    assert project.platform == "nallatech_h101"
    assert project.hardware.signals == {
        "clk": "clock", "rst": "!resetn", "wr_en": "avs_write", "rd_en": "avs_read", "addr": "avs_address",
        "wr_data": "avs_writedata", "rd_data": "avs_readdata", "irq": "avs_irq",
    }  # fmt: skip
    assert project.hardware.include_dirs == ("rtl_inc",)
    assert dict(project.hardware.parameters) == {"DEPTH": 64, "NAME": "copy"}
    assert (project.hardware.read_out.first, project.hardware.read_out.last) == (0x3F0, 0x3FF)
    workspace = open_workspace(folder, load_plugins())
    hardware = workspace.platform.hardware
    assert hardware is not None
    (clock,), (port,) = hardware.clocks, hardware.ports
    assert isinstance(port, MemoryPort)
    assert (clock.pin, clock.reset, clock.reset_hdl) == ("clock", "resetn", "!resetn")
    assert hardware.interrupt == "avs_irq"
    assert (port.incoming.address_signal, port.incoming.data_signal) == ("avs_address", "avs_writedata")
    assert (port.write_enable, port.outgoing.data_signal) == ("avs_write", "avs_readdata")
    run = run_workspace(workspace, RunOptions(out=tmp_path / "run", deterministic=True), Job())
    assert (run.complete, run.manifest.exit) == (True, 0)


def test_interfaces_by_other_names_are_found_and_kept_by_their_prefix_or_one_by_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A filter for a card with two streams and AXI4-Lite, with other prefixes, a suffix, and a reset that is high."""
    folder = tmp_path / "fir"
    shutil.copytree(Path(__file__).parent / "data" / "applications" / "fir", folder)
    (folder / "fir.workbench.yaml").unlink()
    text = (folder / "fir_axis.v").read_text()
    for before, after in (("s_axil_", "cfg_"), (r"s_axis_(t\w+)", r"x_\1_i"), (r"!?\baresetn\b", "rst")):
        text = re.sub(before, after, text)
    (folder / "fir_axis.v").write_text(text)
    mine = (folder / "card.yaml").rename(tmp_path / "card.yaml")
    assert main(["new", str(folder), "--dry-run"]) == 1  # another board's port says nothing of theirs
    unknown = capsys.readouterr().err
    assert "of axi_dma.h, which no platform template describes" in unknown
    assert "has no interface for" not in unknown
    assert main(["new", str(folder), "--dry-run", "--platform", "nallatech_h101"]) == 1
    said = capsys.readouterr()
    assert "has no interface for the port 'host' of kind memory" in said.err
    assert "It has cfg (AXI4-Lite slave), m_axis (AXI4-Stream out), x (AXI4-Stream in)" in said.err
    assert "{name: cfg, kind: axi_lite, prefix: cfg_, address_bits: 8}" in said.out
    shutil.copy(mine, folder / "card.yaml")
    (folder / "wrong.yaml").write_text(mine.read_text().replace("kind: acquire", "kind: aquire"))
    assert main(["new", str(folder), "--json"]) == 0  # a template beside the sources is offered as any other
    document = json.loads(capsys.readouterr().out)
    (platform,) = [one for one in document["found"] if one["what"] == "platform"]
    assert (platform["value"], "nallatech_h101" in platform["others"]) == ("card.yaml", True)
    assert (
        "'aquire' is not one of the choices"
        in {one["file"]: one["reason"] for one in document["left_out"]}["wrong.yaml"]
    )
    (port,) = [one["value"] for one in document["found"] if one["what"] == "port"]
    assert port == "in: x (AXI4-Stream in), out: m_axis (AXI4-Stream out), regs: cfg (AXI4-Lite slave)"
    workspace = open_workspace(folder, load_plugins())
    signals = workspace.project.hardware.signals
    assert (signals["s_axil_"], signals["s_axis_tvalid"], signals["aresetn"]) == ("cfg_", "x_tvalid_i", "rst")
    assert workspace.project.hardware.read_out.last == 0xFF
    hardware = workspace.platform.hardware
    assert hardware is not None
    assert (hardware.clocks[0].reset, hardware.clocks[0].reset_hdl) == ("rst", "")
    assert not [d for d in workspace.scan({"SAMPLES": 4}).diagnostics if d.severity is Severity.ERROR]


BUS = """
interface bus_if (input logic clk);
    logic [9:0] address; logic write, read; logic [`W-1:0] writedata, readdata;
    modport slave (input address, write, writedata, read, output readdata);
endinterface
"""


def test_a_top_with_an_interface_gets_a_module_with_plain_ports_and_runs(tmp_path: Path) -> None:
    text = (APPLICATIONS / "copy" / "copy_engine.v").read_text()
    head, _, body = text.partition(") (")
    for name in ("address", "writedata", "readdata", "write", "read"):
        body = re.sub(rf"avs_{name}\b", f"avs.{name}", body)
    ports, _, rest = body.partition(");")
    ports = "input clock, input resetn, bus_if.slave avs, output reg avs_irq"
    include, _, module = head.partition("\n")
    text = f"{include}{BUS}{module}) ({ports});{rest}"
    folder = lay_out(tmp_path / "copy", {"copy_engine.v": text})
    assert main(["new", str(folder)]) == 0
    workspace = open_workspace(folder, load_plugins())
    assert workspace.project.hardware.top == "copy_engine_flat"
    assert workspace.project.hardware.sources[-1] == "copy_engine_flat.sv"
    assert workspace.project.hardware.signals["wr_en"] == "avs_write"
    run = run_workspace(workspace, RunOptions(out=tmp_path / "run", deterministic=True), Job())
    assert (run.complete, run.manifest.exit) == (True, 0)
    assert "copy_engine_flat.flat.line_" in " ".join(block.id for block in run.manifest.blocks)


def with_inputs(folder: Path) -> Path:
    """`copy` with an input of its own, and a second reset that is low when it resets."""
    text = (APPLICATIONS / "copy" / "copy_engine.v").read_text()
    text = text.replace("!resetn", "rst").replace("input resetn", "input rst, input [3:0] mode, input phy_rst_n")
    uses = "reg [3:0] seen; always @(posedge clock or negedge phy_rst_n) if (!phy_rst_n) seen <= 0; else seen <= mode;"
    return lay_out(folder, {"copy_engine.v": text.replace("endmodule", f"{uses}\nendmodule")})


def test_an_input_that_nothing_drives_gets_a_constant_that_a_person_may_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = with_inputs(tmp_path / "copy")
    proposal = propose(folder, load_plugins())
    assert [one.value for one in proposal.decisions if one.what == "constant"] == ["mode = 0", "phy_rst_n = 1"]
    (mode,) = [one for one in proposal.decisions if one.value == "mode = 0"]
    assert mode.reason.startswith("an input in copy_engine.v:")
    (told,) = [d for d in proposal.diagnostics if "nothing drives" in d.message]
    assert (told.severity, "the input 'mode'" in told.message) == (Severity.WARNING, True)
    assert main(["new", str(folder), "--constant", "mode=16"]) == 2
    assert "16 does not fit into the 4 bits of 'mode'. The largest value there is 15." in capsys.readouterr().err
    assert main(["new", str(folder), "--constant", "mode=0xA"]) == 0
    assert "nothing drives" not in capsys.readouterr().err
    workspace = open_workspace(folder, load_plugins())
    assert workspace.project.hardware.constants == {"mode": 10, "phy_rst_n": 1}
    assert not workspace.scan().diagnostics


def test_a_signal_that_the_platform_does_not_have_is_told_at_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = lay_out(tmp_path / "copy")
    assert main(["new", str(folder)]) == 0
    path = folder / "copy.workbench.yaml"
    path.write_text(path.read_text().replace("wr_en: avs_write", "wr_on: avs_write"))
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "wr_on" in text)
    capsys.readouterr()
    assert main(["scan", str(path)]) == 2
    said = capsys.readouterr().err
    assert f"copy.workbench.yaml:{line}:" in said
    assert "has no signal 'wr_on'" in said
    assert "Did you mean 'wr_en'?" in said


def test_a_person_may_choose_instead(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "filter")
    proposal = propose(folder, load_plugins(), Choice(name="other", host="host/make_table.c", top="a_filter"))
    assert proposal.path.name == "other.workbench.yaml"
    assert found(proposal, "host sources") == "host/make_table.c"
    assert any("calls no function of the platform" in d.message for d in proposal.diagnostics)


@pytest.mark.parametrize(
    ("change", "arguments", "said"),
    [
        ({}, ["--top", "a_fliter"], "there is no top module 'a_fliter'. Did you mean 'a_filter'?"),
        ({}, ["--platform", "nalatech_h101"], "Did you mean 'nallatech_h101'?"),
        ({}, ["--host", "man.c"], "there is no program 'man.c'"),
        ({}, ["--name", "../up"], "'../up' cannot name a project"),
        ({"hdl/mac.sv": "module mac(; endmodule"}, [], "mac.sv:1:"),
    ],
)
def test_what_cannot_be_found_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, str], arguments: list[str], said: str
) -> None:
    folder = lay_out(tmp_path / "filter", change)
    assert main(["new", str(folder), "--dry-run", *arguments]) in (1, 2)
    assert said in capsys.readouterr().err
    assert not list(folder.glob("*.yaml"))


def test_a_port_that_cannot_be_told_is_named_with_what_could_be_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (APPLICATIONS / "copy" / "copy_engine.v").read_text()
    folder = lay_out(tmp_path / "copy", {"copy_engine.v": re.sub(r"avs_write\b", "go", text)})
    assert main(["new", str(folder), "--dry-run"]) == 1
    said = capsys.readouterr().err
    assert "no write enable that could be found by its name" in said
    assert "Its inputs of that width: go" in said


def test_all_that_a_top_lacks_is_one_problem_when_begun_and_when_scanned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = "module blinker(input wire clk, input wire rst, output reg led);\n"
    foreign += "    always @(posedge clk) if (rst) led <= 0; else led <= !led;\nendmodule\n"
    (tmp_path / "blinker.v").write_text(foreign)
    assert main(["new", str(tmp_path), "--json"]) == 1
    (told,) = [d for d in json.loads(capsys.readouterr().out)["diagnostics"] if d["severity"] == "error"]
    assert "has no write address or read address, write enable, read enable, write data, read data" in told["message"]
    assert "write a module around blinker" in told["hint"]
    assert main(["scan", str(tmp_path), "--json"]) == 1
    (told,) = [d for d in json.loads(capsys.readouterr().out)["diagnostics"] if d["severity"] == "error"]
    assert "the top module 'blinker' has no ports named as the platform says" in told["message"]
    assert (Path(told["file"]).name, told["line"]) == ("blinker.v", 1)


def test_hardware_without_a_host_is_begun_instrumented_and_proved_but_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(APPLICATIONS.parent / "tiny" / "hdl", tmp_path / "hdl")
    assert main(["new", str(tmp_path)]) == 0
    assert "no C or C++ program was found here" in capsys.readouterr().err
    assert main(["instrument", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    assert main(["prove", str(tmp_path)]) == 0
    assert main(["run", str(tmp_path), "--out", str(tmp_path / "run")]) == 2
    assert "the project names no host source" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("template", "yes"),
    [
        ("nallatech_h101", {"describe", "predict", "simulate", "measure on a board"}),
        ("src6_map", {"predict"}),
        ("xd1000", {"describe", "predict", "simulate"}),
        ("de5_net", {"predict"}),
    ],
)
def test_template_check_says_what_a_template_can_serve(
    template: str, yes: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    serves = document_of(capsys, ["template", "check", f"platform_templates/{template}.yaml", "--json"])["serves"]
    assert list(serves) == ["describe", "predict", "simulate", "measure on a board"]
    assert {name for name, one in serves.items() if one["can"]} == yes
    assert all(one["why"] for one in serves.values())


def test_an_unknown_platform_is_answered_with_the_path_of_a_template_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = lay_out(tmp_path / "copy")
    main(["new", str(folder)])
    project = folder / "copy.workbench.yaml"
    project.write_text(re.sub("platform: .*", "platform: my_card", project.read_text()))
    line = project.read_text().splitlines().index("platform: my_card") + 1
    capsys.readouterr()
    assert main(["scan", str(project)]) == 2
    said = capsys.readouterr().err
    assert f"copy.workbench.yaml:{line}:" in said
    assert "The path of a template works too" in said


def test_a_bundled_application_is_copied_to_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = Path(document_of(capsys, ["new", str(tmp_path), "--example", "laplace", "--json"])["project"])
    assert project == tmp_path / "laplace" / "two.workbench.yaml"
    assert open_workspace(project, load_plugins()).diagnostics == ()
    assert main(["new", str(tmp_path), "--example", "laplac"]) == 2
    assert "there is no example 'laplac'. Did you mean 'laplace'?" in capsys.readouterr().err
