"""Interfaces told by names, directions and widths: what stands for what in headers as people write them."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from answers import document_of
from rc_workbench_plugins.ports import workbench_port_kinds

from workbench.api import PortKind
from workbench.api.instrument.port_finder import FoundPort, FoundPorts, find_ports, template_entry
from workbench.api.port_styles import PortStyle, words
from workbench.api.ports import HardwarePort, Signal
from workbench.hdl.verilog.tops import tops
from workbench.model.hardware import Clock, Hardware
from workbench.model.scan import HdlPort, HdlTop
from workbench.session.begin.port_match import match_port

KINDS = workbench_port_kinds()
_PORT = re.compile(r"(in|out)\s+(\w+(?:[.\[\]\w]*))(?:\s+(\d+))?")


def header(text: str) -> list[HdlPort]:
    """`in NAME BITS` and `out NAME BITS`, separated by commas; without bits it is one."""
    return [
        HdlPort(name, "input" if way == "in" else "output", int(bits or 1)) for way, name, bits in _PORT.findall(text)
    ]


def ports_in(text: str) -> FoundPorts:
    return find_ports(header(text), KINDS)


def only(text: str) -> FoundPort:
    (port,) = ports_in(text).ports
    return port


def axi(prefix: str, way: str, back: str, extra: str = "", join: str = "") -> str:
    """An AXI interface as master (`way` out) or slave (in); `join` stands between a channel's name and the field's."""
    return ", ".join(
        f"{way if one in '>' else back} {prefix}{channel}{join}{name} {bits}"
        for channel, fields in {
            "aw": ("> valid 1", "< ready 1", "> addr 16", "> prot 3"),
            "w": ("> valid 1", "< ready 1", "> data 32", "> strb 4"),
            "b": ("< valid 1", "> ready 1", "< resp 2"),
            "ar": ("> valid 1", "< ready 1", "> addr 16"),
            "r": ("< valid 1", "> ready 1", "< data 32", "< resp 2"),
        }.items()
        for one, name, bits in (field.split() for field in fields)
    ) + (f", {extra}" if extra else "")


@pytest.mark.parametrize(
    ("prefix", "join", "name"),
    [
        ("s_axi_", "", "s_axi"),
        ("S00_AXI_", "", "s00_axi"),
        ("slv_", "_", "slv"),
        ("", "", ""),
        ("MAXIGP0", "", "maxigp0"),
    ],
)
def test_axi_lite_is_axi_without_lengths_whatever_it_is_called(prefix: str, join: str, name: str) -> None:
    lite = only("in clk, in rst_n, " + axi(prefix, "in", "out", join=join))
    assert (lite.style, lite.name, lite.side) == ("axi_lite", name, "slave")
    assert dict(lite.signals)["wstrb"] == f"{prefix}w{join}strb"
    full = only(axi(prefix, "out", "in", f"out {prefix}aw{join}len 8, out {prefix}ar{join}len 8", join))
    assert (full.style, full.side) == ("axi4", "master")


def test_the_direction_of_a_suffix_tells_two_streams_of_one_name_apart() -> None:
    both = ports_in(
        "in clk_i, in rst_ni, in valid_i, out ready_o, in data_i 8, out valid_o, in ready_i, out data_o 8, in go"
    )
    assert [(p.style, p.side, dict(p.signals)["valid"], p.payload) for p in both.ports] == [
        ("stream", "in", "valid_i", ("data_i",)),
        ("stream", "out", "valid_o", ("data_o",)),
    ]
    assert (both.clocks, both.resets, both.rest) == (("clk_i",), ("rst_ni",), ("go",))


@pytest.mark.parametrize(
    ("text", "style", "side", "count"),
    [
        ("in s_axis_tdata 32, in s_axis_tvalid, out s_axis_tready, in s_axis_tlast", "axi_stream", "in", 1),
        ("out M_AXIS_TDATA 256, out M_AXIS_TVALID 4, in M_AXIS_TREADY 4", "axi_stream", "out", 4),
        ("in PSEL, in PENABLE, in PADDR 8, in PWRITE, in PWDATA 32, out PREADY, out PRDATA 32", "apb", "slave", 1),
        ("in wb_cyc_i, in wb_stb_i, in wb_we_i, in wb_dat_i 8, out wb_dat_o 8, out wb_ack_o", "wishbone", "slave", 1),
        ("in avs_c_read, in avs_c_address 4, out avs_c_readdata 32", "avalon_mm", "slave", 1),
        ("out avm_read_m, out avm_address_m 4, in avm_readdata_m 32, in avm_waitrequest_m", "avalon_mm", "master", 1),
        ("in a_dout 32, in a_empty_n, out a_read", "fifo_read", "master", 1),
        ("out b_din 32, in b_full_n, out b_write", "fifo_write", "master", 1),
        ("in wr_en, in rd_en, in addr 32, in wr_data 32, out rd_data 32", "memory", "slave", 1),
        ("in cmd_v, out cmd_r, in cmd_d 9", "stream", "in", 1),
        ("in k_vld, out k_accept, in k_key 9", "stream", "in", 1),
        ("in i_mcyc 4, in i_mstb 4, in i_mwe 4, in i_maddr 64, out o_mack 4, out o_mdata 64", "wishbone", "slave", 4),
        ("out o_wb_adr 32, out o_wb_stb, in i_wb_rdt 32, in i_wb_ack", "wishbone", "master", 1),
        ("in ll_data 8, in ll_sof_n, in ll_eof_n, in ll_src_rdy_n, out ll_dst_rdy_n", "locallink", "in", 1),
        ("in addra 8, in wea 4, in dina 32, out douta 32", "memory", "slave", 1),
        ("out d_req, out d_we, out d_addr 32, in d_gnt, in d_rvalid, in d_rdata 32", "request", "master", 1),
        ("in winc, in wdata 8, out wfull", "fifo_write", "slave", 1),
    ],
)  # fmt: skip
def test_each_style_by_its_own_words(text: str, style: str, side: str, count: int) -> None:
    port = only("in clk, " + text)
    assert (port.style, port.side, port.count) == (style, side, count)
    assert port.names == {one.name for one in header(text)}


def test_what_does_not_go_together_is_no_interface() -> None:
    assert not ports_in("in valid, in ready, in data 8").ports  # a monitor's: both come from outside
    assert not ports_in("in s_tvalid 2, out s_tready 3, in s_tdata 8").ports
    assert not ports_in("in awvalid, out awready, in awaddr 8").ports  # no data, no answer
    assert not ports_in("in cfg_valid, in cfg_data 8").ports


def test_a_longer_name_takes_its_signals_first_and_what_is_left_under_a_name_is_asked_for() -> None:
    ports = ports_in(
        "in s_clk, in s_valid, out s_ready, in s_data 8, in s_hdr_valid, out s_hdr_ready, in s_hdr_len 4,"
        "out s_full, out busy"
    )
    assert {p.name: (p.payload, p.ask) for p in ports.ports} == {
        "s_hdr": (("s_hdr_len",), ()),
        "s": (("s_data",), ("s_full",)),
    }
    assert ports.rest == ("busy",)


def test_each_interface_is_on_the_clock_of_its_name() -> None:
    two = ports_in(
        "in s_axis_aclk, in m_axis_aclk, in s_axis_tvalid, out s_axis_tready, out m_axis_tvalid, in m_axis_tready"
    )
    assert [(p.name, p.clock) for p in two.ports] == [("s_axis", "s_axis_aclk"), ("m_axis", "m_axis_aclk")]


STROBE = PortStyle(
    "strobe", "Strobed words", words("strobe") + words("word", bits="any"), (frozenset({"strobe", "word"}),)
)


class StrobePort(HardwarePort):
    kind: str = "strobe"
    strobe: str
    word: str

    def signals(self) -> Mapping[str, Signal]:
        return {"strobe": Signal(self.strobe, "input", 1), "word": Signal(self.word, "input", self.word_bits)}

    @classmethod
    def fields_of(cls, signals: Mapping[str, str]) -> Mapping[str, object]:
        return signals


def test_a_kind_brings_the_names_that_it_is_found_by_and_what_a_template_says_of_it() -> None:
    kind = PortKind("strobe", "Strobed words", lambda: StrobePort, STROBE)
    ports = header(
        "in clk, in left_word 32, in left_strobe, in right_word 32, in right_strobe, out s_tvalid, in s_tready"
    )
    left, right, stream = sorted(find_ports(ports, [*KINDS, kind]).ports, key=lambda port: port.name)
    assert [(p.name, p.kind, p.side) for p in (left, right, stream)] == [
        ("left", "strobe", "slave"), ("right", "strobe", "slave"), ("s", "stream_out", "out")]  # fmt: skip
    assert template_entry(left, {"strobe": kind}, ports) == (
        "{name: left, kind: strobe, strobe: left_strobe, word: left_word}"
    )
    hardware = Hardware(
        clocks=(Clock(name="clk", frequency_hz=1e6),),
        ports=(StrobePort(name="a", strobe="there", word="data"), StrobePort(name="b", strobe="b_s", word="b_w")),
    )
    match = match_port(HdlTop("top", "top.v", 1, ("top.v",), ports=tuple(ports)), hardware, {"strobe": kind})
    assert match.renames == {
        "there": "left_strobe", "data": "left_word", "b_s": "right_strobe", "b_w": "right_word"}  # fmt: skip
    assert not match.missing


STRUCTS = """
package bus_pkg;
  typedef struct packed { logic [15:0] addr; logic [2:0] prot; } ax_t;
  typedef struct packed {
    ax_t aw; logic aw_valid; logic [31:0] w_data; logic w_valid; logic b_ready; ax_t ar; logic ar_valid; logic r_ready;
  } req_t;
  typedef struct packed {
    logic aw_ready; logic w_ready; logic b_valid; logic [1:0] b_resp; logic ar_ready; logic r_valid;
    logic [31:0] r_data;
  } rsp_t;
