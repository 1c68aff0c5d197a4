"""Whose fault it is: what a plugin's code raises is told with the plugin's name, and with the place in its source."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from traceback import walk_tb

from workbench.model.diagnostic import Diagnostic, Severity

GROUP = "rc_workbench.plugins"
PACKAGE = "rc_workbench_plugins"  # of the built-in plugins: one plugin each of its own packages
BUILT_IN = (f"{PACKAGE}.", "workbench.")  # how their entry points begin, and those of the workbench itself


class PluginFault(RuntimeError):
    """A plugin's fault whose traceback is in another process; `plugin` is its name, or "" where none had a part."""

    def __init__(self, text: str, plugin: str) -> None:
        super().__init__(text)
        self.plugin = plugin


def plugin_of(error: BaseException) -> str:
    """The name of the plugin whose code raised the error, or called what did; "" where none had a part in it."""
    return error.plugin if isinstance(error, PluginFault) else _place(error)[0]


def plugin_fault(error: Exception, doing: str, severity: Severity = Severity.WARNING) -> Diagnostic:
    """A plugin's error as a diagnostic, for whoever goes on without it. `doing` ends "failed", as in "to export"."""
    name, file, line = _place(error)
    who = f"the plugin '{name}'" if name else "the workbench"
    hint = "The rest goes on without it. Tell who made the plugin." if name else ""
    return Diagnostic(f"{who} failed {doing}: {type(error).__name__}: {error}", hint, severity, file or None, line)


def _place(error: BaseException) -> tuple[str, str, int | None]:
    """Plugin, file and line of the innermost call that is in a plugin."""
    points = (p for p in entry_points(group=GROUP) if not p.module.startswith("workbench."))
    packages = {_package(point): point.name for point in points}
    for frame, line in reversed(list(walk_tb(error.__traceback__))):
        module = f"{frame.f_globals.get('__name__', '')}."
        for package, name in packages.items():
            if module.startswith(f"{package}."):
                return name, frame.f_code.co_filename, line
    return "", "", None


def _package(point: EntryPoint) -> str:
    """What belongs to a plugin: the whole package that its entry point is in, but for the built-in ones."""
    parts = point.module.split(".")
    return ".".join(parts[:2]) if parts[0] == PACKAGE else parts[0]
