"""Paints a whole timeline: what goes where, in which order."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPen, QPixmap

from workbench.gui import theme
from workbench.gui.timeline import draw
from workbench.gui.timeline.hover import messages_of, place_tooltip, tooltip_size
from workbench.gui.timeline.look import category, label
from workbench.gui.timeline.rows import Kind, Row
from workbench.gui.timeline.shown import OVERVIEW_PX, RULER_PX, Shown
from workbench.gui.timeline.surface import PAD, WORK, Surface
from workbench.model.run import PS_PER_S
from workbench.model.text import time_text
from workbench.traces.scene import RareEvent, Scene

SUNKEN = (Kind.HEAD, Kind.STACK, Kind.CLOCK)


def paint_timeline(
    painter: QPainter, view: Shown, scene: Scene, surface: Surface, labels: QPixmap,
    most_at_work: Callable[[Row], int | None],
) -> None:  # fmt: skip
    """The ruler and the rows; `surface` holds their bars, `labels` the names beside them."""
    canvas = QRectF(view.canvas())
    left = canvas.left()
    ruler_rect = QRectF(left, OVERVIEW_PX, canvas.width(), RULER_PX)
    ticks = draw.draw_ruler(painter, ruler_rect, view.span, QRectF(0, OVERVIEW_PX, left, RULER_PX))
    painter.save()
    painter.setClipRect(QRectF(0, canvas.top(), view.width(), canvas.height()))
    painter.drawImage(QPointF(left, canvas.top() - PAD), surface.image)
    painter.setOpacity(0.6)
    for x in ticks:
        if left < x < view.width():
            draw.rule(painter, round(x), canvas.top(), round(x), canvas.bottom())
    painter.setOpacity(1.0)
    for row, rect in view.row_rects():
        _paint_row(painter, view, scene, row, rect, surface, most_at_work)
    painter.restore()
    painter.drawPixmap(QPointF(0, canvas.top()), labels)
    draw.rule(painter, left - 1, 0, left - 1, view.height())
    if view.show_messages and view.chosen:
        _paint_messages(painter, view, scene, canvas)
    if view.show_marks and view.marks:
        names = [(name, left + view.span.x(m)) for name, m in zip("AB", sorted(view.marks), strict=False)]
        from_ps, to_ps = view.range_ps()
        draw.draw_range(painter, ruler_rect, view.height(), names, to_ps - from_ps)
    for y in (OVERVIEW_PX - 1, OVERVIEW_PX + RULER_PX - 1):
        draw.rule(painter, 0, y, view.width(), y)
    if view.hit is not None:
        avoid = view.row_rect(Kind.CLOCK)
        box = place_tooltip(
            view.pointer, tooltip_size(view.hit), QRectF(left, 0, view.width() - left, view.height()), avoid
        )
        view.tooltip_rect = box
        draw.draw_tooltip(painter, box, category(view.hit.code), view.hit.lines)


def paint_overview(
    painter: QPainter, view: Shown, scene: Scene, strip_of_run: QImage
) -> list[tuple[QRectF, RareEvent]]:
    """The whole run as one strip with what is in view framed; where its pins are, for clicking."""
    canvas = view.canvas()
    end = max(scene.index.end_ps, 1)
    strip = QRectF(canvas.left(), 4, canvas.width(), OVERVIEW_PX - 9)
    painter.setOpacity(0.62)
    painter.drawImage(strip.topLeft(), strip_of_run)
    painter.setOpacity(1.0)
    pins = draw.draw_pins(painter, strip, scene)
    x0 = strip.left() + view.span.from_ps / end * strip.width()
    x1 = strip.left() + min(view.span.to_ps, end) / end * strip.width()
    if x1 - x0 < strip.width() - 1:
        frame = QRectF(max(x0, strip.left()), strip.top() - 1, max(x1 - x0, 6), strip.height() + 2)
        painter.setPen(QPen(theme.colour("text"), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame.adjusted(0, 0, 0, -1), 3, 3)
    cell = QRectF(16, 8, canvas.left() - 28, 19)
    label(painter, cell, "Whole run", "text", 12, 600)
    name = scene.blocks[scene.main].id.removeprefix("host.")
    label(painter, cell.translated(0, 19), f"{time_text(end / PS_PER_S, 4)}, {name}", "second", 12)
    return pins


def paint_labels(painter: QPainter, view: Shown) -> None:
    """The column of names and shares at the left; the painter's origin is the canvas' top."""
    painter.translate(0, -view.canvas().top())
    for row, rect in view.row_rects():
        cell = QRectF(0, rect.top(), view.label_width() - 1, rect.height())
        painter.fillRect(cell, theme.colour("sunken" if row.kind in SUNKEN else "panel"))
        draw.draw_label_cell(painter, row, cell, row.kind is Kind.STATES and row.block in view.chosen_blocks)
        if row.kind in (Kind.HEAD, Kind.CLOCK):
            draw.rule(painter, 0, rect.top() - 1, rect.width(), rect.top() - 1)
            draw.rule(painter, 0, rect.bottom() - 1, rect.width(), rect.bottom() - 1)


def _paint_row(
    painter: QPainter, view: Shown, scene: Scene, row: Row, rect: QRectF, surface: Surface,
    most_at_work: Callable[[Row], int | None],
) -> None:  # fmt: skip
    left = view.label_width()
    lane = QRectF(left, rect.top(), rect.width() - left, rect.height())
    if row.kind is Kind.STACK and not view.moving:
        working = (surface.codes[[surface.places[m] for m in row.members]] == WORK).sum(axis=0)
        if most := most_at_work(row):
            draw.draw_most_at_work(painter, lane, working, most)
    elif row.kind is Kind.CLOCK:
        draw.draw_clock(painter, lane)
    elif row.kind is Kind.CALLS and row.block in scene.calls:
        painter.save()
        painter.setClipRect(lane.intersected(QRectF(view.canvas())))
        dim = None
        if view.dims():
            a, b = view.range_ps()
            dim = left + view.span.x(a), left + view.span.x(b)
        draw.draw_calls(painter, lane, view.span, scene.calls[row.block], scene.run.manifest.sites, dim)
        painter.restore()
    if row.kind in (Kind.HEAD, Kind.CLOCK):
        draw.rule(painter, 0, rect.top() - 1, rect.width(), rect.top() - 1)
        draw.rule(painter, 0, rect.bottom() - 1, rect.width(), rect.bottom() - 1)
    hit = view.chosen
    if hit and hit.block == row.block and hit.kind is row.kind:
        x0, x1 = (min(max(left + view.span.x(t), left - 2.0), view.width() + 2.0) for t in (hit.from_ps, hit.to_ps))
        painter.setPen(QPen(theme.colour("accent"), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(x0, rect.top() + (rect.height() - row.bar) / 2 - 1, max(x1 - x0, 2), row.bar + 2))


def _paint_messages(painter: QPainter, view: Shown, scene: Scene, canvas: QRectF) -> None:
    middles = {row.block: rect.center().y() for row, rect in view.row_rects() if row.kind is Kind.STATES}
    painter.save()
    painter.setClipRect(canvas)
    assert view.chosen is not None
    for source, sent, target, arrived in messages_of(scene, view.chosen, 24 * view.span.pixel_ps):
        if source in middles and target in middles:
            start = QPointF(canvas.left() + view.span.x(sent), middles[source])
            draw.draw_arrow(painter, start, QPointF(canvas.left() + view.span.x(arrived), middles[target]))
    painter.restore()
