"""The modules and entities that may be a design's top, where sources are in both languages."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rc_workbench_plugins.vhdl import tops as vhdl
from rc_workbench_plugins.vhdl.design import read_units
from rc_workbench_plugins.vhdl.mixed.heads import Modules, read_modules
from rc_workbench_plugins.vhdl.mixed.joined import Joined, read_joined
from rc_workbench_plugins.vhdl.mixed.language import top_ports
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.units import Unit
from workbench.api import HardwareSources, HdlTop, Job
from workbench.api.source import suffixes
from workbench.api.unstable import ReadOut
from workbench.hdl.top_inputs import clocks, resets
from workbench.hdl.verilog import tops as verilog

_MOST = 12  # that are elaborated with both halves: those that reach the most
_NO_READ_OUT = ReadOut(first=0, last=0)


def tops(
    root: Path, names: Sequence[str], chosen: str = "", defines: Mapping[str, int | float | str] | None = None
) -> tuple[HdlTop, ...]:
    """Those of each language that nothing of the other instantiates; with both halves where they reach the other."""
    root = root.resolve()
    folders = tuple(dict.fromkeys(str((root / name).parent) for name in names))
    everything = HardwareSources(
        sources=tuple(names), top="", include_dirs=folders, defines=dict(defines or {}), read_out=_NO_READ_OUT
    )
    own = [name for name in names if name.lower().endswith(suffixes.VHDL)]
    rest = [name for name in names if name.lower().endswith(suffixes.VERILOG)]
    units = read_units([(root / name).resolve() for name in own], {})[1]
    modules = read_modules(root, everything.model_copy(update={"sources": tuple(rest)}))
    entities = {plain(unit.name) for unit in units if unit.kind == "entity"}
    heads = modules.heads.keys()
    of_verilog = {name for unit in units for name in unit.names if name in heads - entities}
    of_vhdl = {plain(name) for name in modules.instantiated()} & (entities - heads)
    found: list[HdlTop] = []
    left = _MOST
    each = (*vhdl.tops(root, own, chosen), *verilog.tops(root, rest, chosen, defines))
    for top in sorted(each, key=lambda top: (chosen not in (top.name, top.file), -len(top.sources))):
        if plain(top.name) in of_vhdl | of_verilog and chosen not in (top.name, top.file):
            continue
        reaches = set(_instantiated(root, top, units, modules)) & (of_vhdl | of_verilog)
        left -= bool(reaches)
        found.append(_with_both(root, top, everything) if reaches and left >= 0 else top)
    return tuple(sorted(found, key=lambda top: -len(top.sources)))


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
        numbers=tuple(sorted({*top.numbers, *(number for text in texts for number in vhdl.numbers(text))})),
        vhdl_standard=joined.entities.standard,
        diagnostics=joined.diagnostics,
        made=(),
    )


def _needed(joined: Joined) -> Iterator[Path]:
    """The files that the top reaches, each half's after those that they need, without what stands for vendors'."""
    if joined.modules is not None:
        primitives = joined.modules.primitives.file if joined.modules.primitives else None
        yield from (path for path in joined.modules.needed if path not in joined.boxes and path != primitives)
    yield from (file.path for file in joined.entities.needed if file.path.is_relative_to(joined.root))
