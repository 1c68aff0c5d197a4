"""A platform's host API on the simulated card, made of what its template says: prototypes, kinds, tables, constants.

Each function does on the card's client library (`resources/card/wbcard.h`) what its entry's kind says, with the entry's
expressions for the address, the bytes and the data. Which card it means is told by its handle (what an `acquire`
returns or fills in), by its object in C++, or by its entry's `fpga`; else it is the first. What the API's header itself
defines (`inline`) is left to it. `shim_cpp.py` has what is C++'s alone. The names of its own begin with `rcw_`, as no
parameter and no function of an API does.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from rc_workbench_plugins.simulated_card import shim_cpp
from rc_workbench_plugins.simulated_card.shim_classes import Classes, classes_of
from rc_workbench_plugins.simulated_card.shim_objects import OBJECTS, STANDARD
from workbench.api import (
    Callee,
    CallKind,
    Diagnostic,
    HostEntry,
    Platform,
    PlatformSupport,
    Prototype,
    WorkbenchError,
    callees,
    listed,
    parse_prototype,
)
from workbench.api.c_header import SYSTEM_TYPES, constants, data_of, header_names, header_text, in_cpp
from workbench.api.unstable import (
    HandleTypes,
    handle_of,
    handle_types,
    is_plain,
    opened,
    opened_names,
    pointed_type,
    read_regular,
    type_of,
)

_LARGEST_BYTES, _MOST_HEADERS = 4 << 20, 50
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
#: Of its compiler: it defines what an API's classes keep private, too.
MADE_API_FLAGS = ("-fno-access-control",)
OF_ENTRY = "/* Entry: "  # a line that begins so says of which entry the next ones are
_ELSE = "Name sources that implement the API on the simulated card: host.api_sources."


@dataclass(frozen=True)
class Mapped:
    """A part of the card in the program's memory: the tables of its accesses, and what a step of its addresses is."""

    send: str
    receive: str
    unit_bytes: int


@dataclass(frozen=True)
class Api:
    kept: HandleTypes
    classes: Classes
    cpp: bool
    mappings: Mapping[str, Mapped]


def _api(platform: Platform, support: PlatformSupport | None) -> Api:
    """The handles and classes of an API, of whose headers those are read that lie in the support's folder."""
    host = platform.host
    prototypes = [callee.prototype for callee in callees(host.entries)[0].values() if callee.prototype.cpp]
    folder = support.api_dir if support else None
    texts = _with_included([folder / name for name in header_names(host)], folder) if in_cpp(host) and folder else []
    kept, classes = handle_types(host, cpp=True), classes_of(texts, prototypes)
    classes = replace(classes, holders=frozenset(_holders(host.entries, kept)))
    return Api(kept, classes, in_cpp(host), _mappings(platform))


def _holders(entries: Iterable[HostEntry], kept: HandleTypes) -> Iterator[str]:
    """The classes of methods that move data and have no parameter for them."""
    for entry in entries:
        prototype = parse_prototype(entry.prototype) if entry.kind.moves and not entry.inline else None
        if prototype and prototype.scope:
            try:
                data_of(prototype, entry, kept)
            except WorkbenchError:
                yield prototype.scope


def _mappings(platform: Platform) -> dict[str, Mapped]:
    """By the names that calls open them by."""
    mapped = {}
    tables, ports = platform.transfer_tables, platform.hardware.ports if platform.hardware else ()
    accesses = [(entry, on) for entry in platform.host.entries if entry.access and (on := opened(entry.of))]
    for entry in platform.host.entries:
        opening = opened(entry.opens) if entry.mapped_bytes.strip() else None
        for name in opening.names if opening else ():
            of = {one.access: one.transfer for one, opens in accesses if name in opens.names}
            send, receive = (of.get(way) or next(iter(of.values()), "") for way in ("write", "read"))
            through = tables[send].port if send in tables else ""
            port = next((port for port in ports if port.name == through), ports[0] if ports else None)
            mapped[name] = Mapped(send, receive, int(getattr(port, "address_unit_bytes", 1)))
    return mapped


def _with_included(headers: Sequence[Path], folder: Path) -> list[str]:
    """The texts of headers, and of those that they include from beside them or from the API's folder."""
    pending, texts = list(headers), dict[Path, str]()
    while pending and len(texts) < _MOST_HEADERS:
        header = pending.pop(0)
        with suppress(OSError):
            if header not in texts:
                texts[header] = read_regular(header, _LARGEST_BYTES).decode("utf-8", "replace")
                pending += [
                    place / name for name in _INCLUDE.findall(texts[header]) for place in (header.parent, folder)
                ]
    return list(texts.values())


