"""Every prediction of the project with its fate, and how far to trust the next one."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QStackedLayout, QWidget

from workbench.analysis.came_true import error_words, interval_words, outcome_words, score_words
from workbench.analysis.trial_page import set_title
from workbench.api.window import palette
from workbench.gui.look import icons
from workbench.gui.look.painting import label as write
from workbench.gui.views.canvas import Drawn
from workbench.gui.widgets import EmptyState, PanelHeader, PillButton, label, plain_column
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.ledger import Entry, Fate, score
from workbench.model.text import percent_text, ratio_text
from workbench.pictures.canvas import CENTRE, Canvas

KINDS = (("all", "All"), ("came", "Came"), ("open", "Open"), ("outside", "Outside"))
#: From what width of the table these columns are shown; a narrower one has them in the row's tooltip alone.
CONFIRMED, FATE = 5, 8
FROM_PX = {0: 640, 4: 740, CONFIRMED: 860, 7: 560}
_WIDEST = 0.05  # of the errors' axis, at least


def kept(entries: Sequence[Entry], kind: str) -> list[Entry]:
    """The entries of one kind, the newest first."""
    wanted = {
        "all": set(Fate), "came": {Fate.INSIDE, Fate.OUTSIDE, Fate.NOT_JUDGED}, "open": {Fate.OPEN},
        "outside": {Fate.OUTSIDE},
    }[kind]  # fmt: skip
    return [entry for entry in reversed(entries) if entry.fate in wanted]


class LedgerTable(RowView):
    def __init__(self) -> None:
        super().__init__("Ledger", (
            Column("Time", lambda row: row.at[5:16].replace("T", " "), width_px=100, key=lambda row: row.at,
                   ink=lambda row: ("muted", 12, 400)),
            Column("Change", _changes, share=1.0, key=_changes,
                   tip_of=_tip,
                   ink=lambda row: ("text", 13, 500), elide=Qt.TextElideMode.ElideMiddle),
            Column("Run", lambda row: row.came.run if row.came else "none yet", width_px=80,
                   ink=lambda row: ("text" if row.came else "muted", 12, 400)),
            Column("Predicted", lambda row: ratio_text(row.prediction.speedup), width_px=84, right=True,
                   key=lambda row: row.prediction.speedup or 0.0, ink=lambda row: ("accent", 13, 600)),
            Column("Interval", interval_words, width_px=112, ink=lambda row: ("second", 12, 400)),
            Column("Confirmed", lambda row: ratio_text(row.confirmed.speedup) if row.confirmed else "", width_px=84,
                   right=True, ink=lambda row: ("second", 13, 400)),
            Column("Came", _came, width_px=62, right=True, key=lambda row: row.came.speedup or 0.0 if row.came else 0.0,
                   ink=lambda row: ("text", 13, 600)),
            Column("Error", _error, width_px=80, right=True, key=lambda row: row.error or 0.0,
                   ink=lambda row: ("medium_text" if row.fate is Fate.OUTSIDE else "second", 12, 400),
                   tip_of=error_words),
            Column("", lambda row: row.fate.value, width_px=94, key=lambda row: row.fate.value,
                   paint=_paint_fate),
        ), row_px=32)  # fmt: skip

    def lay_out_columns(self) -> None:
        for column, from_px in FROM_PX.items():
            self.setColumnHidden(column, self.viewport().width() < from_px)
        if not any(row.confirmed for row in self.rows.tops):
            self.setColumnHidden(CONFIRMED, True)
        super().lay_out_columns()


class ErrorDots(Drawn, QWidget):
    """The errors of the predictions that were judged, on one axis."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: tuple[tuple[float, bool], ...] = ()  # each with whether it lies inside its interval
        self.setMinimumSize(120, 44)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(240, 44)

    def draw(self, canvas: Canvas) -> None:
        if not self.errors:
            return
        widest = max(_WIDEST, *(abs(error) for error, _ in self.errors))
        left, wide, y = 24.0, self.width() - 48.0, 24.0
        canvas.path(((left, y), (left + wide, y)), "edge")
        for at in (-widest, 0.0, widest):
            x = left + wide * (at / widest + 1) / 2
            canvas.path(((x, y - 3), (x, y + 3)), "edge")
            sign = "−" if at < 0 else "+" if at else ""
            canvas.write(x, y + 12, sign + percent_text(abs(at)), "second", 11, 400, CENTRE)
        for error, inside in self.errors:
            x = left + wide * (error / widest + 1) / 2
            canvas.disc(x, y - 6, 3, "accent" if inside else "medium")


