"""Pages of `workbench.api.views` in the window: sections of figures, texts, steps, plots and source lines."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from workbench.api import views
from workbench.gui.frame.context import Context
from workbench.gui.look.theme import set_ground
from workbench.gui.modes.analyse.excerpt import SourceExcerpt, read_lines
from workbench.gui.views.canvas import Drawn
from workbench.gui.views.plot_view import PlotView
from workbench.gui.widgets import (
    Button,
    ElidedLabel,
    EmptyState,
    IconButton,
    IconLabel,
    SeverityIcon,
    TextButton,
    label,
    plain_column,
    rule,
    scrolled,
)
from workbench.gui.widgets.boxes import FlowRow, column_layout, row_layout
from workbench.gui.widgets.labels import ClausesLabel
from workbench.gui.widgets.table_view import TableView
from workbench.pictures.canvas import CENTRE, Canvas
from workbench.pictures.signs import draw_shares
from workbench.pictures.states import shares_words

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_TOP, _BOTTOM = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignBottom
ROW_PX = 26
SHORT_TAG = 24
LONG_VALUE = 14  # letters: a longer one wraps


class PageView(QWidget):
    """A panel with a page that scrolls. `acted` carries the id of an action, `link_wanted` that of a link."""

    closed = Signal()
    acted = Signal(str)
    link_wanted = Signal(str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        set_ground(self, "panel")
        self.setMinimumWidth(240)
        self._scroll = scrolled("Details")
        plain_column(self).addWidget(self._scroll)
        self.body: PageBody | None = None
        self.show_nothing()

    @property
    def page(self) -> views.Page | None:
        return self.body.page if self.body else None

    @property
    def curve(self) -> PlotView | None:
        return self.body.curve if self.body else None

    def show_nothing(self) -> None:
        self.body = None
        why = "Select a finding or a block to read about it."
        self._scroll.setWidget(EmptyState("search", "Nothing is selected", why))

    def show_page(self, page: views.Page) -> None:
        """Show a page, all at once; what is scrolled to stays where it is the same page again."""
        same = self.page is not None and self.page.id == page.id
        at = self._scroll.verticalScrollBar().value() if same else 0
        self.body = PageBody(self.context, page, (16, 14, 14, 20))
        self.body.closed.connect(self.closed)
        self.body.acted.connect(self.acted)
        self.body.link_wanted.connect(self.link_wanted)
        self._scroll.setWidget(self.body)
        self._scroll.verticalScrollBar().setValue(at)  # asked for anew: the wrapper can go as the old page is deleted


class PageBody(QWidget):
    """A page as it is written once; without a title where it has none."""

    closed = Signal()
    acted = Signal(str)
    link_wanted = Signal(str)

    def __init__(self, context: Context, page: views.Page, margins: tuple[int, int, int, int] = (0, 0, 0, 0)) -> None:
        super().__init__()
        self.context, self.page = context, page
        self.curve: PlotView | None = None
        set_ground(self, "panel")
        column = _column(self, margins)
        if page.title:
            self._add_title(column, page)
        for number, section in enumerate(page.sections):
            if number:
                column.addSpacing(2)
                column.addWidget(rule())
            self._add_section(column, section)
        column.addStretch(1)

    def _add_title(self, column: QVBoxLayout, page: views.Page) -> None:
        row = _row(10)
        if page.sign:
            row.addWidget(SeverityIcon(page.sign, 20), 0, _TOP)
        row.addWidget(label(page.title, "finding", wrap=True), 1)
        close = IconButton("x", "Close (Esc)", on=self.closed.emit)
        row.addWidget(close, 0, _TOP)
        column.addLayout(row)
        below = label(page.where, "smallsecond", wrap=True)
        below.setContentsMargins(30 if page.sign else 0, 0, 0, 0)
        column.addWidget(below)

    def _add_section(self, column: QVBoxLayout, section: views.Section) -> None:
        inside = column
        if section.folded:
            fold = Fold(section.title, heading=True)
            column.addWidget(fold)
            inside = fold.column
        elif section.title:
            head = _row(10)
            head.addWidget(label(section.title, "strong"))
            if isinstance(section.items[0], views.Source):
                self._add_place(head, section.items[0])
            elif section.note:
                head.addWidget(_at_right(ClausesLabel(section.note, "small")), 1)
            column.addLayout(head)
        bars = [item for item in section.items if isinstance(item, views.Shares) and item.title]
        for item in section.items:
            if item not in bars:
                getattr(self, f"_add_{type(item).__name__.lower()}")(inside, item)
            elif item is bars[0]:
                inside.addLayout(_titled_bars(bars))

    # ---- an item of each kind

    def _add_steps(self, column: QVBoxLayout, steps: views.Steps) -> None:
        """The first one in full, then those that count in short, then the rest in full behind a fold."""
        for number, step in enumerate(steps.steps[: steps.shown], 1):
            column.addWidget(self._step(number, step, full=steps.leads and number == 1))
        if steps.folded:
            fold = Fold(steps.folded)
            for number, step in enumerate(steps.steps[steps.shown :], steps.shown + 1):
                fold.column.addWidget(self._step(number, step, full=True))
            column.addWidget(fold)

    def _step(self, number: int, step: views.Step, *, full: bool) -> QWidget:
        """What to do, what that gains, and below it what it rests on."""
        widget = QWidget()
        row = _row(10, widget)
        row.addWidget(NumberDisc(number), 0, _TOP)
        words = column_layout(_selectable(label(step.text, wrap=True)), spacing=4)
        if step.detail and full:
            words.addLayout(_grid([(f.title, "→" if f.value else "", f.value) for f in step.detail]))
        for note in step.notes if full else ():
            words.addWidget(_selectable(label(note, "smallsecond", wrap=True)))
        if step.tags and full:
            self._add_tags(words, step)
        if not full:
            widget.setToolTip("\n".join((*step.notes, *(text for text, _ in step.tags))))
        row.addLayout(words, 1)
        if step.gain and (number > 1 or not full):
            row.addWidget(label(step.gain, "strong"), 0, _TOP)
        if step.action and (number > 1 or not full):
            attempt = Button("Try", kind="link", on=partial(self.acted.emit, step.action))
            row.addWidget(attempt, 0, _TOP)
        return widget

    def _add_tags(self, words: QVBoxLayout, step: views.Step) -> None:
        """Short tags side by side; a long one, such as a hazard with its addresses, wraps below them."""
        tags = [
            (len(text) > SHORT_TAG, label(text, f"tag{level}", wrap=len(text) > SHORT_TAG)) for text, level in step.tags
        ]
        short, long = ([tag for is_long, tag in tags if is_long is asked] for asked in (False, True))
        rows = [*([FlowRow(*short, spacing=6)] if short else ()), *long]
        words.addLayout(column_layout(*rows, margins=(0, 4, 0, 2), spacing=4))

    def _add_actions(self, column: QVBoxLayout, actions: views.Actions) -> None:
        buttons = []
        for action in actions.actions:
            kind = "primary" if action.primary else "plain"
            buttons.append(Button(action.text, kind=kind, on=partial(self.acted.emit, action.id)))
            buttons[-1].setToolTip(action.key)
        if buttons:
            column.addWidget(FlowRow(*buttons, spacing=8))

    def _add_links(self, column: QVBoxLayout, links: views.Links) -> None:
        for link in links.links:
            row = _row(10)
            row.addWidget(SeverityIcon(link.sign), 0, _TOP)
            row.addWidget(TextButton(link.title, wrap=True, on=partial(self.link_wanted.emit, link.id)), 1)
            row.addWidget(label(link.values[-1], "strong"), 0, _TOP)
            column.addLayout(row)

    def _add_curves(self, column: QVBoxLayout, curves: views.Curves) -> None:
        self.curve = PlotView(curves.name, curves.height_px, in_page=True)
        self.curve.setFixedHeight(curves.height_px)
        self.curve.problem.connect(self.context.notices.tell)
        self.curve.show_plot(curves.plot)
        column.addWidget(self.curve)

    def _add_place(self, head: QHBoxLayout, source: views.Source) -> None:
        place = source.places[0]
        name = f"{place.file.rsplit('/', 1)[-1]}:{place.line}{', ' + place.label if place.label else ''}"
        head.addWidget(ElidedLabel(name, "small"), 1)
        if not self.context.resolve(place.file).is_file():
            return
        go = Button("Open line", kind="link", on=lambda: self.context.navigation.open_line(place.file, place.line))
        go.setToolTip("Enter")
        head.addWidget(go)

    def _add_source(self, column: QVBoxLayout, source: views.Source) -> None:
        place = source.places[0]
        lines = read_lines(self.context.resolve(place.file), place.line)
        if lines is None:
            column.addWidget(self._missing(place.file))
            return
        excerpt = SourceExcerpt()
        excerpt.set_lines(lines[0], lines[1], place.line)
        column.addWidget(excerpt)

    def _missing(self, file: str) -> QWidget:
        """In place of an excerpt of a file that is not there."""
        what = "is not in the project's folder" if self.context.workspace else "can be seen once its project is open"
        widget = QWidget()
        set_ground(widget, "sunken")
        words = label(f"{file.rsplit('/', 1)[-1]} {what}.", "smallsecond", wrap=True)
        words.setToolTip(file)
        row_layout(IconLabel("file", 14, "muted"), (words, 1), of=widget, margins=(12, 8, 12, 8), spacing=8)
        return widget

    def _add_table(self, column: QVBoxLayout, table: views.Table) -> None:
        view = TableView(table, row_px=ROW_PX)
        view.line_wanted.connect(self.context.navigation.open_line)
        view.show_whole()
        column.addWidget(view)

    def _add_figures(self, column: QVBoxLayout, figures: views.Figures) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(14 if len(figures.figures) < 3 else 9)  # three fit in the least width of details
        grid.setVerticalSpacing(0)
        grid.setContentsMargins(0, 8, 0, 6)
        for at, figure in enumerate(figures.figures):
            if at:
                grid.addWidget(rule(vertical=True), 0, at * 2 - 1, 3, 1)
            grid.setColumnStretch(at * 2, 1)
            cells = (
                label(figure.title, "small", wrap=True),  # a small window has room for its longest word alone
                label(figure.value, "figureplain" if at else "figure"),
                label(figure.note, "small", wrap=True),
            )
            for row, (cell, side) in enumerate(zip(cells, (_BOTTOM, Qt.AlignmentFlag(0), _TOP), strict=True)):
                cell.setToolTip(figure.tip)
                grid.addWidget(cell, row, at * 2, side)
        column.addLayout(grid)

    def _add_text(self, column: QVBoxLayout, text: views.Text) -> None:
        if text.role != "code":
            column.addWidget(_selectable(label(text.text, "smallsecond" if text.role == "second" else "", wrap=True)))
            return
        box = _selectable(label(text.text, "code", wrap=True))
        box.setContentsMargins(10, 6, 10, 6)
        frame = QFrame()
        set_ground(frame, "sunken")
        _column(frame).addWidget(box)
        column.addWidget(frame)

    def _add_facts(self, column: QVBoxLayout, facts: views.Facts) -> None:
        column.addLayout(_grid([(fact.title, fact.name, fact.value) for fact in facts.facts]))

    def _add_shares(self, column: QVBoxLayout, bar: views.Shares) -> None:
        column.addWidget(ScaleBar(bar, 16))


class NumberDisc(Drawn, QWidget):
    """The number of a suggestion."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number
        self.setFixedSize(20, 20)

    def draw(self, canvas: Canvas) -> None:
        middle = self.width() / 2
        canvas.disc(middle, middle, middle, "selection")
        canvas.write(middle, middle, str(self._number), "link", 11, 700, CENTRE)


