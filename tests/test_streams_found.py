"""Streams of any RTL, told by the names of its instances' ports after elaboration: edges, FIFOs, who holds whom."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.verilog import VerilogLanguage

from workbench.hdl.verilog.design import read_design
from workbench.hdl.verilog.elaborate import elaborate
from workbench.hdl.verilog.labels import labelled
from workbench.hdl.verilog.streams import find_streams
from workbench.model.application import HardwareSources, ReadOut, StreamSignals
from workbench.model.diagnostic import WorkbenchError
from workbench.model.scan import HdlScan
from workbench.session.make.pipeline import instrument_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

DESIGN = Path(__file__).parent / "data" / "applications" / "fork_join" / "fork_join.v"


def scan(
    folder: Path, text: str, streams: tuple[StreamSignals, ...] = (), fifos: tuple[str, ...] = (), top: str = "top"
) -> HdlScan:
    (folder / "top.sv").write_text(text)
    hardware = HardwareSources(
        sources=("top.sv",), top=top, read_out=ReadOut(first=0, last=15), streams=streams, fifos=fifos
    )
    return VerilogLanguage().scan(folder, hardware, PLATFORM, {})


def edges(found: HdlScan) -> Mapping[str, tuple[str, str, int]]:
    assert [d.text() for d in found.diagnostics] == []
    return {s.id: (s.source, s.target, s.bits) for s in found.streams}


def test_every_edge_of_a_fork_and_join_is_found(tmp_path: Path) -> None:
    scanned = scan(tmp_path, DESIGN.read_text(), top="fork_join")
    assert edges(scanned) == {
        "fork_join.split.in": ("", "fork_join.split", 32),
        "fork_join.split.a": ("fork_join.split", "fork_join.short", 32),
        "fork_join.split.b": ("fork_join.split", "fork_join.ahead", 32),
        "fork_join.short.out": ("fork_join.short", "fork_join.merge", 32),
        "fork_join.ahead.out": ("fork_join.ahead", "fork_join.gather", 32),
        "fork_join.gather.m_axis": ("fork_join.gather", "fork_join.merge", 32),
        "fork_join.merge.out": ("fork_join.merge", "", 32),
    }
    assert [(f.id, f.depth) for f in scanned.fifos] == [("fork_join.short", 16), ("fork_join.ahead", 16)]
    assert {s.clock for s in scanned.streams} == {"clk"}
    assert {s.file for s in scanned.streams} == {"top.sv"}


def test_a_last_word_is_a_word_unless_its_module_says_that_it_marks_the_end_alone(tmp_path: Path) -> None:
    ports = """input clk, input [7:0] s_axis_tdata, input s_axis_tvalid, input s_axis_tlast, output s_axis_tready,
               output [7:0] m_axis_tdata, output m_axis_tvalid, output m_axis_tlast, input m_axis_tready"""
    body = """reg full, last; reg [7:0] held;
              assign s_axis_tready = !full; assign m_axis_tvalid = full;
              assign {m_axis_tlast, m_axis_tdata} = {last, held};
              always @(posedge clk) if (full ? m_axis_tready : s_axis_tvalid)
                  {full, last, held} <= {!full, s_axis_tlast, s_axis_tdata};"""
    whole = ", ".join(f".{name}({name})" for name in re.findall(r"clk|\w+_axis_\w+", ports))
    for says, marks in (("", {""}), ("localparam END_MARK = 1;", {"queue.s_axis_tlast", "queue.m_axis_tlast"})):
        queue = f"module queue({ports}); {says} {body} endmodule"
        scanned = scan(tmp_path, f"module top({ports}); queue queue({whole}); endmodule {queue}")
        assert {stream.mark for stream in scanned.streams} == marks


def test_it_is_told_which_stream_holds_which_through_logic_alone(tmp_path: Path) -> None:
    scanned = scan(tmp_path, DESIGN.read_text(), top="fork_join")
    names = [s.id.rpartition("fork_join.")[2] for s in scanned.streams]
    holds = {
        (name, wait.signal, names[wait.other], wait.held_by)
        for name, stream in zip(names, scanned.streams, strict=True)
        for wait in stream.waits
    }
    assert ("split.a", "valid", "split.b", "ready") in holds  # lockstep
    assert ("split.in", "ready", "split.a", "ready") in holds
    assert ("gather.m_axis", "ready", "short.out", "valid") in holds
    assert not any(name == "ahead.out" for name, *_ in holds)  # a FIFO's flags are registers


def test_of_signals_in_one_vector_each_is_held_by_its_own_bits_alone(tmp_path: Path) -> None:
    """A chain whose ready goes back combinationally: a stage waits for the next one's, not for any bit's."""
    scanned = scan(
        tmp_path,
        """
        module stage(input clk, input in_valid, output in_ready, output out_valid, input out_ready);
            reg full; always @(posedge clk) full <= in_valid;
            assign in_ready = ~full | out_ready; assign out_valid = full;
        endmodule
        module top(input clk, input s_valid, output s_ready, output m_valid, input m_ready, input [12:0] stop);
            wire [12:0] v, r, w;
            assign v[0] = s_valid; assign s_ready = r[0]; assign m_valid = v[12];
            assign w = r & ~stop; assign r[12] = m_ready;
            for (genvar i = 0; i < 12; i++) begin : s
                stage st(clk, v[i], r[i], v[i + 1], w[i + 1]);
            end
        endmodule
        """,
    )
    held = {one.id: {scanned.streams[wait.other].id for wait in one.waits} for one in scanned.streams}
    assert held["top.s[4].st.in"] == {"top.s[4].st.out"}
    assert held["top.s[4].st.out"] == {"top.s[5].st.in"}


def test_flags_are_valid_and_ready_turned_round_and_gated_offers_are_what_is_wanted(tmp_path: Path) -> None:
    scanned = scan(
        tmp_path,
        """
        module my_fifo(input clk, input push, input [7:0] din, output reg full,
                       input pop, output [7:0] dout, output reg empty);
            reg [7:0] store [0:31];
            always @(posedge clk) begin full <= push; empty <= pop; store[0] <= din; end
            assign dout = store[0];
        endmodule
        module top(input clk, input s_valid, output s_ready, input [7:0] s_data, output m_valid, input m_ready);
            wire full, empty, push;
            assign push = s_valid && !full;
            assign s_ready = ~full;
            my_fifo f(.clk(clk), .push(push), .din(s_data), .full(full), .pop(m_ready & ~empty), .empty(empty));
            assign m_valid = !empty;
        endmodule
        """,
    )
    assert edges(scanned) == {"top.f.in": ("", "top.f", 8), "top.f.out": ("top.f", "", 8)}
    into, out = scanned.streams
    assert (into.valid, into.ready) == ("s_valid", "!f.full")
    assert (out.valid, out.ready) == ("!f.empty", "m_ready")
    assert [(f.module, f.depth) for f in scanned.fifos] == [("my_fifo", 32)]


def test_a_port_that_is_called_by_its_direction_alone_has_that_name(tmp_path: Path) -> None:
    scanned = scan(
        tmp_path,
        """
        module top(input clk, input i_tvalid, output i_tready, input [7:0] i_tdata,
                   output o_tvalid, input o_tready, output [7:0] o_tdata);
            core c(.*);
        endmodule
        module core(input clk, input i_tvalid, output i_tready, input [7:0] i_tdata,
                    output reg o_tvalid, input o_tready, output reg [7:0] o_tdata);
            assign i_tready = o_tready;
            always @(posedge clk) if (o_tready) begin o_tvalid <= i_tvalid; o_tdata <= i_tdata; end
        endmodule
        """,
    )
    assert edges(scanned) == {"top.c.i": ("", "top.c", 8), "top.c.o": ("top.c", "", 8)}


def test_vectors_interfaces_and_structs_are_followed_bit_by_bit(tmp_path: Path) -> None:
    scanned = scan(
        tmp_path,
        """
        interface link; logic valid, ready; logic [15:0] data;
            modport src(output valid, data, input ready); modport snk(input valid, data, output ready);
        endinterface
        package p; typedef struct packed { logic valid; logic [7:0] data; } req_t; endpackage
        module give(input clk, link.src o); assign o.valid = clk; assign o.data = 0; endmodule
        module take(input clk, link.snk i); reg r; always @(posedge clk) r <= ~r; assign i.ready = r; endmodule
        module stage(input clk, input in_valid, output in_ready, input [7:0] in_data,
                     output out_valid, input out_ready, output [7:0] out_data);
            reg full; always @(posedge clk) full <= in_valid;
            assign in_ready = !full; assign out_valid = full; assign out_data = 0;
        endmodule
        module send(output p::req_t x_o, input x_ready_i); assign x_o = 0; endmodule
        module top(input clk);
            link l(); give g(clk, l); take t(clk, l);
            wire [2:0] v, r; wire [2:0][7:0] d;
            for (genvar i = 0; i < 2; i++) begin : s
                stage st(.clk(clk), .in_valid(v[i]), .in_ready(r[i]), .in_data(d[i]),
                         .out_valid(v[i + 1]), .out_ready(r[i + 1]), .out_data(d[i + 1]));
            end
            p::req_t q; wire q_ready;
            send a(.x_o(q), .x_ready_i(q_ready));
            stage b(.clk(clk), .in_valid(q.valid), .in_ready(q_ready), .in_data(q.data));
        endmodule
        """,
    )
    between = {(s.source, s.target, s.bits) for s in scanned.streams if s.source and s.target}
    assert ("top.g", "top.t", 16) in between
    assert ("top.s[0].st", "top.s[1].st", 8) in between
    assert ("top.a", "top.b", 8) in between
    (link,) = (s for s in scanned.streams if s.source == "top.g")
    assert (link.valid, link.ready) == ("l.valid", "l.ready")


def test_what_names_do_not_tell_is_pointed_at(tmp_path: Path) -> None:
    text = """
        module store(input clk, input wire a, output reg b, output reg c, input wire d);
            reg [7:0] words [0:3]; always @(posedge clk) begin b <= a; c <= d; words[0] <= a; end
        endmodule
        module top(input clk); reg a, d; wire b, c; store u(clk, a, b, c, d);
            always @(posedge clk) begin a <= ~a; d <= ~d; end endmodule
    """
    told = (
        StreamSignals(name="in", valid="u.a", ready="!u.b", target="u", bits=8),
        StreamSignals(name="out", valid="u.c", ready="u.d", source="u", bits=8),
    )
    scanned = scan(tmp_path, text, told, ("u",))
    assert edges(scanned) == {"top.in": ("top", "top.u", 8), "top.out": ("top.u", "top", 8)}
    assert [(f.id, f.depth) for f in scanned.fifos] == [("top.u", 4)]


def test_of_a_library_only_what_holds_pragmas_has_a_name_or_meets_the_design_is_told(tmp_path: Path) -> None:
    text = DESIGN.read_text()
    vendor, _, top = text.partition("module fork_join")
    (tmp_path / "vendor.sv").write_text(vendor)
    (tmp_path / "top.sv").write_text(f"module fork_join{top}")

    def scanned() -> HdlScan:
        hardware = HardwareSources(
            sources=("*.sv",), top="fork_join", read_out=ReadOut(first=0, last=15), library=("vend*.sv",),
            names={"short": "App.a"},
        )  # fmt: skip
        return VerilogLanguage().scan(tmp_path, hardware, PLATFORM, {})

    design = scanned()
    assert edges(design) == {
        "fork_join.split.in": ("", "fork_join.split", 32),
        "fork_join.split.a": ("fork_join.split", "App.a", 32),
        "App.a.out": ("App.a", "fork_join.merge", 32),
        "fork_join.merge.out": ("fork_join.merge", "", 32),
    }
    assert [(f.id, f.input, f.output) for f in design.fifos] == [("App.a", 2, 3)]
    waits = {(s.id, design.streams[wait.other].id) for s in design.streams for wait in s.waits}
    assert ("fork_join.split.in", "fork_join.split.a") in waits, "numbered as those that are left"
    assert [block.component for block in design.blocks] == ["fork_join"]
    marked = vendor.replace("if (rst) begin", "if (rst) begin\n//pragma recap reset work()\n", 1)
    (tmp_path / "vendor.sv").write_text(marked)
    assert [block.component for block in scanned().blocks] == ["fork_join", "fifo"]


def test_names_that_the_design_does_not_have_are_told_at_the_projects_lines(tmp_path: Path) -> None:
    for source in DESIGN.parent.iterdir():
        (tmp_path / source.name).write_text(source.read_text())
    path = tmp_path / "fork_join.workbench.yaml"
    pointed = """  streams:
    - {name: a, valid: split.in_vali, ready: short.in_ready}
    - name: b
      valid: split.in_valid
      ready: '!shorts.in_ready'
      source: splitt
    - {name: c, valid: 'split.in_valid[1]', ready: short.in_ready}
  fifos: [aheads]
  names: {gathers: words}
