"""FPGAs with designs of their own, and the links between them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from workbench.api.job import Job
from workbench.formats.project_file import load_project
from workbench.model.run import Run
from workbench.session.pipeline import RunOptions, run_workspace
from workbench.session.plugins import load_plugins
from workbench.session.workspace import Workspace, open_workspace

APPLICATIONS = Path(__file__).parent / "data" / "applications"


def opened(path: Path) -> Workspace:
    workspace = open_workspace(path, load_plugins())
    assert not workspace.diagnostics
    return workspace


def run_of(path: Path, out: Path) -> Run:
    run = run_workspace(opened(path), RunOptions(out=out, deterministic=True), Job())
    assert (run.complete, run.manifest.exit) == (True, 0), run.manifest.reason
    return run


def test_fpgas_by_name_with_one_design_run_as_cards_do(tmp_path: Path) -> None:
    """Only names differ: the design is built once, and every number is the same."""
    copy = tmp_path / "named"
    shutil.copytree(APPLICATIONS / "two_cards", copy)
    (project,) = copy.glob("*.workbench.yaml")
    project.write_text(project.read_text().replace("cards: 2", "fpgas: [{name: left}, {name: right}]"))
    cards, named = run_of(APPLICATIONS / "two_cards", tmp_path / "cards"), run_of(project, tmp_path / "run")
    assert [block.id for block in named.manifest.blocks if "core" in block.id] == [
        "left:summer.core",
        "right:summer.core",
    ]
    assert named.tables.keys() == cards.tables.keys()
    for name, table in cards.tables.items():
        for key, column in table.items():
            np.testing.assert_array_equal(named.tables[name][key], column)
    scan = opened(project).scan()
    assert not scan.diagnostics
    assert {block.id: block.instances for block in scan.hdl.blocks}["summer.core"] == (
        "left:summer.core",
        "right:summer.core",
    )


@pytest.mark.parametrize(
    ("fpgas", "line", "told"),
    [
        ("fpgas: [{name: left}, {name: left}]", 12, "the name 'left' is given twice in fpgas"),
        ("fpgas: [{name: left, top: 2d}]", 12, "'2d' is no module's name"),
        ("fpgas: [{name: left, sources: [gone.v]}]", 12, "'gone.v' is not there in two_cards"),
        ("cards: 2\n  fpgas: [{name: left}]", 12, "the FPGAs are given twice"),
    ],
)
def test_what_is_wrong_with_fpgas_is_told_at_its_line(tmp_path: Path, fpgas: str, line: int, told: str) -> None:
    shutil.copytree(APPLICATIONS / "two_cards", tmp_path / "two_cards")
    path = tmp_path / "two_cards" / "two_cards.workbench.yaml"
    path.write_text(path.read_text().replace("cards: 2", fpgas))
    _, (problem, *_) = load_project(path)
    assert (problem.line, problem.file) == (line, str(path))
    assert told in problem.message
