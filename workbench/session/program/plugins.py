"""Finds the plugins and collects their additions. A plugin that fails gives a notice with its name; the others are
used."""

import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.metadata import Distribution, EntryPoint, EntryPoints, entry_points
from types import ModuleType
from typing import Any, get_args, get_type_hints

import pluggy

from workbench.api import (
    Composer,
    Exporter,
    FindingSource,
    HdlLanguage,
    HostLanguage,
    Importer,
    Metric,
    ModelKind,
    PlatformSupport,
    PortKind,
    RuleFile,
    RunQueries,
    Target,
    WindowMode,
    hookspecs,
)
from workbench.api.brought import set_brought
from workbench.api.commands import Command
from workbench.api.faults import BUILT_IN, GROUP
from workbench.api.languages import check_files
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.session.program.loaded_plugin import LoadedPlugin


@dataclass(frozen=True)
class Plugins:
    """The additions of the loaded plugins, each kind by name. If two plugins use a name, the last one counts.

    Each kind is one field here and one hook: `platforms` holds the results of `workbench_platforms`.
    """

    loaded: tuple[LoadedPlugin, ...]
    platforms: Mapping[str, PlatformSupport] = field(default_factory=dict)
    hdl_languages: Mapping[str, HdlLanguage] = field(default_factory=dict)
    host_languages: Mapping[str, HostLanguage] = field(default_factory=dict)
    port_kinds: Mapping[str, PortKind] = field(default_factory=dict)
    composers: Mapping[str, Composer] = field(default_factory=dict)
    targets: Mapping[str, Target] = field(default_factory=dict)
    rules: Mapping[str, RuleFile] = field(default_factory=dict)
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    findings: Mapping[str, FindingSource] = field(default_factory=dict)
    exporters: Mapping[str, Exporter] = field(default_factory=dict)
    importers: Mapping[str, Importer] = field(default_factory=dict)
    commands: Mapping[str, Command] = field(default_factory=dict)
    model_kinds: Mapping[str, ModelKind] = field(default_factory=dict)
    queries: Mapping[str, RunQueries] = field(default_factory=dict)
    modes: Mapping[str, WindowMode] = field(default_factory=dict)

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """The plugins that could not be loaded, with the reasons."""
        return tuple(
            Diagnostic(
                f"the plugin '{plugin.name}' could not be loaded: {plugin.error}",
                f"It comes from {plugin.origin}. Update or remove it; everything else works.",
                Severity.WARNING,
            )
            for plugin in self.loaded
            if plugin.error
        )


NO_PLUGINS = "RCW_NO_PLUGINS"  # if set in the environment, plugins of third parties are not loaded
LIMIT_S = 10.0  # for a third party's plugin to load
KINDS = tuple(f.name for f in fields(Plugins) if f.name != "loaded")
Brought = dict[str, dict[str, Any]]  # kind -> name -> descriptor


def load_plugins() -> Plugins:
    """Load every entry point of the group, the built-in ones first. A plugin's fault never raises here."""
    loaded: list[LoadedPlugin] = []
    gathered: Brought = {kind: {} for kind in KINDS}
    package_of = cache(_name_and_version)
    points = entry_points(group=GROUP)
    if os.environ.get(NO_PLUGINS):
        points = EntryPoints(point for point in points if point.value.startswith(BUILT_IN))
    for point in sorted(points, key=lambda p: (not p.value.startswith(BUILT_IN), p.name)):
        distribution, version = package_of(point.dist) if point.dist else ("", "")
        origin = f"{distribution} ({point.value})" if distribution else point.value
        plugin, brought = load_plugin(point, origin, version, loaded)
        loaded.append(plugin)
        for kind, additions in brought.items():
            gathered[kind] |= additions
    set_brought(gathered)
    return Plugins(tuple(loaded), **gathered)


def load_plugin(
    point: EntryPoint, origin: str, version: str, before: Sequence[LoadedPlugin]
) -> tuple[LoadedPlugin, Brought]:
    """Load one plugin with its additions, or none if it fails. `before` are those whose names it may override."""
    begin_s = time.perf_counter()
    hooks: Sequence[str] = ()
    brought: Brought = {}
    problem = ""
    try:
        hooks, brought = _load(point) if point.value.startswith(BUILT_IN) else _load_others(point)
    except Exception as error:
        problem = str(error) if isinstance(error, _Ended) else f"{type(error).__name__}: {error}"
    brings = {kind: sorted(additions) for kind, additions in brought.items()}
    earlier_names = {(kind, name) for plugin in before for kind, names in plugin.brings.items() for name in names}
    overrides = sorted(
        f"{kind} {name}" for kind, names in brings.items() for name in names if (kind, name) in earlier_names
    )
    load_s = time.perf_counter() - begin_s
    return LoadedPlugin(point.name, origin, version, hooks, problem, brings, overrides, load_s), brought


def _name_and_version(distribution: Distribution) -> tuple[str, str]:
    about = distribution.metadata  # parsed again on each request
    return about["Name"], about["Version"]


def _load(point: EntryPoint) -> tuple[Sequence[str], Brought]:
    """The hooks that a plugin implements, and its additions: all of them, or an exception with the reason."""
    manager = pluggy.PluginManager(hookspecs.PROJECT_NAME)
    manager.add_hookspecs(hookspecs)
    plugin = point.load()
    manager.register(plugin, name=point.name)
    manager.check_pending()
    hooks = [caller.name for caller in manager.get_hookcallers(plugin) or []]
    return hooks, {hook.removeprefix("workbench_"): _answer(plugin, hook) for hook in hooks}


def _load_others(point: EntryPoint) -> tuple[Sequence[str], Brought]:
    """Load a third party's plugin in a thread, which is abandoned if it takes too long. Its output goes to stderr, and
    its `sys.exit` ends nothing else. The classes of its port and model kinds are checked, and its languages' comment
    styles."""
    outcome: list[tuple[Sequence[str], Brought] | BaseException] = []

    def load() -> None:
        try:
            hooks, brought = _load(point)
            for kind in brought.get("port_kinds", {}).values():
                kind.port()
            for kind in brought.get("model_kinds", {}).values():
                kind.document()
            for kind in ("host_languages", "hdl_languages", "composers"):
                for language in brought.get(kind, {}).values():
                    check_files(language)
            outcome.append((hooks, brought))
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=load, name=f"plugin {point.name}", daemon=True)
    with redirect_stdout(sys.stderr):
        thread.start()
        thread.join(LIMIT_S)
    if not outcome:
        raise _Ended(f"it was still loading after {LIMIT_S:g} s")
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    if isinstance(outcome[0], BaseException):
        raise _Ended(f"{type(outcome[0]).__name__}: {outcome[0]}".rstrip(": "))
    return outcome[0]


class _Ended(Exception):
    """The plugin ended the process instead of loading."""


def _answer(plugin: ModuleType, hook: str) -> dict[str, Any]:
    """The results of a plugin's hook, by name. TypeError if they do not match the hook's specification."""
    (expected,) = get_args(get_type_hints(getattr(hookspecs, hook))["return"])
    by_name: dict[str, Any] = {}
    for addition in getattr(plugin, hook)():
        if not isinstance(addition, expected):
            members = {name for name in (*expected.__annotations__, *vars(expected)) if not name.startswith("_")}
            lacks = [name for name in members if not hasattr(addition, name)]
            why = f", which lacks {', '.join(sorted(lacks))}" if lacks else ""
            raise TypeError(f"{hook} returned {addition!r:.80}{why}; it must return a list of {expected.__name__}")
        by_name[addition.name] = addition
    return by_name
