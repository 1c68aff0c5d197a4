"""Whether accepting every proposed mark makes a run's first finding worse, over all example and corpus designs.

    python tests/benchmarks/proposals.py [--json] [--quick] [--marks] [--core DIR] [--predict SECONDS] [NAME ...]

A row is a project of `proposals_designs.py` (--help lists them): the examples, the tests' applications, streaming
ones, strangers' projects, FIFO designs, the 2-D PDF's steps, small hosts, and PicoRV32 (`--core`: its folder, which is
not shipped). Each is there without any pragma, and with its own marks where marks are proposed beside them. It runs
with counted host time as it is, and again with every proposal accepted. A row is `ok` where

- the first finding is of the same rule on the same side as before, or the former first finding is still reported after
  it (marks may tell more of the FPGA, and so a better finding), and the first advice leads nowhere else;
- a finding is still there where there was one;
- the marks bring no diagnostic of their own, and nothing is proposed any more.

Findings are those of `workbench report`: `gain` is what the first one is predicted to gain, within `--predict` seconds
of processor time, or else its upper bound, `bound`. `--marks` runs nothing and looks at the last two alone, which
takes seconds a design. The exit code is 1 where a row is not `ok`.
"""

import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from command_line import command, show

sys.path.insert(0, str(Path(__file__).parent))

from proposals_designs import Design, designs

from workbench.api.job import Job
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.finding import Finding, tops
from workbench.model.proposal import Proposal
from workbench.session.keep.results import open_result, predicted
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.mark.marking import proposed, write_marks
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import Plugins, load_plugins

MACHINE = "machine"
QUICK = ("tiny", "pdf2d original", "fir", "sha256", "block on unit")
UNMARKED, OWN = "no marks", "own marks"
_PRAGMA = re.compile(r"^[^\n]*(?:#|//|--)\s*pragma recap\b[^\n]*\n", re.MULTILINE)
SOURCES = {".c", ".cpp", ".h", ".hpp", ".v", ".sv", ".vhd"}


@dataclass(frozen=True)
class First:
    """A run's first finding: the rule, the side of its block, what it gains, and its bound."""

    rule: str
    side: str
    where: str
    gain: float
    bound: float

    @property
    def key(self) -> tuple[str, str]:
        return self.rule, self.side


@dataclass(frozen=True)
class Row:
    name: str
    marks: str
    proposals: int
    before: First | None
    after: First | None
    ok: bool
    why: str = ""


def without_marks(folder: Path) -> None:
    """Take the pragmas out of all sources below."""
    for path in folder.rglob("*"):
        if path.suffix in SOURCES:
            path.write_bytes(_PRAGMA.sub("", path.read_bytes().decode("latin-1")).encode("latin-1"))


def first_of(findings: Iterable[Finding]) -> First | None:
    listed = [_first(finding) for finding in tops(findings) if finding.scope != "application"]
    return listed[0] if listed else None


def _first(finding: Finding) -> First:
    bound = finding.speedup_ideal if finding.speedup_cap is None else finding.speedup_cap
    side = "host" if finding.block.startswith("host") else "fpga"
    return First(finding.rule, side, finding.where, finding.gain, bound)


@dataclass(frozen=True)
class _Seen:
    first: First | None
    keys: frozenset[tuple[str, str]]
    elsewhere: bool
    diagnostics: frozenset[str]
    proposals: tuple[Proposal, ...]


