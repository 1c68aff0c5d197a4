"""The kinds of ports by which a platform reaches a design."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.api import PortKind, hookimpl

if TYPE_CHECKING:
    from workbench.api.ports import HardwarePort


def _memory() -> type[HardwarePort]:
    from rc_workbench_plugins.ports.memory import MemoryPort

    return MemoryPort


def _block() -> type[HardwarePort]:
    from rc_workbench_plugins.ports.memory import BlockPort

    return BlockPort


@hookimpl
def workbench_port_kinds() -> Sequence[PortKind]:
    return [
        PortKind("memory", "Memory style: an address and an enable for every word", _memory),
        PortKind("block", "Block transfer: a start, a count and a request", _block),
    ]
