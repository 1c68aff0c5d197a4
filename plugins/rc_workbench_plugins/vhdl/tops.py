"""The entities that may be a design's top: those that nothing but a test bench instantiates."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from rc_workbench_plugins.vhdl.blocks import read_blocks
from rc_workbench_plugins.vhdl.design import Design, design_below, read_units
from rc_workbench_plugins.vhdl.hierarchy import elaborate
from rc_workbench_plugins.vhdl.joined import Joined, read_joined
from rc_workbench_plugins.vhdl.language import ports_of_entity, top_ports
from rc_workbench_plugins.vhdl.order import Reach, files_of
from rc_workbench_plugins.vhdl.ports import hdl_ports
from rc_workbench_plugins.vhdl.source_file import pragmas_of
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.units import Unit
from rc_workbench_plugins.vhdl.vendors import stands_in
from workbench.api import Diagnostic, HardwareSources, HdlTop, Job
from workbench.api.source import suffixes
from workbench.api.unstable import ReadOut
from workbench.hdl.top_inputs import clocks, resets
from workbench.hdl.verilog import tops as verilog
from workbench.hdl.verilog.heads import Modules, read_modules

_MOST = 100  # that are told: those that reach the most
_MOST_OF_BOTH = 12  # that are elaborated with the Verilog: those that reach the most
_MOST_FILES = 150  # of which they are elaborated, which takes some 25 ms each
_BITS = re.compile(r"\b\d+\s+(?:down)?to\s+\d+\b", re.IGNORECASE)  # of a vector
_BASED = re.compile(
    r"\b(\d+)#([0-9a-f_]+)#|\b(x|o|b)\"([0-9a-f_]+)\"|(?<![\w.#\"])(\d[\d_]*)(?![\w.#\"])", re.IGNORECASE
)
_RANGE = re.compile(r"\(\s*(\d+)\s+(?:downto|to)\s+(\d+)\s*\)$", re.IGNORECASE)
_NO_READ_OUT = ReadOut(first=0, last=0)
_BASES = {"x": 16, "o": 8, "b": 2}


def tops(
    root: Path, names: Sequence[str], chosen: str = "", defines: Mapping[str, int | float | str] | None = None
) -> tuple[HdlTop, ...]:
    """VHDL has no macros: `defines` are of no use to it."""
    root = root.resolve()
    named = tuple(name for name in names if name.lower().endswith(suffixes.VHDL))
    read = Design(root, *read_units([(root / name).resolve() for name in named], {}), None, (), ())
    reach = Reach(read.units)
    of = {read.name_of(file.path): file for file in read.files}.get(chosen)
    wanted = [
        u for u in read.units if u.kind == "entity" and chosen and (u.file is of or plain(u.name) == plain(chosen))
    ]
    several = {id(unit): (unit, files_of(reach.needed(unit))) for unit in (*wanted, *_candidates(read.units))}
    candidates = sorted(several.values(), key=lambda pair: (pair[0] not in wanted, -len(pair[1])))
    every_top: list[HdlTop] = []
    left = _MOST_FILES
    for unit, needed in candidates[:_MOST]:
        left -= len(needed)
        whole = not every_top or left >= 0
        every_top.append((_top if whole else _as_declared)(read, unit))
    return tuple(sorted(every_top, key=lambda top: -len(top.sources)))


def _candidates(units: Sequence[Unit]) -> Iterator[Unit]:
    benches = {plain(u.name) for u in units if u.kind == "entity" and not u.ports}
    used: set[str] = set()
    for unit in units:
        if unit.kind == "architecture" and plain(unit.of) not in benches:
            used |= {*unit.names, *(name for _, name in unit.uses)} - {plain(unit.of)}
    for unit in units:
        if unit.kind == "entity" and plain(unit.name) not in used | benches:
            yield unit


def _top(read: Design, top: Unit) -> HdlTop:
    design = design_below(read, top, {}, Job())
    if design.fitting is not None:
        design = design_below(replace(read, standard=design.fitting), top, {}, Job())
    needed = [unit for file in design.needed for unit in design.units_of(file)]
    blocks = [block for unit in needed for block in read_blocks(unit, pragmas_of(design, unit.file)[0])]
    tree, _ = elaborate(design, {block.key: block for block in blocks})
    declared = _as_written(design, top)
    ports = ports_of_entity(design, tree) or declared.ports
    return replace(declared, ports=ports, clocks=clocks(tree), resets=resets(tree), diagnostics=_of(design))


def _as_declared(read: Design, top: Unit) -> HdlTop:
    return _as_written(replace(read, top=top, used=Reach(read.units).needed(top)), top)


def _as_written(design: Design, top: Unit) -> HdlTop:
    """A top as it is written, without elaboration: widths of ports only if they are plain numbers."""
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
    widths: dict[str, str] = {}
    for port in top.ports:
        if ends := _RANGE.search(port.type):
            widths[plain(port.name)] = str(abs(int(ends[1]) - int(ends[2])) + 1)
    return widths


def _of(design: Design) -> tuple[Diagnostic, ...]:
    """The diagnostics of the files that the top needs."""
    names = {design.name_of(file.path) for file in design.needed}
    return tuple(one for one in design.diagnostics if one.file is None or one.file in names)


def _generics(top: Unit) -> Iterator[tuple[str, int | float | str]]:
    """The generics whose default is a number, a text or a truth value; a project file cannot hold others."""
    for generic in top.generics:
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


def tops_of_both(
    root: Path, names: Sequence[str], chosen: str = "", defines: Mapping[str, int | float | str] | None = None
) -> tuple[HdlTop, ...]:
    """The tops of each language that the other does not instantiate; with both halves if they reach the other."""
    root = root.resolve()
    folders = tuple(dict.fromkeys(str((root / name).parent) for name in names))
    everything = HardwareSources(
        sources=tuple(names), top="", include_dirs=folders, defines=dict(defines or {}), read_out=_NO_READ_OUT
    )
    own = [name for name in names if name.lower().endswith(suffixes.VHDL)]
    rest = [name for name in names if not name.lower().endswith((*suffixes.VHDL, *suffixes.VERILOG_HEADERS))]
    units = read_units([(root / name).resolve() for name in own], {})[1]
    modules = read_modules(root, everything.model_copy(update={"sources": tuple(rest)}))
    entities = {plain(unit.name) for unit in units if unit.kind == "entity"}
    heads = modules.heads.keys()
    of_verilog = {name for unit in units for name in unit.names if name in heads - entities}
    of_vhdl = {plain(name) for name in modules.instantiated()} & (entities - heads)
    every_top: list[HdlTop] = []
    left = _MOST_OF_BOTH
    each = (*tops(root, own, chosen), *verilog.tops(root, rest, chosen, defines))
    for top in sorted(each, key=lambda top: (chosen not in (top.name, top.file), -len(top.sources))):
        if plain(top.name) in of_vhdl | of_verilog and chosen not in (top.name, top.file):
            continue
        reaches = set(_instantiated(root, top, units, modules)) & (of_vhdl | of_verilog)
        left -= bool(reaches)
        every_top.append(_with_both(root, top, everything) if reaches and left >= 0 else top)
    return tuple(sorted(every_top, key=lambda top: -len(top.sources)))


def _instantiated(root: Path, top: HdlTop, units: Collection[Unit], modules: Modules) -> Iterator[str]:
    """The names, in small letters, of what a top's own sources instantiate."""
    paths = {(root / name).resolve() for name in top.sources}
    yield from (name for unit in units if unit.file.path in paths for name in unit.names)
    for path, text in modules.files.items():
        if path in paths:
            yield from (name.lower() for unit in text.units for name in unit.instantiates)


