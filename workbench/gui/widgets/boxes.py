"""Layouts of widgets side by side or one below another, in one call."""

from typing import Any, Final, TypeVar

from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

#: Among the parts of a layout: the space that is left over.
STRETCH: Final = object()
_Box = TypeVar("_Box", bound=QBoxLayout)


def row_layout(
    *parts: Any,
    of: QWidget | None = None,
    margins: tuple[int, int, int, int] | None = None,
    spacing: int | None = None,
) -> QHBoxLayout:
    """Lay out parts side by side: see `column_layout`."""
    return _filled(QHBoxLayout(of) if of is not None else QHBoxLayout(), parts, margins, spacing)


def column_layout(
    *parts: Any,
    of: QWidget | None = None,
    margins: tuple[int, int, int, int] | None = None,
    spacing: int | None = None,
) -> QVBoxLayout:
    """Lay out parts one below another, in the widget `of` if there is one.

    A part is a widget, a layout, `STRETCH`, a gap in pixels, or a tuple of what `addWidget` takes (a widget, its
    stretch, its alignment). Margins (left, top, right, bottom) and spacing are in pixels; the style's if not given.
    """
    return _filled(QVBoxLayout(of) if of is not None else QVBoxLayout(), parts, margins, spacing)


def _filled(box: _Box, parts: tuple[Any, ...], margins: tuple[int, int, int, int] | None, spacing: int | None) -> _Box:
    if margins is not None:
        box.setContentsMargins(*margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for part in parts:
        if part is STRETCH:
            box.addStretch(1)
        elif isinstance(part, int):
            box.addSpacing(part)
        elif isinstance(part, QLayout):
            box.addLayout(part)
        elif isinstance(part, tuple):
            box.addWidget(*part)
        else:
            box.addWidget(part)
    return box
