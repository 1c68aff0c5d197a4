"""Predicts changes of a streaming application by replay of its queues (`queues.py`).

The threads that move data over the bus decide by the elements that are present; with other times they move other groups
of elements. Their calls then differ from the run's, so the run's graph does not apply.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.api.queues import RunQueues
from workbench.model import changes as catalogue
from workbench.model.changes import Change
from workbench.model.platform import Platform
from workbench.model.prediction import Prediction, Trust
from workbench.model.run import PS_PER_S, Run
from workbench.replay.edge_waits import explained_calls
from workbench.replay.edits import RefusedError
from workbench.replay.host_noise import HostNoise
from workbench.replay.queues import NoReplayError, Queues, Speeds
from workbench.replay.resolve import ALL, Named

#: The largest relative errors of the unchanged replay for trusted predictions, and for any prediction.
_TRUSTED, _MOST = 0.001, 0.02
#: The least half-width of the interval: `whatif.py --only scaled` was up to 0.9 % off.
_LEAST_INTERVAL = 0.01


@dataclass(frozen=True)
class EdgeChanges:
    """A traced run of a streaming application, for predictions by its queues."""

    run: Run
    queues: RunQueues
    platform: Platform | None

    @property
    def crosses(self) -> bool:
        """Whether the host's threads move elements over a bus."""
        return any(edge.crosses for edge in self.queues.edges)

    @cached_property
    def labels(self) -> frozenset[str]:
        return frozenset(edge.label for edge in self.queues.edges)

    @cached_property
    def explained(self) -> NDArray[np.int64]:
        """The rows of table `calls` that are waits of the threads that move elements, and have a known cause."""
        if not self.crosses or isinstance(self._base, str):
            return np.zeros(0, np.int64)
        return explained_calls(self._base)

    def concerns(self, changes: Sequence[Change]) -> bool:
        """Whether these changes are predicted by the queues, and not by the run's graph."""
        return self.crosses or any(
            isinstance(change, catalogue.Depth) and change.fifo in self.labels for change in changes
        )

    @cached_property
    def _base(self) -> Queues | str:
        """The unchanged run replayed, or the reason why it cannot be."""
        try:
            base = Queues(self.run, self.queues, self.platform)
        except NoReplayError as error:
            return str(error)
        base.time_ps({})
        return base if base.end_ps >= 0 else "the replay of its queues ends in a deadlock"

    def predict(
        self, changes: tuple[Change, ...], named: Sequence[Named], platforms: Mapping[str, Platform],
        noise: HostNoise | None = None,
    ) -> Prediction:  # fmt: skip
        """The predicted gain of the changes together; `noise` widens the interval by the variation of the host's own
        code."""
        try:
            return self._predicted(changes, named, platforms, noise)
        except (RefusedError, NoReplayError) as error:
            return Prediction(changes, Trust.REFUSED, why=str(error))

    def _predicted(
        self, changes: tuple[Change, ...], named: Sequence[Named], platforms: Mapping[str, Platform],
        noise: HostNoise | None,
    ) -> Prediction:  # fmt: skip
        base, run_ps = self._base, self.run.manifest.time_ps
        if isinstance(base, str):
            raise RefusedError(base)
        off = abs(base.end_ps / run_ps - 1)
        if off > _MOST:
            raise RefusedError(f"replay of the unchanged run's queues is {100 * off:.1f} % off")
        depths, speeds = self._changed(changes, named, platforms)
        changed = self._replayed(depths, speeds)
        time_ps = max(run_ps + changed.end_ps - base.end_ps, 1)
        speedup = run_ps / time_ps
        speedups = [run_ps / changed.end_ps, base.end_ps / changed.end_ps]
        for factor in (noise.quicker, noise.slower) if noise else ():
            own_factors = {n: speeds.own.get(n, 1.0) * factor for n in range(len(self.run.manifest.threads))}
            speedups.append(base.end_ps / self._replayed(depths, replace(speeds, own=own_factors)).end_ps)
        interval = (min(speedup, *speedups) * (1 - _LEAST_INTERVAL), max(speedup, *speedups) * (1 + _LEAST_INTERVAL))
        doubts = list(dict.fromkeys(changed.why[:1]))
        if off > _TRUSTED:
            doubts.append(f"replay of the unchanged run's queues is {100 * off:.2g} % off")
        return Prediction(
            changes, Trust.DOUBTFUL if doubts else Trust.TRUSTED, time_ps / PS_PER_S, speedup, interval,
            "; ".join(doubts), interval_holds=noise.words if noise else "",
        )  # fmt: skip

    def _replayed(self, depths: Mapping[str, int], speeds: Speeds) -> Queues:
        """The queues replayed to their end with these depths and speeds. Raises RefusedError if they deadlock."""
        changed = Queues(self.run, self.queues, self.platform, speeds)
        changed.time_ps(depths)
        if changed.end_ps < 0:
            raise RefusedError("with that change the blocks deadlock")
        return changed

    def _changed(
        self, changes: Sequence[Change], named: Sequence[Named], platforms: Mapping[str, Platform]
    ) -> tuple[dict[str, int], Speeds]:
        depths: dict[str, int] = {}
        own_factors: dict[int, float] = {}
        clock_hz, platform = None, None
        for change, of_change in zip(changes, named, strict=True):
            match change:
                case catalogue.Depth() if change.fifo in self.labels:
                    depths[change.fifo] = change.words
                case catalogue.ScaleHost():
                    for block in self._own_code(change, of_change):
                        own_factors[block] = own_factors.get(block, 1.0) * change.factor
                case catalogue.OtherClock():
                    clock_hz = change.frequency_hz
                case catalogue.OtherPlatform():
                    platform = platforms.get(change.platform)
                    if platform is None:
                        raise RefusedError(f"no platform '{change.platform}' is known")
                case _:
                    raise RefusedError(
                        f"'{change.kind}' is not known to the replay of a streaming application: it takes the host's "
                        "code, the clock, another platform and depths of edges"
                    )
        if clock_hz is None and platform and platform.hardware:
            names = {clock.name: clock.frequency_hz for clock in platform.hardware.clocks}
            clock_hz = names.get(self.run.manifest.clocks[0].name)
        return depths, Speeds(own_factors, clock_hz, platform)

    def _own_code(self, change: catalogue.ScaleHost, named: Named) -> set[int]:
        blocks = self.run.manifest.blocks
        for block, state in named.states:
            if change.state != ALL and blocks[block].states[state].name != "work":
                raise RefusedError(
                    f"'{change.state}' of {change.block} is not the host's own code, which has state 'work'"
                )
        return {block for block, _ in named.states}
