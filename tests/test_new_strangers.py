"""New in folders that nobody prepared: bare cores, APIs that no template describes, unknown macros, odd names."""

import json
import os
import shutil
from pathlib import Path

import pytest
from answers import document_of
from test_new_project import APPLICATIONS, found, lay_out

from workbench.cli.main import main
from workbench.model.diagnostic import Severity
from workbench.session.begin.new_project import propose
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins


def test_a_chip_select_is_a_memory_port_whose_counters_are_read_at_unused_addresses(tmp_path: Path) -> None:
    """A bare core with `cs` and `we`: numbers of bit ranges, such as [255:0], are no addresses of its 8-bit port."""
    folder = lay_out(tmp_path / "chacha")
    proposal = propose(folder, load_plugins())
    assert found(proposal, "unused addresses") == "0xf0 to 0xff"
    assert proposal.diagnostics == ()
    assert main(["new", str(folder)]) == 0
    workspace = open_workspace(folder, load_plugins())
    assert workspace.project.hardware.signals == {
        "rst": "!reset_n", "host_enable": "cs", "wr_en": "we", "wr_data": "write_data", "rd_data": "read_data",
    }  # fmt: skip
    assert {use.id for use in workspace.scan().hdl.blocks} == {"chacha.api", "chacha.core"}
    (folder / "main.c").write_text('#include <stdio.h>\n#include "gone.h"\nint main(void) { return gone_open(); }\n')
    missing, no_call = propose(folder, load_plugins()).diagnostics
    assert (missing.file, missing.line, missing.message) == (str(folder / "main.c"), 2, "'gone.h' file not found")
    assert no_call.message.startswith("the host calls no function of the platform")


def test_where_every_row_of_addresses_has_a_number_the_one_with_the_fewest_is_taken_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = lay_out(tmp_path / "chacha")
    source = folder / "rtl" / "chacha.v"
    rows = ", ".join(f"ROW{row} = 8'h{row:x}0, MORE{row} = 8'h{row:x}1" for row in range(16) if row != 10)
    source.write_text(
        source.read_text().replace(
            "    reg [255:0] key;", f"    localparam {rows}, LAST = 8'ha7;\n    reg [255:0] key;"
        )
    )
    document = document_of(capsys, ["new", str(folder), "--json"])
    assert [one["value"] for one in document["found"] if one["what"] == "read-out addresses"] == ["0xa0 to 0xaf"]
    assert [d["message"] for d in document["diagnostics"]] == [
        "the addresses 0xa0 to 0xaf may be in use: the sources name 0xa7"
    ]


def test_a_folder_with_a_header_alone_has_no_top(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "widths.vh").write_text("`define WIDTH 8\n")
    assert main(["new", str(tmp_path)]) == 2
    assert "no top module was found here" in capsys.readouterr().err


def test_names_that_are_not_in_utf_8_are_left_out_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = lay_out(tmp_path / "filter")
    (Path(os.fsdecode(bytes(folder) + b"/hdl/m\xe9.sv"))).write_text("module m(input a, output b); endmodule\n")
    (Path(os.fsdecode(bytes(folder) + b"/caf\xe9"))).mkdir()
    assert main(["new", str(folder)]) == 0
    assert "files or folders were left out: names not in UTF-8: caf\\xe9, hdl/m\\xe9.sv" in capsys.readouterr().err
    assert not open_workspace(folder, load_plugins()).diagnostics
    elsewhere = Path(os.fsdecode(bytes(tmp_path) + b"/\xfcber"))
    shutil.copytree(folder / "hdl", elsewhere, ignore=shutil.ignore_patterns("m*"))
    assert main(["new", str(elsewhere)]) == 2
    assert "/\\xfcber: error: the name of this folder is not in UTF-8" in capsys.readouterr().err
    assert not list(elsewhere.glob("*.yaml"))


def test_a_name_that_no_file_can_have_is_refused_and_a_folders_is_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / ("d" * 250)
    shutil.copytree(APPLICATIONS.parent / "tiny" / "hdl", folder)
    assert main(["new", str(folder), "--name", "n" * 300]) == 2
    assert f"'{'n' * 40}' cannot name a project" in capsys.readouterr().err
    assert main(["new", str(folder)]) == 0
    assert open_workspace(folder, load_plugins()).project.name == "d" * 50


BRD = {
    "brd.h": """#include <stdint.h>
typedef struct brd brd;
brd *brd_open(int number);
int brd_wr32(brd *b, uint32_t a, uint32_t x);
uint32_t brd_rd32(brd *b, uint32_t a);
void brd_close(brd *b);
""",
    "host/main.c": """#include <stdio.h>
#include "brd.h"
int main(void)
{
    brd *b = brd_open(0);
    for (int i = 0; i < COUNT; i++) brd_wr32(b, 0x10, i);
    printf("%u\\n", brd_rd32(b, 0x11));
    brd_close(b);
}
""",
}
#: What a board's maker says of it: the port by which it reaches a design, and times of its calls.
BOARD = """schema_version: 2
name: brd
transfer_tables:
  write: {direction: send, points: [{bytes: 4, time_s: 1 us}]}
  read: {direction: receive, points: [{bytes: 4, time_s: 2 us}]}
hardware:
  clocks: [{name: clk, frequency_hz: 100 MHz, reset: rst}]
  ports:
    - name: host
      kind: memory
      write_enable: wr_en
      read_enable: rd_en
      incoming: {data_signal: wr_data, address_signal: addr, condition_hdl: wr_en}
      outgoing: {data_signal: rd_data, address_signal: addr, condition_hdl: rd_en, delay_cycles: 1}
"""


