"""The entities that may be a design's top: those that nothing but a test bench instantiates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from rc_workbench_plugins.verilog.ports import clocks, resets
from rc_workbench_plugins.vhdl.blocks import read_blocks
from rc_workbench_plugins.vhdl.design import SUFFIXES, Design, design_below, read_units
from rc_workbench_plugins.vhdl.hierarchy import elaborate
from rc_workbench_plugins.vhdl.language import top_ports
from rc_workbench_plugins.vhdl.order import Reach, files_of
from rc_workbench_plugins.vhdl.source_file import pragmas_of
from rc_workbench_plugins.vhdl.syntax import VhdlFile, plain
from rc_workbench_plugins.vhdl.units import Unit
from workbench.api.job import Job
from workbench.model.diagnostic import Diagnostic
from workbench.model.scan import HdlTop

_MOST = 12  # that are elaborated: those that reach the most
_BASED = re.compile(
    r"\b(\d+)#([0-9a-f_]+)#|\b(x|o|b)\"([0-9a-f_]+)\"|(?<![\w.#\"])(\d[\d_]*)(?![\w.#\"])", re.IGNORECASE
)
_BASES = {"x": 16, "o": 8, "b": 2}


def tops(root: Path, names: Sequence[str]) -> tuple[HdlTop, ...]:
    root = root.resolve()
    named = tuple(name for name in names if name.lower().endswith(SUFFIXES))
    files, units = read_units([(root / name).resolve() for name in named], {})
    reach = Reach(units)
    candidates = sorted(_candidates(units), key=lambda unit: -len(files_of(reach.needed(unit))))
    found = [_top(root, files, units, unit) for unit in candidates[:_MOST]]
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
    design = design_below(root, files, units, top, {}, Job())
    needed = [unit for file in design.needed for unit in design.units_of(file)]
    blocks = [block for unit in needed for block in read_blocks(unit, pragmas_of(design, unit.file)[0])]
    tree, _ = elaborate(design, {block.key: block for block in blocks})
    return HdlTop(
        name=top.name,
        file=design.name_of(top.file.path),
        line=top.line,
        sources=tuple(design.name_of(file.path) for file in design.needed),
        ports=top_ports(design, tree),
        parameters=tuple(_generics(top)),
        clocks=clocks(tree),
        resets=resets(tree),
        numbers=tuple(sorted({number for file in design.needed for number in numbers(file.data.decode("latin-1"))})),
        diagnostics=_of(design),
    )


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


def numbers(text: str) -> Iterator[int]:
    """The whole numbers in a source."""
    for base, based, letter, bits, decimal in _BASED.findall(text):
        digits, radix = (based, int(base)) if base else (bits, _BASES[letter.lower()]) if letter else (decimal, 10)
        try:
            yield int(digits.replace("_", "")[:80], radix)
        except ValueError:
            continue  # digits of another base
