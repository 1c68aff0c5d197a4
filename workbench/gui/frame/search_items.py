"""The items of the search field: commands, settings, files, blocks, calls, findings, runs, models, templates and help
pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction

from workbench.formats.heads import head_of
from workbench.gui.frame.context import Context
from workbench.gui.frame.naming import folder_title
from workbench.gui.frame.selection import SelectedBlock, SelectedCall, SelectedFinding
from workbench.session.open import recent
from workbench.session.open.project_files import project_files
from workbench.session.program.keys import KEY_GROUPS
from workbench.session.program.settings import settings

if TYPE_CHECKING:
    from workbench.gui.frame.floating import Floating

FILE = "file"


@dataclass(frozen=True)
class SearchItem:
    """Something that can be found. `detail` is at the right: what it is, or its key. What cannot be done now is
    shown too, so that it is known to be there. `kind` and title tell it from others; `more` is searched too.
    `at_line` does it at a line that was typed behind the name."""

    title: str
    detail: str
    icon_name: str
    do: Callable[[], None]
    can: bool = True
    kind: str = ""
    more: str = ""
    at_line: Callable[[int], None] | None = None

    @property
    def name(self) -> str:
        return f"{self.kind}:{self.title}"

    @property
    def text(self) -> str:
        return f"{self.title} {self.more} {self.detail}"


def search_items(context: Context, actions: Iterable[QAction], floating: Floating) -> tuple[SearchItem, ...]:
    return (
        *_run_items(context),
        *_source_items(context),
        *_commands(context, actions),
        *_runs(context),
        *_settings(context, floating),
        *_documents(context),
        *_help(floating),
    )


def _commands(context: Context, actions: Iterable[QAction]) -> Iterable[SearchItem]:
    for action in actions:
        title, can = str(action.property("search_title") or action.text()), action.isEnabled()
        key = action.shortcut().toString() or "command"
        words = str(action.property("search_words") or "")
        said = key if can else f"not now, {key}"
        yield SearchItem(title, said, "terminal", action.trigger, can, "command", words)
    if context.workspace is None:
        for path in recent.recent():
            yield SearchItem(path.name, "recent project", "folder", partial(context.open_path, path), kind="project")


def _run_items(context: Context) -> Iterable[SearchItem]:
    analysis = context.analysis
    if analysis is None:
        return
    for finding in analysis.findings:

        def show_finding(chosen: str = finding.id) -> None:
            context.navigation.set_mode("analyse")
            context.navigation.select(SelectedFinding(chosen))

        title = f"{finding.title}: {finding.where}"
        yield SearchItem(title, "finding", "triangle-alert", show_finding, kind="finding")
    for metrics in analysis.blocks:

        def show_block(chosen: str = metrics.block.id) -> None:
            if context.navigation.mode == "source":
                context.navigation.set_mode("analyse")
            context.navigation.select(SelectedBlock(chosen))

        yield SearchItem(metrics.block.id, "block", "workflow", show_block, kind="block")
    for call in analysis.calls:

        def show_call(number: int = call.site_number, file: str = call.site.file, line: int = call.site.line) -> None:
            context.navigation.select(SelectedCall(number))
            context.navigation.open_line(file, line)

        yield SearchItem(f"{call.site.label} ({call.place})", "call", "arrow-left-right", show_call, kind="call")


def _source_items(context: Context) -> Iterable[SearchItem]:
    workspace = context.workspace
    if workspace is None:
        return
    for path in project_files(workspace):
        open_line = partial(context.navigation.open_line, str(path))
        near = path.is_relative_to(workspace.root)
        where = str(path.relative_to(workspace.root).parent) if near else path.parent.name
        yield SearchItem(
            path.name, FILE if where == "." else f"{FILE}, {where}", "file", partial(open_line, 1), kind=FILE,
            more=str(path), at_line=open_line,
        )  # fmt: skip


def _runs(context: Context) -> Iterable[SearchItem]:
    for folder in reversed(context.run_folders()):
        yield SearchItem(folder_title(folder), "run", "clock", partial(context.open_run, folder), kind="run")


def _settings(context: Context, floating: Floating) -> Iterable[SearchItem]:
    """Keys are found by their commands, and can be changed in the settings; those of pictures act there alone."""
    for setting in settings(context.plugins.modes.values()).values():
        show = partial(_show_setting, floating, setting.title)
        if setting.kind != "key":
            what = f"setting, {setting.group}"
            yield SearchItem(setting.title, what, "settings-2", show, kind="setting", more=setting.what)
        elif setting.group == KEY_GROUPS[-1]:
            yield SearchItem(setting.title, f"key {setting.value}", "settings-2", show, kind="key", more="shortcut")


def _documents(context: Context) -> Iterable[SearchItem]:
    """Models, and the platform templates that come with the workbench."""
    from workbench.predict.kinds import heading  # with numpy, which a window starts without
    from workbench.session.edit.model_document import models_of

    for model in models_of(context.root(), context.plugins.model_kinds):
        show = partial(context.navigation.document_wanted.emit, model.path)
        yield SearchItem(
            model.title, f"model, {heading(model.kind)}", "trending-up", show, kind="model", more=model.name
        )
    for name, support in context.plugins.platforms.items():
        show = partial(context.navigation.document_wanted.emit, support.template)
        title = head_of(support.template).title or name
        yield SearchItem(title, f"template, {support.template.name}", "cpu", show, kind="template")


def _show_setting(floating: Floating, title: str) -> None:
    floating.show_settings(title)


def _help(floating: Floating) -> Iterable[SearchItem]:
    for page, title in help_pages():
        yield SearchItem(title, "help", "file", partial(floating.show_guide, page), kind="help", more=page)


@cache
def help_pages() -> tuple[tuple[str, str], ...]:
    """The pages of the guide with their titles."""
    folder, found = files("workbench.resources").joinpath("help"), []
    for below in ("", "fields"):
        for file in sorted(folder.joinpath(below).iterdir(), key=lambda one: one.name):
            if file.name.endswith(".md"):
                first = file.read_text("utf-8").partition("\n")[0].lstrip("# ").strip()
                found.append((f"{below}/{file.name}" if below else file.name, first))
    return tuple(found)
