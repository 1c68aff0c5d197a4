"""The source lines of a block or an edge of the graph, for "Go to source" and "Insert pragma"."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import PurePath

from PySide6.QtWidgets import QMenu

from workbench.api.window import Context
from workbench.model.finding import Place
from workbench.pictures.layout import RoutedEdge

_MOST = 8


def places_of(context: Context, what: str | RoutedEdge) -> list[Place]:
    """Where a block is defined and what it does there; of an edge, the calls and states that carry its messages."""
    found = _of_edge(context, what) if isinstance(what, RoutedEdge) else _of_block(context, what)
    by_line = {(place.file, place.line): place for place in reversed(list(found))}
    return list(reversed(by_line.values()))


def _of_block(context: Context, block: str) -> Iterator[Place]:
    members = context.analysis.members(block) if context.analysis else ()
    for metrics in members[:1]:
        if metrics.block.file and metrics.block.line:
            yield Place(metrics.block.file, metrics.block.line, metrics.block.id)
        yield from (Place(s.file, s.line, s.name) for s in metrics.block.states if s.file and s.line)


def _of_edge(context: Context, edge: RoutedEdge) -> Iterator[Place]:
    messages, analysis = {e.message for e in edge.edges}, context.analysis
    if analysis is None:
        return
    for call in analysis.calls:
        if messages & {*call.state.messages}:
            yield Place(call.site.file, call.site.line, call.site.label)
    for metrics in analysis.blocks:
        for state in metrics.block.states:
            if messages & {*state.messages} and state.file and state.line:
                yield Place(state.file, state.line, f"{metrics.block.group}: {state.name}")


def unmarked(context: Context, what: str | RoutedEdge) -> Place | None:
    """The first call or branch of a block that has no pragma yet."""
    scan, analysis = context.scan, context.analysis
    if scan is None or analysis is None or isinstance(what, RoutedEdge):
        return None
    members = analysis.members(what)
    if not members:
        return None
    block = members[0].block
    if block.id.startswith("host."):
        open_ = ((c.file, c.line) for c in scan.host.calls if not c.pragmas)
    else:
        mine = [b for b in scan.hdl.blocks if (b.file, b.line) == (block.file, block.line)]
        marked = {p.line for b in mine for p in b.pragmas}
        open_ = ((b.file, branch.line) for b in mine for branch in b.branches if not _has(branch.line, marked))
    place = next(open_, None)
    return Place(*place) if place else None


def _has(line: int, marked: Iterable[int]) -> bool:
    """Whether a pragma is in the lines directly above a branch."""
    return any(line - 3 <= one < line for one in marked)


def fill(menu: QMenu, context: Context, what: str | RoutedEdge) -> None:
    """Put the lines of a block or an edge above what the menu has."""
    first, navigation = menu.actions()[0], context.navigation
    entries = [(f"Go to {_name(p)}  {p.label}", p, navigation.open_line) for p in places_of(context, what)[:_MOST]]
    if (open_ := unmarked(context, what)) is not None:
        entries.append((f"Insert pragma at {_name(open_)}...", open_, navigation.mark_line))
    for text, place, do in entries:
        action = menu.addAction(text)
        action.triggered.connect(partial(_do, do, place))
        menu.insertAction(first, action)
    if entries:
        menu.insertSeparator(first)


def _name(place: Place) -> str:
    return f"{PurePath(place.file).name}:{place.line}"


def _do(do: Callable[[str, int], None], place: Place, checked: bool = False) -> None:
    do(place.file, place.line)
