"""What a machine can do: its host API, its hardware port, its transfer times (ReCAP 2011, section 3).

The models below are also the schema of `platform_templates/*.yaml`; `workbench.formats.platform_file` reads
them with line numbers. Text fields named `*_c` or `*_expression` hold host C/C++ expressions over an entry's
parameters, `*_hdl` hold HDL; neither is ever evaluated by the workbench.
Sizes are bytes, times seconds, rates bytes per second, frequencies hertz.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt

SCHEMA_VERSION = 1


class Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CallKind(StrEnum):
    """What an API call is for (section 3.1)."""

    CONFIGURE = "configure"
    ACQUIRE = "acquire"
    SEND = "send"
    RECEIVE = "receive"
    WAIT = "wait"
    INTERRUPT = "interrupt"
    RELEASE = "release"
    OTHER = "other"


class TransferPoint(Document):
    """One row of a transfer-time table: moving `bytes` in one call takes `time_s`."""

    bytes: PositiveInt
    time_s: PositiveFloat
    source: str = ""  # the sentence or measurement it comes from; "interpolated" where it has none


class TransferTable(Document):
    """Transfer times of one kind of transfer, sizes strictly increasing. The one source of every speed of this machine.

    `overlaps` tells whether several such transfers can be under way at once (nonblocking).
    `resource` names the bus they share with others.
    """

    title: str = ""
    direction: str = "send"  # "send" or "receive"
    resource: str = "bus"
    overlaps: bool = False
    points: tuple[TransferPoint, ...]


class HostEntry(Document):
    """A prototype of the platform's host API and what a call of it means.

    The same prototype may stand in several entries with different `condition`s; `subtype` tells them apart.
    """

    prototype: str
    kind: CallKind
    subtype: str = ""
    condition: str = ""
    fpga: str = ""  # expression: which FPGA
    bytes: str = ""  # expression: bytes moved
    address: str = ""  # expression: address on the FPGA
    files: str = ""  # expression: configuration file name(s)
    reason: str = ""  # the default reason
    transfer: str = ""  # name of its transfer table
    asynchronous: bool = False
    suggestion: str = ""  # platform-specific advice, shown with findings on this call
    suggestion_from_bytes: PositiveInt | None = None  # the advice holds where one call moves so much on average,
    suggestion_to_bytes: PositiveInt | None = None  # and no more than this,
    suggestion_from_calls: PositiveInt | None = None  # and there are so many calls


class Transfers(Document):
    """How the workbench itself moves data, to read counters out (section 3.1, last part)."""

    data_type: str = "uint32_t"
    minimum_bytes: PositiveInt = 4
    maximum_bytes: PositiveInt | None = None
    size_multiplier: PositiveInt = 1
    send_c: str = ""
    receive_c: str = ""
    allocate_c: str = ""
    free_c: str = ""
    access_c: str = ""
    send_error_c: str = ""
    receive_error_c: str = ""


class Host(Document):
    """The software side of a platform."""

    include_lines: tuple[str, ...] = ()
    exclude_files: tuple[str, ...] = ()
    constants: dict[str, int | float | str] = Field(default_factory=dict)
    entries: tuple[HostEntry, ...] = ()
    transfers: Transfers = Transfers()


class PortDirection(Document):
    """One direction of the hardware port, named as the application's top level sees it.

    `condition_hdl` says when a word arrives (incoming) or is asked for (outgoing).
    """

    data_signal: str
    address_signal: str
    condition_hdl: str
    action_hdl: str = ""
    delay_cycles: Annotated[int, Field(ge=0)] = 0


class PortStyle(StrEnum):
    MEMORY = "memory"
    BLOCK = "block"


class HardwarePort(Document):
    """The hardware side of a platform (section 3.2).

    Memory style: an address and an enable for every word. Block style: a starting address, a word count and a request;
    the transfer ends when the count reaches 0.
    """

    style: PortStyle = PortStyle.MEMORY
    word_bits: PositiveInt = 32
    address_bits: PositiveInt = 32
    address_unit_bytes: PositiveInt = 4
    write_enable: str = ""  # memory style: the enables' signal names
    read_enable: str = ""
    incoming: PortDirection
    outgoing: PortDirection
    word_count_signal: str = ""
    request_hdl: str = ""
    address_tracked: bool = True
    clock: str
    clock_hz: PositiveFloat
    reset: str
    reset_hdl: str = ""  # condition: in reset; empty means the reset signal is high
    interrupt: str = ""


class Memory(Document):
    """A layer of memory between the bulk of the problem and the processing elements (Steffen 2007, section 4)."""

    name: str
    bytes: PositiveFloat | None = None
    bandwidth_bytes_per_s: PositiveFloat | None = None
    latency_s: Annotated[float, Field(ge=0)] = 0.0
    note: str = ""


class Network(Document):
    """A network between nodes, in LogGP terms (RATSS 2011, section 3.3). Times in seconds, gaps per byte."""

    name: str
    latency_s: Annotated[float, Field(ge=0)] = 0.0
    overhead_s: Annotated[float, Field(ge=0)] = 0.0
    gap_s: Annotated[float, Field(ge=0)] = 0.0
    gap_per_byte_s: Annotated[float, Field(ge=0)] = 0.0
    reduction_per_byte_s: Annotated[float, Field(ge=0)] = 0.0
    source: str = ""


class Device(Document):
    """The FPGA on the card, for shares of its resources and for what fits."""

    name: str = ""
    luts: PositiveInt | None = None
    registers: PositiveInt | None = None
    block_ram_bits: PositiveInt | None = None
    yosys_family: str = ""  # argument of yosys' synth_xilinx -family


class Platform(Document):
    """A platform template: what a person enters once, and every prediction, rule and simulation reads."""

    schema_version: int
    name: str
    title: str = ""
    description: str = ""
    cpu: str = ""
    device: Device = Device()
    host: Host = Host()
    hardware: HardwarePort | None = None
    transfer_tables: dict[str, TransferTable] = Field(default_factory=dict)
    memories: tuple[Memory, ...] = ()
    networks: tuple[Network, ...] = ()
    suggestions: tuple[str, ...] = ()
