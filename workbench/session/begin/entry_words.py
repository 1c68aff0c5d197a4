"""Makes template entries from the names and types of prototypes: kinds, and the expressions for moved data.

They are a beginning that a person looks over; what no name tells is left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.model.platform import CallKind
from workbench.model.prototypes import Prototype, callbacks, parse_prototype, pointed_type, type_of

#: The kind of a call by a word in its name; of several words the first kind here counts.
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
#: `wr32`, `rd_block`, `preadv`, `ioread32`, `readl`, `mmio_wrreg`: parts of words beside writing or reading.
_READ_OR_WRITE = re.compile(
    r"(?:p|io|reg|mem|mmio|bus|dma|fpga)?(?:(read|rd)|(?:write|wr))"
    r"(?:[bwlqv]|reg|regs|mem|blk|block|buf|data|dword|word|words|burst|csr)?"
)
BOTH_WAYS = {"sync", "memcpy", "copy", "transfer", "xfer", "migrate", "move"}
_WAYS = {"dir", "direction", "way"}
TO_CARD = re.compile(r"(_|^)(to_(device|card|fpga|board)|from_host|h2[cd])(_|$)")
FROM_CARD = re.compile(r"(_|^)((from_(device|card|fpga|board)|to_host)|[cd]2h)(_|$)")
AWAY = re.compile(r"(?:.*_)?(to|into|from)")  # `memcpy_to`, `copy_from`: the unnamed side is the card
#: Actions on an interrupt other than waiting for it.
_PREPARES = {"register", "unregister", "enable", "disable", "install", "mask", "unmask", "setup", "subscribe", "on"}
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
_PLACES = ("address", "addr", "adr", "paddr", "offset", "base")  # the begin of an object of its own
#: Integers that are neither an address nor a count nor a value.
_CHOICES = {"flags", "flag", "timeout", "mode", "option", "options", "tag", "bank", "channel", "chan", "ch", "bar",
            "fd", "handle", "hnd", "h", "hdl", "ms", "us", "mmio", *_WAYS}  # fmt: skip
_NUMBERS_OF_CARDS = ("number", "num", "nr", "no", "index", "idx", "id", "unit", "minor", "instance", "which", "n")
_NAMES_OF_CARDS = {"path", "device", "dev", "node", "name", "file", "filename", "uri", "url", "serial", "bdf",
                   "board", "card"}  # fmt: skip
_CARDS = ("fpga", "card", "board", "device", "dev", "slot", "didx")
#: Names of void pointers that are handles and not data.
HANDLES = {*_CARDS, "handle", "hnd", "hdl", "h", "ctx", "context", "self"}
_OF_CARDS = {*_CARDS, "queue", "thread", "context"}  # classes whose objects belong to a card
_OF_MEMORY = {"mem", "memory", "malloc", "buffer", "buf", "kernel", "event", "properties"}
_FILES = ("bitfile", "bitstream", "xclbin", "filename", "file", "path", "image", "afi", "fnm", "name")
_LATER = {"async", "nonblocking", "nb", "enqueue", "start"}
ONE_BYTE = ("void", "char", "unsigned char", "signed char", "uint8_t", "int8_t", "std::byte")
_WORD = re.compile(r"(?<![A-Za-z])(?:[hH]2[cCdD]|[cCdD]2[hH])(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
INTEGER = re.compile(
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
        return INTEGER.fullmatch(self.kind) is not None

    @property
    def points(self) -> str:
        """The type that the parameter points to, without const; "" if it is no pointer, or a pointer to a pointer."""
        return pointed_type(self.kind + " _", "_").removeprefix("const ").strip() if self.kind.count("*") == 1 else ""

    @property
    def text(self) -> str:
        """An expression for the parameter as `char *`; "" if it is not a text."""
        if self.points == "char":
            return self.name
        plain = self.kind.removeprefix("const ").rstrip("& ").removeprefix("std::")
        if plain in ("string", "filesystem::path"):
            return f"{self.name}.c_str()"
        return f"std::string({self.name}).c_str()" if plain == "string_view" else ""

    @property
    def array(self) -> bool:
        return _ARRAY.fullmatch(self.kind) is not None

    @property
    def refers(self) -> bool:
        """Whether the parameter is a reference to an integer, which the call fills in."""
        return self.kind.endswith("&") and INTEGER.fullmatch(self.kind[:-1].strip()) is not None


def parameters_of(prototype: Prototype) -> list[Parameter]:
    return [Parameter(name, type_of(text, name), words_of(name)) for text, name in prototype.parameters]


def entry_of(text: str, chosen: CallKind | None = None) -> dict[str, Any]:
    """The template entry of a prototype, of the `chosen` kind, or else of the kind that its names show."""
    prototype = parse_prototype(text)
    if prototype is None:
        return {"prototype": text, "kind": (chosen or CallKind.OTHER).value}
    parameters = parameters_of(prototype)
    kind = chosen or _kind(prototype, parameters)
    moves = kind.moves
    fields = {"fpga": _integer_with_word(parameters, _CARDS)}
    if kind is CallKind.ACQUIRE:
        fields["fpga"] = fields["fpga"] or _integer_with_word(parameters, _NUMBERS_OF_CARDS) or _by_path(parameters)
    if moves:
        fields["bytes"], fields["address"] = _moved(prototype, parameters, kind) or ("", "")
        fields["reason"] = "ctrl" if fields["bytes"].startswith("sizeof") else "data"
    elif kind is CallKind.CONFIGURE:
        fields["files"] = next((p.text for word in _FILES for p in parameters if word in p.words and p.text), "")
    words = set(words_of(prototype.name))
    if not moves:
        fields["reason"] = _REASONS.get(kind, "") or ("ctrl" if words & _STARTS else "")
    later = moves and (words & _LATER or prototype.returns.endswith("event"))
    entry = {"prototype": text, "kind": kind.value, **{name: text for name, text in fields.items() if text}}
    return entry | ({"asynchronous": True} if later else {})


def with_fields(entry: dict[str, Any], **fields: str) -> dict[str, Any]:
    """The entry with these fields, in the usual order of fields."""
    order = (
        "prototype", "kind", "subtype", "condition", "opens", "of", "mapped_bytes", "fpga", "bytes", "address",
        "returns", "files", "reason", "asynchronous", "inline",
    )  # fmt: skip
    changed = entry | fields
    return {name: changed[name] for name in order if name in changed}


def plain_words(name: str) -> str:
    return "_".join(words_of(name))


def words_of(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(name))


def _kind(prototype: Prototype, parameters: Sequence[Parameter]) -> CallKind:
    words = set(words_of(prototype.name))
    if prototype.is_constructor or prototype.is_destructor:
        return _of_an_object(prototype, parameters, words)
    words |= {"read" if way[1] else "write" for word in words if (way := _READ_OR_WRITE.fullmatch(word))}
    kind = next((kind for kind, kind_words in _KINDS if words & kind_words), CallKind.OTHER)
    if kind in (CallKind.INTERRUPT, CallKind.WAIT) and (words & _PREPARES or callbacks(prototype)):
        return CallKind.OTHER
    memory = words & _OF_MEMORY or ("free" in words and any(p.points == "void" for p in parameters))
    if kind in (CallKind.ACQUIRE, CallKind.RELEASE) and memory:
        return CallKind.OTHER
    plain = plain_words(prototype.name)
    if kind in (CallKind.OTHER, CallKind.SEND) and (TO_CARD.search(plain) or FROM_CARD.search(plain)):
        kind = CallKind.SEND if TO_CARD.search(plain) else CallKind.RECEIVE
    elif kind is CallKind.SEND and words & BOTH_WAYS:
        if any(_WAYS & set(p.words) for p in parameters):
            return kind
        if away := AWAY.fullmatch(plain):
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
    configure = next(kind_words for kind, kind_words in _KINDS if kind is CallKind.CONFIGURE)
    parameter_words = {word for p in parameters for word in p.words}
    return CallKind.CONFIGURE if "context" in words and parameter_words & configure else CallKind.ACQUIRE


def _by_path(parameters: Sequence[Parameter]) -> str:
    """An expression for the card's number from a text that names the card (a path or serial number); "" without such a
    parameter."""
    card_texts = (p for p in parameters if p.text and set(p.words) & _NAMES_OF_CARDS)
    return next((f"order_of({p.text})" for p in card_texts), "")


def _integer_with_word(parameters: Sequence[Parameter], words: Sequence[str]) -> str:
    """The name of the first integer parameter whose name has one of these words, in the order of the words."""
    return next((p.name for word in words for p in parameters if p.counts and word in p.words), "")


def address_of(prototype: Prototype) -> str:
    """The integer parameter whose name marks an address; "" if there is none."""
    return _integer_with_word(parameters_of(prototype), _PLACES)


def size_of(prototype: Prototype) -> str:
    """The integer parameter whose name marks a count of bytes; "" if there is none."""
    return _integer_with_word(parameters_of(prototype), (*_BYTES, "length", "len"))


def is_address(name: str) -> bool:
    return bool(set(words_of(name)) & set(_PLACES))


def _moved(prototype: Prototype, parameters: Sequence[Parameter], kind: CallKind) -> tuple[str, str] | None:
    """The expressions for the moved bytes and their address, each "" if unknown; None if no parameter can be the data.

    Names count first. Of whole numbers without such a name, what stands before the data is its address and what stands
    after it its length; of two without data, the first is the address and the second the value.
    """
    data = next(data_of(parameters, kind), None)
    numbers = [p for p in parameters if p.counts and not set(p.words) & {*_CARDS, *_CHOICES}]
    size = _integer_with_word(parameters, _BYTES)
    if data is None and any(_WAYS & set(p.words) for p in parameters):
        return size, _integer_with_word(parameters, _ADDRESSES)
    if data is None:
        return _register(prototype, parameters, numbers, kind)
    count, single = _integer_with_word(numbers, _COUNTS), bool(data.words) and data.words[-1] in _VALUES[:3]
    after = parameters.index(data)
    remaining = [p for p in numbers if p.name not in (size, count)]
    address = _integer_with_word(remaining, _ADDRESSES)
    if not address and len(before := [p for p in remaining if parameters.index(p) < after]) == 1:
        address = before[0].name
    remaining = [p for p in remaining if p.name != address and parameters.index(p) > after]
    if not (size or count or single or data.array) and len(remaining) == 1:
        count = remaining[0].name
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
    """The expressions (bytes, address) for a single word that is passed or returned; None if there is none."""
    if kind is CallKind.RECEIVE:
        address = _integer_with_word(parameters, _ADDRESSES)
        if prototype.returns in ("", "void") or "*" in prototype.returns or not numbers:
            return None
        if array := _ARRAY_OF.fullmatch(prototype.returns):
            size, count = _integer_with_word(parameters, _BYTES), _integer_with_word(parameters, _COUNTS)
            remaining = [p.name for p in numbers if p.name not in (size, count)]
            size = size or (f"{count} * sizeof({array[1]})" if count else "")
            return size, address or (remaining[0] if len(remaining) == 1 else "")
        return f"sizeof({prototype.returns})", address or (numbers[0].name if len(numbers) == 1 else "")
    value = next((p.name for p in numbers if p.words and p.words[-1] in _VALUES), "")
    address = _integer_with_word([p for p in parameters if p.name != value], _ADDRESSES)
    remaining = [p.name for p in numbers if p.name not in (address, value)]
    if not address and len(remaining) == (1 if value else 2):
        address = remaining.pop(0)
    if not value and address and len(remaining) == 1:
        value = remaining[0]
    return (f"sizeof {value}", address) if value else None


def data_of(parameters: Sequence[Parameter], kind: CallKind) -> Iterator[Parameter]:
    """The parameters that can hold or point to data. Received data are not const, and handles are not data."""
    for p in parameters:
        is_data_type = (
            p.array or p.points in ONE_BYTE or INTEGER.fullmatch(p.points) or p.points in ("float", "double", "T")
        )
        if p.points == "void" and set(p.words) & HANDLES:
            continue
        filled = kind is CallKind.RECEIVE and p.refers
        if filled or (is_data_type and not (kind is CallKind.RECEIVE and p.kind.startswith("const"))):
            yield p
