"""Room for tables in which no row is cut off below."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui.widgets.row_view import HEAD_PX, RowView


class WholeRows(QWidget):
    """One of several tables: as high as its rows, or as whole rows of them where there is less room."""

    def __init__(self, *tables: RowView) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._tables = tables
        for table in tables:
            table.setParent(self)
            table.rows.modelReset.connect(self.fit)
        self.show_table(tables[0])

    def show_table(self, shown: RowView) -> None:
        self._shown = shown
        for table in self._tables:
            table.setVisible(table is shown)
        self.setFocusProxy(shown)
        self.fit()

    def fit(self) -> None:
        """Take the height that the rows of the table shown have."""
        table, edges = self._shown, 2 * self._shown.frameWidth()
        self.setMaximumHeight(max(table.whole_px, self.minimumSizeHint().height()))
        rows = max((self.height() - HEAD_PX - edges) // table.row_px, 1)
        table.setGeometry(0, 0, self.width(), min(HEAD_PX + rows * table.row_px + edges, self.height()))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(300, self._shown.whole_px)

    def minimumSizeHint(self) -> QSize:
        return QSize(100, HEAD_PX + self._shown.row_px)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()
