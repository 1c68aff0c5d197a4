"""The form of a hardware port: every kind that a plugin brings, valid from its first moment, and each problem can be
fixed on the form."""

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox
from pytestqt.qtbot import QtBot

from workbench.api import PortKind
from workbench.gui.frame.context import Context
from workbench.gui.look import theme
from workbench.gui.modes import MODES
from workbench.gui.modes.platform.mode import PlatformMode
from workbench.gui.modes.platform.parts import sections_of
from workbench.gui.widgets import Button
from workbench.session.edit.platform_document import starter
from workbench.session.program.plugins import Plugins, load_plugins

PORT = ("hardware", "ports", 0)


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Plugins:
    """The built-in plugins, and the kind of port that the example plugin brings."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "plugins" / "example_plugin")
    monkeypatch.delitem(sys.modules, "rcw_example.strobe", raising=False)
    from rcw_example.strobe import StrobePort

    plugins = load_plugins()
    strobe = PortKind("example_strobe", "A word and a strobe", lambda: StrobePort)
    return replace(plugins, port_kinds={**plugins.port_kinds, strobe.name: strobe})


@pytest.fixture
def mode(qtbot: QtBot, qapp: QApplication, plugins: Plugins, tmp_path: Path) -> PlatformMode:
    theme.apply_theme(qapp, "light")
    mode = PlatformMode(Context(plugins), MODES["platform"])
    for _ in mode.build():
        pass
    qtbot.addWidget(mode)
    mode.resize(1536, 900)
    (tmp_path / "card.yaml").write_text(starter("card"), "utf-8")
    mode.open_document(tmp_path / "card.yaml")
    mode.show()
    qtbot.waitExposed(mode)
    add(mode, "memory")
    return mode


def add(mode: PlatformMode, kind: str) -> None:
    """As a person does who clicks the plus, and the kind in the menu."""
    mode.parts.add_wanted.emit("hardware port")
    take_kind(mode, kind)


def take_kind(mode: PlatformMode, kind: str) -> None:
    titles = [action.text() for action in mode.kinds_menu.actions()]
    mode.kinds_menu.actions()[titles.index(mode.document.port_kinds[kind].title)].trigger()
    mode.kinds_menu.close()


def test_every_kind_can_be_added_and_is_valid_at_once(mode: PlatformMode, plugins: Plugins) -> None:
    assert mode.document.remove(PORT, "Remove it")
    before = mode.document.text
    for kind in plugins.port_kinds:
        mode.document.replace("Begin again", before)
        add(mode, kind)
        assert mode.document.problems == (), kind
        assert mode.document.platform is not None
        assert mode.document.platform.hardware is not None
        assert mode.document.platform.hardware.ports[0].kind == kind


def choose_kind(mode: PlatformMode, kind: str) -> None:
    """As a person does who opens the list and clicks."""
    combo = mode.form.row("kind").editor
    assert isinstance(combo, QComboBox)
    combo.setCurrentText(kind)
    combo.activated.emit(combo.currentIndex())


def test_every_kind_can_be_chosen_and_is_valid_with_all_its_fields_on_the_form(
    mode: PlatformMode, plugins: Plugins
) -> None:
    combo = mode.form.row("kind").editor
    assert isinstance(combo, QComboBox)
    assert {combo.itemText(n) for n in range(combo.count())} == plugins.port_kinds.keys()
    for kind in (*plugins.port_kinds, "memory"):
        choose_kind(mode, kind)
        assert mode.document.problems == (), kind
        assert mode.document.platform is not None
        assert mode.document.platform.hardware is not None
        schema = plugins.port_kinds[kind].port()
        assert type(mode.document.platform.hardware.ports[0]) is schema
        rows = {str(row.field.path[0]) for row in mode.form.rows}
        assert rows == schema.model_fields.keys(), kind
        assert mode.form.row("kind").note.text() == plugins.port_kinds[kind].title


def test_another_kind_keeps_what_it_knows_and_one_undo_brings_the_old_one_back(mode: PlatformMode) -> None:
    mode.document.set((*PORT, "name"), "pcie")
    mode.document.set((*PORT, "word_bits"), 64)
    mode.document.set((*PORT, "address_bits"), 20)
    before = mode.document.text
    choose_kind(mode, "axi")
    assert mode.document.value(PORT) == {"name": "pcie", "kind": "axi", "word_bits": 64, "address_bits": 20}
    mode.history.undo()
    assert mode.document.text == before
    choose_kind(mode, "axi_master")  # it asks a memory, which comes with it
    memory = mode.document.value(("hardware", "ports", 1))
    assert (memory["name"], memory["kind"]) == (mode.document.value((*PORT, "memory")), "memory_bank")
    mode.history.undo()
    assert mode.document.text == before


def test_no_two_fields_of_a_form_are_called_alike(mode: PlatformMode, plugins: Plugins) -> None:
    for kind in plugins.port_kinds:
        choose_kind(mode, kind)
        for part in (part for section in sections_of(mode.document) for part in section.parts):
            for group in part.groups:
                labels = sorted(field.label for field in group.fields if field.label)
                assert all(one != other for one, other in pairwise(labels)), (part.title, labels)


def test_a_key_that_no_field_holds_is_said_on_the_form_and_removed_there(mode: PlatformMode, qtbot: QtBot) -> None:
    text = mode.document.text
    mode.document.replace("type", text.replace("kind: memory\n", "kind: memory\n      speed: 3\n"))
    mode.choose(("hardware", "clocks", 0))
    assert not mode.save_button.isEnabled()
    qtbot.mouseClick(mode.problem_button, Qt.MouseButton.LeftButton)
    assert mode.chosen == PORT
    remove = next(button for button in mode.form.findChildren(Button) if button.text() == "Remove speed")
    qtbot.mouseClick(remove, Qt.MouseButton.LeftButton)
    assert mode.document.text == text
    assert not mode.problem_button.isVisible()
    assert mode.save_button.isEnabled()


def test_the_last_port_removed_leaves_its_section_in_view_which_says_what_is_missing(
    mode: PlatformMode, qtbot: QtBot
) -> None:
    mode.parts.add_wanted.emit("host call")
    mode.choose(PORT)
    qtbot.mouseClick(mode.remove, Qt.MouseButton.LeftButton)
    assert mode.no_parts.isVisible()
    assert mode.no_parts.title.text() == "No hardware port yet"
    assert "Add at least one." in mode.no_parts.why.text()
    mode.choose(("host", "entries", 0))
    assert mode.problem_button.text() == "1 problem"
    qtbot.mouseClick(mode.problem_button, Qt.MouseButton.LeftButton)
    assert mode.no_parts.isVisible()
    qtbot.mouseClick(mode.no_parts.button, Qt.MouseButton.LeftButton)
    take_kind(mode, "memory")
    assert mode.chosen == PORT
    assert mode.document.problems == ()


def test_a_fixed_problem_leaves_the_notices(mode: PlatformMode) -> None:
    mode.document.set((*PORT, "word_bits"), 33)
    mode.save()
    assert [notice.message for notice in mode.context.notices] == ["33 bits are not whole bytes"]
    mode.document.set((*PORT, "word_bits"), 32)
    assert list(mode.context.notices) == []
