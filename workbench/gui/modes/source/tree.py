"""The project's files, each with the states of its blocks in the run shown; below, the blocks of the file in view."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTabBar,
    QTreeView,
    QWidget,
)

from workbench.api.languages import headers_of, marked_languages
from workbench.api.source.files import expand_sources
from workbench.api.window import Context, palette, set_ground
from workbench.gui.frame.naming import folder_title
from workbench.gui.look import fonts
from workbench.gui.look.icons import draw_icon
from workbench.gui.look.painting import paint_focus
from workbench.gui.modes.source.blocks_here import BlocksHere
from workbench.gui.modes.source.line_numbers import file_shares
from workbench.gui.widgets import PanelHeader, paint_state_bar, plain_column, rule
from workbench.gui.widgets.boxes import STRETCH, column_layout
from workbench.pictures.states import Shares
from workbench.session.open.workspace import Workspace

PATH, ICON, SHARES = Qt.ItemDataRole.UserRole + 1, Qt.ItemDataRole.UserRole + 2, Qt.ItemDataRole.UserRole + 3
_BAR_PX, _LEAST_BAR_PX = 46, 14
_LOW_PX = 460  # less has no room for the files and the blocks below each other


class _FileDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(120, 28)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        p = palette()
        rect = QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(QRectF(0, rect.top(), rect.right() + 1, rect.height()), QColor(p.selection))
            painter.fillRect(QRectF(0, rect.top(), 3, rect.height()), QColor(p.accent))
        draw_icon(painter, index.data(ICON), rect.left() + 2, rect.top() + 6, 16, p.second)
        shares: Shares = index.data(SHARES) or ()
        font = fonts.ui_font(13, 600 if chosen else 400)
        metrics = QFontMetricsF(font)
        left = rect.width() - 26 - 22 - metrics.horizontalAdvance(index.data()) - 1  # beside the whole name
        bar = min(_BAR_PX, max(left, _LEAST_BAR_PX)) if shares else 0
        painter.setFont(font)
        painter.setPen(QColor(p.text))
        room = rect.width() - 26 - (bar + 22 if shares else 8)
        is_source = index.data(ICON) == "file"  # whose suffix says more than the end of its name
        where = Qt.TextElideMode.ElideMiddle if is_source else Qt.TextElideMode.ElideRight
        text = metrics.elidedText(index.data(), where, room)
        painter.drawText(rect.adjusted(26, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, text)
        if shares:
            paint_state_bar(painter, QRectF(rect.right() - bar - 14, rect.top() + 9, bar, 10), shares)


class ProjectTree(QTreeView):
    """Host, hardware, runs and the platform document. `file_chosen` and `run_chosen` carry a path."""

    file_chosen = Signal(Path)
    run_chosen = Signal(Path)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        paint_focus(self)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Files and runs of the project")
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
        headers = headers_of(marked_languages())
        folders = dict.fromkeys([p.parent for p in host] + [root / d for d in project.host.include_dirs])
        host += [p for d in folders if d.is_dir() for p in sorted(d.iterdir()) if p.suffix in headers]
        hdl = list(workspace.hdl_files)
        hdl += [p for d in dict.fromkeys(p.parent for p in hdl) for p in sorted(d.iterdir()) if p.suffix in headers]
        groups = {"host": host, "hdl": hdl}
        if parts := [path for path in workspace.parts if path.is_file()]:
            generated = [path for path in (*host, *hdl) if workspace.is_made(path)]
            rest = {name: [p for p in paths if p not in (*generated, *parts)] for name, paths in groups.items()}
            groups = {name: paths for name, paths in {"streams": parts, **rest, "made": generated}.items() if paths}
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
    item = QStandardItem(text)
    item.setData(icon_name, ICON)
    item.setData(path, PATH)
    item.setData((), SHARES)
    item.setToolTip(str(path or ""))
    return item


class SidePanel(QWidget):
    """The tree above, the blocks of the file below; in a low panel one of them, as its tabs say."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.tree, self.blocks = ProjectTree(), BlocksHere()
        self.header = PanelHeader("Project")
        self.tabs = QTabBar()
        self.tabs.setObjectName("parts")
        self.tabs.setAccessibleName("Files or blocks")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        for name in ("Files", "Blocks in this file"):
            self.tabs.addTab(name)
        self.tabs.currentChanged.connect(self._arrange)
        self._low_head = QWidget()
        self._low_head.setFixedHeight(40)
        column_layout(STRETCH, self.tabs, rule(), of=self._low_head, margins=(0, 0, 0, 0), spacing=0)
        self._heads = (self.header, rule(), PanelHeader("Blocks in this file"))
        plain_column(self, self.header, self._low_head, 6, (self.tree, 1), *self._heads[1:], (self.blocks, 1))
        self._context = context
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """A low panel has no room for both below each other."""
        low, blocks = self.height() < _LOW_PX, self.tabs.currentIndex() == 1
        for head in self._heads:
            head.setVisible(not low)
        self._low_head.setVisible(low)
        self.tree.setVisible(not (low and blocks))
        self.blocks.setVisible(not low or blocks)

    def show_shares(self) -> None:
        context, analysis = self._context, self._context.analysis
        if analysis is None:
            self.tree.show_shares(lambda path: ())
            return
        self.tree.show_shares(lambda path: file_shares(analysis, context.is_file(path)))
