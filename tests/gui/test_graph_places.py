"""From the block graph to the lines of a block or an edge, by a double click and by the menu; pragmas from there."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from workbench.formats.run_folder import RunWriter
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.modes.analyse.graph_places import places_of, unmarked
from workbench.gui.modes.analyse.mode import AnalyseMode
from workbench.gui.modes.source.mode import SourceMode
from workbench.testing.runs import synthetic_run

Settle = Callable[[MainWindow], None]
LEFT = Qt.MouseButton.LeftButton


def analyse(window: MainWindow, run: Path, settle: Settle) -> AnalyseMode:
    window.context.open_run(run)
    window.go_to("analyse")
    settle(window)
    mode = window.modes.shown
    assert isinstance(mode, AnalyseMode)
    return mode


def spot(mode: AnalyseMode, x: float, y: float) -> QPoint:
    """Where a point of the layout is in the view."""
    return (QPointF(x, y) * mode.graph.magnification + mode.graph.offset).toPoint()


def texts_of_menu(mode: AnalyseMode, at: QPoint) -> list[str]:
    said: list[str] = []

    def look() -> None:
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        said.extend(action.text() for action in menu.actions() if action.text())
        menu.close()

    QTimer.singleShot(0, mode, look)
    place = mode.graph.viewport().mapToGlobal(at)
    QApplication.sendEvent(mode.graph.viewport(), QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, place))
    return said


def test_pages_of_findings_are_tabs_and_have_the_room_that_they_need(
    window: MainWindow, run_folder: Path, settle: Settle
) -> None:
    mode = analyse(window, run_folder, settle)
    panel = mode.findings
    before = panel.height()
    for name in ("Rules", "Rules", "Findings"):  # pressed again it stays
        panel.tabs[name].click()
        assert [tab for tab, pill in panel.tabs.items() if pill.isChecked()] == [name]
        assert panel.pills["host"].isHidden() == (name == "Rules")
        assert panel.height() >= before, "what had room keeps it"
    assert panel.height() == before, "the rules leave their room"
    panel.pills["host"].click()
    assert panel.filter == "host"
    panel.pills["host"].click()
    assert panel.filter == ""


def test_an_edge_leads_to_the_call_that_sends_it(
    window: MainWindow, run_folder: Path, settle: Settle, qtbot: QtBot
) -> None:
    mode = analyse(window, run_folder, settle)
    assert mode.graph.layout_ is not None
    edge = next(e for e in mode.graph.layout_.edges if places_of(window.context, e))
    (first, *_) = places_of(window.context, edge)
    at = (
        spot(mode, *edge.points[len(edge.points) // 2])
        if not edge.label_box.width
        else spot(mode, edge.label_box.x + edge.label_box.width / 2, edge.label_box.y + edge.label_box.height / 2)
    )
    name = f"{Path(first.file).name}:{first.line}"
    assert texts_of_menu(mode, at)[0] == f"Go to {name}  {first.label}"
    wanted: list[tuple[str, int]] = []
    window.context.navigation.line_wanted.connect(lambda *place: wanted.append(place))
    qtbot.mouseDClick(mode.graph.viewport(), LEFT, pos=at)
    assert wanted == [(first.file, first.line)]
    assert window.context.navigation.mode == "source"


def test_a_pragma_is_begun_from_a_block(
    window: MainWindow, project: Path, tmp_path: Path, settle: Settle, qtbot: QtBot
) -> None:
    window.open(project)
    qtbot.waitUntil(lambda: window.context.scan is not None and not window.busy)
    made = synthetic_run(cores=2, rounds=2)
    scan = window.context.scan
    assert scan is not None
    adder = next(block for block in scan.hdl.blocks if block.id.endswith("adder"))
    blocks = tuple(
        replace(block, file=adder.file, line=adder.line) if block.id.startswith("top.") or "core" in block.id else block
        for block in made.manifest.blocks
    )
    shutil.rmtree(tmp_path / "run", ignore_errors=True)
    RunWriter(tmp_path / "run", made.manifest).finish(replace(made.manifest, blocks=blocks), made.tables)
    mode = analyse(window, tmp_path / "run", settle)
    moved = next(block for block in blocks if block.file == adder.file)
    place = unmarked(window.context, moved.id)
    assert place is not None  # the branch of the reset has none
    assert mode.graph.layout_ is not None
    node = mode.graph.layout_.node_of(moved.id)
    assert node is not None
    said = texts_of_menu(mode, spot(mode, node.box.x + node.box.width / 2, node.box.y + 8))
    assert f"Insert pragma at tiny_top.v:{place.line}..." in said
    window.context.navigation.mark_line(place.file, place.line)
    settle(window)
    source = window.modes.views["source"]
    assert isinstance(source, SourceMode)
    qtbot.waitUntil(source.popover.isVisible)
    assert source.editor is not None
    assert source.editor.path.name == "tiny_top.v"
