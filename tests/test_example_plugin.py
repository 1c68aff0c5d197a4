"""The example plugin's languages, port and mode, each taken the way that a built-in one goes. Its runs on the simulated
card and at its target are in test_packaging.py."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from memory_port import PLATFORM
from pixels import pixels_of, rgb
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tools import NEEDS_GHDL

from workbench.api.host_stats import read_stats
from workbench.api.job import Job
from workbench.formats.run_folder import RunWriter
from workbench.gui.frame.context import Context
from workbench.gui.look import theme
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.pragma import Category
from workbench.session.begin.new_choice import Choice
from workbench.session.begin.new_project import create, propose
from workbench.session.keep.results import open_result
from workbench.session.open.hdl_language import language_of
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import Plugins, load_plugins
from workbench.testing.runs import synthetic_run

EXAMPLE = Path(__file__).parents[1] / "plugins" / "example_plugin"
HOST_C = """#include "example.h"
int main(void)
{
    unsigned words[16] = {0};
    exampleSend(words, 0, sizeof words);
    return exampleReceive(words, 0, sizeof words);
}
"""
CALLS = """# sends words, and takes them back
array words 16
#pragma recap put send(data, example_top.port, w)
exampleSend words 0 64
exampleReceive words 0 64
print words
"""
TERSE = """
module example_top (input clk, input rst, input [31:0] address, input write, input [31:0] data_in, input read,
                    output reg [31:0] data_out);
    word words [0:15];
    at clk begin : port
        if (write && address < 16) begin
            words[address[3:0]] <= data_in;
        end else if (read && address < 16) begin
            data_out <= words[address[3:0]] + 1;
        end
    end
endmodule
"""
PROJECT = """schema_version: 1
name: example
platform: example_card
host: {language: calls, sources: [main.calls]}
hardware: {sources: [top.terse], top: example_top, read_out: {first: 0x400, last: 0x40F}}
"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plugins:
    """All plugins with the example, as if it were installed."""
    info = tmp_path / "site" / "rcw_example_plugin-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rcw-example-plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[rc_workbench.plugins]\nexample = rcw_example\n")
    monkeypatch.syspath_prepend(EXAMPLE)
    monkeypatch.syspath_prepend(info.parent)
    for name in [name for name in sys.modules if name.startswith("rcw_example")]:
        monkeypatch.delitem(sys.modules, name)
    loaded = load_plugins()
    (example,) = (plugin for plugin in loaded.loaded if plugin.name == "example")
    assert (example.error, example.overrides) == ("", [])
    return loaded


def project(folder: Path) -> Path:
    folder.mkdir()
    for name, text in (("main.calls", CALLS), ("top.terse", TERSE), ("example.workbench.yaml", PROJECT)):
        (folder / name).write_text(text)
    return folder / "example.workbench.yaml"


def test_new_finds_a_design_in_its_language_and_its_marks_are_read(plugins: Plugins, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "main.c").write_text(HOST_C)
    (folder / "top.terse").write_text(TERSE)
    workspace = open_workspace(create(propose(folder, plugins, Choice(platform="example_card"))), plugins)
    assert (workspace.project.hardware.top, workspace.project.hardware.sources) == ("example_top", ("top.terse",))
    marked = TERSE.replace(
        "            words[", "            //pragma recap take recv(data, $CPU, w)\n            words["
    )
    (folder / "top.terse").write_text(marked)
    (block,) = workspace.scan({}).hdl.blocks
    assert (block.file, marked.splitlines()[block.line - 1].strip()) == ("top.terse", "at clk begin : port")
    assert [mark.pragma.name for branch in block.branches for mark in branch.pragmas] == ["take"]


@NEEDS_GHDL
def test_its_hardware_language_is_joined_with_both_others(plugins: Plugins, tmp_path: Path) -> None:
    """Verilog over VHDL over the plugin's, which Verilog instantiates by itself too; all of it on one clock."""
    (tmp_path / "top.v").write_text(
        "module top (input clk, rst, wr_en, rd_en, input [15:0] addr, input [31:0] wr_data, output [31:0] rd_data);\n"
        "  tick one (clk);\n  middle two (.clock(clk));\nendmodule\n"
    )
    (tmp_path / "tick.terse").write_text(
        "module tick (input clk);\n  word n;\n  at clk begin : step\n"
        "    //pragma recap count work()\n    n <= n + 1;\n  end\nendmodule\n"
    )
    (tmp_path / "middle.vhd").write_text(
        "library ieee; use ieee.std_logic_1164.all; entity middle is port (clock : in std_logic); end;\n"
        "architecture rtl of middle is component tick is port (clk : in std_logic); end component;\n"
        "begin inner : tick port map (clock); end;\n"
    )
    names = ("top.v", "tick.terse", "middle.vhd")
    hardware = HardwareSources(sources=names, top="top", read_out=ReadOut(first=0, last=255))
    language = plugins.hdl_languages[language_of(hardware, plugins.hdl_languages)]
    (top,) = language.tops(tmp_path, names)
    assert (top.name, set(top.sources)) == ("top", set(names))
    scan = language.scan(tmp_path, hardware, PLATFORM, {}, Job())
    assert (scan.diagnostics, scan.clocks) == ((), (("clk", 2),))
    assert [block.instances for block in scan.blocks] == [("top.one.step", "top.two.inner.step")]
    build = language.instrument(tmp_path, hardware, PLATFORM, {}, tmp_path / "out", Job())
    assert [block.id for block in build.blocks] == ["top.one.step", "top.two.inner.step"]


