"""Finds the depth of each FIFO by simulation: the least that keeps nearly all of the throughput, and the price of less
memory.

Two traced runs, as built and with FIFOs as deep as they like, tell when each word passed; `replay/words.py` then
says in milliseconds how long the application takes with any depths, and one more run confirms those advised. Where
that takes another time, it is read once more with what that run showed; where replay cannot follow it, each step is a
simulation. All runs are of one build: FIFOs ask for their depth when it starts (`resources/hdl/recap_depth.v`).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.api import HdlBuild, Task
from workbench.api.job import Job
from workbench.api.records import read_end, read_transfers
from workbench.api.stream_records import stream_tables, stream_transfers
from workbench.api.targets import Outcome
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.streams import Fifo, Stream
from workbench.replay.depths import AMPLE, FAILED, LOSS, Choice, CyclesOf, front, least_depths
from workbench.replay.host_words import with_host
from workbench.replay.traffic import Traffic, traffic_of
from workbench.replay.words import WordReplay
from workbench.session.make.instrumenting import check_driven, on_each, with_depths
from workbench.session.make.pipeline import task_of
from workbench.session.open.composing import check
from workbench.session.open.workspace import Value, Workspace

_REPLAYS = 3  # runs with advised depths, each read again, before every step is simulated


@dataclass(frozen=True)
class Simulated:
    """A run with some depths. `cycles` are those up to the last transfer of any stream; None if it failed."""

    cycles: int | None
    transfers: tuple[int, ...]  # of each stream
    stalls: tuple[tuple[int, int], ...]  # of each stream: by its source, by its sink
    most: tuple[int, ...]  # the largest occupancy of each FIFO in words
    why: str = ""
    traffic: Traffic | None = None

    def rate(self, stream: int) -> float:
        """Words per cycle; 0 if the run failed."""
        return self.transfers[stream] / (self.cycles + 1) if self.cycles is not None and self.transfers else 0.0


@dataclass(frozen=True)
class Depths:
    """The result of the search. `built` is the run with declared depths, `ample` with unlimited ones, `after` with the
    `advised` depths (words, by id); `runs` is the number of runs. `predicted` are the replayed cycles with the advised
    depths, None if each step was simulated; `front` trades cycles for memory, by replay."""

    streams: tuple[Stream, ...]
    fifos: tuple[Fifo, ...]
    advised: Mapping[str, int]
    built: Simulated
    ample: Simulated
    after: Simulated
    runs: int
    diagnostics: tuple[Diagnostic, ...] = ()
    predicted: int | None = None
    front: tuple[Choice, ...] = ()


def advise_depths(workspace: Workspace, changes: Mapping[str, Value], job: Job, loss: float = LOSS) -> Depths:
    """Find depths for an application in deterministic runs of its project. WorkbenchError if it cannot be built, its
    language cannot vary depths, or it fails even with unlimited depths."""
    with tempfile.TemporaryDirectory(prefix="recap-depths-") as folder:
        return _advise(built_runs(workspace, workspace.settings(changes), Path(folder), job), loss)


def built_runs(workspace: Workspace, settings: Mapping[str, Value], folder: Path, job: Job) -> Runs:
    """An application built below `folder` for runs with any depths. Raises WorkbenchError like `advise_depths`."""
    project, target = workspace.project, workspace.target("simulated")
    check(workspace.composed, job)
    job.progress(None, "instrument")
    folders = {id(one): folder / "hdl" / str(number) for number, one in enumerate(workspace.designs)}
    hdl = on_each(workspace, lambda one: with_depths(one, settings, folders[id(one)], job))
    if not hdl.fifos:
        hint = "FIFOs are found by their names and streams; list others under hardware.fifos and hardware.streams."
        raise WorkbenchError(Diagnostic("no FIFO was found in the design", hint, file=str(workspace.path)))
    check_driven(workspace, hdl)
    task = task_of(workspace, settings, hdl, folder / "build", folder / "raw")
    task = replace(task, deterministic=True, again=True, trace=True)
    task.build.mkdir()
    job.plan(target.steps)
    built = target.build(task, job)
    links = [link.name for link in project.hardware.links]
    return Runs(task, hdl, links, lambda depths: target.run(replace(task, depths=depths), built, job), job)


def _advise(runs: Runs, loss: float) -> Depths:
    hdl, alike = runs.hdl, runs.alike
    as_built, ample = runs.run({}), runs.run(dict.fromkeys(runs.varied, AMPLE))
    if ample.cycles is None:
        hint = "It must run with FIFOs of any depth before depths can be found."
        raise WorkbenchError(Diagnostic(f"the application does not run: {ample.why}", hint))
    search = Search(runs, ample, loss)
    advice = search.by_replay(as_built) or search.by_simulation()
    advised = {name: advice.advised[first] for name, first in alike.items()}
    choices = tuple(
        replace(one, depths={name: one.depths[first] for name, first in alike.items()}) for one in advice.front
    )
    return Depths(
        hdl.streams, hdl.fifos, advised, as_built, ample, runs.run(advice.advised), len(runs.known),
        (*hdl.diagnostics, *advice.diagnostics), advice.predicted, choices,
    )  # fmt: skip


class Runs:
    """Runs of one build, each made once; `known` by their depths. `varied` are the ids of the FIFOs whose depths are
    chosen; `alike` maps each FIFO to the one in `varied` that has its depth."""

    def __init__(
        self, task: Task, hdl: HdlBuild, links: Collection[str], start: Callable[[Mapping[str, int]], Outcome], job: Job
    ) -> None:
        self._task, self.hdl, self._start, self._job = task, hdl, start, job
        self.varied, self.alike = _varied(hdl, links)
        self.known: dict[tuple[tuple[str, int], ...], Simulated] = {}

    def numbers(self, first: str) -> list[int]:
        """The indexes of the FIFOs that share a depth."""
        return [number for number, fifo in enumerate(self.hdl.fifos) if self.alike.get(fifo.id) == first]

    def run(self, depths: Mapping[str, int]) -> Simulated:
        key, job = tuple(sorted(depths.items())), self._job
        if key not in self.known:
            job.check()
            depths_text = ", ".join(f"{name} {words}" for name, words in depths.items()) or "as built"
            job.log(f"Run {len(self.known) + 1}: {depths_text}")
            shutil.rmtree(self._task.raw, ignore_errors=True)
            outcome = self._start(depths)
            if not outcome.failed and not stream_tables(self._task.raw):
                raise WorkbenchError(*(job.diagnostics or [Diagnostic("the design's streams are not counted")]))
            failed = [d.message for d in outcome.diagnostics if outcome.failed]
            self.known[key] = _simulated(self._task, self.hdl, failed)
        return self.known[key]


@dataclass(frozen=True)
class _Depths:
    """Depths for the FIFOs in `Runs.varied`, which represent those with the same depth."""

    advised: Mapping[str, int]
    diagnostics: tuple[Diagnostic, ...] = ()
    predicted: int | None = None
    front: tuple[Choice, ...] = ()


class Search:
    """Searches the least depths; `ample` is the run with unlimited FIFOs. `held` is the largest occupancy in it, `bits`
    the total word width that a depth applies to, `why` the reasons why replay is not sufficient."""

    def __init__(self, runs: Runs, ample: Simulated, loss: float = LOSS) -> None:
        self._runs, self._ample, self._loss, hdl = runs, ample, loss, runs.hdl
        self._numbers = {first: runs.numbers(first) for first in runs.varied}
        self._best = FAILED if ample.cycles is None else ample.cycles
        self.why: list[str] = []
        self.held = {first: max(ample.most[n] for n in of) for first, of in self._numbers.items()}
        self.bits = {first: sum(hdl.streams[hdl.fifos[n].input].bits or 1 for n in self._numbers[first])
                     for first in self._numbers}  # fmt: skip

    def by_replay(self, as_built: Simulated) -> _Depths | None:
        """Depths found by replay and confirmed by a run; None if replay is not sufficient (`why`)."""
        runs_read: list[tuple[Simulated, Mapping[str, int]]]
        runs_read = [(self._ample, dict.fromkeys(self.held, 0)), (as_built, {})]
        for _ in range(_REPLAYS):
            (run, depths), other_traffic = runs_read[0], [one.traffic for one, _ in runs_read[1:] if one.traffic]
            if run.traffic is None:
                return None
            words = WordReplay(run.traffic, self._by_number(depths), other_traffic)
            cycles_of = self.replays(words)
            self.why = words.why or ["replay does not reproduce the unchanged run"]
            if words.why or cycles_of(depths) != run.cycles:
                return None
            advised = least_depths(self.held, cycles_of, self._best, self._loss)
            after = self._runs.run(advised)
            if after.cycles == cycles_of(advised):
                return _Depths(advised, (), after.cycles, front(self.held, self.bits, cycles_of))
            runs_read.insert(0, (after, advised))
        self.why = ["runs with the advised depths took other times than predicted"]
        return None

    def by_simulation(self) -> _Depths:
        def cycles_of(depths: Mapping[str, int]) -> int:
            cycles = self._runs.run(depths).cycles
            return FAILED if cycles is None else cycles

        return _Depths(least_depths(self.held, cycles_of, self._best, self._loss), (_step_by_step(self.why),))

    def replays(self, words: WordReplay) -> CyclesOf:
        """The cycles with some depths by replay, each computed once."""
        replayed: dict[tuple[int, ...], int] = {}

        def cycles_of(depths: Mapping[str, int]) -> int:
            key = tuple(depths.get(name, -1) for name in self.held)
            if key not in replayed:
                cycles = words.replay(self._by_number(depths)).cycles
                replayed[key] = FAILED if cycles is None else cycles
            return replayed[key]

        return cycles_of

    def _by_number(self, depths: Mapping[str, int]) -> dict[int, int]:
        return {n: words for first, words in depths.items() for n in self._numbers[first]}


def _step_by_step(why: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "replay cannot predict this application's time with other depths, so each was simulated: " + "; ".join(why),
        "A block may depend on more than the words that it received and sent.",
        Severity.NOTE,
    )


def _varied(hdl: HdlBuild, links: Collection[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The ids of the FIFOs whose depths are chosen, and for each FIFO the one that has its depth: FPGAs with the same
    design have the same depths."""
    first = {id(one): place for one, place in reversed([*zip(hdl.each, hdl.places, strict=True)])}
    alike = {
        place + name: first[id(one)] + name
        for one, place in zip(hdl.each, hdl.places, strict=True) for name in one.simulation.varied
    }  # fmt: skip
    alike |= {fifo.id: fifo.id for fifo in hdl.fifos if fifo.id in links}
    return tuple(dict.fromkeys(alike.values())), alike


