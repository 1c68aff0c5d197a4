"""A bottleneck that a rule found, the most that a fix could gain, and what to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from workbench.model.changes import Change
from workbench.model.prediction import Prediction

#: The rule of findings that are failed assertions.
FAILED_ASSERTION = "failed assertion"


@dataclass(frozen=True)
class Place:
    """Where a finding leads: a line of source, and the call site or state there if any."""

    file: str
    line: int
    label: str = ""


@dataclass(frozen=True)
class Advice:
    """What to do, and what the whole run gains by it at most.

    `at_most` is a bound, never a forecast: the run's time over the least that it then takes while what `stays` says
    holds. Infinite where nothing known stays; None where no run shows it. `elsewhere`: it leads to other findings.

    `changes` is the advice as changes of the catalogue, made together. Where it has none, `no_change` says why.
    `hardware`: the FPGA's design must change with them. `hazard` is the data hazard to settle first, such as "needs a
    second buffer".
    `prediction` is what they would gain; None where nothing predicted it.
    """

    text: str
    at_most: float | None
    stays: str = ""
    elsewhere: bool = False
    changes: tuple[Change, ...] = ()
    hardware: bool = False
    hazard: str = ""
    no_change: str = ""
    prediction: Prediction | None = None


@dataclass(frozen=True)
class Finding:
    """One bottleneck.

    `time_s` is the time t that is lost in it.
    `speedup_ideal` is T/(T - t) of the block or application (ReCAP 2011, section 4): no other bottleneck in the way.
    `advice` is the most rewarding first; `speedup_cap` is the greatest of its bounds (section 6.1: 1/0.541 = 1.85
    beside 11.63), None where none is known. It may be more than the ideal: other time can go with t.
    `severity` is high (over 2x), medium (1.2 to 2x) or low, by `gain`.
    `culprit` names the block that causes it where that is another than the one it is seen on (late senders).
    `group` is the group of replicas that share it (`block` is then the replica that would gain least), or "".
    `part_of` is the id of the finding this one repeats a part of (a call's share of its block's finding), or "".
    `failures` is how often an assertion of the design failed, and `first_s` when first; `open_s` is since when it was
    open at the end of the run, which is a failure. Such a finding gains no time. Its severity is the assertion's own:
    high for an error, medium for a warning, low for a note.
    """

    id: str
    rule: str
    title: str
    scope: str  # "block", "call", "fifo", "memory_port" or "application"
    where: str  # a block's, FIFO's or memory port's id, "block: entry at file:line" for a call, or "application"
    block: str  # the block it is shown on
    time_s: float
    speedup_ideal: float
    speedup_cap: float | None
    severity: str
    advice: tuple[Advice, ...]
    metrics: Mapping[str, float | int | str] = field(default_factory=dict)
    condition: str = ""
    explanation: str = ""
    places: tuple[Place, ...] = ()
    culprit: str = ""
    part_of: str = ""
    group: str = ""
    failures: int = 0
    first_s: float | None = None
    open_s: float | None = None

    @property
    def order(self) -> int:
        """What findings are ranked by before their gain: failed assertions first, warnings and notes of such last."""
        return 1 if not self.failures else 0 if self.severity == "high" else 2

    @property
    def speedup_predicted(self) -> float | None:
        """The most that any of its advice is predicted to gain; None where none is predicted."""
        speedups = (advice.prediction.speedup for advice in self.advice if advice.prediction)
        return max((speedup for speedup in speedups if speedup is not None), default=None)

    @property
    def gain(self) -> float:
        """What findings are ranked by: the prediction, or else what the best of the advice gains at most."""
        if self.speedup_predicted is not None:
            return self.speedup_predicted
        return self.speedup_ideal if self.speedup_cap is None else self.speedup_cap

    @property
    def sign(self) -> str:
        """The severity shown: "aside" for a finding that follows from another and is not a part of one."""
        return "aside" if self.points_elsewhere and not self.part_of else self.severity

    @property
    def points_elsewhere(self) -> bool:
        """Whether the advice with the greatest bound is to fix what other findings name."""
        known = [advice for advice in self.advice if advice.at_most is not None]
        most = max((advice.at_most or 0.0 for advice in known), default=0.0)
        return any(advice.elsewhere and advice.at_most == most for advice in known)

    @property
    def suggestions(self) -> tuple[str, ...]:
        return tuple(advice.text for advice in self.advice)


def tops(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that count: those that repeat a part of another are under it and are not counted."""
    kept = list(findings)
    known = {finding.id for finding in kept}
    return [finding for finding in kept if finding.part_of not in known]


def findings_on(findings: Iterable[Finding], block_ids: Iterable[str]) -> list[Finding]:
    """What the warning on a node of the block graph counts: the top findings shown on one of its blocks."""
    ids = set(block_ids)
    return [f for f in tops(findings) if f.block in ids and f.scope != "application"]


def count_words(findings: Iterable[Finding]) -> str:
    """How many there are, as every place says it: `5 with 9 parts`."""
    kept = list(findings)
    parts = len(kept) - len(tops(kept))
    return f"{len(kept) - parts}" + (f" with {parts} part{'s' if parts != 1 else ''}" if parts else "")
