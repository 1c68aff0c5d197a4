"""The Settings dialog: lists and filters all settings, and applies each change at once."""

from collections.abc import Iterator, Mapping
from functools import partial

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QLineEdit,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.frame.settings_rows import SettingRow
from workbench.gui.look.theme import set_ground
from workbench.gui.run.background import Background
from workbench.gui.widgets import Button, ElidedLabel, PillButton, SeverityIcon, label, scrolled
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.model.diagnostic import Diagnostic
from workbench.run.machine import Requirement, programs
from workbench.session.open.trust import AS_IT_STOOD, OWN, trusted, withdraw
from workbench.session.program.keys import KEY_GROUPS
from workbench.session.program.settings import GROUPS, Setting
from workbench.system.cache import cache_dir
from workbench.system.toolchain import short_version

#: Keys of views, which are fixed.
VIEW_KEYS = (
    ("Enter, double click", "open the line of the selection; in the block graph, a block's states"),
    ("Click with Ctrl", "editor: go to the definition of a name"),
    ("1 to 6", "pragma dialog: choose its category"),
    ("Arrows, +, −", "in a picture: move, zoom in and out"),
    ("Tab", "timeline: next edge of the selected state"),
    ("Esc", "cancel a gesture, close popups"),
)
_KEYS, _FIXED, _TRUSTED = "Keys", "Fixed keys", "Trusted projects"
_OF_KEYS = (*KEY_GROUPS, _FIXED)  # the groups within that of keys
_HEADS = (*GROUPS, _FIXED, _TRUSTED)
_HEAD_PX = 24  # so near the top is the head of the group in view
_AT_ONCE = 8  # rows made in a turn of the event loop


