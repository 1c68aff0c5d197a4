"""Edits in the real window, with real keys: they survive every way of leaving, a run and kill -9, and undo takes back
each of them."""

from importlib.resources import files
from pathlib import Path

import pytest
from driven.conftest import Open
from driven.driver import Driven

DIALOG = "app.activeModalWidget()"
EDITOR = "window.modes.views['source'].editor"
PLATFORM = "window.modes.views['platform']"
PREDICT = "window.modes.views['predict']"


@pytest.fixture
def own(project: Path) -> Path:
    """The project with a platform and a model of its own, so that all three editors have something to edit."""
    root = project.parent
    (root / "card.yaml").write_bytes(files("workbench.platform_templates").joinpath("nallatech_h101.yaml").read_bytes())
    project.write_text(project.read_text().replace("platform: nallatech_h101", "platform: card.yaml"))
    (root / "mine.density.yaml").write_bytes(
        files("rc_workbench_plugins.density").joinpath("models", "matrix_multiply.density.yaml").read_bytes()
    )
    return project


def go_to(driven: Driven, mode: str, key: str) -> None:
    driven.key(key)
    driven.wait(f"window.context.navigation.mode == {mode!r}")
    driven.settle()


def type_in_source(driven: Driven, text: str) -> None:
    go_to(driven, "source", "ctrl+1")
    driven.wait("'CodeEditor' in focus()")
    driven.key("ctrl+Home")
    driven.type(text)
    driven.wait(f"{EDITOR}.toPlainText().startswith({text!r})")


def type_in_form(driven: Driven, mode: str, key: str, widget: str, text: str) -> None:
    """Type into the title, as a click and keys do; it is left in the field."""
    go_to(driven, mode, key)
    if mode == "predict":
        driven.do(f"{widget}.show_page('Model')")
    driven.do(f"{widget}.choose(())")
    driven.do(f"field = {widget}.form.row('title').editor")
    driven.click("field")
    driven.wait("field.hasFocus()")
    driven.key("ctrl+a")
    driven.type(text)
    driven.wait(f"field.text() == {text!r}")


def answer(driven: Driven, key: str) -> None:
    driven.wait(f"{DIALOG} and {DIALOG}.isActiveWindow()", "the question")
    driven.key(key)
    driven.wait(f"not {DIALOG}", "the answer taken")


def test_ctrl_s_and_ctrl_z_in_every_editor(open_window: Open, own: Path) -> None:
    driven = open_window(own)
    root = own.parent
    before = (root / "host" / "main.c").read_text()
    type_in_source(driven, "// mine ")
    driven.key("ctrl+s")
    driven.wait(f"not {EDITOR}.file.dirty")
    assert (root / "host" / "main.c").read_text() == f"// mine {before}"
    for _ in range(3):  # key by key, beyond the saving
        driven.key("ctrl+z")
    driven.wait(f"{EDITOR}.file.dirty")
    for mode, key, widget, name in (
        ("platform", "ctrl+5", PLATFORM, "card.yaml"),
        ("predict", "ctrl+6", PREDICT, "mine.density.yaml"),
    ):
        text = (root / name).read_text()
        type_in_form(driven, mode, key, widget, "Mine")
        driven.key("ctrl+s")  # what stands in the field counts
        driven.wait(f"not {widget}.document.dirty and {widget}.document.value(('title',)) == 'Mine'")
        driven.settle()
        assert "title: Mine\n" in (root / name).read_text()
        driven.key("ctrl+z")
        driven.wait(f"{widget}.document.dirty and {widget}.document.value(('title',)) != 'Mine'")
        driven.key("ctrl+s")
        driven.wait(f"not {widget}.document.dirty")
        driven.settle()
        assert (root / name).read_text() == text
    driven.do(f"while {EDITOR}.can_undo: {EDITOR}.undo()")
    assert driven.ask(f"{EDITOR}.toPlainText()") == before


