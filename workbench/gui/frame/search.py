"""Ctrl+K: find a command, a setting, a file, a block, a call, a finding, a run or a page of the help by words of its
name; Ctrl+Shift+O a file alone. What was chosen lately comes first."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
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

from workbench.gui.frame.search_items import FILE, SearchItem
from workbench.gui.look import fonts, theme
from workbench.gui.look.icons import draw_icon
from workbench.session.program.keys import COMMANDS, COMMON, key_of
from workbench.session.program.palette import matching, recently_used, remember_used, with_line


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


_BELOW_PX = 2  # between the field, whose edge stays whole, and the list
#: So many of what is found are listed.
MOST_LISTED = 60
_FILES_HINT = "Open a file or file:line"


#: The titles of common commands, with their places.
_COMMON = {COMMANDS[name][0]: place for place, name in enumerate(COMMON)}


def _commonness(item: SearchItem) -> int:
    """Common commands first, then the others that can be given now, then all else, each in its order."""
    if item.kind != "command" or not item.can:
        return len(_COMMON) + 1
    return _COMMON.get(item.title, len(_COMMON))


class SearchField(QLineEdit):
    """A field whose list drops down as one types; `find_items` is asked each time it gets the focus."""

    def __init__(self, find_items: Callable[[], Sequence[SearchItem]]) -> None:
        super().__init__()
        self._find_items = find_items
        self._items: Sequence[SearchItem] = ()
        self._files = False  # whether files alone are found
        self._hint = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(120)
        self.setMaximumWidth(284)
        self.setTextMargins(24, 0, 40, 0)
        self.say("Find a block, call or command")
        self._model = QStandardItemModel(self)
        completer = QCompleter(self._model, self)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        completer.setMaxVisibleItems(14)
        popup = QListView()
        popup.setObjectName("completion")  # it has a frame
        popup.setAccessibleName("Results of the search")
        popup.setMinimumWidth(420)
        completer.setPopup(popup)
        popup.setItemDelegate(_Delegate(popup))  # after setPopup, which brings one of its own
        popup.clicked.connect(self._chosen)
        popup.installEventFilter(self)
        self._popup = popup
        self.setCompleter(completer)
        self.textEdited.connect(self._list)

    def say(self, hint: str) -> None:
        """What can be found, where nothing is typed."""
        self._hint = hint
        self.setAccessibleName(_FILES_HINT if self._files else hint)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(284, 28)

    def ask(self, *, files: bool = False) -> None:
        """Take the keyboard: for a file, or for anything."""
        self._files = files
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.reload()
        self.selectAll()
        self.say(self._hint)
        self._offer()

    def _offer(self) -> None:
        """Without a letter: what was chosen lately, then common commands."""
        if not self.text():
            self._list("")
            self.completer().complete()

    def reload(self) -> None:
        """Ask anew for what can be found."""
        self._items = [item for item in self._find_items() if item.kind == FILE or not self._files]
        self._list(self.text())

    def _list(self, typed: str) -> None:
        """List what has the words that are typed; without any what was chosen lately comes first."""
        name = with_line(typed)[0]
        self._model.clear()
        items = self._items if name.strip() else sorted(self._items, key=_commonness)
        for item in matching(items, name, lambda i: i.title, lambda i: i.text, recently_used(), lambda i: i.name)[
            :MOST_LISTED
        ]:
            row = QStandardItem(item.title)
            row.setData(item, Qt.ItemDataRole.UserRole)
            self._model.appendRow(row)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The list, which is wider than the field, ends where the field does: it stays in the window."""
        if watched is self._popup and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            self._popup.hide()
            self.keyPressEvent(event)
            return True
        if watched is self._popup and event.type() in (QEvent.Type.Show, QEvent.Type.Move, QEvent.Type.Resize):
            place = self.mapToGlobal(QPoint(self.width() - self._popup.width(), self.height() + _BELOW_PX))
            if self._popup.pos() != place:
                self._popup.move(place)
        return super().eventFilter(watched, event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.reload()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._offer()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self._files and event.reason() is not Qt.FocusReason.PopupFocusReason:
            self._files = False
            self.say(self._hint)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
            self.clearFocus()
        elif event.key() == Qt.Key.Key_Down and not self.text():
            self._offer()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._model.rowCount():
            looked_at = self._popup.currentIndex()
            self._chosen(looked_at if looked_at.isValid() else self._model.index(0, 0))
        else:
            super().keyPressEvent(event)

    def _chosen(self, index: QModelIndex) -> None:
        item, line = index.data(Qt.ItemDataRole.UserRole), with_line(self.text())[1]
        self._popup.hide()
        self.clear()
        self.clearFocus()
        if item is not None and item.can:
            remember_used(item.name)
            if line and item.at_line is not None:
                item.at_line(line)
            else:
                item.do()

    def _key(self) -> str:
        return key_of("quick_open" if self._files else "search").replace("+", " ")

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with QPainter(self) as painter:
            p = theme.palette()
            draw_icon(painter, "search", 10, 6, 15, p.second)
            painter.setFont(fonts.ui_font(11, 500))
            note = "" if self._model.rowCount() else "nothing found"
            if self.fontMetrics().horizontalAdvance(self.text() + note) > self.width() - 50:
                note = ""
            painter.setPen(QColor(p.second))
            right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(self.rect().adjusted(0, 0, -9, 0), right, note if self.text() else self._key())
            if not self.text():
                painter.setFont(fonts.ui_font(13))
                painter.setPen(QColor(p.muted))
                room = self.width() - 48 - QFontMetrics(fonts.ui_font(11, 500)).horizontalAdvance(self._key())
                hints, metrics = (self.accessibleName(), "Find", ""), QFontMetrics(painter.font())
                hint = next(one for one in hints if metrics.horizontalAdvance(one) <= max(room, 0))
                painter.drawText(self.rect().adjusted(33, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, hint)
