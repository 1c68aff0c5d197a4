"""Designs made at random, in GHDL's own simulator beside Verilator on what is made of them: equal in every cycle?

python tests/benchmarks/vhdl_synthesis.py [--json] [--quick] [--count 50] [--first 0] [--parts 4] [--keep DIR]
"""

import random
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from command_line import command, show

sys.path.insert(0, str(Path(__file__).parents[1]))

from rc_workbench_plugins.vhdl.constants import kept_apart
from rc_workbench_plugins.vhdl.syntax import read_file
from rtl_simulator import Cycle, Simulator, simulate
from vhdl_made import DUT, Maker, behaviour

from workbench.hdl.ghdl import Design, synthesised
from workbench.model.diagnostic import WorkbenchError

CYCLES = 300


def differs(seed: int, parts: int, folder: Path) -> int | None:
    """The first cycle in which the two differ, None where none does. WorkbenchError, where it is refused."""
    source = folder / "made.vhd"
    source.write_text(Maker(seed, parts).text())
    read = read_file(source, "work", 0)
    ((_, apart),) = kept_apart([(read, read.data)])
    (folder / "apart.vhd").write_bytes(apart)
    draw = random.Random(seed)
    # no reset as it begins: that is an edge in VHDL, and none in Verilog
    given = [(int(n == 1 or (draw.random() < 0.02 and n > 0)), draw.getrandbits(64)) for n in range(CYCLES)]
    (folder / "made.v").write_text(synthesised(Design((str(folder / "apart.vhd"),), "made")))
    (folder / "dut.v").write_text(DUT)
    program = Simulator(folder).build([folder / "made.v", folder / "dut.v"], "dut")
    seen = simulate(program, [Cycle(rst=rst, stimulus=i) for rst, i in given]).out.tolist()
    expected = behaviour(folder, [source], given)
    return next((n for n, (a, b) in enumerate(zip(seen, expected, strict=True)) if a != b), None)


def main() -> int:
    parser = command(__doc__, "three designs")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--parts", type=int, default=4, help="of further kinds, a design")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where designs that differ are left")
    asked = parser.parse_args()
    rows: list[dict[str, object]] = []
    for seed in range(asked.first, asked.first + (3 if asked.quick else asked.count)):
        with TemporaryDirectory() as folder:
            refused, cycle = "", None
            try:
                cycle = differs(seed, asked.parts, Path(folder))
            except WorkbenchError as error:
                refused = error.diagnostics[0].text()
            rows.append({"seed": seed, "refused": refused, "differs_in_cycle": cycle})
            if cycle is not None and asked.keep:
                shutil.copytree(folder, asked.keep / str(seed), dirs_exist_ok=True)
        if not asked.json and (refused or cycle is not None):
            print(f"{seed}: refused: {refused}" if refused else f"{seed}: differs in cycle {cycle}", flush=True)
    wrong = sum(row["differs_in_cycle"] is not None for row in rows)
    show({"cycles": CYCLES, "rows": rows}, asked.json)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
