"""The engines that run a study's points: this machine's cores, a Dask cluster, or a batch queue through submitit."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from workbench.api.job import Job
from workbench.model.diagnostic import Cancelled, Diagnostic, WorkbenchError

NAMES = ("local", "dask", "submitit")
Value = int | float | str


class Handle(Protocol):
    """A command under way in an engine."""

    def done(self) -> bool: ...
    def result(self) -> Any:
        """The last lines of its standard error; raises an error of its start."""

    def cancel(self) -> Any: ...


@dataclass(frozen=True)
class Engine:
    """An engine; `slots` is the number of commands that may be under way at once."""

    slots: int
    submit: Callable[[Sequence[str]], Handle]


@contextmanager
def local(slots: int, job: Job) -> Iterator[Engine]:
    """Child processes of this process, which end with the job or with this process."""
    slots = slots or os.cpu_count() or 1
    with ThreadPoolExecutor(slots) as pool:
        yield Engine(slots, lambda command: pool.submit(_run, command, job))


@contextmanager
def dask(address: str, alive: Path) -> Iterator[Engine]:
    """The workers of a Dask scheduler; they need the study's folder and an installed workbench."""
    try:
        from dask.distributed import Client  # an extra: only those with a cluster have it
    except ImportError:
        hint = "Install it: pip install 'rc-workbench[sweeps]'. Or leave --engine out."
        raise WorkbenchError(Diagnostic("Dask is not installed", hint)) from None
    if not address:
        raise WorkbenchError(Diagnostic("--engine dask needs a scheduler", "Give --scheduler ADDRESS."))
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        hint = "Start one with `dask scheduler` and `dask worker ADDRESS`, and give its address."
        raise WorkbenchError(Diagnostic(f"no Dask scheduler answers at {address}: {error}", hint)) from None
    with client, _alive_file(alive):
        slots = sum(worker["nthreads"] for worker in client.scheduler_info()["workers"].values())
        if not slots:
            hint = f"Start some with `dask worker {address}`."
            raise WorkbenchError(Diagnostic(f"the Dask scheduler at {address} has no workers", hint))
        yield Engine(slots, lambda command: client.submit(run_while, list(command), str(alive), pure=False))


@contextmanager
def submitit(folder: Path, alive: Path, parameters: Mapping[str, Value], slots: int) -> Iterator[Engine]:
    """The batch queue that submitit finds (Slurm), or processes of this machine if it finds none."""
    try:
        import submitit as library  # an extra: only those with a batch queue have it
    except ImportError:
        hint = "Install it: pip install submitit. Or leave --engine out."
        raise WorkbenchError(Diagnostic("submitit is not installed", hint)) from None
    executor = library.AutoExecutor(folder=str(folder))
    try:
        executor.update_parameters(**parameters)
    except (TypeError, ValueError, NameError) as error:
        raise WorkbenchError(
            Diagnostic(f"submitit does not take these parameters: {error}", "See `submitit`.")
        ) from None
    with _alive_file(alive):
        yield Engine(slots or 1000, lambda command: executor.submit(run_while, list(command), str(alive)))


@contextmanager
def _alive_file(alive: Path) -> Iterator[None]:
    """A file that workers elsewhere watch during the context; when it is gone they end their commands."""
    alive.parent.mkdir(parents=True, exist_ok=True)
    alive.touch()
    try:
        yield
    finally:
        alive.unlink(missing_ok=True)


class _WorkerJob(Job):
    """A job in a worker, cancelled by the removal of a file."""

    def __init__(self, alive: Path) -> None:
        super().__init__()
        self._alive = alive

    @property
    def cancelled(self) -> bool:
        return super().cancelled or not self._alive.exists()


def run_while(command: Sequence[str], alive: str) -> str:
    """Run a command in a worker while a file exists. Returns the last lines of its standard error."""
    try:
        return _run(command, _WorkerJob(Path(alive)))
    except Cancelled:
        return ""


def _run(command: Sequence[str], job: Job) -> str:
    error_lines: list[str] = []
    ended = job.run(command, on_line=error_lines.append)
    return "\n".join([*error_lines[-5:], f"it ended with {ended.returncode}"])
