"""The variation of the host's own code between runs, where its time was measured.

The host's own code varies between executions, since other programs share its caches, its core and its clock. A run
shows this in repeated pieces, the code between calls at the same two sites; the project shows it in earlier runs of the
same program.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt
from statistics import mean, stdev

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Run
from workbench.model.text import counted, percent_text, ratio_text
from workbench.replay.editing import Edited
from workbench.replay.program import Program

Numbers = NDArray[np.int64]

#: By how much the host's own code may differ in the next run, where fewer than so many equal runs show it. Of pairs of
#: runs of `tests/benchmarks/host_noise.py` 9 of 10 differ by less than 4 %; up to 20 % were seen on a busy machine.
UNKNOWN, FEWEST_RUNS = 0.15, 3
#: The least number of pieces at the same places to compare, and the number of parts of a run.
_FEWEST_PIECES, _PARTS = 4, 10
#: Student's t at 95 %, by degrees of freedom from 2 on; the last one holds for more.
_T95 = (2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812)
#: The largest factor, however few and different the runs are.
MOST = 2.0


@dataclass(frozen=True)
class HostNoise:
    """The factors between which the host's own code, or the `whole` run, is expected to lie in another run, and their
    basis."""

    quicker: float
    slower: float
    why: str
    whole: bool = False

    @property
    def words(self) -> str:
        """The basis of a prediction's interval, in a sentence."""
        between = range_words((self.quicker, self.slower))
        if self.whole:
            return f"another run takes {between} the time of this run. Basis: {self.why}."
        return f"the host code of another run takes {between} its time in this run. Basis: {self.why}."


def host_noise(run: Run, equal_ps: Sequence[int] = ()) -> HostNoise | None:
    """The variation of the host's own code that covers 9 of 10 other runs; None if the code is counted, or there is
    none.

    `equal_ps` are its times (ps) in earlier runs of the same program.
    """
    own_ps, places = own_pieces(run)
    total_ps = int(own_ps.sum())
    if run.manifest.deterministic or not total_ps:
        return None
    parts, share = _parts(own_ps, places)
    ends, reasons = [1.0], []
    if len(parts) > 1:
        ends += [min(parts), max(parts)]
        reasons.append(
            f"tenths of its equal pieces ({percent_text(share)} of its time) took {range_words(parts)} the mean"
        )
    runs_ps = [total_ps, *(one for one in equal_ps if one > 0)]
    if len(runs_ps) < FEWEST_RUNS:
        ends += [1 / (1 + UNKNOWN), 1 + UNKNOWN]
        reasons.append(
            f"{percent_text(UNKNOWN)} more or less is assumed for fewer than {counted(FEWEST_RUNS, 'run')} of the same "
            "program"
        )
    else:
        logs = [log(one / total_ps) for one in runs_ps]
        degrees = len(logs) - 1
        off = _T95[min(degrees - 2, len(_T95) - 1)] * stdev(logs) * sqrt(1 + 1 / len(logs))
        ends += [exp(mean(logs) - off), exp(mean(logs) + off)]
        ratios = [one / total_ps for one in runs_ps]
        reasons.append(
            f"in {counted(len(logs), 'run')} of the same program, it took {range_words(ratios)} its time in this run"
        )
    return HostNoise(max(min(ends), 1 / MOST), min(max(ends), MOST), "; ".join(reasons))


def range_words(ratios: Sequence[float]) -> str:
    return f"{ratio_text(min(ratios))} to {ratio_text(max(ratios))}"


