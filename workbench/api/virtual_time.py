"""Virtual time: two clocks put on one, from messages that were stamped by both (Lancaster 2011, section 4.6).

A message leaves the processor at t_P1, meets the FPGA's counter at t_F2 and is back at t_P3. Virtual time is
t_V = s_P t_P = s_F t_F + b_F (Eqs. 4.1 and 4.2). Counters are read down to whole ticks: half a tick is added to each
where the middle is wanted, a whole one where a bound must hold. Times are ns from where the counters begin.

Of a run, the processor's clock is the host's, of whole ps, and `ClockFrame`s are what a clock's times are put on it by.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from workbench.api.tables import table_of
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.run import PS_PER_S
from workbench.model.run_tables import Table
from workbench.model.text import significant

LEAST_SHARE, LEAST_ROWS = 0.1, 20  # of the messages: those with the shortest round trips
MOST_FRAMES = 64
AT_ONCE = 1.25  # times the shortest round trip: who took longer waited for something
NEARLY = 1.5  # times as unsure as with more frames
MOST_DRIFT = 100e-6  # share by which a clock is taken to change its rate within a second, where messages are few
_PS = 1e-3  # ns: a tick of the host's clock

Ticks = NDArray[np.int64]


@dataclass(frozen=True)
class Triples:
    """Counters of messages in the order they were sent, relative to those of one of them."""

    t_p1: Ticks
    t_f2: Ticks
    t_p3: Ticks

    def __len__(self) -> int:
        return len(self.t_p1)

    def part(self, first: int, last: int) -> Triples:
        return self.of(slice(first, last))

    def of(self, which: slice | Sequence[int]) -> Triples:
        return Triples(self.t_p1[which], self.t_f2[which], self.t_p3[which])


@dataclass(frozen=True)
class FittedClock:
    """An FPGA's clock on virtual time, by the messages from `first` to before `last`: t_V = s_f_ns t_F + b_f_ns.

    At the rate `s_f_ns`, causality lets b_F be between `lower_ns` and `upper_ns` only (Eqs. 4.7 and 4.8). Where these
    cross there is no such b_F: the rate is not the clock's. How long the way there takes is not seen from a round trip,
    so that nothing within the bounds can be ruled out, however little the messages scatter.
    """

    first: int
    last: int
    s_f_ns: float
    b_f_ns: float
    lower_ns: float
    upper_ns: float

    @property
    def crossed_ns(self) -> float:
        """By how much the bounds cross; 0 where they do not."""
        return max(0.0, self.lower_ns - self.upper_ns)


def calibrate(triples: Triples, s_p_ns: float, s_f_ns: float | None = None, first: int = 0) -> FittedClock:
    """b_F, and s_F where it is not given: the middles of the shortest round trips (Eq. 4.10), by least squares around
    their mean. ValueError where all of them have one FPGA time, so that no rate can be seen."""
    trips = triples.t_p3 - triples.t_p1
    least = np.sort(trips)[min(len(triples), max(LEAST_ROWS, round(LEAST_SHARE * len(triples)))) - 1]
    short = trips <= least
    host_ns = s_p_ns * (triples.t_p1[short] + triples.t_p3[short] + 1) / 2
    cycles = triples.t_f2[short] + 0.5
    middle_ns, middle = host_ns.mean(), cycles.mean()
    if s_f_ns is None:
        spread = float(((cycles - middle) ** 2).sum())
        if not spread:
            raise ValueError("every message met the same cycle")
        s_f_ns = float(((cycles - middle) * (host_ns - middle_ns)).sum()) / spread
    lower_ns = (s_p_ns * triples.t_p1 - s_f_ns * (triples.t_f2 + 1)).max()
    upper_ns = (s_p_ns * (triples.t_p3 + 1) - s_f_ns * triples.t_f2).min()
    b_f_ns = float(middle_ns - s_f_ns * middle)
    return FittedClock(first, first + len(triples), s_f_ns, b_f_ns, float(lower_ns), float(upper_ns))


def per_frame(triples: Triples, s_p_ns: float, s_f_ns: float | None, frames: int) -> Sequence[FittedClock]:
    """The clock in each of so many frames of equally many messages, which shows whether it drifts. Frames in which no
    rate can be seen are left out."""
    edges = np.linspace(0, len(triples), frames + 1).round().astype(int)
    clocks = []
    for first, last in pairwise(edges):
        part = triples.part(first, last)
        if len(part) > 1 and (s_f_ns is not None or np.ptp(part.t_f2)):
            clocks.append(calibrate(part, s_p_ns, s_f_ns, int(first)))
    return clocks


@dataclass(frozen=True)
class ClockFrame:
    """A clock in a run's cycles from `first` to before `last`: t_ps = rate_ps cycle + offset_ps on the host's clock.

    `lower_ps` and `upper_ps` are what the messages let the offset be at this rate (`FittedClock`). No time of the
    frame's is farther off than `uncertainty_ps`, the two ways there being as unlike as causality allows. `messages` is
    0 where the clock is the host's own, as in a simulation: its times are exact.
    """

    first: int
    last: int
    rate_ps: Fraction
    offset_ps: Fraction = Fraction(0)
    lower_ps: float = 0.0
    upper_ps: float = 0.0
    uncertainty_ps: int = 0
    messages: int = 0

    @property
    def crossed_ps(self) -> float:
        """By how much the bounds cross: where they do, the clock drifted within the frame by more than is seen."""
        return max(0.0, self.lower_ps - self.upper_ps)

    def at(self, cycle: int) -> int:
        return round(self.rate_ps * cycle + self.offset_ps)

    def lasting(self, cycles: int) -> int:
        return round(self.rate_ps * cycles)


def frame_of(frames: Sequence[ClockFrame], cycle: int) -> ClockFrame:
    """The one that a cycle is in; of cycles before and after all, the nearest."""
    return frames[max(bisect_right(frames, cycle, key=lambda frame: frame.first) - 1, 0)]


def frames_of(triples: Triples, cycles: int) -> tuple[ClockFrame, ...]:
    """A run's clock of so many cycles, by messages in ps of the host's clock: in the fewest frames, of `LEAST_ROWS`
    messages or more, that make its times (nearly) as sure as they can be. Messages that had to wait on their way tell
    less, and are left out where others span the run. No frames where no rate can be seen."""
    if len(triples) < 2 or not np.ptp(triples.t_f2):
        return ()
    order = np.argsort(triples.t_f2, kind="stable")
    trips = (triples.t_p3 - triples.t_p1)[order]
    short = order[trips <= AT_ONCE * trips.min()]
    if 2 * np.ptp(triples.t_f2[short]) < np.ptp(triples.t_f2):
        short = order
    every, chosen = (Triples(triples.t_p1[of], triples.t_f2[of], triples.t_p3[of]) for of in (order, short))
    most, bend = min(len(chosen) // LEAST_ROWS, MOST_FRAMES), _bend(chosen)
    tried: list[tuple[ClockFrame, ...]] = []
    for count in (1 << power for power in range(max(most.bit_length(), 1))):
        enough = len(every) * LEAST_SHARE >= LEAST_ROWS * count  # for a fit to take none but the shortest
        tried.append(_in_frames(every if enough else chosen, cycles, count, bend))
    unsure_ps = [max((frame.uncertainty_ps for frame in frames), default=0) for frames in tried]
    return next(frames for frames, unsure in zip(tried, unsure_ps, strict=True) if unsure <= NEARLY * min(unsure_ps))


def steady(triples: Triples, cycles: int, at_begin: int) -> ClockFrame:
    """A steady clock of so many cycles of 1 ps, by messages in ps of the other's: the first `at_begin` at its begin and
    the others at its end, of each those with the shortest round trips. Its rate is what both ends say, or the other's
    but for `MOST_DRIFT`, whichever makes its times surer: messages that waited on their way say little of a rate."""
    trips = triples.t_p3 - triples.t_p1
    ends = [one for one in np.split(np.arange(len(triples)), [at_begin]) if len(one)]
    shortest = [one[np.argsort(trips[one], kind="stable")[: LEAST_ROWS // 2]] for one in ends]  # as many of each: a fit
    chosen = [sorted(one[trips[one] <= AT_ONCE * trips[one[0]]].tolist()) for one in shortest]  # takes them all
    tried = []
    for one, end in zip(shortest, chosen, strict=True):
        part = triples.of(end)
        clock, last = calibrate(part, _PS, _PS), max(cycles, int(part.t_f2[-1]) + 1)
        met = int(triples.t_f2[one[0]])
        unsure_ps = int(trips[one[0]]) + 2 + round(MOST_DRIFT * max(met, last - met))
        tried.append(_whole(clock, last, unsure_ps, part))
    if len(ends) > 1:
        part = triples.of([*chosen[0], *chosen[1]])
        clock, last = calibrate(part, _PS), max(cycles, int(part.t_f2[-1]) + 1)
        anchors = np.array([one[0] for one in shortest])
        tried.append(_whole(clock, last, _unsure_at(clock, triples, anchors, (0, last), 0.0), part))
    return min(tried, key=lambda frame: frame.uncertainty_ps)


def _whole(clock: FittedClock, last: int, unsure_ps: int, part: Triples) -> ClockFrame:
    """A clock of cycles of 1 ps for all of them."""
    return ClockFrame(0, last, Fraction(clock.s_f_ns / _PS), Fraction(clock.b_f_ns / _PS), clock.lower_ns / _PS,
                      clock.upper_ns / _PS, unsure_ps, len(part))  # fmt: skip


def _bend(triples: Triples) -> float:
    """By how much the rate changes: share a ns. What a parabola through the messages shows, and three times how unsure
    that is; of few messages `MOST_DRIFT`."""
    if len(triples) < LEAST_ROWS:
        return MOST_DRIFT * 1e-9
    half = np.ptp(triples.t_f2) / 2
    middle_ns = _PS * (triples.t_p1 + triples.t_p3) / 2
    cycles = (triples.t_f2 - triples.t_f2.mean()) / half
    parts, spread = np.polyfit(cycles, middle_ns - middle_ns.mean(), 2, cov=True)
    return float(2 * (abs(parts[0]) + 3 * np.sqrt(spread[0, 0])) / parts[1] ** 2)


def _in_frames(whole: Triples, cycles: int, count: int, bend: float) -> tuple[ClockFrame, ...]:
    clocks = per_frame(whole, _PS, None, count)
    parts = [whole.part(clock.first, clock.last) for clock in clocks]
    edges = [0, *(int(a.t_f2[-1] + b.t_f2[0] + 1) // 2 for a, b in pairwise(parts)), cycles]
    if parts:
        edges[-1] = max(cycles, int(parts[-1].t_f2[-1]) + 1)
    return tuple(
        ClockFrame(first, last, Fraction(clock.s_f_ns / _PS), Fraction(clock.b_f_ns / _PS), clock.lower_ns / _PS,
              clock.upper_ns / _PS, _unsure_ps(clock, part, first, last, bend), len(part))
        for clock, part, first, last in zip(clocks, parts, edges, edges[1:], strict=False)
    )  # fmt: skip


def _unsure_ps(clock: FittedClock, part: Triples, first: int, last: int, bend: float) -> int:
    """How far a time between two cycles may be off. The shortest message of each quarter of them says how far the clock
    was from the fitted line at most, where it met the FPGA."""
    quarters = np.array_split(np.arange(len(part)), 4)
    trips = part.t_p3 - part.t_p1
    anchors = np.array([quarter[trips[quarter].argmin()] for quarter in quarters if len(quarter)])
    end = quarters[len(anchors) - 1][::-1]
    anchors[-1] = end[trips[end].argmin()]  # of equally short ones the last
    return _unsure_at(clock, part, anchors, (first, last), bend)


def _unsure_at(clock: FittedClock, part: Triples, anchors: Ticks, span_of: tuple[int, int], bend: float) -> int:
    """How far a time in a span may be off: between two messages a steady clock is not farther off than at either, and
    beyond the outermost as much more as they let the rate be off. What it bends comes to it."""
    first, last = span_of
    met = part.t_f2[anchors]
    early_ns = clock.s_f_ns * (met + 1) + clock.b_f_ns - _PS * part.t_p1[anchors]
    late_ns = _PS * (part.t_p3[anchors] + 1) - clock.s_f_ns * met - clock.b_f_ns
    most_ns = float(np.maximum(early_ns, late_ns).max())
    span = max(int(met[-1] - met[0]), 1)
    beyond = max(int(met[0]) - first, last - int(met[-1]), 0)
    gap = int(np.diff(met).max(initial=1))
    bent_ns = bend * clock.s_f_ns**2 * max(gap**2 / 8, beyond * (beyond + span) / 2)
    return int(np.ceil((most_ns * (1 + 2 * beyond / span) + bent_ns) / _PS))


def exactly(period_ps: Fraction) -> tuple[ClockFrame, ...]:
    """A clock that begins with the host's, at a rate that is known."""
    return (ClockFrame(0, 0, period_ps),)


