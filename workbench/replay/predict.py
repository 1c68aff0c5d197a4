"""Predicts what changes of the catalogue would gain of a run, by replaying it as a graph of who waits for whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.model.changes import Change
from workbench.model.platform import Platform
from workbench.model.prediction import Bottleneck, CriticalPath, Prediction, Trust
from workbench.model.run import Run


@dataclass(frozen=True)
class Replayed:
    """A run made ready for predictions.

    `modelled_ps` is the time that replay of the unchanged run comes to, None where it cannot be replayed. `exact` says
    that this, and all that it models, is as recorded, and `why` what is not, or why it cannot be replayed.
    """

    run: Run
    platform: Platform | None
    modelled_ps: int | None
    exact: bool
    why: str

    def predict(self, changes: Sequence[Change]) -> Prediction:
        """What the changes, made together, would gain. Raises WorkbenchError where one names what the run lacks."""
        return Prediction(tuple(changes), Trust.REFUSED, why=self.why)

    def next_bottlenecks(self, changes: Sequence[Change] = ()) -> tuple[Bottleneck, ...]:
        """What holds the run once these changes are made: its critical path by block and state, the longest first."""
        return ()

    def best_sets(self, candidates: Sequence[Change], sizes: Sequence[int] = (2, 3)) -> tuple[Prediction, ...]:
        """For each size the set of so many of the candidates that gains most; none where no such set is answered."""
        return ()

    def critical_path(self) -> CriticalPath:
        """The run's critical path; without steps, and with the reason, where it cannot be replayed."""
        return CriticalPath(self.run.time_s, (), why=self.why)


def prepare(run: Run, platform: Platform | None) -> Replayed:
    """The run made ready for predictions. `platform` is the one that it ran on, as its template says now."""
    return Replayed(run, platform, None, False, "replay does not know any cause of this run's waits yet")
