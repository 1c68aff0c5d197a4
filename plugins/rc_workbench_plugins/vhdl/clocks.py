"""Which input of the top a name is, followed through port maps, assignments, and what makes clocks of clocks."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rc_workbench_plugins.vhdl.syntax import plain, text_of, without_comments
from rc_workbench_plugins.vhdl.units import Association, Declared, Region, Unit
from rc_workbench_plugins.vhdl.vendors import stands_for_clocks
from workbench.hdl.blocks import Arm
from workbench.hdl.instances import BlockUse, Instance, Loop, Origin

_CONVERSIONS = re.compile(
    r"(not\b|(?:std_u?logic|to_stdu?logic|to_x01|to_bit|to_ux01)\s*(?=\())\s*(.*)", re.IGNORECASE | re.DOTALL
)
_NAME = re.compile(r"([a-z]\w*|\\[^\\]+\\)((?:\.[a-z]\w*|\([^()]*\))*)", re.IGNORECASE)
_NAMED = re.compile(r"(?<![\w'\"\\.])([a-z]\w*(?:\s*\.\s*[a-z]\w*|\s*\([^()]*\))*)(?![\w\"])", re.IGNORECASE)
_ASKED = re.compile(r"(not\s+)?([a-z]\w*)(?:\s*=\s*'([01])')?", re.IGNORECASE)
_MOST_STEPS = 200
Within = tuple[Region, Sequence[Loop]]  # a region, and the loops around it


@dataclass(frozen=True)
class Place:
    """A name in an instance, whether it is inverted on the way there, and the last output port on that way."""

    instance: Instance
    name: str
    turned: bool = False
    port: str = ""


class Clocks:
    """The names of an elaborated design, by the instances that they stand in."""

    def __init__(self, top: Instance, parents: Mapping[str, Instance], regions: Mapping[str, Sequence[Within]]) -> None:
        """`regions` are those that were elaborated, by their instances."""
        self._top, self._parents, self._regions = top, parents, regions
        self._driven: dict[str, dict[str, list[str]]] = {}
        self._known: dict[tuple[str, str], Place] = {}

    def root(self, instance: Instance, name: str, loops: Sequence[Loop] = ()) -> str:
        """The top's input that a name in an instance is another name of, or ''."""
        return self.input(instance, name, loops)[0]

    def input(self, instance: Instance, name: str, loops: Sequence[Loop] = ()) -> tuple[str, bool]:
        """The root of a clock, as `root`, and whether it is inverted."""
        place = self.follow(instance, name, loops)
        return self.input_of(place), place.turned

    def reset(self, instance: Instance, arms: Sequence[Arm]) -> tuple[str, bool] | None:
        """The top's input that a block's first condition asks for, and whether for its being low."""
        first = next((arm for arm in arms if arm.kind == "if"), None)
        asked = _ASKED.fullmatch(first.label.strip("() ")) if first is not None else None
        if asked is None:
            return None
        name, turned = self.input(instance, asked[2])
        return (name, bool(asked[1]) ^ (asked[3] == "0") ^ turned) if name else None

    def origin(self, instance: Instance, name: str, loops: Sequence[Loop] = ()) -> Origin:
        """What a clock that is no other name of an input is made of."""
        inputs: set[str] = set()
        registers: list[Place] = []
        makers: dict[str, None] = {}
        divided = False
        open_ = [Place(instance, _within(name, loops))]
        seen: set[tuple[str, str]] = set()
        while open_ or (registers and not inputs):
            if not open_:  # of registers alone: what they are clocked by
                open_, registers, divided = registers, [], True
            place = self._follow(open_[-1].instance, open_.pop().name, makers)
            if (place.instance.path, plain(place.name)) in seen or len(seen) > _MOST_STEPS:
                continue
            seen.add((place.instance.path, plain(place.name)))
            if port := self.input_of(place):
                inputs.add(port)
                continue
            sources = self.sources(place)
            open_ += [Place(place.instance, one) for text in sources for one in _names(text)]
            registers += self._registers(place)
        root = self.follow(instance, name, loops)
        given: dict[str, None] = {}
        before = self._before(root.instance, root.name, "", given)
        driver, net = before if before and given else (root.instance, root.name)  # the output of what makes it
        return Origin(frozenset(inputs), next(iter(makers), ""), divided, f"{driver.path}.{plain(net)}")

    def follow(self, instance: Instance, name: str, loops: Sequence[Loop] = ()) -> Place:
        """Where what a name in an instance is another name of is driven."""
        return self._follow(instance, _within(name, loops))

    def input_of(self, place: Place) -> str:
        """The top's input that a place is, or a part of; '' where it is none."""
        name = _NAME.fullmatch(place.name)
        port = _port(place.instance.body, name[1]) if name and place.instance is self._top else None
        return port.name + name[2] if name and port is not None and port.mode == "in" else ""

    def _follow(self, instance: Instance, name: str, makers: dict[str, None] | None = None) -> Place:
        if makers is not None:
            return self._followed(Place(instance, name), makers)
        start = (instance.path, plain(name))
        if start not in self._known:
            self._known[start] = self._followed(Place(instance, name), None)
        return self._known[start]

    def _followed(self, place: Place, makers: dict[str, None] | None) -> Place:
        """Where a name is more than another name; through what makes clocks too where `makers` takes down its name."""
        for _ in range(_MOST_STEPS):
            name, inverted = _bare(place.name)
            place = replace(place, name=name, turned=place.turned ^ inverted)
            parts = _NAME.fullmatch(name)
            if parts is None or self.input_of(place):
                break
            before = self._before(place.instance, parts[1], parts[2], makers)
            if before is None:
                break
            below = before[0] is not place.instance and self._parents.get(before[0].path) is place.instance
            place = Place(*before, place.turned, before[1] if below else place.port)
        return place

    def _before(
        self, instance: Instance, base: str, part: str, makers: dict[str, None] | None
    ) -> tuple[Instance, str] | None:
        """The name that drives another as it is."""
        port = _port(instance.body, base)
        if port is not None and port.mode == "in":
            actual = _actual(instance, port, part)
            return (self._parents[instance.path], actual) if actual else None
        driven = self._of(instance)
        for name, rest in ((base + part, ""), (base, part)):
            sources = driven.get(plain(name), [])
            if len(set(sources)) == 1 and _NAME.fullmatch(_bare(sources[0])[0]):
                return instance, sources[0] + rest
            for child in instance.children:
                for association, formal, inner in _all_associated(child):
                    if plain(_within(association.actual, child.loops)) != plain(name) or formal.mode == "in":
                        continue
                    if stands_for_clocks(child.module, child.body.file if child.body else None):
                        if makers is None:
                            return None
                        makers[child.node.unit.rpartition(".")[2]] = None
                    return child, formal.name + inner + rest
        return None

    def _of(self, instance: Instance) -> dict[str, list[str]]:
        """What is assigned to names in an architecture, outside of processes."""
        if instance.path not in self._driven:
            driven = self._driven[instance.path] = defaultdict(list)
            for region, loops in self._regions.get(instance.path, ()):
                for target, source in region.drives:
                    driven[_within(plain(target), loops)].append(_within(source, loops))
        return self._driven[instance.path]

    def sources(self, place: Place) -> Sequence[str]:
        """What is assigned to a name outside of processes."""
        return self._of(place.instance).get(plain(place.name), ())

    def assigning(self, place: Place) -> list[BlockUse]:
        """The clocked processes that assign a name."""
        assigned = re.compile(rf"(?<![\w.]){re.escape(place.name)}\s*<=", re.IGNORECASE)
        blocks = [use for use in place.instance.blocks if use.source.clock]
        return [use for use in blocks if assigned.search(without_comments(text_of(use.source.node)))]

    def _registers(self, place: Place) -> Iterator[Place]:
        """The clocks of the processes that assign a name."""
        for use in self.assigning(place):
            yield Place(place.instance, _within(use.source.clock, use.loops))


