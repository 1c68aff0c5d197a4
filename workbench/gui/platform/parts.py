"""What the list at the left of Platform mode holds, read from the document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.api.forms import Group
from workbench.formats.platform_file import callee_name
from workbench.formats.units import written
from workbench.gui.forms.fields import groups_of
from workbench.gui.forms.parts import Part, Section
from workbench.gui.platform.fields import (
    BOARD,
    CLOCK,
    ENTRY,
    MACHINE,
    MEMORY,
    NETWORK,
    PORT_1,
    TABLE,
    TRANSFERS,
)
from workbench.model.hardware import Port
from workbench.session.platform_document import PlatformDocument
from workbench.session.yaml_document import Path_, YamlDocument


def sections_of(document: YamlDocument) -> tuple[Section, ...]:
    """Every part of the document, in the order of the list."""
    entries = _items(document, ("host", "entries"))
    tables = document.value(("transfer_tables",))
    constants = document.value(("host", "constants"))
    hardware = document.value(("hardware",))
    machine = Part((), "Platform and device", "", "platform", MACHINE, code=False)
    transfers = Part(
        ("host", "transfers"), "Counter read-out", "", "how the workbench itself moves data", TRANSFERS, code=False
    )
    ports: tuple[Part, ...] = ()
    new = not isinstance(hardware, Mapping) or "ports" in hardware or "clocks" in hardware
    if isinstance(hardware, Mapping) and not new:
        clock = document.number(("hardware", "clock_hz"), "Hz")
        note = f"{hardware.get('style', 'memory')}, {written(clock, 'Hz')}" if clock else str(hardware.get("style", ""))
        ports = (Part(("hardware",), "Port and clock", note, "hardware port", PORT_1, code=False),)
    return (
        Section("Machine", (machine, transfers)),
        Section("Host calls", tuple(_entry(n, e) for n, e in enumerate(entries)), "host call"),
        *((Section("Hardware port", ports),) if ports else _hardware(document)),
        Section("Transfer times", tuple(_table(str(n), t) for n, t in (tables or {}).items()), "transfer table"),
        Section("Memories", _named(document, "memories", "memory", MEMORY), "memory"),
        Section("Networks", _named(document, "networks", "network", NETWORK), "network"),
        Section("OpenCL", _board(document), "" if document.value(("opencl",)) else "board"),
        Section(
            "Constants",
            tuple(
                Part(("host", "constants", str(n)), str(n), str(v), "constant", (), removable=True)
                for n, v in (constants or {}).items()
            ),
            "constant",
        ),
    )


def _board(document: YamlDocument) -> tuple[Part, ...]:
    if not isinstance(document.value(("opencl",)), Mapping):
        return ()
    return (Part(("opencl",), "Board", "", "board", BOARD, code=False, removable=True),)


def _hardware(document: YamlDocument) -> tuple[Section, ...]:
    clocks = tuple(
        Part(("hardware", "clocks", n), str(item.get("name", "clock")), str(item.get("frequency_hz", "")), "clock",
             CLOCK, removable=True)
        for n, item in enumerate(_items(document, ("hardware", "clocks")))
    )  # fmt: skip
    ports = tuple(
        Part(("hardware", "ports", n), str(item.get("name", "host")), str(item.get("kind", "")), "hardware port",
             _port_groups(document, str(item.get("kind", ""))), removable=True)
        for n, item in enumerate(_items(document, ("hardware", "ports")))
    )  # fmt: skip
    return Section("Clocks", clocks, "clock"), Section("Hardware ports", ports, "hardware port")


def _port_groups(document: YamlDocument, kind: str) -> tuple[Group, ...]:
    kinds = document.port_kinds if isinstance(document, PlatformDocument) else {}
    return groups_of(kinds[kind].port() if kind in kinds else Port, "Port", choices={"kind": tuple(kinds)})


def _items(document: YamlDocument, path: Path_) -> list[Any]:
    found = document.value(path)
    return [item if isinstance(item, Mapping) else {} for item in found] if isinstance(found, list) else []


def _entry(number: int, entry: Mapping[str, Any]) -> Part:
    prototype = str(entry.get("prototype", ""))
    name = callee_name(prototype) or prototype[:24] or "new call"
    subtype = str(entry.get("subtype", ""))
    note = str(entry.get("kind", ""))
    return Part(
        ("host", "entries", number),
        name + (f" ({subtype})" if subtype else ""),
        note,
        "host call",
        ENTRY,
        removable=True,
    )


def _table(name: str, table: Any) -> Part:
    points = table.get("points") if isinstance(table, Mapping) else None
    count = len(points) if isinstance(points, list) else 0
    note = f"{count} size{'' if count == 1 else 's'}"
    return Part(("transfer_tables", name), name, note, "transfer table", TABLE, removable=True)


def _named(document: YamlDocument, key: str, what: str, groups: tuple[Group, ...]) -> tuple[Part, ...]:
    return tuple(
        Part((key, n), str(item.get("name", f"{what} {n + 1}")), "", what, groups, code=False, removable=True)
        for n, item in enumerate(_items(document, (key,)))
    )


def add_part(document: YamlDocument, what: str) -> Path_ | None:
    """Add a part with the least that is valid; its path, or None where that failed."""
    if what == "host call":
        count = len(_items(document, ("host", "entries")))
        new = {"prototype": f"int newCall{count + 1}(int argument)", "kind": "other"}
        return ("host", "entries", count) if document.append(("host", "entries"), new, "Add a host call") else None
    if what in ("memory", "network"):
        key = "memories" if what == "memory" else "networks"
        count = len(_items(document, (key,)))
        return (key, count) if document.append((key,), {"name": f"New {what} {count + 1}"}, f"Add a {what}") else None
    if what == "board":
        board = {"banks": 1, "transaction_bytes": 64, "latency_cycles": {"other": 1}}
        return ("opencl",) if document.set(("opencl",), board, "Add a board for OpenCL") else None
    if what in ("hardware port", "clock"):
        return _add_hardware(document, what)
    key, value = ("transfer_tables", None) if what == "transfer table" else ("host", 0)
    path: Path_ = (key,) if value is None else ("host", "constants")
    taken = set(document.value(path) or {})
    name = next(
        n for k in range(1, 10_000) if (n := f"new_{'table' if value is None else 'CONSTANT'}_{k}") not in taken
    )
    item = {"direction": "send", "points": [{"bytes": 4, "time_s": "10 us"}]} if value is None else 0
    return (*path, name) if document.set((*path, name), item, f"Add a {what}") else None


def _add_hardware(document: YamlDocument, what: str) -> Path_ | None:
    """One more clock or port; the first of either brings the other."""
    clocks, ports = (_items(document, ("hardware", part)) for part in ("clocks", "ports"))
    clock = {"name": f"clk{len(clocks) or ''}", "frequency_hz": "100 MHz", "reset": "rst"}
    port = {
        "name": f"port{len(ports)}" if ports else "host", "kind": "memory",
        "write_enable": "wr_en", "read_enable": "rd_en",
        "incoming": {"data_signal": "wr_data", "address_signal": "addr", "condition_hdl": "wr_en"},
        "outgoing": {"data_signal": "rd_data", "address_signal": "addr", "condition_hdl": "rd_en"},
    }  # fmt: skip
    part, have = ("clocks", clocks) if what == "clock" else ("ports", ports)
    if not clocks and not ports:
        new = document.set(("hardware",), {"clocks": [clock], "ports": [port]}, "Add the hardware port")
    else:
        new = document.append(("hardware", part), clock if what == "clock" else port, f"Add a {what}")
    return ("hardware", part, len(have)) if new else None
