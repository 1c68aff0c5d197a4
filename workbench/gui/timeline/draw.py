"""How the parts of a timeline are painted. Each function paints one part into the rectangle it is given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from workbench.gui import icons, theme
from workbench.gui.timeline.hover import event_text
from workbench.gui.timeline.look import label, tag, text_width
from workbench.gui.timeline.rows import Kind, Row
from workbench.gui.timeline.scale import Span, duration, ruler
from workbench.gui.widgets import draw_swatch
from workbench.model.pragma import Category
from workbench.model.run import Site
from workbench.traces.calls import BlockCalls
from workbench.traces.scene import RareEvent, Scene

Align = Qt.AlignmentFlag
BASE_TEXT_PX = 11


def rule(painter: QPainter, x0: float, y0: float, x1: float, y1: float, colour: str = "rule") -> None:
    painter.setPen(QPen(theme.colour(colour), 1))
    painter.drawLine(QPointF(x0 + 0.5, y0 + 0.5), QPointF(x1 + 0.5, y1 + 0.5))


def draw_label_cell(painter: QPainter, row: Row, rect: QRectF, chosen: bool) -> None:
    """The left column of a row: fold arrow, name, share."""
    if chosen:
        painter.fillRect(rect, theme.colour("selection"))
        painter.fillRect(QRectF(rect.left(), rect.top(), 3, rect.height()), theme.colour("accent"))
    left, right = rect.left() + 16, rect.right() - 12
    middle = rect.center().y()
    if row.kind is Kind.HEAD:
        icons.draw_icon(painter, "chevron-right" if row.folded else "chevron-down", left - 4, middle - 8)
        name = QRectF(left + 18, rect.top(), right - left - 18, rect.height())
        used = label(painter, name, row.label, "text", 13, 600)
        label(painter, name.adjusted(used + 8, 0, 0, 0), row.note, "second", 12)
        return
    if row.kind is Kind.CLOCK:
        icons.draw_icon(painter, "clock", left - 4, middle - 8)
        label(painter, QRectF(left + 18, rect.top(), right - left - 18, rect.height()), row.label, "text", 12, 500)
        return
    stack = row.kind is Kind.STACK
    if stack:
        icons.draw_icon(painter, "chevron-right" if row.folded else "chevron-down", left - 4, middle - 8)
    share = QRectF(right - 50, rect.top(), 50, rect.height())
    name = QRectF(left + 18, rect.top(), share.left() - left - 22 if row.note else right - left - 18, rect.height())
    used = label(painter, name, row.label, "text", 12, 600 if stack else 400)
    if stack and text_width("at work") <= name.width() - used - 6:
        label(painter, name.adjusted(used + 6, 0, 0, 0), "at work", "muted", 12)
    label(painter, share, row.note, "second", 12, align=Align.AlignRight)


def draw_ruler(painter: QPainter, rect: QRectF, span: Span, base_rect: QRectF) -> list[float]:
    """Ticks with labels, the time they count from at the left; the x of the labelled ticks."""
    painter.fillRect(rect, theme.colour("panel"))
    marks = ruler(span)
    label(painter, base_rect.adjusted(16, 0, -8, 0), marks.base_text, "second", 12)
    painter.setPen(QPen(theme.colour("edge"), 1))
    bottom = rect.bottom() - 1
    first = int(span.from_ps // marks.minor_ps)
    if span.pixel_ps * 6 < marks.minor_ps:
        for k in range(first, first + int(span.width * span.pixel_ps / marks.minor_ps) + 2):
            x = rect.left() + span.x(k * marks.minor_ps)
            if rect.left() <= x <= rect.right():
                painter.drawLine(QPointF(round(x) + 0.5, bottom - 5), QPointF(round(x) + 0.5, bottom))
    xs = []
    for time, text in marks.ticks:
        x = rect.left() + span.x(time)
        xs.append(x)
        rule(painter, round(x), bottom - 14, round(x), bottom, "edge")
        label(painter, QRectF(x + 5, bottom - 20, rect.right() - x - 6, 14), text, "second", 11)
    return xs


def draw_clock(painter: QPainter, rect: QRectF) -> None:
    """The clock lane. Its thickness is the uncertainty: in simulation there is one clock, hence a hairline."""
    middle = round(rect.center().y())
    text = "exact: the simulation has one clock, ± 0"
    wide = text_width(text, 11, 500) + 16
    painter.setPen(QPen(theme.colour("good"), 1, Qt.PenStyle.DashLine))
    painter.drawLine(QPointF(rect.left(), middle + 0.5), QPointF(rect.right(), middle + 0.5))
    box = QRectF(rect.left() + 24, middle - 9, wide, 18)
    painter.fillRect(box, theme.colour("sunken"))
    label(painter, box, text, "good", 11, 500, Align.AlignHCenter)


def draw_calls(
    painter: QPainter,
    rect: QRectF,
    span: Span,
    calls: BlockCalls,
    sites: Sequence[Site],
    dim: tuple[float, float] | None,
) -> None:
    """Runs of calls of one site as boxes that say which and how many."""
    top, height = rect.center().y() - 8, 16.0
    clip = painter.clipBoundingRect()
    for box in calls.boxes(span.from_ps, span.pixel_ps, span.width):
        left = rect.left() + box.left
        wide = max(box.right - box.left, 1)
        outside = dim is not None and (left + wide <= dim[0] or left >= dim[1])
        painter.setOpacity(0.5 if outside else 1.0)
        if wide < 3:
            painter.fillRect(QRectF(left, top + 3, wide, height - 6), theme.colour("edge"))
            continue
        painter.setPen(QPen(theme.colour("edge"), 1))
        painter.setBrush(theme.colour("sunken" if box.site < 0 else "panel"))
        painter.drawRoundedRect(QRectF(left + 0.5, top + 0.5, wide - 1, height), 3, 3)
        seen = QRectF(max(left, rect.left()) + 4, top, 0, height + 1)
        seen.setRight(min(left + wide, rect.right()) - 3)
        number = box.last - box.first
        name = f"{number} calls" if box.site < 0 else sites[box.site].label
        many = f"{name} ×{number}" if box.site >= 0 and number > 1 else name
        if seen.width() >= text_width(many, BASE_TEXT_PX, 500):
            name = many
        if seen.width() >= text_width(name, BASE_TEXT_PX, 500):
            label(painter, seen, name, "muted" if outside or box.site < 0 else "text", BASE_TEXT_PX, 500)
    painter.setOpacity(1.0)
    if clip.isValid():
        painter.setClipRect(clip)


def draw_most_at_work(painter: QPainter, rect: QRectF, working: np.ndarray, most: int) -> None:
    """Beside the last peak of a stack's counts: how many of it work at once."""
    text = f"at most {most}"
    wide = text_width(text, 11, 600)
    room = rect.width() - wide - 20
    peaks = np.flatnonzero(working == working[: max(int(room), 1)].max())
    peak = int(peaks[peaks < room][-1]) if (peaks < room).any() else 0
    later = np.flatnonzero(working[peak:] == 0)
    x = min(peak + (int(later[0]) if len(later) else 0) + 8, room + 8)
    box = QRectF(rect.left() + x, rect.top() + 3, wide + 6, rect.height() - 6)
    painter.fillRect(box, theme.colour("sunken"))
    label(painter, box, text, "text", 11, 600, Align.AlignHCenter)


