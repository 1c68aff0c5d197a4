"""LLVM's types and literals, read from the text of a module: sizes, places of fields, the bytes of tables."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rc_workbench_plugins.opencl.kernel import VOID, Kind, Space, Type

POINTER_BYTES = 8
SPACES = {0: Space.PRIVATE, 1: Space.GLOBAL, 2: Space.CONSTANT, 3: Space.LOCAL}
_FLOATS = {"half": 16, "float": 32, "double": 64}
_STRUCT = re.compile(r'^(%(?:"[^"]+"|[\w.$-]+)) = type (.*)$', re.MULTILINE)
_TYPE = re.compile(r'ptr(?: addrspace\(\d+\))?|target\("[^)]*\)|%"[^"]+"|%[\w.$-]+|\w+')
_POINTER = re.compile(r"ptr(?: addrspace\((\d+)\))?")
_REPEATED = re.compile(r"(\d+) x (.*)", re.DOTALL)
_CODES = {16: "e", 32: "f", 64: "d"}
_OPEN, _CLOSE = "<[{(", ">]})"


def balanced(text: str) -> Iterator[str]:
    """The parts of a text between the commas outside all brackets and quotes."""
    depth, start, quoted = 0, 0, False
    for at, letter in enumerate(text):
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
        elif letter == "," and not depth:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


def split_type(text: str) -> tuple[str, str]:
    """The type that a text begins with, and what follows it."""
    text = text.strip()
    if text[:1] in _OPEN:
        depth = 0
        for at, letter in enumerate(text):
            depth += (letter in _OPEN) - (letter in _CLOSE)
            if not depth:
                return text[: at + 1], text[at + 1 :].strip()
    match = _TYPE.match(text)
    return (match[0], text[match.end() :].strip()) if match else (text, "")


def read_type(text: str) -> Type | None:
    """A type of values; None of what no value of a kernel has: structures, arrays, integers of odd widths. An event is
    a number, which nobody looks at."""
    if text == "void":
        return VOID
    if text == 'target("spirv.Event")':
        return Type(Kind.INT, 64)
    if text in _FLOATS:
        return Type(Kind.FLOAT, _FLOATS[text])
    if match := _POINTER.fullmatch(text):
        space = SPACES.get(int(match[1] or 0))
        return Type(Kind.POINTER, 8 * POINTER_BYTES, space=space) if space else None
    if re.fullmatch(r"i(1|8|16|32|64)", text):
        return Type(Kind.INT, int(text[1:]))
    if text.startswith("<") and (match := _REPEATED.fullmatch(text[1:-1])):
        element = read_type(match[2])
        return Type(element.kind, element.bits, int(match[1]), element.space) if element else None
    return None


@dataclass(frozen=True)
class Layout:
    """Where things lie in memory, after the module's own structures (by name, as they are written)."""

    structures: Mapping[str, str]

    @classmethod
    def of(cls, module: str) -> Layout:
        return cls(dict(_STRUCT.findall(module)))

    def size(self, text: str) -> int:
        """Bytes from one element of an array of the type to the next."""
        if fields := self._fields(text):
            end = max(offset + self.size(kind) for offset, kind in fields)
            return _up(end, self.align(text))
        if text.startswith("[") and (match := _REPEATED.fullmatch(text[1:-1])):
            return int(match[1]) * self.size(match[2])
        if text.startswith("<") and (match := _REPEATED.fullmatch(text[1:-1])):
            return _power(int(match[1]) * self.size(match[2]))
        return _scalar(text)

    def align(self, text: str) -> int:
        if fields := self._fields(text):
            return 1 if self._packed(text) else max(self.align(kind) for _, kind in fields)
        if text.startswith("[") and (match := _REPEATED.fullmatch(text[1:-1])):
            return self.align(match[2])
        return max(1, self.size(text))

    def is_structure(self, text: str) -> bool:
        return bool(self._fields(text))

    def field(self, text: str, index: int) -> tuple[int, str]:
        """Offset and type of a structure's field."""
        return self._fields(text)[index]

    def scalars(self, text: str, at: int = 0) -> Iterator[tuple[int, Type]]:
        """Every number in a type, with its offset, in the order of the source."""
        if fields := self._fields(text):
            for offset, kind in fields:
                yield from self.scalars(kind, at + offset)
        elif match := _REPEATED.fullmatch(text[1:-1]) if text[:1] in _OPEN else None:
            step = self.size(match[2])
            for number in range(int(match[1])):
                yield from self.scalars(match[2], at + number * step)
        elif scalar := read_type(text):
            yield at, scalar

    def element(self, text: str) -> str:
        """The type of an array's or vector's elements."""
        match = _REPEATED.fullmatch(text[1:-1])
        return match[2] if match else text

    def literal(self, text: str, value: str) -> bytes:
        """The bytes of a literal of a type; what is undefined is zero. ValueError of what is no plain literal."""
        if value in ("zeroinitializer", "undef", "poison", "null"):
            return bytes(self.size(text))
        if value.startswith('c"') and value.endswith('"'):
            return re.sub(rb"\\([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), value[2:-1].encode("latin-1"))
        if value.startswith("splat ("):
            match = _REPEATED.fullmatch(text[1:-1])
            kind, one = split_type(value[len("splat (") : -1])
            return (self.literal(kind, one) * int(match[1] if match else 1)).ljust(self.size(text), b"\0")
        if value[:1] in _OPEN:
            parts = [split_type(part) for part in balanced(value[1:-1] if value[:2] != "<{" else value[2:-2])]
            if fields := self._fields(text):
                whole = bytearray(self.size(text))
                for (offset, _), (kind, one) in zip(fields, parts, strict=True):
                    data = self.literal(kind, one)
                    whole[offset : offset + len(data)] = data
                return bytes(whole)
            return b"".join(self.literal(kind, one) for kind, one in parts).ljust(self.size(text), b"\0")
        scalar = read_type(text)
        if scalar is None or scalar.kind is Kind.VOID:
            raise ValueError(f"{text} {value}")
        number = number_of(scalar, value)
        if scalar.kind is Kind.FLOAT:
            return struct.pack("<" + _CODES[scalar.bits], number)
        return (int(number) & ((1 << scalar.bytes * 8) - 1)).to_bytes(scalar.bytes, "little")

    def numbers(self, text: str, value: str) -> tuple[int | float, ...]:
        """A literal's number for each lane of a scalar or vector type. ValueError of what is no plain literal."""
        kind = read_type(text)
        if kind is None:
            raise ValueError(f"{text} {value}")
        if kind.lanes == 1:
            return (number_of(kind, value),)
        if value in ("zeroinitializer", "undef", "poison"):
            return (0,) * kind.lanes
        if value.startswith("splat ("):
            return (number_of(kind, split_type(value[len("splat (") : -1])[1]),) * kind.lanes
        return tuple(number_of(kind, split_type(part)[1]) for part in balanced(value[1:-1]))

    def _packed(self, text: str) -> bool:
        return self.structures.get(text, text).startswith("<{")

    def _fields(self, text: str) -> list[tuple[int, str]]:
        """Offset and type of a structure's fields; empty of what is none."""
        text = self.structures.get(text, text)
        packed = text.startswith("<{")
        if not packed and not text.startswith("{"):
            return []
        offset, fields = 0, []
        for kind in balanced(text[2:-2] if packed else text[1:-1]):
            offset = offset if packed else _up(offset, self.align(kind))
            fields.append((offset, kind))
            offset += self.size(kind)
        return fields


def number_of(kind: Type, text: str) -> int | float:
    """The number that a scalar literal says. ValueError of what is no plain literal."""
    if text in ("undef", "poison", "null", "zeroinitializer", "false"):
        return 0
    if text == "true":
        return 1
    if kind.kind is not Kind.FLOAT:
        return int(text)
    if text.startswith("0xH"):
        return float(struct.unpack(">e", bytes.fromhex(text[3:]))[0])
    if text.startswith("0x"):
        return float(struct.unpack(">d", bytes.fromhex(text[2:].rjust(16, "0")))[0])
    return {"+inf": math.inf, "-inf": -math.inf}[text] if text.endswith("inf") else float(text)


def _scalar(text: str) -> int:
    if text.startswith("i") and text[1:].isdigit():
        return _power((int(text[1:]) + 7) // 8)
    return _FLOATS[text] // 8 if text in _FLOATS else POINTER_BYTES


def _up(number: int, to: int) -> int:
    return -(-number // to) * to


def _power(number: int) -> int:
    """The power of two that holds a size, as which it is aligned."""
    return 1 << max(0, number - 1).bit_length()
