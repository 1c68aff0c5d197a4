"""Pragmas that are proposed, written into the sources on request, taken back; and marks held against the design."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_states_found import MACHINES

from workbench.api.source.pragma_text import format_pragma
from workbench.cli.main import main
from workbench.model.pragma import Category, PlacedPragma, Pragma
from workbench.model.scan import Branch, HdlBlock, HdlScan, HostScan, ProjectScan, Term
from workbench.session.handshakes import Words
from workbench.session.keys import COMMANDS
from workbench.session.mark_checks import mark_problems
from workbench.session.marking import proposed
from workbench.session.plugins import load_plugins
from workbench.session.workspace import Workspace, open_workspace

TINY = Path(__file__).parent / "data" / "tiny"
#: Instances that speak with each other, in replicas.
OTHERS = """
module lanes(input wire clk, input wire wr_en, input wire [31:0] wr_data);
    genvar i;
    generate for (i = 0; i < 2; i = i + 1) begin : lane
        wire valid, ready, full, empty;
        giver from(.clk(clk), .m_valid(valid), .m_ready(ready));
        taker to(.clk(clk), .s_valid(valid), .s_ready(ready), .fifo_full(full), .fifo_empty(empty));
        store buffer(.clk(clk), .full(full), .empty(empty));
    end endgenerate
endmodule
module giver(input wire clk, output reg m_valid, input wire m_ready);
    always @(posedge clk) if (m_ready) m_valid <= !m_valid; else m_valid <= 1;
endmodule
module taker(input wire clk, input wire s_valid, output reg s_ready, input wire fifo_full, input wire fifo_empty);
    always @(posedge clk) begin : ctrl
        s_ready <= 1;
        if (s_valid && s_ready) s_ready <= 0;
        else if (fifo_full) s_ready <= 0;
        else if (!fifo_empty) s_ready <= 1;
    end
endmodule
module store(input wire clk, output reg full, output reg empty);
    always @(posedge clk) full <= empty;
endmodule
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RCW_PREFERENCES", str(tmp_path / "preferences"))
    shutil.copytree(TINY, tmp_path / "tiny")
    for path in (tmp_path / "tiny").rglob("*.[vc]"):
        path.write_text("".join(line for line in path.read_text().splitlines(True) if "pragma recap" not in line))
    return tmp_path / "tiny" / "tiny.workbench.yaml"


