"""The points of a sweep: a grid of inputs' values, and samples of the uncertain inputs, cut into chunks.

A space is never laid out in memory. Point i is in C order, the samples first and slowest, then the axes in their
order. Samples come in blocks, each from its own seed, so any part of a space can be made anywhere, alike.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from workbench.api.models import Values
from workbench.formats.units import UnitError
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.predict.formulas import ModelFile
from workbench.predict.inputs import Spread, number

#: How many points are computed at once: arrays of this many doubles stay in a core's cache.
CHUNK_POINTS = 1 << 15
_BLOCK = 1 << 14
_AXIS_LIMIT = 10_000_000
_SAMPLE_LIMIT = 10**12


@dataclass(frozen=True, eq=False)
class Axis:
    """An input and the values it takes (1-D)."""

    name: str
    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Space:
    """A sweep's points: every combination of the axes' values, at each of `samples` draws of the uncertain inputs
    (0: none are drawn). `spreads` are those not swept; draws depend on `seed` alone."""

    axes: tuple[Axis, ...] = ()
    samples: int = 0
    spreads: tuple[tuple[str, Spread], ...] = ()
    seed: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Samples (where there are any), then the axes."""
        return (*((self.samples,) if self.samples else ()), *(len(axis.values) for axis in self.axes))

    @property
    def points(self) -> int:
        return math.prod(self.shape)


def make_space(
    file: ModelFile,
    axes: Mapping[str, NDArray[np.float64]],
    samples: int = 0,
    spreads: Mapping[str, Spread] | None = None,
    seed: int = 0,
) -> Space:
    """A space over a model's inputs. `spreads` are laid over the model's own. WorkbenchError for what cannot be."""
    uncertain = {name: s for name, s in uncertain_of(file, spreads or {}).items() if name not in axes}
    if not 0 <= samples <= _SAMPLE_LIMIT:
        hint = f"Give 1 to {_SAMPLE_LIMIT:,}."
        raise WorkbenchError(Diagnostic(f"{_short(samples)} samples cannot be drawn", hint))
    check_seed(seed)
    if samples and not uncertain:
        hint = "Give an input `low` and `high`, or a `deviation`, in the model."
        at = ("inputs",)
        raise WorkbenchError(file.marked.diagnostic(at, "the model has no uncertain inputs to draw", hint))
    for name, values in axes.items():
        if not len(values):
            hint = f"Give a range in which it is {file.domain(name).said() or 'a number'}."
            raise WorkbenchError(file.marked.diagnostic(("inputs", name), f"the sweep of '{name}' has no values", hint))
        file.check(name, np.asarray(values, dtype=np.float64))
    swept = tuple(Axis(name, np.asarray(values, dtype=np.float64)) for name, values in axes.items())
    return Space(swept, samples, tuple(uncertain.items()) if samples else (), seed)


def uncertain_of(file: ModelFile, spreads: Mapping[str, Spread]) -> dict[str, Spread]:
    """The uncertain inputs: the model's with `spreads` laid over, held to what each input may be."""
    for name, spread in spreads.items():
        for bound in (spread.low, spread.high):
            if bound is not None:
                file.check(name, bound)
        if spread.low is not None and spread.high is not None and spread.low > spread.high:
            message = f"'{name}' cannot lie between {spread.low:.12g} and {spread.high:.12g}"
            raise WorkbenchError(file.marked.diagnostic(("inputs", name), message, "Write the lower value first."))
    return {**file.spreads, **{name: replace(s, domain=file.domain(name)) for name, s in spreads.items()}}


def check_seed(seed: int) -> None:
    """WorkbenchError where draws cannot begin with this seed."""
    if not 0 <= seed < 1 << 64:
        raise WorkbenchError(Diagnostic(f"the seed cannot be {_short(seed)}", "Give 0 to 18446744073709551615."))


def _short(value: int) -> str:
    return f"{value:,}" if abs(value) < 10**30 else "that many"


def parse_axis(text: str, file: ModelFile) -> tuple[str, NDArray[np.float64]]:
    """ "NAME=a:b:n" (n values from a to b) or "NAME=v1,v2,...", numbers in the input's unit or with one of their own.

    Values between a and b are rounded where the input is a whole number, and each is taken once. Raises WorkbenchError
    saying what is wrong.
    """
    name, equals, given = (part.strip() for part in text.partition("="))
    if not equals or not given:
        raise WorkbenchError(Diagnostic(f"'{text[:60]}' is not a sweep", "Write NAME=first:last:count or NAME=v1,v2."))
    allowed, unit = file.domain(name), file.unit(name)
    parts = [part.strip() for part in given.split(":")]
    if len(parts) == 1:
        values = np.array([option_number(part, unit, text) for part in given.split(",")])
        file.check(name, values)
        return name, values
    count = int(parts[2]) if len(parts) == 3 and parts[2].isascii() and parts[2].isdigit() and len(parts[2]) < 9 else 0
    if not 1 <= count <= _AXIS_LIMIT:
        hint = f"Write {name}=first:last:count, with a count from 1 to {_AXIS_LIMIT:,}."
        raise WorkbenchError(Diagnostic(f"'{text[:60]}' is not a sweep", hint))
    first, last = (option_number(part, unit, text) for part in parts[:2])
    file.check(name, np.array([first, last]))
    values = np.linspace(first, last, count)
    return name, np.unique(np.rint(values)) if allowed.integer else values


