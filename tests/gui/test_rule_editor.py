"""Rules of one's own in the window: made, typed, seen to fire, saved, opened again, removed and had back, by keys."""

import json
from pathlib import Path

import pytest
import yaml
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from workbench.formats.run_folder import RunWriter
from workbench.gui.frame.context import Context
from workbench.gui.look import theme
from workbench.gui.modes import MODES
from workbench.gui.modes.analyse.mode import AnalyseMode
from workbench.gui.modes.analyse.rule_editor import RuleEditor
from workbench.gui.modes.forms.words_area import WordsArea
from workbench.model.run import Run
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

PROJECT = """\
schema_version: 1
name: waits
platform: nallatech_h101
host: {sources: [host.c]}
hardware: {sources: [top.v], top: top, read_out: {first: 0x8000, last: 0x800F}}
"""


@pytest.fixture
def project(tmp_path: Path, six_cores: Run) -> Path:
    (tmp_path / "host.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "top.v").write_text("module top (input clk);\nendmodule\n")
    path = tmp_path / "waits.workbench.yaml"
    path.write_text(PROJECT)
    run = tmp_path / "runs" / "run-1"
    RunWriter(run, six_cores.manifest).finish(six_cores.manifest, six_cores.tables)
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "project": str(path)}))
    return path


@pytest.fixture
def mode(qtbot: QtBot, qapp: QApplication, project: Path) -> AnalyseMode:
    theme.apply_theme(qapp, "light")
    plugins = load_plugins()
    context = Context(plugins)
    context.navigation.set_mode("analyse")
    context.set_workspace(open_workspace(project, plugins))
    made = AnalyseMode(context, MODES["analyse"])
    for _ in made.build():
        pass
    qtbot.addWidget(made)
    qtbot.addWidget(made.details)
    context.open_run(project.parent / "runs" / "run-1")
    qtbot.waitUntil(lambda: context.run is not None and not context.background.busy, timeout=20_000)
    context.slices.finish()
    made.resize(1064, 930)
    made.details.resize(472, 930)
    made.show()
    made.details.show()
    qtbot.waitExposed(made)
    qtbot.mouseClick(made.findings.tabs["Rules"], Qt.MouseButton.LeftButton)
    assert made.findings.foot.isHidden(), "it is about findings"
    return made


def editor_of(mode: AnalyseMode) -> RuleEditor:
    editor = mode.rules.editor
    assert editor is not None
    return editor


def settle(mode: AnalyseMode, qtbot: QtBot) -> None:
    """Until what was typed is held against the run."""
    editor = editor_of(mode)
    mode.context.slices.finish()
    qtbot.waitUntil(lambda: not editor.evaluates and not mode.context.background.busy, timeout=20_000)


def test_a_rule_is_made_typed_saved_opened_and_removed_by_keys(mode: AnalyseMode, project: Path, qtbot: QtBot) -> None:
    own, findings = project.with_name("waits.rules.yaml"), mode.findings
    findings.rules.setFocus()
    QTest.keyClick(findings.rules, Qt.Key.Key_Insert)
    settle(mode, qtbot)
    editor = editor_of(mode)
    name = editor.form.row("name").editor
    assert isinstance(name, QLineEdit)
    assert name.selectedText() == "new rule"  # what is typed replaces it
    assert findings.focusProxy() is findings.subjects
    assert findings.head.title.text() == "new rule"
    assert findings.subjects is not None
    assert findings.subjects.isVisible()

    when = editor.form.row("when").editor
    assert isinstance(when, WordsArea)
    when.setFocus()
    when.selectAll()
    QTest.keyClicks(when, "visits > 3 and shar")
    assert [word.text for word in when.completion.words][:1] == ["share"]
    assert "Share of the run (share)" in when.completion.words[0].note
    QTest.keyClick(when.completion.list, Qt.Key.Key_Return)
    QTest.keyClicks(when, "s > 2")
    assert when.fault is not None
    assert (when.fault.message, when.fault.column) == ("there is no value 'shares'", 16)
    assert not editor.form.row("when").problem.isHidden()
    settle(mode, qtbot)
    assert findings.head.subtitle.text() == "before the last change"
    for _ in range(5):
        QTest.keyClick(when, Qt.Key.Key_Backspace)
    QTest.keyClicks(when, " > 0.01")
    assert when.fault is None
    settle(mode, qtbot)
    table = findings.subjects.table
    assert table is not None  # of what is typed, which the document has not got yet
    assert table.names == ("share", "visits")
    assert findings.head.subtitle.text().startswith(f"fires for {table.fired} of ")
    assert table.fired

    QTest.keyClick(when, Qt.Key.Key_Return)
    assert mode.save()
    assert yaml.safe_load(own.read_text())["rules"][0]["when"] == "visits > 3 and share > 0.01"
    assert project.read_text() == f"{PROJECT}rules: [waits.rules.yaml]\n"
    analysis = mode.context.analysis
    mode.context.when_current()  # the project's file has an entry more
    settle(mode, qtbot)
    assert mode.details.shows_rule
    qtbot.waitUntil(lambda: mode.context.analysis is not analysis, timeout=20_000)
    found = mode.context.analysis
    assert found is not None
    assert sum(finding.rule == "new rule" for finding in found.findings) == table.fired

    QTest.keyClick(when, Qt.Key.Key_Escape)
    assert findings.rules.isVisible()
    assert findings.rules.current[1].name == "new rule"
    assert findings.edit_rule.text() == "Edit"
    QTest.keyClick(findings.rules, Qt.Key.Key_F2)
    settle(mode, qtbot)
    assert mode.details.shows_rule
    assert editor.name == "new rule"

    saved = own.read_text()
    editor.remove()
    assert editor.name == ""
    assert mode.save()
    assert yaml.safe_load(own.read_text())["rules"] == []
    mode.history.undo()
    assert editor.name == "new rule"
    assert mode.save()
    assert own.read_text() == saved


def test_a_shipped_rule_is_copied_and_says_that_it_is_replaced(mode: AnalyseMode, project: Path, qtbot: QtBot) -> None:
    findings = mode.findings
    findings.rules.choose(lambda row: row[1].name == "acknowledge")
    QTest.keyClick(findings.rules, Qt.Key.Key_F2)
    settle(mode, qtbot)
    editor = editor_of(mode)
    assert editor.document.value(("rules", 0, "select", "reasons")) == ["ack"]
    assert "Replaces the workbench's rule" in editor.note.text()
    editor.document.set(("rules", 0, "name"), "my acknowledge")
    assert editor.note.text() == ""
    assert findings.subjects is not None
    shared = project.with_name("shared.yaml")
    shared.write_text(editor.document.text.replace("my acknowledge", "taken"))
    mode.rules.take(shared)
    assert [rule.name for rule in editor.document.rules] == ["my acknowledge", "taken"]
    assert mode.history.undo_label == "Take taken"
