"""Design-space exploration: whole sweeps in arrays, any number of points in bounded memory, on Dask where asked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.model.diagnostic import Diagnostic, WorkbenchError, near
from workbench.predict.formulas import ModelFile, fixed
from workbench.predict.kinds import outputs_of
from workbench.predict.space import CHUNK_POINTS, Space, chunk_inputs, draws, plan, point_inputs
from workbench.predict.summary import Front, Spectrum

_TABLE_LIMIT = 2_000_000
_BAND_LIMIT = 4_000_000
_TASKS = 64


@dataclass(frozen=True)
class Extreme:
    """The best or worst point: its value and the swept or drawn inputs there."""

    value: float
    inputs: Mapping[str, float]


@dataclass(frozen=True)
class FrontPoint:
    """A point that no other beats in both outputs."""

    x: float
    y: float
    inputs: Mapping[str, float]


@dataclass(frozen=True)
class Exploration:
    """What a sweep comes to. `quantiles` are of `output` over all points (share -> value, right to 0.1 %);
    `histogram` is its buckets' edges and counts. `front` is empty where no second output was asked for."""

    output: str
    points: int
    minimum: Extreme
    maximum: Extreme
    mean: float
    quantiles: Mapping[float, float]
    histogram: tuple[NDArray[np.float64], NDArray[np.int64]]
    against: str
    front: tuple[FrontPoint, ...]
    front_thinned: bool


@dataclass(frozen=True)
class SweepTable:
    """Every output at every point of a small sweep: arrays of the space's shape."""

    space: Space
    outputs: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Bands:
    """Quantiles of an output over the uncertain inputs, at each point of the axes: arrays of the axes' shape."""

    output: str
    quantiles: Mapping[float, NDArray[np.float64]]


def check_output(file: ModelFile, name: str) -> str:
    """The name, if the model has such an output. WorkbenchError otherwise."""
    known = outputs_of(file)
    if name not in known:
        hint = near(name, known, "The model's outputs")
        if name == "speedup":
            hint = "Give the model `baseline_s`, the time that the software takes."
        raise WorkbenchError(file.marked.diagnostic((), f"the model has no output '{name}'", hint))
    return name


def usual_other(file: ModelFile, output: str) -> str:
    """What an output is held against where nobody says it; "" where the model has no such output."""
    other = file.kind.against
    return other if other and other != output and other in outputs_of(file) else ""


def larger_is_better(file: ModelFile, output: str) -> bool:
    """Whether an output should be large, as speedups and rates should; times and resources should be small."""
    return output in file.kind.larger


def sweep(file: ModelFile, space: Space, reading: str | None = None) -> SweepTable:
    """Every output at every point, for plots and tables. WorkbenchError above two million points (use `explore`)."""
    if space.points > _TABLE_LIMIT:
        message = f"a table of {space.points:,} points is too large"
        raise WorkbenchError(Diagnostic(message, f"Sweep at most {_TABLE_LIMIT:,}, or ask for a summary."))
    parts: dict[str, list[NDArray[np.float64]]] = {}
    cut = plan(space)
    for chunk in range(cut.chunks):
        inputs, _, shape = chunk_inputs(space, cut, chunk)
        for name, values in outputs_of(file, inputs, reading).items():
            parts.setdefault(name, []).append(np.broadcast_to(np.asarray(values, dtype=np.float64), shape).ravel())
    return SweepTable(space, {name: np.concatenate(pieces).reshape(space.shape) for name, pieces in parts.items()})


