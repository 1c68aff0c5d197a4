"""Whether accepting every proposed mark makes a run's first finding worse, over all example and corpus designs.

    python tests/benchmarks/proposals.py [--json] [--quick] [NAME ...]

Each row is a project without any pragma: copies of the 2-D PDF's forms, of the applications in `tests/data`, and of
small ones of `bounds_apps`, their pragmas taken out. It runs on the simulated card with counted host time as it is, and
again with every proposal accepted. A row is `ok` where

- the first finding is of the same rule on the same side as before, or the former first finding is still reported after
  it (marks may tell more of the FPGA, and so a better finding), and the first advice leads nowhere else;
- a finding is still there where there was one;
- the marks bring no diagnostic of their own, and nothing is proposed any more.

`bound` is what the first finding gains at most. The exit code is 1 where a row is not `ok`.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import yaml

from workbench.api.job import Job
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.finding import Finding, tops
from workbench.model.proposal import Proposal
from workbench.session.marking import proposed, write_marks
from workbench.session.opening import open_workspace
from workbench.session.pipeline import RunOptions, run_workspace
from workbench.session.plugins import Plugins, load_plugins
from workbench.session.results import open_result

ROOT = Path(__file__).parents[2]
APPLICATIONS, APPS = ROOT / "tests" / "data" / "applications", ROOT / "tests" / "benchmarks" / "bounds_apps"
PDF2D, TINY = ROOT / "resources" / "examples" / "pdf2d", ROOT / "tests" / "data" / "tiny"
SMALL = {"ROUNDS": 4, "EFFORT": 0, "CLEAR": 0, "CYCLES": 100, "MAKE": 300, "ADD": 100}  # settings of bounds_apps
PAIRS = (("block", "unit"), ("registers", "unit"), ("small", "unit"), ("control", "unit"), ("block", "refresh"),
         ("cores", "cores"), ("stages", "pair"), ("readback", "unit"))  # fmt: skip
QUICK = ("tiny", "pdf2d original", "fir", "sha256", "block on unit")
_PRAGMA = re.compile(r"^[^\n]*(?:#|//|--)\s*pragma recap\b[^\n]*\n", re.MULTILINE)
SOURCES = {".c", ".cpp", ".h", ".hpp", ".v", ".sv", ".vhd"}


@dataclass(frozen=True)
class Design:
    """A project file's folder, copied from `source`, with the `settings` of its runs."""

    name: str
    source: Path
    project: str
    settings: Mapping[str, int] = field(default_factory=dict)
    files: tuple[str, ...] = ()  # none: all of the folder


@dataclass(frozen=True)
class First:
    """A run's first finding: the rule, the side of its block, and its bound."""

    rule: str
    side: str
    where: str
    bound: float

    @property
    def key(self) -> tuple[str, str]:
        return self.rule, self.side


@dataclass(frozen=True)
class Row:
    name: str
    proposals: int
    before: First | None
    after: First | None
    ok: bool
    why: str = ""


def designs() -> Iterator[Design]:
    yield Design("tiny", TINY, "tiny.workbench.yaml", {"DELAY": 200})
    for form, points in (("original", 5120), ("optimised", 24576), ("vhdl", 2560)):
        yield Design(f"pdf2d {form}", PDF2D, f"{form}.workbench.yaml", {"CORES": 4, "POINTS": points})
    for folder in sorted(APPLICATIONS.iterdir()):
        for project in sorted(folder.glob("*.workbench.yaml")):
            yield Design(folder.name, APPLICATIONS, f"{folder.name}/{project.name}")  # they share templates
    for host, design in PAIRS:
        files = ("common.h", f"{host}.c", f"{design}.v")
        yield Design(f"{host} on {design}", APPS, "app.workbench.yaml", SMALL, files)


def copied(design: Design, folder: Path) -> Path:
    """A copy of the design without pragmas; its project file."""
    if design.files:
        folder.mkdir()
        for name in design.files:
            shutil.copy(design.source / name, folder)
        _, host, hardware = design.files
        project = {
            "schema_version": 1, "name": "app", "platform": "nallatech_h101", "host": {"sources": [host]},
            "hardware": {"sources": [hardware], "top": "unit_top", "read_out": {"first": 0x800000, "last": 0x80000F}},
            "settings": dict(design.settings),
        }  # fmt: skip
        (folder / design.project).write_text(yaml.safe_dump(project), encoding="utf-8")
    else:
        shutil.copytree(design.source, folder)
    for path in folder.rglob("*"):
        if path.suffix in SOURCES:
            path.write_bytes(_PRAGMA.sub("", path.read_bytes().decode("latin-1")).encode("latin-1"))
    return folder / design.project


