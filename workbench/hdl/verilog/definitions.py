"""Finds the definition of a name in a Verilog source, with its module elaborated as the top."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pyslang import ast

from workbench.api.job import Job
from workbench.api.source.files import expand_sources
from workbench.api.source.lines import line_starts, source_bytes
from workbench.hdl.verilog.design import Design, read_design
from workbench.hdl.verilog.order import SourceText, read_order
from workbench.model.application import HardwareSources
from workbench.model.scan import Definition

_WORD = re.compile(rb"[A-Za-z_$][\w$]*")
#: What stands before a name that is a part of something: `g[0].core.`, `package::`.
_PARTS = re.compile(rb"(?:[A-Za-z_$][\w$]*(?:\s*\[[^\]\n]*\])*\s*(?:\.|::)\s*)+$")
_INDEX = re.compile(rb"\[[^\]]*\]")
_INCLUDE = re.compile(rb'`include\s*"([^"\n]+)"')


def definition(
    root: Path, hardware: HardwareSources, parameters: Mapping[str, str], file: Path, line: int, column: int, _: Job
) -> Definition | None:
    """None where no name stands there, or none that is known."""
    data = source_bytes(file)
    starts = line_starts(data)
    sources = expand_sources(root, hardware.sources)
    if not sources or not 0 < line <= len(starts):
        return None
    offset = starts[line - 1] + column - 1
    root = root.resolve()
    folders = [(root / name).resolve() for name in hardware.include_dirs]
    for directive in _INCLUDE.finditer(data):
        if directive.start() <= offset < directive.end():
            name = directive[1].decode("utf-8", "replace")
            places = (folder / name for folder in (file.parent, *folders))
            return next((Definition(str(p), 1, 1, name, "file") for p in places if os.path.isfile(p)), None)
    word = next((w for w in _WORD.finditer(data, starts[line - 1]) if w.start() <= offset <= w.end()), None)
    if word is None:
        return None
    files = read_order(sources, hardware.defines, folders)
    if data[: word.start()].endswith(b"`"):
        return _macro(word[0], file, word.start(), files)
    return _symbol(root, hardware, parameters, files, file, word)


def _macro(name: bytes, file: Path, offset: int, files: Mapping[Path, SourceText]) -> Definition | None:
    """The last definition before the use in its own file, or else the first in the files as they are read."""
    define = re.compile(rb"^[ \t]*`define\s+(" + re.escape(name) + rb")\b", re.MULTILINE)
    others = dict.fromkeys(path for source in files.values() for path in (*source.included, source.path))
    for path in (file, *others):
        data = source_bytes(path)
        offsets = [match.start(1) for match in define.finditer(data)]
        offsets = [at for at in offsets if path != file or at < offset][-1:] if path == file else offsets[:1]
        if offsets:
            starts = line_starts(data[: offsets[0]])
            return Definition(str(path), len(starts), offsets[0] - starts[-1] + 1, name.decode(), "macro")
    return None


def _symbol(
    root: Path,
    hardware: HardwareSources,
    parameters: Mapping[str, str],
    files: Mapping[Path, SourceText],
    file: Path,
    word: re.Match[bytes],
) -> Definition | None:
    data, offset = word.string, word.start()
    line = data.count(b"\n", 0, offset) + 1
    home = next((source for source in files.values() if source.path == file or file in source.included), None)
    units = [unit for unit in home.units if home.path != file or unit.line <= line] if home else []
    unit = units[-1] if units else None
    if unit is not None and unit.kind == "module" and unit.name != hardware.top:
        hardware, parameters = hardware.model_copy(update={"top": unit.name, "parameters": {}}), {}
    design = read_design(root, hardware, parameters)
    if design.top is None:
        return None
    scope: Any = design.top.body
    if unit is not None and unit.kind == "package":
        scope = scope.compilation.getPackage(unit.name) or scope
    scope = _innermost(design, scope, file, offset)
    name = word[0].decode("utf-8", "replace")
    before = _PARTS.search(data, max(0, offset - 400), offset)
    if before is None and data[:offset].rstrip().endswith(b"."):
        meant = _connected(design, scope, file, offset, name)
    else:
        parts = _WORD.findall(_INDEX.sub(b"", before[0])) if before else []
        meant = _looked_up(scope, [*(part.decode("utf-8", "replace") for part in parts), name])
    if meant is None or not meant.location:
        return None
    path, line, column = design.place(meant.location)
    return Definition(str(path), line, column, name, _what(meant))


def _holds(design: Design, node: Any, file: Path, offset: int) -> bool:
    if node is None:
        return False
    first, last = design.offset(node.sourceRange.start, file), design.offset(node.sourceRange.end, file)
    return first is not None and last is not None and first <= offset < last


def _innermost(design: Design, scope: Any, file: Path, offset: int) -> Any:
    """The scope in which a place of a file stands."""
    while True:
        held = (inner for inner in _scopes(scope) if _holds(design, inner.syntax, file, offset))
        inner = next(held, None)
        if inner is None:
            return scope
        scope = inner


def _scopes(scope: Any) -> Iterable[Any]:
    """The scopes directly within one; of an array of generated blocks the first stands for all."""
    for member in scope:
        if isinstance(member, ast.GenerateBlockArraySymbol):
            yield from list(member.entries)[:1]
        elif member.isScope and member.syntax is not None and not isinstance(member, ast.InstanceSymbol):
            yield member


def _connected(design: Design, scope: Any, file: Path, offset: int, name: str) -> Any:
    """The port or parameter of that name of the instance whose connections the place is among."""
    for member in scope:
        instance = next(iter(member.elements), None) if isinstance(member, ast.InstanceArraySymbol) else member
        if isinstance(instance, ast.InstanceSymbol) and instance.syntax is not None:
            whole = instance.syntax.parent  # with the values of its parameters, which several instances may share
            if _holds(design, whole, file, offset) and (symbol := instance.body.find(name)) is not None:
                return symbol
    return None


def _looked_up(scope: Any, names: list[str]) -> Any:
    """What a name stands for in a scope: `instance.net`, `package::type`, a module's name."""
    first, *rest = names
    symbol = scope.compilation.getPackage(first) if rest else None
    symbol = symbol or scope.lookupName(first) or scope.compilation.tryGetDefinition(first, scope).definition
    for name in rest:
        inside = _inside(symbol)
        symbol = inside.find(name) if inside is not None else None
    return symbol


def _inside(symbol: Any) -> Any:
    """The scope that a symbol opens to names after a dot."""
    if isinstance(symbol, ast.InstanceSymbol):
        return symbol.body
    if isinstance(symbol, ast.GenerateBlockArraySymbol):
        return next(iter(symbol.entries), None)
    if isinstance(symbol, ast.InstanceArraySymbol):
        return _inside(next(iter(symbol.elements), None))
    kind = symbol.type.canonicalType if isinstance(symbol, ast.ValueSymbol) else symbol
    while isinstance(kind, ast.PackedArrayType | ast.FixedSizeUnpackedArrayType | ast.DynamicArrayType):
        kind = kind.elementType.canonicalType
    return kind if kind is not None and kind.isScope else None


def _what(symbol: Any) -> str:
    """The kind of a symbol in words: "statement block", "module"."""
    if isinstance(symbol, ast.DefinitionSymbol):
        return str(symbol.definitionKind.name).lower()
    return re.sub(r"(?<!^)(?=[A-Z])", " ", symbol.kind.name).lower()