class LedgerPanel(QWidget):
    """The table, or why it is empty; below it the statistics. `entry_opened` carries the entry that was opened."""

    entry_opened = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.entries: tuple[Entry, ...] = ()
        self.only = "all"
        self.head = PanelHeader("Ledger", "all kept predictions and their runs")
        self.pills = {name: self._pill(name, title) for name, title in KINDS}
        self.table = LedgerTable()
        self.table.opened.connect(self.entry_opened.emit)
        self.nothing = EmptyState("trending-up", "No predictions yet", "Try a change in Analyse.")
        self.score, self.dots = label("", "smallsecond", wrap=True), ErrorDots()
        body = QWidget()
        self._pages = QStackedLayout(body)
        self._pages.setContentsMargins(0, 0, 0, 0)
        self._pages.addWidget(self._table_page())
        self._pages.addWidget(self.nothing)
        plain_column(self, self.head, (body, 1))
        self.show_entries((), ())

    def _pill(self, name: str, title: str) -> PillButton:
        pill = PillButton(title, checked=name == self.only)
        pill.clicked.connect(lambda: self.show_only(name))
        self.head.add(pill)
        return pill

    def _table_page(self) -> QWidget:
        page = QWidget()
        foot = row_layout((self.score, 1), (self.dots, 1), margins=(16, 4, 16, 4))
        column_layout((self.table, 1), foot, of=page, margins=(0, 0, 0, 0))
        return page

    def show_entries(self, entries: Sequence[Entry], chosen: Sequence[Entry]) -> None:
        """All entries; the row of the first of `chosen` is chosen."""
        self.entries = tuple(entries)
        for name, title in KINDS:
            self.pills[name].setText(f"{title} {len(kept(self.entries, name))}")
            self.pills[name].setVisible(bool(entries))
        self.score.setText(score_words(score(self.entries)))
        self.dots.errors = tuple((e.error, e.fate is Fate.INSIDE) for e in self.entries if e.error is not None)
        self.dots.update()
        self._pages.setCurrentIndex(0 if entries else 1)
        self.show_only(self.only)
        ids = {entry.id for entry in chosen}
        self.table.choose(lambda row: row.id in ids)

    def show_only(self, name: str) -> None:
        """Entries of one kind."""
        self.only = name
        for key, pill in self.pills.items():
            pill.setChecked(key == name)
        self.table.show_rows([(entry, ()) for entry in kept(self.entries, name)])


def _tip(entry: Entry) -> str:
    confirmed = f"; confirmed {ratio_text(entry.confirmed.speedup)}" if entry.confirmed else ""
    return f"{entry.at[:16].replace('T', ' ')}, {entry.base.run}: {entry.title}: {outcome_words(entry)}{confirmed}"


def _changes(entry: Entry) -> str:
    return set_title(entry.prediction.changes)


def _came(entry: Entry) -> str:
    return ratio_text(entry.came.speedup) if entry.came and entry.came.speedup else ""


def _error(entry: Entry) -> str:
    if entry.error is None:
        return ""
    return ("−" if entry.error < 0 else "+") + percent_text(abs(entry.error)) if abs(entry.error) >= 5e-5 else "0"


def _paint_fate(painter: QPainter, box: QRectF, row: Entry) -> None:
    inside = box.adjusted(4, 0, -16, 0)
    if row.fate is Fate.INSIDE:
        icons.draw_icon(painter, "check", inside.right() - 14, box.center().y() - 7, 14, palette().good)
        return
    words = "not run yet" if row.fate is Fate.OPEN else row.fate.value
    colour = "medium_text" if row.fate in (Fate.OUTSIDE, Fate.NOT_JUDGED) else "muted"
    write(painter, inside, words, colour, 12, 600 if colour == "medium_text" else 400, Qt.AlignmentFlag.AlignRight)
