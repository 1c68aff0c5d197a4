"""What Ctrl+K finds: commands, findings, blocks, calls and files."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from PySide6.QtGui import QAction

from workbench.gui.context import Context
from workbench.gui.search import SearchItem
from workbench.gui.selection import SelectedBlock, SelectedCall, SelectedFinding
from workbench.session import recent


def search_items(context: Context, actions: Iterable[QAction]) -> tuple[SearchItem, ...]:
    return (*_run_items(context), *_source_items(context), *_commands(context, actions))


def _commands(context: Context, actions: Iterable[QAction]) -> Iterable[SearchItem]:
    for action in actions:
        if action.isEnabled():
            yield SearchItem(action.text(), action.shortcut().toString() or "command", "terminal", action.trigger)
    if context.workspace is None:
        for path in recent.recent():
            yield SearchItem(path.name, "recent project", "folder", partial(context.open_path, path))


def _run_items(context: Context) -> Iterable[SearchItem]:
    analysis = context.analysis
    if analysis is None:
        return
    for finding in analysis.findings:

        def show_finding(chosen: str = finding.id) -> None:
            context.navigation.set_mode("analyse")
            context.navigation.select(SelectedFinding(chosen))

        yield SearchItem(f"{finding.title}: {finding.where}", "finding", "triangle-alert", show_finding)
    for metrics in analysis.blocks:

        def show_block(chosen: str = metrics.block.id) -> None:
            if context.navigation.mode == "source":
                context.navigation.set_mode("analyse")
            context.navigation.select(SelectedBlock(chosen))

        yield SearchItem(metrics.block.id, "block", "workflow", show_block)
    for call in analysis.calls:

        def show_call(number: int = call.site_number, file: str = call.site.file, line: int = call.site.line) -> None:
            context.navigation.select(SelectedCall(number))
            context.navigation.open_line(file, line)

        yield SearchItem(f"{call.site.label} ({call.place})", "call", "arrow-left-right", show_call)


def _source_items(context: Context) -> Iterable[SearchItem]:
    workspace = context.workspace
    if workspace is None:
        return
    from workbench.api.source.files import expand_sources

    project = workspace.project
    for path in expand_sources(workspace.root, (*project.host.sources, *project.hardware.sources)):
        yield SearchItem(path.name, "file", "file", partial(context.navigation.open_line, str(path), 1))
