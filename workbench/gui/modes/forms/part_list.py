"""The list of a document's parts: sections with a plus, entries with what they are and their problems."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPointF, QRect, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QTabBar, QWidget

from workbench.api.window import colour
from workbench.gui.look import fonts, icons
from workbench.gui.look.painting import label, wrapped_label
from workbench.gui.modes.forms.parts import DocumentPart, PartSection
from workbench.gui.views.canvas import text_width
from workbench.gui.widgets import SignField, paint_severity
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.gui.widgets.labels import shortened
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.diagnostic import Severity
from workbench.session.edit.yaml_document import Path_, YamlDocument

ROW_PX, SIGN_PX, VALUE_PX = 28, 34, 16
AROUND_PX, LEFT_PX, RIGHT_PX = 54, 28, 8  # beside a part's title: of one line, and of several
LEAST_NOTE_PX = 84  # a part's note that is longer is left out where it has less room beside the title
Row = PartSection | DocumentPart


def with_article(what: str) -> str:
    return f"an {what}" if what.startswith(("FPGA", *"aeio")) else f"a {what}"


def _found_by(part: DocumentPart) -> tuple[str, ...]:
    return part.title, part.note, part.value, str(part.path[-1]) if part.path else ""


class SignedTabs(QTabBar):
    """Tabs with a dot at those behind which something is wrong: a sign beside the name would need more room."""

    def sign(self, number: int, name: str, wrong: bool) -> None:
        said = "This part has problems" if wrong else ""
        if self.tabToolTip(number) != said:
            self.setTabToolTip(number, said)
            self.setAccessibleTabName(number, f"{name}, with problems" if wrong else name)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour("high"))
            for number in filter(self.tabToolTip, range(self.count())):
                painter.drawEllipse(QPointF(self.tabRect(number).right() - 3, 8), 3, 3)


class PartRows(RowView):
    """The sections and parts. A title that is no code has further lines where one has no room for it, and a value a
    line of its own where there is no room beside the title."""

    def height_of(self, row: Row | None) -> int:
        wide = self.viewport().width()
        if not isinstance(row, DocumentPart):
            return ROW_PX
        value_px = VALUE_PX if value_is_below(row, wide) else 0
        if not is_long(row, wide):
            return ROW_PX + value_px
        inside, words = QRect(0, 0, wide - LEFT_PX - RIGHT_PX, 0), Qt.TextFlag.TextWordWrap
        return QFontMetrics(fonts.ui_font(13)).boundingRect(inside, words, row.title).height() + 12 + value_px

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()


def is_long(part: DocumentPart, width_px: float) -> bool:
    """Whether a part's title needs more than a line of a list of this width."""
    return not part.code and text_width(part.title, 13) > width_px - AROUND_PX


def value_is_below(part: DocumentPart, width_px: float) -> bool:
    """Whether a part's value has no room beside its title in a list of this width."""
    if not part.value:
        return False
    named = fonts.code_font(12, 600) if part.code else fonts.ui_font(13)
    title_px = QFontMetrics(named).horizontalAdvance(part.title)
    return title_px + text_width(part.value, 12) > width_px - AROUND_PX


