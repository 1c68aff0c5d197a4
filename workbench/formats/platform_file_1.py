"""Platform templates of schema version 1: one memory-style or block port, with its clock, reset and interrupt in it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import Field, PositiveFloat, PositiveInt

from workbench.formats.yaml_marks import Marked, Path
from workbench.model.document import Document
from workbench.model.hardware import PortDirection
from workbench.model.platform import Platform


class PortStyle(StrEnum):
    MEMORY = "memory"
    BLOCK = "block"


class HardwarePort1(Document):
    """The hardware side of a platform (section 3.2).

    Memory style: an address and an enable for every word. Block style: a starting address, a word count and a request;
    the transfer ends when the count reaches 0.
    """

    style: PortStyle = Field(
        PortStyle.MEMORY,
        description="an address and an enable for every word (memory), or a start, a count and a request (block)",
    )
    word_bits: PositiveInt = Field(32, description="width of a data word")
    address_bits: PositiveInt = Field(32, description="width of an address")
    address_unit_bytes: PositiveInt = Field(4, description="bytes per step of the address")
    write_enable: str = Field("", description="the write enable's signal; needed in memory style")
    read_enable: str = Field("", description="the read enable's signal; needed in memory style")
    incoming: PortDirection = Field(description="from the host to the FPGA")
    outgoing: PortDirection = Field(description="from the FPGA to the host")
    word_count_signal: str = Field(
        "", description="the signal with the words that remain; needed in block style", examples=["words_left"]
    )
    request_hdl: str = Field(
        "",
        description="HDL: condition for a transfer request of the host; needed in block style",
        examples=["dma_req && dma_ack"],
    )
    address_tracked: bool = Field(True, description="whether the address signal is kept up to date for every word")
    clock: str = Field(description="the clock's signal")
    clock_hz: PositiveFloat = Field(description="the clock's frequency")
    reset: str = Field(description="the reset's signal")
    reset_hdl: str = Field(
        "", description="HDL: when the design is in reset; empty: the reset signal is high", examples=["!rst_n"]
    )
    interrupt: str = Field("", description="the interrupt's signal")


class Platform1(Platform):
    hardware: HardwarePort1 | None = Field(None)  # type: ignore[assignment]


_MOVED = {
    "clock": ("clocks", 0, "name"),
    "clock_hz": ("clocks", 0, "frequency_hz"),
    "reset": ("clocks", 0, "reset"),
    "reset_hdl": ("clocks", 0, "reset_hdl"),
    "interrupt": ("interrupt",),
    "style": ("ports", 0, "kind"),
}
_OF_BLOCK = ("word_count_signal", "request_hdl", "address_tracked")


def upgraded(marked: Marked) -> Marked:
    """The document as one of version 2: one clock, and one port named `host`. What is moved keeps its places."""
    old = marked.data.get("hardware")
    if not isinstance(old, dict):
        return marked
    clock: dict[str, Any] = {}
    port: dict[str, Any] = {"kind": PortStyle.MEMORY.value}
    new: dict[str, Any] = {"clocks": [clock], "ports": [port]}
    other_style = _OF_BLOCK if old.get("style", PortStyle.MEMORY) == PortStyle.MEMORY else ()
    for key, value in old.items():
        if key in other_style:
            continue
        place = _place(key)
        inside: Any = new
        for part in place[:-1]:
            inside = inside[part]
        inside[place[-1]] = value
    keys, values = (_moved(marks) for marks in (marked.keys, marked.values))
    return Marked(marked.file, {**marked.data, "hardware": new}, keys, values)


def _place(key: str) -> Path:
    return _MOVED.get(key, ("ports", 0, key))


def _moved(marks: Mapping[Path, Any]) -> dict[Path, Any]:
    return {
        (path[0], *_place(str(path[1])), *path[2:]) if path[:1] == ("hardware",) and len(path) > 1 else path: span
        for path, span in marks.items()
    }
