"""The documents keep their bounds, and name only commands, options and files that exist."""

import io
import json
import multiprocessing
import re
import runpy
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from datetime import date
from pathlib import Path

import drawings
import pytest

from workbench import __version__
from workbench.cli.main import parser

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BENCHMARKS = ROOT / "tests" / "benchmarks"
PAGES = sorted(
    {*ROOT.glob("*.md"), *(page for name in ("docs", "plugins", "resources") for page in (ROOT / name).rglob("*.md"))}
)
FOLDERS = ("workbench/", "plugins/", "resources/", "platform_templates/", "tests/", "docs/")


def write_helps(file: Path) -> None:
    helps = {}
    for script in sorted(BENCHMARKS.glob("*.py")):
        if '"__main__"' in script.read_text():
            out = io.StringIO()
            sys.argv = [str(script), "--help"]
            with redirect_stdout(out), suppress(SystemExit):
                runpy.run_path(str(script), run_name="__main__")
            helps[script.name] = out.getvalue()
    file.write_text(json.dumps(helps))


@pytest.fixture(scope="module")
def helps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each benchmark's `--help` prints, in a fork of this process, which has most of their modules."""
    file = tmp_path_factory.mktemp("helps") / "helps.json"
    forked = multiprocessing.get_context("fork").Process(target=write_helps, args=[file])
    forked.start()
    forked.join()
    assert forked.exitcode == 0
    texts: dict[str, str] = json.loads(file.read_text())
    return texts


def claims() -> Iterator[list[str]]:
    """The cells of each row of figures.md that has a date."""
    for line in (DOCS / "figures.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 5 and cells[0] != "Claim" and set(cells[0]) != {"-"}:
            yield cells


def test_documents_are_as_short_as_they_promise() -> None:
    words = [word for word in (DOCS / "architecture.md").read_text().split() if any(c.isalnum() for c in word)]
    assert len(words) <= 900
    assert len((DOCS / "figures.md").read_text().splitlines()) <= 250
    assert len((ROOT / "README.md").read_text().splitlines()) <= 42


def test_drawings_are_those_of_the_code() -> None:
    page = drawings.PAGE.read_text()
    assert drawings.drawn(page, drawings.drawings()) == page, "run `python tests/drawings.py --write`"


def test_each_claim_has_figure_command_date_and_machine() -> None:
    rows = list(claims())
    assert len(rows) > 100
    for claim, figure, command, day, machine in rows:
        assert all((claim, figure, machine)), claim
        assert command.startswith("`"), claim
        assert date.fromisoformat(f"2026-{day}")


def test_commands_of_figures_exist_with_their_options(helps: dict[str, str]) -> None:
    for cells in claims():
        program, *arguments = re.findall(r"`([^`]+)`", cells[2])[0].split()
        if program.endswith(".py"):
            options = {word.split("=")[0] for word in arguments if word.startswith("--")}
            lacking = options - set(re.findall(r"--[\w-]+", helps[program]))
            assert not lacking, f"{program} has no {lacking}"
        elif program == "pytest":
            assert (ROOT / arguments[0]).is_file()
        else:
            assert program == "workbench", cells[2]
            assert f" {arguments[0]} " in parser().format_help().replace("\n", " ")


def test_every_benchmark_has_json_and_quick(helps: dict[str, str]) -> None:
    assert {name for name, text in helps.items() if "--json" not in text or "--quick" not in text} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_in_documents_exists(page: Path) -> None:
    text = page.read_text()
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    named = [word for code in re.findall(r"`([^`\n]+)`", text) for word in code.split() if word.startswith(FOLDERS)]
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [path for path in named if not list(ROOT.glob(path.split(":")[0]))]
    assert not missing


def test_changelog_begins_with_this_version_and_has_a_line_an_entry() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    assert next(line for line in lines if line.startswith("## ")).split()[1] == __version__
    assert all(line.startswith(("- ", "#", "**")) and len(line) <= 150 for line in lines[4:] if line)
