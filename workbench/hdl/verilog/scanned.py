"""The scan's report of a design's Verilog modules."""

from collections.abc import Collection, Iterator
from pathlib import Path

from workbench.hdl.derived import gives
from workbench.hdl.instances import Instance
from workbench.hdl.verilog.design import Design
from workbench.hdl.verilog.rewrite import defined_twice, modules_by_name
from workbench.hdl.verilog.synthesis import unsynthesisable
from workbench.model.diagnostic import Diagnostic, Severity


def of_modules(design: Design, top: Instance, clocks: Collection[str]) -> Iterator[Diagnostic]:
    """Diagnostics of the modules below a top. `clocks` are those of PLLs that are simulated as fast as they are."""
    nodes = modules_by_name(design)
    used = dict.fromkeys(instance.module for instance in top.walk())
    yield from defined_twice(design, used)
    yield from _of_primitives(design, top, clocks)
    yield from unsynthesisable(design, [nodes[name] for name in used if name in nodes])


def _of_primitives(design: Design, top: Instance, clocks: Collection[str]) -> Iterator[Diagnostic]:
    """What the simulation does not know of the vendors' primitives, where they are instantiated."""
    warnings: dict[tuple[Path, int, int], Diagnostic] = {}
    for instance in top.walk():
        if design.primitives and not gives(instance, clocks) and (said := design.primitives.unknown(instance.module)):
            message, hint = said
            path, line, column = design.place(instance.node.getFirstToken().location)
            warning = Diagnostic(message, hint, Severity.WARNING, design.name_of(path), line, column)
            warnings.setdefault((path, line, column), warning)
    return iter(warnings.values())
