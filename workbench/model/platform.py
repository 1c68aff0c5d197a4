"""What a machine can do: its host API, its clocks and ports, its transfer times (ReCAP 2011, section 3).

The models below are also the schema of `platform_templates/*.yaml`; `workbench.formats.platform_file` reads
them with line numbers. Text fields named `*_c` or `*_expression` hold host C/C++ expressions over an entry's
parameters, `*_hdl` hold HDL; neither is ever evaluated by the workbench.
Sizes are bytes, times seconds, rates bytes per second, frequencies hertz.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.document import Document
from workbench.model.hardware import Hardware
from workbench.model.kernel_board import KernelBoard
from workbench.model.network import Network

SCHEMA_VERSION = 2


#: Of a template with calls by none of which host and board, or processes, exchange anything.
NO_DATA_MOVES = Diagnostic(
    "no call of the host API moves data",
    "Give calls that write to the board the kind send and calls that read from it the kind receive, each with its "
    "bytes and its address.",
    Severity.WARNING,
)


class CallKind(StrEnum):
    """What an API call is for (section 3.1); messages are those to and from other processes of the program."""

    CONFIGURE = "configure"
    ACQUIRE = "acquire"
    SEND = "send"
    RECEIVE = "receive"
    WAIT = "wait"
    INTERRUPT = "interrupt"
    RELEASE = "release"
    SEND_MESSAGE = "send_message"
    AWAIT_MESSAGE = "await_message"
    OTHER = "other"

    @property
    def moves(self) -> bool:
        """Whether it moves data; its value is then the direction of the transfer table."""
        return self in (CallKind.SEND, CallKind.RECEIVE)

    @property
    def exchanges(self) -> bool:
        """Whether it moves data between host and board, or between processes."""
        return self.moves or self in (CallKind.SEND_MESSAGE, CallKind.AWAIT_MESSAGE)


class TransferPoint(Document):
    """One row of a transfer-time table: moving `bytes` in one call takes `time_s`."""

    bytes: PositiveInt = Field(description="bytes of one call")
    time_s: PositiveFloat = Field(description="time of one call")
    source: str = Field("", description='the sentence or measurement it comes from; "interpolated" where it has none')


class TransferTable(Document):
    """Transfer times of one kind of transfer, sizes strictly increasing. The one source of this machine's speeds."""

    title: str = Field("", description="title of these transfers")
    direction: str = Field("send", description="send (host to FPGA) or receive")
    resource: str = Field("bus", description="the bus of these transfers; transfers with the same bus share it")
    port: str = Field("", description="the port's name; empty: the first", examples=["host"])
    overlaps: bool = Field(False, description="whether several can be under way at once (nonblocking)")
    holds_core: bool = Field(
        False, description="whether the processor stops during a transfer, as in a register read, or runs other threads"
    )
    estimated_within: float | None = Field(
        None,
        ge=1,
        description="the times are estimates, each up to this many times longer or shorter; empty: they are known",
        examples=[2],
    )
    points: tuple[TransferPoint, ...] = Field(
        description="its rows, sizes growing; between them time is linear, above them the last one's rate goes on"
    )


