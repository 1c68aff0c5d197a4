"""The modules that may be a design's top: those that nothing but a test bench instantiates."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from workbench.api.source import suffixes
from workbench.hdl.top_inputs import clocks, resets
from workbench.hdl.verilog.blocks import read_blocks
from workbench.hdl.verilog.design import Design, read_design, shown_path
from workbench.hdl.verilog.elaborate import elaborate
from workbench.hdl.verilog.flat import flattened
from workbench.hdl.verilog.order import SourceText, Unit, includes, leaves_first, reached, read_order
from workbench.hdl.verilog.ports import hdl_ports
from workbench.model.application import HardwareSources
from workbench.model.read_out import ReadOut
from workbench.model.scan import HdlTop

_BITS = re.compile(r"\[[^][]*:[^][]*\]")  # `[31:0]`, `[8 * i +: 8]`
_NUMBER = re.compile(r"(?:\b[0-9]+\s*)?'[sS]?([bodhBODH])\s*([0-9a-fA-F_]+)\b|(?<![\w.'])([0-9][0-9_]*)(?![\w.'])")
_UNKNOWN_MACRO = re.compile(r"unknown macro or compiler directive '`(\w+)'")
_TEXT = re.compile(r'=\s*"([^"\n]*)"\s*$')
_BASES = {"b": 2, "o": 8, "d": 10, "h": 16}
_NO_READ_OUT = ReadOut(first=0, last=0)  # a top is looked at before there is one


def tops(
    root: Path, names: Sequence[str], chosen: str = "", defines: Mapping[str, int | float | str] | None = None
) -> tuple[HdlTop, ...]:
    root = root.resolve()
    paths = [(root / name).resolve() for name in names]
    folders = _include_dirs(paths)
    files = read_order([path for path in paths if path.suffix not in suffixes.VERILOG_HEADERS], defines or {}, folders)
    included = {header for file in files.values() for header in file.included}
    files = {path: file for path, file in files.items() if path not in included}
    candidates = dict.fromkeys(_candidates(files))
    if not any(chosen in (unit.name, shown_path(root, path)) for path, unit in candidates):
        every = ((path, unit) for path, file in files.items() for unit in file.units)
        candidates |= dict.fromkeys((p, u) for p, u in every if u.kind == "module" and chosen == u.name)
    every_top = [_top(root, files, folders, path, unit, defines or {}) for path, unit in candidates]
    return tuple(sorted(every_top, key=lambda top: -len(top.sources)))


def _include_dirs(paths: Sequence[Path]) -> list[Path]:
    """Where included files may lie: the folders of the files, and those from which a path that one includes leads to
    another."""
    folders = dict.fromkeys(path.parent for path in paths)
    named = {Path(name) for path in paths for name in includes(path) if "/" in name}
    for path, tail in ((path, one.parts) for path in paths for one in named):
        if path.parts[-len(tail) :] == tail:
            folders[path.parents[len(tail) - 1]] = None
    return list(folders)


def _folder_of(name: str, own: Path, folders: Sequence[Path]) -> list[Path]:
    """From which of the folders an included file is found; none where it is from the including file's own."""
    place = next((folder for folder in (own, *folders) if os.path.isfile(folder / name)), own)
    return [place] if place != own else []


def _candidates(files: Mapping[Path, SourceText]) -> Iterator[tuple[Path, Unit]]:
    used: set[str] = set()
    for file in files.values():
        for unit in file.units:
            if unit.has_ports:  # one without is a test bench
                used |= {name for name in unit.instantiates if name != unit.name}
    for path, file in files.items():
        for unit in file.units:
            if unit.kind == "module" and unit.has_ports and unit.name not in used:
                yield path, unit


def _top(
    root: Path, files: Mapping[Path, SourceText], folders: Sequence[Path], path: Path, unit: Unit,
    defines: Mapping[str, int | float | str],
) -> HdlTop:  # fmt: skip
    sources = leaves_first(files, reached(files, [path]))
    read = [one for source in sources for one in (source, *files[source].included)]
    needed = {folder for one in read for name in includes(one) for folder in _folder_of(name, one.parent, folders)}
    include_dirs = tuple(shown_path(root, folder) for folder in folders if folder in needed)
    shown = tuple(shown_path(root, source) for source in sources)
    hardware = HardwareSources(
        sources=shown, top=unit.name, include_dirs=include_dirs, defines=dict(defines), read_out=_NO_READ_OUT
    )
    design = read_design(root, hardware, {})
    blocks, _ = read_blocks(design)
    top = elaborate(design, {block.key: block for block in blocks})
    hdl_top = HdlTop(
        name=unit.name,
        file=shown_path(root, path),
        line=unit.line,
        sources=shown,
        include_dirs=include_dirs,
        ports=hdl_ports(design),
        parameters=tuple(_parameters(design)),
        clocks=clocks(top),
        resets=resets(top),
        numbers=tuple(sorted({n for source in sources for n in _numbers(files[source].text)})),
        diagnostics=design.diagnostics,
        unknown_macros=_unknown_macros(design, [files[source].text for source in sources]),
    )
    return flattened(design, hdl_top)


def _unknown_macros(design: Design, texts: Sequence[str]) -> tuple[str, ...]:
    """The macros that no source defines, without those used as calls and directives unknown to slang."""
    names = dict.fromkeys(match[1] for one in design.diagnostics if (match := _UNKNOWN_MACRO.search(one.message)))
    return tuple(
        name for name in names if not any(re.search(rf"`{name}\s*\(|^\s*`{name}\b", one, re.MULTILINE) for one in texts)
    )


def _parameters(design: Design) -> Iterator[tuple[str, int | float | str]]:
    """Numbers and texts; what else a parameter may be cannot stand in a project file."""
    if design.top is None:
        return
    for parameter in design.top.body.parameters:
        if parameter.isLocalParam or not hasattr(parameter, "value"):
            continue
        value = parameter.value.value
        if text := _TEXT.search(str(parameter.syntax)):  # Verilog takes a text without a type for a number
            yield parameter.name, text[1]
            continue
        kind = parameter.type
        if value is None:
            continue  # it has no default: an error says so
        if kind.isIntegral and not value.hasUnknown:
            yield parameter.name, int(value)
        elif kind.isFloating or kind.isString:
            yield parameter.name, value


def _numbers(text: str) -> Iterator[int]:
    """The whole numbers in a source that may be addresses: not those of bit ranges."""
    for base, digits, plain in _NUMBER.findall(_BITS.sub(" ", text)):
        try:
            yield int(plain.replace("_", "")[:40]) if plain else int(digits.replace("_", "")[:80], _BASES[base.lower()])
        except ValueError:
            continue  # x, z, or digits of another base
