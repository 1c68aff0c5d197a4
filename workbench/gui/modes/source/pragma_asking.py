"""What is this line doing? The popover beside the line, and the edit of the text that its answer makes; the same names
where a pragma is typed."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QCursor, QTextCursor
from PySide6.QtWidgets import QWidget

from workbench.api.languages import Syntax, syntax_of
from workbench.api.source.edits import insert_pragma, remove_pragma, replace_pragma
from workbench.api.source.pragma_typed import Typed
from workbench.api.window import Context
from workbench.gui.modes.source import metric_menu
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.margin import GUTTER_PX
from workbench.gui.modes.source.points import Choices, MarkPoint, choices, point_at, suggested
from workbench.gui.modes.source.popover import PragmaPopover
from workbench.gui.modes.source.pragma_words import Word, place_below, words_for
from workbench.gui.modes.source.proposals import ProposalPanel
from workbench.gui.modes.source.typed_check import TypedCheck
from workbench.gui.widgets.popover import MARGIN_PX
from workbench.model.pragma import Pragma
from workbench.model.scan import ProjectScan


class PragmaAsking(QObject):
    """Asks over the widget that holds the editors."""

    def __init__(self, context: Context, over: QWidget, proposals: ProposalPanel, check: TypedCheck) -> None:
        """`proposals` tell what the design suggests for a place of the text in view, `check` has its scan."""
        super().__init__(over)
        self._proposals, self._check = proposals, check
        self._context, self._over = context, over
        self._editor: CodeEditor | None = None
        self._name = QTextCursor()
        self.popover = PragmaPopover(over)
        self.popover.accepted.connect(self._put)
        self.popover.removed.connect(self._remove)
        self.popover.definition_wanted.connect(self._ask_definition)
        self.popover.metric_wanted.connect(self._ask_metric)
        self.popover.closed.connect(self._leave)

    def ask(self, editor: CodeEditor, points: Sequence[MarkPoint], line: int, name: QTextCursor) -> str:
        """Open the popover beside a line that holds a call or a branch, clicked at a name or none; else why not."""
        scan, syntax, point = self._check.scan, syntax_of(editor.path), point_at(points, line)
        if scan is None:
            return "reading the sources"
        if syntax is None or point is None or editor.isReadOnly():
            return "no call or branch for a pragma"
        self._editor, self._name = editor, name
        offered = self._offered(scan)
        numbers = editor.margin.numbers.get(editor.moved.original(point.line))
        editor.go_to_quietly(point.line)
        editor.flag(point.line)
        corner, arrow = self._beside(editor, point.line)
        share = numbers.share if numbers else None
        start = (self._proposals.at(point) if not point.pragmas else None) or suggested(point, scan, offered)
        self.popover.ask(point, syntax, start, offered, share, corner, arrow, name.selectedText())
        return ""

    def words(
        self, editor: CodeEditor, points: Callable[[], Sequence[MarkPoint]], line: int, typed: Typed, after: str
    ) -> tuple[Word, ...]:
        """What may be where a pragma is typed; nothing while the sources are being read."""
        scan = self._check.scan
        if scan is None:
            return ()
        place = place_below(line, editor.lines, points(), self._proposals.open_now())
        return words_for(typed, after, place, scan, self._offered(scan))

    def _offered(self, scan: ProjectScan) -> Choices:
        return choices(scan, self._context.platform, self._context.knowledge.reasons)

    def _beside(self, editor: CodeEditor, line: int) -> tuple[QPoint, QPoint | None]:
        """Where the popover goes: right of the line's text, its arrow on it; without room there, below or above it."""
        rect, over = editor.line_rect(line), self._over
        text = editor.mapTo(over, QPoint(editor.columns.whole_px + GUTTER_PX, 0))
        wide, tall = self.popover.width() - 2 * MARGIN_PX, self.popover.sizeHint().height() - 2 * MARGIN_PX
        x, y = text.x() + max(rect.width(), 160) + 22, text.y() + rect.center().y()
        if x + wide + 4 <= over.width():
            return QPoint(x, max(8, min(y - tall // 2, over.height() - tall - 8))), QPoint(x - 10, y)
        below = y + rect.height()
        top = below if below + tall <= over.height() else y - rect.height() - tall
        return QPoint(over.width() - wide - 12, max(8, top)), None

    def _put(self, pragma: Pragma) -> None:
        """Put the pragma in, or in place of the one that is there: an edit of the text like any other."""

        def edit(text: str, point: MarkPoint, syntax: Syntax) -> str:
            if point.pragmas:
                return replace_pragma(text, point.pragmas[0].line, syntax, pragma)
            return insert_pragma(text, point.pragma_line, point.indent, syntax, pragma, point.column)

        self._edit(edit)

    def _remove(self) -> None:
        self._edit(lambda text, point, syntax: remove_pragma(text, point.pragmas[0].line, syntax))

    def _ask_definition(self) -> None:
        if self._editor is not None:
            self._editor.ask_definition(self._name)

    def _ask_metric(self) -> None:
        if self._editor is not None:
            line = self._name.blockNumber() + 1
            metric_menu.show(self._editor, line, self._name.selectedText(), QCursor.pos())

    def _edit(self, edit: Callable[[str, MarkPoint, Syntax], str]) -> None:
        editor, point = self._editor, self.popover.point
        syntax = syntax_of(editor.path) if editor is not None else None
        if editor is not None and point is not None and syntax is not None:
            self._context.notices.attempt(lambda: editor.set_text(edit(editor.text, point, syntax)))
            editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _leave(self) -> None:
        if self._editor is not None:
            self._editor.flag()
            self._editor.setFocus(Qt.FocusReason.OtherFocusReason)
