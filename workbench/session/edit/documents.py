"""The documents in the editor: each file's edited text and the text on disk. All documents share one notion of
unsaved."""

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
    """A notification of a document, with its listeners."""

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
    """The path, or the first free one of `card-2.yaml`, `card-3.yaml`, ..."""
    head, dot, tail = path.name.partition(".")
    names = (f"{head}-{number}{dot}{tail}" for number in count(2))
    return path if not path.exists() else next(p for p in (path.with_name(n) for n in names) if not p.exists())


class ChangedOnDisk(WorkbenchError):
    """The file on disk differs from what was last read or written here."""

    def __init__(self, path: Path) -> None:
        message = "this file was changed by another program since it was read"
        super().__init__(Diagnostic(message, "Reload it and try again; nothing was written.", file=str(path)))


class Document:
    """An edited text and its file. It is unsaved while the two differ.

    `kind` is the mode that edits it. `changed` follows the text and the file, `history` holds its undo steps.
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
        """The text as bytes of the file."""
        raise NotImplementedError

    @property
    def dirty(self) -> bool:
        return self.text != self.saved_text

    @property
    def read_only(self) -> bool:
        return False

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors in the text that prevent saving."""
        return ()

    @property
    def base_sha256(self) -> str:
        """The SHA-256 of the file as last read or written here; "" without a file."""
        return "" if self._on_disk is None else sha256(self._on_disk)

    @property
    def changed_on_disk(self) -> bool:
        """Whether another program changed the file. A deleted file counts as unchanged, since saving creates it
        again."""
        return self.path is not None and self.path.is_file() and read_file(self.path) != self._on_disk

    def open(self, path: Path) -> None:
        """Read a file. Raises WorkbenchError if that fails; the document is then unchanged."""
        data = read_file(path)
        text = self.decode(data)
        self._take(path, data, text)

    def close(self) -> None:
        """Close the file, and discard unsaved changes."""
        self._take(None, None, "")

    def _take(self, path: Path | None, data: bytes | None, text: str) -> None:
        self.path, self._on_disk = path, data
        self.text = self.saved_text = text
        self.history.clear()
        self.read()
        self.changed.emit()

    def read(self) -> None:
        """Parse the text, for documents that have a structure."""

    def type(self, text: str) -> None:
        """Set the text."""
        if text != self.text:
            self.text = text
            self.read()
            self.changed.emit()

    def replace(self, label: str, text: str) -> None:
        """Replace the whole text in one undo step."""
        self.history.do(HistoryStep(label, partial(self.type, text), partial(self.type, self.text)))

    def reload(self) -> None:
        """Load the file's text from disk; undo restores the previous text. Raises WorkbenchError."""
        if self.path is not None:
            data = read_file(self.path)
            self.saved_text, self._on_disk = self.decode(data), data
            self.replace("reload", self.saved_text)
            self.changed.emit()

    def revert(self) -> None:
        """Discard unsaved changes."""
        self.type(self.saved_text)

    def check(self) -> None:
        """Raise WorkbenchError if the text must not be written."""

    def save(self, over: bool = False) -> None:
        """Write the file if there are unsaved changes; the undo steps remain.

        Raises WorkbenchError if that fails, and ChangedOnDisk, unless `over` is set, if another program wrote the file
        meanwhile. The file is then unchanged.
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
        """Write the text to another file and edit that one. Raises WorkbenchError if that fails."""
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
        """Write the bytes atomically. Raises WorkbenchError if that fails."""
        write_atomically(path, data)


class SourceFile(Document):
    """A file of source text. Unchanged lines keep their bytes: encoding, newlines, trailing blanks."""

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
    """All documents of a window, also those without a file. `changed` follows each of them."""

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
        """The documents of a file; a file can be open as a form and as text."""
        return tuple(d for d in self._open if d.path == path)
