"""Files that another program writes while they are open: shown as they are now, at once, wherever they are shown."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer

from workbench.gui.context import Context

SETTLE_MS = 100  # a program may write a file in pieces, or put another one in its place


class DiskWatch(QObject):
    """Follows the files of the open documents and of the project. A document with changes of its own keeps them, and a
    notice says so."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._context = context
        self._watched: frozenset[str] = frozenset()
        self._written: set[str] = set()
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._on_file)
        self._settled = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settled.timeout.connect(self._look)
        context.documents.changed.connect(self._follow)
        context.workspace_changed.connect(self._follow)

    def _follow(self) -> None:
        """Watch what is open now."""
        own = self._context.workspace.documents if self._context.workspace else ()
        wanted = frozenset(map(str, (*(d.path for d in self._context.documents if d.path), *own)))
        if wanted != self._watched:
            if gone := list(self._watched - wanted):
                self._watcher.removePaths(gone)
            if new := [path for path in wanted - self._watched if Path(path).is_file()]:
                self._watcher.addPaths(new)
            self._watched = wanted

    def _on_file(self, name: str) -> None:
        self._written.add(name)
        self._settled.start()

    def _look(self) -> None:
        context, sources = self._context, False
        written, self._written = self._written & self._watched, set()
        for name in written:
            if Path(name).is_file():
                self._watcher.addPath(name)  # another file in its place is not watched yet
        for document in context.documents:
            if str(document.path) not in written or not document.changed_on_disk:
                continue
            if document.dirty:
                context.documents.told(document)
            elif context.notices.attempt(document.reload):
                sources = sources or document.kind == "source"
        if context.workspace is not None and written & set(map(str, context.workspace.documents)):
            context.when_current()
        elif sources:
            context.rescan()