settings:"""
    path.write_text(path.read_text().replace("settings:", pointed))
    lines = path.read_text().splitlines()
    workspace = open_workspace(path, load_plugins())
    told = {
        ("the design has no signal 'split.in_vali'", "Did you mean 'split.in_valid'?"): "split.in_vali,",
        ("the design has no signal '!shorts.in_ready'", "Did you mean 'short'?"): "!shorts",
        ("the design has no instance 'splitt'", "Did you mean 'split'?"): "splitt",
        ("the design has no signal 'split.in_valid[1]'", "Did you mean 'split.in_valid'?"): "in_valid[1]",
        ("the design has no instance 'aheads'", "Did you mean 'ahead'?"): "aheads",
        ("the design has no instance 'gathers'", "Did you mean 'gather'?"): "gathers",
    }
    wanted = {
        (message, hint, str(path), next(n for n, line in enumerate(lines, 1) if part in line))
        for (message, hint), part in told.items()
    }
    scanned = workspace.scan().hdl.diagnostics
    assert {(one.message, one.hint, one.file, one.line) for one in scanned} == wanted
    with pytest.raises(WorkbenchError) as refused:
        instrument_workspace(workspace, {}, tmp_path / "copies")
    assert {(one.message, one.hint, one.file, one.line) for one in refused.value.diagnostics} == wanted


def test_generate_blocks_without_a_name_get_one_in_the_copies(tmp_path: Path) -> None:
    """The simulator does not tell the blocks of an if and its else apart by the names that they have by themselves."""
    (tmp_path / "top.sv").write_text("""
        module stage(input clk, input in_valid, output in_ready, output out_valid, input out_ready);
            reg full; always @(posedge clk) full <= in_valid;
            assign in_ready = !full; assign out_valid = full;
        endmodule
        module top #(parameter TWO = 1)
            (input clk, input s_valid, output s_ready, output m_valid, input m_ready);
            if (TWO) begin
                wire v, r;
                stage a(clk, s_valid, s_ready, v, r);
                stage b(clk, v, r, m_valid, m_ready);
            end else begin
                stage a(clk, s_valid, s_ready, m_valid, m_ready);
            end
        endmodule
    """)
    hardware = HardwareSources(sources=("top.sv",), top="top", read_out=ReadOut(first=0, last=15))
    scanned = VerilogLanguage().scan(tmp_path, hardware, PLATFORM, {})
    between = next(s for s in scanned.streams if s.source and s.target)
    assert (between.source, between.target) == ("top.genblk1.a", "top.genblk1.b")
    assert between.valid == "genblk1.a.out_valid"
    design = read_design(tmp_path, hardware, {})
    streams = find_streams(design, elaborate(design, {}), hardware, {})
    (label,) = streams.labels.values()
    assert labelled(between.valid, "top", streams.labels) == f"{label.name}.a.out_valid"
    text = (tmp_path / "top.sv").read_text()
    assert text[: label.offset].endswith("if (TWO) begin")
