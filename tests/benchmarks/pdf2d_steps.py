"""The steps of ReCAP's section 6.2 on the 2-D PDF: what each was predicted to gain, what it gained, and the paper's.

    python tests/benchmarks/pdf2d_steps.py [--json] [--quick] [--runs DIR]

The application takes the paper's four fixes one after the other (`pdf2d_sources/steps.c`, STEP 0 to 4), each of them in
host and hardware. Every step is predicted from the traced run of the program before it, by the changes that a piece of
advice in that run's report carries, and then measured. Advice leaves open how many calls become one: the number is the
changed program's, which has 20 cores. All programs print what the example's reference prints, bit for bit. Host time is
counted, so that two runs of this script print the same. `--runs` keeps the runs, and takes those that are there.

The paper gives the ideal speedup of each bottleneck and what all fixes together came to.
"""

import json
import math
import runpy
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from command_line import command

from workbench.api.job import Job
from workbench.model.changes import Change, Unite
from workbench.model.diagnostic import WorkbenchError
from workbench.model.finding import Advice
from workbench.replay.prepare import prepare
from workbench.session.keep.results import OpenRun, open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.examples import EXAMPLES, copy_example
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

SOURCES = Path(__file__).with_name("pdf2d_sources")
CORES = 20
PAPER = 64.506 / 5.648  # Table III: original over optimised, on the Nallatech card


@dataclass(frozen=True)
class Step:
    """A fix of section 6.2, the advice that says so, and the paper's ideal speedup of the bottleneck that it is for."""

    fix: str
    rule: str
    advice: str
    paper: str


STEPS = (
    Step("control moved onto the FPGA: a core clears its bins and starts by itself",
         "control messages", "Let the FPGA clear, start and stop itself", "ideal 1.55 (control)"),
    Step("output buffers consecutive in the memory map: one read for all cores",
         "inefficient transfer type or size", "Make transfers larger: readBins", "ideal 9.83 (transfer size)"),
    Step("input buffers larger: one write of 40 KB for all cores",
         "inefficient transfer type or size", "Make transfers larger: writePoints", "ideal 9.83 (transfer size)"),
    Step("register data consolidated: one status register for all cores",
         "polling", "Poll one register that combines", "ideal 1.15 to 1.34 (five API calls)"),
)  # fmt: skip


class Bench:
    """The programs in a folder, and their runs."""

    def __init__(self, folder: Path) -> None:
        self.plugins = load_plugins()
        example = copy_example(EXAMPLES[0], folder).parent
        self.folder = example
        for file in SOURCES.iterdir():
            shutil.copy(file, example)
        self.expected = runpy.run_path(str(example / "reference.py"))["expected_output"]()

    def run(self, step: int) -> OpenRun:
        out = self.folder / "runs" / f"step{step}"
        if not (out / "manifest.json").is_file():
            shutil.rmtree(out, ignore_errors=True)
            workspace = open_workspace(self.folder / "steps.workbench.yaml", self.plugins)
            options = RunOptions(out=out, trace=True, deterministic=True, settings={"STEP": step, "CORES": CORES})
            run_workspace(workspace, options, Job(lambda event: None))
        if (out / "stdout.txt").read_text(encoding="utf-8") != self.expected:
            sys.exit(f"step {step}: the output differs from the reference's")
        return open_result(out, self.plugins)


def advised(base: OpenRun, step: Step) -> Advice | None:
    """The first advice of the report that says so and names its changes."""
    found = (
        advice
        for finding in base.analysis.findings
        if finding.rule == step.rule
        for advice in finding.advice
        if advice.text.startswith(step.advice) and advice.changes
    )
    return next(found, None)


def measure(folder: Path, steps: Sequence[Step]) -> list[dict[str, Any]]:
    bench = Bench(folder)
    rows = []
    base = bench.run(0)
    for number, step in enumerate(steps, 1):
        twin = bench.run(number)
        advice = advised(base, step)
        changes = [_as_made(change) for change in advice.changes] if advice else []
        found = prepare(base.run, base.platform).predict(changes) if changes else None
        measured = base.run.manifest.time_ps / twin.run.manifest.time_ps
        rows.append({
            "step": step.fix,
            "advice": advice.text if advice else "",
            "changes": [str(change) for change in changes],
            "predicted": found.speedup if found else None,
            "interval": list(found.interval) if found and found.interval else None,
            "trust": found.trust.value if found else "refused",
            "why": found.why if found else "the report does not advise this",
            "measured": measured,
            "inside": found.holds(measured) if found else None,
            "time_ms": twin.run.time_s * 1e3,
            "paper": step.paper,
        })  # fmt: skip
        base = twin
    return rows


def _as_made(change: Change) -> Change:
    return replace(change, count=CORES) if isinstance(change, Unite) else change


def show(rows: list[dict[str, Any]]) -> None:
    print("| step of section 6.2 | changes, as the advice before it says | predicted (interval) | measured | paper |")
    print("| --- | --- | --- | --- | --- |")
    for row in rows:
        changes = "; ".join(f"`{change}`" for change in row["changes"])
        told = row["why"] if row["predicted"] is None else f"{row['predicted']:.3f}"
        interval = "" if row["interval"] is None else " ({:.3f} to {:.3f})".format(*row["interval"])
        print(f"| {row['step']} | {changes} | {told}{interval} | {row['measured']:.3f} | {row['paper']} |")
    predicted = [row["predicted"] for row in rows]
    product = f"{math.prod(predicted):.2f}" if all(predicted) else ""
    measured = math.prod(row["measured"] for row in rows)
    print(f"| all of them, one after the other | | {product} | {measured:.2f} | {PAPER:.1f}, measured |")


def main() -> int:
    parser = command(__doc__, "the first step only")
    parser.add_argument("--runs", type=Path)
    arguments = parser.parse_args()
    steps = STEPS[:1] if arguments.quick else STEPS
    try:
        if arguments.runs:
            arguments.runs.mkdir(parents=True, exist_ok=True)
            rows = measure(arguments.runs.absolute(), steps)
        else:
            with tempfile.TemporaryDirectory() as folder:
                rows = measure(Path(folder), steps)
    except WorkbenchError as error:
        sys.exit(str(error))
    if arguments.json:
        print(json.dumps({"rows": rows, "paper": PAPER}))
    else:
        show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
