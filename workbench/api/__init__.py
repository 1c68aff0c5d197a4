"""What a plugin imports: the hooks it may answer, and the descriptors it answers with.

A plugin is a module named by an entry point of group `rc_workbench.plugins`; it decorates functions with `hookimpl`.
The built-in plugins (`rc_workbench_plugins`) use nothing but this package, `workbench.system` and `workbench.model`:

    hookspecs    the hooks, one for each kind of thing that a plugin may bring
    descriptors  platforms, rules, languages: what hooks return
    builds       what languages make of a project's sources
    metrics      metrics that rules name, and what they are computed of
    commands     commands, and what they are given of the workbench
    models       documents of models: inputs, formulas, and what values they may take
    predictions  what a kind of model says of a prediction, for windows, pages and terminals alike
    forms        how the parts of a document stand in a form
    results      a run's blocks, calls and findings as analysed
    targets      where a built design runs
    records      the records that a run leaves, of which its tables are made
    compile      compilers run, and what they say as diagnostics
    c_header     a C header of a platform's API
    ports        kinds of ports: their fields, signals, and the monitors' place behind them
    port_styles  what the signals of a kind are called, by which it is found at a design's top
    queries      languages in which runs are asked
    modes        modes of the window; their views derive from `workbench.gui.modes.mode.Mode`, and may use Qt
    job          steps, progress, a log and a cancel
    faults       naming the plugin that failed
    source       lines, pragmas and file patterns of sources, in any language
    instrument   counters that observe hardware, their wrapper and the reading of their words
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # each is imported when it is first asked for
    from workbench.api.builds import HdlBuild, HostBuild
    from workbench.api.commands import Command
    from workbench.api.descriptors import (
        EVERY,
        Begun,
        Composed,
        Composer,
        Composition,
        Exporter,
        HdlLanguage,
        HostLanguage,
        Importer,
        ModelKind,
        PlatformSupport,
        PortKind,
        Printed,
        Question,
        RuleFile,
    )
    from workbench.api.hookspecs import PROJECT_NAME, hookimpl
    from workbench.api.later import Later
    from workbench.api.metrics import FindingSource, Metric
    from workbench.api.modes import Panel, Undo, WindowMode
    from workbench.api.queries import RunQueries
    from workbench.api.targets import Outcome, Target, Task

__all__ = [
    "EVERY",
    "PROJECT_NAME",
    "Begun",
    "Command",
    "Composed",
    "Composer",
    "Composition",
    "Exporter",
    "FindingSource",
    "HdlBuild",
    "HdlLanguage",
    "HostBuild",
    "HostLanguage",
    "Importer",
    "Later",
    "Metric",
    "ModelKind",
    "Outcome",
    "Panel",
    "PlatformSupport",
    "PortKind",
    "Printed",
    "Question",
    "RuleFile",
    "RunQueries",
    "Target",
    "Task",
    "Undo",
    "WindowMode",
    "hookimpl",
]

_MODULES = {
    "builds": "HdlBuild HostBuild",
    "commands": "Command",
    "descriptors": "EVERY Begun Composed Composer Composition Exporter HdlLanguage HostLanguage Importer "
    "ModelKind PlatformSupport PortKind Printed Question RuleFile",
    "hookspecs": "PROJECT_NAME hookimpl",
    "later": "Later",
    "metrics": "FindingSource Metric",
    "modes": "Panel Undo WindowMode",
    "queries": "RunQueries",
    "targets": "Outcome Target Task",
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"workbench.api has no '{name}'")
    return getattr(import_module(f"workbench.api.{_PLACES[name]}"), name)
