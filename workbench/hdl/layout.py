"""Assigns the bits of `recap_state` in every module, on which each block's state reaches the monitors.

A module's width is the same in all its specialisations: a place in a generate loop gets room for every index that
any of them has, so that widths and offsets are plain numbers.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.hdl.blocks import SourceBlock
from workbench.hdl.derived import has_own_clock
from workbench.hdl.instances import Instance, Key, Loop


@dataclass
class Site:
    """A block or an instantiation in a module's source. `ranges` are the indices seen of each loop around it."""

    width: int
    ranges: list[tuple[str, int, int]]
    array: tuple[int, int] | None
    offset: int = 0
    clock: bool = False  # whether the highest bit is a block's clock

    @property
    def total(self) -> int:
        total = self.width
        for _, low, high in self.ranges:
            total *= high - low + 1
        return total

    def index(self, loops: Sequence[Loop]) -> int:
        """Which of the site's places an occurrence has."""
        index = 0
        for position, (loop, (_, low, high)) in enumerate(zip(loops, self.ranges, strict=True)):
            last = position == len(self.ranges) - 1
            reverse = last and self.array is not None and self.array[0] < self.array[1]
            index = index * (high - low + 1) + (high - loop.index if reverse else loop.index - low)
        return index

    def slice(self) -> str:
        """The part of `recap_state` for this place, as Verilog within the loops' scope; an array takes all of its."""
        ranges = self.ranges[:-1] if self.array else self.ranges
        width = self.width
        if self.array:
            _, low, high = self.ranges[-1]
            width *= high - low + 1
        if not ranges:
            return f"[{self.offset + width - 1}:{self.offset}]" if width > 1 else f"[{self.offset}]"
        index = ""
        for name, low, high in ranges:
            term = f"({name} - {low})" if low > 0 else f"({name} + {-low})" if low else name
            index = f"({index} * {high - low + 1} + {term})" if index else term
        return f"[{self.offset} + {index} * {width} +: {width}]"


@dataclass
class Layout:
    """`widths`: of each module's `recap_state`. `sites`: by module, then by where they stand in the source."""

    widths: dict[str, int] = field(default_factory=dict)
    sites: dict[str, dict[Key, Site]] = field(default_factory=dict)

    def bits(self, top: Instance) -> dict[str, int]:
        """The lowest bit of each observed block in the top's `recap_state`, by the block's path."""
        bits: dict[str, int] = {}
        self._place(top, 0, bits)
        return bits

    def clock_bits(self, top: Instance) -> dict[str, int]:
        """Where the top's `recap_state` has a block's own clock, by the block's path."""
        bits = self.bits(top)
        return {
            use.path: bits[use.path] + site.width - 1
            for instance in top.walk()
            for use in instance.observed
            if (site := self.sites.get(instance.module, {}).get(use.source.key)) is not None and site.clock
        }

    def _place(self, instance: Instance, base: int, bits: dict[str, int]) -> None:
        sites = self.sites.get(instance.module, {})
        for use in instance.observed:
            site = sites.get(use.source.key)
            if site is not None:
                bits[use.path] = base + site.offset + site.index(use.loops) * site.width
        for child in instance.children:
            site = sites.get(child.key)
            if site is not None:
                self._place(child, base + site.offset + site.index(child.loops) * site.width, bits)


def lay_out(top: Instance, observed: Callable[[SourceBlock], bool], editable: Callable[[str], bool]) -> Layout:
    """Give every observed block bits in each module above it. Modules that cannot be edited get none."""
    by_module: dict[str, list[Instance]] = defaultdict(list)
    for instance in top.walk():
        by_module[instance.module].append(instance)
    layout = Layout()
    for module in by_module:
        _lay_out_module(module, by_module, observed, editable, layout, ())
    return layout


def _lay_out_module(
    module: str,
    by_module: Mapping[str, list[Instance]],
    observed: Callable[[SourceBlock], bool],
    editable: Callable[[str], bool],
    layout: Layout,
    above: tuple[str, ...],
) -> int:
    if module in layout.widths or module in above:
        return layout.widths.get(module, 0)
    sites: dict[Key, Site] = {}
    if editable(module):
        for instance in by_module[module]:
            for use in instance.observed:
                if observed(use.source):
                    own = any(has_own_clock(other) for one in by_module[module] for other in one.observed
                              if other.source.key == use.source.key)  # fmt: skip
                    width = use.source.own_bits + own
                    _include(sites, use.source.key, width, use.loops, None)
                    sites[use.source.key].clock = own
            for child in instance.children:
                inner = _lay_out_module(child.module, by_module, observed, editable, layout, (*above, module))
                if inner:
                    _include(sites, child.key, inner, child.loops, child.array)
    offset = 0
    for site in sites.values():
        site.offset = offset
        offset += site.total
    layout.sites[module] = sites
    layout.widths[module] = offset
    return offset


def _include(
    sites: dict[Key, Site], key: Key, width: int, loops: Sequence[Loop], array: tuple[int, int] | None
) -> None:
    """Make room at a site for one more occurrence."""
    site = sites.get(key)
    if site is None:
        sites[key] = Site(width, [(loop.name, loop.index, loop.index) for loop in loops], array)
        return
    site.ranges = [
        (name, min(low, loop.index), max(high, loop.index))
        for (name, low, high), loop in zip(site.ranges, loops, strict=True)
    ]
