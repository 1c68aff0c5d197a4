"""The RC Amenability Test (Holland, Nagarajan and George 2009): what one FPGA makes of a design, on one page."""

from collections.abc import Sequence
from pathlib import Path

from workbench.api import Later, ModelKind, hookimpl


@hookimpl
def workbench_model_kinds() -> Sequence[ModelKind]:
    return [
        ModelKind(
            name="rat",
            label="RAT",
            title="throughput of a design on one FPGA (RAT)",
            document=Later("rc_workbench_plugins.rat.model:RatModel").load,
            outputs=Later("rc_workbench_plugins.rat.model:outputs"),
            results=Later("rc_workbench_plugins.rat.shown:results"),
            goal="speedup",
            larger=frozenset({"speedup", "speedup_double", "computing_share", "computing_share_double"}),
            models=Path(__file__).parent / "models",
        )
    ]
