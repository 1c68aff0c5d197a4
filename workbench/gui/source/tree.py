"""The project's files, each with the states of its blocks in the run shown; and the blocks of the file in view."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from workbench.api.source.files import expand_sources
from workbench.gui import fonts, theme
from workbench.gui.context import Context
from workbench.gui.icons import draw_icon
from workbench.gui.naming import folder_title
from workbench.gui.source.line_numbers import file_shares
from workbench.gui.source.points import Point
from workbench.gui.theme import set_ground
from workbench.gui.widgets import Button, IconLabel, PanelHeader, TextButton, label, paint_state_bar, plain_column, rule
from workbench.model.scan import HdlBlock, ProjectScan
from workbench.pictures.states import Shares
from workbench.session.workspace import Workspace

PATH, ICON, SHARES = Qt.ItemDataRole.UserRole + 1, Qt.ItemDataRole.UserRole + 2, Qt.ItemDataRole.UserRole + 3
_BAR_PX = 46
_INCLUDED = (".h", ".hh", ".hpp", ".vh", ".svh")


class _FileDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(120, 28)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        p = theme.palette()
        rect = QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(QRectF(0, rect.top(), rect.right() + 1, rect.height()), QColor(p.selection))
            painter.fillRect(QRectF(0, rect.top(), 3, rect.height()), QColor(p.accent))
        draw_icon(painter, index.data(ICON), rect.left() + 2, rect.top() + 6, 16, p.second)
        shares: Shares = index.data(SHARES) or ()
        room = rect.width() - 26 - (_BAR_PX + 22 if shares else 8)
        font = fonts.ui_font(13, 600 if chosen else 400)
        painter.setFont(font)
        painter.setPen(QColor(p.text))
        text = QFontMetrics(font).elidedText(index.data(), Qt.TextElideMode.ElideMiddle, round(room))
        painter.drawText(rect.adjusted(26, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, text)
        if shares:
            paint_state_bar(painter, QRectF(rect.right() - _BAR_PX - 14, rect.top() + 9, _BAR_PX, 10), shares)


class ProjectTree(QTreeView):
    """Host, hardware, runs and the platform document. `file_chosen` and `run_chosen` carry a path."""

    file_chosen = Signal(Path)
    run_chosen = Signal(Path)

    def __init__(self) -> None:
        super().__init__()
        self._model = QStandardItemModel(self)
        self.setModel(self._model)
        self.setItemDelegate(_FileDelegate(self))
        self.setHeaderHidden(True)
        self.setIndentation(18)
        self.setUniformRowHeights(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self._on_clicked)
        self.activated.connect(self._on_clicked)
        self._files: dict[Path, QStandardItem] = {}
        self._runs: QStandardItem | None = None

    def show_project(self, workspace: Workspace | None) -> None:
        self._model.clear()
        self._files, self._runs = {}, None
        if workspace is None:
            return
        project, root = workspace.project, workspace.root
        host = list(expand_sources(root, project.host.sources))
        folders = dict.fromkeys([p.parent for p in host] + [root / d for d in project.host.include_dirs])
        host += [p for d in folders if d.is_dir() for p in sorted(d.iterdir()) if p.suffix in _INCLUDED]
        hdl = list(workspace.hdl_files)
        hdl += [p for d in dict.fromkeys(p.parent for p in hdl) for p in sorted(d.iterdir()) if p.suffix in _INCLUDED]
        groups = {"host": host, "hdl": hdl}
        if parts := [path for path in workspace.parts if path.is_file()]:
            made = [path for path in (*host, *hdl) if workspace.is_made(path)]
            rest = {name: [p for p in paths if p not in (*made, *parts)] for name, paths in groups.items()}
            groups = {name: paths for name, paths in {"streams": parts, **rest, "made": made}.items() if paths}
        for name, paths in groups.items():
            self._group(name, paths)
        self._runs = _item("runs", "folder", None)
        self._model.appendRow(self._runs)
        for path, icon_name in ((workspace.path, "settings-2"), (workspace.platform_path, "cpu")):
            item = _item(path.name, icon_name, path)
            self._files[path] = item
            self._model.appendRow(item)

    def _group(self, name: str, paths: list[Path]) -> None:
        group = _item(name, "folder", None)
        paths = list(dict.fromkeys(paths))
        several = len({p.name for p in paths}) < len(paths)
        for path in paths:
            item = _item(f"{path.parent.name}/{path.name}" if several else path.name, "file", path)
            self._files[path] = item
            group.appendRow(item)
        self._model.appendRow(group)
        self.setExpanded(group.index(), name != "made")

    def show_runs(self, folders: tuple[Path, ...]) -> None:
        if self._runs is not None:
            self._runs.removeRows(0, self._runs.rowCount())
            for folder in reversed(folders):
                self._runs.appendRow(_item(folder_title(folder), "chart-gantt", folder))

    def show_shares(self, shares_of: Callable[[Path], Shares]) -> None:
        for path, item in self._files.items():
            item.setData(shares_of(path), SHARES)

    def mark(self, path: Path) -> None:
        """Select a file's row without choosing it."""
        if path in self._files:
            self.setCurrentIndex(self._files[path].index())

    def files(self) -> tuple[Path, ...]:
        return tuple(self._files)

    def _on_clicked(self, index: QModelIndex) -> None:
        path = index.data(PATH)
        if path is None:
            self.setExpanded(index, not self.isExpanded(index))
        elif self._runs is not None and index.parent() == self._runs.index():
            self.run_chosen.emit(path)
        else:
            self.file_chosen.emit(path)


