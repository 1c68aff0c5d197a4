"""One server and its queue, in its steady state. Utilisations are what is asked of a server, lambda / mu, and may be
above one; jobs are counts. All take arrays as well.

L. Kleinrock, "Queueing Systems", volume 1, 1975. The dissertation's section 7.3 is `waiting` with a variation of 1, and
`at_least`. How many wait is known of exponential and of constant service times; for others it is that of gamma
distributed ones of the same mean and variation. Where jobs come together or otherwise than by a Poisson process, how
many wait on average is the approximation of Kraemer and Langenbach-Belz (1976), and how often so many do is simulated.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, pdtrc

from workbench.api import Values
from workbench.api.virtual_queue import occupancy, passage

_CONSTANT = 1e-6  # a variation below which service times are one and the same
SIMULATED, WARMING_UP = 200_000, 0.05  # jobs, and the share of them that is left out
_NEAR_ONE = 1e-6  # |(K + 1) ln rho| from which on the difference of two large numbers is kept


def waiting(
    utilisation: Values, variation: Values = 1.0, batch: Values = 1.0, arrival_variation: Values = 1.0
) -> Values:
    """Jobs waiting in a station that `batch` jobs arrive at together; infinite from rho = 1 on. A variation of the
    services of 1 is M/M/1, of 0 M/D/1.

    A batch is a job of its own, that takes the time of all in it. While batches arrive by a Poisson process
    (`arrival_variation` 1), as many wait as Pollaczek and Khinchine say, rho^2 / (1 - rho) (1 + variation) / 2; else
    the arrivals' variation takes the place of the 1, less what regular ones save (Kraemer and Langenbach-Belz). Within
    a batch, a job waits for half of the others.
    """
    rho, arrivals = np.asarray(utilisation, np.float64), np.asarray(arrival_variation, np.float64)
    services = np.asarray(variation, np.float64) / batch
    below = np.where(rho < 1, rho, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        regular = 2 * (1 - below) * (1 - arrivals) ** 2 / (3 * below * (arrivals + services))
        bursty = (1 - below) * (arrivals - 1) / (arrivals + 4 * services)
        saved = np.exp(-np.where(arrivals < 1, regular, np.where(arrivals > 1, bursty, 0.0)))
        batches = below**2 / (1 - below) * (arrivals + services) / 2 * saved
        jobs = np.nan_to_num(batches) * batch + below * (batch - 1.0) / 2
    return np.where(rho < 1, jobs, np.inf)


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


def waiting_shares(utilisation: float, variation: float, count: int) -> NDArray[np.float64]:
    """The shares of the time with 0, 1, ..., count - 1 jobs waiting in an M/G/1 station with a utilisation below 1."""
    if variation == 1:
        shares = (1 - utilisation) * utilisation ** np.arange(count + 1)
    else:
        shares = _jobs_shares(utilisation, variation, count + 1)
    return np.concatenate([[shares[0] + shares[1]], shares[2:]])


def _jobs_shares(utilisation: float, variation: float, count: int) -> NDArray[np.float64]:
    """With 0, 1, ..., count - 1 jobs in the station, by the chain of those that are left behind (Ramaswami 1988: sums
    of what is not negative alone)."""
    constant = variation < _CONSTANT  # or gamma distributed
    jobs, spread = np.arange(1, count + 1), utilisation * variation
    tail = pdtrc(jobs - 1, utilisation) if constant else betainc(jobs, 1 / variation, spread / (1 + spread))
    more = np.append(1.0, tail)  # that at least 0, 1, ... arrive while one is served, exact far out too
    shares = np.zeros(count)
    shares[0] = 1 - utilisation
    for n in range(1, count):
        shares[n] = (shares[0] * more[n] + shares[1:n] @ more[n:1:-1]) / (1 - more[1])
    return shares


@lru_cache
def simulated_shares(utilisation: float, variation: float, batch: int, arrival_variation: float) -> NDArray[np.float64]:
    """The shares of the time with 0, 1, ... jobs waiting, of a simulation of `SIMULATED` jobs (the same each time).
    Times between arrivals and of services are gamma distributed."""
    random = np.random.default_rng(0)
    batches = SIMULATED // batch
    between = np.zeros((batches, batch))
    between[:, 0] = batch * _gamma(arrival_variation, batches, random)
    service = utilisation * _gamma(variation, batches * batch, random)
    return occupancy(passage(between.ravel(), service), WARMING_UP).total


def _gamma(variation: float, count: int, random: np.random.Generator) -> NDArray[np.float64]:
    return random.gamma(1 / variation, variation, count) if variation > _CONSTANT else np.ones(count)


def limited_waiting_shares(utilisation: float, places: int) -> NDArray[np.float64]:
    """With 0, 1, ..., places - 1 jobs waiting in an M/M/1/K station."""
    powers = np.arange(places + 1) * np.log(utilisation)
    shares = np.exp(powers - powers.max())
    shares /= shares.sum()
    return np.concatenate([[shares[0] + shares[1]], shares[2:]])


def _log(utilisation: Values) -> Values:
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(utilisation, np.float64))
