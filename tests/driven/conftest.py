"""The real window on a screen of its own, with a window manager, a mouse and a keyboard. See `driver`."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from driven.driver import Driven, Stage, missing_tools
from stream_topologies import ASKED, with_streams

from workbench.formats.run_folder import RunWriter
from workbench.testing.runs import synthetic_run

TINY = Path(__file__).parents[1] / "data" / "tiny"
Open = Callable[..., Driven]


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    if (missing := missing_tools()) and "CI" not in os.environ:
        pytest.skip(f"driven tests need {', '.join(missing)} (`make system` installs them on Debian, as root)")
    with Stage() as made:
        yield made


@pytest.fixture
def open_window(stage: Stage) -> Iterator[Open]:
    """Opens real windows: `open_window(project, run, size=(1024, 700))`. At the end of the test nothing must have
    gone wrong in any of them: no exception, no word of complaint from Qt."""
    opened: list[Driven] = []
    with ExitStack() as stack:

        def open_(*paths: Path, **how: object) -> Driven:
            driven = stack.enter_context(stage.window(*paths, **how))  # type: ignore[arg-type]
            opened.append(driven)
            return driven

        yield open_
    assert [fault for driven in opened for fault in driven.faults] == []


def copy_of_tiny(folder: Path) -> Path:
    """The project file of a copy of the tiny project, and beside it what is asked of the runs' streams."""
    shutil.copytree(TINY, folder / "tiny")
    (folder / "tiny" / "streams.query").write_text(ASKED)
    return folder / "tiny" / "tiny.workbench.yaml"


def saved_runs(folder: Path) -> tuple[Path, Path]:
    """Two synthetic runs, saved."""
    saved = []
    for name, rounds in (("first", 3), ("second", 2)):
        run = with_streams(synthetic_run(cores=4, rounds=rounds))
        RunWriter(folder / name, run.manifest).finish(run.manifest, run.tables)
        saved.append(folder / name)
    return saved[0], saved[1]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return copy_of_tiny(tmp_path)


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    return saved_runs(tmp_path)