endpackage
interface beats (input logic clk);
  logic tvalid, tready; logic [7:0] tdata;
  modport sink (input tvalid, tdata, output tready);
endinterface
module inner (input logic seen, input logic unseen, input logic reset_reset, input logic clk, output logic q);
  always_ff @(posedge clk or negedge reset_reset) if (!reset_reset) q <= 0; else q <= seen;
endmodule
module outer import bus_pkg::*; (
    input logic clk, input logic reset_reset, input req_t slv_req_i, output rsp_t slv_rsp_o, beats.sink in_beats,
    input logic mode, input logic spare, output logic q);
  assign in_beats.tready = slv_req_i.aw_valid;
  inner inner (.seen(mode), .unseen(spare), .*);
endmodule
"""


def test_structs_and_interfaces_are_looked_into_and_a_reset_is_low_as_the_design_uses_it(tmp_path: Path) -> None:
    (tmp_path / "outer.sv").write_text(STRUCTS)
    (top,) = tops(tmp_path, ["outer.sv"])
    ports = find_ports(top.ports, KINDS, [clock for clock, _ in top.clocks])
    assert [(p.style, p.name, p.side) for p in ports.ports] == [
        ("axi_lite", "slv", "slave"),
        ("axi_stream", "in_beats", "in"),
    ]
    assert dict(ports.ports[0].signals)["awaddr"] == "slv_aw_addr"
    ((file, text),) = top.made
    assert (top.name, top.sources) == ("outer_flat", ("outer.sv", "outer_flat.sv"))
    assert file == "outer_flat.sv"
    low = 3 + 1 + 32 + 1 + 1 + 19 + 1 + 1  # prot, aw_valid, w_data, w_valid, b_ready, ar, ar_valid, r_ready
    assert f"assign slv_req_i_whole[{low} +: 16] = slv_aw_addr;" in text
    assert "beats in_beats_whole (.clk(clk));" in text
    assert "assign in_beats_tready = in_beats_whole.tready;" in text
    assert top.resets == (("reset_reset", True),)
    assert {p.name for p in top.ports if not p.used} == {"spare"}  # handed to a module that leaves it alone


LANES = """
interface lane (input logic clk);
  logic tvalid, tready; logic [7:0] tdata;
  modport sink (input tvalid, tdata, output tready);
