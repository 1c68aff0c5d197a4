"""Finds the signals and FIFO instances that a project names."""

import re
from collections.abc import Iterable
from typing import Any

from workbench.hdl.verilog.expressions import Bit, Kind
from workbench.model.diagnostic import Diagnostic, OfProject, did_you_mean

_NAME = re.compile(r"(?P<low>!?)\s*(?P<path>[\w.$\[\]]+?)(?:\[(?P<index>\d+)\])?")
_SCOPES = (Kind.Instance, Kind.InstanceArray, Kind.GenerateBlock, Kind.GenerateBlockArray)


def bit_named(top: Any, name: str) -> Bit | None:
    """The bit that a project names below the top."""
    match = _NAME.fullmatch(name.strip())
    symbol = None
    if match:
        symbol = top.body.lookupName(match["path"]) or top.body.lookupName(f"{match['path']}[{match['index']}]")
    if match is None or symbol is None or symbol.kind not in (Kind.Net, Kind.Variable):
        return None
    index = int(match["index"] or 0)
    return Bit(symbol, index, bool(match["low"])) if index < symbol.type.bitWidth else None


def no_signal(top: Any, name: str, at: tuple[str | int, ...]) -> Diagnostic:
    """The diagnostic that the design has no signal of the name at `at` in the project, with the nearest one."""
    hint = _meant(top, name) or "Signals are named below the top, such as core.fetch.valid; !NAME is active when low."
    return OfProject(f"the design has no signal '{name}'", hint, keys=at)


def no_instance(name: str, instances: Iterable[str], at: tuple[str | int, ...]) -> Diagnostic:
    hint = did_you_mean(name, instances) or "Instances are named below the top, such as core.lines[0].store."
    return OfProject(f"the design has no instance '{name}'", hint, keys=at)


def _meant(top: Any, name: str) -> str:
    """The question for what is most like the first part of a path that is not there."""
    match = _NAME.fullmatch(name.strip())
    if match is None:
        return ""
    parts = match["path"].split(".")
    scope, before = top.body, ""
    for part in parts[:-1]:
        symbol = top.body.lookupName(f"{before}{part}")
        if symbol is None or symbol.kind not in _SCOPES:
            return _near(scope, before, part, _SCOPES)
        scope, before = getattr(symbol, "body", symbol), f"{before}{part}."
    return _near(scope, before, parts[-1], (Kind.Net, Kind.Variable))


def _near(scope: Any, before: str, part: str, kinds: tuple[Any, ...]) -> str:
    return did_you_mean(f"{before}{part}", [f"{before}{one.name}" for one in scope if one.kind in kinds])
