"""The head of Compare mode: which runs, one figure, and both on one scale by state."""

from pathlib import PurePath

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from workbench.analysis.came_true import error_words, interval_fate, outcome_words
from workbench.analysis.cause import Cause, first_words, is_even
from workbench.analysis.compare import Comparison, output_words, work_parts
from workbench.api.results import Analysis
from workbench.api.window import palette, set_ground
from workbench.gui.frame.naming import run_title
from workbench.gui.views.canvas import Drawn
from workbench.gui.widgets import Button, ElidedLabel, IconButton, Legend, PartsLabel, label, rule, set_role
from workbench.gui.widgets.boxes import STRETCH, FlowRow, column_layout, row_layout
from workbench.model.blocks import Side
from workbench.model.ledger import Entry, Fate, Work
from workbench.model.run import Manifest, Run
from workbench.model.text import capitalised, listed, ratio_text, time_text
from workbench.pictures.canvas import CENTRE, Canvas
from workbench.pictures.signs import draw_state_bar
from workbench.pictures.states import ORDER, Shares, mean_shares

#: The head's part that is the figures', and the widths of a figure, of what was predicted and of what differs most.
_FIGURES_PART, _FIGURE_PX, _PREDICTED_PX, _FIRST_PX = 0.34, 150, 130, 130


class Letter(Drawn, QWidget):
    """A or B in a square."""

    def __init__(self, letter: str) -> None:
        super().__init__()
        self._letter = letter
        self.setFixedSize(24, 24)

    def draw(self, canvas: Canvas) -> None:
        ground, ink = ("accent", "on_accent") if self._letter == "B" else ("text", "panel")
        canvas.rect(0, 0, self.width(), self.height(), ground, radius=4)
        canvas.write(self.width() / 2, self.height() / 2, self._letter, ink, 13, 700, CENTRE)


class ScaledBars(Drawn, QWidget):
    """Both runs' main block by state, as long as they took, and between them the time that was predicted of B."""

    def __init__(self) -> None:
        super().__init__()
        self.bars: tuple[tuple[float, Shares], ...] = ()
        self.predicted_s: float | None = None
        self.setMinimumSize(180, 58)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(420, 58)

    def draw(self, canvas: Canvas) -> None:
        rows: list[tuple[str, float, Shares | None]] = [
            (letter, *bar) for letter, bar in zip("AB", self.bars, strict=False)
        ]
        if self.predicted_s is not None:
            rows.insert(1, ("P", self.predicted_s, None))
        longest = max((time for _, time, _ in rows), default=0.0)
        room = self.width() - 20 - 84
        step, high = (28, 18) if len(rows) < 3 else (19, 14)
        for at, (letter, time, shares) in enumerate(rows):
            y = 4 + at * step
            wide = max(room * time / longest, 2.0) if longest else 2.0
            canvas.write(0, y + high / 2, letter, "text" if shares is not None else "accent", 13, 600)
            if shares is None:
                canvas.rect(20, y, wide, high, "", "accent")
            else:
                draw_state_bar(canvas, 20, y, wide, high, shares)
            words = time_text(time, 4) + ("" if shares is not None else " predicted")
            canvas.write(26 + wide, y + high / 2, words, "text" if shares is not None else "accent", 13, 600)


