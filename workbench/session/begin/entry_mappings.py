"""Finds the API calls that map a part of the card into the program's memory, and makes entries for the accesses."""

import re
from typing import Any

from workbench.model.prototypes import Prototype, parse_prototype, pointed_type
from workbench.session.begin.entry_words import INTEGER, parameters_of, size_of, with_fields, words_of

_NAME = "registers"
_MAPS = {"map", "mmap", "mapped"}
_REGISTERS = {"reg", "regs", "register", "registers", "bar", "csr", "mmio", "window"}
_UNMAPS = {"unmap", "munmap"}
_BYTES = "65536"  # if no parameter gives the size


def with_mappings(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries with calls that return a pointer to registers as opening a mapping, calls that end one, and two
    entries for the program's accesses after the last."""
    parsed = [(entry, parse_prototype(entry["prototype"])) for entry in entries]
    if not any(prototype and _maps(prototype) and "inline" not in entry for entry, prototype in parsed):
        return entries
    changed = []
    for entry, prototype in parsed:
        if prototype and _maps(prototype) and "inline" not in entry:
            header_fields: dict[str, Any] = {
                name: entry[name] for name in ("prototype", "fpga", "address", "inline") if name in entry
            }
            opens = {"opens": _NAME, "mapped_bytes": size_of(prototype) or _BYTES, "reason": "initialize"}
            entry = with_fields(header_fields | {"kind": "other"}, **opens)
        elif prototype and _UNMAPS & set(words_of(prototype.name)) and (pointer := _pointer(prototype)):
            header_fields = {name: entry[name] for name in ("prototype", "inline") if name in entry}
            entry = with_fields(header_fields | {"kind": "release"}, of=f"{pointer} is {_NAME}", reason="finalize")
        changed.append(entry)
    accesses = (("write", "send"), ("read", "receive"))
    return [*changed, *({"access": way, "kind": kind, "of": _NAME, "reason": "ctrl"} for way, kind in accesses)]


def _maps(prototype: Prototype) -> bool:
    """Whether a call returns a pointer to volatile words, or a pointer and a name that means registers."""
    returns = prototype.returns
    if returns.count("*") != 1 or returns.startswith("const "):
        return False
    to = re.sub(r"\bvolatile\b|\s*\*$", "", returns).strip()
    if not (to == "void" or INTEGER.fullmatch(to)):
        return False
    words = set(words_of(prototype.name))
    return "volatile" in returns.split() or bool(words & _MAPS and words & _REGISTERS)


def _pointer(prototype: Prototype) -> str:
    """The parameter that holds the mapping's pointer."""
    kinds = {p.name: re.sub(r"\bvolatile\b", "", p.kind).strip() for p in parameters_of(prototype)}
    return next((name for name, kind in kinds.items() if _is_data(kind)), "")


def _is_data(kind: str) -> bool:
    to = pointed_type(f"{kind} _", "_").strip()
    return kind.count("*") == 1 and (to == "void" or INTEGER.fullmatch(to) is not None)
