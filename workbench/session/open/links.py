"""Links between a project's FPGAs: the streams and ports that each FPGA's design and platform need for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.model.application import StreamSignals
from workbench.model.diagnostic import Diagnostic, WorkbenchError, near
from workbench.model.links import link_words

if TYPE_CHECKING:
    from workbench.api import PortKind
    from workbench.model.application import HardwareSources
    from workbench.model.links import Link
    from workbench.model.platform import Platform

Place = Callable[[tuple[str | int, ...], Diagnostic], Diagnostic]


@dataclass(frozen=True)
class LinkEnd:
    """An end of a link at an FPGA: the link's number, "source" or "target", and the signals of the top."""

    link: int
    side: str
    signals: str

    @property
    def words(self) -> str:
        return link_words(self.signals)

    @property
    def port(self) -> str:
        """The name of the port at this end."""
        return f"link {self.words}"

    def named(self, role: str) -> str:
        return self.signals.replace("*", role)


def ends_at(hardware: HardwareSources, fpga: str) -> tuple[LinkEnd, ...]:
    """The ends of links at the FPGA of that name, in an order that only depends on its design."""
    ends = (
        LinkEnd(number, side, signals)
        for number, link in enumerate(hardware.links)
        for side, end in (("source", link.source), ("target", link.target))
        for name, _, signals in (end.partition("."),)
        if name == fpga
    )
    return tuple(sorted(ends, key=lambda end: (end.side, end.signals)))


def with_ends(
    design: HardwareSources, platform: Platform, ends: tuple[LinkEnd, ...], kinds: Mapping[str, PortKind]
) -> tuple[HardwareSources, Platform]:
    """The design with streams, and the platform with ports, for the ends of links."""
    if not ends or platform.hardware is None:
        return design, platform
    streams = (StreamSignals(name=end.words, valid=end.named("valid"), ready=end.named("ready")) for end in ends)
    roles = ("valid", "ready", "data", "last")
    ports = (
        kinds["link_out" if end.side == "source" else "link_in"]
        .port()
        .model_validate({"name": end.port, "names": {role: end.named(role) for role in roles}})
        for end in ends
    )
    hardware = platform.hardware.model_copy(update={"ports": (*platform.hardware.ports, *ports)})
    return (
        design.model_copy(update={"streams": (*design.streams, *streams)}),
        platform.model_copy(update={"hardware": hardware}),
    )


def check_networks(hardware: HardwareSources, platform: Platform, place: Place) -> None:
    """Raise WorkbenchError for a network that the template does not have."""
    network_names = [network.name for network in platform.networks]
    problems = list(_unknown(hardware.links, network_names, platform, place))
    if problems:
        raise WorkbenchError(*problems)


def _unknown(links: tuple[Link, ...], known: list[str], platform: Platform, place: Place) -> Iterator[Diagnostic]:
    for number, link in enumerate(links):
        if link.network and link.network not in known:
            message = f"the platform {platform.name} has no network '{link.network}'"
            hint = near(link.network, known, "Its networks are") if known else "Describe it under networks there."
            yield place(("hardware", "links", number, "network"), Diagnostic(message, hint))
