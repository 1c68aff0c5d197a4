"""The platform's clocks and port signals that an instrumented design needs."""

from collections.abc import Iterator

from workbench.api.ports import HardwarePort
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.hardware import Clock, Hardware
from workbench.model.platform import Platform


def clocks_by_pin(hardware: Hardware) -> dict[str, Clock]:
    """The platform's clocks by their ports at the top. What one without a reset drives comes out of reset with the
    rest."""
    first = hardware.clocks[0]
    of_first = {"reset": first.reset, "reset_hdl": first.reset_hdl}
    return {clock.pin: clock if clock.reset else clock.model_copy(update=of_first) for clock in hardware.clocks}


def hardware_of(platform: Platform) -> Hardware:
    """WorkbenchError where the platform has none."""
    if platform.hardware is None:
        message = f"the platform '{platform.name}' describes no hardware port"
        raise WorkbenchError(Diagnostic(message, "Add its section `hardware`."))
    return platform.hardware


def outside(hardware: Hardware) -> Iterator[str]:
    """The top's signals by which the platform's ports and the host go on: all but data."""
    if hardware.interrupt:
        yield hardware.interrupt
    for port in hardware.ports:
        if isinstance(port, HardwarePort):
            yield from (signal.name for signal in port.signals().values() if signal.bits == 1 or not signal.bits)
