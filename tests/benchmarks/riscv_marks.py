"""A RISC-V core that someone else wrote, marked by clicks alone in the real window and run with a small program: its
state times held against an independent count from a waveform.

    python tests/benchmarks/riscv_marks.py CORE [--json] [--quick] [--pictures DIR]

CORE is a folder with `picorv32.v` (github.com/YosysHQ/picorv32, not shipped). Needs Xvfb, openbox and xdotool. The
application around the core is `riscv_app`: the host writes the program into its memory, lets it run and reads the
result. In the window the core is opened by a click, the list of proposed marks by another, one mark is accepted by
itself, the rest at once, the file saved and the project run.

Then the core as it was, without marks, is simulated by Verilator alone, which writes a waveform (VCD); its states are
counted there, edge by edge. Two numbers are taken from the run, since the host decides them: how many cycles the core
is held in reset, and how many there are in all. Everything else has to agree: cycles and visits of every state of both
of the core's state registers. `--quick` walks at one size; without it at four, in both themes. `--pictures` keeps what
the window showed after each step.
"""

import json
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from command_line import command

sys.path.insert(0, str(Path(__file__).parents[1]))

from driven import driver
from driven.driver import Stage
from platform_walk import SIZES, THEMES, Lost, Person

from workbench.model.diagnostic import Diagnostic
from workbench.session.keep.results import open_result
from workbench.session.program.plugins import load_plugins
from workbench.system.process import run_program
from workbench.system.toolchain import find_compiler, find_verilator, verilator_environment

APP = Path(__file__).with_name("riscv_app")
CORE = "picorv32.v"
RESULT = 1019  # what the program computes
SOURCE = "window.modes.views['source']"
#: The registers, and when their branches are looked at: not in reset, the memory's not after the core has stopped.
REGISTERS = {"cpu_state": ("resetn",), "mem_state": ("resetn", "!trap")}
HARNESS = """
#include <cstdio>
#include <cstdlib>
#include "Vcore.h"
#include "verilated.h"
#include "verilated_vcd_c.h"
int main(int, char** argv) {
    VerilatedContext context;
    context.traceEverOn(true);
    Vcore top(&context);
    VerilatedVcdC wave;
    top.trace(&wave, 3);
    wave.open(argv[1]);
    const unsigned held = std::atoi(argv[2]), cycles = std::atoi(argv[3]);
    unsigned word = 0, time = 0;
    for (unsigned cycle = 0; cycle < cycles; ++cycle) {
        top.rst = cycle == 0;
        top.wr_en = 0;
        if (cycle > 0 && std::scanf("%x", &word) == 1) {
            top.wr_en = 1;
            top.addr = cycle - 1;
            top.wr_data = word;
        }
        if (cycle + 1 == held) {
            top.wr_en = 1;
            top.addr = 0x800;
            top.wr_data = 1;
        }
        top.clk = 0;
        top.eval();
        wave.dump(time++);
        top.clk = 1;
        top.eval();
        wave.dump(time++);
    }
    wave.close();
}
"""


class Waves:
    """Builds the core as it was, and simulates it."""

    def __init__(self, folder: Path, sources: list[Path]) -> None:
        self._folder = folder
        verilator, compiler = find_verilator(), find_compiler()
        if isinstance(verilator, Diagnostic) or isinstance(compiler, Diagnostic) or verilator.root is None:
            sys.exit("Verilator or a C++ compiler is missing: `workbench doctor` says which.")
        made, include = folder / "model", verilator.root / "include"
        _done([str(verilator.path), "--cc", "--trace", "--prefix", "Vcore", "--top-module", "riscv_top", "-Wno-fatal",
               "-Wno-lint", "--Mdir", str(made), *map(str, sources)], verilator_environment(verilator))  # fmt: skip
        (made / "harness.cpp").write_text(HARNESS)
        runtime = [include / f"{name}.cpp" for name in ("verilated", "verilated_vcd_c", "verilated_threads")]
        _done([str(compiler.path), "-std=c++17", "-O1", f"-I{include}", f"-I{include / 'vltstd'}", f"-I{made}",
               *map(str, (*made.glob("*.cpp"), *runtime)), "-pthread", "-o", str(folder / "wave")])  # fmt: skip

    def wave(self, program: Path, held: int, cycles: int) -> Path:
        """The waveform of a core that is held in reset for so many of its cycles."""
        out = self._folder / f"wave-{held}-{cycles}.vcd"
        command = f"'{self._folder / 'wave'}' '{out}' {held} {cycles} < '{program}'"
        _done(["sh", "-c", command])
        return out


