"""Generates rcw_wrappers.c: for each site and state a function like the API's own, which calls it and records."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rc_workbench_plugins.c import access_sites
from rc_workbench_plugins.c.numbering import Numbering, Wrapper
from workbench.api import (
    COMMON,
    Callee,
    CallKind,
    Diagnostic,
    HardwarePort,
    HostEntry,
    Platform,
    WorkbenchError,
    unit_text,
)
from workbench.api.c_header import data_of, declarations
from workbench.api.instrument.board import kept_handles
from workbench.api.unstable import handle_of, handle_types, opened, opened_names, pointed_type, type_of

#: Kinds of calls before which the monitors of a real machine have to count.
USES = {CallKind.SEND, CallKind.RECEIVE, CallKind.WAIT, CallKind.INTERRUPT}


@dataclass(frozen=True)
class Generated:
    """The text, and which of its lines hold an expression of the platform's: line (from 1) -> what it is."""

    text: str
    expressions: dict[int, str]


class _Lines:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.expressions: dict[int, str] = {}

    def add(self, *lines: str) -> None:
        for line in lines:
            self.lines += line.split("\n")

    def expression(self, what: str, text: str) -> None:
        self.lines.append(text.replace("\n", " "))
        self.expressions[len(self.lines)] = what


def generate(
    numbering: Numbering,
    platform: Platform,
    defines: Mapping[str, str],
    runtime: Path,
    beside: Mapping[str, Path],
) -> Generated:
    """The C source. `runtime` is recap.h's folder; `beside` are headers, by name, that no include folder leads to."""
    out = _Lines()
    out.add("/* Generated: the recording wrappers of the host's API calls. */", "#define _GNU_SOURCE")
    for name, value in defines.items():
        out.add(f"#ifndef {name}", f"#define {name} {value}", "#endif")
    if any(not wrapper.use.form for wrapper in numbering.wrappers):
        lines = platform.host.include_lines
        out.add(*(include_line(line, beside) for line in lines), *(() if lines else declarations(platform.host)))
    out.add(f'#include "{runtime / "objects.h"}"', "#define like(text, pattern) rcw_like((text), (pattern))",
            "#define order_of(text) rcw_order_of(text)")  # fmt: skip
    out.add("#ifdef RCW_BOARD", '#include "rcw_board.h"', "#endif")
    for name, constant in platform.host.constants.items():
        value = f'"{escaped(constant)}"' if isinstance(constant, str) else repr(constant)
        out.add(f"#ifndef {name}")
        out.expression(f"constant {name}", f"#define {name} {value}")
        out.add("#endif")
    out.add(f"#define rcw_here rcw_here_{numbering.unit}", "extern rcw_unit rcw_here;")
    described: set[str] = set()
    names = opened_names(platform.host.entries)
    for wrapper in numbering.wrappers:
        if wrapper.use.access:
            _wrap_access(out, wrapper, names, described)
        if wrapper.use.access or wrapper.use.form:
            continue
        if wrapper.callee.name not in described:
            described.add(wrapper.callee.name)
            _describe(out, wrapper, names)
        _wrap(out, wrapper, names, platform)
    return Generated("\n".join(out.lines) + "\n", out.expressions)


def unit_source(numbering: Numbering, runtime: Path, missed: Iterable[Diagnostic]) -> str:
    """C that tells the recorder of the wrappers when the program starts, and of the calls `missed`. What stands where
    is told here alone: the wrappers stay as they are, and compiled, where their calls only moved."""
    return "".join(f"{line}\n" for line in _unit(numbering, runtime, missed))


def _unit(numbering: Numbering, runtime: Path, missed: Iterable[Diagnostic]) -> Iterator[str]:
    slots = [slot for wrapper in numbering.wrappers for slot in wrapper.slots]
    states = numbering.block.states[COMMON:]
    yield "/* Generated: the host's API calls, as the recorder gets them. */"
    yield from (f'#include "{runtime / "recap.h"}"', f"#define rcw_here rcw_here_{numbering.unit}")
    yield "static const rcw_slot rcw_these[] = {"
    yield from (f"    {{{site}, {state}, {entry}}}," for site, state, entry in slots)
    yield from ("    {-1, 0, -1},", "};", "rcw_unit rcw_here = {")
    yield f"    .slots = rcw_these, .slot_count = {len(slots)},"
    yield f"    .sites = {len(numbering.sites)}, .states = {len(states)},"
    yield f'    .told = "{escaped(unit_text(numbering.sites, numbering.block, missed))}",'
    yield "};"
    yield "__attribute__((constructor(101))) static void rcw_begin_here(void) { rcw_add_unit(&rcw_here); }"


