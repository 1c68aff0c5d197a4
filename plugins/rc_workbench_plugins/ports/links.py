"""The ends of links between FPGAs, as the designs have them: streams with valid and ready."""

from pydantic import Field

from rc_workbench_plugins.ports.names import LINK
from workbench.api import TablePort
from workbench.api.ports import DRIVERS


class LinkPort(TablePort):
    """An end of a link. Its timing: resources/card/README.md, Links."""

    style = LINK
    driver_header = DRIVERS / "link.h"
    addressed = False
    takes_transfers = False
    answers = False


class LinkOutPort(LinkPort):
    """Words that leave the design for another FPGA."""

    driver = "LinkOutPort"
    initiator = True

    kind: str = Field("link_out", description="link_out")


class LinkInPort(LinkPort):
    """Words that come into the design from another FPGA."""

    driver = "LinkInPort"

    kind: str = Field("link_in", description="link_in")