def _done(command: list[str], environment: Mapping[str, str] | None = None) -> None:
    done = run_program(command, env=environment)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stderr[-3000:]}")


def counted(vcd: Path, register: str, needed: tuple[str, ...]) -> tuple[Counter[int | None], Counter[int | None]]:
    """Cycles and visits of each value of a register of the core, at rising edges of its clock, as it is right before
    them; None where one of the signals that are `needed` says otherwise."""
    names: dict[str, list[str]] = {}
    now: dict[str, int] = {}
    pending: dict[str, int] = {}  # what changed at the present time
    cycles: Counter[int | None] = Counter()
    visits: Counter[int | None] = Counter()
    last: int | str | None = "none"
    scope: list[str] = []
    wanted = {register, "clk", *(name.lstrip("!") for name in needed)}
    with vcd.open() as file:
        for line in file:
            parts = line.split()
            if not parts:
                continue
            if parts[0] == "$scope":
                scope.append(parts[2])
            elif parts[0] == "$upscope":
                scope.pop()
            elif parts[0] == "$var" and scope[-1:] == ["core"] and parts[4] in wanted:
                names.setdefault(parts[3], []).append(parts[4])
            elif parts[0][0] in "01b":
                value, code = (parts[0][1:], parts[1]) if parts[0][0] == "b" else (parts[0][0], parts[0][1:])
                for name in names.get(code, ()):
                    if name == "clk" and value == "1":
                        looked = all((now[n.lstrip("!")] == 0) == n.startswith("!") for n in needed)
                        state = now[register] if looked else None
                        cycles[state] += 1
                        visits[state] += state != last
                        last = state
                    elif name != "clk":
                        pending[name] = int(value, 2)
            elif parts[0][0] == "#":
                now.update(pending)
                pending.clear()
    return cycles, visits


def value_names(core: str, register: str) -> dict[int, str]:
    """The core's own names of a register's values, read from its text."""
    found = re.findall(rf"localparam\s+({register}_\w+)\s*=\s*8'b([01]+);", core)
    return {int(bits, 2): name for name, bits in found}


def mark_and_run(person: Person) -> None:
    """From the project opened to its first run."""
    driven = person.driven
    panel = f"{SOURCE}.proposals"
    with person.step("the core opened"):
        tree = f"{SOURCE}.side.tree"
        item = f"[item for path, item in {tree}._files.items() if path.name == {CORE!r}][0]"
        x, y = driven.ask(f"{tree}.visualRect({item}.index()).center().toTuple()")
        person.click(f"{tree}.viewport()", x, y)
        driven.wait(f"{SOURCE}.editor.path.name == {CORE!r}")
        driven.wait(f"not {SOURCE}.tabs.proposed.isHidden()", "marks proposed")
    with person.step("what is proposed"):
        person.click(f"{SOURCE}.tabs.proposed")
        driven.wait(f"{panel}.isVisible() and len({panel}.rows.rows.tops) == 12")
    with person.step("one accepted"):
        x, y = driven.ask(f"{panel}.rows.visualRect({panel}.rows.rows.index(1, 2)).center().toTuple()")
        person.click(f"{panel}.rows.viewport()", x, y)
        driven.wait(f"{panel}.rows.current.pragma.name == 'mem_state_1'")
        person.click(f"{panel}.accept")
        driven.wait(f"len({panel}.rows.rows.tops) == 11")
    with person.step("undone"):
        person.key("ctrl+z")
        driven.wait(f"len({panel}.rows.rows.tops) == 12 and not {SOURCE}.editor.file.dirty")
    with person.step("all accepted"):
        person.click(f"{panel}.accept_all")
        driven.wait(f"not {panel}.rows.rows.tops and len({SOURCE}.editor.margin.pragmas) == 12")
        person.click(f"{panel}.shut")
        driven.wait(f"not {panel}.isVisible()")
    with person.step("saved"):
        person.key("ctrl+s")
        driven.wait(f"not {SOURCE}.editor.file.dirty")
    with person.step("run"):
        person.press("Run")
        driven.wait("app.activeModalWidget() is not None", "the question of trust")
        person.press("Trust and run")
        driven.wait("window.context.run is not None", "the run")


