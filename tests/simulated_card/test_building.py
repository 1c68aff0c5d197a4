"""What a card and a host are built of: errors at their place, and the cache."""

import re
from pathlib import Path

import pytest
from rc_workbench_plugins.simulated_card.card import CardExecutable, build_card
from rc_workbench_plugins.simulated_card.host import build_host
from simulated_card.conftest import DESIGN, HEAD, PARAMETERS, PLATFORM, run, table, task

from workbench.api import HdlBuild, HdlFiles
from workbench.api.compile import needed
from workbench.api.equivalence import HdlSide
from workbench.api.job import Job, JobEvent
from workbench.hdl.verilate import verilate
from workbench.model.diagnostic import WorkbenchError
from workbench.system.toolchain import find_verilator


def test_rtl_that_does_not_compile(tmp_path: Path) -> None:
    source = tmp_path / "broken.v"
    source.write_text(DESIGN.replace("reg done, frozen", "reg done; reg nonsense nonsense"))
    with pytest.raises(WorkbenchError) as caught:
        build_card(task(tmp_path, HdlBuild((source,), "sample", ())), Job())
    first = caught.value.diagnostics[0]
    assert (first.file, first.line) == (str(source), 12)
    assert "syntax error" in first.message


def test_what_is_simulated_is_what_was_read(tmp_path: Path) -> None:
    """Verilator's own macro would choose other code than the hardware's, in which the monitors stand; a project may."""
    source = tmp_path / "other.v"
    source.write_text("module top(input clk\n`ifdef VERILATOR\n, input x\n`else\n, input y\n`endif\n); endmodule\n")
    for defines, port in ({}, "y"), ({"VERILATOR": "1"}, "x"):
        verilate(needed(find_verilator()), HdlSide((source,), "top", defines=defines), tmp_path, Job())
        assert set(re.findall(r"&(\w+),", (tmp_path / "Vcard.h").read_text())) == {"clk", port}


def test_a_top_without_the_platforms_port(tmp_path: Path) -> None:
    source = tmp_path / "other.v"
    source.write_text("module other(input clk, input rst, output reg q); always @(posedge clk) q <= rst; endmodule\n")
    with pytest.raises(WorkbenchError) as caught:
        build_card(task(tmp_path, HdlBuild((source,), "other", ())), Job())
    assert "no input 'addr', which platform test's port needs" in str(caught.value)
    assert "Its inputs are: clk, rst." in caught.value.diagnostics[0].hint


def test_a_table_faster_than_the_port_is_refused(tmp_path: Path) -> None:
    tables = {**PLATFORM.transfer_tables, "write": table("send", (4, 1e-6), (2048, 5e-6))}
    platform = PLATFORM.model_copy(update={"transfer_tables": tables})
    with pytest.raises(WorkbenchError, match="more than one 32-bit word a cycle at 100 MHz"):
        build_card(task(tmp_path, HdlBuild((), "sample", ()), platform=platform), Job())


def test_a_host_that_does_not_compile_or_link(tmp_path: Path) -> None:
    for line, place, message in (
        ("int main(void) { return fpgaRaed; }", 6, "fpgaRaed"),
        ("int missing(void);\nint main(void) { return missing(); }", 7, "undefined reference to `missing'"),
    ):
        (tmp_path / "host.c").write_text(HEAD + line)
        with pytest.raises(WorkbenchError) as caught:
            build_host(task(tmp_path, HdlBuild((), "sample", ())), Job())
        first = caught.value.diagnostics[0]
        assert (first.file, first.line) == (str(tmp_path / "host.c"), place)
        assert message in first.message


def test_a_card_that_has_not_changed_comes_from_the_cache(card: CardExecutable, tmp_path: Path) -> None:
    events: list[JobEvent] = []
    again = build_card(task(tmp_path, card.hdl, parameters=PARAMETERS), Job(events.append))
    assert "the card has not changed since it was last built" in [event.text for event in events]
    assert again.path.read_bytes() == card.path.read_bytes()


INCLUDING = """
`include "defs.inc"
`include "sub/more.vh"
module including(
    input clk, input rst, input [31:0] addr, input wr_en, input [31:0] wr_data, input rd_en, output reg [31:0] rd_data
);
    always @(posedge clk) if (rd_en) rd_data <= `K + `MORE;
endmodule
"""


def test_a_card_is_built_anew_when_anything_that_it_includes_has_changed(tmp_path: Path) -> None:
    hdl, late = tmp_path / "hdl", tmp_path / "late"
    (hdl / "sub").mkdir(parents=True)
    (late / "sub").mkdir(parents=True)
    (hdl / "including.v").write_text(INCLUDING)
    (late / "defs.inc").write_text("`define K 1\n")
    (late / "sub" / "more.vh").write_text("`define MORE 10\n")
    design = HdlBuild((hdl / "including.v",), "including", (), files=HdlFiles((hdl, late)))
    source = HEAD + 'int main(void) { fpga_t *f = fpgaOpen(0); printf("%u", fpgaReadReg(f, 5)); fpgaClose(f); }'

    def answer(name: str) -> str:
        work = tmp_path / name
        work.mkdir()
        logged: list[str] = []
        job = Job(lambda event: logged.append(event.text))
        card = build_card(task(work, design), job)
        kept = "the card has not changed since it was last built" in logged
        return run(card, source, work).stdout + (" kept" if kept else "")

    assert answer("first") == "11"
    assert answer("same") == "11 kept"
    (late / "defs.inc").write_text("`define K 2\n")
    assert answer("changed file") == "12"
    (hdl / "sub" / "more.vh").write_text("`define MORE 30\n")
    assert answer("a file that is found before the one that was read") == "32"
    (hdl / "sub" / "more.vh").unlink()
    assert answer("gone again") == "12 kept"


STOPPING = """
module stopping(
    input clk, input rst, input [31:0] addr, input wr_en, input [31:0] wr_data, input rd_en, output reg [31:0] rd_data
);
    always @(posedge clk) begin
        if (rd_en) rd_data <= 5;
        if (wr_en) $stop;
    end
endmodule
"""


def test_a_comment_that_moves_lines_has_nothing_compiled_and_lines_are_those_of_now(tmp_path: Path) -> None:
    source = HEAD + "int main(void) { fpga_t *f = fpgaOpen(0); fpgaWriteReg(f, 0, 1); fpgaReadReg(f, 0); }"

    def built(name: str, text: str) -> tuple[bool, str]:
        """Whether anything was compiled, and what ended the run."""
        work = tmp_path / name
        work.mkdir()
        (work / "stopping.v").write_text(text)
        card = build_card(task(work, HdlBuild((work / "stopping.v",), "stopping", ())), Job())
        (failed,) = run(card, source, work).diagnostics
        return (work / "build" / "card" / "design_0" / "all_design.cpp").exists(), failed.message

    compiled, failed = built("first", STOPPING)
    line = STOPPING.split("\n").index("        if (wr_en) $stop;") + 1
    assert compiled
    assert f"stopping.v:{line})" in failed
    compiled, failed = built("moved", "// above\n\n" + STOPPING.replace("rd_data <= 5;", "rd_data <= 5; // five"))
    assert not compiled
    assert f"{tmp_path / 'moved' / 'stopping.v'}:{line + 2})" in failed
    compiled, _ = built("other", STOPPING.replace("rd_data <= 5;", "rd_data <= 6;"))
    assert compiled