def test_the_editor_indents_finds_goes_to_lines_and_definitions_cuts_and_pastes(open_window: Open, own: Path) -> None:
    driven = open_window(own)
    type_in_source(driven, " ")
    driven.key("Return", "Up", "End", "BackSpace")
    driven.type("static int twice(int by) {")
    driven.key("Return")
    driven.type("if (by) {")
    driven.key("Return")
    driven.type("by = 2;")
    driven.key("Return")
    driven.type("}")
    driven.key("Return")
    driven.type("return by;")
    driven.key("Return")
    driven.type("}")
    begun = "static int twice(int by) {\n    if (by) {\n        by = 2;\n    }\n    return by;\n}\n"
    driven.wait(f"{EDITOR}.toPlainText().startswith({begun!r})")

    driven.key("ctrl+f")
    driven.wait("'QLineEdit' in focus()[0]")
    driven.type("by")
    said = "window.modes.views['source'].find_bar.said.text()"
    driven.wait(f"{said} == '1 of 4'")
    driven.wait(f"len({EDITOR}.extraSelections()) == 5", "every place marked, and the line")
    driven.key("Return", "Return")
    driven.wait(f"{said} == '3 of 4'")
    driven.key("shift+Return")
    driven.wait(f"{said} == '2 of 4'")
    driven.key("Escape")
    driven.wait(f"len({EDITOR}.extraSelections()) == 1 and 'CodeEditor' in focus()")

    driven.key("ctrl+l")
    driven.wait(f"{DIALOG} and {DIALOG}.isActiveWindow()", "the question")
    driven.type("3")
    driven.key("Return")
    driven.wait(f"{EDITOR}.line == 3")
    driven.key("Home", "shift+End", "ctrl+x")
    driven.wait(f"'by = 2' not in {EDITOR}.toPlainText()")
    driven.key("ctrl+v")
    driven.wait(f"{EDITOR}.toPlainText().startswith({begun!r})")

    driven.do(f"at = {EDITOR}.line_rect(5)")
    driven.click(f"{EDITOR}.viewport()", driven.ask("at.right() - 12"), driven.ask("at.center().y()"), button=3)
    driven.wait("app.activePopupWidget()", "the menu")
    entries = driven.ask("[action.text().partition(chr(9))[0] for action in app.activePopupWidget().actions()]")
    assert {"&Copy", "Cu&t", "&Paste", "Go to its definition"} <= {*entries}
    driven.key("Escape")
    driven.wait("not app.activePopupWidget()")
    driven.click(f"{EDITOR}.viewport()", driven.ask("at.right() - 12"), driven.ask("at.center().y()"))
    driven.key("F12")
    driven.wait(f"{EDITOR}.line == 1")
    assert driven.ask(f"{EDITOR}.textCursor().block().text()[{EDITOR}.textCursor().positionInBlock():]") == "by) {"

    driven.key("ctrl+comma")
    driven.wait("window.floating.settings and window.floating.settings.isActiveWindow()", "the settings")
    driven.type("sources again")
    driven.wait("[n for n, row in window.floating.settings.rows.items() if row.isVisible()] == ['key.rescan']")
    driven.key("Tab")
    driven.do("row = window.floating.settings.rows['key.rescan']")
    driven.click("row.field")
    driven.key("F9")
    driven.wait("window.actions_of.all['rescan'].shortcut().toString() == 'F9'")
    driven.click("window.floating.settings.search")
    driven.key("Escape")
    driven.wait("not window.floating.settings.isVisible() and window.isActiveWindow()")


def test_a_pragma_by_right_click_is_one_more_step_and_nothing_is_saved(open_window: Open, own: Path) -> None:
    driven = open_window(own)
    main = own.parent / "host" / "main.c"
    before = main.read_text()
    type_in_source(driven, "// mine ")
    line = next(n for n, text in enumerate(before.splitlines(), 1) if "fpgaOpen" in text)
    driven.do(f"at = {EDITOR}.line_rect({line})")
    driven.click(f"{EDITOR}.viewport()", 60, driven.ask("at.center().y()"), button=3)
    driven.wait("popovers()")
    assert main.read_text() == before
    driven.key("2")
    driven.wait("window.modes.views['source'].popover.category.value == 'overhead'")
    driven.click("window.modes.views['source'].popover.insert")
    driven.wait(f"'recap' in {EDITOR}.toPlainText().splitlines()[{line - 1}]")
    assert main.read_text() == before
    driven.wait("'CodeEditor' in focus()")
    driven.key("ctrl+z")
    driven.wait(f"{EDITOR}.toPlainText() == {'// mine ' + before!r}", "the pragma taken back, the typing kept")
    driven.key("ctrl+shift+z", "ctrl+s")
    driven.wait(f"not {EDITOR}.file.dirty")
    assert "recap" in main.read_text().splitlines()[line - 1]


@pytest.mark.parametrize("keys", ["ctrl+q", "alt+F4", "ctrl+shift+w"])
def test_every_way_out_asks_and_keeps(keys: str, open_window: Open, own: Path) -> None:
    driven = open_window(own)
    root = own.parent
    type_in_source(driven, "// mine ")
    type_in_form(driven, "platform", "ctrl+5", PLATFORM, "My card")
    type_in_form(driven, "predict", "ctrl+6", PREDICT, "My model")
    driven.key(keys)
    answer(driven, "Escape")
    assert driven.ask("window.isVisible() and window.context.workspace is not None")
    assert driven.ask("sorted(d.kind for d in window.context.documents.unsaved)") == ["platform", "predict", "source"]
    assert driven.ask("window.windowTitle()").startswith("\u2022")
    driven.wait("window.isActiveWindow()")
    driven.key(keys)
    driven.wait(f"{DIALOG} and {DIALOG}.isActiveWindow()", "the question")
    driven.key("Return")
    if keys == "ctrl+shift+w":
        driven.wait("window.context.workspace is None")
    else:
        driven.wait_for(lambda: not driven.alive, "the window's end")
    assert (root / "host" / "main.c").read_text().startswith("// mine ")
    assert "title: My card\n" in (root / "card.yaml").read_text()
    assert "title: My model\n" in (root / "mine.density.yaml").read_text()