def draw_range(
    painter: QPainter, ruler_rect: QRectF, bottom: float, marks: Sequence[tuple[str, float]], length_ps: float
) -> None:
    """The markers A and B over the whole height, and what lies between them written on the ruler."""
    accent = theme.colour("accent")
    y = ruler_rect.top() + 10
    inside = [x for _, x in marks if ruler_rect.left() - 8 <= x <= ruler_rect.right() + 8]
    painter.save()
    painter.setClipRect(
        QRectF(ruler_rect.left() - 8, ruler_rect.top(), ruler_rect.width() + 16, bottom - ruler_rect.top())
    )
    if len(marks) == 2:
        painter.setPen(QPen(accent, 1))
        painter.drawLine(QPointF(marks[0][1], y), QPointF(marks[1][1], y))
        text = f"A to B  {duration(length_ps)}"
        wide = text_width(text, 11, 600) + 16
        a, b = max(marks[0][1], ruler_rect.left()), min(marks[1][1], ruler_rect.right())
        if b - a > wide + 40:
            tag(painter, QRectF((a + b - wide) / 2, y - 8, wide, 17), text, ground="selection", ink="link")
    for name, x in marks:
        if x not in inside:
            continue
        painter.fillRect(QRectF(round(x) - 1, y, 2, bottom - y), accent)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(accent)
        painter.drawRoundedRect(QRectF(round(x) - 8, y - 8, 16, 16), 3, 3)
        label(painter, QRectF(x - 8, y - 8, 16, 16), name, "on_accent", 11, 700, Align.AlignHCenter)
    painter.restore()


