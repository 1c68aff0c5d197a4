"""What instrumented sources say of their own calls: sources that were instrumented together are a unit, with sites and
states numbered from 0, and a program is linked of one or many. The recorder (`resources/host/recap.h`) numbers the
program's units one after the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.api.records import read_lines
from workbench.model.blocks import Block, Side, State
from workbench.model.diagnostic import Diagnostic
from workbench.model.platform import QueueEntry
from workbench.model.pragma import UNCLASSIFIED, Category
from workbench.model.prototypes import callees
from workbench.model.run import Entry, Site

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from workbench.model.platform import Platform

UNITS = "host_units.jsonl"
#: The states that every unit begins with: unclassified, and work.
FIRST_STATES = (State(0, UNCLASSIFIED), State(1, "work", Category.WORK))
#: How many states every unit begins with.
COMMON = len(FIRST_STATES)


@dataclass(frozen=True)
class HostUnit:
    """`states` are those of its own, numbered from COMMON on; `main` is where the program's main function stands.
    `missed` tells of the calls that are not recorded."""

    sites: tuple[Site, ...]
    states: tuple[State, ...]
    main: tuple[str, int] | None = None
    missed: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class Units:
    """A program's record of its call sites, as its recorder numbered them."""

    sites: tuple[Site, ...]
    block: Block
    missed: tuple[Diagnostic, ...] = ()


def host_block(states: Sequence[State], main: tuple[str, int] | None) -> Block:
    """The block of the program's first thread."""
    file, line = main or (None, None)
    return Block("host.main", Side.HOST, "host", "thread", "host.main", tuple(states), file=file, line=line)


def unit_text(sites: Iterable[Site], block: Block, missed: Iterable[Diagnostic] = ()) -> str:
    """One line of JSON."""
    main = (block.file, block.line) if block.file and block.line else None
    return json.dumps(asdict(HostUnit(tuple(sites), block.states[COMMON:], main, tuple(missed))))


def entries_of(platform: Platform) -> tuple[Entry, ...]:
    """The platform's entries as a run numbers them."""
    names = {n: callee.name for callee in reversed(callees(platform.host.calls)[0].values()) for n, _ in callee.entries}
    return tuple(
        Entry(
            names.get(n) or entry.prototype or f"memory {entry.access}",
            entry.subtype,
            entry.direction if isinstance(entry, QueueEntry) else entry.kind.value,
            entry.transfer,
            entry.suggestion,
        )
        for n, entry in enumerate(platform.host.calls)
    )


def read_units(raw: Path) -> Units | None:
    """None where the program left nothing of the kind. What is behind a damaged line is not known: an error in `missed`
    tells it."""
    lines = read_lines(raw / UNITS)
    return units_of(lines, raw / UNITS) if lines else None


def read_unit(line: str) -> HostUnit | None:
    """A line of such a file; None where it is damaged."""
    from pydantic import ValidationError

    try:
        unit: HostUnit = _adapter().validate_json(line)
    except ValidationError:
        return None
    return unit


def units_of(lines: Sequence[str], file: Path) -> Units:
    """What the lines of a file tell, as `read_units` reads it."""
    sites: list[Site] = []
    missed: dict[Diagnostic, None] = {}  # a header's calls are told by each source that includes it
    states, main = list(FIRST_STATES), None
    for number, line in enumerate(lines, 1):
        if (unit := read_unit(line)) is None:
            hint = "Its calls, and those of all later lines, have no names. Run the program again."
            missed[Diagnostic("the program's record of its calls is damaged", hint, file=str(file), line=number)] = None
            break
        sites += unit.sites
        missed |= dict.fromkeys(unit.missed)
        first = len(states)
        states += [replace(state, index=first + n) for n, state in enumerate(unit.states)]
        main = main or unit.main
    return Units(tuple(sites), host_block(states, main), tuple(missed))


@cache
def _adapter() -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(HostUnit)
