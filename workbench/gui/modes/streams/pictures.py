"""Pictures of an answer: its numbers over time, their spread, a histogram, and how much is at or below each value."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from workbench.api.queries import Reply
from workbench.api.window import PlotView, set_ground
from workbench.gui.modes.streams.frames_view import HeatView, SpreadsView
from workbench.gui.modes.streams.plots import (
    alike,
    course,
    cumulative,
    distribution,
    heat_map,
    histogram_bars,
    known_values,
    spreads_of,
    what_of,
    where_of,
)
from workbench.gui.views.bars_view import BarsView
from workbench.gui.widgets import PillButton, Stack, label, plain_column, scrolled
from workbench.gui.widgets.boxes import column_layout
from workbench.gui.widgets.labels import ElidedLabel
from workbench.model.diagnostic import Diagnostic
from workbench.model.text import capitalised, listed

MOST_BESIDE = 3  # pictures of counted beside replayed
OVER_TIME, SPREAD, HISTOGRAM, CUMULATIVE = PAGES = ("Over time", "Spread", "Histogram", "Cumulative")
_TIPS = ("Frame by frame", "Quartiles of all frames", "Share of each bin", "Share at or below each value")
_MOST_NAMED = 4
SHORT = 40  # letters, for which the answer's row has room


class ReplyPictures(QWidget):
    """Pictures of answers: a page is shown for the answers that it can draw; the last chosen one stays."""

    problem = Signal(Diagnostic)

    def __init__(self) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.pills: dict[str, PillButton] = {}
        self._wanted = ""

    def build(self) -> Iterator[None]:
        """The pictures, one after the other: each takes its time to be made."""
        self.spreads = SpreadsView()
        yield
        self.course = PlotView("Course over time", 240)
        yield
        self.heat = HeatView()
        yield
        self.bars = BarsView("Histogram", fills=True)
        self.cumulative = PlotView("Cumulative share", 240, in_page=True)
        yield
        self.beside: list[tuple[QLabel, PlotView]] = []
        for _ in range(MOST_BESIDE):
            title, plot = label("", "strong"), PlotView("Counted and replayed", 240, in_page=True)
            title.setContentsMargins(16, 8, 16, 0)
            self.beside.append((title, plot))
            yield
        self.title = ElidedLabel("", "strong")
        self.words = label("", "second", wrap=True)  # the row above has room for their beginning
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.words.setContentsMargins(16, 0, 16, 4)
        head = QHBoxLayout()
        head.setContentsMargins(16, 8, 8, 4)
        head.setSpacing(8)
        head.addWidget(self.title, 1)
        for page, tip in zip(PAGES, _TIPS, strict=True):
            pill = self.pills[page] = PillButton(page)
            pill.setAutoExclusive(True)
            pill.setToolTip(tip)
            pill.clicked.connect(lambda checked=False, page=page: self._want(page))
            head.addWidget(pill)
        self._pages = Stack()
        self._over_time = Stack()
        self._over_time.addWidget(self.course)
        self._over_time.addWidget(self.heat)
        for widget in (
            self._over_time,
            scrolled("Spread over frames", _column(self.spreads)),
            scrolled("Histogram", column_layout((self.bars, 1), margins=(0, 0, 0, 8))),
            scrolled("Cumulative share", _column(self.cumulative, *(part for pair in self.beside for part in pair))),
        ):
            self._pages.addWidget(widget)
        column = plain_column(self)
        column.addLayout(head)
        column.addWidget(self.words)
        column.addWidget(self._pages, 1)
        for view in (self.spreads, self.course, self.heat, self.bars, self.cumulative, *(p for _, p in self.beside)):
            view.problem.connect(self.problem)

    def show_reply(self, reply: Reply | None, replies: Sequence[Reply] = ()) -> None:
        """Draw a reply, and with it those of `replies` that measure the same elsewhere."""
        shown = alike(reply, replies) if reply else []
        self.words.setText(reply.words if reply else "")
        self.words.setVisible(len(self.words.text()) > SHORT)
        possible = _possible(reply) if reply else ()
        for page, pill in self.pills.items():
            pill.setVisible(page in possible)
        self._pages.setVisible(bool(possible))
        self.title.setText(_title(shown) if possible else "")
        if reply is None or not possible:
            return
        if reply.bin_words:
            self._draw_histogram(reply, shown)
        elif OVER_TIME in possible:
            self.course.show_plot(course(shown[0], [one for one in shown[1:] if len(one.values) > 1]))
        self._over_time.setCurrentWidget(self.heat if reply.bin_words else self.course)
        if SPREAD in possible:
            self.spreads.show_spreads(spreads_of([one for one in replies if one.unit == reply.unit and _framed(one)]))
        preferred = HISTOGRAM if reply.bin_words else OVER_TIME
        self._show(self._wanted if self._wanted in possible else preferred)

    def _draw_histogram(self, reply: Reply, shown: Sequence[Reply]) -> None:
        self.bars.show_bars(histogram_bars(reply))
        if _frames(reply) > 1:
            self.heat.show_map(heat_map(reply))
        if reply.curves:
            self.cumulative.show_plot(cumulative(shown))
        for number, (title, plot) in enumerate(self.beside):
            there = reply.curves[number + 1 : number + 2]
            title.setVisible(bool(there))
            plot.setVisible(bool(there))
            if there:
                title.setText(there[0].title)
                plot.show_plot(distribution(there[0]))

    def _want(self, page: str) -> None:
        self._wanted = page
        self._show(page)

    def _show(self, page: str) -> None:
        self.pills[page].setChecked(True)
        self._pages.setCurrentIndex(PAGES.index(page))


def _frames(reply: Reply) -> int:
    return len(reply.times_s) - 1


def _framed(reply: Reply) -> bool:
    """Whether it has numbers of several frames."""
    return _frames(reply) > 1 and not reply.moments_s and bool(known_values(reply))


def _possible(reply: Reply) -> tuple[str, ...]:
    """The pages that a reply can be drawn on."""
    if reply.bin_words:
        return (*((OVER_TIME,) if _frames(reply) > 1 else ()), HISTOGRAM, *((CUMULATIVE,) if reply.curves else ()))
    over_time = (OVER_TIME,) if len(reply.values) > 1 else ()
    return (*over_time, *((SPREAD,) if _framed(reply) else ()))


def _title(shown: Sequence[Reply]) -> str:
    what = what_of(shown[0]).removeprefix("measure ").removeprefix("hist ")
    return f"{capitalised(what)}: {listed([where_of(one) for one in shown], _MOST_NAMED)}"


def _column(*views: QWidget) -> QVBoxLayout:
    column = column_layout(*views, margins=(0, 0, 0, 8))
    column.addStretch(1)
    return column
