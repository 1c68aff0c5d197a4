"""The breadcrumb in the window's head: project, run and range, each with a menu to choose another."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from workbench.formats.heads import head_of
from workbench.gui.frame.context import Context
from workbench.gui.frame.header import Crumb, Header
from workbench.gui.frame.naming import folder_title, range_title, run_detail, run_title
from workbench.gui.frame.template_menu import fill_templates
from workbench.model.diagnostic import WorkbenchError
from workbench.model.text import time_text
from workbench.session.open import recent

_MOST_RUNS, _MOST_DIFFERENT = 20, 3


class Breadcrumb(QObject):
    def __init__(self, context: Context, ask_project: Callable[[], None], show_range: Callable[[], None]) -> None:
        super().__init__(context)
        self._context, self._ask_project, self._show_range = context, ask_project, show_range
        self._project = Crumb(self._project_menu)
        self._run = Crumb(self._run_menu)
        self._range = Crumb(self._range_menu)
        self._platform = Crumb(self._platform_menu)
        self._named_template: Path | None = None  # by the crumb
        self.crumbs = (self._project, self._run, self._range, self._platform)
        context.documents.changed.connect(self._say_platform)
        context.navigation.range_changed.connect(lambda: self._range.say(range_title(context.navigation.time_range)))

    def update(self, header: Header) -> None:
        """Say what is open, as far as the mode shows of it."""
        context = self._context
        workspace, run = context.workspace, context.run
        self._project.say(workspace.project.name if workspace else "no project")
        self._run.say(run_title(run) if run else "No run yet", run_detail(run) if run else "")
        self._range.say(range_title(context.navigation.time_range))
        crumbs = context.plugins.modes[context.navigation.mode].crumbs
        in_platform = "platform" in crumbs and workspace is not None
        self._say_platform()
        header.show_crumb(self._run, not in_platform)
        header.show_crumb(self._range, run is not None and "range" in crumbs)
        header.show_crumb(self._platform, in_platform)

    def _platform_path(self) -> Path | None:
        """The template that Platform mode shows, or else the project's."""
        workspace = self._context.workspace
        shown = next((d.path for d in self._context.documents if d.kind == "platform" and d.path), None)
        return shown or (workspace.platform_path if workspace else None)

    def _say_platform(self) -> None:
        path = self._platform_path()
        if path is not None and path != self._named_template:
            self._named_template = path
            title = head_of(path).title
            self._platform.say(title or path.name, path.name if title else "")

    def _project_menu(self, menu: QMenu) -> None:
        context = self._context
        menu.addAction("Open project...").triggered.connect(lambda checked=False: self._ask_project())
        if context.workspace is not None:
            path = str(context.workspace.path)
            menu.addAction("Open project file").triggered.connect(
                lambda checked=False: context.navigation.open_line(path, 1)
            )
        menu.addAction("Close project").triggered.connect(lambda checked=False: context.leave())
        menu.addSeparator()
        for other in recent.recent():
            action = menu.addAction(f"{other.name}   {other.parent}")
            action.triggered.connect(lambda checked=False, p=other: context.open_path(p))

    def _run_menu(self, menu: QMenu) -> None:
        context = self._context
        shown = context.run.path if context.run else None
        for folder, line in _run_lines(context.run_folders()[-_MOST_RUNS:]):
            action = menu.addAction(line)
            action.setCheckable(True)
            action.setChecked(folder == shown)
            action.triggered.connect(lambda checked=False, f=folder: context.open_run(f))
        if menu.isEmpty():
            menu.addAction("No runs yet").setEnabled(False)

    def _range_menu(self, menu: QMenu) -> None:
        context = self._context
        whole = menu.addAction("Whole run")
        whole.setCheckable(True)
        whole.setChecked(context.navigation.time_range is None)
        whole.triggered.connect(lambda checked=False: context.choose_range(None))
        menu.addAction("Choose a range on the timeline").triggered.connect(
            lambda checked=False: context.navigation.set_mode("timeline")
        )
        if context.navigation.mode != "timeline":  # which shows it anyway
            menu.addAction("Contents of the range").triggered.connect(lambda checked=False: self._show_range())

    def _platform_menu(self, menu: QMenu) -> None:
        """The text of the template that is shown; the others of the project, and those of the workbench."""
        context, shown = self._context, self._platform_path()
        if context.workspace is None or shown is None:
            return
        menu.addAction("Open as text").triggered.connect(
            lambda checked=False: context.navigation.open_line(str(shown), 1)
        )
        menu.addSeparator()
        from workbench.session.edit.platform_document import templates_in  # with its readers: only where a menu opens

        own = (context.workspace.platform_path, *templates_in(context.workspace.root))
        bundled = (support.template for support in context.plugins.platforms.values())
        fill_templates(menu, own, bundled, context.navigation.document_wanted.emit, shown)


def _run_lines(folders: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """The runs, the last first, each with its name, what differs between them, its time, and when it started."""
    from workbench.analysis.compare_many import different_values, value_text  # only where a menu opens
    from workbench.formats.run_folder import manifest_in
    from workbench.model.run import PS_PER_S

    manifests = {}
    for folder in folders:
        with suppress(WorkbenchError):
            manifests[folder] = manifest_in(folder)
    values = dict(zip(manifests, different_values(list(manifests.values())), strict=True))
    named = len({manifest.name for manifest in manifests.values()}) > 1
    for folder in reversed(folders):
        manifest = manifests.get(folder)
        if manifest is None:
            yield folder, folder_title(folder)
            continue
        differ = [f"{name} {value_text(value)}" for name, value in list(values[folder].items())[:_MOST_DIFFERENT]]
        time, started = time_text(manifest.time_ps / PS_PER_S, 4), manifest.created[:16].replace("T", " ")
        parts = [folder_title(folder), *([manifest.name] if named else ()), ", ".join(differ), time, started]
        yield folder, "   ".join(filter(None, parts))
