"""FPGA vendors' libraries that a design names and no source holds: packages with the components that it uses.

Their ports and generics are those of yosys's primitives (`verilog/primitives.py`). Buffers pass on what goes in, and
cells such as flip-flops do what Xilinx says (`primitives.py`), as its macros do (`xpm.py`); of the others
it is not said what they do.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyslang
from pyslang import ast, syntax

from rc_workbench_plugins.vhdl import xpm
from rc_workbench_plugins.vhdl.libraries import GIVEN, WORK, libraries_named
from rc_workbench_plugins.vhdl.primitives import architecture, is_cell
from rc_workbench_plugins.vhdl.syntax import VhdlFile, plain
from rc_workbench_plugins.vhdl.units import Component, Unit
from workbench.api.kept import ensure
from workbench.api.unstable import cache_dir, sha256
from workbench.hdl.verilog.primitives import clock_input, clock_outputs, stand_ins

_HEAD = "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n"
_BUFFER = re.compile(r"[io]bufg?(ds)?|bufg|bufh|bufmr|bufio2?", re.IGNORECASE)
_COMMON = ("inv", "vcc", "gnd")  # which users call modules of their own, in Verilog beside it too
_NOTHING = "recap_nothing"  # in a library of which nothing is used
_BUFFERED = ("O", "DIVCLK", "IOCLK")  # the buffers' outputs
_CLOCKS = re.compile(r"\w*(pll|mmcm|dcm)\w*", re.IGNORECASE)
_PORT = re.compile(r"(\w+) : (in|out|inout) std_u?logic(?!\w)", re.IGNORECASE)
_WAYS = {"in": "input", "out": "output", "inout": "inout"}
_INPUT = ast.ArgumentDirection.In
_OUTPUT = ast.ArgumentDirection.Out


def stand_in_files(units: Sequence[Unit]) -> Iterator[tuple[Path, str]]:
    """A file for each library that is not there, and what the library is called; for what passes clocks on, or makes
    them, and for cells too where the sources declare it as a component themselves."""
    held = {unit.library for unit in units}
    packages: dict[str, set[str]] = defaultdict(set)
    for library in libraries_named(units) - held - set(GIVEN):
        packages[library] = {name for unit in units for first, name in unit.uses if first == library}
    defined = {plain(unit.name) for unit in units if unit.kind == "entity"}
    declared = {plain(c.name): c for unit in units for c in unit.components}
    wanted = {name for unit in units for name in unit.names} - defined - declared.keys() if packages else set()
    macros = ({*wanted, *declared} - defined) & xpm.entities().keys()
    wanted -= macros
    here = xpm.LIBRARY if xpm.LIBRARY in packages else WORK
    of_xpm = [xpm.package(name, macros) for name in sorted(packages.pop(xpm.LIBRARY, set()) - {"all"})]
    yield from _written(here, "".join([xpm.macros(macros), *of_xpm]))
    own = {name for name in declared.keys() - defined if _CLOCKS.fullmatch(name) or _BUFFER.fullmatch(name)}
    own |= {name for name in declared.keys() - defined if is_cell(name) and name not in _COMMON}
    known = _declarations({name for names in packages.values() for name in names} | wanted | own)
    for library, names in sorted(packages.items()):
        texts = [f"{_HEAD}package {name} is\n{_components(known, wanted)}end package;\n"
                 for name in sorted(names - known.keys() - {"all"})]  # fmt: skip
        acting = {name for name in wanted & known.keys() if _acts(name, known[name])}
        texts += [_entity(name, known[name]) for name in sorted((names & known.keys()) | acting)]
        yield from _written(library, "".join(texts) or f"package {_NOTHING} is end package;\n")
    as_declared = {name: _as_declared(declared[name]) for name in sorted(own & known.keys())}
    yield from _written(
        WORK, "".join(_entity(name, clauses) for name, clauses in as_declared.items() if _acts(name, clauses))
    )


def _written(library: str, text: str) -> Iterator[tuple[Path, str]]:
    if text:
        yield ensure(cache_dir() / "vhdl" / f"{library}_{sha256(text.encode())[:24]}.vhd", text.encode()), library


def _as_declared(component: Component) -> str:
    """The generic and port clauses of a component."""
    of = component.interface
    clauses = {"generic": of.generics, "port": of.ports}
    texts = {
        name: [f"{d.name} : {d.mode} {d.type}{f' := {d.default}' if d.default else ''}" for d in several]
        for name, several in clauses.items()
    }
    return "".join(f"{name} ({'; '.join(several)});\n" for name, several in texts.items() if several)


def stands_in(file: VhdlFile) -> bool:
    """Whether a file stands for a vendor's library, which the vendor's tools bring."""
    return file.path.is_relative_to(cache_dir())


def stands_for_clocks(name: str, file: VhdlFile | None) -> bool:
    """Whether an entity of that name stands for a vendor's primitive that makes clocks of another rate."""
    return bool(_CLOCKS.fullmatch(name)) and file is not None and stands_in(file)


