"""A scene of six replicas, and the timeline on it."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.gui import theme
from workbench.gui.timeline.view import TimelineView
from workbench.model.run import Run
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