class HostEntry(Document):
    """A prototype of the platform's host API and what a call of it means.

    The same prototype may be in several entries with different `condition`s; `subtype` distinguishes them. What a call
    opens may have a name (`opens`), and an entry may hold only for what was opened by that name (`of`): so a `read` of
    the card's file is known from others, wherever the descriptor went. An entry of accesses (`access`) has no
    prototype: it means the program's reads or writes through pointers into a mapping that a call `opens`.
    """

    prototype: str = Field(
        "",
        description="a C prototype as in the API's header, or one of C++ with its whole scope, be it the global one; "
        "expressions below use its parameters' names, and `self` for a method's object",
        examples=[
            "int fpgaWrite(fpga_t *fpga, const uint32_t *data, int words)",
            "void xrt::bo::sync(xclBOSyncDirection dir, size_t sz, size_t offset)",
        ],
    )
    access: Literal["read", "write"] | None = Field(
        None,
        description="in place of a prototype: reads or writes through pointers into the mapping that `of` names; "
        "expressions use pointer, size (bytes) and offset (bytes from where the mapping begins)",
        examples=["read"],
    )
    kind: CallKind = Field(description="what the call is for")
    subtype: str = Field("", description="separates several entries of one prototype")
    condition: str = Field(
        "",
        description="expression: when this entry is meant, where several have the prototype",
        examples=["(flags & ASYNC) != 0", 'like(path, "/dev/xdma*_h2c_*")'],
    )
    opens: str = Field(
        "",
        description="names what a call opens (a descriptor, handle, mapping or object): the name alone if it is the "
        "result or the constructed object, otherwise `expression is name`, which may use `result`",
        examples=["h2c", "*handle is bar0", "result.get_handle().get() is device"],
    )
    of: str = Field(
        "",
        description="applies only to what a call opened under this name, or one of several: the name alone if it is "
        "the first argument or a method's object, otherwise `expression is name`; a release ends it",
        examples=["h2c", "h2c|c2h", "stream is h2c"],
    )
    mapped_bytes: str = Field(
        "",
        description="expression: the size of the mapping that is opened; `address` says where on the FPGA it begins",
        examples=["length"],
    )
    fpga: str = Field("", description="expression: which FPGA; empty: the one of the handle that it is `of`")
    bytes: str = Field("", description="expression: bytes moved; of an access without one: its size")
    address: str = Field(
        "", description="expression: address on the FPGA; of an access without one: the mapping's and the offset"
    )
    data: str = Field(
        "",
        description="expression: where the data are, or the parameter that is the data, such as a register's value; "
        "empty: the only parameter that fits",
        examples=["buffer + offset", "value"],
    )
    returns: str = Field(
        "",
        description="expression: what a transfer returns on the simulated card if it succeeds; empty: by its type, 0 "
        "(a status), or the bytes moved (ssize_t)",
        examples=["len"],
    )
    files: str = Field("", description="expression: the configuration file's name or names")
    reason: str = Field("", description="the reason that a call without a pragma gets")
    transfer: str = Field("", description="the transfer table that its times come from")
    asynchronous: bool = Field(False, description="returns before the transfer is done")
    inline: bool = Field(
        False,
        description="the API's header defines it itself, so nothing is generated for it on the simulated card",
    )
    suggestion: str = Field("", description="advice that holds on this platform, shown with findings on this call")
    suggestion_from_bytes: PositiveInt | None = Field(
        None, description="the advice holds where one call moves at least so much on average"
    )
    suggestion_to_bytes: PositiveInt | None = Field(
        None, description="the advice holds where one call moves at most so much on average"
    )
    suggestion_from_calls: PositiveInt | None = Field(
        None, description="the advice holds where there are at least so many calls"
    )


class QueueCall(Document):
    """A function or method in C++ by which the program's own code puts elements into a queue, or takes them out: of
    whatever class it is."""

    prototype: str = Field(
        description="the function with its whole scope, be it the global one; expressions below use its parameters' "
        "names, `self` for a method's object and `result` for what it returns",
        examples=["bool Ring::push(const Job &job)", "std::optional<T> app::Fifo<T>::pop()", "void ::put(Ring &to)"],
    )
    kind: Literal["push", "pop"] = Field(description="what it does with the queue", examples=["push"])
    queue: str = Field(
        "",
        description="expression: the queue; empty: a method's object, or the first argument",
        examples=["self", "&to"],
    )
    elements: str = Field(
        "",
        description="expression: how many elements went in or came out; empty: 1, or what a result of type bool says",
        examples=["result", "result.has_value()", "count"],
    )


class QueueEntry(HostEntry):
    """A queue's call, as an entry beside those of the API."""

    direction: Literal["push", "pop"]
    queue: str = ""
    elements: str = ""


#: The fields of an entry that hold expressions over a call's arguments.
EXPRESSIONS = ("condition", "opens", "of", "mapped_bytes", "fpga", "bytes", "address", "data", "returns", "files")


#: Those of `Transfers` that are statements.
STATEMENTS = ("send_c", "receive_c", "allocate_c", "free_c")


class Transfers(Document):
    """How the workbench moves data, to read counters out (section 3.1, last part)."""

    data_type: str = Field("uint32_t", description="the C type of what is moved")
    minimum_bytes: PositiveInt = Field(4, description="the smallest transfer")
    maximum_bytes: PositiveInt | None = Field(None, description="the largest transfer")
    size_multiplier: PositiveInt = Field(1, description="what every size is a multiple of")
    send_c: str = Field(
        "", description="C: moves `words` words (`bytes` bytes) of the array `data` to `address`; sets `result`"
    )
    receive_c: str = Field("", description="C: moves as many from `address` into `data`; sets `result`")
    allocate_c: str = Field("", description="C: allocates `data`, of `bytes` bytes")
    free_c: str = Field("", description="C: frees `data`")
    access_c: str = Field("", description="C: the word `index` of `data`")
    send_error_c: str = Field("", description="C: when sending failed")
    receive_error_c: str = Field("", description="C: when receiving failed")


