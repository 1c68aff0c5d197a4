"""How much longer or shorter a run on a real machine may take another time, where all of its times were measured.

What a run shows of that: how much the sum of its equal pieces varies, code and calls at the same places, since each of
them takes another time; and how long its threads were ready while other programs had the cores, since these will be
busy at other moments in another run. Earlier runs of the same program show the rest.
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

#: What no run shows of itself: standard deviation of the logarithm of a quiet machine's run time, and of one whose time
#: waits for cores make e times as long (variance grows with that, as these waits are many). By the runs of
#: `tests/benchmarks/ranks_machine.py`, in which 1 to 86 % of the time was such waits. That counts as so many runs.
_QUIET, _LOADED, _COUNTS_AS = 0.04, 0.1, 12
#: So much of a run is taken to be such waits where that is not recorded.
_UNRECORDED = 0.25
_FEWEST_PIECES, _PARTS = 4, 10
#: Student's t at 95 %, by degrees of freedom from `_COUNTS_AS` on; the last one holds for more.
_T95 = (1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725)


def machine_noise(run: Run, equal_ps: Sequence[int] = ()) -> HostNoise | None:
    """How far off the time of 9 of 10 other runs may be; None where the run has no calls of several threads.

    `equal_ps` are the times (ps) of earlier runs of the same program.
    """
    times_ps, places = _pieces(run)
    if not len(times_ps) or run.manifest.time_ps <= 0:
        return None
    sum_off, shown = _sum_off(times_ps, places, run.manifest.time_ps)
    queued = _queued(run)
    assumed = _QUIET**2 + _LOADED**2 * -log(1 - (_UNRECORDED if queued is None else queued)) + sum_off**2
    logs = np.log([1.0, *(one / run.manifest.time_ps for one in equal_ps if one > 0)])
    degrees = _COUNTS_AS + len(logs) - 1
    variance = max((_COUNTS_AS * assumed + float(((logs - logs.mean()) ** 2).sum())) / degrees, assumed)
    off = _T95[min(degrees - _COUNTS_AS, len(_T95) - 1)] * sqrt(variance * (1 + 1 / len(logs)))
    said = [
        f"the sum of its equal pieces ({percent_text(shown)} of it) varies by {percent_text(sum_off)}",
        "how long its threads waited for cores is not recorded" if queued is None else
        f"for {percent_text(queued)} of it a thread was ready while others had the cores",
    ]  # fmt: skip
    if len(logs) > 1:
        ratios = np.exp(logs).tolist()
        said.append(f"{counted(len(logs), 'run')} of the same program took {range_words(ratios)} the time of this one")
    ends = (exp(logs.mean() - off), exp(logs.mean() + off))
    return HostNoise(max(ends[0], 1 / MOST), min(ends[1], MOST), "; ".join(said), whole=True)


def _queued(run: Run) -> float | None:
    """The share of its life for which the thread that waited most for a core did; None where that is not recorded."""
    shares = [thread.queued_ps / max(thread.end_ps - thread.begin_ps, 1) for thread in run.manifest.threads]
    return min(max(shares), 0.99) if any(shares) else None


def _pieces(run: Run) -> tuple[Numbers, Numbers]:
    """The threads' own code before each call, and each call from when all that it waited for was there (ps), in order
    of time; and a number for the place of each piece."""
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
    """Of each moment of a thread the site of the call in which it is; -1 where it is in none."""
    calls, sites = run.tables["calls"], np.full(len(thread), -1, np.int64)
    for number in np.unique(thread).tolist():
        rows, own = np.flatnonzero(thread == number), np.flatnonzero(np.asarray(calls["block"]) == number)
        begin_ps, end_ps = (np.append(-1, np.asarray(calls[name])[own]) for name in ("t0_ps", "t1_ps"))
        last = np.searchsorted(begin_ps, at_ps[rows], "right") - 1
        site = np.append(-1, np.asarray(calls["site"])[own])[last]
        sites[rows] = np.where(at_ps[rows] <= end_ps[last], site, -1)
    return sites


def _sum_off(times_ps: Numbers, places: Numbers, run_ps: int) -> tuple[float, float]:
    """The standard deviation of the sum of a run's equal pieces, as a share of the run; and which share of all pieces
    these are. As if each varied by itself, or as parts of the run do, whichever is more. Of several threads' pieces no
    more lie on the run's critical path than fit in it."""
    counts = np.bincount(places)
    means_ps = np.bincount(places, times_ps) / np.maximum(counts, 1)
    equal = (counts >= _FEWEST_PIECES)[places]
    off_ps = (times_ps - means_ps[places])[equal]
    if not len(off_ps):
        return 0.0, 0.0
    part = np.arange(len(off_ps)) * _PARTS // len(off_ps)
    of_parts = np.bincount(part, off_ps, _PARTS)
    variance = max(float((off_ps**2).sum()), float((of_parts**2).sum()) * _PARTS / (_PARTS - 1))
    total_ps = float(times_ps.sum())
    return sqrt(variance * min(1.0, run_ps / total_ps)) / run_ps, float(times_ps[equal].sum()) / total_ps
