"""Every test: no screen, preferences and caches of its own, so that nothing of the person's is read or changed."""

from __future__ import annotations

import os
import signal
import tempfile
import tomllib
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from workbench.model.run import Run
from workbench.testing.runs import synthetic_run


def pytest_configure() -> None:
    """Plugins are found by what is installed: say so where that is older than the sources."""
    wanted = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())
    points = wanted["project"]["entry-points"]["rc_workbench.plugins"]
    lacking = sorted(set(points) - {point.name for point in entry_points(group="rc_workbench.plugins")})
    if lacking:
        pytest.exit(f"the installed workbench lacks the plugins {', '.join(lacking)}: run make setup", 4)


os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before any test imports Qt


def pytest_sessionstart() -> None:
    """An environment from before a plugin came lacks it, and every test of it would say something else."""
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    ((group, points),) = pyproject["project"]["entry-points"].items()
    if lacking := set(points) - entry_points(group=group).names:
        pytest.exit(
            f"not installed: plugins {', '.join(sorted(lacking))}. Run pip install --no-deps -e .", returncode=3
        )


@pytest.fixture(scope="session", autouse=True)
def own_cache() -> Iterator[None]:
    """Built cards are shared by the tests of one session, and by nothing else."""
    with tempfile.TemporaryDirectory(prefix="rcw-cache-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RCW_CACHE", folder)
        yield


@pytest.fixture(autouse=True)
def own_preferences(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("RCW_PREFERENCES", str(folder))
    return folder


@pytest.fixture(scope="session")
def six_cores() -> Run:
    """A traced run of six replicas."""
    return synthetic_run(cores=6, rounds=4)


@pytest.fixture
def hang_up_is_heard() -> Iterator[None]:
    """Programs heed SIGHUP, also where the tests were begun with nohup, as whose children they would leave it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)
