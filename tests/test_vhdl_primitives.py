"""What stands for Xilinx's cells in VHDL does what yosys's models of them do, and is VHDL-93; so it is of AMD's macros
(XPM) and their stand-ins in Verilog, with ports of different widths."""

import random
import re
from pathlib import Path

from memory_port import PLATFORM
from rc_workbench_plugins.vhdl import VhdlLanguage
from rtl_simulator import Cycle, Simulator, simulate
from tools import NEEDS_GHDL

from workbench.api.job import Job
from workbench.hdl.verilog.primitives import stand_ins
from workbench.model.application import HardwareSources, ReadOut

pytestmark = NEEDS_GHDL
INPUTS = ", ".join(f"I{n} => i({n})" for n in range(6))
ADDRESS = ", ".join(f"A{n} => i({n + 2})" for n in range(4))
STORED = "C => clk, CE => i(0), D => i(1)"
TURNED = "IS_C_INVERTED => '1', IS_D_INVERTED => '1', IS_CLR_INVERTED => '1'"
FIFO = "FIFO_WRITE_DEPTH => 16"
FILLED = "rst => '0', wr_clk => clk, wr_en => i(0), rd_en => i(1)"
RAM = "MEMORY_SIZE => 128, ADDR_WIDTH_A => 4"
CROSSED = "dest_clk => clk, src_clk => clk"
STAGES = "DEST_SYNC_FF => 3"
#: Cells with their generics and ports; @ is an output of one bit, @4 one of four.
CELLS = (
    ("FDRE", "INIT => '1'", f"{STORED}, R => i(2), Q => @"),
    ("FDSE", "INIT => '0'", f"{STORED}, S => i(2), Q => @"),
    ("FDCE", "INIT => '1'", f"{STORED}, CLR => i(2), Q => @"),
    ("FDPE", "INIT => '0'", f"{STORED}, PRE => i(2), Q => @"),
    ("FDRE_1", "", f"{STORED}, R => i(2), Q => @"),
    ("FDCE", f"INIT => '1', {TURNED}", f"{STORED}, CLR => i(2), Q => @"),
    ("LUT6", 'INIT => X"0123456789ABCDEF"', f"{INPUTS}, O => @"),
    ("LUT1", 'INIT => "01"', "I0 => i(3), O => @"),
    ("SRL16E", 'INIT => X"9A3C"', f"CE => i(0), CLK => clk, D => i(1), {ADDRESS}, Q => @"),
    ("SRLC32E", 'INIT => X"9A3C1234"', "CE => i(0), CLK => clk, D => i(1), A => i(6 downto 2), Q => @, Q31 => @"),
    ("CARRY4", "", "CI => i(0), CYINIT => i(1), DI => i(5 downto 2), S => i(9 downto 6), CO => @4, O => @4"),
    ("MUXF7", "", "I0 => i(0), I1 => i(1), S => i(2), O => @"),
    ("MUXCY", "", "CI => i(0), DI => i(1), S => i(2), O => @"),
    ("XORCY", "", "CI => i(0), LI => i(1), O => @"),
    ("INV", "", "I => i(0), O => @"),
    (
        "xpm_fifo_sync",
        f'{FIFO}, WRITE_DATA_WIDTH => 8, READ_DATA_WIDTH => 4, READ_MODE => "fwft"',
        f"{FILLED}, din => i(9 downto 2), dout => @4, empty => @, full => @",
    ),
    (
        "xpm_fifo_async",
        f"{FIFO}, WRITE_DATA_WIDTH => 4, READ_DATA_WIDTH => 8",
        f"{FILLED}, rd_clk => clk, din => i(7 downto 4), dout => @8, empty => @",
    ),
    (
        "xpm_memory_spram",
        f"{RAM}, WRITE_DATA_WIDTH_A => 8, READ_DATA_WIDTH_A => 8, BYTE_WRITE_WIDTH_A => 4",
        "clka => clk, ena => i(0), wea => i(9 downto 8), addra => i(5 downto 2), dina => i(8 downto 1), douta => @8,"
        " regcea => '1', rsta => '0'",
    ),
    (
        "xpm_memory_sdpram",
        f"{RAM}, ADDR_WIDTH_B => 5, WRITE_DATA_WIDTH_A => 8, BYTE_WRITE_WIDTH_A => 8, READ_DATA_WIDTH_B => 4",
        "clka => clk, clkb => clk, ena => i(0), wea => i(1 downto 1), addra => i(5 downto 2), dina => i(9 downto 2),"
        " enb => i(6), addrb => i(4 downto 0), doutb => @4, regceb => '1', rstb => i(9)",
    ),
    (
        "xpm_memory_sdpram",
        f"{RAM}, ADDR_WIDTH_B => 5, WRITE_DATA_WIDTH_A => 8, BYTE_WRITE_WIDTH_A => 8, READ_DATA_WIDTH_B => 4,"
        ' MEMORY_INIT_FILE => "halves.mem"',
        "clka => clk, clkb => clk, ena => i(0), wea => i(1 downto 1), addra => i(5 downto 2), dina => i(9 downto 2),"
        " enb => '1', addrb => i(4 downto 0), doutb => @4, regceb => '1', rstb => '0'",
    ),
    (
        "xpm_memory_tdpram",
        f"{RAM}, ADDR_WIDTH_B => 4, WRITE_DATA_WIDTH_A => 8, BYTE_WRITE_WIDTH_A => 4, READ_DATA_WIDTH_A => 8,"
        " WRITE_DATA_WIDTH_B => 8, BYTE_WRITE_WIDTH_B => 8, READ_DATA_WIDTH_B => 8, CLOCKING_MODE =>"
        ' "independent_clock", MEMORY_INIT_PARAM => "1f,A0,3,4,50"',
        "clka => clk, clkb => clk, rsta => '0', regcea => '1', ena => i(8), wea => i(7 downto 6),"
        " addra => i(3 downto 0), dina => i(9 downto 2), douta => @8, rstb => '0', regceb => '1', enb => not_i(8),"
        " web => i(9 downto 9), addrb => i(4 downto 1), dinb => i(8 downto 1), doutb => @8",
    ),
    (
        "xpm_memory_sprom",
        'MEMORY_SIZE => 64, ADDR_WIDTH_A => 3, READ_DATA_WIDTH_A => 8, MEMORY_INIT_FILE => "words.mem"',
        "clka => clk, rsta => '0', regcea => '1', ena => i(0), addra => i(3 downto 1), douta => @8",
    ),
    (
        "xpm_memory_dprom",
        "MEMORY_SIZE => 64, ADDR_WIDTH_A => 3, READ_DATA_WIDTH_A => 8, ADDR_WIDTH_B => 3, READ_DATA_WIDTH_B => 8,"
        ' READ_LATENCY_B => 1, MEMORY_INIT_PARAM => "AB,CD,EF,1,2,34,56,78"',
        "clka => clk, clkb => clk, rsta => '0', regcea => '1', ena => '1', addra => i(3 downto 1), douta => @8,"
        " rstb => i(9), regceb => '1', enb => i(0), addrb => i(6 downto 4), doutb => @8",
    ),
    (
        "xpm_fifo_axis",
        'FIFO_DEPTH => 16, TDATA_WIDTH => 8, PACKET_FIFO => "true", CLOCKING_MODE => "common_clock"',
        "s_aresetn => '1', s_aclk => clk, m_aclk => clk, s_axis_tvalid => i(0), s_axis_tready => @,"
        " s_axis_tdata => i(9 downto 2), s_axis_tlast => i(2), s_axis_tuser => i(3 downto 3), m_axis_tvalid => @,"
        " m_axis_tready => i(1), m_axis_tdata => @8, m_axis_tlast => @",
    ),
    ("xpm_cdc_single", f"{STAGES}, SRC_INPUT_REG => 0", f"{CROSSED}, src_in => i(0), dest_out => @"),
    ("xpm_cdc_array_single", f"{STAGES}, WIDTH => 2", f"{CROSSED}, src_in => i(1 downto 0), dest_out => @2"),
    ("xpm_cdc_gray", f"{STAGES}, WIDTH => 3", f"{CROSSED}, src_in_bin => i(2 downto 0), dest_out_bin => @3"),
    ("xpm_cdc_pulse", STAGES, f"{CROSSED}, src_rst => '0', dest_rst => '0', src_pulse => i(0), dest_pulse => @"),
    (
        "xpm_cdc_handshake",
        f"{STAGES}, WIDTH => 2, DEST_EXT_HSK => 0",
        f"{CROSSED}, src_in => i(2 downto 1), src_send => i(0), src_rcv => @, dest_out => @2",
    ),
    ("xpm_cdc_sync_rst", STAGES, "src_rst => i(0), dest_clk => clk, dest_rst => @"),
    ("xpm_cdc_async_rst", STAGES, "src_arst => i(0), dest_clk => clk, dest_arst => @"),
)


