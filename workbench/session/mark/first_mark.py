"""Suggests the first block to mark in a design without pragmas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.api.job import Job
from workbench.api.languages import syntax_of
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.text import counted
from workbench.session.open.reading import read

if TYPE_CHECKING:
    from workbench.api import HdlBuild
    from workbench.model.scan import HdlBlock
    from workbench.session.open.workspace import Value, Workspace


def without_marks(workspace: Workspace, hdl: HdlBuild, settings: Mapping[str, Value]) -> tuple[Diagnostic, ...]:
    """A warning, at the block with the most branches, if no clocked block carries a pragma; else nothing."""
    if any(len(block.states) > 1 for block in hdl.blocks):
        return ()
    message = "no branch of the hardware has a pragma: all of the FPGA's time stays unclassified"
    possible = [block for one in workspace.designs for block in _blocks(one, settings)]
    if not possible:
        return (Diagnostic(message, "No clocked block on the port's clock was found.", Severity.WARNING),)
    best = max(possible, key=lambda block: len(block.branches) * max(1, len(block.instances)))
    prefix = syntax.pragma if (syntax := syntax_of(best.file)) else ""
    before = next((b.pragma_line or b.line for b in best.branches if b.kind != "body"), best.line)
    hint = (
        f"Begin with the block {best.id}, which has {counted(len(best.branches), 'branch', 'branches')}: "
        f"`{prefix}busy work()` before line {before}, or Ctrl+P in the window. `workbench scan` lists all blocks."
    )
    return (Diagnostic(message, hint, Severity.WARNING, best.file, best.line),)


def _blocks(workspace: Workspace, settings: Mapping[str, Value]) -> list[HdlBlock]:
    """The blocks of a design that could be marked."""
    scanner = workspace.hdl_scanner(settings, Job())
    scan = read(lambda: scanner(workspace.project.hardware), workspace.path)
    return [block for block in scan.blocks if block.branches and not block.why_not]
