"""What is this line doing? Category, reason, target, message from lists; the very text that will be inserted."""

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QWidget,
)

from workbench.api.languages import C, Syntax
from workbench.api.source.pragma_text import format_pragma, parse_pragma
from workbench.api.window import palette
from workbench.gui.modes.source.points import Choices, MarkPoint
from workbench.gui.views.canvas import Drawn
from workbench.gui.widgets import Button, label
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.gui.widgets.popover import MARGIN_PX, Popover
from workbench.model.pragma import Category, Pragma
from workbench.model.text import capitalised, percent_text
from workbench.pictures.canvas import RIGHT, Canvas
from workbench.pictures.signs import draw_swatch

#: The widest list of a field; longer items are cut at their start, where they are most alike.
MOST_LIST_PX = 720
#: The order of the keys 1 to 6, down the columns of the grid.
CATEGORIES = (
    Category.WORK, Category.OVERHEAD, Category.SEND, Category.RECV, Category.WAIT_SEND, Category.WAIT_RECV,
)  # fmt: skip


class CategoryButton(Drawn, QAbstractButton):
    """A category: swatch, name, key."""

    def __init__(self, category: Category, key: int) -> None:
        super().__init__()
        self.category, self._key = category, key
        self.setCheckable(True)
        self.setText(category.value)
        self.setToolTip(f"{category.value} ({key})")
        self.setFixedSize(126, 32)

    def draw(self, canvas: Canvas) -> None:
        on = self.isChecked()
        line = 2.0 if on or self.hasFocus() else 1.0
        ground = "selection" if on else "sunken" if self.underMouse() else "raised"
        edge = "accent" if on or self.hasFocus() else "edge"
        canvas.rect(line / 2, line / 2, self.width() - line, self.height() - line, ground, edge, line, 5)
        draw_swatch(canvas, 10, 11, 17, 11, self.category)
        canvas.write(35, 16, self.text(), "link" if on else "text", 13, 600 if on else 500)
        canvas.write(self.width() - 10, 16, str(self._key), "muted", 12, 400, RIGHT)


def _widen_list(box: QComboBox) -> None:
    """Make a box's list as wide as its longest item, so that no two of them look alike; the text of what is chosen is
    in the tooltip."""
    metrics = box.fontMetrics()
    widest = max((metrics.horizontalAdvance(box.itemText(number)) for number in range(box.count())), default=0)
    box.view().setTextElideMode(Qt.TextElideMode.ElideLeft)
    box.view().setMinimumWidth(min(widest + 44, MOST_LIST_PX))
    box.setToolTip(box.currentText())