TABLE = "virtual_time"  # of a run
_USUAL_PPM = 100  # of an oscillator


def table_of_frames(clocks: Mapping[tuple[int, int], Sequence[ClockFrame]]) -> Table:
    """The run's table, of clocks by card and number."""
    rows = [
        (*clock, f.first, f.last, float(f.rate_ps), float(f.offset_ps), f.lower_ps, f.upper_ps, f.uncertainty_ps,
         f.messages, f.crossed_ps)
        for clock, frames in clocks.items() for f in frames
    ]  # fmt: skip
    return table_of(TABLE, rows)


def frames_of_table(table: Table) -> dict[tuple[int, int], tuple[ClockFrame, ...]]:
    """The clocks of a run's table, by card and number."""
    frames: dict[tuple[int, int], tuple[ClockFrame, ...]] = {}
    for row in zip(*(np.asarray(column).tolist() for column in table.values()), strict=True):
        card, clock, first, last, rate, offset, lower, upper, unsure, messages, _ = row
        frame = ClockFrame(first, last, Fraction(rate), Fraction(offset), lower, upper, unsure, messages)
        frames[card, clock] = (*frames.get((card, clock), ()), frame)
    return frames


def clock_problems(name: str, frames: Sequence[ClockFrame], nominal_hz: float) -> Iterator[Diagnostic]:
    """Diagnostics that a clock's frames prove: it runs at another rate than stated, or at no constant rate."""
    begin_ps, cycles = frames[0].at(frames[0].first), frames[-1].last - frames[0].first
    lasted_ps, sure_ps = frames[-1].at(frames[-1].last) - begin_ps, frames[0].uncertainty_ps + frames[-1].uncertainty_ps
    if abs(lasted_ps - cycles * PS_PER_S / nominal_hz) > sure_ps:
        hz = cycles / lasted_ps * PS_PER_S
        ppm = (hz / nominal_hz - 1) * 1e6
        yield Diagnostic(
            f"the FPGA's clock '{name}' runs at {hz / 1e6:.9g} MHz by the host's clock (to within "
            f"{significant(sure_ps / lasted_ps * 1e6)} ppm); the platform says {nominal_hz / 1e6:g} MHz",
            f"That is {significant(abs(ppm))} ppm {'fast' if ppm > 0 else 'slow'}. Its times use the measured rate.",
            Severity.WARNING if abs(ppm) > _USUAL_PPM else Severity.NOTE,
        )
    middles = [(f.first + f.last) // 2 for f in frames]
    at_one_rate = [begin_ps + lasted_ps * (middle - frames[0].first) / cycles for middle in middles]
    off_ps = (abs(f.at(m) - t) - f.uncertainty_ps for f, m, t in zip(frames, middles, at_one_rate, strict=True))
    if max(off_ps) > sure_ps:
        rates = [float(PS_PER_S / f.rate_ps) / 1e6 for f in frames]
        yield Diagnostic(
            f"the FPGA's clock '{name}' has no constant rate: fits go from {min(rates):.9g} to {max(rates):.9g} MHz",
            "It drifts: its times use a fit for each frame. A counter that wrapped or was reset looks the same.",
            Severity.WARNING,
        )
