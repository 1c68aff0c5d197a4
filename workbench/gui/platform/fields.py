"""Which fields the parts of a platform template have, in which order; those of clocks and ports from their schema."""

from __future__ import annotations

from enum import EnumType
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from workbench.api.forms import Field, Group
from workbench.formats.platform_file_1 import PortStyle
from workbench.formats.units import unit_of_name
from workbench.model.hardware import Clock, Port
from workbench.model.platform import CallKind, InstructionCycles, KernelBoard
from workbench.model.text import title_of

KIND_NOTES = {
    "configure": "loads a bit file", "acquire": "opens the FPGA", "send": "moves data to the FPGA",
    "receive": "moves data from the FPGA", "wait": "waits for a transfer", "interrupt": "waits for an interrupt",
    "release": "closes the FPGA", "other": "anything else",
}  # fmt: skip
REASONS = ("data", "ctrl", "ack", "late_sender", "initialize", "finalize")

ENTRY = (
    Group("Prototype", "", (
        Field(("prototype",), "Declaration", "long", "as in the API's header"),
        Field(("kind",), "Kind", "choice", choices=tuple(k.value for k in CallKind), notes=KIND_NOTES),
        Field(("condition",), "Only when", "code", "C over the arguments; empty: always"),
        Field(("subtype",), "Label", "text", "tells conditional entries apart"),
    )),
    Group("What it tells", "C expressions over the arguments", (
        Field(("fpga",), "FPGA number", "code"),
        Field(("bytes",), "Bytes", "code"),
        Field(("address",), "Address", "code"),
        Field(("data",), "Data", "code", "where they are; empty: the one parameter that fits"),
        Field(("files",), "File names", "code"),
        Field(("transfer",), "Transfer time", "table"),
        Field(("reason",), "Usual reason", "choice", "a pragma can override it", ("", *REASONS)),
        Field(("asynchronous",), "Returns early", "check", "the transfer goes on after the call"),
    )),
    Group("Suggestion", "shown with findings on this call", (
        Field(("suggestion",), "", "prose"),
        Field(("suggestion_from_bytes",), "From bytes", "unit", "in one call, on average; empty: any"),
        Field(("suggestion_to_bytes",), "Up to bytes", "unit"),
        Field(("suggestion_from_calls",), "From calls", "unit", "how many the run makes; empty: any"),
    )),
)  # fmt: skip

TRANSFERS = (
    Group("Sizes", "", (
        Field(("minimum_bytes",), "Smallest", "unit"),
        Field(("maximum_bytes",), "Largest", "unit", "empty: no limit"),
        Field(("size_multiplier",), "Multiple of", "number"),
        Field(("data_type",), "Data type", "code"),
    )),
    Group("How the counters are read", "C over data, address, words, bytes, index, result", (
        Field(("send_c",), "Send", "code"),
        Field(("receive_c",), "Receive", "code"),
        Field(("allocate_c",), "Allocate", "code"),
        Field(("free_c",), "Free", "code"),
        Field(("access_c",), "One word", "code"),
    )),
    Group("Errors", "", (
        Field(("send_error_c",), "Send failed when", "code"),
        Field(("receive_error_c",), "Receive failed when", "code"),
    )),
)  # fmt: skip

PORT = (
    Group("Port", "the application's top level as the card sees it", (
        Field(("style",), "Style", "choice", "a word at a time, or blocks", tuple(s.value for s in PortStyle)),
        Field(("word_bits",), "Word", "number", "bits"),
        Field(("address_bits",), "Address", "number", "bits"),
        Field(("address_unit_bytes",), "Address counts", "number", "bytes"),
        Field(("address_tracked",), "Address tracked", "check", "each word has its own address", default=True),
    )),
    Group("Memory style", "", (
        Field(("write_enable",), "Write enable", "code"),
        Field(("read_enable",), "Read enable", "code"),
    )),
    Group("Block style", "", (
        Field(("word_count_signal",), "Word count", "code"),
        Field(("request_hdl",), "Request", "code"),
    )),
    *(Group(title, note, (
        Field((part, "data_signal"), "Data signal", "code"),
        Field((part, "address_signal"), "Address signal", "code"),
        Field((part, "condition_hdl"), "Condition", "code"),
        Field((part, "action_hdl"), "Action", "code"),
        Field((part, "delay_cycles"), "Delay", "number", "cycles"),
    )) for part, title, note in (("incoming", "Incoming", "host to FPGA"), ("outgoing", "Outgoing", "FPGA to host"))),
    Group("Clock and reset", "", (
        Field(("clock",), "Clock", "code"),
        Field(("clock_hz",), "Frequency", "unit"),
        Field(("reset",), "Reset", "code"),
        Field(("reset_hdl",), "In reset when", "code", "empty: the signal is high"),
        Field(("interrupt",), "Interrupt", "code"),
    )),
)  # fmt: skip