class Host(Document):
    """The software side of a platform."""

    include_lines: tuple[str, ...] = Field((), description="the lines by which a host source includes this API")
    exclude_files: tuple[str, ...] = Field((), description="files that are never instrumented: the API's own")
    api: str = Field(
        "",
        description="the template whose API this is, if the workbench has its header and a replacement for its "
        "library on the simulated card; empty: the one of this name",
        examples=["opae"],
    )
    api_dir: str = Field("", description="folder with the API's header, beside this file", examples=["my_card"])
    api_sources: tuple[str, ...] = Field(
        (),
        description="C files beside this one that implement the API on the simulated card's client library (wbcard.h); "
        "empty: generated from the entries",
        examples=[["my_card/api.c"]],
    )
    constants: dict[str, int | float | str] = Field(
        default_factory=dict,
        description="the API's macros that expressions use, with their values",
        examples=[{"FPGA_BASE": 4096}],
    )
    entries: tuple[HostEntry, ...] = Field((), description="the API's calls")
    lacks: dict[str, str] = Field(
        default_factory=dict,
        description="calls of the API that the simulated card does not have, each with what to do instead",
        examples=[{"MPI_Cart_create": "use MPI_Comm_split"}],
    )
    queues: tuple[QueueCall, ...] = Field(
        (), description="calls in C++ that push into queues between threads and pop from them, for all programs"
    )
    transfers: Transfers = Field(Transfers(), description="how the workbench moves data")

    @property
    def exchanges_messages(self) -> bool:
        """Whether its programs are processes that exchange messages."""
        return any(entry.kind in (CallKind.SEND_MESSAGE, CallKind.AWAIT_MESSAGE) for entry in self.entries)

    @property
    def calls(self) -> tuple[HostEntry, ...]:
        """All calls that are recorded, as a run numbers them: the API's, and those of queues."""
        return (*self.entries, *(
            QueueEntry(prototype=one.prototype, kind=CallKind.OTHER, direction=one.kind, queue=one.queue,
                       elements=one.elements) for one in self.queues
        ))  # fmt: skip


class Memory(Document):
    """A layer of memory between the bulk of the problem and the processing elements (Steffen 2007, section 4)."""

    name: str = Field(description="its name, used by models")
    bytes: PositiveFloat | None = Field(None, description="its size")
    bandwidth_bytes_per_s: PositiveFloat | None = Field(None, description="beta: the rate into it")
    latency_s: Annotated[float, Field(ge=0)] = Field(0.0, description="lambda: the fixed time of each transfer")
    estimated: bool = Field(False, description="whether a number of it is an estimate: results say so")
    note: str = Field("", description="source of the numbers")


class Device(Document):
    """The FPGA on the card, for shares of its resources and for what fits."""

    name: str = Field("", description="the FPGA's name")
    luts: PositiveInt | None = Field(None, description="lookup tables that it has")
    registers: PositiveInt | None = Field(None, description="registers that it has")
    block_ram_bits: PositiveInt | None = Field(None, description="block memory that it has")
    one_block_ram_bits: PositiveInt | None = Field(None, description="what one block RAM holds", examples=[18432])
    yosys_family: str = Field("", description="the argument of yosys' synth_xilinx -family")


class Platform(Document):
    """A platform template: what a person enters once, and every prediction, rule and simulation reads."""

    schema_version: int = Field(description="schema version of this document")
    name: str = Field(description="name in projects and models")
    title: str = Field("", description="title in window and reports")
    description: str = Field("", description="what it is, and source of the numbers")
    cpu: str = Field("", description="the host's processor")
    device: Device = Field(Device(), description="the FPGA")
    host: Host = Field(Host(), description="the software side")
    hardware: Hardware | None = Field(
        None, description="clocks and ports; without them the template serves predictions only"
    )
    transfer_tables: dict[str, TransferTable] = Field(
        default_factory=dict, description="transfer times, by the name that entries use"
    )
    memories: tuple[Memory, ...] = Field((), description="memory layers, for computational density")
    networks: tuple[Network, ...] = Field((), description="networks between nodes, for predictions")
    opencl: KernelBoard | None = Field(None, description="the board under OpenCL, for predictions of kernels")
    suggestions: tuple[str, ...] = Field((), description="advice that holds on this platform in general")