class Fold(QWidget):
    """What is behind a link, shut at first; Space or Enter opens it too."""

    def __init__(self, title: str, *, heading: bool = False) -> None:
        super().__init__()
        column = _column(self)
        self.button = Button(title, "chevron-right", kind="link")
        if heading:
            self.button.setProperty("heading", True)
        self.rest = QWidget()
        self.column = _column(self.rest)
        self.button.clicked.connect(lambda: self.open(self.rest.isHidden()))
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.rest)
        self.open(False)

    def open(self, shown: bool) -> None:
        self.rest.setVisible(shown)
        self.button.set_icon("chevron-down" if shown else "chevron-right")


class ScaleBar(Drawn, QWidget):
    """A bar of states, or of one time, on a scale that it shares with others."""

    def __init__(self, bar: views.Shares, height_px: int) -> None:
        super().__init__()
        self._bar = bar
        self.setFixedHeight(height_px)
        self.setMinimumWidth(60)
        if said := shares_words(bar.shares):
            self.setToolTip(f"Share of time: {said}")

    def draw(self, canvas: Canvas) -> None:
        wide = self.width() * self._bar.part
        if self._bar.shares:
            draw_shares(canvas, wide, self.height(), self._bar.shares)
        else:
            canvas.rect(0, 0, max(wide, 2.0), self.height(), "accent")


