"""Pragmas that are proposed, written into the sources on request, taken back; and marks held against the design."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from answers import document_of
from benchmarks.proposals import UNMARKED, Bench, designs
from test_states_found import MACHINES

from workbench.api.source.pragma_text import format_pragma
from workbench.cli.main import main
from workbench.model.pragma import Category, PlacedPragma, Pragma
from workbench.model.proposal import Proposal
from workbench.model.scan import Branch, HdlBlock, HdlScan, HostScan, ProjectScan, Term
from workbench.session.mark.handshakes import HandshakeWords
from workbench.session.mark.mark_checks import mark_problems
from workbench.session.mark.marking import proposed
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.keys import COMMANDS
from workbench.session.program.plugins import load_plugins

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
    always @(posedge clk)
        if (m_valid && m_ready) m_valid <= 0; else if (m_valid && !m_ready) m_valid <= 1; else m_valid <= 1;
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


#: The same in VHDL, a record and a function among it; and two processes of one entity that speak with each other.
VHDL_OTHERS = """
library ieee;
use ieee.std_logic_1164.all;
entity giver is port (clk : in std_logic; m_valid : out std_logic; m_ready : in std_logic); end;
architecture rtl of giver is signal valid : std_logic := '0'; begin
  m_valid <= valid;
  process (clk) begin
    if rising_edge(clk) then
      if valid = '1' and m_ready = '1' then valid <= '0';
      elsif valid = '1' and m_ready = '0' then valid <= '1';
      else valid <= '1'; end if;
    end if;
  end process;
end;
library ieee;
use ieee.std_logic_1164.all;
entity store is port (clk : in std_logic; full, empty : out boolean); end;
architecture rtl of store is signal e : boolean := true; begin
  empty <= e;
  process (clk) begin if rising_edge(clk) then full <= e; e <= not e; end if; end process;
end;
library ieee;
use ieee.std_logic_1164.all;
package bus_p is type bus_t is record tvalid : std_logic; tdata : std_logic_vector(7 downto 0); end record; end;
library ieee;
use ieee.std_logic_1164.all;
use work.bus_p.all;
entity taker is
  port (clk : in std_logic; s : in bus_t; s_ready : out std_logic; fifo_full, fifo_empty : in boolean);
end;
architecture rtl of taker is
  signal ready, passes : std_logic := '0';
  function is_empty(x : boolean) return boolean is begin return x; end;
begin
  s_ready <= ready;
  passes <= '1' when s.tvalid = '1' and ready = '1' else '0';
  ctrl : process (clk) begin
    if rising_edge(clk) then
      if passes = '1' then
        ready <= '0';
      elsif fifo_full then
        ready <= '0';
      elsif not fifo_empty then
        ready <= '1';
      elsif is_empty(fifo_empty) then
        ready <= '0';
      end if;
    end if;
  end process;
end;
library ieee;
use ieee.std_logic_1164.all;
use work.bus_p.all;
entity lanes is port (clk, wr_en : in std_logic; wr_data : in std_logic_vector(31 downto 0); q : out std_logic); end;
architecture rtl of lanes is signal req_valid, req_ready : std_logic := '0'; begin
  lane : for i in 0 to 1 generate
    signal valid, ready : std_logic;
    signal full, empty : boolean;
    signal s : bus_t;
  begin
    s.tvalid <= valid;
    s.tdata <= (others => '0');
    from_i : entity work.giver port map (clk => clk, m_valid => valid, m_ready => ready);
    to_i : entity work.taker port map (clk, s, ready, full, empty);
    buffer_i : entity work.store port map (clk => clk, full => full, empty => empty);
  end generate;
  asks : process (clk) begin
    if rising_edge(clk) then
      if wr_en = '1' then
        req_valid <= '1';
      elsif req_valid = '1' and req_ready = '1' then
        req_valid <= '0';
      end if;
    end if;
  end process;
  answers : process (clk) begin
    if rising_edge(clk) then
      req_ready <= '0';
      if req_valid = '1' then req_ready <= '1'; q <= wr_data(0); else q <= '0'; end if;
    end if;
  end process;
