"""How deep one FIFO, or one edge of a streaming application, has to be while the others stay as in the run."""

from collections.abc import Mapping

from workbench.api.queues import Deeper
from workbench.replay.depths import AMPLE, FAILED, LOSS, least_depths
from workbench.replay.fronts import Replay

#: By how much the replay of the unchanged run may differ from it, where a depth is to be advised by it.
CLOSE = 0.001


def least_alone(replay: Replay, name: str, loss: float = LOSS, least_saved_ps: int | None = None) -> Deeper | None:
    """The least depth of the FIFO with this id whose time is within `loss` of that with as much room as it likes; None
    where no word passed it, the replay of the unchanged run is not the run, or as much room as it likes saves less than
    `least_saved_ps`."""
    if name not in {one.id for one in replay.queues}:
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
    """Those that alone, with more depth than they have, save so much time, by id."""
    return {
        one.id: deeper
        for one in replay.queues
        if (deeper := least_alone(replay, one.id, least_saved_ps=least_saved_ps))
        and deeper.words > one.depth
        and deeper.saved_ps >= least_saved_ps
    }