def test_ctrl_w_closes_the_file_and_asks(open_window: Open, own: Path) -> None:
    driven = open_window(own)
    type_in_source(driven, "// mine ")
    driven.key("ctrl+w")
    answer(driven, "Escape")
    assert driven.ask(f"{EDITOR}.file.dirty")
    driven.wait("window.isActiveWindow()")
    driven.key("ctrl+w")
    answer(driven, "Return")
    driven.wait(f"{EDITOR} is None")
    assert driven.ask("window.context.workspace is not None")
    assert (own.parent / "host" / "main.c").read_text().startswith("// mine ")


def test_f5_offers_to_save(open_window: Open, own: Path) -> None:
    driven = open_window(own)
    driven.do("window.run_control.run_function = lambda workspace, options, job: seen.append(workspace)")
    driven.do("from workbench.session.open.trust import trust; trust(window.context.workspace, own=True); seen = []")
    type_in_source(driven, "// mine ")
    driven.key("F5")
    answer(driven, "Escape")
    assert driven.ask("len(seen)") == 0
    driven.wait("window.isActiveWindow()")
    driven.key("F5")
    answer(driven, "Return")
    driven.wait("len(seen) == 1 and not window.runner.running")
    assert (own.parent / "host" / "main.c").read_text().startswith("// mine ")


def test_after_kill_9_everything_typed_is_offered(open_window: Open, own: Path, tmp_path: Path) -> None:
    kept = tmp_path / "preferences"
    driven = open_window(own, preferences=kept)
    names = ("host/main.c", "card.yaml", "mine.density.yaml")
    before = {name: (own.parent / name).read_bytes() for name in names}
    type_in_source(driven, "// mine ")
    for mode, key, widget in (("platform", "ctrl+5", PLATFORM), ("predict", "ctrl+6", PREDICT)):
        type_in_form(driven, mode, key, widget, "Mine")
        driven.key("Return")
        driven.wait(f"{widget}.document.dirty")
    driven.wait_for(lambda: len(list(kept.rglob("unsaved/*.json"))) == 3, "three texts kept")
    driven.wait("not window.context.documents._keep_soon.isActive()")
    driven.kill()
    assert {name: (own.parent / name).read_bytes() for name in names} == before
    driven = open_window(preferences=kept)
    driven.do(f"from pathlib import Path; window.open(Path({str(own)!r}))")
    answer(driven, "Return")
    driven.wait("len(window.context.documents.unsaved) == 3")
    driven.settle()
    assert driven.ask(f"{EDITOR}.toPlainText()").startswith("// mine ")
    assert driven.ask(f"{PLATFORM}.document.value(('title',))") == "Mine"
    assert driven.ask(f"{PREDICT}.document.value(('title',))") == "Mine"
    assert {name: (own.parent / name).read_bytes() for name in names} == before
    driven.key("ctrl+q")
    driven.wait(f"{DIALOG} and {DIALOG}.isActiveWindow()", "the question")
    driven.click(f"{DIALOG}.buttons['Discard']")
    driven.wait_for(lambda: not driven.alive, "the window's end")
    assert {name: (own.parent / name).read_bytes() for name in names} == before
    assert list(kept.rglob("unsaved/*.json")) == []


def test_kinds_of_a_port_are_chosen_by_keys_one_after_the_other(open_window: Open, own: Path) -> None:
    driven = open_window(own)
    go_to(driven, "platform", "ctrl+5")
    driven.do(f"{PLATFORM}.parts.add_wanted.emit('hardware port')")
    driven.key("Down", "Return")  # the first kind of the menu
    kind = f"{PLATFORM}.document.value((*{PLATFORM}.chosen, 'kind'))"
    kinds = driven.ask(f"list({PLATFORM}.document.port_kinds)")
    driven.wait(f"{kind} == {kinds[0]!r}", "the port")
    driven.settle()
    driven.do(f"{PLATFORM}.form.row('kind').editor.setFocus()")
    for name in kinds[1:]:  # the keyboard stays in the field, whose form is another one each time
        driven.key("Down")
        driven.wait(f"{kind} == {name!r}")
        driven.settle()
        assert driven.ask(f"{PLATFORM}.document.problems") == []
    assert driven.ask("app.focusWidget().accessibleName()") == "Kind"
    driven.key(*["ctrl+z"] * (len(kinds) - 1))
    driven.wait(f"{kind} == {kinds[0]!r}")


