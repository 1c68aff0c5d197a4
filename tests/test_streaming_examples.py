"""The streaming applications that come along print what a plain sequential program does."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from rc_workbench_plugins.streaming.composer import read_topology

from workbench.api import Composition
from workbench.api.job import Job
from workbench.model.diagnostic import WorkbenchError
from workbench.session.pipeline import RunOptions, run_workspace
from workbench.session.plugins import load_plugins
from workbench.session.workspace import open_workspace

SCRIPT = Path(__file__).parent / "benchmarks" / "streaming_apps.py"


@pytest.fixture(scope="module")
def apps() -> ModuleType:
    spec = importlib.util.spec_from_file_location("streaming_apps", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def printed(path: Path) -> str:
    out = path.parent / "run"
    run_workspace(open_workspace(path, load_plugins()), RunOptions(out=out, plain=True, deterministic=True), Job())
    return (out / "stdout.txt").read_text()


def test_laplace_with_the_random_numbers_made_in_the_fpga(apps: ModuleType, tmp_path: Path) -> None:
    deployment = apps.Deployment("laplace", "Two", ("mt",), lines=apps.CHUNKS)
    path = deployment.project(tmp_path, [("grid = 16", "grid = 6"), ("walks = 8", "walks = 4")])
    assert printed(path) == apps.reference("laplace").printed(2, 6, 4)


def test_the_search_for_similar_sequences(apps: ModuleType, tmp_path: Path) -> None:
    path = apps.Deployment("blastn", "Silence", cores=8).project(tmp_path, [("bases = 6000", "bases = 2000")])
    expected = apps.reference("blastn").printed(2000)
    assert expected.count("\n") > 20
    assert printed(path) == expected


@pytest.mark.parametrize(("top", "walks", "splits"), [("Two", 2, 1), ("Four", 4, 3), ("Eight", 8, 7)])
def test_the_trees_of_fig_6_1_and_6_2(top: str, walks: int, splits: int, apps: ModuleType, tmp_path: Path) -> None:
    workspace = open_workspace(apps.Deployment("laplace", top).project(tmp_path), load_plugins())
    place = lambda keys: (1, 1)  # noqa: E731
    found = read_topology(Composition(workspace.path, workspace.project, workspace.platform, place))
    kinds = [block.kind.name for block in found.blocks]
    assert (kinds.count("Walk"), kinds.count("Split"), kinds.count("Avg")) == (walks, splits, splits)
    assert len(list(found.paths(found.find("e1")[0], found.find("e4")[0]))) == walks


@pytest.mark.parametrize("project", sorted(path.name for path in SCRIPT.parents[2].glob("resources/examples/*/*.yaml")))
def test_every_example_opens(project: str) -> None:
    (path,) = SCRIPT.parents[2].glob(f"resources/examples/*/{project}")
    try:
        workspace = open_workspace(path, load_plugins())
    except WorkbenchError as error:
        pytest.fail(str(error))
    assert workspace.diagnostics == ()
