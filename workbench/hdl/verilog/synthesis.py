"""Finds code that synthesis tools refuse, or treat differently, in the modules of a design."""

from collections.abc import Iterable, Iterator

from pyslang import syntax

from workbench.hdl.verilog.design import Design, Node
from workbench.model.diagnostic import Diagnostic

_ARRAY_HINT = "Write one of the dimensions as a generate loop: simulators build such an array differently, or in part."
_HINT = "Only synthesisable RTL can be observed and simulated; keep test-bench code out of the hardware sources."


def unsynthesisable(design: Design, modules: Iterable[Node]) -> Iterator[Diagnostic]:
    """A diagnostic for each statement that no synthesis takes (delays but those of 0, waits, forks, endless loops,
    forces), and for what simulators do not agree on."""
    for module in modules:
        places: list[tuple[Node, str, str]] = []

        def look(node: Node, places: list[tuple[Node, str, str]] = places) -> None:
            if isinstance(node, syntax.StatementSyntax) and (what := _fault(node)):
                places.append((node, f"this cannot be synthesised: {what}", _HINT))
            elif isinstance(node, syntax.InstanceNameSyntax) and len(node.dimensions) > 1:
                name = node.name.valueText
                places.append((node, f"'{name}' is an array of instances of more than one dimension", _ARRAY_HINT))

        module.visit(look)
        for node, what, hint in places:
            path, line, column = design.place(node.getFirstToken().location)
            name = design.name_of(path)
            yield Diagnostic(what, hint, file=name, line=line, column=column)


def _fault(node: Node) -> str:
    if isinstance(node, syntax.TimingControlStatementSyntax):
        control = node.timingControl
        if isinstance(control, syntax.DelaySyntax):  # compilers from C write "#0" before what registers begin with
            return "" if str(control.delayValue).strip() == "0" else "a delay"
        if not isinstance(node.parent, syntax.ProceduralBlockSyntax):
            return "waiting for an event within a block"
        return ""
    if isinstance(node, syntax.WaitStatementSyntax | syntax.WaitForkStatementSyntax):
        return "a wait"
    if isinstance(node, syntax.ForeverStatementSyntax):
        return "an endless loop"
    if isinstance(node, syntax.BlockStatementSyntax) and node.begin.valueText == "fork":
        return "a fork"
    if isinstance(node, syntax.ProceduralAssignStatementSyntax) and node.keyword.valueText == "force":
        return "a force"
    return ""
