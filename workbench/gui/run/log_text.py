"""The log of a job, line by line; a place such as `main.c:12` is a link."""

import re

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QSyntaxHighlighter, QTextCharFormat
from PySide6.QtWidgets import QPlainTextEdit

from workbench.gui.look import fonts, theme

_LOG_LINES = 20_000
#: A file with an ending, and a line of it, as compilers and simulators write it.
_PLACE = re.compile(r"(?P<file>[\w./+\-]*[\w+\-]\.[A-Za-z]\w*):(?P<line>\d+)")


class LogText(QPlainTextEdit):
    """`open_line` carries the place that was clicked, or that is in the line where Enter was pressed."""

    open_line = Signal(str, int)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setReadOnly(True)
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
        self.setMouseTracking(True)
        self.setFont(fonts.code_font(12))
        self.setStyleSheet('font-family: "JetBrains Mono"; font-size: 12px;')
        self.setMaximumBlockCount(_LOG_LINES)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._links = _Links(self.document())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_links"):  # it changes while it is made
            self._links.rehighlight()

    def _place_at(self, event: QMouseEvent) -> tuple[str, int] | None:
        cursor = self.cursorForPosition(event.position().toPoint())
        at = cursor.positionInBlock()
        for match in _PLACE.finditer(cursor.block().text()):
            if match.start() <= at <= match.end():
                return match["file"], int(match["line"])
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        link = not event.buttons() and self._place_at(event) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if link else Qt.CursorShape.IBeamCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        clicked = event.button() is Qt.MouseButton.LeftButton and not self.textCursor().hasSelection()
        if clicked and (place := self._place_at(event)):
            self.open_line.emit(*place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match = _PLACE.search(self.textCursor().block().text())
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and match:
            self.open_line.emit(match["file"], int(match["line"]))
        else:
            super().keyPressEvent(event)


class _Links(QSyntaxHighlighter):
    def highlightBlock(self, text: str) -> None:
        if matches := list(_PLACE.finditer(text)):
            link = QTextCharFormat()
            link.setForeground(QColor(theme.palette().link))
            for match in matches:
                self.setFormat(match.start(), match.end() - match.start(), link)
