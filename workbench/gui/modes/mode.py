"""The interface of a mode: the functions that the window calls."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtWidgets import QFileDialog, QMenu, QStackedLayout, QWidget
from shiboken6 import isValid

from workbench.api.modes import Undo, WindowMode
from workbench.gui.frame.context import Context
from workbench.gui.frame.focus import focus_inside, focus_is_in
from workbench.gui.look.theme import set_ground
from workbench.gui.widgets import EmptyState, IconButton
from workbench.session.edit.documents import Document, free_name
from workbench.session.edit.history import History, HistoryStep, Undoable
from workbench.session.program.keys import with_key
from workbench.session.program.plugins import Plugins


class Mode(QWidget):
    """A mode's middle: `content`, or where there is none to show a sentence why. What it is called, what is beside
    it and what it edits is its `kind`, declared once. A plugin's mode derives from this class too.
    """

    finds_definitions = False
    goes_to = ""  # what `ask_where` asks for: a line, a time; nothing where it asks for none
    shows_range = False  # whether what the range holds is in its details
    side_panel: QWidget | None = None
    details_panel: QWidget | None = None
    panels: Sequence[QWidget] = ()  # within the mode, that F6 goes to one after the other
    details_wanted = True  # whether the details have something to show; until a person says so they are hidden else
    centre_part = 0.0  # of the window's width, that the middle keeps before the details are shown by themselves
    status_changed = Signal()
    details_changed = Signal()
    details_asked = Signal()  # something was done whose answer is in the details

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.context, self.kind = context, kind
        self.status: tuple[str, ...] = ()
        self._project: tuple[Path, int] | None = None
        self.empty = EmptyState(kind.icon, "", do=lambda: self.act())
        self.empty.say(*kind.nothing)
        self._behind: list[Callable[[], None]] = []  # what `follow` is to do still
        self.in_turns = False  # while it is done unseen, and what takes long may be put off to later turns
        self._own_history = History(context.history_changed.emit)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self.empty)

    @staticmethod
    def read_ahead(plugins: Plugins) -> None:
        """Load, in a thread, what the mode will need, so that the window need not."""

    def follow(self, signal: SignalInstance, do: Callable[[], None]) -> None:
        """Do this whenever the signal comes: at once in the mode shown. Each other one has a turn of its own, else
        one change would be shown in all modes in one turn; and for another project the mode that is shown too."""

        def on_signal(*_: object) -> None:
            if not isValid(self):
                return
            if do not in self._behind:
                self._behind.append(do)
            if self.isVisible() and not self.context.is_changing_project:
                self.catch_up()
            elif len(self._behind) == 1:
                self.context.slices.start(self, self._catching_up_in_turns(), first=self.isVisible())

        signal.connect(on_signal)

    def _catching_up(self) -> Iterator[None]:
        while self._behind:
            self._behind.pop(0)()
            yield

    def _catching_up_in_turns(self) -> Iterator[None]:
        while self._behind:
            self.in_turns = True
            try:
                self._behind.pop(0)()
            finally:
                self.in_turns = False
            yield

    def catch_up(self) -> None:
        """Do what was put off while another mode was shown."""
        for _ in self._catching_up():
            pass

    def build(self) -> Iterator[None]:
        """What is left to be done until the mode is whole, in steps short enough for one turn of the event loop."""
        yield from ()

    # ---- what is shown

    def retheme(self) -> None:
        """Another theme: write anew what holds its colours, beyond what follows the palette."""

    def set_content(self, content: QWidget) -> None:
        """What the mode shows when it has something to show."""
        self._pages.insertWidget(0, content)

    def show_content(self) -> None:
        self._turn_to(0)

    def show_nothing(self, *said: str) -> None:
        """Say why there is nothing to show: a title, a reason, the button's text; without any, as it was declared."""
        self.empty.say(*(said or self.kind.nothing))
        self.say_status()
        self._turn_to(self._pages.count() - 1)

    def _turn_to(self, page: int) -> None:
        """A keyboard that was in the mode stays in it, on what represents the mode."""
        if self._pages.currentIndex() == page:
            return
        inside = focus_is_in(self)
        self._pages.setCurrentIndex(page)
        if inside and self.isVisible():
            focus_inside(self)
        self.details_changed.emit()

    @property
    def shows_nothing(self) -> bool:
        """Whether it only says why there is nothing to show; then the details are hidden too."""
        return self._pages.currentWidget() is self.empty

    def act(self) -> None:
        """What the button does where nothing is shown."""
        self.context.run_requested.emit()

    def is_other_project(self) -> bool:
        """Whether another project is open than when this was last asked, or the same one was closed meanwhile, or none
        is; not where it was only read again."""
        context, before = self.context, self._project
        self._project = (context.workspace.path, context.times_closed) if context.workspace else None
        return self._project != before

    def say_status(self, *parts: str) -> None:
        """What the status bar adds while the mode is shown."""
        if parts != self.status:
            self.status = parts
            self.status_changed.emit()

    @property
    def shown_document(self) -> Document | None:
        """The document that Save speaks of."""
        return None

    @property
    def history(self) -> Undoable:
        """What Undo takes back here."""
        if self.kind.undo is Undo.OWN:
            return self._own_history
        document = self.shown_document
        return self.context.history if document is None else document.history

    def do(self, label: str, do: Callable[[], None], undo: Callable[[], None]) -> bool:
        """Make a change that Ctrl+Z takes back in this mode. False, with a notice, where it could not be made."""
        history = self._own_history if self.kind.undo is Undo.OWN else self.context.history
        return self.context.notices.attempt(lambda: history.do(HistoryStep(label, do, undo)))

    def save(self) -> bool:
        document = self.shown_document
        return document is not None and self.context.documents.save(document)

    def save_as(self) -> bool:
        """Ask for another file, write the document there and go on with that."""
        document = self.shown_document
        if document is None or document.path is None:
            return False
        folder = (self.context.root() or Path.cwd()) if document.read_only else document.path.parent
        path = self.ask_file("Save as", folder / document.path.name)
        return path is not None and self.write_as(path)

    def duplicate(self) -> bool:
        """Write the document to a new file beside it (one of the workbench's: in the project) and go on there."""
        document, workspace = self.shown_document, self.context.workspace
        if document is None or document.path is None:
            return False
        if document.read_only and workspace is None:
            return self.save_as()
        folder = workspace.root if document.read_only and workspace else document.path.parent
        return self.write_as(free_name(folder / document.path.name))

    def write_as(self, path: Path) -> bool:
        document = self.shown_document
        return document is not None and self.context.documents.save_as(document, path)

    @property
    def file_names(self) -> str:
        """The names of the files that it edits, as a file dialog wants them."""
        return "All files (*)"

    def new_document(self) -> bool:
        """Ask for a file and begin a document there."""
        if not self.kind.makes or not self.context.documents.may_leave([d for d in [self.shown_document] if d]):
            return False
        path = self.ask_file(f"New {self.kind.makes}", (self.context.root() or Path.cwd()) / f"new_{self.kind.makes}")
        return path is not None and self.begin(path)

    def begin(self, path: Path) -> bool:
        """Write a document to begin with and show it."""
        return False

    def files_button(self) -> IconButton:
        """A button with what can be done with the mode's files."""
        button = IconButton("plus", f"New {self.kind.makes}, or a copy of this one")
        menu = QMenu(button)
        for text, do in (
            (with_key(f"New {self.kind.makes}...", "new_document"), self.new_document),
            ("Duplicate", self.duplicate),
            (with_key("Save as...", "save_as"), self.save_as),
        ):
            menu.addAction(text).triggered.connect(lambda checked=False, do=do: do())
        button.setMenu(menu)
        button.setPopupMode(IconButton.ToolButtonPopupMode.InstantPopup)
        return button

    def ask_file(self, title: str, path: Path) -> Path | None:
        """The file chosen, its name ending as the names of the kind chosen do."""
        name, kind = QFileDialog.getSaveFileName(self, title, str(path), self.file_names)
        ending = kind.rpartition("*")[2].rstrip(")")
        if not name:
            return None
        known = any(name.endswith(end) for end in re.findall(r"\*(\.[\w.]+)", self.file_names))
        return Path(name if known else name + ending)

    def open_document(self, path: Path) -> None:
        """Show a file that is edited here."""

    def open_line(self, path: Path, line: int) -> None:
        """Show a line of a file."""

    @property
    def can_close(self) -> bool:
        """Whether one of several documents is shown."""
        return False

    def close_shown(self) -> None:
        """Close the one of several documents that is shown."""

    def split_view(self) -> None:
        """Show what is in view beside the rest, or among it again."""

    def show_place(self, path: tuple[int | str, ...]) -> bool:
        """Show the field at a path of the document in forms. False where there is none."""
        return False

    def ask_where(self) -> None:
        """Ask for a place in what is shown, and go there."""

    def go_to_definition(self) -> None:
        """Show where the name at the cursor is defined."""

    def insert_pragma(self) -> None:
        """Ask what the line under the cursor is doing."""

    def propose_marks(self) -> None:
        """List the pragmas that are proposed for the file in view."""

    def restore(self, path: Path, text: str) -> bool:
        """Open a document with an unsaved text in it. False where that was not done."""
        return False

    def find_here(self) -> bool:
        """Open a search of what is shown. False where there is none."""
        return False

    def try_change(self) -> bool:
        """Try the change that the selected finding advises. False where the mode tries none."""
        return False

    def show_times(self, kind: str) -> None:
        """Show the run's time as a "flame" graph or a "treemap"."""

    def compare_before(self) -> None:
        """Compare the open run with the one before it, whichever it was compared with."""

    def step_finding(self, step: int) -> bool:
        """Choose the finding `step` rows on in the mode's own list. False where it has none."""
        return False
