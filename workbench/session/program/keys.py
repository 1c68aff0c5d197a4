"""The window's commands by name, each with its title and its key, the default or the user's. No Qt here."""

import re
from collections.abc import Iterable, Mapping

from workbench.api.modes import WindowMode
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system import store

#: The commands by their menus: name -> title, key.
MENUS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "File": {
        "new_project": ("New from sources...", "Ctrl+N"),
        "open_project": ("Open project...", "Ctrl+O"),
        "open_run": ("Open run...", "Ctrl+Alt+O"),
        "quick_open": ("Open a file of the project", "Ctrl+Shift+O"),
        "new_document": ("New...", "Ctrl+Shift+N"),
        "save": ("Save", "Ctrl+S"),
        "save_as": ("Save as...", "Ctrl+Shift+S"),
        "duplicate": ("Duplicate", ""),
        "save_all": ("Save all", ""),
        "report": ("Save report...", ""),
        "close_file": ("Close file", "Ctrl+W"),
        "close": ("Close project", "Ctrl+Shift+W"),
        "quit": ("Quit", "Ctrl+Q"),
    },
    "Edit": {
        "undo": ("Undo", "Ctrl+Z"),
        "redo": ("Redo", "Ctrl+Shift+Z"),
        "pragma": ("Insert pragma", "Ctrl+P"),
        "propose": ("Proposed marks", "Ctrl+Shift+M"),
        "fix_problems": ("Fix problems that have a certain fix", ""),
        "find": ("Find here", "Ctrl+F"),
        "find_in_project": ("Find in the project", "Ctrl+Shift+F"),
        "settings": ("Settings", "Ctrl+,"),
    },
    "View": {
        "details": ("Details", "Ctrl+I"),
        "run_panel": ("Run panel", "Ctrl+J"),
        "problems": ("Problems", "Ctrl+Shift+P"),
        "split_editor": ("Split the editor", "Ctrl+Alt+S"),
        "range_panel": ("Contents of the range", "Ctrl+Shift+I"),
        "flame": ("Flame graph of the run's time", "Ctrl+Alt+F"),
        "treemap": ("Treemap of the run's time", "Ctrl+Alt+T"),
        "reset_layout": ("Reset layout", ""),
    },
    "Go": {
        "back": ("Back", "Alt+Left"),
        "forward": ("Forward", "Alt+Right"),
        "next_finding": ("Next finding", "F8"),
        "previous_finding": ("Previous finding", "Shift+F8"),
        "try_change": ("Try this change", "Ctrl+T"),
        "compare_before": ("Compare with the previous run", "Ctrl+Shift+C"),
        "open_line": ("Open line", ""),
        "go_to": ("Go to...", "Ctrl+L"),
        "definition": ("Go to the definition", "F12"),
        "search": ("Find a block, call or command", "Ctrl+K"),
        "next_panel": ("Next panel", "F6"),
    },
    "Run": {
        "run": ("Run", "F5"),
        "again": ("Run again with the same options", "Ctrl+F5"),
        "cancel": ("Cancel", "Shift+F5"),
        "how_to_run": ("How to run", ""),
        "instrument": ("Instrument into a folder...", ""),
        "prove": ("Prove that instrumentation changes nothing", "F7"),
        "rescan": ("Read the sources again", ""),
        "stop_scan": ("Stop reading the sources", ""),
    },
    "Help": {
        "keys": ("Keys", "Shift+F1"),
        "guide": ("Guide", "F1"),
        "tour": ("Take the tour", ""),
        "about": ("About RC Workbench", ""),
    },
}
COMMANDS: Mapping[str, tuple[str, str]] = {name: command for menu in MENUS.values() for name, command in menu.items()}
#: The commands proposed before a letter is typed.
COMMON = (
    "run", "again", "next_finding", "try_change", "compare_before", "find_in_project", "quick_open", "pragma",
    "propose", "flame", "treemap", "open_project", "open_run", "new_project", "report", "settings", "guide", "tour",
)  # fmt: skip
#: The commands of pictures with the keyboard focus, whose keys may be letters.
VIEW_COMMANDS: Mapping[str, tuple[str, str]] = {
    "view_in": ("Picture: zoom in", "W"),
    "view_out": ("Picture: zoom out", "S"),
    "view_all": ("Picture: show all", "F"),
    "view_left": ("Timeline: earlier", "A"),
    "view_right": ("Timeline: later", "D"),
    "view_mark": ("Timeline: set a marker", "M"),
    "view_range": ("Timeline: use A to B as range", "R"),
    "view_next": ("Timeline: next hit, previous with Shift", "N"),
    "view_name": ("Timeline: set a marker with a name", "B"),
    "view_pin": ("Timeline: pin a row above the others", "T"),
    "view_taller": ("Timeline: higher rows", "E"),
    "view_lower": ("Timeline: lower rows", "Q"),
    "view_aggregate": ("Timeline: shares of states instead of intervals", "V"),
    "view_lists": ("Timeline: hits, statistics, markers", "I"),
    "view_waits": ("Timeline: arrows from causes to waits", "L"),
    "view_waves": ("Timeline: show this moment in a waveform viewer", "Ctrl+Shift+V"),
    "view_path": ("Timeline: critical path", "C"),
    "view_step": ("Timeline: next part of the critical path", "P"),
    "view_cause": ("Timeline: cause of a wait, with Shift what waits for this", "G"),
}
_MODES, _PICTURES = "Mode keys", "Picture keys"
#: The groups of settings that hold keys.
KEY_GROUPS = (*(f"{menu} keys" for menu in MENUS), _MODES, _PICTURES)
#: Keys with a fixed meaning in fields and menus.
_TAKEN = {"F10": "the menus", "Ctrl+X": "cut", "Ctrl+C": "copy", "Ctrl+V": "paste", "Ctrl+A": "select all"}
_MODIFIERS = ("Meta", "Ctrl", "Alt", "Shift")
_NAMED = ("Left", "Right", "Up", "Down", "Home", "End", "PgUp", "PgDown", "Ins", "Del", "Backspace", "Space", "Return")
_WRITTEN = {name.lower(): name for name in (*_MODIFIERS, *_NAMED, *(f"F{number}" for number in range(1, 25)))}