def shim_lacks(platform: Platform, support: PlatformSupport | None = None) -> tuple[Diagnostic, ...]:
    """Why the API cannot be made of the template; nothing where it can."""
    host = platform.host
    known, problems = callees(host.entries)
    api = _api(platform, support)
    lacking = list(problems)
    if len(opened_names(host.entries).keys() - api.mappings.keys()) > 1:
        lacking.append(Diagnostic("the workbench cannot generate calls whose meaning depends on the opened object",
                                _ELSE))  # fmt: skip
    if in_cpp(host) and not host.include_lines:
        hint = "Name the header that declares the API's classes: host.include_lines."
        lacking.append(Diagnostic("its API is C++, but the template names no header", hint))
    templates = [one.name for one in known.values() if one.prototype.is_template and not _in_header(one)]
    if templates:
        hint = f"If a header does define them, write inline: true. {_ELSE}"
        lacking.append(Diagnostic(f"{listed(templates)}: templates that the API's header does not define", hint))
    for callee in _undefined(known.values()):
        for _, entry in callee.entries:
            try:
                _action(callee.prototype, entry, api)
            except WorkbenchError as error:
                lacking += error.diagnostics
    return tuple(lacking)


def shim_source(platform: Platform, support: PlatformSupport | None = None) -> str:
    """C, or C++ where the API is, that implements it. WorkbenchError where `shim_lacks` says why it cannot be made."""
    host = platform.host
    known, problems = callees(host.entries)
    if problems:
        raise WorkbenchError(*problems)
    api = _api(platform, support)
    declared = host.include_lines if header_names(host) else (header_text(host),)
    defined, names = _undefined(known.values()), {shim_cpp.key_of(one.name, one.prototype) for one in known.values()}
    lines = ["// Generated from the platform template: its host API on the simulated card."]
    if in_cpp(host):
        own = sorted(SYSTEM_TYPES & api.classes.aliases.keys())  # the library brings the system's
        lines += [*(f"#define {name} rcw_system_{name}" for name in own),
                  *(f"#include <{name}>" for name in STANDARD),
                  *(f"#undef {name}" for name in own)]  # fmt: skip
    lines += [*declared, *(f"#include <{name}>" for name in ("fnmatch.h", "stdint.h", "string.h")),
              "#define WBCARD_NO_FILES", '#include "wbcard.h"', *constants(host), _CARDS]  # fmt: skip
    if in_cpp(host):
        lines += [OBJECTS, *(f"struct {name} {{}};" for name in api.classes.undefined)]
        lines += [*shim_cpp.concrete(api.classes, names), *shim_cpp.missing(api.classes, names)]
    for callee in defined:
        lines += _function(callee, api)
    return "\n".join([*lines, ""])


def _undefined(known: Iterable[Callee]) -> list[Callee]:
    """The entries that the API's header does not define itself."""
    return [one for one in known if not (one.prototype.is_template or _in_header(one))]


def _in_header(callee: Callee) -> bool:
    return all(entry.inline for _, entry in callee.entries)


