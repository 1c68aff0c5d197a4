"""The bottleneck taxonomy of ReCAP (2011, section 5) as a knowledge base: reasons and rules, in `rules.yaml`."""

from __future__ import annotations

from pathlib import Path

from workbench.api import RuleFile, hookimpl


@hookimpl
def workbench_rules() -> list[RuleFile]:
    return [RuleFile(Path(__file__).parent / "rules.yaml")]
