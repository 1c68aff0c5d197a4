"""The files that a design reads while it runs or is made: those of $readmemh, $readmemb, and $fopen for reading."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyslang import ast

from workbench.api.source.files import within
from workbench.hdl.verilog.design import Design
from workbench.hdl.verilog.order import UNREADABLE
from workbench.model.diagnostic import Diagnostic, Severity

_READS = ("$readmemh", "$readmemb")
_OPENS = "$fopen"
Place = tuple[Path, int, int]


def data_files(design: Design) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
    """The files that the design reads, relative to the project, and diagnostics of those that it may not find."""
    if design.top is None or not any(_may_read(design.manager, buffer) for buffer in design.manager.getAllBuffers()):
        return (), ()
    named, unnamed = _reads(design, design.top)
    problems = [problem for name, place in named.items() if (problem := _problem(design, name, place))]
    problems += [
        _reported(design, place, "the file that is read here has a name that only a run knows: it is not copied",
              "Copy it to where the instrumented design runs.", Severity.NOTE)
        for place in unnamed
    ]  # fmt: skip
    kept = tuple(name for name in named if os.path.isfile(design.root / name) and _inside(design, name))
    return kept, tuple(problems)


def _may_read(manager: Any, buffer: Any) -> bool:
    """By a look at the text."""
    text = manager.getSourceText(buffer)
    return any(word in text for word in (*_READS, _OPENS))


def _reads(design: Design, top: Any) -> tuple[Mapping[str, Place], list[Place]]:
    """The names of files by every instance's parameters, and the places where the name is unknown."""
    named: dict[str, Place] = {}
    unnamed: dict[Place, None] = {}
    context = ast.EvalContext(top)

    def visit(node: Any) -> Any:
        if isinstance(node, ast.GenerateBlockSymbol) and node.isUninstantiated:
            return ast.VisitAction.Skip
        if isinstance(node, ast.CallExpression) and node.isSystemCall and _is_read(node, context):
            name = _text(node.arguments[0], context)
            place = design.place(node.sourceRange.start)
            if name is None:
                unnamed.setdefault(place)
            else:
                named.setdefault(name, place)
        return ast.VisitAction.Advance

    top.visit(visit)
    return named, list(unnamed)


def _is_read(call: Any, context: Any) -> bool:
    if call.subroutineName == _OPENS:
        return len(call.arguments) > 1 and (_text(call.arguments[1], context) or "").startswith("r")
    return call.subroutineName in _READS


def _text(expression: Any, context: Any) -> str | None:
    """A constant expression as text; None where only a run tells, or where the source's text is not UTF-8."""
    value = expression.eval(context)
    text = str(value.convertToStr().value if value else "").strip("\0")
    return text if text and UNREADABLE not in text else None


def _problem(design: Design, name: str, place: Place) -> Diagnostic | None:
    if os.path.isfile(design.root / name):
        if _inside(design, name):
            return None
        hint = "Copy it into the project, or into the folder where the instrumented design runs."
        message = f"the design reads '{name}', which lies outside of the project"
        return _reported(design, place, message, hint, Severity.NOTE)
    return _reported(design, place, f"the design reads '{name}', which does not exist", _hint(design, name, place[0]))


def _hint(design: Design, name: str, source: Path) -> str:
    beside = source.parent / name
    if not os.path.isabs(name) and os.path.isfile(beside):
        return f"Its path starts at the project's folder: write '{os.path.relpath(beside, design.root)}'."
    return "Its path starts at the project's folder, where a run starts."


def _inside(design: Design, name: str) -> bool:
    return not os.path.isabs(name) and within(design.root / name, (design.root,))


def _reported(
    design: Design, place: Place, message: str, hint: str, severity: Severity = Severity.WARNING
) -> Diagnostic:
    path, line, column = place
    return Diagnostic(message, hint, severity, design.name_of(path), line, column)
