"""The RC Amenability Test (Holland, Nagarajan and George 2009): what one FPGA makes of a design, on one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api import ModelKind, hookimpl

if TYPE_CHECKING:
    from workbench.api.models import ModelDocument, ModelValues, Values


@hookimpl
def workbench_model_kinds() -> Sequence[ModelKind]:
    return [
        ModelKind(
            name="rat",
            title="throughput of a design on one FPGA (RAT)",
            document=_document,
            outputs=_outputs,
            goal="speedup",
            larger=frozenset({"speedup", "speedup_double", "computing_share", "computing_share_double"}),
            models=Path(__file__).parent / "models",
        )
    ]


def _document() -> type[ModelDocument]:
    from rc_workbench_plugins.rat.model import RatModel

    return RatModel


def _outputs(values: ModelValues) -> Mapping[str, Values]:
    from rc_workbench_plugins.rat.model import outputs

    return outputs(values)
