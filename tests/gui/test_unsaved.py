"""One notion of unsaved: dots, the one question on every way of leaving, keys that act, undo in every mode."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from workbench.api.job import Job
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.frame.notices import Notices
from workbench.gui.frame.selection import SelectedFinding
from workbench.gui.modes.analyse.mode import AnalyseMode
from workbench.gui.modes.platform.mode import PlatformMode
from workbench.gui.modes.predict.mode import PredictMode
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.mode import SourceMode
from workbench.gui.modes.timeline.mode import TimelineMode
from workbench.gui.open.open_documents import OVERWRITE, RELOAD, RUN_AS_SAVED, SAVE_AND_RUN, OpenDocuments
from workbench.gui.open.question import CANCEL, DISCARD, SAVE, Question, QuestionDialog, ask
from workbench.gui.open.trust_prompt import TrustPrompt
from workbench.model.run import Run
from workbench.session.edit.documents import SourceFile
from workbench.session.keep.aside import load_aside
from workbench.session.make.pipeline import RunOptions
from workbench.session.open.trust import trust, trust_state, withdraw
from workbench.session.open.workspace import Workspace

Settle = Callable[[MainWindow], None]
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


class Asked:
    """Answers what the window asks, and keeps the questions."""

    def __init__(self, window: MainWindow) -> None:
        self.answer, self.questions = CANCEL, list[Question]()
        window.context.documents.ask = self

    def __call__(self, question: Question) -> str:
        self.questions.append(question)
        return self.answer


@pytest.fixture
def asked(opened: MainWindow) -> Iterator[Asked]:
    made = Asked(opened)
    opened.activateWindow()
    yield made
    made.answer = DISCARD


@pytest.fixture
def main(project: Path) -> Path:
    return project.parent / "host" / "main.c"


def typed(window: MainWindow, file: Path, qtbot: QtBot, text: str = "// mine ") -> CodeEditor:
    """A file with something typed at its beginning."""
    window.context.navigation.open_line(str(file), 1)
    mode = window.modes.current()
    assert isinstance(mode, SourceMode)
    assert mode.editor is not None
    qtbot.keyClicks(mode.editor, text)
    return mode.editor


def platform(window: MainWindow) -> PlatformMode:
    window.context.navigation.set_mode("platform")
    mode = window.modes.current()
    assert isinstance(mode, PlatformMode)
    return mode


def own_platform(window: MainWindow, qtbot: QtBot, settle: Settle) -> PlatformMode:
    """The project's own template, saved as a copy of the bundled one."""
    mode = platform(window)
    mode.save()
    settle(window)
    assert not mode.document.read_only
    return mode


def press(window: MainWindow, qtbot: QtBot, key: Qt.Key, modifier: Qt.KeyboardModifier = CTRL) -> None:
    """A key to whatever has the focus, as the keyboard gives it."""
    qtbot.keyClick(QApplication.focusWidget() or window, key, modifier)


def test_a_dot_in_tab_rail_and_title(opened: MainWindow, asked: Asked, main: Path, qtbot: QtBot) -> None:
    editor = typed(opened, main, qtbot)
    mode = opened.modes.current()
    assert isinstance(mode, SourceMode)
    tab = mode.tabs.bar
    assert tab.tabText(tab.currentIndex()) == "main.c \u2022"
    assert opened.windowTitle() == "\u2022 tiny - RC Workbench"
    assert opened.rail.buttons["source"].accessibleName() == "Source, not saved"
    qtbot.keyClick(editor, Qt.Key.Key_S, CTRL)
    assert tab.tabText(tab.currentIndex()) == "main.c"
    assert opened.windowTitle() == "tiny - RC Workbench"
    assert opened.rail.buttons["source"].accessibleName() == "Source"
    assert main.read_text().startswith("// mine")


def test_typing_back_what_was_there_is_nothing_unsaved(
    opened: MainWindow, asked: Asked, main: Path, qtbot: QtBot
) -> None:
    editor = typed(opened, main, qtbot, "x")
    assert editor.file.dirty
    qtbot.keyClick(editor, Qt.Key.Key_Backspace)
    assert not editor.file.dirty


