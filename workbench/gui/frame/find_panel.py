"""The panel "Find in the project" (Ctrl+Shift+F): lists matching lines of all files; a click opens the line."""

from itertools import groupby
from pathlib import Path

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget
from shiboken6 import isValid

from workbench.gui.frame.context import Context
from workbench.gui.frame.focus import focus_is_in
from workbench.gui.look import fonts, theme
from workbench.gui.look.theme import set_ground
from workbench.gui.widgets import IconButton, PanelHeader, PillButton, plain_column, rule
from workbench.gui.widgets.boxes import STRETCH, row_layout
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.diagnostic import WorkbenchError
from workbench.model.text import counted
from workbench.session.open.find_text import Hit, Hits, find_text, pattern_of
from workbench.session.open.project_files import project_files
from workbench.system.files import real

_PAUSE_MS = 150
Line = Hit | Path


def _paint_text(painter: QPainter, box: QRectF, row: Line) -> None:
    """The line without its indent, what was found in it marked; of a file its name."""
    inside = box.adjusted(8, 0, -16, 0)
    if isinstance(row, Path):
        painter.setFont(fonts.ui_font(13, 600))
        painter.setPen(theme.colour("text"))
        painter.drawText(inside, Qt.AlignmentFlag.AlignVCenter, row.name)
        return
    font = fonts.code_font(12)
    metrics, indent = QFontMetricsF(font), len(row.text) - len(row.text.lstrip())
    before = metrics.horizontalAdvance(row.text[indent : row.column])
    wide = metrics.horizontalAdvance(row.text[row.column : row.column + row.length])
    mark = QRectF(inside.left() + before, box.top() + 4, wide, box.height() - 8)
    painter.fillRect(mark.intersected(inside), theme.colour("medium_ground"))
    painter.setFont(font)
    painter.setPen(theme.colour("text"))
    shown = metrics.elidedText(row.text[indent:], Qt.TextElideMode.ElideRight, inside.width())
    painter.drawText(inside, Qt.AlignmentFlag.AlignVCenter, shown)


def selected_line() -> str:
    """The text that is selected where the keyboard is, if it is in one line."""
    focus = QApplication.focusWidget()
    chosen = focus.textCursor().selectedText() if isinstance(focus, QPlainTextEdit) else ""
    return "" if "\u2029" in chosen else chosen


class FindPanel(QWidget):
    """Finds as one types. Enter in the field goes to the list, Enter on a line to the file, Esc closes."""

    closed = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        set_ground(self, "panel")
        self._context = context
        self.field = QLineEdit()
        self.field.setPlaceholderText("Find in the project")
        self.field.setAccessibleName("Find in the project")
        self.field.setFixedWidth(420)
        self.case, self.word, self.regex = PillButton("Case"), PillButton("Word"), PillButton("Regex")
        for pill, tip in (
            (self.case, "Match upper and lower case"),
            (self.word, "Whole words only"),
            (self.regex, "The text is a regular expression"),
        ):
            pill.setToolTip(tip)
            pill.toggled.connect(self._find)
        self.shut = IconButton("x", "Close (Esc)", on=self.close_it)
        self.header = PanelHeader("Found")
        for control in (self.case, self.word, self.regex, self.shut):
            self.header.add(control)
        self.rows = RowView(
            "Lines found",
            (
                Column("Line", lambda row: str(row.line) if isinstance(row, Hit) else "", 84, right=True),
                Column("Text", self._text, share=1.0, paint=_paint_text, tip_of=self._where),
            ),
            row_px=26,
            tree_column=1,
        )
        self.rows.setRootIsDecorated(True)  # room for the arrow before a file's name
        bar = row_layout(self.field, STRETCH, margins=(16, 8, 16, 8))
        plain_column(self, rule(), self.header, bar, (self.rows, 1))
        self.setFocusProxy(self.field)
        self._from: QWidget | None = None  # where the keyboard was before
        self._soon = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._soon.timeout.connect(self._find)
        self.field.textChanged.connect(lambda: self._soon.start())
        self.rows.opened.connect(self._open)
        context.workspace_changed.connect(self._forget)

    def begin(self, text: str) -> None:
        """Take the keyboard, until it is closed; what was selected in the text is looked for."""
        if not focus_is_in(self):
            self._from = QApplication.focusWidget()
        if text:
            self.field.setText(text)
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._find()

    def close_it(self) -> None:
        had_keys = focus_is_in(self)
        self.closed.emit()
        if had_keys and self._from is not None and isValid(self._from):
            self._from.setFocus(Qt.FocusReason.OtherFocusReason)

    def _forget(self) -> None:
        if self.isVisible():
            self._find()

    def _text(self, row: Line) -> str:
        return row.text.strip() if isinstance(row, Hit) else row.name

    def _where(self, row: Line) -> str:
        return f"{row.path}:{row.line}" if isinstance(row, Hit) else str(row)

    def _find(self) -> None:
        workspace, text = self._context.workspace, self.field.text()
        self._soon.stop()
        if workspace is None or not text:
            self._show(Hits(()))
            return
        try:
            how = {"case": self.case.isChecked(), "word": self.word.isChecked(), "regex": self.regex.isChecked()}
            pattern = pattern_of(text, **how)
        except WorkbenchError as error:
            self._show(Hits(()), error.diagnostics[0].message)
            return
        texts = {real(d.path): d.text for d in self._context.documents.unsaved if d.path is not None}

        def work() -> Hits:
            return find_text(project_files(workspace), pattern, texts)

        self._context.background.start("find in project", work, self._show, self._context.failed)

    def _show(self, found: Hits, problem: str = "") -> None:
        by_file = [(path, tuple(hits)) for path, hits in groupby(found.hits, key=lambda hit: hit.path)]
        self.rows.show_rows(by_file)
        count = f"{counted(len(found.hits), 'line')} in {counted(len(by_file), 'file')}"
        count = count if found.whole else f"the first {count}"
        nothing = "nothing found" if self.field.text() else ""
        self.header.set_title("Found", problem or (count if found.hits else nothing))

    def _open(self, row: Line) -> None:
        path, line = (row.path, row.line) if isinstance(row, Hit) else (row, 1)
        self._context.navigation.open_line(str(path), line)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_it()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down) and self.field.hasFocus():
            self._find()
            self.rows.setFocus(Qt.FocusReason.TabFocusReason)
            self.rows.choose(lambda row: isinstance(row, Hit))
        else:
            super().keyPressEvent(event)
