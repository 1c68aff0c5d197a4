"""The modules that Verilog sources declare and instantiate, parsed only: what another language may instantiate."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyslang
from pyslang import ast, parsing, syntax

from workbench.hdl.verilog.design import source_files
from workbench.hdl.verilog.order import SourceText, read_order, source_manager
from workbench.hdl.verilog.primitives import ports_of_head
from workbench.model.application import HardwareSources


@dataclass(frozen=True)
class Head:
    """A Verilog module from outside: its ports with their directions, and the names of its parameters, as written."""

    name: str
    ports: Mapping[str, str]
    parameters: tuple[str, ...]

    def spelled(self, name: str) -> str:
        """A port or parameter by any spelling of it, as it is written; '' where there is none."""
        known = (*self.ports, *self.parameters)
        return next((one for one in known if one == name), "") or next(
            (one for one in known if one.lower() == name.lower()), ""
        )


@dataclass(frozen=True)
class Modules:
    """The Verilog half of the sources: modules by their names in small letters, what each file instantiates, and by the
    names of what is instantiated those of the ports and parameters that it is asked for."""

    files: Mapping[Path, SourceText] = field(default_factory=dict)
    heads: Mapping[str, Head] = field(default_factory=dict)
    asked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def instantiated(self) -> set[str]:
        return {name for file in self.files.values() for unit in file.units for name in unit.instantiates}


def read_modules(root: Path, hardware: HardwareSources) -> Modules:
    """Parsed only: nothing is elaborated."""
    sources, _ = source_files(root, hardware.sources)
    if not sources:
        return Modules()
    folders = [(root / name).resolve() for name in hardware.include_dirs]
    files = read_order(sources, hardware.defines, folders)
    options = parsing.PreprocessorOptions()
    options.predefines = [f"{name}={value}" for name, value in hardware.defines.items()]
    options.additionalIncludePaths = [str(folder) for folder in folders]
    manager = source_manager(files)
    tree = syntax.SyntaxTree.fromFiles([str(path) for path in files], manager, pyslang.Bag([options]))
    asked: dict[str, dict[str, None]] = {}
    heads: dict[str, Head] = {}
    for module in _modules(tree.root):
        head = Head(module.header.name.valueText, dict(ports_of_head(module)), tuple(_parameters(module)))
        heads.setdefault(head.name.lower(), head)
        _note_asked(module, asked)
    return Modules(files, heads, {name: tuple(names) for name, names in asked.items()})


def _modules(root: Any) -> Iterator[Any]:
    members = root.members if isinstance(root, syntax.CompilationUnitSyntax) else [root]
    return (one for one in members if isinstance(one, syntax.ModuleDeclarationSyntax))


def _parameters(module: Any) -> Iterator[str]:
    listed = module.header.parameters.declarations if module.header.parameters is not None else ()
    inner = (m.parameter for m in module.members if isinstance(m, syntax.ParameterDeclarationStatementSyntax))
    for one in (*listed, *(inner if module.header.parameters is None else ())):
        if isinstance(one, syntax.ParameterDeclarationSyntax) and one.keyword.valueText == "parameter":
            yield from (d.name.valueText for d in one.declarators if isinstance(d, syntax.DeclaratorSyntax))


def _note_asked(module: Any, asked: dict[str, dict[str, None]]) -> None:
    """The names that instantiations write before a connection."""

    def look(node: Any) -> Any:
        if isinstance(node, syntax.HierarchyInstantiationSyntax):
            names = asked.setdefault(node.type.valueText, {})
            parts: Iterable[Any] = [*(node.parameters.parameters if node.parameters is not None else ())]
            for instance in node.instances:
                if isinstance(instance, syntax.HierarchicalInstanceSyntax):
                    parts = [*parts, *instance.connections]
            for one in parts:
                if isinstance(one, syntax.NamedPortConnectionSyntax | syntax.NamedParamAssignmentSyntax):
                    names[one.name.valueText] = None
        return ast.VisitAction.Advance

    module.visit(look)
