"""What a plugin imports: the hooks it may answer, and the descriptors it answers with.

A plugin is a module named by an entry point of group `rc_workbench.plugins`; it decorates functions with `hookimpl`.
The built-in plugins (`rc_workbench_plugins`) use nothing else.
"""

from workbench.api.descriptors import (
    HdlBuild,
    HdlLanguage,
    HostBuild,
    HostLanguage,
    PlatformSupport,
    RuleFile,
)
from workbench.api.hookspecs import PROJECT_NAME, hookimpl
from workbench.api.metrics import Metric

__all__ = [
    "PROJECT_NAME",
    "HdlBuild",
    "HdlLanguage",
    "HostBuild",
    "HostLanguage",
    "Metric",
    "PlatformSupport",
    "RuleFile",
    "hookimpl",
]
