"""Which port of the top a name is, followed through port maps and plain assignments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rc_workbench_plugins.verilog.blocks import Arm
from rc_workbench_plugins.verilog.instances import Instance
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.units import Association, Declared, Unit

_CONVERSIONS = re.compile(
    r"(not\b|(?:std_u?logic|to_stdu?logic|to_x01|to_bit|to_ux01)\s*(?=\())\s*(.*)", re.IGNORECASE | re.DOTALL
)
_NAME = re.compile(r"[a-z]\w*|\\[^\\]+\\", re.IGNORECASE)
_ASKED = re.compile(r"(not\s+)?([a-z]\w*)(?:\s*=\s*'([01])')?", re.IGNORECASE)
_MOST_STEPS = 200


class Clocks:
    """The names of an elaborated design, by the instances that they stand in."""

    def __init__(self, top: Instance, parents: Mapping[str, Instance]) -> None:
        self._top, self._parents = top, parents
        self._wires: dict[int, dict[str, str]] = {}
        self._known: dict[tuple[str, str], tuple[str, bool]] = {}

    def root(self, instance: Instance, name: str) -> str:
        """The top's input that a name in an instance is another name of, or ''."""
        return self._follow(instance, name)[0]

    def reset(self, instance: Instance, arms: Sequence[Arm]) -> tuple[str, bool] | None:
        """The top's input that a block's first condition asks for, and whether for its being low."""
        first = next((arm for arm in arms if arm.kind == "if"), None)
        asked = _ASKED.fullmatch(first.label.strip("() ")) if first is not None else None
        if asked is None:
            return None
        name, turned = self._follow(instance, asked[2])
        return (name, bool(asked[1]) ^ (asked[3] == "0") ^ turned) if name else None

    def _follow(self, instance: Instance, name: str) -> tuple[str, bool]:
        start = (instance.path, plain(name))
        if start not in self._known:
            self._known[start] = self._followed(instance, name)
        return self._known[start]

    def _followed(self, instance: Instance, name: str) -> tuple[str, bool]:
        turned = False
        for _ in range(_MOST_STEPS):
            name, inverted = _bare(name)
            turned ^= inverted
            port = _port(instance.body, name) if _NAME.fullmatch(name) else None
            if port is not None and port.mode == "in":
                if instance is self._top:
                    return port.name, turned
                actual = _actual(instance, port)
                instance, name = self._parents[instance.path], actual
                continue
            wires = self._of(instance.body)
            if (source := wires.get(plain(name))) is not None:
                name = source
            elif (driver := self._driver(instance, name)) is not None:
                instance, name = driver
            else:
                break
        return "", False

    def _of(self, unit: Unit | None) -> dict[str, str]:
        """What is plainly assigned to names in an architecture."""
        if unit is None or unit.region is None:
            return {}
        if id(unit) not in self._wires:
            self._wires[id(unit)] = {target: source for region in unit.region.walk() for target, source in region.wires}
        return self._wires[id(unit)]

    def _driver(self, instance: Instance, name: str) -> tuple[Instance, str] | None:
        """The instance, and its output in it, that drives a name."""
        for child in instance.children:
            for association, formal in associated(child):
                if plain(association.actual) == plain(name) and formal.mode in ("out", "buffer"):
                    return child, formal.name
        return None


def associated(instance: Instance) -> Iterator[tuple[Association, Declared]]:
    """An instance's associations with whole ports of its entity."""
    unit = instance.body
    ports = unit.entity_ports if unit is not None else ()
    by_name = {plain(port.name): port for port in ports}
    for number, association in enumerate(instance.node.associations if instance.node is not None else ()):
        if not association.formal and number < len(ports):
            yield association, ports[number]
        elif plain(association.formal) in by_name:
            yield association, by_name[plain(association.formal)]


def _port(unit: Unit | None, name: str) -> Declared | None:
    return next((p for p in unit.entity_ports if plain(p.name) == plain(name)), None) if unit is not None else None


def _actual(instance: Instance, port: Declared) -> str:
    return next((one.actual for one, formal in associated(instance) if formal is port), "")


def _bare(name: str) -> tuple[str, bool]:
    """A name without conversions and inverters, and whether it is turned by them."""
    turned = False
    while (found := _CONVERSIONS.fullmatch(name.strip())) is not None:
        turned ^= found[1].lower() == "not"
        name = found[2].strip()
        while name.startswith("(") and name.endswith(")"):
            name = name[1:-1].strip()
    return name.strip(), turned
