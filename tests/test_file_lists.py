"""Hardware sources as other tools list them: file lists of simulators, and cores of FuseSoC."""

import os
import time
from pathlib import Path

import pytest
import yaml

from workbench.model.diagnostic import Severity
from workbench.session.open.opening import open_workspace
from workbench.session.open.trust import content
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins

FILES = {
    "host/main.c": "int main(void) { return 0; }\n",
    "rtl/top.v": '`include "widths.vh"\nmodule top(input clk); leaf #(`W) a(clk); endmodule\n',
    "rtl/leaf.v": "module leaf #(parameter N = 1) (input clk); other b(clk); endmodule\n",
    "rtl/include/widths.vh": "`define W `FROM_LIST\n",
    "lib/other.v": "module other(input clk); endmodule\n",
    "lib/unused.v": "module unused(input clk); endmodule\n",
    "lib/notes.txt": "no HDL\n",
}


def opened(root: Path, listed: dict[str, str], *sources: str, **hardware: object) -> Workspace:
    for name, text in {**FILES, **listed}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    part = {"sources": [*sources], "top": "top", "read_out": {"first": 0xFF00, "last": 0xFF0F}, **hardware}
    document = {"schema_version": 1, "name": "app", "platform": "nallatech_h101", "host": {"sources": ["host/main.c"]}}
    (root / "app.workbench.yaml").write_text(yaml.safe_dump({**document, "hardware": part}))
    return open_workspace(root, load_plugins())


def told(workspace: Workspace) -> list[tuple[str, int | None, str]]:
    return [(os.path.basename(p.file or ""), p.line, p.message) for p in workspace.diagnostics]


def test_a_simulators_list_is_read_with_its_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTL", "rtl")
    top = "// the top\n+incdir+${RTL}/include +define+FROM_LIST=4+SIM\n-sv_lib x\n$RTL/top.v # and\n-F rtl/leaf.f\n"
    leaf = "leaf.v /* beside\nthe list */ -y ../lib\n+libext+.v\n"
    workspace = opened(tmp_path, {"top.f": top, "rtl/leaf.f": leaf}, "top.f")
    hardware = workspace.project.hardware
    assert hardware.sources == ("rtl/top.v", "rtl/leaf.v", "lib/other.v", "lib/unused.v")
    assert hardware.include_dirs == ("rtl/include",)
    assert hardware.defines == {"FROM_LIST": 4, "SIM": 1}
    assert told(workspace) == [
        ("top.f", 3, "the option '-sv_lib' is ignored"), ("top.f", 3, "there is no file 'x': it is left out"),
    ]  # fmt: skip
    assert {problem.severity for problem in workspace.diagnostics} == {Severity.WARNING}
    scan = workspace.scan().hdl
    assert [told.message.partition(":")[0] for told in scan.diagnostics] == [
        "the top module 'top' has no ports named as the platform says"
    ]
    assert {module for _, module in scan.instances} == {"top", "leaf", "other"}
    lists = {tmp_path / "top.f", tmp_path / "rtl/leaf.f"}
    assert lists <= set(workspace.documents), "a change in a list is seen"
    assert {"top.f", "rtl/leaf.f"} <= set(content(workspace)), "agreed to with all else that a build reads"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("rtl/none.v", "there is no file 'rtl/none.v': it is left out"),
        ("rtl/none*.v", "no file matches 'rtl/none*.v'"),
        ("../away.v", "'../away.v' is not in the project: it is left out"),
        ("+incdir+none", "there is no folder 'none': it is left out"),
        ("-f none.f", "there is no list 'none.f' in the project"),
        ("-y none", "there is no folder 'none': it is left out"),
        ("$NOWHERE_SET/a.v", "the environment has no variable 'NOWHERE_SET': this line is left out"),
        ('"rtl/top.v', "a quotation mark is not closed: this line is left out"),
        ("+", "the option '+' is ignored"),
    ],
)
def test_what_a_list_says_wrongly_is_told_at_its_line(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "away.v").write_text("module away; endmodule\n")
    workspace = opened(tmp_path / "app", {"top.f": f"\n{line}\nrtl/top.v\n-f top.f\n"}, "top.f")
    assert told(workspace) == [("top.f", 2, said)]
    assert workspace.project.hardware.sources == ("rtl/top.v",)