def test_a_name_is_found_in_both_languages(plugins: Plugins, tmp_path: Path) -> None:
    workspace = open_workspace(project(tmp_path / "p"), plugins)
    for file, line, column, there, what in (("main.calls", 4, 14, 2, "array"), ("top.terse", 7, 14, 4, "variable")):
        meant = workspace.definition(workspace.root / file, line, column)
        assert meant is not None
        assert (Path(meant.file).name, meant.line, meant.what) == (file, there, what)


def test_a_wrong_line_is_a_diagnostic_at_its_place(plugins: Plugins, tmp_path: Path) -> None:
    path = project(tmp_path / "p")
    (path.parent / "main.calls").write_text(CALLS.replace("exampleSend", "exampleSent"))
    (wrong,) = open_workspace(path, plugins).scan({}).host.diagnostics
    assert (wrong.message, wrong.hint, wrong.line) == (
        "there is no call 'exampleSent'", "Did you mean 'exampleSend'?", 4,
    )  # fmt: skip


def test_its_host_program_records_each_call_with_its_state(plugins: Plugins, tmp_path: Path) -> None:
    workspace = open_workspace(project(tmp_path / "p"), plugins)
    language, out, raw = workspace.host_language, tmp_path / "out", tmp_path / "raw"
    build = language.instrument(workspace.root, workspace.host, workspace.platform, {}, out, Job())
    assert [state.name for state in build.blocks[0].states] == ["unclassified", "work", "put", "exampleReceive"]
    stand_in = "int exampleSend(const void *d, unsigned a, unsigned b) { return 0; }\n"
    stand_in += "int exampleReceive(void *d, unsigned a, unsigned b) { *(unsigned *)d = 7; return 0; }\n"
    (tmp_path / "card.c").write_text(stand_in)
    sources = [*build.sources, *build.extra_sources, tmp_path / "card.c"]
    api = EXAMPLE / "rcw_example" / "api"
    command = ["gcc", "-O0", "-I", str(api), "-o", str(out / "host"), *map(str, sources), "-lpthread", "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    raw.mkdir()
    ran = subprocess.run([out / "host"], env={"RCW_RAW": str(raw)}, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["7"] + ["0"] * 15
    (unrecorded,) = language.plain(workspace.root, workspace.host, workspace.platform, tmp_path / "plain")  # type: ignore[attr-defined]
    assert "rcw_" not in unrecorded.read_text()
    stats = read_stats(raw)
    assert stats is not None
    rows = [row for thread in stats.threads for row in thread.rows]
    names = [state.name for state in build.blocks[0].states]
    counted = Counter({(build.sites[row["site"]].callee, names[row["state"]]): int(row["bytes"]) for row in rows})
    assert counted == {("exampleSend", "put"): 64, ("exampleReceive", "exampleReceive"): 64}


@pytest.mark.parametrize("look", ["light", "dark"])
def test_its_modes_plot_has_the_windows_colours(
    qtbot: QtBot, qapp: QApplication, plugins: Plugins, tmp_path: Path, look: str
) -> None:
    theme.apply_theme(qapp, look)
    context, kind = Context(plugins), plugins.modes["example_cross_off"]
    mode = kind.view()(context, kind)
    qtbot.addWidget(mode)
    mode.resize(700, 500)
    mode.show()
    qtbot.waitExposed(mode)
    run = synthetic_run(cores=2, rounds=1)
    RunWriter(tmp_path / "run", run.manifest).finish(run.manifest, run.tables)
    context.set_run(open_result(tmp_path / "run", plugins))
    (line,) = mode.plot.plot.lines
    assert len(line.x) == mode.list.count() == len(run.manifest.blocks)
    qtbot.waitUntil(lambda: mode.plot.isVisible())
    colours = set(pixels_of(mode.plot.grab().toImage()).flat)
    assert {rgb(theme.colour("panel")), rgb(theme.state_colour(Category.WORK))} <= colours
    mode.cross_off("host.main")
    assert len(mode.plot.plot.lines[0].x) == len(run.manifest.blocks) - 1
    context.shut_down()
