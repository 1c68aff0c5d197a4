"""Adds a separate port for the monitors if no port of the platform can read them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.api.brought import brought
from workbench.api.ports import HardwarePort, MonitorFront
from workbench.model.hardware import PortDirection
from workbench.model.read_out import ReadOut

if TYPE_CHECKING:
    from workbench.api.instrument.wrapper import TopPort

OWN_ADDRESS_BITS, OWN_ADDRESSES = 2, ReadOut(first=0, last=3)  # of a port of the monitors' own


def own_port(name: str, clock: str) -> tuple[HardwarePort, MonitorFront]:
    """What a design is given that has no port on a clock behind which monitors could stand: a port of their own, and
    their place behind it. Its signals' names begin with its own."""
    prefix = f"{name}_"
    incoming = PortDirection(
        data_signal=f"{prefix}written", address_signal=f"{prefix}address", condition_hdl=f"{prefix}write"
    )
    outgoing = PortDirection(
        data_signal=f"{prefix}data", address_signal=f"{prefix}address", condition_hdl=f"{prefix}read", delay_cycles=1
    )
    memory = next(kind for kind in brought("port_kinds") if kind.name == "memory").port()
    fields: dict[str, Any] = {
        "name": name,
        "clock": clock,
        "address_bits": OWN_ADDRESS_BITS,
        "write_enable": f"{prefix}write",
        "read_enable": f"{prefix}read",
        "incoming": incoming,
        "outgoing": outgoing,
    }
    port = memory(**fields)
    front = port.monitor(OWN_ADDRESSES, {})
    assert front is not None
    return port, replace(front, taken=(), connections={**front.connections, "user_data": "32'd0"})


def own_ports(port: HardwarePort) -> tuple[TopPort, ...]:
    """What the new top has of the monitors' own port."""
    from workbench.api.instrument.wrapper import TopPort  # with NumPy, which a check of a template does without

    return tuple(
        TopPort(signal.name, signal.direction, f"[{bits - 1}:0]" if bits > 1 else "")
        for signal, bits in (
            (signal, signal.bits or (OWN_ADDRESS_BITS if "address" in role else 1))
            for role, signal in port.signals().items()
            if role != "read_address"  # the same as of writing
        )
    )
