"""The entries in the list of Platform mode, read from the document."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from workbench.api import PortKind
from workbench.api.forms import Group
from workbench.formats import yaml_edit
from workbench.formats.platform_file import callee_name
from workbench.gui.modes.forms.fields import groups_of
from workbench.gui.modes.forms.parts import QUEUE_CALL, DocumentPart, PartSection, new_queue_call
from workbench.gui.modes.platform.fields import (
    BOARD,
    CLOCK,
    HOST,
    KERNEL_CLOCK,
    MACHINE,
    MEMORY,
    NETWORK,
    PORT_1,
    TABLE,
    TRANSFERS,
    entry_groups,
)
from workbench.model.hardware import Clock, Port
from workbench.model.kernel_board import KernelClock
from workbench.model.platform import QueueCall
from workbench.model.text import counted, frequency_text
from workbench.session.edit.platform_document import PlatformDocument
from workbench.session.edit.port_entries import PORTS, new_port
from workbench.session.edit.yaml_document import Path_, YamlDocument

ABOUT_CALLS = (
    "A function of the API that programs call, and what a call of it means. From a header adds one for each function "
    "that it declares."
)
ABOUT_TABLES = "The time of a call by its size. Advice, predictions and the simulated card use it."
KERNEL_CLOCKS: Path_ = ("opencl", "clocks")
QUEUES: Path_ = ("host", "queues")


def sections_of(document: YamlDocument) -> tuple[PartSection, ...]:
    """Every part of the document, in the order of the list."""
    entries = _items(document, ("host", "entries"))
    tables = document.value(("transfer_tables",))
    constants = document.value(("host", "constants"))
    hardware = document.value(("hardware",))
    machine = DocumentPart((), "Platform and device", "", "platform", MACHINE, code=False)
    sources = DocumentPart(("host",), "Header and sources", "", "of the host API", HOST, code=False)
    transfers = DocumentPart(
        ("host", "transfers"), "Counter read-out", "", "how the workbench moves data", TRANSFERS, code=False
    )
    ports: tuple[DocumentPart, ...] = ()
    new = not isinstance(hardware, Mapping) or "ports" in hardware or "clocks" in hardware
    if isinstance(hardware, Mapping) and not new:
        clock = document.number(("hardware", "clock_hz"), "Hz")
        style = str(hardware.get("style", "memory" if clock else ""))
        note = f"{style}, {frequency_text(clock)}" if clock else style
        ports = (DocumentPart(("hardware",), "Port and clock", note, "hardware port", PORT_1, code=False),)
    named = (
        DocumentPart(
            ("host", "constants", str(n)), str(n), "", "constant", (), removable=True, named=True, value=str(v)
        )
        for n, v in (constants or {}).items()
    )
    calls, wires, times = "Calls", "Ports", "Times"
    return (
        PartSection(
            "Host calls",
            tuple(_entry(n, e) for n, e in enumerate(entries)),
            "host call",
            calls,
            ABOUT_CALLS,
            ("host", "entries"),
        ),
        PartSection("Host API", (sources, transfers), tab=calls),
        PartSection("Queues of the host", _queues(document), QUEUE_CALL, calls, _about(QueueCall), QUEUES),
        PartSection("Constants", tuple(named), "constant", calls),
        *(replace(s, tab=wires) for s in ((PartSection("Hardware port", ports),) if ports else _hardware(document))),
        PartSection(
            "Transfer times",
            tuple(_table(str(n), t) for n, t in (tables or {}).items()),
            "transfer table",
            times,
            ABOUT_TABLES,
            ("transfer_tables",),
        ),
        PartSection("Memories", _named(document, "memories", "memory", MEMORY), "memory", times),
        PartSection("Networks", _named(document, "networks", "network", NETWORK), "network", times),
        PartSection("OpenCL", _board(document), "" if document.value(("opencl",)) else "board", times),
        *_kernel_clocks(document, times),
        PartSection("Machine", (machine,), tab="Machine"),
    )


def _queues(document: YamlDocument) -> tuple[DocumentPart, ...]:
    groups = groups_of(QueueCall, "Queue's call")
    return tuple(
        DocumentPart((*QUEUES, n), str(item.get("prototype", "")), str(item.get("kind", "")), QUEUE_CALL, groups,
                     removable=True)
        for n, item in enumerate(_items(document, QUEUES))
    )  # fmt: skip


def _board(document: YamlDocument) -> tuple[DocumentPart, ...]:
    if not isinstance(document.value(("opencl",)), Mapping):
        return ()
    return (DocumentPart(("opencl",), "Board", "", "board", BOARD, code=False, removable=True),)


def _kernel_clocks(document: YamlDocument, tab: str) -> tuple[PartSection, ...]:
    """What built kernels reached, where there is a board for them."""
    if not isinstance(document.value(("opencl",)), Mapping):
        return ()
    parts = tuple(
        DocumentPart((*KERNEL_CLOCKS, n), f"logic up to {item.get('logic', '')}",
                     _between(item.get("least_clock_hz", ""), item.get("most_clock_hz", "")), "kernel clock",
                     KERNEL_CLOCK, code=False, removable=True)
        for n, item in enumerate(_items(document, KERNEL_CLOCKS))
    )  # fmt: skip
    return (PartSection("Kernel clocks", parts, "kernel clock", tab, _about(KernelClock), KERNEL_CLOCKS),)


def _between(least: Any, most: Any) -> str:
    """Two quantities as they are written, their unit once where it is the same: `136 to 285 MHz`."""
    (low, *unit), (*_, last) = str(least).split() or [""], str(most).split() or [""]
    return f"{low if unit == [last] else least} to {most}"


def _frequency(document: YamlDocument, number: int, clock: Mapping[str, Any]) -> str:
    """A frequency in the unit that fits it; as written if it cannot be read."""
    hz = document.number(("hardware", "clocks", number, "frequency_hz"), "Hz")
    return frequency_text(hz) if hz else str(clock.get("frequency_hz", ""))


def _hardware(document: YamlDocument) -> tuple[PartSection, ...]:
    clocks = tuple(
        DocumentPart(("hardware", "clocks", n), str(item.get("name", "clock")), _frequency(document, n, item),
                     "clock", CLOCK, removable=True)
        for n, item in enumerate(_items(document, ("hardware", "clocks")))
    )  # fmt: skip
    ports = tuple(
        DocumentPart(("hardware", "ports", n), str(item.get("name", "host")), str(item.get("kind", "")),
                     "hardware port", _port_groups(document, str(item.get("kind", ""))), removable=True)
        for n, item in enumerate(_items(document, ("hardware", "ports")))
    )  # fmt: skip
    return (
        PartSection("Clocks", clocks, "clock", about=_about(Clock), path=("hardware", "clocks")),
        PartSection("Hardware ports", ports, "hardware port", about=_about(Port), path=PORTS, kinds=_titles(document)),
    )


def _about(schema: type[BaseModel]) -> str:
    """The description of such parts in the reference of fields."""
    return " ".join((schema.__doc__ or "").split())


def _kinds(document: YamlDocument) -> Mapping[str, PortKind]:
    return document.port_kinds if isinstance(document, PlatformDocument) else {}


def _titles(document: YamlDocument) -> dict[str, str]:
    """What the kinds of ports are called, whichever plugin brings them."""
    return {name: kind.title for name, kind in _kinds(document).items()}


def _port_groups(document: YamlDocument, kind: str) -> tuple[Group, ...]:
    """The fields of a kind of port, whichever plugin brings it."""
    kinds = _kinds(document)
    clocks = tuple(str(clock.get("name", "")) for clock in _items(document, ("hardware", "clocks")))
    choices = {"kind": tuple(kinds), "clock": ("", *clocks)}
    first, *inner = groups_of(kinds[kind].port() if kind in kinds else Port, "Port", choices=choices, pairs=True)
    titles = _titles(document)
    fields = tuple(replace(field, notes=titles) if field.path == ("kind",) else field for field in first.fields)
    return replace(first, fields=fields), *inner


def _items(document: YamlDocument, path: Path_) -> list[Any]:
    items = document.value(path)
    return [item if isinstance(item, Mapping) else {} for item in items] if isinstance(items, list) else []


def _entry(number: int, entry: Mapping[str, Any]) -> DocumentPart:
    prototype = str(entry.get("prototype", ""))
    accesses = f"{entry['access']}s of {entry.get('of', '')}" if entry.get("access") else ""
    name = callee_name(prototype) or prototype[:24] or accesses or "new call"
    subtype = str(entry.get("subtype", ""))
    return DocumentPart(
        ("host", "entries", number),
        name + (f" ({subtype})" if subtype else ""),
        "",
        "host call",
        entry_groups(entry),
        removable=True,
        value=str(entry.get("kind", "")),
    )


def _table(name: str, table: Any) -> DocumentPart:
    points = table.get("points") if isinstance(table, Mapping) else None
    count = len(points) if isinstance(points, list) else 0
    note = counted(count, "size")
    return DocumentPart(("transfer_tables", name), name, note, "transfer table", TABLE, removable=True, named=True)


def _named(document: YamlDocument, key: str, what: str, groups: tuple[Group, ...]) -> tuple[DocumentPart, ...]:
    return tuple(
        DocumentPart((key, n), str(item.get("name", f"{what} {n + 1}")), "", what, groups, code=False, removable=True)
        for n, item in enumerate(_items(document, (key,)))
    )


def add_part(document: YamlDocument, what: str, kind: str = "") -> Path_ | None:
    """Add a part with the least that is valid, a port of a kind; its path, or None where that failed."""
    if what == "host call":
        count = len(_items(document, ("host", "entries")))
        new = {"prototype": f"int newCall{count + 1}(int argument)", "kind": "other"}
        return ("host", "entries", count) if document.append(("host", "entries"), new, "Add a host call") else None
    if what == QUEUE_CALL:
        count = len(_items(document, QUEUES))
        return (*QUEUES, count) if document.append(QUEUES, new_queue_call(count), "Add a call of a queue") else None
    if what in ("memory", "network"):
        key = "memories" if what == "memory" else "networks"
        count = len(_items(document, (key,)))
        return (key, count) if document.append((key,), {"name": f"New {what} {count + 1}"}, f"Add a {what}") else None
    if what == "board":
        board = {"banks": 1, "transaction_bytes": 64, "latency_cycles": {"other": 1}}
        return ("opencl",) if document.set(("opencl",), board, "Add a board for OpenCL") else None
    if what == "kernel clock":
        count = len(_items(document, KERNEL_CLOCKS))
        row = {"logic": 1, "least_clock_hz": "150 MHz", "most_clock_hz": "250 MHz"}
        return (*KERNEL_CLOCKS, count) if document.append(KERNEL_CLOCKS, row, "Add clocks of kernels") else None
    if what in ("hardware port", "clock"):
        return _add_hardware(document, what, kind)
    if what == "transfer table":
        return _add_table(document)
    taken = set(document.value(("host", "constants")) or {})
    name = next(n for k in range(1, 10_000) if (n := f"new_CONSTANT_{k}") not in taken)
    return ("host", "constants", name) if document.set(("host", "constants", name), 0, "Add a constant") else None


def _add_table(document: YamlDocument) -> Path_ | None:
    """One more table: the first is of sends, the next of receives, and all such calls without a table take it."""
    taken = document.value(("transfer_tables",)) or {}
    name = next(n for n in ("write", "read", *(f"new_table_{k}" for k in range(1, 10_000))) if n not in taken)
    kind = "receive" if name == "read" else "send"
    path: Path_ = ("transfer_tables", name)
    calls = [n for n, entry in enumerate(_items(document, ("host", "entries")))
             if name in ("write", "read") and entry.get("kind") == kind and not entry.get("transfer")]  # fmt: skip

    def edit(text: str) -> str:
        item = {"direction": kind, "points": [{"bytes": 4, "time_s": "10 us"}]}
        text = yaml_edit.set_value(text, path, item)
        for number in calls:
            text = yaml_edit.set_value(text, ("host", "entries", number, "transfer"), name)
        return text

    return path if document.apply("Add a transfer table", edit) else None


def rename_part(document: YamlDocument, path: Path_, name: str) -> bool:
    """Give a table or constant another name, which calls then refer to it by. False, with a notice, where it cannot."""
    calls = _items(document, ("host", "entries")) if path[0] == "transfer_tables" else []

    def edit(text: str) -> str:
        text = yaml_edit.rename_key(text, path, name)
        for number, entry in enumerate(calls):
            if entry.get("transfer") == path[-1]:
                text = yaml_edit.set_value(text, ("host", "entries", number, "transfer"), name)
        return text

    return document.apply(f"Rename {path[-1]}", edit)


def _add_hardware(document: YamlDocument, what: str, kind: str) -> Path_ | None:
    """One more clock or port; the first of either brings the other."""
    clocks, ports = (_items(document, ("hardware", part)) for part in ("clocks", "ports"))
    clock = {"name": f"clk{len(clocks) or ''}", "frequency_hz": "100 MHz", "reset": "rst"}
    kinds = _kinds(document)
    new_ports = new_port(kinds, kind or next(iter(kinds)), ports)
    part, have = ("clocks", clocks) if what == "clock" else ("ports", ports)

    def edit(text: str) -> str:
        for name, held, new in (("clocks", clocks, (clock,)), ("ports", ports, new_ports)):
            path = ("hardware", name)
            if held and name == part:
                text = yaml_edit.insert_item(text, path, len(held), *new)
            elif not held:
                text = yaml_edit.set_value(text, path, list(new))
        return text

    return ("hardware", part, len(have)) if document.apply(f"Add a {what}", edit) else None
