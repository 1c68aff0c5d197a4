"""Simulation models for vendors' FPGA primitives that a design instantiates and no source defines.

yosys comes with the ports and parameters of some 900, of many with what they do (its `cells_sim.v`). Where it does not
tell, clocks and buffers do what stands here; of anything else the outputs stay 0, and that is told. AMD's parameterized
macros (XPM) do what `resources/hdl/xpm` says; logic analysers (ILA, VIO) are empty boxes with the ports that they are
connected by.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyslang
from pyslang import parsing, syntax

from workbench.api.kept import kept_text, kept_whole, seal
from workbench.hdl.verilog.order import SourceText
from workbench.system.cache import cache_dir
from workbench.system.files import replace_file, sha256
from workbench.system.toolchain import Tool, find_yosys

FILE = "vendor_primitives.v"
_OWN = Path(str(files("workbench.resources"))) / "hdl" / "xpm"
_ANALYSER = re.compile(r"(?:\w+_)?(?:ila|vio)(?:_\w+)?", re.IGNORECASE)
_ANALYSER_IN = re.compile(r"clk|probe\d+|probe_in\d+|trig_in|trig_out_ack")
_ANALYSER_OUT = re.compile(r"probe_out\d+|trig_out|trig_in_ack")
_WIDEST = 4096  # bits of a probe
_FILES = ("*/cells_sim.v", "*/*/cells_sim.v", "*/cells_xtra.v", "*/cells_bb.v", "*/common/*_bb.v", "*/common/*_sim.v")
_MODULE = re.compile(r"^[ \t]*module[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
#: What a primitive without a body does: the first pattern that its name matches.
_ACTS = (
    (r"BUFIO2(?:_2CLK)?", "assign IOCLK = I; assign DIVCLK = I;"),
    (r"BUFH|BUFMR|BUFIO\w*|BUFR|BUFGCE_DIV|IBUFG?DS\w*|IBUFE3|IBUFDS_GTE\d", "assign O = I;"),
    (r"BUFGCE|BUFGCE_1", "reg enabled; always @* if (!I) enabled = CE; assign O = I & enabled;"),
    (r"BUFGMUX\w*", "assign O = S ? I1 : I0;"),
    (r"OBUFT?DS\w*", "assign O = I; assign OB = ~I;"),
    (r"DCCA|DCC", "assign CLKO = CLKI & CE;"),
    (r"ALTCLKCTRL|altclkctrl", "assign outclk = inclk[0];"),
)
_CLOCKS = re.compile(r"\w*(PLL|MMCM|DCM)\w*", re.IGNORECASE)
_CLOCKS_IN = ("CLKIN1", "CLKIN", "REFERENCECLK", "PACKAGEPIN", "CLKI", "inclk", "refclk")
_CLOCKS_OUT = re.compile(r"CLKOUT\w*|CLKFBOUT|PLLOUT\w+|CLKO[PS]\d?|CLKFX|CLK0|CLK2X|clk|outclk\w*|c\d", re.IGNORECASE)
_INVERTED = re.compile(r"CLKOUT\dB", re.IGNORECASE)
_LOCKED = re.compile(r"LOCKED|LOCK", re.IGNORECASE)


CLOCKS_TOLD = (
    "{} is simulated with all its clocks at its input's rate",
    "Blocks on them are counted in cycles of that input.",
)


@dataclass(frozen=True)
class StandIns:
    """The file with what stands in for primitives; those of them that are clocks, and those that do nothing."""

    file: Path
    clocks: frozenset[str]
    empty: frozenset[str]

    def unknown(self, module: str) -> tuple[str, str] | None:
        """What a person has to know of one: a message and a hint."""
        if module in self.clocks:
            return CLOCKS_TOLD[0].format(module), CLOCKS_TOLD[1]
        if module in self.empty:
            message = f"the behaviour of {module} is unknown: its outputs stay 0 in simulation"
            return message, "Add the vendor's simulation model of it to the hardware sources."
        return None


def missing_modules(files: Mapping[Path, SourceText], needed: Collection[Path]) -> set[str]:
    """The modules that the files needed instantiate and none of the files defines."""
    defined = {unit.name for file in files.values() for unit in file.units}
    used = {name for path in needed for unit in files[path].units for name in unit.instantiates}
    return used - defined


def analysers(names: Collection[str], texts: Iterable[str]) -> dict[str, str]:
    """Empty modules for those of the names that are logic analysers, by the ports that the sources connect."""
    ports_of: dict[str, dict[str, None]] = {name: {} for name in names if _ANALYSER.fullmatch(name)}
    for text in texts if ports_of else ():
        for name, ports in ports_of.items():
            for body in re.findall(rf"\b{name}\s+(?:#\s*\([^;]*?\)\s*)?\w+\s*\(([^;]*)\)\s*;", text):
                ports |= dict.fromkeys(re.findall(r"\.\s*(\w+)\s*\(", body))
    boxes = {}
    for name, ports in ports_of.items():
        into, out = ([one for one in ports if way.fullmatch(one)] for way in (_ANALYSER_IN, _ANALYSER_OUT))
        if ports and len(into) + len(out) == len(ports):
            listed = [f"input wire [{_WIDEST - 1}:0] {one}" for one in into]
            listed += [f"output wire [{_WIDEST - 1}:0] {one}" for one in out]
            zeros = "".join(f"    assign {one} = 0;\n" for one in out)
            boxes[name] = f"module {name} ({', '.join(listed)});\n{zeros}endmodule"
    return boxes


def stand_ins(names: Collection[str], boxes: Mapping[str, str] | None = None) -> StandIns | None:
    """What stands in for those of the modules that are some vendor's primitives, with `boxes` (texts by module) as they
    are; None where none is known."""
    tool, boxes = find_yosys(), boxes or {}
    known = dict(_own())
    if isinstance(tool, Tool):
        known = {**_known(tool.path.resolve().parent.parent / "share" / "yosys", tool.version), **known}
    vendors = Counter(vendor for name in names for vendor in known.get(name, {}))
    chosen: dict[Path, list[str]] = {}
    for name in sorted(names):
        if places := known.get(name):
            vendor = max(places, key=lambda one: (vendors[one], one))
            chosen.setdefault(places[vendor], []).append(name)
    if not chosen and not boxes:
        return None
    version = tool.version if isinstance(tool, Tool) else ""
    key = json.dumps([version, _recipe(), [[str(path), *sorted(of)] for path, of in chosen.items()], dict(boxes)])
    folder = cache_dir() / "primitives" / sha256(key.encode())[:32]
    try:
        kinds = json.loads((folder / "kinds.json").read_text()) if kept_whole(folder) else _write(folder, chosen, boxes)
    except OSError:  # there is no room for them: they are reported as missing
        return None
    return StandIns(folder / FILE, frozenset(kinds["clocks"]), frozenset(kinds["empty"]))


def _recipe() -> str:
    return sha256(b"".join(path.read_bytes() for path in (Path(__file__), *sorted(_OWN.glob("*.v")))))


@cache
def _own() -> dict[str, dict[str, Path]]:
    """The macros that come along, by name, as AMD's."""
    return {name: {"xilinx": path} for path in sorted(_OWN.glob("*.v")) for name in _MODULE.findall(path.read_text())}


