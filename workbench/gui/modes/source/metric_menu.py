"""Metrics of a signal that was clicked: each put before its line, with what is to be completed chosen."""

import re
from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QMenu

from workbench.api.languages import VHDL, Syntax, syntax_of
from workbench.api.source.edits import insert_lines
from workbench.api.source.metric_text import format_metric
from workbench.gui.modes.source.editor import CodeEditor
from workbench.model.custom import CustomMetric, MetricKind

_SUMS = {
    MetricKind.SUM: "Sum of {}",
    MetricKind.MIN: "Least {}",
    MetricKind.MAX: "Largest {}",
    MetricKind.MEAN: "Mean of {}",
    MetricKind.DEVIATION: "Deviation of {}",
}
_BOUNDS = (1, 4, 16, 64)


def metrics_of(signal: str, syntax: Syntax, text: str) -> Iterator[tuple[str, CustomMetric, str]]:
    """What may be asked of a signal: the words for it, the metric, and what of its text is to be completed. Its name is
    none that the text has."""
    vhdl = syntax.line == VHDL.line
    holds, other = (f"{signal} = '1'", "other = '1'") if vhdl else (signal, "other")
    name = partial(_free, signal, text)
    yield f"Count cycles when {signal}", CustomMetric(MetricKind.COUNT, name("cycles"), (holds,)), holds
    for kind, words in _SUMS.items():
        yield words.format(signal), CustomMetric(kind, name(kind.value), signal=signal), ""
    histogram = CustomMetric(MetricKind.HISTOGRAM, name("histogram"), signal=signal, bounds=_BOUNDS)
    yield f"Histogram of {signal}", histogram, ", ".join(map(str, _BOUNDS))
    sequence = CustomMetric(MetricKind.SEQUENCE, name("sequence"), (holds, other), within=8)
    yield f"{signal}, then another condition", sequence, other
    yield f"{signal} with another condition", CustomMetric(MetricKind.CORRELATE, name("with"), (holds, other)), other


def _free(signal: str, text: str, what: str) -> str:
    name = f"{signal.strip('_')}_{what}"
    taken = set(re.findall(r"\w+", text))
    return next(one for one in (name, *(f"{name}_{n}" for n in range(2, 1000))) if one not in taken)


def has_metrics(editor: CodeEditor) -> bool:
    """Whether metrics may be put into an editor's text: into that of a hardware language."""
    syntax = syntax_of(editor.path)
    return syntax is not None and not syntax.directives and not editor.isReadOnly()


def offer(editor: CodeEditor, menu: QMenu, line: int, signal: str) -> None:
    """Add a menu of it to another, where the text may have metrics."""
    if has_metrics(editor):
        fill(menu.addMenu("Add a metric of it"), editor, line, signal)


def fill(menu: QMenu, editor: CodeEditor, line: int, signal: str) -> None:
    """Add what may be counted of a signal to a menu."""
    syntax = syntax_of(editor.path)
    for words, metric, open_ in metrics_of(signal, syntax, editor.text) if syntax is not None else ():
        menu.addAction(words, partial(put, editor, line, metric, open_))


def show(editor: CodeEditor, line: int, signal: str, at: QPoint) -> QMenu:
    """Open a menu of it at a place of the screen."""
    menu = QMenu(editor)
    fill(menu, editor, line, signal)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.popup(at)
    return menu


def put(editor: CodeEditor, line: int, metric: CustomMetric, open_: str) -> None:
    """Write a metric before a line, and choose what of it is to be completed."""
    syntax = syntax_of(editor.path)
    if syntax is None:
        return
    text = editor.lines[line - 1]
    indent = len(text) - len(text.lstrip(" \t")) + 1
    written = syntax.pragma + format_metric(metric)
    editor.set_text(insert_lines(editor.text, line, indent, [written]))
    block = editor.document().findBlockByNumber(line - 1)
    cursor = QTextCursor(block)
    start = block.text().rindex(open_) if open_ else len(block.text())
    cursor.setPosition(block.position() + start)
    cursor.setPosition(block.position() + start + len(open_), QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)
    editor.setFocus(Qt.FocusReason.OtherFocusReason)
