"""The base of a mode on one YAML document: the list of its parts, the form of one part, saving and undo."""

from abc import abstractmethod
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from workbench.api.modes import WindowMode
from workbench.api.window import Context, Mode
from workbench.gui.modes.forms.field_row import OriginOf
from workbench.gui.modes.forms.form import PartForm
from workbench.gui.modes.forms.part_list import PartList, with_article
from workbench.gui.modes.forms.parts import DocumentPart, PartSection
from workbench.gui.widgets import Button, EmptyState, IconButton, PanelHeader, plain_panel
from workbench.model.text import capitalised
from workbench.session.edit.yaml_document import Path_, YamlDocument
from workbench.session.program.files import write_atomically
from workbench.session.program.keys import with_key


class DocumentMode(Mode):
    """A mode of this kind says which parts there are, adds one, and what a document begins with."""

    document: YamlDocument
    origin_of: OriginOf | None = None  # what is in force of a field that is not set, where that is said

    def __init__(self, context: Context, kind: WindowMode, document: YamlDocument) -> None:
        super().__init__(context, kind)
        self.document = document
        context.documents.add(document)
        self.chosen: Path_ | None = None  # the path of the part shown
        self.undo_button = IconButton("undo-2", "Undo", on=document.history.undo)
        self.problem_button = Button("", kind="link", on=self.show_problem)
        self.save_button = Button("Save", on=self.save)
        document.stepped.connect(self.write_heads)

    # ---- what a document of this kind is

    @abstractmethod
    def sections(self) -> tuple[PartSection, ...]:
        """Every part of the document, in the order of the list."""

    @abstractmethod
    def add_part(self, what: str, kind: str) -> Path_ | None:
        """Add a part with the least that is valid; its path, or None where that failed."""

    @abstractmethod
    def starter(self, path: Path) -> str:
        """What a new file begins with."""

    def save_copy(self) -> bool:
        """Save one of the workbench's in the project, and go on with that."""
        return self.duplicate()

    # ---- arrangement

    def make_form(self) -> QWidget:
        """Create `parts`, the list, and `form` in the given panel: its title, its note, the fields."""
        self.parts, self.form = PartList(), PartForm(self.document, self.origin_of)
        self.form_head = PanelHeader("")
        self.remove = IconButton("trash-2", f"Remove this from the {self.kind.makes} (Delete, in the list)")
        self.form_head.add(self.remove)
        self.remove.clicked.connect(self._remove)
        self.parts.chosen.connect(self.choose)
        self.parts.add_wanted.connect(self._add)
        self.parts.empty_chosen.connect(self._show_empty)
        self.form.line_wanted.connect(self._show_line)
        self.form.seen.connect(self._on_seen)
        self._empty: PartSection | None = None  # the section in view that has no part
        self.no_parts = EmptyState("plus", "", do=self._add_first)
        self.context.documents.commit_wanted.connect(self.form.commit)
        shown, column = plain_panel(290)
        column.addWidget(self.form_head)
        column.addWidget(self.form, 1)
        column.addWidget(self.no_parts, 1)
        self.no_parts.hide()
        return shown

    # ---- the document

    @property
    def shown_document(self) -> YamlDocument | None:
        return self.document if self.document.path is not None else None

    def open_document(self, path: Path) -> None:
        if self.context.documents.may_leave([self.document]):
            self.chosen = None
            self.document.open(path)

    def restore(self, path: Path, text: str) -> bool:
        self.open_document(path)
        if self.document.path != path:
            return False
        self.document.replace("restore unsaved changes", text)
        return True

    def begin(self, path: Path) -> bool:
        return self.begin_with(path, self.starter(path))

    def begin_with(self, path: Path, text: str) -> bool:
        """Write a text to a new file and show it."""
        if not self.context.notices.attempt(lambda: write_atomically(path, text)):
            return False
        self.document.close()
        self.open_document(path)
        return self.document.path == path

    def save(self) -> bool:
        """Save, or for one of the workbench's save a copy: in the project, or where one chooses."""
        if not self.document.read_only:
            return super().save()
        return self.save_copy() if self.context.workspace is not None else self.save_as()

    # ---- what is shown

    def part(self, path: Path_ | None) -> DocumentPart | None:
        """The part at a path, or else the one to begin with."""
        parts = [p for s in self.sections() for p in s.parts]
        return next((p for p in parts if p.path == path), self.first_part(parts))

    def page_of(self, part: DocumentPart) -> tuple[DocumentPart, ...]:
        """The parts that are shown below each other where this one is."""
        return (part,)

    def first_part(self, parts: list[DocumentPart]) -> DocumentPart | None:
        return parts[0] if parts else None

    def choose(self, path: Path_) -> None:
        """Show the form of a part."""
        self.form.commit()
        self.chosen, self._empty = path, None
        self.show_form()
        self.form.go_to(path)

    def _on_seen(self, path: Path_) -> None:
        """Another part of the page was scrolled to."""
        self.chosen = path
        self.parts.set_current(path)
        self._show_part()

    def _show_empty(self, section: PartSection | None) -> None:
        """Show, in place of the form, the purpose of a section's parts and how to add one; None: the form again."""
        self.form.commit()
        if section is None:
            self._show_part()
            return
        self._empty = section
        self.form_head.set_title(section.title, "none yet")
        self.remove.hide()
        problem = self.document.problem_at(section.path) if section.path else None
        lacks = f"{capitalised(problem.message)}. {problem.hint}" if problem else ""
        about = " ".join(text for text in (section.about, lacks) if text)
        self.no_parts.say(f"No {section.add} yet", about, f"Add {with_article(section.add)}")
        self.form.hide()
        self.no_parts.show()

    def _add_first(self) -> None:
        if self._empty is not None:
            self._add(self._empty.add)

    def show_problem(self) -> None:
        """Show the first problem of the document: its field, the section that lacks a part, or its line as text."""
        problem = next(iter(self.document.errors), None)
        if problem is None:
            return
        place = self.document.place_of(problem)
        shown = self.show_place(place) if place else False
        if not shown and problem.line is not None:
            self._show_line(problem.line)

    def _show_line(self, line: int) -> None:
        if self.document.path is not None:
            self.context.navigation.open_line(str(self.document.path), line)

    def show_place(self, path: Path_) -> bool:
        """Show the field at a path of the document, or the section that has no part there. False where none is."""
        sections = self.sections()
        lacking = next((s for s in sections if s.path and s.path == path and not s.parts), None)
        every = [part for section in sections for part in section.parts]
        holding = [part for part in every if any(path[: len(field)] == field for field in part.field_paths)]
        around = [part for part in every if path[: len(part.base)] == part.base and (part.base or len(path) < 2)]
        within = [part for part in every if path and part.base[: len(path)] == path]
        if lacking is not None:
            self.parts.show_tab(lacking.tab)
            self._show_empty(lacking)
        elif holding or within or around:
            best = max(holding, key=lambda part: len(part.base)) if holding else None
            nearest = within[0] if within else max(around, key=lambda part: len(part.base), default=None)
            part = best or nearest
            assert part is not None
            self.choose(part.path)
            self.form.show_field(path)
        return bool(lacking is not None or holding or within or around)

    def show_form(self) -> None:
        """The parts as they are now, and the form of the one chosen, or the section chosen that has none."""
        sections, field = self.sections(), self.form.field_with_focus()
        self.parts.show_sections(sections, self.document)
        part, shown = self.part(self.chosen), self.form.part
        page = self.page_of(part) if part is not None else ()
        fits = [(one.path, one.groups) for one in page] == [(one.path, one.groups) for one in self.form.page]
        if not fits or self.form.only_shows != self.document.read_only:
            self.form.show_part(part, self.context.slices if page[1:] or self.in_turns else None, page)
            if field is not None and part and shown and part.path == shown.path:
                self.form.show_field(field)
        else:
            self.form.part = part
            self.form.read()
        self.chosen = part.path if part else None
        empty = next((s for s in sections if self._empty and s.title == self._empty.title and not s.parts), None)
        if empty is not None:
            self._show_empty(empty)
        else:
            self.parts.set_current(self.chosen or ())
            self._show_part()
        self.write_heads()

    def _show_part(self) -> None:
        """The form, and of which part it is."""
        part, self._empty = self.part(self.chosen), None
        self.no_parts.hide()
        self.form.show()
        several, file = bool(self.form.page[1:]), self.document.path
        title, what = (file.name, "") if several and file else (part.title, part.what) if part else ("", "")
        self.form_head.set_title(title, what)
        self.remove.setVisible(bool(part and part.removable and not self.document.read_only))

    def write_heads(self) -> None:
        """What can be undone and saved, and what prevents it."""
        document, errors = self.document, len(self.document.errors)
        if self.save_button.hasFocus() or self.undo_button.hasFocus():
            self.setFocus()  # else the next button in the window would get the keyboard
        undo = document.history.undo_label
        self.undo_button.setEnabled(document.history.can_undo)
        self.undo_button.setToolTip(with_key(f"Undo: {undo}", "undo") if undo else "Nothing to undo")
        in_project = self.context.workspace is not None
        self.save_button.setText("Save as copy" if document.read_only else "Save")
        self.save_button.setEnabled(not errors and (document.read_only or document.dirty))
        copied = "Save a copy beside the project" if in_project else "Choose a file for a copy"
        self.save_button.setToolTip(copied if document.read_only else with_key("Comments and layout are kept", "save"))
        problems = f"{errors} problem{'s' if errors > 1 else ''}"
        self.problem_button.setVisible(bool(errors))
        if errors:
            first = document.errors[0]
            self.problem_button.setText(problems)
            place = f"Go to line {first.line}: " if first.line is not None else ""
            self.problem_button.setToolTip(f"{place}{first.message}. Fix it before you save.")
        self.say_status(
            *self.status_words(),
            "read only" if document.read_only else "not saved" if document.dirty else "saved",
        )

    def status_words(self) -> tuple[str, ...]:
        """What the status bar says of the document."""
        return ()

    # ---- changes

    def _add(self, what: str) -> None:
        """Add a part, of the kind that is chosen in a menu where there are several."""
        kinds = next((section.kinds for section in self.sections() if section.add == what), {})
        if not kinds:
            self._add_one(what)
            return
        self.kinds_menu = QMenu(self)
        for name, title in kinds.items():
            self.kinds_menu.addAction(title, partial(self._add_one, what, name))
        lines = self.parts.lines
        below = lines.visualRect(lines.currentIndex()).bottomLeft()
        self.kinds_menu.popup(lines.viewport().mapToGlobal(below))

    def _add_one(self, what: str, kind: str = "") -> None:
        path = self.add_part(what, kind)
        if path is not None:
            self.choose(path)

    def _remove(self) -> None:
        """Remove the part that is shown; the next of its section is, or else the one before."""
        part = self.part(self.chosen)
        if part is None or not part.removable or self.document.read_only:
            return
        number, at = next(
            (n, s.parts.index(one)) for n, s in enumerate(self.sections()) for one in s.parts if one.path == part.path
        )
        self.form.show_part(None)
        if self.document.remove(part.path, f"Remove {part.title}"):
            section = self.sections()[number]
            if section.parts:
                self.chosen = section.parts[min(at, len(section.parts) - 1)].path
            elif section.add:
                self._empty = section
        self.show_form()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What no field or table takes for itself."""
        if event.matches(QKeySequence.StandardKey.Delete) and self.parts.lines.hasFocus():
            self._remove()
        elif event.key() == Qt.Key.Key_F2:
            self.form.focus_first()
        else:
            super().keyPressEvent(event)
