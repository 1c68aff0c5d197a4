"""Entries of a platform template told by names and types of prototypes: kinds, and the expressions of what they move.

They are a beginning that a person looks over; what no name tells is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.platform import CallKind
from workbench.model.prototypes import Prototype, parse_prototype, pointed_type, type_of
from workbench.model.scan import ApiFunction
from workbench.model.text import listed

#: What a call's name says that it is for; of several words the kind that stands first here counts.
_KINDS = (
    (CallKind.OTHER, {"is", "has", "can", "clear"}),  # they ask, or forget
    (CallKind.INTERRUPT, {"irq", "interrupt", "msi"}),
    (CallKind.WAIT, {"wait", "poll", "finish", "completed", "flush", "join", "synchronize", "synchronise", "fence"}),
    (CallKind.CONFIGURE, {"configure", "config", "program", "reconfigure", "bitstream", "bitfile", "xclbin", "load"}),
    (CallKind.RELEASE, {"close", "release", "free", "detach", "destroy", "fini", "disconnect", "delete", "exit",
                        "cleanup", "munmap"}),
    (CallKind.ACQUIRE, {"open", "acquire", "attach", "init", "create", "connect", "claim", "alloc", "mmap"}),
    (CallKind.SEND, {"write", "send", "put", "poke", "upload", "push", "set", "store", "tx", "h2c", "h2d"}),
    (CallKind.RECEIVE, {"read", "recv", "receive", "get", "peek", "download", "pull", "fetch", "rx", "c2h",
                        "d2h"}),
    (CallKind.SEND, {"sync", "memcpy", "copy", "transfer", "xfer", "migrate", "move", "start"}),
)  # fmt: skip
#: `wr32`, `rd_block`, `preadv`, `ioread32`, `readl`, `mmio_wrreg`: what a word says besides writing or reading.
_READ_OR_WRITE = re.compile(
    r"(?:p|io|reg|mem|mmio|bus|dma|fpga)?(?:(read|rd)|(?:write|wr))"
    r"(?:[bwlqv]|reg|regs|mem|blk|block|buf|data|dword|word|words|burst|csr)?"
)
_BOTH_WAYS = {"sync", "memcpy", "copy", "transfer", "xfer", "migrate", "move"}
_WAYS = {"dir", "direction", "way"}
_TO = re.compile(r"(_|^)(to_(device|card|fpga|board)|from_host|h2[cd])(_|$)")
_FROM = re.compile(r"(_|^)((from_(device|card|fpga|board)|to_host)|[cd]2h)(_|$)")
_AWAY = re.compile(r"(?:.*_)?(to|into|from)")  # `memcpy_to`, `copy_from`: the card is what is not named
_STARTS = {"run", "start", "launch", "exec", "execute", "submit", "invoke", "operator", "task"}
_REASONS = {
    CallKind.ACQUIRE: "initialize", CallKind.CONFIGURE: "initialize", CallKind.RELEASE: "finalize",
    CallKind.WAIT: "ack", CallKind.INTERRUPT: "late_sender",
}  # fmt: skip
_BYTES = ("bytes", "nbytes", "nbyte", "size", "sz")
_COUNTS = ("words", "dwords", "dword", "nwords", "count", "cnt", "n", "number", "num", "nr", "len", "length",
           "elements", "elems", "items", "samples")  # fmt: skip
_VALUES = ("value", "val", "v", "data", "word")
_ADDRESSES = ("address", "addr", "adr", "offset", "offs", "off", "reg", "register", "seek", "skip", "dst", "src", "at")
#: Whole numbers that are neither an address nor a count nor a value.
_CHOICES = {"flags", "flag", "timeout", "mode", "option", "options", "tag", "bank", "channel", "chan", "ch", "bar",
            "fd", "handle", "hnd", "h", "hdl", "ms", "us", "mmio", *_WAYS}  # fmt: skip
_NUMBERS_OF_CARDS = ("number", "num", "nr", "no", "index", "idx", "id", "unit", "minor", "instance", "which", "n")
#: What is asked again and again: a library that always answers 0 makes a host wait for ever.
_ASKED = {"status", "state", "done", "ready", "busy", "idle", "finished", "completed", "is", "has"}
_CARDS = ("fpga", "card", "board", "device", "dev", "slot", "didx")
#: How a pointer to nothing in particular is called that is a handle, and no data.
_HANDLES = {*_CARDS, "handle", "hnd", "hdl", "h", "ctx", "context", "self"}
#: How a number is called by which a program keeps hold of a card.
_DESCRIPTORS = {*_HANDLES, "fd", "d", "b", "id"}
_OF_CARDS = {*_CARDS, "queue", "thread", "context"}  # classes whose objects are a card's
_OF_MEMORY = {"mem", "memory", "malloc", "buffer", "buf", "kernel", "event", "properties"}
_FILES = ("bitfile", "bitstream", "xclbin", "filename", "file", "path", "image", "afi", "fnm", "name")
_LATER = {"async", "nonblocking", "nb", "enqueue", "start"}
#: The label of a call that only functions of the header itself make.
PRIVATE = "private"
ONE_BYTE = ("void", "char", "unsigned char", "signed char", "uint8_t", "int8_t", "std::byte")
_WORD = re.compile(r"(?<![A-Za-z])(?:[hH]2[cCdD]|[cCdD]2[hH])(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_INTEGER = re.compile(
    r"(const )?((un)?signed|(unsigned )?(char|short|int|long|long long)( int)?|(std::)?(u?int\d+_t|s?size_t)|off_t"
    r"|[us](8|16|32|64)|cl_u?\w+|u(int|long|short|char)|U?INT(8|16|32|64)?|[DQ]?WORD|BYTE|U?LONG(32|64)?)"
)
_ARRAY_OF = re.compile(r"(?:std::)?vector<\s*([\w: ]+?)\s*>")
_ARRAY = re.compile(r"(const )?(std::)?(vector|span|array)\b.*")


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str  # its type
    words: tuple[str, ...]

    @property
    def counts(self) -> bool:
        return _INTEGER.fullmatch(self.kind) is not None

    @property
    def points(self) -> str:
        """What it points to, without const; empty where it is no pointer, or one to a pointer."""
        return pointed_type(self.kind + " _", "_").removeprefix("const ").strip() if self.kind.count("*") == 1 else ""

    @property
    def text(self) -> str:
        """As a `char *`; empty where it is no text."""
        return self.name if self.points == "char" else f"{self.name}.c_str()" if "std::string" in self.kind else ""

    @property
    def array(self) -> bool:
        return _ARRAY.fullmatch(self.kind) is not None

    @property
    def refers(self) -> bool:
        """A number that the call fills in."""
        return self.kind.endswith("&") and _INTEGER.fullmatch(self.kind[:-1].strip()) is not None


def parameters_of(prototype: Prototype) -> list[Parameter]:
    return [Parameter(name, type_of(text, name), _words(name)) for text, name in prototype.parameters]


def entries_of(functions: Sequence[ApiFunction]) -> tuple[list[dict[str, Any]], tuple[Diagnostic, ...]]:
    """The entries of an API's functions, as a template holds them, two of one that moves data either way as an argument
    says; and notes on those of which that is not known."""
    known = [(one, parse_prototype(one.prototype)) for one in functions]
    sized = {p.scope: p.name for _, p in known if p and not p.parameters and p.name in ("size", "size_bytes")}
    both = {p.scope for _, p in known if p and p.scope and "sync" in _words(p.name)}
    entries: list[dict[str, Any]] = []
    notes: list[Diagnostic] = []
    for function, prototype in known:
        entry = entry_of(function.prototype) | _inline(function)
        entry = _with(entry, subtype=PRIVATE) if function.private else entry
        if prototype is None or entry["kind"] not in ("send", "receive"):
            entries.append(entry)
            continue
        if "bytes" not in entry and prototype.scope in sized:
            entry = _with(entry, bytes=f"self.{sized[prototype.scope]}()")
        if _words(prototype.name) in (("write",), ("read",)) and prototype.scope in both:
            # a buffer's own: `sync` moves what they leave there
            entries.append({"prototype": function.prototype, "kind": "other", "reason": "update"} | _inline(function))
        elif ways := _ways(function):
            to, from_ = ways
            entries.append(_with(entry, kind="send", subtype="to the device", condition=to))
            entries.append(_with(entry, kind="receive", subtype="from the device", condition=from_))
        else:
            entries.append(entry)
            if _moves_both_ways(prototype) and not _says_where(prototype):
                hint = "Give it two entries, each with its own 'Only when' and Label."
                told = f"{prototype.qualified} may go either way; it was taken for a send"
                notes.append(Diagnostic(told, hint, Severity.NOTE))
    entries = _with_descriptors(_with_makers(entries))
    asked = [
        p.qualified for e in entries if e["kind"] == "other" and (p := parse_prototype(e["prototype"])) and _asks(p)
    ]
    if asked:
        told = f"{listed(asked)}: of kind 'other', a call answers 0 on the simulated card and asks the design nothing"
        hint = (
            "Give it the kind receive and an address if it reads from the board: a host that polls it waits for ever."
        )
        notes.append(Diagnostic(told, hint, Severity.WARNING))
    return entries, tuple(notes)


def _with_descriptors(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With the card's number, where a program keeps hold of a card by a number that an `acquire` returns: it is the
    first parameter of other calls, called `fd`, say."""
    known = [(entry, parse_prototype(entry["prototype"])) for entry in entries]
    opened = {p.returns for entry, p in known if p and entry["kind"] == "acquire" and not p.cpp
              and _INTEGER.fullmatch(p.returns) and not any("*" in text for text, _ in p.parameters)}  # fmt: skip
    found = []
    for entry, prototype in known:
        first = next(iter(parameters_of(prototype)), None) if prototype and not prototype.cpp else None
        told = entry["kind"] == "acquire" or "fpga" in entry or first is None
        if not told and first and first.kind in opened and set(first.words) & _DESCRIPTORS:
            entry = _with(entry, fpga=first.name)
        found.append(entry)
    return found