def placed() -> tuple[list[tuple[str, str, str]], int]:
    """The cells with their outputs' places, and how many bits these are."""
    at, found = 0, []
    for name, generics, ports in CELLS:
        parts = re.split(r"@(\d?)", ports)
        text = parts[0]
        for wide, rest in zip(parts[1::2], parts[2::2], strict=True):
            bits = int(wide or 1)
            text += f"o({at + bits - 1} downto {at})" if wide else f"o({at})"
            text, at = text + rest, at + bits
        found.append((name, generics, text))
    return found, at


def in_verilog(associations: str) -> str:
    """Associations of VHDL in Verilog."""
    text = re.sub(r"\((\d+)(?: downto (\d+))?\)", lambda m: f"[{m[1]}:{m[2] or m[1]}]", associations)
    text = re.sub(r'X"(\w+)"', lambda m: f"{4 * len(m[1])}'h{m[1]}", text)
    text = re.sub(r'"(\d+)"', lambda m: f"{len(m[1])}'b{m[1]}", text)
    text = re.sub(r"=> '(\d)'", r"=> 1'b\1", text)
    return re.sub(r"(\w+) => (\"[^\"]*\"|[^,]+)", r".\1(\2)", text)


def test_cells_do_what_their_models_in_verilog_do(tmp_path: Path) -> None:
    cells, bits = placed()
    uses = "".join(
        f"u{n} : {name} {f'generic map ({generics})' if generics else ''} port map ({ports});\n"
        for n, (name, generics, ports) in enumerate(cells)
    )
    (tmp_path / "halves.mem").write_text("1 2 c\n@1E F A\n")
    (tmp_path / "words.mem").write_text("12 34 // ab\n5 f\n@5 6B 7\n@0000 FE\n")
    (tmp_path / "top.vhd").write_text(f"""library ieee; use ieee.std_logic_1164.all;
library unisim; use unisim.vcomponents.all;
library xpm; use xpm.vcomponents.all;
entity top is port (clk : in std_logic; i : in std_logic_vector(9 downto 0);
    o : out std_logic_vector({bits - 1} downto 0)); end;
architecture rtl of top is signal not_i : std_logic_vector(9 downto 0); begin
not_i <= not i;
{uses}end;
""")
    read_out = ReadOut(first=0x3F00, last=0x3F0F)
    hardware = HardwareSources(sources=("top.vhd",), top="top", read_out=read_out, vhdl_standard="93")
    scan = VhdlLanguage().scan(tmp_path, hardware, PLATFORM, {}, Job())
    assert ([one.message for one in scan.diagnostics], scan.blocks) == ([], ())  # cells are no blocks of the user's
    build = VhdlLanguage().plain(tmp_path, hardware, {})
    models = stand_ins({name for name, *_ in cells})
    assert models is not None
    uses = "".join(
        f"{name} #({in_verilog(generics)}) u{n} ({in_verilog(ports)});\n".replace('FILE("', f'FILE("{tmp_path}/')
        for n, (name, generics, ports) in enumerate(cells)
    )
    (tmp_path / "dut.v").write_text(f"""module twin(input clk, input [9:0] i, output [{bits - 1}:0] o);
wire [9:0] not_i = ~i;
{uses}endmodule
module dut(input clk, input rst, input [15:0] addr, input wr_en, input rd_en, input [31:0] wr_data,
    output [63:0] rd_data, input [31:0] in, output [63:0] out);
wire [{bits - 1}:0] made; top top(.clk(clk), .i(in[9:0]), .o(made)); assign rd_data = made >> {{in[10], 6'd0}};
wire [{bits - 1}:0] model; twin twin(.clk(clk), .i(in[9:0]), .o(model)); assign out = model >> {{in[10], 6'd0}};
endmodule
""")
    model = Simulator(tmp_path).build([tmp_path / "dut.v", models.file, *build.sources], "dut")
    draw = random.Random(5)
    stimuli = [draw.getrandbits(10) | n // 500 << 10 for n in range(1000)]  # bit 10 chooses which outputs are seen
    seen = simulate(model, [Cycle(stimulus=one) for one in stimuli])
    pairs = list(zip(seen.rd_data.tolist(), seen.out.tolist(), strict=True))
    assert [f"{a ^ b:x}" for a, b in pairs if a != b] == []
    halves = [[value for one, (value, _) in zip(stimuli, pairs, strict=True) if one >> 10 == half] for half in (0, 1)]
    assert [n for n in range(bits) if len({value >> n % 64 & 1 for value in halves[n // 64]}) < 2] == []
