"""Makes FIFO depths variable in simulation: in the copy, a store in front of each FIFO holds words back.

The FIFO's module gets another name, and one of its old name and head takes its place: `recap_depth` and the FIFO. So a
FIFO of any making becomes deeper or less deep, and nothing around it changes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from pyslang import syntax

from workbench.api.instrument.port_finder import RESET_LOW, is_clock, is_reset
from workbench.api.source.lines import source_bytes
from workbench.hdl.edits import Edits
from workbench.hdl.instances import Instance
from workbench.hdl.verilog.design import Design
from workbench.hdl.verilog.ends import End
from workbench.hdl.verilog.labels import labelled
from workbench.hdl.verilog.rewrite import modules_by_name, rename_module, why_not_editable
from workbench.hdl.verilog.streams import FoundStreams
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.streams import Stream

INNER = "__recap_fifo"
_WORD = re.compile(r"\w+")


def vary_depths(
    design: Design, top: Instance, streams: FoundStreams, edits: dict[Path, Edits]
) -> tuple[str, dict[str, str], tuple[Diagnostic, ...]]:
    """The edits that put stores before the FIFOs; the text of the modules that take their places, the FIFOs whose depth
    can then be chosen, by id with where they stand, and why others' cannot."""
    nodes = modules_by_name(design)
    instances = {instance.path: instance for instance in top.walk()}
    texts: dict[str, str] = {}
    varied: dict[str, str] = {}
    problems: list[Diagnostic] = []
    for fifo in streams.fifos:
        ends = streams.ends.get(fifo.id)
        instance, node = instances[fifo.id], nodes.get(fifo.module)
        why = why_not_editable(design, node) or (
            "" if ends else "its streams are listed in the project, not read from its ports"
        )
        if node is None or ends is None or (why := why or _why_not(node, instance, ends)):
            message = f"the depth of {fifo.id} cannot be tried: {why}"
            problems.append(Diagnostic(message, "", Severity.NOTE, fifo.file, fifo.line))
            continue
        varied[fifo.id] = labelled(fifo.id.partition(".")[2], top.path, streams.labels)
        if fifo.module not in texts:
            path = design.place(node.header.name.location)[0]
            texts[fifo.module] = _text(design, path, node, instance, ends)
            rename_module(design, edits.setdefault(path, Edits(path)), node, fifo.module + INNER)
    return "\n".join(texts.values()), varied, tuple(problems)


def _why_not(node: syntax.ModuleDeclarationSyntax, instance: Instance, ends: Sequence[End]) -> str:
    names = [name for end in ends for name in (end.valid_name, end.ready_name, *end.carried)]
    if not isinstance(node.header.ports, syntax.AnsiPortListSyntax):
        return "its ports are not declared in its module's head"
    if not all(_WORD.fullmatch(name) for name in names) or any(end.several for end in ends):
        return "its streams are parts of its ports"
    if not ends[0].carried:
        return "its stream has no known data signal"
    if len(_clocks(instance)) != 1:
        return "it does not have exactly one clock"
    return ""


def _clocks(instance: Instance) -> list[str]:
    names = [port.name for port in instance.body.portList if str(port.direction).endswith("In")]
    return [name for name in names if is_clock(name)]


def _text(
    design: Design, path: Path, node: syntax.ModuleDeclarationSyntax, instance: Instance, ends: Sequence[End]
) -> str:
    """A module with the FIFO's head, of a store and the FIFO."""
    into, out = ends
    start, end = (design.offset(token.location, path) for token in (node.header.moduleKeyword, node.header.semi))
    head = source_bytes(path)[start : (end or 0) + 1].decode(errors="replace")
    ports = [port.name for port in instance.body.portList]
    values = ", ".join(f".{p.name}({p.name})" for p in instance.body.parameters if not p.isLocalParam)
    resets = [
        port.name for port in instance.body.portList if str(port.direction).endswith("In") and is_reset(port.name)
    ]
    reset = " | ".join(f"{'!' if RESET_LOW.fullmatch(name.lower()) else ''}{name}" for name in resets) or "1'b0"
    carried = "{" + ", ".join(into.carried) + "}"
    passed = {name: f"recap_{name}" for name in into.carried}
    ready = "recap_full" if into.ready.low else "recap_ready"
    inner = {name: name for name in ports} | passed
    inner |= {into.valid_name: _turned("recap_valid", into.valid.low), into.ready_name: ready}
    connections = ", ".join(f".{name}({signal})" for name, signal in inner.items())
    gone = f"{_turned(out.valid_name, out.valid.low)} & {_turned(out.ready_name, out.ready.low)}"
    lines = [
        head,
        f"    wire recap_valid, recap_taken, {ready};",
        *(f"    wire [$bits({name}) - 1:0] {signal};" for name, signal in passed.items()),
        f"    recap_depth #(.WIDTH($bits({carried}))) recap_depth (",
        f"        .clock({_clocks(instance)[0]}), .reset({reset}),",
        f"        .in_valid({_turned(into.valid_name, into.valid.low)}), .in_ready(recap_taken), .in_data({carried}),",
        f"        .out_valid(recap_valid), .out_ready({_turned(ready, into.ready.low)}),",
        f"        .out_data({{{', '.join(passed.values())}}}), .gone({gone})",
        "    );",
        f"    assign {into.ready_name} = {_turned('recap_taken', into.ready.low)};",
        f"    {node.header.name.valueText}{INNER}{f' #({values})' if values else ''} recap_fifo ({connections});",
        "endmodule",
        "",
    ]
    return "\n".join(lines)


def _turned(name: str, low: bool) -> str:
    return f"!{name}" if low else name


def below_stores(streams: Sequence[Stream], places: Iterable[str]) -> tuple[Stream, ...]:
    """The streams with what stands within a FIFO that has another place now."""
    inside = [f"{place}." for place in places]

    def moved(signal: str) -> str:
        low, name = ("!", signal[1:]) if signal.startswith("!") else ("", signal)
        for path in inside:
            if name.startswith(path) and "." in name[len(path) :]:
                return f"{low}{path}recap_fifo.{name[len(path) :]}"
        return signal

    return tuple(replace(one, valid=moved(one.valid), ready=moved(one.ready), mark=moved(one.mark)) for one in streams)
