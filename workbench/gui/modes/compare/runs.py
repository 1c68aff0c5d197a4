"""The table of all compared runs: their different settings, times, and states that changed most."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QMenu, QWidget

from workbench.analysis.compare_many import (
    MOST_RUNS,
    ComparedRun,
    ManyRuns,
    Value,
    differ_words,
    error_text,
    fastest_words,
    most_words,
    value_text,
)
from workbench.api.window import fill_state, frame_colour
from workbench.gui.frame.naming import folder_title
from workbench.gui.look.painting import label as write
from workbench.gui.views.canvas import text_width
from workbench.gui.widgets import Button, PanelHeader, label, plain_column
from workbench.gui.widgets.boxes import row_layout
from workbench.gui.widgets.row_view import EDGE_PX, GAP_PX, RowView
from workbench.gui.widgets.rows import Column
from workbench.gui.widgets.whole_rows import WholeRows
from workbench.model.text import ratio_text, time_text

#: Of what differs, so many have a column of their own; what a wider one keeps is elided in its middle.
MOST_DIFFERENT, WIDEST_PX = 3, 200
_BADGE_PX = 26


class RunsTable(RowView):
    """A row for each run. `removed` carries the run whose row is taken out by Delete or its menu."""

    removed = Signal(object)

    def __init__(self) -> None:
        super().__init__("Runs that are compared", (Column("Run", lambda row: row.name, share=1.0),), row_px=30)
        self.letters: Mapping[str, str] = {}  # A and B, by the row's letter
        self._longest_s = 0.0

    def show_runs(self, many: ManyRuns, letters: Mapping[str, str], other: Path | None) -> None:
        """The runs; A and B are those whose states, calls and findings are compared, and `other` is that of them which
        is not the open one."""
        self.letters = letters
        self._longest_s = max((run.time_s for run in many.runs), default=0.0)
        self.rows.set_columns(self._columns(many))
        self.show_rows([(run, ()) for run in many.runs])
        self.choose(lambda row: row.path is not None and row.path == other)

    def _columns(self, many: ManyRuns) -> list[Column]:
        runs = many.runs
        columns = [self._value(name, [run.values[name] for run in runs]) for name in many.differ[:MOST_DIFFERENT]]
        columns.append(
            Column("Run", _name, width_px=_BADGE_PX + _wide("Run", [_name(run) for run in runs], 600), key=_name,
                   paint=self._paint_name, tip_of=lambda row: str(row.path or row.name))
        )  # fmt: skip
        columns += [
            _figure("Time", lambda row: time_text(row.time_s, 4), runs, 600, lambda row: row.time_s),
            _figure("Speedup", _speedup, runs, 600, lambda row: row.speedup or 0.0),
        ]
        if any(run.predicted_s or run.base for run in runs):
            columns += [
                _figure("Predicted", lambda row: time_text(row.predicted_s) if row.predicted_s else "", runs, 400,
                        lambda row: row.predicted_s or 0.0, "accent"),
                _figure("Error", error_text, runs, 400, lambda row: row.error or 0.0, "second"),
            ]  # fmt: skip
        columns.append(
            Column(
                "By state",
                share=1.0,
                paint=self._paint_states,
                tip="Time of the host's main block by state",
                tip_of=_states_words,
            )
        )
        columns.append(_figure("Differs most", most_words, runs, 400, lambda row: row.change[1] if row.change else 0.0,
                               "second"))  # fmt: skip
        return columns

    def _value(self, name: str, values: Sequence[Value]) -> Column:
        number = all(isinstance(value, int | float) for value in values)
        wide = min(_wide(name, [value_text(value) for value in values]), WIDEST_PX)
        return Column(
            name, lambda row: value_text(row.values[name]), width_px=wide, right=number,
            key=lambda row: row.values[name] if number else str(row.values[name]),
            ink=lambda row: ("text", 13, 600), elide=Qt.TextElideMode.ElideMiddle,
            tip_of=lambda row: f"{name}: {value_text(row.values[name])}",
        )  # fmt: skip

    def _paint_name(self, painter: QPainter, box: QRectF, row: ComparedRun) -> None:
        first = box.left() == 0
        inside = box.adjusted(EDGE_PX if first else GAP_PX, 0, -GAP_PX, 0)
        if letter := self.letters.get(row.letter):
            write(painter, QRectF(inside.left(), box.top(), _BADGE_PX, box.height()), letter, "accent", 13, 700)
        write(painter, inside.adjusted(_BADGE_PX - 6, 0, 0, 0), _name(row), "text", 13, 500,
              elide=Qt.TextElideMode.ElideMiddle)  # fmt: skip

    def _paint_states(self, painter: QPainter, box: QRectF, row: ComparedRun) -> None:
        """The host's main block by state, as long as the run took."""
        left, room = box.left() + GAP_PX, box.width() - 2 * GAP_PX
        wide = room * row.time_s / self._longest_s if self._longest_s else 0.0
        whole_s = sum(time_s for _, _, time_s in row.states) or 1.0
        top, at = box.center().y() - 6, left
        for _, category, time_s in row.states:
            part = wide * time_s / whole_s
            fill_state(painter, QRectF(at, top, part, 12), category)
            at += part
        painter.setPen(QPen(frame_colour(), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(left + 0.5, top + 0.5, max(wide - 1, 1.0), 11))

    def fill_menu(self, menu: QMenu, row: ComparedRun) -> None:
        menu.addAction("Compare with this run\tEnter", partial(self.opened.emit, row))
        menu.addAction("Remove from the comparison\tDel", partial(self.removed.emit, row))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.current is not None:
            self.removed.emit(self.current)
        else:
            super().keyPressEvent(event)


def _name(row: ComparedRun) -> str:
    return folder_title(row.path) if row.path else row.name


def _speedup(row: ComparedRun) -> str:
    return ratio_text(row.speedup) if row.speedup else "–"


def _states_words(row: ComparedRun) -> str:
    longest = sorted(row.states, key=lambda state: -state[2])
    return "\n".join(f"{name}: {time_text(time_s)}" for name, _, time_s in longest)


def _wide(head: str, texts: Sequence[str], weight: int = 400) -> int:
    """What a column needs to show all of it."""
    return round(max(text_width(head, 12, 500), *(text_width(one, 13, weight) for one in texts)) + EDGE_PX + GAP_PX + 2)


def _figure(
    head: str, text: Callable[[ComparedRun], str], runs: Sequence[ComparedRun], weight: int,
    key: Callable[[ComparedRun], float], ink: str = "text",
) -> Column:  # fmt: skip
    wide = _wide(head, [text(run) for run in runs], weight)
    return Column(head, text, width_px=wide, right=True, key=key, ink=lambda row: (ink, 13, weight))


class RunsPanel(QWidget):
    """The table under its head, and what it shows in a sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.many = ManyRuns((), ())
        self.head = PanelHeader("Runs")
        self.add = Button("Add runs", "plus")
        self.add.setToolTip(f"Up to {MOST_RUNS} runs are compared")
        self.table = RunsTable()
        self.said = label("", "smallsecond", wrap=True)
        self.foot = QWidget()
        row_layout((self.said, 1), of=self.foot, margins=(16, 6, 16, 8))
        plain_column(self, self.head, (WholeRows(self.table), 1), self.foot).addStretch()

    @property
    def most_px(self) -> int:
        """How high it is with all its runs."""
        return self.head.height() + self.table.whole_px + self.foot.sizeHint().height()

    def show_runs(self, many: ManyRuns, letters: Mapping[str, str], other: Path | None) -> None:
        """All runs that are compared; see the table's."""
        self.many = many
        self.head.set_title("Runs", differ_words(many))
        self.said.setText(fastest_words(many, _name))
        self.table.show_runs(many, letters, other)
