"""A platform's host API on the simulated card, made of what its template says: prototypes, kinds, tables, constants.

Each function does on the card's client library (`resources/card/wbcard.h`) what its entry's kind says, with the entry's
expressions for the address, the bytes and the data. There is one card; a handle is told from other parameters by being
what an `acquire` returns or fills in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.api.c_header import WORD, constants, header_names, header_text, squeezed, type_of
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import CallKind, Host, HostEntry, Platform
from workbench.model.prototypes import Callee, Prototype, callees

_MOVES = (CallKind.SEND, CallKind.RECEIVE)


def shim_lacks(platform: Platform) -> tuple[Diagnostic, ...]:
    """Why the API cannot be made of the template; nothing where it can."""
    known, problems = callees(platform.host.entries)
    kept = _handle_types(platform.host, known.values())
    found = list(problems)
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
    kept = _handle_types(host, known.values())
    declared = host.include_lines if header_names(host) else (header_text(host),)
    lines = ["/* Generated from the platform template: its host API on the simulated card. */", *declared,
             "#include <stdint.h>", "#include <stdlib.h>", "#include <sys/types.h>", '#include "wbcard.h"',
             *constants(host), _CARD]  # fmt: skip
    for callee in known.values():
        lines += _function(callee, kept)
    return "\n".join([*lines, ""])


_CARD = """
static wbcard_t *opened;
static int times;

static wbcard_t *card(void)
{
    return opened ? opened : (opened = wbcard_open(0));
}

static int acquire(int number)
{
    opened = wbcard_open(number);
    times += opened != NULL;
    return opened ? 0 : -1;
}

static int release(void)
{
    if (!opened)
        return -1;
    wbcard_close(opened);
    if (--times <= 0)
        opened = NULL;
    return 0;
}
"""


def _function(callee: Callee, kept: set[str]) -> Iterator[str]:
    prototype = callee.prototype
    yield f"{prototype.text}"
    yield "{"
    for _, entry in callee.entries:
        inner = [f"        {line}" for line in _action(prototype, entry, kept)]
        yield from (f"    if ({entry.condition.strip() or '1'}) {{", *inner, "    }")
    yield from (*(f"    (void){name};" for _, name in prototype.parameters), f"    {_return(prototype, '-1')}", "}")


def _action(prototype: Prototype, entry: HostEntry, kept: set[str]) -> list[str]:
    """What a call of this entry does. WorkbenchError where its data, or its table, cannot be told."""
    if entry.kind in _MOVES:
        return _move(prototype, entry, kept)
    if entry.kind is CallKind.ACQUIRE:
        lines = [f"int status = acquire((int)({entry.fpga.strip() or '0'}));"]
        lines += [
            f"if (!status && {name}) *{name} = (__typeof__(*{name}))(uintptr_t)1;"
            for declaration, name in prototype.parameters
            if _pointed(declaration, name) in kept and "const" not in declaration
        ]
        if "*" in prototype.returns:
            return [*lines, f"return status ? NULL : ({prototype.returns})(uintptr_t)opened;"]
        if prototype.returns in kept:  # the number is the handle
            return [*lines, f"return status ? ({prototype.returns})-1 : ({prototype.returns})1;"]
        return [*lines, _return(prototype, "status")]
    file = entry.files.strip() or '""'
    call = {
        CallKind.CONFIGURE: f'wbcard_configure(card(), "{entry.transfer or "configure"}", {file})',
        CallKind.WAIT: "wbcard_wait(card())",
        CallKind.INTERRUPT: "wbcard_wait_irq(card())",
        CallKind.RELEASE: "release()",
    }.get(entry.kind, "0")
    return [f"int status = {call};", "(void)status;", _return(prototype, "status")]


def _move(prototype: Prototype, entry: HostEntry, kept: set[str]) -> list[str]:
    if not entry.transfer:
        raise WorkbenchError(
            Diagnostic(f"the entry {prototype.name} names no transfer table", "Write transfer: NAME of one of them.")
        )
    sends = entry.kind is CallKind.SEND
    function = f"wbcard_{'send' if sends else 'receive'}{'_async' if entry.asynchronous else ''}"
    address = f"(int64_t)({entry.address.strip() or '0'})"
    data, size, by_value = _data(prototype, entry, kept)
    size = entry.bytes.strip() or size
    call = f'{function}(card(), "{entry.transfer}", {data}, {address}, (int64_t)({size}))'
    if by_value and not sends:
        return [f"{prototype.returns} value = 0;", f"{call};", "return value;"]
    return [f"int status = {call};", "(void)status;", _return(prototype, "status", size)]


def _data(prototype: Prototype, entry: HostEntry, kept: set[str]) -> tuple[str, str, bool]:
    """(where the data are, how many bytes one of them has, whether it is a value and no array)."""
    if entry.data.strip():
        return entry.data.strip(), f"sizeof *({entry.data.strip()})", False
    sends = entry.kind is CallKind.SEND
    texts = (entry.address, entry.bytes, entry.fpga, entry.condition)
    spoken = {word for text in texts for word in WORD.findall(text)}
    others = [(text, name) for text, name in prototype.parameters if type_of(text, name) not in kept]
    pointers = [(text, name) for text, name in others if ("*" in text or "[" in text) and name not in spoken]
    usable = [name for text, name in pointers if ("const" in text) == sends]
    usable = usable or [name for text, name in pointers if sends]
    if len(usable) == 1:
        return usable[0], f"sizeof *{usable[0]}", False
    values = [name for text, name in others if name not in spoken and (text, name) not in pointers]
    if not usable and sends and len(values) == 1:
        return f"&{values[0]}", f"sizeof {values[0]}", True
    if not usable and not sends and not pointers and prototype.returns != "void":
        return "&value", "sizeof value", True
    raise WorkbenchError(
        Diagnostic(
            f"where the data of {prototype.name} are cannot be told from its parameters",
            "Name the parameter in the entry: data: buffer.",
        )
    )


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


def _handle_types(host: Host, known: Iterable[Callee]) -> set[str]:
    """Types by which the program keeps hold of the board: what an acquire returns, or fills in for others to take."""
    acquires: list[Prototype] = []
    others: list[Prototype] = []
    for callee in known:
        acquiring = any(entry.kind is CallKind.ACQUIRE for _, entry in callee.entries)
        (acquires if acquiring else others).append(callee.prototype)
    parameters = [(type_of(text, name), name) for prototype in others for text, name in prototype.parameters]
    taken = {kind for kind, _ in parameters}
    spoken = {entry.fpga.strip() for entry in host.entries if entry.kind is not CallKind.ACQUIRE}
    numbers = {kind for kind, name in parameters if name in spoken}
    returned = {p.returns for p in acquires if "*" in p.returns or p.returns in numbers}
    filled = {_pointed(text, name) for p in acquires for text, name in p.parameters if "*" in text}
    return {squeezed(kind) for kind in returned | filled} & taken


def _pointed(declaration: str, name: str) -> str:
    kind = type_of(declaration, name)
    return squeezed(kind[: kind.rindex("*")]) if "*" in kind else ""
