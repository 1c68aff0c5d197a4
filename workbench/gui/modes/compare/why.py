"""Why a run took more or less than predicted: both critical paths by block and state."""

from collections.abc import Sequence

from workbench.analysis.came_true import Explained
from workbench.gui.modes.compare.table import change_colour, change_text
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.ledger import Entry
from workbench.model.text import ratio_text, time_text
from workbench.session.keep.ledger import ComparedLedger


class WhyTable(RowView):
    def __init__(self) -> None:
        super().__init__("Why", (
            Column("Block", lambda row: row.block, share=0.25, key=lambda row: row.block),
            Column("State", lambda row: row.state, share=0.17, key=lambda row: row.state,
                   ink=lambda row: ("text", 13, 500)),
            Column("Predicted", lambda row: time_text(row.predicted_s), share=0.18, right=True,
                   key=lambda row: row.predicted_s, ink=lambda row: ("accent", 13, 400)),
            Column("Measured", lambda row: time_text(row.came_s), share=0.18, right=True,
                   key=lambda row: row.came_s, ink=lambda row: ("text", 13, 600)),
            Column("Difference", lambda row: change_text(row.difference_s), share=0.22, right=True,
                   key=lambda row: row.difference_s, ink=lambda row: (change_colour(row.difference_s), 13, 600)),
        ))  # fmt: skip

    def show_explained(self, rows: Sequence[Explained]) -> None:
        self.show_rows([(row, ()) for row in rows])


def why_title(entry: Entry) -> tuple[str, str]:
    """What came and what did not, and by how much the run is longer than predicted."""
    predicted, came = entry.prediction, entry.came
    if came is None or not came.speedup or not predicted.speedup:
        return "Why", ""
    more_s = came.time_s - (predicted.time_s or came.time_s)
    words = f"{time_text(abs(more_s))} {'longer' if more_s > 0 else 'shorter'} than predicted"
    one, other = ratio_text(came.speedup), ratio_text(predicted.speedup)
    return f"{one} as predicted" if one == other else f"{one}, not {other}", words


def why_words(beside: ComparedLedger) -> str:
    """What the table holds, or why it is empty."""
    if beside.explained:
        return "Both critical paths by block and state"
    return f"The difference is not explained: {beside.why}."
