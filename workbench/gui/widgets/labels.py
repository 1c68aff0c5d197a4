"""Labels for texts, and separator lines."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import takewhile

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

_CLAUSE_ENDS, _LEAST_LETTERS = re.compile(r"[,;.] "), 6


def label(text: str = "", role: str = "", parent: QWidget | None = None, *, wrap: bool = False) -> QLabel:
    """A label in one of the style sheet's roles: second, muted, small, strong, title, figure, code and so on."""
    widget = QLabel(text, parent)
    _dress(widget, role, wrap)
    return widget


def _dress(widget: QLabel, role: str, wrap: bool) -> None:
    widget.setTextFormat(Qt.TextFormat.PlainText)
    widget.setWordWrap(wrap)
    if role:
        widget.setProperty("role", role)


class WholeLabel(QLabel):
    """A wrapped text that is never lower than its lines: a splitter asks for no height for a width."""

    def __init__(self, text: str = "", role: str = "") -> None:
        super().__init__(text)
        _dress(self, role, wrap=True)

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), self.heightForWidth(self.width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()


def set_role(widget: QWidget, role: str) -> None:
    """Change a widget's role and have it drawn anew."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        widget.update()


_MODES = Qt.TextElideMode.ElideRight, Qt.TextElideMode.ElideMiddle, Qt.TextElideMode.ElideLeft


def shortened(text: str, metrics: QFontMetrics, width_px: int, beside: Collection[str] = ()) -> str:
    """A text shortened to a width such that it still differs from those it is beside: at its end, its middle or
    its start, wherever they are alike; where none of these distinguishes them, without what they begin with alike."""
    return shortened_apart([text, *beside], QFontMetricsF(metrics), width_px)[text]


def shortened_apart(
    texts: Collection[str], metrics: QFontMetricsF, width_px: float, first: Qt.TextElideMode = _MODES[0]
) -> dict[str, str]:
    """Each of these texts shortened as by `shortened`, by its mode or by the `first` that keeps it apart."""
    left, found = list(dict.fromkeys(texts)), dict[str, str]()
    for mode in (first, *_MODES):
        cuts = {text: metrics.elidedText(text, mode, width_px) for text in left}
        count = Counter(cuts.values())
        found |= {text: cut for text, cut in cuts.items() if count[cut] == 1}
        left = [text for text in left if text not in found]
        if not left:
            return found
    alike = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*left, strict=False)))
    cut = Qt.TextElideMode.ElideRight
    return found | {text: metrics.elidedText(f"\u2026{text[alike:]}", cut, width_px) for text in left}


class ElidedLabel(QLabel):
    """One line that gives way in the middle or at the end; the whole text is then in the tooltip. What is in `beside`
    is next to it, and must not look the same."""

    beside: tuple[str, ...] = ()

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
        if self.beside:
            return shortened(self.text(), self.fontMetrics(), room, self.beside)
        return self.fontMetrics().elidedText(self.text(), self._mode, room)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            self.style().drawItemText(
                painter, self.contentsRect(), int(self.alignment()), self.palette(), self.isEnabled(), self.shown(),
                self.foregroundRole(),
            )  # fmt: skip


class ClausesLabel(ElidedLabel):
    """One line of which whole clauses are shown, as far as there is room, and an ellipsis for the rest; nothing where
    that leaves too little to tell it by."""

    def shown(self) -> str:
        text, room, wide = self.text(), self.contentsRect().width(), self.fontMetrics().horizontalAdvance
        if wide(text) <= room:
            return text
        ends = (match.start() for match in _CLAUSE_ENDS.finditer(text) if match.start() >= _LEAST_LETTERS)
        return max((cut for end in ends if wide(cut := f"{text[:end]} …") <= room), key=len, default="")


class PartsLabel(ElidedLabel):
    """One line of parts, of which only whole ones are shown: for those without room it says how many they are."""

    def __init__(self, separator: str, role: str = "") -> None:
        super().__init__("", role)
        self._separator, self._parts = separator, tuple[str, ...]()

    def show_parts(self, parts: Sequence[str]) -> None:
        """The parts, the most important first."""
        self._parts = tuple(parts)
        self.setText(self._separator.join(parts))

    def shown(self) -> str:
        room, wide = self.contentsRect().width(), self.fontMetrics().horizontalAdvance
        if wide(self.text()) <= room:
            return self.text()
        for number in range(len(self._parts) - 1, 0, -1):
            more = f"{len(self._parts) - number} more"
            if wide(text := self._separator.join((*self._parts[:number], more))) <= room:
                return text
        first = self._parts[0] if self._parts else ""
        return first if wide(first) <= room else super().shown()


def rule(vertical: bool = False) -> QFrame:
    """A rule of one pixel."""
    line = QFrame()
    line.setProperty("role", "rule")
    if vertical:
        line.setFixedWidth(1)
    else:
        line.setFixedHeight(1)
    return line
