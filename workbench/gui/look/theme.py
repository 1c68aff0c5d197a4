"""The look in force: Fusion with our own palette and style sheet, light or dark, and how states are filled."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files

from PySide6.QtCore import QDir, QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPalette, QPen, QPixmap
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from workbench.gui.look import fonts
from workbench.gui.look.stylesheet import style_sheet
from workbench.model.pragma import Category
from workbench.pictures.palette import LIGHT, PALETTES, Palette
from workbench.pictures.states import PATTERN_FROM_PX, TILES

AT_A_TIME = 200  # widgets that are dressed in one turn
_DRESSED = Qt.WidgetAttribute.WA_WState_Polished
_current: Palette = LIGHT


def palette() -> Palette:
    """The palette in force."""
    return _current


def colour(name: str) -> QColor:
    """A colour of the palette in force, by its name there."""
    return QColor(getattr(_current, name))


def apply_theme(application: QApplication, name: str) -> None:
    """Dress the application at once: by the name of a palette, or `system` for what the desktop prefers."""
    for _ in dressing(application, name):
        pass


def dressing(application: QApplication, name: str) -> Iterator[None]:
    """Dress the application in a few steps, none of them long; its windows are not drawn while they go on.

    The old sheet is taken off before the new one comes: replacing it makes Qt work out every widget's rules twice,
    which takes four times as long. Either is one call for all widgets; those that are not shown (the other modes') are
    kept out of both, and undressed and dressed beside them, some at a time.
    """
    global _current
    name = name if name in PALETTES else _of_desktop(application)
    _current = PALETTES[name]
    dressed = application.property("rcw_theme")
    if dressed == name:
        return
    application.setProperty("rcw_theme", name)
    if dressed is None:
        QDir.setSearchPaths("rcw", [str(files("workbench.resources").joinpath("icons", "style"))])
        fonts.load_fonts()
        application.setStyle("Fusion")
        application.setFont(fonts.ui_font())
    windows = [window for window in application.topLevelWidgets() if window.updatesEnabled()]
    for window in windows:
        window.setUpdatesEnabled(False)
    hidden = [w for w in application.allWidgets() if not w.isVisible() and w.testAttribute(_DRESSED)]
    yield from _some_at_a_time(hidden, _undress)
    application.setStyleSheet("")
    yield
    application.setPalette(_qt_palette(_current))
    yield
    application.setStyleSheet(style_sheet(_current))
    yield
    yield from _some_at_a_time(hidden, _dress)
    for window in windows:
        if isValid(window):
            window.setUpdatesEnabled(True)


def _of_desktop(application: QApplication) -> str:
    """The name of the palette that the desktop prefers."""
    hints = application.styleHints()
    name = "dark" if hints.colorScheme() is Qt.ColorScheme.Dark else "light"
    strong = hints.accessibility().contrastPreference() is Qt.ContrastPreference.HighContrast
    return f"{name}-contrast" if strong else name


def _some_at_a_time(widgets: Sequence[QWidget], do: Callable[[QWidget], None]) -> Iterator[None]:
    for number, widget in enumerate(widgets, 1):
        if isValid(widget):
            do(widget)
        if number % AT_A_TIME == 0:
            yield


def _undress(widget: QWidget) -> None:
    """Take the sheet's look off, and keep the widget out of what Qt does with all others."""
    widget.style().unpolish(widget)
    widget.setAttribute(_DRESSED, False)
    widget.setAttribute(Qt.WidgetAttribute.WA_SetStyle)


def _dress(widget: QWidget) -> None:
    widget.setAttribute(Qt.WidgetAttribute.WA_SetStyle, False)
    widget.setAttribute(_DRESSED)
    widget.style().polish(widget)
    QApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))


def _qt_palette(p: Palette) -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    table = {
        role.Window: p.window,
        role.WindowText: p.text,
        role.Base: p.panel,
        role.AlternateBase: p.sunken,
        role.Text: p.text,
        role.PlaceholderText: p.muted,
        role.Button: p.raised,
        role.ButtonText: p.text,
        role.BrightText: p.high,
        role.ToolTipBase: p.raised,
        role.ToolTipText: p.text,
        role.Highlight: p.selection,
        role.HighlightedText: p.text,
        role.Accent: p.accent,
        role.Link: p.link,
        role.LinkVisited: p.link,
        role.Light: p.panel,
        role.Midlight: p.sunken,
        role.Mid: p.rule,
        role.Dark: p.edge,
        role.Shadow: p.edge,
    }
    for which, value in table.items():
        palette.setColor(which, QColor(value))
    for which in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, QColor(p.muted))
    return palette


def set_ground(widget: QWidget, name: str) -> None:
    """Give a plain widget a ground of the palette: panel, sunken, chrome, window or raised. One that had another ground
    is drawn anew."""
    before = widget.property("ground")
    widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground, True)
    widget.setProperty("ground", name)
    if before not in (None, name):
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def state_colour(category: Category | None) -> QColor:
    """The colour of a state's category; None is unclassified."""
    return QColor(_current.states[category])


def state_brush(category: Category | None) -> QBrush:
    """The colour with its pattern, as a tile. Set the painter's brush origin to the bar's corner."""
    return QBrush(_tile(_current.name, category))


def fill_state(painter: QPainter, rect: QRectF, category: Category | None) -> None:
    """Fill a rectangle with a state: plain when narrow, patterned from three pixels on."""
    if rect.width() < PATTERN_FROM_PX:
        painter.fillRect(rect, state_colour(category))
        return
    painter.setBrushOrigin(rect.topLeft())
    painter.fillRect(rect, state_brush(category))


def frame_colour() -> QColor:
    """The thin frame of state bars: the text's colour at 53 %."""
    colour = QColor(_current.text)
    colour.setAlphaF(0.53)
    return colour


@lru_cache(maxsize=32)
def _tile(name: str, category: Category | None) -> QPixmap:
    p, tile, ratio = PALETTES[name], TILES[category], 2.0
    pixmap = QPixmap(round(tile.size * ratio), round(tile.size * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(QColor(p.states[category]))
    ink = QColor(p.pattern)
    ink.setAlphaF(p.pattern_opacity)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(ink, tile.line))
    for x0, y0, x1, y1 in tile.lines:
        painter.drawLine(QPointF(x0, y0), QPointF(x1, y1))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    for x, y in tile.dots:
        painter.drawEllipse(QPointF(x, y), 1.0, 1.0)
    painter.end()
    return pixmap
