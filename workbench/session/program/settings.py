"""The user's settings: the window's appearance, its keys, programs and folders. No Qt here.

Each is stored as a text under its name; without a valid one the default applies.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.api.modes import WindowMode
from workbench.model.diagnostic import Diagnostic, WorkbenchError, unknown_name
from workbench.session.program.keys import KEY_GROUPS, all_commands, command_of, key_group, preference_of, written
from workbench.system import store
from workbench.system.cache import LIMIT_MB

GROUPS = ("Look", "Editor", "Running", "Programs", "Folders", *KEY_GROUPS)


@dataclass(frozen=True)
class Setting:
    """A setting. `kind` is "choice", "number" (from `minimum` to `maximum`), "font", "program", "folder" or "key". An
    empty program or folder means automatic search, an empty key no key."""

    name: str
    group: str
    title: str
    what: str
    kind: str
    default: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)  # value -> in words
    minimum: int = 0
    maximum: int = 0
    unit: str = ""  # of a number

    @property
    def value(self) -> str:
        """The effective value. A program or folder that disappeared stays chosen, and `problem` reports it."""
        stored = store.preference(self.name, self.default)
        return self.default if self.kind not in ("program", "folder") and self.problem(stored) else stored

    @property
    def is_set(self) -> bool:
        """Whether the user chose a value."""
        return store.preference(self.name, "") != "" and self.value != self.default

    def problem(self, text: str) -> Diagnostic | None:
        """The reason why a text is not valid for this setting; None if it is."""
        if self.kind == "choice" and text not in self.choices:
            return unknown_name("value", text, self.choices)
        if self.kind == "number" and not (text.isdecimal() and self.minimum <= int(text) <= self.maximum):
            return Diagnostic(f"'{text}' is not from {self.minimum} to {self.maximum}", f"{self.title}: {self.what}")
        if self.kind == "program" and text and not (os.path.isabs(text) and os.access(text, os.X_OK)):
            return Diagnostic("this is not an executable program", "Give its full path.", file=text)
        if self.kind == "folder" and text and not (os.path.isabs(text) and os.path.isdir(text)):
            return Diagnostic("this is not a folder", "Give the full path of an existing one.", file=text)
        if self.kind == "key" and text:
            try:
                written(text, command_of(self.name))
            except WorkbenchError as error:
                return error.diagnostics[0]
        return None


#: Name -> title.
THEMES = {
    "light": "Light", "dark": "Dark", "light-contrast": "Light, high contrast", "dark-contrast": "Dark, high contrast",
    "system": "As the desktop",
}  # fmt: skip


def settings(modes: Iterable[WindowMode]) -> dict[str, Setting]:
    """Every setting by its name; `modes` are the window's, whose keys can be set too."""
    every = (
        Setting("theme", "Look", "Theme", "light or dark, also in high contrast", "choice", "light", THEMES),
        Setting("scale_pct", "Look", "UI scale", "in per cent, after a restart", "number", "100",
                minimum=75, maximum=300, unit="%"),
        Setting("code_font", "Editor", "Font of sources", "a monospaced font", "font"),
        Setting("code_px", "Editor", "Size of sources", "in pixels", "number", "13", minimum=8, maximum=40, unit="px"),
        Setting("trace", "Running", "Trace", "keep every change of state of a run, for the timeline", "choice", "yes",
                {"yes": "Yes", "no": "No"}),
        Setting("predict_s", "Running", "Predictions",
                "processor time in seconds for predictions when a run is opened; 0: no predictions",
                "number", "10", maximum=3600, unit="s"),
        Setting("after_run", "Running", "After a run", "what is shown when a run is complete", "choice", "stay",
                {"stay": "As before", "analyse": "Its findings"}),
        *(Setting(f"program.{name}", "Programs", name, what, "program")
          for name, what in (("gcc", "builds C hosts"), ("g++", "builds C++ hosts and the card"),
                             ("verilator", "simulates hardware"), ("yosys", "counts FPGA resources"),
                             ("clang", "compiles OpenCL kernels"),
                             ("surfer", "shows waveforms"), ("gtkwave", "shows waveforms"))),
        Setting("folder.cache", "Folders", "Cache", "keeps builds; it can be deleted at any time", "folder"),
        Setting("cache_mb", "Folders", "Size of the cache",
                "largest size in MB; the least recently used parts are deleted", "number", str(LIMIT_MB),
                minimum=500, maximum=1_000_000, unit="MB"),
        Setting("folder.projects", "Folders", "Projects", "where file dialogs start", "folder"),
        *(Setting(preference_of(name), key_group(name), title.removesuffix("..."), "", "key", key)
          for name, (title, key) in all_commands(modes).items()),
    )  # fmt: skip
    return {setting.name: setting for setting in every}


def value(name: str) -> str:
    """The value of a setting, by its name; not of a mode's key."""
    return settings(())[name].value


def find_setting(name: str, known: Mapping[str, Setting]) -> Setting:
    """The setting of that name. WorkbenchError if there is none."""
    if name not in known:
        raise WorkbenchError(unknown_name("setting", name, known))
    return known[name]


def change(setting: Setting, text: str, known: Mapping[str, Setting]) -> None:
    """Set and store a value. WorkbenchError for an invalid one, or for a key of another command."""
    if problem := setting.problem(text):
        raise WorkbenchError(problem)
    if setting.kind == "key" and text:
        text = written(text, command_of(setting.name))
        if other := holder(text, setting, known):
            message = f"{text} is the key of '{other.title}'"
            raise WorkbenchError(Diagnostic(message, f"Choose another key, or change that of '{other.title}' first."))
    store.change_preference(setting.name, text)


def reset(setting: Setting) -> None:
    """Reset a setting to its default."""
    store.change_preference(setting.name, None)


def holder(key: str, setting: Setting, known: Mapping[str, Setting]) -> Setting | None:
    """The other command that has this key."""
    return next((s for s in known.values() if s.kind == "key" and s.value == key and s.name != setting.name), None)


def projects_folder() -> str:
    """The initial folder of dialogs; "" for Qt's default."""
    chosen = store.preference("folder.projects", "")
    return chosen if Path(chosen).is_dir() else ""
