"""Keys in the real window: the focus is where a person expects it, every key in the menus acts, Escape closes."""

from collections.abc import Iterator

import pytest
from driven.conftest import copy_of_tiny, saved_runs
from driven.driver import Driven, Stage
from driven.walk import dead_keys, go_to

from workbench.gui.modes import MODES

#: Where typing goes after a mode's key was pressed.
FOCUS = {
    "source": "CodeEditor",
    "analyse": "FindingTable",
    "timeline": "TimelineView",
    "compare": "ChangeTable",
    "platform": "PartRows",
    "predict": "PartRows",
    "streams": "QueryEditor",
    "project": "PartRows",
}


@pytest.fixture(scope="module")
def opened(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driven]:
    """One window for all of these tests: it takes longer to start, and to make its modes, than they do."""
    folder = tmp_path_factory.mktemp("keys")
    with stage.window(copy_of_tiny(folder), *saved_runs(folder)) as driven:
        yield driven


@pytest.fixture
def driven(opened: Driven) -> Iterator[Driven]:
    """The window. At the end of each test nothing must have gone wrong in it."""
    yield opened
    opened.ask("window.isVisible()")  # the answer carries what went wrong
    faults = list(opened.faults)
    opened.faults.clear()
    assert faults == []


def test_the_focus_follows_the_mode_and_is_never_nowhere(driven: Driven) -> None:
    for mode in (*MODES, *reversed(MODES)):
        go_to(driven, mode)
        driven.wait(f"{FOCUS[mode]!r} in focus()", f"the focus in {mode}")
    go_to(driven, "timeline")
    driven.key("ctrl+k")
    driven.wait("focus_in(window.search)")
    driven.key("Escape")
    driven.wait("focus_in(window.modes.current())")
    # F6 goes round the panels of a mode that has several
    go_to(driven, "streams")
    for number in (3, 4, 0, 1, 2):  # from the query to its answers and their pictures, and round again
        driven.key("F6")
        driven.wait(f"focus_in(window.modes.current().panels[{number}])")
    # Tab goes on to what can be asked beside each of the run's answers
    driven.do("window.modes.current().shown.area.setFocus()")
    driven.key("Tab")
    driven.wait("'Button' in focus() and focus_in(window.modes.current().panels[1])")


def test_alt_letters_and_f10_open_the_menus(driven: Driven) -> None:
    for keys, title in (
        ("alt+f", "File"), ("alt+e", "Edit"), ("alt+v", "View"), ("alt+g", "Go"), ("alt+r", "Run"), ("alt+h", "Help"),
        ("F10", "File"),
    ):  # fmt: skip
        driven.key(keys)
        driven.wait(f"open_menu() == {title!r}", f"the menu {title} by {keys}")
        driven.key("Escape")
        driven.wait("open_menu() == ''")


@pytest.mark.parametrize("button", ["window.header.run_button.how", "window.rail.notices"])
def test_what_floats_closes_on_escape_and_with_its_mode(button: str, driven: Driven) -> None:
    go_to(driven, "analyse")
    go_to(driven, "source")
    driven.wait("'CodeEditor' in focus()")
    driven.click(button)
    driven.wait("len(popovers()) == 1 and focus_in(popovers()[0])", "the keyboard in the popover")
    driven.key("Escape")
    driven.wait("not popovers()")
    driven.wait("'CodeEditor' in focus()", "the keyboard back in the text")
    driven.click(button)
    driven.wait("len(popovers()) == 1")
    driven.resize((1200, 800))
    driven.wait("window.rect().contains(popovers()[0].geometry().adjusted(12, 12, -12, -12))")
    driven.key("ctrl+2")
    driven.wait("window.context.navigation.mode == 'analyse' and not popovers()")
    driven.resize((1600, 1000))


@pytest.mark.parametrize("mode", MODES)
def test_every_key_in_the_menus_acts(mode: str, driven: Driven) -> None:
    for step in ("analyse", "timeline", mode):  # so that there is a way back
        go_to(driven, step)
    driven.wait(f"{FOCUS[mode]!r} in focus()", f"the focus in {mode}")
    assert dead_keys(driven, mode) == []
    without_details = {"ctrl+i"} if mode in ("compare", "platform", "streams", "project") else set()
    without_place = {"ctrl+l"} if mode not in ("source", "timeline") else set()
    without_editor = {"F12", "ctrl+alt+s"} if mode != "source" else set()
    without_range = {"ctrl+shift+i"} if mode == "timeline" else set()  # its details tell what the range holds
    nothing_to_do = {
        "shift+F5",
        "ctrl+z",
        "ctrl+shift+z",
        "ctrl+shift+n",
        "ctrl+s",
        "ctrl+shift+s",
        "ctrl+w",
        "alt+Right",
    }
    impossible = "[keys for name, _, keys in shortcuts() if not window.actions_of.all[name].isEnabled()]"
    allowed = nothing_to_do | without_details | without_place | without_range | without_editor
    assert {*driven.ask(impossible)} <= allowed
