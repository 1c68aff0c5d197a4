"""What a query came to: a row a statement, and pictures of the chosen one."""

from collections.abc import Iterator, Sequence
from functools import partial

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from workbench.api.queries import Reply
from workbench.gui.look.painting import wrapped_label
from workbench.gui.modes.streams.pictures import SHORT, ReplyPictures
from workbench.gui.modes.streams.plots import apart, asked
from workbench.gui.views.canvas import text_width
from workbench.gui.widgets import EmptyState, Stack, plain_column
from workbench.gui.widgets.row_view import EDGE_PX, GAP_PX, RowView
from workbench.gui.widgets.rows import Column
from workbench.gui.widgets.whole_rows import WholeRows

ROW_PX, WRAPPED_PX = 30, 42


class AnswerTable(RowView):
    """A row for each statement. What would be cut off has the room of the numbers, or else two lines."""

    heightened = Signal()

    def __init__(self) -> None:
        super().__init__("Answers", (
            Column("#", lambda reply: str(reply.line), width_px=40, key=lambda reply: reply.line,
                   ink=lambda reply: ("muted", 12, 400), tip_of=lambda reply: reply.text),
            Column("Statement", asked, share=0.5, elide=Qt.TextElideMode.ElideMiddle, paint=partial(self._paint, 1),
                   beside_px=GAP_PX + EDGE_PX, tip_of=lambda reply: reply.text, key=asked),
            Column("Answer", lambda reply: reply.words, share=0.5, tip_of=lambda reply: reply.words, ink=_ink,
                   paint=partial(self._paint, 2), beside_px=GAP_PX + EDGE_PX),
        ), ROW_PX)  # fmt: skip

    def _paint(self, number: int, painter: QPainter, box: QRectF, reply: Reply) -> None:
        inside, column = self.inside(box, number), self.rows.columns[number]
        ink, size, weight = column.ink(reply)
        fits = text_width(column.text(reply), size, weight) <= inside.width()
        if fits or not wrapped_label(painter, inside, column.text(reply), size, weight, ink):
            self.write(painter, inside, number, reply)

    @property
    def _is_cut(self) -> bool:
        """Whether a statement, or an answer that is not shown elsewhere, has no room in one line."""
        asked_px, words_px = (self.columnWidth(number) - GAP_PX - EDGE_PX for number in (1, 2))
        return any(
            text_width(asked(reply), 13) > asked_px
            or (len(reply.words) <= SHORT and text_width(reply.words, 13) > words_px)
            for reply in self.rows.tops
        )

    def lay_out_columns(self) -> None:
        for without_numbers in (False, True):
            self.setColumnHidden(0, without_numbers)
            super().lay_out_columns()
            if not self._is_cut:
                break
        row_px = WRAPPED_PX if self._is_cut else ROW_PX
        if self.row_px != row_px:
            self.row_px = row_px
            self.scheduleDelayedItemsLayout()
            self.heightened.emit()


class Replies(QWidget):
    """The pictures. The table, `statements`, is elsewhere: below the query. `line_chosen` carries the line of the
    statement that is looked at, `shown` the answer that is drawn."""

    line_chosen = Signal(int)
    shown = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.replies: Sequence[Reply] = ()
        self.table = AnswerTable()
        self.statements = WholeRows(self.table)
        self.table.heightened.connect(self.statements.fit)
        self.pictures = ReplyPictures()

    def build(self) -> Iterator[None]:
        yield from self.pictures.build()
        self.nothing = EmptyState("waypoints", "")
        self.say_why(of_run=True, has_run=True, has_edges=True)
        self._stack = Stack()
        for page in (self.nothing, self.pictures):
            self._stack.addWidget(page)
        plain_column(self).addWidget(self._stack)
        self.table.chosen.connect(self._chosen)
        self.show_replies(())
        yield

    def say_why(self, of_run: bool, has_run: bool, has_edges: bool) -> None:
        """What is here while there are no answers."""
        how = "Write a query at the left, or right-click a stream in the graph"
        states = "States of its blocks can be asked about: right-click a block, or write a query at the left."
        if of_run and not has_edges:
            self.nothing.say("The open run recorded no transfers", states)
        elif of_run:
            self.nothing.say("No query yet", f"{how}; then Ctrl+Enter.")
        else:
            why = "The open run recorded no transfers" if has_run else "No run yet"
            self.nothing.say(why, f"{how}: a traced run of the project answers it.")

    def show_replies(self, replies: Sequence[Reply], line: int = 0) -> None:
        """Show answers, and pictures of the first one that has any, from that of a line on."""
        self.replies = replies
        self._stack.setCurrentIndex(1 if replies else 0)
        self.table.show_rows([(reply, ()) for reply in replies])
        self.statements.setVisible(bool(replies))
        pictured = [reply for reply in replies if reply.values or reply.bin_words]
        first = next((reply for reply in pictured if reply.line >= line), next(iter(pictured), None))
        self.table.choose(lambda reply: reply is first)
        self._show(first)

    def _chosen(self, reply: Reply | None) -> None:
        if reply is not None:
            self._show(reply)
            self.line_chosen.emit(reply.line)

    def _show(self, reply: Reply | None) -> None:
        self.pictures.show_reply(reply, self.replies)
        self.shown.emit(reply)


def _ink(reply: Reply) -> tuple[str, int, int]:
    """The colour of a broken assertion, of one that holds, and of a count that differs from its replay."""
    ink = "high" if reply.holds is False else "good" if reply.holds else "medium_text" if apart(reply) else "text"
    return ink, 13, 400
