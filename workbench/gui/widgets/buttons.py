"""Buttons: plain, primary, link, pill and icon. Their icons follow the theme."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QIcon, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QAbstractButton, QPushButton, QSizePolicy, QToolButton, QWidget

from workbench.gui.look import fonts, theme
from workbench.gui.look.icons import icon
from workbench.gui.views.canvas import Drawn, QtCanvas
from workbench.model.pragma import Category
from workbench.pictures import signs
from workbench.pictures.canvas import Canvas

OnClick = Callable[..., object] | None
#: Air between a button's icon and its text.
_ROOM_PX = 4
_WRAPPED = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextWordWrap)


class Button(QPushButton):
    """A push button; `kind` is plain, primary or link, and `on` is called when it is clicked."""

    def __init__(
        self, text: str, icon_name: str = "", kind: str = "plain", parent: QWidget | None = None, on: OnClick = None
    ) -> None:
        super().__init__(text, parent)
        self._icon_name, self._kind = icon_name, kind
        self.setProperty("kind", kind)
        self.setIconSize(QSize(16 + _ROOM_PX, 16))
        if kind == "link":
            self.setCursor(Qt.CursorShape.PointingHandCursor)
            self.setFlat(True)
        if on is not None:
            self.clicked.connect(on)
        self._dress()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.EnabledChange):
            self._dress()

    def _dress(self) -> None:
        if not self._icon_name:
            return
        p = theme.palette()
        colour = {"primary": p.on_accent, "link": p.link}.get(self._kind, p.text) if self.isEnabled() else p.muted
        self.setIcon(icon(self._icon_name, colour, filled=self._icon_name == "play", room_px=_ROOM_PX))

    def set_icon(self, name: str) -> None:
        self._icon_name = name
        self._dress()


class PillButton(QPushButton):
    """A filter that is on or off, with a swatch or an icon if wanted."""

    def __init__(
        self, text: str, *, icon_name: str = "", category: Category | None = None, swatch: bool = False,
        checked: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(text)
        self._icon_name, self._category, self._swatch = icon_name, category, swatch
        self._shows_icon = True
        self.setProperty("kind", "pill")
        self.setCheckable(True)
        self.setChecked(checked)
        self.setIconSize(QSize(14 + _ROOM_PX, 14))
        self.toggled.connect(self._dress)
        self._dress()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._dress()

    def show_icon(self, shown: bool) -> None:
        if shown != self._shows_icon:
            self._shows_icon = shown
            self._dress()

    def _dress(self) -> None:
        if not self._shows_icon:
            self.setIcon(QIcon())
        elif self._swatch:
            self.setIcon(swatch_icon(self._category, room_px=_ROOM_PX))
        elif self._icon_name:
            p = theme.palette()
            self.setIcon(icon(self._icon_name, p.link if self.isChecked() else p.second, 14, room_px=_ROOM_PX))


def swatch_icon(category: Category | None, width: int = 14, height: int = 10, room_px: int = 0) -> QIcon:
    """A state's colour, pattern and frame as an icon, for buttons, combo boxes and menus."""
    icon = QIcon()
    for ratio in (1.0, 2.0):
        pixmap = QPixmap(round((width + room_px) * ratio), round(height * ratio))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        draw_swatch(painter, 0, 0, width, height, category)
        painter.end()
        icon.addPixmap(pixmap)
    return icon


def draw_swatch(painter: QPainter, x: float, y: float, width: float, height: float, category: Category | None) -> None:
    signs.draw_swatch(QtCanvas(painter), x, y, width, height, category)


class TextButton(QAbstractButton):
    """A line of text that can be clicked, in a list: it gives way at its end, and is underlined under the pointer. With
    `wrap` it has the colour of a link, and takes as many lines as it needs."""

    def __init__(self, text: str, tip: str = "", *, wrap: bool = False, on: OnClick = None) -> None:
        super().__init__()
        self.setText(text)
        self._tip, self._wrap = tip, wrap
        if on is not None:
            self.clicked.connect(on)
        self.setToolTip(tip)
        self.setAccessibleName(text)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        policy = QSizePolicy(
            QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum if wrap else QSizePolicy.Policy.Fixed
        )
        policy.setHeightForWidth(wrap)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        return QSize(QFontMetrics(fonts.ui_font()).horizontalAdvance(self.text()) + 6, 22)

    def minimumSizeHint(self) -> QSize:
        metrics = QFontMetrics(fonts.ui_font())
        return QSize(max(map(metrics.horizontalAdvance, self.text().split()), default=0) if self._wrap else 24, 22)

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, width, 1)
        return max(22, QFontMetrics(fonts.ui_font()).boundingRect(room, _WRAPPED, self.text()).height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            font = fonts.ui_font()
            font.setUnderline(self.underMouse() or self.hasFocus())
            painter.setFont(font)
            if self._wrap:
                painter.setPen(QColor(theme.palette().link))
                painter.drawText(self.rect(), _WRAPPED, self.text())
                return
            shown = QFontMetrics(font).elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
            self.setToolTip(self._tip if shown == self.text() else f"{self.text()}. {self._tip}")
            painter.setPen(QColor(theme.palette().text))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter, shown)


class IconButton(Drawn, QToolButton):
    """An icon of 16 or 20 pixels in a square of 28; its tooltip says what it does, and with which key."""

    def __init__(
        self, icon_name: str, tip: str, size_px: int = 16, parent: QWidget | None = None, on: OnClick = None
    ) -> None:
        super().__init__(parent)
        if on is not None:
            self.clicked.connect(on)
        self.icon_name, self._size_px = icon_name, size_px
        self.setToolTip(tip)
        self.setAccessibleName(tip)
        self.setFixedSize(28, 28)
        self.setCursor(Qt.CursorShape.ArrowCursor)

    def draw(self, canvas: Canvas) -> None:
        lit = self.isChecked() or (self.isEnabled() and (self.underMouse() or self.isDown()))
        ring = "accent" if self.hasFocus() else ""
        canvas.rect(0.5, 0.5, self.width() - 1, self.height() - 1, "selection" if lit else "", ring, radius=5)
        ink, room = "second" if self.isEnabled() else "edge", self.width() - self._size_px
        canvas.icon(self.icon_name, room / 2, (self.height() - self._size_px) / 2, self._size_px, ink)
