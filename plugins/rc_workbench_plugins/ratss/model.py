"""The document of a RATSS model: what an application asks of a multi-FPGA system, before any code is written.

Every number may be a formula over the model's `inputs`, so that any input can be swept, varied or solved for.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from rc_workbench_plugins.ratss import forms
from workbench.api import Count, Formula, Group, ModelDocument, PartDocument, Positive, Share
from workbench.api.models import FpgaClock

#: Collectives without a root: every node sends and receives.
EXCHANGES = ("all-gather", "all-to-all", "barrier")


class ComputeNode(PartDocument):
    """An FPGA node in a stage (Eqs. 3 and 4)."""

    called: ClassVar[str] = "FPGA node"
    new: ClassVar[Mapping[str, object]] = {"elements": 1, "clock_hz": "100 MHz", "ops_per_cycle": 1}
    form: ClassVar[tuple[Group, ...]] = forms.NODE

    name: str = Field("FPGA", description="its name")
    pipeline_cycles: Formula = Field(0, description="cycles until the pipeline is filled")
    elements: Formula = Field(description="elements that one iteration of the stage works on")
    ops_per_element: Formula = Field(1, description="operations on each")
    clock_hz: FpgaClock = Field(description="its clock")
    ops_per_cycle: Positive = Field(description="operations per cycle")
    measured_in: tuple[str, ...] = Field(
        (), description="the FPGA states that a run counts its work in: BLOCK GROUP/STATE, or STATE"
    )
    correction: Formula = Field(
        1, description="times the computed time: measured over predicted, where a run was taken over"
    )


class Transaction(PartDocument):
    """A movement of data in a stage (Eqs. 5 to 10, 18 to 20, 26, 27).

    The gap comes from `table`, from `rate_bytes_per_s` and `efficiency`, from `gap_per_byte_s`, or from the network;
    one of them must say it; a barrier needs none. Scatter, gather, broadcast and reduce go in a binomial tree, of whole
    rounds where P is no power of two. In an all-gather, an all-to-all and a barrier all nodes exchange messages in
    rounds (LogGP). On a `serial` network (an SNAP) the messages follow one another.
    """

    called: ClassVar[str] = "transaction"
    new: ClassVar[Mapping[str, object]] = {"kind": "io", "bytes": 4, "rate_bytes_per_s": "100 MB/s"}
    form: ClassVar[tuple[Group, ...]] = forms.TRANSACTION

    name: str = Field(description="its name")
    kind: Literal["scatter", "gather", "broadcast", "reduce", "all-gather", "all-to-all", "barrier", "io"] = Field(
        description="a collective of all nodes, or input and output of each (io)"
    )
    nodes: Count = Field(1, description="P: number of participants")
    bytes: Formula = Field(
        0,
        description="k: each node's message; of an all-to-all, the message from each node to each other; a barrier has "
        "none",
    )
    transfers: Positive = Field(1, description="number of delays (erratum R6)")
    network: str = Field("", description="the network that it goes over, the model's or the platform's")
    table: str = Field(
        "", description="the platform's transfer table that its gap comes from, read at `bytes / transfers`"
    )
    serial: bool = Field(
        False, description="the messages follow one another, instead of going in a tree or in rounds of exchanges"
    )
    overlapped: bool = Field(
        False, description="a serial gather that goes on while the nodes compute: only its last message shows (Eq. 27)"
    )
    returns: bool = Field(
        False, description="brings results back, so it comes after the computation; gather and reduce always do"
    )
    reading: Literal["literal", "fitted"] = Field(
        "literal",
        description="a reduce's Eq. 20: as printed (gamma times bytes), or as it fits Table III (gamma times elements, "
        "and a short gap a round; erratum R7)",
    )
    latency_s: Formula | None = Field(None, description="L, replaces the network's")
    overhead_s: Formula | None = Field(None, description="o, replaces the network's")
    gap_s: Formula | None = Field(None, description="g, replaces the network's")
    gap_per_byte_s: Formula | None = Field(None, description="G, replaces the network's or table's")
    capacity: Positive | None = Field(
        None,
        description="messages at full rate at once, where they share the network; replaces the network's",
        examples=[4],
    )
    reduction_s: Formula | None = Field(None, description="gamma: one addition of `bytes_per_element` bytes")
    bytes_per_element: Positive = Field(4, description="what a reduce adds at once")
    rate_bytes_per_s: Positive | None = Field(
        None, description="the ideal rate; with `efficiency` it gives the gap (Eq. 7)"
    )
    efficiency: Share | None = Field(None, description="the share of the ideal rate that is reached")
    measured_in: tuple[str, ...] = Field((), description="the host's states (pragmas or calls) that a run spends on it")
    correction: Formula = Field(
        1, description="times the computed time: measured over predicted, where a run was taken over"
    )


class NetworkPart(PartDocument):
    """A network of the model's own, in LogGP terms; one of the platform's by the same name gives way to it.

    Nodes that are not alike have o and g each, and L and G by pairs (HLogGP), in place of the one number for all.
    """

    called: ClassVar[str] = "network"
    new: ClassVar[Mapping[str, object]] = {"latency_s": "10 us", "gap_per_byte_s": "8 ns/B"}
    form: ClassVar[tuple[Group, ...]] = forms.NETWORK

    name: str = Field(description="its name, which transactions use", examples=["Gigabit Ethernet"])
    latency_s: Formula = Field(0, description="L: from one end to the other")
    overhead_s: Formula = Field(0, description="o: processor time per message")
    gap_s: Formula = Field(0, description="g: between two short messages")
    gap_per_byte_s: Formula = Field(0, description="G: between two bytes of a long message")
    reduction_per_byte_s: Formula = Field(0, description="gamma: adding up, per byte")
    capacity: Positive | None = Field(
        None,
        description="messages that it carries at full rate at once, where they share it (contention); empty: all",
        examples=[4],
    )
    overheads_s: tuple[Formula, ...] = Field(
        (), description="o of each node; empty: the same for all", examples=[["3 us", "9 us"]]
    )
    gaps_s: tuple[Formula, ...] = Field(
        (), description="g of each node; empty: the same for all", examples=[["7 us", "7 us"]]
    )
    latencies_s: tuple[tuple[Formula, ...], ...] = Field(
        (),
        description="L from each node (row) to each (column); empty: the same for all",
        examples=[[[0, "40 us"], ["60 us", 0]]],
    )
    gaps_per_byte_s: tuple[tuple[Formula, ...], ...] = Field(
        (),
        description="G from each node (row) to each (column); empty: the same for all",
        examples=[[[0, "8 ns/B"], ["8 ns/B", 0]]],
    )
    source: str = Field("", description="source of the numbers", examples=["measured with netgauge"])


class Power(PartDocument):
    """What takes power: the FPGAs at rest and computing, the hosts, the network. Energy and average power follow.

    A node's kernels take `kernel_cycle_j` each in a clock cycle at full utilisation, while the node computes.
    """

    called: ClassVar[str] = "power"
    new: ClassVar[Mapping[str, object]] = {"static_w": 1, "kernel_cycle_j": "0.3 nJ"}
    form: ClassVar[tuple[Group, ...]] = forms.POWER

    nodes: Count = Field(1, description="P: number of nodes, each of an FPGA, a host and its end of the network")
    static_w: Formula = Field(0, description="an FPGA's power at rest, during the whole application")
    kernels: Formula = Field(1, description="kernels of a node's FPGA")
    kernel_cycle_j: Formula = Field(0, description="dynamic energy of a kernel in a clock cycle, at full utilisation")
    utilisation: Share = Field(1, description="the share of its cycles in which a kernel switches")
    host_idle_w: Formula = Field(0, description="a host's power, during the whole application")
    host_busy_w: Formula = Field(0, description="a host's additional power while it works or communicates")
    network_idle_w: Formula = Field(0, description="a node's network adapter and its port of the switch")
    network_busy_w: Formula = Field(0, description="additional power of these during collectives")
    sources: dict[str, str] = Field(
        default_factory=dict, description="sources of the numbers, by field", examples=[{"static_w": "data sheet"}]
    )


class Stage(PartDocument):
    """One synchronous step of the application (Eqs. 11 to 15). `after` names the stages it needs first."""

    called: ClassVar[str] = "stage"
    new: ClassVar[Mapping[str, object]] = {"nodes": [{"name": "FPGA", **ComputeNode.new}]}
    form: ClassVar[tuple[Group, ...]] = forms.STAGE

    name: str = Field(description="its name")
    iterations: Formula = Field(1, description="number of repetitions")
    overlapped: bool = Field(False, description="communication goes on while the nodes compute")
    nonblocking: bool = Field(
        False, description="transactions go on at once: all their delays, and the longest of their transfers"
    )
    configuration_s: Formula = Field(0, description="time to configure the FPGAs, once")
    preprocessing_s: Formula = Field(0, description="the host's time before, in each iteration")
    postprocessing_s: Formula = Field(0, description="the host's time after, in each iteration")
    microprocessor_s: Formula = Field(0, description="the host's time while the nodes compute, in each iteration")
    nodes: tuple[ComputeNode, ...] = Field((), description="the FPGA nodes; the slowest counts")
    transactions: tuple[Transaction, ...] = Field((), description="the movements of data, in order")
    after: tuple[str, ...] = Field((), description="the stages that it needs first", examples=[["load"]])


class StageMeasurement(PartDocument):
    """What an implementation took, at some values of the inputs: for the error, stage by stage (Table V).

    `stage` is one stage's name, or "" for the application; times are of all its iterations.
    """

    called: ClassVar[str] = "measurement"
    new: ClassVar[Mapping[str, object]] = {"total_s": 1}
    form: ClassVar[tuple[Group, ...]] = forms.MEASURED

    stage: str = Field("", description="the stage's name; empty for the whole application", examples=["histogram"])
    inputs: dict[str, float] = Field(default_factory=dict, description="the inputs' values that it was measured at")
    comp_s: Annotated[float, Field(ge=0)] | None = Field(None, description="time of computing, in all iterations")
    comm_s: Annotated[float, Field(ge=0)] | None = Field(None, description="time of communicating, in all iterations")
    total_s: Annotated[float, Field(gt=0)] | None = Field(None, description="time in all")
    speedup: Annotated[float, Field(gt=0)] | None = Field(None, description="over the baseline")
    source: str = Field("", description="source of the numbers")


class RatssModel(ModelDocument):
    """A RATSS model. `system` is its class (Fig. 1): nonuniform nodes in a uniform system, or uniform nodes in a
    nonuniform one. `resources` are named formulas to compare time with; `baseline_s` is the software's time.
    The readings `literal` and `fitted` also choose that reading of every reduce."""

    form: ClassVar[tuple[Group, ...]] = forms.MODEL

    system: Literal["NNUS", "UNNS"] = Field(
        "NNUS",
        description="nonuniform nodes in a uniform system (NNUS), or uniform nodes in a nonuniform one (UNNS); Fig. 1",
    )
    stages: tuple[Stage, ...] = Field(description="the steps of the application")
    networks: tuple[NetworkPart, ...] = Field((), description="networks besides the platform's, or in their place")
    power: Power | None = Field(None, description="what takes power, for energy and average power beside the time")
    iterations: Formula = Field(1, description="repetitions of all stages")
    pipelined: bool = Field(False, description="stages work at once on successive iterations: the slowest counts")
    baseline_s: Positive | None = Field(None, description="the software's time, for the speedup")
    resources: dict[str, Formula] = Field(default_factory=dict, description="named formulas to compare time with")
    measured: tuple[StageMeasurement, ...] = Field((), description="measured time of an implementation, for the error")
