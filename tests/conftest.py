"""Every test: no screen, preferences and caches of its own, so that nothing of the person's is read or changed."""

import atexit
import gc
import os
import signal
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import settings
from pytestqt.qtbot import QtBot

from workbench.formats.platform_file import load_platform
from workbench.model.platform import Platform
from workbench.model.run import Run
from workbench.system import store
from workbench.testing.runs import synthetic_run

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before any test imports Qt

# What is waited for has as long as a busy machine takes, and no example is late.
QtBot.waitUntil.__kwdefaults__["timeout"] = QtBot.waitSignal.__kwdefaults__["timeout"] = 60_000
settings.register_profile("at any pace", deadline=None)
settings.load_profile("at any pace")

os.fsync = lambda fd: None  # no test cuts the power

#: Files that take long: begun first, so that no process is left with one of them when the others are done. Those that
#: drive a window (keys, layout, edits, leaks) mostly wait: one of them at a time runs beside compilers.
LONGEST = """
    keys streaming_runs cc packaging threads targets pdf2d layout stream_chapters port_applications unsaved broken_input
    vhdl_checked edits host_templates window port_monitors prove cpp_board virtual_queue fuzz agents_of_fpgas
    streams_on_board leaks kill_run vhdl_prove users_build waves rules_benchmark ranks_machine assertions new_project
    streaming_examples foreign_sources vhdl_scan words
"""

#: Python looks for garbage between tests alone: by itself it also does in the thread of a job, where it would end what
#: is left of an earlier test's window; and as often as it does takes an eighth of the tests' time.
gc.disable()
_YOUNG, _LOOKS = 50_000, 10  # objects made since the last look; looks since the last one at all objects


def pytest_configure(config: pytest.Config) -> None:
    """An environment from before a plugin came lacks it, and every test of it would say something else.

    Built cards are shared by the tests of one session, and by nothing else.
    """
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    ((group, points),) = pyproject["project"]["entry-points"].items()
    if lacking := set(points) - entry_points(group=group).names:
        pytest.exit(f"the installed workbench lacks the plugins {', '.join(sorted(lacking))}: run make setup", 4)
    if hasattr(config, "workerinput"):
        atexit.register(os._exit, 0)  # nothing is freed one by one, which takes seconds
    else:  # workers have the cache of the process that began them
        cache = tempfile.TemporaryDirectory(prefix="rcw-cache-")
        os.environ["RCW_CACHE"] = cache.name
        config.add_cleanup(cache.cleanup)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {f"test_{name}.py": at for at, name in enumerate(LONGEST.split())}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))


def pytest_collection_finish() -> None:
    gc.freeze()  # the modules and the tests stay to the end
    atexit.register(gc.unfreeze)  # later than pytest looks for garbage, which would look at all that stays


def pytest_runtest_logfinish() -> None:
    young, _, looks = gc.get_count()
    if young > _YOUNG and looks > _LOOKS:
        gc.collect()
        gc.freeze()  # what stays is not looked at again
    elif young > _YOUNG:
        gc.collect(1)


@pytest.fixture(scope="session")
def preferences(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each test's preferences lie."""
    return tmp_path_factory.mktemp("preferences")


@pytest.fixture(autouse=True)
def own_preferences(preferences: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = Path(tempfile.mkdtemp(dir=preferences))
    monkeypatch.setenv("RCW_PREFERENCES", str(folder))
    store.change_preference("predict_s", "0")  # tests of predictions ask for them
    return folder


@pytest.fixture(scope="session")
def platforms() -> Mapping[str, Platform]:
    """The templates that ship, by name."""
    folder = Path(str(files("workbench.platform_templates")))
    return {p.name: p for p in (load_platform(path)[0] for path in folder.glob("*.yaml")) if p is not None}


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