def test_ctrl_w_closes_the_tab_and_asks(opened: MainWindow, asked: Asked, main: Path, qtbot: QtBot) -> None:
    editor = typed(opened, main, qtbot)
    mode = opened.modes.current()
    assert isinstance(mode, SourceMode)
    qtbot.keyClick(editor, Qt.Key.Key_W, CTRL)
    assert mode.tabs.of(main) is editor
    assert asked.questions[0].lines == (str(main),)
    asked.answer = SAVE
    qtbot.keyClick(editor, Qt.Key.Key_W, CTRL)
    assert mode.tabs.of(main) is None
    assert main.read_text().startswith("// mine")
    assert opened.context.workspace is not None


@pytest.mark.parametrize("way", ["quit", "close", "x", "other"])
def test_every_way_out_asks_once(
    opened: MainWindow, asked: Asked, main: Path, project: Path, qtbot: QtBot, settle: Settle, way: str
) -> None:
    own_platform(opened, qtbot, settle)
    editor = typed(opened, main, qtbot)
    mode = platform(opened)
    mode.document.set(("title",), "Mine")
    card = mode.document.path
    assert card is not None

    def go() -> None:
        if way == "quit":
            opened.actions_of.all["quit"].trigger()
        elif way == "close":
            press(opened, qtbot, Qt.Key.Key_W, CTRL | SHIFT)
        elif way == "x":
            opened.close()
        else:
            opened.open(project)
            settle(opened)

    go()
    assert len(asked.questions) == 1
    assert set(asked.questions[0].lines) == {str(main), str(card)}
    assert opened.isVisible()
    assert opened.context.workspace is not None
    assert editor.file.dirty
    assert "Mine" not in card.read_text()
    asked.answer = SAVE
    go()
    assert main.read_text().startswith("// mine")
    assert "Mine" in card.read_text()
    assert not opened.context.documents.unsaved
    assert opened.isVisible() == (way in ("close", "other"))


def test_discarding_leaves_the_files(opened: MainWindow, asked: Asked, main: Path, qtbot: QtBot) -> None:
    before = main.read_bytes()
    typed(opened, main, qtbot)
    asked.answer = DISCARD
    opened.context.leave()
    assert opened.context.workspace is None
    assert main.read_bytes() == before


def test_what_stands_in_a_field_counts(
    opened: MainWindow, asked: Asked, qtbot: QtBot, settle: Settle, project: Path
) -> None:
    mode = own_platform(opened, qtbot, settle)
    mode.choose(())
    field = mode.form.row("title").editor
    assert isinstance(field, QLineEdit)
    field.setFocus()
    qtbot.keyClicks(field, "Z")
    opened.close()
    assert opened.isVisible()
    assert len(asked.questions) == 1
    qtbot.keyClick(field, Qt.Key.Key_S, CTRL)
    assert mode.document.path is not None
    assert "Z" in mode.document.path.read_text().split("title:")[1].splitlines()[0]


def runs(window: MainWindow) -> list[str]:
    """The sources' first lines as each run saw them."""
    seen: list[str] = []

    def run(workspace: Workspace, options: RunOptions, job: Job) -> Run:
        seen.append((workspace.root / "host" / "main.c").read_text().splitlines()[0] + workspace.platform.title)
        return None  # type: ignore[return-value]

    assert window.context.workspace is not None
    trust(window.context.workspace, own=True)
    window.run_control.run_function = run
    return seen


