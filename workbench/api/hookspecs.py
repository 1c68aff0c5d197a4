"""The hooks. Each returns a list, so that one plugin may bring several things; each has a built-in that uses it.

A new kind is a descriptor with a `name` (`descriptors.py`), a hook here that returns a list of it, and a field of
`session/program/plugins.py:Plugins` named as the hook. Each hook's result is checked against its declared type.
"""

from collections.abc import Sequence

import pluggy

from workbench.api.commands import Command
from workbench.api.descriptors import (
    Composer,
    Exporter,
    HdlLanguage,
    HostLanguage,
    Importer,
    PlatformSupport,
    PortKind,
    RuleFile,
)
from workbench.api.metrics import FindingSource, Metric
from workbench.api.model_kinds import ModelKind
from workbench.api.modes import WindowMode
from workbench.api.queries import RunQueries
from workbench.api.targets import Target

PROJECT_NAME = "rc_workbench"

hookspec = pluggy.HookspecMarker(PROJECT_NAME)
#: Decorates a plugin's functions named `workbench_KIND`, each of which returns a list of what the plugin brings.
hookimpl = pluggy.HookimplMarker(PROJECT_NAME)


@hookspec
def workbench_platforms() -> Sequence[PlatformSupport]:
    """Platforms: a template each, and the library behind its host API on the simulated card."""
    raise NotImplementedError


@hookspec
def workbench_hdl_languages() -> Sequence[HdlLanguage]:
    """Hardware description languages that can be read, marked and instrumented."""
    raise NotImplementedError


@hookspec
def workbench_host_languages() -> Sequence[HostLanguage]:
    """Host languages that can be read, marked and instrumented."""
    raise NotImplementedError


@hookspec
def workbench_port_kinds() -> Sequence[PortKind]:
    """Kinds of ports by which a platform reaches a design."""
    raise NotImplementedError


@hookspec
def workbench_composers() -> Sequence[Composer]:
    """Generators of host program and design from a section of the project."""
    raise NotImplementedError


@hookspec
def workbench_targets() -> Sequence[Target]:
    """Places where a built application runs."""
    raise NotImplementedError


@hookspec
def workbench_rules() -> Sequence[RuleFile]:
    """Knowledge-base files: reasons and bottleneck rules."""
    raise NotImplementedError


@hookspec
def workbench_metrics() -> Sequence[Metric]:
    """Metrics that rules may name, each with the function that computes it."""
    raise NotImplementedError


@hookspec
def workbench_findings() -> Sequence[FindingSource]:
    """Bottlenecks that no rule can state, computed from what a run measured."""
    raise NotImplementedError


@hookspec
def workbench_exporters() -> Sequence[Exporter]:
    """Forms of runs that other programs read: `workbench export --format NAME`."""
    raise NotImplementedError


@hookspec
def workbench_importers() -> Sequence[Importer]:
    """Other programs' files that can be read as runs: `workbench import FILE`."""
    raise NotImplementedError


@hookspec
def workbench_commands() -> Sequence[Command]:
    """Commands of `workbench`."""
    raise NotImplementedError


@hookspec
def workbench_model_kinds() -> Sequence[ModelKind]:
    """Kinds of models that predict without a run: `workbench predict KIND`."""
    raise NotImplementedError


@hookspec
def workbench_queries() -> Sequence[RunQueries]:
    """Languages of questions to runs, used by the window's mode of that kind."""
    raise NotImplementedError


@hookspec
def workbench_modes() -> Sequence[WindowMode]:
    """Modes of the window, each with its place in the rail, its panels and its undo."""
    raise NotImplementedError