end;
"""
#: Blocks of one module that speak with each other; states within states, beside them, and in the other arm of an if.
WITHIN = """
module talks(input wire clk, input wire wr_en, input wire [31:0] wr_data);
    reg req_valid, req_ready, wr_full;
    reg [1:0] mode, step, lane, slow;
    always @(posedge clk) begin : asks
        if (req_valid && !req_ready) wr_full <= 1;
        else req_valid <= wr_en;
    end
    always @(posedge clk) begin : answers
        if (req_valid) req_ready <= 1;
        else req_ready <= wr_data[0];
    end
    always @(posedge clk) begin : nested
        if (wr_en) begin
            case (mode)
                0: mode <= 1;
                1: mode <= 2;
                2: case (step)
                       0: step <= 1;
                       1: begin step <= 0; mode <= 0; end
                   endcase
            endcase
        end else begin
            case (slow)
                0: slow <= 1;
                1: slow <= 0;
            endcase
        end
        case (lane)
            0: lane <= 1;
            1: lane <= 0;
        endcase
    end
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
        document: dict[str, Any] = document_of(capsys, ["propose", str(project), "--json", *more])
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
        "host/main.c:16:16": "fpgaReadReg wait_recv(late_sender|poll, tiny_top.port, to_host)",
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
    assert "no accepted marks to undo" in capsys.readouterr().err
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
        "top.line_10:LOST": "LOST work(): state == LOST",
        "top.hot:take_to_fpga": "take_to_fpga recv(data, $CPU, to_fpga)",
        "top.hot:wait_to_host": "wait_to_host wait_send(late_receiver, $CPU, to_host)",
        "top.hot:C": "C work()",
        "top.others:held_0": "held_0 work()",
        "top.others:held_1": "held_1 work()",
    }
    assert found["top.hot:C"].group == "top.step"
    assert "the state register step is C" in found["top.hot:C"].why
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


def test_marks_of_an_if_leave_those_of_its_else_if_on_the_same_line(project: Path) -> None:
    workspace_of(project, OTHERS, "lanes")
    main(["propose", str(project), "--accept", "giver.line_12:give_m"])
    lines = (project.parent / "hdl" / "tiny_top.v").read_text().splitlines()
    marked_line = next(number for number, line in enumerate(lines) if "recap give_m" in line)
    assert "else if" in lines[marked_line + 1], "on the line on which the if ends"
    workspace = open_workspace(project, load_plugins())
    assert "giver.line_12:wait_m" in {p.id for p in proposed(workspace, workspace.scan())}


def test_handshakes_in_vhdl_are_those_of_verilog(project: Path) -> None:
    (project.parent / "hdl" / "lanes.vhd").write_text(VHDL_OTHERS)
    text = project.read_text().replace("sources: [hdl/*.v]", "language: vhdl\n  sources: [hdl/*.vhd]")
    project.write_text(text)
    workspace = workspace_of(project, "", "lanes")
    scan = workspace.scan()
    assert [told.message.partition(":")[0] for told in scan.hdl.diagnostics] == [
        "the top module 'lanes' has no ports named as the platform says"
    ]
    found = {p.id: p for p in proposed(workspace, scan) if p.file.endswith(".vhd")}
    assert {name: format_pragma(p.pragma) for name, p in found.items()} == {
        "giver.line_7:give_m": "give_m send(data, lanes.lane.to_i, m)",
        "giver.line_7:wait_m": "wait_m wait_send(late_receiver, lanes.lane.to_i, m)",
        "taker.ctrl:take_m": "take_m recv(data, lanes.lane.from_i, m)",
        "taker.ctrl:wait_fifo": "wait_fifo wait_send(buffer_full, lanes.lane.buffer_i, fifo)",
        "taker.ctrl:take_fifo": "take_fifo recv(data, lanes.lane.buffer_i, fifo)",
        "lanes.asks:take_to_fpga": "take_to_fpga recv(data, $CPU, to_fpga)",
        "lanes.asks:give_req": "give_req send(data, lanes.answers, req)",
        "lanes.answers:take_req": "take_req recv(data, lanes.asks, req)",
    }
    assert "passes and s.tvalid and ready" in found["taker.ctrl:take_m"].why


