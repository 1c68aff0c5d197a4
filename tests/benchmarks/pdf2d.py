"""The bundled 2-D PDF application: how much faster the optimised form is, how both scale, what observing them costs.

    python tests/benchmarks/pdf2d.py [--json] [--quick] [--predicted]

- `scaling`, `speedup_optimised`: virtual time of plain runs in deterministic mode, so two runs of this script print the
  same table. Every run's output is compared with the NumPy reference.
- `host_overhead_pct`: the 20-core original with and without instrumentation on the measured clock, as the paper counts
  "software time" (the host's whole time, transfers included); medians over several runs, which vary by a few percent on
  a busy machine. What recording takes is taken off the clock, so this is what was left.
  `host_recording_pct` is what recording says it took (`taken_off`), and what it says may be left (`left`, `unsure`), of
  the run's time.
- `lut_pct`, `ff_pct`: what the monitors of all blocks of the 20-core design add, as shares of a Virtex-4 LX100's 98,304
  (the paper's way of counting); `*_of_design_pct` as shares of the design. Of both forms the worse one. LUTs are the
  LUT1 to LUT4 and inverters of yosys's `synth_xilinx -family xc4v`.
- `predicted`, with --predicted alone: from one traced run of each form with BASE cores, the time with each number of
  cores, its interval, and the measured one (ReCAP's figures 9 and 10). POINTS are fewer, so that traces stay small.
- `fmax_pct` is null: no place and route for a Virtex-4 is free to use.
"""

import json
import re
import runpy
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from command_line import command

from workbench.api.job import Job
from workbench.model.changes import read_change
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import Run
from workbench.replay.prepare import prepare
from workbench.session.make.pipeline import RunOptions, instrument_workspace, run_workspace
from workbench.session.open.examples import EXAMPLES, copy_example
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins
from workbench.system.toolchain import find_yosys

FORMS = {"original": EXAMPLES[0], "optimised": EXAMPLES[1]}
CORES = 20
BASE, FEWER_POINTS = 2, 16_384  # of predictions: cores of the run that they are made from, and points
COUNTS = (1, 2, 5, 10, 15, CORES)
DEVICE_CELLS = 98_304  # LUTs, and flip-flops, of an XC4VLX100
DEVICE_BLOCK_RAMS = 240


class Bench:
    """Copies of the application in a folder, and runs of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plugins = load_plugins()
        self.projects = {form: copy_example(example, folder) for form, example in FORMS.items()}
        self.reference = runpy.run_path(str(self.projects["original"].parent / "reference.py"))
        self.runs = 0

    def workspace(self, form: str) -> Workspace:
        return open_workspace(self.projects[form], self.plugins)

    def run(
        self, form: str, cores: int, *, plain: bool, deterministic: bool, trace: bool = False, points: int = 163_840
    ) -> Run:
        self.runs += 1
        out = self.folder / "runs" / str(self.runs)
        settings = {"CORES": cores, "POINTS": points}
        options = RunOptions(out=out, plain=plain, trace=trace, deterministic=deterministic, settings=settings)
        run = run_workspace(self.workspace(form), options, Job(lambda event: None))
        if (out / "stdout.txt").read_text(encoding="utf-8") != self.reference["expected_output"](points):
            sys.exit(f"{form} on {cores} cores: the output differs from the reference's")
        return run


def scaling(bench: Bench, cores: Sequence[int]) -> dict[str, dict[int, float]]:
    """Seconds of virtual time by form and number of cores."""
    return {
        form: {count: bench.run(form, count, plain=True, deterministic=True).time_s for count in cores}
        for form in FORMS
    }


def predicted(bench: Bench, cores: Sequence[int]) -> dict[str, dict[int, dict[str, Any]]]:
    """By form and number of cores the speedup over one core, predicted from one run and measured, and its interval."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for form in FORMS:
        base = bench.run(form, BASE, plain=False, deterministic=True, trace=True, points=FEWER_POINTS)
        replayed = prepare(base, bench.workspace(form).platform)
        change = "replicas 'group=pdf2d_top.core[*].ctrl' count={}"
        made = {count: replayed.predict([read_change(change.format(count))]) for count in cores}
        runs = {count: bench.run(form, count, plain=False, deterministic=True, points=FEWER_POINTS) for count in cores}
        found[form] = {
            count: {
                "predicted": made[count].speedup, "interval": made[count].interval,
                "measured": base.time_s / runs[count].time_s, "why": made[count].why,
            }
            for count in cores
        }  # fmt: skip
    return found