def explore(
    file: ModelFile,
    space: Space,
    output: str = "",
    against: str = "",
    reading: str | None = None,
    *,
    scheduler: str = "",
    quantiles: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95),
    chunk_points: int = CHUNK_POINTS,
    progress: Callable[[float], None] | None = None,
) -> Exploration:
    """Stream over every point of a space: extremes, quantiles, and the Pareto front of `output` and `against`.

    Memory does not grow with the points. `scheduler` is the address of a Dask scheduler ("tcp://host:8786"), whose
    workers have the workbench installed; without one it is computed here. Both give the same numbers, bit by bit.
    `progress` gets the share done, and may raise to cancel. Raises WorkbenchError for what cannot be computed.
    """
    output = check_output(file, output or next(iter(outputs_of(file))))
    if against:
        check_output(file, against)
    chunks = plan(space, chunk_points).chunks
    step = -(-chunks // _TASKS)
    tasks = [(start, min(start + step, chunks)) for start in range(0, chunks, step)]
    job = (file, space, output, against, reading, chunk_points)
    parts = _on_dask(scheduler, job, tasks) if scheduler else (summarise(job, task) for task in tasks)
    spectrum, front = Spectrum(), Front()
    for done, (part, part_front) in enumerate(parts, 1):
        spectrum.merge(part)
        front.merge(part_front)
        if progress:
            progress(done / len(tasks))
    signs = _sign(file, against), _sign(file, output)
    return Exploration(
        output,
        spectrum.count,
        Extreme(spectrum.least, point_inputs(space, spectrum.least_at)),
        Extreme(spectrum.most, point_inputs(space, spectrum.most_at)),
        spectrum.total / spectrum.count,
        {share: spectrum.quantile(share) for share in quantiles},
        spectrum.histogram(),
        against,
        tuple(
            FrontPoint(float(x) * signs[0], float(y) * signs[1], point_inputs(space, int(at)))
            for x, y, at in zip(front.x, front.y, front.at, strict=True)
        ),
        front.thinned,
    )


Job = tuple[ModelFile, Space, str, str, str | None, int]


def summarise(job: Job, task: tuple[int, int]) -> tuple[Spectrum, Front]:
    """Part of a sweep: chunks `task[0]` to `task[1]`. What a Dask worker runs."""
    file, space, output, against, reading, chunk_points = job
    cut = plan(space, chunk_points)
    file = fixed(file, [axis.name for axis in space.axes] + [name for name, _ in space.spreads], reading)
    spectrum, front = Spectrum(), Front()
    for chunk in range(*task):
        inputs, first, shape = chunk_inputs(space, cut, chunk)
        outputs = outputs_of(file, inputs, reading)
        values = np.asarray(outputs[output], dtype=np.float64)
        spectrum.add(np.ascontiguousarray(np.broadcast_to(values, shape)).reshape(-1), first)
        if against:
            other = np.asarray(outputs[against], dtype=np.float64)
            front.add(other * _sign(file, against), values * _sign(file, output), first, shape)
    return spectrum, front


def _sign(file: ModelFile, output: str) -> float:
    return -1.0 if larger_is_better(file, output) else 1.0


def _on_dask(address: str, job: Job, tasks: list[tuple[int, int]]) -> Iterator[tuple[Spectrum, Front]]:
    try:
        from dask.distributed import Client  # an extra: only those with a cluster have it
    except ImportError:
        hint = "Install it: pip install 'rc-workbench[sweeps]'."
        raise WorkbenchError(Diagnostic("Dask is not installed", hint)) from None
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        hint = "Start one with `dask scheduler` and `dask worker ADDRESS`, and give its address."
        raise WorkbenchError(Diagnostic(f"no Dask scheduler answers at {address}: {error}", hint)) from None
    with client:
        if not client.scheduler_info()["workers"]:
            hint = f"Start some with `dask worker {address}`."
            raise WorkbenchError(Diagnostic(f"the Dask scheduler at {address} has no workers", hint))
        shared: Any = client.scatter(job, broadcast=True)
        futures = [client.submit(summarise, shared, task, pure=False) for task in tasks]
        for future in futures:
            yield future.result()


def bands(
    file: ModelFile,
    space: Space,
    output: str = "",
    reading: str | None = None,
    quantiles: Sequence[float] = (0.05, 0.5, 0.95),
) -> Bands:
    """Confidence bands: an output's quantiles over the drawn inputs, at each point of the axes."""
    output = check_output(file, output or next(iter(outputs_of(file))))
    grid = Space(space.axes)
    if not space.samples or space.points > _BAND_LIMIT * 25:
        message = f"bands need samples, and at most {_BAND_LIMIT * 25:,} points"
        raise WorkbenchError(Diagnostic(message, "Draw fewer samples, or sweep fewer values."))
    drawn = draws(space.spreads, space.seed, 0, space.samples)
    cut = plan(grid, max(1, _BAND_LIMIT // space.samples))
    rows = []
    for chunk in range(cut.chunks):
        inputs, _, shape = chunk_inputs(grid, cut, chunk)
        here = {name: values.reshape((-1,) + (1,) * len(shape)) for name, values in drawn.items()}
        values = np.asarray(outputs_of(file, {**inputs, **here}, reading)[output], dtype=np.float64)
        rows.append(
            np.quantile(np.broadcast_to(values, (space.samples, *shape)), quantiles, axis=0).reshape(len(quantiles), -1)
        )
    samples_drawn = np.concatenate(rows, axis=1)
    return Bands(output, {q: samples_drawn[i].reshape(grid.shape) for i, q in enumerate(quantiles)})
