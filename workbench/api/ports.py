"""What a kind of port is made of: the fields that a template gives, its signals, and the monitors' place behind it.

A kind is a subclass of `HardwarePort`; a plugin brings it with the hook `workbench_port_kinds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from workbench.api.faults import caught, plugin_fault
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.hardware import Clock, Hardware, Port
from workbench.model.memory import MemoryPort
from workbench.model.read_out import Access, Marks

if TYPE_CHECKING:
    from workbench.model.read_out import ReadOut

#: Where the simulated card's own drivers are.
DRIVERS = Path(str(files("workbench.resources"))) / "card" / "ports"
#: Verilog's name for the wire that the design has in place of a port that the monitors stand behind.
USER_WIRE = "recap_user_"


@dataclass(frozen=True)
class Signal:
    """A signal of a port as the top level declares it. `bits` is None where any width does. Where the design has the
    signal of the role `instead`, it needs no other."""

    name: str
    direction: str  # input, output
    bits: int | None = None
    optional: bool = False
    instead: str = ""


@dataclass(frozen=True)
class Problem:
    """What is wrong with a port, and in which of its fields."""

    field: str
    message: str
    hint: str = ""


@dataclass(frozen=True)
class MonitorFront:
    """What stands between a port and the monitors' core, and how it is spoken to.

    `text` is a Verilog module `recap_port`. The core gives it `clock`, `reset`, `word` (the 32 bits that are selected),
    `frozen`, `clearing` and `answered`, and takes `write_control`, `write_select` and `write_data` (32 bits) from it
    (`resources/hdl/recap_control.v` says what these do). While `answered` is low, a monitor on another clock has still
    to do what was asked of it last: nothing else may be asked, and `word` is not there yet (`recap_crossing.v`).
    `connections` are its other ports, with what they are connected to at the top level; the design's ports in `taken`
    are led through it: the design has the wire `recap_user_NAME` instead. `watch` gives the accesses that freeze
    counters, and let the one to which the word of that number belongs watch the block of that place; None where they
    have no room. Accesses, and what follows them: see `workbench.model.read_out`.
    """

    text: str
    connections: Mapping[str, str]
    taken: tuple[str, ...]
    freeze: Access
    run: Access
    clear: Access
    each: tuple[Access, ...]
    watch: Callable[[int], tuple[Access, ...]] | None = None
    parts: int = 1
    block_words: int = 1
    marks: Marks | None = None
    answer_port: str = ""


@dataclass(frozen=True)
class Activity:
    """What a port does in a cycle, as Verilog expressions over the top's signals; the first that holds is it. A word is
    `moving`; else the design is `waiting` for the other side; else it has `held` that up, as it was not ready itself;
    else nothing is asked for.

    `opens` count what has begun and not ended: by a name, how many begin and how many end in a cycle. In any expression
    [NAME] says that some have not ended. `recent` is what goes on for a while: by a name, when it begins, and in how
    many cycles after that [NAME] holds.
    """

    moving: str
    waiting: str
    held: str
    opens: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    recent: Mapping[str, tuple[str, int]] = field(default_factory=dict)


def needed_fields(schema: type[BaseModel]) -> dict[str, Any]:
    """A value for each field without a default: its first example, its own name where it is a text, otherwise 1."""
    return {
        name: info.examples[0]
        if info.examples
        else needed_fields(info.annotation)
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)
        else name
        if info.annotation is str
        else 1
        for name, info in schema.model_fields.items()
        if info.is_required()
    }


class HardwarePort(Port):
    """A port whose kind is known. Addresses are in its own units."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: The C++ header with the simulated card's driver, and the class in it (resources/card/ports/port.h says how it is
    #: made and used). The class is a template over the port's pins, where the port has any.
    driver_header: ClassVar[Path | None] = None
    driver: ClassVar[str] = ""
    #: Whether a transfer may last longer than the table says: the card is asked for its end.
    answers: ClassVar[bool] = True
    #: Whether transfer tables may name it.
    takes_transfers: ClassVar[bool] = True
    #: Whether its transfers have addresses; else it is a stream.
    addressed: ClassVar[bool] = True
    #: The roles of the signals with the addresses at which counters would be read behind it.
    address_roles: ClassVar[tuple[str, ...]] = ()

    def signals(self) -> Mapping[str, Signal]:
        """The signals by their roles."""
        raise NotImplementedError

    @classmethod
    def first_fields(cls) -> Mapping[str, object]:
        """What a template says of a new port of this kind: the fields that it cannot leave out, each with its first
        example, or with its own name where it names a signal."""
        return needed_fields(cls)

    @classmethod
    def fields_of(cls, signals: Mapping[str, str]) -> Mapping[str, object]:
        """What a template says of a port whose signals have these names, by the roles of its kind's style; empty where
        names do not tell all."""
        return {}

    def problems(self) -> Iterator[Problem]:
        """What is wrong with the fields, beyond what their types tell."""
        yield from ()

    def undrivable(self) -> Iterator[Problem]:
        """Why the simulated card cannot stand behind such a port, if it cannot."""
        if not self.driver:
            yield Problem("kind", f"ports of kind {self.kind} cannot be simulated", "Its plugin has no driver.")
        elif self.word_bits % 8 or self.word_bits & (self.word_bits - 1) or self.word_bits > 1024:
            yield Problem(
                "word_bits", f"a port of {self.word_bits} bits cannot be simulated", "Use 8, 16, 32 and so on to 1024."
            )

    def constants(self) -> Mapping[str, int]:
        """What the simulated card's driver of this port is compiled with."""
        return {}

    def served_by(self) -> str:
        """The name of another port whose driver this one's is given, or ""."""
        return ""

    def moves_bytes_per_s(self) -> float:
        """What the memory moves at most that serves others' ports; 0 where this is none."""
        return 0.0

    def in_packets(self) -> bool:
        """Whether a receive may bring less than it asks for, up to the end of what the design gives in one piece."""
        return False

    def lead_cycles(self, receive: bool) -> int:
        """By how many cycles a transfer's last word has to be at the port before the time that the table gives."""
        return 0

    def quiet(self, clock: str) -> Iterator[str]:
        """Verilog of a design that takes every word at this port at once and gives zeros: what drives its outputs that
        are not optional."""
        for signal in self.signals().values():
            if signal.name and signal.direction == "output" and not signal.optional:
                yield f"assign {signal.name} = 0;"

    def monitor(self, read_out: ReadOut, bits: Mapping[str, int], waits: bool = False) -> MonitorFront | None:
        """The monitors' place behind this port of a design whose signals have so many `bits`; None where there is none.
        Where some `waits`, since it is on another clock, words come one at a time. WorkbenchError where they have no
        room in the addresses."""
        return None

    def activity(self, bits: Mapping[str, int]) -> Activity | None:
        """What is observed of this port in hardware, of a design whose signals have so many `bits`; None where its
        signals do not tell."""
        return None

    def stream_monitor(self, back: HardwarePort, bits: Mapping[str, int]) -> MonitorFront | None:
        """The monitors' place in this stream into a design and `back`, one out of it on the same clock; None where the
        two are no such pair, or the design's words cannot be held."""
        return None