def _with_both(root: Path, top: HdlTop, everything: HardwareSources) -> HdlTop:
    """A top with what it reaches of the other language too."""
    asked = {"top": top.name, "vhdl_standard": top.vhdl_standard}
    joined = read_joined(root, everything.model_copy(update=asked), (), {}, Job())
    if fitting := next((one.fitting for one, _ in joined.designs if one.fitting), None):
        asked["vhdl_standard"] = fitting
        joined = read_joined(root, everything.model_copy(update=asked), (), {}, Job())
    sources = tuple(joined.name_of(path) for path in _needed(joined))
    included = joined.modules.files if joined.modules is not None else ()
    headers = {path.parent for path in included if path not in joined.boxes} - {
        (root / name).parent for name in sources
    }
    texts = [(root / name).read_text("utf-8", "replace") for name in sources]
    return replace(
        top,
        sources=sources,
        include_dirs=tuple(joined.name_of(folder) for folder in sorted(headers)),
        ports=top_ports(joined),
        clocks=clocks(joined.top),
        resets=resets(joined.top),
        numbers=tuple(sorted({*top.numbers, *(number for text in texts for number in numbers(text))})),
        vhdl_standard=joined.entities.standard,
        diagnostics=(*joined.wrong, *joined.unobserved),
        made=(),
    )


def _needed(joined: Joined) -> Iterator[Path]:
    """The files that the top reaches, each half's after those that they need, without what stands for vendors'."""
    primitives = joined.modules.primitives if joined.modules is not None else None
    yield from (path for path in joined.in_verilog if primitives is None or path != primitives.file)
    yield from (file.path for file in joined.entities.needed if file.path.is_relative_to(joined.root))
