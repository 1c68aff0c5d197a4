"""Walks through the window: from mode to mode, every key of the menus in each."""

import shutil
from collections.abc import Iterator
from pathlib import Path

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
#: They leave the file, the project or the window, and have tests of their own; or are looked at by `edits`.
LEAVING, EDITING = {"ctrl+w", "ctrl+shift+w", "ctrl+q"}, {"ctrl+z", "ctrl+shift+z"}
LEAST_PX, LEAST_WINDOW_PX = 250, 700  # the height of a mode in a window of at least that height
DEAD_S = 5.0  # after which a key did nothing, in a window at rest
_TITLED = "{0}.document.read_only and {0}.duplicate(), {0}.document.set(('title',), 'Another')"
#: A change in each mode, and what it changes.
EDITS = {
    "source": ("{0}.editor.textCursor().insertText('x')", "{0}.editor.text"),
    "analyse": ("window.context.set_aside(window.context.analysis.findings[0].id)", "sorted(window.context.aside)"),
    "timeline": ("{0}.view.set_marks([10.0, 20.0]), {0}._remember_marks(())", "list({0}.view.marks)"),
    "compare": ("{0}._exchange()", "{0}.exchanged"),
    "platform": (_TITLED, "{0}.document.value(('title',))"),
    "predict": (_TITLED, "{0}.document.value(('title',))"),
    "streams": ("{0}.add('measure rate at e1')", "{0}.editor.toPlainText()"),
    "project": (_TITLED, "{0}.document.value(('title',))"),
}


def go_to(driven: Driven, mode: str) -> None:
    driven.key(f"ctrl+{list(MODES).index(mode) + 1}")
    driven.wait(f"window.context.navigation.mode == {mode!r}")
    driven.settle()


