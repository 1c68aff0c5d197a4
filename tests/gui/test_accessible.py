"""Every control that is shown has a name for a screen reader, F6 reaches every pane, and the focus can be seen."""

from collections.abc import Callable
from pathlib import Path

import pytest
from driven.names import controls, nameless
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from settings_shown import shown_settings
from stream_topologies import ASKED, with_streams

from workbench.gui.frame.main_window import MainWindow
from workbench.gui.modes import MODES
from workbench.gui.modes.project.mode import ProjectMode
from workbench.gui.widgets.scroll_area import ScrollArea
from workbench.testing.runs import synthetic_run

from .conftest import save_run

Settle = Callable[[MainWindow], None]


@pytest.fixture
def whole(window: MainWindow, project: Path, tmp_path: Path, qtbot: QtBot) -> MainWindow:
    """The window on a project and its streams, with two runs, and large."""
    (project.parent / "streams.query").write_text(ASKED)
    runs = [save_run(with_streams(synthetic_run(cores=3, rounds=n)), tmp_path / f"run{n}") for n in (3, 2)]
    window.resize(1600, 1000)
    window.open(project, runs)
    qtbot.waitUntil(lambda: window.context.scan is not None and window.context.run is not None and not window.busy)
    return window


def test_what_has_no_name_is_found(qtbot: QtBot) -> None:
    shown = QWidget()
    qtbot.addWidget(shown)
    field, button, named, combo = QLineEdit(shown), QPushButton(shown), QPushButton("Run", shown), QComboBox(shown)
    combo.setAccessibleName("Theme")
    shown.show()
    assert [kind.partition(" in ")[0] for kind in nameless(shown)] == ["QLineEdit", "QPushButton"]
    field.setAccessibleName("Name")
    button.setAccessibleName("Close")
    assert nameless(shown) == []
    assert named.isVisible()


def test_every_control_has_a_name(whole: MainWindow, settle: Settle) -> None:
    lacking = {"welcome": nameless(whole)}
    for mode in MODES:
        whole.go_to(mode)
        settle(whole)
        lacking[mode] = nameless(whole)
        assert len(list(controls(whole))) > 15
    whole.go_to("predict")
    settle(whole)
    predict = whole.modes.current()
    for page in predict.pills:  # type: ignore[union-attr]
        predict.show_page(page)  # type: ignore[union-attr]
        settle(whole)
        lacking[f"predict, {page}"] = nameless(whole)
    whole.toggle_run_dock()
    whole.toggle_range()
    whole.propose_marks()
    settle(whole)
    lacking["panels"] = nameless(whole)
    whole.find_in_project()
    whole.find_here()
    settle(whole)
    lacking["find"] = nameless(whole)
    whole.step_finding(1)
    whole.try_change()
    settle(whole)
    lacking["try"] = nameless(whole)
    whole.show_times("flame")
    settle(whole)
    lacking["times"] = nameless(whole)
    for show, popover in (
        (whole.show_notices, whole.floating.notices),
        (whole.show_run_options, whole.floating.run_options),
        (whole.floating.show_about, whole.floating.about),
    ):
        show()
        lacking[type(popover).__name__] = [*nameless(popover), *([] if popover.accessibleName() else ["itself"])]
        popover.close_it()
    dialog = shown_settings(whole)
    lacking["settings"] = nameless(dialog)
    dialog.close()
    assert {where: names for where, names in lacking.items() if names} == {}


def test_f6_goes_through_every_pane_that_is_shown(whole: MainWindow, settle: Settle, qtbot: QtBot) -> None:
    for mode in ("source", "analyse", "streams"):
        whole.go_to(mode)
        settle(whole)
        whole.panels.show_run(True)
        settle(whole)
        parts = {name: part for name, part in whole.panels.by_name().items() if part.isVisible()}
        visited = set()
        for _ in range(len(parts) + 6):
            qtbot.keyClick(whole, Qt.Key.Key_F6)
            focus = QApplication.focusWidget()
            assert focus is not None
            visited |= {name for name, part in parts.items() if part is focus or part.isAncestorOf(focus)}
        # a pane in which nothing takes the keyboard is passed over
        reachable = {name for name, part in parts.items() if any(w.isEnabled() for w in controls(part))}
        assert visited >= reachable, mode
        assert {"centre", "run"} <= visited


def test_where_the_keyboard_is_can_be_seen(whole: MainWindow, settle: Settle) -> None:
    """What has the focus looks other than without it."""
    whole.go_to("analyse")
    settle(whole)
    seen, same = 0, []
    for widget in list(controls(whole)):
        if (
            not isinstance(widget, QAbstractButton | ScrollArea)
            or not widget.isEnabled()
            or widget.focusPolicy() == Qt.FocusPolicy.NoFocus
        ):
            continue
        whole.search.setFocus()
        QApplication.processEvents()
        before = widget.grab().toImage()
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        QApplication.processEvents()
        if not widget.hasFocus():
            continue
        seen += 1
        if widget.grab().toImage() == before:
            same.append(f"{type(widget).__name__} {widget.text() or widget.accessibleName()}")
    assert seen > 10
    assert same == []


def test_enter_presses_the_focused_button_and_nothing_else(opened: MainWindow, project: Path, qtbot: QtBot) -> None:
    opened.context.navigation.set_mode("project")
    mode = opened.modes.current()
    assert isinstance(mode, ProjectMode)
    mode.choose(())
    editor = mode.form.row("title").editor
    assert isinstance(editor, QLineEdit)
    editor.setFocus()
    editor.setText("Another")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert mode.document.value(("title",)) == "Another"
    mode.parts.lines.setFocus()
    qtbot.keyClick(mode.parts.lines, Qt.Key.Key_Return)
    assert mode.document.dirty
    mode.undo_button.setFocus()
    qtbot.keyClick(mode.undo_button, Qt.Key.Key_Return)
    assert mode.document.value(("title",)) != "Another"
    mode.document.history.redo()
    mode.save_button.setFocus()
    qtbot.keyClick(mode.save_button, Qt.Key.Key_Enter)
    assert not mode.document.dirty
    assert "title: Another" in project.read_text()
