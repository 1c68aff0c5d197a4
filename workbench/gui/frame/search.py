"""Ctrl+K: find a block, a call, a finding, a file or a command by a part of its name."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAction,
    QColor,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QCompleter,
    QLineEdit,
    QListView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from workbench.gui.frame.context import Context
from workbench.gui.frame.selection import SelectedBlock, SelectedCall, SelectedFinding
from workbench.gui.look import fonts, theme
from workbench.gui.look.icons import draw_icon
from workbench.session.open import recent
from workbench.session.open.project_files import project_files


@dataclass(frozen=True)
class SearchItem:
    """Something that can be found. `detail` is at the right: what it is, or its key. What cannot be done now is
    shown too, so that it is known to be there."""

    title: str
    detail: str
    icon_name: str
    do: Callable[[], None]
    can: bool = True


class _Delegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(320, 28)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        item = index.data(Qt.ItemDataRole.UserRole)
        p = theme.palette()
        rect = QRectF(option.rect)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, QColor(p.selection))
        draw_icon(painter, item.icon_name, rect.left() + 8, rect.top() + 6, 16)
        small = fonts.ui_font(12)
        wide = QFontMetrics(small).horizontalAdvance(item.detail)
        painter.setFont(fonts.ui_font(13))
        painter.setPen(QColor(p.text if item.can else p.muted))
        room = rect.width() - wide - 56
        title = QFontMetrics(painter.font()).elidedText(item.title, Qt.TextElideMode.ElideMiddle, round(room))
        painter.drawText(rect.adjusted(32, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, title)
        painter.setFont(small)
        painter.setPen(QColor(p.muted))
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(rect.adjusted(0, 0, -10, 0), right, item.detail)


class SearchField(QLineEdit):
    """A field whose list drops down as one types; `find_items` is asked each time it gets the focus."""

    def __init__(self, find_items: Callable[[], Sequence[SearchItem]]) -> None:
        super().__init__()
        self._find_items = find_items
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(120)
        self.setMaximumWidth(284)
        self.setTextMargins(24, 0, 40, 0)
        self.setAccessibleName("Find a block, call or command")
        self._model = QStandardItemModel(self)
        completer = QCompleter(self._model, self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setMaxVisibleItems(14)
        popup = QListView()
        popup.setObjectName("completion")  # it has a frame
        popup.setMinimumWidth(420)
        completer.setPopup(popup)
        popup.setItemDelegate(_Delegate(popup))  # after setPopup, which brings one of its own
        popup.clicked.connect(self._chosen)
        popup.installEventFilter(self)
        self._popup = popup
        self.setCompleter(completer)

    def sizeHint(self) -> QSize:
        return QSize(284, 28)

    def reload(self) -> None:
        """Ask anew for what can be found."""
        self._model.clear()
        for item in self._find_items():
            row = QStandardItem(item.title)
            row.setData(item, Qt.ItemDataRole.UserRole)
            self._model.appendRow(row)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The list, which is wider than the field, ends where the field does: it stays in the window."""
        if watched is self._popup and event.type() in (QEvent.Type.Show, QEvent.Type.Move, QEvent.Type.Resize):
            left = self.mapToGlobal(QPoint(self.width() - self._popup.width(), 0)).x()
            if self._popup.x() != left:
                self._popup.move(left, self._popup.y())
        return super().eventFilter(watched, event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.reload()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
            self.clearFocus()
        elif event.key() == Qt.Key.Key_Down and not self.text():
            self.completer().setCompletionPrefix("")
            self.completer().complete()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.completer().completionCount():
            looked_at = self._popup.currentIndex()
            self._chosen(looked_at if looked_at.isValid() else self.completer().completionModel().index(0, 0))
        else:
            super().keyPressEvent(event)

    def _chosen(self, index: QModelIndex) -> None:
        item = index.data(Qt.ItemDataRole.UserRole)
        self._popup.hide()
        self.clear()
        self.clearFocus()
        if item is not None and item.can:
            item.do()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with QPainter(self) as painter:
            p = theme.palette()
            draw_icon(painter, "search", 10, 6, 15, p.second)
            painter.setFont(fonts.ui_font(11, 500))
            note = "" if self.completer().completionCount() else "nothing found"
            if self.fontMetrics().horizontalAdvance(self.text() + note) > self.width() - 50:
                note = ""
            painter.setPen(QColor(p.second))
            right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(self.rect().adjusted(0, 0, -9, 0), right, note if self.text() else "Ctrl K")
            if not self.text():
                painter.setFont(fonts.ui_font(13))
                painter.setPen(QColor(p.muted))
                room = self.width() - 84
                whole = self.accessibleName()
                hint = whole if QFontMetrics(painter.font()).horizontalAdvance(whole) <= room else "Find"
                painter.drawText(self.rect().adjusted(33, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, hint)


def search_items(context: Context, actions: Iterable[QAction]) -> tuple[SearchItem, ...]:
    return (*_run_items(context), *_source_items(context), *_commands(context, actions))


def _commands(context: Context, actions: Iterable[QAction]) -> Iterable[SearchItem]:
    for action in actions:
        title, can = str(action.property("search_title") or action.text()), action.isEnabled()
        key = action.shortcut().toString() or "command"
        yield SearchItem(title, key if can else f"not now, {key}", "terminal", action.trigger, can)
    if context.workspace is None:
        for path in recent.recent():
            yield SearchItem(path.name, "recent project", "folder", partial(context.open_path, path))


def _run_items(context: Context) -> Iterable[SearchItem]:
    analysis = context.analysis
    if analysis is None:
        return
    for finding in analysis.findings:

        def show_finding(chosen: str = finding.id) -> None:
            context.navigation.set_mode("analyse")
            context.navigation.select(SelectedFinding(chosen))

        yield SearchItem(f"{finding.title}: {finding.where}", "finding", "triangle-alert", show_finding)
    for metrics in analysis.blocks:

        def show_block(chosen: str = metrics.block.id) -> None:
            if context.navigation.mode == "source":
                context.navigation.set_mode("analyse")
            context.navigation.select(SelectedBlock(chosen))

        yield SearchItem(metrics.block.id, "block", "workflow", show_block)
    for call in analysis.calls:

        def show_call(number: int = call.site_number, file: str = call.site.file, line: int = call.site.line) -> None:
            context.navigation.select(SelectedCall(number))
            context.navigation.open_line(file, line)

        yield SearchItem(f"{call.site.label} ({call.place})", "call", "arrow-left-right", show_call)


def _source_items(context: Context) -> Iterable[SearchItem]:
    workspace = context.workspace
    if workspace is None:
        return
    for path in project_files(workspace):
        yield SearchItem(path.name, "file", "file", partial(context.navigation.open_line, str(path), 1))