TABLE = (
    Group("Transfer table", "", (
        Field(("title",), "Title"),
        Field(("direction",), "Direction", "choice", choices=("send", "receive")),
        Field(("resource",), "Bus", "text", "shared by tables that name the same"),
        Field(("port",), "Port", "code", "the name of the port; empty: the first"),
        Field(("overlaps",), "Overlaps", "check", "several can be under way at once"),
        Field(("holds_core",), "Holds a core", "check", "the processor does nothing else meanwhile"),
    )),
)  # fmt: skip

MACHINE = (
    Group("Platform", "", (
        Field(("name",), "Name", "code"),
        Field(("title",), "Title"),
        Field(("cpu",), "Processor"),
        Field(("description",), "Description", "prose"),
    )),
    Group("Device", "the FPGA on the card", (
        Field(("device", "name"), "Name"),
        Field(("device", "luts"), "Look-up tables", "number"),
        Field(("device", "registers"), "Registers", "number"),
        Field(("device", "block_ram_bits"), "Block RAM", "number", "bits"),
        Field(("device", "yosys_family"), "Yosys family", "code"),
    )),
    Group("Host sources", "", (
        Field(("host", "include_lines"), "Includes", "lines", "one a line"),
        Field(("host", "exclude_files"), "Not instrumented", "lines", "one file a line"),
    )),
    Group("Suggestions", "shown with findings of the whole application, one a line", (
        Field(("suggestions",), "", "lines"),
    )),
)  # fmt: skip

MEMORY = (
    Group("Memory", "", (
        Field(("name",), "Name"),
        Field(("bytes",), "Size", "unit"),
        Field(("bandwidth_bytes_per_s",), "Bandwidth", "unit"),
        Field(("latency_s",), "Latency", "unit"),
        Field(("note",), "Note", "prose"),
    )),
)  # fmt: skip

NETWORK = (
    Group("Network", "LogGP", (
        Field(("name",), "Name"),
        Field(("latency_s",), "Latency", "unit"),
        Field(("overhead_s",), "Overhead", "unit"),
        Field(("gap_s",), "Gap", "unit"),
        Field(("gap_per_byte_s",), "Gap a byte", "unit"),
        Field(("reduction_per_byte_s",), "Reduction a byte", "unit"),
        Field(("source",), "Source", "prose"),
    )),
)  # fmt: skip


def clock_groups() -> tuple[Group, ...]:
    return (Group("Clock", "", _fields(Clock, ())),)


def board_groups() -> tuple[Group, ...]:
    latency = Group("Latency of instructions", "Table 2", _fields(InstructionCycles, ("latency_cycles",)))
    return Group("Board under OpenCL", "", _fields(KernelBoard, ())), latency


def port_groups(port: type[Port], kinds: tuple[str, ...]) -> tuple[Group, ...]:
    """The port's own fields, then a group for each part that has fields itself."""
    parts = [(name, _model(info.annotation)) for name, info in port.model_fields.items()]
    inner = [Group(title_of(name), "", _fields(model, (name,))) for name, model in parts if model]
    return (Group("Port", "", _fields(port, (), kinds)), *inner)


def _fields(model: type[BaseModel], above: tuple[str, ...], kinds: tuple[str, ...] = ()) -> tuple[Field, ...]:
    return tuple(
        _field(name, info, above, kinds)
        for name, info in model.model_fields.items()
        if not _model(info.annotation) and get_origin(info.annotation) is not dict  # written by hand
    )


def _field(name: str, info: Any, above: tuple[str, ...], kinds: tuple[str, ...]) -> Field:
    path, label, note = (*above, name), title_of(name), info.description or ""
    if name == "kind" and kinds:
        return Field(path, label, "choice", choices=kinds)
    if isinstance(info.annotation, EnumType):
        return Field(path, label, "choice", note, tuple(map(str, info.annotation.__members__.values())))
    if info.annotation is bool:
        return Field(path, label, "check", note, default=bool(info.default))
    if info.annotation is str:
        return Field(path, label, "code", note)
    return Field(path, label, "unit" if unit_of_name(name) else "number", note)


def _model(annotation: Any) -> type[BaseModel] | None:
    members = (annotation, *get_args(annotation))
    return next((m for m in members if isinstance(m, type) and issubclass(m, BaseModel)), None)
