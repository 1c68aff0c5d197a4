"""Opens projects, runs, models and other files in the window, and prepares data for the next views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from workbench.gui.frame.context import Context
from workbench.model.diagnostic import Diagnostic
from workbench.session.open.project_path import PROJECT_SUFFIX
from workbench.system.files import real

if TYPE_CHECKING:
    from workbench.gui.modes.mode import Mode
    from workbench.gui.open.asking import Asking

_OF_RUNS = ("workbench.session.make.pipeline", "workbench.session.make.proving", "workbench.formats.run_folder")


class Opening:
    """Opens projects, runs, models, traces, templates and sources in a window.

    `show_mode` shows a mode by its name, `whole_mode` gives it without showing it; both give None where it fails.
    """

    def __init__(
        self,
        context: Context,
        asking: Asking,
        show_mode: Callable[[str], Mode | None],
        whole_mode: Callable[[str], Mode | None],
    ) -> None:
        self._context, self._asking, self._show_mode, self._whole_mode = context, asking, show_mode, whole_mode

    def open(self, path: Path, runs: Sequence[Path] = ()) -> None:
        """A project with `runs` outside of it, of which the first is shown; a run; or another file."""
        if path.is_dir() and (path / "manifest.json").is_file():
            self._context.open_run(path)
            self._context.navigation.set_mode("analyse")
        elif path.is_file() and not path.name.endswith(PROJECT_SUFFIX):
            self.file(path)
        else:
            self._context.open_project(path, runs=runs)
            if runs:
                self._context.navigation.set_mode("analyse")

    def file(self, path: Path) -> None:
        """What is no project, by how its name ends: a model, another program's trace, or a platform template."""
        plugins, asking, named = self._context.plugins, self._asking, path.name.lower()
        if named.endswith(tuple(f".{kind}.yaml" for kind in plugins.model_kinds)):
            self._document("predict", path)
        elif importer := next((i for i in plugins.importers.values() if named.endswith(i.suffixes)), None):
            QTimer.singleShot(0, self._context, lambda: asking.import_file(importer, path))  # asks, once the window is
        elif named.endswith((".yaml", ".yml")):
            self._document("platform", path)
        elif self._context.workspace is not None and _is_source(path):
            self._context.navigation.open_line(str(path), 1)
        else:
            hint = f"Projects (*{PROJECT_SUFFIX}), run folders, models, traces and platform templates (*.yaml) are."
            self._context.notices.tell(Diagnostic("the window cannot open files of this kind", hint, file=str(path)))

    def _document(self, mode_name: str, path: Path) -> None:
        """A mode's document, with or without a project."""
        if (mode := self._show_mode(mode_name)) is not None:
            mode.open_document(real(path))

    def line(self, file: str, line: int) -> None:
        if (mode := self._whole_mode("source")) is not None:
            mode.open_line(self._context.resolve(file), line)

    def pragma(self) -> None:
        """Ask for a pragma at the line in view, once the mode is shown."""
        if (mode := self._whole_mode("source")) is not None:
            QTimer.singleShot(0, mode, mode.insert_pragma)


def _is_source(path: Path) -> bool:
    from workbench.api.languages import syntax_of

    return syntax_of(path) is not None


class ReadAhead:
    """Reads in the background what the other modes, runs and proofs need, once `has_content`."""

    def __init__(self, context: Context, has_content: Callable[[], bool]) -> None:
        self._context, self._has_content, self._begun = context, has_content, False

    def start(self) -> None:
        if not self._begun and self._has_content():
            self._begun = True
            self._context.code.start("modes", self._read, lambda _: None, self._context.failed)

    def _read(self) -> None:
        plugins = self._context.plugins
        for mode in plugins.modes.values():
            view: type[Mode] = mode.view()
            view.read_ahead(plugins)
        for module in _OF_RUNS:
            import_module(module)
