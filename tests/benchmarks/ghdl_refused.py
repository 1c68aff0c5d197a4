"""Designs made at random that GHDL cannot synthesise (vhdl_synthesis.py finds them), run by a host on the simulated
card: are their outputs those of GHDL's own simulator without a card?

python tests/benchmarks/ghdl_refused.py [--json] [--quick] [--count 160] [--first 0]

Each stands in a bed that a host starts, and that sums up its outputs in 300 cycles under inputs at random.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from command_line import command

sys.path.insert(0, str(Path(__file__).parents[1]))

from vhdl_made import HEAD, Maker, behaviour

from workbench.api.job import Job
from workbench.hdl.ghdl import Design, synthesised
from workbench.model.diagnostic import WorkbenchError
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import Plugins, load_plugins

CYCLES, BITS, FIRST = 300, 64, 0x123456789ABCDEF1
MASK = (1 << BITS) - 1
BED = f"""{HEAD}
entity bed is
    port (
        clk, rst : in std_logic; addr : in std_logic_vector(31 downto 0); wr_en : in std_logic;
        wr_data : in std_logic_vector(31 downto 0); rd_en : in std_logic; rd_data : out std_logic_vector(31 downto 0)
    );
end entity;
architecture rtl of bed is
    signal reset : std_logic := '0';
    signal i, o, sum : std_logic_vector(63 downto 0) := (others => '0');
    signal drawn : std_logic_vector(63 downto 0) := x"{FIRST:016x}";
    signal edges, begun, left : natural := 0;
begin
    dut : entity work.made port map (clk, reset, i, o);
    process (clk)
    begin
        if rising_edge(clk) then
            edges <= edges + 1;
            if wr_en = '1' then
                begun <= edges + 1;
                left <= to_integer(unsigned(wr_data));
            elsif left > 0 then
                sum <= (sum(62 downto 0) & sum(63)) xor o;
                left <= left - 1;
            end if;
            i <= (others => '0');
            reset <= '0';
            if wr_en = '1' or left > 1 then
                i <= drawn;
                if drawn(4 downto 0) = "01010" then reset <= '1'; end if;
                drawn <= drawn(62 downto 0) & (drawn(63) xor drawn(62) xor drawn(60) xor drawn(59));
            end if;
            if rd_en = '1' then
                case addr(1 downto 0) is
                    when "00" => rd_data <= sum(31 downto 0);
                    when "01" => rd_data <= sum(63 downto 32);
                    when "10" => rd_data <= std_logic_vector(to_unsigned(begun, 32));
                    when others => rd_data <= std_logic_vector(to_unsigned(left, 32));
                end case;
            end if;
        end if;
    end process;
end architecture;
"""
HOST = f"""#include <stdio.h>
#include <fpga.h>
int main(void)
{{
    fpga_t *fpga = fpgaOpen(0);
    fpgaWriteReg(fpga, 0, {CYCLES});
    while (fpgaReadReg(fpga, 3))
        ;
    printf("%u %u %u\\n", fpgaReadReg(fpga, 2), fpgaReadReg(fpga, 0), fpgaReadReg(fpga, 1));
    fpgaClose(fpga);
    return 0;
}}
"""
PROJECT = """schema_version: 1
name: bed
platform: nallatech_h101
host: {sources: [host.c]}
hardware: {sources: [made.vhd, bed.vhd], top: bed, read_out: {first: 0x8000, last: 0x800F}}
"""


def stimuli() -> Iterator[tuple[int, int]]:
    """Reset and input of each cycle, as the bed draws them."""
    drawn = FIRST
    for _ in range(CYCLES):
        yield int(drawn & 31 == 10), drawn
        bit = drawn >> 63 ^ drawn >> 62 ^ drawn >> 60 ^ drawn >> 59
        drawn = (drawn << 1 | bit & 1) & MASK


def is_right(folder: Path, plugins: Plugins) -> bool:
    """Whether a design, made.vhd in a folder, does on the card what it does without."""
    for name, text in {"bed.vhd": BED, "host.c": HOST, "bed.workbench.yaml": PROJECT}.items():
        (folder / name).write_text(text)
    out = folder / "run"
    workspace = open_workspace(folder / "bed.workbench.yaml", plugins)
    run_workspace(workspace, RunOptions(out=out, plain=True, deterministic=True), Job())
    begun, low, high = map(int, (out / "stdout.txt").read_text().split())
    seen = behaviour(folder, [folder / "made.vhd"], [*[(0, 0)] * begun, *stimuli()])[begun:]
    total = 0
    for word in seen:
        total = ((total << 1 | total >> 63) & MASK) ^ word
    return total == high << 32 | low


def main() -> int:
    parser = command(__doc__, "until the first design that GHDL refuses")
    parser.add_argument("--count", type=int, default=160)
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args()
    plugins, rows = load_plugins(), list[dict[str, object]]()
    for seed in range(asked.first, asked.first + asked.count):
        if asked.quick and rows:
            break
        with TemporaryDirectory() as folder:
            source = Path(folder, "made.vhd")
            source.write_text(Maker(seed).text())
            try:
                synthesised(Design((str(source),), "made"))
            except WorkbenchError as error:
                why, equal = error.diagnostics[0].message, is_right(Path(folder), plugins)
                rows.append({"seed": seed, "equal": equal, "refused": why})
                if not asked.json:
                    print(f"{seed}: {'equal' if equal else 'DIFFERS'} ({why})", flush=True)
    wrong = sum(not row["equal"] for row in rows)
    print(json.dumps({"rows": rows}) if asked.json else f"{len(rows) - wrong} equal, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