def test_what_the_project_says_holds_beside_a_list(tmp_path: Path) -> None:
    given = {"defines": {"FROM_LIST": 7}, "include_dirs": ["rtl/include"]}
    workspace = opened(tmp_path, {"top.f": "+define+FROM_LIST=4\n+incdir+lib\nrtl/leaf.v"}, "rtl/top.v", "*.f", **given)
    hardware = workspace.project.hardware
    assert hardware.sources == ("rtl/top.v", "rtl/leaf.v")
    assert (hardware.defines, hardware.include_dirs) == ({"FROM_LIST": 7}, ("rtl/include", "lib"))


CORE = """CAPI=2:
name: someone:cores:top:1.2
filesets:
  rtl:
    files:
      - rtl/top.v
      - rtl/include/widths.vh: {is_include_file: true, include_path: rtl/include}
      - "tool_vivado ? (rtl/clocks.v)"
      - "!tool_vivado ? (rtl/leaf.v)"
    file_type: verilogSource
    depend: [">=someone:cores:other:1.0", "someone:cores:lost", "someone:cores:clock"]
  bench:
    files: [rtl/bench.v]
targets:
  default: &all {filesets: [rtl], parameters: [FROM_LIST=3, DEEP, N]}
  sim: {<<: *all, filesets: [rtl, bench]}
parameters:
  FROM_LIST: {datatype: int, paramtype: vlogdefine}
  DEEP: {datatype: bool, default: true, paramtype: vlogdefine}
  N: {datatype: int, paramtype: vlogparam}
"""
VIRTUAL = "virtual:\n  - someone:cores:clock\n"
OTHER = "CAPI=2:\nname: someone:cores:other:%s\nfilesets:\n  all: {files: [%s.v, notes.txt]}\n"


def test_a_core_is_read_with_what_it_depends_on(tmp_path: Path) -> None:
    cores = {"top.core": CORE, "lib/a.core": OTHER % ("0.9", "unused"), "lib/b.core": OTHER % ("1.0", "other")}
    cores |= {"lib/c.core": (OTHER % ("2", "pll")).replace("cores:other", "cores:pll") + VIRTUAL}
    cores |= {"lib/pll.v": "module pll; endmodule\n"}
    workspace = opened(tmp_path, cores, "top.core")
    hardware = workspace.project.hardware
    assert hardware.sources == ("lib/other.v", "lib/pll.v", "rtl/top.v", "rtl/leaf.v")
    assert hardware.include_dirs == ("rtl/include",)
    assert (hardware.defines, hardware.parameters) == ({"FROM_LIST": 3, "DEEP": 1}, {})
    assert told(workspace) == [
        ("top.core", 11, "there is no core 'someone:cores:lost' in the project: it is left out"),
    ]
    assert [told.message.partition(":")[0] for told in workspace.scan().hdl.diagnostics] == [
        "the top module 'top' has no ports named as the platform says"
    ]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("CAPI=1\n[main]\n", None, ""),
        ("CAPI=2:\nname: a\nfilesets: 3\n", 1, "this core has no file sets"),
        ("CAPI=2:\nfilesets:\n  a: {files: [none.v, {}]}\n", 3, "there is no file 'none.v': it is left out"),
    ],
)
def test_a_core_that_is_none_is_told(tmp_path: Path, text: str, line: int | None, said: str) -> None:
    found = told(opened(tmp_path, {"bad.core": text}, "rtl/top.v", "bad.core"))
    assert [one for one in found if one[0] == "bad.core"]
    assert not said or (("bad.core", line, said) in found)