def test_f5_never_runs_the_old_text_silently(
    opened: MainWindow, asked: Asked, main: Path, qtbot: QtBot, settle: Settle
) -> None:
    mode = own_platform(opened, qtbot, settle)
    seen = runs(opened)
    editor = typed(opened, main, qtbot)
    mode.document.set(("title",), "Mine")
    qtbot.keyClick(editor, Qt.Key.Key_F5)
    assert asked.questions[0].answers == (SAVE_AND_RUN, RUN_AS_SAVED, CANCEL)
    assert not opened.runner.running
    asked.answer = RUN_AS_SAVED
    qtbot.keyClick(editor, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: len(seen) == 1 and not opened.runner.running)
    assert editor.file.dirty
    asked.answer = SAVE_AND_RUN
    qtbot.keyClick(editor, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: len(seen) == 2 and not opened.runner.running)
    assert [s.startswith("// mine") for s in seen] == [False, True]
    assert [s.endswith("Mine") for s in seen] == [False, True]
    assert not opened.context.documents.unsaved
    settle(opened)
    assert editor.can_undo  # though the project was read again


def test_unsaved_changes_and_trust_are_one_question(opened: MainWindow, asked: Asked, main: Path, qtbot: QtBot) -> None:
    seen = runs(opened)
    workspace = opened.context.workspace
    assert workspace is not None
    withdraw(str(workspace.path))
    editor = typed(opened, main, qtbot)
    said: list[str] = []

    def answer(button: str) -> None:
        prompt = QApplication.activeModalWidget()
        assert isinstance(prompt, TrustPrompt)
        said.extend(child.text() for child in prompt.findChildren(QLabel))
        next(one for one in prompt.findChildren(QPushButton) if one.text() == button).click()

    def run(button: str) -> None:
        QTimer.singleShot(0, opened, partial(answer, button))
        opened.run_control.run()

    run("Cancel")
    assert not opened.runner.running
    run("Trust and run as saved")
    qtbot.waitUntil(lambda: len(seen) == 1 and not opened.runner.running)
    assert editor.file.dirty
    run("Save, trust and run")
    qtbot.waitUntil(lambda: len(seen) == 2 and not opened.runner.running)
    assert [text.startswith("// mine") for text in seen] == [False, True]
    assert any("host/main.c" in text for text in said)
    assert asked.questions == []
    assert trust_state(workspace).trusted, "with what was saved"
    qtbot.keyClicks(editor, "more ")
    run("Run as saved")  # what the files hold is trusted
    qtbot.waitUntil(lambda: len(seen) == 3 and not opened.runner.running)


def test_a_project_file_changed_elsewhere_is_read_before_a_run(
    opened: MainWindow, asked: Asked, project: Path, qtbot: QtBot
) -> None:
    seen: list[object] = []

    def run(workspace: Workspace, options: RunOptions, job: Job) -> Run:
        seen.append(workspace.project.settings["ROUNDS"])
        return None  # type: ignore[return-value]

    assert opened.context.workspace is not None
    trust(opened.context.workspace, own=True)
    opened.run_control.run_function = run
    project.write_text(project.read_text().replace("ROUNDS: 3", "ROUNDS: 7"))
    assert "ROUNDS: 7" in project.read_text()
    opened.run_control.run()
    qtbot.waitUntil(lambda: seen == [7] and not opened.runner.running)


def test_another_program_wrote_the_file(opened: MainWindow, asked: Asked, main: Path, qtbot: QtBot) -> None:
    editor = typed(opened, main, qtbot)
    main.write_text("/* theirs */\n")
    opened.save()
    assert asked.questions[0].answers == (RELOAD, OVERWRITE, CANCEL), "Enter loses nothing"
    assert main.read_text() == "/* theirs */\n"
    assert editor.toPlainText().startswith("// mine")
    asked.answer = RELOAD
    opened.save()
    assert editor.toPlainText() == "/* theirs */\n"
    assert not editor.file.dirty
    opened.undo()
    assert editor.toPlainText().startswith("// mine")
    asked.answer = OVERWRITE
    opened.save()  # the file is as it was read again: no question
    assert main.read_text().startswith("// mine")
    assert len(asked.questions) == 2


