"""Reads and elaborates a design with slang; what slang finds wrong becomes diagnostics."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyslang
from pyslang import ast, parsing, syntax

from workbench.api.source.files import expand_sources, is_pattern
from workbench.api.source.lines import Lines
from workbench.hdl.verilog.encrypted import reported_once
from workbench.hdl.verilog.nets import Nets
from workbench.hdl.verilog.order import (
    SourceText,
    Unit,
    declaring,
    reached,
    reached_units,
    read_order,
    source_manager,
    with_headers,
)
from workbench.hdl.verilog.primitives import StandIns, analysers, missing_modules, stand_ins
from workbench.hdl.verilog.unfinished import reported_at_ends
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic, Severity, did_you_mean, has_errors

_HINTS = {
    "UnknownModule": "Add the file that defines it to the project's hardware sources.",
    "CouldNotOpenIncludeFile": "Add its folder to the project's hardware include_dirs.",
    "UndeclaredIdentifier": "Declare it, or fix the spelling.",
    "AssignToNet": "Declare it as `reg` or `logic`, a port as `output reg` or `output logic`.",
    "SampledValueLocalVar": "IEEE 1800 (16.9.3) forbids it. Assign the signal's instead: (a, x = $past(q)).",
}
_SYNTAX_HINT = "Fix the syntax there, or just before."
_FLAGS = (
    ast.CompilationFlags.AllowUseBeforeDeclare
    | ast.CompilationFlags.AllowUnnamedGenerate
    | ast.CompilationFlags.RelaxEnumConversions  # as Verilator, yosys and vendors take them
    | ast.CompilationFlags.AllowTopLevelIfacePorts  # to be looked at; a run says that it needs plain ones
)
# Each file may begin with time units of its own, and all are read as one.
_NOT_TOLD = ("InvalidTopModule", "UnusedParamOverride", "MismatchedTimeScales", "TimeScaleFirstInScope")
_NUMBER = re.compile(r"-?[0-9][0-9_]*(\.[0-9]+)?|[0-9]*'[sS]?[bodhBODH][0-9a-fA-F_xXzZ?]+")
Node = Any  # slang's syntax nodes and tokens have no common base class that tells more


@dataclass(frozen=True)
class Design:
    """An elaborated design. `top` is None where errors leave none."""

    root: Path
    sources: tuple[Path, ...]  # in an order that can be read
    manager: Any
    units: tuple[Any, ...]
    top: Any | None
    diagnostics: tuple[Diagnostic, ...]
    keep: tuple[Any, ...] = ()  # what owns the memory behind the symbols
    needed: tuple[Path, ...] = ()  # those of the sources that the top reaches
    lines: Lines = field(default_factory=Lines)
    options: Any = field(default_factory=pyslang.Bag)  # as the sources were read
    primitives: StandIns | None = None  # of vendors, the last of the sources

    @property
    def files(self) -> tuple[Path, ...]:
        """All that was read."""
        paths = (Path(self.manager.getFullPath(buffer)) for buffer in self.manager.getAllBuffers())
        return tuple(dict.fromkeys((*self.sources, *(path for path in paths if path.is_file()))))

    @cached_property
    def nets(self) -> Nets:
        """What drives each signal below the top."""
        return Nets(self.top, self.primitives.clocks if self.primitives else ())

    def place(self, location: Any) -> tuple[Path, int, int]:
        """File, line and column of a location; inside a macro, where it is used. (What slang itself calls a line's
        number heeds `line directives, and takes a CR alone for a line's end.)"""
        return _place(self.manager, self.lines, location)

    def name_of(self, path: Path) -> str:
        """How a file is named to people and in runs: relative to the project where it lies within."""
        return shown_path(self.root, path)

    def offset(self, location: Any, path: Path) -> int | None:
        """The location's byte offset in file `path`; None inside a macro or in another file."""
        if not self.manager.isFileLoc(location) or self.manager.isIncludedFileLoc(location):
            return None
        if Path(self.manager.getFullPath(location.buffer)) != path:
            return None
        return int(location.offset)


def _place(manager: Any, lines: Lines, location: Any) -> tuple[Path, int, int]:
    location = manager.getFullyExpandedLoc(location)
    buffer = location.buffer
    path = lines.paths.get(buffer.id) or lines.paths.setdefault(buffer.id, Path(manager.getFullPath(buffer)))
    return path, *lines.place(path, int(location.offset))


def shown_path(root: Path, path: Path) -> str:
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return str(path)


def read_design(
    root: Path, hardware: HardwareSources, parameters: Mapping[str, str], others: Sequence[str] = ()
) -> Design:
    """Parse and elaborate the project's design, and the modules `others` as tops of their own (`beside`). Never raises
    for what stands in the sources."""
    root = root.resolve()
    sources, missing = source_files(root, hardware.sources)
    if not sources:
        return Design(root, sources, source_manager(sources), (), None, missing)
    overrides = hardware.values(parameters)
    folders = [(root / name).resolve() for name in hardware.include_dirs]
    includes = [str(folder) for folder in folders]
    files = read_order(sources, hardware.defines, folders)
    starts = _starts(files, hardware.top, others) or sources
    lacking = missing_modules(files, reached(files, starts))
    if lacking:  # alternatives that are not taken need none
        _, compilation, _ = _compile(source_manager(sources), tuple(files), hardware, includes, overrides, others)
        lacking &= {one.args[0] for one in compilation.getAllDiagnostics() if _code(one) == "UnknownModule"}
    primitives = stand_ins(lacking, analysers(lacking, (file.text for file in files.values()))) if lacking else None
    if primitives is not None:
        files = read_order((*sources, primitives.file), hardware.defines, folders)
    needed = reached(files, _starts(files, hardware.top, others) or tuple(files))
    # The others last: what is wrong in one may reach into all that is read after it.
    sources = (*needed, *(path for path in files if path not in needed))
    manager = source_manager(with_headers(files, folders))
    tree, compilation, bag = _compile(manager, sources, hardware, includes, overrides, others)
    lines = Lines()
    below = {name for one in (hardware.top, *others) for name in reached_units(files, one)}
    unneeded = {
        shown_path(root, path): None if path not in needed else [u for u in file.units if u.name not in below]
        for path, file in files.items()
    }
    reported = reported_once(root, sources, lines, _diagnostics(root, manager, lines, compilation))
    problems, top = tuple(_milder(reported, unneeded)), _top(compilation, hardware.top)
    if any(one.isError() for one in tree.diagnostics):
        problems = reported_at_ends(sources, len(needed), bag, lines, partial(shown_path, root), problems)
    if top is None and not has_errors((*missing, *problems)):
        problems = (*problems, _no_top(root, manager, lines, compilation, hardware, overrides))
    if top is not None:
        problems = (*_unknown_parameters(top, overrides), *problems)
    units = tuple(compilation.getCompilationUnits())
    keep = (units, compilation, bag)
    return Design(root, sources, manager, (tree,), top, (*missing, *problems), keep, needed, lines, bag, primitives)


def beside(design: Design, other: str) -> Design:
    """The same sources below another of the tops that they were read with."""
    return replace(design, top=_top(design.keep[1], other))


def _starts(files: Mapping[Path, SourceText], top: str, others: Sequence[str]) -> tuple[Path, ...]:
    """The files that declare the tops."""
    return tuple(path for name in (top, *others) for path in declaring(files, name))


def source_files(root: Path, names: Sequence[str]) -> tuple[tuple[Path, ...], tuple[Diagnostic, ...]]:
    """The files that a project's sources name, in order; a name with wildcards stands for all it matches, sorted."""
    paths: dict[Path, None] = {}
    missing: list[Diagnostic] = []
    for name in names:
        files = [Path(os.path.realpath(path)) for path in expand_sources(root, [name])]
        paths.update(dict.fromkeys(files))
        if not files:
            hint = "Fix the path in the project's hardware sources; it is relative to the project file."
            what = "no file matches" if is_pattern(name) else "cannot read the source file"
            missing.append(Diagnostic(f"{what} '{name}'", hint, file=shown_path(root, root / name)))
    return tuple(paths), tuple(missing)


def _compile(
    manager: Any,
    paths: Sequence[Path],
    hardware: HardwareSources,
    includes: Sequence[str],
    overrides: Mapping[str, str],
    others: Sequence[str],
) -> tuple[Any, Any, Any]:
    preprocessor = parsing.PreprocessorOptions()
    preprocessor.predefines = [f"{name}={value}" for name, value in hardware.defines.items()]
    preprocessor.additionalIncludePaths = list(includes)
    options = ast.CompilationOptions()
    options.flags = _FLAGS
    options.defaultTimeScale = pyslang.TimeScale.fromString("1ns/1ps")  # some files have one, others may not
    tops = {f"work.{name}" for name in (hardware.top, *others)}  # where a dot parts a library's name from its own
    options.topModules = tops
    options.paramOverrides = [f"{name}={_literal(value)}" for name, value in overrides.items()]
    bag = pyslang.Bag([preprocessor, options])
    tree = syntax.SyntaxTree.fromFiles([str(path) for path in paths], manager, bag)
    compilation = ast.Compilation(bag)
    compilation.addSyntaxTree(tree)
    compilation.getRoot()  # now: slang does not keep the names in `tops`
    return tree, compilation, bag


def _literal(value: str) -> str:
    return value if _NUMBER.fullmatch(value) or value.startswith('"') else f'"{value}"'


def _top(compilation: Any, name: str) -> Any | None:
    return next((instance for instance in compilation.getRoot().topInstances if instance.name == name), None)


def _code(diagnostic: Any) -> str:
    """What slang calls a diagnostic's kind."""
    return str(diagnostic.code).removeprefix("DiagCode(").rstrip(")")


def _diagnostics(root: Path, manager: Any, lines: Lines, compilation: Any) -> Iterator[Diagnostic]:
    engine = pyslang.DiagnosticEngine(manager)
    for said in compilation.getAllDiagnostics():
        if not said.isError():
            continue
        code = _code(said)
        if code in _NOT_TOLD:
            continue
        path, line, column = _place(manager, lines, said.location)
        hint = _HINTS.get(code, _SYNTAX_HINT if code.startswith("Expected") else "")
        message = engine.formatMessage(said)
        if path.is_absolute():
            yield Diagnostic(message, hint, Severity.ERROR, shown_path(root, path), line, column)
        else:
            yield Diagnostic(message, hint or "It comes from a define or a parameter in the project file.")


def _milder(problems: Iterable[Diagnostic], unneeded: Mapping[str, Sequence[Unit] | None]) -> Iterator[Diagnostic]:
    """What is wrong where the top does not reach does not keep it from being built: in files of which it needs nothing,
    and in modules of others. `unneeded` are these by their file, None for all of it."""
    for problem in problems:
        units = unneeded.get(problem.file or "", ())
        at = problem.line or 0
        unit = next((u for u in units or () if u.kind == "module" and u.line <= at <= u.end_line), None)
        if units is None or unit is not None:
            what = f"the module '{unit.name}'" if unit is not None else "this file"
            hint = f"{problem.hint} The top does not need {what}.".lstrip()
            problem = replace(problem, severity=Severity.WARNING, hint=hint)
        yield problem


def _no_top(
    root: Path, manager: Any, lines: Lines, compilation: Any, hardware: HardwareSources, given: Collection[str]
) -> Diagnostic:
    definitions = {definition.name: definition for definition in compilation.getDefinitions()}
    if (symbol := definitions.get(hardware.top)) is None:
        names = sorted(definitions)
        hint = did_you_mean(hardware.top, names) or f"The sources define {', '.join(names) or 'no module'}."
        return Diagnostic(f"no source defines the top module '{hardware.top}'", hint)
    path, line, column = _place(manager, lines, symbol.location)
    if open_ := [name for name in _without_value(symbol.syntax) if name not in given]:
        message = f"the top module '{hardware.top}' has parameters without a value: {', '.join(open_)}"
        hint = "Give them one under hardware.parameters in the project."
    else:
        message = f"'{hardware.top}' is {symbol.getArticleKindString()}: it cannot be a top"
        hint = "Name a module under hardware.top in the project."
    return Diagnostic(message, hint, file=shown_path(root, path), line=line, column=column)


def _without_value(module: Any) -> Iterator[str]:
    """The parameters in a module's head that have no default."""
    for declared in getattr(module.header.parameters, "declarations", ()):
        for one in getattr(declared, "declarators", ()):
            values = [getattr(one, name, None) for name in ("initializer", "assignment")]
            if isinstance(one, syntax.DeclaratorSyntax | syntax.TypeAssignmentSyntax) and not any(values):
                yield one.name.valueText


def _unknown_parameters(top: Any, overrides: Mapping[str, str]) -> Iterator[Diagnostic]:
    known = [p.name for p in top.body.parameters]
    for name in overrides:
        if name not in known:
            hint = did_you_mean(name, known) or f"It has {', '.join(known) or 'none'}."
            yield Diagnostic(f"the top module '{top.name}' has no parameter '{name}'", hint)
