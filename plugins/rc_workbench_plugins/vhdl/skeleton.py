"""A copy of a VHDL file that elaborates as the file does, and does nothing: its processes are gone.

GHDL tells the elaborated hierarchy as it begins to simulate. So that nothing of the user's runs, there is nothing left
to run but declarations; each region has a process of ours instead, whose label tells which it is. Files that a design
would write stay closed. Lines stay.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from rc_workbench_plugins.vhdl.elaborate import PART
from rc_workbench_plugins.vhdl.lengths import Place, place_of
from rc_workbench_plugins.vhdl.syntax import VhdlFile, children, matches, plain
from rc_workbench_plugins.vhdl.units import Region, Unit

_MARK = "recap_r{}_{}"
_MARKED = re.compile(r"recap_r(\d+)_(\d+)")
_FILES = "(file_declaration (file_open_information) @f)"
_WRITES = re.compile(rb"\bopen\s+(?:write|append)_mode\b|\bis\s+out\b", re.IGNORECASE)
_FOREIGN = '((attribute_specification attribute: (_) @name) @all (#match? @name "^[fF][oO][rR][eE][iI][gG][nN]$"))'


def skeleton(
    file: VhdlFile, units: Sequence[Unit], probe: tuple[str, str] = ("", ""), of: str = "",
    told: Mapping[Place, str] = MappingProxyType({}),
) -> bytes:  # fmt: skip
    """The copy. `probe` are declarations and statements of the process that marks the architectures of entity `of`, and
    `told` statements of those that mark regions."""
    pieces: list[bytes] = []
    position = 0
    for start, end, text in sorted(_edits(file, units, probe, plain(of), told), key=lambda edit: edit[:2]):
        if start < position:
            continue  # within what is gone
        pieces += [file.data[position:start], text.encode(), b"\n" * file.data.count(b"\n", start, end)]
        position = end
    return b"".join([*pieces, file.data[position:]])


def marked(label: str) -> tuple[int, int] | None:
    """The number of the file and the offset of the region that a process marks."""
    numbers = _MARKED.fullmatch(label)
    return (int(numbers[1]), int(numbers[2])) if numbers else None


def cuts(units: Sequence[Unit]) -> Iterator[int]:
    """Where a file with these units is parted (`elaborate.PART`): before another architecture of one entity."""
    seen: set[str] = set()
    for unit in units:
        if unit.kind == "architecture":
            if plain(unit.of) in seen:
                yield unit.start
            seen.add(plain(unit.of))


def _edits(
    file: VhdlFile, units: Sequence[Unit], probe: tuple[str, str], of: str, told: Mapping[Place, str]
) -> Iterator[tuple[int, int, str]]:
    for cut in cuts(units):
        yield cut, cut, PART.decode()
    for unit in units:
        if unit.region is not None and unit.node.has_error:
            own = probe if plain(unit.of) == of else ("", "")
            empty = f"architecture {unit.name} of {unit.of} is begin {_mark(unit.region, own)} end;"
            yield unit.node.start_byte, unit.node.end_byte, empty
        elif unit.region is not None:
            for region in unit.region.walk():
                own = probe if region is unit.region and plain(unit.of) == of else ("", "")
                yield (
                    region.statements_at,
                    region.statements_at,
                    f" {_mark(region, (own[0], own[1] + told.get(place_of(region), '')))}",
                )
                for node in (*region.processes, *region.dropped):
                    yield node.start_byte, node.end_byte, ""
        for body in children(unit.node, "entity_body"):
            for node in children(body):
                if node.is_named:
                    yield node.start_byte, node.end_byte, ""
    for node in matches(file.tree.root_node, _FILES):
        if _WRITES.search(file.data, node.start_byte, node.end_byte):
            yield node.start_byte, node.end_byte, ""
    for node in matches(file.tree.root_node, _FOREIGN):
        if node.type == "attribute_specification":
            yield node.start_byte, node.end_byte, ""


def _mark(region: Region, probe: tuple[str, str]) -> str:
    declared, said = probe
    return f"{_MARK.format(region.file.number, region.start)} : process {declared} begin {said} wait; end process;"
