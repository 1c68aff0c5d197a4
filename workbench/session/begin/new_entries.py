"""Adds template entries made from an API's prototypes to a template's text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.api.brought import brought
from workbench.api.descriptors import KnowsApis
from workbench.api.languages import headers_of
from workbench.formats import yaml_edit
from workbench.formats.yaml_marks import read_marked
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import CallKind, Host, HostEntry
from workbench.model.prototypes import Prototype, handle_of, handle_types, parse_prototype, type_of
from workbench.model.scan import ApiFunction, ApiHeader
from workbench.session.begin.entry_lists import PRIVATE, entries_of
from workbench.session.begin.entry_words import ONE_BYTE, data_of, entry_of, parameters_of
from workbench.session.open.reading import read
from workbench.system.files import read_file, read_regular

if TYPE_CHECKING:
    from workbench.session.program.plugins import Plugins

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEFAULT = re.compile(r"\s*=\s*[-\w.]+(?=\s*[,)])")
_SYSTEM = Path("/usr/include")
_FILLED_IN = ("fpga", "bytes", "address", "files", "reason", "asynchronous")
_WORDS = ("uint32_t", "int32_t", "unsigned", "unsigned int", "int", "u32", "std::uint32_t", "DWORD")
_MOST_FOLDERS, _MOST_FILES, _MOST_HEADERS, _LARGEST_BYTES = 200, 2000, 200, 1 << 20


def header_entries(plugins: Plugins, header: Path, text: str | None = None) -> tuple[list[dict[str, Any]], ApiHeader]:
    """An entry for each function that a header declares, or that `text` pasted from a header declares; and the files
    read.

    Prototypes that a template could have as they are, methods with their class, are taken so. WorkbenchError where
    nothing is declared there."""
    if text is not None and (plain := _prototypes(text)):
        return _with_notes(ApiHeader(tuple(ApiFunction(one, 0) for one in plain)))
    header_text = read_file(header).decode("utf-8-sig", "replace") if text is None else f"{text}\n;"
    language = knows_apis(plugins)
    if language is None:
        raise WorkbenchError(Diagnostic("no plugin reads headers", "`workbench plugins` lists what is loaded."))
    api = read(lambda: language.header(header, header_text), header)
    if not api.functions:
        hint = "Name the header that holds the prototypes; one that only includes others declares none."
        raise WorkbenchError(*api.diagnostics, Diagnostic("no function is declared here", hint, file=str(header)))
    return _with_notes(api)


def api_headers() -> tuple[str, ...]:
    """The suffixes of header files that a language reads for their calls."""
    return headers_of(one for one in brought("host_languages") if isinstance(one, KnowsApis))


def header_of(text: str, folder: Path) -> Path | None:
    """The header below a folder that contains this text, if any; of many files only the nearest are read."""
    pasted = "".join(text.split())
    ends = api_headers()
    files = (path for path in islice(_below(folder), _MOST_FILES) if path.suffix in ends)
    for path in islice(files, _MOST_HEADERS):
        try:
            header_text = read_regular(path, _LARGEST_BYTES).decode("utf-8-sig", "replace")
        except OSError:
            continue
        if pasted in "".join(header_text.split()):
            return path
    return None


def _below(folder: Path) -> Iterator[Path]:
    """The files below a folder, outer folders first, without hidden folders."""
    folders = [folder]
    for one in islice(folders, _MOST_FOLDERS):
        try:
            entries = sorted(os.scandir(one), key=lambda entry: entry.name)
        except OSError:
            continue
        yield from (Path(entry.path) for entry in entries if entry.is_file())
        folders += [Path(e.path) for e in entries if e.is_dir(follow_symlinks=False) and not e.name.startswith(".")]


def _with_notes(api: ApiHeader) -> tuple[list[dict[str, Any]], ApiHeader]:
    entries, notes = entries_of(api.functions)
    return entries, replace(api, diagnostics=(*api.diagnostics, *notes))


def knows_apis(plugins: Plugins) -> KnowsApis | None:
    return next((one for one in plugins.host_languages.values() if isinstance(one, KnowsApis)), None)


def _prototypes(text: str) -> list[str]:
    """The prototypes of a text that consists of nothing else and has scopes, as no header would; otherwise none."""
    if "::" not in text:
        return []
    pieces = [" ".join(piece.split()) for piece in _COMMENT.sub(" ", text).split(";")]
    texts = [piece for piece in pieces if piece]
    plain = all(not re.search(r"[{}#]|^(typedef|using|return)\b", one) and parse_prototype(one) for one in texts)
    return texts if plain else []


def with_entries(
    text: str, entries: Sequence[Mapping[str, Any]], template: Path, header: Path | None = None
) -> tuple[str, list[dict[str, Any]]]:
    """The text of a template with these entries added unless it has their prototype already; and the added entries.

    The one transfer table that there is of a direction is a transfer's. A header is included, where nothing is yet."""
    marked, problems = read_marked(text)
    if marked is None or not isinstance(marked.data, Mapping):
        raise WorkbenchError(*problems, Diagnostic("this is not a platform template", file=str(template)))
    host = marked.data.get("host")
    host = host if isinstance(host, Mapping) else {}
    present = host.get("entries") or []
    identities = {_identity(one) for one in present}
    tables = marked.data.get("transfer_tables") or {}
    new = [{**entry, **_transfer(entry, tables)} for entry in entries if _identity(entry) not in identities]
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


def _identity(entry: Mapping[str, Any]) -> tuple[str, str]:
    """The identity of an entry: its prototype without default arguments, or its kind of access."""
    prototype = _DEFAULT.sub("", " ".join(str(entry.get("prototype", "")).split()))
    return str(entry.get("access", "")), prototype.rstrip("; ")


