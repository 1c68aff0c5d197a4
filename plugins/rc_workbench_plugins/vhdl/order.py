"""Which files a top reaches, and which of several definitions of a unit is meant: one that has the ports which its user
connects, and of those the nearest."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rc_workbench_plugins.vhdl.libraries import WORK
from rc_workbench_plugins.vhdl.syntax import VhdlFile, plain
from rc_workbench_plugins.vhdl.units import Unit

_PRIMARY = ("entity", "package", "configuration", "context")


class Reach:
    """The units of a design by their names, of which several may have one."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._units = units
        self._primary: dict[tuple[str, str], list[Unit]] = defaultdict(list)
        self._bodies: dict[tuple[str, str], list[Unit]] = defaultdict(list)
        self._by_name: dict[str, list[Unit]] = defaultdict(list)
        for unit in units:
            if unit.kind in _PRIMARY:
                self._primary[unit.library, plain(unit.name)].append(unit)
                self._by_name[plain(unit.name)].append(unit)
            else:
                self._bodies[unit.library, plain(unit.of or unit.name)].append(unit)

    def needed(self, top: Unit) -> tuple[Unit, ...]:
        """The units that a top reaches, each after those it needs where that can be; itself the last."""
        done: dict[int, Unit] = {}
        seen = {id(top)}
        stack: list[tuple[Unit, Iterator[Unit]]] = [(top, self._needs(top))]
        while stack:
            unit, more = stack[-1]
            following = next((one for one in more if id(one) not in seen), None)
            if following is None:
                done[id(unit)] = unit
                stack.pop()
            else:
                seen.add(id(following))
                stack.append((following, self._needs(following)))
        return tuple(done.values())

    def twice(self, used: Iterable[Unit]) -> Iterator[tuple[Unit, Unit]]:
        """The units in use that are defined twice, each with the other place."""
        for unit in used:
            if unit.kind in _PRIMARY:
                others = (one for one in self._primary[unit.library, plain(unit.name)] if one is not unit)
                yield from ((unit, other) for other in others)

    def _needs(self, unit: Unit) -> Iterator[Unit]:
        if unit.of or unit.kind == "package body":
            yield from self._meant(unit.library, plain(unit.of or unit.name), unit)
        for library, name in sorted(unit.uses):
            home = unit.library if library == WORK else library
            if name == "all":
                yield from (one for one in self._units if one.library == home and one.kind in _PRIMARY)
            else:
                yield from self._meant(home, name, unit)
        for name in sorted(unit.names):
            yield from list(self._meant(unit.library, name, unit)) or self._nearest(self._by_name.get(name, ()), unit)
        if unit.kind in ("entity", "package"):  # what it uses comes before what it is made of
            yield from self._of(unit)

    def _of(self, unit: Unit) -> Iterator[Unit]:
        """The bodies of a unit: in its file, or in one that defines no other unit of its name."""
        key = unit.library, plain(unit.name)
        others = {one.file.number for one in self._primary[key] if one is not unit}
        return (one for one in self._bodies.get(key, ()) if one.file.number not in others)

    def _meant(self, library: str, name: str, user: Unit) -> Iterator[Unit]:
        return iter(self._nearest(self._primary.get((library, name), ()), user))

    def _nearest(self, several: Sequence[Unit], user: Unit) -> list[Unit]:
        if len(several) < 2:
            return list(several)

        def rank(one: Unit) -> tuple[bool, int, bool, int]:
            there, here = one.file.path.parent, user.file.path.parent
            shared = len(os.path.commonpath([there, here]))
            lacking = len(_connected(user, plain(one.name)) - _ends(one))
            return one.file is not user.file, lacking, there != here, -shared

        return [min(several, key=rank)]


def _connected(user: Unit, name: str) -> set[str]:
    """The ports and generics of an entity that a unit connects by their names, or declares of its component."""
    instances = (one for region in user.regions for one in region.instantiations)
    formals = (a.formal for one in instances if plain(one.unit.rpartition(".")[2]) == name for a in one.associations)
    declared = (c.interface for c in user.components if plain(c.name) == name)
    return {plain(formal.partition("(")[0].strip()) for formal in formals if formal} | {
        plain(one.name) for interface in declared for one in (*interface.ports, *interface.generics)
    }


def _ends(entity: Unit) -> set[str]:
    return {plain(one.name) for one in (*entity.ports, *entity.generics)}


def files_of(units: Iterable[Unit]) -> tuple[VhdlFile, ...]:
    return tuple({unit.file.number: unit.file for unit in units}.values())