_CARDS = """
#define like(text, pattern) (!fnmatch((pattern), (text), 0))
#define order_of(text) rcw_order_of(text)
/* How many other texts were asked for before this one. */
static inline int rcw_order_of(const char *text)
{
    static char texts[64][256];
    int number = 0;
    while (number < 63 && texts[number][0] && strncmp(texts[number], text ? text : "", 255))
        number++;
    strncpy(texts[number], text ? text : "", 255);
    return number;
}

/* A handle holds its card: the number, where it is an integer that a call returns; else the number and 1; 0 is none. */
#define RCW_IS_NUMBER(handle) (__builtin_classify_type(handle) >= 1 && __builtin_classify_type(handle) <= 4)
#define RCW_KEEP(handle, value) rcw_keep(&(handle), sizeof(handle), (value))
#define RCW_KEPT(handle) rcw_kept(&(handle), sizeof(handle))
enum { RCW_MOST_CARDS = 64 };
static wbcard_t *rcw_cards[RCW_MOST_CARDS];
static int rcw_times[RCW_MOST_CARDS];

static inline void rcw_keep(void *handle, size_t bytes, intptr_t value)
{
    memset(handle, 0, bytes);
    memcpy(handle, &value, bytes < sizeof value ? bytes : sizeof value);
}

static inline intptr_t rcw_kept(const void *handle, size_t bytes)
{
    intptr_t value = 0;
    memcpy(&value, handle, bytes < sizeof value ? bytes : sizeof value);
    return value;
}

static inline int rcw_acquire(long number)
{
    if (number < 0 || number >= RCW_MOST_CARDS || !(rcw_cards[number] = wbcard_open((int)number)))
        return -1;
    rcw_times[number]++;
    return 0;
}

static inline wbcard_t *rcw_numbered(long number)
{
    if (number < 0 || number >= RCW_MOST_CARDS)
        return NULL;
    return rcw_cards[number] ? rcw_cards[number] : (rcw_cards[number] = wbcard_open((int)number));
}

static inline wbcard_t *rcw_handled(intptr_t handle)
{
    return handle >= 1 && handle <= RCW_MOST_CARDS ? rcw_cards[handle - 1] : NULL;
}

static inline int rcw_release(wbcard_t *card)
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


def _function(callee: Callee, api: Api) -> Iterator[str]:
    prototype = callee.prototype
    yield f"{OF_ENTRY}{prototype.text} */"
    yield shim_cpp.head(prototype, api.classes) if prototype.cpp else prototype.text
    yield "{"
    if prototype.cpp and api.classes.has_object(prototype):
        yield "    auto &self = *this;"
        yield "    (void)self;"
    for _, entry in callee.entries:
        inner = [f"        {line}" for line in _action(prototype, entry, api)]
        yield from (f"    if ({entry.condition.strip() or '1'}) {{", *inner, "    }")
    yield from (
        *(f"    (void){name};" for _, name in prototype.parameters),
        f"    {_return(prototype, api, '-1')}",
        "}",
    )


def _action(prototype: Prototype, entry: HostEntry, api: Api) -> list[str]:
    """The code of a call of this entry. WorkbenchError if its data or its table are unknown."""
    opening, of = opened(entry.opens), opened(entry.of)
    if opening and (mapped := api.mappings.get(opening.names[0])):
        return _map(prototype, entry, api, mapped, opening.expression)
    if of and of.names[0] in api.mappings and not entry.kind.moves:
        pointer = of.expression or next((name for _, name in prototype.parameters), "0")
        status = f"int rcw_status = wbcard_unmap((void *)({pointer}));"
        return [status, "(void)rcw_status;", _return(prototype, api, "rcw_status")]
    if api.cpp and (lines := shim_cpp.action(prototype, entry, api.classes)) is not None:
        return lines
    if entry.kind.moves:
        return _move(prototype, entry, api)
    if entry.kind is CallKind.ACQUIRE:
        return _acquire(prototype, entry, api)
    file, card = entry.files.strip() or '""', _card(prototype, entry, api)
    call = {
        CallKind.CONFIGURE: f'wbcard_configure({card}, "{entry.transfer or "configure"}", {file})',
        CallKind.WAIT: f"wbcard_wait({card})",
        CallKind.INTERRUPT: f"wbcard_wait_irq({card})",
        CallKind.RELEASE: f"rcw_release({card})",
        CallKind.OTHER: f'wbcard_nothing("{prototype.name}")' if prototype.returns != "void" else "0",
    }.get(entry.kind, "0")
    return [f"int rcw_status = {call};", "(void)rcw_status;", _return(prototype, api, "rcw_status")]


def _acquire(prototype: Prototype, entry: HostEntry, api: Api) -> list[str]:
    lines = [f"long rcw_number = (long)({entry.fpga.strip() or '0'});", "int rcw_status = rcw_acquire(rcw_number);"]
    lines += [
        f"if (!rcw_status && {name}) RCW_KEEP(*{name}, rcw_number + 1);"
        for declaration, name in prototype.parameters
        if api.kept.has(pointed_type(declaration, name), name) and type_of(declaration, name) not in api.kept
        and "const" not in declaration
    ]  # fmt: skip
    returns = type_of(f"{prototype.returns} rcw_x", "rcw_x")
    if returns not in api.kept.returned and "*" not in returns:
        return [*lines, _return(prototype, api, "rcw_status")]
    lines += [f"__typeof__({prototype.returns}) rcw_handle;"]
    is_number = "1" if api.kept.get(returns) else "RCW_IS_NUMBER(rcw_handle)"
    lines += [f"int rcw_least = {is_number} ? 0 : 1;"]
    lines += ["RCW_KEEP(rcw_handle, rcw_status ? rcw_least - 1 : rcw_number + rcw_least);", "return rcw_handle;"]
    return lines


def _map(prototype: Prototype, entry: HostEntry, api: Api, mapped: Mapped, place: str) -> list[str]:
    """A mapping, as a call's result or where an expression (`place`) says."""
    if not (mapped.send and mapped.receive):
        message = f"no entry describes the accesses to the mapping of {prototype.name}"
        raise WorkbenchError(
            Diagnostic(message, "Add two entries, access: write and access: read, each with a transfer.")
        )
    base = shim_cpp.begins_at(prototype, api.classes, entry.address) if api.cpp else ""
    given = f'"{mapped.send}", "{mapped.receive}", {base}(int64_t)({entry.address.strip() or "0"}), {mapped.unit_bytes}'
    call = f"wbcard_map({_card(prototype, entry, api)}, {given}, (int64_t)({entry.mapped_bytes}))"
    if not place or place == "result":
        return [f"return ({prototype.returns}){call};"]
    status = f"int rcw_status = {place} ? 0 : -1;"
    return [
        f"{place} = (__typeof__({place})){call};",
        status,
        "(void)rcw_status;",
        _return(prototype, api, "rcw_status"),
    ]


