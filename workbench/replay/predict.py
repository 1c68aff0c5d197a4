"""Predicts the gain of changes of the catalogue for a run, by replaying it as a graph of waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from workbench.model.changes import Change
from workbench.model.platform import Platform
from workbench.model.prediction import Bottleneck, CriticalPath, Prediction, Trust
from workbench.model.run import PS_PER_S, Run
from workbench.replay.critical import bottlenecks, path_lines, path_steps
from workbench.replay.edge_changes import EdgeChanges
from workbench.replay.editing import Edited, RefusedError, has_links
from workbench.replay.edits import edit
from workbench.replay.estimates import estimated_within, let_estimates_be
from workbench.replay.host_noise import HostNoise, let_host_take
from workbench.replay.likely import Likely
from workbench.replay.lowering import Lowered, lower
from workbench.replay.path_within import path_moves, path_waits
from workbench.replay.predicted_round import PredictedRound, predicted_round
from workbench.replay.program import Program
from workbench.replay.refusals import (
    FROM_PROFILE,
    ONE_THREAD,
    POLL_TOGETHER,
    asked_again,
    goes_round,
    refuse_left_out,
    refuse_opaque,
    shared_memory,
)
from workbench.replay.resolve import Named, resolve
from workbench.replay.servers import Server, served_otherwise
from workbench.replay.settling import all_times_ps, with_thread_waits
from workbench.replay.several_threads import HostThreads
from workbench.replay.thread_edits import edited_threads
from workbench.replay.waits import find_spare, poll_together, run_path, slack_of
from workbench.traces.path import RunPath

#: The largest ratio of an interval's ends to the predicted speedup of a trusted prediction.
_WIDE = 1.02


@dataclass(frozen=True)
class Replayed:
    """A run prepared for predictions.

    `modelled_ps` is the time of the replayed unchanged run, None if it cannot be replayed. `exact` says that the replay
    reproduces this time and all modelled events, and `why` gives the differences, or the reason why there is no replay.
    `intervals` counts the calls, synchronising calls and FPGA stretches that the replay computes, `off` those with
    other times than recorded. `unknown` names waits without a known cause, `assumed` causes that no wait of this run
    confirms, and `taken_for_work` blocks that may wait without a pragma. For a run without a trace, `likely` is the
    FPGA's likely course from its profile, and `others` are the same run with other courses. `noise` is the variation of
    measured host time.
    """

    run: Run
    platform: Platform | None
    modelled_ps: int | None
    exact: bool
    why: str
    intervals: int = 0
    off: int = 0
    unknown: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    taken_for_work: tuple[str, ...] = ()
    program: Program | None = None
    servers: Sequence[Server] = ()  # blocks that serve several others one after the other
    threads: HostThreads | None = None  # where there are several
    likely: Likely | None = None
    others: tuple[Replayed, ...] = ()  # other courses of the FPGA with the same profile
    platforms: Mapping[str, Platform] = field(default_factory=dict)
    edges: EdgeChanges | None = None  # of a streaming application
    noise: HostNoise | None = None

    def predict(self, changes: Sequence[Change]) -> Prediction:
        """The predicted gain of the changes together. Raises WorkbenchError if a change names something that the run
        lacks."""
        changes = tuple(changes)
        named = self._named(changes)
        if self.edges and self.edges.concerns(changes):
            return self.edges.predict(changes, named, self.platforms, self.noise)
        if not self.exact or self.program is None:
            return Prediction(changes, Trust.REFUSED, why=self.why)
        try:
            refuse_left_out(self.likely, self.program, named)
            changed, effects = self._edited(self.program, changes, named)
            program, edited = changed.copy(), replace(effects)
            refuse_opaque(program, changes)
            if edited.fpga and (why := goes_round(self.program)):
                raise RefusedError(why)
            if edited.fpga and self.unknown:
                raise RefusedError(f"the cause of some later waits is unknown: {self.unknown[0]}")
            lowered = lower(program)
            times = all_times_ps(program, lowered, edited, self._threads_of(program))
            if program.fpga is self.program.fpga and (why := served_otherwise(self.servers, program, lowered)):
                raise RefusedError(why)
            for way in range(1, edited.ways):
                times += self._all_times_ps(*self._edited(self.program, changes, named, way))
        except RefusedError as error:
            return Prediction(changes, Trust.REFUSED, why=str(error))
        speedup = self.run.manifest.time_ps / times[0]
        other_times = [
            replace(other_program, platforms=self.platforms).times_ps(changes, named) for other_program in self.others
        ]
        speedups = sorted(self.run.manifest.time_ps / time_ps for time_ps in (*times, *chain(*other_times)))
        doubts = list(edited.doubts)
        if self.likely and len(program.fpga.first) and (edited.fpga or len(lowered.answered)):
            doubts.append(FROM_PROFILE)
        if max(speedups[-1] / speedup, speedup / speedups[0]) > _WIDE:
            doubts.append("it depends on times that the run does not record, such as when a poll comes")
        if edited.fpga and lowered.opaque.any():
            doubts.append("of the FPGA, only the host's waits for it are known")
            if self.run.manifest.memory_ports:  # a memory is as fast as before
                speedups = sorted((*speedups, 1.0))
        if edited.fpga and has_links(program):
            doubts.append("the rate of words between FPGAs is known only for this run")
            speedups = sorted((*speedups, 1.0))
        if not edited.in_order:
            doubts.append("the threads lock in another order: where each then waits is unknown")
            room_ps = self.threads.waits_more_ps if self.threads else 0
            ends = (self.run.manifest.time_ps / max(times[0] + more, 1) for more in (-room_ps, room_ps))
            speedups = sorted((*speedups, 1.0, *ends))
        otherwise = [goes_round(self.program) or asked_again(program, lowered)]
        otherwise.append(shared_memory(self.run, self.platform, changes))
        otherwise += [f"a wait without a known cause ends as in the run: {one}" for one in self.unknown[:1]]
        if any(otherwise):
            doubts += filter(None, otherwise)
            speedups = sorted((*speedups, 1.0))
        if edited.fpga and self.assumed:
            doubts.append(f"assumed: {self.assumed[0]}")
        if self.taken_for_work:
            doubts.append(f"assumed: {self.taken_for_work[0]}")
            speedups = sorted((*speedups, 1.0))
        if (times_off := estimated_within(program)) > 1:
            doubts.append(f"transfer times are estimates, and may be {times_off:g} times longer or shorter")
        speedups = sorted((*speedups, *self._where_times_are_off(times_off > 1, changed, effects, times)))
        limiting = bottlenecks(program, lowered)
        return Prediction(
            changes,
            Trust.DOUBTFUL if doubts else Trust.TRUSTED,
            times[0] / PS_PER_S,
            speedup,
            (speedups[0], speedups[-1]),
            "; ".join(dict.fromkeys([*doubts, *edited.notes])),
            f"{limiting[0].block} {limiting[0].state}" if limiting else "",
            self.noise.words if self.noise else "",
        )

    def _where_times_are_off(
        self, estimated: bool, changed: Program, effects: Edited, times_ps: Sequence[int]
    ) -> Iterator[float]:
        """The speedups at the limits of estimated transfer times (in both runs), and at the limits of the host's own
        code, or of all of the predicted `times_ps`, in the `changed` run."""
        for longer, before_ps in self._times_by_estimates.items() if estimated else ():
            by_estimates_ps = self._times_with_ps(changed, effects, partial(let_estimates_be, longer=longer))
            yield from (before_ps / after_ps for after_ps in by_estimates_ps)
        for factor in (self.noise.quicker, self.noise.slower) if self.noise else ():
            if self.noise and self.noise.whole:
                yield from (self.run.manifest.time_ps / (after_ps * factor) for after_ps in times_ps)
                continue
            with_noise_ps = self._times_with_ps(changed, effects, partial(let_host_take, factor=factor))
            yield from (self.run.manifest.time_ps / after_ps for after_ps in with_noise_ps)

    @cached_property
    def _times_by_estimates(self) -> dict[bool, int]:
        """The unchanged run's time (ps) with estimated transfer times at their upper (True) and lower limits."""
        assert self.program is not None
        return {
            longer: self._times_with_ps(self.program, Edited(), partial(let_estimates_be, longer=longer))[0]
            for longer in (True, False)
        }

    def _times_with_ps(
        self, changed: Program, effects: Edited, let: Callable[[Program, Edited], None]
    ) -> list[int]:  # fmt: skip
        """The possible times (ps) of a copy of a program in which `let` changes other times. Raises RefusedError."""
        program, edited = changed.copy(), replace(effects)
        let(program, edited)
        return self._all_times_ps(program, edited)

    def _all_times_ps(self, program: Program, edited: Edited) -> list[int]:
        """The possible times (ps) of an edited program. Raises RefusedError."""
        return all_times_ps(program, lower(program), edited, self._threads_of(program))

    def times_ps(self, changes: Sequence[Change], named: Sequence[Named]) -> list[int]:
        """The possible times (ps) with the changes; none if they are refused."""
        try:
            return self._all_times_ps(*self._edited(self.program, changes, named)) if self.program else []
        except RefusedError:
            return []

    def next_bottlenecks(self, changes: Sequence[Change] = ()) -> tuple[Bottleneck, ...]:
        """The critical path after the changes, by block and state, the longest first; empty if they are refused."""
        if not self.exact or self.program is None:
            return ()
        try:
            if not changes:
                return bottlenecks(self.program, self._base[0]) if self._base else ()
            return bottlenecks(*self._settled(self.program, changes))
        except RefusedError:
            return ()

    @property
    def opaque(self) -> int:
        """The number of the host's waits of which only the duration is known."""
        return sum(answer.opaque for answer in self.program.answers.values()) if self.program else 0

    def _named(self, changes: Sequence[Change]) -> list[Named]:
        labels = self.edges.labels if self.edges else ()
        return [resolve(change, self.run.manifest, self.platform, labels) for change in changes]

    def _edited(
        self, program: Program, changes: Sequence[Change], named: Sequence[Named], way: int = 0
    ) -> tuple[Program, Edited]:
        """A copy of the program with these changes in one of their readings, and the side effects. Raises
        RefusedError."""
        program, effects = program.copy(), Edited(self.platforms, way=way)
        for change, of_change in zip(changes, named, strict=True):
            edit(program, change, of_change, self.platform, effects)
        return program, effects

    def _threads_of(self, program: Program) -> HostThreads | None:
        """The threads of an edited program. Raises RefusedError."""
        return edited_threads(self.threads, program) if self.threads else None

    def _settled(self, program: Program, changes: Sequence[Change]) -> tuple[Program, Lowered]:
        """The program with these changes, and its swept graph. Raises RefusedError."""
        program, edited = self._edited(program, changes, self._named(changes))
        return program, with_thread_waits(program, edited, self._threads_of(program))[0]

    def critical_path(self) -> CriticalPath:
        """The run's critical path; without steps, and with the reason, if the run cannot be replayed."""
        if not self.exact or self.program is None or self._base is None:
            return CriticalPath(self.run.time_s, (), why=self.why)
        lowered, order = self._base
        spare = find_spare(self.program, lowered, order)
        within = run_path(self.program, lowered, spare, self.unknown)
        steps, slack = within.steps, slack_of(self.program, spare, lowered.rows)
        doubts = [FROM_PROFILE] if self.likely and len(self.program.fpga.first) else []
        doubts += [ONE_THREAD] if self.threads and lowered.rows is None else []
        doubts += [POLL_TOGETHER] if self.threads and poll_together(self.program) else []
        return CriticalPath(
            lowered.total_ps() / PS_PER_S, path_steps(self.program, steps), path_lines(self.program, steps), slack,
            "; ".join(doubts), path_moves(self.program, steps), path_waits(self.program, lowered, within),
        )  # fmt: skip

    def predicted_round(self, changes: Sequence[Change]) -> PredictedRound | None:
        """One round of the run as measured and as predicted after these changes; None if they are refused."""
        if not self.exact or self.program is None:
            return None
        try:
            return predicted_round(self.program, *self._settled(self.program, changes))
        except RefusedError:
            return None

    def run_path(self) -> RunPath | None:
        """The critical path over time, with the slack and the cause of every part; None if it is unknown."""
        if not self.exact or self.program is None or self._base is None:
            return None
        return run_path(self.program, self._base[0], find_spare(self.program, *self._base), self.unknown)

    @cached_property
    def _base(self) -> tuple[Lowered, NDArray[np.int32]] | None:
        """The unchanged run as a graph, and the order of its nodes."""
        if self.program is None:
            return None
        return with_thread_waits(self.program, Edited(), self.threads)