class PartList(QWidget):
    """`chosen` carries the path of a part, `empty_chosen` a section that has no part yet, or None for one that has,
    `add_wanted` what to add."""

    chosen = Signal(object)
    empty_chosen = Signal(object)  # Section | None
    add_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.filter = SignField("funnel", "Filter entries")
        self.filter.textChanged.connect(self._refilter)
        above = row_layout(self.filter, margins=(16, 0, 16, 0))
        self.tabs = SignedTabs()
        self.tabs.setAccessibleName("Kinds of parts")
        self.tabs.setObjectName("parts")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setAccessibleName("Parts of the document")
        self.tabs.hide()
        self.tabs.currentChanged.connect(lambda number: self._turn_to(self._names[number]))
        self.tab = ""
        self._names: tuple[str, ...] = ()
        self.lines = PartRows("Parts", (
            Column("Part", lambda row: row.title, share=1.0, paint=self._paint, tip_of=lambda row: row.title),
            Column("What it is", lambda row: row.note or row.value if isinstance(row, DocumentPart) else ""),
            Column("", width_px=SIGN_PX, paint=self._paint_sign, tip_of=self._sign_words),
        ), ROW_PX)  # fmt: skip
        self.lines.header().hide()
        self.lines.setColumnHidden(1, True)  # it is beside the title, and is copied
        self.lines.setIndentation(0)
        self.lines.ruled = False
        self.lines.setUniformRowHeights(False)
        self.lines.setItemsExpandable(False)
        self.lines.chosen.connect(self._choose)
        self.lines.opened.connect(self._add)
        self.lines.clicked.connect(self._clicked)
        column_layout(self.tabs, above, (self.lines, 1), of=self, margins=(0, 12, 0, 0), spacing=6)
        self.setFocusProxy(self.lines)
        self._sections: Sequence[PartSection] = ()
        self._bad: dict[Path_, str] = {}
        self._titles: set[str] = set()
        self._shortened: dict[tuple[str, int, bool], str] = {}  # by title, width in pixels, and whether it is bold
        self._current: Path_ | None = None
        self._chosen: dict[str, Path_] = {}  # by tab, the part chosen in it last
        self._editable = True

    def show_sections(self, sections: Sequence[PartSection], document: YamlDocument) -> None:
        self._sections = sections
        self._bad = {}
        paths = {p.path for s in sections for p in s.parts}
        for part in (p for s in sections for p in s.parts if p.path):
            holds_others = any(path != part.path and path[: len(part.path)] == part.path for path in paths)
            if holds_others or part.at is not None:
                problems = tuple(d for path in part.field_paths if (d := document.problem_at(path)))
            else:
                problems = document.problems_below(part.path)
            if problems:
                error = any(d.severity is Severity.ERROR for d in problems)
                self._bad[part.path] = "high" if error else "medium"
        self._editable = not document.read_only
        self._show_tabs()
        self._refilter()

    def _show_tabs(self) -> None:
        """A tab for each name, with a sign where something is wrong behind it."""
        names = tuple(dict.fromkeys(section.tab for section in self._sections if section.tab))
        quiet = QSignalBlocker(self.tabs)
        if names != self._names:
            while self.tabs.count():
                self.tabs.removeTab(0)
            for name in names:
                self.tabs.addTab(name)
            self._names, self.tab = names, next(iter(names), "")
            self.tabs.setVisible(bool(names))
        for number, tab in enumerate(names):
            wrong = any(part.path in self._bad for s in self._sections if s.tab == tab for part in s.parts)
            self.tabs.sign(number, tab, wrong)
        if self.tab in names:
            self.tabs.setCurrentIndex(names.index(self.tab))
        del quiet

    def _turn_to(self, tab: str) -> None:
        """Show a tab, and the part that was chosen in it last, else its first."""
        self.tab = tab
        self._refilter()
        parts = [part for section in self._sections if section.tab == tab for part in section.parts]
        chosen = next((part for part in parts if part.path == self._chosen.get(tab)), next(iter(parts), None))
        if chosen is not None:
            self.chosen.emit(chosen.path)

    def set_current(self, path: Path_) -> None:
        if path != self._current:
            holding = (s.tab for s in self._sections if s.tab and any(part.path == path for part in s.parts))
            self.tab = next(holding, self.tab)
            self._current = self._chosen[self.tab] = path
            self._show_tabs()
            self._refilter()

    def show_tab(self, tab: str) -> None:
        """Show a tab, with no part of it chosen."""
        self.tab, self._current = tab, None
        self._show_tabs()
        self._refilter()

    def _refilter(self) -> None:
        """The parts of the tab, or of all tabs those that are asked for."""
        wanted = self.filter.text().strip().lower()
        shown: list[tuple[Row, list[Row]]] = []
        for section in self._sections:
            if section.tab not in ("", self.tab) and not wanted:
                continue
            parts: list[Row] = [p for p in section.parts if any(wanted in text.lower() for text in _found_by(p))]
            if parts or (self._editable and not wanted):
                shown.append((section, parts))
        self._titles = {part.title for _, parts in shown for part in parts}
        self._shortened.clear()
        self.lines.show_rows(shown)
        for number, (_, parts) in enumerate(shown):  # a note has the room of a sign that is not there
            above = self.lines.rows.index(number, 0)
            for at, part in enumerate(parts):
                has_sign = not isinstance(part, DocumentPart) or part.path in self._bad
                self.lines.setFirstColumnSpanned(at, above, not has_sign)
        self.lines.choose(lambda row: isinstance(row, DocumentPart) and row.path == self._current)

    def _addable(self, row: Row) -> str:
        """What the plus of a section adds; "" where there is none."""
        return row.add if isinstance(row, PartSection) and self._editable else ""

    def _clicked(self, index: QModelIndex) -> None:
        if index.column() and (row := self.lines.rows.row(index)) is not None:
            self._add(row)

    def _choose(self, row: Row) -> None:
        if isinstance(row, DocumentPart):
            self.chosen.emit(row.path)
        else:
            self.empty_chosen.emit(row if not row.parts and self._addable(row) else None)

    def _add(self, row: Row) -> None:
        if what := self._addable(row):
            self.add_wanted.emit(what)

    def _sign_words(self, row: Row) -> str:
        return f"Add {with_article(what)}" if (what := self._addable(row)) else ""

    def _paint(self, painter: QPainter, box: QRectF, row: Row) -> None:
        if isinstance(row, PartSection):
            label(painter, box.adjusted(16, 0, 0, 0), row.title, "text", 13, 600)
            return
        if below := value_is_below(row, self.lines.viewport().width()):
            line = QRectF(box.left() + LEFT_PX, box.bottom() - VALUE_PX - 5, box.width() - LEFT_PX, VALUE_PX)
            label(painter, line, row.value, "second", 12)
            box = box.adjusted(0, 0, 0, -VALUE_PX)
        note = row.note if below else row.note or row.value
        inside = box.adjusted(LEFT_PX, 0, -RIGHT_PX, 0)
        if is_long(row, self.lines.viewport().width()) and wrapped_label(painter, inside, row.title, 13):
            return
        bold = row.path == self._current
        named = fonts.code_font(12, 600 if bold else 400) if row.code else fonts.ui_font(13)
        if row.path not in self._bad:
            box = box.adjusted(0, 0, -12, 0)
        note_px = min(QFontMetrics(fonts.ui_font(12, 400)).horizontalAdvance(note) + 4, box.width())
        free = box.width() - 38 - QFontMetrics(named).horizontalAdvance(row.title)  # the title comes first
        note_px = min(note_px, free) if free >= min(note_px, LEAST_NOTE_PX) else 0
        beside = QRectF(box.right() - note_px, box.top(), note_px, box.height())
        if note_px:
            label(painter, beside, note, "second", 12, 400, Qt.AlignmentFlag.AlignRight)
        painter.setFont(named)
        painter.setPen(colour("text"))
        name = box.adjusted(28, 0, -note_px - 8, 0)
        key = row.title, int(name.width()), bold
        if key not in self._shortened:
            self._shortened[key] = shortened(row.title, painter.fontMetrics(), key[1], self._titles)
        painter.drawText(name, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self._shortened[key])

    def _paint_sign(self, painter: QPainter, box: QRectF, row: Row) -> None:
        y = box.center().y() - 8
        if isinstance(row, DocumentPart) and (level := self._bad.get(row.path)):
            paint_severity(painter, box.left() + 6, y, 16, level)
        elif self._addable(row):
            icons.draw_icon(painter, "plus", box.left() + 6, y)
