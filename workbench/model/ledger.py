"""The ledger of a project: each prediction that a person adopted, what the card confirmed, and what came true."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

from workbench.model.prediction import Bottleneck, Prediction


class Work(StrEnum):
    """Whether two runs did the same work, so that their times can be compared."""

    EQUAL = "equal"
    UNEQUAL = "unequal"
    UNKNOWN = "unknown"


class Fate(StrEnum):
    """What became of a prediction: no run yet, inside or outside its interval, not judged, or dropped by the user."""

    OPEN = "open"
    INSIDE = "inside"
    OUTSIDE = "outside"
    NOT_JUDGED = "not judged"
    DROPPED = "dropped"


@dataclass(frozen=True)
class Base:
    """The run that was predicted from. `run` is its folder, from the ledger's; `sources` are their SHA-256 by path."""

    run: str
    time_s: float
    sources: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, int | float | str] = field(default_factory=dict)
    platform: str = ""
    simulated: bool = True
    deterministic: bool = False


@dataclass(frozen=True)
class Expected:
    """How much of the changed run's critical path was predicted for a block in a state."""

    block: str
    state: str
    time_s: float


def expected_of(path: Iterable[Bottleneck]) -> tuple[Expected, ...]:
    """What the ledger keeps of a critical path by block and state."""
    return tuple(Expected(one.block, one.state, one.time_s) for one in path)


@dataclass(frozen=True)
class Confirmed:
    """What a re-run on the card under the changes' timing rules came to. `same_answer`: with the same result."""

    at: str
    speedup: float
    time_s: float
    same_answer: bool | None = None


@dataclass(frozen=True)
class MeasuredResult:
    """What a run of changed sources came to. `speedup` is per unit of work where `work` is unequal; None where unknown.

    `same_output` is None where it is not known.
    """

    at: str
    run: str
    time_s: float
    speedup: float | None
    work: Work
    same_output: bool | None = None


@dataclass(frozen=True)
class Entry:
    """One adopted prediction. `id` is unique in the ledger, `at` is when it was adopted (ISO 8601, UTC)."""

    id: str
    at: str
    project: str
    base: Base
    prediction: Prediction
    expected: tuple[Expected, ...] = ()
    confirmed: Confirmed | None = None
    came: MeasuredResult | None = None
    dropped: bool = False

    @property
    def title(self) -> str:
        """Its changes, as they are written."""
        return "; ".join(map(str, self.prediction.changes))

    @property
    def error(self) -> float | None:
        """What came over what was predicted, less 1; None where that cannot be judged."""
        speedup = self.prediction.speedup
        if self.came is None or self.came.work is not Work.EQUAL or not speedup or self.came.speedup is None:
            return None
        return self.came.speedup / speedup - 1

    @property
    def fate(self) -> Fate:
        if self.came is None:
            return Fate.DROPPED if self.dropped else Fate.OPEN
        inside = None if self.came.speedup is None else self.prediction.holds(self.came.speedup)
        if self.error is None or inside is None:
            return Fate.NOT_JUDGED
        return Fate.INSIDE if inside else Fate.OUTSIDE


@dataclass(frozen=True)
class Score:
    """How far to trust predictions in a project. `judged` came true on equal work; errors are absolute shares, None
    without any."""

    judged: int
    inside: int
    median_error: float | None
    worst_error: float | None


def score(entries: Iterable[Entry]) -> Score:
    """The statistics of a ledger."""
    kept = [entry for entry in entries if entry.fate in (Fate.INSIDE, Fate.OUTSIDE)]
    errors = [abs(entry.error) for entry in kept if entry.error is not None]
    inside = sum(entry.fate is Fate.INSIDE for entry in kept)
    return Score(len(kept), inside, median(errors) if errors else None, max(errors, default=None))
