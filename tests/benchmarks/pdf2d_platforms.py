"""ReCAP's Table III: the 2-D PDF on the Nallatech card, in both forms, and ported to an XD1000 and a PROCStar III.

    python tests/benchmarks/pdf2d_platforms.py [--json] [--quick] [--only TEXT] [--runs DIR]

The ports have hosts of their own (`pdf2d_ports`) and the optimised form's cores. An XD1000 moves blocks by DMA, so
the top has the two signals that announce one; both have the interrupt, and room for 2.4 times the cores (section
6.2). All runs are of 81,920 points and 16 x 16 bins, such that the cores and not their distributor are the limit,
with counted host time; each prints what NumPy says. The paper's times are of 1,024,000 points and of bins that it
does not name: hold the speedups against one another (`over`: over the optimised form on the Nallatech card), not the
times.

The paper prints no transfer times of an XD1000 and few of a PROCStar III: their rows are **by estimates**. `interval`
is where the speedup lies if all transfers take as much longer or shorter as the template says that they may, but no
shorter than a word of the port in each cycle. `software` and `hardware` are the greatest speedups of findings there,
if only that time went, as section 6.2 has them. The number of cores on the PROCStar III is ours: the paper did not
run the 2-D PDF there. `--quick` takes fewer points and bins, and the optimised form and the XD1000 alone.
"""

from __future__ import annotations

import json
import runpy
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from command_line import command

from workbench.api.job import Job
from workbench.formats.platform_file import load_platform
from workbench.model.blocks import Side
from workbench.model.platform import Platform
from workbench.session.keep.results import OpenRun, open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.examples import EXAMPLES, copy_example
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

PORTS = Path(__file__).with_name("pdf2d_ports")
TEMPLATES = Path(__file__).parents[2] / "platform_templates"
BASE = "optimised"
PAPER_CPU_S = 250.515
#: What the ports change in the example's files: more cores, and the top's signals on each platform.
MORE_CORES = {
    "host/pdf2d.h": (("CORES <= 32", "CORES <= 64"),),
    "hdl/optimised/pdf2d_top.v": (
        ("reg [4:0]  turn;", "reg [5:0]  turn;"),
        ("5'd0 : turn", "6'd0 : turn"),
        ("reg        waiting;       // bins", "assign irq = waiting;\n    reg        waiting;       // bins"),
    ),
}
TOP = "    output     [31:0] rd_data\n);"
SIGNALS = {
    "gidel_procstar3": "    output     [31:0] rd_data,\n    output            irq\n);",
    "xd1000": "    output     [31:0] rd_data,\n    input             dma_req,\n    input      [31:0] words_left,\n"
    "    output            irq\n);",
}


@dataclass(frozen=True)
class Version:
    """A row of Table III: its platform, cores, and the paper's seconds and greatest findings, where it has them."""

    name: str
    platform: str
    cores: int
    paper_s: float | None = None
    paper_findings: str = ""


VERSIONS = (
    Version("original", "nallatech_h101", 20, 64.506, "software 16.21, hardware 16.81"),
    Version(BASE, "nallatech_h101", 20, 5.648),
    Version("XD1000", "xd1000", 48, 2.218, "software below 4.2, cores at most 1.31"),
    Version("PROCStar III", "gidel_procstar3", 48),
)


def project_of(version: Version, folder: Path, platform: str = "") -> Path:
    """The project of a version in a copy of the example; `platform` is a template beside it instead of its own."""
    example = copy_example(EXAMPLES[version.name != "original"], folder)
    if version.platform == "nallatech_h101":
        return example
    root = example.parent
    for file, changes in MORE_CORES.items():
        text = (root / file).read_text(encoding="utf-8")
        for old, new in (*changes, (TOP, SIGNALS[version.platform])) if file.endswith(".v") else changes:
            if old not in text and new not in text:
                sys.exit(f"{file} has no '{old}'")
            text = text if new in text else text.replace(old, new)
        (root / file).write_text(text, encoding="utf-8")
    shutil.copy(PORTS / f"{version.platform}.cpp", root / "host")
    document = yaml.safe_load(example.read_text(encoding="utf-8"))
    document |= {"name": f"pdf2d_{version.platform}", "platform": platform or version.platform}
    document["host"]["sources"] = [f"host/{version.platform}.cpp"]
    path = root / f"{version.platform}.workbench.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return path


