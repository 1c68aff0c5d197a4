"""How deep each FIFO has to be: the least that loses next to nothing of the throughput, found and confirmed by runs.

First all FIFOs are as deep as they like. One word more than each then held at most is enough for the same time, or
twice that, and so on, where one has latencies of its own; from there each is bisected, the one that held most first,
while the others stay. Every step is a simulation of the whole application, of one build: FIFOs ask for their depth when
it starts (`resources/hdl/recap_depth.v`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.api import HdlBuild
from workbench.api.descriptors import VariesDepths
from workbench.api.job import Job
from workbench.api.records import read_end, stream_tables
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.streams import Fifo, Stream
from workbench.session.composing import check
from workbench.session.instrumenting import check_driven, on_each
from workbench.session.pipeline import task_of
from workbench.session.workspace import Value, Workspace

LOSS = 0.01
AMPLE = 1 << 16  # words that a FIFO holds that is as deep as it likes
_FAILED = 1 << 62  # cycles


@dataclass(frozen=True)
class Simulated:
    """A run with some depths. `cycles` are those up to the last transfer of any stream; None where it failed."""

    cycles: int | None
    transfers: tuple[int, ...]  # of each stream
    stalls: tuple[tuple[int, int], ...]  # of each stream: by its source, by its sink
    most: tuple[int, ...]  # words that each FIFO held at most; 0 where it held none
    why: str = ""

    def rate(self, stream: int) -> float:
        """Words a cycle; 0 where it failed."""
        return self.transfers[stream] / (self.cycles + 1) if self.cycles is not None and self.transfers else 0.0


@dataclass(frozen=True)
class Depths:
    """What was found. `built` is a run as it is, `ample` one with FIFOs as deep as they like, `after` one with the
    `advised` depths (words, by id); `runs` is how many there were."""

    streams: tuple[Stream, ...]
    fifos: tuple[Fifo, ...]
    advised: Mapping[str, int]
    built: Simulated
    ample: Simulated
    after: Simulated
    runs: int
    diagnostics: tuple[Diagnostic, ...] = ()


def least_depths(
    most: Mapping[str, int], cycles_of: Callable[[Mapping[str, int]], int], best: int, loss: float = LOSS
) -> dict[str, int]:
    """The least depths (words, by FIFO) with which the time stays within `loss` of the `best` one (cycles).

    `most` is what each held at most where they are as deep as they like; `cycles_of` runs with some depths.
    """
    depths = {name: words + 1 for name, words in most.items()}  # a full FIFO takes nothing while it gives
    limit = best / (1 - loss)
    while cycles_of(depths) > limit and max(depths.values(), default=AMPLE) < AMPLE:
        depths = {name: 2 * words for name, words in depths.items()}
    for name in sorted(depths, key=lambda one: -depths[one]):
        low, high = 0, depths[name]  # too little, and enough
        while high - low > 1:
            middle = (low + high) // 2
            if cycles_of({**depths, name: middle}) <= limit:
                high = middle
            else:
                low = middle
        depths[name] = high
    return depths


def advise_depths(workspace: Workspace, changes: Mapping[str, Value], job: Job, loss: float = LOSS) -> Depths:
    """Find the depths for an application as its project runs it, in deterministic runs. WorkbenchError where it cannot
    be built, its language cannot vary depths, or it does not even run with FIFOs as deep as they like."""
    with tempfile.TemporaryDirectory(prefix="recap-depths-") as folder:
        return _advise(workspace, workspace.settings(changes), Path(folder), job, loss)


def _advise(workspace: Workspace, settings: Mapping[str, Value], folder: Path, job: Job, loss: float) -> Depths:
    project, target = workspace.project, workspace.target("simulated")
    check(workspace.composed, job)
    job.progress(None, "instrument")
    folders = {id(one): folder / "hdl" / str(number) for number, one in enumerate(workspace.different)}
    hdl = on_each(workspace, lambda one: _with_depths(one, settings, folders[id(one)], job))
    if not hdl.fifos:
        hint = "FIFOs are told by their names and streams; others are pointed at: hardware.fifos and hardware.streams."
        raise WorkbenchError(Diagnostic("the design has no FIFO that is told", hint, file=str(workspace.path)))
    check_driven(workspace, hdl)
    task = replace(task_of(workspace, settings, hdl, folder / "build", folder / "raw"), deterministic=True, again=True)
    task.build.mkdir()
    job.plan(target.steps)
    built = target.build(task, job)
    varied, alike = _varied(hdl, [link.name for link in project.hardware.links])
    known: dict[tuple[int, ...], Simulated] = {}

    def run(depths: Mapping[str, int]) -> Simulated:
        key = tuple(depths.get(name, 0) for name in varied)
        if key not in known:
            job.check()
            job.log(f"Run {len(known) + 1}: {', '.join(f'{n} {d}' for n, d in depths.items()) or 'as it is built'}")
            outcome = target.run(replace(task, depths=depths), built, job)
            if not outcome.failed and not stream_tables(task.raw):
                raise WorkbenchError(*(job.diagnostics or [Diagnostic("the design's streams are not counted")]))
            known[key] = _simulated(
                task.raw, hdl.streams, hdl.fifos, [d.message for d in outcome.diagnostics if outcome.failed]
            )
        return known[key]

    as_built, ample = run({}), run(dict.fromkeys(varied, AMPLE))
    if ample.cycles is None:
        hint = "It has to run with FIFOs as deep as they like before depths can be found."
        raise WorkbenchError(Diagnostic(f"the application does not run: {ample.why}", hint))
    held = dict.fromkeys(varied, 0)
    for fifo, words in zip(hdl.fifos, ample.most, strict=True):
        if first := alike.get(fifo.id):
            held[first] = max(held[first], words)

    def cycles_of(depths: Mapping[str, int]) -> int:
        cycles = run(depths).cycles
        return _FAILED if cycles is None else cycles

    advised = least_depths(held, cycles_of, ample.cycles, loss)
    after = run(advised)
    advised = {name: advised[first] for name, first in alike.items()}
    return Depths(hdl.streams, hdl.fifos, advised, as_built, ample, after, len(known), hdl.diagnostics)


def _with_depths(workspace: Workspace, settings: Mapping[str, Value], out: Path, job: Job) -> HdlBuild:
    """A design whose FIFOs' depths are chosen as it is simulated. One of several FPGAs' whose language cannot do that
    stays as it is, and says so."""
    language, root, platform = workspace.hdl_language, workspace.root, workspace.platform
    parameters = workspace.parameters(settings)
    problems: tuple[Diagnostic, ...] = ()
    if isinstance(language, VariesDepths):
        make = language.with_depths
    else:
        told = Diagnostic(f"depths of FIFOs cannot be tried in designs of the language '{language.name}'")
        if not workspace.ends:
            raise WorkbenchError(told)
        make, problems = language.instrument, (replace(told, severity=Severity.NOTE, file=str(workspace.path)),)
    build = workspace.instrument_hdl(settings, lambda part: make(root, part, platform, parameters, out, job), job)
    return replace(build, diagnostics=(*build.diagnostics, *problems))


def _varied(hdl: HdlBuild, links: Collection[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The FIFOs whose depths are chosen, and by each that has such a depth which of them: FPGAs with the same design
    have the same depths."""
    first = {id(one): place for one, place in reversed([*zip(hdl.each, hdl.places, strict=True)])}
    alike = {
        place + name: first[id(one)] + name
        for one, place in zip(hdl.each, hdl.places, strict=True) for name in one.varied
    }  # fmt: skip
    alike |= {fifo.id: fifo.id for fifo in hdl.fifos if fifo.id in links}
    return tuple(dict.fromkeys(alike.values())), alike


def _simulated(raw: Path, streams: tuple[Stream, ...], fifos: tuple[Fifo, ...], failed: list[str]) -> Simulated:
    tables = stream_tables(raw)
    counts, held = tables.get("streams"), tables.get("occupancy")
    moved, stalls, most = np.zeros(len(streams), int), np.zeros((len(streams), 2), int), np.zeros(len(fifos), int)
    if counts is not None and held is not None:
        moved[counts["stream"]] = counts["transfers"]
        stalls[counts["stream"]] = np.stack((counts["source_stalls"], counts["sink_stalls"]), 1)
        np.maximum.at(most, held["fifo"], held["words"])
    last = int(read_end(raw / "card_end.txt").get("last_transfer", -1))
    by_side = tuple((int(source), int(sink)) for source, sink in stalls)
    whole = None if failed else last
    return Simulated(whole, tuple(moved.tolist()), by_side, tuple(most.tolist()), failed[0] if failed else "")
