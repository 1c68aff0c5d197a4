"""Finds the plugins. One that cannot be loaded becomes a notice; the rest go on."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import entry_points

import pluggy

from workbench.api import PROJECT_NAME, HdlLanguage, HostLanguage, PlatformSupport, RuleFile, hookspecs
from workbench.api.descriptors import LoadedPlugin

GROUP = "rc_workbench.plugins"


@dataclass(frozen=True)
class Plugins:
    """What the loaded plugins bring. Where two bring the same name, the one loaded last is used."""

    loaded: tuple[LoadedPlugin, ...]
    platforms: dict[str, PlatformSupport] = field(default_factory=dict)
    hdl_languages: dict[str, HdlLanguage] = field(default_factory=dict)
    host_languages: dict[str, HostLanguage] = field(default_factory=dict)
    rule_files: tuple[RuleFile, ...] = ()


def load_plugins() -> Plugins:
    """Load every entry point of the group, built-in or not. Never raises for a plugin's fault."""
    manager = pluggy.PluginManager(PROJECT_NAME)
    manager.add_hookspecs(hookspecs)
    loaded: list[LoadedPlugin] = []
    for point in sorted(
        entry_points(group=GROUP), key=lambda p: (not p.value.startswith("rc_workbench_plugins"), p.name)
    ):
        origin = f"{point.dist.name} ({point.value})" if point.dist else point.value
        version = point.dist.version if point.dist else ""
        name = ""
        try:
            plugin = point.load()
            name = manager.register(plugin, name=point.name) or ""
            manager.check_pending()
            hooks = [caller.name for caller in manager.get_hookcallers(plugin) or []]
            for hook in hooks:  # a hook that fails must not take the start-up with it
                list(getattr(plugin, hook)())
            loaded.append(LoadedPlugin(point.name, origin, version, hooks))
        except Exception as error:
            if name:
                manager.unregister(name=name)
            loaded.append(LoadedPlugin(point.name, origin, version, error=f"{type(error).__name__}: {error}"))
    call = manager.hook
    return Plugins(
        loaded=tuple(loaded),
        platforms={p.name: p for group in reversed(call.workbench_platforms()) for p in group},
        hdl_languages={x.name: x for group in reversed(call.workbench_hdl_languages()) for x in group},
        host_languages={x.name: x for group in reversed(call.workbench_host_languages()) for x in group},
        rule_files=tuple(r for group in reversed(call.workbench_rules()) for r in group),
    )
