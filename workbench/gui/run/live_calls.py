"""The host's calls while the program runs: how often, how much and how long so far, site by site."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.diagnostic import WorkbenchError
from workbench.model.text import bytes_text, count_text, rate_text, time_text

if TYPE_CHECKING:
    from workbench.run.so_far import CallSoFar


#: Narrower than this states and rates are left out.
WHOLE_FROM_PX = 680
STATE, RATE = 1, 5


class LiveCalls(RowView):
    """Follows the records in a folder; `total` calls were made so far."""

    def __init__(self) -> None:
        columns = (
            Column("Call", _name, share=0.62, key=_name, tip_of=lambda row: f"{row.site.file}, line {row.site.line}"),
            Column("State", lambda row: row.state.name, share=0.38, key=lambda row: row.state.name),
            Column("Calls", lambda row: count_text(row.count), 80, right=True, key=lambda row: row.count),
            Column("Bytes", lambda row: bytes_text(row.bytes) if row.bytes else "", 84, right=True,
                   key=lambda row: row.bytes),
            Column("Time", lambda row: time_text(row.time_s), 84, right=True, key=lambda row: row.time_s),
            Column("Rate", lambda row: rate_text(row.bytes_per_s) if row.bytes else "", 100, right=True,
                   key=lambda row: row.bytes_per_s),
            Column("Now", lambda row: "in it" if row.under_way else "", 58, tip="Whether a thread is in the call"),
        )  # fmt: skip
        super().__init__("Calls so far", columns)
        self.total = 0
        self._raw: Path | None = None
        self._shown: tuple[CallSoFar, ...] = ()

    def follow(self, raw: Path | None) -> None:
        """Begin with the records of another run, of which there may be none yet."""
        self._raw = raw
        self._show(())

    def look(self) -> None:
        """Show what is counted by now."""
        from workbench.run.so_far import calls_so_far  # what reads records is imported by the first run

        with suppress(WorkbenchError, OSError):  # half of a line is written: the next look shows it
            calls = calls_so_far(self._raw) if self._raw else ()
            if calls and calls != self._shown:
                self._show(calls)

    def _show(self, calls: tuple[CallSoFar, ...]) -> None:
        self._shown, self.total = calls, sum(call.count for call in calls)
        at = self.verticalScrollBar().value()
        self.show_rows([(call, ()) for call in calls])
        self.verticalScrollBar().setValue(at)

    def lay_out_columns(self) -> None:
        for column in (STATE, RATE):
            self.setColumnHidden(column, self.viewport().width() < WHOLE_FROM_PX)
        super().lay_out_columns()


def _name(call: CallSoFar) -> str:
    return f"{call.site.callee}  {Path(call.site.file).name}:{call.site.line}"
