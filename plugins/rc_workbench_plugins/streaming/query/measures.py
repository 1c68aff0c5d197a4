"""What a query asks for and what answers it, as plain frozen data (Lancaster 2011, sections 3.3 and 3.4).

`resolve.py` makes `Query`s of text and a topology; agents count what `Measure`s ask for, on the host, in hardware or
afterwards (`evaluate.py`), and all answer with `MeasureResult`s of the same numbers.

Base units, in which all numbers stand here: rate transfers/s, util and backpressure shares of 1, occupancy elements,
latency and interval ps, value as the elements are. Times are ps on the host's virtual clock; `as_json` gives seconds.

**Where events lie.** A transfer's time is the instant at which it takes effect, in hardware the clock edge that ends
its cycle. A frame is the events in (start, end], the first one's beginning included, and the states over [start, end).
A `when` is asked just before an event, and of states at every instant.

**What conditions compare.** `Measure.instant` ones are worth what is so at the time: elements queued, the latency of
the element popped last, the value pushed last, the last interval. All others are worth the value of their *last frame
that has ended*, so that agents can decide while the application runs; before that they are not known, and nothing that
depends on them is collected or said to be broken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from workbench.api import PS_PER_S, Diagnostic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rc_workbench_plugins.streaming.crossing import Replayed


class Metric(StrEnum):
    """A metric of an edge. `RATE` counts transfers at the measure's `tap`; `UTIL` is the rate over what the edge
    could carry: in hardware a transfer in every cycle, on the host what the consumer takes while it does not wait
    for data."""

    RATE = "rate"
    UTIL = "util"
    OCCUPANCY = "occupancy"  # elements in the queue, over time: mean, sum (element s) and histogram weigh by time
    LATENCY = "latency"  # from push to pop, of each element popped
    BACKPRESSURE = "backpressure"  # share of time in which the producer has an element and the queue takes none
    VALUE = "value"  # of each element pushed
    INTERVAL = "interval"  # from one transfer at the tap to the next, less what that end waited at the edge in between
    SHARE = "share"  # of the time in which a block is in a state
    DWELL = "dwell"  # how long a state lasts, of each visit, known at its end; the run's end cuts the last one off
    VISITS = "visits"  # how often a state begins
    TRANSITIONS = "transitions"  # how often a block's state changes, or from one state to another


class Statistic(StrEnum):
    MIN = "min"
    MAX = "max"
    MEAN = "mean"
    SUM = "sum"
    HIST = "hist"
    TRACE = "trace"


class Tap(StrEnum):
    """At which end of an edge transfers are counted: a consumer's port means pops, all else pushes."""

    PUSH = "push"
    POP = "pop"


#: One number in a frame (Table 4.1), so that no statistic applies; the other metrics have many.
SINGLE = frozenset({Metric.RATE, Metric.UTIL, Metric.BACKPRESSURE, Metric.SHARE, Metric.VISITS, Metric.TRANSITIONS})

#: Times in ps.
TIMED = frozenset({Metric.LATENCY, Metric.INTERVAL, Metric.DWELL})

#: Shares of 1.
SHARES = frozenset({Metric.UTIL, Metric.BACKPRESSURE, Metric.SHARE})

#: Of the states of a block, and not of an edge.
WITHIN = frozenset({Metric.SHARE, Metric.DWELL, Metric.VISITS, Metric.TRANSITIONS})

#: What JSON and people get instead of base units: a unit, and how many base units make one.
UNITS: Mapping[Metric, tuple[str, float]] = {
    Metric.RATE: ("transfers/s", 1),
    Metric.UTIL: ("1", 1),
    Metric.OCCUPANCY: ("elements", 1),
    Metric.LATENCY: ("s", PS_PER_S),
    Metric.BACKPRESSURE: ("1", 1),
    Metric.VALUE: ("", 1),
    Metric.INTERVAL: ("s", PS_PER_S),
    Metric.SHARE: ("1", 1),
    Metric.DWELL: ("s", PS_PER_S),
    Metric.VISITS: ("visits", 1),
    Metric.TRANSITIONS: ("transitions", 1),
}


@dataclass(frozen=True)
class FrameLength:
    """Where frames end: after every `time_ps`, or after so many `elements` at the measure's tap. With neither the run
    is one frame; the last one ends with the run. Bytes stand for elements until the edge is known."""

    time_ps: int = 0
    elements: int = 0
    size_bytes: int = 0


@dataclass(frozen=True)
class Within:
    """States of a block, by its id: their indexes, and of a transition those that it goes to. None are all states.
    Where no run says which blocks and states there are, `block` is as it was written, and `known` is False."""

    block: str
    states: tuple[int, ...] = ()
    into: tuple[int, ...] = ()
    known: bool = True