def _simulated(task: Task, hdl: HdlBuild, failed: list[str]) -> Simulated:
    raw, streams, fifos = task.raw, hdl.streams, hdl.fifos
    tables = stream_tables(raw)
    counts, occupancy = tables.get("streams"), tables.get("occupancy")
    moved, stalls, most_words = np.zeros(len(streams), int), np.zeros((len(streams), 2), int), np.zeros(len(fifos), int)
    if counts is not None and occupancy is not None:
        moved[counts["stream"]] = counts["transfers"]
        stalls[counts["stream"]] = np.stack((counts["source_stalls"], counts["sink_stalls"]), 1)
        np.maximum.at(most_words, occupancy["fifo"], occupancy["words"])
    last = int(read_end(raw / "card_end.txt").get("last_transfer", -1))
    by_side = tuple((int(source), int(sink)) for source, sink in stalls)
    cycles = None if failed else last
    traffic = None if failed else _traffic(task, hdl)
    return Simulated(
        cycles, tuple(moved.tolist()), by_side, tuple(most_words.tolist()), failed[0] if failed else "", traffic
    )


def _traffic(task: Task, hdl: HdlBuild) -> Traffic | None:
    """The traffic of all words; None if it was not recorded."""
    pieces = list(stream_transfers(task.raw))
    if not pieces or task.platform.hardware is None:
        return None
    table = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    derived_clocks = {clock.name: clock for design in hdl.each for clock in design.simulation.made.values()}
    clocks_hz = {clock.name: clock.frequency_hz for clock in (*task.platform.hardware.clocks, *derived_clocks.values())}
    return with_host(
        traffic_of(table, hdl.streams, hdl.fifos, clocks_hz), read_transfers(task.raw).at(), task.platform, hdl.places
    )
