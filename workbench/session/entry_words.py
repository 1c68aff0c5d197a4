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

#: What a call's name says that it is for; of several words the kind that stands first here counts.
_KINDS = (
    (CallKind.OTHER, {"is", "has", "can", "clear"}),  # they ask, or forget
    (CallKind.INTERRUPT, {"irq", "interrupt", "msi"}),
    (CallKind.WAIT, {"wait", "poll", "finish", "completed", "flush", "join", "synchronize", "synchronise", "fence"}),
    (CallKind.CONFIGURE, {"configure", "config", "program", "reconfigure", "bitstream", "bitfile", "xclbin", "load"}),
    (CallKind.RELEASE, {"close", "release", "free", "detach", "destroy", "fini", "disconnect", "delete", "exit",
                        "cleanup", "munmap"}),
    (CallKind.ACQUIRE, {"open", "acquire", "attach", "init", "create", "connect", "claim", "alloc", "mmap"}),
    (CallKind.SEND, {"write", "send", "put", "poke", "upload", "push", "set", "h2c", "h2d"}),
    (CallKind.RECEIVE, {"read", "recv", "receive", "get", "peek", "download", "pull", "fetch", "c2h", "d2h"}),
    (CallKind.SEND, {"sync", "memcpy", "copy", "transfer", "migrate", "start"}),
)  # fmt: skip
_BOTH_WAYS = {"sync", "memcpy", "copy", "transfer", "migrate"}
_WAYS = {"dir", "direction", "way"}
_TO = re.compile(r"(_|^)(to_(device|card|fpga|board)|h2[cd])(_|$)")
_FROM = re.compile(r"(_|^)((from_(device|card|fpga|board)|to_host)|[cd]2h)(_|$)")
_STARTS = {"run", "start", "launch", "exec", "execute", "submit", "invoke", "operator", "task"}
_REASONS = {
    CallKind.ACQUIRE: "initialize", CallKind.CONFIGURE: "initialize", CallKind.RELEASE: "finalize",
    CallKind.WAIT: "ack", CallKind.INTERRUPT: "late_sender",
}  # fmt: skip
_BYTES = ("bytes", "nbytes", "nbyte", "size", "sz")
_COUNTS = ("words", "dwords", "dword", "nwords", "count", "n", "len", "length", "elements")
_VALUES = ("value", "val", "v", "data", "word")
_ADDRESSES = ("address", "addr", "offset", "offs", "off", "reg", "register", "seek", "skip", "dst", "src")
_CARDS = ("fpga", "card", "board", "device", "dev", "slot", "didx")
_OF_CARDS = {*_CARDS, "queue", "thread", "context"}  # classes whose objects are a card's
_OF_MEMORY = {"mem", "memory", "malloc", "buffer", "buf", "kernel", "event", "properties"}
_FILES = ("bitfile", "bitstream", "xclbin", "filename", "file", "path", "image", "afi", "fnm", "name")
_LATER = {"async", "nonblocking", "nb", "enqueue", "start"}
ONE_BYTE = ("void", "char", "unsigned char", "signed char", "uint8_t", "int8_t", "std::byte")
_WORD = re.compile(r"(?<![A-Za-z])(?:[hH]2[cCdD]|[cCdD]2[hH])(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_INTEGER = re.compile(
    r"(const )?((un)?signed|(unsigned )?(char|short|int|long|long long)( int)?|(std::)?(u?int\d+_t|s?size_t)|off_t"
    r"|u(8|16|32|64)|cl_u?\w+)"
)
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
        entry = entry_of(function.prototype)
        if prototype is None or entry["kind"] not in ("send", "receive"):
            entries.append(entry)
            continue
        if "bytes" not in entry and prototype.scope in sized:
            entry = _with(entry, bytes=f"self.{sized[prototype.scope]}()")
        if _words(prototype.name) in (("write",), ("read",)) and prototype.scope in both:
            # a buffer's own: `sync` moves what they leave there
            entries.append({"prototype": function.prototype, "kind": "other", "reason": "update"})
        elif ways := _ways(function):
            to, from_ = ways
            entries.append(_with(entry, kind="send", subtype="to the device", condition=to))
            entries.append(_with(entry, kind="receive", subtype="from the device", condition=from_))
        else:
            entries.append(entry)
            if _moves_both_ways(prototype):
                hint = "Give it two entries, each with its own 'Only when' and Label."
                told = f"{prototype.qualified} may go either way; it was taken for a send"
                notes.append(Diagnostic(told, hint, Severity.NOTE))
    return entries, tuple(notes)


