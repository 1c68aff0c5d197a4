"""Asks for a folder: one that is there, or one whose name is typed and that is not there yet."""

from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFileDialog, QLineEdit, QWidget

from workbench.session.program.settings import projects_folder


class FolderDialog(QFileDialog):
    """Qt's own: those of desktops take only folders that are there, and Qt's only those that are not."""

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent, title, projects_folder())
        self.setFileMode(QFileDialog.FileMode.AnyFile)
        self.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        self.setOptions(
            QFileDialog.Option.ShowDirsOnly | QFileDialog.Option.DontConfirmOverwrite
            | QFileDialog.Option.DontUseNativeDialog
        )  # fmt: skip
        self.setLabelText(QFileDialog.DialogLabel.FileName, "Folder:")
        self.setLabelText(QFileDialog.DialogLabel.Accept, "Choose")
        field, buttons = self.findChild(QLineEdit), self.findChild(QDialogButtonBox)
        assert field is not None
        assert buttons is not None
        self._field, self._buttons = field, buttons
        self._allowing = QTimer(self, singleShot=True, interval=0)  # after Qt has refused a folder that is there
        self._allowing.timeout.connect(self._allow)
        self._field.textChanged.connect(self._allowing.start)
        self.directoryEntered.connect(self._field.setText)
        self._field.setText(self.directory().absolutePath())

    @property
    def folder(self) -> Path:
        """What is chosen."""
        return Path(self.directory().absolutePath()) / self._field.text().strip()

    def _allow(self) -> None:
        button = self._buttons.button(QDialogButtonBox.StandardButton.Save)
        if button is not None:
            button.setEnabled(bool(self._field.text().strip()))

    def accept(self) -> None:
        if self._field.text().strip():
            QDialog.accept(self)