def _acts(name: str, clauses: str) -> bool:
    """Whether it is known what a primitive does."""
    return bool(_BUFFER.fullmatch(name) or _CLOCKS.fullmatch(name) or architecture(name, clauses))


def _does(name: str, clauses: str) -> tuple[str, str]:
    """The declarations and statements of what stands for a primitive."""
    if (body := architecture(name, clauses)) is not None:
        return body
    ports = {port: _WAYS[way] for port, way in _PORT.findall(clauses)}
    if _BUFFER.fullmatch(name):
        given = [port for port, way in ports.items() if way == "input" and port.upper() == "I"]
        return "", "".join(f"{port} <= {one}; " for one in given for port in ports if port.upper() in _BUFFERED)
    source = clock_input(name, ports)
    values = {"plain": source, "inverted": f"not {source}", "locked": "'1'"}
    return "", "".join(f"{port} <= {values[does]}; " for port, does in clock_outputs(ports)) if source else ""


def _entity(name: str, clauses: str) -> str:
    declared, does = _does(name, clauses)
    return f"{_HEAD}entity {name} is\n{clauses}end;\narchitecture vendors of {name} is {declared}begin {does}end;\n"


def _components(known: Mapping[str, str], wanted: set[str]) -> str:
    return "".join(f"component {name} is\n{known[name]}end component;\n" for name in sorted(wanted & known.keys()))


def _declarations(names: set[str]) -> dict[str, str]:
    """The generic and port clauses of those of the names that are primitives."""
    declared = stand_ins({*names, *(name.upper() for name in names)}) if names else None
    if declared is None:
        return {}
    tree = syntax.SyntaxTree.fromFile(str(declared.file))
    modules = tree.root.members if isinstance(tree.root, syntax.CompilationUnitSyntax) else (tree.root,)
    tops = {m.header.name.valueText for m in modules if isinstance(m, syntax.ModuleDeclarationSyntax)}
    options = ast.CompilationOptions()
    options.topModules = tops  # held until the compilation is done: slang does not keep them
    compilation = ast.Compilation(pyslang.Bag([options]))
    compilation.addSyntaxTree(tree)
    bodies = {str(top.name): top.body for top in compilation.getRoot().topInstances}
    return {plain(name): _clauses(bodies[name]) for name in sorted(bodies, reverse=True)}  # those in capitals hold


def _clauses(body: Any) -> str:
    generics = [text for one in body.parameters if not one.isLocalParam and (text := _generic(one))]
    ports = [text for one in body.portList if (text := _port(one))]
    clauses = {"generic": generics, "port": ports}
    return "".join(f"{name} ({'; '.join(texts)});\n" for name, texts in clauses.items() if texts)


def _generic(parameter: Any) -> str:
    """A generic as vendors declare it in VHDL: truth values are texts in their Verilog."""
    value, kind = getattr(getattr(parameter, "value", None), "value", None), getattr(parameter, "type", None)
    if value is None or kind is None:
        return ""
    written = str(parameter.syntax).partition("=")[2].strip()
    if kind.isString or written.startswith('"'):
        text = written.strip('"')
        truth = text in ("TRUE", "FALSE")
        return f"{parameter.name} : boolean := {text}" if truth else f"{parameter.name} : string := {json.dumps(text)}"
    if kind.isFloating:
        return f"{parameter.name} : real := {float(value)}"
    if not kind.isIntegral or value.hasUnknown:
        return ""
    bits = "'" in written or kind.isPackedArray
    if bits and kind.bitWidth == 1:
        return f"{parameter.name} : bit := '{int(value) & 1}'"
    if bits:
        digits = format(int(value) & ((1 << kind.bitWidth) - 1), f"0{kind.bitWidth}b")
        return f'{parameter.name} : bit_vector({kind.bitWidth - 1} downto 0) := "{digits}"'
    return f"{parameter.name} : integer := {int(value)}"


def _port(port: Any) -> str:
    if port.kind != ast.SymbolKind.Port or not port.type.isIntegral:
        return ""
    way = {_INPUT: "in", _OUTPUT: "out"}.get(port.direction, "inout")
    scalar = port.type.bitWidth == 1 and not port.type.isPackedArray
    kind = "std_logic" if scalar else f"std_logic_vector({port.type.bitWidth - 1} downto 0)"
    default = "" if way != "in" else " := '0'" if scalar else " := (others => '0')"
    return f"{port.name} : {way} {kind}{default}"
