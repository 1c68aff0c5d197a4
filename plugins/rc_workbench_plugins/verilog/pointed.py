"""What a project points at by name: signals of a stream, instances that are FIFOs."""

from __future__ import annotations

import re
from typing import Any

from rc_workbench_plugins.verilog.expressions import Bit, Kind
from workbench.model.application import StreamSignals
from workbench.model.diagnostic import Diagnostic, Severity

_NAME = re.compile(r"(?P<low>!?)\s*(?P<path>[\w.$\[\]]+?)(?:\[(?P<index>\d+)\])?")


def bit_named(top: Any, name: str) -> Bit | None:
    """The bit that a project names below the top."""
    match = _NAME.fullmatch(name.strip())
    symbol = None
    if match:
        symbol = top.body.lookupName(match["path"]) or top.body.lookupName(f"{match['path']}[{match['index']}]")
    if match is None or symbol is None or symbol.kind not in (Kind.Net, Kind.Variable):
        return None
    return Bit(symbol, int(match["index"] or 0), bool(match["low"]))


def no_signal(signals: StreamSignals, name: str) -> Diagnostic:
    return Diagnostic(
        f"hardware.streams: the stream '{signals.name}' names the signal '{name}', which the design does not have",
        "Signals are named below the top, such as core.fetch.valid; !NAME is active when low.",
        Severity.ERROR,
    )


def no_fifo(name: str) -> Diagnostic:
    return Diagnostic(
        f"hardware.fifos: the design has no instance '{name}'",
        "Instances are named below the top, such as core.lines[0].store.",
        Severity.ERROR,
    )
