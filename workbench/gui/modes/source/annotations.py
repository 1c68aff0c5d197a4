"""What scan, run and the text itself say of the lines of one editor, kept up while it is typed in."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QTimer
from shiboken6 import isValid

from workbench.api.languages import syntax_of
from workbench.api.source.pragma_text import find_marks
from workbench.api.window import Context
from workbench.gui.modes.source.editor import CodeEditor, Edit
from workbench.gui.modes.source.line_advice import line_advice
from workbench.gui.modes.source.line_numbers import line_checks, line_numbers, line_paths
from workbench.gui.modes.source.points import MarkPoint, open_points, points_now, points_of
from workbench.gui.modes.source.problems import CheckedProblem, checked_problems, problems_now
from workbench.gui.modes.source.typed_check import TypedCheck
from workbench.model.custom import PlacedMetric
from workbench.model.diagnostic import Diagnostic
from workbench.model.pragma import PlacedPragma
from workbench.model.run import Manifest
from workbench.model.scan import ProjectScan
from workbench.system.files import real, sha256

READ_AT_ONCE = 50_000  # characters that are read before the next key is looked at
READ_AFTER_MS = 150
MANY_POINTS = 500
Moved = TypeVar("Moved", PlacedPragma, PlacedMetric, Diagnostic)
Marks = tuple[tuple[PlacedPragma, ...], tuple[PlacedMetric, ...], tuple[Diagnostic, ...]]


class Annotations:
    """Fills an editor's margin."""

    def __init__(
        self, context: Context, editor: CodeEditor, check: TypedCheck, changed: Callable[[], None] = lambda: None
    ) -> None:
        """`changed` hears of places for pragmas that were found later than `take_scan`."""
        self._context, self._editor, self._check, self._changed = context, editor, check, changed
        self._points: tuple[MarkPoint, ...] = ()  # as scanned
        self._problems: tuple[CheckedProblem, ...] = ()
        self._scanned_text = self._checked_text = editor.text  # that lines are counted from; each edit is followed
        self.placed: tuple[PlacedPragma, ...] = ()  # in the text as it is
        self._metrics: tuple[PlacedMetric, ...] = ()
        self._wrong: tuple[Diagnostic, ...] = ()  # with those
        self._read_text: str | None = None  # the text that they were read in
        self._later = QTimer(editor, singleShot=True, interval=READ_AFTER_MS)
        self._later.timeout.connect(self._read_long)
        self._now: tuple[tuple[object, ...], tuple[MarkPoint, ...]] | None = (
            None  # `points`, and what they were found of
        )
        self._marked: tuple[object, ...] | None = None  # the pragmas that `margin.lacking` was found with
        self.take_scan()

    @property
    def _is_here(self) -> Callable[[str], bool]:
        return self._context.is_file(self._editor.path)

    def take_scan(self) -> None:
        """The sources were read: where a pragma may be, what is wrong, which names are the platform's calls."""
        editor, scan = self._editor, self._check.scan
        text = self._check.scanned_texts.get(real(editor.path), editor.file.saved_text)
        if text != self._scanned_text:
            self._scanned_text = text
            editor.scanned.reset(text)
        self._points = ()
        if scan is not None:
            self._find_points(scan)
            is_here = self._is_here
            editor.highlighter.set_names(tuple(dict.fromkeys(c.callee for c in scan.host.calls if is_here(c.file))))
        self._marked = None
        self._find_problems()
        self.take_run()

    def _find_points(self, scan: ProjectScan) -> None:
        """Where a pragma may be; in the background where there are very many such places."""
        here = self._is_here
        if sum(len(block.branches) for block in scan.hdl.blocks if here(block.file)) <= MANY_POINTS:
            self._points = points_of(scan, here)
            return

        def done(points: tuple[MarkPoint, ...]) -> None:
            if isValid(self._editor) and self._check.scan is scan:
                self._points, self._marked = points, None
                self._show()
                self._changed()

        work = partial(points_of, scan, here)
        self._context.background.start(f"points of {self._editor.path}", work, done, self._context.failed)

    def take_problems(self) -> None:
        """What is wrong was found out anew, of the sources as saved or as typed."""
        self._find_problems()
        self._editor.fit_side()  # it has columns where there are numbers
        self.take_text()
        self._editor.colour_marks()

    def _find_problems(self) -> None:
        editor = self._editor
        text = self._check.texts.get(real(editor.path), editor.file.saved_text)
        if text != self._checked_text:
            self._checked_text = text
            editor.checked.reset(text)
        self._problems = checked_problems(self._context.source_problems, self._is_here, text)

    def take_run(self) -> None:
        """Another run is shown, or a part of it, or one is under way."""
        context, margin = self._context, self._editor.margin
        margin.numbers, margin.path, margin.checks, margin.advice, margin.stale = {}, {}, {}, {}, False
        if context.analysis is not None and context.run is not None:
            margin.numbers = line_numbers(context.analysis, self._is_here)
            margin.path = line_paths(context.analysis, self._is_here)
            margin.checks = line_checks(context.analysis, self._is_here)
            margin.advice = line_advice(context.analysis, context.aside, self._is_here)
            margin.stale = context.replacing or changed_since(context.run.manifest, self._editor.path, context.root())
        self.take_text()
        self._editor.viewport().update()
        self._editor.colour_marks()

    def take_text(self, edits: Sequence[Edit] = ()) -> None:
        """Which lines hold a pragma or something wrong, and which lack one. A long text is read once one stops typing;
        meanwhile its pragmas move with their lines."""
        editor = self._editor
        syntax = syntax_of(editor.path)
        if syntax is not None and self._read_text is not editor.text:
            if len(editor.text) < READ_AT_ONCE:
                self._take(editor.text, find_marks(editor.text, syntax, str(editor.path)))
            else:
                for edit in edits:
                    self.placed = tuple(_moved(self.placed, edit))
                    self._metrics = tuple(_moved(self._metrics, edit))
                    self._wrong = tuple(_moved(self._wrong, edit))
                self._later.start()
        self._show()

    def _read_long(self) -> None:
        """Find the pragmas of a long text in the background."""
        editor, syntax, path, text = (
            self._editor,
            syntax_of(self._editor.path),
            str(self._editor.path),
            self._editor.text,
        )

        def done(marks: Marks) -> None:
            if isValid(editor) and editor.text is text:
                self._take(text, marks)
                self._show()
                editor.colour_marks()

        if syntax is not None:
            work = partial(find_marks, text, syntax, path)
            self._context.background.start(f"pragmas of {path}", work, done, self._context.failed)

    def _take(self, text: str, marks: Marks) -> None:
        (self.placed, self._metrics, self._wrong), self._read_text = marks, text

    def _show(self) -> None:
        """Fill the margin; what lacks a pragma is found anew only where pragmas changed."""
        editor = self._editor
        editor.margin.problems = problems_now(self._wrong, self._problems, editor.checked, editor.text_of)
        editor.margin.pragmas = {p.line: p.pragma.category for p in self.placed}
        editor.margin.metrics = {one.line for one in self._metrics}
        marked = tuple((editor.scanned.original(p.line), p.pragma) for p in self.placed)
        if self._marked != marked:
            self._marked = marked
            lacking = open_points(self.points())
            editor.margin.lacking = {editor.scanned.original(p.line) for p in lacking}
        editor.update_margin()

    def points(self) -> tuple[MarkPoint, ...]:
        """Where a pragma may be in the text as it is now."""
        lines = self._editor.scanned
        basis = (id(self._points), lines.version, self.placed)
        if self._now is None or self._now[0] != basis:
            self._now = basis, points_now(self._points, lines, self.placed)
        return self._now[1]

    def points_later(self) -> Callable[[], tuple[MarkPoint, ...]]:
        """The same, to be called in a thread."""
        if self._now is not None and self._now[0] == (id(self._points), self._editor.scanned.version, self.placed):
            points = self._now[1]
            return lambda: points
        return partial(points_now, self._points, self._editor.scanned.frozen(), self.placed)

    @property
    def many(self) -> bool:
        """Whether the file has so many places for pragmas that what is made of them takes long."""
        return len(self._points) > MANY_POINTS


def _moved(placed: Iterable[Moved], edit: Edit) -> Iterator[Moved]:
    """What is on lines, on those where they are after an edit; lines that went or were split take it with them."""
    more = len(edit.new) - len(edit.old)
    for one in placed:
        at = (one.line or 0) - 1
        if at < edit.first or (at < edit.first + len(edit.old) and not more):
            yield one
        elif at >= edit.first + len(edit.old):
            yield replace(one, line=at + 1 + more)


def changed_since(manifest: Manifest, path: Path, root: Path | None) -> bool:
    """Whether a file holds something else than the run read; of a run that kept no checksum of it, whether it was
    written after the run began."""
    name = path.relative_to(root).as_posix() if root is not None and path.is_relative_to(root) else ""
    try:
        if name in manifest.sources:
            return sha256(path.read_bytes()) != manifest.sources[name]
        return path.stat().st_mtime > datetime.fromisoformat(manifest.created).timestamp()
    except (OSError, ValueError):
        return False
