"""The least useful depth of one FIFO, or of one edge of a streaming application, with the others as in the run."""

from collections.abc import Mapping

from workbench.api.queues import Deeper
from workbench.replay.depths import AMPLE, FAILED, LOSS, least_depths
from workbench.replay.fronts import Replay

#: The largest relative error of the unchanged replay for which a depth is advised.
CLOSE = 0.001


def least_alone(replay: Replay, name: str, loss: float = LOSS, least_saved_ps: int | None = None) -> Deeper | None:
    """The least depth of this FIFO whose time is within `loss` of the time with unlimited depth. None if no word passed
    it, if the replay of the unchanged run is not close to the run, or if unlimited depth saves less than
    `least_saved_ps`."""
    if name not in {queue.id for queue in replay.queues}:
        return None
    before_ps = replay.time_ps({})
    if before_ps is None or abs(before_ps - replay.run_ps) > CLOSE * replay.run_ps:
        return None

    def time_of(depths: Mapping[str, int]) -> int:
        time_ps = replay.time_ps(depths)
        return FAILED if time_ps is None else time_ps

    best_ps = time_of({name: AMPLE})
    if best_ps == FAILED or (least_saved_ps is not None and before_ps - best_ps < least_saved_ps):
        return None
    depths = least_depths({name: replay.held()[name]}, time_of, best_ps, loss)
    return Deeper(depths[name], before_ps, time_of(depths))


def deeper_alone(replay: Replay, least_saved_ps: int) -> dict[str, Deeper]:
    """The FIFOs whose deepening alone saves at least this time, by id."""
    return {
        queue.id: deeper
        for queue in replay.queues
        if (deeper := least_alone(replay, queue.id, least_saved_ps=least_saved_ps))
        and deeper.words > queue.depth
        and deeper.saved_ps >= least_saved_ps
    }
