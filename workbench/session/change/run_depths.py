"""The useful depths of a run's FIFOs, or of its application's edges, by replay of one traced run."""

from workbench.api.job import Job
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.platform import Platform
from workbench.model.run import Run
from workbench.replay.deeper import CLOSE
from workbench.replay.depths import LOSS
from workbench.replay.fronts import Front, Replay, depth_front, replay_of
from workbench.replay.queues import NoReplayError
from workbench.session.keep.results import platform_of_run, queues_of
from workbench.session.program.plugins import Plugins

_MOST_APART = 3  # pairs that are named


def run_replay(run: Run, plugins: Plugins) -> tuple[Replay, Platform | None]:
    """The run prepared for replay with other depths, and its platform. WorkbenchError with the reason if it cannot be
    replayed."""
    platform, _ = platform_of_run(run, plugins)
    try:
        return replay_of(run, queues_of(run, plugins), platform), platform
    except NoReplayError as error:
        raise _refused(run, error) from None


def front_of_run(run: Run, plugins: Plugins, job: Job, loss: float = LOSS) -> Front:
    """The front of time against memory. WorkbenchError with the reason if there is none."""
    replay, platform = run_replay(run, plugins)
    tried = _Counted(job)
    try:
        return depth_front(replay, loss, one_block_ram_bits(platform), tried)
    except NoReplayError as error:
        raise _refused(run, error) from None


def one_block_ram_bits(platform: Platform | None) -> int | None:
    """The size (bits) of a block RAM of the platform's FPGA; None if unknown."""
    return platform.device.one_block_ram_bits if platform and platform.device else None


class _Counted:
    """Reports the number of tried depths, and stops if the job was cancelled."""

    def __init__(self, job: Job) -> None:
        self._job, self._count = job, 0

    def __call__(self) -> None:
        self._job.check()
        self._count += 1
        if self._count % 100 == 0:
            self._job.progress(None, f"{self._count} depths tried")


def warnings_of(front: Front) -> tuple[Diagnostic, ...]:
    """What the run does not show about depths: FIFOs whose traffic never overlapped, and doubts of the replay."""
    warnings = []
    if front.apart:
        pairs = ", ".join(f"{one} and {other}" for one, other in front.apart[:_MOST_APART])
        more = len(front.apart) - _MOST_APART
        pairs += f", and {more} more pairs" if more > 0 else ""
        message = f"their traffic never overlapped in this run: {pairs}"
        hint = "The depths that they need when both hold words are unknown. Run with traffic that uses them together."
        warnings.append(Diagnostic(message, hint, Severity.WARNING))
    if front.replayed_ps is not None and abs(front.replayed_ps - front.run_ps) > CLOSE * front.run_ps:
        off = abs(front.replayed_ps - front.run_ps) / max(front.run_ps, 1)
        message = f"replay of the unchanged run is off by {100 * off:.1f} %, and predictions may be, too"
        warnings.append(Diagnostic(message, "Confirm the depths that you choose.", Severity.WARNING))
    if front.why:
        message = f"predicted times may be off: {'; '.join(front.why)}"
        hint = "A block may depend on more than the words that it received and sent: confirm the depths."
        warnings.append(Diagnostic(message, hint, Severity.WARNING))
    return tuple(warnings)


def _refused(run: Run, error: NoReplayError) -> WorkbenchError:
    return WorkbenchError(Diagnostic(f"depths cannot be predicted: {error}", file=str(run.path) if run.path else None))