IN_A = "CAPI=2:\nname: a\nfilesets:\n  a:\n    files:"
LISTED = " [rtl/top.v]\ntargets:\n  default: {filesets: "
NO_SET, NO_LIST = "is not a file set: it is ignored", "should be a list: it is left out"
NESTED = f" ['{'tool_verilator ? (' * 30}x{')' * 30}']"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (f"{IN_A} rtl/top.v\n", 5, f"'files' {NO_LIST}"),
        (f"{IN_A} 3\n    depend: 5\n", 6, f"'depend' {NO_LIST}"),
        (f"{IN_A}\n      - {{a.v: leaf}}\n", 6, "the value of 'a.v' should be keys with values: it is ignored"),
        (f"{IN_A}\n      - {{}}\n", 6, "this names no file: it is left out"),
        (f"{IN_A}\n      - [rtl/top.v]\n", 6, "this should be a text: it is left out"),
        ("CAPI=2:\nname: a\nfilesets:\n  a: [rtl/top.v]\n", 4, f"'a' {NO_SET}"),
        (f"{IN_A}{LISTED}[b]}}\n", 7, f"'b' {NO_SET}"),
        (f"{IN_A}{LISTED}a}}\n", 7, f"'filesets' {NO_LIST}"),
        (f"{IN_A}{NESTED}\n", 5, "conditions are nested more than 20 deep: this is left out"),
    ],
)
def test_no_source_of_a_core_is_dropped_silently(tmp_path: Path, text: str, line: int, said: str) -> None:
    assert ("bad.core", line, said) in told(opened(tmp_path, {"bad.core": text}, "rtl/top.v", "bad.core"))


def test_a_core_of_spaces_is_read_at_once(tmp_path: Path) -> None:
    """Not in the square of their number."""
    spaces = " " * 60_000
    core = f"{IN_A} ['{spaces}! tool_x ? (rtl/leaf.v)', '!{spaces}x', '{'tool_x ? (' * 9000}']\n"
    begun_s = time.process_time()
    assert opened(tmp_path, {"bad.core": core}, "rtl/top.v", "bad.core").project.hardware.sources[-1] == "rtl/leaf.v"
    assert time.process_time() - begun_s < 5


@pytest.mark.parametrize(("told_of", "standard"), [("", "2008"), ("-93", "93"), ("-87", "93"), ("-2008", "2008")])
def test_a_core_says_what_vhdl_it_is_in_but_for_what_the_project_says(
    tmp_path: Path, told_of: str, standard: str
) -> None:
    core = f"CAPI=2:\nname: ::app:1\nfilesets: {{all: {{files: [rtl/soc.vhd], file_type: vhdlSource{told_of}}}}}\n"
    listed = {"rtl/soc.vhd": "entity e is end;\n", "app.core": core}
    assert opened(tmp_path, listed, "app.core").project.hardware.vhdl_standard == standard
    assert opened(tmp_path, listed, "app.core", vhdl_standard=93).project.hardware.vhdl_standard == "93"


def test_a_core_says_which_library_its_vhdl_is_in(tmp_path: Path) -> None:
    core = """CAPI=2:
name: ::app:1
filesets:
  own: {files: [rtl/soc.vhd, rtl/kit.vhd: {logical_name: kit}], file_type: vhdlSource}
  cells: {files: [lib/cell.vhd], file_type: vhdlSource, logical_name: cells}
targets:
  default: {filesets: [own, cells]}
"""
    files = dict.fromkeys(("rtl/soc.vhd", "rtl/kit.vhd", "lib/cell.vhd"), "entity e is end;\n")
    workspace = opened(tmp_path, {**files, "app.core": core}, "app.core", libraries={"cells": ["rtl/none.vhd"]})
    assert workspace.project.hardware.libraries == {"kit": ("rtl/kit.vhd",), "cells": ("lib/cell.vhd", "rtl/none.vhd")}
    assert (workspace.project.hardware.language, workspace.hdl_language.name) == ("vhdl", "vhdl")
