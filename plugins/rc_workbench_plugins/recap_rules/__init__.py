"""The bottleneck taxonomy of ReCAP (2011, section 5) as a knowledge base: reasons and rules, in `rules.yaml`, over the
metrics of `metrics.py`."""

from collections.abc import Sequence
from pathlib import Path

from workbench.api import Command, Metric, RuleFile, hookimpl


@hookimpl
def workbench_rules() -> Sequence[RuleFile]:
    return [RuleFile(Path(__file__).parent / "rules.yaml")]


@hookimpl
def workbench_metrics() -> Sequence[Metric]:
    from rc_workbench_plugins.recap_rules.metrics import METRICS

    return METRICS


@hookimpl
def workbench_commands() -> Sequence[Command]:
    from rc_workbench_plugins.recap_rules.command import add_arguments, run

    return [Command("metrics", "list the metrics that rules may name", add_arguments, run)]
