"""A platform's host API on the simulated card, made of what its template says: prototypes, kinds, tables, constants.

Each function does on the card's client library (`resources/card/wbcard.h`) what its entry's kind says, with the entry's
expressions for the address, the bytes and the data. Which card it means is told by its handle (what an `acquire`
returns or fills in: the card's number and 1), or by its entry's `fpga`; else it is the first. The names
of its own begin with `rcw_`, as no parameter and no function of an API does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.api.c_header import constants, data_of, header_names, header_text
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import CallKind, HostEntry, Platform
from workbench.model.prototypes import Callee, Prototype, callees, handle_of, handle_types, pointed_type


def shim_lacks(platform: Platform) -> tuple[Diagnostic, ...]:
    """Why the API cannot be made of the template; nothing where it can."""
    known, problems = callees(platform.host.entries)
    kept = handle_types(platform.host)
    found = list(problems)
    if any(entry.opens or entry.of or entry.access for entry in platform.host.entries):
        hint = "Name C sources that implement the API on the simulated card: host.api_sources."
        found.append(Diagnostic("calls that are told by what was opened are not made of a template", hint))
    for callee in known.values():
        for _, entry in callee.entries:
            try:
                _action(callee.prototype, entry, kept)
            except WorkbenchError as error:
                found += error.diagnostics
    return tuple(found)


def shim_source(platform: Platform) -> str:
    """C that implements the API. WorkbenchError where `shim_lacks` says why it cannot be made."""
    host = platform.host
    known, problems = callees(host.entries)
    if problems:
        raise WorkbenchError(*problems)
    kept = handle_types(host)
    declared = host.include_lines if header_names(host) else (header_text(host),)
    lines = ["/* Generated from the platform template: its host API on the simulated card. */", *declared,
             "#include <stdint.h>", "#include <stdlib.h>", "#include <sys/types.h>", '#include "wbcard.h"',
             *constants(host), _CARDS]  # fmt: skip
    for callee in known.values():
        lines += _function(callee, kept)
    return "\n".join([*lines, ""])


_CARDS = """
enum { RCW_MOST_CARDS = 64 };
static wbcard_t *rcw_cards[RCW_MOST_CARDS];
static int rcw_times[RCW_MOST_CARDS];

static int rcw_acquire(long number)
{
    if (number < 0 || number >= RCW_MOST_CARDS || !(rcw_cards[number] = wbcard_open((int)number)))
        return -1;
    rcw_times[number]++;
    return 0;
}

static wbcard_t *rcw_numbered(long number)
{
    if (number < 0 || number >= RCW_MOST_CARDS)
        return NULL;
    return rcw_cards[number] ? rcw_cards[number] : (rcw_cards[number] = wbcard_open((int)number));
}

static wbcard_t *rcw_handled(uintptr_t handle)
{
    return handle - 1 < RCW_MOST_CARDS ? rcw_cards[handle - 1] : NULL;
}

static int rcw_release(wbcard_t *card)
{
    for (int number = 0; card && number < RCW_MOST_CARDS; number++)
        if (rcw_cards[number] == card) {
            wbcard_close(card);
            if (--rcw_times[number] <= 0)
                rcw_cards[number] = NULL;
            return 0;
        }
    return -1;
}
"""


def _function(callee: Callee, kept: Mapping[str, bool]) -> Iterator[str]:
    prototype = callee.prototype
    yield f"{prototype.text}"
    yield "{"
    for _, entry in callee.entries:
        inner = [f"        {line}" for line in _action(prototype, entry, kept)]
        yield from (f"    if ({entry.condition.strip() or '1'}) {{", *inner, "    }")
    yield from (*(f"    (void){name};" for _, name in prototype.parameters), f"    {_return(prototype, '-1')}", "}")


def _action(prototype: Prototype, entry: HostEntry, kept: Mapping[str, bool]) -> list[str]:
    """What a call of this entry does. WorkbenchError where its data, or its table, cannot be told, or it is C++."""
    if prototype.cpp:
        message = f"{prototype.qualified} is C++, for which no stand-in can be made of the template"
        raise WorkbenchError(Diagnostic(message, "Name sources that implement it: host.api_sources."))
    if entry.kind.moves:
        return _move(prototype, entry, kept)
    if entry.kind is CallKind.ACQUIRE:
        lines = [f"long rcw_number = (long)({entry.fpga.strip() or '0'});", "int rcw_status = rcw_acquire(rcw_number);"]
        lines += [
            f"if (!rcw_status && {name}) *{name} = (__typeof__(*{name}))(uintptr_t)(rcw_number + 1);"
            for declaration, name in prototype.parameters
            if pointed_type(declaration, name) in kept and "const" not in declaration
        ]
        if "*" in prototype.returns:
            return [*lines, f"return rcw_status ? NULL : ({prototype.returns})(uintptr_t)(rcw_number + 1);"]
        if prototype.returns in kept:
            return [*lines, f"return ({prototype.returns})(rcw_status ? -1 : rcw_number);"]
        return [*lines, _return(prototype, "rcw_status")]
    file, card = entry.files.strip() or '""', _card(prototype, entry, kept)
    call = {
        CallKind.CONFIGURE: f'wbcard_configure({card}, "{entry.transfer or "configure"}", {file})',
        CallKind.WAIT: f"wbcard_wait({card})",
        CallKind.INTERRUPT: f"wbcard_wait_irq({card})",
        CallKind.RELEASE: f"rcw_release({card})",
        CallKind.OTHER: f'wbcard_nothing("{prototype.name}")' if prototype.returns != "void" else "0",
    }.get(entry.kind, "0")
    return [f"int rcw_status = {call};", "(void)rcw_status;", _return(prototype, "rcw_status")]


def _card(prototype: Prototype, entry: HostEntry, kept: Mapping[str, bool]) -> str:
    """The card that a call means."""
    handle = handle_of(prototype, kept)
    return f"rcw_handled((uintptr_t){handle})" if handle else f"rcw_numbered((long)({entry.fpga.strip() or '0'}))"


def _move(prototype: Prototype, entry: HostEntry, kept: Mapping[str, bool]) -> list[str]:
    if not entry.transfer:
        raise WorkbenchError(
            Diagnostic(f"the entry {prototype.name} names no transfer table", "Write transfer: NAME of one of them.")
        )
    sends = entry.kind is CallKind.SEND
    function = f"wbcard_{'send' if sends else 'receive'}{'_async' if entry.asynchronous else ''}"
    address = f"(int64_t)({entry.address.strip() or '0'})"
    data, size, by_value = data_of(prototype, entry, kept)
    size = entry.bytes.strip() or size
    card = _card(prototype, entry, kept)
    call = f'{function}({card}, "{entry.transfer}", {data}, {address}, (int64_t)({size}))'
    if by_value and not sends:
        return [f"{prototype.returns} rcw_value = 0;", f"{call};", "return rcw_value;"]
    moved = size if sends else "wbcard_got()"
    return [f"int rcw_status = {call};", "(void)rcw_status;", _return(prototype, "rcw_status", moved)]


def _return(prototype: Prototype, status: str, size: str = "0") -> str:
    """The statement that tells the caller how it went: 0 and -1, a count, a truth, or nothing."""
    kind = prototype.returns
    if kind == "void":
        return "return;"
    if kind in ("bool", "_Bool"):
        return f"return {status} == 0;"
    if kind in ("ssize_t", "size_t"):
        return f"return {status} ? ({kind})-1 : ({kind})({size});"
    return f"return ({kind})({status});" if "*" not in kind else "return NULL;"