def test_handshakes_within_a_module_and_several_registers_of_a_block(project: Path) -> None:
    workspace = workspace_of(project, WITHIN, "talks")
    found = {p.id: format_pragma(p.pragma) for p in proposed(workspace, workspace.scan()) if p.file.endswith(".v")}
    assert found == {
        "talks.asks:wait_req": "wait_req wait_send(late_receiver, talks.answers, req)",
        "talks.answers:take_req": "take_req recv(data, talks.asks, req)",
        "talks.nested:mode_0": "mode_0 work()",
        "talks.nested:mode_1": "mode_1 work()",
        "talks.nested:step_0": "step_0 work()",
        "talks.nested:step_1": "step_1 work()",
        "talks.nested:slow_0": "slow_0 work()",
        "talks.nested:slow_1": "slow_1 work()",
    }


@pytest.mark.parametrize(
    ("signal", "high", "side", "on"),
    [
        ("s_axis_tvalid", True, "valid", True), ("tready_o", False, "ready", False), ("full", True, "ready", False),
        ("wr_full_n", True, "ready", True),
        ("axis_i.tready", False, "ready", False), ("lanes(3).valid", True, "valid", True),
        ("full_i.data", True, "", False),
        ("fifoempty", False, "valid", True), ("rd_en", True, "ready", True),
        ("req", True, "valid", True), ("bus_ack", False, "ready", False), ("thread", True, "", False),
        ("carefully", True, "", False), ("d", True, "", False),
    ],
)  # fmt: skip
def test_words_of_handshakes(signal: str, high: bool, side: str, on: bool) -> None:
    found = HandshakeWords().asks(Term(signal, high))
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
        ("no pragma receives message 'points', which 'give' sends", "Did you mean 'point'?", 2),
        ("no pragma sends message 'point', which 'take' receives", "Did you mean 'points'?", 12),
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


def test_what_is_proposed_without_a_partner_is_none_that_lost_it() -> None:
    """The other side has no branch for it; where it has one, that is missed."""
    give = Pragma("give_it", Category.SEND, ("data",), ("top.n",), ("x1",))
    take = Pragma("take", Category.RECV, ("data",), ("m.give",), ("x1",))
    own = Proposal("m.give:give_it", "", "a.v", 2, 1, give, "")
    other = Proposal("n.take:take", "", "a.v", 12, 1, take, "")
    accepted = design(marked("give", Category.SEND, "top.n", "x1", 2))
    seen: list[ProjectScan] = []

    def propose(scan: ProjectScan) -> list[Proposal]:
        seen.append(scan)
        return [own]

    assert mark_problems(accepted, propose) == ()
    assert [block.pragmas for block in seen[0].hdl.blocks] == [(), ()]
    assert len(mark_problems(accepted, lambda bare: [own, other])) == 1
    assert len(mark_problems(design(marked("give", Category.SEND, "top.n", "x2", 2)), propose)) == 1


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


#: A controller in two processes that waits for a core, one that answers a bus, and one that iterates in its else.
UNSHOWN = """
module unshown(input wire clk, input wire wr_en, input wire [31:0] wr_data, input wire bready, output reg bvalid,
               output reg [31:0] x);
    localparam CTRL_IDLE = 0, CTRL_INIT = 1, S_WAIT = 2, CTRL_ROUNDS = 3, CTRL_DONE = 4, S_SLEEP = 5;
    reg [2:0] state, next;
    reg [5:0] count;
    wire core_ready;
    core core(.clk(clk), .go(state == CTRL_INIT), .ready(core_ready));
    always @(posedge clk) begin : control
        state <= next;
    end
    always @* begin
        next = state;
        case (state)
            CTRL_IDLE: if (wr_en) next = CTRL_INIT;
            CTRL_INIT: next = S_WAIT;
            S_WAIT: if (core_ready) next = CTRL_ROUNDS;
            CTRL_ROUNDS: if (count == 63) next = CTRL_DONE;
            CTRL_DONE: next = S_SLEEP;
            S_SLEEP: if (count == 9) next = CTRL_IDLE;
        endcase
    end
    always @(posedge clk) begin : answers
        if (bready) bvalid <= 0;
        else bvalid <= wr_en;
    end
    always @(posedge clk) begin : iterates
        if (core_ready) x <= wr_data;
        else begin
            x <= x + (x >>> 1);
            count <= count + 1;
        end
    end
endmodule
module core(input wire clk, input wire go, output reg ready);
    always @(posedge clk) ready <= go;
endmodule
"""


