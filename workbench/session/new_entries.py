"""Entries of a platform template made of an API's prototypes: kinds and expressions told by names and types.

They are a beginning that a person looks over; what no name tells is left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.api.descriptors import KnowsApis
from workbench.formats import yaml_edit
from workbench.formats.yaml_marks import read_marked
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import CallKind
from workbench.model.prototypes import Prototype, parse_prototype, pointed_type, type_of
from workbench.model.scan import ApiFunction, ApiHeader
from workbench.session.reading import read
from workbench.system.files import read_file

if TYPE_CHECKING:
    from workbench.session.plugins import Plugins

#: What a call's name says that it is for; of several words the kind that stands first here counts.
_KINDS = (
    (CallKind.INTERRUPT, {"irq", "interrupt", "msi"}),
    (CallKind.WAIT, {"wait", "poll", "finish", "completed", "flush", "join"}),
    (CallKind.CONFIGURE, {"configure", "config", "program", "reconfigure", "bitstream", "bitfile", "xclbin", "load"}),
    (CallKind.RELEASE, {"close", "release", "free", "detach", "destroy", "fini", "disconnect", "delete", "exit"}),
    (CallKind.ACQUIRE, {"open", "acquire", "attach", "init", "create", "connect", "claim", "alloc"}),
    (CallKind.SEND, {"write", "send", "put", "poke", "upload", "push", "set", "h2c"}),
    (CallKind.RECEIVE, {"read", "recv", "receive", "get", "peek", "download", "pull", "fetch", "c2h"}),
)  # fmt: skip
_REASONS = {
    CallKind.ACQUIRE: "initialize", CallKind.CONFIGURE: "initialize", CallKind.RELEASE: "finalize",
    CallKind.WAIT: "ack", CallKind.INTERRUPT: "late_sender",
}  # fmt: skip
_BYTES = ("bytes", "nbytes", "nbyte", "size", "sz")
_COUNTS = ("words", "dwords", "dword", "nwords", "count", "n", "len", "length", "elements")
_VALUES = ("value", "val", "v", "data", "word")
_ADDRESSES = ("address", "addr", "offset", "offs", "off", "reg", "register", "seek", "skip", "dst", "src")
_CARDS = ("fpga", "card", "board", "device", "dev", "slot", "didx")
_FILES = ("bitfile", "bitstream", "xclbin", "filename", "file", "path", "image", "afi", "fnm", "name")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SYSTEM = Path("/usr/include")
_LATER = {"async", "nonblocking", "nb", "enqueue"}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_INTEGER = re.compile(
    r"(const )?((un)?signed|(unsigned )?(char|short|int|long|long long)( int)?|u?int\d+_t|s?size_t|off_t"
    r"|u(8|16|32|64)|cl_u?\w+)"
)


@dataclass(frozen=True)
class _Parameter:
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


def header_entries(plugins: Plugins, header: Path, text: str | None = None) -> tuple[list[dict[str, Any]], ApiHeader]:
    """An entry for each function that a header declares, or `text`, pasted from one beside it; and what was read.

    Prototypes that a template could have as they are, methods with their class, are taken so. WorkbenchError where
    nothing is declared there."""
    if text is not None and (plain := _prototypes(text)):
        return [entry_of(one) for one in plain], ApiHeader(tuple(ApiFunction(one, 0) for one in plain))
    shown = read_file(header).decode("utf-8-sig", "replace") if text is None else f"{text}\n;"
    language = knows_apis(plugins)
    if language is None:
        raise WorkbenchError(Diagnostic("no plugin reads headers", "`workbench plugins` tells what is loaded."))
    found = read(lambda: language.header(header, shown), header)
    if not found.functions:
        hint = "Name the header that holds the prototypes; one that only includes others declares none."
        raise WorkbenchError(*found.diagnostics, Diagnostic("no function is declared here", hint, file=str(header)))
    return [entry_of(one.prototype) for one in found.functions], found


def knows_apis(plugins: Plugins) -> KnowsApis | None:
    return next((one for one in plugins.host_languages.values() if isinstance(one, KnowsApis)), None)


def _prototypes(text: str) -> list[str]:
    """The prototypes that a text consists of, where they have scopes that no header would; none where there is anything
    else in it."""
    if "::" not in text:
        return []
    pieces = [" ".join(piece.split()) for piece in _COMMENT.sub(" ", text).split(";")]
    found = [piece for piece in pieces if piece]
    plain = all(not re.search(r"[{}#]|^(typedef|using|return)\b", one) and parse_prototype(one) for one in found)
    return found if plain else []


def entry_of(text: str) -> dict[str, Any]:
    """An entry of this prototype, as a template holds it."""
    prototype = parse_prototype(text)
    if prototype is None:
        return {"prototype": text, "kind": CallKind.OTHER.value}
    parameters = [_parameter(declaration, name) for declaration, name in prototype.parameters]
    answers = prototype.returns not in ("", "void") and "*" not in prototype.returns
    kind = _kind(prototype, parameters, answers)
    moves = kind.moves
    told = {"fpga": _named(parameters, _CARDS)}
    if moves:
        told["bytes"] = _bytes(prototype, parameters, kind)
        told["address"] = _named([p for p in parameters if p.name not in told["bytes"].split()], _ADDRESSES)
    elif kind is CallKind.CONFIGURE:
        named = (p.name for word in _FILES for p in parameters if p.points == "char" and word in p.words)
        told["files"] = next(named, "")
    told["reason"] = _REASONS.get(kind, "") if not moves else "ctrl" if _is_word(told["bytes"]) else "data"
    later = moves and _LATER & set(_words(prototype.name))
    entry = {"prototype": text, "kind": kind.value, **{name: text for name, text in told.items() if text}}
    return entry | ({"asynchronous": True} if later else {})


def with_entries(
    text: str, entries: Sequence[Mapping[str, Any]], template: Path, header: Path | None = None
) -> tuple[str, list[dict[str, Any]]]:
    """The text of a template in that file with entries added whose prototype it has not yet, and which these are.

    The one transfer table that there is of a direction is a transfer's. A header is included, where nothing is yet."""
    marked, problems = read_marked(text)
    if marked is None or not isinstance(marked.data, Mapping):
        raise WorkbenchError(*problems, Diagnostic("this is no platform template", file=str(template)))
    host = marked.data.get("host")
    host = host if isinstance(host, Mapping) else {}
    present = host.get("entries") or []
    known = {" ".join(str(one.get("prototype", "")).split()).rstrip("; ") for one in present}
    tables = marked.data.get("transfer_tables") or {}
    new = [{**entry, **_transfer(entry, tables)} for entry in entries if entry["prototype"] not in known]
    about = _included(header, template) if header and new and not host.get("include_lines") else {}
    if not host.get("transfers") and (moves := _moves(new)):
        about["transfers"] = moves
    if not new:
        return text, new
    if not host:
        moves = {"transfers": about.pop("transfers")} if "transfers" in about else {}
        return yaml_edit.set_value(text, ("host",), {**about, "entries": new, **moves}), new
    if present:
        text = yaml_edit.insert_item(text, ("host", "entries"), len(present), *new)
    else:
        text = yaml_edit.set_value(text, ("host", "entries"), new)
    for name, value in about.items():
        text = yaml_edit.set_value(text, ("host", name), value)
    return text, new


