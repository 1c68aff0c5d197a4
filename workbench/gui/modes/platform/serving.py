"""The list of uses of the open template, and of the parts that other uses need; a click opens the part."""

from pathlib import Path

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from workbench.api.window import Context, palette
from workbench.gui.look import icons
from workbench.gui.look.painting import label as paint_label
from workbench.gui.widgets import IconButton, label, plain_column, rule
from workbench.gui.widgets.boxes import STRETCH, row_layout
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.diagnostic import Diagnostic, OfTemplate, WorkbenchError, has_errors
from workbench.model.text import counted
from workbench.session.begin.serves import Keys, Service, compile_problems, services
from workbench.session.edit.platform_document import PlatformDocument
from workbench.session.open.own_api import own_support

PAUSE_MS, ROW_PX, LEAST_NOTE_PX = 400, 26, 90
TITLES = {
    "describe": "Describe programs", "predict": "Predict", "simulate": "Simulate",
    "measure on a board": "Measure on a board",
}  # fmt: skip
Line = Service | Diagnostic


class Serving(QWidget):
    """`wanted` carries the keys of the template that a line is about. It is asked again when the template changes."""

    wanted = Signal(tuple)

    def __init__(self, context: Context, document: PlatformDocument) -> None:
        super().__init__()
        self._context, self._document = context, document
        self.services: tuple[Service, ...] = ()
        self._asked = ""  # the text that they are of, or are asked for
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        self.said = label("", "small")
        self.more = IconButton("chevron-up", "Show what it can serve", on=self._unfold)
        self.more.hide()
        self._folds = False  # where there is little room, the list is shown when it is asked for
        title = label("What it can serve", "strong")
        head = row_layout(title, STRETCH, self.said, self.more, margins=(16, 4, 16, 4), spacing=6)
        self.lines = RowView("What the template can serve", (
            Column("Use", _text, share=1.0, paint=_paint, tip_of=_tip),
            Column("Why", _tip),
        ), ROW_PX)  # fmt: skip
        self.lines.header().hide()
        self.lines.setColumnHidden(1, True)  # it is the tooltip, and is copied
        self.lines.setIndentation(0)
        self.lines.ruled = False
        self.lines.setItemsExpandable(False)
        self.lines.clicked.connect(lambda index: self._go(self.lines.rows.row(index)))
        self.lines.opened.connect(self._go)
        plain_column(self, rule(), head, self.lines)
        document.changed.connect(self._changed)
        self._changed()

    def fold(self, low: bool) -> None:
        """Show the head alone, with a button for the list, or all of it."""
        if low != self._folds:
            self._folds = low
            self.more.setVisible(low)
            self._show_lines(not low)

    def _unfold(self) -> None:
        self._show_lines(self.lines.isHidden())

    def _show_lines(self, shown: bool) -> None:
        self.lines.setVisible(shown)
        self.more.icon_name = "chevron-down" if shown else "chevron-up"
        self.more.setToolTip(f"{'Hide' if shown else 'Show'} what it can serve")

    def _changed(self) -> None:
        self.setVisible(self._document.path is not None)
        if self._document.text == self._asked:
            return
        if self.services:
            self._pause.start()
        else:
            self._ask()

    def _ask(self) -> None:
        document, plugins = self._document, self._context.plugins
        platform, path, text = document.platform, document.path, document.text
        self._asked = text
        if platform is None or path is None:
            self.said.setText("Fix its problems first" if path else "")
            return
        bundled = document.read_only

        def work() -> tuple[Service, ...]:
            try:
                support = own_support(platform, Path(path), plugins.platforms)
            except WorkbenchError as error:
                return services(platform, None, plugins.targets, error.diagnostics)
            offered = services(platform, support, plugins.targets)
            simulates = any(one.can for one in offered if one.name == "simulate")
            if bundled or not simulates or has_errors(document.problems):
                return offered
            return services(platform, support, plugins.targets, compile_problems(platform, support, plugins.targets))

        def done(offered: tuple[Service, ...]) -> None:
            if isValid(self) and document.text == text:
                self._show(offered)

        self._context.background.start("serves", work, done, self._context.failed)

    def _show(self, offered: tuple[Service, ...]) -> None:
        self.services = offered
        self.said.setText(f"{sum(one.can for one in offered)} of {len(offered)}")
        self.lines.show_rows([(one, one.missing) for one in offered])
        rows = len(offered) + sum(len(one.missing) for one in offered)
        self.lines.setFixedHeight(min(rows, 9) * ROW_PX + 6)

    def _go(self, line: Line | None) -> None:
        keys: Keys = ()
        if isinstance(line, Service | OfTemplate):
            keys = line.keys
        elif line is not None:
            keys = self._document.place_of(line) or ("host", "entries")
        if keys:
            self.wanted.emit(keys)


def _text(line: Line) -> str:
    return TITLES.get(line.name, line.name) if isinstance(line, Service) else _short(line.message)


#: Keys of a template, as the tabs and forms of the mode call them.
_NAMES = {
    "host.transfers.send_c": "a call that writes words", "host.transfers.receive_c": "a call that reads words",
    "host.transfers": "transfers of counters", "host.entries": "host calls", "transfer_tables": "transfer times",
    "nor hardware": "nor ports", "hardware port": "port",
}  # fmt: skip


def _short(message: str) -> str:
    """What is missing, in the words of the forms, without what the list says already."""
    short = message.partition(", ")[0] if message.startswith(("it has no", "it lacks ")) else message
    for key, name in _NAMES.items():
        short = short.replace(key, name)
    for start, less in (("it has ", ""), ("it lacks ", "no "), ("its ", ""), ("no a ", "no ")):
        short = less + short.removeprefix(start) if short.startswith(start) else short
    return short


def _tip(line: Line) -> str:
    return line.why if isinstance(line, Service) else line.sentences


def _paint(painter: QPainter, box: QRectF, line: Line) -> None:
    y = box.center().y() - 8
    if not isinstance(line, Service):
        paint_label(painter, box.adjusted(44, 0, -12, 0), _text(line), "link", 12)
        return
    colours = palette()
    sign, ink = ("check", colours.good) if line.can else ("circle", colours.muted)
    icons.draw_icon(painter, sign, box.left() + 16, y + 1, 14, ink)
    width = paint_label(painter, box.adjusted(40, 0, -12, 0), _text(line), "text", 13)
    note = "" if line.can else counted(len(line.missing), "missing", "missing")
    if note and box.width() - 40 - width > LEAST_NOTE_PX:
        paint_label(painter, box.adjusted(40, 0, -16, 0), note, "second", 12, align=Qt.AlignmentFlag.AlignRight)
