"""The ports of a template in the editor: a new port, and a port whose kind changes.

The template stays valid: required fields of the new kind get initial values, and unknown ones are removed.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any

import yaml

from workbench.api.descriptors import PortKind
from workbench.api.ports import HardwarePort
from workbench.formats import yaml_edit
from workbench.formats.yaml_marks import check, read_marked

Entry = dict[str, Any]
PORTS = ("hardware", "ports")


def new_port(kinds: Mapping[str, PortKind], kind: str, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """A port of this kind with the fewest valid fields beside these entries, and a memory for it if it needs one."""
    names = [str(entry.get("name", "host")) for entry in entries]
    entry = {
        "name": next(name for name in _names() if name not in names),
        "kind": kind,
        **kinds[kind].port().first_fields(),
    }
    return served(kinds, entry, entries)


def _names() -> Iterator[str]:
    yield "host"
    yield from (f"port{number}" for number in count(1))


def with_kind(text: str, number: int, kind: str, kinds: Mapping[str, PortKind]) -> str:
    """The template's text with another kind for one of its ports. Fields that the new kind has too are kept, and a
    memory that it needs is added if there is none."""
    marked, _ = read_marked(text)
    entries = marked.data["hardware"]["ports"] if marked else []
    old = entries[number]
    new: Entry = {"name": "host", **old, "kind": kind}
    if kind in kinds:
        schema = kinds[kind].port()
        new = {"name": "host", "kind": kind, **schema.first_fields()}
        for name, value in old.items():
            if name != "kind" and name in schema.model_fields and _valid(schema, {**new, name: value}):
                new[name] = value
        new, *added = served(kinds, new, [entry for n, entry in enumerate(entries) if n != number])
    else:
        added = []
    for name in old.keys() - new.keys():
        text = yaml_edit.remove_item(text, (*PORTS, number, name))
    for name, value in new.items():
        if old.get(name) != value and not (name == "name" and name not in old):
            text = yaml_edit.set_value(text, (*PORTS, number, name), value)
    return yaml_edit.insert_item(text, PORTS, len(entries), *added) if added else text


def read_port(schema: type[HardwarePort], entry: Entry) -> HardwarePort | None:
    """An entry as its kind's port; None if it is not valid."""
    marked, _ = read_marked(yaml.safe_dump(entry, sort_keys=False))
    port = check(schema, marked)[0] if marked else None
    return None if port is None or any(port.problems()) else port


def _valid(schema: type[HardwarePort], entry: Entry) -> bool:
    return read_port(schema, entry) is not None


def served(kinds: Mapping[str, PortKind], entry: Entry, others: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entry with an existing memory; if there is none, with the first possible kind of memory added."""
    port = read_port(kinds[str(entry["kind"])].port(), entry)
    server_name = port.served_by() if port else ""
    if not server_name:
        return (entry,)
    servers = [str(other.get("name", "host")) for other in others if _serves(kinds, other)]
    field = next((name for name, value in entry.items() if value == server_name and name != "name"), None)
    if server_name in servers or field is None:
        return (entry,)
    if servers:
        return ({**entry, field: servers[0]},)
    return entry, *({"name": server_name, "kind": kind, **fields} for kind, fields in islice(_memories(kinds), 1))


def _serves(kinds: Mapping[str, PortKind], entry: Entry) -> bool:
    kind = kinds.get(str(entry.get("kind")))
    port = read_port(kind.port(), entry) if kind else None
    return port is not None and port.moves_bytes_per_s() > 0


def _memories(kinds: Mapping[str, PortKind]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The port kinds that are memories, with the fields of a new one."""
    for name, kind in kinds.items():
        fields = kind.port().first_fields()
        if _serves(kinds, {"name": "memory", "kind": name, **fields}):
            yield name, fields
