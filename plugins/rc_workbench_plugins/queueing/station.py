"""One server and its queue, in its steady state. Utilisations are what is asked of a server, lambda / mu, and may be
above one; jobs are counts. All take arrays as well.

L. Kleinrock, "Queueing Systems", volume 1, 1975. The dissertation's section 7.3 is `waiting` with a variation of 1, and
`at_least`.
"""

from __future__ import annotations

import numpy as np

from workbench.api.models import Values

_NEAR_ONE = 1e-6  # |(K + 1) ln rho| from which on the difference of two large numbers is kept


def waiting(utilisation: Values, variation: Values = 1.0) -> Values:
    """Jobs waiting in an M/G/1 station (Pollaczek and Khinchine): rho^2 / (1 - rho) (1 + variation) / 2; infinite from
    rho = 1 on. A variation of 1 is M/M/1, of 0 M/D/1."""
    rho = np.asarray(utilisation, np.float64)
    with np.errstate(divide="ignore"):
        return np.where(rho < 1, rho**2 / np.where(rho < 1, 1 - rho, 1.0) * (1 + variation) / 2, np.inf)


def at_least(utilisation: Values, jobs: Values) -> Values:
    """P[N >= jobs] in an M/M/1 station, the job being served included: rho^jobs (section 7.3); 1 from rho = 1 on."""
    return np.minimum(utilisation, 1.0) ** np.asarray(jobs, np.float64)


def full(utilisation: Values, places: Values) -> Values:
    """P[N = places] in an M/M/1/K station, which is the share of the jobs that are lost."""
    x, k = _log(utilisation), np.asarray(places, np.float64)
    down = -np.abs(x)  # (1 - s) / (1 - s^(K + 1)) with s = 1 / rho above one, times rho^K below
    share = np.where(down < 0, np.expm1(down) / np.expm1(np.where(down < 0, (k + 1) * down, -1.0)), 1 / (k + 1))
    return share * np.exp(np.where(x < 0, k * x, 0.0))


def limited_jobs(utilisation: Values, places: Values) -> Values:
    """Jobs in an M/M/1/K station, the one being served included."""
    x, k = _log(utilisation), np.asarray(places, np.float64)
    down = -np.abs(x)
    near = (k + 1) * np.abs(x) < _NEAR_ONE
    safe = np.where(near, -1.0, down)
    below = np.exp(safe) / -np.expm1(safe) - (k + 1) * np.exp((k + 1) * safe) / -np.expm1((k + 1) * safe)
    below = np.where(near, k / 2 + k * (k + 2) * down / 12, below)
    return np.where(x > 0, k - below, below)


def _log(utilisation: Values) -> Values:
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(utilisation, np.float64))