def draw_pins(painter: QPainter, rect: QRectF, scene: Scene) -> list[tuple[QRectF, RareEvent]]:
    """Rare events as red flags on the overview; where each is. Labels that overlap are left out."""
    placed: list[tuple[QRectF, RareEvent]] = []
    high = theme.colour("high")
    for event in scene.events:
        text = event_text(scene, event)
        x = round(rect.left() + event.time_ps / max(scene.index.end_ps, 1) * rect.width())
        painter.fillRect(QRectF(x - 1, rect.top(), 2, rect.height()), high)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(high)
        painter.drawPolygon(
            QPolygonF([QPointF(x - 5, rect.top()), QPointF(x + 5, rect.top()), QPointF(x, rect.top() + 7)])
        )
        wide = text_width(text, 11, 500) + 12
        left = x + 6 if x + 6 + wide < rect.right() else x - 6 - wide
        box = QRectF(left, rect.top() + 1, wide, 17)
        if any(box.intersects(other) for other, _ in placed):
            placed.append((QRectF(x - 5, rect.top(), 10, rect.height()), event))
            continue
        tag(painter, box, text, "high", "panel", "high", 11, 500)
        placed.append((box.united(QRectF(x - 5, rect.top(), 10, rect.height())), event))
    return placed


def draw_arrow(painter: QPainter, start: QPointF, end: QPointF) -> None:
    """A message: from the host's row to the block that takes it."""
    ink = theme.colour("text")
    painter.setPen(QPen(ink, 1.2))
    painter.drawLine(start, end)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    tip = 4 if end.y() > start.y() else -4
    painter.drawPolygon(
        QPolygonF([end, QPointF(end.x() - 3.5, end.y() - tip * 1.5), QPointF(end.x() + 3.5, end.y() - tip * 1.5)])
    )


def draw_tooltip(painter: QPainter, box: QRectF, category: Category | None, lines: Sequence[str]) -> None:
    """What is under the pointer: a swatch and a name, then a line or two."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(0, 0, 0, 40))
    painter.drawRoundedRect(box.translated(0, 2).adjusted(-1, 0, 1, 1), 7, 7)
    painter.setPen(QPen(theme.colour("edge"), 1))
    painter.setBrush(theme.colour("raised"))
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    left, y = box.left() + 12, box.top() + 8
    draw_swatch(painter, left, y + 3, 14, 12, category)
    label(painter, QRectF(left + 22, y, box.right() - left - 26, 18), lines[0], "text", 13, 600)
    for at, text in enumerate(lines[1:]):
        row = QRectF(left, y + 21 + 18 * at, box.right() - left - 6, 18)
        if text.startswith("Enter "):
            used = label(painter, row, "Enter", "link", 12, 600)
            label(painter, row.adjusted(used + 8, 0, 0, 0), text.removeprefix("Enter "), "muted", 12)
        else:
            label(painter, row, text, "second", 12)