def with_own_api(folder: Path) -> Path:
    lay_out(folder)
    shutil.rmtree(folder / "host")
    (folder / "host").mkdir()
    for name, text in BRD.items():
        (folder / name).write_text(text)
    return folder


def test_an_api_that_no_template_describes_is_named_with_the_command_that_begins_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command that is printed, then New again: the template has the design's port, and assumed times. It is used
    without a port too, and what it lacks is said. Begun from the board's ports and times, it says nothing more."""
    folder = with_own_api(tmp_path / "filter")
    document = document_of(capsys, ["new", str(folder), "--dry-run", "--json"], 1)
    (told,) = [d for d in document["diagnostics"] if d["severity"] == "error"]
    assert told["message"] == (
        "the host calls brd_open, brd_wr32, brd_rd32 and 1 more of brd.h, which no platform template describes"
    )
    assert document["unknown_api"]["template"] == str(folder / "brd.yaml")
    command = told["hint"].split("`")[1].split()
    assert command[:2] == ["workbench", "template"]
    assert main(command[1:]) == 0
    said = capsys.readouterr().err
    assert "clock and ports come from " in said
    assert "the transfer times are assumed" in said
    again = ["new", str(folder), "--dry-run", "--set", "COUNT=4", "--json"]
    assert document_of(capsys, again)["diagnostics"] == []
    text = (folder / "brd.yaml").read_text()
    (folder / "brd.yaml").write_text(text[: text.index("hardware:")] + text[text.index("transfer_tables:") :])
    document = document_of(capsys, again)
    assert {one["what"]: one["value"] for one in document["found"]}["platform"] == "brd.yaml"
    (told,) = document["diagnostics"]
    assert told["message"] == "the platform template brd.yaml cannot be simulated yet: it has no hardware port"

    (folder / "brd.yaml").unlink()
    (folder / "board.yaml").write_text(BOARD)
    main(["new", str(folder), "--dry-run", "--json"])
    (told,) = [d for d in json.loads(capsys.readouterr().out)["diagnostics"] if d["severity"] == "error"]
    assert main(told["hint"].split("`")[1].split()[1:]) == 0
    assert main(["new", str(folder), "--set", "COUNT=4"]) == 0
    assert "warning" not in capsys.readouterr().err
    workspace = open_workspace(folder, load_plugins())
    assert (workspace.project.platform, workspace.project.settings) == ("brd.yaml", {"TAPS": 4, "COUNT": 4})
    assert not [d for d in workspace.scan().diagnostics if d.severity is Severity.ERROR]


def test_a_host_of_an_api_of_many_boards_is_answered_with_the_command_for_an_example_board(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "scale"
    shutil.copytree(APPLICATIONS.parent / "strangers" / "xrt_cpp", folder, ignore=shutil.ignore_patterns("route.yaml"))
    told = document_of(capsys, ["new", str(folder), "--dry-run", "--json"], 1)["diagnostics"]
    (begun,) = [d for d in told if "of xrt_native, which is the API of many boards" in d["message"]]
    assert main(begun["hint"].split("`")[1].split()[1:]) == 0
    assert main(["new", str(folder)]) == 0
    assert capsys.readouterr().err.count("error") == 0
    assert open_workspace(folder, load_plugins()).project.platform == "xrt_native_board.yaml"


def test_a_template_of_the_folder_that_cannot_be_read_is_said_at_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = with_own_api(tmp_path / "filter")
    (folder / "brd.yaml").write_text(BOARD.replace("direction: send", "direction: sned"))
    assert main(["new", str(folder), "--dry-run"]) == 1
    assert "brd.yaml:4:" in capsys.readouterr().err


def test_macros_that_nothing_defines_are_asked_for_and_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of the host become settings, those of the hardware its defines; a design is read with them."""
    folder = lay_out(tmp_path / "copy")
    (folder / "rtl_inc" / "widths.vh").write_text("// W is the width of a word\n")
    assert main(["new", str(folder), "--dry-run"]) == 0
    said = capsys.readouterr()
    assert "the value of the macro W is not known. Give its value; until then it is 1." in said.err
    assert "--define NAME=VALUE" in said.err
    assert "macro: W = 1" in said.out
    assert main(["new", str(folder), "--define", "W=32"]) == 0
    assert "W" not in capsys.readouterr().err
    workspace = open_workspace(folder, load_plugins())
    assert workspace.project.hardware.defines == {"W": 32}
    assert not workspace.scan().diagnostics
    assert main(["new", str(lay_out(tmp_path / "filter")), "--set", "COUNTS=4"]) == 2
    assert "there is no setting 'COUNTS'. Did you mean 'COUNT'?" in capsys.readouterr().err
