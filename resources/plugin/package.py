"""A metric and a rule that uses it. `workbench.api` lists all that a plugin may bring."""

from collections.abc import Sequence
from pathlib import Path

from workbench.api import Metric, RuleFile, hookimpl


@hookimpl
def workbench_metrics() -> Sequence[Metric]:
    """Metrics of what a rule selects; None means that there is no value."""
    return [
        Metric(
            "$package.mean_bytes",
            "Mean size of these calls",
            "size",
            lambda selected: sum(c.bytes for c in selected.calls) / selected.count if selected.count else None,
        )
    ]


@hookimpl
def workbench_rules() -> Sequence[RuleFile]:
    return [RuleFile(Path(__file__).parent / "rules.yaml")]
