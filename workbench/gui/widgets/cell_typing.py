"""What is typed in a cell of a table and not taken over yet."""

from PySide6.QtWidgets import QAbstractItemDelegate, QApplication, QLineEdit

from workbench.gui.widgets.row_view import RowView


def commit_cell(view: RowView) -> None:
    """Take over what is in the cell being typed in, if any is."""
    editor = QApplication.focusWidget()
    if isinstance(editor, QLineEdit) and view.isAncestorOf(editor):
        row, column, text = view.current, view.rows.columns[view.currentIndex().column()], editor.text()
        view.closeEditor(editor, QAbstractItemDelegate.EndEditHint.NoHint)
        if row is not None and column.typed is not None and text != column.written(row):
            column.typed(row, text)
