"""The edits that make an observed copy of a source file: insertions within lines, so that line numbers stay."""

import re
from collections.abc import Iterable, Iterator

from pyslang import syntax

from workbench.api.instrument.probes import state_bits
from workbench.api.instrument.wrapper import STATE_PORT
from workbench.hdl.blocks import SourceBlock, meaning
from workbench.hdl.edits import Edits
from workbench.hdl.metrics import MetricBlock
from workbench.hdl.verilog.blocks import after_declarations, id_of, reset_chain
from workbench.hdl.verilog.design import Design, Node
from workbench.model.custom import FAILED, HELD, MetricKind
from workbench.model.diagnostic import Diagnostic


def modules_by_name(design: Design) -> dict[str, Node]:
    return {name: nodes[0] for name, nodes in _definitions(design).items()}


def defined_twice(design: Design, used: Iterable[str]) -> Iterator[Diagnostic]:
    """An error for each of the modules in use that stands in the sources at two places: simulators take either."""
    definitions = _definitions(design)
    for name in used:
        places = dict.fromkeys(design.place(node.header.name.location) for node in definitions.get(name, ()))
        if len(places) > 1:
            (first, its_line, _), (path, line, column), *_ = places
            message = f"the module '{name}' is defined a second time, after {design.name_of(first)}:{its_line}"
            hint = "Remove one of the two from the hardware sources."
            yield Diagnostic(message, hint, file=design.name_of(path), line=line, column=column)


def _definitions(design: Design) -> dict[str, list[Node]]:
    definitions: dict[str, list[Node]] = {}
    for unit in design.units:
        root = unit.root
        members = root.members if isinstance(root, syntax.CompilationUnitSyntax) else [root]
        for member in members:
            if isinstance(member, syntax.ModuleDeclarationSyntax):
                definitions.setdefault(member.header.name.valueText, []).append(member)
    return definitions


def why_not_editable(design: Design, module: Node | None) -> str:
    """Why a module cannot get a port, or ''."""
    if module is None:
        return "its module is not defined in the hardware sources"
    path, _, _ = design.place(module.header.name.location)
    if path not in design.sources:
        return f"its module is in the included file {design.name_of(path)}: list that among the hardware sources"
    header = module.header
    if header.moduleKeyword.valueText not in ("module", "macromodule"):
        return f"it is in a {header.moduleKeyword.valueText}, not in a module"
    tokens = [header.name, header.semi]
    if header.ports is not None:
        tokens.append(header.ports.getLastToken())
    if any(design.offset(token.location, path) is None for token in tokens):
        return "the head of its module is in a macro"
    return ""


def add_port(design: Design, edits: Edits, module: Node, width: int) -> None:
    """Give a module the output port `recap_state`."""
    header = module.header
    declaration = f"output wire [{width - 1}:0] {STATE_PORT}"
    ports = header.ports
    if ports is None:
        before = header.parameters.getLastToken() if header.parameters is not None else header.name
        edits.insert(_end(design, before), f" ({declaration})")
        return
    listed = list(ports.ports)
    closing = int(ports.closeParen.location.offset)
    if isinstance(ports, syntax.NonAnsiPortListSyntax) and listed:
        edits.insert(closing, f", {STATE_PORT}")
        edits.insert(_end(design, header.semi), f" {declaration};")
    else:  # a comma that nothing follows is one already
        comma = ", " if listed and isinstance(listed[-1], syntax.SyntaxNode) else ""
        edits.insert(closing, f"{comma}{declaration}")


def rename_module(design: Design, edits: Edits, module: Node, name: str) -> None:
    tokens = [module.header.name]
    if module.blockName is not None:
        tokens.append(module.blockName.name)
    for token in tokens:
        start = int(token.location.offset)
        edits.replace(start, start + len(token.rawText.encode()), name)


def set_default(design: Design, edits: Edits, declarator: Node, value: str) -> None:
    """Give a parameter another default. One that stands in a macro keeps its own: the wrapper sets it."""
    expression = declarator.initializer.expr if declarator is not None and declarator.initializer is not None else None
    if expression is None:
        return
    start = design.offset(expression.sourceRange.start, edits.path)
    end = design.offset(expression.sourceRange.end, edits.path)
    if start is not None and end is not None:
        edits.replace(start, end, value)


def connect(design: Design, edits: Edits, instance: Node, part: str, ports: int) -> None:
    """Connect the new port of an instantiation to `part` of the module's own. `ports`: how many the child has."""
    closing = int(instance.closeParen.location.offset)
    connections = [c for c in instance.connections if isinstance(c, syntax.SyntaxNode)]
    wire = f"{STATE_PORT}{part}"
    by_order = syntax.OrderedPortConnectionSyntax | syntax.EmptyPortConnectionSyntax
    ordered = [c for c in connections if isinstance(c, by_order)]
    if ordered and not (len(connections) == 1 and isinstance(connections[0], syntax.EmptyPortConnectionSyntax)):
        edits.insert(closing, ", " * (ports - len(connections) + 1) + wire)
    elif ordered or not connections:
        edits.insert(closing, f".{STATE_PORT}({wire})")
    else:
        edits.insert(closing, f", .{STATE_PORT}({wire})")


