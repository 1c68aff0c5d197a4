"""Where names are defined: found in C and Verilog, across files, in texts that are saved and in those that are not."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from answers import document_of

from workbench.api.source.lines import reading_typed
from workbench.cli.main import main
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins

TINY = Path(__file__).parent / "data" / "tiny"

HELPER = "int scale(int by)\n{\n    return 2 * by;\n}\n"
HEADER = "#define TWICE(x) (2 * (x))\ntypedef struct { int field; } pair;\nint scale(int by);\n"
MAIN = """#include "helper.h"
#include "fpga.h"
int main(void)
{
    pair mine;
    mine.field = TWICE(ROUNDS);
    fpga_t *card = fpgaOpen(0);
    return scale(mine.field);
}
"""
TOP = """`include "sizes.vh"
module tiny_top #(parameter DELAY = 4) (input clk, input rst, input [31:0] addr, output reg [`WIDTH-1:0] rd_data);
    import kinds::*;
    word held;
    genvar i;
    generate
        for (i = 0; i < 2; i = i + 1) begin : each
            wire [31:0] seen;
            inner #(.SHIFT(i)) unit (.in(rd_data), .out(seen));
        end
    endgenerate
    function automatic [31:0] twice(input [31:0] value);
        twice = value << kinds::ONE;
    endfunction
    always @(posedge clk) begin : keep
        rd_data <= twice(held.low) + each[1].seen;
    end
endmodule
"""
INNER = """module inner #(parameter SHIFT = 0) (input [31:0] in, output [31:0] out);
    wire [31:0] moved = in << SHIFT;
    assign out = moved;
endmodule
"""
KINDS = "package kinds;\n    localparam ONE = 1;\n    typedef struct packed { logic [31:0] low; } word;\nendpackage\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    shutil.copytree(TINY, tmp_path / "tiny")
    root = tmp_path / "tiny"
    shutil.rmtree(root / "hdl")
    for name, text in {
        "host/main.c": MAIN, "host/helper.c": HELPER, "host/helper.h": HEADER, "hdl/tiny_top.sv": TOP,
        "hdl/inner.v": INNER, "hdl/kinds.sv": KINDS, "hdl/sizes.vh": "`define WIDTH 32\n",
    }.items():  # fmt: skip
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    project = root / "tiny.workbench.yaml"
    text = project.read_text().replace("[host/main.c]", "[host/main.c, host/helper.c]")
    project.write_text(text.replace("[hdl/*.v]", "['hdl/*.v', 'hdl/*.sv']\n  include_dirs: [hdl]"))
    return open_workspace(project, load_plugins())


Found = tuple[str, str, str]  # file, the line's text, what


@pytest.fixture
def find(workspace: Workspace) -> Callable[[str, str], Found | None]:
    """Where the last name of a piece of a source's text is defined."""

    def found(name: str, piece: str) -> Found | None:
        path = workspace.root / name
        before, _, _ = path.read_text().partition(piece)
        at = before + piece[:-1]
        got = workspace.definition(path, at.count("\n") + 1, len(at) - at.rfind("\n"))
        if got is None:
            return None
        line = Path(got.file).read_text().splitlines()[got.line - 1]
        assert got.what == "file" or line[got.column - 1 :].startswith(got.name)
        return Path(got.file).name, line.strip(), got.what

    return found


@pytest.mark.parametrize(
    ("piece", "file", "line", "what"),
    [
        ("return scale", "helper.c", "int scale(int by)", "function"),
        ("mine.field", "helper.h", "typedef struct { int field; } pair;", "field"),
        ("= TWICE", "helper.h", "#define TWICE(x) (2 * (x))", "macro"),
        ("scale(mine", "main.c", "pair mine;", "var"),
        ("    pair", "helper.h", "typedef struct { int field; } pair;", "typedef"),
        ('"helper', "helper.h", "#define TWICE(x) (2 * (x))", "file"),
    ],
)
def test_names_of_c_lead_to_their_definitions(
    find: Callable[[str, str], Found | None], piece: str, file: str, line: str, what: str
) -> None:
    assert find("host/main.c", piece) == (file, line, what)


def test_a_call_of_the_platform_leads_to_its_header_and_a_header_is_read_by_way_of_a_source(
    find: Callable[[str, str], Found | None],
) -> None:
    opened = find("host/main.c", "fpgaOpen")
    assert opened is not None
    assert opened[0] == "fpga.h"
    assert find("host/helper.h", "int scale") == ("helper.c", "int scale(int by)", "function")
    assert find("host/main.c", "    return") is None


@pytest.mark.parametrize(
    ("piece", "file", "line", "what"),
    [
        ("            inner", "inner.v", "module inner #(", "module"),
        ("(.SHIFT", "inner.v", "module inner #(", "parameter"),
        ("(.in", "inner.v", "module inner #(", "net"),
        ("[`WIDTH", "sizes.vh", "`define WIDTH 32", "macro"),
        ("sizes.v", "sizes.vh", "`define WIDTH 32", "file"),
        ("kinds::ONE", "kinds.sv", "localparam ONE = 1;", "parameter"),
        ("held.low", "kinds.sv", "typedef struct packed { logic [31:0] low; } word;", "field"),
        ("    word", "kinds.sv", "typedef struct packed { logic [31:0] low; } word;", "type alias"),
        ("each[1].seen", "tiny_top.sv", "wire [31:0] seen;", "net"),
        ("= value", "tiny_top.sv", "function automatic [31:0] twice(input [31:0] value);", "formal argument"),
        ("<= twice", "tiny_top.sv", "function automatic [31:0] twice(input [31:0] value);", "subroutine"),
        ("posedge clk", "tiny_top.sv", "module tiny_top #(", "net"),
    ],
)
def test_names_of_verilog_lead_to_their_definitions(
    find: Callable[[str, str], Found | None], piece: str, file: str, line: str, what: str
) -> None:
    found = find("hdl/tiny_top.sv", piece)
    assert found is not None
    assert (found[0], found[2]) == (file, what)
    assert found[1].startswith(line)


