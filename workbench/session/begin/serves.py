"""The uses that a platform template is complete for, and what it lacks for the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.model.diagnostic import Diagnostic, OfTemplate
from workbench.model.prototypes import without_card
from workbench.model.text import counted, listed

if TYPE_CHECKING:
    from workbench.api import PlatformSupport, Target
    from workbench.model.platform import Platform

Keys = tuple[str | int, ...]
_ENTRIES: Keys = ("host", "entries")
_NAME_CALLS = "Name the calls of its host API, or the port of the application's top module."


@dataclass(frozen=True)
class Service:
    """One use of a template. `why` names what makes it possible, or what is missing, with the items in `missing`.
    `keys` lead to the part of the template that it needs."""

    name: str
    can: bool
    why: str
    missing: tuple[Diagnostic, ...] = ()
    keys: Keys = ()


def services(
    platform: Platform, support: PlatformSupport | None, targets: Mapping[str, Target], wrong: Sequence[Diagnostic] = ()
) -> tuple[Service, ...]:
    """The uses in order: describe, predict, simulate, measure on a board. `wrong` is the result of
    `compile_problems`."""
    simulated = [target for target in targets.values() if target.simulated]
    simulate = _simulate(platform, support, simulated)
    if wrong:
        simulate = Service(simulate.name, False, wrong[0].message, tuple(wrong), simulate.keys)
    return (_describe(platform), _predict(platform), simulate, _measure(platform))


def compile_problems(
    platform: Platform, support: PlatformSupport | None, targets: Mapping[str, Target]
) -> tuple[Diagnostic, ...]:
    """The compiler's diagnostics for the libraries that targets generate from the template. Takes one or two
    seconds."""
    from workbench.api.targets import MakesApis

    makers = [target for target in targets.values() if isinstance(target, MakesApis)]
    return tuple(one for target in makers for one in target.compile_problems(platform, support))


def _describe(platform: Platform) -> Service:
    entries = len(platform.host.entries)
    alone = without_card(platform.host)
    cards = f"{listed(alone)} not saying which card it is for" if alone else "each saying which card it is for"
    parts = [f"{counted(entries, 'call')} of its host API ({cards})"] if entries else []
    parts += [f"a port of kind {port.kind}" for port in platform.hardware.ports] if platform.hardware else []
    lacks = "it has neither host.entries nor hardware"
    return _service("describe", ", ".join(parts), _ENTRIES, OfTemplate(lacks, _NAME_CALLS, keys=_ENTRIES))


def _predict(platform: Platform) -> Service:
    of_each = (
        (len(platform.transfer_tables), "transfer table", ""),
        (len(platform.memories), "memory", "memories"),
        (len(platform.networks), "network", ""),
    )
    parts = [counted(*one) for one in of_each if one[0]] + (["a board for OpenCL kernels"] if platform.opencl else [])
    lacks = "it has no transfer_tables, memories or networks, and no opencl board"
    hint = "Add a transfer table: what the board's documents or measurements give."
    return _service(
        "predict", ", ".join(parts), ("transfer_tables",), OfTemplate(lacks, hint, keys=("transfer_tables",))
    )


def _simulate(platform: Platform, support: PlatformSupport | None, targets: Sequence[Target]) -> Service:
    """The use of the template by simulating targets; if none can use it, what each of them lacks."""
    lacking = {target.title: target.lacks(platform, support) for target in targets}
    able = [title for title, lacks in lacking.items() if not lacks]
    by = f"the API of {support.name}" if support and support.api_sources else "its API, generated from its entries,"
    why = f"{by} on the {listed(able)}, with its tables"
    missing = [one for of in lacking.values() for one in of]
    if not targets:
        missing = [Diagnostic("no plugin brings a target that simulates")]
    return _service("simulate", why if able else "", _ENTRIES, *missing)


def _measure(platform: Platform) -> Service:
    from workbench.api.instrument.board import board_lacks

    lacking = board_lacks(platform)
    why = "`workbench instrument` writes what its own flow builds, `workbench collect` reads the records of a run"
    return _service("measure on a board", "" if lacking else why, ("host", "transfers"), *lacking)


def _service(name: str, why: str, keys: Keys, *missing: Diagnostic) -> Service:
    """A use that is possible for the reason `why`, or, without one, impossible for what is missing."""
    if why:
        return Service(name, True, why, (), keys)
    lacks = "; ".join(f"{one.message} ({one.hint})" if one.hint else one.message for one in missing)
    return Service(name, False, lacks, missing, keys)