def register_name(block: SourceBlock) -> str:
    return "recap_st_" + re.sub(r"\W", "_", block.label)


def observe(
    design: Design, edits: Edits, block: SourceBlock, part: str, expression: str, held: bool, clock: bool = False
) -> None:
    """Drive `part` of the module's port with a block's state, and where asked with its `clock` above that: with
    `expression`; without one, by a register that is set in every branch, but not in an asynchronous reset where it is
    `held` there."""
    name, bits = register_name(block), state_bits(len(block.states) + 1)
    node = block.node
    start = block.key[1]
    alone = is_alone(block)
    opening = "begin " if alone else ""
    driven = f"assign {STATE_PORT}{part} = {f'{{{block.clock}, {name}}}' if clock else name}; "
    if expression:
        edits.insert(start, f"{opening}wire [{bits - 1}:0] {name} = {expression}; {driven}")
    else:
        edits.insert(start, f"{opening}reg [{bits - 1}:0] {name} = 0; {driven}")
        _set_in_branches(design, edits, block, name, held)
    if alone:
        edits.insert(_end(design, node.getLastToken()), " end")


def is_alone(block: SourceBlock) -> bool:
    """Whether a block is all of a generate's alternative, without begin and end around it."""
    return stands_alone(block.node)


def stands_alone(item: Node) -> bool:
    """The same of any item of a module."""
    return isinstance(
        item.parent,
        syntax.LoopGenerateSyntax
        | syntax.IfGenerateSyntax
        | syntax.ElseClauseSyntax
        | syntax.StandardCaseItemSyntax
        | syntax.DefaultCaseItemSyntax,
    )


def in_generate(block: SourceBlock) -> bool:
    """Whether a block is within a generate's loop or alternative."""
    parent = block.node.parent
    while isinstance(parent, syntax.GenerateRegionSyntax):
        parent = parent.parent
    return not isinstance(parent, syntax.ModuleDeclarationSyntax)


def observe_metric(edits: Edits, block: MetricBlock, part: str, clock: bool = False) -> None:
    """Drive `part` of the module's port, a cycle late, with what a metric's conditions and its signal are, and where
    asked with its `clock` above that."""
    metric, name = block.metric, f"recap_metric_{block.label}"
    when = ", ".join(f"({condition}) ? 1'b1 : 1'b0" for condition in reversed(metric.conditions)) or "1'b1"
    text = f"reg [{metric.bits - 1}:0] {name} = 0; "
    told, set_ = [name], f"{name} <= {{{when}}};"
    if block.late:
        bits_of = [text if text in block.late else f"{name}[{n}]" for n, text in enumerate(metric.conditions)]
        told = [f"({text}) ? 1'b1 : 1'b0" if text in block.late else text for text in reversed(bits_of)]
    if block.value is not None:
        text += f"reg [{block.value.bits - 1}:0] {name}_value = 0; "
        told.insert(0, f"{name}_value")
        set_ += f" /* verilator lint_off WIDTH */ {name}_value <= {metric.signal}; /* verilator lint_on WIDTH */"
    if clock:
        told.insert(0, block.clock)
    text += f"always @({block.edge} {block.clock}) begin {set_} end assign {STATE_PORT}{part} = {{{', '.join(told)}}}; "
    text = _kept(block) + text
    alone = block.anchor is None and stands_alone(block.node)
    edits.insert(block.anchor.key[1] if block.anchor is not None else block.at, f"begin {text}" if alone else text)
    if block.placed is not None:
        edits.conditions[block.line if block.anchor is None else block.anchor.line] = block.placed


def _kept(block: MetricBlock) -> str:
    """What keeps what a metric asks of cycles before."""
    if not block.kept:
        return ""
    declared, sets = " ".join(one.declared for one in block.kept), " ".join(one.sets for one in block.kept)
    lint = "/* verilator lint_off WIDTH */ {} /* verilator lint_on WIDTH */ "
    return lint.format(f"{declared} always @({block.edge} {block.clock}) begin {sets} end")


