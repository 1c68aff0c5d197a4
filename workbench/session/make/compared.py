"""Compares several open runs in one table, with their predictions."""

from collections.abc import Sequence

from workbench.analysis.compare_many import ManyRuns, compare_many
from workbench.session.keep.results import OpenRun
from workbench.session.make.scaling import predictions_of


def compared(opened: Sequence[OpenRun]) -> ManyRuns:
    """The runs in this order, each compared with the first."""
    predictions = predictions_of([one.run for one in opened])
    predicted_s = {folder: (time_s, base) for folder, (time_s, _, _, base) in predictions.items()}
    return compare_many([(one.run, one.analysis) for one in opened], predicted_s)
