"""Whether every call of the host APIs that ship with a stand-in is exercised, and counted exactly.

    python tests/benchmarks/host_templates.py [--json] [--quick]

For each template with a program in `tests/data/host_templates`: a small host program, written against the vendor's
prototypes, is instrumented, built on the stand-in library and run on the simulated card, as `workbench run` does. What
it prints, and how often it makes each call with how many bytes, stands in `expected.yaml` beside it.
`exercised` are entries of the template that were called at all, `counted_exactly` those whose count and bytes are the
expected ones; a program that prints something else has none. Templates without ports or times get those of their
example board. `--quick` leaves out all but the first of those that share a design.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from command_line import command

from workbench.api.job import Job
from workbench.model.diagnostic import Severity, WorkbenchError
from workbench.model.run import Run
from workbench.session.begin.new_template import template_text
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

PROGRAMS = Path(__file__).parents[1] / "data" / "host_templates"
TEMPLATES = Path(str(files("workbench.platform_templates")))
PROJECT = """\
schema_version: 1
name: {name}
platform: card.yaml
host: {{sources: ['main.*']}}
hardware:
  sources: ['{design}']
  top: {top}
  read_out: {{first: 0xC0, last: 0xFF}}
simulation: {{cycle_limit: 2000000, wall_limit_s: 60}}
"""


@dataclass(frozen=True)
class Row:
    template: str
    entries: int
    exercised: int
    counted_exactly: int
    wrong: tuple[str, ...] = field(default=(), compare=False)


def main() -> int:
    arguments = command(__doc__).parse_args()
    rows = []
    for name in templates(one_a_design=arguments.quick):
        row = measure(name)
        rows.append(row)
        if not arguments.json:
            print(f"{name:20} {row.exercised} of {row.entries} exercised, {row.counted_exactly} counted exactly")
            print(*(f"    {line}\n" for line in row.wrong), sep="", end="", flush=True)
    if arguments.json:
        print(json.dumps({"rows": [asdict(row) for row in rows]}))
    return 0


def templates(*, one_a_design: bool = False) -> list[str]:
    """The templates that have a program."""
    found = {folder.name: expected(folder.name)["design"] for folder in sorted(PROGRAMS.iterdir()) if folder.is_dir()}
    first = {design: name for name, design in reversed(found.items())}
    return [name for name, design in found.items() if not one_a_design or first[design] == name]


def expected(name: str) -> dict[str, Any]:
    text = (PROGRAMS / name / "expected.yaml").read_text()
    told: dict[str, Any] = yaml.safe_load(text)
    return told


def measure(name: str) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        project = make_project(name, Path(folder))
        options = RunOptions(out=Path(folder) / "run", deterministic=True)
        try:
            run = run_workspace(open_workspace(project, load_plugins()), options, Job())
        except WorkbenchError as error:
            return Row(name, len(expected(name)["calls"]), 0, 0, tuple(d.text() for d in error.diagnostics))
        return compared(name, run)


def make_project(name: str, folder: Path) -> Path:
    """A project of the template's program, its design, and the template with its example board."""
    told = expected(name)
    for file in (PROGRAMS / name).glob("main.*"):
        shutil.copy(file, folder)
    design = PROGRAMS / told["design"]
    shutil.copy(design, folder)
    (folder / "card.yaml").write_text(template_text(name, load_plugins()))
    project = folder / f"{name}.workbench.yaml"
    project.write_text(PROJECT.format(name=name, design=design.name, top=design.stem))
    return project


def compared(name: str, run: Run) -> Row:
    told, entries = expected(name), run.manifest.entries
    titles = [f"{entry.name} [{entry.subtype}]" if entry.subtype else entry.name for entry in entries]
    counted = dict.fromkeys(titles, (0, 0))
    stats = run.tables["call_stats"]
    for entry, count, moved in zip(*(stats[key].tolist() for key in ("entry", "count", "bytes")), strict=True):
        title = titles[entry]
        calls, moved_before = counted[title]
        counted[title] = (calls + count, moved_before + max(moved, 0))
    wanted = {title: tuple(pair) for title, pair in told["calls"].items()}
    wrong = [
        *_printed(run, told["prints"]),
        *(d.text() for d in run.manifest.diagnostics if d.severity is not Severity.NOTE),
    ]
    wrong += [f"{title}: {counted.get(title)} calls and bytes, expected {wanted.get(title)}"
              for title in dict.fromkeys((*counted, *wanted)) if counted.get(title) != wanted.get(title)]  # fmt: skip
    exact = 0 if any(True for _ in _printed(run, told["prints"])) else sum(counted[t] == wanted.get(t) for t in titles)
    return Row(name, len(titles), sum(calls > 0 for calls, _ in counted.values()), exact, tuple(wrong))


def _printed(run: Run, text: str) -> Iterator[str]:
    if run.manifest.exit != 0 or (run.path / "stdout.txt").read_text() != text:
        yield f"exit {run.manifest.exit} {run.manifest.reason}, printed {(run.path / 'stdout.txt').read_text()!r}"


if __name__ == "__main__":
    sys.exit(main())
