"""At the left of a file's text: what the last run says about each line, its pragmas, what lacks one, what is wrong."""

from dataclasses import dataclass, field
from html import escape

from PySide6.QtWidgets import QWidget

from workbench.gui.modes.source.line_advice import LineAdvice
from workbench.gui.modes.source.line_numbers import LineCheck, LineNumbers, LinePath
from workbench.gui.modes.source.problems import Problems
from workbench.gui.views.canvas import Drawn
from workbench.model.pragma import Category
from workbench.pictures.canvas import RIGHT, Canvas

GUTTER_PX = 74  # swatch and line number
SWATCH_PX = 12
#: A line of 80 characters has room beside the columns from these widths of an editor on.
_VISITS_FROM_PX, _PATH_FROM_PX = 920, 990
_SHARES_FROM_PX = 480  # in less there is code alone, as where an editor is split


@dataclass(frozen=True)
class Columns:
    """What is at the left of the gutter: a bar, where the share ends, where visits and the time on the critical path do
    (0: left out), and the whole."""

    bar_px: int
    share_px: int
    visits_px: int
    path_px: int
    whole_px: int


def columns_of(editor_px: int, shown: bool) -> Columns:
    """The columns that an editor so wide has room for, where they are shown at all."""
    if not shown or editor_px < _SHARES_FROM_PX:
        return Columns(0, 0, 0, 0, 0)
    if editor_px < _VISITS_FROM_PX:
        return Columns(26, 98, 0, 0, 108)
    return Columns(62, 138, 192, 262, 274) if editor_px >= _PATH_FROM_PX else Columns(62, 138, 192, 0, 204)


@dataclass
class Margin:
    """What is beside the lines (from 1). Lines of `numbers`, `path`, `checks`, `advice` and `lacking` count as in the
    text first loaded."""

    numbers: dict[int, LineNumbers] = field(default_factory=dict)
    path: dict[int, LinePath] = field(default_factory=dict)
    checks: dict[int, LineCheck] = field(default_factory=dict)
    advice: dict[int, LineAdvice] = field(default_factory=dict)
    pragmas: dict[int, Category] = field(default_factory=dict)
    metrics: set[int] = field(default_factory=set)
    lacking: set[int] = field(default_factory=set)
    problems: Problems = field(default_factory=dict)
    stale: bool = False

    @property
    def has_numbers(self) -> bool:
        return bool(self.numbers or self.path or self.checks)


class MarginHead(Drawn, QWidget):
    """Names of the margin's columns, and whose mean they show."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(27)
        self.said = ""

    def say(self, text: str) -> None:
        self.said = text
        self.update()

    def draw(self, canvas: Canvas) -> None:
        wide = self.width()
        canvas.rect(0, 0, wide, self.height(), "sunken")
        canvas.rect(0, self.height() - 1, wide, 1, "rule")
        columns = columns_of(wide, True)
        if columns.whole_px:
            canvas.write(16, 13, "Time in state", "second", 12, 500)
            canvas.text(columns.whole_px, 0, wide - columns.whole_px - 16, 26, self.said, "second", 12, 400, RIGHT)
        if columns.visits_px:
            canvas.write(columns.visits_px, 13, "Visits", "second", 12, 500, RIGHT)
        if columns.path_px:
            canvas.write(columns.path_px, 13, "On path", "second", 12, 500, RIGHT)


def rich_tip(text: str) -> str:
    """A tooltip that breaks its lines, and shows what looks like markup as it is."""
    return f"<p>{escape(text)}</p>".replace("\n", "</p><p>") if text else ""
