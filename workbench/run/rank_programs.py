"""Numbers the calls of ranks that ran different programs (`mpirun a : b`) as if one program had all their sources.

Each program numbers its call sites and states from 0. A program records a line for each of its units, a unit being the
sources that were instrumented together; the line describes their sites and states (`host_units.jsonl`).

For example, program a has a unit with sites 0 to 2, and b has the same unit and another one with two sites, its own
numbers 3 and 4. In the run the sites of the common unit are 0 to 2, and those of the other unit 3 and 4.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api import HostBuild
from workbench.api.host_stats import THREAD
from workbench.api.host_units import COMMON, UNITS, HostUnit, Units, read_unit, read_units, units_of
from workbench.api.records import read_lines
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run_tables import RowArray

_SLOT = ("site", "state", "entry")


@dataclass(frozen=True)
class Numbering:
    """The run's numbers of a rank's sites and states, by the rank's own numbers."""

    sites: NDArray[np.int32]
    states: NDArray[np.int32]

    def numbered(self, records: RowArray) -> RowArray:
        """The records (columns `site` and `state`), changed to the run's numbers. Negative numbers remain."""
        for name, numbers in (("site", self.sites), ("state", self.states)):
            own = records[name]
            known = (own >= 0) & (own < len(numbers))
            own[known] = numbers[own[known]]
        return records


def read_programs(folders: Sequence[Path]) -> tuple[list[str], list[Numbering | None]]:
    """The lines of all programs' units, each unit once, and the numbering of each rank. `folders` are the ranks'. A
    numbering is None if the run's numbers are the rank's own."""
    texts = [read_lines(folder / UNITS) for folder in folders]
    lines = next((text for text in texts if text), [])
    if all(text == lines for text in texts if text):
        return lines, [None for _ in texts]
    #: The first site and state of each unit, by its line and the number of equal lines before it.
    places: dict[tuple[str, int], tuple[int, int]] = {}
    numberings: list[Numbering | None] = []
    sites, states = 0, COMMON
    for text in texts:
        own_sites, own_states = [np.zeros(0, np.int32)], [np.arange(COMMON, dtype=np.int32)]
        for line, before, unit in _units(text):
            if (line, before) not in places:
                places[line, before] = sites, states
                sites, states = sites + len(unit.sites), states + len(unit.states)
            first_site, first_state = places[line, before]
            own_sites.append(first_site + np.arange(len(unit.sites), dtype=np.int32))
            own_states.append(first_state + np.arange(len(unit.states), dtype=np.int32))
        numberings.append(Numbering(np.concatenate(own_sites), np.concatenate(own_states)))
    return [line for line, _ in places], numberings


def _units(text: Sequence[str]) -> list[tuple[str, int, HostUnit]]:
    """The units of a program up to a damaged line: for each its line, and the number of equal lines before it."""
    units, occurrences = list[tuple[str, int, HostUnit]](), Counter[str]()
    for line in text:
        if (unit := read_unit(line)) is None:
            break
        units.append((line, occurrences[line], unit))
        occurrences[line] += 1
    return units


def units_of_ranks(raw: Path, folders: Sequence[Path]) -> Units | None:
    """The units of the program that recorded in `raw`, or of the programs of all its ranks; None without records."""
    if not folders:
        return read_units(raw)
    lines, _ = read_programs(folders)
    damaged = [line for folder in folders if (units := read_units(folder)) for line in units.missed]
    units = units_of(lines, folders[0] / UNITS) if lines else None
    return units and replace(units, missed=tuple(dict.fromkeys((*units.missed, *damaged))))


def host_of_rank(host: HostBuild, folder: Path) -> HostBuild:
    """The host with the blocks and sites of the program that recorded in a rank's folder."""
    units = read_units(folder)
    return host if units is None else replace(host, blocks=(units.block,), sites=units.sites)


def check_one_program(folders: Sequence[Path], shown: Path) -> None:
    """Raise WorkbenchError if ranks ran programs of different trees. `shown` is the folder that the error names."""
    texts = [read_lines(folder / UNITS) for folder in folders]
    first = next((text for text in texts if text), [])
    for number, text in enumerate(texts):
        if text and text != first:
            hint = "Name both trees: workbench collect TREE TREE RECORDS. Or link all programs from one project's tree."
            message = f"rank {number} ran a program of another tree than the ranks before it"
            raise WorkbenchError(Diagnostic(message, hint, file=str(shown / folders[number].name)))


def in_common_slots(
    counts: Sequence[Sequence[tuple[np.void, RowArray]]], numberings: Sequence[Numbering | None]
) -> list[list[tuple[np.void, RowArray]]]:
    """The counts of each rank's threads (`counted_rows`), in slots that all programs share. A slot is a site, a state
    and an entry."""
    if all(one is None for one in numberings):
        return [list(threads) for threads in counts]
    slots: dict[tuple[int, ...], int] = {}  # by site, state, entry, and the number of equal ones before
    placed: list[list[tuple[np.void, RowArray, list[int]]]] = []
    for threads, numbering in zip(counts, numberings, strict=True):
        placed.append([])
        for thread, rows in threads:
            own = numbering.numbered(rows.copy()) if numbering else rows
            equal_before, places = Counter[tuple[int, ...]](), list[int]()
            for slot in own[list(_SLOT)].tolist():
                places.append(slots.setdefault((*slot, equal_before[slot]), len(slots)))
                equal_before[slot] += 1
            placed[-1].append((thread, own, places))
    return [[_moved(thread, rows, places, slots) for thread, rows, places in threads] for threads in placed]


def _moved(
    thread: np.void, rows: RowArray, places: list[int], slots: dict[tuple[int, ...], int]
) -> tuple[np.void, RowArray]:
    """A thread and its rows, with row n at `places[n]` of all `slots`."""
    moved, at = np.zeros(len(slots), rows.dtype), np.array(places)
    for column, name in enumerate(_SLOT):
        moved[name] = [slot[column] for slot in slots]
    moved[at] = rows
    changed = np.array([thread], THREAD)
    for own in (changed["slot"], changed["under_way"]["slot"]):
        known = (own >= 0) & (own < len(at))
        own[known] = at[own[known]]
    return changed[0], moved
