"""Clicking through the window: runs, cancel, theme, keys, notices, welcome."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from pixels import pixels_of
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QWidget
from pytestqt.qtbot import QtBot
from settings_shown import shown_settings

from workbench.api.job import Job
from workbench.gui.app import make_window
from workbench.gui.frame.context import Context
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.frame.search import SearchField, SearchItem
from workbench.gui.frame.selection import SelectedBlock, SelectedFinding
from workbench.gui.look import theme
from workbench.gui.modes import MODES
from workbench.gui.modes.source.mode import SourceMode
from workbench.gui.open.asking import Asking
from workbench.gui.open.trust_prompt import TrustPrompt
from workbench.gui.widgets import DiagnosticRow
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.run import PS_PER_S, Run, RunStatus
from workbench.model.text import time_text
from workbench.pictures.palette import DARK, LIGHT
from workbench.session.make.pipeline import RunOptions
from workbench.session.open import recent
from workbench.session.open.examples import EXAMPLES
from workbench.session.open.trust import trust, trust_state
from workbench.session.open.workspace import Workspace
from workbench.session.program.loaded_plugin import LoadedPlugin
from workbench.session.program.plugins import Plugins
from workbench.system import store
from workbench.testing.runs import synthetic_run

Settle = Callable[[MainWindow], None]


def finished(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.runner.running)
    qtbot.waitUntil(lambda: not window.busy)


def the_workspace(window: MainWindow) -> Workspace:
    assert window.context.workspace is not None
    return window.context.workspace


def fake_run(workspace: Workspace, options: RunOptions, job: Job) -> Run:
    """What a run tells, without running anything."""
    from workbench.formats.run_folder import RunWriter

    assert options.out is not None
    job.plan(["Instrument", "Build host", "Run"])
    with job.step("Instrument"):
        job.report(Diagnostic("'mask' is 8 bits wide", "Widen it.", Severity.WARNING, "hdl/tiny_top.v", 20, 3))
    with job.step("Build host"):
        job.log("cc -O2 main.c")
    with job.step("Run"):
        job.progress(0.5, "24 of about 48 virtual seconds")
        job.log("host: 1128")
        job.progress(1.0, "done")
    run = synthetic_run(cores=3, rounds=2)
    return RunWriter(options.out, run.manifest).finish(run.manifest, run.tables)


def endless_run(workspace: Workspace, options: RunOptions, job: Job) -> Run:
    job.plan(["Build card", "Run"])
    with job.step("Build card"):
        pass
    with job.step("Run"):
        while True:
            job.progress(None, "12 cycles")
            time.sleep(0.01)
            job.check()


def broken_run(workspace: Workspace, options: RunOptions, job: Job) -> Run:
    with job.step("Build host"):
        raise WorkbenchError(Diagnostic("expected ';'", "Put one.", file=str(workspace.root / "host/main.c"), line=11))


def failing_run(workspace: Workspace, options: RunOptions, job: Job) -> Run:
    raise ZeroDivisionError("of our own")


def test_without_a_project_the_window_welcomes(window: MainWindow, qtbot: QtBot, settle: Settle) -> None:
    settle(window)
    assert not window.rail.isVisible()
    assert not window.header.run_button.isVisible()
    assert len(window.welcome.example_buttons) == len(EXAMPLES)
    assert window.welcome.open_button.isVisible()
    size, across = window.size(), window.welcome.horizontalScrollBar()
    window.resize(800, 500)
    qtbot.waitUntil(lambda: window.welcome.width() <= 800 and across.maximum() == 0)
    recent, page = window.welcome._recent, window.welcome.viewport()
    qtbot.waitUntil(lambda: recent.width() > 0.85 * page.width())  # not half of the page
    window.resize(size)
    assert not window.actions_of.all["run"].isEnabled()
    assert "RC Workbench 0" in window.status_line.text


def test_an_example_is_copied_and_opened(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Asking, "_new_folder", lambda *_: tmp_path)
    window.actions_of.all["example_0"].trigger()
    settle(window)
    assert window.context.workspace is not None
    assert window.context.workspace.path.is_relative_to(tmp_path)
    assert window.rail.isVisible()
    assert recent.recent() == (window.context.workspace.path,)
    source, shown = window.modes.current(), []
    assert isinstance(source, SourceMode)
    editor = source.editor
    window.context.workspace_changed.connect(lambda: shown.append(window.has_content))
    window.context.open_project(window.context.workspace.path)  # the same once more takes its own place
    settle(window)
    assert shown == [True, True]
    assert source.editor is not None
    assert source.editor is not editor
    window.context.close()
    settle(window)
    assert not window.rail.isVisible()


def test_a_project_that_cannot_be_read_is_a_notice(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, settle: Settle
) -> None:
    broken = tmp_path / "x.workbench.yaml"
    broken.write_text("schema_version: 1\nname: x\nplatfrom: nallatech_h101\n")
    window.open(broken)
    settle(window)
    assert window.context.workspace is None
    assert any("platfrom" in d.message and d.line == 3 for d in window.context.notices)
    window.show_notices()
    popover = window.floating.notices
    assert popover.isVisible()
    qtbot.waitUntil(lambda: popover.geometry().bottom() < window.height())
    foot = popover.geometry().bottom()
    window.context.notices.tell(Diagnostic("something else is wrong", "Fix it."))  # while it is open
    assert any("something else" in row.diagnostic.message for row in popover.findChildren(DiagnosticRow))
    qtbot.waitUntil(lambda: popover.geometry().bottom() == foot)
    qtbot.keyClick(window.floating.notices, Qt.Key.Key_Escape)
    assert not window.floating.notices.isVisible()


def test_a_run_asks_for_trust_once_shows_its_steps_and_opens(opened: MainWindow, project: Path, qtbot: QtBot) -> None:
    opened.run_control.run_function = fake_run
    asked: list[str] = []

    def answer() -> None:
        prompt = QApplication.activeModalWidget()
        assert isinstance(prompt, TrustPrompt)
        asked.append(prompt.windowTitle())
        qtbot.mouseClick(prompt.trust, Qt.MouseButton.LeftButton)

    QTimer.singleShot(50, answer)
    qtbot.mouseClick(opened.header.run_button.button, Qt.MouseButton.LeftButton)
    finished(opened, qtbot)
    assert asked == ["Trust this project"]
    assert opened.context.trusted
    assert trust_state(the_workspace(opened)).trusted
    dock = opened.run_dock
    assert not dock.isVisible()  # all went well: the banner leads to what it said
    assert opened.end_banner.problems.text() == "Show 1 warning"
    qtbot.mouseClick(opened.end_banner.problems, Qt.MouseButton.LeftButton)
    assert dock.isVisible()
    assert dock.filters["Problems"].isChecked()
    assert [(s.name, s.state) for s in dock.steps.values()] == [
        ("Instrument", "done"), ("Build host", "done"), ("Run", "done"),
    ]  # fmt: skip
    assert dock.steps["Instrument"].warnings == 1
    assert "cc -O2 main.c" in dock.log.toPlainText()
    assert dock.output.toPlainText() == "1128"
    assert dock.filters["Problems"].text() == "Problems 1"
    assert opened.context.run is not None
    assert opened.context.run.path == project.parent / "runs" / "run-1"
    assert "Run 1 complete" in opened.status_line.text
    opened.run_control.again()  # no second question
    finished(opened, qtbot)
    assert [folder.name for folder in opened.context.run_folders()] == ["run-1", "run-2"]


def test_running_again_asks_again_where_the_sources_changed_unless_they_are_the_users_own(
    opened: MainWindow, project: Path, qtbot: QtBot
) -> None:
    opened.run_control.run_function = fake_run
    said: list[list[str]] = []

    def answer(own: bool) -> None:
        prompt = QApplication.activeModalWidget()
        assert isinstance(prompt, TrustPrompt)
        said.append([child.text() for child in prompt.findChildren(QLabel)])
        prompt.own.setChecked(own)
        qtbot.mouseClick(prompt.trust, Qt.MouseButton.LeftButton)

    source = project.parent / "host" / "main.c"
    for own, again in ((False, opened.run_control.run), (True, opened.run_control.again)):
        QTimer.singleShot(50, lambda own=own: answer(own))
        again()
        finished(opened, qtbot)
        source.write_text(source.read_text() + "/* changed by a pull */\n")
    opened.run_control.again()  # the user's own by now: no question
    finished(opened, qtbot)
    assert any("hdl/tiny_top.v" in text for text in said[0])
    assert not any("Changed since" in text for text in said[0])
    assert any("Changed since you trusted it: host/main.c." in text for text in said[1])
    assert len(said) == 2


def test_no_trust_means_no_run(opened: MainWindow, project: Path, qtbot: QtBot) -> None:
    opened.run_control.run_function = fake_run
    QTimer.singleShot(50, lambda: QApplication.activeModalWidget().close())  # type: ignore[union-attr]
    opened.run_control.run()
    assert not opened.runner.running
    assert not trust_state(the_workspace(opened)).trusted
    assert not (project.parent / "runs").exists()


def test_cancel_ends_the_run(opened: MainWindow, project: Path, qtbot: QtBot) -> None:
    trust(the_workspace(opened))
    opened.run_control.run_function = endless_run
    opened.actions_of.all["run"].trigger()
    dock = opened.run_dock
    qtbot.waitUntil(lambda: "Run" in dock.steps and dock.steps["Run"].said == "12 cycles")
    assert not opened.header.run_button.button.isEnabled()
    assert "step 2 of 2" in opened.status_line.text
    qtbot.mouseClick(dock.cancel, Qt.MouseButton.LeftButton)
    finished(opened, qtbot)
    assert dock.steps["Run"].state == "cancelled"
    assert dock.steps["Build card"].state == "done"
    assert dock.header.subtitle.text().startswith("cancelled after")
    assert opened.header.run_button.button.isEnabled()


def test_a_failure_is_readable_and_leads_to_its_line(opened: MainWindow, project: Path, qtbot: QtBot) -> None:
    trust(the_workspace(opened))
    opened.run_control.run_function = broken_run
    opened.run_control.run()
    finished(opened, qtbot)
    dock = opened.run_dock
    assert dock.steps["Build host"].state == "failed"
    assert [d.message for d in dock.problems] == ["expected ';'"]
    dock.open_line.emit(dock.problems[0].file, dock.problems[0].line)
    editor = opened.modes.current().editor  # type: ignore[union-attr]
    assert (editor.path.name, editor.line) == ("main.c", 11)


def test_a_fault_of_our_own_is_one_line(opened: MainWindow, project: Path, qtbot: QtBot) -> None:
    trust(the_workspace(opened))
    opened.run_control.run_function = failing_run
    opened.run_control.run()
    finished(opened, qtbot)
    (problem,) = opened.run_dock.problems
    assert "ZeroDivisionError: of our own" in problem.message
    assert "Traceback" not in problem.text()


def test_tab_goes_round_within_how_to_run(opened: MainWindow, qtbot: QtBot) -> None:
    opened.show_run_options()
    panel = opened.floating.run_options
    stops = [panel.trace, panel.deterministic, panel.plain, panel.waves, *panel.fields.values(), panel.go]
    assert list(panel.fields) == ["DELAY", "ROUNDS"]
    for wanted in (*stops, stops[0]):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is wanted
    qtbot.keyClick(panel.trace, Qt.Key.Key_Backtab)
    assert QApplication.focusWidget() is panel.go


def test_how_to_run_reaches_the_run(opened: MainWindow, project: Path, qtbot: QtBot) -> None:
    trust(the_workspace(opened))
    seen: list[RunOptions] = []

    def run(workspace: Workspace, options: RunOptions, job: Job) -> Run:
        seen.append(options)
        return fake_run(workspace, options, job)

    opened.run_control.run_function = run
    opened.show_run_options()
    panel = opened.floating.run_options
    assert set(panel.fields) == {"DELAY", "ROUNDS"}
    panel.fields["ROUNDS"].setText("5")
    panel.trace.setChecked(False)
    panel.deterministic.setChecked(True)
    panel.waves.setChecked(True)
    panel.run.emit()
    finished(opened, qtbot)
    assert seen[0].settings == {"ROUNDS": 5}
    assert (seen[0].trace, seen[0].deterministic, seen[0].plain) == (False, True, False)
    assert seen[0].waves == (0.0, 0.0), "from the run's begin to its end, as the project says no other time"


def test_what_agents_count_is_chosen_under_how_to_run(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("r", "measure mean latency at a")
    monkeypatch.setattr("workbench.session.make.agents.questions", lambda workspace: names)
    opened.show_run_options()
    panel = opened.floating.run_options
    qtbot.waitUntil(lambda: tuple(panel.statements) == names)
    assert panel.options(the_workspace(opened)).only == ()
    first, second = panel.statements.values()
    first.click()
    panel.frame_length.setText("3 kg")
    panel.go.click()
    assert panel.problem.isVisible()
    assert "'3 kg' is not a time (10 ms)" in panel.problem.text()
    panel.frame_length.setText("1 ms")
    chosen = panel.options(the_workspace(opened))
    assert (chosen.frame, chosen.only) == ("1 ms", names[1:])
    second.setChecked(False)
    panel.go.click()
    assert panel.problem.text() == "no statement is checked. Check one, or leave the query out."
    opened.context.set_workspace(the_workspace(opened))  # as where the project was read again
    qtbot.waitUntil(lambda: not opened.busy)
    assert [box.isChecked() for box in panel.statements.values()] == [False, False]
    opened.context.close()
    assert not panel.statements


def test_a_mode_that_was_hidden_is_dressed_too_and_every_view_is_painted(
    opened: MainWindow, qtbot: QtBot, settle: Settle
) -> None:
    """In whichever turns of the event loop: the same picture as of a mode that was seen all the time."""

    def shown(mode: str, hidden_while: str = "") -> tuple[QImage, list[QWidget]]:
        opened.context.navigation.set_mode("source" if hidden_while else mode)
        settle(opened)
        if hidden_while:
            opened.set_theme(hidden_while)
            settle(opened)
            opened.context.navigation.set_mode(mode)
            settle(opened)
        views = [w for w in opened.findChildren(QWidget) if w.isVisible()]
        return opened.modes.grab().toImage(), [w for w in views if not w.updatesEnabled()]

    light, still = shown("platform")
    assert still == []
    opened.set_theme("dark")
    settle(opened)
    dark, _ = shown("platform")
    assert pixels_of(dark)[5, 5] != pixels_of(light)[5, 5]
    again, still = shown("platform", hidden_while="light")
    assert still == []
    assert (pixels_of(again) == pixels_of(light)).all()
    again, _ = shown("platform", hidden_while="dark")
    assert (pixels_of(again) == pixels_of(dark)).all()


def test_the_theme_changes_and_is_remembered(opened: MainWindow, qtbot: QtBot) -> None:
    def ground() -> str:
        image = opened.grab().toImage()
        return QColor(image.pixel(opened.width() // 2, 20)).name().upper()

    assert ground() == LIGHT.chrome
    shown_settings(opened).rows["theme"].field.setCurrentIndex(1)
    qtbot.waitUntil(lambda: not opened.slices.busy)
    assert theme.palette() is DARK
    assert ground() == DARK.chrome
    assert store.load("window", {})["theme"] == "dark"
    opened.set_theme("light")
    qtbot.waitUntil(lambda: not opened.slices.busy)
    assert ground() == LIGHT.chrome


def test_modes_by_key_and_back(opened: MainWindow, run_folder: Path, qtbot: QtBot, settle: Settle) -> None:
    opened.context.open_run(run_folder)
    settle(opened)
    for number, mode in enumerate(MODES, 1):
        opened.actions_of.all[f"mode_{mode}"].trigger()
        assert opened.actions_of.all[f"mode_{mode}"].shortcut().toString() == f"Ctrl+{number}"
        assert opened.context.navigation.mode == mode
        assert opened.rail.buttons[mode].isChecked()
        settle(opened)
    opened.context.navigation.back()
    assert opened.context.navigation.mode == list(MODES)[-2]
    opened.context.navigation.forward()
    assert opened.context.navigation.mode == list(MODES)[-1]


def test_selection_and_range_go_back_and_forward(window: MainWindow) -> None:
    context: Context = window.context
    seen: list[object] = []
    context.navigation.selection_changed.connect(lambda: seen.append(context.navigation.selection))
    context.navigation.select(SelectedBlock("a"))
    context.navigation.set_range((10, 20))
    context.navigation.select(SelectedFinding("f"))
    context.navigation.select(SelectedFinding("f"))
    context.navigation.back()
    assert (context.navigation.selection, context.navigation.time_range) == (SelectedBlock("a"), (10, 20))
    context.navigation.back()
    assert (context.navigation.selection, context.navigation.time_range) == (SelectedBlock("a"), None)
    assert not context.navigation.can_go_back
    context.navigation.forward()
    assert context.navigation.time_range == (10, 20)
    context.navigation.set_range(None)
    assert not context.navigation.can_go_forward
    assert seen == [SelectedBlock("a"), SelectedFinding("f"), SelectedBlock("a")]


def test_findings_are_walked_with_f8(opened: MainWindow, run_folder: Path, qtbot: QtBot, settle: Settle) -> None:
    opened.context.open_run(run_folder)
    settle(opened)
    analysis = opened.context.analysis
    assert analysis is not None
    ids = [finding.id for finding in analysis.findings]
    assert ids
    opened.actions_of.all["next_finding"].trigger()
    assert opened.context.navigation.selection == SelectedFinding(ids[0])
    opened.actions_of.all["previous_finding"].trigger()
    assert opened.context.navigation.selection == SelectedFinding(ids[-1])


def test_search_finds_commands_files_and_blocks(
    opened: MainWindow, run_folder: Path, qtbot: QtBot, settle: Settle
) -> None:
    opened.context.open_run(run_folder)
    settle(opened)
    opened.search.setFocus()
    opened.search.reload()
    qtbot.keyClicks(opened.search, "tiny_top.v")
    qtbot.keyClick(opened.search, Qt.Key.Key_Return)
    assert opened.modes.current().editor.path.name == "tiny_top.v"  # type: ignore[union-attr]
    titles = {item.title for item in opened.search._find_items()}
    assert {"Run", "Timeline", "main.c"} <= titles
    assert any("host.main" in title for title in titles)


def test_enter_takes_what_was_looked_at_in_the_list(opened: MainWindow, qtbot: QtBot) -> None:
    done: list[str] = []
    field = SearchField(lambda: [SearchItem(name, "", "play", partial(done.append, name)) for name in ("one", "two")])
    qtbot.addWidget(field)
    field.show()
    field.reload()
    for downs, taken in ((0, "one"), (1, "one"), (2, "two")):
        qtbot.keyClicks(field, "o")
        popup = field.completer().popup()
        for _ in range(downs):
            qtbot.keyClick(popup, Qt.Key.Key_Down)
        qtbot.keyClick(popup, Qt.Key.Key_Return)
        assert done.pop() == taken
        assert (field.text(), popup.isVisible()) == ("", False)


def test_breadcrumb_menus_offer_runs_and_the_whole_range(
    opened: MainWindow, run_folder: Path, qtbot: QtBot, settle: Settle
) -> None:
    opened.context.open_run(run_folder)
    settle(opened)
    opened.context.navigation.set_range((0, 1_000_000))
    project_crumb, run_crumb, range_crumb, _ = opened.breadcrumb.crumbs
    assert project_crumb.text() == "tiny"
    assert run_crumb.text() == "saved"
    assert range_crumb.text().replace("\u202f", " ") == "0 s to 1.00000 µs"
    runs = QMenu()
    run_crumb._fill_menu(runs)
    manifest = opened.context.run.manifest if opened.context.run else None
    shown = next(action.text() for action in runs.actions() if action.isChecked())
    assert manifest is not None
    assert time_text(manifest.time_ps / PS_PER_S, 4) in shown
    assert "\t" not in shown, "a menu does not show what stands there"
    assert shown.endswith(manifest.created[:16].replace("T", " "))
    menu = QMenu()
    range_crumb._fill_menu(menu)
    menu.actions()[0].trigger()
    assert opened.context.navigation.time_range is None
    assert range_crumb.text() == "Whole run"


def test_what_the_range_holds_stands_beside_every_mode(
    opened: MainWindow, run_folder: Path, qtbot: QtBot, settle: Settle
) -> None:
    context = opened.context
    context.open_run(run_folder)
    settle(opened)
    assert context.run is not None
    end = context.run.manifest.time_ps
    context.choose_range((end // 4, end // 2))
    opened.actions_of.all["range_panel"].trigger()
    panel = opened.range_panel
    assert panel is not None
    for mode in ("analyse", "source", "compare", "platform", "predict"):
        context.navigation.set_mode(mode)
        settle(opened)
        assert panel.isVisible(), mode
        assert panel.statistics is not None
        assert (panel.statistics.from_ps, panel.statistics.to_ps) == (end // 4, end // 2)
        host = panel.statistics.shares[0]
        assert sum(host.seconds) == pytest.approx((end // 2 - end // 4) / 1e12, rel=1e-9)
    context.navigation.set_mode("analyse")
    opened.actions_of.all["undo"].trigger()
    qtbot.waitUntil(lambda: panel.statistics is not None and panel.statistics.to_ps == end)
    context.navigation.set_mode("timeline")
    settle(opened)
    assert not panel.isVisible()  # its own details tell it
    assert not opened.actions_of.all["range_panel"].isEnabled()
    context.navigation.set_mode("source")
    panel.closed.emit()
    assert not panel.isVisible()


def test_panels_are_kept_by_mode_and_reset(opened: MainWindow, run_folder: Path, qtbot: QtBot, settle: Settle) -> None:
    opened.context.open_run(run_folder)
    settle(opened)
    assert not opened.panels.details_visible()  # the run has no numbers of the tiny project's sources
    opened.context.navigation.set_mode("analyse")
    settle(opened)
    assert opened.panels.details_visible()
    opened.actions_of.all["details"].trigger()
    assert not opened.panels.details_visible()
    opened.context.navigation.set_mode("timeline")
    settle(opened)
    assert opened.panels.details_visible()
    opened.context.navigation.set_mode("analyse")
    assert not opened.panels.details_visible()
    opened.actions_of.all["try_change"].trigger()  # whose answer is there
    assert opened.panels.details_visible()
    opened.actions_of.all["reset_layout"].trigger()
    assert opened.panels.details_visible()


def test_a_small_window_has_every_mode_whole(
    opened: MainWindow, run_folder: Path, qtbot: QtBot, settle: Settle
) -> None:
    """The least size is a screen of 1600x1000 at 200 %: what a mode needs beyond is scrolled, and nothing is wider."""
    opened.context.open_run(run_folder)
    opened.resize(800, 500)
    for mode in (*MODES, "compare"):  # the widest from a narrow one too
        opened.context.navigation.set_mode(mode)
        settle(opened)
        assert (opened.width(), opened.height()) == (800, 500), mode
        view = opened.modes.shown
        assert view is not None
        qtbot.waitUntil(lambda view=view: view.width() >= view.minimumSizeHint().width())
        assert opened.rail.settings.mapTo(opened, opened.rail.settings.rect().bottomRight()).y() < 500
        run = opened.header.run_button
        assert run.isVisible()
        assert run.mapTo(opened, run.rect().topRight()).x() < 800


def test_a_mode_that_is_not_whole_yet_has_nothing_of_another_beside_it(
    opened: MainWindow, run_folder: Path, qtbot: QtBot, settle: Settle
) -> None:
    opened.context.open_run(run_folder)
    settle(opened)
    source = opened.modes.views["source"]
    opened.panels.show_details(True)
    assert source.side_panel is not None
    assert source.details_panel is not None
    assert source.side_panel.isVisible()
    assert source.details_panel.isVisible()
    opened.context.navigation.set_mode("timeline")  # for the first time
    assert "timeline" not in opened.modes.views
    assert not source.isVisible()
    assert not source.side_panel.isVisible()
    assert not source.details_panel.isVisible()
    settle(opened)
    timeline = opened.modes.views["timeline"]
    assert timeline.details_panel is not None
    assert timeline.details_panel.isVisible()
    opened.context.navigation.set_mode("source")
    assert source.side_panel.isVisible()
    assert source.details_panel.isVisible()


def test_f6_goes_round_the_panels(opened: MainWindow, qtbot: QtBot) -> None:
    opened.activateWindow()
    qtbot.waitUntil(opened.isActiveWindow)
    reached = []
    for _ in range(3):
        opened.panels.focus_next()
        focus = QApplication.focusWidget()
        assert focus is not None
        reached.append(next(n for n, p in opened.panels.by_name().items() if p.isAncestorOf(focus)))
    assert len(set(reached)) >= 2
    mode = opened.modes.current()
    assert isinstance(mode, SourceMode)
    for _ in range(2):
        while (focus := QApplication.focusWidget()) is None or not mode.isAncestorOf(focus):
            opened.panels.focus_next()
        assert focus is mode.editor  # the text, not the tabs over it
        opened.panels.focus_next()


def test_a_plugin_that_failed_is_a_notice(qapp: QApplication, plugins: Plugins, qtbot: QtBot) -> None:
    failed = LoadedPlugin("broken", "someone's package", error="ImportError: no such thing")
    window = MainWindow(replace(plugins, loaded=(*plugins.loaded, failed)))
    qtbot.addWidget(window)
    assert [d.message for d in window.context.problems()] == [
        "the plugin 'broken' could not be loaded: ImportError: no such thing"
    ]
    window.context.close()
    assert len(window.context.problems()) == 1


def test_an_incomplete_run_opens_and_says_so(window: MainWindow, tmp_path: Path, qtbot: QtBot, settle: Settle) -> None:
    from workbench.formats.run_folder import RunWriter

    run = synthetic_run(cores=2, rounds=1)
    RunWriter(tmp_path / "half", run.manifest).mark(RunStatus.CANCELLED, "cancelled")
    window.open(tmp_path / "half")
    settle(window)
    assert window.context.run is not None
    assert not window.context.run.complete
    assert "cancelled" in window.status_line.text
    for mode in MODES:
        window.context.navigation.set_mode(mode)
        settle(window)


def test_pictures_are_made(run_folder: Path, tmp_path: Path, qapp: QApplication) -> None:
    from PySide6.QtGui import QImage

    from workbench.gui.pictures import take_picture

    picture = take_picture(run_folder, tmp_path / "deep" / "analyse.png", size=(1000, 640))
    image = QImage(str(picture))
    assert (image.width(), image.height()) == (1000, 640)
    colours = {image.pixel(x, y) for x in range(0, 1000, 10) for y in range(0, 640, 10)}
    assert len(colours) > 15


def test_an_installation_that_does_not_know_the_windows_modes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.session.program.plugins.load_plugins", lambda: Plugins(()))
    with pytest.raises(WorkbenchError, match="older than the sources"):
        make_window()
