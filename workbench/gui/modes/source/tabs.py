"""The open files: tabs over editors, and over them what the margin's columns mean."""

from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QTabBar, QWidget

from workbench.api.window import palette, set_ground
from workbench.gui.look.icons import icon
from workbench.gui.modes.source.crumbs import Crumbs
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.margin import MarginHead
from workbench.gui.modes.source.panes import Panes
from workbench.gui.widgets import Button, IconButton, plain_column, rule
from workbench.gui.widgets.boxes import row_layout
from workbench.model.text import counted
from workbench.session.program.keys import with_key


class EditorTabs(QWidget):
    """One editor a file, and a second one of a file that is shown twice. `shown` says that another file is in view,
    `twice_wanted` asks for a second editor of that one's file."""

    shown = Signal()
    twice_wanted = Signal(object)  # CodeEditor
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
        self.crumbs = Crumbs()
        self.place = self.crumbs.place
        self.split_button = IconButton("columns-2", with_key("Split: this file in two views", "split_editor"))
        self.split_button.clicked.connect(self.split)
        self.proposed = Button("", kind="link")
        self.proposed.setToolTip(with_key("Pragmas proposed for this file", "propose"))
        self.proposed.hide()
        self.panes = Panes()
        self._editors: list[CodeEditor] = []  # in the order of the tabs
        top = QWidget()
        set_ground(top, "chrome")
        top.setFixedHeight(36)
        row_layout((self.bar, 1), self.proposed, self.split_button, of=top, margins=(0, 0, 8, 0), spacing=8)
        plain_column(self, top, rule(), self.crumbs, (self.panes, 1))
        self.bar.currentChanged.connect(self._on_current)

    @property
    def editor(self) -> CodeEditor | None:
        """The editor that commands are for: the one in view in the pane that has the keyboard, or had it last."""
        widget = self.panes.active.stack.currentWidget()
        return widget if isinstance(widget, CodeEditor) else None

    @property
    def head(self) -> MarginHead:
        """What the columns of that editor's margin mean."""
        return self.panes.active.head

    def editors(self) -> tuple[CodeEditor, ...]:
        return tuple(self._editors)

    def say(self, of_margin: str, place: str = "") -> None:
        """Whose numbers the margin shows, and where the block is in the design."""
        self.head.say(of_margin)
        self.place.setText(place)

    def split(self) -> None:
        """Show the file in view in a second pane too; where there are two, show one again."""
        if self.editor is None:
            return
        for pane in self.panes.both:
            pane.head.say("")  # of which file it spoke may be in the other one
        if not self.panes.split:
            self.twice_wanted.emit(self.editor)
            return
        first, second = self.panes.both
        for editor in [editor for editor in self._editors if self.panes.of(editor) is second]:
            if any(self.panes.of(other) is first for other in self.views(editor.path)):
                self.remove(editor)
        self.panes.join()
        self.show_editor(self.editor or self._editors[0])
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The pane that gets the keyboard is the one that commands are for."""
        if event.type() == QEvent.Type.FocusIn and isinstance(watched, CodeEditor) and watched is not self.editor:
            self.show_editor(watched)
        return super().eventFilter(watched, event)

    def of(self, path: Path) -> CodeEditor | None:
        """The editor of a file, if it is open: of two the one in the pane that commands are for."""
        views = self.views(path)
        return next((e for e in views if self.panes.of(e) is self.panes.active), next(iter(views), None))

    def views(self, path: Path) -> tuple[CodeEditor, ...]:
        """The editors of a file."""
        return tuple(e for e in self._editors if e.path == path)

    def add(self, editor: CodeEditor, *, beside: bool = False) -> None:
        """Add an editor to the pane that commands are for, or to the second one."""
        self._editors.append(editor)
        self.panes.put(editor, beside=beside)
        editor.installEventFilter(self)
        number = self.bar.addTab(icon("file", palette().second, 15), editor.path.name)
        self.bar.setTabToolTip(number, str(editor.path))
        close = IconButton("x", "Close this file", 13, on=lambda: self.close_asked.emit(editor))
        close.setFixedSize(22, 22)
        close.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.bar.setTabButton(number, QTabBar.ButtonPosition.RightSide, close)
        editor.file_changed.connect(lambda: self._mark(editor))
        self.show_editor(editor)

    def show_editor(self, editor: CodeEditor) -> None:
        number = self.editors().index(editor)
        if self.bar.currentIndex() == number:
            self._on_current(number)
        else:
            self.bar.setCurrentIndex(number)

    def remove(self, editor: CodeEditor) -> None:
        number = self.editors().index(editor)
        editor.removeEventFilter(self)
        editor.leave_file()
        del self._editors[number]
        self.panes.take(editor)
        editor.deleteLater()
        self.bar.removeTab(number)
        self.split_button.setEnabled(bool(self._editors))
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
        if 0 <= number < len(self._editors):
            self.panes.show_editor(self._editors[number])
        self.split_button.setEnabled(bool(self._editors))
        self.setFocusProxy(self.editor or self.bar)
        self.shown.emit()
