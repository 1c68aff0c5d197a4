"""Made-up predictions for tests of what shows them: advice gets changes, and a replay that answers by a small rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from workbench.api.results import Analysis
from workbench.model.changes import Change, Interrupt, ScaleCalls, Unite
from workbench.model.finding import Finding
from workbench.model.prediction import Bottleneck, CriticalPath, Prediction, Trust


@dataclass(frozen=True)
class MadeUpReplay:
    """Answers as `workbench.replay.predict.Replayed` does. A change gains `gains[kind]`, 1.04 where that has none; the
    second and later ones of a set gain a tenth of that. With a `why` everything is refused."""

    time_s: float
    gains: Mapping[str, float]
    why: str = ""

    @property
    def exact(self) -> bool:
        return not self.why

    @property
    def likely(self) -> bool:
        return False

    def predict(self, changes: Sequence[Change]) -> Prediction:
        if self.why:
            return Prediction(tuple(changes), Trust.REFUSED, why=self.why)
        each = sorted((self.gains.get(change.kind, 1.04) for change in changes), reverse=True)
        speedup = each[0] * (1 + 0.1 * sum(gain - 1 for gain in each[1:]) if len(each) > 1 else 1.0)
        wide = any(isinstance(change, Unite) for change in changes)
        interval = (speedup * 0.95, speedup * 1.04) if wide else (speedup, speedup)
        return Prediction(
            tuple(changes), Trust.TRUSTED, self.time_s / speedup, speedup, interval, bound_by="core[*].ctrl: busy"
        )

    def next_bottlenecks(self, changes: Sequence[Change] = ()) -> tuple[Bottleneck, ...]:
        total = (self.predict(changes).time_s or self.time_s) if changes else self.time_s
        shares = [("host.main", "readBins", 0.55), ("host.main", "writePoints", 0.3), ("core[*].ctrl", "busy", 0.1)]
        if changes:
            shares = [("core[*].ctrl", "busy", 0.7), ("host.main", "readBins", 0.2)]
        return tuple(Bottleneck(block, state, share * total, share) for block, state, share in shares)

    def critical_path(self) -> CriticalPath:
        return CriticalPath(self.time_s, ())


def with_changes(analysis: Analysis) -> Analysis:
    """The analysis with changes in the host's advice alone: unite, interrupt, and one that gains little."""
    return replace(analysis, findings=tuple(map(_changed, analysis.findings)))


def _changed(finding: Finding) -> Finding:
    calls = tuple(dict.fromkeys(f"{place.file}:{place.line}" for place in finding.places))
    mine = calls and not finding.points_elsewhere and finding.block.startswith("host.")
    sets: tuple[tuple[Change, ...], ...] = ((Unite(calls, 8),), (Interrupt(calls),), (ScaleCalls(calls, 0.97),))
    return replace(
        finding,
        advice=tuple(
            replace(a, changes=changes, hardware=not n, hazard="needs a second buffer" if n == 1 and changes else "")
            for n, (a, changes) in enumerate(zip_longest(finding.advice, sets if mine else (), fillvalue=()))
            if a
        ),
    )
