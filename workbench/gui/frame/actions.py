"""Commands and the menus that they are in, as data; one QAction each, for menus, keys and the search field alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from workbench.session.program.keys import COMMANDS, key_in_force
from workbench.session.program.palette import words_of


@dataclass(frozen=True)
class WindowCommand:
    """`can` says whether it can be given now, `says` its name now, where that changes, `on` whether it is
    the one of several that is in force."""

    name: str
    text: str
    do: Callable[[], object]
    key: str = ""
    can: Callable[[], bool] = lambda: True
    says: Callable[[], str] | None = None
    on: Callable[[], bool] | None = None


def known(
    name: str, do: Callable[[], object], can: Callable[[], bool] = lambda: True, says: Callable[[], str] | None = None
) -> WindowCommand:
    """One of the commands of `session/program/keys.py`."""
    text, key = COMMANDS[name]
    return WindowCommand(name, text, do, key, can, says)


@dataclass(frozen=True)
class Menu:
    """A menu, or one inside another. None among its items is a line between them; `fill` makes them as it opens."""

    title: str
    items: Sequence[WindowCommand | Menu | None] = ()
    fill: Callable[[QMenu], None] | None = None


class Actions:
    """Makes the menus of a window. `all` holds every command's action by its name."""

    def __init__(self, window: QWidget, bar: QMenuBar) -> None:
        self._window, self._bar = window, bar
        self._commands: list[tuple[WindowCommand, QAction]] = []
        self.all: dict[str, QAction] = {}
        QShortcut(QKeySequence("F10"), window, lambda: bar.setActiveAction(bar.actions()[0]))

    def add(self, menus: Iterable[Menu]) -> None:
        for menu in menus:
            self._fill(self._bar.addMenu(menu.title), menu)

    def _fill(self, shown: QMenu, menu: Menu, inside: str = "") -> None:
        """`inside` is what the search says before the commands of a menu that is in another."""
        for item in menu.items:
            if item is None:
                shown.addSeparator()
            elif isinstance(item, Menu):
                self._fill(shown.addMenu(item.title), item, f"{item.title}: ")
            else:
                shown.addAction(action := self._action(item))
                action.setProperty("search_title", f"{inside}{item.text}" if inside else "")
        if menu.fill is not None:
            shown.aboutToShow.connect(partial(menu.fill, shown))

    def _action(self, command: WindowCommand) -> QAction:
        action = QAction(command.text, self._window)
        action.setShortcut(QKeySequence(key_in_force(command.name, command.key)))
        action.setProperty("search_words", words_of(command.name))
        action.setCheckable(command.on is not None)
        action.triggered.connect(lambda checked=False: command.do())
        self._window.addAction(action)
        self.all[command.name] = action
        self._commands.append((command, action))
        return action

    def take_keys(self) -> None:
        """Other keys were chosen."""
        for command, action in self._commands:
            action.setShortcut(QKeySequence(key_in_force(command.name, command.key)))

    def impossible(self, keys: QKeySequence) -> str:
        """The command of these keys that cannot be given now; "" where there is none."""
        return next((a.text().rstrip(".") for _, a in self._commands if a.shortcut() == keys and not a.isEnabled()), "")

    def update(self) -> None:
        """Which commands can be given now, and what they are called."""
        for command, action in self._commands:
            action.setEnabled(command.can())
            if command.says is not None:
                action.setText(command.says())
            if command.on is not None:
                action.setChecked(command.on())
