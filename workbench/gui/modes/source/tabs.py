"""The open files: tabs over editors, and over them what the margin's columns mean."""

from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QTabBar, QWidget

from workbench.api.window import palette, set_ground
from workbench.gui.look.icons import icon
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.margin import MarginHead
from workbench.gui.widgets import Button, ElidedLabel, IconButton, plain_column, rule
from workbench.gui.widgets.boxes import row_layout
from workbench.model.text import counted
from workbench.session.program.keys import with_key


class EditorTabs(QWidget):
    """One editor a file. `shown` says that another file is in view."""

    shown = Signal()
    close_asked = Signal(object)  # CodeEditor
    removed = Signal(object)  # CodeEditor

    def __init__(self) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.bar = QTabBar()
        self.bar.setObjectName("files")
        self.bar.setDrawBase(False)
        self.bar.setExpanding(False)
        self.bar.setIconSize(QSize(15, 15))
        self.bar.setElideMode(Qt.TextElideMode.ElideMiddle)
        self.bar.setUsesScrollButtons(True)
        self.place = ElidedLabel("", "small", Qt.TextElideMode.ElideLeft)
        self.place.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.proposed = Button("", kind="link")
        self.proposed.setToolTip(with_key("Pragmas proposed for this file", "propose"))
        self.proposed.hide()
        self.head = MarginHead()
        self.stack = QStackedWidget()
        top = QWidget()
        set_ground(top, "chrome")
        top.setFixedHeight(36)
        row_layout(self.bar, (self.place, 1), self.proposed, of=top, margins=(0, 0, 16, 0), spacing=12)
        plain_column(self, top, rule(), self.head, (self.stack, 1))
        self.bar.currentChanged.connect(self._on_current)

    @property
    def editor(self) -> CodeEditor | None:
        widget = self.stack.currentWidget()
        return widget if isinstance(widget, CodeEditor) else None

    def editors(self) -> tuple[CodeEditor, ...]:
        widgets = (self.stack.widget(i) for i in range(self.stack.count()))
        return tuple(e for e in widgets if isinstance(e, CodeEditor))

    def of(self, path: Path) -> CodeEditor | None:
        return next((e for e in self.editors() if e.path == path), None)

    def add(self, editor: CodeEditor) -> None:
        self.stack.addWidget(editor)
        number = self.bar.addTab(icon("file", palette().second, 15), editor.path.name)
        self.bar.setTabToolTip(number, str(editor.path))
        close = IconButton("x", "Close this file", 13, on=lambda: self.close_asked.emit(editor))
        close.setFixedSize(22, 22)
        close.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.bar.setTabButton(number, QTabBar.ButtonPosition.RightSide, close)
        editor.file.changed.connect(lambda: self._mark(editor))
        self.show_editor(editor)

    def show_editor(self, editor: CodeEditor) -> None:
        number = self.editors().index(editor)
        if self.bar.currentIndex() == number:
            self._on_current(number)
        else:
            self.bar.setCurrentIndex(number)

    def remove(self, editor: CodeEditor) -> None:
        number = self.editors().index(editor)
        self.stack.removeWidget(editor)
        editor.deleteLater()
        self.bar.removeTab(number)
        self.removed.emit(editor)
        self.shown.emit()

    def clear(self) -> None:
        for editor in self.editors():
            self.remove(editor)

    def say_proposed(self, count: int) -> None:
        """How many marks are proposed for the file in view."""
        self.proposed.setVisible(bool(count))
        self.proposed.setText(f"{counted(count, 'mark')} proposed")

    def take_font(self) -> None:
        for editor in self.editors():
            editor.take_font()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            for number in range(self.bar.count()):
                self.bar.setTabIcon(number, icon("file", palette().second, 15))

    def _mark(self, editor: CodeEditor) -> None:
        if editor in self.editors():
            name = editor.path.name
            number = self.editors().index(editor)
            self.bar.setTabText(number, f"{name} \u2022" if editor.file.dirty else name)
            self.bar.setTabToolTip(number, str(editor.path))

    def _on_current(self, number: int) -> None:
        if 0 <= number < self.stack.count():
            self.stack.setCurrentIndex(number)
        self.setFocusProxy(self.editor or self.bar)
        self.shown.emit()