def show_predicted(result: dict[str, dict[int, dict[str, Any]]]) -> None:
    for form, rows in result.items():
        print(f"{form}: speedup over {BASE} cores\n")
        print("| cores | predicted | interval | measured | error % |")
        print("| --- | --- | --- | --- | --- |")
        for count, row in rows.items():
            low, high = row["interval"]
            error = 100 * (row["predicted"] / row["measured"] - 1)
            print(
                f"| {count} | {row['predicted']:.4f} | {low:.4f} to {high:.4f} | {row['measured']:.4f} | {error:+.4f} |"
            )
        print()


def host_overhead(bench: Bench, repeats: int) -> dict[str, Any]:
    times: dict[bool, list[float]] = {True: [], False: []}
    recording: list[dict[str, float]] = []
    for _ in range(repeats):
        for plain in (True, False):
            run = bench.run("original", CORES, plain=plain, deterministic=False)
            times[plain].append(run.time_s)
            if not plain:
                recording.append(dict(run.manifest.overhead))
    plain_s, observed_s = statistics.median(times[True]), statistics.median(times[False])
    return {
        "host_overhead_pct": 100 * (observed_s - plain_s) / plain_s,
        "host_recording_pct": {
            name: statistics.median(told[key] for told in recording)
            for name, key in (("taken_off", "taken_off_pct"), ("left", "virtual_pct"), ("unsure", "unsure_pct"))
        },
        "repeats": repeats,
        "plain_s": times[True],
        "observed_s": times[False],
    }


def resources(bench: Bench, form: str, yosys: Path) -> dict[str, dict[str, int]]:
    """Cells of the 20-core design, plain and with all its monitors."""
    workspace = bench.workspace(form)
    parameters = workspace.parameters(workspace.settings({"CORES": CORES}))
    out = bench.folder / "instrumented" / form
    _, hdl = instrument_workspace(workspace, {"CORES": CORES}, out)
    plain = [workspace.root / source for source in workspace.project.hardware.sources]
    designs = {"plain": (plain, workspace.project.hardware.top), "observed": (list(hdl.sources), hdl.top)}
    with ThreadPoolExecutor() as pool:
        jobs = {
            name: pool.submit(count_cells, yosys, sources, top, parameters, out / f"{name}.json")
            for name, (sources, top) in designs.items()
        }
        return {name: job.result() for name, job in jobs.items()}


def count_cells(
    yosys: Path, sources: Sequence[Path], top: str, parameters: dict[str, str], out: Path
) -> dict[str, int]:
    quoted = " ".join(f'"{source}"' for source in sources)
    settings = " ".join(f"-chparam {name} {value}" for name, value in parameters.items())
    script = (
        f"read_verilog {quoted}; hierarchy -top {top} {settings}; "
        f"synth_xilinx -family xc4v -flatten -top {top}; tee -o {out.name} stat -json"
    )
    done = subprocess.run([yosys, "-q", "-p", script], cwd=out.parent, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"yosys failed:\n{done.stderr[-2000:]}")
    text = out.read_text(encoding="utf-8")
    design = json.loads(text[text.index("{") :])["design"]
    cells: dict[str, int] = design["num_cells_by_type"]

    def total(pattern: str) -> int:
        return sum(count for name, count in cells.items() if re.fullmatch(pattern, name))

    if total(r"RAM\d+X.*|SRL.*"):
        sys.exit("yosys made memories of LUTs, which this script does not count")
    return {"lut": total(r"LUT\d|INV"), "ff": total("FD.*"), "block_ram": total("RAMB16"), "dsp": total("DSP48")}