def associated(instance: Instance) -> Iterator[tuple[Association, Declared]]:
    """An instance's associations with whole ports of its entity."""
    return ((association, formal) for association, formal, part in _all_associated(instance) if not part)


def _all_associated(instance: Instance) -> Iterator[tuple[Association, Declared, str]]:
    """An instance's associations with its entity's ports, and which part of them ('' the whole)."""
    unit = instance.body
    ports = unit.entity_ports if unit is not None else ()
    by_name = {plain(port.name): port for port in ports}
    for number, association in enumerate(instance.node.associations if instance.node is not None else ()):
        formal = _NAME.fullmatch("".join(association.formal.split()))
        if not association.formal and number < len(ports):
            yield association, ports[number], ""
        elif formal is not None and plain(formal[1]) in by_name:
            yield association, by_name[plain(formal[1])], formal[2]


def _port(unit: Unit | None, name: str) -> Declared | None:
    return next((p for p in unit.entity_ports if plain(p.name) == plain(name)), None) if unit is not None else None


def _actual(instance: Instance, port: Declared, part: str) -> str:
    """What drives a part of a port."""
    for association, formal, own in _all_associated(instance):
        if formal is port and plain(part).startswith(plain(own)):
            return _within(association.actual, instance.loops) + part[len(own) :]
    return ""


def _within(name: str, loops: Sequence[Loop]) -> str:
    """A name without blanks within, and with the values of the loops' parameters in its indices."""
    name = re.sub(r"\s*([.()])\s*", r"\1", name)
    for loop in loops if "(" in name else ():
        name = re.sub(rf"\({re.escape(loop.name)}\)", f"({loop.index})", name, flags=re.IGNORECASE)
    return name


def _names(text: str) -> Iterator[str]:
    """The names that may be signals in an expression."""
    for match in _NAMED.finditer(text):
        name = "".join(match[1].split())
        yield name
        if "(" in name:  # a function's arguments, or an index
            yield from _names(name[name.index("(") + 1 : name.rindex(")")])


def _bare(name: str) -> tuple[str, bool]:
    """A name without conversions and inverters, and whether it is turned by them."""
    turned = False
    while (conversion := _CONVERSIONS.fullmatch(name.strip())) is not None:
        turned ^= conversion[1].lower() == "not"
        name = conversion[2].strip()
        while name.startswith("(") and name.endswith(")"):
            name = name[1:-1].strip()
    return name.strip(), turned
