"""The form of one part of a document: a row for every field, its problem right beside it."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from workbench.api.forms import Field, Group
from workbench.api.window import set_ground
from workbench.gui.frame.focus import first_focusable
from workbench.gui.look import fonts
from workbench.gui.modes.forms.field_problem import is_unknown_key
from workbench.gui.modes.forms.field_row import FieldRow, OriginOf, plain
from workbench.gui.modes.forms.parts import DocumentPart
from workbench.gui.modes.forms.words_area import WordsArea
from workbench.gui.modes.source.pragma_words import Word
from workbench.gui.run.background import Slices
from workbench.gui.widgets import Button, IconButton, empty, label, rule
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.gui.widgets.scroll_area import ScrollArea
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.text import counted
from workbench.session.edit.yaml_document import Path_, YamlDocument

LABEL_PX, NARROW_PX, _HEAD_GAP_PX = 118, 460, 14  # what labels have at least, but in a narrow form
_EDGE_PX, _GAP_PX = 16, 12


class PartForm(ScrollArea):
    """The form of the part chosen, or of all parts of a page below each other. `typed` carries the row in which a key
    was pressed, `renamed` a part's path and the name wanted for it; `add_wanted` is the button at its end, `seen` the
    part of the page that was scrolled to."""

    typed = Signal(object)
    seen = Signal(object)
    line_wanted = Signal(int)  # of the document's file
    renamed = Signal(object, str)
    add_wanted = Signal()

    def __init__(self, document: YamlDocument, origin_of: OriginOf | None = None) -> None:
        super().__init__("Fields of the part")
        self._strays: dict[Path_, QVBoxLayout] = {}  # by part, what is wrong with it, and with none of its fields
        self.document, self._origin_of = document, origin_of
        #: The parts of which those fields are shown too that do not apply, or are seldom set.
        self._all_of: set[Path_] = set()
        self._shown: tuple[Path_, ...] = ()
        self._longest_px = 0  # of the labels
        self._grids: list[tuple[QGridLayout, list[tuple[QLabel, FieldRow]]]] = []  # by group
        self._narrow = False
        self.rows: list[FieldRow] = []
        self.part: DocumentPart | None = None
        self.page: tuple[DocumentPart, ...] = ()  # all that are shown, the one chosen among them
        self._heads: dict[Path_, QWidget] = {}  # of the parts of a page
        self._filling: Iterator[None] = iter(())  # makes what of the form is still to come
        self._slices: Slices | None = None  # for what is made anew
        self._rest_px: int | None = None  # where a page is scrolled to once it is there
        self.only_shows = False  # whether it was made for a document that cannot be changed
        self._wanted: tuple[Path_, Qt.FocusReason] | None = None  # the field that gets the keyboard when it is there
        self._words: Sequence[Word] = ()
        self._names: Collection[str] = ()
        self._prefix = ""
        self.foot: Callable[[], QWidget] | None = None  # makes what is at the end of a page of several parts
        self.verticalScrollBar().valueChanged.connect(self._look_what_is_seen)

    def _show_problem(self) -> None:
        """What is wrong with the field that one types in comes into view."""
        for row in self.rows:
            if row.editor.hasFocus() and row.problem.isVisible():
                self.ensureWidgetVisible(row.box, 0, 8)

    def show_part(
        self, part: DocumentPart | None, slices: Slices | None = None, page: Sequence[DocumentPart] = ()
    ) -> None:
        """Show the form of a part, or the page that it is on: at once, or with `slices` group by group, each in a turn
        of its own."""
        page = tuple(page) or ((part,) if part is not None else ())
        again = [one.path for one in page] == [one.path for one in self.page] and len(page) > 1
        self._rest_px = self.verticalScrollBar().value() if again else None
        self.part, self.page, self.only_shows = part, page, self.document.read_only
        self.rows, self._grids, self._wanted, self._heads, self._strays = [], [], None, {}, {}
        body = QWidget()
        set_ground(body, "panel")
        column = column_layout(of=body, margins=(_EDGE_PX, 14, _EDGE_PX, 16), spacing=10)
        if self.only_shows:
            column.addWidget(self._note())
        groups = [group for one in page for group in self._groups(one)]
        self._shown = self._wanted_paths()
        named = bool(part and part.named and not self.document.read_only)
        labels = [field.label for group in groups for field in group.fields] + ["Name"] * named
        self._longest_px = max(map(QFontMetrics(fonts.ui_font(13, 400)).horizontalAdvance, labels), default=0) + 8
        if part and named:
            column.addLayout(self._name_row(part))
        self._fold()
        self._filling, self._slices = self._fill(column, page), slices
        if slices is None:
            self.finish()
        if (old := self.takeWidget()) is not None:  # it may be the sender of what led here
            old.hide()
            old.deleteLater()
        self.setWidget(body)
        if slices is not None:
            slices.start(body, self._filling)

    def finish(self) -> None:
        """Make at once what is still to come."""
        for _ in self._filling:
            pass

    def _note(self) -> QWidget:
        """Scrolls with the fields: it must not be squeezed where there is little room."""
        note = QWidget()
        set_ground(note, "sunken")
        said = f"This {self.document.title} is part of the workbench and read-only. Save a copy to edit it."
        row_layout((label(said, "smallsecond", wrap=True), 1), of=note, margins=(8, 6, 8, 6))
        return note

    def _groups(self, part: DocumentPart) -> tuple[Group, ...]:
        """What is shown of a part: fields that are aside where they are set, and in a document that cannot be changed
        only what is set."""
        document = self.document
        if not part.groups:
            return (Group("Constant", "a macro of the API's header", (Field((), part.title, "code"),)),)
        if part.path in self._all_of:
            return part.groups

        def is_shown(field: Field) -> bool:
            aside = field.aside or (document.read_only and field.kind != "check")
            return not aside or document.value((*part.base, *field.path)) is not None

        shown = (replace(group, fields=tuple(filter(is_shown, group.fields))) for group in part.groups)
        return tuple(group for group in shown if group.fields)

    def _show_again(self) -> None:
        """Make the form anew; a page of several parts group by group."""
        self.show_part(self.part, self._slices if self.page[1:] else None, self.page)

    def _wanted_paths(self) -> tuple[Path_, ...]:
        """The fields that the document now wants shown of the page."""
        return tuple((*one.base, *f.path) for one in self.page for group in self._groups(one) for f in group.fields)

    def _show_all(self, part: DocumentPart, every: bool) -> None:
        """Show all fields of a part, the first of them with the keyboard, or those that apply or are set."""
        before = self._shown
        (self._all_of.add if every else self._all_of.discard)(part.path)
        self._show_again()
        kept = [path for path in part.field_paths if path in self._shown]
        self.show_field(next((path for path in kept if path not in before), kept[0] if kept else part.base))

    def _fill(self, column: QVBoxLayout, page: tuple[DocumentPart, ...]) -> Iterator[None]:
        """Add the groups one after the other, as long as the form is there that they belong to."""
        for part in page:
            if page[1:]:
                column.addWidget(self._head(part))
            column.addLayout(self._strays.setdefault(part.path, QVBoxLayout()))
            for number, group in enumerate(groups := self._groups(part)):
                if self.page is not page:
                    return
                if number:
                    column.addWidget(rule())
                self._add_group(column, part.base, group)
                self._fold()
                yield
            if self.page is not page:
                return
            self._add_buttons(column, part, groups)
        if page[1:] and self.foot is not None and not self.document.read_only:
            column.addWidget(self.foot())
        column.addStretch(1)
        self._show_strays()
        self._fold()
        QTimer.singleShot(0, self, self._settle)  # once all have their places

    def _settle(self) -> None:
        """Scroll to where a page was, or to its part, and to the field that is wanted."""
        if self._rest_px is not None:
            self.verticalScrollBar().setValue(self._rest_px)
        elif self.part is not None:
            self.go_to(self.part.path)
        if self._wanted is not None:
            self.show_field(*self._wanted)

    def _add_buttons(self, column: QVBoxLayout, part: DocumentPart, groups: Sequence[Group]) -> None:
        """What can be added to a part, and its fields that are not shown."""
        if part.add and not self.document.read_only:
            column.addWidget(Button(part.add, "plus", on=self.add_wanted.emit), 0, Qt.AlignmentFlag.AlignLeft)
        every = part.path in self._all_of
        more = sum(len(group.fields) for group in part.groups) - sum(len(group.fields) for group in groups)
        if part.groups and (more > 0 or every):
            said = "Fewer fields" if every else f"{counted(more, 'more field')}"
            self.more_button = Button(said, kind="link", on=partial(self._show_all, part, not every))
            self.more_button.setToolTip("" if every else "Fields that are not set and rarely used, or do not apply")
            column.addWidget(self.more_button, 0, Qt.AlignmentFlag.AlignLeft)

    # ---- a page of several parts

    def _head(self, part: DocumentPart) -> QWidget:
        """The title of a part among others."""
        head = self._heads[part.path] = QWidget()
        titles = row_layout(label(part.title, "title"), (label(part.what, "small"), 1), spacing=10)
        column_layout(titles, of=head, margins=(_EDGE_PX, 8, 0, 8))
        set_ground(head, "selection" if part == self.part else "sunken")
        return head

    def go_to(self, path: Path_) -> None:
        """Bring a part of the page to the top, as far as it goes."""
        if (head := self._heads.get(path)) is not None:
            with QSignalBlocker(self):
                self.verticalScrollBar().setValue(head.y() - _HEAD_GAP_PX)
            self._mark(path)

    def _mark(self, path: Path_) -> None:
        """Show which part of the page is the chosen one."""
        self.part = next((part for part in self.page if part.path == path), self.part)
        for one, head in self._heads.items():
            set_ground(head, "selection" if one == path else "sunken")

    def _look_what_is_seen(self, top_px: int) -> None:
        """The last part of a page whose title is not below the top; the one gone to where it cannot come there."""
        above = [path for path, head in self._heads.items() if head.y() <= top_px + 2 * _HEAD_GAP_PX]
        chosen = self._heads.get(self.part.path) if self.part else None
        at_end = top_px == self.verticalScrollBar().maximum() and chosen is not None and chosen.y() > top_px
        if above and not at_end and self.part is not None and above[-1] != self.part.path:
            self._mark(above[-1])
            self.seen.emit(above[-1])

    def _show_strays(self) -> None:
        """What is wrong with a part and is at none of its fields; a key that is not known can be removed."""
        bases: set[Path_] = set()
        for part in self.page:
            strays = self._strays.get(part.path)
            if strays is None:
                continue
            empty(strays)
            for problem, path in self._stray_problems(part) if part.base not in bases else ():
                row = QWidget()
                text = f"Line {problem.line}: {problem.message}. {problem.hint}".strip()
                bad = problem.severity is Severity.ERROR
                said = label(text, "high" if bad else "medium", wrap=True)
                across = row_layout((said, 1), of=row, margins=(0, 0, 0, 0))
                if is_unknown_key(problem, path):
                    remove = Button(f"Remove {path[-1]}", kind="link")
                    remove.clicked.connect(partial(self.document.remove, path, f"Remove {path[-1]}"))
                    across.addWidget(remove, 0, Qt.AlignmentFlag.AlignTop)
                strays.addWidget(row)
            bases.add(part.base)

    def _stray_problems(self, part: DocumentPart) -> Iterator[tuple[Diagnostic, Path_]]:
        """With their paths in the document."""
        own, shown, fields = part.base, [row.path for row in self.rows], part.field_paths
        inner = {own} | {path[: len(own) + 1] for path in fields if len(path) > len(own) + 1}
        for problem in self.document.problems:
            path = self.document.place_of(problem)
            if path not in shown and (path == own or (is_unknown_key(problem, path) and path[:-1] in inner)):
                yield problem, path

    def _name_row(self, part: DocumentPart) -> QHBoxLayout:
        row, editor = QHBoxLayout(), QLineEdit(str(part.path[-1]))
        said = label("Name", "second")
        said.setMinimumSize(self._label_px(), 28)
        said.setBuddy(editor)
        editor.setProperty("role", "code")
        editor.setAccessibleName("Name")

        def leave() -> None:
            name = editor.text().strip()
            if name and name != part.path[-1]:
                self.renamed.emit(part.path, name)

        editor.editingFinished.connect(leave)
        row.setSpacing(_GAP_PX)
        row.addWidget(said)
        row.addWidget(editor, 1)
        return row

    def _add_group(self, column: QVBoxLayout, base: Path_, group: Group) -> None:
        head = row_layout(label(group.title, "strong"), (label(plain(group.note), "small", wrap=True), 1), spacing=10)
        if group.part and not self.document.read_only:
            name = f"Remove {group.title.lower()}"
            remove = IconButton("trash-2", name, on=partial(self.document.remove, (*base, *group.part), name))
            head.addWidget(remove)
        column.addLayout(head)
        form = QGridLayout()  # a QFormLayout keeps heights for widths that it has not any more
        form.setHorizontalSpacing(_GAP_PX)
        form.setVerticalSpacing(8)
        form.setColumnStretch(1, 1)
        rows: list[tuple[QLabel, FieldRow]] = []
        for field in group.fields:
            row = FieldRow(self.document, base, field, self._origin_of)
            self.rows.append(row)
            row.typed.connect(partial(self.typed.emit, row))
            self._give_words(row)
            row.grown.connect(partial(QTimer.singleShot, 0, self, self._show_problem))
            row.line_wanted.connect(self.line_wanted)
            said = label(field.label, "second")
            said.setBuddy(row.editor)
            if not field.label:
                said.hide()
            rows.append((said, row))
        self._place(form, rows)
        self._grids.append((form, rows))
        column.addLayout(form)

    def _place(self, form: QGridLayout, rows: Sequence[tuple[QLabel, FieldRow]]) -> None:
        """Labels beside their editors; in a narrow form above those of long texts, which then have its whole width."""
        for number, (said, row) in enumerate(rows):
            above = not row.field.label or self._is_above(row)
            form.addWidget(said, 2 * number, 0, 1, 2 if above else 1, Qt.AlignmentFlag.AlignTop)
            form.addWidget(row.box, 2 * number + above, 0 if above else 1, 1, 2 if above else 1)

    def _is_above(self, row: FieldRow) -> bool:
        return self._narrow and row.field.kind in ("long", "prose")

    def _label_px(self) -> int:
        return self._longest_px if self._narrow else max(self._longest_px, LABEL_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def _fold(self) -> None:
        """Lay the rows out in the width that there is."""
        whole_px = self.viewport().width()
        if self._narrow != (whole_px < NARROW_PX):
            self._narrow = not self._narrow
            for form, rows in self._grids:
                self._place(form, rows)
        whole_px -= 2 * _EDGE_PX
        label_px = self._label_px()
        for form, rows in self._grids:
            form.setColumnMinimumWidth(0, label_px)  # a label's hint stays at the least width that it ever had
            for said, row in rows:
                is_above = self._is_above(row) or not row.field.label
                said.setFixedHeight(20 if is_above else 28)
                more_px = label_px + _GAP_PX if is_above else 0
                row.set_width(whole_px if is_above else whole_px - label_px - _GAP_PX, more_px)

    def read(self) -> None:
        """Show what the document holds now; other fields where others are set."""
        is_there = self.page and all(part.groups for part in self.page) and len(self.rows) == len(self._shown)
        if is_there and not set(self._wanted_paths()) <= set(self._shown):
            field = self.field_with_focus()
            self._show_again()
            if field is not None:
                self.show_field(field)
            return
        for row in self.rows:
            row.read()
        self._show_strays()

    def show_field(self, path: Path_, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        """Bring the field at a path of the document into view, and give it the keyboard; one that is still to come gets
        it then."""
        part = next((one for one in self.page if path in one.field_paths), None)
        if part and path not in self._shown and part.path not in self._all_of:
            self._show_all(part, True)  # it is among those that are aside
        row = next((row for row in self.rows if path[: len(row.path)] == row.path), None)
        self._wanted = (path, reason) if row is None else None
        if row is not None:
            self.ensureWidgetVisible(row.box, 0, 8)
            row.take_keyboard(reason, path[len(row.path) :])

    def focus_first(self) -> None:
        """Give the keyboard to the part's name, or else to its first field."""
        first = next((row for row in self.rows if self.part and row.path in self.part.field_paths), None)
        if self._heads and first is not None:
            first.take_keyboard(Qt.FocusReason.ShortcutFocusReason, ())
            return
        body = self.widget()
        if body is not None and (field := first_focusable(body)) is not None:
            field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def field_with_focus(self) -> Path_ | None:
        """The path of the field that has the keyboard."""
        return next((row.path for row in self.rows if row.has_keyboard), None)

    def set_words(self, words: Sequence[Word], names: Collection[str], prefix: str = "") -> None:
        """What is offered in the form's expressions, and what they may read: these names, and any with the prefix."""
        self._words, self._names, self._prefix = words, names, prefix
        for row in self.rows:
            self._give_words(row)

    def _give_words(self, row: FieldRow) -> None:
        if isinstance(row.editor, WordsArea) and row.field.kind != "names":
            row.editor.set_words(self._words, self._names, self._prefix)

    def row(self, *path: int | str) -> FieldRow:
        """The row of a field of this part. Raises StopIteration where the part has no such field."""
        self.finish()
        base = self.part.base if self.part is not None else ()
        return next(r for r in self.rows if r.path == (*base, *path))

    def commit(self) -> None:
        """Take over what is in the field being edited."""
        for row in self.rows:
            if row.has_keyboard:
                row.write()
