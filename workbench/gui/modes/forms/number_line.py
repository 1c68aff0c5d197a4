"""A line of text in which a number of many digits is rounded while nobody types in it."""

import math
import re

from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QLineEdit

DIGITS = 6  # that are shown
_LONG = re.compile(r"(-?\d+\.\d+(?:[eE][-+]?\d+)?)(\s*[^\s\d]*)")  # a number with a fraction, and its unit


def rounded(text: str) -> str:
    """A number with a fraction, and perhaps a unit, to six digits; whole digits are kept. Another text as it is."""
    match = _LONG.fullmatch(text)
    if match is None or len(re.sub(r"\D", "", match[1].lower().partition("e")[0]).lstrip("0")) <= DIGITS:
        return text
    value, unit = float(match[1]), match[2]
    if not 1e-4 <= abs(value) < 1e15:
        return f"{value:.{DIGITS}g}{unit}"
    decimals = max(DIGITS - 1 - math.floor(math.log10(abs(value))), 0)
    number = f"{value:.{decimals}f}"
    return (number.rstrip("0").rstrip(".") if decimals else number) + unit


class NumberLine(QLineEdit):
    """The whole text is in the tooltip, and in the line while it has the keyboard."""

    def __init__(self) -> None:
        super().__init__()
        self._whole = ""

    def show_text(self, text: str) -> None:
        self._whole = text
        shown = text if self.hasFocus() else rounded(text)
        self.setToolTip(text if rounded(text) != text else "")
        if self.text() != shown:
            self.setText(shown)
            self.setCursorPosition(0)

    def whole(self) -> str:
        """What it says: what was typed, or else the text that is shown rounded."""
        return self._whole if not self.isModified() and self.text() == rounded(self._whole) else self.text()

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._turn(self.whole())
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self.text() == self._whole:
            self._turn(rounded(self._whole))

    def _turn(self, text: str) -> None:
        """The same text in another form: nothing was typed."""
        if text != self.text():
            quiet = self.blockSignals(True)
            self.setText(text)
            self.blockSignals(quiet)