def first_of(findings: Iterable[Finding]) -> First | None:
    listed = [_first(finding) for finding in tops(findings) if finding.scope != "application"]
    return listed[0] if listed else None


def _first(finding: Finding) -> First:
    return First(finding.rule, "host" if finding.block.startswith("host") else "fpga", finding.where, finding.gain)


@dataclass(frozen=True)
class _Seen:
    first: First | None
    keys: frozenset[tuple[str, str]]
    elsewhere: bool
    diagnostics: frozenset[str]
    proposals: tuple[Proposal, ...]


def seen(project: Path, settings: Mapping[str, int], out: Path, plugins: Plugins) -> _Seen:
    """What a run of the project shows, and what is proposed for it."""
    workspace = open_workspace(project, plugins)
    scan = workspace.scan(workspace.settings(settings))
    run_workspace(workspace, RunOptions(out=out, deterministic=True, settings=settings), Job(lambda event: None))
    found = tops(open_result(out, plugins).analysis.findings)
    shown = [finding for finding in found if finding.scope != "application"]
    return _Seen(
        first_of(found), frozenset(_first(finding).key for finding in shown),
        bool(shown) and shown[0].points_elsewhere, frozenset(map(_said, scan.diagnostics)), proposed(workspace, scan),
    )  # fmt: skip


def _said(diagnostic: Diagnostic) -> str:
    """A diagnostic without its line, which marks move."""
    return f"{diagnostic.file}: {diagnostic.message}"


def compared(design: Design, folder: Path, plugins: Plugins) -> Row:
    """The design without marks and with all that are proposed."""
    project = copied(design, folder / "design")
    before = seen(project, design.settings, folder / "before", plugins)
    workspace = open_workspace(project, plugins)
    write_marks(workspace, before.proposals)
    after = seen(project, design.settings, folder / "after", plugins)
    why = "; ".join(worse(before, after))
    return Row(design.name, len(before.proposals), before.first, after.first, not why, why)


def worse(before: _Seen, after: _Seen) -> Iterator[str]:
    """What of the run with marks is worse than without."""
    if before.first is not None and after.first is None:
        yield "there is no finding any more"
    elif before.first is not None and after.first is not None and before.first.key != after.first.key:
        if before.first.key not in after.keys:
            yield f"{before.first.rule} ({before.first.bound:.2f}x) is no finding any more"
        if after.elsewhere and not before.elsewhere:
            yield "the first finding leads elsewhere"
    for told in sorted(after.diagnostics - before.diagnostics):
        yield f"a mark brings: {told}"
    if after.proposals:
        yield f"still proposed: {', '.join(p.id for p in after.proposals)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of rows (default: all)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    arguments = parser.parse_args()
    wanted = arguments.names or (QUICK if arguments.quick else [design.name for design in designs()])
    plugins, rows = load_plugins(), []
    for design in designs():
        if design.name in wanted:
            with tempfile.TemporaryDirectory(prefix="proposals") as folder:
                try:
                    row = compared(design, Path(folder), plugins)
                except WorkbenchError as error:
                    row = Row(design.name, 0, None, None, False, str(error))
            rows.append(row)
            if not arguments.json:
                print(_line(row), flush=True)
    if arguments.json:
        print(json.dumps({"rows": [asdict(row) for row in rows], "not_ok": sum(not row.ok for row in rows)}))
    return int(any(not row.ok for row in rows))


def _line(row: Row) -> str:
    both = " -> ".join(
        f"{one.rule} ({one.side}) {one.bound:.2f}x" if one else "none" for one in (row.before, row.after)
    )
    return (
        f"{'ok ' if row.ok else 'not'} {row.name}: {row.proposals} proposals; {both}{f'; {row.why}' if row.why else ''}"
    )


if __name__ == "__main__":
    sys.exit(main())
