"""Ports whose kind is a table of signals (`PortStyle`): names, directions and widths come of it. Of a table with one
channel so do what its port does, its idle drive, its driver on the simulated card and the monitors' place in it."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from pydantic import Field

from workbench.api.instrument.stream_front import stream_front
from workbench.api.port_styles import BYTES, WORD, PortStyle, Role
from workbench.api.ports import DRIVERS, Activity, HardwarePort, MonitorFront, Problem, Signal

Unsigned = Annotated[int, Field(ge=0)]
#: A signal by its role, or what stands for one that the design has not.
Pin = Callable[..., str]


def pins(names: Mapping[str, str], bits: Mapping[str, int]) -> Pin:
    """`names` are of the roles, `bits` the widths of those signals that the design has."""
    return lambda role, missing="1'b0": names[role] if names.get(role) in bits else missing


class TablePort(HardwarePort):
    """A port whose signals are named by a prefix, or one by one."""

    style: ClassVar[PortStyle]
    #: Whether the design is the one who asks.
    initiator: ClassVar[bool] = False
    #: Rows of the table that such a port has not.
    lacks: ClassVar[frozenset[str]] = frozenset()
    #: What the simulated card's driver calls a role that the kind's own standard calls otherwise.
    driver_roles: ClassVar[Mapping[str, str]] = {}

    prefix: str = Field("", description="prefix of its signals' names", examples=["s_axi_"])
    names: dict[str, str] = Field(
        default_factory=dict,
        description="signals with other names, by role",
        examples=[{"awaddr": "write_address"}],
    )

    def needed(self) -> frozenset[str]:
        """The roles that the design has to have."""
        return self.style.needed or frozenset.intersection(*self.style.needs)

    def roles(self) -> tuple[Role, ...]:
        """The rows of the table that such a port consists of."""
        return tuple(role for role in self.style.roles if role.driven and role.name not in self.lacks)

    def signals(self) -> Mapping[str, Signal]:
        needed = self.needed()
        return {
            self.driver_roles.get(role.name, role.name): Signal(
                self.names.get(role.name, self.prefix + role.name),
                "output" if role.initiator == self.initiator else "input",
                self._bits(role),
                role.name not in needed,
            )
            for role in self.roles()
        }

    def _bits(self, role: Role) -> int | None:
        if isinstance(role.bits, int):
            return role.bits
        return {WORD: self.word_bits, BYTES: self.word_bits // 8}.get(role.bits)

    def pins(self, bits: Mapping[str, int]) -> Pin:
        """The signals by their roles, of a design whose signals have so many `bits`."""
        return pins({role: signal.name for role, signal in self.signals().items()}, bits)

    @classmethod
    def fields_of(cls, signals: Mapping[str, str]) -> Mapping[str, object]:
        role, name = next(iter(signals.items()))
        prefix = name.removesuffix(role)
        whole = all(name == prefix + role for role, name in signals.items())
        return {"prefix": prefix} if whole else {"names": dict(signals)}

    def problems(self) -> Iterator[Problem]:
        known = [role.name for role in self.roles()]
        for role in self.names:
            if role not in known:
                message = f"a port of kind {self.kind} has no signal '{role}'"
                yield Problem("names", message, f"Its signals are: {', '.join(known)}.")
        if self.word_bits % 8:
            yield Problem("word_bits", f"{self.word_bits} bits are not whole bytes", "Write 32 or 64.")


class StreamPort(TablePort):
    """A port with one channel: a word passes in each cycle in which both sides say so."""

    addressed = False

    def activity(self, bits: Mapping[str, int]) -> Activity:
        """The design may keep a word that comes waiting, or wait for one of its own to be taken."""
        pin = self.pins(bits)
        valid, ready = pin("tvalid"), pin("tready", "1'b1")
        stalls = f"{valid} & ~{ready}"
        return Activity(f"{valid} & {ready}", *((stalls, "1'b0") if self.initiator else ("1'b0", stalls)))

    def quiet(self, clock: str) -> Iterator[str]:
        """A word in every cycle, without an end; each that comes is taken."""
        for role, signal in self.signals().items():
            if signal.direction == "output" and not signal.optional:
                yield f"assign {signal.name} = {int(role in ('tvalid', 'tready'))};"


class StreamInto(StreamPort):
    """A stream into the design."""

    driver = "StreamInPort"
    driver_header = DRIVERS / "stream.h"

    buffer_words: Unsigned = Field(0, description="words that the link buffers while the design stalls; 0: any number")

    def constants(self) -> Mapping[str, int]:
        return {"buffer_words": self.buffer_words, "starts": int(bool(self.style.handshakes[0].first))}

    def stream_monitor(self, back: HardwarePort, bits: Mapping[str, int]) -> MonitorFront | None:
        if not isinstance(back, StreamOutOf) or back.word_bits != self.word_bits:
            return None
        come, go = self.signals(), back.signals()
        return stream_front(come, go, bits, self.word_bits, back.name) if go["tready"].name in bits else None


class StreamOutOf(StreamPort):
    """A stream out of the design."""

    driver = "StreamOutPort"
    driver_header = DRIVERS / "stream.h"
    initiator = True

    buffer_words: Unsigned = Field(
        1024, description="words that the link takes before the host's receive is due; 0: none"
    )
    packets: bool = Field(
        False, description="whether a receive ends with the design's tlast; otherwise it ends with its last word"
    )

    def needed(self) -> frozenset[str]:
        return super().needed() | ({self.style.handshakes[0].last} if self.packets else set())

    def in_packets(self) -> bool:
        return self.packets

    def constants(self) -> Mapping[str, int]:
        return {"buffer_words": self.buffer_words, "packets": int(self.packets)}


@lru_cache
def port_class(name: str, title: str, style: PortStyle, initiator: bool) -> type[HardwarePort]:
    """The class of a kind of port of which its table tells all."""
    roles = {}
    base: type[TablePort] = TablePort
    if len(style.handshakes) == 1 and len((only := style.handshakes[0]).data) == 1 and not _is_low(style):
        base = StreamOutOf if initiator else StreamInto
        named = (("tdata", only.data[0]), ("tvalid", only.valid), ("tready", only.ready), ("tlast", only.last),
                 ("startofpacket", only.first))  # fmt: skip
        roles = {role: driver for driver, role in named if role}
    own: dict[str, Any] = {
        "__annotations__": {"kind": "str"},
        "__doc__": f"{title}.",
        "__module__": __name__,
        "kind": Field(name, description=name),
        "style": style,
        "initiator": initiator,
        "driver_roles": roles,
    }
    return type(f"{name.title().replace('_', '')}Port", (base,), own)


def _is_low(style: PortStyle) -> bool:
    return any(shake.valid_low or shake.ready_low for shake in style.handshakes)