def option_number(text: str, unit: str, whole: str) -> float:
    """A number of an option's text, in `unit` or with a unit of its own. WorkbenchError where it is none."""
    try:
        return number(text.strip(), unit)
    except UnitError as error:
        raise WorkbenchError(Diagnostic(f"in '{whole[:60]}': {error.message}", error.hint)) from None


@dataclass(frozen=True)
class Plan:
    """How a space is cut: chunk c is `step` indices of dimension `split` at one place of those before, all after."""

    split: int
    step: int
    pieces: int
    chunks: int
    trailing: int


def plan(space: Space, chunk_points: int = CHUNK_POINTS) -> Plan:
    shape = space.shape or (1,)
    split = len(shape) - 1
    while split > 0 and math.prod(shape[split:]) <= chunk_points:
        split -= 1
    trailing = math.prod(shape[split + 1 :])
    step = max(1, min(chunk_points // trailing, shape[split]))
    if split == 0 and space.samples:
        step = max(step // _BLOCK * _BLOCK, 1 << (min(step, _BLOCK).bit_length() - 1))  # whole blocks, or equal parts
    pieces = -(-shape[split] // step)
    return Plan(split, step, pieces, math.prod(shape[:split]) * pieces, trailing)


def chunk_inputs(space: Space, cut: Plan, chunk: int) -> tuple[dict[str, Values], int, tuple[int, ...]]:
    """A chunk's inputs, broadcastable to its shape; the index of its first point; its shape."""
    shape = space.shape or (1,)
    lead, piece = divmod(chunk, cut.pieces)
    start = piece * cut.step
    stop = min(start + cut.step, shape[cut.split])
    own = (stop - start, *shape[cut.split + 1 :])
    places = np.unravel_index(lead, shape[: cut.split]) if cut.split else ()
    inputs: dict[str, Values] = {}
    for dimension, columns in enumerate(_dimensions(space)):
        for name, values in columns.items():
            if dimension < cut.split:
                place = int(places[dimension])
                inputs[name] = float(_part(space, name, values, place, place + 1)[0])
                continue
            part = _part(space, name, values, start, stop) if dimension == cut.split else np.asarray(values)
            inputs[name] = part.reshape((-1,) + (1,) * (len(shape) - dimension - 1))
    return inputs, (lead * shape[cut.split] + start) * cut.trailing, own


def point_inputs(space: Space, index: int) -> dict[str, float]:
    """The inputs of one point of a space, for its full breakdown."""
    places = np.unravel_index(index, space.shape) if space.shape else ()
    return {
        name: float(_part(space, name, values, int(place), int(place) + 1)[0])
        for place, columns in zip(places, _dimensions(space), strict=True)
        for name, values in columns.items()
    }


def _dimensions(space: Space) -> list[dict[str, NDArray[np.float64] | None]]:
    """The inputs of each dimension: their values, or None for those drawn."""
    drawn: dict[str, NDArray[np.float64] | None] = {name: None for name, _ in space.spreads}
    swept: list[dict[str, NDArray[np.float64] | None]] = [{axis.name: axis.values} for axis in space.axes]
    return [drawn, *swept] if space.samples else swept


def _part(space: Space, name: str, values: NDArray[np.float64] | None, start: int, stop: int) -> NDArray[np.float64]:
    return draws(space.spreads, space.seed, start, stop)[name] if values is None else values[start:stop]


def draws(
    spreads: tuple[tuple[str, Spread], ...], seed: int, start: int, stop: int
) -> Mapping[str, NDArray[np.float64]]:
    """Samples `start` to `stop` of the uncertain inputs."""
    first, last = start // _BLOCK, (stop - 1) // _BLOCK
    blocks = [_block(spreads, seed, block) for block in range(first, last + 1)]
    own = slice(start - first * _BLOCK, stop - first * _BLOCK)
    if len(blocks) == 1:
        return {name: values[own] for name, values in blocks[0].items()}
    return {name: np.concatenate([block[name] for block in blocks])[own] for name, _ in spreads}


@lru_cache(maxsize=16)
def _block(spreads: tuple[tuple[str, Spread], ...], seed: int, block: int) -> Mapping[str, NDArray[np.float64]]:
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(block,))))
    return {name: _drawn(rng, spread, _BLOCK) for name, spread in spreads}


def _drawn(rng: np.random.Generator, spread: Spread, count: int) -> NDArray[np.float64]:
    if spread.low is not None and spread.high is not None:
        return between(rng.random(count), spread.low, spread.high, spread.domain.integer)
    return spread.domain.held(rng.normal(spread.value, spread.deviation or 0.0, count))


def between(shares: NDArray[np.float64], low: float, high: float, integer: bool) -> NDArray[np.float64]:
    """Values that lie at `shares` (0 to 1) of the way from `low` to `high`; whole numbers alike often."""
    if integer:
        return np.minimum(np.floor(low + shares * (high - low + 1)), high)
    return low + shares * (high - low)