endinterface
module adder (input logic clk, input logic rst, lane.sink ins [2], output logic [7:0] q);
  assign ins[0].tready = 1; assign ins[1].tready = 1;
  always_ff @(posedge clk) if (rst) q <= 0; else if (ins[0].tvalid) q <= ins[0].tdata + ins[1].tdata;
endmodule
"""


def test_an_array_of_interfaces_is_as_many(tmp_path: Path) -> None:
    (tmp_path / "adder.sv").write_text(LANES)
    (top,) = tops(tmp_path, ["adder.sv"])
    assert [(p.name, p.style) for p in find_ports(top.ports, KINDS).ports] == [
        ("ins_0", "axi_stream"), ("ins_1", "axi_stream")]  # fmt: skip
    assert "lane ins_whole [2] (.clk(clk));" in top.made[0][1]


def test_scan_offers_the_interfaces(capsys: pytest.CaptureFixture[str]) -> None:
    (port,) = document_of(capsys, ["scan", "resources/examples/pdf2d/original.workbench.yaml", "--json"])["ports"]
    assert (port["kind"], port["side"], port["clock"]) == ("memory", "slave", "clk")
    assert port["signals"]["write_enable"] == "wr_en"


def test_what_only_watches_a_stream_is_no_stream_and_one_without_ready_is() -> None:
    assert not ports_in("in clk, in tap_tdata 8, in tap_tvalid, in tap_tready").ports
    assert only("in clk, in s_tdata 8, in s_tvalid").side == "in"