def _card(prototype: Prototype, entry: HostEntry, api: Api) -> str:
    """The card that a call means."""
    if not entry.fpga.strip() and api.cpp and (holder := api.classes.object_of(prototype)):
        return f"rcw_held({holder})"
    if handle := handle_of(prototype, api.kept):
        value = f"RCW_KEPT({handle.value})"
        if handle.by_address:
            return f"({handle.name} ? rcw_handled({value}) : NULL)"
        if handle.kind in api.kept.returned:
            return f"(RCW_IS_NUMBER({handle.name}) ? rcw_numbered({value}) : rcw_handled({value}))"
        return f"rcw_handled({value})"
    return f"rcw_numbered((long)({entry.fpga.strip() or '0'}))"


def _move(prototype: Prototype, entry: HostEntry, api: Api) -> list[str]:
    if not entry.transfer:
        raise WorkbenchError(
            Diagnostic(
                f"the entry {prototype.name} names no transfer table",
                "Write transfer: NAME, with the name of a transfer table.",
            )
        )
    sends = entry.kind is CallKind.SEND
    function = f"wbcard_{'send' if sends else 'receive'}{'_async' if entry.asynchronous else ''}"
    address = f"(int64_t)({entry.address.strip() or '0'})"
    if api.cpp:
        address = shim_cpp.begins_at(prototype, api.classes, entry.address) + address
    try:
        data, size, _ = data_of(prototype, entry, api.kept)
    except WorkbenchError:
        if not (api.cpp and api.classes.holds_data(prototype)):
            raise
        data, size = "rcw_memory(this)", "0"
    size = entry.bytes.strip() or size
    card = _card(prototype, entry, api)
    call = f'{function}({card}, "{entry.transfer}", {data}, {address}, (int64_t)({size}))'
    if data == "&rcw_value" and not sends:
        return [f"{prototype.returns} rcw_value = 0;", f"{call};", "return rcw_value;"]
    if data == "rcw_value.data()":
        value = f"{prototype.returns} rcw_value((size_t)({size}) / sizeof(typename {prototype.returns}::value_type));"
        return [value, f"{call};", "return rcw_value;"]
    moved = size if sends else "wbcard_got()"
    given = entry.returns.strip()
    own = [f"if (!rcw_status) return ({prototype.returns})({given});"] if given else []
    return [f"int rcw_status = {call};", "(void)rcw_status;", *own, _return(prototype, api, "rcw_status", moved)]


def _return(prototype: Prototype, api: Api, status: str, size: str = "0") -> str:
    """The statement that tells the caller how it went: 0 and -1, a count, a truth, or nothing."""
    kind = prototype.returns
    if prototype.cpp:
        return shim_cpp.answer(prototype, status, api.classes, size)
    if kind == "void":
        return "return;"
    if kind in ("bool", "_Bool"):
        return f"return {status} == 0;"
    if kind in ("ssize_t", "size_t"):
        return f"return {status} ? ({kind})-1 : ({kind})({size});"
    if "*" in kind:
        return "return NULL;"
    if is_plain(kind):
        return f"return ({kind})({status});"
    return f"{{ {kind} rcw_answer; RCW_KEEP(rcw_answer, {status}); return rcw_answer; }}"
