"""Generates rcw_wrappers.c: for each site and state a function like the API's own, which calls it and records."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rc_workbench_plugins.c.numbering import Wrapper
from workbench.model.platform import CallKind, HostEntry, Platform
from workbench.model.prototypes import Callee, handles

_USES = {CallKind.SEND, CallKind.RECEIVE, CallKind.WAIT, CallKind.INTERRUPT}


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
    wrappers: Sequence[Wrapper],
    platform: Platform,
    defines: Mapping[str, str],
    runtime: Path,
    beside: Mapping[str, Path],
) -> Generated:
    """The C source. `runtime` is recap.h; `beside` are headers, by name, that no include folder leads to."""
    out = _Lines()
    out.add("/* Generated: the recording wrappers of the host's API calls. */", "#define _GNU_SOURCE")
    for name, value in defines.items():
        out.add(f"#ifndef {name}", f"#define {name} {value}", "#endif")
    out.add(*(include_line(line, beside) for line in platform.host.include_lines))
    out.add(f'#include "{runtime}"', "#ifdef RCW_BOARD", '#include "rcw_board.h"', "#endif")
    for name, constant in platform.host.constants.items():
        value = f'"{escaped(constant)}"' if isinstance(constant, str) else repr(constant)
        out.add(f"#ifndef {name}")
        out.expression(f"constant {name}", f"#define {name} {value}")
        out.add("#endif")
    out.add("", "const rcw_slot rcw_slots[] = {")
    out.add(*(f"    {{{site}, {state}, {entry}}}," for w in wrappers for site, state, entry in w.slots))
    out.add("    {-1, 0, -1},", "};", f"const int rcw_slot_count = {sum(len(w.slots) for w in wrappers)};")
    described: set[str] = set()
    for wrapper in wrappers:
        if wrapper.callee.name not in described:
            described.add(wrapper.callee.name)
            _describe(out, wrapper)
        _wrap(out, wrapper, handles(platform.host))
    return Generated("\n".join(out.lines) + "\n", out.expressions)


def include_line(text: str, beside: Mapping[str, Path]) -> str:
    """An include line of the template, which may name the header alone, or one that stands beside a source."""
    line = text.strip()
    name = re.sub(r'^#\s*include\s*|"', "", line)
    if name in beside:
        return f'#include "{beside[name]}"'
    if line.startswith("#"):
        return line
    return f"#include {line}" if line.startswith("<") else f'#include "{name}"'


def declaration(wrapper: Wrapper) -> str:
    """What makes a wrapper known where its function is: of the very type of the function it stands for."""
    signature = wrapper.use.signature
    if signature is not None and not signature.variadic:
        return f"extern __typeof__({wrapper.callee.name}) {wrapper.name};"
    return f"extern {_head(wrapper, wrapper.name)};"


def _parameters(wrapper: Wrapper, *, extra: bool = True) -> list[tuple[str, str]]:
    """(declaration, name): the header's types, the template's names; a macro's all from the template."""
    signature = wrapper.use.signature
    named = wrapper.callee.prototype.parameters
    if signature is None or signature.parameters is None:
        return list(named)
    found = [(f"__typeof__({kind}) {name}", name) for kind, (_, name) in zip(signature.parameters, named, strict=True)]
    if extra:
        found += [(f"__typeof__({kind}) rcw_x{i}", f"rcw_x{i}") for i, kind in enumerate(wrapper.use.arguments)]
    return found


def _returns(wrapper: Wrapper) -> str:
    signature = wrapper.use.signature
    return signature.returns if signature else wrapper.callee.prototype.returns


def _head(wrapper: Wrapper, name: str) -> str:
    parameters = ", ".join(text for text, _ in _parameters(wrapper)) or "void"
    return f"__typeof__({_returns(wrapper)}) {name}({parameters})"


