"""A scene of six replicas, and the timeline on it."""

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.gui.look import theme
from workbench.gui.modes.timeline.view import TimelineView
from workbench.model.blocks import Side
from workbench.model.run import Run
from workbench.traces.path import NO_LIMIT_PS, Causes, Parts, RunPath, Steps
from workbench.traces.scene import Scene, build_scene


@pytest.fixture(scope="module")
def scene(six_cores: Run) -> Scene:
    made = build_scene(six_cores)
    assert made is not None
    return made


@pytest.fixture
def view(qtbot: QtBot, qapp: QApplication, scene: Scene) -> TimelineView:
    theme.apply_theme(qapp, "light")
    made = TimelineView()
    qtbot.addWidget(made)
    made.resize(1200, 560)
    made.set_scene(scene)
    made.show()
    qtbot.waitExposed(made)
    return made


US = 1_000_000


def numbers(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.fixture
def path(scene: Scene) -> RunPath:
    """The host until 40 µs, a core until 70 µs, and the host again; another core may end 5 µs later."""
    core, other = [n for n, b in enumerate(scene.blocks) if b.side is Side.FPGA][1:3]
    end = scene.index.end_ps
    steps = Steps(
        numbers(0, core, 0), numbers(1, 1, 1), numbers(-1, -1, -1), np.array([False] * 3),
        numbers(0, 40 * US, 70 * US), numbers(40 * US, 70 * US, end),
    )  # fmt: skip
    none = numbers(-1)
    by_core = Causes(numbers(core), none, numbers(70 * US), np.array([False]))
    by_host = Causes(numbers(0), numbers(0), numbers(40 * US), np.array([False]))
    parts = {
        0: Parts(numbers(50 * US), numbers(72 * US), numbers(0), numbers(0), by_core),
        core: Parts(numbers(40 * US), numbers(70 * US), numbers(2 * US), none, by_host),
        other: Parts(numbers(40 * US), numbers(60 * US), numbers(5 * US), none, by_host),
        other + 1: Parts(numbers(40 * US), numbers(60 * US), numbers(NO_LIMIT_PS), none, by_host),
    }
    return RunPath(steps, parts, frozenset({0}))
