"""Project mode: the parts of the open project's file, and the form of one."""

from collections.abc import Iterator
from pathlib import Path

from workbench.api.modes import WindowMode
from workbench.api.window import Context
from workbench.gui.modes.forms.mode import DocumentMode
from workbench.gui.modes.forms.parts import DocumentPart, PartSection
from workbench.gui.modes.project.parts import add_part, sections_of
from workbench.gui.widgets import PanelHeader, Split, plain_panel
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
