"""Micro-benchmarks of queues in the shape of Lancaster 2011, section 5.2: intervals between insertions and of services,
whose dependence is known. Insertions come 0.8 a service on average."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from workbench.api.virtual_queue import IDEAL, Bus, Intervals

BETWEEN, SERVICE = 1.25, 1.0

#: Means by ten replications of a million transfers each with their 95 % intervals, distributions, and how far replays
#: of intervals drawn each by itself are from the truth: worked out apart from this program.
EXACT: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "virtual_queue.json").read_text())


def intervals(source: dict[str, Any], constant: bool, count: int, random: np.random.Generator) -> Intervals:
    """`source`: its `type` and what it takes. iid; ar1, intervals by a Gaussian process of correlation `phi`; mm, means
    by a chain of two states that stays in each with probability `stay`; cross, each service correlated with the
    interval before its element."""
    service = np.full(count, SERVICE) if constant else random.exponential(SERVICE, count)
    if source["type"] == "iid":
        return Intervals(random.exponential(BETWEEN, count), service)
    if source["type"] == "mm":
        state = (random.random(count) > source["stay"]).cumsum() % 2
        return Intervals(random.exponential(1.0, count) * np.array(source["means"])[state], service)
    if source["type"] == "cross":
        normal = random.standard_normal(count)
        other = source["c"] * normal + np.sqrt(1 - source["c"] ** 2) * random.standard_normal(count)
        return Intervals(_exponential(normal, BETWEEN), _exponential(other, SERVICE))
    phi = source["phi"]
    noise = random.standard_normal(count) * np.sqrt(1 - phi**2)
    noise[0] = random.standard_normal()
    from scipy.signal import lfilter  # here, since it is long to import, and each process reads all tests

    return Intervals(_exponential(lfilter([1.0], [1.0, -phi], noise), BETWEEN), service)


def _exponential(normal: np.ndarray[Any, Any], mean: float) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = -mean * log_ndtr(-normal)
    return found


def bus(params: dict[str, Any]) -> Bus:
    return Bus(params["B"], (params["D"],)) if params["B"] > 1 else IDEAL
