"""Makes a template's entries from all functions of an API: kinds, directions, cards, and what opens a card or makes its
objects."""

import re
from collections.abc import Sequence
from typing import Any

from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.platform import CallKind
from workbench.model.prototypes import Prototype, parse_prototype
from workbench.model.scan import ApiFunction
from workbench.model.text import listed
from workbench.session.begin.entry_mappings import with_mappings
from workbench.session.begin.entry_words import (
    AWAY,
    BOTH_WAYS,
    FROM_CARD,
    HANDLES,
    INTEGER,
    TO_CARD,
    address_of,
    data_of,
    entry_of,
    is_address,
    parameters_of,
    plain_words,
    with_fields,
    words_of,
)

#: The subtype of a call that only functions of the header make.
PRIVATE = "private"
#: Words of polling functions: a library that always answers 0 makes a host wait forever.
_ASKED = {"status", "state", "done", "ready", "busy", "idle", "finished", "completed", "is", "has"}
#: Names of the integers by which programs identify a card.
_DESCRIPTORS = {*HANDLES, "fd", "d", "b", "id"}


def entries_of(functions: Sequence[ApiFunction]) -> tuple[list[dict[str, Any]], tuple[Diagnostic, ...]]:
    """The template entries of an API's functions, two for a function that moves data in the direction of an argument;
    and notes on functions whose direction is unknown."""
    parsed = [(one, parse_prototype(one.prototype)) for one in functions]
    sized = {p.scope: p.name for _, p in parsed if p and not p.parameters and p.name in ("size", "size_bytes")}
    two_way_scopes = {p.scope for _, p in parsed if p and p.scope and _syncs(p)}
    entries: list[dict[str, Any]] = []
    notes: list[Diagnostic] = []
    for function, prototype in parsed:
        entry = entry_of(function.prototype) | _inline(function)
        entry = with_fields(entry, subtype=PRIVATE) if function.private else entry
        if prototype is None or entry["kind"] not in ("send", "receive"):
            entries.append(entry)
            continue
        if "bytes" not in entry and prototype.scope in sized:
            entry = with_fields(entry, bytes=f"self.{sized[prototype.scope]}()")
        if words_of(prototype.name) in (("write",), ("read",)) and prototype.scope in two_way_scopes:
            # a method of the buffer itself: `sync` moves its data
            entries.append({"prototype": function.prototype, "kind": "other", "reason": "update"} | _inline(function))
        elif ways := _ways(function):
            to, from_ = ways
            entries.append(with_fields(entry, kind="send", subtype="to the device", condition=to))
            entries.append(with_fields(entry, kind="receive", subtype="from the device", condition=from_))
        else:
            entries.append(entry)
            if _moves_both_ways(prototype) and not _names_direction(prototype):
                hint = "Give it two entries, each with its own 'Only when' and Label."
                message = f"{prototype.qualified} may send or receive; it is taken as a send"
                notes.append(Diagnostic(message, hint, Severity.NOTE))
    entries = _with_addresses(_with_descriptors(_with_makers(entries)))
    asked = [
        p.qualified for e in entries if e["kind"] == "other" and (p := parse_prototype(e["prototype"])) and _asks(p)
    ]
    if asked:
        text = f"{listed(asked)}: calls of kind 'other' return 0 on the simulated card and do not reach the design"
        hint = "Give it the kind receive and an address if it reads from the board: a host that polls it waits forever."
        notes.append(Diagnostic(text, hint, Severity.WARNING))
    return with_mappings(entries), tuple(notes)


