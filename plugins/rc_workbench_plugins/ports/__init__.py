"""The kinds of ports by which a platform reaches a design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, cast

from rc_workbench_plugins.ports.names import AVALON_MM, AXI4, AXI_LITE, AXI_STREAM, MEMORY
from workbench.api import PortKind, hookimpl

if TYPE_CHECKING:
    from workbench.api.ports import HardwarePort


def _class(module: str, name: str) -> Callable[[], type[HardwarePort]]:
    """Imported when it is first used."""
    return lambda: cast("type[HardwarePort]", getattr(import_module(f"rc_workbench_plugins.ports.{module}"), name))


@hookimpl
def workbench_port_kinds() -> Sequence[PortKind]:
    return [
        PortKind(
            "memory", "Memory style: an address and an enable for every word", _class("memory", "MemoryPort"), MEMORY
        ),
        PortKind("block", "Block transfer: a start, a count and a request", _class("memory", "BlockPort")),
        PortKind("axi_lite", "AXI4-Lite", _class("bus", "AxiLitePort"), AXI_LITE),
        PortKind("axi", "AXI4, bursts of consecutive words", _class("bus", "AxiPort"), AXI4),
        PortKind("stream_in", "AXI4-Stream into the design", _class("bus", "StreamInPort"), AXI_STREAM),
        PortKind(
            "stream_out", "AXI4-Stream out of the design", _class("bus", "StreamOutPort"), AXI_STREAM, initiator=True
        ),
        PortKind("avalon", "Avalon-MM", _class("bus", "AvalonPort"), AVALON_MM),
        PortKind("memory_bank", "Memory on the card", _class("bank", "CardMemory")),
        PortKind(
            "axi_master",
            "AXI4 master of the design's own, into memory on the card",
            _class("bank", "AxiMasterPort"),
            AXI4,
            initiator=True,
        ),
    ]