@dataclass(frozen=True)
class Measure:
    """`[label:] measure statistic metric at edges [when condition]`, or `... of state STATE of BLOCK`.

    `edges` are labels of the topology's; several are a path, in the order of the data, along which latency is asked
    for. Of what is `within` a block there are none. `bins` are a histogram's bounds, rising, in base units: bin i holds
    bins[i] <= x < bins[i + 1].
    """

    label: str
    text: str  #: as written, white space made single
    metric: Metric
    statistic: Statistic
    edges: tuple[str, ...]
    tap: Tap = Tap.PUSH
    when: Condition | None = None
    frame: FrameLength = FrameLength()
    bins: tuple[float, ...] = ()
    line: int = 0
    column: int = 0
    within: Within | None = None

    @property
    def where(self) -> str:
        """The edges, or the block."""
        return self.within.block if self.within else " -> ".join(self.edges)

    @property
    def single(self) -> bool:
        """Whether a frame has just one number of it, whatever the statistic."""
        return self.metric in SINGLE

    @property
    def instant(self) -> bool:
        """Whether a condition sees its value of the moment, and not that of the last frame that ended."""
        return not self.single and self.statistic is Statistic.TRACE


@dataclass(frozen=True)
class Number:
    """A literal, in the base unit of what it is compared with."""

    value: float


@dataclass(frozen=True)
class Comparison:
    """`relation` is one of > >= < <= == !=."""

    left: Measure | Number
    relation: str
    right: Measure | Number


@dataclass(frozen=True)
class Blocked:
    """True at every instant at which the producer has an element and the queue takes none: `backpressure at EDGE`."""

    edge: str


@dataclass(frozen=True)
class InState:
    """True while a block is in one of the states: `state STATE of BLOCK`."""

    within: Within


@dataclass(frozen=True)
class Not:
    of: Condition


@dataclass(frozen=True)
class And:
    of: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    of: tuple[Condition, ...]


Condition = Comparison | Blocked | InState | Not | And | Or


def about_states(of: Measure | Assert | Condition | None) -> bool:
    """Whether a statement or a condition asks about states of blocks, itself or in what it compares."""
    match of:
        case Measure(within=within, when=when):
            return within is not None or about_states(when)
        case Assert(condition=condition) | Not(of=condition):
            return about_states(condition)
        case InState():
            return True
        case And(of=parts) | Or(of=parts):
            return any(map(about_states, parts))
        case Comparison(left=left, right=right):
            return any(about_states(side) for side in (left, right) if isinstance(side, Measure))
    return False


def of_virtual_queue(of: Measure | Assert | Condition | None) -> bool:
    """Whether a statement asks, itself or in what it compares, how many elements are along a path."""
    match of:
        case Measure(metric=metric, edges=edges, when=when):
            return (metric is Metric.OCCUPANCY and len(edges) > 1) or of_virtual_queue(when)
        case Assert(condition=condition):
            return of_virtual_queue(condition)
        case None:
            return False
    return any(map(of_virtual_queue, operands(of)))


def operands(condition: Condition | None) -> Iterator[Measure]:
    """The measures that a condition compares, each as often as it stands there."""
    match condition:
        case Comparison(left, _, right):
            yield from (side for side in (left, right) if isinstance(side, Measure))
        case Not(of):
            yield from operands(of)
        case And(of) | Or(of):
            for part in of:
                yield from operands(part)


@dataclass(frozen=True)
class Assert:
    """`[label:] assert condition`. It holds where the condition is nowhere false: at every instant at which one of its
    operands changes, and at every end of one of their frames."""

    label: str
    text: str
    condition: Condition
    line: int = 0
    column: int = 0


