"""Platform mode: the parts of the template, the form of one, its transfer times as table and curve."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from workbench.analysis.rate_curves import best_band
from workbench.api.modes import WindowMode
from workbench.formats import yaml_edit
from workbench.gui.context import Context
from workbench.gui.mode import Mode
from workbench.gui.platform.form import PartForm
from workbench.gui.platform.part_list import PartList
from workbench.gui.platform.parts import Part, add_part, sections_of
from workbench.gui.platform.points import points_of, readable, table_plot
from workbench.gui.platform.table import PointTable
from workbench.gui.plot_view import PlotView
from workbench.gui.theme import set_ground
from workbench.gui.widgets import (
    Button,
    EmptyState,
    IconButton,
    PanelHeader,
    Split,
    label,
    rule,
    set_role,
)
from workbench.session.files import write_atomically
from workbench.session.platform_document import PlatformDocument, starter
from workbench.session.yaml_document import Path_
from workbench.system.files import read_file


class PlatformMode(Mode):
    """Edits the open project's platform template, or another."""

    file_names = "Platform templates (*.yaml)"

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind)
        self.document = PlatformDocument(context.plugins, context.notices.tell)
        context.documents.add(self.document)
        self.list = PartList()
        self.form = PartForm(self.document)
        self.table = PointTable(self.document)
        self.curve = PlotView("Transfer rate by size", 250)
        self.curve.problem.connect(context.notices.tell)
        self.chosen: Path_ | None = None  # of the part shown
        self._project: Path | None = None
        self.shown_table = ""
        self.set_content(self._build())
        self.document.changed.connect(self._document_changed)
        self.list.chosen.connect(self.choose)
        self.list.add_wanted.connect(self._add)
        self.table.hovered.connect(self._row_hovered)
        self.curve.pointed.connect(self._point_hovered)
        context.workspace_changed.connect(self._workspace_changed)
        context.theme_changed.connect(self._document_changed)
        context.documents.commit_wanted.connect(self._commit)
        self.document.stepped.connect(lambda: self._write_heads(self._part(self.chosen)))
        self.setFocusProxy(self.list)

    def build(self) -> Iterator[None]:
        self._workspace_changed()
        yield

    # ---- arrangement

    def _build(self) -> QWidget:
        return Split((self._list_panel(), 280), (self._form_panel(), 560), (self._table_panel(), 696), kept=[0])

    def _list_panel(self) -> QWidget:
        panel, column = _panel(200)
        self.list_head = PanelHeader("Platform")
        self.list_head.add(self.files_button())
        column.addWidget(self.list_head)
        column.addWidget(self.list, 1)
        return panel

    def _form_panel(self) -> QWidget:
        panel, column = _panel(300)
        self.form_head = PanelHeader("", "", 20)
        self.remove = IconButton("trash-2", "Remove this from the platform")
        self.remove.clicked.connect(self._remove)
        self.undo_button = IconButton("undo-2", "Undo (Ctrl+Z)")
        self.undo_button.clicked.connect(self.document.history.undo)
        self.why = label("", "high")
        self.use_button = Button("Use here")
        self.use_button.setToolTip("The project that is open then names this platform")
        self.use_button.clicked.connect(self.use_in_project)
        self.save_button = Button("Save")
        self.save_button.clicked.connect(self.save)
        for widget in (self.remove, self.undo_button, self.why, self.use_button, self.save_button):
            self.form_head.add(widget)
        column.addWidget(self.form_head)
        self.read_only_note = QWidget()
        set_ground(self.read_only_note, "sunken")
        row = QHBoxLayout(self.read_only_note)
        row.setContentsMargins(20, 8, 16, 8)
        row.addWidget(
            label(
                "This template belongs to the workbench and is not changed. Save a copy to edit it.",
                "smallsecond",
                wrap=True,
            ),
            1,
        )
        column.addWidget(self.read_only_note)
        column.addWidget(self.form, 1)
        return panel

    def _table_panel(self) -> QWidget:
        panel, column = _panel(340)
        self.table_head = PanelHeader("Transfer times")
        column.addWidget(self.table_head)
        self._no_table = EmptyState(
            "table-2", "No transfer times", "This platform has no transfer table yet.", "Add a table"
        )
        self._no_table.button.clicked.connect(lambda: self._add("transfer table"))
        shown = QWidget()
        self._table_pages = QStackedLayout(shown)
        self._table_pages.setContentsMargins(0, 0, 0, 0)
        above = QWidget()
        inner = QVBoxLayout(above)
        inner.setContentsMargins(16, 10, 16, 8)
        inner.addWidget(self.curve)
        self._table_pages.addWidget(Split((above, 330), (self.table, 480), vertical=True))
        self._table_pages.addWidget(self._no_table)
        column.addWidget(shown, 1)
        column.addWidget(rule())
        foot = QWidget()
        foot.setFixedHeight(40)
        row = QHBoxLayout(foot)
        row.setContentsMargins(16, 0, 16, 0)
        self.add_size = Button("Add size", "plus", kind="link")
        self.add_size.clicked.connect(self.table.add_point)
        row.addWidget(self.add_size)
        row.addStretch(1)
        self.paste_hint = label("Ctrl+V pastes a spreadsheet's rows over the table", "small")
        row.addWidget(self.paste_hint)
        column.addWidget(foot)
        return panel

    # ---- what is shown

    def _workspace_changed(self) -> None:
        """Another project's platform; one that was only read again is shown anew where it was changed elsewhere."""
        workspace = self.context.workspace
        path = workspace.path if workspace else None
        other, self._project = path != self._project, path
        if workspace is None:
            self.document.close()
        elif other or (self.document.path == workspace.platform_path and self.document.changed_on_disk):
            self.open_document(workspace.platform_path)
        else:
            self._document_changed()

    @property
    def shown_document(self) -> PlatformDocument | None:
        return self.document if self.document.path is not None else None

    def open_document(self, path: Path) -> None:
        """Edit a template, whether a project uses it or not."""
        if not self.context.documents.may_leave([self.document]):
            return
        self.chosen, self.shown_table = None, ""
        self.document.open(path)

    def restore(self, path: Path, text: str) -> bool:
        self.open_document(path)
        if self.document.path != path:
            return False
        self.document.replace("restore unsaved changes", text)
        return True

    def choose(self, path: Path_) -> None:
        """Show the form of a part; a call's transfer table with it."""
        self.form.commit()
        self.chosen = path
        part = self._part(path)
        self.form.show_part(part)
        self._write_heads(part)
        self.list.set_current(path)
        self._show_table(self._table_of(part))

    def _part(self, path: Path_ | None) -> Part | None:
        """The part at a path; where none is, a call that sends, or else the first part."""
        parts = [p for s in sections_of(self.document) for p in s.parts]
        calls = [p for p in parts if p.path[:2] == ("host", "entries")]
        wanted = ([p for p in parts if p.path == path], [p for p in calls if "send" in p.note], calls, parts)
        return next((found[0] for found in wanted if found), None)

    def _table_of(self, part: Part | None) -> str:
        """The transfer table that belongs to a part, or else the one that is shown."""
        if part and part.path[:2] == ("host", "entries"):
            return str(self.document.value((*part.path, "transfer")) or "") or self.shown_table
        return (part.table if part else "") or self.shown_table

    def _document_changed(self) -> None:
        if self.document.path is None:
            self.show_nothing()
            return
        self.show_content()
        title = self.document.value(("title",)) or self.document.value(("name",)) or self.document.path.name
        self.list_head.set_title(str(title), "")
        self.list.show_sections(sections_of(self.document), self.document)
        part = self._part(self.chosen)
        if self.form.part is None or part is None or part.path != self.chosen:
            self.form.show_part(part)
            self.chosen = part.path if part else None
            self.shown_table = self._table_of(part)
        else:
            self.form.read()
        self._write_heads(part)
        self.list.set_current(self.chosen or ())
        self._show_table(self.shown_table)
        self._write_status()

    def _write_heads(self, part: Part | None) -> None:
        document = self.document
        self.form_head.set_title(part.title if part else "", part.what if part else "")
        self.remove.setVisible(bool(part and part.removable and not document.read_only))
        undo = document.history.undo_label
        self.undo_button.setEnabled(document.history.can_undo)
        self.undo_button.setToolTip(f"Undo: {undo} (Ctrl+Z)" if undo else "Nothing to undo")
        workspace = self.context.workspace
        used = workspace is None or document.path in (None, workspace.platform_path)
        self.use_button.setVisible(not used and not document.errors)
        errors = len(document.errors)
        self.read_only_note.setVisible(document.read_only)
        self.save_button.setText("Save as copy" if document.read_only else "Save")
        in_project = self.context.workspace is not None
        self.save_button.setEnabled(not errors and (in_project if document.read_only else document.dirty))
        self.save_button.setToolTip(
            "Writes it beside the project, which then uses the copy"
            if document.read_only
            else "Ctrl+S. Comments and layout are kept."
        )
        if errors:
            self.why.setText(f"{errors} problem{'s' if errors > 1 else ''} to mend first")
        else:
            self.why.setText("edited" if document.dirty else "")
        set_role(self.why, "high" if errors else "small")

    def _show_table(self, name: str) -> None:
        tables = self.document.value(("transfer_tables",))
        names = [str(n) for n in tables] if isinstance(tables, dict) else []
        if name not in names:
            name = names[0] if names else ""
        self.shown_table = name
        self._table_pages.setCurrentIndex(0 if name else 1)
        for widget in (self.add_size, self.paste_hint):
            widget.setVisible(bool(name) and not self.document.read_only)
        self.table_head.set_title(
            f"Transfer times{': ' + name if name else ''}", "serves suggestions, predictions and the simulated card"
        )
        self.table.show_table(name)
        if not name:
            return
        mine = self.document.value(("transfer_tables", name, "direction"))
        other_way = (n for n in names if self.document.value(("transfer_tables", n, "direction")) != mine)
        beside = next((n for n in other_way if len(points_of(self.document, n)) > 1), "")
        platform = self.document.platform
        band = None
        if platform and name in platform.transfer_tables and len(platform.transfer_tables[name].points) > 1:
            band = best_band(platform.transfer_tables[name])
        points, others = points_of(self.document, name), points_of(self.document, beside) if beside else ()
        self.curve.show_plot(table_plot(name, points, beside, others, band))

    def _row_hovered(self, row: int) -> None:
        rows = readable(points_of(self.document, self.shown_table)) if self.shown_table else []
        self.curve.ring((0, rows.index(row)) if row in rows else None)

    def _point_hovered(self, line: int, point: int) -> None:
        rows = readable(points_of(self.document, self.shown_table)) if line == 0 else []
        self.table.set_hovered(rows[point] if line == 0 else -1)
        self.curve.ring((0, point) if line == 0 else None)

    def _write_status(self) -> None:
        document = self.document
        sections = {s.title: s.parts for s in sections_of(document)}
        sizes = sum(len(points_of(document, p.table)) for p in sections["Transfer times"])
        count = len(document.errors)
        first = document.errors[0] if count else None
        self.say_status(
            *((f"{count} problem{'s' if count > 1 else ''}: line {first.line}",) if first else ()),
            f"{len(sections['Host calls'])} entries, {sizes} transfer times",
            f"schema {document.value(('schema_version',))}",
            "read only" if document.read_only else "not saved" if document.dirty else "saved",
        )

    # ---- changes

    def _add(self, what: str) -> None:
        path = add_part(self.document, what)
        if path is not None:
            self.choose(path)

    def _remove(self) -> None:
        part = self._part(self.chosen)
        if part and part.removable:
            self.chosen = ()
            self.document.remove(part.path, f"Remove {part.title}")

    def _commit(self) -> None:
        self.form.commit()
        self.table.commit()

    def save(self) -> bool:
        """Save, or for a template of the workbench save a copy that the project then uses."""
        if not self.document.read_only:
            return super().save()
        return self.context.workspace is not None and self.duplicate() and self.use_in_project()

    def begin(self, path: Path) -> bool:
        text = starter(path.name.partition(".")[0])
        if not self.context.notices.attempt(lambda: write_atomically(path, text)):
            return False
        self.open_document(path)
        return self.document.path == path

    def use_in_project(self) -> bool:
        """Have the open project name this template. False, with a notice, where its file cannot be changed."""
        workspace, path = self.context.workspace, self.document.path
        if workspace is None or path is None:
            return False
        if self.document.dirty and not self.context.documents.save(self.document):
            return False
        supported = self.context.plugins.platforms.items()
        name = next((name for name, support in supported if support.template == path), "")
        if not name:
            name = str(path.relative_to(workspace.root) if path.is_relative_to(workspace.root) else path)

        def change() -> None:
            old = read_file(workspace.path).decode("utf-8-sig")
            yaml_edit.write_checked(workspace.path, old, yaml_edit.set_value(old, ("platform",), name))

        done = self.context.notices.attempt(change)
        self.context.when_current()
        return done


def _panel(least: int) -> tuple[QWidget, QVBoxLayout]:
    panel = QWidget()
    set_ground(panel, "panel")
    panel.setMinimumSize(QSize(least, 100))
    column = QVBoxLayout(panel)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    return panel, column
