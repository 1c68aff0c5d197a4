"""What is opened and written by way of a file dialog."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.api import Exporter, Importer
from workbench.gui.frame.context import Context
from workbench.gui.open.folder_dialog import FolderDialog
from workbench.gui.run.run_control import RunControl
from workbench.gui.widgets.save_name import beside_project
from workbench.model.diagnostic import Diagnostic
from workbench.session.open.examples import Example, copy_example
from workbench.session.program.files import write_result_text
from workbench.session.program.settings import projects_folder


class Asking:
    """Asks over `parent`; `control` runs what was opened."""

    def __init__(self, context: Context, control: RunControl, parent: QWidget) -> None:
        self._context, self._control, self._parent = context, control, parent

    def _folder(self, title: str) -> Path | None:
        name = QFileDialog.getExistingDirectory(self._parent, title, projects_folder())
        return Path(name) if name else None

    def _new_folder(self, title: str) -> Path | None:
        """A folder that may be typed and need not be there yet."""
        dialog = FolderDialog(title, self._parent)
        return dialog.folder if dialog.exec() else None

    def project(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self._parent, "Open project", projects_folder(), "Projects (*.workbench.yaml)"
        )
        if name:
            self._context.open_project(Path(name))

    def run(self) -> None:
        if folder := self._folder("Open run"):
            self._context.open_run(folder)

    def new_project(self) -> None:
        """Ask for a folder of sources, and show what a project of them would be."""
        if folder := self._folder("New from sources: the folder of host and hardware"):
            from workbench.gui.open.new_project import NewProject

            context = self._context
            NewProject(folder, context.plugins, context.background, context.open_project, self._parent).open()

    def copy_example(self, example: Example, run: bool) -> None:
        """Ask for a folder, copy the example there, open it, and run it if asked."""
        folder = self._new_folder(f"Copy {example.title} into a folder")
        then = self._control.run if run else lambda: None
        if folder:
            self._context.notices.attempt(lambda: self._context.open_project(copy_example(example, folder), then))

    def report(self) -> None:
        opened = self._context.opened
        if opened is None:
            return
        from workbench.analysis.html_report import html_report  # its templates are read only where one is written
        from workbench.session.make.scaling import scaling_of

        path = beside_project(self._parent, "report.html")
        name, _ = QFileDialog.getSaveFileName(self._parent, "Save report", path, "Web page (*.html)")
        if name:
            page = html_report(opened.run, opened.analysis, opened.platform, scaling=scaling_of(opened.run))
            self._context.notices.attempt(lambda: write_result_text(Path(name), page))

    def instrument(self) -> None:
        """Ask for a folder, and write the project's instrumented copies there."""
        if folder := self._new_folder("Instrument into an empty folder"):
            self._control.instrument(folder)

    def import_run(self, importer: Importer) -> None:
        """Ask for another program's file, and import it."""
        kinds = f"{importer.title} ({' '.join(f'*{suffix}' for suffix in importer.suffixes)})"
        name, _ = QFileDialog.getOpenFileName(self._parent, "Import", beside_project(self._parent, ""), kinds)
        if name:
            self.import_file(importer, Path(name))

    def import_file(self, importer: Importer, file: Path) -> None:
        """Ask for a run folder, and read another program's file as a run there."""
        from workbench.session.keep.exchange import import_run

        workspace = self._context.workspace
        folder = workspace.next_run_folder() if workspace else file.with_name(f"{file.stem}-run")
        out, _ = QFileDialog.getSaveFileName(self._parent, "Import as run folder", str(folder))
        if out:
            plugins = self._context.plugins
            self._control.start_job(
                "Import", file.name, lambda job: import_run(file, importer.name, Path(out), plugins, job)[0]
            )

    def export_run(self, exporter: Exporter) -> None:
        """Ask for a file, and write the open run there for another program."""
        from workbench.session.keep.exchange import export_run

        run = self._context.run
        if run is None or run.path is None:
            return
        kinds = f"{exporter.title} (*{exporter.suffix})"
        out = beside_project(self._parent, f"{run.path.name}{exporter.suffix}")
        name, _ = QFileDialog.getSaveFileName(self._parent, "Export", out, kinds)
        if name:
            path, plugins, context = run.path, self._context.plugins, self._context

            def done(problems: tuple[Diagnostic, ...]) -> None:
                context.notices.tell(*problems)

            context.background.start(
                "export", lambda: export_run(path, exporter.name, Path(name), plugins), done, context.failed
            )
