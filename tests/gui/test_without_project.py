"""What the window shows without a project: models, a template by itself, the guide."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextDocument
from pytestqt.qtbot import QtBot

from workbench.gui.main_window import MainWindow
from workbench.gui.platform.mode import PlatformMode
from workbench.gui.predict.mode import PredictMode

TEMPLATES = Path(str(files("workbench.platform_templates")))


def test_prediction_needs_no_code(window: MainWindow, qtbot: QtBot) -> None:
    window.context.close()
    window.show_predict()
    qtbot.waitUntil(lambda: not window.busy, timeout=20_000)
    assert isinstance(window.modes.current(), PredictMode)
    assert window.rail.isVisibleTo(window)


def test_a_template_opens_by_itself_read_only(window: MainWindow, qtbot: QtBot) -> None:
    window.context.close()
    window.open(TEMPLATES / "nallatech_h101.yaml")
    mode = window.modes.current()
    assert isinstance(mode, PlatformMode)
    assert mode.document.path == (TEMPLATES / "nallatech_h101.yaml").resolve()
    assert not mode.document.dirty


def test_the_guide_shows_its_pictures(window: MainWindow, qtbot: QtBot) -> None:
    window.floating.show_guide()
    guide = window.floating.guide
    assert guide is not None
    qtbot.waitExposed(guide)
    text = guide.browser.document()
    assert "Read which bottleneck to mend" in text.toPlainText()
    qtbot.waitUntil(lambda: not window.slices.busy)
    for picture in ("analyse", "timeline", "pragma", "compare", "platform", "predict"):
        kind = QTextDocument.ResourceType.ImageResource.value
        image = text.resource(kind, QUrl(f"pictures/{picture}-light.png"))
        assert image.pixelColor(image.rect().center()).alpha() == 255
        assert image.width() == 720 * guide.devicePixelRatioF()
    guide.close()
