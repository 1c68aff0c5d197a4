"""The whole file in a strip at the right of its text: where its states, gaps and problems are, and what is in view."""

from PySide6.QtCore import QEvent, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from workbench.api.window import palette, state_colour
from workbench.gui.modes.source.code_view import CodeView
from workbench.gui.modes.source.lines_moved import LinesMoved
from workbench.gui.modes.source.margin import Margin
from workbench.gui.widgets.severity import level_of
from workbench.model.pragma import Category
from workbench.model.text import percent_text

MAP_PX, REFRESH_MS, _LEAST_PX, _TICK_PX = 16, 100, 2.0, 4.0


class StateMap(QWidget):
    """A line's bar is as long as the longest share of time allows; a pragma without numbers has a short one. A click or
    a drag goes there."""

    def __init__(self, editor: CodeView, margin: Margin, moved: LinesMoved, scanned: LinesMoved) -> None:
        """`moved` are the editor's lines since the run of the margin's numbers, `scanned` those since the last scan."""
        super().__init__(editor)
        self._editor, self._margin, self._moved, self._scanned = editor, margin, moved, scanned
        self._bars: list[tuple[int, float, QColor]] | None = None  # line, part of the width, colour
        self._rows: dict[int, tuple[float, QColor]] = {}  # the longest bar by its top in pixels
        self._rows_of: tuple[float, object] = 0.0, None  # for which height of a line, and of which bars
        self.setAccessibleName("Map of the file's states")
        self.setMouseTracking(True)
        self._later = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._later.timeout.connect(self._refresh)

    def refresh(self) -> None:
        """The margin or the text holds something else: show it once no key was typed for a moment."""
        self._later.start()

    def _refresh(self) -> None:
        self._bars = None
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._refresh()

    @property
    def bars(self) -> list[tuple[int, float, QColor]]:
        """The lines that have something, the most important last; problems and places without a pragma over all."""
        if self._bars is None:
            self._bars = self._made()
        return self._bars

    def _made(self) -> list[tuple[int, float, QColor]]:
        margin, p, tick = self._margin, palette(), _TICK_PX / MAP_PX
        colours = {category: state_colour(category) for category in (*Category, None)}
        amber, now, unchanged = QColor(p.medium), self._moved.place, self._moved.same
        lacking = [(self._scanned.place(line), tick, amber) for line in margin.lacking]
        pragmas = [(line, tick, colours[category]) for line, category in margin.pragmas.items()]
        most = max((one.share for one in margin.numbers.values()), default=0.0)
        numbers = []
        for original, one in margin.numbers.items() if most else ():
            if one.shares:
                category = one.shares[0][0] if len(one.shares) == 1 else max(one.shares, key=lambda share: share[1])[0]
                place = original if unchanged else now(original)
                numbers.append((place, max(tick, one.share / most), colours[category]))
        problems = [(line, 1.0, QColor(getattr(p, level_of(of[0].severity)))) for line, of in margin.problems.items()]
        return [bar for bar in (*lacking, *pragmas, *numbers, *problems) if bar[0]]

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            p, lines = palette(), max(self._editor.blockCount(), 1)
            painter.fillRect(self.rect(), QColor(p.sunken))
            if self._margin.stale:
                painter.setOpacity(0.5)
            line_px = self.height() / lines if lines * 18 > self.height() else 18.0
            high = max(_LEAST_PX, min(line_px, 6.0))
            for top, (part, colour) in self._by_pixel(line_px).items():
                painter.fillRect(QRectF(2, top, (MAP_PX - 3) * part, high), colour)
            painter.setOpacity(1)
            first, last = self._view
            painter.setPen(QPen(QColor(p.muted), 1))
            view = QRectF(0.5, first * line_px + 0.5, MAP_PX - 1.5, max(8.0, (last - first) * line_px - 1))
            painter.drawRect(view.intersected(QRectF(self.rect()).adjusted(0.5, 0.5, -1, -1)))
            painter.setPen(QColor(p.rule))
            painter.drawLine(0, 0, 0, self.height())

    def _by_pixel(self, line_px: float) -> dict[int, tuple[float, QColor]]:
        """The bars by their tops, one for each pixel however many lines share it: kept while one scrolls."""
        bars = self.bars
        if self._rows_of[0] != line_px or self._rows_of[1] is not bars:
            self._rows, self._rows_of = {}, (line_px, bars)
            for line, part, colour in bars:
                top = int((line - 1) * line_px)
                if top not in self._rows or part >= self._rows[top][0]:
                    self._rows[top] = part, colour
        return self._rows

    @property
    def _view(self) -> tuple[int, int]:
        """The lines in view, counted from 0, without the last."""
        editor = self._editor
        first = editor.firstVisibleBlock().blockNumber()
        line_px = max(editor.fontMetrics().lineSpacing(), 1)
        return first, min(first + editor.viewport().height() // line_px + 1, editor.blockCount())

    def line_at(self, y: float) -> int:
        """The line, from 1, whose place in the map is there."""
        lines = max(self._editor.blockCount(), 1)
        line_px = self.height() / lines if lines * 18 > self.height() else 18.0
        return max(1, min(lines, int(y / line_px) + 1))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._editor.go_to(self.line_at(event.position().y()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        line = self.line_at(event.position().y())
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._editor.go_to(line)
            return
        numbers = self._margin.numbers.get(self._moved.original(line))
        said = f", {numbers.what}: {percent_text(numbers.share)} of the run's time" if numbers else ""
        self.setToolTip(f"Line {line}{said}")
