"""What an agent in hardware sent, as a query's answers."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.streaming.agents.conditions import edges_along
from rc_workbench_plugins.streaming.agents.cost import Cost
from rc_workbench_plugins.streaming.agents.layout import (
    HEAD_WORDS,
    MAGIC,
    OF_FRAME,
    OF_TIME,
    Field,
    HardwareAgent,
    Histogram,
    Monitor,
    Trace,
)
from rc_workbench_plugins.streaming.query.measures import (
    COUNTED,
    TIMED,
    Assert,
    AssertResult,
    FrameValue,
    Measure,
    MeasureResult,
    Metric,
    Statistic,
    operands,
    with_parts,
)
from workbench.api import PS_PER_S, Diagnostic, Severity, WorkbenchError, counted, time_text
from workbench.api.virtual_time import ClockFrame, exactly, frame_of

Words = NDArray[np.uint32]
_OVER_TIME = frozenset({Metric.BACKPRESSURE, Metric.SHARE})  # shares of time, and no number of events
_BROKEN = 2  # an assertion's truth: not known, true, false


@dataclass(frozen=True)
class Told:
    """Cycles since reset that a clock had when it was asked."""

    clock: int
    cycle: int


@dataclass
class _Answer:
    frames: list[FrameValue] = field(default_factory=list)
    changes: list[tuple[int, int]] = field(default_factory=list)  # of an assertion: time (ps), (true, false) as bits
    broken: dict[int, float] = field(default_factory=dict)  # of its operands, when it was broken first
    passed: Counter[Field] = field(default_factory=Counter)
    lost: int = 0
    too_long: int = 0  # frames that are not in it
    end_ps: int = 0
    unsure_ps: int = 0


def times_told(agent: HardwareAgent, words: Sequence[int] | Words) -> tuple[Told, ...]:
    """The answers to `TELL_TIME`, in order."""
    return tuple(Told(number, two[0] | two[1] << 32) for kind, number, two in _packets(agent, words) if kind == OF_TIME)


@dataclass(frozen=True)
class Answers:
    """Answers in the query's order, of the statements that agents have, and the cost of counting them."""

    measures: tuple[MeasureResult, ...]
    asserts: tuple[AssertResult, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    costs: tuple[Cost, ...] = ()

    @property
    def results(self) -> tuple[MeasureResult | AssertResult, ...]:
        return (*self.measures, *self.asserts)

    def as_json(self) -> dict[str, Any]:
        """The JSON that `workbench query --json` prints."""
        return {
            "measures": [one.as_json() for one in self.measures],
            "asserts": [one.as_json() for one in self.asserts],
            "diagnostics": [one.as_json() for one in self.diagnostics],
            "agents": [one.as_json() for one in self.costs],
        }


def losses(problems: Iterable[Diagnostic]) -> list[str]:
    """The problems that say that something was not counted: events or words lost, or answers that break off."""
    return [one.message for one in problems if re.search(r"\blost\b|break off", one.message)]


def answers(
    agent: HardwareAgent, words: Sequence[int] | Words, times: Sequence[Sequence[ClockFrame]] | None = None
) -> Answers:
    """What all packets come to. WorkbenchError where words cannot come from this agent.

    `times` are of the agent's clocks on the host's, each in frames; without them all begin with the host's, at the
    rates that they were said to have.
    """
    clocks = times or [exactly(clock.period_ps) for clock in agent.clocks]
    by_monitor: dict[int, _Answer] = {}
    for kind, number, body in _packets(agent, words):
        if kind == OF_FRAME:
            group = agent.groups[number]
            _take(group.monitors, body, clocks[group.clock], by_monitor)
    measures, problems = list[MeasureResult](), list[Diagnostic]()
    held: list[tuple[Assert, _Answer]] = []
    for group in agent.groups:
        for monitor in group.monitors:
            answer = by_monitor.get(id(monitor), _Answer())
            if isinstance(monitor.of, Measure):
                measures.append(_result(monitor, monitor.of, answer))
            else:
                held.append((monitor.of, answer))
                problems += _too_long(answer)
                if answer.lost:
                    lost = counted(answer.lost, "change")
                    message = f"{lost} of '{monitor.of.label or monitor.of.text}' had no room in the FPGA"
                    hint = "The answer shows where it is incomplete; use shorter frames to see all of it."
                    problems.append(Diagnostic(message, hint, severity=Severity.WARNING))
    asserts = [_held(of, answer, measures) for of, answer in held]
    unequal = {part.along for answer in by_monitor.values() for part, more in answer.passed.items() if more}
    return in_order_alone(Answers(tuple(measures), tuple(asserts), tuple(problems)), unequal)


def in_order_alone(answered: Answers, unequal: Collection[tuple[str, ...]]) -> Answers:
    """Answers without latencies along these paths, whose elements cannot be matched by their order."""
    statements: list[Measure | Assert] = [one.measure for one in answered.measures]
    statements += [one.asserted for one in answered.asserts]
    lost = {one: _not_in_order(one) for one in statements if {*unequal} & {*edges_along(one)}}
    return Answers(
        tuple(
            replace(one, frames=(), trust=why.message, diagnostics=(why,)) if (why := lost.get(one.measure)) else one
            for one in answered.measures
        ),
        tuple(
            replace(one, broken_ps=(), known=False, trust=why.message) if (why := lost.get(one.asserted)) else one
            for one in answered.asserts
        ),
        (*answered.diagnostics, *lost.values()),
    )


def _not_in_order(of: Measure | Assert) -> Diagnostic:
    way = " -> ".join(next(edges_along(of)))
    message = f"unknown to an agent: blocks along {way} gave more or fewer elements than they took"
    hint = "A trace shows which element came from which: workbench run --trace, then workbench query RUN QUERY_FILE."
    return Diagnostic(message, hint, severity=Severity.WARNING, line=of.line or None, column=of.column or None)


def _packets(agent: HardwareAgent, words: Sequence[int] | Words) -> Iterator[tuple[int, int, list[int]]]:
    """(kind, clock or group, the words after its first) of each packet. One that breaks off at the end is left out."""
    every, place = [int(word) for word in words], 0
    while place < len(every):
        magic, kind, number = every[place] >> 24, every[place] >> 16 & 0xFF, every[place] & 0xFFFF
        most = {OF_FRAME: len(agent.groups), OF_TIME: len(agent.clocks)}.get(kind, 0)
        if magic != MAGIC or number >= most:
            message = f"word {place} from the agent in hardware starts no packet: {every[place]:08x}"
            raise WorkbenchError(Diagnostic(message, "Check that the FPGA was configured with this build."))
        length = 2 if kind == OF_TIME else _length(agent.groups[number].monitors, every, place + 1)
        if place + 1 + length > len(every):
            return
        yield kind, number, every[place + 1 : place + 1 + length]
        place += 1 + length


def _length(monitors: Sequence[Monitor], words: Sequence[int], place: int) -> int:
    """How many words follow the first one of a frame's packet that has them from `place` on."""
    length = HEAD_WORDS - 1 + sum(part.words for monitor in monitors for part in monitor.fields)
    for monitor in monitors:
        length += _memory_words(monitor, words[place + length : place + length + 1])
    return length


def _memory_words(monitor: Monitor, body: Sequence[int]) -> int:
    """How many words there are of a monitor's memory, at the beginning of these."""
    match monitor.memory:
        case Histogram(bin_of):
            return len(bin_of)
        case Trace(value_words):
            return 2 + (body[0] if len(body) else 0) * (1 + value_words)
    return 0


def _take(monitors: Sequence[Monitor], body: list[int], times: Sequence[ClockFrame], taken: dict[int, _Answer]) -> None:
    start, stop = body[1] | body[2] << 32, body[3] | body[4] << 32
    timing, until = frame_of(times, start), frame_of(times, stop)
    place = HEAD_WORDS - 1
    held: list[dict[str, int]] = []
    for monitor in monitors:
        held.append({})
        for part in monitor.fields:
            held[-1][part.name] = _number(part, body[place : place + part.words])
            if part.along:
                taken.setdefault(id(monitor), _Answer()).passed[part] += held[-1][part.name]
            place += part.words
    for monitor, fields in zip(monitors, held, strict=True):
        answer = taken.setdefault(id(monitor), _Answer())
        frame = FrameValue(
            timing.at(start),
            until.at(stop),
            timing.lasting(fields.get("collected", stop - start)),
            fields.get("count", 0),
            uncertainty_ps=max(timing.uncertainty_ps, until.uncertainty_ps),
        )
        answer.lost += fields.get("lost", 0)
        answer.end_ps = frame.end_ps
        answer.too_long += stop - start >> 32 > 0
        if start == stop or stop - start >> 32:  # asked for as one had ended; counts of 32 bits may have overflowed
            place += _memory_words(monitor, body[place:])
            continue
        answer.unsure_ps = max(answer.unsure_ps, frame.uncertainty_ps)
        match monitor.memory:
            case Histogram(bin_of, bins):
                frame = replace(frame, histogram=_histogram(monitor, bin_of, bins, body[place:], timing))
                place += len(bin_of)
            case Trace() as trace:
                records, lost = body[place : place + 2]
                answer.lost += lost
                place += 2
                words = np.array(body[place : place + records * (1 + trace.value_words)], np.uint64)
                place += len(words)
                table = words.reshape(records, 1 + trace.value_words)
                if not isinstance(monitor.of, Measure):
                    raw = _raw(trace, table).tolist()
                    if not any(worth == _BROKEN for _, worth in answer.changes):
                        first = next((bits for bits in raw if bits & 3 == _BROKEN), None)
                        answer.broken = {} if first is None else _compared(monitor.of, trace, first, timing)
                    answer.changes += [
                        (timing.at(start + int(since)), bits & 3) for since, bits in zip(table[:, 0], raw, strict=True)
                    ]
                    continue
                frame = replace(frame, samples=_samples(monitor, monitor.of, trace, table, start, timing))
            case None if isinstance(monitor.of, Measure):
                frame = _valued(monitor, monitor.of, frame, fields, stop - start, timing)
        answer.frames.append(frame)


def _number(part: Field, words: Sequence[int]) -> int:
    value = sum(word << 32 * number for number, word in enumerate(words))
    if part.signed and value >> 32 * part.words - 1:
        value -= 1 << 32 * part.words
    return value + part.bias


def _histogram(
    monitor: Monitor, bin_of: tuple[int, ...], bins: int, words: Sequence[int], timing: ClockFrame
) -> tuple[int, ...]:
    counts = [0] * bins
    for number, bin_ in enumerate(bin_of):
        counts[bin_] += words[number]
    weighed = isinstance(monitor.of, Measure) and monitor.of.metric is Metric.OCCUPANCY
    return tuple(timing.lasting(count) for count in counts) if weighed else tuple(counts)


def _samples(
    monitor: Monitor, of: Measure, trace: Trace, table: NDArray[np.uint64], start: int, timing: ClockFrame
) -> tuple[NDArray[np.int64], NDArray[np.generic]]:
    after = 0 if trace.state else 1  # a state is there when its cycle begins, an event at its end
    times = np.array([timing.at(start + int(since) + after) for since in table[:, 0]], np.int64)
    raw = _raw(trace, table)
    values: NDArray[np.generic] = raw.astype(np.int64)
    if of.metric in TIMED:
        values = np.array([timing.lasting(int(cycles)) + round(monitor.bias_ps) for cycles in raw], np.int64)
    elif of.metric is Metric.VALUE:
        values = _typed(raw, trace.type)
    return times, values


def _raw(trace: Trace, table: NDArray[np.uint64]) -> NDArray[Any]:
    """The values of records, as bits."""
    if trace.value_words > 2:
        each = (sum(word << 32 * number for number, word in enumerate(row[1:])) for row in table.tolist())
        return np.array([*each], object)
    return table[:, 1] if trace.value_words == 1 else table[:, 1] | table[:, 2] << np.uint64(32)


def _compared(of: Assert, trace: Trace, bits: int, timing: ClockFrame) -> dict[int, float]:
    """What operands were worth in a record, by their numbers, in base units."""
    sides, numbers = list(operands(of.condition)), {}
    for part in trace.operands:
        if bits >> part.low & 1:
            raw = bits >> part.low + 1 & (1 << part.bits) - 1
            timed = sides[part.number].metric in TIMED
            value = _typed(np.array([raw], np.uint64), part.type)[0].item() if part.type else raw
            numbers[part.number] = float(timing.lasting(raw) + part.bias_ps) if timed else value
    return numbers


def _typed(raw: NDArray[np.uint64], type_: str) -> NDArray[np.generic]:
    """Elements from their bits."""
    kind = {"unsigned": "u", "signed": "i", "float": "f"}[type_.rstrip("0123456789")]
    bits = int(type_.lstrip("unsigedflot"))
    if bits not in (8, 16, 32, 64):  # of a design's own width
        return (raw << np.uint64(64 - bits)).view("i8") >> np.int64(64 - bits) if kind == "i" else raw
    return raw.astype(f"u{bits // 8}").view(f"{kind}{bits // 8}")


def _valued(
    monitor: Monitor, of: Measure, frame: FrameValue, fields: dict[str, int], cycles: int, timing: ClockFrame
) -> FrameValue:
    """The frame with its value, in base units."""
    collected, rate_ps = fields.get("collected", cycles), timing.rate_ps
    unit = rate_ps if of.metric in TIMED else Fraction(1)
    value: Fraction | float | None
    if of.single:
        if of.metric in (Metric.VISITS, Metric.TRANSITIONS):
            times = fields.get("sum", frame.count)
            return replace(frame, count=times, value=times)
        value = Fraction(frame.count, collected) if collected else None
        if of.metric is Metric.RATE and value is not None:
            value = value * PS_PER_S / rate_ps
        return replace(frame, value=_plain(value), count=0 if of.metric in _OVER_TIME else frame.count)
    over, bias_ps = collected if of.metric is Metric.OCCUPANCY else frame.count, monitor.bias_ps
    match of.statistic:
        case Statistic.SUM:
            value = fields["sum"] * unit * (rate_ps if of.metric is Metric.OCCUPANCY else 1)
            value += bias_ps * frame.count
        case _ if not over:
            value = None
        case Statistic.MEAN:
            value = fields["sum"] * unit / over + bias_ps
        case Statistic.MIN:
            value = fields["least"] * unit + bias_ps
        case _:
            value = fields["largest"] * unit + bias_ps
    off = float(monitor.unsure_ps * (frame.count if of.statistic is Statistic.SUM else 1))
    return replace(frame, value=_plain(value), uncertainty=0.0 if value is None else off)


def _plain(value: Fraction | float | None) -> float | None:
    if value is None:
        return None
    return int(value) if Fraction(value).denominator == 1 else float(value)


def _too_long(answer: _Answer) -> Iterator[Diagnostic]:
    """A warning of frames in which a count may have overflowed."""
    if answer.too_long:
        frames = counted(answer.too_long, "frame")
        message = f"{frames} of more than 2^32 cycles {'is' if answer.too_long == 1 else 'are'} not in the answer"
        hint = "Give the agent's memory more words, so that frames end in time."
        yield Diagnostic(message, hint, severity=Severity.WARNING)


def _result(monitor: Monitor, of: Measure, answer: _Answer) -> MeasureResult:
    trust = COUNTED
    if problems := tuple(_too_long(answer)):
        return MeasureResult(of, with_parts(of, answer.frames), f"{trust}, but {problems[0].message}", problems)
    if monitor.unsure_ps:
        trust += f", each time to within {time_text(float(monitor.unsure_ps) / 1e12)}: its ends are on different clocks"
    if not answer.lost:
        return MeasureResult(of, with_parts(of, answer.frames), trust)
    if of.statistic is Statistic.TRACE:
        what, hint = "records had no room", "Use shorter frames, or 'hist' instead of 'trace'."
    else:
        what, hint = (
            "elements' times had no room",
            "There were more elements between the two ends than the queues hold.",
        )
    message = f"{answer.lost} {what} in the FPGA, and are not in the answer"
    problem = Diagnostic(message, hint, severity=Severity.WARNING)
    return MeasureResult(of, with_parts(of, answer.frames), f"{trust}, but {message}", (problem,))


def _held(of: Assert, answer: _Answer, measures: Sequence[MeasureResult]) -> AssertResult:
    broken: list[tuple[int, int]] = []
    since: int | None = None
    for time, worth in [*answer.changes, (answer.end_ps, 0)]:
        if worth == _BROKEN and since is None:
            since = time
        elif worth != _BROKEN and since is not None:
            broken.append((since, time))
            since = None
    trust = f"{COUNTED}, but {counted(answer.lost, 'change')} had no room in the FPGA" if answer.lost else COUNTED
    known = any(worth for _, worth in answer.changes)
    compared = tuple(_worth(of, answer, measures, broken[0][0])) if broken else ()
    return AssertResult(of, tuple(broken), known, answer.unsure_ps, trust, compared)


def _worth(
    of: Assert, answer: _Answer, measures: Sequence[MeasureResult], at_ps: int
) -> Iterator[tuple[Measure, float]]:
    """What an assertion's operands were worth when it was broken first: those of a frame are known where the query asks
    for them too."""
    for number, side in enumerate(operands(of.condition)):
        frames = next((one.frames for one in measures if one.measure == side), ()) if not side.instant else ()
        ended = [frame.value for frame in frames if frame.end_ps <= at_ps]
        value = ended[-1] if ended else answer.broken.get(number)
        yield side, nan if value is None else value