@dataclass(frozen=True)
class Query:
    """Statements in their order; a measure that is only an operand of a condition is found in that condition."""

    measures: tuple[Measure, ...]
    asserts: tuple[Assert, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()  # warnings: what is accepted, though Table 4.1 leaves it out

    @property
    def statements(self) -> tuple[Measure | Assert, ...]:
        return (*self.measures, *self.asserts)


@dataclass(frozen=True)
class FrameValue:
    """What a measure came to in one frame.

    `collected_ps` is how long its condition held in the frame, `count` how many events were collected: transfers at the
    tap, elements popped (latency) or pushed (value), visits of a state; 0 for what is over time alone. `value` is
    None where there was nothing to take it of. A histogram's first entry is what lay below the bins, its last what lay
    above: counts, or ps for occupancy. `samples` of a trace are times (ps) and values; of occupancy each lasts until
    the next. `uncertainty` is by how much `value` may be off either way, where times of two clocks meet, and
    `uncertainty_ps` how far the frame's times may be off on the host's clock: 0 where that clock told them. `part` is
    the share of its length that a frame has: less than 1 of a last one that the run's end cut off.
    """

    start_ps: int
    end_ps: int
    collected_ps: int
    count: int = 0
    value: float | None = None
    histogram: tuple[int, ...] | None = None
    samples: tuple[NDArray[np.int64], NDArray[np.generic]] | None = None
    uncertainty: float = 0.0
    uncertainty_ps: int = 0
    part: float = 1.0


def with_parts(measure: Measure, frames: Sequence[FrameValue]) -> tuple[FrameValue, ...]:
    """The frames that agents reported, the last one with the part of its length that it has, if known."""
    if not frames:
        return ()
    asked, last = measure.frame, frames[-1]
    part = 1.0
    if asked.time_ps:
        part = min(1.0, (last.end_ps - last.start_ps) / asked.time_ps)
    elif asked.elements and measure.metric in (Metric.RATE, Metric.VALUE) and measure.when is None:
        part = min(1.0, last.count / asked.elements)
    return (*frames[:-1], replace(last, part=part))


#: How far a result is to be believed, where nothing better is known: every event was counted.
COUNTED = "counted"


@dataclass(frozen=True)
class MeasureResult:
    """`trust` is `COUNTED`, or says in words what the numbers rest on and whether they are to be trusted; `agent` is
    where the agent is that counted it while the application ran. `replayed` is of an occupancy across a bus."""

    measure: Measure
    frames: tuple[FrameValue, ...]
    trust: str = COUNTED
    diagnostics: tuple[Diagnostic, ...] = ()
    agent: str = ""
    replayed: tuple[Replayed, ...] = field(default=(), compare=False)

    def as_json(self) -> dict[str, object]:
        """The JSON that `workbench query --json` prints."""
        unit, factor = unit_of(self.measure)
        document: dict[str, object] = {"label": self.measure.label, "text": self.measure.text, "unit": unit}
        if self.measure.bins:
            document["bins"] = [bound / factor for bound in self.measure.bins]
        frames = [_frame_json(frame, factor, self.measure.metric is Metric.OCCUPANCY) for frame in self.frames]
        document |= {"frames": frames, "trust": self.trust, **({"agent": self.agent} if self.agent else {})}
        return document | ({"replayed": [part.as_json() for part in self.replayed]} if self.replayed else {})


def unit_of(measure: Measure) -> tuple[str, float]:
    """The unit in which people and JSON get a measure's numbers, and how many base units make one."""
    if measure.metric is Metric.OCCUPANCY and measure.statistic is Statistic.SUM:
        return "element s", PS_PER_S
    return UNITS[measure.metric]


def _frame_json(frame: FrameValue, factor: float, weighed: bool) -> dict[str, object]:
    document: dict[str, object] = {
        "start_s": frame.start_ps / PS_PER_S,
        "end_s": frame.end_ps / PS_PER_S,
        "collected_s": frame.collected_ps / PS_PER_S,
        "count": frame.count,
        "uncertainty_ps": frame.uncertainty_ps,
    }
    if frame.part < 1:
        document["part"] = frame.part
    if frame.histogram is not None:
        below, *inside, above = [part / PS_PER_S for part in frame.histogram] if weighed else frame.histogram
        document |= {"histogram": inside, "below": below, "above": above}
    elif frame.samples is not None:
        times, values = frame.samples
        pairs = zip(times.tolist(), values.tolist(), strict=True)
        document["samples"] = [[t / PS_PER_S, v if factor == 1 else v / factor] for t, v in pairs]
    else:
        document["value"] = frame.value if frame.value is None or factor == 1 else frame.value / factor
        document["uncertainty"] = frame.uncertainty / factor
    return document


@dataclass(frozen=True)
class AssertResult:
    """`broken_ps` are the spells in which the condition was false; one that is a single instant begins and ends there.
    `known` is False where its operands never had a value, so that nothing was checked; `uncertainty_ps` as of a frame,
    `trust` and `agent` as of a measure's result. `compared` are the measures that it compares, with what they were
    worth when it was broken first, in base units, NaN where that is not known; none where it holds.
    """

    asserted: Assert
    broken_ps: tuple[tuple[int, int], ...]
    known: bool = True
    uncertainty_ps: int = 0
    trust: str = COUNTED
    compared: tuple[tuple[Measure, float], ...] = ()
    agent: str = ""

    @property
    def holds(self) -> bool:
        return not self.broken_ps

    def as_json(self) -> dict[str, object]:
        return {
            "label": self.asserted.label,
            "text": self.asserted.text,
            "holds": self.holds,
            "known": self.known,
            "broken": [{"start_s": begin / PS_PER_S, "end_s": end / PS_PER_S} for begin, end in self.broken_ps],
            "values": [
                {"text": one.text, "value": None if value != value else value / factor, "unit": unit}
                for one, value in self.compared
                for unit, factor in (UNITS[one.metric],)
            ],
            "uncertainty_ps": self.uncertainty_ps,
            "trust": self.trust,
            **({"agent": self.agent} if self.agent else {}),
        }
