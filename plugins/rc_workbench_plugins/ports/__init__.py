"""The kinds of ports by which a platform reaches a design."""

from collections.abc import Callable, Sequence
from typing import Any

from rc_workbench_plugins.ports.names import AVALON_MM, AVALON_ST, AXI4, AXI_LITE, AXI_STREAM, MEMORY, WISHBONE
from workbench.api import Later, PortKind, hookimpl


def _class(place: str) -> Callable[[], Any]:
    return Later(f"{__name__}.{place}").load


# once for all projects, so that a template is read once
_KINDS = [
    PortKind("memory", "Memory style: an address and an enable for every word", _class("memory:MemoryPort"), MEMORY),
    PortKind("block", "Block transfer: a start, a count and a request", _class("memory:BlockPort")),
    PortKind("axi_lite", "AXI4-Lite", _class("bus:AxiLitePort"), AXI_LITE),
    PortKind("axi", "AXI4, bursts of consecutive words", _class("bus:AxiPort"), AXI4),
    PortKind.of_table("stream_in", "AXI4-Stream into the design", AXI_STREAM),
    PortKind.of_table("stream_out", "AXI4-Stream out of the design", AXI_STREAM, initiator=True),
    PortKind("avalon", "Avalon-MM", _class("bus:AvalonPort"), AVALON_MM),
    PortKind.of_table("avalon_st_in", "Avalon-ST into the design", AVALON_ST),
    PortKind.of_table("avalon_st_out", "Avalon-ST out of the design", AVALON_ST, initiator=True),
    PortKind("wishbone", "Wishbone B4, classic or pipelined", _class("wishbone:WishbonePort"), WISHBONE),
    PortKind("link_out", "Link to another FPGA", _class("links:LinkOutPort"), initiator=True),
    PortKind("link_in", "Link from another FPGA", _class("links:LinkInPort")),
    PortKind("memory_bank", "Memory on the card", _class("bank:CardMemory")),
    PortKind(
        "axi_master",
        "AXI4 master of the design's own, into memory on the card",
        _class("masters:AxiMasterPort"),
        AXI4,
        initiator=True,
    ),
    PortKind(
        "avalon_master",
        "Avalon-MM master of the design's own, into memory on the card",
        _class("masters:AvalonMasterPort"),
        AVALON_MM,
        initiator=True,
    ),
    PortKind(
        "memory_master",
        "Memory port of the design's own, into memory on the card",
        _class("masters:MemoryMasterPort"),
    ),
]


@hookimpl
def workbench_port_kinds() -> Sequence[PortKind]:
    return _KINDS
