"""What scan, run and the text itself say of the lines of one editor, kept up while it is typed in."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from workbench.api.source.pragma_text import find_pragmas, style_of
from workbench.gui.context import Context
from workbench.gui.source.editor import CodeEditor
from workbench.gui.source.line_numbers import line_numbers
from workbench.gui.source.points import Point, open_points, points_now, points_of
from workbench.gui.source.problems import CheckedProblem, checked_problems, problems_now
from workbench.gui.source.typed_check import TypedCheck
from workbench.model.diagnostic import Diagnostic
from workbench.model.pragma import PlacedPragma
from workbench.system.files import real


class Annotations:
    """Fills an editor's margin."""

    def __init__(self, context: Context, editor: CodeEditor, check: TypedCheck) -> None:
        self._context, self._editor, self._check = context, editor, check
        self._points: tuple[Point, ...] = ()  # as scanned
        self._problems: tuple[CheckedProblem, ...] = ()
        self._placed: tuple[PlacedPragma, ...] = ()  # in the text as it is
        self._now: tuple[tuple[object, ...], tuple[Point, ...]] | None = None  # `points`, and what they were found of
        self._marked: tuple[object, ...] | None = None  # the pragmas that `margin.lacking` was found with
        self.take_scan()

    def _is_here(self, file: str) -> bool:
        return self._context.same_file(file, str(self._editor.path))

    def take_scan(self) -> None:
        """The sources were read: where a pragma may stand, what is wrong, which names are the platform's calls."""
        editor, scan = self._editor, self._check.scan
        text = self._check.scanned_texts.get(real(editor.path), editor.file.saved_text)
        editor.scanned.reset(text, editor.toPlainText())
        self._points = points_of(scan, self._is_here) if scan else ()
        if scan is not None:
            editor.highlighter.set_names(
                tuple(dict.fromkeys(c.callee for c in scan.host.calls if self._is_here(c.file)))
            )
        self._marked = None
        self._find_problems()
        self.take_run()

    def take_problems(self) -> None:
        """What is wrong was found out anew, of the sources as saved or as typed."""
        self._find_problems()
        self.take_text()
        self._editor.colour_marks()

    def _find_problems(self) -> None:
        editor = self._editor
        text = self._check.texts.get(real(editor.path), editor.file.saved_text)
        editor.checked.reset(text, editor.toPlainText())
        self._problems = checked_problems(self._context.source_problems, self._is_here, text)

    def take_run(self) -> None:
        """Another run is shown, or a part of it, or one is under way."""
        context, margin = self._context, self._editor.margin
        margin.numbers, margin.stale = {}, False
        if context.analysis is not None and context.run is not None:
            margin.numbers = line_numbers(context.analysis, self._is_here)
            margin.stale = context.running or _newer(self._editor.path, context.run.manifest.created)
        self.take_text()
        self._editor.colour_marks()

    def take_text(self) -> None:
        """Which lines hold a pragma or something wrong, and which lack one: found anew only where pragmas changed."""
        editor = self._editor
        placed, wrong = self._read()
        self._placed = placed
        editor.margin.problems = problems_now(wrong, self._problems, editor.checked, editor.text_of)
        editor.margin.pragmas = {p.line: p.pragma.category for p in placed}
        marked = tuple((editor.scanned.original(p.line), p.pragma) for p in placed)
        if self._marked != marked:
            self._marked = marked
            lacking = open_points(self.points())
            editor.margin.lacking = {editor.scanned.original(p.line) for p in lacking}
        editor.update_margin()

    def points(self) -> tuple[Point, ...]:
        """Where a pragma may stand in the text as it is now."""
        lines = self._editor.scanned
        found_of = (self._points, lines.origins, self._placed)
        if self._now is None or self._now[0] != found_of:
            self._now = found_of, points_now(self._points, lines, self._placed)
        return self._now[1]

    def _read(self) -> tuple[tuple[PlacedPragma, ...], tuple[Diagnostic, ...]]:
        """The pragmas of the text as it stands, and what is wrong with them."""
        path = self._editor.path
        style = style_of(path)
        return find_pragmas(self._editor.toPlainText(), style, str(path)) if style is not None else ((), ())


def _newer(path: Path, created: str) -> bool:
    """Whether a file was written after a run was begun."""
    try:
        return path.stat().st_mtime > datetime.fromisoformat(created).timestamp()
    except (OSError, ValueError):
        return False
