"""Which input matters most: elasticities at a point, and shares of the variance where inputs are uncertain."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.predict.explore import check_output
from workbench.predict.formulas import ModelFile
from workbench.predict.inputs import Spread
from workbench.predict.kinds import outputs_of
from workbench.predict.space import between, check_seed, uncertain_of

_STEP = 1e-4
_SAMPLE_LIMIT = 1 << 20


@dataclass(frozen=True)
class Influence:
    """What one input does to an output.

    `elasticity`: % change of the output for 1 % more of the input, at the model's values; of a whole number from one
    less to one more, where it may be that. nan for an input of 0, and for one that may not change.
    `first_order` and `total_order` are Sobol indices over the uncertain inputs: the share of the output's variance
    that the input explains alone, and with others; None for an input that is certain.
    """

    name: str
    elasticity: float
    first_order: float | None
    total_order: float | None


def sensitivity(
    file: ModelFile,
    output: str = "",
    reading: str | None = None,
    spreads: dict[str, Spread] | None = None,
    samples: int = 4096,
    seed: int = 0,
) -> tuple[Influence, ...]:
    """The inputs, the one that matters most first: by total order where inputs are uncertain, then by elasticity.

    Saltelli's design with Jansen's estimators (Saltelli et al., Comput. Phys. Commun. 181, 2010) over scrambled Sobol
    points; `samples` is rounded up to a power of two. Raises WorkbenchError for an unknown output.
    """
    output = check_output(file, output or next(iter(outputs_of(file))))
    uncertain = uncertain_of(file, spreads or {})
    check_seed(seed)
    if not 2 <= samples <= _SAMPLE_LIMIT:
        hint = f"Give 1000 or more, at most {_SAMPLE_LIMIT:,}."
        raise WorkbenchError(Diagnostic("a sensitivity cannot be computed from this many samples", hint))
    shares = _sobol(file, output, reading, uncertain, samples, seed) if uncertain else {}
    influences = [
        Influence(name, _elasticity(file, output, reading, name), *shares.get(name, (None, None)))
        for name in file.inputs
    ]
    return tuple(sorted(influences, key=lambda i: (-(i.total_order or 0.0), -abs(np.nan_to_num(i.elasticity)))))


def _elasticity(file: ModelFile, output: str, reading: str | None, name: str) -> float:
    here, allowed = float(file.at({}, reading)[name]), file.domain(name)
    step = 1.0 if allowed.integer else abs(here) * _STEP
    low, high = (x if allowed.bad(x) is None else here for x in (here - step, here + step))
    if here == 0 or low == high:
        return float("nan")
    around = np.array([low, here, high])
    below, middle, above = np.broadcast_to(np.asarray(outputs_of(file, {name: around}, reading)[output]), 3)
    return float((above - below) / middle / ((high - low) / here)) if middle else float("nan")


def _sobol(
    file: ModelFile, output: str, reading: str | None, uncertain: dict[str, Spread], samples: int, seed: int
) -> dict[str, tuple[float, float]]:
    from scipy.stats import qmc  # here, since it is long to import

    names = list(uncertain)
    exponent = int(np.ceil(np.log2(samples)))
    unit = qmc.Sobol(2 * len(names), seed=seed).random_base2(exponent)
    a, b = (
        {name: _spread(unit[:, offset + i], uncertain[name]) for i, name in enumerate(names)}
        for offset in (0, len(names))
    )

    def at(inputs: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        values = np.asarray(outputs_of(file, dict(inputs), reading)[output], dtype=np.float64)
        return np.broadcast_to(values, len(unit))

    of_a, of_b = at(a), at(b)
    variance = float(np.var(np.concatenate([of_a, of_b])))
    indices = {}
    for name in names:
        mixed = at({**a, name: b[name]})
        first = 1 - float(np.mean((of_b - mixed) ** 2)) / (2 * variance) if variance else 0.0
        whole = float(np.mean((of_a - mixed) ** 2)) / (2 * variance) if variance else 0.0
        indices[name] = (first, whole)
    return indices


def _spread(unit: NDArray[np.float64], spread: Spread) -> NDArray[np.float64]:
    if spread.low is not None and spread.high is not None:
        return between(unit, spread.low, spread.high, spread.domain.integer)
    from scipy.special import ndtri

    shares = np.clip(unit, 1e-12, 1 - 1e-12)
    return spread.domain.held(np.asarray(spread.value + ndtri(shares) * (spread.deviation or 0.0)))
