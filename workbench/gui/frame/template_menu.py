"""A menu of platform templates: titles in groups, file names beside them, a filter that finds both."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidgetAction

from workbench.gui.look import fonts
from workbench.gui.widgets import SignField
from workbench.session.edit.template_list import template_groups


def fill_templates(
    menu: QMenu, own: Iterable[Path], bundled: Iterable[Path], open_: Callable[[Path], object], shown: Path | None
) -> None:
    """Add the project's `own` templates and those of the workbench; `shown` is ticked."""
    field = SignField("funnel", "Filter templates")
    field.setFixedHeight(28)
    asked = QWidgetAction(menu)
    asked.setDefaultWidget(field)
    menu.addAction(asked)
    groups: list[tuple[QAction, list[QAction]]] = []
    for name, found in template_groups(own, bundled).items():
        head = menu.addAction(name)
        head.setFont(fonts.ui_font(12, 600))
        head.setEnabled(False)
        actions = []
        for one in found:
            action = menu.addAction(f"{one.title}\t{one.path.name}")
            action.setCheckable(True)
            action.setChecked(one.path == shown)
            action.triggered.connect(partial(_open, open_, one.path))
            actions.append(action)
        groups.append((head, actions))

    def refilter(text: str) -> None:
        words = text.lower().split()
        for head, actions in groups:
            for action in actions:
                action.setVisible(all(word in action.text().lower() for word in words))
            head.setVisible(any(action.isVisible() for action in actions))
        first = next((a for _, actions in groups for a in actions if a.isVisible()), None)
        if words and first is not None:
            menu.setActiveAction(first)
            field.setFocus()

    def take() -> None:
        if (action := menu.activeAction()) is not None and action is not asked:
            menu.close()
            action.trigger()

    field.textChanged.connect(refilter)
    field.returnPressed.connect(take)
    menu.aboutToShow.connect(field.clear)
    menu.aboutToShow.connect(lambda: QTimer.singleShot(0, field, field.setFocus))


def _open(open_: Callable[[Path], object], path: Path, checked: bool = False) -> None:
    open_(path)
