"""What the run shows without being asked: a question each, with its numbers, and what agents counted, as bars."""

from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QVBoxLayout, QWidget

from workbench.api.queries import Explained, ExplainedBar
from workbench.gui.views.canvas import Drawn
from workbench.gui.widgets import Button, PanelHeader, empty, label, plain_column, scrolled
from workbench.gui.widgets.boxes import column_layout
from workbench.pictures.canvas import RIGHT, Canvas
from workbench.pictures.graph_text import shortened
from workbench.pictures.signs import draw_severity

ROW_PX = 22
MOST_ROWS = 12  # of which the first are those with warnings, then the longest
_NAME_SHARE, _GAP, _SIGN_PX = 0.34, 8.0, 18.0


def bar_shares(bars: Sequence[ExplainedBar]) -> list[tuple[float, float | None]]:
    """How much of its room each bar takes, 0 to 1, and what agents counted of it."""
    longest = max((max(bar.value, bar.counted or 0.0) for bar in bars if not bar.whole), default=0.0) or 1.0
    wholes = [bar.whole or longest for bar in bars]
    return [
        (min(bar.value / whole, 1.0), None if bar.counted is None else min(bar.counted / whole, 1.0))
        for bar, whole in zip(bars, wholes, strict=True)
    ]


def bars_shown(bars: Sequence[ExplainedBar], shares: Sequence[tuple[float, float | None]]) -> list[int]:
    """The numbers of the bars there is room for, in their order; `shares` are those of `bar_shares`."""
    ranked = sorted(range(len(bars)), key=lambda n: (not bars[n].warning, -shares[n][0]))
    return sorted(ranked[:MOST_ROWS])


class ExplainedPanel(QWidget):
    """What the run shows, under its head."""

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumSize(260, 120)
        self.head, self.answers = PanelHeader("What the run shows"), column_layout(margins=(16, 12, 16, 16), spacing=2)
        self.area = scrolled("Answers of the run", self.answers)
        plain_column(self, self.head, (self.area, 1))

    def show_answers(self, answers: Sequence[Explained], ask: Callable[[str], None]) -> None:
        empty(self.answers)
        last: QWidget = self.area  # that Tab came to
        for taking_keys in fill(self.answers, answers, ask):
            QWidget.setTabOrder(last, taking_keys)
            last = taking_keys

    def say_none(self, run: Callable[[], None]) -> None:
        """There is no run of what is shown."""
        empty(self.answers)
        said = "Run the project with trace to see its queues, the blocks that wait, and what limits it."
        self.answers.addWidget(label(said, "second", wrap=True))
        self.answers.addSpacing(6)
        self.answers.addWidget(Button("Run", "play", on=run), 0, Qt.AlignmentFlag.AlignLeft)
        self.answers.addStretch(1)


class ExplainedBars(Drawn, QWidget):
    """Rows of a name, a bar and its number. `asked` carries the statement of a row that was clicked, or chosen with the
    arrow keys and entered."""

    asked = Signal(str)

    def __init__(self, one: Explained) -> None:
        super().__init__()
        shares = bar_shares(one.bars)
        shown = bars_shown(one.bars, shares)
        self.bars = [one.bars[number] for number in shown]
        self._shares = [shares[number] for number in shown]
        self._left_out = len(one.bars) - len(shown)
        self.current = -1
        self.setAccessibleName(one.question)
        self.setAccessibleDescription(one.answer)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(240, ROW_PX * (len(self.bars) + bool(self._left_out)))

    minimumSizeHint = sizeHint

    def draw(self, canvas: Canvas) -> None:
        names = max((canvas.width_of(bar.name, 12) for bar in self.bars), default=0.0)
        left = min(names + _GAP, self.width() * _NAME_SHARE)
        numbers = max((canvas.width_of(self._words(bar), 12, 600) for bar in self.bars), default=0.0) + _GAP
        signs = _SIGN_PX if any(bar.warning for bar in self.bars) else 0.0
        room = max(self.width() - left - min(numbers, self.width() * 0.4) - signs, 20.0)
        for number, (bar, (share, counted)) in enumerate(zip(self.bars, self._shares, strict=True)):
            y = ROW_PX * number
            if number == self.current:
                canvas.rect(0, y, self.width(), ROW_PX, "selection", radius=3)
            canvas.text(2, y, left - _GAP, ROW_PX, shortened(canvas, bar.name, left - _GAP, 12), "text", 12)
            canvas.rect(left, y + 6, room, 10, "track")
            canvas.rect(left, y + 6, room * share, 10, "medium" if bar.warning else "accent")
            if counted is not None:
                x = left + room * counted
                canvas.rect(x - 1.5, y + 3, 3, 16, "text", "panel", 1)
            if bar.warning:
                draw_severity(canvas, left + room + 3, y + 4, 14, "medium")
            words = canvas.fitted(self._words(bar), self.width() - left - room - signs - 4, 12, 600, 1)[0]
            canvas.write(self.width() - 2, y + ROW_PX / 2, words, "text", 12, 600, RIGHT)
        if self._left_out:
            y = ROW_PX * len(self.bars)
            canvas.text(2, y, self.width(), ROW_PX, f"{self._left_out} more, shorter", "second", 12)

    def _words(self, bar: ExplainedBar) -> str:
        differs = bool(bar.counted_words) and bar.counted_words != bar.words and bool(bar.warning)
        return f"{bar.words}, counted {bar.counted_words}" if differs else bar.words

    # ---- pointer and keys

    def row_at(self, y: float) -> int:
        number = int(y // ROW_PX)
        return number if 0 <= number < len(self.bars) else -1

    def row_words(self, number: int) -> str:
        """A row in words: its number, and what agents counted."""
        bar = self.bars[number]
        counted = f"agents counted {bar.counted_words}" if bar.counted_words and not bar.warning else ""
        return "\n".join(filter(None, (f"{bar.name}: {bar.words}", counted, bar.warning, bar.statement)))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            if (number := self.row_at(event.pos().y())) >= 0:
                QToolTip.showText(event.globalPos(), self.row_words(number), self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and (number := self.row_at(event.position().y())) >= 0:
            self._choose(number)
            self._ask()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if step and 0 <= self.current + step < len(self.bars):
            self._choose(self.current + step)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current >= 0:
            self._ask()
        else:
            super().keyPressEvent(event)

    def _choose(self, number: int) -> None:
        self.current = number
        self.update()

    def _ask(self) -> None:
        if statement := self.bars[self.current].statement:
            self.asked.emit(statement)


def fill(column: QVBoxLayout, answers: Sequence[Explained], ask: Callable[[str], None]) -> Iterator[QWidget]:
    """Put answers into a column, one below another; gives what takes keys, in the order of Tab."""
    for one in answers:
        column.addWidget(label(one.question, "strong", wrap=True))
        words = one.note if one.bars else one.answer
        if one.bars:
            bars = ExplainedBars(one)
            bars.asked.connect(ask)
            column.addWidget(bars)
            yield bars
        if any(bar.counted is not None for bar in one.bars):
            words = f"{words} A line across a bar shows the count of agents.".strip()
        if words:
            answer = label(words, "second", wrap=True)
            answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(answer)
        if statements := "\n".join(one.statements):
            show = Button("Ask this", kind="link", on=lambda _=False, asked=statements: ask(asked))
            show.setToolTip(statements)
            column.addWidget(show, 0, Qt.AlignmentFlag.AlignLeft)
            yield show
        column.addSpacing(10)
    column.addStretch(1)