def resource_shares(found: dict[str, dict[str, dict[str, int]]]) -> dict[str, float]:
    def worst(kind: str, whole: int | None) -> float:
        return max(
            100 * (form["observed"][kind] - form["plain"][kind]) / (whole or form["plain"][kind])
            for form in found.values()
        )

    return {
        "lut_pct": worst("lut", DEVICE_CELLS),
        "ff_pct": worst("ff", DEVICE_CELLS),
        "lut_of_design_pct": worst("lut", None),
        "ff_of_design_pct": worst("ff", None),
    }


def measure(quick: bool) -> dict[str, Any]:
    yosys = find_yosys()
    if isinstance(yosys, Diagnostic):
        sys.exit(yosys.text())
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        times = scaling(bench, (1, CORES) if quick else COUNTS)
        overhead = host_overhead(bench, 2 if quick else 9)
        forms = ("optimised",) if quick else tuple(FORMS)
        cells = {form: resources(bench, form, yosys.path) for form in forms}
    return {
        "speedup_optimised": times["original"][CORES] / times["optimised"][CORES],
        "scaling": times,
        **overhead,
        **resource_shares(cells),
        "fmax_pct": None,
        "fmax_reason": "no place and route for a Virtex-4 is free to use",
        "resources": cells,
        "cores": CORES,
    }


def show(result: dict[str, Any]) -> None:
    original, optimised = (result["scaling"][form] for form in FORMS)
    least = min(original)
    print("| cores | original, ms | gain | optimised, ms | gain | optimised is faster by |")
    print("| --- | --- | --- | --- | --- | --- |")
    for count, time_s in original.items():
        gains = (original[least] / time_s, optimised[least] / optimised[count])
        print(
            f"| {count} | {time_s * 1e3:.2f} | {gains[0]:.2f} | {optimised[count] * 1e3:.2f} | {gains[1]:.2f} "
            f"| {time_s / optimised[count]:.2f} |"
        )
    recording = result["host_recording_pct"]
    print(
        f"\nHost overhead: {result['host_overhead_pct']:.2f} % of software time (paper: 14.2 %), median of "
        f"{result['repeats']} runs; recording took {recording['taken_off']:.2f} % and was taken off; it says that "
        f"{recording['left']:.2f} +- {recording['unsure']:.2f} % may be left.\n"
    )
    print("| 20 cores | LUT | FF | block RAM (18 Kbit) | DSP48 |")
    print("| --- | --- | --- | --- | --- |")
    for form, cells in result["resources"].items():
        for name, count in cells.items():
            print(f"| {form}, {name} | {count['lut']} | {count['ff']} | {count['block_ram']} | {count['dsp']} |")
    print(f"| Virtex-4 LX100 | {DEVICE_CELLS} | {DEVICE_CELLS} | {DEVICE_BLOCK_RAMS} | 96 |")
    print(
        f"\nMonitors of all blocks: {result['lut_pct']:.2f} % of the device's LUTs (paper: 4.3 %), "
        f"{result['ff_pct']:.2f} % of its registers (paper: 2.3 %); {result['lut_of_design_pct']:.1f} % and "
        f"{result['ff_of_design_pct']:.1f} % of the design's. Clock: not measured, {result['fmax_reason']}."
    )


def main() -> int:
    parser = command(__doc__, "1 and 20 cores, 2 repeats, one form synthesised")
    parser.add_argument(
        "--predicted", action="store_true", help=f"1 to {CORES} cores predicted from {BASE}, and measured"
    )
    arguments = parser.parse_args()
    try:
        if arguments.predicted:
            with tempfile.TemporaryDirectory() as folder:
                result = predicted(Bench(Path(folder)), (1, 2, CORES) if arguments.quick else COUNTS)
        else:
            result = measure(arguments.quick)
    except WorkbenchError as error:
        sys.exit(str(error))
    if arguments.json:
        print(json.dumps(result))
    elif arguments.predicted:
        show_predicted(result)
    else:
        show(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