def test_a_template_open_as_form_and_as_text_is_one_file(
    opened: MainWindow, asked: Asked, qtbot: QtBot, settle: Settle
) -> None:
    mode = own_platform(opened, qtbot, settle)
    card = mode.document.path
    assert card is not None
    editor = typed(opened, card, qtbot, "# mine\u0020")
    opened.save()
    settle(opened)
    assert mode.document.text.startswith("# mine ")
    assert not mode.document.dirty
    platform(opened)
    mode.document.set(("title",), "Mine")
    opened.save()
    assert "Mine" in editor.toPlainText()
    assert not asked.questions


def test_ctrl_z_and_ctrl_s_act_in_platform(opened: MainWindow, asked: Asked, qtbot: QtBot, settle: Settle) -> None:
    mode = own_platform(opened, qtbot, settle)
    before = mode.document.text
    mode.choose(())
    field = mode.form.row("title").editor
    assert isinstance(field, QLineEdit)
    field.setFocus()
    was = field.text()
    qtbot.keyClicks(field, "Z")
    qtbot.keyClick(field, Qt.Key.Key_Z, CTRL)  # the field's own
    assert field.text() == was
    field.end(False)
    qtbot.keyClicks(field, "Y")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert mode.document.dirty
    qtbot.keyClick(field, Qt.Key.Key_Z, CTRL)  # the document's
    assert mode.document.text == before
    assert not mode.document.dirty
    qtbot.keyClick(field, Qt.Key.Key_Z, CTRL | SHIFT)
    qtbot.keyClick(field, Qt.Key.Key_S, CTRL)
    assert mode.document.path is not None
    assert f"{was}Y" in mode.document.path.read_text()
    settle(opened)
    assert mode.document.history.can_undo  # beyond the saving
    qtbot.keyClick(field, Qt.Key.Key_Z, CTRL)
    assert mode.document.text == before
    assert mode.document.dirty


def test_f8_steps_in_the_order_shown(
    opened: MainWindow, asked: Asked, run_folder: Path, qtbot: QtBot, settle: Settle
) -> None:
    opened.context.open_run(run_folder)
    settle(opened)
    opened.context.navigation.set_mode("analyse")
    opened.modes.current().setFocus()  # type: ignore[union-attr]
    settle(opened)
    first = opened.context.navigation.selection
    assert isinstance(first, SelectedFinding)
    press(opened, qtbot, Qt.Key.Key_F8, Qt.KeyboardModifier.NoModifier)
    second = opened.context.navigation.selection
    assert isinstance(second, SelectedFinding)
    assert second != first
    press(opened, qtbot, Qt.Key.Key_F8, SHIFT)
    assert opened.context.navigation.selection == first


def test_no_key_is_declared_twice(opened: MainWindow, qtbot: QtBot, run_folder: Path, settle: Settle) -> None:
    from PySide6.QtGui import QAction, QShortcut

    opened.context.open_run(run_folder)
    settle(opened)
    for mode in ("source", "analyse", "timeline", "compare", "platform", "predict"):
        opened.context.navigation.set_mode(mode)
        settle(opened)
    actions = {id(a): a for a in opened.findChildren(QAction)}.values()
    keys = [a.shortcut().toString() for a in actions if not a.shortcut().isEmpty()]
    keys += [s.key().toString() for s in opened.findChildren(QShortcut)]
    assert len(keys) > 20
    assert sorted(keys) == sorted(set(keys))


def test_another_model_asks(opened: MainWindow, asked: Asked, qtbot: QtBot, settle: Settle) -> None:
    opened.context.navigation.set_mode("predict")
    mode = opened.modes.current()
    assert isinstance(mode, PredictMode)
    bundled = mode.document.path
    assert bundled is not None
    mode.save()
    mode.document.set(("title",), "Mine")
    assert opened.rail.buttons["predict"].accessibleName() == "Predict, not saved"
    mode.open_document(bundled)
    assert mode.document.path != bundled
    asked.answer = SAVE
    mode.open_document(bundled)
    assert mode.document.path == bundled
    assert len(asked.questions) == 2


