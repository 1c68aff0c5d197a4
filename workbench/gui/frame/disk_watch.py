"""Watches open files for changes by other programs, and reloads them in every view."""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer

from workbench.gui.frame.context import Context
from workbench.model.diagnostic import Diagnostic, Severity

SETTLE_MS = 100  # a program may write a file in pieces, or put another one in its place
_GONE = "Its text is kept here. Use Save as to write it elsewhere."


class DiskWatch(QObject):
    """Follows the files of the open documents and of the project. A document with changes of its own keeps them, and a
    notice says so. A file that is gone is followed again from when it is back."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._context = context
        self._wanted: frozenset[str] = frozenset()
        self._there: frozenset[str] = frozenset()  # those of them that were there at the last look
        self._written: set[str] = set()
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._on_file)
        self._watcher.directoryChanged.connect(self._on_folder)
        self._settled = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settled.timeout.connect(self._look)
        context.documents.changed.connect(self._follow)
        context.workspace_changed.connect(self._follow)
        context.scan_changed.connect(self._follow)

    def _own(self) -> frozenset[str]:
        """The files that the project was read from."""
        return frozenset(map(str, self._context.workspace.documents if self._context.workspace else ()))

    def _missing(self) -> frozenset[str]:
        """The sources that the last scan did not find: their project is read again from when they are back."""
        problems = self._context.scan.diagnostics if self._context.scan else ()
        named = {str(self._context.resolve(problem.file)) for problem in problems if problem.file}
        return frozenset(named) - _files(named)

    def _follow(self) -> None:
        """Watch what is open now. What was written since it was read, and before it was watched, is looked at too."""
        wanted = self._own() | self._missing() | {str(d.path) for d in self._context.documents if d.path}
        if wanted != self._wanted:
            for name in self._wanted - wanted:
                self._context.notices.keep(f"gone {name}")
            new = wanted - self._wanted
            self._wanted, self._there = wanted, (self._there & wanted) | _files(new)
            self._written |= new
            self._watch()
            self._settled.start()

    def _watch(self) -> None:
        """Watch each file that is there, and where it may go and come back: its folder and the one above, which alone
        hears of another name for the folder."""
        folders = {_nearest(Path(name).parent) for name in self._wanted}
        places = self._there | {str(place) for folder in folders for place in (folder, folder.parent)}
        watched = {*self._watcher.files(), *self._watcher.directories()}
        if old := list(watched - places):
            self._watcher.removePaths(old)
        if new := list(places - watched):  # another file in a file's place is not watched yet
            self._watcher.addPaths(new)

    def _on_file(self, name: str) -> None:
        self._written.add(name)
        self._settled.start()

    def _on_folder(self, _: str) -> None:
        if not self._settled.isActive():  # a folder in which files come and go all the time puts nothing off
            self._settled.start()

    def _look(self) -> None:
        context, there, own = self._context, _files(self._wanted), self._own()
        back, gone = there - self._there, self._there - there
        sources = bool(back)
        written, self._written, self._there = (self._written & there) | back, set(), there
        self._watch()
        if _files(self._wanted) != there:  # one came or went before its place was watched again
            self._settled.start()
        for name in back:
            context.notices.keep(f"gone {name}")
        for name in gone - own:  # the project's reader reports its own
            context.notices.keep(
                f"gone {name}", Diagnostic("this file was deleted or moved", _GONE, Severity.WARNING, name)
            )
        for document in context.documents:
            if str(document.path) not in written or not document.changed_on_disk:
                continue
            if document.dirty:
                context.documents.report_overtaken(document)
            elif context.notices.attempt(document.reload):
                sources = sources or document.kind == "source"
        if (written | gone) & own:
            context.when_current(context.rescan if back else lambda: None)
        elif sources:
            context.rescan()


def _files(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in names if Path(name).is_file())


def _nearest(folder: Path) -> Path:
    return next((place for place in (folder, *folder.parents) if place.is_dir()), Path("/"))
