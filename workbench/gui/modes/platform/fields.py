"""The fields of a platform template's parts, by their schemas; fields of calls and of the machine in groups."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from workbench.api.forms import Field, Group
from workbench.formats.platform_file_1 import HardwarePort1
from workbench.gui.modes.forms.fields import fields_of, groups_of
from workbench.model.hardware import Clock
from workbench.model.kernel_board import KernelBoard, KernelClock
from workbench.model.network import OF_NODES, Network
from workbench.model.platform import CallKind, Device, Memory, Transfers, TransferTable

KIND_NOTES = {
    "configure": "loads a bit file", "acquire": "opens the FPGA", "send": "moves data to the FPGA",
    "receive": "moves data from the FPGA", "wait": "waits for a transfer", "interrupt": "waits for an interrupt",
    "release": "closes the FPGA", "other": "anything else",
}  # fmt: skip
#: Which of an entry's fields apply to each kind of call; those of `ENTRY` that are in no kind's apply to all.
_MOVES = ("fpga", "bytes", "address", "data", "returns", "transfer", "asynchronous")
APPLY = {
    CallKind.CONFIGURE: ("fpga", "files", "bytes"), CallKind.ACQUIRE: ("fpga", "opens", "mapped_bytes", "address"),
    CallKind.SEND: _MOVES, CallKind.RECEIVE: _MOVES, CallKind.OTHER: ("fpga", "opens", "mapped_bytes", "address"),
    CallKind.WAIT: ("fpga",), CallKind.INTERRUPT: ("fpga",), CallKind.RELEASE: ("fpga",),
}  # fmt: skip
REASONS = ("data", "ctrl", "ack", "late_sender", "initialize", "finalize")

ENTRY = (
    Group("Call", "", (
        Field(("prototype",), "Declaration", "long", "as in the API's header"),
        Field(("access",), "Pointer access", "choice", "through pointers into a mapping", ("", "read", "write")),
        Field(("kind",), "Kind", "choice", choices=tuple(k.value for k in CallKind), notes=KIND_NOTES),
        Field(("condition",), "Only when", "code", "C expression; empty: always"),
        Field(("subtype",), "Label", "text", "separates conditional entries"),
        Field(("of",), "Handle", "code", "only calls on an object opened under this name: h2c, or h2c|c2h"),
    )),
    Group("Arguments", "C expressions over the arguments", (
        Field(("fpga",), "FPGA number", "code"),
        Field(("bytes",), "Bytes", "code"),
        Field(("address",), "Address", "code"),
        Field(("data",), "Data", "code", "the parameter with the data; empty: the only one that fits"),
        Field(("returns",), "Returns", "code", "on the simulated card; empty: 0, or the bytes moved (ssize_t)"),
        Field(("files",), "File names", "code"),
        Field(("opens",), "Opens", "code", "the name of the object that the call opens: h2c, or *handle is bar0"),
        Field(("mapped_bytes",), "Mapped bytes", "code", "the size of the mapping that it opens"),
    )),
    Group("Time", "", (
        Field(("transfer",), "Transfer time", "table"),
        Field(("asynchronous",), "Returns early", "check", "the transfer continues after the call returns"),
        Field(("reason",), "Usual reason", "choice", "a pragma can override it", ("", *REASONS)),
        Field(("inline",), "In the header", "check", "its code is in the header, not in a library", aside=True),
    )),
    Group("Suggestion", "advice shown with findings on this call", (
        Field(("suggestion",), "", "prose"),
        Field(("suggestion_from_bytes",), "From bytes", "unit", "average bytes of a call; empty: any"),
        Field(("suggestion_to_bytes",), "Up to bytes", "unit"),
        Field(("suggestion_from_calls",), "From calls", "unit", "calls in the run; empty: any"),
    )),
)  # fmt: skip


def entry_groups(entry: Mapping[str, Any]) -> tuple[Group, ...]:
    """The fields of a host API entry: those that do not apply to its kind are aside."""
    return _entry_groups(
        str(entry.get("kind", "")), *(bool(entry.get(n)) for n in ("access", "prototype", "suggestion"))
    )


@lru_cache(maxsize=64)
def _entry_groups(kind: str, has_access: bool, has_prototype: bool, has_suggestion: bool) -> tuple[Group, ...]:
    names = {name for of in APPLY.values() for name in of}
    names -= set(APPLY[CallKind(kind)] if kind in APPLY else names)
    names |= {"prototype", "inline"} if has_access else set()
    names |= {"access"} if has_prototype else set()
    if not has_suggestion:
        names |= {"suggestion_from_bytes", "suggestion_to_bytes", "suggestion_from_calls"}
    return tuple(
        replace(group, fields=tuple(replace(f, aside=f.aside or f.path[0] in names) for f in group.fields))
        for group in ENTRY
    )


MACHINE = (
    Group("Platform", "", (
        Field(("name",), "Name", "code"),
        Field(("title",), "Title"),
        Field(("cpu",), "Processor"),
        Field(("description",), "Description", "prose"),
    )),
    Group("Device", "the FPGA on the card", tuple(fields_of(Device, ("device",)))),
    Group("Suggestions", "shown with findings of the whole application, one per line", (
        Field(("suggestions",), "", "lines"),
    )),
)  # fmt: skip

HOST = (
    Group("Header", "how programs include the API", (
        Field(("include_lines",), "Include lines", "lines", "one per line"),
        Field(("api_dir",), "Its folder", "code", "beside this file", picks="folder"),
        Field(("exclude_files",), "Not instrumented", "lines", "the API's own sources, one per line", picks="files"),
    )),
    Group("Library", "C files that replace it on the simulated card; empty: generated from the calls", (
        Field(("api",), "As template", "code", "whose API this is"),
        Field(("api_sources",), "C files", "lines", "one per line, beside this file", picks="files"),
        Field(("lacks",), "Missing calls", "pairs", "with what to do instead of each"),
    )),
)  # fmt: skip
TRANSFERS = groups_of(Transfers, "How the workbench moves data", "C over data, address, words, bytes, index")
PORT_1 = groups_of(HardwarePort1, "Port, clock and reset", "the ports of the application's top module")
TABLE = groups_of(TransferTable, "Transfer table", choices={"direction": ("send", "receive")})
MEMORY = groups_of(Memory, "Memory")
NETWORK = groups_of(Network, "Network", "LogGP; describe different nodes in the file", hidden=tuple(OF_NODES.values()))
CLOCK = groups_of(Clock, "Clock")
KERNEL_CLOCK = groups_of(KernelClock, "Clocks of built kernels", "of kernels that take up to a share of the logic")
BOARD = groups_of(KernelBoard, "Board under OpenCL")
