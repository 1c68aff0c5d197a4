"""Why what GHDL synthesises may do something else than the VHDL in a simulation: what the VHDL leaves open, and what
GHDL 2.0 is known to write wrongly."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from rc_workbench_plugins.vhdl.constants import signals_of, taken_for_zeros
from rc_workbench_plugins.vhdl.sides import files_of, texts_of, top_of, units_in
from rc_workbench_plugins.vhdl.syntax import matches, plain, text_of, without_comments
from rc_workbench_plugins.vhdl.translated import PART_FILE, asked_of
from rc_workbench_plugins.vhdl.units import units_of
from workbench.api import Diagnostic, Severity, WorkbenchError, listed
from workbench.api.equivalence import HdlSide
from workbench.hdl.ghdl import netlist
from workbench.hdl.ghdl_fixes import comparisons
from workbench.hdl.verilog.design import shown_path

_SHARED = re.compile(r"\bshared\s+variable\s+(\w+)", re.IGNORECASE)
_PROCESS = re.compile(r"\bprocess\s*\((?P<of>(?:[^()]|\([^()]*\))*)\)(?P<body>.*)", re.IGNORECASE | re.DOTALL)
_CLOCKED = re.compile(r"\b(?:rising_edge|falling_edge|wait)\b|'\s*(?:event|stable)\b", re.IGNORECASE)
_TARGET = re.compile(
    r"(;|=>|\b(?:then|else|begin|loop|is))\s*(?:\w+\s*:\s*)?[\w.]+\s*(?:\([^;<>=]*\))?\s*<=", re.IGNORECASE
)
_TEXT = re.compile(r"\"[^\"\n]*\"|'.'")
_NUMBERS = re.compile(
    r"(?:\bconstant\s+|[(;]\s*)(?P<names>\w+(?:\s*,\s*\w+)*)\s*:\s*(?:in\s+)?(?:integer|natural|positive)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"\s*(?P<name>[a-z]\w*)\b(?!\s*['(.])", re.IGNORECASE)
_MOST = 5
_ORDER = "Make it a signal: the order of processes at an edge is undefined, and so is the FPGA's behaviour."
_SENSITIVE = (
    "Add it to the list, or write `process (all)`: a simulation reacts only to the listed signals, an FPGA to all."
)
_PARTED = "Give it one bit more, or assign its upper 32 bits and the rest separately."
_NARROW = "Give the vector one bit more, or compare `to_integer` of it."


def left_open(side: HdlSide, root: Path) -> Iterator[Diagnostic]:
    """Where the VHDL itself does one thing in a simulation, and may do another in hardware."""
    entities = {plain(unit.name): unit for unit in units_in(side) if unit.kind == "entity"}
    for file in files_of(side):
        name = shown_path(root, file.path)
        for unit in (one for one in units_of(file) if one.kind == "architecture"):
            processes = {node: without_comments(text_of(node)) for node in matches(unit.node, "(process_statement) @p")}
            text = file.data[unit.start : unit.node.end_byte].decode("latin-1")
            for shared in _SHARED.finditer(without_comments(text)):
                users = [one for one in processes.values() if re.search(rf"\b{shared[1]}\b", one, re.IGNORECASE)]
                if len(users) > 1:
                    at = re.search(rf"\bshared\s+variable\s+{shared[1]}\b", text, re.IGNORECASE)
                    line = file.line(unit.start + (at.start() if at else 0))
                    message = f"{len(users)} processes share the variable '{shared[1]}'"
                    yield Diagnostic(message, _ORDER, Severity.WARNING, name, line)
            for node, process in processes.items():
                if lacking := _not_listed(process, signals_of(unit, entities.get(plain(unit.of)))):
                    message = f"this process reads {listed(lacking)}, which its sensitivity list lacks"
                    yield Diagnostic(message, _SENSITIVE, Severity.WARNING, name, file.place(node)[0])


def _not_listed(process: str, signals: Collection[str]) -> list[str]:
    """The signals that a process without a clock reads, and does not wait for."""
    head = _PROCESS.search(process)
    if head is None or _CLOCKED.search(head["body"]) or plain(head["of"]).strip() == "all":
        return []
    listed_there = set(map(plain, re.findall(r"\w+", head["of"])))
    read = _TARGET.sub(r"\1", _TEXT.sub(" ", head["body"]))
    words = dict.fromkeys(map(plain, re.findall(r"(?<![.'\w])\w+", read)))
    return [word for word in words if word in signals and word not in listed_there]


def written_wrongly(side: HdlSide, root: Path) -> Iterator[Diagnostic]:
    """What of the VHDL GHDL is known to write wrongly, at its lines."""
    for file in files_of(side):
        for line, text in taken_for_zeros(file):
            message = f"GHDL 2.0 replaces {text} by zeros, which may cause the difference"
            yield Diagnostic(message, _PARTED, Severity.WARNING, shown_path(root, file.path), line)
    numbers = {plain(name) for file in files_of(side) for name in _numbers(file.data.decode("latin-1"))}
    places: dict[tuple[Path, int], tuple[str, int]] = {}
    for path, line, after, bits in _comparisons(side, root) if numbers else ():
        if (name := _NAME.match(after)) and plain(name["name"]) in numbers:
            places.setdefault((path, line), (name["name"], bits))
    for (path, line), (text, bits) in list(places.items())[:_MOST]:
        message = f"if '{text}' needs more than {bits} bits, GHDL 2.0 compares only its low {bits}: a possible cause"
        yield Diagnostic(message, _NARROW, Severity.WARNING, shown_path(root, path), line)


def _numbers(text: str) -> Iterator[str]:
    """The constants and generics that are integers."""
    for declaration in _NUMBERS.finditer(without_comments(text)):
        yield from re.findall(r"\w+", declaration["names"])


def _comparisons(side: HdlSide, root: Path) -> Iterator[tuple[Path, int, str, int]]:
    """Where vectors are compared with constants: file, line, what follows the operator there, and the bits."""
    top = top_of(side)
    values = [f"{plain(name)}={value}" for name, value in side.parameters.items()]
    with TemporaryDirectory() as folder:
        try:
            asked = asked_of(texts_of(side), side.vhdl_standard, Path(folder), top.name, top.library, values, root)
            places = list(comparisons(netlist(asked, "verilog")))
        except WorkbenchError:
            return
    for file, line, after, bits in places:
        if part := PART_FILE.fullmatch(file):
            yield side.sources[int(part[1])], line, after, bits