def test_a_module_below_the_top_is_looked_up_in_by_itself(find: Callable[[str, str], Found | None]) -> None:
    assert find("hdl/inner.v", "assign out = moved") == ("inner.v", "wire [31:0] moved = in << SHIFT;", "net")


def test_a_name_that_the_project_gives_a_value_leads_there(find: Callable[[str, str], Found | None]) -> None:
    assert find("host/main.c", "TWICE(ROUNDS") == ("tiny.workbench.yaml", "ROUNDS: 3", "setting")
    assert find("host/main.c", "    return") is None


def test_texts_that_are_typed_stand_for_their_files(workspace: Workspace) -> None:
    main_c, top, inner = (workspace.root / name for name in ("host/main.c", "hdl/tiny_top.sv", "hdl/inner.v"))
    typed = {
        main_c: b"int later;\nint main(void) { return later; }\nint other(void) { return lost; }\n",
        inner: INNER.replace(";", "", 1).encode(),
    }
    with reading_typed(typed):
        meant = workspace.definition(main_c, 2, 26)
        problems = workspace.scan().diagnostics
    assert meant is not None
    assert (meant.line, meant.column, meant.what) == (1, 5, "var")
    assert {(Path(d.file or "").name, d.line) for d in problems} >= {("main.c", 3)}
    assert any(d.file and Path(d.file) == inner for d in problems)
    assert not any(d.file and Path(d.file) == top for d in problems)
    assert not any("lost" in d.message for d in workspace.scan().diagnostics)


def test_the_command_tells_the_place(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    place = f"{workspace.root / 'host' / 'main.c'}:8:12"
    found = document_of(capsys, ["definition", str(workspace.path), place, "--json"])["definition"]
    assert (Path(found["file"]).name, found["line"], found["column"], found["name"]) == ("helper.c", 1, 5, "scale")
    assert main(["definition", str(workspace.path), f"{workspace.root / 'host' / 'main.c'}:4:1"]) == 1
    assert main(["definition", str(workspace.path), "host/main.c"]) == 2
    assert "'host/main.c' is not a place" in capsys.readouterr().err


CPP_HEADER = """#pragma once
namespace app {
class Scaler {
public:
    explicit Scaler(int by);
    int times(int value) const;
    template <typename T> T twice(T value) const { return 2 * value; }
private:
    int factor;
};
}
"""
CPP_HELPER = """#include "helper.hpp"
namespace app {
Scaler::Scaler(int by) : factor(by) {}
int Scaler::times(int value) const { return factor * value; }
}
"""
CPP_MAIN = """#include "helper.hpp"
#include "fpga.h"
int main()
{
    app::Scaler scaler(ROUNDS);
    fpga_t *card = fpgaOpen(0);
    return scaler.twice(1) + scaler.times(2);
}
"""


@pytest.mark.parametrize(
    ("suffix", "place", "piece", "found"),
    [
        (
            ".cc",
            "host/main",
            "scaler.times",
            ("helper", "int Scaler::times(int value) const { return factor * value; }"),
        ),
        (".cpp", "host/main", "scaler.twice", ("helper.hpp", "template <typename T> T twice(T value) const")),
        (".cpp", "host/main", "app::Scaler", ("helper.hpp", "class Scaler {")),
        (".cpp", "host/main", "fpgaOpen", ("fpga.h", "fpga_t *fpgaOpen(")),
        (".cpp", "host/helper.hpp", "    int factor", ("helper.hpp", "int factor;")),
        (".cxx", "host/helper", "Scaler::times", ("helper", "int Scaler::times(int value) const")),
    ],
)
def test_names_of_cpp_lead_to_their_definitions(
    workspace: Workspace, suffix: str, place: str, piece: str, found: tuple[str, str]
) -> None:
    host = workspace.root / "host"
    for name, text in (("main", CPP_MAIN), ("helper", CPP_HELPER)):
        (host / f"{name}.c").unlink()
        (host / f"{name}{suffix}").write_text(text)
    (host / "helper.hpp").write_text(CPP_HEADER)
    workspace.path.write_text(re.sub(r"(main|helper)\.c\b", rf"\1{suffix}", workspace.path.read_text()))
    again = open_workspace(workspace.path, load_plugins())
    file = next(path for path in (host.parent / place, host.parent / f"{place}{suffix}") if path.is_file())
    before = file.read_text().partition(piece)[0] + piece[:-1]
    got = again.definition(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert got is not None
    line = Path(got.file).read_text().splitlines()[got.line - 1].strip()
    assert Path(got.file).name == (found[0] if "." in found[0] else found[0] + suffix)
    assert line.startswith(found[1])
