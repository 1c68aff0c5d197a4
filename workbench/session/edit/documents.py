"""What is being edited: each file's text beside what the file holds. One notion of unsaved for them all."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

from workbench.api.source.edits import decode, encode
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.edit.history import History, HistoryStep
from workbench.session.program.files import write_atomically
from workbench.system.files import read_file, sha256


class Event:
    """Something that happens to a document, and who wants to hear of it."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[], object]] = []

    def connect(self, listener: Callable[[], object]) -> None:
        self._listeners.append(listener)

    def disconnect(self, listener: Callable[[], object]) -> None:
        self._listeners.remove(listener)

    def emit(self) -> None:
        for listener in tuple(self._listeners):
            listener()


def free_name(path: Path) -> Path:
    """The path, or the first that is free of `card-2.yaml`, `card-3.yaml`, ..."""
    head, dot, tail = path.name.partition(".")
    names = (f"{head}-{number}{dot}{tail}" for number in count(2))
    return path if not path.exists() else next(p for p in (path.with_name(n) for n in names) if not p.exists())


class ChangedOnDisk(WorkbenchError):
    """A file holds something else than was read from it or written to it here."""

    def __init__(self, path: Path) -> None:
        message = "this file was changed by another program since it was read"
        super().__init__(Diagnostic(message, "Reload it and try again; nothing was written.", file=str(path)))


class Document:
    """A text, and the file that it came from. It is unsaved while the two differ.

    `kind` is the mode that edits it. `changed` follows the text and the file, `history` what was done to the text.
    """

    kind = ""

    def __init__(self) -> None:
        self.path: Path | None = None
        self.text = ""
        self.saved_text = ""
        self.changed = Event()
        self.stepped = Event()  # `history` has another end
        self.history = History(self.stepped.emit)
        self._on_disk: bytes | None = None

    def decode(self, data: bytes) -> str:
        raise NotImplementedError

    def encode(self, text: str) -> bytes:
        """The text as the file's bytes."""
        raise NotImplementedError

    @property
    def dirty(self) -> bool:
        return self.text != self.saved_text

    @property
    def read_only(self) -> bool:
        return False

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the text and keeps it from being saved."""
        return ()

    @property
    def base_sha256(self) -> str:
        """Of the file as it was read or written here; empty where there is none."""
        return "" if self._on_disk is None else sha256(self._on_disk)

    @property
    def changed_on_disk(self) -> bool:
        """Whether another program wrote the file. One that is gone counts as unchanged: saving makes it again."""
        return self.path is not None and self.path.is_file() and read_file(self.path) != self._on_disk

    def open(self, path: Path) -> None:
        """Read a file. Raises WorkbenchError where that fails; the document is then as it was."""
        data = read_file(path)
        text = self.decode(data)
        self._take(path, data, text)

    def close(self) -> None:
        """Hold no file, and nothing unsaved."""
        self._take(None, None, "")

    def _take(self, path: Path | None, data: bytes | None, text: str) -> None:
        self.path, self._on_disk = path, data
        self.text = self.saved_text = text
        self.history.clear()
        self.read()
        self.changed.emit()

    def read(self) -> None:
        """Find out what the text means, where that matters."""

    def type(self, text: str) -> None:
        """The text is now this one."""
        if text != self.text:
            self.text = text
            self.read()
            self.changed.emit()

    def replace(self, label: str, text: str) -> None:
        """Put another text in the place of all, by one step that can be undone."""
        self.history.do(HistoryStep(label, partial(self.type, text), partial(self.type, self.text)))

    def reload(self) -> None:
        """Take the file's text as it is now; what was here can be had back by undo. Raises WorkbenchError."""
        if self.path is not None:
            data = read_file(self.path)
            self.saved_text, self._on_disk = self.decode(data), data
            self.replace("reload", self.saved_text)
            self.changed.emit()

    def revert(self) -> None:
        """Give up what is unsaved."""
        self.type(self.saved_text)

    def check(self) -> None:
        """Raises WorkbenchError where the text must not be written as it is."""

    def save(self, over: bool = False) -> None:
        """Write the file, if there is something unsaved; the steps that led here can still be undone.

        Raises WorkbenchError where that fails, and ChangedOnDisk, unless `over` is set, where another program wrote
        the file meanwhile. The file is then as it was.
        """
        if self.path is None or self.read_only or not self.dirty:
            return
        self.check()
        if self._on_disk is not None and not self.path.parent.is_dir():
            hint = "It may have another name now. The text is kept here: Save as writes it elsewhere."
            raise WorkbenchError(
                Diagnostic("not saved: the file's folder was deleted or moved", hint, file=str(self.path))
            )
        if not over and self.changed_on_disk:
            raise ChangedOnDisk(self.path)
        self._write(self.path)

    def save_as(self, path: Path) -> None:
        """Write the text to another file and go on with that one. Raises WorkbenchError where that fails."""
        self.check()
        self._write(path)

    def _write(self, path: Path) -> None:
        data = self.encode(self.text)
        self.put(path, data)
        moved = path != self.path
        self.path, self._on_disk, self.saved_text = path, data, self.text
        if moved:
            self.read()
        self.changed.emit()

    def put(self, path: Path, data: bytes) -> None:
        """Write the bytes, whole or not at all. Raises WorkbenchError where that fails."""
        write_atomically(path, data)


class SourceFile(Document):
    """A file of source text. Lines that were not changed keep their bytes: encoding, newlines, odd blanks."""

    kind = "source"

    def __init__(self, writable: bool = True) -> None:
        super().__init__()
        self._writable = writable

    @property
    def read_only(self) -> bool:
        return not self._writable

    def decode(self, data: bytes) -> str:
        return decode(data)

    def encode(self, text: str) -> bytes:
        return encode(text, self._on_disk or b"")

    def replace(self, label: str, text: str) -> None:
        self.type(text)  # its editor follows, with an undo of its own

    def save_as(self, path: Path) -> None:
        self._writable = True
        super().save_as(path)


class Documents:
    """The documents open in a window, those without a file among them. `changed` follows every one."""

    def __init__(self) -> None:
        self._open: list[Document] = []
        self.changed = Event()

    def __iter__(self) -> Iterator[Document]:
        return iter(tuple(self._open))

    def add(self, document: Document) -> None:
        self._open.append(document)
        document.changed.connect(self.changed.emit)
        document.stepped.connect(self.changed.emit)
        self.changed.emit()

    def remove(self, document: Document) -> None:
        self._open.remove(document)
        self.changed.emit()

    @property
    def unsaved(self) -> tuple[Document, ...]:
        return tuple(d for d in self._open if d.dirty)

    def at(self, path: Path) -> tuple[Document, ...]:
        """The documents on a file; one can be open as a form and as text."""
        return tuple(d for d in self._open if d.path == path)
