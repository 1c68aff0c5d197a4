"""What a driven test can ask about the window, beside its own attributes."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

from driven.names import nameless
from driven.texts import clipped
from PySide6.QtCore import QPoint, QRect, QTimer
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QMenuBar, QWidget

from workbench.gui.open.new_project import NewProject
from workbench.gui.run.run_control import EndedRun
from workbench.gui.widgets.popover import Popover
from workbench.traces.markers import Marker

__all__ = ["EndedRun", "Marker", "NewProject", "QTimer", "clipped", "nameless"]  # beside all that is defined here


def place(widget: QWidget, x: float | None, y: float | None) -> tuple[int, int]:
    """A point of a widget on the screen: from its far edge where negative, its middle where left out."""
    box = widget.rect()
    across = box.width() / 2 if x is None else x if x >= 0 else box.width() + x
    down = box.height() / 2 if y is None else y if y >= 0 else box.height() + y
    at, ratio = widget.mapToGlobal(QPoint(int(across), int(down))), widget.devicePixelRatioF()
    return int(at.x() * ratio), int(at.y() * ratio)


def picture(path: str, beside: QWidget | None = None) -> None:
    """Save what the screen shows of the window, with all that floats over it, and of a window beside it; without the
    window manager's frame."""
    frame = QRect(_window().geometry())
    if beside is not None:
        frame = frame.united(beside.window().geometry())
    shown = QApplication.primaryScreen().grabWindow(0)
    ratio = shown.devicePixelRatio()
    shown.copy(*(int(value * ratio) for value in frame.getRect())).save(path)  # type: ignore[call-overload]


def visible_widgets() -> Iterator[QWidget]:
    for top in QApplication.topLevelWidgets():
        if top.isVisible():
            yield top
            yield from (widget for widget in top.findChildren(QWidget) if widget.isVisible())


def find(text: str = "", kind: str = "", name: str = "") -> QWidget:
    """The first widget shown with this text, class and part of its accessible name. KeyError where there is none."""
    for widget in visible_widgets():
        own = widget.text() if callable(getattr(widget, "text", None)) else None
        if (
            (not text or own == text)
            and (not kind or type(widget).__name__ == kind)
            and name in widget.accessibleName()
        ):
            return widget
    raise KeyError(f"no {kind or 'widget'} '{text or name}' is shown")


def can_press(text: str) -> bool:
    """Whether a button with this text is shown that can be pressed."""
    return any(w.text() == text and w.isEnabled() for w in visible_widgets() if isinstance(w, QAbstractButton))


def focus() -> list[str]:
    """The classes of the widget that has the focus and of what it is in, innermost first."""
    names = []
    widget = QApplication.focusWidget()
    while widget is not None:
        names.append(type(widget).__name__)
        widget = widget.parentWidget()
    return names


def popovers() -> list[QWidget]:
    """What floats over the window itself."""
    return [widget for widget in _window().findChildren(Popover) if widget.isVisible()]


def beside() -> QWidget | None:
    """The window that stands beside the main one: the guide's, or the settings'."""
    floating = _window().floating  # type: ignore[attr-defined]
    others = floating.guide, floating.settings
    return next((other for other in others if other is not None and other.isVisible()), None)


def new_from_sources() -> None:
    """What would be a project of the folder of the open one."""
    context = _window().context  # type: ignore[attr-defined]
    NewProject(context.workspace.root, context.plugins, context.background, context.open_project, _window()).open()


def open_menu() -> str:
    """The title of the menu that is open, without its mark for Alt."""
    menu = QApplication.activePopupWidget()
    return menu.title().replace("&", "") if isinstance(menu, QMenu) else ""


def focus_in(widget: QWidget) -> bool:
    """Whether the focus is on a widget or in it, in the window that has the keyboard."""
    focused = QApplication.focusWidget()
    return focused is not None and focused.isActiveWindow() and (widget is focused or widget.isAncestorOf(focused))


def geometry() -> dict[str, tuple[int, ...]]:
    """Where everything shown lies in the window, by its classes and number among its like."""
    found: dict[str, tuple[int, ...]] = {}

    def walk(widget: QWidget, path: str) -> None:
        counts: dict[str, int] = {}
        for part in widget.children():
            if isinstance(part, QWidget) and part.isVisible() and not part.isWindow():
                kind = type(part).__name__
                counts[kind] = counts.get(kind, 0) + 1
                found[f"{path}/{kind}{counts[kind]}"] = part.geometry().getRect()
                walk(part, f"{path}/{kind}{counts[kind]}")

    walk(_window(), "")
    return found


def held() -> dict[str, int]:
    """What the window holds: widgets, objects of Python, open file descriptors, kilobytes of memory."""
    gc.unfreeze()  # what is left out of the looks between turns too
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "widgets": len(QApplication.allWidgets()),
        "objects": len(gc.get_objects()),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "memory_kb": pages * os.sysconf("SC_PAGE_SIZE") // 1024,
    }


# ---- menus


def menu_actions(menu: QMenu | QMenuBar) -> Iterator[QAction]:
    """Every command of a menu, those of its sub-menus among them."""
    for action in menu.actions():
        if (inside := action.menu()) is not None:
            assert isinstance(inside, QMenu)
            yield from menu_actions(inside)
        elif not action.isSeparator():
            yield action


def shortcuts() -> list[tuple[str, str, str]]:
    """Every command in the menus that has keys: its name, its text, its keys as xdotool names them."""
    commands = _window().actions_of.all  # type: ignore[attr-defined]
    return [(name, action.text(), xdotool_keys(key)) for name, action in commands.items() for key in action.shortcuts()]


def xdotool_keys(key: QKeySequence) -> str:
    """`Ctrl+Shift+Z` as `ctrl+shift+z`: what `xdotool key` takes."""
    *modifiers, last = key.toString().split("+")
    last = {",": "comma"}.get(last, last.lower() if len(last) == 1 else last)
    return "+".join([*(part.lower() for part in modifiers), last])


def count_commands() -> None:
    """From now on `given` keeps which commands of the menus were given."""
    given.clear()
    for action in menu_actions(_window().header.menus):  # type: ignore[attr-defined]
        action.triggered.connect(lambda checked=False, given_action=action: given.append(given_action.text()))


given: list[str] = []


def _window() -> QWidget:
    return next(w for w in QApplication.topLevelWidgets() if type(w).__name__ == "MainWindow")
