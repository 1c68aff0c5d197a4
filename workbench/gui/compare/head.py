"""The head of Compare mode: which runs, one figure, and both on one scale by state."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QMenu, QSizePolicy, QVBoxLayout, QWidget

from workbench.analysis.results import Analysis
from workbench.gui import fonts, theme
from workbench.gui.analyse.graph_paint import Shares, mean_shares
from workbench.gui.theme import set_ground
from workbench.gui.widgets import Button, ElidedLabel, IconButton, Legend, label, paint_state_bar, rule
from workbench.gui.widgets.state_bar import ORDER
from workbench.model.blocks import Side
from workbench.model.run import Manifest
from workbench.model.text import ratio_text, time_text


class Letter(QWidget):
    """A or B in a square."""

    def __init__(self, letter: str) -> None:
        super().__init__()
        self._letter = letter
        self.setFixedSize(24, 24)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("accent" if self._letter == "B" else "text"))
        painter.drawRoundedRect(QRectF(self.rect()), 4, 4)
        painter.setPen(theme.colour("on_accent" if self._letter == "B" else "panel"))
        painter.setFont(fonts.ui_font(13, 700))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._letter)


class ScaledBars(QWidget):
    """Both runs' main block by state, as long as they took."""

    def __init__(self) -> None:
        super().__init__()
        self.bars: tuple[tuple[float, Shares], ...] = ()
        self.setMinimumSize(180, 58)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(420, 58)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(fonts.ui_font(13, 600))
        longest = max((time for time, _ in self.bars), default=0.0)
        room = self.width() - 20 - 84
        for at, (time, shares) in enumerate(self.bars):
            y = 4 + at * 28
            wide = max(room * time / longest, 2.0) if longest else 2.0
            painter.setPen(theme.colour("text"))
            painter.drawText(QRectF(0, y, 16, 18), Qt.AlignmentFlag.AlignVCenter, "AB"[at])
            paint_state_bar(painter, QRectF(20, y, wide, 18), shares)
            painter.setPen(theme.colour("text"))
            painter.drawText(QRectF(26 + wide, y, 80, 18), Qt.AlignmentFlag.AlignVCenter, time_text(time, 4))


class CompareHead(QWidget):
    """`menu_wanted` fills the menu of other runs; `swapped` exchanges A and B."""

    menu_wanted = Signal(object)  # QMenu
    swapped = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.setFixedHeight(112)
        row = QHBoxLayout(self)
        row.setContentsMargins(20, 10, 20, 10)
        row.setSpacing(20)
        row.addLayout(self._names(), 5)
        row.addWidget(rule(vertical=True))
        row.addLayout(self._figure(), 3)
        row.addLayout(self._scale(), 7)

    def _names(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(4)
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(1)
        self.titles: dict[str, ElidedLabel] = {}
        self.notes: dict[str, ElidedLabel] = {}
        for at, letter in enumerate("AB"):
            self.titles[letter], self.notes[letter] = ElidedLabel("", "strong"), ElidedLabel("", "small")
            grid.addWidget(Letter(letter), 0, at * 3, 2, 1, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(self.titles[letter], 0, at * 3 + 1)
            grid.addWidget(self.notes[letter], 1, at * 3 + 1)
            grid.setColumnStretch(at * 3 + 1, 1)
        swap = IconButton("arrow-left-right", "Exchange A and B")
        swap.clicked.connect(self.swapped.emit)
        grid.addWidget(swap, 0, 2, 2, 1)
        column.addLayout(grid)
        self.other = Button("Compare with another run", kind="link")
        self.menu = QMenu(self)
        self.menu.aboutToShow.connect(lambda: self.menu_wanted.emit(self.menu))
        self.other.clicked.connect(lambda: self.menu.popup(self.other.mapToGlobal(self.other.rect().bottomLeft())))
        column.addStretch(1)
        column.addWidget(self.other, 0, Qt.AlignmentFlag.AlignLeft)
        return column

    def _figure(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(0)
        self.verdict = label("", "smallsecond")
        self.figure = label("", "hero")
        self.note = ElidedLabel("", "small")
        for widget in (self.verdict, self.figure, self.note):
            column.addWidget(widget)
        column.addStretch(1)
        return column

    def _scale(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(4)
        self.bars = ScaledBars()
        column.addWidget(self.bars)
        self._legend = Legend(())
        self._scale_column = column
        column.addWidget(self._legend)
        return column

    def _show_legend(self) -> None:
        """Only the states that one of the runs was in."""
        seen = {category for _, shares in self.bars.bars for category, share in shares if share > 0}
        old, self._legend = self._legend, Legend([c for c in ORDER if c in seen])
        self._legend.setMinimumWidth(0)
        self._legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._scale_column.replaceWidget(old, self._legend)
        old.deleteLater()

    def show_runs(self, a: tuple[Manifest, Analysis], b: tuple[Manifest, Analysis]) -> None:
        for letter, (manifest, analysis) in zip("AB", (a, b), strict=True):
            self.titles[letter].setText(manifest.name)
            self.notes[letter].setText(run_note(manifest, analysis))
        speedup = a[1].time_s / b[1].time_s if b[1].time_s else 1.0
        if abs(speedup - 1) < 0.005:
            self.verdict.setText("Both take as long")
        else:
            self.verdict.setText("B is faster" if speedup > 1 else "B is slower")
        self.figure.setText(ratio_text(max(speedup, 1 / speedup if speedup else 1.0)))
        self.figure.setStyleSheet(f"color: {theme.palette().accent if speedup >= 1 else theme.palette().medium_text}")
        self.note.setText(f"{time_text(a[1].time_s, 4)} and {time_text(b[1].time_s, 4)}")
        self.bars.bars = tuple((analysis.time_s, main_shares(analysis)) for _, analysis in (a, b))
        self.bars.update()
        self._show_legend()


def run_note(manifest: Manifest, analysis: Analysis) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in manifest.settings.items())
    traced = "traced" if manifest.traced else "profile"
    parts = (manifest.created[:16].replace("T", " "), settings, traced, f"{len(analysis.blocks)} blocks")
    return ", ".join(p for p in parts if p)


def main_shares(analysis: Analysis) -> Shares:
    hosts = analysis.side(Side.HOST)
    return mean_shares(hosts[:1]) if hosts else ()