def _titled_bars(bars: Sequence[views.Shares]) -> QGridLayout:
    """Bars below each other on one scale: title, bar and value side by side, the note under the value."""
    grid = QGridLayout()
    grid.setHorizontalSpacing(8)
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(1, 1)
    for row, bar in enumerate(bars):
        grid.addWidget(label(bar.title, "small"), 2 * row, 0)
        grid.addWidget(ScaleBar(bar, 11), 2 * row, 1)
        grid.addWidget(value := label(bar.value, "strong"), 2 * row, 2)
        value.setAlignment(_RIGHT)
        if bar.note:
            grid.addWidget(_at_right(ClausesLabel(bar.note, "small")), 2 * row + 1, 1, 1, 2)
    return grid


def _grid(rows: Sequence[tuple[str, str, str]]) -> QGridLayout:
    """Rows of a title, a name or an arrow, and a value; both ends wrap where there is no room for them."""
    grid = QGridLayout()
    grid.setHorizontalSpacing(8)
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(0, 3)
    grid.setColumnStretch(1, 2 if any(len(name) > 1 for _, name, _ in rows) else 0)
    grid.setColumnStretch(2, 2 if any(len(value) > LONG_VALUE for _, _, value in rows) else 0)
    for row, (title, name, value) in enumerate(rows):
        last = label(value, "strong", wrap=len(value) > LONG_VALUE)
        last.setAlignment(_RIGHT)
        middle = ElidedLabel(name, "codemuted", Qt.TextElideMode.ElideMiddle)
        for place, widget in enumerate((label(title, "smallsecond", wrap=True), middle, last)):
            grid.addWidget(widget, row, place)
    return grid


def _column(widget: QWidget, margins: tuple[int, int, int, int] = (0, 0, 0, 0)) -> QVBoxLayout:
    return column_layout(of=widget, margins=margins, spacing=8)


def _row(spacing: int, widget: QWidget | None = None) -> QHBoxLayout:
    return row_layout(of=widget, margins=(0, 0, 0, 0), spacing=spacing)


def _selectable(said: QLabel) -> QLabel:
    said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return said


def _at_right(widget: ElidedLabel) -> ElidedLabel:
    widget.setAlignment(_RIGHT)
    return widget