def _item(text: str, icon_name: str, path: Path | None) -> QStandardItem:
    made = QStandardItem(text)
    made.setData(icon_name, ICON)
    made.setData(path, PATH)
    made.setData((), SHARES)
    made.setToolTip(str(path or ""))
    return made


class BlocksHere(QWidget):
    """The blocks that stand in a file: where, and how many states their pragmas name."""

    line_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        set_ground(self, "panel")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(16, 10, 10, 12)
        self._column.setSpacing(2)
        self._shown: object = None  # what the rows were made of

    def show_file(
        self, scan: ProjectScan | None, same_file: Callable[[str], bool], points: Sequence[Point] = (),
        now: Callable[[int], int] = int,
    ) -> None:  # fmt: skip
        """`points` are the file's in the text as it is, `now` tells where a line that was scanned is in it."""
        calls = [p for p in points if p.kind == "call"]
        names: dict[str, set[str]] = defaultdict(set)
        for point in points:
            names[point.block] |= {p.pragma.name for p in point.pragmas}
        here = [b for b in scan.hdl.blocks if same_file(b.file)] if scan else []
        within = {b.id: f" in {', '.join(fpgas)}" for b in here if scan and (fpgas := scan.hdl.fpgas_with(b))}
        blocks = [replace(b, line=now(b.line)) for b in here]
        for block in blocks:
            if block.why_not:  # it has no points
                names[block.id] |= {p.pragma.name for p in block.pragmas}
        shown = (
            scan is None,
            tuple(calls),
            tuple((b.id, b.line, b.why_not, len(names[b.id]), within.get(b.id)) for b in blocks),
        )
        if shown == self._shown:
            return
        self._shown = shown
        while item := self._column.takeAt(0):
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        if calls:
            marked = sum(bool(call.pragmas) for call in calls)
            said = f"{marked} of {len(calls)} calls"
            self._row("terminal", "host main", said, calls[0].line, marked < len(calls))
        for block in blocks:
            name = f"{block.id.split('.')[-1]}{within.get(block.id, '')}"
            count, title = len(names[block.id]), f"{name}: {block.kind} at {block.line}"
            said = "1 state" if count == 1 else f"{count} states" if count else "none"
            self._row("workflow", title, said, block.line, not count)
        silent = next((b for b in blocks if not names[b.id]), None)
        if silent is not None:
            self._note(silent)
        if not calls and not blocks:
            text = "Reading the sources." if scan is None else "No calls or clocked blocks in this file."
            self._column.addWidget(label(text, "small", wrap=True))
        self._column.addStretch(1)

    def _row(self, icon_name: str, text: str, said: str, line: int, lacking: bool) -> None:
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 3, 6, 3)
        row.setSpacing(8)
        row.addWidget(IconLabel(icon_name, 15))
        name = TextButton(text, f"Go to line {line}")
        name.clicked.connect(lambda: self.line_chosen.emit(line))
        row.addWidget(name, 1)
        told = label(said, "medium" if lacking else "small")
        told.setToolTip("How much of it has a pragma")
        row.addWidget(told)
        self._column.addWidget(holder)

    def _note(self, block: HdlBlock) -> None:
        holder = QWidget()
        set_ground(holder, "note")
        column = QVBoxLayout(holder)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(2)
        why = block.why_not or "Its cycles count as unclassified."
        column.addWidget(label(f"{block.id.split('.')[-1]} has no pragma. {why}", "smallsecond", wrap=True))
        go = Button(f"Go to line {block.line}", kind="link")
        go.clicked.connect(lambda: self.line_chosen.emit(block.line))
        column.addWidget(go)
        self._column.addSpacing(8)
        self._column.addWidget(holder)


class SidePanel(QWidget):
    """Tree above, blocks of the file below."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.tree, self.blocks = ProjectTree(), BlocksHere()
        self.header = PanelHeader("Project")
        column = plain_column(self)
        column.addWidget(self.header)
        column.addSpacing(6)
        column.addWidget(self.tree, 1)
        column.addWidget(rule())
        column.addWidget(PanelHeader("Blocks in this file"))
        column.addWidget(self.blocks, 1)
        self._context = context

    def show_shares(self) -> None:
        context, analysis = self._context, self._context.analysis
        if analysis is None:
            self.tree.show_shares(lambda path: ())
            return
        self.tree.show_shares(lambda path: file_shares(analysis, lambda f: context.same_file(f, str(path))))
