"""How many bits vectors have whose values are counted, where only the elaborated design says so: its skeleton tells."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from rc_workbench_plugins.vhdl.syntax import declared_in, matches, plain
from rc_workbench_plugins.vhdl.types import Type, resolved, types_of
from rc_workbench_plugins.vhdl.units import Region, Unit

_BOUNDS = re.compile(r"\(\s*(\d+)\s+(?:downto|to)\s+(\d+)\s*\)", re.IGNORECASE)


#: A region's file, by its number, and the offset at which it begins.
Place = tuple[int, int]


def place_of(region: Region) -> Place:
    return region.file.number, region.start


def key_of(name: str) -> str:
    """A signal's name, or that of a field of one, as names are compared."""
    return ".".join(map(plain, name.split(".")))


def written_bits(text: str) -> int | None:
    """How many bits a vector of a type has, where its bounds are numbers."""
    bounds = _BOUNDS.search(text)
    return abs(int(bounds[1]) - int(bounds[2])) + 1 if bounds else None


def type_text(name: str, declared: Mapping[str, str], types: Mapping[str, Type | str]) -> str:
    """The type of a signal that is `declared`, or of a field of one, as it is written; '' where there is none."""
    first, *fields = key_of(name).split(".")
    text = next((of for known, of in declared.items() if plain(known) == first), "")
    for field in fields:
        record = resolved(text, types)
        text = next((of for known, of in (record.fields if record else ()) if plain(known) == field), "")
    return text


def telling(unit: Unit, names: Collection[str], shared: Mapping[str, Type | str]) -> dict[Place, str]:
    """Statements of a process in each region of an architecture that tell the lengths of what is declared there, of the
    `names` in question (`key_of`): lines "recap bits:FILE:REGION:NAME:INSTANCE NUMBER"."""
    types = {**shared, **types_of([unit])}
    declared: dict[int, dict[str, str]] = {}
    for node in matches(unit.node, "(signal_declaration) @d"):
        inner = [region for region in unit.regions if region.start <= node.start_byte < region.end]
        declared.setdefault(inner[-1].start if inner else -1, {}).update(declared_in(node))
    told: dict[Place, str] = {}
    for region in unit.regions:
        own = declared.get(region.start, {})
        if region is unit.region:
            own |= {port.name: port.type for port in unit.entity_ports}
        told[place_of(region)] = "".join(_reports(region, own, names, types))
    return told


def _reports(
    region: Region, declared: Mapping[str, str], names: Collection[str], types: Mapping[str, Type | str]
) -> Iterator[str]:
    for name in sorted(names):
        text = type_text(name, declared, types)
        kind = resolved(text, types) if text else None
        if kind is not None and kind.kind == "vector" and written_bits(text) is None:
            first, key = name.partition(".")[0], f"{_key(region)}{name}"
            yield f""" report "recap {key}:" & {first}'path_name & " " & integer'image({name}'length);"""


def _key(region: Region) -> str:
    return f"bits:{region.file.number}:{region.start}:"


def told_bits(unit: Unit, name: str, told: Iterable[Mapping[str, str]]) -> int | None:
    """The most bits that a signal of an architecture has in any instance, of what skeletons told; None: unknown."""
    keys = tuple(f"{_key(region)}{key_of(name)}:" for region in unit.regions)
    found = (int(value) for values in told for key, value in values.items() if key.startswith(keys))
    return max(found, default=None)