#: A table of what was counted in place of Analyse's findings; nothing where the run has no such table.
_COUNTED = "[pill for name, pill in {{0}}.findings.tabs.items() if name == {!r} and not pill.isHidden()][0:1]"
_TABLES = {
    name.lower(): f"[pill.click() for pill in {_COUNTED.format(name)} if not pill.isChecked()]"
    for name in ("Streams", "Memory", "Metrics", "Assertions", "Branches", "Rules")
}
_STREAMS = "{}.replies.pictures"
_MODEL = "{{0}}.show_page('Results'); {{0}}.open_document(next(m.path for m in {{0}}._models() if m.path.name == {!r}))"
_MODEL_PAGES = ("Structure", "Explore", "Model")
#: One model of each kind and structure, the one that is shown at first last.
_MODELS = (
    "pdf2d_ranks.ratss.yaml", "image_filter.ratss.yaml", "blastn.queueing.yaml", "matrix_multiply.density.yaml",
    "pdf1d.rat.yaml", "kmeans.opencl.yaml", "pdf2d.ratss.yaml",
)  # fmt: skip
_SPAN = "{0}.view.traced.index.end_ps"
_MARKERS = "[Marker(int(part * {0}), name) for part, name in ((0.2, 'Begin of the first round'), (0.21, 'Next'))]"
#: What is beside, or in the place of, what a mode shows first, each with how it is shown, in one turn or in several
#: (with a semicolon between); the last leads back.
PAGES = {
    "source": {
        "find": "window.find_in_project(), window.find_panel.field.setText('out')",
        "problems": "window.toggle_problems()",
        "palette": "window.toggle_problems(), window.search.ask()",
        "quick-open": "window.search.ask(files=True)",
        "marks": "window.search.completer().popup().hide(), window.propose_marks()",
        "pragma": "{0}.proposals.close_it(), {0}.insert_pragma()",
        "split": "[popover.close_it() for popover in popovers()], {0}.split_view()",
        "": "{}.split_view(), window.search.clearFocus()",
    },
    "analyse": {
        "try": "window.step_finding(1), window.try_change()",
        "path": "{0}.details.trying.closed.emit(), {0}.path.pill.isEnabled() and {0}.path.pill.click()",
        "flame": "{0}.path.pill.isChecked() and {0}.path.pill.click(), window.show_times('flame')",
        "treemap": "window.show_times('treemap')",
        "states": "{}._open_node('host.main')",
        "chart": "{0}._show_blocks(), {0}.findings.turn_to('Chart')",
        **_TABLES,
        "rule": "{}.rules.new()",
        "": "{0}.rules.close(), {0}._show_blocks(), {0}.findings.turn_to('Findings')",
    },
    "timeline": {
        "statistics": "{0}.toolbar.lists.click(), {0}.lists.turn_to(1)",
        "markers": f"{{0}}.view.set_markers({_MARKERS.format(_SPAN)}), {{0}}.lists.turn_to(2)",
        "found": "{0}.lists.turn_to(0), {0}.finder.setText('read'), {0}.finder._count()",
        "pinned": "{0}.finder.clear(), {0}.view.set_pinned([row.name for row in {0}.view.lines if row.name][1:3])",
        "range": f"{{0}}.view.set_marks([0.3 * {_SPAN}, 0.6 * {_SPAN}])",
        "causes": "{0}.toolbar.lists.click(), {0}.toolbar.path.click(), {0}.toolbar.waits.click()",
        "shares": "{0}.toolbar.aggregate.click()",
        "": "[pill.click() for pill in ({0}.toolbar.aggregate, {0}.toolbar.path, {0}.toolbar.waits)], "
            "{0}.view.set_marks([]), {0}.view.set_markers([]), {0}.view.set_pinned([])",
    },
    "compare": {
        **{f"by-{name}": f"{{0}}.table_pills[{name!r}].isVisible() and {{0}}.show_by({name!r})"
           for name in ("why", "block", "state")},
        "ledger": "{0}.show_by('call'), {0}.to_ledger.click()", "runs": "{0}.other.add({0}.other.folders())",
        "timelines": "{0}.below.to_timelines.click()", "": "{0}.to_findings.click()",
    },
    "platform": {
        f"part-{number}": f"{{0}}.choose([part.path for s in {{0}}.sections() for part in s.parts][{number}])"
        for number in (0, 1, -1)
    } | {"": "{0}.choose({0}.first_part([part for s in {0}.sections() for part in s.parts]).path)"},
    "predict": {
        f"{model.partition('.')[0]}{page and '-' + page.lower()}":
            f"{{}}.show_page({page!r})" if page else _MODEL.format(model)
        for model in _MODELS for page in ("", *_MODEL_PAGES)
    } | {"": "{}.show_page('Results')"},
    "streams": {
        "over-time": "{0}.add('measure mean occupancy at e1'), {0}.add('measure mean occupancy at e21')",
        "spread": f"{_STREAMS}.pills['Spread'].click()",
        "histogram": "{}.add('measure hist latency at e1')",
        "cumulative": f"{_STREAMS}.pills['Cumulative'].click()",
        "depths": "{}.below_pills[1].click()",
        "": "{}.below_pills[0].click()",
    },
    "project": {
        f"part-{number}": f"{{0}}.choose([part.path for s in {{0}}.sections() for part in s.parts][{number}])"
        for number in (1, 2, 3, 4, -1)
    } | {"": "{0}.choose([part.path for s in {0}.sections() for part in s.parts][0])"},
}  # fmt: skip
#: What floats over the window, or is a window beside it: how it is shown, which widget it is, how it goes.
FLOATING = {
    "notices": ("window.show_notices()", "window.floating.notices", "close_it"),
    "run-options": ("window.show_run_options()", "window.floating.run_options", "close_it"),
    "about": ("window.floating.show_about()", "window.floating.about", "close_it"),
    "settings": ("window.floating.show_settings()", "window.floating.settings", "hide"),
    "settings-keys": ("window.floating.show_settings('keys')", "window.floating.settings", "hide"),
    "guide": ("window.floating.show_guide()", "window.floating.guide", "hide"),
    "new": ("new_from_sources()", "window.findChild(NewProject)", "reject"),
    "banner": (
        "window.end_banner.show_end(EndedRun('Run 7', window.context.run, 93.0, ()))",
        "window.end_banner",
        "dismiss",
    ),
    "tour": ("window.tour.begin()", "window.tour", "end"),
    "run-panel": ("window.toggle_run_dock()", "window.run_dock", "closed.emit"),
}


def pages(driven: Driven, mode: str) -> Iterator[str]:
    """The further pages of the mode shown, each as it is shown; in the end the first one is again."""
    for page, show in PAGES.get(mode, {}).items():
        for turn in show.format("window.modes.current()").split("; "):
            driven.do(f"QTimer.singleShot(0, lambda: ({turn},))")
            driven.settle()
        if page.endswith("-explore"):  # it sweeps a moment after the last key
            driven.wait("window.modes.current().explore.swept is not None", f"{page} swept")
            driven.settle()
        if page:
            yield page


def clipped(driven: Driven, mode: str) -> list[str]:
    """What cannot be read in the mode shown, on every page of a model too."""
    found = list(driven.ask("clipped(window)"))
    first, *others = driven.ask("list(window.modes.current().pills)") if mode == "predict" else [""]
    for page in others:
        driven.do(f"window.modes.current().show_page({page!r})")
        driven.settle()
        found += [f"{page}: {text}" for text in driven.ask("clipped(window)")]
    if others:
        driven.do(f"window.modes.current().show_page({first!r})")
    return found


