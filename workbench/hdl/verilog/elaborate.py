"""The elaborated hierarchy: every instance, every clocked block in it, and the clock that it runs on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyslang import ast

from workbench.hdl.blocks import SourceBlock
from workbench.hdl.derived import follow_derived
from workbench.hdl.instances import BlockUse, Instance, Key, Loop, Origin
from workbench.hdl.metrics import MetricBlock
from workbench.hdl.verilog.design import Design
from workbench.hdl.verilog.nets import Nets
from workbench.hdl.verilog.order import plain_text

Kind = ast.SymbolKind
_AROUND = (ast.StatementKind.Timed, ast.StatementKind.Block, ast.StatementKind.List)


def elaborate(design: Design, blocks: Mapping[Key, SourceBlock]) -> Instance | None:
    """The tree of instances below the top, with the clocked blocks in each."""
    if design.top is None:
        return None
    top = Instance(design.top.name, design.top.name, ("", 0), (), body=design.top.body)
    _Elaboration(design, blocks).visit(top, design.top.body, design.top.name, ())
    follow_derived(top, lambda _, use: _origin(design.nets, use))
    return top


def _origin(nets: Nets, use: BlockUse) -> Origin:
    written = _clock(use.body, use.source, use.scope)
    return nets.origin(written) if written is not None else Origin()


@dataclass(frozen=True)
class _Elaboration:
    design: Design
    blocks: Mapping[Key, SourceBlock]

    def visit(self, instance: Instance, scope: Any, path: str, loops: tuple[Loop, ...]) -> None:
        for member in scope:
            kind = member.kind
            if kind == Kind.ProceduralBlock and member.syntax is not None:
                source = self.blocks.get(_key(self.design, member.syntax.getFirstToken().location))
                if source is not None:
                    around, reset = member.parentScope, _root_reset(self.design.nets, member.body)
                    written = _clock(member.body, source, around)
                    clock, turned = (written is not None and self.design.nets.top_port(written)) or ("", False)
                    use = BlockUse(f"{path}.{source.label}", source, loops, clock, around, reset, member.body, turned)
                    instance.blocks.append(use)
            elif kind == Kind.Instance:
                if member.isModule:
                    self.descend(instance, member, f"{path}.{member.name}", loops)
            elif kind == Kind.InstanceArray:
                self.visit_array(instance, member, path, loops)
            elif kind == Kind.GenerateBlock:
                if not member.isUninstantiated:
                    inner = f"{path}.{member.name or member.externalName}".rstrip(".")
                    self.visit(instance, member, inner, loops)
            elif kind == Kind.GenerateBlockArray:
                genvar = member.loopVariable.name if member.loopVariable is not None else ""
                for entry in member.entries:
                    index = int(entry.arrayIndex)
                    inner = f"{path}.{member.name or member.externalName}[{index}]"
                    self.visit(instance, entry, inner, (*loops, Loop(genvar, index)))

    def visit_array(self, instance: Instance, array: Any, path: str, loops: tuple[Loop, ...]) -> None:
        """The elements of an instance array. Those of more than one dimension are left alone."""
        bounds = (array.range.left, array.range.right)
        step = 1 if bounds[0] <= bounds[1] else -1
        indexed = [(bounds[0] + step * offset, element) for offset, element in enumerate(array.elements)]
        for index, element in sorted(indexed, key=lambda pair: pair[0]):
            if element.kind == Kind.Instance and element.isModule:
                place = f"{path}.{array.name}[{index}]"
                self.descend(instance, element, place, (*loops, Loop("", index)), bounds)

    def descend(
        self, parent: Instance, symbol: Any, path: str, loops: tuple[Loop, ...],
        array: tuple[int, int] | None = None,
    ) -> None:  # fmt: skip
        key = _key(self.design, symbol.syntax.getFirstToken().location)
        body, module = symbol.body, symbol.definition.name
        child = Instance(path, module, key, loops, array, len(body.portList), symbol.syntax, body)
        parent.children.append(child)
        self.visit(child, symbol.body, path, ())


def _key(design: Design, location: Any) -> Key:
    path, _, _ = design.place(location)
    return str(path), int(design.manager.getFullyExpandedLoc(location).offset)


def _clock(block: Any, source: SourceBlock, scope: Any) -> Any | None:
    """The event of a procedural block whose signal is its clock, as an expression; of an assertion that signal."""
    name = source.clock
    if isinstance(source, MetricBlock):
        return scope.lookupName(name)
    timing = block.timing if block.kind == ast.StatementKind.Timed else None
    events = () if timing is None else timing.events if timing.kind == ast.TimingControlKind.EventList else [timing]
    signals = (event.expr for event in events if event.kind == ast.TimingControlKind.SignalEvent)
    return next((one for one in signals if plain_text(str(one.syntax)) == name), None)


_ASSERTIONS = (ast.StatementKind.ImmediateAssertion, ast.StatementKind.ConcurrentAssertion)


def _root_reset(nets: Nets, body: Any) -> tuple[str, bool] | None:
    """The top level's port that the first condition of a clocked block asks for, and whether for its being low."""
    while body.kind in _AROUND:
        if body.kind == ast.StatementKind.Timed:
            body = body.stmt
        elif body.kind == ast.StatementKind.Block:
            body = body.body
        elif not (several := [one for one in body.list if one.kind not in _ASSERTIONS]):
            return None
        else:
            body = several[0]
    return asked_port(nets, body) if body.kind == ast.StatementKind.Conditional else None


def asked_port(nets: Nets, conditional: Any) -> tuple[str, bool] | None:
    """The top level's port that a condition asks for alone, and whether for its being low."""
    low, asked = False, conditional.conditions[0].expr
    if asked.kind == ast.ExpressionKind.BinaryOp and asked.op == ast.BinaryOperator.Equality:
        low, asked = str(asked.right.constant).endswith("0"), asked.left
    port = nets.top_port(asked)
    return (port[0], low ^ port[1]) if port else None