def _with_makers(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With the calls that open a card as `acquire`, where the API is classes: what returns an object that moves data,
    by value or by any pointer; else the constructors of such a class, unless they are given another object."""
    known = [(entry, parse_prototype(entry["prototype"])) for entry in entries]
    scopes = {p.scope for _, p in known if p and (p.is_constructor or p.is_destructor)}
    movers = {p.scope for e, p in known if p and p.scope and "address" in e and not (p.is_static or p.is_constructor)}
    names = {scope.rpartition("::")[2] for scope in movers}
    made: set[str] = set()  # last names of the classes of which a call makes an object
    found = []
    for entry, prototype in known:
        returned = set(re.findall(r"\w+", prototype.returns)) & names if prototype else set()
        own = bool(prototype and prototype.scope in movers and not prototype.is_static)
        hidden = bool(
            prototype and prototype.is_static and prototype.scope in movers and _is_pointer(prototype.returns)
        )
        if prototype and not own and (returned or hidden):
            made |= returned or {prototype.scope.rpartition("::")[2]}
            entry = _plain_entry(entry, entry_of(entry["prototype"], CallKind.ACQUIRE))
        elif returned and entry["kind"] in ("send", "receive") and "data" not in entry:
            parameters = parameters_of(prototype) if prototype else []
            if next(data_of(parameters, CallKind(entry["kind"])), None) is None:  # the object itself is no data
                entry = _plain_entry(entry, {"kind": "other"})
        elif prototype and own and entry["kind"] == "acquire" and not prototype.is_constructor:
            made.add(prototype.scope.rpartition("::")[2])
        found.append(entry)
    for place, (_, prototype) in enumerate(known):
        entry = found[place]
        if prototype is None or prototype.scope not in movers or entry["kind"] not in ("other", "acquire", "release"):
            continue
        last = prototype.scope.rpartition("::")[2]
        given = any(scope.rpartition("::")[2] in re.findall(r"\w+", text) for scope in scopes | movers
                    for text, _ in prototype.parameters)  # fmt: skip
        if prototype.is_constructor and not given:
            opens = last not in made or (prototype.parameters and entry["kind"] == "acquire")
            kind = CallKind.ACQUIRE if opens else CallKind.OTHER
            found[place] = _plain_entry(entry, entry_of(entry["prototype"], kind))
        elif prototype.is_destructor and entry["kind"] == "other":
            found[place] = _plain_entry(entry, entry_of(entry["prototype"], CallKind.RELEASE))
    return found


def _is_pointer(returns: str) -> bool:
    """Whether a type's name says that it is a pointer to an object: `Ptr`, `sptr`, `DevPtr`."""
    return bool({"ptr", "sptr", "uptr", "pointer"} & set(_words(returns.rpartition("::")[2])))


def _plain_entry(entry: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """An entry that became another one, of which only what is the header's stays."""
    kept = {name: entry[name] for name in ("prototype", "subtype", "inline") if name in entry}
    return _with(kept, **new)


def _inline(function: ApiFunction) -> dict[str, bool]:
    return {"inline": True} if function.inline else {}


def _asks(prototype: Prototype) -> bool:
    """Whether a call answers with a number what a host may wait for."""
    answers = prototype.returns in ("bool", "_Bool") or _INTEGER.fullmatch(prototype.returns) is not None
    return answers and bool(set(_words(prototype.name)) & _ASKED)


def entry_of(text: str, chosen: CallKind | None = None) -> dict[str, Any]:
    """An entry of this prototype, as a template holds it: of the kind that is chosen, or of that which names tell."""
    prototype = parse_prototype(text)
    if prototype is None:
        return {"prototype": text, "kind": (chosen or CallKind.OTHER).value}
    parameters = parameters_of(prototype)
    kind = chosen or _kind(prototype, parameters)
    moves = kind.moves
    told = {"fpga": _named(parameters, _CARDS)}
    if kind is CallKind.ACQUIRE:
        told["fpga"] = told["fpga"] or _named(parameters, _NUMBERS_OF_CARDS)
    if moves:
        told["bytes"], told["address"] = _moved(prototype, parameters, kind) or ("", "")
        told["reason"] = "ctrl" if told["bytes"].startswith("sizeof") else "data"
    elif kind is CallKind.CONFIGURE:
        texts = {p.name: p.name for p in parameters if p.points == "char"}
        texts |= {p.name: f"{p.name}.c_str()" for p in parameters if "std::string" in p.kind}
        told["files"] = next(
            (texts[p.name] for word in _FILES for p in parameters if word in p.words and p.name in texts), ""
        )
    words = set(_words(prototype.name))
    if not moves:
        told["reason"] = _REASONS.get(kind, "") or ("ctrl" if words & _STARTS else "")
    later = moves and (words & _LATER or prototype.returns.endswith("event"))
    entry = {"prototype": text, "kind": kind.value, **{name: text for name, text in told.items() if text}}
    return entry | ({"asynchronous": True} if later else {})


def _with(entry: dict[str, Any], **fields: str) -> dict[str, Any]:
    """With fields that stand where a person would write them."""
    order = (
        "prototype", "kind", "subtype", "condition", "fpga", "bytes", "address", "files", "reason",
        "asynchronous", "inline",
    )  # fmt: skip
    changed = entry | fields
    return {name: changed[name] for name in order if name in changed}


def _ways(function: ApiFunction) -> tuple[str, str] | None:
    """The conditions under which a call goes to the device and from it, where an argument's names say so."""
    for name, choices in function.choices:
        to, from_ = (next((c for c in choices if way.search(_plain(c))), "") for way in (_TO, _FROM))
        if to and from_:
            return f"{name} == {to}", f"{name} == {from_}"
    return None


def _plain(name: str) -> str:
    return "_".join(_words(name))


def _says_where(prototype: Prototype) -> bool:
    """Whether a name says which way its data go, be it only which side the program's data are on."""
    plain = _plain(prototype.name)
    return bool(_AWAY.fullmatch(plain) or _TO.search(plain) or _FROM.search(plain))


def _moves_both_ways(prototype: Prototype) -> bool:
    return bool(set(_words(prototype.name)) & _BOTH_WAYS)


def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(name))


def _kind(prototype: Prototype, parameters: Sequence[Parameter]) -> CallKind:
    words = set(_words(prototype.name))
    if prototype.is_constructor or prototype.is_destructor:
        return _of_an_object(prototype, parameters, words)
    words |= {"read" if way[1] else "write" for word in words if (way := _READ_OR_WRITE.fullmatch(word))}
    kind = next((kind for kind, told in _KINDS if words & told), CallKind.OTHER)
    memory = words & _OF_MEMORY or ("free" in words and any(p.points == "void" for p in parameters))
    if kind in (CallKind.ACQUIRE, CallKind.RELEASE) and memory:
        return CallKind.OTHER
    plain = _plain(prototype.name)
    if kind in (CallKind.OTHER, CallKind.SEND) and (_TO.search(plain) or _FROM.search(plain)):
        kind = CallKind.SEND if _TO.search(plain) else CallKind.RECEIVE
    elif kind is CallKind.SEND and words & _BOTH_WAYS:
        if any(_WAYS & set(p.words) for p in parameters):
            return kind
        if away := _AWAY.fullmatch(plain):
            kind = CallKind.RECEIVE if away[1] == "from" else CallKind.SEND
        if "sync" in words and not parameters:
            return CallKind.WAIT
    elif kind is CallKind.CONFIGURE and "load" in words and not _names_a_file(parameters):
        kind = CallKind.SEND if (_moved(prototype, parameters, CallKind.SEND) or ("", ""))[1] else kind
    return kind if not kind.moves or _moved(prototype, parameters, kind) else CallKind.OTHER


def _names_a_file(parameters: Sequence[Parameter]) -> bool:
    return any(p.text or set(p.words) & set(_FILES) for p in parameters)


def _of_an_object(prototype: Prototype, parameters: Sequence[Parameter], words: set[str]) -> CallKind:
    if not words & _OF_CARDS:
        return CallKind.OTHER
    if prototype.is_destructor:
        return CallKind.RELEASE
    configure = next(told for kind, told in _KINDS if kind is CallKind.CONFIGURE)
    given = {word for p in parameters for word in p.words}
    return CallKind.CONFIGURE if "context" in words and given & configure else CallKind.ACQUIRE


def _named(parameters: Sequence[Parameter], wanted: Sequence[str]) -> str:
    """The whole number whose name has one of these words, the first that has any."""
    return next((p.name for word in wanted for p in parameters if p.counts and word in p.words), "")


def _moved(prototype: Prototype, parameters: Sequence[Parameter], kind: CallKind) -> tuple[str, str] | None:
    """The expressions for the bytes that a call moves and for their address, each empty where it is not known; None
    where nothing in the prototype can be the data.

    Names count first. Of whole numbers without such a name, what stands before the data is its address and what stands
    after it its length; of two without data, the first is the address and the second the value.
    """
    data = next(data_of(parameters, kind), None)
    numbers = [p for p in parameters if p.counts and not set(p.words) & {*_CARDS, *_CHOICES}]
    size = _named(parameters, _BYTES)
    if data is None and any(_WAYS & set(p.words) for p in parameters):
        return size, _named(parameters, _ADDRESSES)
    if data is None:
        return _register(prototype, parameters, numbers, kind)
    count, single = _named(numbers, _COUNTS), bool(data.words) and data.words[-1] in _VALUES[:3]
    after = parameters.index(data)
    left = [p for p in numbers if p.name not in (size, count)]
    address = _named(left, _ADDRESSES)
    if not address and len(before := [p for p in left if parameters.index(p) < after]) == 1:
        address = before[0].name
    left = [p for p in left if p.name != address and parameters.index(p) > after]
    if not (size or count or single or data.array) and len(left) == 1:
        count = left[0].name
    if data.points == "char" and not (size or count):
        return None  # a text
    if data.array:
        return f"{data.name}.size() * sizeof *{data.name}.data()", address
    if data.refers:
        return f"sizeof {data.name}", address
    if size or data.points in ONE_BYTE:
        return size or count, address
    return f"{count} * sizeof *{data.name}" if count else f"sizeof *{data.name}", address


def _register(
    prototype: Prototype, parameters: Sequence[Parameter], numbers: Sequence[Parameter], kind: CallKind
) -> tuple[str, str] | None:
    """A word that is passed or returned."""
    if kind is CallKind.RECEIVE:
        address = _named(parameters, _ADDRESSES)
        if prototype.returns in ("", "void") or "*" in prototype.returns or not numbers:
            return None
        if made := _ARRAY_OF.fullmatch(prototype.returns):
            size, count = _named(parameters, _BYTES), _named(parameters, _COUNTS)
            left = [p.name for p in numbers if p.name not in (size, count)]
            size = size or (f"{count} * sizeof({made[1]})" if count else "")
            return size, address or (left[0] if len(left) == 1 else "")
        return f"sizeof({prototype.returns})", address or (numbers[0].name if len(numbers) == 1 else "")
    value = next((p.name for p in numbers if p.words and p.words[-1] in _VALUES), "")
    address = _named([p for p in parameters if p.name != value], _ADDRESSES)
    left = [p.name for p in numbers if p.name not in (address, value)]
    if not address and len(left) == (1 if value else 2):
        address = left.pop(0)
    if not value and address and len(left) == 1:
        value = left[0]
    return (f"sizeof {value}", address) if value else None


def data_of(parameters: Sequence[Parameter], kind: CallKind) -> Iterator[Parameter]:
    """What data can lie in or behind: what is received is not const, and a handle is no data."""
    for p in parameters:
        known = p.array or p.points in ONE_BYTE or _INTEGER.fullmatch(p.points) or p.points in ("float", "double", "T")
        if p.points == "void" and set(p.words) & _HANDLES:
            continue
        filled = kind is CallKind.RECEIVE and p.refers
        if filled or (known and not (kind is CallKind.RECEIVE and p.kind.startswith("const"))):
            yield p
