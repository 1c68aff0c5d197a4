"""What Verilator makes of arithmetic is what Verilog says, with the options by which designs are simulated here."""

from pathlib import Path

from rtl_simulator import Cycle, Simulator, simulate

SHIFTS = """
module dut(input clk, input rst, input [15:0] addr, input wr_en, input rd_en, input [31:0] wr_data,
           output [31:0] rd_data, input [31:0] in, output [63:0] out);
    wire [2:0] a = in[18:16], b = in[21:19];
    wire [15:0] x = in[15:0], left = x << a, right = x >> a;
    wire signed [15:0] down = $signed(x) >>> a;
    assign out = {16'((x << a) >> b), 16'(down >>> b), 16'(right >> b), 16'(left << b)};
    assign rd_data = 0;
endmodule
"""


def test_a_shift_of_a_shift_moves_by_the_sum_of_both(tmp_path: Path) -> None:
    """Verilator 5.48 makes one shift of two, whose amount has the bits of one."""
    (tmp_path / "dut.v").write_text(SHIFTS)
    program = Simulator(tmp_path).build([tmp_path / "dut.v"], "dut")
    given = [x | a << 16 | b << 19 for x in (1, 0x8001, 0xFFFF, 0x5A3C) for a in range(8) for b in range(8)]
    seen = simulate(program, [Cycle(stimulus=word) for word in given]).out.tolist()
    for word, out in zip(given, seen, strict=True):
        x, a, b = word & 0xFFFF, word >> 16 & 7, word >> 19 & 7
        negative = x - (x >> 15 << 16)
        parts = (x << a << b, x >> a >> b, negative >> a >> b, (x << a & 0xFFFF) >> b)
        assert [out >> 16 * n & 0xFFFF for n in range(4)] == [part & 0xFFFF for part in parts]
