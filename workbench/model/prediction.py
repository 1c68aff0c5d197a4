"""What changes would gain: a predicted speedup, how sure it is, and what then holds the run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from workbench.model.changes import Change


class Trust(StrEnum):
    TRUSTED = "trusted"
    DOUBTFUL = "doubtful"
    REFUSED = "refused"


@dataclass(frozen=True)
class Prediction:
    """What some changes, made together, would gain of one run.

    `time_s` is the run's time after them, `speedup` the run's time now over it, and `interval` holds the speedup in
    90 % of cases (lower, upper). All three are None where `trust` is refused. `why` says why it is doubtful or refused.
    `bound_by` is the block, call or state that takes the most of the run's critical path after the changes.
    """

    changes: tuple[Change, ...]
    trust: Trust
    time_s: float | None = None
    speedup: float | None = None
    interval: tuple[float, float] | None = None
    why: str = ""
    bound_by: str = ""
