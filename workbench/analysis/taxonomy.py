"""The rules as a tree of bottlenecks (ReCAP 2011, Figure 7), with what each found in a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.analysis.knowledge import CheckedRule
from workbench.model.finding import Finding


@dataclass(frozen=True)
class BottleneckKind:
    """All rules of one name: on which sides they look, and their findings. `children` have it for their `parent`."""

    name: str
    category: str
    sides: tuple[str, ...]
    explanation: str
    findings: tuple[Finding, ...]
    children: tuple[BottleneckKind, ...]

    @property
    def gain(self) -> float | None:
        """The most that one of its findings gains, predicted or else at most; None where it found nothing."""
        return max((finding.gain for finding in self.findings), default=None)


def taxonomy(rules: Sequence[CheckedRule], findings: Sequence[Finding]) -> tuple[BottleneckKind, ...]:
    """The bottlenecks without a parent, in the order of the rules, by category."""
    by_name: dict[str, list[CheckedRule]] = {}
    for rule in rules:
        by_name.setdefault(rule.name, []).append(rule)

    def bottleneck(name: str) -> BottleneckKind:
        named = by_name[name]
        sides = ["host", "fpga"] if any(rule.side == "any" for rule in named) else [rule.side for rule in named]
        children = (other for other in by_name if other != name and _parent(by_name[other]) == name)
        return BottleneckKind(
            name, named[0].category, tuple(dict.fromkeys(sides)), named[0].rule.explanation,
            tuple(finding for finding in findings if finding.rule == name), tuple(map(bottleneck, children)),
        )  # fmt: skip

    tops = [name for name, named in by_name.items() if _parent(named) in ("", name) or _parent(named) not in by_name]
    categories = list(dict.fromkeys(by_name[name][0].category for name in tops))
    return tuple(map(bottleneck, sorted(tops, key=lambda name: categories.index(by_name[name][0].category))))


def with_children(tops: Sequence[BottleneckKind], depth: int = 0) -> Iterator[tuple[int, BottleneckKind]]:
    """All of them with their depths, each before its children."""
    for one in tops:
        yield depth, one
        yield from with_children(one.children, depth + 1)


def _parent(named: Sequence[CheckedRule]) -> str:
    return next((one.rule.parent for one in named if one.rule.parent), "")