class CompareHead(QWidget):
    """`other` and `more` are the buttons to choose another run and to add some; `swapped` exchanges A and B."""

    swapped = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.setFixedHeight(112)
        self.bars = ScaledBars()
        row = row_layout(of=self, margins=(20, 10, 20, 10), spacing=20)
        row.addLayout(self._names(), 5)
        row.addWidget(rule(vertical=True))
        row.addLayout(self._figure(), 6)
        row.addLayout(self._scale(), 5)
        self.show_prediction(None)

    def _names(self) -> QVBoxLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(0)
        self.titles: dict[str, ElidedLabel] = {}
        self.notes: dict[str, PartsLabel] = {}
        for at, letter in enumerate("AB"):
            self.titles[letter], self.notes[letter] = ElidedLabel("", "strong"), PartsLabel(", ", "small")
            grid.addWidget(Letter(letter), at * 3, 0, 2, 1, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(self.titles[letter], at * 3, 1)
            grid.addWidget(self.notes[letter], at * 3 + 1, 1)
        grid.setRowMinimumHeight(2, 4)
        grid.setColumnStretch(1, 1)
        swap = IconButton("arrow-left-right", "Swap A and B", on=self.swapped.emit)
        grid.addWidget(swap, 0, 2, 5, 1, Qt.AlignmentFlag.AlignVCenter)
        self.other, self.more = (Button(words, kind="link") for words in ("Change run", "Add runs"))
        links = row_layout(self.other, self.more, STRETCH, spacing=20)
        return column_layout(grid, STRETCH, links, spacing=2)

    def _figure(self) -> QVBoxLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(20)
        grid.setVerticalSpacing(0)
        self.verdict, self.figure = label("", "smallsecond"), label("", "hero")
        self.predicted_title, self.predicted = label("Predicted", "smallsecond"), label("", "hero")
        self.fate, self.error = ElidedLabel("", "small"), ElidedLabel("", "small")
        for at, (title, figure) in enumerate(((self.verdict, self.figure), (self.predicted_title, self.predicted))):
            grid.addWidget(title, 0, at)
            grid.addWidget(figure, 1, at, 2, 1)
        self.first = label("", "strong", wrap=True)
        self.first.setMinimumWidth(_FIRST_PX)
        self.first.hide()
        grid.addWidget(self.first, 0, 2, 3, 1, Qt.AlignmentFlag.AlignVCenter)
        grid.setColumnStretch(2, 1)
        self.output, self.work = ElidedLabel("", "small"), PartsLabel("; ", "small")
        column = column_layout(grid, judged := QHBoxLayout(), spacing=0)
        judged.setSpacing(12)
        judged.addWidget(self.fate)
        judged.addWidget(self.error, 1)
        for widget in (self.output, self.work):
            column.addWidget(widget)
        column.addStretch(1)
        return column

    def show_cause(self, cause: Cause | None) -> None:
        """What differs most, beside the figures where there is room."""
        self.first.setText(first_words(cause) if cause else "")
        self._place_first()

    def _place_first(self) -> None:
        room = self.width() * _FIGURES_PART - (_PREDICTED_PX if self.predicted.isVisibleTo(self) else 0)
        self.first.setVisible(bool(self.first.text()) and room >= _FIRST_PX + _FIGURE_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_first()

    def show_prediction(self, entry: Entry | None) -> None:
        """What was predicted of B beside what came, and whether that is inside the interval."""
        for widget in (self.predicted_title, self.predicted, self.fate, self.error):
            widget.setVisible(entry is not None)
        self.output.setVisible(not (entry and entry.came and entry.came.same_output))  # else in the status bar alone
        self.bars.predicted_s = entry.prediction.time_s if entry else None
        self.bars.update()
        self._place_first()
        if entry is None:
            return
        self.predicted.setText(ratio_text(entry.prediction.speedup or 0.0))
        judged = entry.fate in (Fate.INSIDE, Fate.OUTSIDE)
        unequal = entry.came is not None and entry.came.work is Work.UNEQUAL
        per_unit = "not judged: different work" if unequal else "not judged: work unknown"
        self.fate.setText(interval_fate(entry) if judged else per_unit)
        set_role(self.fate, "smallgood" if entry.fate is Fate.INSIDE else "smallmedium")
        per_work = f"{ratio_text(entry.came.speedup)} per unit of work" if entry.came and entry.came.speedup else ""
        self.error.setText(error_words(entry).removesuffix(" than predicted") if judged else per_work)
        for widget in (self.predicted, self.fate, self.error):
            widget.setToolTip(f"{entry.title}: {outcome_words(entry)}")

    def _scale(self) -> QVBoxLayout:
        column = column_layout(self.bars, spacing=2)
        self._legend: QWidget = FlowRow(spacing=12)
        self._scale_column = column
        column.addWidget(self._legend)
        return column

    def _show_legend(self) -> None:
        """Only the states that one of the runs was in, in further rows where one has no room for all."""
        seen = {category for _, shares in self.bars.bars for category, share in shares if share > 0}
        shown = [category for category in ORDER if category in seen]
        old, self._legend = self._legend, FlowRow(*(Legend((category,)) for category in shown), spacing=12, below=2)
        self._scale_column.replaceWidget(old, self._legend)
        old.deleteLater()

    def show_runs(self, a: tuple[Run, Analysis], b: tuple[Run, Analysis], comparison: Comparison) -> None:
        titles = [run_title(run) for run, _ in (a, b)]
        notes = run_notes(a[0].manifest, b[0].manifest)
        for letter, title, note in zip("AB", titles, notes, strict=True):
            self.titles[letter].beside = tuple(titles)
            self.titles[letter].setText(title)
            self.notes[letter].show_parts(note)
        self._show_figure(comparison)
        output, (work, *others) = output_words(comparison), work_parts(comparison)
        self.output.setText(capitalised(output))
        self.work.show_parts((capitalised(work), *others))
        set_role(self.output, "small" if comparison.same_output else "smallmedium")
        self.bars.bars = tuple((analysis.time_s, main_shares(analysis)) for _, analysis in (a, b))
        self.bars.update()
        self._show_legend()

    def _show_figure(self, comparison: Comparison) -> None:
        """How much faster B is; with what speaks against it, where outputs differ or a run did not end."""
        speedup = comparison.speedup
        if speedup is None:
            self.verdict.setText("One of the two runs did not finish")
            self.figure.setText("–")
        else:
            even = "Both take the same time" if is_even(speedup) else ""
            self.verdict.setText(even or ("B is faster" if speedup > 1 else "B is slower"))
            self.figure.setText(ratio_text(max(speedup, 1 / speedup)))
        good = speedup is not None and speedup >= 1 and comparison.same_output is not False
        plain = is_even(speedup) and comparison.same_output is not False
        ink = palette().text if plain else palette().accent if good else palette().medium_text
        self.figure.setStyleSheet(f"color: {ink}")


def run_notes(a: Manifest, b: Manifest) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What distinguishes two runs, in few words each: what differs first, for what comes last may not find room."""
    return _note(a, b), _note(b, a)


def _note(mine: Manifest, other: Manifest) -> tuple[str, ...]:
    settings = {name: f"{name} {value}" for name, value in mine.settings.items()}
    parts = [
        (_own_part(mine.name, other.name), _own_part(other.name, mine.name)),
        *((text, f"{name} {other.settings.get(name)}") for name, text in settings.items()),
        (_changed_files(mine, other), ""),
        ("traced" if mine.traced else "profile", "traced" if other.traced else "profile"),
        (mine.created[:16].replace("T", " "), other.created[:16].replace("T", " ")),
    ]
    differing = [text for text, theirs in parts if text != theirs]
    return tuple(text for text in (*differing, *(t for t, _ in parts if t not in differing)) if text)


def _own_part(name: str, other: str) -> str:
    """What tells a name from another one: `optimised` of `2-D PDF, optimised` beside `2-D PDF, original`."""
    parts, others = name.split(", "), other.split(", ")
    alike = 0
    while alike < min(len(parts), len(others)) and parts[alike] == others[alike]:
        alike += 1
    return ", ".join(parts[alike:]) or name


def _changed_files(mine: Manifest, other: Manifest) -> str:
    """Which sources the later of two runs has otherwise; "" for the earlier one."""
    if not mine.sources or not other.sources or mine.created < other.created:
        return ""
    names = [name for name in {**other.sources, **mine.sources} if other.sources.get(name) != mine.sources.get(name)]
    return f"{listed([PurePath(name).name for name in names])} changed" if names else ""


def main_shares(analysis: Analysis) -> Shares:
    hosts = analysis.side(Side.HOST)
    return mean_shares(hosts[:1]) if hosts else ()
