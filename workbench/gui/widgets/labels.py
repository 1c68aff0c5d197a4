"""Text and rules."""

from collections.abc import Collection
from itertools import takewhile

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget


def label(text: str = "", role: str = "", parent: QWidget | None = None, *, wrap: bool = False) -> QLabel:
    """A label in one of the style sheet's roles: second, muted, small, strong, title, figure, code and so on."""
    widget = QLabel(text, parent)
    widget.setTextFormat(Qt.TextFormat.PlainText)
    widget.setWordWrap(wrap)
    if role:
        widget.setProperty("role", role)
    return widget


def set_role(widget: QWidget, role: str) -> None:
    """Change a widget's role and have it drawn anew."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        widget.update()


def shortened(text: str, metrics: QFontMetrics, width_px: int, beside: Collection[str] = ()) -> str:
    """A text shortened to a width such that it still differs from those it is beside: at its end, its middle or
    its start, wherever they are alike; where none of these distinguishes them, without what they begin with alike."""
    modes = Qt.TextElideMode.ElideRight, Qt.TextElideMode.ElideMiddle, Qt.TextElideMode.ElideLeft
    others = [other for other in beside if other != text]
    for mode in modes:
        short = metrics.elidedText(text, mode, width_px)
        if short not in [metrics.elidedText(other, mode, width_px) for other in others]:
            return short
    alike = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(text, *others, strict=False)))
    return metrics.elidedText(f"\u2026{text[alike:]}", Qt.TextElideMode.ElideRight, width_px)


class ElidedLabel(QLabel):
    """One line that gives way in the middle or at the end; the whole text is then in the tooltip. What is in `beside`
    is next to it, and must not look the same."""

    beside: tuple[str, ...] = ()
    least_px = 0  # where a shortened text has less room than this, nothing is shown

    def __init__(self, text: str = "", role: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._mode = mode
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        if role:
            self.setProperty("role", role)

    def minimumSizeHint(self) -> QSize:
        return QSize(24 if self.text() else 0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setToolTip(self.text() if self.shown() != self.text() else "")

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setToolTip(text if self.shown() != text else "")
        self.updateGeometry()

    def shown(self) -> str:
        """The text as it is shown."""
        room = self.contentsRect().width()
        if room < min(self.least_px, self.fontMetrics().horizontalAdvance(self.text())):
            return ""
        if self.beside:
            return shortened(self.text(), self.fontMetrics(), room, self.beside)
        return self.fontMetrics().elidedText(self.text(), self._mode, room)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            self.style().drawItemText(
                painter, self.contentsRect(), int(self.alignment()), self.palette(), self.isEnabled(), self.shown(),
                self.foregroundRole(),
            )  # fmt: skip


def rule(vertical: bool = False) -> QFrame:
    """A rule of one pixel."""
    line = QFrame()
    line.setProperty("role", "rule")
    if vertical:
        line.setFixedWidth(1)
    else:
        line.setFixedHeight(1)
    return line