def _wrap_access(out: _Lines, wrapper: Wrapper, names: Mapping[str, int], described: set[str]) -> None:
    about = f"rcw_about_{wrapper.callee.name.replace(' ', '_')}"
    if about not in described:
        described.add(about)
        out.add(*access_sites.about_lines(about))
        for which, (_, entry) in enumerate(wrapper.callee.entries):
            of = opened(entry.of)
            chosen, value = bits(of.names if of else (), names), _value((of and of.expression) or "pointer")
            for what, line in access_sites.entry_lines(which, entry, chosen, value):
                if what:
                    out.expression(what, line)
                else:
                    out.add(line)
        out.add("}")
    out.add("", *access_sites.function(wrapper, about))


def include_line(text: str, beside: Mapping[str, Path]) -> str:
    """An include line of the template, which may name the header alone, or one that stands beside a source."""
    line = text.strip()
    name = re.sub(r'^#\s*include\s*|"', "", line)
    if name in beside:
        return f'#include "{beside[name]}"'
    if line.startswith("#"):
        return line
    return f"#include {line}" if line.startswith("<") else f'#include "{name}"'


def declaration(wrapper: Wrapper, linkage: str) -> str:
    """What makes a wrapper known where its function is: of the very type of the function it stands for."""
    signature = wrapper.use.signature
    if wrapper.use.access:
        return access_sites.declaration(wrapper, linkage)
    if signature is not None and not signature.variadic:
        return f"{linkage} __typeof__({wrapper.callee.name}) {wrapper.name};"
    return f"{linkage} {_head(wrapper, wrapper.name)};"


def _parameters(wrapper: Wrapper, *, extra: bool = True) -> list[tuple[str, str]]:
    """(declaration, name): the header's types, the template's names; a macro's all from the template."""
    signature = wrapper.use.signature
    named = wrapper.callee.prototype.parameters
    if signature is None or signature.parameters is None:
        return list(named)
    typed = zip(signature.parameters, named, strict=True)
    parameters = [(f"__typeof__({kind}) {name}", name) for kind, (_, name) in typed]
    if extra:
        parameters += [(f"__typeof__({kind}) rcw_x{i}", f"rcw_x{i}") for i, kind in enumerate(wrapper.use.arguments)]
    return parameters


def _returns(wrapper: Wrapper) -> str:
    signature = wrapper.use.signature
    return signature.returns if signature else wrapper.callee.prototype.returns


def _head(wrapper: Wrapper, name: str) -> str:
    parameters = ", ".join(text for text, _ in _parameters(wrapper)) or "void"
    return f"__typeof__({_returns(wrapper)}) {name}({parameters})"


def _describe(out: _Lines, wrapper: Wrapper, names: Mapping[str, int]) -> None:
    """A function that evaluates the entries' expressions over a call's arguments."""
    callee = wrapper.callee
    parameters = "".join(f", {text}" for text, _ in _parameters(wrapper, extra=False))
    out.add("", f"static __inline__ void rcw_about_{callee.name}(rcw_call *rcw_it{parameters})", "{")
    out.add("    rcw_it->which = -1, rcw_it->fpga = -1, rcw_it->bytes = -1, rcw_it->address = -1;")
    out.add(*(f"    (void){name};" for _, name in _parameters(wrapper, extra=False)))
    for which, (_, entry) in enumerate(callee.entries):
        _describe_entry(out, callee, which, entry, names)
    out.add("}")


def _describe_entry(out: _Lines, callee: Callee, which: int, entry: HostEntry, names: Mapping[str, int]) -> None:
    name = f"{callee.name} [{entry.subtype}]" if entry.subtype else callee.name
    of, first = opened(entry.of), next((name for _, name in callee.prototype.parameters), "0")
    if of:
        value = f"{_value(of.expression or first)}, {bits(of.names, names)}"
        out.expression(f"what entry {name} is of", f"    const rcw_object *rcw_o{which} = rcw_of({value});")
    holds = f"rcw_it->which < 0{f' && rcw_o{which}' if of else ''} && ({entry.condition.strip() or 1})"
    out.expression(f"the condition of entry {name}", f"    if ({holds}) {{")
    out.add(f"        rcw_it->which = {which};", *([f"        rcw_it->fpga = rcw_o{which}->fpga;"] if of else []))
    for field, kind, text in (
        ("bytes", "(int64_t)", entry.bytes),
        ("address", "(int64_t)", entry.address),
        ("fpga", "(int32_t)(intptr_t)", entry.fpga),
    ):
        if text.strip():
            line = f"        rcw_it->{field} = {kind}({text.strip()});"
            out.expression(f"the {field} expression of entry {name}", line)
    out.add("    }")