class Bench:
    def __init__(self, predict_s: float, runs: bool = True) -> None:
        self._plugins: Plugins = load_plugins()
        self._predict_s, self._runs = predict_s, runs

    def rows(self, design: Design) -> Iterator[Row]:
        """The design without marks, and with its own, each beside the same with all that are proposed."""
        for marks in (UNMARKED, OWN):
            with tempfile.TemporaryDirectory(prefix="proposals") as folder:
                try:
                    row = self.row(design, marks, Path(folder))
                except WorkbenchError as error:
                    row = Row(design.name, marks, 0, None, None, False, str(error))
            if row is not None:
                yield row

    def row(self, design: Design, marks: str, folder: Path) -> Row | None:
        """One row, made in `folder`; None where the design's own marks leave nothing to propose."""
        (folder / "design").mkdir()
        project = design.make(folder / "design")
        if marks == UNMARKED:
            without_marks(folder / "design")
        workspace = open_workspace(project, self._plugins)
        scan = workspace.scan(workspace.settings(design.settings))
        marked = proposed(workspace, scan)
        if marks == OWN and not marked:
            return None
        before = self._seen(project, design.settings, folder / "before")
        write_marks(workspace, marked)
        after = self._seen(project, design.settings, folder / "after")
        why = "; ".join(worse(before, after))
        return Row(design.name, marks, len(marked), before.first, after.first, not why, why)

    def _seen(self, project: Path, settings: Mapping[str, int], out: Path) -> _Seen:
        """What a run of the project shows, and what is proposed for it."""
        workspace = open_workspace(project, self._plugins)
        scan = workspace.scan(workspace.settings(settings))
        said = frozenset(map(_said, scan.diagnostics))
        if not self._runs:
            return _Seen(None, frozenset(), False, said, proposed(workspace, scan))
        counted = workspace.project.target.name != MACHINE
        run = run_workspace(workspace, RunOptions(out=out, deterministic=counted, settings=settings), Job())
        if not run.complete:
            told = (run.manifest.reason, *(one.message for one in run.manifest.diagnostics))
            raise WorkbenchError(Diagnostic(f"it did not run: {' '.join(told)}"))
        opened = open_result(out, self._plugins)
        if self._predict_s > 0 and opened.analysis.predictable:
            opened, _ = predicted(opened, self._predict_s)
        found = tops(opened.analysis.findings)
        shown = [finding for finding in found if finding.scope != "application"]
        return _Seen(
            first_of(found), frozenset(_first(finding).key for finding in shown),
            bool(shown) and shown[0].points_elsewhere, said, proposed(workspace, scan),
        )  # fmt: skip


def _said(diagnostic: Diagnostic) -> str:
    """A diagnostic without its line, which marks move."""
    return f"{diagnostic.file}: {diagnostic.message}"


def worse(before: _Seen, after: _Seen) -> Iterator[str]:
    """What of the run with marks is worse than without."""
    if before.first is not None and after.first is None:
        yield "there is no finding any more"
    elif before.first is not None and after.first is not None and before.first.key != after.first.key:
        if before.first.key not in after.keys:
            yield f"{before.first.rule} ({before.first.gain:.2f}x) is no finding any more"
        if after.elsewhere and not before.elsewhere:
            yield "the first finding leads elsewhere"
    for told in sorted(after.diagnostics - before.diagnostics):
        yield f"a mark brings: {told}"
    if after.proposals:
        yield f"still proposed: {', '.join(p.id for p in after.proposals)}"


def main() -> int:
    parser = command(__doc__, f"only {', '.join(QUICK)}")
    parser.epilog = "NAME is one of: " + "; ".join(design.name for design in designs(Path()))
    parser.add_argument("names", nargs="*", metavar="NAME", help="of designs (default: all)")
    parser.add_argument("--marks", action="store_true", help="run nothing: what the marks bring, and what is proposed")
    parser.add_argument("--core", type=Path, metavar="DIR", help="the folder of picorv32.v")
    parser.add_argument("--predict", type=float, default=10.0, metavar="SECONDS", help="for predictions (0: bounds)")
    arguments = parser.parse_args()
    bench, rows = Bench(arguments.predict, not arguments.marks), []
    for design in designs(arguments.core):
        if design.name in (arguments.names or QUICK) or not (arguments.names or arguments.quick):
            for row in bench.rows(design):
                rows.append(row)
                if not arguments.json:
                    print(_line(row), flush=True)
    show({"rows": [asdict(row) for row in rows], "not_ok": sum(not row.ok for row in rows)}, arguments.json)
    return int(any(not row.ok for row in rows))


def _line(row: Row) -> str:
    both = "-> ".join(
        f"{f'{one.rule} ({one.side}) {one.gain:.2f}x <= {one.bound:.2f}x' if one else 'none':52} "
        for one in (row.before, row.after)
    )
    verdict = "ok " if row.ok else "not"
    return f"{verdict} {row.name:32} {row.marks:9} {row.proposals:3} proposals  {both}{row.why}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