def observe_marks(design: Design, edits: Edits, block: MetricBlock, part: str, held: bool, clock: bool = False) -> None:
    """Drive `part` of the module's port with the state of a decision or an assertion, which its own block sets at its
    marks, and where asked with its `clock` above that. A block without a clock tells the state of the same cycle."""
    assert block.anchor is not None
    name, bits = f"recap_metric_{block.label}", block.metric.bits
    is_assertion = block.metric.kind is MetricKind.ASSERT
    clocked = not block.early
    none, sets = f"{bits}'d0", "<=" if clocked else "="
    declared, shown = f"reg [{bits - 1}:0] {name}{' = 0' if clocked else ''};", name
    if is_assertion:  # a change of a bit says that it held, or failed, which no reset takes back
        declared += f" reg [1:0] {name}_was = 0; always @({block.edge} {block.clock}) {name}_was <= {name};"
        declared += f" wire [1:0] {name}_is = {name} ^ {name}_was;"
        shown = f"{name}_is[{FAILED - 1}], {name}_is[{HELD - 1}] & ~{name}_is[{FAILED - 1}]"
    led = f"{{{block.clock}, {shown}}}" if clock else f"{{{shown}}}"
    edits.insert(block.at, f"{_kept(block)}{declared} assign {STATE_PORT}{part} = {led}; ")
    defaults = _defaults(block.anchor, held)[0] if clocked else [body_of(block.node)]
    for statement in [] if is_assertion else defaults:
        _prepend(design, edits, statement, f"{name} {sets} {none};")
    for mark in block.marks:
        text = f"{name} {sets} {bits}'d{mark.code};"
        if mark.condition:
            held_, failed = (f"{name}[{code - 1}] <= ~{name}[{code - 1}];" for code in (HELD, FAILED))
            text = f"if ({mark.condition}) {held_} else {failed}"
        _prepend(design, edits, mark.place, text)
        if mark.condition:
            leave_out(design, edits, mark.place, ";")


def leave_out(design: Design, edits: Edits, node: Node, instead: str = "") -> None:
    """Take what stands there out of a copy, and keep its lines: assertions, which become no hardware."""
    start, end = design.offset(node.getFirstToken().location, edits.path), _end(design, node.getLastToken())
    if start is not None and design.offset(node.getLastToken().location, edits.path) is not None:
        lines = design.place(node.sourceRange.end)[1] - design.place(node.sourceRange.start)[1]
        edits.replace(start, end, instead + "\n" * lines)


def body_of(node: Node) -> Node:
    """The statement of an always block."""
    statement = node.statement
    return statement.statement if isinstance(statement, syntax.TimingControlStatementSyntax) else statement


def _set_in_branches(design: Design, edits: Edits, block: SourceBlock, name: str, held: bool) -> None:
    bits = state_bits(len(block.states) + 1)
    for statement, texts in _assignments(design, edits, block, name, held):
        _prepend(design, edits, statement, texts)
    for conditional in _without_else(block):
        edits.insert(_end(design, conditional.getLastToken()), f" else {name} <= {bits}'d0;")


def _assignments(design: Design, edits: Edits, block: SourceBlock, name: str, held: bool) -> Iterator[tuple[Node, str]]:
    """(statement, assignments that go before it), outermost first."""
    bits = state_bits(len(block.states) + 1)
    codes = {meaning(placed.pragma): code for code, placed in enumerate(block.states, 1)}
    defaults, main = _defaults(block, held)
    texts: dict[tuple[int, int], list[str]] = {id_of(statement): [f"{name} <= {bits}'d0;"] for statement in defaults}
    nodes = {id_of(statement): statement for statement in defaults}
    for arm in block.arms:
        statement = main if arm.kind == "body" else arm.statement
        for placed in arm.pragmas:
            code = f"{name} <= {bits}'d{codes[meaning(placed.pragma)]};"
            condition = placed.pragma.condition
            if condition and arm.in_reset:
                continue
            if condition:
                code = f"if ({condition}) {code}"
                line = design.place(_place_of(statement).location)[1]
                edits.conditions[line] = placed
            nodes.setdefault(id_of(statement), statement)
            texts.setdefault(id_of(statement), []).append(code)
    for key in sorted(nodes, key=lambda k: (k[0], -k[1])):
        yield nodes[key], " ".join(texts[key])


def _defaults(block: SourceBlock, held: bool) -> tuple[list[Node], Node]:
    """The statements of a clocked block that begin each of its cycles, those of an asynchronous reset among them but
    where its state is `held` there; and that of the cycles out of it."""
    body = block.node.statement.statement
    chain = reset_chain(body, block.resets) if block.resets else None
    if not chain:
        return [body], body
    last = chain[-1].elseClause
    resets = [] if held else [conditional.statement for conditional in chain]
    defaults = [*resets, *([last.clause] if last is not None else [])]
    return defaults, defaults[-1]


def _without_else(block: SourceBlock) -> list[Node]:
    chain = reset_chain(block.node.statement.statement, block.resets) if block.resets else None
    return [chain[-1]] if chain and chain[-1].elseClause is None else []


def _place_of(statement: Node) -> Node:
    """The token after which, or before which, assignments are written."""
    if isinstance(statement, syntax.BlockStatementSyntax):
        return after_declarations(statement)
    return statement.getFirstToken()


def _prepend(design: Design, edits: Edits, statement: Node, assignments: str) -> None:
    if isinstance(statement, syntax.BlockStatementSyntax):
        edits.insert(_end(design, after_declarations(statement)), f" {assignments}")
        return
    manager = design.manager
    edits.insert(int(manager.getFullyExpandedLoc(statement.getFirstToken().location).offset), f"begin {assignments} ")
    edits.insert(_end(design, statement.getLastToken()), " end")


def _end(design: Design, token: Node) -> int:
    manager, end = design.manager, token.range.end
    while manager.isMacroLoc(end):
        end = manager.getExpansionRange(end).end
    return int(end.offset)
