"""Metrics that rules may name: each a name, a title, a unit, and the function that computes it of what a rule selects.

A rule's `select` picks states of one block, and on the host the calls made in them; or a rule looks at a FIFO, or at a
port into memory. Times are seconds, sizes bytes, rates bytes per second, shares 0 to 1. A metric is computed when a
rule or a report reads it, and not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from workbench.model.text import bytes_text, count_text, percent_text, rate_text, ratio_text, significant, time_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from workbench.api.queues import Deeper, RunQueues
    from workbench.api.results import (
        BlockMetrics,
        CallMetrics,
        FifoMetrics,
        MemoryPortMetrics,
        StateMetrics,
        StreamMetrics,
    )
    from workbench.model.blocks import Side
    from workbench.model.finding import Advice, Finding
    from workbench.model.platform import Platform
    from workbench.model.run import Run

#: The value of a metric.
Value = float | int | str

_FORMATS: dict[str, Callable[[float], str]] = {
    "time": time_text,
    "share": percent_text,
    "percent": percent_text,
    "size": bytes_text,
    "rate": rate_text,
    "count": count_text,
    "ratio": ratio_text,
    "number": significant,
    "flag": lambda value: "yes" if value else "no",
}
UNITS = tuple(_FORMATS)


def value_text(value: Value, unit: str) -> str:
    """A value as a person reads it; `unit` is one of `UNITS`, or "text"."""
    if isinstance(value, str) or unit == "text":
        return str(value)
    if value != value or value in (float("inf"), float("-inf")):
        return "no limit" if value == float("inf") else "none"
    return _FORMATS[unit](value)


@dataclass(frozen=True)
class Waiting:
    """Seconds of waiting: all of it, what a faster FPGA could save (each poll has to be made once, even so), what lies
    after the FPGA was ready, and how much of that goes by chance where the same polls come at other moments."""

    total_s: float = 0.0
    late_s: float = 0.0
    after_ready_s: float = 0.0
    chance_s: float = 0.0


@dataclass(frozen=True)
class HostSide:
    """One host thread: seconds of its own work (and whatever else is no transfer and no wait), transfers, waits.

    `longest_wait_s` is its longest single wait before the FPGA was ready: so long the FPGA takes at least, whatever the
    host does. 0 where that is not known.
    """

    own_s: float
    transfer_s: float
    waiting: Waiting
    longest_wait_s: float = 0.0


@dataclass(frozen=True)
class Together:
    """Calls that follow one another and go one way: how many at most, the bytes of these, how many of them are data,
    and the name of the transfer table that takes least for so many bytes; "" where none is known."""

    count: int = 0
    bytes: int = 0
    data: int = 0
    table: str = ""


class Measured(Protocol):
    """A run and what was counted in it. `platform` is None where it is not known here."""

    @property
    def run(self) -> Run: ...
    @property
    def platform(self) -> Platform | None: ...
    @property
    def blocks(self) -> Sequence[BlockMetrics]: ...
    @property
    def calls(self) -> Sequence[CallMetrics]: ...
    @property
    def threshold(self) -> float:
        """The least speedup that is reported."""

    @property
    def streams(self) -> Sequence[StreamMetrics]:
        """The design's streams that the run counted."""

    @property
    def waited_for(self) -> frozenset[str]:
        """Ids of the FPGA's blocks with work that the host waits for, or that such a block waits for in turn."""

    @property
    def memory_ports(self) -> Sequence[MemoryPortMetrics]:
        """The design's memory ports that the run counted."""

    def least_depth(self, fifo: str) -> int:
        """The least depth (words) of the FIFO with this id that loses under 1 % by replay of the run's words, if the
        other FIFOs keep their depths; 0 if the run does not have these words, or replay does not match it."""
        ...

    def deeper_edges(self, queues: RunQueues) -> Mapping[str, Deeper]:
        """The edges of a streaming application that alone, with more depth, gain the threshold by replay, by label."""
        ...

    @property
    def traced(self) -> bool:
        """Whether the run kept every change of state."""

    def pieces(self, number: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """The states of one block of a traced run, piece by piece, so that a long trace fits: edges (ps; one more than
        states, each lasts from its edge to the next) and indexes of states. Nothing where there is no trace."""
        ...


class Selected(Protocol):
    """What a rule looks at: some states of a block, and the host's calls made in them. `time_s` is theirs together."""

    @property
    def of(self) -> Measured: ...
    @property
    def block(self) -> BlockMetrics: ...
    @property
    def states(self) -> Sequence[StateMetrics]: ...
    @property
    def calls(self) -> Sequence[CallMetrics]: ...
    @property
    def fifo(self) -> FifoMetrics | None:
        """The FIFO that a rule of the scope `fifo` looks at; `block` then only names it."""

    @property
    def memory_port(self) -> MemoryPortMetrics | None:
        """The port into memory that a rule of the scope `memory_port` looks at; `block` then only names it."""

    @property
    def time_s(self) -> float: ...
    @property
    def saved_s(self) -> float:
        """The time (s) that a fix would save by the rule; `time_s` until the rule gives one."""

    @property
    def replicas_s(self) -> Sequence[float]:
        """Where the block has replicas that the rule selects too: how long each was in the selected states."""

    @property
    def culprit(self) -> tuple[str, Side | None]:
        """Id or group of the block that the selected waits are due to, and its side; ("", None) where none is named."""

    @property
    def late_block(self) -> BlockMetrics | None:
        """The FPGA's block that is late, one for all of its replicas; seen from the host, the busiest of those that
        are waited for. None where the host is late, or nobody is named."""

    @property
    def culprit_title(self) -> str:
        """The same as a title names it; "" where the rule asks for none."""

    @property
    def waited_for(self) -> bool:
        """Whether somebody waits for the block, or may: a host thread, or a block of hardware."""

    @property
    def targets(self) -> int:
        """How many FPGA blocks the selected states of a host block name."""

    @property
    def waiting(self) -> Waiting:
        """The selection's own waits; on the FPGA all of its time is late."""

    @property
    def host(self) -> HostSide:
        """The thread that is selected; for hardware, the one that waits least among those that wait, or the first."""

    @property
    def parallel(self) -> Sequence[BlockMetrics]:
        """The FPGA's blocks with work beside the block, itself too: its replicas, and those that receive from the same
        block; none for a host thread."""
        ...

    @property
    def stages(self) -> Sequence[Sequence[BlockMetrics]]:
        """The stages with work of the FPGA's pipeline that the block stands in, each with its replicas."""
        ...

    @property
    def loops_s(self) -> float:
        """The host's own time in the loops around the selected calls."""

    @property
    def together(self) -> Together:
        """The selected calls that follow one another without another call between."""

    @property
    def starts_together(self) -> int:
        """The most rounds in a row in which the FPGA is started without data moving between them."""

    @property
    def poll_sites(self) -> int:
        """How many calls of this thread ask whether the FPGA is ready."""
        ...

    @property
    def due_s(self) -> float:
        """How long the selected polls had better be put off after each wait begins."""

    @property
    def served_s(self) -> float:
        """Control messages and waits beside the selected calls, and the loops around all."""


@dataclass(frozen=True)
class Metric:
    """`compute` gives the value of a selection, or None where the metric does not apply: then it is 0, or "".

    `stays`, for a metric that is a least time of the run: in words, what that time rests on. `scopes` are the scopes of
    rules in which it applies, such as fifo; none are all.
    """

    name: str
    title: str
    unit: str  # one of `UNITS`, or "text"
    compute: Callable[[Selected], Value | None]
    stays: str = ""
    scopes: tuple[str, ...] = ()

    def value(self, selected: Selected) -> Value:
        computed = self.compute(selected)
        return computed if computed is not None else "" if self.unit == "text" else 0.0

    def text(self, value: Value) -> str:
        return value_text(value, self.unit)


Metrics = Mapping[str, Metric]


@dataclass(frozen=True)
class FindingSource:
    """Findings that a plugin computes itself, because no rule over one block can state them. `find` gets what a run
    measured; those that gain less than its threshold are left out, and each is ranked among the rules' findings. The
    names in a finding's `metrics` are those of metrics. `bound` gives what the run gains by a rule's finding at
    most, and why, where the plugin knows a tighter bound than the rule. `advice` gives what to do in place of what a
    rule's finding advises, where its calls are in code that the plugin generated; None elsewhere."""

    name: str
    find: Callable[[Measured], Sequence[Finding]]
    bound: Callable[[Measured, Finding], tuple[float, str] | None] | None = None
    advice: Callable[[Measured, Finding], Sequence[Advice] | None] | None = None