def _transfer(entry: Mapping[str, Any], tables: Mapping[str, Any]) -> dict[str, str]:
    fitting = [name for name, one in tables.items() if (one or {}).get("direction", "send") == entry["kind"]]
    return {"transfer": fitting[0]} if len(fitting) == 1 else {}


def _moves(entries: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """How the workbench itself can move an array: by the first call of each direction whose arguments are all known to
    be its place, its data, its length, or the board's handle."""
    found: dict[str, str] = {}
    for entry in entries:
        name = {"send": "send_c", "receive": "receive_c"}.get(entry["kind"], "")
        prototype = parse_prototype(entry["prototype"])
        if not name or name in found or prototype is None or prototype.cpp or "asynchronous" in entry:
            continue
        parameters = [_parameter(declaration, one) for declaration, one in prototype.parameters]
        data = next(_data(parameters, CallKind(entry["kind"])), None)
        size = str(entry.get("bytes", "")).partition(" ")
        if data is None or not entry.get("address") or (size[2] and size[2] != f"* sizeof *{data.name}"):
            continue
        length = "words" if size[2] else "bytes"
        given = {entry["address"]: "address", data.name: "data", size[0]: length}
        handles = {p.name for p in parameters if "*" in p.kind and not p.points.startswith(_ONE_BYTE)} - {data.name}
        if size[0] in {p.name for p in parameters} and given.keys() | handles >= {p.name for p in parameters}:
            result = "result = " if prototype.returns != "void" else ""
            arguments = ", ".join(given.get(p.name, p.name) for p in parameters)
            found[name] = f"{result}{prototype.name}({arguments});"
    return found if len(found) == 2 else {}


def _included(header: Path, template: Path) -> dict[str, Any]:
    """The line that includes a header, and the folder where it is."""
    if header.is_relative_to(_SYSTEM):
        return {"include_lines": [f"#include <{header.relative_to(_SYSTEM)}>"]}
    folder = os.path.relpath(header.parent, template.parent)
    return {"include_lines": [f'#include "{header.name}"'], "api_dir": folder}


def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(name))


