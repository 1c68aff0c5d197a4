"""Failures of plugins: what a plugin's code raises is reported with the plugin's name and the place in its source."""

import sys
from importlib.metadata import EntryPoint, entry_points
from threading import Thread
from traceback import walk_tb
from types import FrameType

from workbench.model.diagnostic import Diagnostic, Severity
from workbench.system import interrupt

GROUP = "rc_workbench.plugins"
PACKAGE = "rc_workbench_plugins"  # of the built-in plugins: one plugin each of its own packages
BUILT_IN = (f"{PACKAGE}.", "workbench.")  # how their entry points begin, and those of the workbench itself


class PluginFault(RuntimeError):
    """A plugin's fault whose traceback is in another process; `plugin` is its name, or "" where none had a part."""

    def __init__(self, text: str, plugin: str) -> None:
        super().__init__(text)
        self.plugin = plugin


def caught(error: BaseException) -> Exception:
    """An error that a handler may go on after: any Exception, and a PluginFault for the `sys.exit`, KeyboardInterrupt
    and the like of a plugin's own. All else, and a person's Ctrl+C, is raised again."""
    if isinstance(error, Exception):
        return error
    name = plugin_of(error)
    if not name or (isinstance(error, KeyboardInterrupt) and interrupt.asked.is_set()):
        raise error
    return PluginFault(fault_text(error), name).with_traceback(error.__traceback__)


def plugin_of_thread(thread: Thread) -> str:
    """The name of the plugin whose code a thread runs; "" if none."""
    frame = sys._current_frames().get(thread.ident or 0)
    packages = _packages()
    while frame:
        if name := _plugin_in(frame, packages):
            return name
        frame = frame.f_back
    return ""


def plugin_of(error: BaseException) -> str:
    """The name of the plugin whose code raised the error, or called what did; "" where none had a part in it."""
    return error.plugin if isinstance(error, PluginFault) else _place(error)[0]


def fault_text(error: BaseException) -> str:
    """An error by its type and what it says; of a PluginFault, those of the error in the other process."""
    return str(error) if isinstance(error, PluginFault) else f"{type(error).__name__}: {error}".removesuffix(": ")


def plugin_fault(error: Exception, doing: str, severity: Severity = Severity.WARNING) -> Diagnostic:
    """A plugin's error as a diagnostic, for whoever goes on without it. `doing` ends "failed", as in "to export"."""
    name, file, line = _place(error)
    who = f"the plugin '{name}'" if name else "the workbench"
    hint = "The rest goes on without it. Report this to the plugin's author." if name else ""
    return Diagnostic(f"{who} failed {doing}: {fault_text(error)}", hint, severity, file or None, line)


def _place(error: BaseException) -> tuple[str, str, int | None]:
    """Plugin, file and line of the innermost call that is in a plugin."""
    packages = _packages()
    for frame, line in reversed(list(walk_tb(error.__traceback__))):
        if name := _plugin_in(frame, packages):
            return name, frame.f_code.co_filename, line
    return "", "", None


def _packages() -> dict[str, str]:
    points = (p for p in entry_points(group=GROUP) if not p.module.startswith("workbench."))
    return {_package(point): point.name for point in points}


def _plugin_in(frame: FrameType, packages: dict[str, str]) -> str:
    module = f"{frame.f_globals.get('__name__', '')}."
    return next((name for package, name in packages.items() if module.startswith(f"{package}.")), "")


def _package(point: EntryPoint) -> str:
    """What belongs to a plugin: the whole package that its entry point is in, but for the built-in ones."""
    parts = point.module.split(".")
    return ".".join(parts[:2]) if parts[0] == PACKAGE else parts[0]
