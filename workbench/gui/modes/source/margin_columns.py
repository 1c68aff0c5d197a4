"""The margin of an editor as it is painted: bar, share, visits, critical path; then swatch or sign, line number."""

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QTextCursor
from PySide6.QtWidgets import QWidget

from workbench.api.window import palette
from workbench.gui.look import fonts
from workbench.gui.modes.source.code_view import paint_number
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.line_numbers import LineNumbers
from workbench.gui.modes.source.margin import GUTTER_PX, SWATCH_PX, Columns, rich_tip
from workbench.gui.modes.source.problems import problem_text
from workbench.gui.widgets import draw_swatch, paint_state_bar
from workbench.gui.widgets.severity import level_of, paint_severity
from workbench.model.text import count_text, percent_text, time_text, times
from workbench.pictures.states import Shares
from workbench.session.program.keys import with_key

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class MarginColumns(QWidget):
    """Bar, share, visits and time on the critical path; then swatch, or sign of a problem, and line number."""

    def __init__(self, editor: CodeEditor) -> None:
        super().__init__(editor)
        self._editor = editor
        self.setMouseTracking(True)

    def sizeHint(self) -> QSize:
        return QSize(self._columns.whole_px + GUTTER_PX, 0)

    @property
    def _columns(self) -> Columns:
        return self._editor.columns

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            p = palette()
            numbers_px = self._columns.whole_px
            painter.fillRect(QRect(0, 0, numbers_px, self.height()), QColor(p.sunken))
            painter.fillRect(QRect(numbers_px, 0, self.width() - numbers_px, self.height()), QColor(p.panel))
            editor = self._editor
            marked = editor.marked
            for block, top, height in editor.blocks_in_view():
                if top > event.rect().bottom() or top + height < event.rect().top():
                    continue
                line = block.blockNumber() + 1
                row = QRectF(0, top, numbers_px, height)
                if line in marked:
                    painter.fillRect(QRectF(0, top, self.width(), height), QColor(p.selection))
                self._numbers(painter, row, line)
                self._sign(painter, row, line)
                paint_number(painter, QRectF(numbers_px + 24, top, GUTTER_PX - 34, height), line, marked)
            painter.fillRect(QRect(numbers_px - 1, 0, 1, self.height()), QColor(p.rule))

    def _numbers(self, painter: QPainter, row: QRectF, line: int) -> None:
        editor = self._editor
        original = editor.moved.original(line)
        numbers, path = editor.margin.numbers.get(original), editor.margin.path.get(original)
        check = editor.margin.checks.get(original)
        if not self._columns.whole_px or (numbers is None and path is None and check is None):
            return
        p = palette()
        columns = self._columns
        painter.save()
        if editor.margin.stale:
            painter.setOpacity(0.5)
        if numbers is not None:
            self._shares(painter, row, numbers)
        elif check is not None:
            painter.setFont(fonts.ui_font(12, 600 if check.bad else 500))
            painter.setPen(QColor(p.high if check.bad else p.second))
            painter.drawText(QRectF(4, row.top(), columns.share_px - 4, row.height()), _RIGHT, check.text)
        if path is not None and path.time_s and columns.path_px:
            painter.setFont(fonts.ui_font(12, 600))
            painter.setPen(QColor(p.text))
            box = QRectF(columns.path_px - 66, row.top(), 66, row.height())
            painter.drawText(box, _RIGHT, time_text(path.time_s))
        painter.restore()

    def _shares(self, painter: QPainter, row: QRectF, numbers: LineNumbers) -> None:
        p, columns = palette(), self._columns
        bar = QRectF(16, row.top() + row.height() / 2 - 5, columns.bar_px, 10)
        if numbers.visits > 0 or numbers.share > 0:
            painter.fillRect(bar, QColor(p.track))
            paint_state_bar(painter, bar, _at_least(numbers, 2 / bar.width()))
        painter.setFont(fonts.ui_font(12, 500))
        painter.setPen(QColor(p.text if numbers.visits else p.muted))
        share = percent_text(numbers.share) if numbers.visits or numbers.share else "never"
        painter.drawText(QRectF(columns.share_px - 58, row.top(), 58, row.height()), _RIGHT, share)
        if columns.visits_px:
            painter.setFont(fonts.ui_font(12))
            painter.setPen(QColor(p.second))
            box = QRectF(columns.visits_px - 54, row.top(), 54, row.height())
            painter.drawText(box, _RIGHT, count_text(numbers.visits))

    def _sign(self, painter: QPainter, row: QRectF, line: int) -> None:
        editor = self._editor
        top = round(row.center().y() - SWATCH_PX / 2)
        left = self._columns.whole_px + 8
        if problems := editor.margin.problems.get(line):
            paint_severity(painter, left - 1, top - 1, SWATCH_PX + 2, level_of(problems[0].severity))
        elif line in editor.margin.pragmas:
            draw_swatch(painter, left, top, SWATCH_PX, SWATCH_PX, editor.margin.pragmas[line])
        elif editor.scanned.original(line) in editor.margin.lacking:
            p = palette()
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QColor(p.medium))
            painter.setBrush(QColor(p.medium_ground))
            box = QRectF(left - 0.5, top - 0.5, SWATCH_PX + 1, SWATCH_PX + 1)
            painter.drawRoundedRect(box, 2, 2)
            painter.setPen(QColor(p.medium_text))
            painter.setFont(fonts.ui_font(11, 700))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "?")
            painter.restore()

    def _line_at(self, y: float) -> int:
        return self._editor.cursorForPosition(QPoint(0, round(y))).blockNumber() + 1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        line = self._line_at(event.position().y())
        self._editor.go_to_quietly(line)
        marked = line in self._editor.margin.pragmas
        marked = marked or self._editor.scanned.original(line) in self._editor.margin.lacking
        if event.position().x() > self._columns.whole_px and marked:
            self._editor.pragma_asked.emit(line, QTextCursor())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        editor = self._editor
        line = self._line_at(event.position().y())
        said = ""
        if event.position().x() < self._columns.whole_px:
            said = self._said_by_run(line)
        elif line in editor.margin.pragmas:
            said = with_key(f"{editor.margin.pragmas[line].value}. Click to change it", "pragma")
        elif editor.scanned.original(line) in editor.margin.lacking:
            said = with_key("No pragma: this time stays unclassified. Click to add one", "pragma")
        if event.position().x() >= self._columns.whole_px and line in editor.margin.problems:
            said = rich_tip(problem_text(editor.margin.problems, line))
        self.setToolTip(said)

    def _said_by_run(self, line: int) -> str:
        """What the run that is shown says of a line."""
        margin, original = self._editor.margin, self._editor.moved.original(line)
        numbers, path = margin.numbers.get(original), margin.path.get(original)
        said = []
        if numbers is not None:
            share, visits = percent_text(numbers.share), times(numbers.visits)
            said.append(f"{numbers.what}: {share} of the run's time, entered {visits}, from the run shown")
        if path is not None:
            said.append(path.words)
        if (check := margin.checks.get(original)) is not None:
            said.append(check.words)
        if said and margin.stale:
            said.append("The file has changed since then")
        return rich_tip("\n".join(said))


def _at_least(numbers: LineNumbers, least: float) -> Shares:
    """Shares, the only one of a bar not thinner than can be seen."""
    if len(numbers.shares) == 1:
        category, share = numbers.shares[0]
        return ((category, min(1.0, max(share, least))),)
    return numbers.shares
