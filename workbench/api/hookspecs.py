"""The hooks. Each returns a list, so that one plugin may bring several things; each has a built-in that uses it."""

from __future__ import annotations

from collections.abc import Sequence

import pluggy

from workbench.api.descriptors import HdlLanguage, HostLanguage, PlatformSupport, RuleFile

PROJECT_NAME = "rc_workbench"

hookspec = pluggy.HookspecMarker(PROJECT_NAME)
hookimpl = pluggy.HookimplMarker(PROJECT_NAME)


@hookspec
def workbench_platforms() -> Sequence[PlatformSupport]:
    """Platforms: a template each, and what lets the simulated card stand behind its host API."""
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
def workbench_rules() -> Sequence[RuleFile]:
    """Knowledge-base files: reasons and bottleneck rules."""
    raise NotImplementedError
