"""A source's text in the editor's font and colours, with something at its left; lines of it can be marked."""

from collections.abc import Callable, Collection
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCursor,
    QTextFormat,
    QTextOption,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from workbench.api.window import colour
from workbench.gui.look import fonts
from workbench.gui.modes.source.highlight import Highlighter
from workbench.gui.modes.source.line_lexer import spans
from workbench.session.program.settings import value


class CodeView(QPlainTextEdit):
    """The text, and what `side` makes for its left, as wide as its size hint says."""

    line_changed = Signal(int)

    def __init__(self, side: Callable[[Any], QWidget]) -> None:
        super().__init__()
        self.flagged: Collection[int] = ()
        self.take_font()
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.document().setDocumentMargin(4)
        self.highlighter = Highlighter(self)
        self._side = side(self)
        self.right_px = 0  # what is at the right of the text is so wide
        self.setViewportMargins(self._side.sizeHint().width(), 0, 0, 0)
        self.updateRequest.connect(self._on_update)
        self.cursorPositionChanged.connect(self._on_cursor)

    def show_source(self, text: str, suffix: str) -> None:
        """Show another text, in the language of a file's suffix."""
        self.flagged = ()
        self.setPlainText(text)
        self.highlighter.set_spans(spans(text, suffix))
        self.mark()

    @property
    def line(self) -> int:
        """The line of the cursor, from 1."""
        return self.textCursor().blockNumber() + 1

    @property
    def marked(self) -> Collection[int]:
        """The lines that are highlighted: those flagged, else the cursor's."""
        return self.flagged or (self.line,)

    def flag(self, *lines: int) -> None:
        """Keep lines marked while something speaks of them; none of them: the cursor's again."""
        self.flagged = frozenset(lines)
        self.mark()

    def take_font(self) -> None:
        """The font that is set for sources."""
        family, size_px = value("code_font") or fonts.LINES_FAMILY, int(value("code_px"))
        font = QFont(family)
        font.setPixelSize(size_px)
        font.setStyleHint(QFont.StyleHint.Monospace)
        self.setFont(font)
        self.setStyleSheet(f'CodeView {{ font-family: "{family}"; font-size: {size_px}px; border: none; }}')
        self.setTabStopDistance(4 * self.fontMetrics().horizontalAdvance(" "))

    def go_to(self, line: int, column: int = 1) -> None:
        """Put the cursor on a line, at a column (in bytes), and show it in the middle."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        if block.isValid():
            cursor = QTextCursor(block)
            before = block.text().encode()[: column - 1].decode(errors="ignore")
            cursor.setPosition(block.position() + len(before))
            self.setTextCursor(cursor)
            self.centerCursor()

    def go_to_quietly(self, line: int) -> None:
        """Put the cursor on a line without scrolling more than needed."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            self.setFocus()

    def text_of(self, line: int) -> str:
        return self.document().findBlockByNumber(line - 1).text()

    def marks(self) -> list[QTextEdit.ExtraSelection]:
        """What is highlighted: the marked lines."""
        selections = []
        for line in self.marked:
            mark = QTextEdit.ExtraSelection()
            mark.format.setBackground(colour("selection"))
            mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            mark.cursor = QTextCursor(self.document().findBlockByNumber(line - 1))
            selections.append(mark)
        return selections

    def mark(self) -> None:
        """Show what is highlighted now."""
        self.setExtraSelections(self.marks())
        self._side.update()

    # ---- events

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """A file that is dropped is opened by the window; its name is no part of the text."""
        return not source.hasUrls() and super().canInsertFromMimeData(source)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "highlighter"):  # it changes while it is made
            self.highlighter.set_palette()
            self.mark()

    def _on_update(self, rect: QRect, dy: int) -> None:
        if dy:
            self._side.scroll(0, dy)
        else:
            self._side.update(0, rect.y(), self._side.width(), rect.height())

    def _on_cursor(self) -> None:
        self.mark()
        self.line_changed.emit(self.line)

    def resizeEvent(self, event: QResizeEvent) -> None:
        if not self.fit_side():
            super().resizeEvent(event)

    def fit_side(self) -> bool:
        """Give the side the width that it wants; whether that changed the text's."""
        inside, wide = self.contentsRect(), self._side.sizeHint().width()
        margins = self.viewportMargins()
        changed = (margins.left(), margins.right()) != (wide, self.right_px)
        if changed:  # and be resized anew: Qt goes through all lines each time
            self.setViewportMargins(wide, 0, self.right_px, 0)
        self._side.setGeometry(QRect(inside.left(), inside.top(), wide + 4, inside.height()))
        return changed

    # ---- for the side

    def line_rect(self, line: int) -> QRect:
        """Where a line's text is, in the viewport; its width is that of the text."""
        block = self.document().findBlockByNumber(line - 1)
        top = self.blockBoundingGeometry(block).translated(self.contentOffset())
        width = self.fontMetrics().horizontalAdvance(block.text().expandtabs(4)) + self.document().documentMargin()
        return QRect(0, round(top.top()), round(width), round(top.height()))

    def blocks_in_view(self) -> list[tuple[QTextBlock, float, float]]:
        """Visible lines with top and height."""
        blocks: list[tuple[QTextBlock, float, float]] = []
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= self.viewport().height():
            height = self.blockBoundingRect(block).height()
            blocks.append((block, top, height))
            top += height
            block = block.next()
        return blocks


class LineNumbers(QWidget):
    """At the left of a text: the numbers of its lines."""

    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self) -> QSize:
        return QSize(52, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), colour("panel"))
            for block, top, height in self._view.blocks_in_view():
                paint_number(
                    painter, QRectF(0, top, self.width() - 14, height), block.blockNumber() + 1, self._view.marked
                )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = event.position().toPoint()
        self._view.go_to_quietly(self._view.cursorForPosition(at).blockNumber() + 1)


def paint_number(painter: QPainter, box: QRectF, line: int, marked: Collection[int]) -> None:
    """A line's number, at the right of its place; strong on a marked line."""
    painter.setFont(fonts.code_font(12, 700 if line in marked else 400))
    painter.setPen(QColor(colour("text" if line in marked else "muted")))
    painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(line))
