"""The button that saves a prediction as an HTML page."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from workbench.api.window import Context
from workbench.gui.widgets import IconButton
from workbench.gui.widgets.save_name import beside_project
from workbench.predict.formulas import Evaluation


class PageButton(IconButton):
    """Asks for a file, and writes the page there; `values` is the model at the point that is shown, None for none."""

    def __init__(self, context: Context, values: Callable[[], Evaluation | None]) -> None:
        super().__init__("download", "Save this prediction as a page (HTML)", on=self._ask)
        self._context, self._values = context, values

    def _ask(self) -> None:
        values = self._values()
        if values is None:
            return
        path = beside_project(self, f"{values.model.name}.html")
        name, _ = QFileDialog.getSaveFileName(self, "Save prediction", path, "Web page (*.html)")
        if name:
            self._context.notices.attempt(lambda: _write(values, Path(name)))


def _write(values: Evaluation, path: Path) -> None:
    from workbench.predict.doubts import reading_notes
    from workbench.predict.html_page import html_page  # with its templates, which are read only where one is written
    from workbench.session.program.files import write_result_text

    write_result_text(path, html_page(values, reading_notes(values)))