def entry_of(text: str) -> dict[str, Any]:
    """An entry of this prototype, as a template holds it."""
    prototype = parse_prototype(text)
    if prototype is None:
        return {"prototype": text, "kind": CallKind.OTHER.value}
    parameters = parameters_of(prototype)
    answers = prototype.returns not in ("", "void") and "*" not in prototype.returns
    kind = _kind(prototype, parameters, answers)
    moves = kind.moves
    told = {"fpga": _named(parameters, _CARDS)}
    if moves:
        told["bytes"] = _bytes(prototype, parameters, kind)
        told["address"] = _named([p for p in parameters if p.name not in told["bytes"].split()], _ADDRESSES)
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
    order = ("prototype", "kind", "subtype", "condition", "fpga", "bytes", "address", "reason", "asynchronous")
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


def _moves_both_ways(prototype: Prototype) -> bool:
    return bool(set(_words(prototype.name)) & _BOTH_WAYS)


def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(name))


def _kind(prototype: Prototype, parameters: Sequence[Parameter], answers: bool) -> CallKind:
    words = set(_words(prototype.name))
    if prototype.is_constructor or prototype.is_destructor:
        return _of_an_object(prototype, parameters, words)
    words |= {re.sub(r"^p?(read|write).*", r"\1", word) for word in words}
    kind = next((kind for kind, told in _KINDS if words & told), CallKind.OTHER)
    memory = words & _OF_MEMORY or ("free" in words and any(p.points == "void" for p in parameters))
    if kind in (CallKind.ACQUIRE, CallKind.RELEASE) and memory:
        return CallKind.OTHER
    if words & _BOTH_WAYS and kind is CallKind.SEND:
        if any(_WAYS & set(p.words) for p in parameters):
            return kind
        if "sync" in words and not parameters:
            return CallKind.WAIT
    sized = bool(_named(parameters, (*_BYTES, *_COUNTS)))
    moved = any(p.points != "char" or sized for p in data_of(parameters, kind)) or _value(parameters) is not None
    if kind is CallKind.SEND and not moved:
        return CallKind.OTHER
    if kind is CallKind.RECEIVE and not (moved or (answers and any(p.counts for p in parameters))):
        return CallKind.OTHER
    return kind


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


def _bytes(prototype: Prototype, parameters: Sequence[Parameter], kind: CallKind) -> str:
    data = next(data_of(parameters, kind), None)
    if data is not None and data.array:
        return f"{data.name}.size() * sizeof *{data.name}.data()"
    if data is not None or any(_WAYS & set(p.words) for p in parameters):
        if size := _named(parameters, _BYTES):
            return size
        if data is None:
            return ""
        if count := _named(parameters, _COUNTS):
            return count if data.points in ONE_BYTE else f"{count} * sizeof *{data.name}"
        return "" if data.points in ONE_BYTE else f"sizeof *{data.name}"
    value = _value(parameters)
    if kind is CallKind.SEND:
        return f"sizeof {value.name}" if value else ""
    return f"sizeof({prototype.returns})"


def data_of(parameters: Sequence[Parameter], kind: CallKind) -> Iterator[Parameter]:
    """What data can lie in or behind: what is received is not const, and a handle is no data."""
    for p in parameters:
        known = p.array or p.points in ONE_BYTE or _INTEGER.fullmatch(p.points) or p.points in ("float", "double", "T")
        if known and not (kind is CallKind.RECEIVE and p.kind.startswith("const")):
            yield p


def _value(parameters: Sequence[Parameter]) -> Parameter | None:
    return next((p for p in parameters if p.counts and p.words and p.words[-1] in _VALUES), None)
