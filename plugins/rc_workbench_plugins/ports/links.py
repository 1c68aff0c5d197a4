"""The ends of links between FPGAs, as the designs have them: streams with valid and ready."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from rc_workbench_plugins.ports.bus import BusPort, Roles
from workbench.api.ports import DRIVERS


class LinkPort(BusPort):
    """An end of a link. Its timing: resources/card/README.md, Links."""

    driver_header = DRIVERS / "link.h"
    addressed = False
    takes_transfers = False
    answers = False
    directions: ClassVar[tuple[str, str]]  # of what comes with a word, and of ready

    def roles(self) -> Roles:
        word, answer = self.directions
        return {
            "valid": (word, 1, False),
            "ready": (answer, 1, False),
            "data": (word, None, False),
            "last": (word, 1, True),
        }


class LinkOutPort(LinkPort):
    """Words that leave the design for another FPGA."""

    driver = "LinkOutPort"
    directions = ("output", "input")

    kind: str = Field("link_out", description="link_out")


class LinkInPort(LinkPort):
    """Words that come into the design from another FPGA."""

    driver = "LinkInPort"
    directions = ("input", "output")

    kind: str = Field("link_in", description="link_in")