def monitor_front(
    hardware: Hardware, clocks: Sequence[Clock], read_out: ReadOut, bits: Mapping[str, int]
) -> tuple[HardwarePort, MonitorFront] | None:
    """The port at which the monitors of these clocks are read, and their place there: of the platform's first clock on
    which there is any, the first port with addresses, else a stream with another one back. None where there is no such
    port. WorkbenchError where it has no room for them, or no plugin brings a port's kind."""
    for port in hardware.ports:
        if not isinstance(port, HardwarePort):
            message = f"no plugin brings ports of the kind '{port.kind}', as port '{port.name}' is"
            raise WorkbenchError(Diagnostic(message, "`workbench plugins` lists what there is."))
    for clock in hardware.clocks:
        mine = [port for port in hardware.ports if isinstance(port, HardwarePort) and hardware.clock_of(port) == clock]
        waits = any(other.name != clock.name for other in clocks)
        for port in mine:
            if front := port.monitor(read_out, bits, waits):
                return port, front
        for port in mine:
            for back in mine:
                if front := port.stream_monitor(back, bits):
                    return port, front
    return None


def memory_ports(hardware: Hardware, places: Sequence[str] = ("",)) -> tuple[MemoryPort, ...]:
    """The ports by which a design asks memory, FPGA after FPGA, in the platform's order; `places` is what each FPGA's
    names begin with."""
    ports = {port.name: port for port in hardware.ports if isinstance(port, HardwarePort)}
    return tuple(
        MemoryPort(
            id=place + port.name,
            kind=port.kind,
            memory=place + server.name,
            clock=hardware.clock_of(port).name,
            word_bits=port.word_bits,
            memory_bytes_per_s=server.moves_bytes_per_s(),
        )
        for place in places
        for port in ports.values()
        if (server := ports.get(port.served_by()))
    )


def check_ports(hardware: Hardware) -> Iterator[tuple[int, Problem]]:
    """What is wrong with the ports whose kinds are known, each with the port's number."""
    for number, port in enumerate(hardware.ports):
        if port.clock and port.clock not in [clock.name for clock in hardware.clocks]:
            names = ", ".join(clock.name for clock in hardware.clocks)
            yield number, Problem("clock", f"there is no clock '{port.clock}'", f"Clocks are: {names}.")
        if port.name in [other.name for other in hardware.ports[:number]]:
            yield number, Problem("name", f"the name '{port.name}' is given twice in ports", "Give each its own name.")
        if isinstance(port, HardwarePort):
            yield from ((number, problem) for problem in _problems(port))


def _problems(port: HardwarePort) -> Sequence[Problem]:
    try:
        return tuple(port.problems())
    except BaseException as raised:
        fault = plugin_fault(caught(raised), f"to check port '{port.name}'")
        return (Problem("kind", fault.message, fault.hint),)
