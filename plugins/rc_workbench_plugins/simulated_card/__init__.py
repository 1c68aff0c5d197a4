"""The simulated card: a host program beside its RTL in Verilator, on one virtual clock."""

from collections.abc import Sequence

from rc_workbench_plugins.simulated_card.target import SimulatedCard
from workbench.api import Target, hookimpl


@hookimpl
def workbench_targets() -> Sequence[Target]:
    return [SimulatedCard()]
