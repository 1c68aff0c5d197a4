"""The documents of a window: one way to save, one question before anything unsaved would be lost."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.gui.frame.notices import Notices
from workbench.gui.open.question import CANCEL, DISCARD, SAVE, Question
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.edit.documents import ChangedOnDisk, Document, Documents
from workbench.session.edit.recovery import Keeper

OVERWRITE, RELOAD = "Overwrite", "Reload"
SAVE_AND_RUN, RUN_AS_SAVED = "Save and run", "Run as saved"
#: No more than what was typed in this time is lost with the process.
KEEP_AFTER_MS = 1000
#: The documents that a run reads; models are no part of it.
RUN_KINDS = ("source", "platform", "project")


class OpenDocuments(QObject):
    """`changed` follows every document; `saved` carries one; `commit_wanted` asks fields to hand over what is typed."""

    changed = Signal()
    saved = Signal(object)
    commit_wanted = Signal()

    def __init__(self, notices: Notices, project: Callable[[], Path | None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._notices = notices
        self._refused: dict[Document, tuple[Diagnostic, ...]] = {}  # with the errors for which it was not saved
        self._overtaken: list[Document] = []  # whose files another program wrote while they held something unsaved
        self._documents = Documents()
        self._documents.changed.connect(self.changed.emit)
        self._documents.changed.connect(self._withdraw)
        #: Answers a question; without a window nothing is given up.
        self.ask: Callable[[Question], str] = lambda question: question.answers[-1]
        self._keeper, self._project = Keeper(), project
        self._keep_soon = QTimer(self, singleShot=True, interval=KEEP_AFTER_MS)
        self._keep_soon.timeout.connect(self.keep)
        self.changed.connect(lambda: None if self._keep_soon.isActive() else self._keep_soon.start())

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents)

    def add(self, document: Document) -> None:
        self._documents.add(document)

    def remove(self, document: Document) -> None:
        self._documents.remove(document)

    @property
    def unsaved(self) -> tuple[Document, ...]:
        return self._documents.unsaved

    def unsaved_kinds(self) -> frozenset[str]:
        """The modes that hold something unsaved."""
        return frozenset(d.kind for d in self._documents.unsaved)

    def keep(self) -> None:
        """Keep what is unsaved against a crash."""
        self._keeper.keep(self, self._project())

    def forget(self) -> None:
        """The window is closed: nothing is kept any more."""
        self._keep_soon.stop()
        self._keeper.keep((), None)

    # ---- saving

    def save(self, document: Document) -> bool:
        """Write a document's file. False, with a notice or after a question, where that was not done."""
        self.commit_wanted.emit()
        return self._save(document)

    def save_as(self, document: Document, path: Path) -> bool:
        """Write a document to another file and go on with that one. False, with a notice, where that fails."""
        self.commit_wanted.emit()
        return self._attempt(document, lambda: document.save_as(path))

    def _save(self, document: Document, over: bool = False) -> bool:
        if not document.dirty:
            return True
        try:
            return self._attempt(document, lambda: document.save(over))
        except ChangedOnDisk:
            answer = self.ask(
                Question(
                    "Another program changed this file",
                    "Reload shows the file on disk (undo restores your text). Overwrite replaces it with your version.",
                    (str(document.path),),
                    (RELOAD, OVERWRITE, CANCEL),
                )
            )
        if answer == OVERWRITE:
            return self._save(document, over=True)
        if answer == RELOAD:
            self._attempt(document, document.reload)
        return False

    def _attempt(self, document: Document, action: Callable[[], None]) -> bool:
        try:
            action()
        except ChangedOnDisk:
            raise
        except WorkbenchError as error:
            self._refuse(document, error.diagnostics)
            return False
        self._refuse(document, ())
        self.follow(document)
        self.saved.emit(document)
        return True

    def _refuse(self, document: Document, problems: tuple[Diagnostic, ...]) -> None:
        """Show why a document is not saved; nothing, once it is or its problems are fixed."""
        self._refused.pop(document, None)
        if problems and set(problems) <= set(document.errors):
            self._refused[document] = problems
        self._notices.keep(f"save {id(document)}", *problems)

    def _withdraw(self) -> None:
        """Forget problems that were fixed since a document was not saved, or another program wrote its file."""
        for document in [d for d in self._overtaken if not d.dirty]:
            self._overtaken.remove(document)
            self._notices.keep(f"overtaken {id(document)}")
        for document, problems in tuple(self._refused.items()):
            left = tuple(d for d in problems if d in document.errors)
            if left != problems:
                self._refuse(document, left)

    def follow(self, written: Document) -> None:
        """Other views of a file that was written show it as it is now; one with changes of its own keeps them."""
        for other in self._documents.at(written.path) if written.path else ():
            if other is not written and not other.dirty and other.changed_on_disk:
                other.reload()

    # ---- asking

    def may_leave(self, documents: Iterable[Document] | None = None) -> bool:
        """Whether documents (all, if none are named) can be closed: with nothing unsaved, or when that was answered."""
        self.commit_wanted.emit()
        unsaved = tuple(d for d in (self if documents is None else documents) if d.dirty)
        if not unsaved:
            return True
        answer = self.ask(Question("Save changes?", "Unsaved changes will be lost.", _lines(unsaved)))
        if answer == DISCARD:
            for document in unsaved:
                document.revert()
            return True
        return answer == SAVE and self.save_each(unsaved)

    def may_run(self) -> bool:
        """Whether a run may start: with everything saved that it reads, or with what the files hold if so answered."""
        if not (unsaved := self.unsaved_of_run()):
            return True
        question = Question(
            "Save before the run?",
            "Unsaved changes are not part of the run.",
            _lines(unsaved),
            (SAVE_AND_RUN, RUN_AS_SAVED, CANCEL),
        )
        answer = self.ask(question)
        return answer == RUN_AS_SAVED or (answer == SAVE_AND_RUN and self.save_each(unsaved))

    def unsaved_of_run(self) -> tuple[Document, ...]:
        """The documents that a run reads and that hold something unsaved, with what is being typed."""
        self.commit_wanted.emit()
        return tuple(d for d in self._documents.unsaved if d.kind in RUN_KINDS)

    def save_each(self, documents: Iterable[Document]) -> bool:
        """Save documents, up to the first that is not saved: False there."""
        return all(self._save(document) for document in documents)

    def report_overtaken(self, document: Document) -> None:
        """Say that a file with unsaved changes was written by another program."""
        hint = "Your changes are kept here. When you save, choose which version to keep."
        self._overtaken.append(document)
        problem = Diagnostic("another program changed this file", hint, file=str(document.path))
        self._notices.keep(f"overtaken {id(document)}", problem)


def _lines(documents: Iterable[Document]) -> tuple[str, ...]:
    return tuple(str(d.path) for d in documents)
