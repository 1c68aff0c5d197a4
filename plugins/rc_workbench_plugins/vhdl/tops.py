"""The entities that may be a design's top: those that nothing but a test bench instantiates."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from rc_workbench_plugins.vhdl.blocks import read_blocks
from rc_workbench_plugins.vhdl.design import Design, design_below, read_units
from rc_workbench_plugins.vhdl.hierarchy import elaborate
from rc_workbench_plugins.vhdl.language import top_ports
from rc_workbench_plugins.vhdl.order import Reach, files_of
from rc_workbench_plugins.vhdl.ports import hdl_ports
from rc_workbench_plugins.vhdl.source_file import pragmas_of
from rc_workbench_plugins.vhdl.syntax import VhdlFile, plain
from rc_workbench_plugins.vhdl.units import Unit
from rc_workbench_plugins.vhdl.vendors import stands_in
from workbench.api import Diagnostic, HdlTop, Job
from workbench.api.source import suffixes
from workbench.hdl.top_inputs import clocks, resets
from workbench.hdl.verilog.design import shown_path

_MOST = 100  # that are told: those that reach the most
_MOST_FILES = 150  # of which they are elaborated, which takes some 25 ms each
_BITS = re.compile(r"\b\d+\s+(?:down)?to\s+\d+\b", re.IGNORECASE)  # of a vector
_BASED = re.compile(
    r"\b(\d+)#([0-9a-f_]+)#|\b(x|o|b)\"([0-9a-f_]+)\"|(?<![\w.#\"])(\d[\d_]*)(?![\w.#\"])", re.IGNORECASE
)
_RANGE = re.compile(r"\(\s*(\d+)\s+(?:downto|to)\s+(\d+)\s*\)$", re.IGNORECASE)
_BASES = {"x": 16, "o": 8, "b": 2}


def tops(
    root: Path, names: Sequence[str], chosen: str = "", defines: Mapping[str, int | float | str] | None = None
) -> tuple[HdlTop, ...]:
    """VHDL has no macros: `defines` are of no use to it."""
    root = root.resolve()
    named = tuple(name for name in names if name.lower().endswith(suffixes.VHDL))
    files, units = read_units([(root / name).resolve() for name in named], {})
    reach = Reach(units)
    of = {shown_path(root, file.path): file for file in files}.get(chosen)
    wanted = [u for u in units if u.kind == "entity" and chosen and (u.file is of or plain(u.name) == plain(chosen))]
    several = {id(unit): (unit, files_of(reach.needed(unit))) for unit in (*wanted, *_candidates(units))}
    candidates = sorted(several.values(), key=lambda pair: (pair[0] not in wanted, -len(pair[1])))
    found: list[HdlTop] = []
    left = _MOST_FILES
    for unit, needed in candidates[:_MOST]:
        left -= len(needed)
        whole = not found or left >= 0
        found.append((_top if whole else _as_declared)(root, files, units, unit))
    return tuple(sorted(found, key=lambda top: -len(top.sources)))


def _candidates(units: Sequence[Unit]) -> Iterator[Unit]:
    benches = {plain(u.name) for u in units if u.kind == "entity" and u.interface is not None and not u.interface.ports}
    used: set[str] = set()
    for unit in units:
        if unit.kind == "architecture" and plain(unit.of) not in benches:
            used |= {*unit.names, *(name for _, name in unit.uses)} - {plain(unit.of)}
    for unit in units:
        if unit.kind == "entity" and plain(unit.name) not in used | benches:
            yield unit


def _top(root: Path, files: Sequence[VhdlFile], units: Sequence[Unit], top: Unit) -> HdlTop:
    design = design_below(root, files, units, top, {}, "2008", Job())
    if design.fitting is not None:
        design = design_below(root, files, units, top, {}, design.fitting, Job())
    needed = [unit for file in design.needed for unit in design.units_of(file)]
    blocks = [block for unit in needed for block in read_blocks(unit, pragmas_of(design, unit.file)[0])]
    tree, _ = elaborate(design, {block.key: block for block in blocks})
    told = _told(design, top)
    ports = top_ports(design, tree) or told.ports
    return replace(told, ports=ports, clocks=clocks(tree), resets=resets(tree), diagnostics=_of(design))


def _as_declared(root: Path, files: Sequence[VhdlFile], units: Sequence[Unit], top: Unit) -> HdlTop:
    return _told(Design(root, tuple(files), tuple(units), top, Reach(units).needed(top), ()), top)


def _told(design: Design, top: Unit) -> HdlTop:
    """What can be told of a top without elaborating it: widths of ports only where they are plain numbers."""
    shown = design.name_of(top.file.path)
    own = [file for file in design.needed if not stands_in(file)]
    return HdlTop(
        name=top.name,
        file=shown,
        line=top.line,
        sources=tuple(design.name_of(file.path) for file in own),
        ports=tuple(hdl_ports(top, design.used, _plain_widths(top), shown)),
        parameters=tuple(_generics(top)),
        vhdl_standard=design.standard,
        numbers=tuple(sorted({number for file in own for number in _numbers_of(file.data)})),
    )


def _plain_widths(top: Unit) -> dict[str, str]:
    found: dict[str, str] = {}
    for port in top.interface.ports if top.interface is not None else ():
        if ends := _RANGE.search(port.type):
            found[plain(port.name)] = str(abs(int(ends[1]) - int(ends[2])) + 1)
    return found


def _of(design: Design) -> tuple[Diagnostic, ...]:
    """What is told of the files that the top needs."""
    names = {design.name_of(file.path) for file in design.needed}
    return tuple(told for told in design.diagnostics if told.file is None or told.file in names)


def _generics(top: Unit) -> Iterator[tuple[str, int | float | str]]:
    """Those whose default is a number, a text or a truth value: what else there is cannot stand in a project file."""
    for generic in top.interface.generics if top.interface is not None else ():
        text = generic.default
        if re.fullmatch(r"-?\d[\d_]*", text):
            yield generic.name, int(text.replace("_", ""))
        elif re.fullmatch(r"-?\d[\d_]*\.\d+", text):
            yield generic.name, float(text.replace("_", ""))
        elif re.fullmatch(r'"[^"]*"', text):
            yield generic.name, text[1:-1]
        elif text.lower() in ("true", "false"):
            yield generic.name, text.lower()


@lru_cache(2000)
def _numbers_of(data: bytes) -> frozenset[int]:
    return frozenset(numbers(data.decode("latin-1")))


def numbers(text: str) -> Iterator[int]:
    """The whole numbers in a source that may be addresses: not those of bit ranges."""
    for base, based, letter, bits, decimal in _BASED.findall(_BITS.sub(" ", text)):
        digits, radix = (based, int(base)) if base else (bits, _BASES[letter.lower()]) if letter else (decimal, 10)
        try:
            yield int(digits.replace("_", "")[:80], radix)
        except ValueError:
            continue  # digits of another base