def test_a_name_an_else_and_a_ready_alone_show_nothing(project: Path) -> None:
    workspace = workspace_of(project, UNSHOWN, "unshown")
    found = {p.id: format_pragma(p.pragma) for p in proposed(workspace, workspace.scan()) if p.file.endswith(".v")}
    assert found == {
        "unshown.control:CTRL_IDLE": "CTRL_IDLE wait_recv(late_sender, $CPU, to_fpga): state == CTRL_IDLE",
        "unshown.control:S_WAIT": "S_WAIT wait_send(late_receiver, unshown.core, core): state == S_WAIT",
        "unshown.control:CTRL_ROUNDS": "CTRL_ROUNDS work(): state == CTRL_ROUNDS",
    }


def test_a_hosts_marks_speak_of_all_that_the_fpgas_own_marks_do(project: Path) -> None:
    """The FPGA's marks take `w1` and give `d1` and `s1`; which call each is for nothing shows."""
    shutil.copy(TINY / "hdl" / "tiny_top.v", project.parent / "hdl")
    workspace = open_workspace(project, load_plugins())
    found = {p.pragma.messages for p in proposed(workspace, workspace.scan()) if p.file.endswith(".c")}
    assert found == {(), ("w1",), ("d1", "s1")}
    assert main(["propose", str(project), "--accept", "all"]) == 0
    assert not [d.message for d in open_workspace(project, load_plugins()).scan().diagnostics if "message" in d.message]


#: What a marked arm of the state machine asks for, an `if` beside it asks for too, and so does one that asks for more.
ASKED_TWICE = """
module top(input wire clk, input wire wr_en, input wire [31:0] wr_data);
    wire full;
    core c(clk, wr_en, full);
endmodule
module core(input wire clk, input wire s_valid, input wire fifo_full);
    localparam IDLE = 0, RUN = 1;
    reg state, last, kept;
    always @(posedge clk) begin : ctrl
        if (s_valid) kept <= 1;
        if (s_valid && last) kept <= 0;
        case (state)
            IDLE:
                if (s_valid) begin
                    //MARK
                    state <= RUN;
                end
            RUN: begin last <= !last; state <= IDLE; end
        endcase
    end
endmodule
"""


def test_what_an_arm_of_a_state_asks_for_is_proposed_there_alone(project: Path) -> None:
    workspace = workspace_of(project, ASKED_TWICE, "top")
    found = [p.line for p in proposed(workspace, workspace.scan()) if p.id.startswith("core.ctrl:take")]
    assert found == [11, 16]
    text = ASKED_TWICE.replace("//MARK", "//pragma recap taken recv(data, $CPU, x)")
    workspace = workspace_of(project, text, "top")
    assert [p.id for p in proposed(workspace, workspace.scan()) if "core" in p.id] == ["core.ctrl:RUN"]


#: A host of Xilinx's run-time: one call synchronises in both directions, the line says which.
XRT = """
#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
int main() {
    xrt::device device(0);
    xrt::bo bo(device, 4096, 0, 0);
    bo.sync(XCL_BO_SYNC_BO_TO_DEVICE);
    auto direction = XCL_BO_SYNC_BO_FROM_DEVICE;
    bo.sync(direction);
    bo.sync(XCL_BO_SYNC_BO_FROM_DEVICE, 64, 0);
    return 0;
}
"""


def test_a_call_for_several_things_is_what_its_line_says(project: Path) -> None:
    (project.parent / "host" / "main.cpp").write_text(XRT)
    text = project.read_text().replace("nallatech_h101", "xrt_native").replace("main.c]", "main.cpp]")
    project.write_text(text)
    workspace = open_workspace(project, load_plugins())
    found = {p.line: p.pragma.category.value for p in proposed(workspace, workspace.scan()) if p.file.endswith(".cpp")}
    assert {line: category for line, category in found.items() if line in (7, 9, 10)} == {7: "send", 10: "recv"}


def test_every_proposal_leaves_the_first_finding_as_good_as_it_was(tmp_path: Path) -> None:
    """The sweep over all designs is tests/benchmarks/proposals.py; this is one of its rows."""
    tiny = next(design for design in designs() if design.name == "tiny")
    row = Bench(predict_s=0).row(tiny, UNMARKED, tmp_path)
    assert row is not None
    assert (row.ok, row.why, row.proposals) == (True, "", 7)
    assert row.before is not None
    assert row.after is not None
    assert row.after.key == row.before.key