def with_entry_kind(text: str, number: int, kind: str) -> str:
    """A template's text with another kind for one of its calls. If the entry has no other fields yet, they are filled
    in from its prototype: bytes, address, card, file and reason, and the transfer table if only one fits."""
    marked, _ = read_marked(text)
    if marked is None:
        return text
    place, entry = ("host", "entries", number), marked.data["host"]["entries"][number]
    text = yaml_edit.set_value(text, (*place, "kind"), kind)
    if not entry.get("prototype") or kind not in tuple(CallKind):
        return text
    new = entry_of(entry["prototype"], CallKind(kind))
    tables = marked.data.get("transfer_tables") or {}
    fields = {name: new[name] for name in _FILLED_IN if name in new and not entry.get(name)}
    if CallKind(kind).moves and entry.get("transfer") not in _tables_of(kind, tables):
        fields |= _transfer(new, tables)
    for name, value in fields.items():
        text = yaml_edit.set_value(text, (*place, name), value)
    return text


def _tables_of(kind: str, tables: Mapping[str, Any]) -> list[str]:
    return [name for name, one in tables.items() if (one or {}).get("direction", "send") == kind]


def _transfer(entry: Mapping[str, Any], tables: Mapping[str, Any]) -> dict[str, str]:
    """The only transfer table of the call's direction; of several, the only one for registers, or for other data."""
    fitting = _tables_of(entry["kind"], tables)
    if len(fitting) > 1:
        single = str(entry.get("bytes", "")).startswith("sizeof")
        fitting = [name for name in fitting if ("reg" in name) == single]
    return {"transfer": fitting[0]} if len(fitting) == 1 else {}


def _moves(entries: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The calls by which the workbench can move an array: for each direction the first call whose arguments are all
    known to be the address, the data, the length, or the board's handle."""
    calls: dict[str, str] = {}
    registers: dict[str, str] = {}  # a single word, if no call has a length
    entries = [entry for entry in entries if "prototype" in entry]
    prototypes = (parse_prototype(entry["prototype"]) for entry in entries)
    classes = {one.scope for one in prototypes if one and (one.is_constructor or one.is_destructor)}
    handle_types_ = handle_types(Host(entries=tuple(HostEntry.model_validate(dict(entry)) for entry in entries)))
    for entry in entries:
        name = {"send": "send_c", "receive": "receive_c"}.get(entry["kind"], "")
        prototype = parse_prototype(entry["prototype"])
        if not name or name in calls or prototype is None or "asynchronous" in entry or entry.get("subtype") == PRIVATE:
            continue
        if prototype.cpp and (prototype.scope not in classes or prototype.is_static):
            continue
        parameters = parameters_of(prototype)
        handle_names = {n for text, n in prototype.parameters if handle_types_.holds(type_of(text, n), n)}
        if handle := handle_of(prototype, handle_types_):
            handle_names.add(handle.name)
        if word := _of_a_word(prototype, entry, handle_names):
            registers.setdefault(name, word)
        data = next(data_of(parameters, CallKind(entry["kind"])), None)
        size = str(entry.get("bytes", "")).partition(" ")
        if data is None or not entry.get("address") or (size[2] and size[2] != f"* sizeof *{data.name}"):
            continue
        length = "words" if size[2] else "bytes"
        argument_values = {**dict(prototype.defaults), entry["address"]: "address", data.name: "data", size[0]: length}
        handles = {p.name for p in parameters if "*" in p.kind and not p.points.startswith(ONE_BYTE)} | handle_names
        handles -= {data.name}
        if size[0] in {p.name for p in parameters} and argument_values.keys() | handles >= {p.name for p in parameters}:
            result = "result = " if prototype.returns != "void" else ""
            arguments = ", ".join(argument_values.get(p.name, p.name) for p in parameters)
            of_object = "self." if prototype.cpp else ""
            result = "" if prototype.cpp else result
            calls[name] = f"{of_object}{result}{prototype.name}({arguments});"
    return next((moves for moves in (calls, registers) if len(moves) == 2), {})


def _of_a_word(prototype: Prototype, entry: Mapping[str, Any], handles: Set[str]) -> str:
    """A call that writes or reads a 32-bit word by its value or its address, as text; "" if the function cannot."""
    of = {name: type_of(text, name) for text, name in prototype.parameters}
    sends, size = entry["kind"] == "send", str(entry.get("bytes", ""))
    optional = {name: value for name, value in prototype.defaults if not re.search(rf"\b{name}\b", size)}
    value_names = [name for name in of if name not in {*handles, *optional} and name != entry.get("address")]
    value = value_names[0] if len(value_names) == 1 and not (sends and "*" in of[value_names[0]]) else ""
    kind = (of[value] if value else prototype.returns).removesuffix("*").strip()
    if not entry.get("address") or entry["address"] not in of or kind not in _WORDS or len(value_names) > 1:
        return ""
    if size not in (f"sizeof {value}", f"sizeof *{value}", f"sizeof({kind})") or (sends and not value):
        return ""
    passed = "*data" if sends else "data" if value.strip() and "*" in of[value] else ""
    if value and not passed:
        return ""
    arguments = ", ".join(
        "address" if n == entry["address"] else passed if n == value else optional.get(n, n) for n in of
    )
    result = "" if sends or value else "*data = "
    return f"{result}{'self.' if prototype.cpp else ''}{prototype.name}({arguments});"


def _included(header: Path, template: Path) -> dict[str, Any]:
    """The include line for a header, and the header's folder."""
    if header.is_relative_to(_SYSTEM):
        return {"include_lines": [f"#include <{header.relative_to(_SYSTEM)}>"]}
    folder = os.path.relpath(header.parent, template.parent)
    return {"include_lines": [f'#include "{header.name}"'], "api_dir": folder}
