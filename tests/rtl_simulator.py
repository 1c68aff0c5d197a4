"""Simulate a small design cycle by cycle, for tests of what is done to HDL.

The design's top has the ports clk, rst, addr, wr_en, rd_en, wr_data, rd_data, `in` (stimulus) and `out` (what is
compared), each of up to 64 bits.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from workbench.api.compile import needed
from workbench.api.job import Job
from workbench.hdl.equivalence.models import model_flags, models_runtime
from workbench.hdl.verilate import HEADERS, RUNTIME
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.process import run_program
from workbench.system.toolchain import VERILATOR_SOUND, Tool, find_compiler, find_verilator, verilator_environment

BOARD = Path(__file__).parent / "data" / "board"
_HARNESS = """
#include <cstdio>
#include "Vdut.h"
#include "verilated.h"
#ifndef TAPS
#define TAPS 0
#endif
int main(int argc, char** argv) {
    VerilatedContext context;
    Vdut dut(&context);
    unsigned long long rst, addr, wr, rd, data, in;
    dut.clk = 0;
    if (argc > 1 && !std::freopen(argv[1], "r", stdin)) return 1;
    while (std::scanf("%llu %llu %llu %llu %llu %llu", &rst, &addr, &wr, &rd, &data, &in) == 6) {
        dut.rst = rst; dut.addr = addr; dut.wr_en = wr; dut.rd_en = rd; dut.wr_data = data; dut.in = in;
        dut.clk = 0; dut.eval();
        const unsigned long long taps = TAPS;
        std::printf("%llu %llu %llu\\n", (unsigned long long)dut.rd_data, (unsigned long long)dut.out, taps);
        dut.clk = 1; dut.eval();
    }
    dut.final();
}
"""


@dataclass(frozen=True)
class Cycle:
    """The inputs of one clock cycle."""

    rst: int = 0
    addr: int = 0
    wr_en: int = 0
    rd_en: int = 0
    wr_data: int = 0
    stimulus: int = 0

    def line(self) -> str:
        return f"{self.rst} {self.addr} {self.wr_en} {self.rd_en} {self.wr_data} {self.stimulus}"


@dataclass(frozen=True)
class Seen:
    """The outputs before the rising edge that ends each cycle."""

    rd_data: NDArray[np.uint64]
    out: NDArray[np.uint64]
    taps: NDArray[np.uint64]


class Simulator:
    """Builds designs below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._verilator = folder, needed(find_verilator())
        self._compile, self._objects = same_in_every_model(self._verilator, needed(find_compiler("c++")))
        self._built = 0

    def build(
        self,
        sources: Sequence[Path],
        top: str,
        *,
        defines: Iterable[str] = (),
        include_dirs: Iterable[Path] = (),
        parameters: Iterable[str] = (),
        options: Iterable[str] = (),
        taps: str = "0",
        harness: str = _HARNESS,
        flags: Iterable[str] = (),
    ) -> Path:
        """An executable of the design. `taps` is a C++ expression over `dut`, for the `harness` that drives it,
        `options` are Verilator's, and `flags` the compiler's."""
        self._built += 1
        out = self.folder / f"model_{self._built}"
        command: list[str | Path] = [
            self._verilator.path, "--cc", "--prefix", "Vdut", "--top-module", top, "-Wno-fatal", "-Wno-lint",
            *VERILATOR_SOUND,
            "--Mdir", out, *(f"-D{d}" for d in defines), *(f"-I{d}" for d in include_dirs),
            *(f"-G{p}" for p in parameters), *options, *sources,
        ]  # fmt: skip
        _run(command, verilator_environment(self._verilator))
        model = "".join(f'#include "{path.name}"\n' for path in sorted(out.glob("*.cpp")))
        (out / "main.cpp").write_text(model + harness)
        _run(
            [*self._compile, *flags, f"-I{out}", f"-DTAPS={taps}", out / "main.cpp", *self._objects, "-o", out / "dut"]
        )
        return out / "dut"


def same_in_every_model(verilator: Tool, compiler: Tool, level: str = "-O0") -> tuple[list[str | Path], list[Path]]:
    """What compiles a unit of a model, and Verilator's objects: compiled once, into the cache that all tests share."""
    with TemporaryDirectory() as made:
        kept = models_runtime(verilator, compiler, Path(made), Job())
    compile_it = [compiler.path, *model_flags(verilator), level, "-include", kept / level / HEADERS]
    return compile_it, [kept / f"{name}.o" for name in RUNTIME]


def make_board(tree: Path, *words: str, makefile: Path = BOARD / "Makefile", level: str = "-O0") -> list[str]:
    """The command that builds an instrumented tree for a board that is a simulation, compiled with this `level`."""
    verilator, compiler = needed(find_verilator()), needed(find_compiler("c++"))
    (_, *flags), runtime = same_in_every_model(verilator, compiler, level)
    return ["make", "-f", str(makefile), f"TREE={tree}", f"VERILATOR={verilator.path}",
            f"VERILATOR_ROOT={verilator.root}", f"RUNTIME={' '.join(map(str, runtime))}",
            f"MODEL_FLAGS={' '.join(map(str, flags))}", *words]  # fmt: skip


def simulate(executable: Path, cycles: Iterable[Cycle]) -> Seen:
    inputs = executable.with_name("cycles.txt")
    inputs.write_text("\n".join(cycle.line() for cycle in cycles))
    values = np.array(_run([executable, inputs]).split(), dtype=np.uint64).reshape(-1, 3)
    return Seen(values[:, 0], values[:, 1], values[:, 2])


def _run(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> str:
    done = run_program(command, env=environment)
    if done.returncode:
        raise WorkbenchError(
            Diagnostic(f"{Path(str(command[0])).name} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        )
    return done.stdout
