"""Behind lines of source, the findings about them: each once, with what its best change is predicted to gain."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from workbench.analysis.finding_words import gain_words, is_small, short_gain_text
from workbench.analysis.trial_page import set_title
from workbench.api.results import Analysis
from workbench.gui.views.canvas import QtCanvas, text_width
from workbench.model.finding import Finding, tops
from workbench.pictures.signs import draw_severity

if TYPE_CHECKING:
    from workbench.gui.modes.source.editor import CodeEditor

_AFTER_CODE_PX, _RIGHT_PX, _SIGN_PX, _GAP_PX, _TEXT_PX = 28.0, 12.0, 14.0, 7.0, 12


@dataclass(frozen=True)
class LineAdvice:
    """`finding` is its id. `gain` is what its best change `title` is predicted to gain, or its bound, and `short` the
    figure alone."""

    finding: str
    level: str
    title: str
    gain: str
    short: str
    words: str


def line_advice(analysis: Analysis, aside: Collection[str], same_file: Callable[[str], bool]) -> dict[int, LineAdvice]:
    """By line of a file: each finding that has advice of its own at a line that its best change is about."""
    by_line: dict[int, LineAdvice] = {}
    for finding in tops(analysis.findings):
        if finding.points_elsewhere or is_small(finding) or finding.id in aside:
            continue
        places = _places(finding)
        here = [line for file, line in places if same_file(file) and line not in by_line]
        if here and same_file(places[0][0]):  # once, in the file that is changed first
            by_line[here[0]] = _advice(finding, f" of {PurePath(places[0][0]).name}:{here[0]}")
    return by_line


def _places(finding: Finding) -> list[tuple[str, int]]:
    """The finding's places, those of the calls that its best change is about first."""
    changed = [call for one in finding.advice[:1] for change in one.changes for call in getattr(change, "calls", ())]
    places = [(place.file, place.line) for place in finding.places]
    order = {call: number for number, call in enumerate(reversed(changed))}
    return sorted(places, key=lambda place: -order.get(f"{place[0]}:{place[1]}", -1))


def _advice(finding: Finding, of_line: str) -> LineAdvice:
    """The advice of a finding; its title needs not say of which line it is."""
    best = finding.advice[0].changes if finding.advice else ()
    title = set_title(best[:1]).replace(of_line, "") if best else finding.title
    more = f" and {len(best) - 1} more" if len(best) > 1 else ""
    short = short_gain_text(finding)
    gain = f"predicted {short}" if finding.speedup_predicted is not None else short
    whole = ": ".join(dict.fromkeys((finding.title, set_title(best) if best else finding.title)))
    return LineAdvice(finding.id, finding.sign, f"{title}{more}", gain, short, f"{whole}: {gain_words(finding)}")


def advice_boxes(editor: CodeEditor) -> list[tuple[QRectF, LineAdvice]]:
    """Where in the viewport the advice of the lines in view is. It has the room that code leaves, and is left out where
    not even the figure has room."""
    by_line, end = editor.margin.advice, editor.viewport().width() - _RIGHT_PX
    boxes = []
    for block, top, height in editor.blocks_in_view() if by_line else ():
        line = block.blockNumber() + 1
        if (advice := by_line.get(editor.moved.original(line))) is not None:
            left = editor.line_rect(line).width() + editor.contentOffset().x() + _AFTER_CODE_PX
            wanted = _SIGN_PX + 2 * _GAP_PX + text_width(advice.title, _TEXT_PX) + _wide(advice.gain)
            if end - left >= _SIGN_PX + _GAP_PX + _wide(advice.short):
                boxes.append((QRectF(left, top, min(wanted, end - left), height), advice))
    return boxes


def _wide(gain: str) -> float:
    return text_width(gain, _TEXT_PX, 600)


def advice_at(editor: CodeEditor, point: QPointF) -> LineAdvice | None:
    """The advice that is drawn at a point of the viewport."""
    return next((advice for box, advice in advice_boxes(editor) if box.contains(point)), None)


def paint_advice(editor: CodeEditor) -> None:
    """Paint the advice over the text's empty ground; that of another text is dimmed."""
    with QPainter(editor.viewport()) as painter:
        painter.setOpacity(0.5 if editor.margin.stale else 1.0)
        canvas = QtCanvas(painter)
        for box, advice in advice_boxes(editor):
            top, height, x = box.top(), box.height(), box.left() + _SIGN_PX + _GAP_PX
            draw_severity(canvas, box.left(), top + (height - _SIGN_PX) / 2, _SIGN_PX, advice.level)
            gain = advice.gain if _wide(advice.gain) <= box.right() - x else advice.short
            if used := canvas.text(x, top, box.right() - x - _GAP_PX - _wide(gain), height, advice.title, "second"):
                x += used + _GAP_PX
            canvas.write(x, top + height / 2, gain, "text", _TEXT_PX, 600)
