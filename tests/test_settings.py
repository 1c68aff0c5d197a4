"""What a person may set: by command and by the window's Settings alike, remembered, and refused where it cannot be."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from answers import document_of
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QComboBox, QKeySequenceEdit, QLineEdit, QPushButton, QSpinBox, QTreeWidgetItemIterator
from pytestqt.qtbot import QtBot
from settings_shown import shown_settings

from workbench.cli.main import main
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.frame.settings_dialog import SettingsDialog
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.open.opening import open_workspace
from workbench.session.open.trust import trust, trust_state, trusted
from workbench.session.program.keys import COMMANDS, VIEW_COMMANDS, command_of, written
from workbench.session.program.plugins import load_plugins
from workbench.session.program.settings import GROUPS, settings, value
from workbench.system.cache import cache_dir
from workbench.system.toolchain import find_compiler, find_verilator

TINY = Path(__file__).parent / "data" / "tiny"


def program(path: Path, says: str) -> Path:
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("typed", "key"),
    [("ctrl+shift+s", "Ctrl+Shift+S"), ("Shift+Ctrl+s", "Ctrl+Shift+S"), ("f5", "F5"), ("Shift+F5", "Shift+F5"),
     ("Ctrl++", "Ctrl++"), ("Ctrl+,", "Ctrl+,"), ("alt+left", "Alt+Left"), ("Meta+Alt+X", "Meta+Alt+X")],
)  # fmt: skip
def test_keys_are_written_one_way_as_qt_reads_them(typed: str, key: str) -> None:
    assert written(typed) == key
    assert QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText) == key


@pytest.mark.parametrize(
    "typed", ["s", "Shift+S", "Ctrl+", "", "Hyper+S", "Ctrl+Shift", "Ctrl+C", "Return", "F", "F99"]
)
def test_what_is_no_key_or_types_text_is_refused(typed: str) -> None:
    with pytest.raises(WorkbenchError):
        written(typed)


def test_no_two_commands_come_with_one_key_and_each_is_written_as_it_would_be() -> None:
    keys = {
        command_of(s.name): s.default
        for s in settings(load_plugins().modes.values()).values()
        if s.kind == "key" and s.default
    }
    assert len({*keys.values()}) == len(keys) > 38
    assert {command: written(key, command) for command, key in keys.items()} == keys


def test_commands_list_set_and_reset(own_preferences: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def ask(*arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = document_of(capsys, ["settings", *arguments, "--json"])
        return found

    listed = ask("list")
    names = {s["name"]: s for s in listed["settings"]}
    assert {"theme", "code_px", "trace", "program.g++", "folder.cache", "key.run", "key.mode_source"} <= names.keys()
    assert {s["group"] for s in names.values()} == {*GROUPS}
    assert "g++" in {p["name"] for p in listed["programs"]}
    themes = ["light", "dark", "light-contrast", "dark-contrast", "system"]
    assert (names["theme"]["value"], names["theme"]["choices"]) == ("light", themes)
    assert ask("set", "theme", "dark")["value"] == "dark"
    assert ask("set", "key.run", "ctrl+r")["value"] == "Ctrl+R"
    assert ask("set", "key.open_line", "F5")["value"] == "F5"  # which is free now
    assert ask("set", "key.view_in", "u")["value"] == "U"  # in a picture a letter types nothing
    assert json.loads((own_preferences / "window.json").read_text())["key.run"] == "Ctrl+R"
    assert main(["settings", "list"]) == 0
    assert "key.run" in capsys.readouterr().out
    assert ask("reset", "theme")["value"] == "light"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("theme", "purple", "there is no value 'purple'"),
        ("them", "dark", "Did you mean 'theme'?"),
        ("code_px", "99", "'99' is not from 8 to 40"),
        ("program.g++", "/nowhere", "not an executable program"),
        ("folder.cache", "relative", "this is not a folder"),
        ("key.run", "F8", "F8 is the key of 'Next finding'"),
        ("key.view_in", "S", "S is the key of 'Picture: zoom out'"),
        ("key.run", "Ctrl+C", "Ctrl+C already means copy everywhere"),
    ],
)
def test_what_cannot_be_set_is_told_and_not_remembered(
    own_preferences: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, told: str
) -> None:
    before = (own_preferences / "window.json").read_text()
    assert main(["settings", "set", name, text]) == 2
    assert told in capsys.readouterr().err
    assert (own_preferences / "window.json").read_text() == before


def test_what_is_remembered_and_no_longer_valid_counts_as_not_set(own_preferences: Path) -> None:
    own_preferences.joinpath("window.json").write_text(
        '{"code_px": "huge", "key.run": "?", "trace": 5, "scale_pct": 7}'
    )
    assert (value("code_px"), value("trace"), value("scale_pct")) == ("13", "yes", "100")
    assert settings(())["key.run"].value == COMMANDS["run"][1]


def test_a_program_that_is_chosen_is_used_and_one_that_is_gone_is_told(
    own_preferences: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    chosen = program(tmp_path / "my-gcc", "my gcc 1.0")
    assert main(["settings", "set", "program.gcc", str(chosen)]) == 0
    found = find_compiler("c")
    assert not isinstance(found, Diagnostic)
    assert (found.path, found.version) == (chosen, "my gcc 1.0")
    monkeypatch.setenv("CC", "gcc")
    assert getattr(find_compiler("c"), "path", chosen) != chosen  # a variable is nearer than a setting
    monkeypatch.delenv("CC")
    chosen.unlink()
    told = find_compiler("c")
    assert isinstance(told, Diagnostic)
    assert told.file == str(chosen)
    assert "workbench settings reset program.gcc" in told.hint
    assert main(["settings", "set", "program.verilator", str(program(tmp_path / "verilator", "Verilator 3.9"))]) == 0
    old = find_verilator()
    assert isinstance(old, Diagnostic)
    assert "does not work" in old.message


def test_what_is_built_is_kept_in_the_folder_chosen(
    own_preferences: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RCW_CACHE", raising=False)
    assert main(["settings", "set", "folder.cache", str(tmp_path)]) == 0
    assert cache_dir() == tmp_path


def groups_of(dialog: SettingsDialog) -> list[str]:
    """The groups that the list at the left shows."""
    shown, items = [], QTreeWidgetItemIterator(dialog.groups, QTreeWidgetItemIterator.IteratorFlag.NotHidden)
    while (item := items.value()) is not None:
        shown.append(" > ".join(part.text(0) for part in (item.parent(), item) if part is not None))
        items += 1
    return shown


def test_a_project_that_is_trusted_can_be_asked_for_again(
    own_preferences: Path, tmp_path: Path, qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    project = shutil.copytree(TINY, tmp_path / "tiny") / "tiny.workbench.yaml"
    workspace = open_workspace(project, load_plugins())

    def listed() -> list[dict[str, object]]:
        capsys.readouterr()
        found: list[dict[str, object]] = document_of(capsys, ["settings", "list", "--json"])["trusted"]
        return found

    trust(workspace)
    assert listed() == [{"project": str(project), "own": False}]
    assert main(["settings", "withdraw", str(project)]) == 0
    assert listed() == []
    assert not trust_state(workspace).trusted
    assert main(["settings", "withdraw", str(project)]) == 2
    assert "this project is not trusted" in capsys.readouterr().err

    window = MainWindow(load_plugins())
    qtbot.addWidget(window)
    window.show()
    trust(workspace, own=True)
    window.context.set_workspace(workspace)
    qtbot.waitUntil(lambda: not window.busy, timeout=20_000)
    assert window.context.trusted
    dialog = shown_settings(window, "trusted")
    again = next(b for b in dialog.findChildren(QPushButton) if b.text() == "Ask again")
    assert again.isVisible()
    assert groups_of(dialog) == ["Trusted projects"]
    again.click()
    assert not trusted()
    qtbot.waitUntil(lambda: not window.context.trusted, timeout=20_000)
    window.close()


def test_the_window_s_settings_are_found_by_a_word_and_in_force_at_once(
    own_preferences: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    window = MainWindow(load_plugins())
    qtbot.addWidget(window)
    window.show()
    dialog = shown_settings(window)
    rows = dialog.rows
    commands = {name.removeprefix("key.") for name in rows if name.startswith("key.")}
    assert commands <= window.actions_of.all.keys() | VIEW_COMMANDS.keys()
    assert {name for name, action in window.actions_of.all.items() if not action.shortcut().isEmpty()} <= commands
    dialog.search.setText("size sources")
    assert [name for name, row in rows.items() if row.isVisible()] == ["code_px"]
    size = rows["code_px"].field
    assert isinstance(size, QSpinBox)
    size.setValue(16)
    assert value("code_px") == "16"
    rows["code_px"].reset_button.click()
    assert (value("code_px"), size.value()) == ("13", 13)
    dialog.search.setText("nothing has this")
    assert not any(row.isVisible() for row in rows.values())

    dialog.search.clear()
    first, last = (dialog.groups.topLevelItem(number) for number in (0, groups_of(dialog).index("Keys")))
    qtbot.waitUntil(lambda: dialog.groups.currentItem() is first)
    assert last is not None
    dialog.groups.setCurrentItem(last.child(2))
    qtbot.waitUntil(lambda: dialog.area.verticalScrollBar().value() > 0)
    assert dialog.groups.currentItem() is last.child(2)
    dialog.area.verticalScrollBar().setValue(0)
    assert dialog.groups.currentItem() is first
    fields = {row.field.mapTo(dialog, QPoint(0, 0)).x() for row in rows.values() if row.isVisible()}
    assert len(fields) == 1  # all begin at one line

    window.floating.show_settings("keys")
    window.slices.finish()
    menus = ("File", "Edit", "View", "Go", "Run", "Help")
    assert groups_of(dialog) == ["Keys", *(f"Keys > {one}" for one in (*menus, "Mode", "Picture", "Fixed"))]
    dialog.search.setText("timeline marker")
    assert groups_of(dialog) == ["Keys", "Keys > Picture"]
    dialog.search.setText("keys")
    keys = rows["key.run"].field
    assert isinstance(keys, QKeySequenceEdit)
    assert rows["key.run"].isVisible()
    assert not rows["theme"].isVisible()
    qtbot.keyClick(keys, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    run = window.actions_of.all["run"]
    assert run.shortcut().toString() == "Ctrl+R"
    assert window.header.run_button.button.toolTip().endswith("(Ctrl+R)")
    qtbot.keyClick(keys, Qt.Key.Key_F8)
    assert "F8 is the key of 'Next finding'" in rows["key.run"].problem.text()
    assert run.shortcut().toString() == "Ctrl+R"
    dialog.search.setText("theme")
    assert not rows["key.run"].isVisible()
    assert dialog.go_to_wrong.isVisible(), "it is said above, wherever the row is"
    dialog.go_to_wrong.click()
    qtbot.waitUntil(lambda: not rows["key.run"].visibleRegion().isEmpty())
    assert rows["key.run"].isVisible()
    rows["key.run"].take.click()
    assert not dialog.go_to_wrong.isVisible()
    assert run.shortcut().toString() == "F8"
    assert window.actions_of.all["next_finding"].shortcut().isEmpty()
    qtbot.keyClick(keys, Qt.Key.Key_Backspace)
    assert run.shortcut().isEmpty()

    trace = rows["trace"].field
    assert isinstance(trace, QComboBox)
    trace.setCurrentIndex(1)
    assert not window.floating.run_options.trace.isChecked()
    compiler = rows["program.gcc"].field.focusProxy()
    assert isinstance(compiler, QLineEdit)
    qtbot.waitUntil(lambda: "/" in compiler.placeholderText(), timeout=20_000)
    assert rows["program.gcc"].what.text().startswith("builds C hosts; gcc ")
    assert not window.floating.run_options.trace.isChecked()
    window.close()