@pytest.fixture
def propose(project: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    def run(*more: str) -> dict[str, Any]:
        assert main(["propose", str(project), "--json", *more]) == 0
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        return document

    return run


def test_marks_are_written_on_request_alone_and_taken_back(
    project: Path, propose: Callable[..., dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    top, host = project.parent / "hdl" / "tiny_top.v", project.parent / "host" / "main.c"
    top.write_bytes(b"// Z\xe4hler\r\n" + top.read_bytes().replace(b"\n", b"\r\n"))
    before = {path: path.read_bytes() for path in (top, host)}
    told = propose()
    assert told["accepted"] == []
    assert {p["id"]: p["pragma"] for p in told["proposals"]} == {
        "tiny_top.port:take_to_fpga": "take_to_fpga recv(data, $CPU, to_fpga)",
        "tiny_top.port:give_to_host": "give_to_host send(data, $CPU, to_host)",
        "host/main.c:11:20": "fpgaOpen overhead(initialize)",
        "host/main.c:15:9": "fpgaWrite send(data, tiny_top.port, to_fpga)",
        "host/main.c:16:16": "fpgaReadReg recv(ctrl, tiny_top.port, to_host)",
        "host/main.c:19:20": "fpgaReadReg_2 recv(ctrl, tiny_top.port, to_host)",
        "host/main.c:20:5": "fpgaClose overhead(finalize)",
    }
    assert {path: path.read_bytes() for path in before} == before

    accepted = propose("--accept", "tiny_top.port", "--accept", "host/main.c:15:9")
    assert accepted["accepted"] == ["tiny_top.port:take_to_fpga", "tiny_top.port:give_to_host", "host/main.c:15:9"]
    lines = top.read_bytes().split(b"\n")
    added = [line for line in lines if b"pragma" in line]
    assert added == [
        b"            //pragma recap take_to_fpga recv(data, $CPU, to_fpga)\r",
        b"            //pragma recap give_to_host send(data, $CPU, to_host)\r",
    ]
    assert b"\n".join(line for line in lines if line not in added) == before[top]
    assert host.read_text().count("#pragma recap fpgaWrite send(data, tiny_top.port, to_fpga)\n") == 1

    assert sorted(propose("--undo")["restored"]) == sorted(map(str, before))
    assert {path: path.read_bytes() for path in before} == before
    assert main(["propose", str(project), "--undo"]) == 2
    assert "no marks of this project to take back" in capsys.readouterr().err
    assert main(["propose", str(project), "--accept", "tiny_top.prt"]) == 2
    assert "Did you mean 'tiny_top.port'?" in capsys.readouterr().err


def test_everything_accepted_leaves_nothing_to_propose_or_to_tell(
    project: Path, propose: Callable[..., dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(propose("--accept", "all")["accepted"]) == 7
    again = propose()
    assert (again["proposals"], again["diagnostics"]) == ([], [])
    host = project.parent / "host" / "main.c"
    host.write_text(host.read_text() + "\n")
    assert main(["propose", str(project), "--undo"]) == 2
    assert "was changed since" in capsys.readouterr().err
    assert "#pragma recap" in host.read_text()


def workspace_of(project: Path, text: str, top: str) -> Workspace:
    (project.parent / "hdl" / "tiny_top.v").write_text(text)
    project.write_text(project.read_text().replace("top: tiny_top", f"top: {top}").replace("    DELAY: 4\n", "", 1)
                       .replace("  parameters:\n", ""))  # fmt: skip
    return open_workspace(project, load_plugins())


def test_states_by_their_registers_and_waits_by_their_handshakes(project: Path) -> None:
    workspace = workspace_of(project, MACHINES, "top")
    scan = workspace.scan()
    found = {p.id: p for p in proposed(workspace, scan) if p.file.endswith(".v")}
    assert {name: format_pragma(p.pragma) for name, p in found.items()} == {
        "top.line_10:IDLE": "IDLE wait_recv(late_sender, $CPU, to_fpga): state == IDLE",
        "top.line_10:RUN": "RUN work(): state == RUN",
        "top.line_10:LOST": "LOST work(): state == LOST",
        "top.line_10:DONE": "DONE overhead(finalize): state == DONE",
        "top.hot:A": "A work()",
        "top.hot:take_to_fpga": "take_to_fpga recv(data, $CPU, to_fpga)",
        "top.hot:B": "B work()",
        "top.hot:wait_to_host": "wait_to_host wait_send(late_receiver, $CPU, to_host)",
        "top.hot:give_to_host": "give_to_host send(data, $CPU, to_host)",
        "top.hot:C": "C work()",
        "top.others:held_0": "held_0 work()",
        "top.others:held_1": "held_1 work()",
    }
    assert found["top.hot:B"].group == "top.step"
    assert "the state register step is B" in found["top.hot:B"].why
    lost = [d for d in scan.marks if "LOST" in d.message]
    assert [(Path(d.file or "").name, d.line, d.severity.value) for d in lost] == [("tiny_top.v", 18, "warning")]


def test_partners_and_messages_are_the_designs_own_names(project: Path) -> None:
    workspace = workspace_of(project, OTHERS, "lanes")
    found = {p.id: format_pragma(p.pragma) for p in proposed(workspace, workspace.scan()) if p.file.endswith(".v")}
    assert found == {
        "giver.line_12:give_m": "give_m send(data, lanes.lane.to, m)",
        "giver.line_12:wait_m": "wait_m wait_send(late_receiver, lanes.lane.to, m)",
        "taker.ctrl:take_m": "take_m recv(data, lanes.lane.from, m)",
        "taker.ctrl:wait_fifo": "wait_fifo wait_send(buffer_full, lanes.lane.buffer, fifo)",
        "taker.ctrl:take_fifo": "take_fifo recv(data, lanes.lane.buffer, fifo)",
    }


@pytest.mark.parametrize(
    ("signal", "high", "side", "on"),
    [
        ("s_axis_tvalid", True, "valid", True), ("tready_o", False, "ready", False), ("full", True, "ready", False),
        ("wr_full_n", True, "ready", True), ("fifoempty", False, "valid", True), ("rd_en", True, "ready", True),
        ("req", True, "valid", True), ("bus_ack", False, "ready", False), ("thread", True, "", False),
        ("carefully", True, "", False), ("d", True, "", False),
    ],
)  # fmt: skip
def test_words_of_handshakes(signal: str, high: bool, side: str, on: bool) -> None:
    found = Words().asks(Term(signal, high))
    assert (found.side, found.on) == (side, on) if found else not side


def marked(name: str, category: Category, target: str, message: str, line: int) -> Branch:
    pragma = Pragma(name, category, ("data",), (target,), (message,))
    return Branch(line, "if", pragmas=(PlacedPragma(pragma, "a.v", line, 1),))


def design(*branches: Branch) -> ProjectScan:
    giver = HdlBlock("m.give", "m", "always", "a.v", 1, 9, "clk", "posedge", branches[:1], ("top.m.give",))
    taker = HdlBlock("n.take", "n", "always", "a.v", 11, 19, "clk", "posedge", branches[1:], ("top.n[0].take",))
    return ProjectScan(HostScan(()), HdlScan((giver, taker), (("top", "top"), ("top.m", "m"), ("top.n[0]", "n"))))


def test_marks_are_held_against_each_other_and_against_the_design() -> None:
    right = design(
        marked("give", Category.SEND, "n[*].take", "x1", 2), marked("take", Category.RECV, "top.m", "x1", 12)
    )
    assert mark_problems(right) == ()
    other = design(
        marked("give", Category.SEND, "n[0]", "points", 2), marked("take", Category.RECV, "m.give", "point", 12)
    )
    assert [(d.message, d.hint, d.line) for d in mark_problems(other)] == [
        ("'give' sends the message 'points', and no mark receives it", "Did you mean 'point'?", 2),
        ("'take' receives the message 'point', and no mark sends it", "Did you mean 'points'?", 12),
    ]
    alone = design(marked("give", Category.SEND, "top.n", "x1", 2))
    assert "such as NAME recv(data, m.give, x1)" in mark_problems(alone)[0].hint
    lost = design(
        marked("give", Category.SEND, "top.n.takes", "x1", 2), marked("take", Category.WAIT_RECV, "top.mm", "x1", 12)
    )
    assert [(d.message, d.hint) for d in mark_problems(lost)] == [
        ("there is no block or instance 'top.n.takes' in the design", "Did you mean 'top.n[*].take'?"),
        ("there is no block or instance 'top.mm' in the design", "Did you mean 'top.m'?"),
    ]


def test_memories_and_a_host_without_marks_are_no_lost_partners() -> None:
    assert (
        mark_problems(design(marked("a", Category.SEND, "$MEM", "m1", 2), marked("b", Category.RECV, "$CPU", "x1", 12)))
        == ()
    )
    unread = replace(design(marked("a", Category.SEND, "gone", "m1", 2)).hdl, instances=())
    assert mark_problems(ProjectScan(HostScan(()), unread)) == ()


def test_no_two_commands_come_with_the_same_key() -> None:
    given = [key for _, key in COMMANDS.values() if key]
    assert sorted(given) == sorted(set(given))