def test_what_another_program_writes_is_shown_at_once_and_takes_nothing_that_was_typed(
    open_window: Open, own: Path
) -> None:
    driven = open_window(own)
    card, main = own.parent / "card.yaml", own.parent / "host" / "main.c"
    go_to(driven, "platform", "ctrl+5")
    driven.wait(f"{PLATFORM}.document.path is not None")
    card.write_text(card.read_text().replace("title: Nallatech H101-PCIXM", "title: Another card"))
    driven.wait(f"'Another card' in {PLATFORM}.document.text")
    driven.wait("window.context.workspace.platform.title == 'Another card'", "the project with the new template")
    go_to(driven, "source", "ctrl+1")
    replaced = main.with_name("other")  # as an editor saves: another file in its place
    replaced.write_text("// other\n" + main.read_text())
    replaced.rename(main)
    driven.wait(f"{EDITOR}.text.startswith('// other')")
    main.write_text("// third\n" + main.read_text())
    driven.wait(f"{EDITOR}.text.startswith('// third')")
    driven.settle()
    type_in_source(driven, "// mine ")
    main.write_text("// fourth\n")
    driven.wait("any('another program changed' in notice.message for notice in window.context.notices)")
    assert driven.ask(f"{EDITOR}.text").startswith("// mine // third")


def test_files_that_go_and_come_back_are_followed_again(open_window: Open, own: Path) -> None:
    driven = open_window(own)
    main, title = own.parent / "host" / "main.c", "window.context.workspace.project.title"
    notices = "[n.message for n in window.context.notices]"
    before = driven.ask(notices)
    text, gone = main.read_text(), [*before, "this file was deleted or moved"]
    driven.do(f"window.context.navigation.open_line({str(main)!r}, 1)")
    driven.settle()
    main.unlink()
    driven.wait(f"{notices} == {gone}")
    assert driven.ask(f"{EDITOR}.text") == text, "what was open is kept"
    main.write_text(f"// again\n{text}")
    driven.wait(f"{EDITOR}.text.startswith('// again')")
    driven.wait(f"{notices} == {before}")

    problems = "[d.message for d in window.context.source_problems]"
    top = own.parent / "hdl" / "tiny_top.v"  # a source that is in no editor
    kept = top.rename(own.parent / "kept")
    main.write_text(f"// once more\n{text}")
    driven.wait(f"\"cannot read the source file 'hdl/tiny_top.v'\" in {problems}")
    kept.rename(top)
    driven.wait(f"window.context.scan and not {problems}", "no problem left")

    own.parent.rename(own.parent.with_name("renamed"))
    driven.wait(f"{notices} == {[*gone, 'cannot read this project file: No such file or directory']}")
    own.parent.with_name("renamed").rename(own.parent)
    driven.wait(f"{notices} == {before}")

    driven.settle()
    type_in_source(driven, "// mine ")
    driven.wait(f"'// mine ' in {EDITOR}.text")
    own.parent.rename(own.parent.with_name("renamed"))
    driven.key("ctrl+s")
    driven.wait(f'"not saved: the file\'s folder was deleted or moved" in {notices}')
    assert not own.parent.exists(), "nothing makes the old folder again"
    assert "// mine " in driven.ask(f"{EDITOR}.text")
    own.parent.with_name("renamed").rename(own.parent)
    driven.wait(f"'this file was deleted or moved' not in {notices}")
    driven.key("ctrl+s")
    driven.wait(f"{notices} == {before}")
    assert "// mine " in main.read_text()

    main.write_text(text)
    driven.wait(f"{EDITOR}.text == {text!r}")
    own.write_text(own.read_text().replace("title: ", "title: Again, "))
    driven.wait(f"{title}.startswith('Again, ')")


def test_an_example_is_copied_to_a_folder_that_is_typed_and_not_there_yet(open_window: Open, tmp_path: Path) -> None:
    driven = open_window()
    driven.do("QTimer.singleShot(0, window.actions_of.all['example_0'].trigger)")
    driven.wait(f"{DIALOG} and {DIALOG}.isActiveWindow()", "the dialog")
    driven.key("ctrl+a")
    driven.type(str(tmp_path / "new" / "folder"))
    driven.key("Return")
    driven.wait("window.context.workspace is not None")
    assert Path(driven.ask("str(window.context.workspace.path)")).is_relative_to(tmp_path / "new" / "folder")
    driven.settle()