def _value(expression: str) -> str:
    return f"(uint64_t)(intptr_t)({expression})"


def bits(chosen: Iterable[str], names: Mapping[str, int]) -> str:
    """The names as a set of the runtime's."""
    return f"UINT64_C({sum(1 << names[name] for name in dict.fromkeys(chosen) if name in names)})"


def _opens(wrapper: Wrapper, names: Mapping[str, int]) -> list[tuple[str, str]]:
    """What follows a call that opens: (which, a statement), "-1" for a call that no entry speaks of."""
    given = [(which, entry, opening) for which, (_, entry) in enumerate(wrapper.callee.entries)
             if (opening := opened(entry.opens))]  # fmt: skip
    whole = bits((name for _, _, opening in given for name in opening.names), names)
    lines, own = [], {name for _, name in _parameters(wrapper)}
    for which, entry, opening in given:
        value, size = opening.expression or "rcw_result", entry.mapped_bytes.strip() or "0"
        if "result" not in own:
            value = re.sub(r"\bresult\b", "rcw_result", value)
        about = f"{names[opening.names[0]]}, {whole}, {_value(value)}, (uint64_t)({size}), rcw_it.address, rcw_it.fpga"
        condition = "if (rcw_result) " if not opening.expression and "*" in _returns(wrapper) else ""
        lines.append((f"{which}", f"{condition}rcw_opened({about});"))
    if any(not opening.expression for _, _, opening in given):
        lines.append(("-1", f"rcw_closed({whole}, {_value('rcw_result')});"))
    return lines


def _closes(out: _Lines, wrapper: Wrapper, names: Mapping[str, int]) -> None:
    """Before a call that releases: others may get the same descriptor as soon as it is made."""
    first = next((name for _, name in _parameters(wrapper)), "0")
    for which, (_, entry) in enumerate(wrapper.callee.entries):
        of = opened(entry.of)
        if of and entry.kind is CallKind.RELEASE:
            about = f"{bits(of.names, names)}, {_value(of.expression or first)}"
            out.expression(f"what entry {wrapper.callee.name} is of",
                           f"    if (rcw_it.which == {which}) rcw_closed({about});")  # fmt: skip


def _wrap(out: _Lines, wrapper: Wrapper, names: Mapping[str, int], platform: Platform) -> None:
    streams = into_streams(wrapper.callee, platform)
    arguments = ", ".join(name for _, name in _parameters(wrapper))
    described = "".join(f", {name}" for _, name in _parameters(wrapper, extra=False))
    call = f"{wrapper.callee.name}({arguments})"
    is_void = _returns(wrapper).strip() == "void"
    state = wrapper.pragma.pragma.name if wrapper.pragma else "the default"
    out.add("", f"/* {wrapper.use.place.file.name}, state {state} */".replace("*/ ", ""))
    shared = "" if wrapper.use.is_call else "__attribute__((weak)) "
    out.add(f"{shared}{_head(wrapper, wrapper.name)};", _head(wrapper, wrapper.name), "{")
    out.add("    rcw_start rcw_began = rcw_enter();", "    rcw_thread *rcw_me = rcw_ready(&rcw_here);")
    out.add("    rcw_call rcw_it;")
    out.add("    if (!rcw_me)", f"        {f'{{ {call}; return; }}' if is_void else f'return {call};'}")
    out.add(f"    rcw_about_{wrapper.callee.name}(&rcw_it{described});")
    _at_the_board(out, wrapper, platform)
    _announce(out, wrapper, streams)
    _closes(out, wrapper, names)
    opens = _opens(wrapper, names)
    called = f"{call};" if is_void else f"__typeof__({_returns(wrapper)}) rcw_result = {call};"
    returned = "return;" if is_void else "return rcw_result;"
    if wrapper.otherwise is None:
        ends = "".join(f" {line}" for which, line in opens if which == "-1")
        out.add("    if (rcw_it.which < 0) {", "        rcw_take_off();", f"        {called}{ends} {returned}", "    }")
        slot = f"rcw_here.first + {wrapper.slot} + rcw_it.which"
    else:
        slot = f"rcw_here.first + {wrapper.slot} + (rcw_it.which < 0 ? {len(wrapper.states)} : rcw_it.which)"
    out.add(f"    const int rcw_slot = {slot};", "    rcw_go(rcw_me, &rcw_began, rcw_slot);", f"    {called}")
    out.add("    rcw_leave(rcw_me, &rcw_began, rcw_slot, &rcw_it);")
    _opened_at_the_board(out, wrapper, platform)
    for number, (port, _, _) in streams.items():
        out.add(f"#if defined RCW_BOARD_STREAM && RCW_BOARD_STREAM == {port}")
        out.add(f"    if (rcw_it.which == {number}) rcw_board_sent(rcw_at);", "#endif")
    for which, line in opens:
        out.expression(f"what entry {wrapper.callee.name} opens", f"    if (rcw_it.which == {which}) {line}")
    out.add(f"    {returned}", "}")