def compared(run: Path, core: str, waves: Waves, program: Path) -> Iterator[dict[str, Any]]:
    """A row for each state: what the run counted, and what the waveform has."""
    blocks = {block.block.id: block for block in open_result(run, load_plugins()).analysis.blocks}
    for register, needed in REGISTERS.items():
        block = next(b for b in blocks.values() if any(s.state.name.startswith(register) for s in b.states))
        held = _of(next(b for b in blocks.values() if any(s.state.name == "cpu_state_trap" for s in b.states)), None)[0]
        cycles, visits = counted(waves.wave(program, held, block.cycles), register, needed)
        names = value_names(core, register)
        seen = {value: names.get(value, f"{register}_{value}") for value in cycles if value is not None}
        wave = {name: (cycles[value], visits[value]) for value, name in seen.items()}
        marked = [s.state.name for s in block.states if s.state.category is not None]
        for name in sorted({*wave, *marked}):
            ours, theirs = _of(block, name), wave.get(name, (0, 0))
            yield {"state": name, "cycles": ours[0], "visits": ours[1], "wave_cycles": theirs[0],
                   "wave_visits": theirs[1], "equal": ours == theirs}  # fmt: skip
        ours, theirs = _of(block, None), (cycles[None], visits[None])
        yield {"state": f"{register}: unclassified", "cycles": ours[0], "visits": ours[1], "wave_cycles": theirs[0],
               "wave_visits": theirs[1], "equal": ours[0] == theirs[0]}  # fmt: skip


def _of(block: Any, name: str | None) -> tuple[int, int]:
    """Cycles and visits of a state; of what is not classified where it has no name."""
    state = next(s for s in block.states if (s.state.category is None if name is None else s.state.name == name))
    return int(state.cycles), int(state.visits)


def trial(core: Path, size: tuple[int, int], theme: str, pictures: Path | None) -> tuple[list[Any], list[Any]]:
    with tempfile.TemporaryDirectory() as folder:
        app = Path(folder, "app")
        shutil.copytree(APP, app)
        shutil.copy(core, app / "hdl" / CORE)
        shown = f"{size[0]}x{size[1]}"
        with (
            Stage(warm=False) as stage,
            stage.window(app / "riscv.workbench.yaml", size=size, theme=theme, turns=True) as driven,
        ):
            person = Person(driven, app, pictures / f"{shown}-{theme}" if pictures else None)
            with suppress(Lost):
                mark_and_run(person)
            steps = [{"size": shown, "theme": theme, **row} for row in person.rows]
        if any(step["dead"] for step in steps):
            return steps, []
        before, after = core.read_text().splitlines(), (app / "hdl" / CORE).read_text().splitlines()
        if [line for line in after if "//pragma recap" not in line] != before:
            sys.exit("the core's own lines were changed")
        (run,) = (app / "runs").glob("run-*")
        if (run / "stdout.txt").read_text().strip() != str(RESULT):
            sys.exit("the program's result is wrong")
        program = Path(folder, "program")
        program.write_text(
            "\n".join(re.findall(r"^    0x(\w{8}),", (app / "host" / "main.c").read_text(), re.MULTILINE))
        )
        waves = Waves(Path(folder), [core, app / "hdl" / "riscv_top.v"])
        return steps, list(compared(run, core.read_text(), waves, program))


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("core", type=Path, metavar="CORE")
    parser.add_argument("--pictures", type=Path)
    asked = parser.parse_args()
    driver.PATIENCE_S = 240.0
    steps: list[Any] = []
    rows: list[Any] = []
    for theme in THEMES[:1] if asked.quick else THEMES:
        for size in SIZES[:1] if asked.quick else SIZES:
            walked, states = trial(asked.core / CORE, size, theme, asked.pictures)
            steps += walked
            rows += [{"size": walked[0]["size"], "theme": theme, **row} for row in states]
            if not asked.json:
                for step in walked:
                    print(f"{step['size']:10} {theme:6} {step['step']:20} {step['seconds']:6.1f} s", end="  ")
                    print(f"{step['blocked_ms']:6.1f} ms  dead {step['dead']}  clipped {step['clipped']}")
                for row in states:
                    print(f"{row['state']:26} {row['cycles']:6} cycles {row['visits']:5} visits", end="  ")
                    word = "equal" if row["equal"] else "DIFFERS"
                    print(f"waveform {row['wave_cycles']:6} {row['wave_visits']:5}  {word}")
    if asked.json:
        print(json.dumps({"rows": rows, "steps": steps}, indent=1))
    sys.exit(0 if rows and all(row["equal"] for row in rows) else 1)


if __name__ == "__main__":
    main()