class PragmaPopover(Popover):
    """Floats beside a line. `accepted` carries the pragma; `removed` asks for the one that is there to go,
    `definition_wanted` for where the name that was clicked is defined, `metric_wanted` for what may be counted of
    it."""

    accepted = Signal(object)
    removed = Signal()
    definition_wanted = Signal()
    metric_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._syntax: Syntax = C
        self.point: MarkPoint | None = None
        self._share: float | None = None
        self._offered = Choices(dict.fromkeys(Category, ()), (), ())
        inside = MARGIN_PX + 16
        head = QHBoxLayout()
        self.question = label("", "title")
        self._line = label("", "small")
        head.addWidget(self.question)
        head.addStretch(1)
        self.definition = Button("Go to its definition", kind="link", on=self._on_definition)
        head.addWidget(self.definition)
        self.counting = Button("Count it", kind="link", on=self._on_metric)
        head.addWidget(self.counting)
        head.addWidget(self._line)
        column = column_layout(head, of=self, margins=(inside, inside - 6, inside, inside - 4), spacing=14)
        grid = QGridLayout()
        grid.setSpacing(6)
        self.categories = QButtonGroup(self)
        for index, category in enumerate(CATEGORIES):
            button = CategoryButton(category, index + 1)
            self.categories.addButton(button, index)
            grid.addWidget(button, index % 2, index // 2)
        self.categories.idClicked.connect(lambda number: self.choose(CATEGORIES[number]))
        column.addLayout(grid)
        column.addLayout(self._fields())
        self.preview = label("", "code", wrap=True)
        self.preview.setMinimumHeight(42)
        self.preview.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(self.preview)
        self.said = label("", "good", wrap=True)
        foot = row_layout((self.said, 1), spacing=8)
        self.remove = Button("Remove")
        self.remove.setToolTip("Remove this pragma from the file")
        self.cancel = Button("Cancel")
        self.insert = Button("Insert pragma", kind="primary")
        for action in (self.remove, self.cancel, self.insert):
            action.setMinimumHeight(30)
            foot.addWidget(action)
        self.remove.clicked.connect(self._on_remove)
        self.cancel.clicked.connect(self.close_it)
        self.insert.clicked.connect(self._on_insert)
        column.addLayout(foot)
        self.setAccessibleName("What is this line doing?")
        self.setFixedWidth(126 * 3 + 12 + 2 * inside)

    def _fields(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        self.reason, self.target, self.message = QComboBox(), QComboBox(), QComboBox()
        self.name, self.condition = QLineEdit(), QLineEdit()
        self.name.setAccessibleName("Name")
        self.condition.setAccessibleName("Condition")
        self._labels: dict[QWidget, QLabel] = {}
        for index, (title, box) in enumerate(
            (("Reason", self.reason), ("Target", self.target), ("Message", self.message))
        ):
            box.setEditable(True)
            box.setAccessibleName(title)
            box.setProperty("role", "code")
            box.setMinimumWidth(100)
            box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
            box.editTextChanged.connect(self._say)
            editor = box.lineEdit()
            if editor is not None:
                editor.setStyleSheet("border: none; background: transparent; padding: 0; min-height: 20px;")
            self._labels[box] = label(title, "smallsecond")
            grid.addWidget(self._labels[box], 0, index)
            grid.addWidget(box, 1, index)
            grid.setColumnStretch(index, 1)
        grid.setRowMinimumHeight(2, 8)
        grid.addWidget(label("Name", "smallsecond"), 3, 0)
        grid.addWidget(self.name, 4, 0)
        grid.addWidget(label("Only when", "smallsecond"), 3, 1)
        grid.addWidget(self.condition, 4, 1, 1, 2)
        self.condition.setPlaceholderText("always")
        for field in (self.name, self.condition):
            field.setProperty("role", "code")
            field.textChanged.connect(self._say)
            field.returnPressed.connect(self._on_insert)
        return grid

    def ask(
        self, point: MarkPoint, syntax: Syntax, start: Pragma, offered: Choices, share: float | None, corner: QPoint,
        arrow: QPoint | None, name: str = "",
    ) -> None:  # fmt: skip
        """Open for a call or branch with a first answer filled in; `share` is of the run's time, where one shows it,
        `name` the one that was clicked."""
        self._syntax, self.point = syntax, point
        self.definition.setVisible(bool(name))
        self.definition.setToolTip(name)
        self.counting.setVisible(bool(name) and not syntax.directives)
        self.counting.setToolTip(f"Count, sum or sort into bins: {name}")
        self.question.setText(f"What is this {point.kind} doing?")
        self._line.setText(f"line {point.line}")
        self._share, self._offered = share, offered
        for box, items, chosen in (
            (self.reason, offered.reasons[start.category], start.reasons),
            (self.target, offered.targets, start.targets),
            (self.message, offered.messages, start.messages),
        ):
            box.blockSignals(True)
            box.clear()
            box.addItems(list(items))
            box.setEditText("|".join(chosen))
            editor = box.lineEdit()
            if editor is not None:
                editor.setCursorPosition(0)
            box.blockSignals(False)
            _widen_list(box)
        self.name.setText(start.name)
        self.condition.setText(start.condition or "")
        self.remove.setVisible(bool(point.pragmas))
        self.insert.setText("Change pragma" if point.pragmas else "Insert pragma")
        self.choose(start.category)
        self.open_at(corner, arrow)

    def choose(self, category: Category) -> None:
        button = self.categories.button(CATEGORIES.index(category))
        if button is not None:
            button.setChecked(True)
        self._offer_reasons()
        self._say()

    def _offer_reasons(self) -> None:
        """The reasons that go with the category; one that does not fit any more gives way to the first."""
        offered = self._offered.reasons[self.category]
        was = self.reason.currentText()
        self.reason.blockSignals(True)
        self.reason.clear()
        for reason in offered:
            self.reason.addItem(reason)
            meaning = self._offered.meanings.get(reason, "")
            self.reason.setItemData(self.reason.count() - 1, meaning, Qt.ItemDataRole.ToolTipRole)
        known = any(was in reasons for reasons in self._offered.reasons.values())
        editor = self.reason.lineEdit()
        self.reason.setEditText(was if was in offered or not known else offered[0] if offered else "")
        if editor is not None:
            editor.setCursorPosition(0)
        self.reason.blockSignals(False)
        _widen_list(self.reason)

    @property
    def category(self) -> Category:
        return CATEGORIES[max(0, self.categories.checkedId())]

    @property
    def text(self) -> str:
        """The pragma's text as it would be in the file."""
        return self._syntax.pragma + format_pragma(self._pragma())

    def _pragma(self) -> Pragma:
        def items(box: QComboBox) -> tuple[str, ...]:
            return tuple(part.strip() for part in box.currentText().split("|") if part.strip())

        return Pragma(
            self.name.text().strip(), self.category, items(self.reason), items(self.target), items(self.message),
            self.condition.text().strip() or None,
        )  # fmt: skip

    def _say(self) -> None:
        """Show the text, and what is wrong with it if anything."""
        category = self.category
        for box, shown in (
            (self.reason, category is not Category.WORK),
            (self.target, category not in (Category.WORK, Category.OVERHEAD)),
            (self.message, category not in (Category.WORK, Category.OVERHEAD)),
        ):
            box.setEnabled(shown)
            self._labels[box].setEnabled(shown)
        written = format_pragma(self._pragma())
        p = palette()
        self.preview.setText(self._syntax.pragma + written)
        self.preview.setStyleSheet(
            f"background: {p.sunken}; color: {p.pragma}; border: 1px solid {p.rule}; "
            "border-radius: 5px; padding: 6px 10px;"
        )
        pragma, problems = parse_pragma(written)
        self.insert.setEnabled(pragma is not None)
        problem = problems[0] if problems else None
        self.said.setProperty("role", "high" if problem else "good")
        self.said.style().polish(self.said)
        if problem is not None:
            self.said.setText(capitalised(problem.message) + ".")
        elif self._share is not None and self.point is not None:
            self.said.setText(f"Explains {percent_text(self._share)} of the run")
        else:
            self.said.setText("")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        number = event.key() - Qt.Key.Key_1
        if 0 <= number < len(CATEGORIES) and not event.modifiers():
            self.choose(CATEGORIES[number])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._on_insert()
        else:
            super().keyPressEvent(event)

    def _on_insert(self) -> None:
        if self.insert.isEnabled():
            pragma = self._pragma()
            self.close_it()
            self.accepted.emit(pragma)

    def _on_metric(self) -> None:
        self.close_it()
        self.metric_wanted.emit()

    def _on_definition(self) -> None:
        self.close_it()
        self.definition_wanted.emit()

    def _on_remove(self) -> None:
        self.close_it()
        self.removed.emit()
