"""Whether `workbench template bench` recovers the tables of the simulated card, for every template that has a stand-in.

    python tests/benchmarks/template_bench.py [--json] [--quick] [TEMPLATE ...]

Each template, with a board made up for the tests where it ships none, is measured by its own calls (3 of each size, up
to 4 KiB). `worst` is the largest difference of a time from what the card was given, at sizes between a table's first
and last; `left_out` are tables that no call of a generated program stands for, and why. `--quick` measures only the
first of those that share a design.
"""

import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from command_line import command, show
from host_templates import PROGRAMS, TEMPLATES, expected, templates

from workbench.api.job import Job
from workbench.formats.platform_file import load_platform
from workbench.model.diagnostic import WorkbenchError
from workbench.model.platform import TransferTable
from workbench.session.bench.bench import measured
from workbench.session.bench.bench_project import bench_run, bench_workspace
from workbench.session.program.plugins import load_plugins


def main() -> int:
    parser = command(__doc__)
    parser.add_argument("templates", nargs="*")
    arguments = parser.parse_args()
    rows = [measure(name) for name in arguments.templates or templates(one_a_design=arguments.quick)]
    show({"rows": rows}, arguments.json)
    return 0


def measure(name: str) -> dict[str, Any]:
    plugins = load_plugins()
    board = expected(name).get("board")
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "card.yaml"
        text = (TEMPLATES / f"{name}.yaml").read_text() + ((PROGRAMS / board).read_text() if board else "")
        template.write_text(text)
        platform, _ = load_platform(template, plugins.port_kinds)
        assert platform is not None
        try:
            workspace, left_out = bench_workspace(template, platform, plugins, Path(folder) / "bench", 3, 4096)
            found = measured(bench_run(workspace, Job()), platform)
        except WorkbenchError as error:
            return {"template": name, "tables": 0, "left_out": {"all": error.diagnostics[0].message}}
        off = [
            abs(point.time_s / given - 1)
            for one in found
            for point in one.points
            for given in time_s(platform.transfer_tables[one.table], point.bytes)
        ]
        return {"template": name, "tables": len(found), "points": len(off), "worst": max(off, default=0.0),
                "left_out": dict(left_out)}  # fmt: skip


def time_s(table: TransferTable, size: int) -> Iterator[float]:
    """What a table gives for a size, where it says something of it."""
    points = [(point.bytes, point.time_s) for point in table.points]
    for (low, low_s), (high, high_s) in pairwise(points):
        if low <= size < high:
            yield low_s + (high_s - low_s) * (size - low) / (high - low)
    if size == points[-1][0]:
        yield points[-1][1]


if __name__ == "__main__":
    sys.exit(main())
