"""Project mode: the parts of the open project's file, and the form of one."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from workbench.api.modes import WindowMode
from workbench.api.window import Context, set_ground
from workbench.gui.modes.forms.field_row import plain
from workbench.gui.modes.forms.mode import DocumentMode
from workbench.gui.modes.forms.part_list import with_article
from workbench.gui.modes.forms.parts import DocumentPart, PartSection
from workbench.gui.modes.project.parts import add_part, sections_of
from workbench.gui.widgets import Button, PanelHeader, Split, label, plain_panel
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.session.edit.origins import Origin, unset_origin
from workbench.session.edit.project_document import ProjectDocument
from workbench.session.edit.yaml_document import Path_


class ProjectMode(DocumentMode):
    """Edits the open project's file."""

    document: ProjectDocument

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind, ProjectDocument(context.notices.tell, context.plugins.platforms))
        self.origin_of = self._origin
        form = self.make_form()
        self.form.foot = self._optional
        self.remove.setToolTip("Remove this from the project (Delete, in the list)")
        for widget in (self.undo_button, self.problem_button, self.save_button):
            self.form_head.add(widget)
        parts, column = plain_panel(212)
        self.list_head = PanelHeader("Project")
        column.addWidget(self.list_head)
        column.addWidget(self.parts, 1)
        self.set_content(Split((parts, 280), (form, 900), kept=[0]))
        self.follow(context.workspace_changed, self._workspace_changed)
        self.setFocusProxy(self.parts)

    def build(self) -> Iterator[None]:
        self._workspace_changed()
        yield
        self.document.changed.connect(self._document_changed)
        self._document_changed()
        yield

    def sections(self) -> tuple[PartSection, ...]:
        return sections_of(self.document, self.context.plugins)

    def page_of(self, part: DocumentPart) -> tuple[DocumentPart, ...]:
        """All pages that every project has are one; the list leads to their places in it."""
        pages = tuple(
            one for section in self.sections() if not section.add for one in section.parts if not one.removable
        )
        return pages if part in pages else (part,)

    def _optional(self) -> QWidget:
        """What this project has none of, at the end of its page: what each is for, and a button that adds one."""
        absent = [section for section in self.sections() if section.add and not section.parts]
        foot, head, grid = QWidget(), QWidget(), QGridLayout()
        row_layout(label("Not used here", "title"), (label("parts that a project can have", "small"), 1), of=head,
                   margins=(16, 8, 0, 8), spacing=10)  # fmt: skip
        set_ground(head, "sunken")
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(10)
        grid.setColumnStretch(2, 1)
        for number, section in enumerate(absent):
            add = Button(f"Add {with_article(section.add)}", kind="link", on=partial(self._add, section.add))
            grid.addWidget(label(section.title, "strong"), number, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(add, number, 1, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(label(plain(section.about), "small", wrap=True), number, 2)
        column_layout(head, grid, of=foot, margins=(0, 8, 0, 0), spacing=10)
        if not absent:
            head.hide()
        return foot

    def add_part(self, what: str, kind: str) -> Path_ | None:
        return add_part(self.document, what)

    def starter(self, path: Path) -> str:
        return self.document.text

    def _origin(self, path: Path_) -> Origin:
        """What is in force of a field that the project does not set."""
        workspace = self.context.workspace
        return unset_origin(path, workspace.platform if workspace else None, workspace.root if workspace else None)

    def _workspace_changed(self) -> None:
        """Another project's file; one that was only read again is shown anew where it was changed elsewhere."""
        workspace, other = self.context.workspace, self.is_other_project()
        if workspace is None:
            self.document.close()
        elif other or (self.document.changed_on_disk and not self.document.dirty):
            self.open_document(workspace.path)
        else:
            self._document_changed()

    def _document_changed(self) -> None:
        if self.document.path is None:
            self.show_nothing()
            return
        self.show_content()
        title = self.document.value(("title",)) or self.document.value(("name",)) or self.document.path.name
        self.list_head.set_title(str(title), "")
        self.show_form()
