"""The window's head: menus, back and forward, breadcrumb, search field and Run button."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QMenu, QMenuBar, QSizePolicy, QWidget

from workbench.gui.look import fonts, theme
from workbench.gui.look.icons import draw_icon
from workbench.gui.look.theme import set_ground
from workbench.gui.views.canvas import Drawn
from workbench.gui.widgets import Button, IconButton, plain_column, rule
from workbench.gui.widgets.boxes import STRETCH, row_layout
from workbench.pictures.canvas import Canvas
from workbench.session.program.keys import with_key

_LEAST_SEARCH_PX, _NARROW_SEARCH_PX, _AIRY_PX = 120, 64, 24  # of the search field, and beside a crumb's detail
_CRUMB_PX = 170  # that a crumb has at least, if it needs them


class Logo(Drawn, QWidget):
    """Three bars: accent, work, waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(26, 20)

    def draw(self, canvas: Canvas) -> None:
        for index, (ink, height) in enumerate((("accent", 16), ("state:work", 10), ("state:wait_recv", 5))):
            canvas.rect(index * 9, 18 - height, 7, height, ink, radius=1.5)


class Crumb(QAbstractButton):
    """A step of the breadcrumb: bold, then muted, then an arrow down to its menu. `said` follows what it says."""

    said = Signal()

    def __init__(self, fill_menu: Callable[[QMenu], None]) -> None:
        super().__init__()
        self._fill_menu = fill_menu
        self._detail = self._shown_detail = ""
        self._given_px = 0  # of the room that is spare
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._open)

    def say(self, text: str, detail: str = "") -> None:
        self.setText(text)
        self._detail = detail
        self.setAccessibleName(f"{text} {detail}".strip())
        self.setToolTip(self.accessibleName())
        self._shown_detail = ""
        self.updateGeometry()
        self.update()
        self.said.emit()

    def take_room(self, spare_px: int) -> int:
        """Take what the text needs of the room that is spare; what is left."""
        given = min(max(0, self._text_px() - _CRUMB_PX), max(0, spare_px))
        if given != self._given_px:
            self._given_px = given
            self.updateGeometry()
        return spare_px - given

    def show_detail(self, room_px: int) -> None:
        """Show as many whole parts of the detail as there is room for; the rest is in the tooltip."""
        wide = QFontMetrics(fonts.ui_font(12)).horizontalAdvance
        parts = self._detail.split(", ")
        cuts = (", ".join(parts[:number]) + ", …" * (number < len(parts)) for number in range(len(parts), 0, -1))
        shown = next((cut for cut in cuts if wide(cut) + 7 <= room_px), "")
        if shown != self._shown_detail:
            self._shown_detail = shown
            self.updateGeometry()
            self.update()

    def _detail_px(self) -> int:
        detail = self._shown_detail
        return QFontMetrics(fonts.ui_font(12)).horizontalAdvance(detail) + 7 if detail else 0

    def _text_px(self) -> int:
        return QFontMetrics(fonts.ui_font(13, 600)).horizontalAdvance(self.text()) + 37

    def sizeHint(self) -> QSize:
        return QSize(self._text_px() + self._detail_px(), 28)

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self._text_px(), _CRUMB_PX + self._given_px) + self._detail_px(), 28)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            p = theme.palette()
            if self.underMouse() or self.isDown() or self.hasFocus():
                painter.setPen(QColor(p.accent) if self.hasFocus() else Qt.PenStyle.NoPen)
                painter.setBrush(QColor(p.selection))
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
            room = self.width() - 35 - self._detail_px()
            bold = fonts.ui_font(13, 600)
            text = QFontMetrics(bold).elidedText(self.text(), Qt.TextElideMode.ElideMiddle, room)
            used = QFontMetrics(bold).horizontalAdvance(text)
            middle = Qt.AlignmentFlag.AlignVCenter
            painter.setFont(bold)
            painter.setPen(QColor(p.text))
            painter.drawText(QRectF(7, 0, room + 8, 28), middle, text)
            plain = fonts.ui_font(12)
            painter.setFont(plain)
            painter.setPen(QColor(p.second))
            if self._shown_detail:
                painter.drawText(QRectF(7 + used + 7, 0, self._detail_px() + 2, 28), middle, self._shown_detail)
            draw_icon(painter, "chevron-down", self.width() - 21, 7, 14)

    def _open(self) -> None:
        menu = QMenu(self)
        self._fill_menu(menu)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.mapToGlobal(QPoint(0, self.height() + 2)))