def _at_the_board(out: _Lines, wrapper: Wrapper, platform: Platform) -> None:
    """On a real machine: keep what the read-out needs of this call, and let the monitors count from the first transfer
    until the board is released."""
    callee, kept = wrapper.callee, kept_handles(platform.host)
    if CallKind.ACQUIRE in callee.kinds:
        return
    lines = [f"    RCW_BOARD_KEEP(rcw_at, {name}, {name});" for _, name in _parameters(wrapper, extra=False)
             if name in kept]  # fmt: skip
    if not USES.isdisjoint(callee.kinds):
        lines.append("    rcw_board_begin(rcw_at);")
    elif CallKind.RELEASE in callee.kinds:
        lines.append("    rcw_board_end(rcw_at);")
    if lines:
        handle = handle_of(callee.prototype, handle_types(platform.host))
        at = f"    const int rcw_at = RCW_BOARD_AT(rcw_it.fpga, {handle.name if handle else '0'});"
        out.add("#ifdef RCW_BOARD", at, "    (void)rcw_at;", *lines, "#endif")


def _opened_at_the_board(out: _Lines, wrapper: Wrapper, platform: Platform) -> None:
    """On a real machine: which FPGA a handle is of that was opened, where a call gives it or fills it in."""
    if CallKind.ACQUIRE not in wrapper.callee.kinds:
        return
    types, prototype = handle_types(platform.host), wrapper.callee.prototype
    given = [(type_of(f"{prototype.returns} rcw_x", "rcw_x"), "", "rcw_result", "")]
    given += [(pointed_type(text, name), name, f"*{name}", f"if ({name}) ")
              for text, name in prototype.parameters if "const" not in text]  # fmt: skip
    for kind, name, value, there in given:
        if types.has(kind, name) if name else kind in types.returned and not types.get(kind, True):
            opened_ = f"{there}RCW_BOARD_OPENED(rcw_it.fpga, {value});"
            out.add("#ifdef RCW_BOARD", f"    {opened_}", "#endif")
            if name:  # a call may be given its address
                out.add("#ifdef RCW_BOARD", f"    if ({name}) RCW_BOARD_OPENED(rcw_it.fpga, {name});", "#endif")


def into_streams(callee: Callee, platform: Platform) -> dict[int, tuple[int, str, str]]:
    """The entries of a call that send into a port without addresses: that port's number, where the data are, or NULL if
    unknown, and the bytes."""
    ports = platform.hardware.ports if platform.hardware else ()
    unnamed = next((n for n, port in enumerate(ports) if isinstance(port, HardwarePort) and port.takes_transfers), 0)
    numbers = {"": unnamed, **{port.name: n for n, port in enumerate(ports)}}
    streams: dict[int, tuple[int, str, str]] = {}
    for which, (_, entry) in enumerate(callee.entries):
        table = platform.transfer_tables.get(entry.transfer)
        if entry.kind is not CallKind.SEND or table is None or table.port not in numbers or not ports:
            continue
        port = ports[numbers[table.port]]
        if not isinstance(port, HardwarePort) or port.addressed:
            continue
        try:
            data, size, _ = data_of(callee.prototype, entry, handle_types(platform.host))
        except WorkbenchError:
            data, size = "NULL", "-1"
        streams[which] = numbers[table.port], data, entry.bytes.strip() or size
    return streams


def _announce(out: _Lines, wrapper: Wrapper, streams: Mapping[int, tuple[int, str, str]]) -> None:
    """Before data go into a stream in which the monitors have reserved words."""
    for which, (port, data, size) in streams.items():
        out.add(f"#if defined RCW_BOARD_STREAM && RCW_BOARD_STREAM == {port}")
        what = f"where the data of entry {wrapper.callee.name} are, or its bytes"
        call = f"rcw_board_send(rcw_at, (const void *)({data}), (int64_t)({size}))"
        out.expression(what, f"    if (rcw_it.which == {which}) {call};")
        out.add("#endif")


def escaped(text: str) -> str:
    """The text escaped for a C string."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
