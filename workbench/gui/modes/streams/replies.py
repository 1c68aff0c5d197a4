"""What a query came to: a row a statement, and pictures of the chosen one."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from workbench.api.queries import Reply
from workbench.gui.look.painting import wrapped_label
from workbench.gui.modes.streams.pictures import ReplyPictures
from workbench.gui.modes.streams.plots import apart, asked
from workbench.gui.views.canvas import text_width
from workbench.gui.widgets import EmptyState, Stack, plain_column
from workbench.gui.widgets.row_view import EDGE_PX, GAP_PX, RowView
from workbench.gui.widgets.rows import Column
from workbench.gui.widgets.whole_rows import WholeRows

ROW_PX, WRAPPED_PX = 30, 42


class AnswerTable(RowView):
    """A row for each statement. Statements that would be cut off have the room of the numbers, or else two lines."""

    heightened = Signal()

    def __init__(self) -> None:
        super().__init__("Answers", (
            Column("#", lambda reply: str(reply.line), width_px=40, key=lambda reply: reply.line,
                   ink=lambda reply: ("muted", 12, 400), tip_of=lambda reply: reply.text),
            Column("Statement", asked, share=0.4, elide=Qt.TextElideMode.ElideMiddle, paint=self._paint_statement,
                   beside_px=2 * GAP_PX, tip_of=lambda reply: reply.text, key=asked),
            Column("Answer", lambda reply: reply.words, share=0.6, tip_of=lambda reply: reply.words, ink=_ink),
        ), ROW_PX)  # fmt: skip

    def _paint_statement(self, painter: QPainter, box: QRectF, reply: Reply) -> None:
        inside = self.inside(box, 1)
        if text_width(asked(reply), 13) <= inside.width() or not wrapped_label(painter, inside, asked(reply), 13):
            self.write(painter, inside, 1, reply)

    def lay_out_columns(self) -> None:
        for without_numbers in (False, True):
            self.setColumnHidden(0, without_numbers)
            super().lay_out_columns()
            room_px = self.columnWidth(1) - GAP_PX - (EDGE_PX if without_numbers else GAP_PX)
            is_cut = any(text_width(asked(reply), 13) > room_px for reply in self.rows.tops)
            if not is_cut:
                break
        row_px = WRAPPED_PX if is_cut else ROW_PX
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
