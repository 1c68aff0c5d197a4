"""The list of words that may be put at the cursor of a text: by Tab or Enter, as it narrows while one types."""

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QCompleter, QListView, QPlainTextEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from workbench.api.window import colour
from workbench.gui.look import fonts
from workbench.gui.modes.source.pragma_words import Word
from workbench.gui.widgets import draw_swatch

_WORD = Qt.ItemDataRole.UserRole
_LEAST_PX, _MOST_PX, _ROW_PX, _GAP_PX, _SWATCH_PX = 200, 640, 26, 24, 22
_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Escape)


def fitting(words: Iterable[Word], begun: str) -> list[Word]:
    """The names that contain the typed text, in any case; those that begin with it come first."""
    wanted = begun.lower()
    matches = [word for word in words if wanted in word.text.lower()]
    return sorted(matches, key=lambda word: not word.text.lower().startswith(wanted))


class Completion(QObject):
    """`taken` carries the word that was chosen."""

    taken = Signal(object)

    def __init__(self, editor: QPlainTextEdit, name: str) -> None:
        super().__init__(editor)
        self._editor = editor
        self._model = QStandardItemModel(self)
        self.list = QListView()
        self.list.setObjectName("completion")
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(name)
        self._completer = QCompleter(self._model, self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.setPopup(self.list)
        self.list.setItemDelegate(_Delegate(self.list))  # after setPopup, which brings one of its own
        self._completer.setWidget(editor)
        self._completer.setMaxVisibleItems(10)
        self._completer.setWrapAround(False)  # else an arrow beyond an end chooses none, and Enter and Tab take none
        self._completer.activated.connect(self._take)
        self._words: list[Word] = []

    @property
    def words(self) -> tuple[Word, ...]:
        """What the list shows."""
        return tuple(self._words) if self.list.isVisible() else ()

    def _take(self, text: str) -> None:
        self.taken.emit(next(word for word in self._words if word.text == text))

    def offer(self, words: Sequence[Word], begun: str, *, always: bool = False) -> None:
        """Show those that fit what is started; none once that is a whole word, unless asked for (`always`)."""
        matches = fitting(words, begun)
        if not matches or (not always and any(word.text == begun for word in matches)):
            self.hide()
            return
        self._words = matches
        self._model.clear()
        for word in matches:
            item = QStandardItem(word.text)
            item.setData(word, _WORD)
            item.setToolTip(f"{word.text}\n{word.note}" if word.note else word.text)
            self._model.appendRow(item)
        wide = max(map(_Delegate.wide, matches)) + self.list.verticalScrollBar().sizeHint().width() + 8
        place = self._editor.cursorRect()
        begun_px = QFontMetrics(self._editor.font()).horizontalAdvance(begun)
        place.moveTopLeft(place.topLeft() + self._editor.viewport().pos() - QPoint(begun_px, 0))
        place.setWidth(min(max(wide, _LEAST_PX), _MOST_PX))
        self._completer.complete(place)
        self.list.setCurrentIndex(self._completer.completionModel().index(0, 0))

    def hide(self) -> None:
        self.list.hide()

    def has(self, event: QKeyEvent) -> bool:
        """Whether a key is the open list's own: the editor leaves it."""
        return self.list.isVisible() and event.key() in _KEYS


class _Delegate(QStyledItemDelegate):
    """The word as it would be there, its category's swatch, and at the right what it is."""

    @staticmethod
    def wide(word: Word) -> int:
        """Pixels that a word wants."""
        text = QFontMetrics(fonts.code_font(13)).horizontalAdvance(word.text)
        note = QFontMetrics(fonts.ui_font(12)).horizontalAdvance(word.note)
        return 20 + text + (note + _GAP_PX if word.note else 0) + (_SWATCH_PX if word.category else 0)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, _ROW_PX)  # as wide as the list is

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        word, rect = index.data(_WORD), QRectF(option.rect)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, colour("selection"))
        inside = rect.adjusted(10, 0, -10, 0)
        if word.category is not None:
            draw_swatch(painter, inside.left(), round(inside.center().y() - 5), 12, 10, word.category)
            inside.setLeft(inside.left() + _SWATCH_PX)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(fonts.code_font(13))
        painter.setPen(QColor(colour("text")))
        metrics = QFontMetrics(painter.font())
        text = metrics.elidedText(word.text, Qt.TextElideMode.ElideRight, round(inside.width()))
        painter.drawText(inside, middle, text)
        room = inside.width() - metrics.horizontalAdvance(text) - _GAP_PX
        if word.note and room > _GAP_PX:
            painter.setFont(fonts.ui_font(12))
            painter.setPen(QColor(colour("second")))
            note = QFontMetrics(painter.font()).elidedText(word.note, Qt.TextElideMode.ElideRight, round(room))
            painter.drawText(inside, middle | Qt.AlignmentFlag.AlignRight, note)