@cache
def _known(folder: Path, version: str) -> dict[str, dict[str, Path]]:
    """Each primitive's files by vendor, the model before the file with its ports only."""
    place = cache_dir() / "primitives" / sha256(f"{folder} {version}".encode())[:32] / "known.json"
    known: dict[str, dict[str, str]] = json.loads(kept_text(place, lambda: json.dumps(_read(folder))))
    return {name: {vendor: folder / file for vendor, file in files.items()} for name, files in known.items()}


def _read(folder: Path) -> dict[str, dict[str, str]]:
    paths: dict[str, dict[str, str]] = {}
    for pattern in _FILES:
        for path in sorted(folder.glob(pattern)):
            vendor, file = path.relative_to(folder).parts[0], str(path.relative_to(folder))
            for name in _MODULE.findall(path.read_text("utf-8", "replace")):
                paths.setdefault(name, {}).setdefault(vendor, file)
    return paths


def _write(folder: Path, chosen: Mapping[Path, Collection[str]], boxes: Mapping[str, str]) -> dict[str, list[str]]:
    texts = list(boxes.values())
    kinds: dict[str, list[str]] = {"clocks": [], "empty": [name for name, text in boxes.items() if "output" in text]}
    options = parsing.PreprocessorOptions()
    options.predefines = ["NO_CLEARBOX"]  # without which yosys's file of altpll is empty
    for path, names in chosen.items():
        manager = pyslang.SourceManager()
        text = re.sub(r"\(\s*\.\.\.\s*\)", "()", path.read_text("utf-8", "replace"))  # yosys's "as declared below"
        tree = syntax.SyntaxTree.fromText(text, manager, path.name, str(path), pyslang.Bag([options]))
        root = tree.root
        for module in root.members if isinstance(root, syntax.CompilationUnitSyntax) else (root,):
            if isinstance(module, syntax.ModuleDeclarationSyntax) and module.header.name.valueText in names:
                module_text, kind = _module(module, manager)
                texts.append(module_text)
                if kind:
                    kinds[kind].append(module.header.name.valueText)
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / FILE, "\n\n".join(texts).encode() + b"\n")
    replace_file(folder / "kinds.json", json.dumps(kinds).encode())
    seal(folder)
    return kinds


