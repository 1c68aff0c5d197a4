"""Adds the templates of further host APIs that a project's program calls to its platform."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.api import PlatformSupport
from workbench.model.diagnostic import Diagnostic, WorkbenchError, near
from workbench.model.text import counted
from workbench.session.open.workspace import at_keys

if TYPE_CHECKING:
    from workbench.model.application import Project
    from workbench.model.platform import Platform
    from workbench.session.open.workspace import Workspace

MOST_FPGAS = 64  # resources/card/wb.h: WB_MAX_CARDS
Place = Callable[[tuple[str | int, ...], Diagnostic], Diagnostic]


def with_apis(
    platform: Platform,
    support: PlatformSupport | None,
    project: Project,
    known: Mapping[str, PlatformSupport],
    load: Callable[[PlatformSupport], Platform],
    place: Place,
) -> tuple[Platform, PlatformSupport | None]:
    """The platform with the calls, headers, constants and networks of the project's `apis` after its own.

    WorkbenchError, at its line, for an API that is unknown or has a port, and for a network that no template describes.
    """
    for number, name in enumerate(project.apis):
        if name not in known:
            problem = Diagnostic(f"there is no template '{name}'", near(name, known, "Templates are"))
            raise WorkbenchError(place(("apis", number), problem))
        other = load(known[name])
        if other.hardware is not None:
            hint = "An API among `apis` is one of software alone, such as mpi. Name a board as `platform`."
            raise WorkbenchError(place(("apis", number), Diagnostic(f"'{name}' is the template of a board", hint)))
        platform = _joined(platform, other)
        support = replace(support or PlatformSupport(platform.name, known[name].template),
                          more=(*(support.more if support else ()), known[name]))  # fmt: skip
    names = [network.name for network in platform.networks]
    if (name := project.host.network) and name not in names:
        hint = near(name, names, "Its networks are") if names else "Describe it under networks there."
        message = f"the platform {platform.name} has no network '{name}'"
        raise WorkbenchError(place(("host", "network"), Diagnostic(message, hint)))
    return platform, support


def _joined(platform: Platform, other: Platform) -> Platform:
    own_host, more = platform.host, other.host
    host = own_host.model_copy(update={
        "include_lines": (*own_host.include_lines, *more.include_lines),
        "exclude_files": (*own_host.exclude_files, *more.exclude_files),
        "constants": {**more.constants, **own_host.constants},
        "entries": (*own_host.entries, *more.entries),
        "lacks": {**more.lacks, **own_host.lacks},
    })  # fmt: skip
    network_names = {network.name for network in platform.networks}
    networks = (*platform.networks, *(network for network in other.networks if network.name not in network_names))
    return platform.model_copy(update={"host": host, "networks": networks})


def with_ranks(workspace: Workspace, ranks: int) -> Workspace:
    """The project with this number of processes of the host program."""
    designs = workspace.own_designs[: len(workspace.project.hardware.fpgas)] * ranks
    return replace(workspace, project=workspace.project.with_ranks(ranks), own_designs=designs)


def of_each_rank(workspace: Workspace, started: int = 0) -> Workspace:
    """The project as each process has it on a machine, with a tree and records of its own; `started` is the number of
    processes (0: as the project says)."""
    alone, started = with_ranks(workspace, 1), started or workspace.project.host.ranks
    host = alone.project.host.model_copy(update={"ranks": started})
    return replace(alone, project=alone.project.model_copy(update={"host": host}))


def check_ranks(workspace: Workspace, asked: int = 0, simulated: bool = True) -> None:
    """Raise WorkbenchError if this number of ranks (0: as the project says) cannot be run, on the simulated card or
    elsewhere."""
    hardware, ranks = workspace.project.hardware, asked or workspace.project.host.ranks
    fpgas = len(hardware.of_ranks(1).places)
    if asked < 0 or ranks * fpgas > MOST_FPGAS:
        limit = f"{MOST_FPGAS // fpgas} ranks" if fpgas > 1 else f"{MOST_FPGAS} ranks"
        hint = f"Ask for 1 to {limit}: a run has at most {MOST_FPGAS} FPGAs."
        raise WorkbenchError(Diagnostic(f"{ranks} ranks of {counted(fpgas, 'FPGA')} each cannot be run", hint))
    if ranks > 1 and simulated and hardware.links:
        message = "links between FPGAs cannot be simulated together with several ranks"
        keys = ("hardware", "links")
        raise WorkbenchError(
            at_keys(workspace.path, keys, Diagnostic(message, "Leave out the links, or run one rank."))
        )
