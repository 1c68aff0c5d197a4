"""How many jobs wait, as the model says and as it was measured: chi-square, and quantile against quantile (Lancaster
2011, section 7.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from rc_workbench_plugins.queueing.network import Model, StationState
from rc_workbench_plugins.queueing.station import limited_waiting_shares, simulated_shares, waiting_shares

LEAST_EXPECTED = 5.0  # observations in a class, for chi-square to hold
MOST_JOBS = 4096
FITTED = 2  # numbers of a station that are measured too: arrivals and service
PERCENTILES = np.arange(1, 100) / 100


@dataclass(frozen=True)
class Fit:
    """A measured distribution against the model's. `chance` is how often the model itself would be so far off or
    farther by chance, None where too little was observed; `ks` is the distance of Kolmogorov and Smirnov. `quantiles`
    are the model's and the measured jobs at each of `PERCENTILES`."""

    station: str
    chi_square: float
    degrees: int
    chance: float | None
    ks: float
    quantiles: NDArray[np.int64]
    source: str = ""

    def as_json(self) -> Mapping[str, Any]:
        return {
            "station": self.station,
            "chi_square": self.chi_square,
            "degrees": self.degrees,
            "chance": self.chance,
            "ks": self.ks,
            "quantiles": [[float(p), *map(int, q)] for p, q in zip(PERCENTILES, self.quantiles, strict=True)],
            "source": self.source,
        }


def fits(values: Model, states: Mapping[str, StationState]) -> tuple[Fit, ...]:
    """Every distribution that was measured, at a station that has one in its steady state."""
    results = []
    stations = {station.name: (n, station) for n, station in enumerate(values.model.stations)}
    for row in values.model.measured:
        n, station = stations[row.station]
        rho = float(states[row.station].utilisation)
        variation, batch, arrivals = (
            float(values.of("stations", n, field)) for field in ("variation", "batch", "arrival_variation")
        )
        if not row.occupancy or rho <= 0 or (rho >= 1 and not station.limited):
            continue
        measured = np.array(row.occupancy) / sum(row.occupancy)
        if station.limited:
            model = limited_waiting_shares(rho, int(values.of("stations", n, "places")))
        elif (batch, arrivals) != (1, 1):
            model = simulated_shares(rho, variation, int(batch), arrivals)
        else:
            model = waiting_shares(rho, variation, max(MOST_JOBS if variation == 1 else 512, len(measured)))
        results.append(fit(row.station, measured, model, row.observations or 0.0, row.source))
    return tuple(results)


def fit(
    station: str, measured: NDArray[np.float64], model: NDArray[np.float64], observations: float, source: str = ""
) -> Fit:
    """Shares with 0, 1, 2, ... jobs against the model's, which may go on beyond."""
    longest = max(len(measured), len(model)) + 1
    ours, theirs = np.zeros(longest), np.zeros(longest)
    theirs[: len(measured)], ours[: len(model)] = measured, model
    ours[-1] = max(0.0, 1 - ours.sum())
    ours_by, theirs_by = ours.cumsum(), theirs.cumsum()
    classes = _classes(ours * observations)
    expected, seen = (np.add.reduceat(part * observations, classes) for part in (ours, theirs))
    degrees = len(classes) - 1 - FITTED
    chi_square = float(((seen - expected) ** 2 / expected).sum()) if degrees > 0 else 0.0
    chance = float(chdtrc(degrees, chi_square)) if degrees > 0 else None
    quantiles = np.stack([by.searchsorted(PERCENTILES - 1e-12) for by in (ours_by, theirs_by)], axis=1)
    return Fit(
        station, chi_square, max(degrees, 0), chance, float(np.abs(ours_by - theirs_by).max()), quantiles, source
    )


def _classes(expected: NDArray[np.float64]) -> NDArray[np.int64]:
    """Where classes begin in which enough is expected; the last one takes in all that is left."""
    begins, within = [0], 0.0
    left = expected.sum()
    for n, number in enumerate(expected.tolist()):
        if within >= LEAST_EXPECTED and left >= LEAST_EXPECTED:
            begins.append(n)
            within = 0.0
        within += number
        left -= number
    return np.array(begins)
