"""Walks through the window: from mode to mode, every key of the menus in each."""

from collections.abc import Iterator

from driven.driver import Driven

from workbench.gui.modes import MODES

#: What a key changes, as an expression whose value is another one afterwards. Others must at least be given.
CHANGES = {
    "ctrl+f": "focus()",
    "ctrl+i": "window.panels.details_visible()",
    "ctrl+j": "window.panels.run_visible()",
    "ctrl+k": "focus_in(window.search)",
    "F1": "beside()",
    "shift+F1": "beside()",
    "ctrl+comma": "beside()",
    "F6": "focus()",
    "F8": "window.context.navigation.selection",
    "shift+F8": "window.context.navigation.selection",
    **{f"ctrl+{number}": "window.context.navigation.mode" for number in range(1, 8)},
}
#: They leave the file, the project or the window, and have tests of their own.
LEAVING = {"ctrl+w", "ctrl+shift+w", "ctrl+q"}


def go_to(driven: Driven, mode: str) -> None:
    driven.key(f"ctrl+{list(MODES).index(mode) + 1}")
    driven.wait(f"window.context.navigation.mode == {mode!r}")
    driven.settle()


#: A table of what was counted in place of Analyse's findings; nothing where the run has no such table.
_COUNTED = "[pill for name, pill in {{}}.findings.counted.items() if name == {!r} and not pill.isHidden()][0:1]"
_TABLES = {
    name.lower(): f"[pill.click() for pill in {_COUNTED.format(name)} if not pill.isChecked()]"
    for name in ("Streams", "Memory", "Assertions", "Branches", "Rules")
}
_STREAMS = "{}.replies.pictures"
#: What is beside, or in the place of, what a mode shows first, each with how it is shown; the last leads back.
PAGES = {
    "source": {
        "find": "window.find_in_project(), window.find_panel.field.setText('out')",
        "palette": "window.panels.show_found(None), window.search.ask()",
        "quick-open": "window.search.ask(files=True)",
        "": "window.search.completer().popup().hide(), window.search.clearFocus()",
    },
    "analyse": {
        "try": "window.step_finding(1), window.try_change()",
        "path": "{0}.details.trying.closed.emit(), {0}.path.pill.isEnabled() and {0}.path.pill.click()",
        "flame": "{0}.path.pill.isChecked() and {0}.path.pill.click(), window.show_times('flame')",
        "treemap": "window.show_times('treemap')",
        "states": "{}._open_node('host.main')",
        **_TABLES,
        "": "{0}._show_blocks(), [pill.click() for pill in {0}.findings.counted.values() if pill.isChecked()]",
    },
    "compare": {"ledger": "{}.to_ledger.click()", "runs": "{0}.other.add({0}.other.folders())",
                "timelines": "{0}.below.to_timelines.click()", "": "{0}.to_findings.click()"},
    "streams": {
        "over-time": "{0}.add('measure mean occupancy at e1'), {0}.add('measure mean occupancy at e21')",
        "spread": f"{_STREAMS}.pills['Spread'].click()",
        "histogram": "{}.add('measure hist latency at e1')",
        "cumulative": f"{_STREAMS}.pills['Cumulative'].click()",
        "depths": "{}.below_pills[1].click()",
        "": "{}.below_pills[0].click()",
    },
}  # fmt: skip


def pages(driven: Driven, mode: str) -> Iterator[str]:
    """The further pages of the mode shown, each as it is shown; in the end the first one is again."""
    for page, show in PAGES.get(mode, {}).items():
        driven.do(
            f"QTimer.singleShot(0, lambda: ({show.format('window.modes.current()')},))"
        )  # a turn of the window's own
        driven.settle()
        if page:
            yield page


def clipped(driven: Driven, mode: str) -> list[str]:
    """What cannot be read in the mode shown, on every page of it."""
    found = list(driven.ask("clipped(window)"))
    first, *others = driven.ask("list(window.modes.current().pills)") if mode == "predict" else [""]
    for page in others:
        driven.do(f"window.modes.current().show_page({page!r})")
        driven.settle()
        found += [f"{page}: {text}" for text in driven.ask("clipped(window)")]
    if others:
        driven.do(f"window.modes.current().show_page({first!r})")
    return found


def toggle_panels(driven: Driven) -> None:
    """Open, or close, what stands beside or below every mode: the range's panel and the run's."""
    driven.do("window.toggle_range(); window.toggle_run_dock()")
    driven.settle()


def dead_keys(driven: Driven, mode: str) -> list[str]:
    """Press every key of the menus that can be given in a mode; which did nothing, each with what it stands for."""
    dead = []
    driven.do("count_commands()")
    for text, keys, possible in driven.ask("shortcuts()"):
        if keys in LEAVING or not possible:
            continue
        if driven.ask("window.context.navigation.mode") != mode:
            go_to(driven, mode)
        if keys == f"ctrl+{list(MODES).index(mode) + 1}":
            go_to(driven, "analyse" if mode != "analyse" else "source")
        changing = CHANGES.get(keys, "None")
        driven.do(f"given.clear(); before = {changing}")
        driven.key(keys)
        try:
            driven.wait("given or app.activeModalWidget()")
            driven.wait(f"{keys not in CHANGES} or ({changing}) != before")
        except AssertionError:
            dead.append(f"{text} ({keys})")
        close_what_floats(driven)
    return dead


def close_what_floats(driven: Driven) -> None:
    """Escape until the window itself has the keyboard again, and nothing is over it."""
    floating = "app.activeModalWidget() or app.activePopupWidget() or popovers() or beside()"
    while driven.ask(f"bool({floating})"):
        driven.wait("app.activeWindow() is (app.activeModalWidget() or beside() or window)")
        driven.do("shown = [app.activeWindow(), app.activePopupWidget(), *popovers()]")
        driven.key("Escape")
        changed = "[app.activeWindow(), app.activePopupWidget(), *popovers()] != shown"
        driven.wait(changed, "what floats closes on Escape")
    driven.wait("window.isActiveWindow()")
    driven.settle()


def open_and_close(driven: Driven, times: int, *, modes: bool = False) -> None:
    """Close what is open and open it again, so many times; with `modes` it is shown in every mode each time."""
    for _ in range(times):
        driven.do("opened = window.context.workspace.path, window.context.run_folders()[:2]; window.context.close()")
        driven.settle()
        driven.do("window.open(*opened)")
        driven.wait("window.context.workspace is not None and window.context.run is not None")
        driven.settle()
        for mode in MODES if modes else ():
            driven.do(f"window.context.navigation.set_mode({mode!r})")
            driven.settle()
