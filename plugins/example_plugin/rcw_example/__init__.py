"""What a third party writes: a platform template and a rule, brought in through the public hooks."""

from collections.abc import Sequence
from pathlib import Path

from workbench.api import PlatformSupport, RuleFile, hookimpl

HERE = Path(__file__).parent


@hookimpl
def workbench_platforms() -> Sequence[PlatformSupport]:
    return [PlatformSupport(name="example_card", template=HERE / "example_card.yaml")]


@hookimpl
def workbench_rules() -> Sequence[RuleFile]:
    return [RuleFile(HERE / "rules.yaml")]
