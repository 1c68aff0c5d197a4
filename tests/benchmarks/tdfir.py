"""ReCAP's time-domain FIR (section 6.1) on the simulated PROCStar III: its steps on 1 and 4 FPGAs beside the paper's.

    python tests/benchmarks/tdfir.py [--json] [--quick] [--runs DIR]

Filters of the HPEC Challenge's sets 1 and 2 (the paper's B and A) and a third set, C, are convolved by 128 multipliers
at 125 MHz in each FPGA (`tdfir_sources`). The forms are the paper's: `original` moves one filter at a time, `batched` 8
(10 of A) in a transfer, `overlapped` writes asynchronously into four buffers. Each row has the virtual time between
opening and closing the FPGAs; all outputs are those of NumPy. `speedup` is over the original on as many FPGAs,
`scaling` over one FPGA of the same form. `predicted` is what the workbench predicts for batched transfers from the
profile of the original, of the whole run, in which the host also makes the data; `interval` is where it expects that
speedup, and `came` is what came. With the core in VHDL set A takes as long, to the nanosecond. `findings` are those of
the original with C on one FPGA, in their order, with their upper bounds.

What the paper's text does not give, and so is ours: the size of C (128 filters of 4,096 words by kernels of 2,048, such
that the FPGA works about half of the time, as the paper says), transfer times (estimates, see the template), and data
(words of 32 bits for floating-point numbers). `--quick` takes set A alone.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from command_line import command

from workbench.api.job import Job
from workbench.model.changes import read_change
from workbench.replay.prepare import prepare
from workbench.session.keep.results import OpenRun, open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

SOURCES = Path(__file__).with_name("tdfir_sources")
CORES = "tdfir_core.v", "tdfir_core.vhd"
BUFFERS = 4
UNITED = "writeKernel", "writeInput", "start", "readOutput"


@dataclass(frozen=True)
class Set:
    filters: int
    input_words: int
    kernel_words: int
    batch: int

    @property
    def operations(self) -> int:
        """As the paper counts them: two for each product of a real convolution."""
        return 2 * self.filters * self.input_words * self.kernel_words


SETS = {"A": Set(20, 1024, 12, 10), "B": Set(64, 4096, 128, 8), "C": Set(128, 4096, 2048, 8)}
STEPS = ("original", "batched", "overlapped")
#: (step, FPGAs, set): the paper's speedup over the original on as many FPGAs.
PAPER = {
    ("batched", 1, "C"): 1.47, ("batched", 4, "C"): 1.68, ("overlapped", 1, "C"): 1.65, ("overlapped", 4, "C"): 2.9,
    ("overlapped", 1, "A"): 5.7, ("overlapped", 1, "B"): 7.7,
}  # fmt: skip
#: (step, set): the paper's speedup of 4 FPGAs over 1; and GFLOPS of set C by step and FPGAs.
PAPER_SCALING = {
    ("original", "A"): 1.06, ("original", "B"): 1.06, ("original", "C"): 2.06, ("batched", "C"): 2.36,
    ("overlapped", "C"): 3.62,
}  # fmt: skip
PAPER_GFLOPS = {("original", 1): 16.5, ("original", 4): 34.1, ("overlapped", 1): 27.3, ("overlapped", 4): 98.9}
PAPER_FINDINGS = [
    ("inefficient transfer size or type", 11.63), ("control overhead", 3.60), ("late sender: the FPGA", 2.52),
    ("late sender: the CPU", 1.63),
]  # fmt: skip


def project(folder: Path, step: str, fpgas: int, name: str, core: str) -> Path:
    """The project of a form in a folder of its own."""
    data = SETS[name]
    shutil.copytree(SOURCES, folder)
    path = folder / "rounds.workbench.yaml"
    document = yaml.safe_load(path.read_text())
    sizes = {
        "INPUT_WORDS": data.input_words, "KERNEL_WORDS": data.kernel_words,
        "BATCH": 1 if step == "original" else data.batch, "BUFFERS": BUFFERS if step == "overlapped" else 1,
    }  # fmt: skip
    document["hardware"]["parameters"] |= sizes | {"STARTS": int(step == "overlapped")}
    document["hardware"] |= {"sources": ["hdl/tdfir_top.v", f"hdl/{core}"], "cards": fpgas}
    document["settings"] = {"FPGAS": fpgas, "FILTERS": data.filters, **sizes}
    document["host"]["sources"] = [f"host/{'overlapped' if step == 'overlapped' else 'rounds'}.cpp"]
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def random_words(seed: int, count: int) -> np.ndarray[Any, Any]:
    words = np.empty(count, np.uint64)
    for at in range(count):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        words[at] = seed >> 8
    return words


@cache
def expected_sum(name: str) -> int:
    """The sum that the host prints of all outputs, modulo 2^64."""
    data = SETS[name]
    inputs = random_words(1, data.filters * data.input_words).reshape(data.filters, -1)
    kernels = random_words(2, data.filters * data.kernel_words).reshape(data.filters, -1)
    outputs = np.concatenate([np.convolve(x, h) & 0xFFFFFFFF for x, h in zip(inputs, kernels, strict=True)])
    powers = np.full(len(outputs), 31, np.uint64)
    powers[0] = 1
    with np.errstate(over="ignore"):
        return int((outputs * np.cumprod(powers)[::-1]).sum(dtype=np.uint64))


class Bench:
    def __init__(self, folder: Path) -> None:
        self.folder, self.plugins = folder, load_plugins()

    def measure(self, step: str, fpgas: int, name: str, core: str = CORES[0]) -> tuple[OpenRun, float]:
        """A run, and the seconds between opening and closing the FPGAs."""
        out = self.folder / f"{step}-{fpgas}-{name}-{Path(core).suffix[1:]}"
        if not (out / "stdout.txt").exists():
            path = project(self.folder / f"{out.name}-project", step, fpgas, name, core)
            run_workspace(open_workspace(path, self.plugins), RunOptions(out=out, deterministic=True), Job())
        lines = dict(line.split(" ", 1) for line in (out / "stdout.txt").read_text().splitlines())
        if int(lines["sum"]) != expected_sum(name):
            sys.exit(f"{out}: the output is not NumPy's")
        return open_result(out, self.plugins), int(lines["took"].removesuffix(" ns")) * 1e-9


def predicted(run: OpenRun, data: Set) -> tuple[float, float, float] | None:
    """The speedup that the workbench predicts for batched transfers from the original's profile, with the ends of its
    interval, or None where it refuses."""
    changes = [read_change(f"unite calls={calls} count={data.batch}") for calls in UNITED]
    told = prepare(run.run, run.platform).predict(changes)
    return (told.speedup, *told.interval) if told.speedup and told.interval else None


def table(bench: Bench, names: list[str]) -> dict[str, Any]:
    rows, times, runs = [], {}, {}
    for name in names:
        for step in STEPS:
            for fpgas in (1, 4):
                run, time_s = bench.measure(step, fpgas, name)
                if name == "A" and bench.measure(step, fpgas, name, CORES[1])[1] != time_s:
                    sys.exit(f"{step} of A on {fpgas} FPGAs takes another time with the core in VHDL")
                times[step, fpgas], runs[step, fpgas] = time_s, run
                before = STEPS[STEPS.index(step) - 1]
                told = predicted(runs[before, fpgas], SETS[name]) if step == "batched" else None
                rows.append({
                    "step": step, "fpgas": fpgas, "set": name, "time_s": time_s,
                    "speedup": times["original", fpgas] / time_s, "paper": PAPER.get((step, fpgas, name)),
                    "came": runs[before, fpgas].run.manifest.time_ps / run.run.manifest.time_ps if told else None,
                    "predicted": told and told[0], "interval": told and told[1:],
                    "scaling": times[step, 1] / time_s,
                    "paper_scaling": PAPER_SCALING.get((step, name)) if fpgas > 1 else None,
                    "gflops": SETS[name].operations / time_s * 1e-9,
                    "paper_gflops": PAPER_GFLOPS.get((step, fpgas)) if name == "C" else None,
                })  # fmt: skip
    return {"rows": rows}


def main() -> int:
    parser = command(__doc__, "set A alone")
    parser.add_argument("--runs", type=Path, metavar="DIR", help="keep the runs there, and take those that are there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.runs or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(folder)
        found = table(bench, ["A"] if options.quick else list(SETS))
        last = bench.measure("original", 1, "A" if options.quick else "C")[0]
        found["findings"] = [[one.rule, one.speedup_ideal] for one in last.analysis.findings]
        found["paper_findings"] = PAPER_FINDINGS
    if options.json:
        print(json.dumps(found))
        return 0
    columns = ("speedup", "paper", "predicted", "came", "scaling", "paper_scaling", "gflops", "paper_gflops")
    print("set step        FPGAs   time ms  speedup  paper  predicted   came  scaling  paper  GFLOPS  paper")
    for row in found["rows"]:
        texts = [f"{row[key]:.2f}" if row[key] is not None else "-" for key in columns]
        widths = (8, 6, 10, 6, 8, 6, 7, 6)
        cells = " ".join(f"{text:>{width}}" for text, width in zip(texts, widths, strict=True))
        within = " to ".join(f"{end:.2f}" for end in row["interval"] or ())
        print(f"{row['set']:3} {row['step']:12} {row['fpgas']:4} {row['time_s'] * 1e3:9.3f} {cells}  {within}")
    print("\nFindings, upper bounds:", ", ".join(f"{rule} {gain:.2f}" for rule, gain in found["findings"]))
    print("The paper's, ideal:    ", ", ".join(f"{rule} {gain:.2f}" for rule, gain in PAPER_FINDINGS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
