"""What a hardware block's module calls its clock, its reset and the signals of its streams."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rc_workbench_plugins.streaming.vhdl import as_verilog, design_of
from rc_workbench_plugins.streaming.x_language import problem
from workbench.api import WorkbenchError
from workbench.api.unstable import (
    CLOCKS,
    RESETS,
    RUNS,
    SOURCE_LIMIT,
    Implementation,
    Language,
    Value,
    Way,
    read_regular,
)
from workbench.hdl.ghdl import Design

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Style:
    """How a module names the signals of a stream. With `empty` and `full` one of them says that there is no element or
    no room. With `late`, an element comes in the cycle after it is taken, as from a FIFO without show-ahead."""

    data: str
    valid: str
    ready: str
    late: bool = False

    @property
    def no(self) -> str:
        """What turns what the signal says to whether there is an element or room."""
        return "!" if self.valid == "empty" or self.ready == "full" else ""

    def of(self, port: str) -> tuple[str, str, str]:
        return f"{port}_{self.data}", f"{port}_{self.valid}", f"{port}_{self.ready}"


#: as AXI4-Stream has them; as a queue has them; as Vitis HLS does (ap_fifo)
_STYLES = {
    Way.IN: (
        Style("tdata", "tvalid", "tready"), Style("data", "empty", "read"), Style("data", "empty", "pop"),
        Style("q", "empty", "read", late=True), Style("q", "empty", "pop", late=True),
        Style("dout", "empty_n", "read"),
    ),
    Way.OUT: (
        Style("tdata", "tvalid", "tready"), Style("data", "write", "full"), Style("data", "push", "full"),
        Style("din", "write", "full_n"),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Module:
    """A module, and the words of its head, among which its ports are."""

    implementation: Implementation
    name: str
    ports: frozenset[str]
    translated: str = ""  # its text, where that was made of VHDL: its configuration is bound
    made_of: Design | None = None

    def files(self, root: Path) -> tuple[str, ...]:
        """The files that hold it: the name of the one that was made, or the paths of the user's."""
        return (f"{self.name}.v",) if self.translated else tuple(str(root / file) for file in self.implementation.files)

    def clocked(self, clock: str, reset: str) -> Iterator[tuple[str, str]]:
        """Its clock, its reset and what lets it run, with what drives them."""
        yield from ((name, "1'b1") for name in RUNS if name in self.ports)
        for name in CLOCKS:
            if name in self.ports:
                yield name, clock
                break
        for name, inverted in RESETS.items():
            if name in self.ports:
                yield name, inverted + reset
                break

    def named(self, port: str) -> str:
        """What a port's signals begin with in Verilog; GHDL writes all names of VHDL small."""
        return port.lower() if self.translated else port

    def style(self, port: str, way: Way) -> Style:
        """How the module names the signals of a stream. WorkbenchError where it has none of them."""
        for style in _STYLES[way]:
            if self.ports.issuperset(style.of(port)):
                return style
        wanted = "; ".join(", ".join(style.of(port)) for style in _STYLES[way])
        message = f"the module '{self.implementation.unit}' has no stream '{port}'"
        raise WorkbenchError(problem(self.implementation.at, message, f"Write one of: {wanted}."))


def read_module(implementation: Implementation, config: Mapping[str, Value], root: Path) -> Module:
    """The module that implements a kind. WorkbenchError where no file has it."""
    at, unit = implementation.at, implementation.unit
    if implementation.language is Language.VHDL:
        design = design_of(implementation, config, root)
        verilog, name = as_verilog(design, at)
        return Module(implementation, name, _words(verilog, name), verilog, design)
    for file in implementation.files:
        try:
            text = read_regular(root / file, SOURCE_LIMIT).decode("utf-8", "replace")
        except OSError as error:
            raise WorkbenchError(problem(at, f"cannot read '{file}': {error.strerror}")) from None
        if words := _words(text, unit):
            return Module(implementation, unit, words)
    hint = "If the module has another name than the block, write it: `as NAME`."
    raise WorkbenchError(problem(at, f"there is no module '{unit}' in {', '.join(implementation.files)}", hint))


def _words(text: str, name: str) -> frozenset[str]:
    """The words of a module's head; none where the text does not have it."""
    match = re.search(rf"\bmodule\s+{re.escape(name)}\b((?:\s*import\b[^;]*;)*[^;]*);", _COMMENT.sub(" ", text))
    return frozenset(re.findall(r"[A-Za-z_]\w*", match[1]) if match else ())