class Separator(Drawn, QWidget):
    """The mark between two crumbs."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(16, 28)

    def draw(self, canvas: Canvas) -> None:
        canvas.icon("chevron-right", 1, 7, 14)


class RunButton(QWidget):
    """Run, and beside it how to run."""

    run = Signal()
    options = Signal()

    def __init__(self) -> None:
        super().__init__()
        row = row_layout(of=self, margins=(0, 0, 0, 0), spacing=1)
        self.button = Button("Run", "play", "primary", on=self.run.emit)
        self.button.setStyleSheet("border-top-right-radius: 0; border-bottom-right-radius: 0;")
        self.how = Button("", "chevron-down", "primary", on=self.options.emit)
        self.how.setToolTip("Run options: trace, settings")
        self.how.setAccessibleName("How to run")
        self.how.setFixedWidth(26)
        self.how.setStyleSheet("border-top-left-radius: 0; border-bottom-left-radius: 0; padding: 0 0 0 2px;")
        for button in (self.button, self.how):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keyboard where one types
            row.addWidget(button)


class Header(QWidget):
    """44 pixels high. The window fills the menu bar, the crumbs and the search field."""

    def __init__(self, crumbs: tuple[Crumb, ...], search: QWidget) -> None:
        super().__init__()
        set_ground(self, "chrome")
        self.setFixedHeight(44)
        self._project_shown: bool | None = None
        self.menus = QMenuBar()
        self.menus.setNativeMenuBar(False)
        self.menus.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self._logo, self._search = Logo(), search
        self._row = row = row_layout(
            self._logo, 12, (self.menus, 0, Qt.AlignmentFlag.AlignVCenter), margins=(20, 0, 16, 0), spacing=4
        )
        self._project_parts: list[QWidget] = []
        divider = rule(vertical=True)
        divider.setFixedHeight(20)
        self.back = IconButton("arrow-left", "Back")
        self.forward = IconButton("arrow-right", "Forward")
        for widget in (divider, self.back, self.forward):
            self._project_parts.append(widget)
        row.addSpacing(8)
        row.addWidget(divider)
        row.addSpacing(4)
        row.addWidget(self.back)
        row.addWidget(self.forward)
        row.addSpacing(4)
        self._marks: dict[Crumb, QWidget] = {}
        self._crumbs = dict.fromkeys(crumbs, True)  # whether each says something of what is open
        for index, crumb in enumerate(crumbs):
            if index:
                self._marks[crumb] = Separator()
                row.addWidget(self._marks[crumb])
                self._project_parts.append(self._marks[crumb])
            row.addWidget(crumb)
            self._project_parts.append(crumb)
            crumb.said.connect(self._fit)
        row.addStretch(1)
        row.addWidget(search)
        row.addSpacing(8)
        self.run_button = RunButton()
        row.addWidget(self.run_button)
        self._project_parts.append(self.run_button)
        self.take_keys()
        plain_column(self, STRETCH, row, STRETCH, rule())

    def take_keys(self) -> None:
        """Say in the tooltips which keys are in force."""
        self.back.setToolTip(with_key("Back", "back"))
        self.forward.setToolTip(with_key("Forward", "forward"))
        self.run_button.button.setToolTip(with_key("Instrument a copy, build it and run it", "run"))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 44)

    def show_project(self, visible: bool) -> None:
        """Without a project only menus and search are shown."""
        if visible != self._project_shown:
            self._project_shown = visible
            for part in self._project_parts:
                part.setVisible(visible)
            self._fit()

    def show_crumb(self, crumb: Crumb, visible: bool) -> None:
        if visible != self._crumbs[crumb]:
            self._crumbs[crumb] = visible
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """What a narrow window has no room for goes: the project's name, which is in the title, and the logo."""
        project, *others = self._crumbs
        for narrow in (False, True):
            self._logo.setVisible(not narrow)
            self._search.setMinimumWidth(_NARROW_SEARCH_PX if narrow else _LEAST_SEARCH_PX)
            for crumb, wanted in self._crumbs.items():
                crumb.take_room(0)
                crumb.show_detail(0)
                crumb.setVisible(bool(self._project_shown) and wanted and not (narrow and crumb is project))
            for crumb in others:
                self._marks[crumb].setVisible(not crumb.isHidden() and not (narrow and crumb is others[0]))
            self._row.invalidate()
            if (spare_px := self.width() - self._row.minimumSize().width()) >= 0:
                break
        shown, spare_px = [crumb for crumb in self._crumbs if not crumb.isHidden()], spare_px - _AIRY_PX
        for crumb in shown:
            spare_px = crumb.take_room(spare_px)
        for crumb in shown:
            crumb.show_detail(spare_px)
