"""The simulated card as a target: the host program beside its RTL in Verilator, on one virtual clock.

What builds and simulates is imported when it is first used: what a target lacks is asked of every template.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api import Diagnostic, Severity, WorkbenchError, listed

if TYPE_CHECKING:
    from rc_workbench_plugins.simulated_card.card import CardExecutable
    from workbench.api import Job, Outcome, Platform, PlatformSupport, Task

HOST_FOLDER = "host_build"
_BUILD_HOST, _BUILD_CARD, _RUN = "Build host", "Build card", "Run"


@dataclass(frozen=True)
class BuiltSimulation:
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

    def compile_problems(self, platform: Platform, support: PlatformSupport | None) -> tuple[Diagnostic, ...]:
        from rc_workbench_plugins.simulated_card.shim_check import shim_problems

        return shim_problems(platform, support)

    def build(self, task: Task, job: Job) -> BuiltSimulation:
        from rc_workbench_plugins.simulated_card.card import build_card
        from rc_workbench_plugins.simulated_card.host import build_host
        from rc_workbench_plugins.simulated_card.users_host import build_users_host

        for one in _estimates(task.platform):
            job.report(one)
        with job.step(_BUILD_HOST):
            host = build_users_host(task, job) if task.project.host.build else build_host(task, job)
        with job.step(_BUILD_CARD):
            card = build_card(task, job)
            for hdl in {id(one): one for one in task.hdl.each}.values() if task.project.simulation.check_vhdl else ():
                if hdl.checks.translated and hdl.checks.check_translated:
                    hdl.checks.check_translated(hdl, task.root, job)
        return BuiltSimulation(host, card)

    def run(self, task: Task, built: BuiltSimulation, job: Job) -> Outcome:
        from rc_workbench_plugins.simulated_card.simulate import simulate

        with job.step(_RUN):
            outcome = simulate(task, built.card, built.host, job)
        for path in () if task.again else (task.build / HOST_FOLDER, built.card.path.parent):
            shutil.rmtree(path, ignore_errors=True)
        return replace(outcome, tools=built.card.tools)


def _estimates(platform: Platform) -> Iterator[Diagnostic]:
    """A warning if transfer times are estimates, with how far off they may be."""
    names: dict[float, list[str]] = {}
    for name, table in platform.transfer_tables.items():
        if table.estimated_within:
            names.setdefault(table.estimated_within, []).append(name)
    if names:
        off = "; ".join(f"{listed(of)} up to {factor:g} times longer or shorter" for factor, of in names.items())
        hint = "The run's times and speedups are estimates too. `workbench template bench` measures your board."
        yield Diagnostic(f"transfer times of {platform.title} are estimates: {off}", hint, Severity.WARNING)


def _lacking(platform: Platform, support: PlatformSupport | None) -> Iterator[Diagnostic]:
    from workbench.api.unstable import OfTemplate

    if support is None or not support.api_sources:
        from rc_workbench_plugins.simulated_card.shim import shim_lacks

        yield from shim_lacks(platform, support)
    if not platform.host.entries:
        yield OfTemplate("it has no host.entries", "Name the calls of its host API.", keys=("host", "entries"))
    elif not any(entry.kind.exchanges for entry in platform.host.entries):
        from workbench.api.unstable import NO_DATA_MOVES  # schemas are long to import

        yield replace(NO_DATA_MOVES, severity=Severity.ERROR)
    if platform.hardware is None:
        hint = "Add one under hardware.ports."
        yield OfTemplate("it has no hardware port", hint, keys=("hardware", "ports"))
        return
    if not platform.transfer_tables and (
        named := {entry.transfer for entry in platform.host.entries if entry.transfer}
    ):
        hint = "Enter the times that the board's documents or measurements give."
        message = f"its calls name transfer_tables that do not exist: {listed(sorted(named))}"
        yield OfTemplate(message, hint, keys=("transfer_tables",))
    from rc_workbench_plugins.simulated_card.port_check import check_port

    try:
        check_port(platform)
    except WorkbenchError as error:
        yield from error.diagnostics
