"""The rules as a tree of bottlenecks (ReCAP 2011, Figure 7), with each one's findings in a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.analysis.finding_words import short_gain_text, where_words
from workbench.analysis.knowledge import CheckedRule
from workbench.api.views import Column, Table
from workbench.model.finding import Finding, Place


@dataclass(frozen=True)
class BottleneckKind:
    """All rules of one name: the sides to which they apply, and their findings. `children` name it as their
    `parent`."""

    name: str
    category: str
    sides: tuple[str, ...]
    explanation: str
    findings: tuple[Finding, ...]
    children: tuple[BottleneckKind, ...]

    @property
    def best(self) -> Finding | None:
        """The finding with the largest gain, predicted or else its upper bound."""
        return max(self.findings, key=lambda finding: finding.gain, default=None)


def taxonomy(rules: Sequence[CheckedRule], findings: Sequence[Finding]) -> tuple[BottleneckKind, ...]:
    """The bottlenecks without a parent, by category, in the order of the rules."""
    by_name: dict[str, list[CheckedRule]] = {}
    for rule in rules:
        by_name.setdefault(rule.name, []).append(rule)

    def bottleneck(name: str) -> BottleneckKind:
        rules_of_name = by_name[name]
        sides = (
            ["host", "fpga"]
            if any(rule.side == "any" for rule in rules_of_name)
            else [rule.side for rule in rules_of_name]
        )
        children = (other for other in by_name if other != name and _parent(by_name[other]) == name)
        return BottleneckKind(
            name, rules_of_name[0].category, tuple(dict.fromkeys(sides)), rules_of_name[0].rule.explanation,
            tuple(finding for finding in findings if finding.rule == name), tuple(map(bottleneck, children)),
        )  # fmt: skip

    tops = [
        name
        for name, same_name in by_name.items()
        if _parent(same_name) in ("", name) or _parent(same_name) not in by_name
    ]
    categories = list(dict.fromkeys(by_name[name][0].category for name in tops))
    return tuple(map(bottleneck, sorted(tops, key=lambda name: categories.index(by_name[name][0].category))))


def taxonomy_table(tops: Sequence[BottleneckKind]) -> Table:
    """Each bottleneck with its number of findings and its best one. Rows are those of `with_children`."""
    columns = (
        Column("Bottleneck", lambda row: "\u2003" * row[0] + row[1].name, share=0.5, ink=_ink,
               tip_of=lambda row: f"{row[1].category}: {row[1].explanation}"),
        Column("Looks at", lambda row: ", ".join("FPGA" if side == "fpga" else side for side in row[1].sides),
               width_px=96, ink=_ink),
        Column("Findings", lambda row: str(len(row[1].findings) or "–"), width_px=72, right=True, ink=_ink),
        Column("Best", lambda row: short_gain_text(row[1].best) if row[1].best else "", width_px=84, right=True,
               ink=_ink),
        Column("Where", lambda row: where_words(row[1].best) if row[1].best else "", share=0.5, elide_middle=True,
               ink=_ink),
    )  # fmt: skip
    return Table("Rules", columns, tuple(with_children(tops)), place=_place)


def _place(row: tuple[int, BottleneckKind]) -> Place | None:
    best = row[1].best
    return next(iter(best.places), None) if best else None


def _ink(row: tuple[int, BottleneckKind]) -> tuple[str, int, int]:
    return ("text", 13, 500) if row[1].findings else ("muted", 13, 400)


def with_children(tops: Sequence[BottleneckKind], depth: int = 0) -> Iterator[tuple[int, BottleneckKind]]:
    """Each bottleneck with its depth in the tree, before its children."""
    for kind in tops:
        yield depth, kind
        yield from with_children(kind.children, depth + 1)


def _parent(rules_of_name: Sequence[CheckedRule]) -> str:
    return next((one.rule.parent for one in rules_of_name if one.rule.parent), "")