def _describe(out: _Lines, wrapper: Wrapper) -> None:
    """A function that evaluates the entries' expressions over a call's arguments."""
    callee = wrapper.callee
    parameters = "".join(f", {text}" for text, _ in _parameters(wrapper, extra=False))
    out.add("", f"static inline void rcw_about_{callee.name}(rcw_call *rcw_it{parameters})", "{")
    out.add("    rcw_it->which = -1, rcw_it->fpga = -1, rcw_it->bytes = -1, rcw_it->address = -1;")
    out.add(*(f"    (void){name};" for _, name in _parameters(wrapper, extra=False)))
    for which, (_, entry) in enumerate(callee.entries):
        _describe_entry(out, callee, which, entry)
    out.add("}")


def _describe_entry(out: _Lines, callee: Callee, which: int, entry: HostEntry) -> None:
    name = f"{callee.name} [{entry.subtype}]" if entry.subtype else callee.name
    out.expression(f"the condition of entry {name}", f"    if (rcw_it->which < 0 && ({entry.condition or 1})) {{")
    out.add(f"        rcw_it->which = {which};")
    for field, kind, text in (
        ("bytes", "(int64_t)", entry.bytes),
        ("address", "(int64_t)", entry.address),
        ("fpga", "(int32_t)(intptr_t)", entry.fpga),
    ):
        if text.strip():
            line = f"        rcw_it->{field} = {kind}({text.strip()});"
            out.expression(f"the {field} expression of entry {name}", line)
    out.add("    }")


def _wrap(out: _Lines, wrapper: Wrapper, kept: Collection[str]) -> None:
    arguments = ", ".join(name for _, name in _parameters(wrapper))
    described = "".join(f", {name}" for _, name in _parameters(wrapper, extra=False))
    call = f"{wrapper.callee.name}({arguments})"
    is_void = _returns(wrapper).strip() == "void"
    bare = f"{{ {call}; return; }}" if is_void else f"return {call};"
    where = wrapper.use.place
    state = wrapper.pragma.pragma.name if wrapper.pragma else "the default"
    out.add("", f"/* {where.file.name}:{where.line}:{where.column}, state {state} */".replace("*/ ", ""))
    out.add(f"{_head(wrapper, wrapper.name)};", _head(wrapper, wrapper.name), "{")
    out.add("    rcw_start rcw_began = rcw_enter();", "    rcw_thread *rcw_me = rcw_ready();", "    rcw_call rcw_it;")
    out.add("    if (!rcw_me)", f"        {bare}")
    out.add(f"    rcw_about_{wrapper.callee.name}(&rcw_it{described});")
    _at_the_board(out, wrapper, kept)
    if wrapper.otherwise is None:
        out.add("    if (rcw_it.which < 0) {", "        rcw_take_off();", f"        {bare}", "    }")
        slot = f"{wrapper.slot} + rcw_it.which"
    else:
        slot = f"{wrapper.slot} + (rcw_it.which < 0 ? {len(wrapper.states)} : rcw_it.which)"
    out.add("    rcw_go(&rcw_began);")
    out.add(f"    {call};" if is_void else f"    __typeof__({_returns(wrapper)}) rcw_result = {call};")
    out.add(f"    rcw_leave(rcw_me, &rcw_began, {slot}, &rcw_it);")
    out.add(*([] if is_void else ["    return rcw_result;"]), "}")


def _at_the_board(out: _Lines, wrapper: Wrapper, kept: Collection[str]) -> None:
    """On a real machine: keep what the read-out needs of this call, and let the monitors count from the first transfer
    until the board is released."""
    kinds = {entry.kind for _, entry in wrapper.callee.entries}
    if CallKind.ACQUIRE in kinds:
        return
    lines = [f"    rcw_board_{name} = {name};" for _, name in _parameters(wrapper, extra=False) if name in kept]
    if kinds & _USES:
        lines.append("    rcw_board_begin();")
    elif CallKind.RELEASE in kinds:
        lines.append("    rcw_board_end();")
    if lines:
        out.add("#ifdef RCW_BOARD", *lines, "#endif")


def escaped(text: str) -> str:
    """As it stands within a C string."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
