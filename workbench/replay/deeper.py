"""How deep one FIFO, or one edge of a streaming application, has to be while the others stay as in the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.replay.depths import AMPLE, FAILED, LOSS, least_depths
from workbench.replay.fronts import Replay

#: By how much the replay of the unchanged run may differ from it, where a depth is to be advised by it.
CLOSE = 0.001


@dataclass(frozen=True)
class Deeper:
    """The least depth (words) of one FIFO, and the time until the last word in the replay of the unchanged run and
    with that depth (ps)."""

    words: int
    before_ps: int
    after_ps: int


def least_alone(replay: Replay, name: str, loss: float = LOSS) -> Deeper | None:
    """The least depth of the FIFO with this id whose time is within `loss` of that with as much room as it likes; None
    where no word passed it, or the replay of the unchanged run is not the run."""
    if name not in {one.id for one in replay.queues}:
        return None
    before_ps = replay.time_ps({})
    if before_ps is None or abs(before_ps - replay.run_ps) > CLOSE * replay.run_ps:
        return None

    def time_of(depths: Mapping[str, int]) -> int:
        time_ps = replay.time_ps(depths)
        return FAILED if time_ps is None else time_ps

    best_ps = time_of({name: AMPLE})
    if best_ps == FAILED:
        return None
    depths = least_depths({name: replay.held()[name]}, time_of, best_ps, loss)
    return Deeper(depths[name], before_ps, time_of(depths))