def _with_makers(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries with kind `acquire` for calls that open a card in an API of classes: functions that return an object
    that moves data, by value or by pointer, or otherwise the constructors of such a class, unless they take another
    object."""
    parsed = [(entry, parse_prototype(entry["prototype"])) for entry in entries]
    scopes = {p.scope for _, p in parsed if p and (p.is_constructor or p.is_destructor)}
    movers = {p.scope for e, p in parsed if p and p.scope and "address" in e and not (p.is_static or p.is_constructor)}
    names = {scope.rpartition("::")[2] for scope in movers}
    created: set[str] = set()  # last names of classes of which a call makes an object
    changed = []
    for entry, prototype in parsed:
        returned = set(re.findall(r"\w+", prototype.returns)) & names if prototype else set()
        is_own_method = bool(prototype and prototype.scope in movers and not prototype.is_static)
        hidden = bool(
            prototype and prototype.is_static and prototype.scope in movers and _is_pointer(prototype.returns)
        )
        sources = _named_in(prototype, names) if prototype else set()
        if prototype and not is_own_method and (returned or hidden) and sources - returned - {_last(prototype.scope)}:
            entry = _plain_entry(entry, {"kind": "other"})  # an object of another one, which holds the card
        elif prototype and not is_own_method and (returned or hidden):
            created |= returned or {prototype.scope.rpartition("::")[2]}
            entry = _plain_entry(entry, entry_of(entry["prototype"], CallKind.ACQUIRE))
        elif returned and entry["kind"] in ("send", "receive") and "data" not in entry:
            parameters = parameters_of(prototype) if prototype else []
            if next(data_of(parameters, CallKind(entry["kind"])), None) is None:  # the object itself is not data
                entry = _plain_entry(entry, {"kind": "other"})
        elif prototype and is_own_method and entry["kind"] == "acquire" and not prototype.is_constructor:
            created.add(prototype.scope.rpartition("::")[2])
        changed.append(entry)
    classes = {*map(_last, scopes)}
    opened = {_last(p.scope) for place, (_, p) in enumerate(parsed) if p and p.is_constructor
              and (changed[place]["kind"] == "acquire" or not _named_in(p, classes))}  # fmt: skip
    undeclared = {_last(scope) for scope in movers} - {_last(p.scope) for _, p in parsed if p and p.is_constructor}
    of_others = {_last(p.scope) for _, p in parsed if p and p.is_static and p.scope in movers} - created
    holding = created | opened | (undeclared - of_others)  # classes whose objects hold a card of their own
    for place, (_, prototype) in enumerate(parsed):
        entry = changed[place]
        if prototype is None or prototype.scope not in movers or entry["kind"] not in ("other", "acquire", "release"):
            continue
        last = prototype.scope.rpartition("::")[2]
        takes_object = any(scope.rpartition("::")[2] in re.findall(r"\w+", text) for scope in scopes | movers
                    for text, _ in prototype.parameters)  # fmt: skip
        if prototype.is_constructor and not takes_object:
            opens = last not in created or (prototype.parameters and entry["kind"] == "acquire")
            kind = CallKind.ACQUIRE if opens else CallKind.OTHER
            changed[place] = _plain_entry(entry, entry_of(entry["prototype"], kind))
        elif prototype.is_destructor and entry["kind"] in ("other", "release") and last not in holding:
            changed[place] = _plain_entry(entry, {"kind": "other"})
        elif prototype.is_destructor and entry["kind"] == "other":
            changed[place] = _plain_entry(entry, entry_of(entry["prototype"], CallKind.RELEASE))
    return changed


def _with_addresses(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries with the addresses of objects on the card: from a parameter of the call that makes the object, or,
    for a call that moves data, from a method of the header such as `offset()`."""
    parsed = [(entry, parse_prototype(entry["prototype"])) for entry in entries]
    scopes = {p.scope.rpartition("::")[2] for _, p in parsed if p and (p.is_constructor or p.is_destructor)}
    getters = {p.scope: p.name for entry, p in parsed if p and "inline" in entry and _tells_address(p)}
    changed = []
    for entry, prototype in parsed:
        if prototype and prototype.scope and "address" not in entry and not prototype.is_destructor:
            parameter_words = {word for text, _ in prototype.parameters for word in re.findall(r"\w+", text)}
            makes = scopes & (
                parameter_words if prototype.is_constructor else set(re.findall(r"\w+", prototype.returns))
            )
            if entry["kind"] == "other" and makes and (address := address_of(prototype)):
                entry = with_fields(entry, address=address)
            elif entry["kind"] in ("send", "receive") and prototype.scope in getters and not prototype.is_static:
                entry = with_fields(entry, address=f"self.{getters[prototype.scope]}()")
        changed.append(entry)
    return changed


def _tells_address(prototype: Prototype) -> bool:
    plain = bool(prototype.scope) and not prototype.parameters and not prototype.is_static
    return plain and bool(INTEGER.fullmatch(prototype.returns)) and is_address(prototype.name)


def _last(scope: str) -> str:
    return scope.rpartition("::")[2]


def _named_in(prototype: Prototype, names: set[str]) -> set[str]:
    """The names of classes that occur in a function's parameters."""
    return names & {word for text, _ in prototype.parameters for word in re.findall(r"\w+", text)}


def _is_pointer(returns: str) -> bool:
    """Whether a type's name marks a pointer to an object: `Ptr`, `sptr`, `DevPtr`."""
    return bool({"ptr", "sptr", "uptr", "pointer"} & set(words_of(returns.rpartition("::")[2])))


def _plain_entry(entry: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """An entry with new fields, of which only the header's own fields are kept."""
    header_fields: dict[str, Any] = {name: entry[name] for name in ("prototype", "subtype", "inline") if name in entry}
    return with_fields(header_fields, **new)


def _with_descriptors(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries with the card's number, if an `acquire` returns an integer that other calls take as their first
    parameter, such as `fd`."""
    parsed = [(entry, parse_prototype(entry["prototype"])) for entry in entries]
    opened = {p.returns for entry, p in parsed if p and entry["kind"] == "acquire" and not p.cpp
              and INTEGER.fullmatch(p.returns) and not any("*" in text for text, _ in p.parameters)}  # fmt: skip
    changed = []
    for entry, prototype in parsed:
        first = next(iter(parameters_of(prototype)), None) if prototype and not prototype.cpp else None
        is_named = entry["kind"] == "acquire" or "fpga" in entry or first is None
        if not is_named and first and first.kind in opened and set(first.words) & _DESCRIPTORS:
            entry = with_fields(entry, fpga=first.name)
        changed.append(entry)
    return changed


def _syncs(prototype: Prototype) -> bool:
    """Whether a method moves the data of its own object, without data parameters."""
    if "sync" in words_of(prototype.name):
        return True
    return _moves_both_ways(prototype) and next(data_of(parameters_of(prototype), CallKind.SEND), None) is None


def _inline(function: ApiFunction) -> dict[str, bool]:
    return {"inline": True} if function.inline else {}


def _asks(prototype: Prototype) -> bool:
    """Whether a call returns a number or truth value that a host may wait for."""
    answers = prototype.returns in ("bool", "_Bool") or INTEGER.fullmatch(prototype.returns) is not None
    return answers and bool(set(words_of(prototype.name)) & _ASKED)


def _ways(function: ApiFunction) -> tuple[str, str] | None:
    """The conditions under which a call sends and receives, if the names of an argument show them."""
    for name, choices in function.choices:
        to, from_ = (next((c for c in choices if way.search(plain_words(c))), "") for way in (TO_CARD, FROM_CARD))
        if to and from_:
            return f"{name} == {to}", f"{name} == {from_}"
    return None


def _names_direction(prototype: Prototype) -> bool:
    """Whether a name shows a direction, or at least the side of the program's data."""
    plain = plain_words(prototype.name)
    return bool(AWAY.fullmatch(plain) or TO_CARD.search(plain) or FROM_CARD.search(plain))


def _moves_both_ways(prototype: Prototype) -> bool:
    return bool(set(words_of(prototype.name)) & BOTH_WAYS)
