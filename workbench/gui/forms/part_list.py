"""The list of a document's parts: sections with a plus, entries with what they are and their problems."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from workbench.gui import fonts, icons, theme
from workbench.gui.forms.parts import Part, Section
from workbench.gui.widgets import paint_severity, scrolled
from workbench.model.diagnostic import Severity
from workbench.session.yaml_document import Path_, YamlDocument

ROW_PX, HEAD_PX = 28, 34
Align = Qt.AlignmentFlag

LEAST_NOTE_PX = 84  # a part's note is left out where it has less room beside the title


class PartList(QWidget):
    """`chosen` carries the path of a part, `add_wanted` what to add."""

    chosen = Signal(object)
    add_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 0)
        column.setSpacing(6)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter entries")
        self.filter.setClearButtonEnabled(True)
        self._funnel = self.filter.addAction(icons.icon("funnel"), QLineEdit.ActionPosition.LeadingPosition)
        self.filter.textChanged.connect(self._refilter)
        above = QHBoxLayout()
        above.setContentsMargins(16, 0, 16, 0)
        above.addWidget(self.filter)
        column.addLayout(above)
        self.lines = _Lines()
        self.lines.chosen.connect(self.chosen.emit)
        self.lines.add_wanted.connect(self.add_wanted.emit)
        column.addWidget(scrolled(self.lines), 1)
        self.setFocusProxy(self.lines)
        self._sections: Sequence[Section] = ()
        self._bad: dict[Path_, str] = {}

    def show_sections(self, sections: Sequence[Section], document: YamlDocument) -> None:
        self._sections = sections
        self._bad = {}
        for part in (p for s in sections for p in s.parts if p.path):
            problems = document.problems_below(part.path)
            if problems:
                error = any(d.severity is Severity.ERROR for d in problems)
                self._bad[part.path] = "high" if error else "medium"
        self.lines.editable = not document.read_only
        self._refilter()

    def set_current(self, path: Path_) -> None:
        self.lines.current = path
        self.lines.update()

    def _refilter(self) -> None:
        wanted = self.filter.text().strip().lower()
        shown: list[Section | Part] = []
        for section in self._sections:
            parts = [p for p in section.parts if wanted in p.title.lower() or wanted in p.note.lower()]
            if parts or not wanted:
                shown += [section, *parts]
        self.lines.show_lines(shown, self._bad)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_funnel"):
            self._funnel.setIcon(icons.icon("funnel"))


class _Lines(QWidget):
    chosen = Signal(object)
    add_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Parts")
        self.current: Path_ = ()
        self.editable = True
        self._lines: list[tuple[QRectF, Section | Part]] = []
        self._bad: dict[Path_, str] = {}
        self._hover = -1

    def show_lines(self, lines: Sequence[Section | Part], bad: dict[Path_, str]) -> None:
        self._bad = bad
        self._lines, y = [], 0.0
        for line in lines:
            high = HEAD_PX if isinstance(line, Section) else ROW_PX
            self._lines.append((QRectF(0, y, 10, high), line))
            y += high
        self.setMinimumHeight(round(y) + 12)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, self.minimumHeight())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme.colour("panel"))
        for at, (rect, line) in enumerate(self._lines):
            row = QRectF(0, rect.top(), self.width(), rect.height())
            if isinstance(line, Section):
                self._paint_head(painter, row, line)
            else:
                self._paint_part(painter, row, line, at == self._hover)

    def _paint_head(self, painter: QPainter, row: QRectF, section: Section) -> None:
        painter.setFont(fonts.ui_font(13, 600))
        painter.setPen(theme.colour("text"))
        painter.drawText(row.adjusted(16, 6, -40, 0), Align.AlignLeft | Align.AlignVCenter, section.title)
        if section.add and self.editable:
            icons.draw_icon(painter, "plus", row.right() - 32, row.center().y() - 5)

    def _paint_part(self, painter: QPainter, row: QRectF, part: Part, hovered: bool) -> None:
        if part.path == self.current:
            painter.fillRect(row, theme.colour("selection"))
            painter.fillRect(QRectF(0, row.top(), 3, row.height()), theme.colour("accent"))
        elif hovered:
            painter.fillRect(row, theme.colour("sunken"))
        right = row.right() - 16
        if level := self._bad.get(part.path):
            paint_severity(painter, right - 15, row.center().y() - 8, 16, level)
            right -= 22
        named = fonts.code_font(12, 600 if part.path == self.current else 400) if part.code else fonts.ui_font(13)
        free = right - 40 - QFontMetrics(named).horizontalAdvance(part.title)  # the title comes first
        painter.setFont(fonts.ui_font(12, 400))
        note_px = painter.fontMetrics().horizontalAdvance(part.note)
        note_width = min(note_px, round(free)) if free > LEAST_NOTE_PX else 0
        painter.setPen(theme.colour("second"))
        note = painter.fontMetrics().elidedText(part.note, Qt.TextElideMode.ElideRight, note_width + 1)
        beside = QRectF(right - note_width, row.top(), note_width, row.height())
        painter.drawText(beside, Align.AlignRight | Align.AlignVCenter, note)
        painter.setFont(named)
        painter.setPen(theme.colour("text"))
        name = QRectF(28, row.top(), right - note_width - 40, row.height())
        shown = painter.fontMetrics().elidedText(part.title, Qt.TextElideMode.ElideRight, int(name.width()))
        painter.drawText(name, Align.AlignLeft | Align.AlignVCenter, shown)

    def _at(self, position: QPointF) -> int:
        return next((n for n, (r, _) in enumerate(self._lines) if r.top() <= position.y() < r.bottom()), -1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = self._at(event.position())
        if at < 0:
            return
        line = self._lines[at][1]
        if isinstance(line, Part):
            self.chosen.emit(line.path)
        elif line.add and self.editable and event.position().x() > self.width() - 44:
            self.add_wanted.emit(line.add)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = self._at(event.position())
        line = self._lines[at][1] if at >= 0 else None
        self._hover = at
        if isinstance(line, Section):
            self.setToolTip(f"Add a {line.add}" if line.add and self.editable else "")
        elif line is not None:
            self.setToolTip(line.title)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hover = -1
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        parts = [line for _, line in self._lines if isinstance(line, Part)]
        if step is None or not parts:
            super().keyPressEvent(event)
            return
        at = next((n for n, p in enumerate(parts) if p.path == self.current), 0)
        self.chosen.emit(parts[min(max(at + step, 0), len(parts) - 1)].path)
