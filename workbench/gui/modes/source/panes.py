"""Where the open files are shown: one pane, or two side by side, each with what its margin's columns mean."""

from PySide6.QtWidgets import QStackedWidget, QWidget

from workbench.gui.modes.source.margin import MarginHead
from workbench.gui.widgets import Split, plain_column


class Pane(QWidget):
    """The editors of one side, one of which is in view."""

    def __init__(self) -> None:
        super().__init__()
        self.head, self.stack = MarginHead(), QStackedWidget()
        plain_column(self, self.head, (self.stack, 1))
        self.setMinimumWidth(200)


class Panes(Split):
    """Two panes, of which the second is shown while it holds an editor. `active` is the one that has the keyboard, or
    had it last."""

    def __init__(self) -> None:
        self.both = Pane(), Pane()
        super().__init__((self.both[0], 500), (self.both[1], 500))
        self.both[1].hide()
        self.active = self.both[0]

    @property
    def split(self) -> bool:
        """Whether both are shown."""
        return bool(self.both[1].stack.count())

    def of(self, editor: QWidget) -> Pane:
        """The pane that an editor is in; the active one for one that is in none."""
        return next((pane for pane in self.both if pane.stack.indexOf(editor) >= 0), self.active)

    def show_editor(self, editor: QWidget) -> None:
        """Bring an editor into view, in its pane, which is then the active one."""
        self.active = self.of(editor)
        self.active.stack.setCurrentWidget(editor)

    def put(self, editor: QWidget, *, beside: bool = False) -> None:
        """Add an editor to the active pane, or to the second one."""
        (self.both[1] if beside else self.active).stack.addWidget(editor)
        self._arrange()

    def take(self, editor: QWidget) -> None:
        self.of(editor).stack.removeWidget(editor)
        self._arrange()

    def join(self) -> None:
        """Put all editors into the first pane."""
        first, second = self.both
        while (one := second.stack.currentWidget()) is not None:
            first.stack.addWidget(one)
        self._arrange()

    def _arrange(self) -> None:
        """A first pane that is empty takes the editors of the second."""
        first, second = self.both
        if not first.stack.count():
            while (one := second.stack.widget(0)) is not None:
                first.stack.addWidget(one)
        was = second.isVisibleTo(self)
        second.setVisible(bool(second.stack.count()))
        if self.split and not was:
            self.setSizes([1, 1])
        if not second.stack.count():
            self.active = first
