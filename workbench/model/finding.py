"""A bottleneck that a rule found, what mending it could gain at most, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Place:
    """Where a finding leads: a line of source, and the call site or state there if any."""

    file: str
    line: int
    label: str = ""


@dataclass(frozen=True)
class Finding:
    """One bottleneck.

    `time_s` is the time t that mending it would save at most.
    `speedup_ideal` is T/(T - t) of the block or application (ReCAP 2011, section 4): no other bottleneck in the way.
    `speedup_cap` is what the utilisation of the other side still allows (section 6.1: 1/0.541 = 1.85 beside 11.63).
    `speedup_predicted` is None until a what-if model has answered.
    `severity` is high (over 2x), medium (1.2 to 2x) or low, by min(ideal, cap) where nothing is predicted.
    `culprit` names the block that causes it where that is another than the one it is seen on (late senders).
    `group` is the group of replicas that share it (`block` is then the replica that would gain least), or "".
    `part_of` is the id of the finding this one repeats a part of (a call's share of its block's finding), or "".
    """

    id: str
    rule: str
    title: str
    scope: str  # "block", "call" or "application"
    where: str  # a block id, "block: entry at file:line" for a call, or "application"
    block: str  # the block it is shown on
    time_s: float
    speedup_ideal: float
    speedup_cap: float | None
    severity: str
    suggestions: tuple[str, ...]
    metrics: Mapping[str, float | int | str] = field(default_factory=dict)
    condition: str = ""
    explanation: str = ""
    places: tuple[Place, ...] = ()
    culprit: str = ""
    part_of: str = ""
    group: str = ""
    speedup_predicted: float | None = None

    @property
    def gain(self) -> float:
        """What findings are ranked by: the prediction, or else the smaller of ideal and cap."""
        if self.speedup_predicted is not None:
            return self.speedup_predicted
        return min(self.speedup_ideal, self.speedup_cap or self.speedup_ideal)


def tops(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that count: those that repeat a part of another stand under it and are not counted."""
    kept = list(findings)
    known = {finding.id for finding in kept}
    return [finding for finding in kept if finding.part_of not in known]


def findings_on(findings: Iterable[Finding], block_ids: Iterable[str]) -> list[Finding]:
    """What the warning on a node of the block graph counts: the top findings shown on one of its blocks."""
    ids = set(block_ids)
    return [f for f in tops(findings) if f.block in ids and f.scope != "application"]


def count_words(findings: Iterable[Finding]) -> str:
    """How many there are, as every place says it: `5, and 9 parts of them`."""
    kept = list(findings)
    parts = len(kept) - len(tops(kept))
    return f"{len(kept) - parts}" + (f", and {parts} part{'s' if parts != 1 else ''} of them" if parts else "")
