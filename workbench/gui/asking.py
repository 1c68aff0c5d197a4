"""What is opened and written by way of a file dialog."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.gui.context import Context
from workbench.session.examples import Example, copy_example
from workbench.session.files import write_result_text


class Asking:
    """Asks over `parent`; `run` runs what was opened."""

    def __init__(self, context: Context, run: Callable[[], None], parent: QWidget) -> None:
        self._context, self._run, self._parent = context, run, parent

    def _folder(self, title: str) -> Path | None:
        name = QFileDialog.getExistingDirectory(self._parent, title)
        return Path(name) if name else None

    def project(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self._parent, "Open project", "", "Projects (*.workbench.yaml)")
        if name:
            self._context.open_project(Path(name))

    def run(self) -> None:
        if folder := self._folder("Open run"):
            self._context.open_run(folder)

    def new_project(self) -> None:
        """Ask for a folder of sources, and show what a project of them would be."""
        if folder := self._folder("New from sources: the folder of host and hardware"):
            from workbench.gui.new_project import NewProject

            context = self._context
            NewProject(folder, context.plugins, context.background, context.open_project, self._parent).open()

    def copy_example(self, example: Example, run: bool) -> None:
        """Ask for a folder, copy the example there, open it, and run it if asked."""
        folder = self._folder(f"Copy {example.title} to")
        then = self._run if run else lambda: None
        if folder:
            self._context.notices.attempt(lambda: self._context.open_project(copy_example(example, folder), then))

    def report(self) -> None:
        opened = self._context.opened
        if opened is None:
            return
        from workbench.analysis.html_report import html_report  # its templates are read only where one is written

        name, _ = QFileDialog.getSaveFileName(self._parent, "Save report", "report.html", "Web page (*.html)")
        if name:
            page = html_report(opened.run, opened.analysis, opened.platform)
            self._context.notices.attempt(lambda: write_result_text(Path(name), page))
