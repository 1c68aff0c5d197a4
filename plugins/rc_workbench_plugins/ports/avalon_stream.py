"""Avalon-ST ports with a ready latency of 0 (Intel, Avalon Interface Specifications): as AXI4-Stream's, by other names,
with the start of a packet told as well as its end."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from rc_workbench_plugins.ports.bus import Roles, StreamInPort, StreamOutPort

_DRIVER_ROLES = {"data": "tdata", "valid": "tvalid", "ready": "tready", "endofpacket": "tlast"}


def _roles(word_bits: int, forth: str, back: str, ends: bool = False) -> Roles:
    return {
        "data": (forth, word_bits, False),
        "valid": (forth, 1, False),
        "ready": (back, 1, True),
        "startofpacket": (forth, 1, True),
        "endofpacket": (forth, 1, not ends),
        "empty": (forth, None, True),
    }


class AvalonStreamInPort(StreamInPort):
    """Avalon-ST into the design."""

    driver_roles = _DRIVER_ROLES

    kind: str = Field("avalon_st_in", description="avalon_st_in")

    def roles(self) -> Roles:
        return _roles(self.word_bits, "input", "output")

    def constants(self) -> Mapping[str, int]:
        return {**super().constants(), "starts": 1}


class AvalonStreamOutPort(StreamOutPort):
    """Avalon-ST out of the design."""

    driver_roles = _DRIVER_ROLES

    kind: str = Field("avalon_st_out", description="avalon_st_out")

    def roles(self) -> Roles:
        return _roles(self.word_bits, "output", "input", ends=self.packets)