def _parameter(declaration: str, name: str) -> _Parameter:
    return _Parameter(name, type_of(declaration, name), _words(name))


def _kind(prototype: Prototype, parameters: Sequence[_Parameter], answers: bool) -> CallKind:
    words = set(_words(prototype.name))
    if prototype.is_constructor or prototype.is_destructor:
        if not words & set(_CARDS):
            return CallKind.OTHER
        return CallKind.ACQUIRE if prototype.is_constructor else CallKind.RELEASE
    if words & {"is", "has", "can"}:  # they ask
        return CallKind.OTHER
    words |= {re.sub(r"^p?(read|write).*", r"\1", word) for word in words}
    kind = next((kind for kind, told in _KINDS if words & told), CallKind.OTHER)
    sized = bool(_named(parameters, (*_BYTES, *_COUNTS)))
    moved = any(p.points != "char" or sized for p in _data(parameters, kind)) or _value(parameters) is not None
    if kind is CallKind.SEND and not moved:
        return CallKind.OTHER
    if kind is CallKind.RECEIVE and not (moved or (answers and any(p.counts for p in parameters))):
        return CallKind.OTHER
    return kind


def _named(parameters: Sequence[_Parameter], wanted: Sequence[str]) -> str:
    """The whole number whose name has one of these words, the first that has any."""
    return next((p.name for word in wanted for p in parameters if p.counts and word in p.words), "")


def _bytes(prototype: Prototype, parameters: Sequence[_Parameter], kind: CallKind) -> str:
    data = next(_data(parameters, kind), None)
    if data is not None:
        if size := _named(parameters, _BYTES):
            return size
        if count := _named(parameters, _COUNTS):
            return count if data.points in _ONE_BYTE else f"{count} * sizeof *{data.name}"
        return "" if data.points in _ONE_BYTE else f"sizeof *{data.name}"
    value = _value(parameters)
    if kind is CallKind.SEND:
        return f"sizeof {value.name}" if value else ""
    return f"sizeof({prototype.returns})"


_ONE_BYTE = ("void", "char", "unsigned char", "signed char", "uint8_t", "int8_t")


def _data(parameters: Sequence[_Parameter], kind: CallKind) -> Iterator[_Parameter]:
    """The pointers that data can lie behind: what is received is not const, and a handle is no data."""
    for p in parameters:
        known = p.points in _ONE_BYTE or _INTEGER.fullmatch(p.points) or p.points in ("float", "double")
        if known and not (kind is CallKind.RECEIVE and p.kind.startswith("const")):
            yield p


def _value(parameters: Sequence[_Parameter]) -> _Parameter | None:
    return next((p for p in parameters if p.counts and p.words and p.words[-1] in _VALUES), None)


def _is_word(text: str) -> bool:
    return text.startswith("sizeof")