def floating(driven: Driven) -> Iterator[str]:
    """What floats over the window, each as it is shown."""
    for name, (show, widget, hide) in FLOATING.items():
        driven.do(f"QTimer.singleShot(0, lambda: {show})")
        driven.settle()
        driven.wait(f"{widget} is not None and {widget}.isVisible()", f"{name} shown")
        yield name
        driven.do(f"{widget}.{hide}()")
        driven.settle()


def toggle_panels(driven: Driven) -> None:
    """Open, or close, all that is around every mode: the range's panel, the run's, the banner of a run's end, the
    tour. Where one panel alone has room below, that is the run's."""
    opening = driven.ask("window.tour.isHidden()")
    panels = "window.toggle_range()" if opening else "window.panels.show_range(None)"
    driven.do(f"{panels}; window.panels.show_run({opening}); window.tour.end(); window.end_banner.dismiss()")
    for name in ("tour", "banner") if opening else ():
        driven.do(f"QTimer.singleShot(0, lambda: {FLOATING[name][0]})")
    driven.settle()


def squeezed(driven: Driven) -> list[str]:
    """Where all that is around a mode leaves it too little, in a window that has the room."""
    middle, window = driven.ask("(window.panels.by_name()['centre'].height(), window.height())")
    return [f"the mode has {middle} px of {window}"] if middle < LEAST_PX and window >= LEAST_WINDOW_PX else []


def dead_keys(driven: Driven, mode: str) -> list[str]:
    """Press every key of the menus that can be given in a mode; which did nothing, each with what it stands for."""
    dead = []
    driven.do("count_commands()")
    for name, text, keys in driven.ask("shortcuts()"):
        if keys in LEAVING | EDITING:
            continue
        if driven.ask("window.context.navigation.mode") != mode:
            go_to(driven, mode)
        if not driven.ask(f"window.actions_of.all[{name!r}].isEnabled()"):
            continue  # as it is now: another key may have saved the text, or taken it back
        if keys == f"ctrl+{list(MODES).index(mode) + 1}":
            go_to(driven, "analyse" if mode != "analyse" else "source")
        changing = CHANGES.get(keys, "None")
        driven.do(f"given.clear(); before = {changing}")
        driven.key(keys)
        try:
            driven.wait("given or app.activeModalWidget()", patience_s=DEAD_S)
            driven.wait(f"{keys not in CHANGES} or ({changing}) != before", patience_s=DEAD_S)
        except AssertionError:
            dead.append(f"{text} ({keys})")
        close_what_floats(driven)
    return dead


def dead_edits(driven: Driven, mode: str) -> list[str]:
    """Make a change in a mode: Undo, Redo and Undo again take it back and bring it again, by their keys, and Save as
    asks for a file where there is a document; which did not."""
    change, value = (each.format("window.modes.current()") for each in EDITS[mode])
    driven.do(f"one = {value}; ({change},); other = {value}")
    driven.settle()
    driven.do(f"other = {value}")
    dead = []
    for keys, expected in (("ctrl+z", "one"), ("ctrl+shift+z", "other"), ("ctrl+z", "one")):
        driven.key(keys)
        try:
            driven.wait(f"one != other and {value} == {expected}", patience_s=DEAD_S)
        except AssertionError:
            dead.append(f"edit ({keys})")
        driven.settle()
    if driven.ask("bool(window.modes.current().shown_document)"):
        driven.key("ctrl+shift+s")
        try:
            driven.wait("app.activeModalWidget()", patience_s=DEAD_S)
        except AssertionError:
            dead.append("Save as (ctrl+shift+s)")
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


def open_another(driven: Driven, project: Path) -> None:
    """Open another project, a copy of this one, after every mode was shown, and then this one again, with everything
    saved."""
    driven.do("window.save_all()")
    copy = project.parent.with_name(f"{project.parent.name}-copy") / project.name
    shutil.copytree(project.parent, copy.parent, ignore=shutil.ignore_patterns("runs"))
    driven.do("runs_of_first = window.context.run_folders()[:2]; turns.take()")
    for path, runs in ((copy, "()"), (project, "runs_of_first")):
        driven.do(f"QTimer.singleShot(0, lambda: window.open(Path({str(path)!r}), {runs}))")
        driven.wait(f"window.context.workspace is not None and window.context.workspace.path == Path({str(path)!r})")
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
