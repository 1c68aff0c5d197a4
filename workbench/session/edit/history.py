"""Undo and redo for all changes, without Qt."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


class Undoable(Protocol):
    """The object that Ctrl+Z acts on: a history of steps, or a text with its own. Labels may be empty."""

    @property
    def undo_label(self) -> str: ...

    @property
    def redo_label(self) -> str: ...

    @property
    def can_undo(self) -> bool: ...

    @property
    def can_redo(self) -> bool: ...

    def undo(self) -> None: ...

    def redo(self) -> None: ...


@dataclass(frozen=True)
class HistoryStep:
    """A change with a name: `do` applies it, `undo` reverts it. A step that raises WorkbenchError has changed
    nothing."""

    label: str
    do: Callable[[], None]
    undo: Callable[[], None]


class History:
    """The applied changes, in order. A step that raises is not recorded."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self._done: list[HistoryStep] = []
        self._undone: list[HistoryStep] = []
        self._changed = changed

    @property
    def undo_label(self) -> str:
        return self._done[-1].label if self._done else ""

    @property
    def redo_label(self) -> str:
        return self._undone[-1].label if self._undone else ""

    @property
    def can_undo(self) -> bool:
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        return bool(self._undone)

    def do(self, command: HistoryStep) -> None:
        command.do()
        self._done.append(command)
        self._undone.clear()
        self._changed()

    def undo(self) -> None:
        """Revert the last change, if there is one."""
        if self._done:
            self._done[-1].undo()
            self._undone.append(self._done.pop())
            self._changed()

    def redo(self) -> None:
        """Apply the last reverted change again, if there is one."""
        if self._undone:
            self._undone[-1].do()
            self._done.append(self._undone.pop())
            self._changed()

    def clear(self) -> None:
        """Remove all steps."""
        self._done.clear()
        self._undone.clear()
        self._changed()