@pytest.mark.parametrize(
    ("key", "answer"), [(Qt.Key.Key_Return, SAVE), (Qt.Key.Key_Escape, CANCEL), (Qt.Key.Key_Tab, DISCARD)]
)
def test_the_question_answers_to_keys(window: MainWindow, qtbot: QtBot, key: Qt.Key, answer: str) -> None:
    def press_it() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QuestionDialog)
        if answer == DISCARD:
            qtbot.mouseClick(dialog.buttons[DISCARD], Qt.MouseButton.LeftButton)
        else:
            qtbot.keyClick(dialog.focusWidget() or dialog, key)

    QTimer.singleShot(0, press_it)
    assert ask(Question("Save changes?", "Unsaved changes will be lost.", ("a.c",)), window) == answer


def test_making_a_mode_opens_no_window_of_its_own(opened: MainWindow, qtbot: QtBot, settle: Settle) -> None:
    """A part shown before it is put in its place is a window for a moment, and takes the focus away."""
    shown: list[QWidget] = []

    class Watch(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
                shown.append(watched)
            return False

    watch, application = Watch(), QApplication.instance()
    assert application is not None
    application.installEventFilter(watch)
    for mode in ("analyse", "timeline", "compare", "platform", "predict"):
        opened.context.navigation.set_mode(mode)
        settle(opened)
    application.removeEventFilter(watch)
    assert shown == []


def test_setting_aside_and_ranges_are_undone_and_restrict_the_figures(
    opened: MainWindow, asked: Asked, run_folder: Path, qtbot: QtBot, settle: Settle
) -> None:
    context = opened.context
    context.open_run(run_folder)
    settle(opened)
    context.navigation.set_mode("analyse")
    analyse = opened.modes.current()
    assert isinstance(analyse, AnalyseMode)
    analyse.setFocus()
    whole = context.analysis
    assert whole is not None
    assert context.run is not None
    first = analyse.findings.table.rows.tops[0].id
    context.set_aside(first)
    assert first not in [f.id for f in analyse.findings.table.rows.tops]
    press(opened, qtbot, Qt.Key.Key_Z)
    assert first in [f.id for f in analyse.findings.table.rows.tops]
    assert load_aside(context.run) == frozenset()
    press(opened, qtbot, Qt.Key.Key_Z, CTRL | SHIFT)
    assert load_aside(context.run) == {first}
    press(opened, qtbot, Qt.Key.Key_Z)

    half = context.run.manifest.time_ps // 2
    context.navigation.set_mode("timeline")
    settle(opened)
    timeline = opened.modes.current()
    assert isinstance(timeline, TimelineMode)
    timeline.view.set_marks([0.0, float(half)])
    timeline.details.range_wanted.emit()
    settle(opened)
    assert context.analysis is not None
    assert context.analysis.time_s == pytest.approx(half / 1e12)
    context.navigation.set_mode("analyse")
    assert "of the run" in analyse.graph_head.subtitle.text()
    shown = {m.block.id: m.time_s for m in context.analysis.blocks}
    assert set(shown.values()) == {context.analysis.time_s}
    settle(opened)
    analyse.setFocus()
    press(opened, qtbot, Qt.Key.Key_Z)
    assert context.navigation.time_range is None
    assert context.analysis is whole
    assert "of the run" not in analyse.graph_head.subtitle.text()
    press(opened, qtbot, Qt.Key.Key_Z, CTRL | SHIFT)
    settle(opened)
    assert context.navigation.time_range == (0, half)
    assert context.analysis.time_s == pytest.approx(half / 1e12)


def test_that_another_program_wrote_a_file_is_no_matter_once_it_is_saved(tmp_path: Path, qtbot: QtBot) -> None:
    notices, file, document = Notices(()), tmp_path / "main.c", SourceFile()
    documents = OpenDocuments(notices, lambda: None)
    file.write_text("read")
    document.open(file)
    documents.add(document)
    document.type("typed")
    file.write_text("written")
    documents.report_overtaken(document)
    assert [notice.message for notice in notices] == ["another program changed this file"]
    documents.ask = lambda question: OVERWRITE
    assert documents.save(document)
    assert (list(notices), file.read_text()) == ([], "typed")
    documents.forget()
