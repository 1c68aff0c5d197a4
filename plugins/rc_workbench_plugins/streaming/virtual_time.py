"""Virtual time: two clocks put on one, from messages that were stamped by both (Lancaster 2011, section 4.6).

A message leaves the processor at t_P1, meets the FPGA's counter at t_F2 and is back at t_P3. Virtual time is
t_V = s_P t_P = s_F t_F + b_F (Eqs. 4.1 and 4.2). Counters are read down to whole ticks: half a tick is added to each
where the middle is wanted, a whole one where a bound must hold. Times are ns from where the counters begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

LEAST_SHARE, LEAST_ROWS = 0.1, 20  # of the messages: those with the shortest round trips

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
        return Triples(self.t_p1[first:last], self.t_f2[first:last], self.t_p3[first:last])


@dataclass(frozen=True)
class Clock:
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


def calibrate(triples: Triples, s_p_ns: float, s_f_ns: float | None = None, first: int = 0) -> Clock:
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
    return Clock(first, first + len(triples), s_f_ns, b_f_ns, float(lower_ns), float(upper_ns))


def per_frame(triples: Triples, s_p_ns: float, s_f_ns: float | None, frames: int) -> Sequence[Clock]:
    """The clock in each of so many frames of equally many messages, which shows whether it drifts. Frames in which no
    rate can be seen are left out."""
    edges = np.linspace(0, len(triples), frames + 1).round().astype(int)
    found = []
    for first, last in pairwise(edges):
        part = triples.part(first, last)
        if len(part) > 1 and (s_f_ns is not None or np.ptp(part.t_f2)):
            found.append(calibrate(part, s_p_ns, s_f_ns, int(first)))
    return found