class SettingsDialog(QDialog):
    """`changed` carries the name of what was set. It is whole once `build` has ended."""

    changed = Signal(str)

    def __init__(self, known: Mapping[str, Setting], background: Background, parent: QWidget) -> None:
        super().__init__(parent)
        self._background = background
        self.setWindowTitle("Settings")
        self._room = lambda: QSize(parent.width() - 20, max(400, parent.height() - 80))
        self.resize(QSize(940, max(760, parent.height() * 4 // 5)).boundedTo(self._room()))
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find a setting")
        self.search.setAccessibleName("Find a setting")
        self.search.setClearButtonEnabled(True)
        for clear in self.search.findChildren(QToolButton):
            clear.setAccessibleName("Clear")
        self.search.textChanged.connect(self._find)
        self.set_only = PillButton("Set by you")
        self.set_only.setToolTip("Only settings that were changed")
        self.set_only.toggled.connect(lambda: self._find(self.search.text()))
        self._make_groups()
        self._known = known
        self.rows: dict[str, SettingRow] = {}
        self._heads = {group: label(group, "title") for group in _HEADS}
        for head in self._heads.values():
            head.setContentsMargins(0, 10, 0, 2)
        self._others = [(label(keys, "code"), label(what, "smallsecond")) for keys, what in VIEW_KEYS]
        self._none = label("", "muted", wrap=True)
        self._wrong, self._wrong_said = QWidget(), label("", "second", wrap=True)  # above the rows
        set_ground(self._wrong, "note")
        self.go_to_wrong = Button("Go to it", kind="link", on=self._go_to_wrong)
        parts = (SeverityIcon("high"), (self._wrong_said, 1), self.go_to_wrong)
        row_layout(*parts, of=self._wrong, margins=(12, 6, 12, 6), spacing=10)
        self._wrong.hide()
        self._trusted = QWidget()
        self._trusted.setLayout(QVBoxLayout())

    def _make_groups(self) -> None:
        """The list at the left: those of keys are within one group."""
        self.groups = QTreeWidget()
        self.groups.setFixedWidth(148)
        self.groups.setHeaderHidden(True)
        self.groups.setRootIsDecorated(False)
        self.groups.setIndentation(12)
        self.groups.setItemsExpandable(False)
        self.groups.setAccessibleName("Groups of settings")
        self.groups.setStyleSheet(
            "QTreeWidget { background: transparent; } QTreeWidget::item { padding: 6px 10px; border-radius: 5px; }"
            "QTreeWidget::branch { image: none; } QTreeWidget::branch:selected { background: transparent; }"
        )
        self._items: dict[str, QTreeWidgetItem] = {}
        self._keys = QTreeWidgetItem([_KEYS])
        for group in _HEADS:
            if group == _OF_KEYS[0]:
                self.groups.addTopLevelItem(self._keys)
            above, title = (self._keys, group.removesuffix(" keys")) if group in _OF_KEYS else (self.groups, group)
            self._items[group] = QTreeWidgetItem(above, [title])
        self.groups.expandAll()
        self.groups.currentItemChanged.connect(lambda item, before: self._go_to(item) if item else None)
        self.groups.itemClicked.connect(self._go_to)

    def build(self) -> Iterator[None]:
        """Make the rows, some in a turn."""
        for number, (name, setting) in enumerate(self._known.items()):
            shown = self.rows[name] = SettingRow(setting, self._known)
            shown.changed.connect(partial(self._on_changed, name))
            shown.wrong_changed.connect(self._show_wrong)
            if number % _AT_ONCE == _AT_ONCE - 1:
                yield
        self._rows_column = column_layout(margins=(18, 4, 12, 18), spacing=2)
        self.area = scrolled("Settings", self._rows_column, "box")
        self.area.verticalScrollBar().valueChanged.connect(self._show_group)
        row = row_layout(self.groups, (self.area, 1), spacing=12)
        above = row_layout((self.search, 1), self.set_only, spacing=10)
        column = column_layout(above, self._wrong, of=self, margins=(20, 16, 20, 20), spacing=12)
        column.addLayout(row, 1)
        yield
        yield from self._fill()
        self._find("")
        self.winId()  # what the first showing takes, in turns of its own
        yield
        if (whole := self.layout()) is not None:
            whole.activate()

    def _fill(self) -> Iterator[None]:
        """Put the rows in their places, some in a turn: all at once would be dressed in one."""
        column = self._rows_column
        for group in GROUPS:
            column.addWidget(self._heads[group])
            of_group = [shown for shown in self.rows.values() if shown.setting.group == group]
            for number, shown in enumerate(of_group):
                column.addWidget(shown)
                for part in (shown, *shown.findChildren(QWidget)):
                    part.ensurePolished()
                if number % _AT_ONCE == _AT_ONCE - 1:
                    yield
            yield
        column.addWidget(self._heads[_FIXED])
        for keys, what in self._others:
            keys.setFixedWidth(150)
            column.addLayout(row_layout(keys, what, STRETCH))
        column.addWidget(self._heads[_TRUSTED])
        column.addWidget(self._trusted)
        column.addWidget(self._none)
        column.addStretch(1)

    def opening(self, words: str = "") -> Iterator[None]:
        """Show the settings that have these words, as they are now, and look for programs anew."""
        for row in self.rows.values():
            row.read()
        yield
        self.rows["folder.cache"].say_found(str(cache_dir()))
        self._look_for_programs()
        self._show_trusted()
        self._show_wrong()
        self.search.setText(words)
        self._find(words)
        self.resize(self.size().boundedTo(self._room()))
        self.show()
        self.raise_()
        self.activateWindow()
        self.search.setFocus()
        self.search.selectAll()

    def _find(self, text: str) -> None:
        words = text.lower().split()
        only = self.set_only.isChecked()
        names = {name for name, row in self.rows.items()
                 if all(word in row.says() for word in words) and (row.is_set or not only)}  # fmt: skip
        for name, row in self.rows.items():
            row.setVisible(name in names)
        groups = {self.rows[name].setting.group for name in names}
        for keys, what in self._others:
            shown = not only and all(word in f"{_FIXED} {keys.text()} {what.text()}".lower() for word in words)
            keys.setVisible(shown)
            what.setVisible(shown)
            groups |= {_FIXED} if shown else set()
        if trusted() and not only and all(word in _TRUSTED.lower() for word in words):
            groups.add(_TRUSTED)
        self._keys.setHidden(groups.isdisjoint(_OF_KEYS))
        self._trusted.setVisible(_TRUSTED in groups)
        for group, head in self._heads.items():
            head.setVisible(group in groups)
            self._items[group].setHidden(group not in groups)
        self._none.setText("No setting matches." if words or not only else "All settings have their defaults.")
        self._none.setVisible(not groups)
        self.area.verticalScrollBar().setValue(0)
        QTimer.singleShot(0, self, self._show_group)  # once what was hidden has its place

    def _go_to(self, item: QTreeWidgetItem) -> None:
        """Bring a group's settings into view, or those of the first within it."""
        show = self.area.verticalScrollBar().setValue
        heads = [
            head for group, head in self._heads.items() if item in (self._items[group], self._items[group].parent())
        ]
        head = next((head for head in heads if not head.isHidden()), heads[0])
        QTimer.singleShot(0, self, lambda: show(head.y()))

    def _show_wrong(self) -> None:
        """Say above all rows what is wrong in one of them, which may be out of sight."""
        wrong = [row for row in self.rows.values() if row.wrong]
        self._wrong.setVisible(bool(wrong))
        if wrong:
            more = f" ({len(wrong) - 1} more)" if wrong[1:] else ""
            self._wrong_said.setText(f"{wrong[0].setting.title}: {wrong[0].wrong}{more}")

    def _go_to_wrong(self) -> None:
        """Bring the row into view that is spoken of, whatever was searched for."""
        row = next((row for row in self.rows.values() if row.wrong), None)
        if row is not None:
            self.set_only.setChecked(False)
            self.search.clear()
            row.field.setFocus(Qt.FocusReason.OtherFocusReason)
            QTimer.singleShot(0, self, lambda: self.area.ensureWidgetVisible(row, 0, 40))  # once all have their places

    def _show_group(self) -> None:
        """Mark the group in view: the last whose head is not below the top, or at the end of all the one gone to."""
        bar, shown = self.area.verticalScrollBar(), [g for g, head in self._heads.items() if not head.isHidden()]
        above = [group for group in shown if self._heads[group].y() <= bar.value() + _HEAD_PX]
        chosen = next((group for group in shown if self._items[group] is self.groups.currentItem()), None)
        group = above[-1] if above else shown[0] if shown else None
        at_end = bar.value() == bar.maximum() > 0 and chosen is not None and chosen not in above
        if not at_end:
            quiet = QSignalBlocker(self.groups)
            self.groups.setCurrentItem(self._items[group] if group else None)  # type: ignore[arg-type]
            del quiet

    def _show_trusted(self) -> None:
        """List the trusted projects, each with a button to be asked again."""
        fresh = QWidget()
        grid = QGridLayout(fresh)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(0, 1)
        for row, (path, own) in enumerate(trusted().items()):
            grid.addWidget(ElidedLabel(path, "code", Qt.TextElideMode.ElideLeft), 2 * row, 0)
            grid.addWidget(label(OWN if own else AS_IT_STOOD, "smallsecond"), 2 * row + 1, 0)
            ask = Button("Ask again", kind="link", on=partial(self._withdraw, path))
            grid.addWidget(ask, 2 * row, 1)
        self._rows_column.replaceWidget(self._trusted, fresh)
        self._trusted.deleteLater()
        self._trusted = fresh

    def _withdraw(self, path: str) -> None:
        withdraw(path)
        self._show_trusted()
        self._find(self.search.text())
        self.changed.emit("trusted")

    def _on_changed(self, name: str) -> None:
        for row in self.rows.values():  # a key may have been another's
            if row.setting.kind == "key":
                row.read()
        if name.startswith("program."):
            self._look_for_programs()
        self.changed.emit(name)

    def _look_for_programs(self) -> None:
        self._background.start("programs", programs, self._show_programs, lambda problems: None)

    def _show_programs(self, requirements: tuple[Requirement, ...]) -> None:
        """Below each program the one that is used, or what to do about it."""
        for part in requirements:
            if row := self.rows.get(f"program.{part.name}"):
                lacks = isinstance(part.state, Diagnostic)
                said = f"{part.state.message}. {part.state.hint}" if isinstance(part.state, Diagnostic) else (
                    f"{row.setting.what}; {short_version(part.state)}"
                )  # fmt: skip
                row.explain(said, "smallmedium" if lacks else "smallsecond")
                row.say_found("" if isinstance(part.state, Diagnostic) else str(part.state.path))