def _module(module: Any, manager: Any) -> tuple[str, str]:
    """The module's text, and whether it is one of `clocks` or is `empty`."""

    def printed(node: Any) -> str:
        printer = syntax.SyntaxPrinter(manager)
        for option in (printer.setIncludeDirectives, printer.setIncludeComments, printer.setIncludeSkipped):
            option(False)
        return str(printer.setExpandMacros(True).print(node).str().strip())

    name = module.header.name.valueText
    members = [one for one in module.members if not isinstance(one, syntax.SpecifyBlockSyntax)]
    declarations = (syntax.PortDeclarationSyntax, syntax.ParameterDeclarationStatementSyntax)
    body = [printed(one) for one in members]
    head = printed(module.header)
    ports = dict(ports_of_head(module))
    if head.replace(" ", "").endswith("();"):
        head = f"module {name} ({', '.join(ports)});"
    acts, kind = "", ""
    if all(isinstance(one, declarations) for one in members):
        acts, kind = _acts(name, ports)
    return "\n".join([head, *body, *([acts] if acts else []), "endmodule"]), kind


def ports_of_head(module: Any) -> Iterator[tuple[str, str]]:
    """Names and directions of the ports, in either style of a module's head."""
    ports = getattr(module.header.ports, "ports", None) or ()
    direction = ""
    for port in ports:
        if isinstance(port, syntax.ImplicitAnsiPortSyntax):
            direction = getattr(getattr(port.header, "direction", None), "valueText", "") or direction
            yield port.declarator.name.valueText, direction
    for member in module.members:
        if isinstance(member, syntax.PortDeclarationSyntax):
            header: Any = member.header
            for one in member.declarators:
                if isinstance(one, syntax.DeclaratorSyntax):
                    yield one.name.valueText, str(header.direction.valueText)


def _acts(name: str, ports: Mapping[str, str]) -> tuple[str, str]:
    """What a primitive without a body does, as Verilog, and its kind."""
    for pattern, text in _ACTS:
        if re.fullmatch(pattern, name):
            return text, ""
    source = clock_input(name, ports)
    if not source:
        return "", "empty" if "output" in ports.values() else ""
    # Each by a process of its own: what they drive is a clock of its own, and not a wire from the input.
    lines = []
    value = "{32{inclk[0]}}" if source == "inclk" else source
    for port, does in clock_outputs(ports):
        kept = f"{'[31:0] ' if source == 'inclk' else ''}recap_{port}"
        sign = "~" if does == "inverted" else ""
        driven = f"reg {kept} = 0; always @* recap_{port} = {sign}{value}; assign {port} = recap_{port};"
        lines.append(f"assign {port} = 1'b1;" if does == "locked" else driven)
    return "\n".join(lines), "clocks"


def clock_input(name: str, ports: Mapping[str, str]) -> str:
    """The port of a primitive of which it makes clocks of other rates; '' where it is none of those. `ports` have their
    directions."""
    known = {port.lower(): port for port, way in ports.items() if way == "input"}
    inputs = (known.get(port.lower(), "") for port in _CLOCKS_IN if _CLOCKS.fullmatch(name))
    return next(filter(None, inputs), "")


def clock_outputs(ports: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The clocks that such a primitive gives, "plain" or "inverted", and what tells that they are "locked"."""
    for port, direction in ports.items():
        if direction == "output" and _CLOCKS_OUT.fullmatch(port):
            yield port, "inverted" if _INVERTED.fullmatch(port) else "plain"
        elif direction == "output" and _LOCKED.fullmatch(port):
            yield port, "locked"