def key_of_mode(place: int) -> str:
    """The key of the mode at a position of the rail, from 1; none from the tenth on."""
    return f"Ctrl+{place}" if place < 10 else ""


def all_commands(modes: Iterable[WindowMode]) -> dict[str, tuple[str, str]]:
    """`COMMANDS`, with the commands that show a mode and those of pictures."""
    mode_commands = {
        f"mode_{mode.name}": (f"Show {mode.title}", key_of_mode(place)) for place, mode in enumerate(modes, 1)
    }
    return {**COMMANDS, **mode_commands, **VIEW_COMMANDS}


def key_group(command: str) -> str:
    """The group of settings that holds a command's key."""
    if command in VIEW_COMMANDS:
        return _PICTURES
    return next((f"{menu} keys" for menu, commands in MENUS.items() if command in commands), _MODES)


def preference_of(command: str) -> str:
    """The name of the preference that holds a command's key."""
    return f"key.{command}"


def command_of(preference: str) -> str:
    """The command whose key the preference of this name holds."""
    return preference.removeprefix("key.")


def key_in_force(command: str, key: str) -> str:
    """The user's key of a command, or else `key`; "" if it has none."""
    chosen = store.preference(preference_of(command), key)
    try:
        return written(chosen, command) if chosen else ""
    except WorkbenchError:
        return key


def with_key(text: str, command: str) -> str:
    """A tooltip's text, followed by the command's key if it has one."""
    key = key_of(command)
    return f"{text} ({key})" if key else text


def key_of(command: str) -> str:
    """The key of a command that does not show a mode; "" if it has none."""
    return key_in_force(command, {**COMMANDS, **VIEW_COMMANDS}[command][1])


def view_command(*keys: str) -> str:
    """The command for one of these keys in a picture; "" if there is none."""
    return next((name for name in VIEW_COMMANDS if key_of(name) in keys), "")


def written(key: str, command: str = "") -> str:
    """A key in its usual form, modifiers in order: "Ctrl+Shift+S". WorkbenchError for an invalid key, for one that
    types a letter (except for commands of pictures), and for one that has a meaning everywhere."""
    *modifiers, last = (_WRITTEN.get(part.lower(), part) for part in re.split(r"(?<=.)\+(?=.)", key.strip()))
    last = last.upper() if len(last) == 1 else last
    if (
        (len(last) > 1 and last not in _WRITTEN.values())
        or last in _MODIFIERS
        or not last.strip()
        or {*modifiers} - {*_MODIFIERS}
    ):
        raise WorkbenchError(Diagnostic(f"'{key}' is not a key", "Write it as Ctrl+Shift+S, Alt+Left or F5."))
    text = "+".join([*(m for m in _MODIFIERS if m in modifiers), last])
    if command not in VIEW_COMMANDS and not {*modifiers} & {"Ctrl", "Alt", "Meta"} and not re.fullmatch(r"F\d+", last):
        raise WorkbenchError(Diagnostic(f"{text} types text", "Hold Ctrl or Alt with it, or take a function key."))
    if text in _TAKEN:
        raise WorkbenchError(Diagnostic(f"{text} already means {_TAKEN[text]} everywhere", "Take another key."))
    return text
