"""What a hardware block's module calls its clock, its reset and the signals of its streams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rc_workbench_plugins.streaming.topology import Implementation, Language, Way
from rc_workbench_plugins.streaming.x_language import problem
from workbench.model.diagnostic import WorkbenchError
from workbench.system.files import SOURCE_LIMIT, read_regular

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CLOCKS = ("clk", "clock", "aclk", "clk_i", "i_clk")
_RESETS = {
    "rst": "",
    "reset": "",
    "rst_i": "",
    "i_rst": "",
    "rst_n": "!",
    "reset_n": "!",
    "aresetn": "!",
    "resetn": "!",
}

_STYLES = {
    Way.IN: {"axis": ("tdata", "tvalid", "tready"), "fifo": ("data", "empty", "read")},
    Way.OUT: {"axis": ("tdata", "tvalid", "tready"), "fifo": ("data", "write", "full")},
}


@dataclass(frozen=True)
class Module:
    """A module's words between its name and its end, among which its ports are."""

    implementation: Implementation
    ports: frozenset[str]

    def clocked(self, clock: str, reset: str) -> Iterator[tuple[str, str]]:
        """Its clock and its reset, with what drives them."""
        for name in _CLOCKS:
            if name in self.ports:
                yield name, clock
                break
        for name, inverted in _RESETS.items():
            if name in self.ports:
                yield name, inverted + reset
                break

    def style(self, port: str, way: Way) -> str:
        """How the module names the signals of a stream. WorkbenchError where it has none of them."""
        for style, ends in _STYLES[way].items():
            if all(f"{port}_{end}" in self.ports for end in ends):
                return style
        wanted = [", ".join(f"{port}_{end}" for end in ends) for ends in _STYLES[way].values()]
        unit = self.implementation.unit
        raise WorkbenchError(
            problem(
                self.implementation.at, f"the module '{unit}' has no stream '{port}'", f"Wanted: {' or '.join(wanted)}."
            )
        )


def read_module(implementation: Implementation, root: Path) -> Module:
    """The module that implements a kind. WorkbenchError where no file has it."""
    at, unit = implementation.at, implementation.unit
    if implementation.language is Language.VHDL:
        raise WorkbenchError(problem(at, "blocks in VHDL cannot be built yet", "Write this one in Verilog."))
    for file in implementation.files:
        try:
            text = read_regular(root / file, SOURCE_LIMIT).decode("utf-8", "replace")
        except OSError as error:
            raise WorkbenchError(problem(at, f"cannot read '{file}': {error.strerror}")) from None
        found = re.search(rf"\bmodule\s+{re.escape(unit)}\b(.*?)\bendmodule\b", _COMMENT.sub(" ", text), re.DOTALL)
        if found:
            return Module(implementation, frozenset(re.findall(r"[A-Za-z_]\w*", found[1])))
    hint = "Name the module with `as NAME` where it is not called as the block is."
    raise WorkbenchError(problem(at, f"there is no module '{unit}' in {', '.join(implementation.files)}", hint))
