"""What changes would gain: a predicted speedup, how sure it is, and what then holds the run."""

from dataclasses import dataclass
from enum import StrEnum

from workbench.model.blocks import Side
from workbench.model.changes import Change, as_json
from workbench.model.pragma import Category

#: By how much a speedup may lie outside its interval and count as inside: as exactly as it is shown.
SHOWN_TO = 1e-3


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
    `interval_holds` says what the interval holds beside what the run does not show: of measured host time, by how much
    the host's own code may take another time, and what that is taken from.
    """

    changes: tuple[Change, ...]
    trust: Trust
    time_s: float | None = None
    speedup: float | None = None
    interval: tuple[float, float] | None = None
    why: str = ""
    bound_by: str = ""
    interval_holds: str = ""

    def holds(self, speedup: float) -> bool | None:
        """Whether a measured speedup lies in the interval, as exactly as it is shown; None without an interval."""
        if self.interval is None:
            return None
        lower, upper = self.interval
        return lower * (1 - SHOWN_TO) <= speedup <= upper * (1 + SHOWN_TO)

    def as_json(self) -> dict[str, object]:
        """The keys that every command prints; times in seconds."""
        return {
            "changes": [as_json(change) for change in self.changes],
            "predicted_s": self.time_s,
            "speedup": self.speedup,
            "interval": list(self.interval) if self.interval else None,
            "interval_holds": self.interval_holds,
            "bound_by": self.bound_by,
            "trust": self.trust.value,
            "why": self.why,
        }


@dataclass(frozen=True)
class PathStep:
    """A part of a run's critical path: a block in a state, or the host in a call, and what it had waited for."""

    side: Side
    block: str
    state: str
    begin_s: float
    end_s: float
    waited_for: str = ""


@dataclass(frozen=True)
class Slack:
    """By how much any one stay of a block in a state, or any one call at a place, may end later before the run does:
    the least of all of them. `call` names the call; None as slack where nothing waits for any."""

    block: str
    state: str
    slack_s: float | None
    call: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class PathLine:
    """How much of the critical path is spent at a line: in its calls, or in the state that its pragma names. `name` is
    that of the call or state; the host's code between calls has no line of its own (file "" and line 0)."""

    block: str
    name: str
    file: str
    line: int
    time_s: float
    share: float


@dataclass(frozen=True)
class PathPart:
    """A state of a block, or a call of the host, by its name and line; the host's code between calls has no line."""

    block: str
    name: str
    file: str
    line: int
    category: Category | None = None


@dataclass(frozen=True)
class PathMove:
    """How often the critical path goes on from one state or call to another."""

    source: PathPart
    target: PathPart
    count: int


@dataclass(frozen=True)
class PathWait:
    """How often, and how long in all, a call or a waiting state (`waiter`) waited for another block to end a state, or
    for a call of it to bring data or to free the bus."""

    waiter: PathPart
    waited_for: PathPart
    count: int
    time_s: float


@dataclass(frozen=True)
class CriticalPath:
    """What a run's time was spent on: step after step from its start to its end, and by line; and what has time to
    spare. `moves` are the path within blocks, from state to call to state; `waits` are all of the run.

    `why` says why there are no steps, or what they are taken from where that is no trace.
    """

    time_s: float
    steps: tuple[PathStep, ...]
    lines: tuple[PathLine, ...] = ()
    slack: tuple[Slack, ...] = ()
    why: str = ""
    moves: tuple[PathMove, ...] = ()
    waits: tuple[PathWait, ...] = ()


@dataclass(frozen=True)
class Bottleneck:
    """How much of the critical path a block spends in a state."""

    block: str
    state: str
    time_s: float
    share: float
