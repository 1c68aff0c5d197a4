"""The simulated card as a target: the host program beside its RTL in Verilator, on one virtual clock.

What builds and simulates is imported when it is first used: what a target lacks is asked of every template.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.text import listed

if TYPE_CHECKING:
    from rc_workbench_plugins.simulated_card.card import CardExecutable
    from workbench.api import HdlBuild, PlatformSupport
    from workbench.api.job import Job
    from workbench.api.targets import Outcome, Task
    from workbench.model.platform import Platform

_BUILD_HOST, _BUILD_CARD, _RUN = "Build host", "Build card", "Run"


@dataclass(frozen=True)
class Simulation:
    """Host and card, built, in folders that go once they have run."""

    host: Path
    card: CardExecutable


class SimulatedCard:
    name = "simulated"
    title = "simulated card"
    simulated = True
    steps: Sequence[str] = (_BUILD_HOST, _BUILD_CARD, _RUN)

    def lacks(self, platform: Platform, support: PlatformSupport | None) -> tuple[Diagnostic, ...]:
        return tuple(_lacking(platform, support))

    def build(self, task: Task, job: Job) -> Simulation:
        from rc_workbench_plugins.simulated_card.card import build_card
        from rc_workbench_plugins.simulated_card.host import build_host

        with job.step(_BUILD_HOST):
            host = build_host(
                task.project, _api(task, job), task.host, task.settings, task.deterministic, task.root,
                task.build / "host_build", job,
            )  # fmt: skip
        with job.step(_BUILD_CARD):
            hdl = _with_the_projects_own(task)
            card = build_card(
                hdl, task.project, task.platform, dict(task.parameters), task.build / "card", job, task.trace
            )
        return Simulation(host, card)

    def run(self, task: Task, built: Simulation, job: Job) -> Outcome:
        from rc_workbench_plugins.simulated_card.simulate import simulate

        with job.step(_RUN):
            outcome = simulate(
                built.card, built.host, task.project, task.platform, task.raw, job,
                arguments=task.project.host.arguments, deterministic=task.deterministic, root=task.root,
            )  # fmt: skip
        for made in (built.host, built.card.path):
            shutil.rmtree(made.parent, ignore_errors=True)
        return replace(outcome, tools=built.card.tools)


def _api(task: Task, job: Job) -> PlatformSupport:
    """The API with what implements it: as it is brought or named, or made of the template's entries."""
    from rc_workbench_plugins.simulated_card.shim import shim_source
    from workbench.model.prototypes import without_card

    support = task.support
    assert support is not None
    if support.api_sources:
        return support
    cards = task.project.hardware.cards
    if cards > 1 and (alone := without_card(task.platform.host)):
        job.report(
            Diagnostic(
                f"{listed(alone)}: the template does not say which of the {cards} cards such a call is for: the first",
                "Name the parameter that tells it in the entry: fpga: NAME.",
                Severity.WARNING,
            )
        )
    source = task.build / "api" / "api.c"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(shim_source(task.platform), encoding="utf-8")
    return replace(support, api_sources=(source,))


def _with_the_projects_own(task: Task) -> HdlBuild:
    """The build with the project's own include folders and defines, after those of the instrumented copies."""
    hardware = task.project.hardware
    folders = tuple(task.root / folder for folder in hardware.include_dirs)
    defines = tuple(f"{name}={value}" for name, value in hardware.defines.items())
    hdl = task.hdl
    return replace(hdl, include_dirs=(*hdl.include_dirs, *folders), defines=(*hdl.defines, *defines))


def _lacking(platform: Platform, support: PlatformSupport | None) -> Iterator[Diagnostic]:
    if support is None or not support.api_sources:
        from rc_workbench_plugins.simulated_card.shim import shim_lacks

        yield from shim_lacks(platform)
    if not platform.host.entries:
        yield Diagnostic("it has no host.entries", "Name the calls of its host API.")
    if platform.hardware is None:
        yield Diagnostic("it has no hardware port", "Without one nothing can be simulated.")
        return
    from rc_workbench_plugins.simulated_card.port_check import check_port

    try:
        check_port(platform)
    except WorkbenchError as error:
        yield from error.diagnostics
