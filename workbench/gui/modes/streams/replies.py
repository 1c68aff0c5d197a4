"""What a query came to: a row a statement, and pictures of the chosen one."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QWidget

from workbench.api.queries import Curves, Reply
from workbench.api.window import PlotView, set_ground
from workbench.gui.modes.streams.frames_view import HeatView, SpreadsView
from workbench.gui.views.bars_view import BarsView
from workbench.gui.widgets import EmptyState, Split, Stack, label, plain_column, scrolled
from workbench.gui.widgets.boxes import column_layout
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.diagnostic import Diagnostic
from workbench.model.text import count_text, percent_text, significant, time_text, value_text
from workbench.pictures.bars import Bar, Bars
from workbench.pictures.frames import HeatMap, Spreads, grouped, spread, within
from workbench.pictures.plot import Axis, Line, Plot, Values

MOST_ROWS = 24  # of a histogram
MOST_BINS = 64  # of a heat map
MOST_CURVES = 4  # pictures of a distribution
INKS = ("accent", "high", "second")


class ReplyPictures(QWidget):
    """Histogram and heat map of histograms; spread and course of numbers."""

    problem = Signal(Diagnostic)

    def __init__(self) -> None:
        super().__init__()
        set_ground(self, "panel")

    def build(self) -> Iterator[None]:
        """The pictures, one after the other: each takes its time to be made."""
        self.spreads = SpreadsView()
        yield
        self.course = PlotView("Course over time", 240, in_page=True)
        yield
        self.heat = HeatView()
        self.heat.setMinimumHeight(220)
        yield
        self.bars = BarsView("Histogram")
        yield
        self.curves: list[tuple[QLabel, PlotView]] = []
        for _ in range(MOST_CURVES):
            title, plot = label("", "strong"), PlotView("Distribution", 240, in_page=True)
            title.setContentsMargins(16, 8, 16, 0)
            self.curves.append((title, plot))
            yield
        self.words = label("", "second", wrap=True)  # the row above has room for their beginning
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.words.setContentsMargins(16, 0, 16, 4)
        column = column_layout(self.words, of=self, margins=(0, 8, 0, 8))
        for view in (self.spreads, self.course, self.heat, self.bars):
            column.addWidget(view)
            view.problem.connect(self.problem)
        for title, plot in self.curves:
            column.addWidget(title)
            column.addWidget(plot)
            plot.problem.connect(self.problem)
        column.addStretch(1)

    def show_reply(self, reply: Reply | None, beside: Sequence[Reply] = ()) -> None:
        """`beside` are replies in the same unit, whose spread is in rows under one another."""
        values = [value for value in reply.values if value is not None] if reply else []
        framed = bool(reply and len(reply.times_s) > 2)
        histogram = bool(reply and reply.bin_words)
        self.spreads.setVisible(framed and bool(values) and not (reply and reply.moments_s))
        self.course.setVisible(len(values) > 1)
        self.bars.setVisible(histogram)
        self.heat.setVisible(histogram and framed)
        self.words.setText(reply.words if reply else "")
        shown = reply.curves[:MOST_CURVES] if reply else ()
        for number, (head, plot) in enumerate(self.curves):
            head.setVisible(number < len(shown))
            plot.setVisible(number < len(shown))
            if number < len(shown):
                head.setText(shown[number].title)
                plot.show_plot(distribution(shown[number]))
        if reply is None:
            return
        if histogram:
            self.bars.show_bars(histogram_bars(reply))
            self.bars.setFixedHeight(self.bars.sizeHint().height())
            if framed:
                title = "share of each frame's time or events by bin"
                names, shares = grouped(reply.bin_words, np.array(reply.shares, float).T, MOST_BINS)
                self.heat.show_map(HeatMap(title, reply.times_s, tuple(names), shares, reply.unsure_s))
        elif values:
            say = teller(reply.unit)
            rows = [
                spread(one.label or one.text, known, max(one.uncertain, default=0.0))
                for one in beside
                if (known := _known(one))
            ]
            self.spreads.show_spreads(Spreads(Axis("of each frame", say), tuple(rows)))
            self.course.show_plot(course(reply))


def _known(reply: Reply) -> list[float]:
    return [value for value in reply.values if value is not None]


def teller(unit: str) -> Callable[[float], str]:
    """How numbers of a unit are said."""
    if unit == "1":
        return percent_text
    if unit == "s":
        return time_text
    if unit == "transfers/s":
        unit = "/s"
    return (lambda value: value_text(value, unit)) if unit else significant


def histogram_bars(reply: Reply) -> Bars:
    """All frames together, each as long as it is; of many bins some share a row."""
    weights = np.diff(reply.times_s) if len(reply.times_s) > 1 else np.ones(len(reply.shares))
    whole = np.average(np.array(reply.shares, float), axis=0, weights=weights if weights.sum() else None)
    rows = []
    for name, share in zip(*grouped(reply.bin_words, whole, MOST_ROWS), strict=True):
        rows.append(Bar(name, name, float(share), (percent_text(share),), (name, float(share)), strong=False))
    most = max((row.value for row in rows), default=0.0) or 1.0
    sure = f"; frames' times known to ± {time_text(reply.unsure_s)}" if reply.unsure_s else ""
    foot = f"{reply.text}{sure}"
    return Bars(Axis("share", percent_text), ("bin", "share"), tuple(rows), (0.0, most * 1.04), foot=foot)


def distribution(curves: Curves) -> Plot:
    """The lines of a distribution: shares over values."""
    lines = tuple(
        Line(one.name, np.array(one.x), np.array(one.y), ink=ink, dashed=one.dashed)
        for one, ink in zip(curves.lines, INKS, strict=False)
    )
    say = teller(curves.unit)

    def tell(line: int, point: int) -> str:
        one = lines[line]
        return f"{one.name}, {say(float(one.x[point]))}: {percent_text(float(one.y[point]))}"

    many = len(lines) > 1
    unit = "" if curves.unit in ("s", "1") else curves.unit
    return Plot(Axis(unit, say if not unit else _short, curves.log, curves.unit), Axis("share", percent_text), lines,
                legend=many, say=tell)  # fmt: skip


def course(reply: Reply) -> Plot:
    """The numbers over time: each at its frame's middle, or at the moment that it was so, or from it to the next; in a
    band of what it may have been there, where times or numbers are not exact."""
    times = np.array(reply.moments_s) if reply.moments_s else _middles(reply.times_s)
    values = np.array([np.nan if value is None else value for value in reply.values], float)
    if reply.stays:
        times = np.repeat(np.append(times, reply.times_s[-1]), 2)[1:-1]
        values = np.repeat(values, 2)
    kept = ~np.isnan(values)
    few = not reply.moments_s and int(kept.sum()) <= 200
    off = np.array(reply.uncertain)[kept] if reply.uncertain else np.zeros(int(kept.sum()))
    x, y = times[kept], values[kept]
    band = (*reached(x, y, reply.unsure_s, off),) if len(x) and (reply.unsure_s or off.any()) else None
    line = Line("", x, y, band=band, points=few, joined=True)
    say = teller(reply.unit)

    def tell(_: int, point: int) -> str:
        at = time_text(float(x[point])) + (f" ± {time_text(reply.unsure_s)}" if reply.unsure_s else "")
        return f"{at}: {say(float(y[point]))}" + (f" ± {say(float(off[point]))}" if off[point] else "")

    short = say if reply.unit in ("1", "s") else _short  # the axis names the unit
    named = "" if reply.unit in ("1", "s") else reply.unit
    time = within(Axis("time", time_text, unit="s"), reply.unsure_s)
    return Plot(time, Axis(named, short, unit=reply.unit), (line,), say=tell)


def reached(x: Values, y: Values, unsure: float, off: Values) -> tuple[Values, Values]:
    """The least and most that a line through points may have been at each of their `x`, which rise and may be off by
    `unsure`; the `y` may be off by `off`."""
    low, high = y - off, y + off
    first, last = np.searchsorted(x, x - unsure, "left"), np.searchsorted(x, x + unsure, "right")
    around = np.stack((first, last), axis=1).ravel()
    least = np.minimum.reduceat(np.append(low, np.inf), around)[::2]
    most = np.maximum.reduceat(np.append(high, -np.inf), around)[::2]
    sides = x - unsure, x + unsure
    return (
        np.minimum.reduce([least, *(np.interp(side, x, low) for side in sides)]),
        np.maximum.reduce([most, *(np.interp(side, x, high) for side in sides)]),
    )


def _short(value: float) -> str:
    return count_text(value) if abs(value) >= 1000 else significant(value)


def _middles(times: Sequence[float]) -> np.ndarray:
    ends = np.array(times)
    return (ends[1:] + ends[:-1]) / 2


class Replies(QWidget):
    """`line_chosen` carries the line of the statement that is looked at."""

    line_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.replies: Sequence[Reply] = ()
        self.table = RowView("Answers", (
            Column("Statement", lambda reply: reply.text, share=0.5, elide=Qt.TextElideMode.ElideMiddle,
                   tip_of=lambda reply: reply.text, key=lambda reply: reply.text),
            Column("Answer", lambda reply: reply.words, share=0.5, tip_of=lambda reply: reply.words, ink=_ink),
        ))  # fmt: skip
        self.pictures = ReplyPictures()

    def build(self) -> Iterator[None]:
        yield from self.pictures.build()
        split = Split((self.table, 200), (scrolled("Answers as pictures", self.pictures), 320), vertical=True)
        self.nothing = EmptyState("waypoints", "")
        self.say_why(of_run=True, has_run=True, has_edges=True)
        self._stack = Stack()
        for page in (self.nothing, split):
            self._stack.addWidget(page)
        plain_column(self).addWidget(self._stack)
        self.table.chosen.connect(self._chosen)
        self.show_replies(())
        yield

    def say_why(self, of_run: bool, has_run: bool, has_edges: bool) -> None:
        """What is here while there are no answers."""
        how = "Write a query at the left, or right-click a stream in the graph"
        states = "States of its blocks can be asked about: right-click a block, or write a query at the left."
        if of_run and not has_edges:
            self.nothing.say("The open run recorded no transfers", states)
        elif of_run:
            self.nothing.say("No query yet", f"{how}; then Ctrl+Enter.")
        else:
            why = "The open run recorded no transfers" if has_run else "No run yet"
            self.nothing.say(why, f"{how}: a traced run of the project answers it.")

    def show_replies(self, replies: Sequence[Reply], line: int = 0) -> None:
        """Show answers, and pictures of the first one that has any, from that of a line on."""
        self.replies = replies
        self._stack.setCurrentIndex(1 if replies else 0)
        self.table.show_rows([(reply, ()) for reply in replies])
        self.table.setMaximumHeight(max(self.table.whole_px, 100))  # what few rows leave is the pictures'
        pictured = [reply for reply in replies if reply.values or reply.bin_words]
        first = next((reply for reply in pictured if reply.line >= line), next(iter(pictured), None))
        self.table.choose(lambda reply: reply is first)
        self._show(first)

    def _chosen(self, reply: Reply | None) -> None:
        if reply is not None:
            self._show(reply)
            self.line_chosen.emit(reply.line)

    def _show(self, reply: Reply | None) -> None:
        same = [one for one in self.replies if reply and one.unit == reply.unit and len(one.values) > 1]
        self.pictures.show_reply(reply, [one for one in same if not one.moments_s])


def _ink(reply: Reply) -> tuple[str, int, int]:
    return ("high" if reply.holds is False else "good" if reply.holds else "text", 13, 400)