def own_pieces(run: Run) -> tuple[Numbers, Numbers]:
    """The host's own code (ps) before each call of its threads, in order, and a number for each piece's place: the
    calls before and after it."""
    none = np.zeros(0, np.int64)
    syncs, calls = run.tables.get("syncs"), run.tables.get("calls")
    if len(run.manifest.threads) > 1 and syncs is not None and len(syncs["block"]):
        thread, begin_ps = np.asarray(syncs["block"]), np.asarray(syncs["t0_ps"])
        own_ps = np.asarray(syncs["own_ps"]).astype(np.int64)
        call = np.stack([np.asarray(syncs["kind"]), np.asarray(syncs["object"])]).astype(np.int64)
    elif calls is not None and len(calls["block"]):
        thread, begin_ps = np.asarray(calls["block"]), np.asarray(calls["t0_ps"])
        call = np.stack([np.asarray(calls["site"]), np.asarray(calls["state"])]).astype(np.int64)
        own_ps = none
    else:
        return none, none
    order = np.lexsort((begin_ps, thread))
    thread, call = thread[order].astype(np.int64), call[:, order]
    if own_ps is none:
        assert calls is not None
        ended_ps = np.append(0, np.asarray(calls["t1_ps"])[order][:-1])
        own_ps = np.asarray(calls["t0_ps"])[order] - np.where(_begins(thread), 0, ended_ps)
    else:
        own_ps = own_ps[order]
    by_time = np.argsort(begin_ps[order], kind="stable")
    return np.maximum(own_ps, 0).astype(np.int64)[by_time], places_of(thread, call)[by_time]


def places_of(thread: Numbers, call: Numbers) -> Numbers:
    """A number for each call's place: its thread, the call before it and itself. `call` has a column for each, in the
    order of threads and time."""
    before = np.where(_begins(thread), -1, np.roll(call, 1, axis=1))
    _, places = np.unique(np.vstack([thread, before, call]), axis=1, return_inverse=True)
    return places.reshape(-1).astype(np.int64)


def measured_ps(run: Run) -> int:
    """What a run that measures time says of how long another one takes: the host's own code, on a real machine all."""
    return int(own_pieces(run)[0].sum()) if run.manifest.simulated else run.manifest.time_ps


def _begins(thread: Numbers) -> NDArray[np.bool_]:
    """A mask of the rows that are the first of their thread."""
    return np.append(True, thread[1:] != thread[:-1])


def _parts(own_ps: Numbers, places: Numbers) -> tuple[list[float], float]:
    """For each tenth of the run the time of its repeated pieces over their expected mean time; and the share of all own
    code in these pieces. Fewer parts if there are few pieces, none if less than half of the code repeats."""
    counts = np.bincount(places)
    means_ps = np.bincount(places, own_ps) / np.maximum(counts, 1)
    equal = (counts >= _FEWEST_PIECES)[places]
    repeated_share = float(own_ps[equal].sum() / own_ps.sum())
    if repeated_share < 0.5:
        return [], repeated_share
    took_ps, expected_ps = own_ps[equal], means_ps[places][equal]
    middles = (np.cumsum(expected_ps) - expected_ps / 2) / expected_ps.sum()
    part = np.minimum((middles * _PARTS).astype(np.int64), _PARTS - 1)
    took, expected = (np.bincount(part, some, _PARTS) for some in (took_ps, expected_ps))
    return (took[expected > 0] / expected[expected > 0]).tolist(), repeated_share


def let_host_take(program: Program, edited: Edited, factor: float) -> None:
    """Scale all of the host's own code: between calls, around polls, and in calls before and after their transfers."""
    threads = program.run.manifest.threads
    ops = program.ops
    for name in ("own_ps", "before_ps", "after_ps", *(("gap_ps",) if len(threads) < 2 else ())):
        ops[name] = np.rint(ops[name] * factor)
    for name in ("loop_ps", "unsure_ps"):
        setattr(program, name, np.rint(getattr(program, name) * factor).astype(np.int64))
    gaps_ps = np.rint(program.host.gaps_ps * factor).astype(np.int64)
    program.host = replace(program.host, gaps_ps=gaps_ps)
    program.rest_ps = {thread: round(rest_ps * factor) for thread, rest_ps in program.rest_ps.items()}
    edited.own = {number: edited.own.get(number, 1.0) * factor for number in range(len(threads))}
