"""Platform mode: the parts of the template, the form of one, its transfer times as table and curve."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QMenu, QStackedLayout, QWidget

from workbench.analysis.rate_curves import best_band
from workbench.api.modes import WindowMode
from workbench.api.window import Context, PlotView
from workbench.formats import yaml_edit
from workbench.formats.units import written
from workbench.gui.frame.template_menu import fill_templates
from workbench.gui.modes.forms.mode import DocumentMode
from workbench.gui.modes.forms.parts import DocumentPart, PartSection
from workbench.gui.modes.platform.checking import TemplateCheck
from workbench.gui.modes.platform.foot import Foot
from workbench.gui.modes.platform.measuring import Measuring
from workbench.gui.modes.platform.pages import Pages
from workbench.gui.modes.platform.parts import add_part, rename_part, sections_of
from workbench.gui.modes.platform.points import fit_of, points_of, points_path, readable, table_plot
from workbench.gui.modes.platform.serving import Serving
from workbench.gui.modes.platform.table import PointTable
from workbench.gui.modes.platform.trying import TriedOn
from workbench.gui.widgets import Button, EmptyState, PanelHeader, Split, WholeLabel, plain_panel
from workbench.gui.widgets.boxes import column_layout
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.scan import ApiHeader
from workbench.model.text import counted
from workbench.session.begin.new_entries import api_headers, header_entries, header_of, with_entries
from workbench.session.edit.platform_document import PlatformDocument, starter
from workbench.session.edit.yaml_document import Path_
from workbench.system.files import read_file

LOW_PX = 480  # a lower mode has the list of what the template can serve folded
_FIT_TIP = "Latency and bandwidth, fitted to the points with a source; the column Fit error shows each point's distance"


class PlatformMode(DocumentMode):
    """Edits the open project's platform template, or another."""

    file_names = "Platform templates (*.yaml)"
    document: PlatformDocument

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind, PlatformDocument(context.plugins, context.notices.tell))
        self.shown_table = ""

    def act(self) -> None:
        self.new_document()

    def build(self) -> Iterator[None]:
        form = self.make_form()
        yield
        self.table = PointTable(self.document)
        yield
        self.curve = PlotView("Transfer rate by size", 250)
        yield
        parts = self._parts_panel()
        yield
        self.trying = TriedOn(self.context, self.document)
        below_form = form.layout()
        assert below_form is not None
        below_form.addWidget(self.trying)
        self.use_button = Button("Use here", on=self.use_in_project)
        self.use_button.setToolTip("The open project then uses this platform")
        for widget in (self.undo_button, self.problem_button, self.use_button, self.save_button):
            self.form_head.add(widget)
        yield
        table = self._table_panel()
        yield
        self.pages = Pages(parts, (form, self.form_head), (table, self.table_head))
        self.set_content(self.pages)
        yield
        self._connect()
        yield
        self._workspace_changed()
        yield
        if self.document.path is not None:  # parts of what follows, each in its own turn
            self.parts.show_sections(self.sections(), self.document)
            yield
            self._show_table("")
            yield
        self.document.changed.connect(self._document_changed)
        self._document_changed()
        yield

    def _connect(self) -> None:
        context = self.context
        self.curve.problem.connect(context.notices.tell)
        self.serving.wanted.connect(self.show_place)
        self.trying.opened.connect(context.navigation.open_line)
        self.table.hovered.connect(self._row_hovered)
        self.table.refused.connect(context.notices.tell)
        self.curve.pointed.connect(self._point_hovered)
        self.curve.lifted.connect(self._point_lifted)
        self.follow(context.workspace_changed, self._workspace_changed)
        context.documents.commit_wanted.connect(self.table.commit)
        self.form.renamed.connect(self._rename)
        self.check = TemplateCheck(context, self.document, self.form)
        self.check.checked.connect(self.show_form)
        self.setFocusProxy(self.parts)

    # ---- what a template is

    def sections(self) -> tuple[PartSection, ...]:
        return sections_of(self.document)

    def add_part(self, what: str, kind: str) -> Path_ | None:
        return add_part(self.document, what, kind)

    def starter(self, path: Path) -> str:
        return starter(path.name.partition(".")[0])

    def save_copy(self) -> bool:
        """The project then uses the copy."""
        done = self.duplicate() and self.use_in_project()
        if done and self.document.path is not None:
            said = f"the copy is {self.document.path.name}, and the project uses it now"
            self.context.notices.tell(Diagnostic(said, "", Severity.NOTE))
        return done

    def choose(self, path: Path_) -> None:
        super().choose(path)
        part = self.part(self.chosen)
        self.pages.turn_to(table=bool(part and part.table))

    def show_place(self, path: Path_) -> bool:
        shown = super().show_place(path)
        if any(path[: len(row.path)] == row.path for row in self.form.rows):
            self.pages.turn_to(table=False)
            self.form.show_field(path)
        return shown

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.serving.fold(self.height() < LOW_PX)

    def first_part(self, parts: list[DocumentPart]) -> DocumentPart | None:
        """A call that sends, or else the first part."""
        calls = [p for p in parts if p.path[:2] == ("host", "entries")]
        return next(iter([*(p for p in calls if "send" in p.value), *calls, *parts]), None)

    # ---- arrangement

    def _parts_panel(self) -> QWidget:
        """The list of parts, over what the template can serve."""
        panel, column = plain_panel(212)
        self.list_head = PanelHeader("Platform")
        self.builtin_menu = QMenu("Open a built-in template", self)
        bundled = (support.template for support in self.context.plugins.platforms.values())
        fill_templates(self.builtin_menu, (), bundled, self.open_document, None)
        self.list_head.add(files := self.files_button())
        files.menu().addMenu(self.builtin_menu)
        self.builtin_button = Button("Built-in templates", kind="link")
        self.builtin_button.setMenu(self.builtin_menu)
        self.empty.put_below(self.builtin_button)
        column.addWidget(self.list_head)
        column.addWidget(self.parts, 1)
        self.calls_foot = Foot("From a header", "download", "Ctrl+V pastes one")
        self.calls_foot.button.clicked.connect(self.ask_header)
        column.addWidget(self.calls_foot)
        self.serving = Serving(self.context, self.document)
        column.addWidget(self.serving)
        return panel

    def _table_panel(self) -> QWidget:
        panel, column = plain_panel(340)
        self.table_head = PanelHeader("Transfer times")
        self.measuring = Measuring(self.context, self.document)
        self.measuring.changed.connect(self._head_table)
        self.table_head.add(self.measuring.button)
        column.addWidget(self.table_head)
        self._no_table = EmptyState(
            "table-2", "No transfer times", "This platform has no transfer table yet.", "Add a table"
        )
        self._no_table.button.clicked.connect(lambda: self._add("transfer table"))
        shown = QWidget()
        self._table_pages = QStackedLayout(shown)
        self._table_pages.setContentsMargins(0, 0, 0, 0)
        above = QWidget()
        self.fit_words = WholeLabel("", "smallsecond")
        self.fit_words.setToolTip(_FIT_TIP)
        column_layout(self.curve, self.fit_words, of=above, margins=(16, 10, 16, 8), spacing=4)
        self._table_pages.addWidget(Split((above, 330), (self.table, 480), vertical=True))
        self._table_pages.addWidget(self._no_table)
        column.addWidget(shown, 1)
        self.foot = Foot("Add size", "plus", "Ctrl+V pastes a spreadsheet's rows over the table")
        self.foot.button.clicked.connect(self.table.add_point)
        column.addWidget(self.foot)
        return panel

    def _rename(self, path: Path_, name: str) -> None:
        if rename_part(self.document, path, name):
            self.choose((*path[:-1], name))

    # ---- host calls from a header

    def ask_header(self) -> None:
        names = f"Headers ({' '.join(f'*{suffix}' for suffix in api_headers())})"
        folder = self.document.path.parent if self.document.path else Path.cwd()
        name, _ = QFileDialog.getOpenFileName(self, "Add host calls from a header", str(folder), names)
        if name:
            self.add_calls(Path(name))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What no field or table takes for itself."""
        if event.matches(QKeySequence.StandardKey.Paste):
            self.paste_calls(QGuiApplication.clipboard().text())
        else:
            super().keyPressEvent(event)

    def begin(self, path: Path) -> bool:
        begun = super().begin(path)
        self.parts.lines.setFocus()
        return begun

    def paste_calls(self, text: str) -> None:
        """Add an entry for each function that a pasted text declares."""
        if text.strip() and self.document.path is not None:
            self.add_calls(self.document.path.with_name("pasted.h"), text)

    def add_calls(self, header: Path, text: str | None = None) -> None:
        """Add an entry for each function of a header that has none yet, by one step; the first of them is shown."""
        document, path, notices = self.document, self.document.path, self.context.notices
        if path is None or document.read_only:
            notices.tell(Diagnostic("this template is not changed", "Save a copy, and add the calls to that."))
            return

        def work() -> tuple[list[dict[str, Any]], ApiHeader, Path | None]:
            entries, read = header_entries(self.context.plugins, header, text)
            return entries, read, header if text is None else header_of(text, self.context.root() or path.parent)

        def done(answer: tuple[list[dict[str, Any]], ApiHeader, Path | None]) -> None:
            entries, read, named = answer
            if document.path != path:
                return
            before, added = len(document.value(("host", "entries")) or ()), 0

            def edit(old: str) -> str:
                nonlocal added
                new, those = with_entries(old, entries, path, named)
                added = len(those)
                return new

            document.apply(f"Add {counted(len(entries), 'host call')}", edit)
            if added:
                self.choose(("host", "entries", before))
            else:
                notices.tell(Diagnostic("no host call was added: the template already has them all", "", Severity.NOTE))
            notices.tell(*read.diagnostics)

        self.context.background.start("header", work, done, self.context.failed)

    # ---- what is shown

    def _workspace_changed(self) -> None:
        """Another project's platform; one that was only read again is shown anew where it was changed elsewhere."""
        workspace, other = self.context.workspace, self.is_other_project()
        if workspace is None:
            self.document.close()
        elif other or (
            self.document.path == workspace.platform_path and self.document.changed_on_disk and not self.document.dirty
        ):
            self.open_document(workspace.platform_path)
        else:
            self._document_changed()

    def retheme(self) -> None:
        self._document_changed()

    def _document_changed(self) -> None:
        if self.document.path is None:
            self.show_nothing()
            return
        self.show_content()
        title = self.document.value(("title",)) or self.document.value(("name",)) or self.document.path.name
        self.list_head.set_title(str(title), "")
        self.calls_foot.setVisible(not self.document.read_only)
        self.show_form()

    def show_form(self) -> None:
        """A call's transfer table is beside its form; where the part has none, the table shown stays."""
        super().show_form()
        part = self.part(self.chosen)
        name = part.table if part else ""
        if part and part.path[:2] == ("host", "entries"):
            name = str(self.document.value((*part.path, "transfer")) or "")
        self._show_table(name or self.shown_table)

    def write_heads(self) -> None:
        super().write_heads()
        workspace, document = self.context.workspace, self.document
        used = workspace is None or document.path in (None, workspace.platform_path)
        self.use_button.setVisible(not used and not document.errors)

    def status_words(self) -> tuple[str, ...]:
        sections = {s.title: s.parts for s in self.sections()}
        sizes = sum(len(points_of(self.document, p.table)) for p in sections["Transfer times"])
        schema = self.document.value(("schema_version",))
        return f"{len(sections['Host calls'])} entries, {sizes} transfer times", f"schema {schema}"

    def _show_table(self, name: str) -> None:
        tables = self.document.value(("transfer_tables",))
        names = [str(n) for n in tables] if isinstance(tables, dict) else []
        if name not in names:
            name = names[0] if names else ""
        self.shown_table = name
        self._table_pages.setCurrentIndex(0 if name else 1)
        self.foot.setVisible(bool(name) and not self.document.read_only)
        self._head_table()
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
        movable = not self.document.read_only
        fit = fit_of(points)
        self.fit_words.setText(f"Fit: {fit.words}" if fit else "")
        self.fit_words.setVisible(fit is not None)
        self.curve.show_plot(table_plot(name, points, beside, others, band, movable, fit))

    def _head_table(self) -> None:
        name, said = self.shown_table, self.measuring.said
        serves = "used by suggestions, predictions and the simulated card"
        self.table_head.set_title(f"Transfer times{': ' + name if name else ''}", said or serves)

    def _row_hovered(self, row: int) -> None:
        rows = readable(points_of(self.document, self.shown_table)) if self.shown_table else []
        self.curve.ring((0, rows.index(row)) if row in rows else None)

    def _point_lifted(self, line: int, point: int, rate_bytes_per_s: float) -> None:
        """A point dragged to another rate: its size stays, its time becomes what that rate takes."""
        points = points_of(self.document, self.shown_table)
        row = readable(points)[point]
        time_s = (points[row].size or 0.0) / rate_bytes_per_s
        path = (*points_path(self.shown_table), row, "time_s")
        self.document.set(path, written(float(f"{time_s:.4g}"), "s"), f"Change the time in row {row + 1}")

    def _point_hovered(self, line: int, point: int) -> None:
        rows = readable(points_of(self.document, self.shown_table)) if line == 0 else []
        self.table.set_hovered(rows[point] if line == 0 else -1)
        self.curve.ring((0, point) if line == 0 else None)

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