def template_off(name: str, longer: bool, folder: Path) -> str:
    """The file, put into the project's folder, of a template whose estimated times are as long, or short, as they may
    be."""
    path = TEMPLATES / f"{name}.yaml"
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    platform, _ = load_platform(path)
    assert platform is not None
    least_s = 0.25 / platform.hardware.clocks[0].frequency_hz if platform.hardware else 0.0  # a word of 4 bytes a cycle
    for table, known in platform.transfer_tables.items():
        if within := known.estimated_within:
            document["transfer_tables"][table]["points"] = [
                {
                    "bytes": one.bytes,
                    "time_s": one.time_s * within if longer else max(one.time_s / within, one.bytes * least_s),
                }
                for one in known.points
            ]
    document["name"] = f"{name}_{'longer' if longer else 'shorter'}"
    (folder / f"{document['name']}.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return f"{document['name']}.yaml"


class Bench:
    def __init__(self, folder: Path, settings: Mapping[str, int]) -> None:
        self.folder, self.settings, self.plugins = folder, settings, load_plugins()

    def run(self, version: Version, longer: bool | None = None) -> OpenRun:
        """A run; with estimated times as long, or short, as they may be, where `longer` is given."""
        name = version.name.replace(" ", "") + {None: "", True: "_longer", False: "_shorter"}[longer]
        out = self.folder / name / "run"
        project = project_of(version, self.folder / name)
        if longer is not None:
            project = project_of(version, self.folder / name, template_off(version.platform, longer, project.parent))
        expected = runpy.run_path(str(project.parent / "reference.py"))["expected_output"]
        if not (out / "stdout.txt").exists():
            settings = {"CORES": version.cores, **self.settings}
            options = RunOptions(out=out, deterministic=True, settings=settings)
            run_workspace(open_workspace(project, self.plugins), options, Job())
        if (out / "stdout.txt").read_text(encoding="utf-8") != expected(self.settings["POINTS"], self.settings["BINS"]):
            sys.exit(f"{name}: the output differs from the reference's")
        return open_result(out, self.plugins)


def estimated(platform: Platform | None) -> bool:
    return any(table.estimated_within for table in platform.transfer_tables.values()) if platform else False


def greatest(run: OpenRun) -> dict[str, float]:
    """By side the greatest speedup of a finding if only its time went."""
    sides = {block.block.id: block.block.side for block in run.analysis.blocks}
    found = {"software": 1.0, "hardware": 1.0}
    for one in run.analysis.findings:
        side = "software" if sides.get(one.block) is Side.HOST else "hardware"
        found[side] = max(found[side], one.speedup_ideal)
    return found


def measure(bench: Bench, versions: list[Version]) -> list[dict[str, Any]]:
    base = next(one for one in VERSIONS if one.name == BASE)
    base_s = bench.run(base).run.time_s
    rows = []
    for version in versions:
        run = bench.run(version)
        ends = [bench.run(version, longer).run.time_s for longer in (True, False)] if estimated(run.platform) else []
        rows.append({
            "version": version.name, "cores": version.cores, "time_s": run.run.time_s,
            "over": base_s / run.run.time_s, "interval": [base_s / end for end in ends],
            "by_estimates": bool(ends), "paper_s": version.paper_s,
            "paper_over": base.paper_s / version.paper_s if base.paper_s and version.paper_s else None,
            **greatest(run), "paper_findings": version.paper_findings,
        })  # fmt: skip
        print(f"{version.name} ran", file=sys.stderr)
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    print("| version | cores | time, ms | speedup over optimised | paper | paper's s | software, hardware | paper |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    print(f"| Pentium 4 Xeon | | | | | {PAPER_CPU_S} | | |")
    for row in rows:
        over = f"{row['over']:.3f}"
        if row["by_estimates"]:
            over += " by estimates ({:.3f} to {:.3f})".format(*row["interval"])
        paper = [f"{row[key]:.3f}" if row[key] else "-" for key in ("paper_over", "paper_s")]
        cells = (row["version"], str(row["cores"]), f"{row['time_s'] * 1e3:.3f}", over, *paper,
                 f"{row['software']:.2f}, {row['hardware']:.2f}", row["paper_findings"])  # fmt: skip
        print(f"| {' | '.join(cells)} |")


def main() -> int:
    parser = command(__doc__, "fewer points and bins, the optimised form and the XD1000 alone")
    parser.add_argument("--only", default="", metavar="TEXT", help="versions whose name holds this")
    parser.add_argument("--runs", type=Path, metavar="DIR", help="keep the runs here, and take those that are there")
    options = parser.parse_args()
    settings = {"POINTS": 16_384, "BINS": 8} if options.quick else {"POINTS": 81_920, "BINS": 16}
    names = (BASE, "XD1000") if options.quick else tuple(one.name for one in VERSIONS)
    versions = [one for one in VERSIONS if one.name in names and options.only in one.name]
    with tempfile.TemporaryDirectory(prefix="pdf2d-") as folder:
        rows = measure(Bench(options.runs or Path(folder), settings), versions)
    if options.json:
        print(json.dumps({"rows": rows}))
    else:
        show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
