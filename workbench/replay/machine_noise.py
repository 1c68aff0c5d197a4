"""Estimates how much the time of a run on a real machine varies from run to run, for the interval of a prediction.

Three sources show it:

- Equal pieces of the run: code and calls at the same places take another time each time, so their sum varies.
- Waits for a core: other programs are busy at other moments in the next run.
- Earlier runs of the same program.

For example, the equal pieces of a run of 1 s vary by 1 % in sum, and its threads waited for cores for 1 % of the time.
Then runs have a standard deviation of about 4 %, as on a quiet machine. This run and the next one both vary: 9 of 10
other runs take between 0.90 and 1.11 s.
"""

from collections.abc import Sequence
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Run
from workbench.model.syncs import SyncKind
from workbench.model.text import counted, percent_text
from workbench.replay.host_noise import MOST, HostNoise, places_of, range_words

Numbers = NDArray[np.int64]

#: The assumed variation between runs, as the standard deviation of the logarithm of the run time: on a quiet machine,
#: and in addition if waits for cores make a run e times as long. They fit the runs of
#: `tests/benchmarks/ranks_machine.py`, whose ranks waited for cores for 1 to 86 % of the time. The assumption weighs as
#: much as this number of measured runs.
_QUIET, _LOADED, _COUNTS_AS = 0.04, 0.1, 12
#: The assumed share of waits for cores, if they are not recorded.
_UNRECORDED = 0.25
#: The fewest pieces at one place that are compared, and the number of parts into which a run is divided.
_FEWEST_PIECES, _PARTS = 4, 10
#: Student's t at 95 %, by degrees of freedom from `_COUNTS_AS` on; the last one holds for more.
_T95 = (1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725)


def machine_noise(run: Run, equal_ps: Sequence[int] = ()) -> HostNoise | None:
    """The factors between which the time of 9 of 10 other runs lies; None if the run has no table `syncs`.

    `equal_ps` are the times (ps) of earlier runs of the same program.
    """
    times_ps, places = _pieces(run)
    if not len(times_ps) or run.manifest.time_ps <= 0:
        return None
    deviation, compared = _deviation_of_sum(times_ps, places, run.manifest.time_ps)
    queued = _queued_share(run)
    assumed = _QUIET**2 + _LOADED**2 * -log(1 - (_UNRECORDED if queued is None else queued)) + deviation**2
    logs = np.log([1.0, *(one / run.manifest.time_ps for one in equal_ps if one > 0)])
    degrees = _COUNTS_AS + len(logs) - 1
    variance = max((_COUNTS_AS * assumed + float(((logs - logs.mean()) ** 2).sum())) / degrees, assumed)
    off = _T95[min(degrees - _COUNTS_AS, len(_T95) - 1)] * sqrt(variance * (1 + 1 / len(logs)))
    basis = [
        f"this run's equal pieces ({percent_text(compared)} of its time) vary by {percent_text(deviation)} in sum",
        "this run did not record waits for cores" if queued is None else
        f"a thread was ready for {percent_text(queued)} of its time while others had the cores",
    ]  # fmt: skip
    if len(logs) > 1:
        ratios = np.exp(logs).tolist()
        basis.append(f"{counted(len(logs), 'run')} of the same program took {range_words(ratios)} the time of this one")
    ends = (exp(logs.mean() - off), exp(logs.mean() + off))
    return HostNoise(max(ends[0], 1 / MOST), min(ends[1], MOST), "; ".join(basis), whole=True)


def _queued_share(run: Run) -> float | None:
    """The share of its life for which a thread was ready and waited for a core, of the thread that waited most; None if
    these waits are not recorded."""
    shares = [thread.queued_ps / max(thread.end_ps - thread.begin_ps, 1) for thread in run.manifest.threads]
    return min(max(shares), 0.99) if any(shares) else None


def _pieces(run: Run) -> tuple[Numbers, Numbers]:
    """The run's pieces in order of time: their times (ps), and a number for the place of each.

    A piece is a thread's own code before a call, or a call. If the call waited for a message, its piece begins when the
    message was sent.
    """
    syncs = run.tables.get("syncs")
    if syncs is None or not len(syncs["block"]):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    own_ps, begin_ps, end_ps = (np.asarray(syncs[name]).astype(np.int64) for name in ("own_ps", "t0_ps", "t1_ps"))
    kind, woken_by = np.asarray(syncs["kind"]), np.asarray(syncs["woken_by"])
    message = (kind == SyncKind.AWAIT_MESSAGE) & (woken_by >= 0)
    since_ps = begin_ps.copy()
    since_ps[message] = np.maximum(begin_ps[message], begin_ps[woken_by[message]])
    alone = message | (kind == SyncKind.SLEEP)
    thread = np.asarray(syncs["block"]).astype(np.int64)
    places = places_of(thread, np.stack([kind.astype(np.int64), _sites(run, thread, begin_ps)]))
    pieces_ps = np.concatenate([own_ps, np.where(alone, end_ps - since_ps, 0)])
    by_time = np.argsort(np.concatenate([begin_ps, end_ps]), kind="stable")
    return pieces_ps[by_time], np.concatenate([places, places + places.max() + 1])[by_time]


def _sites(run: Run, thread: Numbers, at_ps: Numbers) -> Numbers:
    """The site of the call in which each moment (ps) of a thread lies; -1 outside of calls."""
    calls, sites = run.tables["calls"], np.full(len(thread), -1, np.int64)
    for number in np.unique(thread).tolist():
        rows, own = np.flatnonzero(thread == number), np.flatnonzero(np.asarray(calls["block"]) == number)
        begin_ps, end_ps = (np.append(-1, np.asarray(calls[name])[own]) for name in ("t0_ps", "t1_ps"))
        last = np.searchsorted(begin_ps, at_ps[rows], "right") - 1
        site = np.append(-1, np.asarray(calls["site"])[own])[last]
        sites[rows] = np.where(at_ps[rows] <= end_ps[last], site, -1)
    return sites


def _deviation_of_sum(times_ps: Numbers, places: Numbers, run_ps: int) -> tuple[float, float]:
    """The standard deviation of the sum of a run's equal pieces, as a share of the run; and the share of these pieces
    in the time of all.

    It is the larger of two: if each piece varies by itself, and if ten parts of the run do. Several threads' pieces
    together take longer than the run, and only those on its critical path count: the variance is reduced to them.
    """
    counts = np.bincount(places)
    means_ps = np.bincount(places, times_ps) / np.maximum(counts, 1)
    equal = (counts >= _FEWEST_PIECES)[places]
    difference_ps = (times_ps - means_ps[places])[equal]
    if not len(difference_ps):
        return 0.0, 0.0
    part = np.arange(len(difference_ps)) * _PARTS // len(difference_ps)
    of_parts_ps = np.bincount(part, difference_ps, _PARTS)
    variance = max(float((difference_ps**2).sum()), float((of_parts_ps**2).sum()) * _PARTS / (_PARTS - 1))
    total_ps = float(times_ps.sum())
    return sqrt(variance * min(1.0, run_ps / total_ps)) / run_ps, float(times_ps[equal].sum()) / total_ps
