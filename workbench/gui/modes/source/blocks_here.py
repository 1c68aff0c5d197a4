"""The blocks that are in the file in view: where, and how many states their pragmas name."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from workbench.api.window import set_ground
from workbench.gui.look.icons import draw_icon
from workbench.gui.look.painting import label as paint_label
from workbench.gui.modes.source.points import MarkPoint
from workbench.gui.widgets import Button, label
from workbench.gui.widgets.boxes import column_layout
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.scan import ProjectScan

_ROW_PX, _SAID_SHARE = 28, 0.45


@dataclass(frozen=True)
class BlockRow:
    """A block, or the host's calls: `said` is how much of it has a pragma, `why_not` why it has none."""

    icon_name: str
    name: str
    title: str
    said: str
    line: int
    lacking: bool
    why_not: str = ""


def block_rows(
    scan: ProjectScan | None, same_file: Callable[[str], bool], points: Sequence[MarkPoint], now: Callable[[int], int]
) -> tuple[BlockRow, ...]:
    """`points` are the file's in the text as it is, `now` carries where a line that was scanned is in it."""
    rows = []
    if calls := [p for p in points if p.kind == "call"]:
        marked = sum(bool(call.pragmas) for call in calls)
        said = f"{marked} of {len(calls)} calls"
        rows.append(BlockRow("terminal", "host main", "host main", said, calls[0].line, marked < len(calls)))
    names: dict[str, set[str]] = defaultdict(set)
    for point in points:
        names[point.block].update(p.pragma.name for p in point.pragmas)
    for block in scan.hdl.blocks if scan else ():
        if not same_file(block.file):
            continue
        within = f" in {', '.join(fpgas)}" if scan and (fpgas := scan.hdl.fpgas_with(block)) else ""
        # one that cannot be observed has no points
        count = len({p.pragma.name for p in block.pragmas} if block.why_not else names[block.id])
        label, line = block.id.split(".")[-1], now(block.line)
        name = block.component if label.startswith("line_") else label  # the line is beside it
        said = "1 state" if count == 1 else f"{count} states" if count else "none"
        title = f"{name}{within}: {block.kind} at {line}"
        rows.append(BlockRow("workflow", name, title, said, line, not count, block.why_not))
    return tuple(rows)


class BlocksHere(QWidget):
    """`line_chosen` carries where the block is that was clicked, or where Enter was."""

    line_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.rows = RowView(
            "Blocks in this file",
            (
                Column("Block", lambda row: row.title, share=1.0, paint=_paint, tip_of=_tip),
                Column("Pragmas", lambda row: row.said),
            ),
            _ROW_PX,
        )
        self.rows.header().hide()
        self.rows.setColumnHidden(1, True)  # it is beside the title, and is copied
        self.rows.setIndentation(0)
        self.rows.ruled = False
        self.rows.clicked.connect(lambda index: self._go_to(self.rows.rows.row(index)))
        self.rows.opened.connect(self._go_to)
        self.nothing = label("", "small", wrap=True)
        self.nothing.setContentsMargins(16, 10, 10, 0)
        self.why = label("", "smallsecond", wrap=True)
        self.go = Button("", kind="link", on=lambda: self._go_to(self._silent()))
        self._note = QWidget()
        set_ground(self._note, "note")
        column_layout(self.why, self.go, of=self._note, margins=(12, 8, 12, 8), spacing=2)
        below = column_layout(self._note, margins=(16, 8, 10, 12))
        column = column_layout(self.nothing, (self.rows, 1), below, of=self, margins=(0, 6, 0, 0), spacing=0)
        column.addStretch()
        self.setFocusProxy(self.rows)
        self._shown: tuple[BlockRow, ...] | None = ()

    def show_file(self, scan: ProjectScan | None, shown: tuple[BlockRow, ...], why_none: str = "") -> None:
        """The blocks of a file, as `block_rows` has them; without a file, why there are none."""
        reading = "Reading the sources." if scan is None else "No calls or clocked blocks in this file."
        self.nothing.setText(why_none or reading)
        if shown == self._shown:
            return
        place, at = self.rows.currentIndex().row(), self.rows.verticalScrollBar().value()
        same = self._shown is not None and [row.name for row in shown] == [row.name for row in self._shown]
        self._shown = shown
        self.rows.show_rows([(row, ()) for row in shown])
        if same:  # only lines or pragmas are others: the person stays where they were
            self.rows.choose(lambda row: place >= 0 and row is shown[place])
            self.rows.verticalScrollBar().setValue(at)
        self.rows.setMinimumHeight(min(len(shown), 2) * _ROW_PX)
        self.rows.setMaximumHeight(len(shown) * _ROW_PX + 2 * self.rows.frameWidth())
        self.rows.setVisible(bool(shown))
        self.nothing.setVisible(not shown)
        silent = self._silent()
        self._note.setVisible(silent is not None)
        if silent is not None:
            self.why.setText(f"{silent.name} has no pragma. {silent.why_not or 'Its cycles count as unclassified.'}")
            self.go.setText(f"Go to line {silent.line}")

    def _silent(self) -> BlockRow | None:
        """The first block without a pragma."""
        return next((row for row in self._shown or () if row.said == "none"), None)

    def _go_to(self, row: BlockRow | None) -> None:
        if row is not None:
            self.line_chosen.emit(row.line)


def _tip(row: BlockRow) -> str:
    return f"{row.title}. Go to line {row.line}\nWith a pragma: {row.said}"


def _paint(painter: QPainter, box: QRectF, row: BlockRow) -> None:
    draw_icon(painter, row.icon_name, box.left() + 10, box.center().y() - 7.5, 15)
    said = QRectF(box.left() + box.width() * (1 - _SAID_SHARE), box.top(), box.width() * _SAID_SHARE - 12, box.height())
    ink = "medium_text" if row.lacking else "second"
    said_px = paint_label(painter, said, row.said, ink, 12, 400, Qt.AlignmentFlag.AlignRight)
    paint_label(painter, box.adjusted(31, 0, -12 - said_px - 8, 0), row.title, "text", 13)
