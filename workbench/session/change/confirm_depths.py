"""Confirms chosen FIFO depths with at most two simulations."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.api.job import Job
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import Run
from workbench.replay.depths import LOSS
from workbench.replay.fronts import FifoReplay, Front, Replay, depth_front, replay_of
from workbench.replay.queues import NoReplayError
from workbench.session.change.run_depths import one_block_ram_bits, queues_of
from workbench.session.keep.results import platform_of_run
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import Plugins

MOST_SIMULATIONS = 2
CLOSE = 0.001  # the largest relative error of a confirmed time
_AMPLE_EDGE = 1 << 14  # elements: an unlimited depth


@dataclass(frozen=True)
class DepthSimulation:
    """Simulated depths with the predicted time (None: no prediction) and the measured time (None: the run did not
    end)."""

    depths: Mapping[str, int]
    predicted_ps: int | None
    measured_ps: int | None

    @property
    def came_true(self) -> bool:
        if self.predicted_ps is None or self.measured_ps is None:
            return False
        return abs(self.measured_ps - self.predicted_ps) <= CLOSE * self.measured_ps


@dataclass(frozen=True)
class ConfirmedDepths:
    """The simulations in order, and the front after them. The depths of the last simulation are the front's choice if
    it `came_true`."""

    simulations: tuple[DepthSimulation, ...]
    front: Front


def confirm_depths(
    run: Run, front: Front | None, plugins: Plugins, job: Job, loss: float = LOSS
) -> ConfirmedDepths:  # fmt: skip
    """Simulate the chosen depths. If the time differs from the prediction, the simulation's records improve the front,
    and the new choice is simulated. Without a front, as for a run that deadlocked, the first simulation has ample
    queues. Raises WorkbenchError, Cancelled."""
    if front is not None and front.choice is None:
        raise WorkbenchError(Diagnostic("no depths are chosen to confirm"))
    workspace = _project_of(run, plugins)
    simulations: list[DepthSimulation] = []
    with tempfile.TemporaryDirectory(prefix="recap-depths-") as folder:
        for number in range(MOST_SIMULATIONS):
            choice = front.choice if front else None
            depths = dict(choice.depths) if choice else _ample(run, plugins)
            job.log(f"Simulation {number + 1}: " + ", ".join(f"{name} {words}" for name, words in depths.items()))
            again = _simulated(workspace, run, plugins, depths, Path(folder) / str(number), job)
            replay = _replay(again, run, plugins, depths) if again.complete else None
            measured = replay.run_ps if replay else None
            simulations.append(DepthSimulation(depths, choice.time_ps if choice else None, measured))
            if simulations[-1].came_true and front is not None:
                return ConfirmedDepths(tuple(simulations), front)
            if replay is None:
                why = again.manifest.reason or "it did not finish"
                raise WorkbenchError(Diagnostic(f"a simulation with other depths did not end: {why}"))
            of_block_ram = one_block_ram_bits(platform_of_run(run, plugins)[0])
            front = _of_first(depth_front(replay, loss, of_block_ram, job.check), front)
    assert front is not None
    return ConfirmedDepths(tuple(simulations), front)


def _of_first(front: Front, before: Front | None) -> Front:
    """A front from a simulation, with the declared depths and times of the original run for comparison."""
    if before is None:
        return replace(front, now=None)
    declared = {queue.id: queue.depth for queue in before.queues}
    queues = tuple(replace(queue, depth=declared.get(queue.id, queue.depth)) for queue in front.queues)
    return replace(front, queues=queues, now=before.now, run_ps=before.run_ps)


def _project_of(run: Run, plugins: Plugins) -> Workspace:
    path = Path(run.manifest.project) if run.manifest.project else None
    if path is None or not path.is_file():
        raise WorkbenchError(
            Diagnostic("the run's project is not on this machine: depths cannot be simulated", file=str(run.path))
        )
    return open_workspace(path, plugins)


def _ample(run: Run, plugins: Plugins) -> dict[str, int]:
    edges = queues_of(run, plugins)
    if edges is None:
        hint = "workbench streams PROJECT finds the depths of a design that ends in a deadlock."
        raise WorkbenchError(Diagnostic("the run shows no depths that could be tried", hint, file=str(run.path)))
    return {edge.label: _AMPLE_EDGE for edge in edges.edges}


def _simulated(
    workspace: Workspace, run: Run, plugins: Plugins, depths: Mapping[str, int], out: Path, job: Job
) -> Run:  # fmt: skip
    edges = queues_of(run, plugins)
    if edges is not None:
        workspace = open_workspace(workspace.path, plugins, edge_depths=depths)
    options = RunOptions(
        out=out, trace=True, deterministic=True, target="simulated", settings=run.manifest.settings,
        ranks=run.manifest.cores.ranks, settles=False,
        depths={} if edges is not None else depths,
    )  # fmt: skip
    return run_workspace(workspace, options, job)


def _replay(again: Run, run: Run, plugins: Plugins, depths: Mapping[str, int]) -> Replay:
    """The replay of a simulation with these depths, which also uses the records of the run."""
    platform, _ = platform_of_run(again, plugins)
    edges = queues_of(again, plugins)
    try:
        if edges is not None:
            return replay_of(again, edges, platform)
        traffic_of_run = [FifoReplay(run, platform).traffic] if run.complete else []
        return FifoReplay(again, platform, traffic_of_run, depths)
    except NoReplayError as error:
        raise WorkbenchError(Diagnostic(f"depths cannot be predicted: {error}")) from None
