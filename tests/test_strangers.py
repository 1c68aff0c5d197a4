"""A project of a stranger comes from header and sources to a first finding by commands alone (strangers.py: all)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))
import strangers  # type: ignore[import-not-found]

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "resources" / "examples" / "own_board"


@pytest.mark.parametrize("name", ["cpp_class"])
def test_a_strangers_project_comes_to_a_finding_without_an_edit(name: str, tmp_path: Path) -> None:
    row = strangers.walk(name, tmp_path / name)
    assert row.ok, row.why
    assert row.edited_lines == 0


def test_the_pages_commands_make_what_the_example_has(tmp_path: Path) -> None:
    """The page and the benchmark's row have the same commands; all but the last two are done here."""
    commands = strangers.route_of("cpp_class")["commands"]
    page = (ROOT / "resources" / "help" / "cpp_board.md").read_text()
    for command in commands:
        assert f"\n    workbench {command.removesuffix(' --json')}\n" in page
    folder = tmp_path / "own_board"
    strangers.begin("cpp_class", strangers.route_of("cpp_class"), folder)
    told = [strangers.done(command, folder) for command in commands[:3]]
    assert [one.returncode for one in told] == [0, 0, 0]
    for line in told[0].stdout.splitlines():
        assert f"\n    {line.rstrip()}\n" in page
    for name in ("board.yaml", "own_board.workbench.yaml"):
        assert (folder / name).read_text() == (EXAMPLE / name).read_text()
