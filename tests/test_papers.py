"""The page on the papers has a row for each numbered table and figure; its commands and views exist, some are run."""

import re
import runpy
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from workbench.cli.main import main, parser
from workbench.gui.modes import MODES

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "tests" / "benchmarks"
PAGE = (ROOT / "docs" / "papers.md").read_text("utf-8")
ROMAN = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]


def _numbers(of: str, counts: Mapping[int, int]) -> list[str]:
    """The numbers of a document's tables or figures by chapter, from how many each chapter has."""
    return [f"{of} {chapter}.{n}" for chapter, count in counts.items() for n in range(1, count + 1)]


#: What has a caption in each document, in the order of the page's sections.
CAPTIONS = {
    "ReCAP": [*(f"Table {n}" for n in ROMAN[:3]), *(f"Fig. {n}" for n in range(1, 11))],
    "TimeTrial": _numbers("Table", {4: 3, 6: 3, 7: 2})
    + _numbers("Fig.", {1: 4, 2: 6, 3: 4, 4: 7, 5: 15, 6: 24, 7: 4}),
    "RATSS": [*(f"Table {n}" for n in ROMAN), *(f"Fig. {n}" for n in range(1, 10))],
    "OpenCL on FPGAs": [
        *(f"Table {n}" for n in range(1, 5)), *(f"Fig. {n}" for n in range(1, 13)), "Algorithm 1", "Algorithm 2",
    ],
    "Computational density": ["Fig. 1", "Fig. 2"],
}  # fmt: skip


class Row(NamedTuple):
    document: str
    number: str
    shows: str
    ours: str
    remains: str


def rows() -> Iterator[Row]:
    for section in PAGE.split("\n## ")[1:]:
        name = section.split(" (")[0]
        for line in section.splitlines():
            if line.startswith("| ") and not line.startswith(("| No. ", "| --- ")):
                yield Row(name, *(cell.strip() for cell in line.split("|")[1:-1]))


def commands() -> Iterator[str]:
    """Commands of all rows and of the runs that they need."""
    yield from re.findall(r"(?m)^    (workbench .+)$", PAGE)
    for row in rows():
        spans = re.findall(r"`([^`]+)`", row.ours)
        yield from (span for span in spans if re.match(r"workbench |pytest |\w+\.py\b", span))


def asked() -> dict[str, list[str]]:
    """The statements that the page asks of each run, by the project file of the run in `resources/examples`."""
    projects = dict(re.findall(r"workbench run (\S+) --out (\S+)", PAGE))
    by_run = {run: project for project, run in projects.items()}
    found: dict[str, list[str]] = {}
    for row in rows():
        statements = re.findall(r"`(measure [^`]+)`", row.ours)
        if statements:
            (run,) = re.findall(r"`workbench query (\S+) FILE", row.ours)
            found.setdefault(by_run[run], []).extend(statements)
    return found


def test_every_table_and_figure_has_one_row() -> None:
    listed: dict[str, list[str]] = {}
    for row in rows():
        assert row.shows, row
        assert row.ours or row.remains, row
        if re.match(r"Table |Fig\. |Algorithm ", row.number):
            listed.setdefault(row.document, []).append(row.number)
    assert listed == CAPTIONS
    assert len(PAGE.splitlines()) <= 260


@pytest.mark.parametrize("command", sorted(set(commands())))
def test_every_command_exists(command: str) -> None:
    program, *arguments = shlex.split(command)
    if program == "workbench":
        parser(arguments).parse_args(arguments)
    elif program == "pytest":
        assert all((ROOT / path).is_file() for path in arguments)
    else:
        text = (BENCHMARKS / program).read_text() + (BENCHMARKS / "command_line.py").read_text()
        assert all(f'"{option}"' in text for option in arguments if option.startswith("--"))


def test_every_view_exists() -> None:
    modes = {mode.title: name for name, mode in MODES.items()}
    views = [view for row in rows() for view in re.findall(r"\*\*(\w+)\*\*(?: > ([^;(]+))?", row.ours)]
    assert len(views) > 50
    for title, panel in set(views):
        name = modes[title]
        folders = ROOT / "workbench" / "gui" / "modes" / name, ROOT / "plugins"
        if panel and not any(f'"{panel.strip()}"' in path.read_text() for at in folders for path in at.rglob("*.py")):
            pytest.fail(f"{title} has no panel {panel}")


@pytest.mark.parametrize("project", sorted(asked()))
def test_every_statement_can_be_asked(project: str, tmp_path: Path) -> None:
    query = tmp_path / "page.query"
    query.write_text("\n".join(asked()[project]))
    assert main(["query", str(ROOT / "resources" / "examples" / project), str(query)]) == 0


RUN = sorted(set(re.findall(r"`([^`]+)` ✓", PAGE)))


@pytest.mark.parametrize("command", RUN)
def test_marked_commands_succeed(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, *arguments = shlex.split(command)
    monkeypatch.chdir(ROOT)
    if program == "workbench":
        assert main(arguments) == 0
        return
    monkeypatch.setattr(sys, "argv", [program, *arguments])
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(BENCHMARKS / program), run_name="__main__")
    assert ended.value.code == 0
