"""The block that the cursor is in: its states, transitions and findings, from the run shown."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QStackedWidget, QWidget

from workbench.analysis import BlockMetrics
from workbench.analysis.finding_words import short_gain_text
from workbench.api.window import Context, set_ground
from workbench.gui.views.canvas import Drawn
from workbench.gui.widgets import (
    ElidedLabel,
    EmptyState,
    IconLabel,
    PanelHeader,
    SeverityIcon,
    StateBar,
    Swatch,
    TextButton,
    empty,
    label,
    plain_column,
    rule,
    scrolled,
)
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.model.blocks import Side, State
from workbench.model.finding import Finding
from workbench.model.text import (
    NARROW,
    count_text,
    frequency_text,
    percent_text,
    prefixed,
    thousands,
    time_text,
    times,
)
from workbench.pictures.canvas import CENTRE, RIGHT, Canvas
from workbench.pictures.states import category_name, mean_shares

_NARROW_PX = 300  # where a state's name takes the place of its category, which the swatch says too, and visits
_MOST_STATES = 8


class SourceDetails(QWidget):
    def __init__(self, context: Context) -> None:
        super().__init__()
        set_ground(self, "panel")
        self._context = context
        self._shown: tuple[tuple[BlockMetrics, ...], tuple[Finding, ...]] | None = None
        self._spare: list[QWidget] = []  # not shown where there is little room
        self.header = PanelHeader("Block")
        self._empty = EmptyState("chart-gantt", "Numbers appear after the run", "Nothing has run yet.", "Run")
        self._empty.button.clicked.connect(context.run_requested.emit)
        self._body = column_layout(margins=(16, 14, 16, 16), spacing=8)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(scrolled("Block at the cursor", self._body))
        plain_column(self, self.header, (self._pages, 1))

    def show_nothing(self, title: str, why: str, action: str = "") -> None:
        self._shown = None
        self.header.set_title("Block")
        self._empty.say(title, why, action)
        self._pages.setCurrentIndex(0)

    def show_blocks(self, blocks: Sequence[BlockMetrics], time_s: float) -> None:
        """Replicas of one block, as their mean."""
        findings = self._findings_on([b.block.id for b in blocks])
        if self._shown == (tuple(blocks), findings):
            return
        self._shown = tuple(blocks), findings
        empty(self._body)
        self._spare = []
        first = blocks[0].block
        count = len(blocks)
        parts = first.group.split(".")[-2 if count > 1 else -1 :]
        short = ".".join(parts).replace("[*]", f"[0..{count - 1}]")
        each = f"mean of {count}, " if count > 1 else ""
        self.header.set_title(short, f"{each}{time_text(time_s, 5)}")
        self.header.title.setToolTip(first.group)
        self._body.addWidget(StateBar(mean_shares(blocks), 16))
        self._states(blocks)
        transitions = _mean_transitions(blocks)
        if first.side is Side.FPGA and transitions:
            self._transitions(first.states, transitions)
        self._findings(findings)
        self._observing(blocks)
        self._body.addStretch(1)
        self._pages.setCurrentIndex(1)

    def _states(self, blocks: Sequence[BlockMetrics]) -> None:
        count = len(blocks)
        rows = [
            (blocks[0].states[i].state, sum(b.states[i].share for b in blocks) / count,
             sum(b.states[i].visits for b in blocks) / count)
            for i in range(len(blocks[0].states))
        ]  # fmt: skip
        rows.sort(key=lambda row: -row[1])
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        shown = [row for row in rows if row[1] > 0 or row[2] > 0][:_MOST_STATES]
        for number, (state, share, visits) in enumerate(shown):
            name = ElidedLabel(state.name, "strong")
            name.beside = tuple(other.name for other, _, _ in shown if other is not state)
            category = ElidedLabel(category_name(state.category), "smallsecond")
            figure = label(percent_text(share), "strong")
            entered = label(count_text(visits), "small")
            entered.setToolTip("times entered")
            self._spare += [category, entered]
            figure.setToolTip(f"share of the run's time; entered {times(visits)}")
            for column, widget in enumerate((Swatch(state.category, 13, 11), name, category, figure, entered)):
                side = Qt.AlignmentFlag.AlignRight if column > 2 else Qt.AlignmentFlag(0)
                grid.addWidget(widget, 2 * number, column, side | Qt.AlignmentFlag.AlignVCenter)
            grid.setRowMinimumHeight(2 * number, 29)
            grid.addWidget(rule(), 2 * number + 1, 0, 1, 5)
        self._body.addLayout(grid)
        self._show_spare()
        hidden = len([row for row in rows if row[1] > 0 or row[2] > 0]) - len(shown)
        if hidden > 0:
            least = shown[-1][1]
            below = f" below {percent_text(least).removeprefix(f'<{NARROW}')}" if least else ""
            self._body.addWidget(label(f"{hidden} more{below}", "small"))

    def _show_spare(self) -> None:
        for widget in self._spare:
            widget.setVisible(self.width() >= _NARROW_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_spare()

    def _transitions(self, states: Sequence[State], counts: dict[tuple[int, int], float]) -> None:
        self._body.addSpacing(8)
        head = row_layout(label("Transitions", "strong"), STRETCH)
        balance = _balanced(counts, len(states))
        if balance:
            head.addWidget(IconLabel("check", 14, "good"))
        balanced = label("balanced" if balance else "not balanced", "good" if balance else "high")
        balanced.setToolTip("Whether every state is left as often as it is entered")
        head.addWidget(balanced)
        self._body.addLayout(head)
        self._body.addWidget(TransitionMatrix(states, counts))

    def _findings_on(self, ids: Sequence[str]) -> tuple[Finding, ...]:
        """The findings on blocks, with what they gain as far as it is predicted by now."""
        analysis = self._context.analysis
        return tuple(f for f in analysis.findings if f.block in ids or f.culprit in ids) if analysis else ()

    def _findings(self, findings: Sequence[Finding]) -> None:
        if not findings:
            return
        self._body.addSpacing(8)
        self._body.addWidget(label("Findings here", "strong"))
        for finding in _first_of_each(findings)[:6]:
            row = row_layout(SeverityIcon(finding.sign), spacing=10)
            name = TextButton(finding.title, "Show this finding", wrap=True)
            name.clicked.connect(lambda checked=False, f=finding.id: self.show_finding(f))
            row.addWidget(name, 1)
            row.addWidget(label(short_gain_text(finding), "strong"))
            self._body.addLayout(row)

    def show_finding(self, finding: str) -> None:
        """Show it in Analyse."""
        self._context.navigation.show_finding(finding)

    def _observing(self, blocks: Sequence[BlockMetrics]) -> None:
        self._body.addSpacing(8)
        self._body.addWidget(label("Observation", "strong"))
        states = sum(1 for s in blocks[0].states if s.visits or s.time_s)
        facts = [("States seen", f"{states} of {len(blocks[0].states)}")]
        if blocks[0].block.side is Side.FPGA:
            facts.append(("Cycles of each", thousands(blocks[0].cycles)))
            if clock := blocks[0].clock:
                facts.append(("Clock", f"{clock.name}, {frequency_text(clock.frequency_hz)}"))
        for name, value in facts:
            row = row_layout(label(name, "smallsecond"), STRETCH, label(value, "strong"))
            self._body.addLayout(row)


class TransitionMatrix(Drawn, QWidget):
    """From the rows to the columns, how often; the busiest states only."""

    def __init__(self, states: Sequence[State], counts: dict[tuple[int, int], float]) -> None:
        super().__init__()
        entered: dict[int, float] = {}
        for (source, target), count in counts.items():
            if source != target:
                entered[source] = entered.get(source, 0.0) + count
                entered[target] = entered.get(target, 0.0) + count
        self._shown = sorted(sorted(entered, key=lambda s: -entered[s])[:5])
        self._states, self._counts = states, counts
        self.setFixedHeight(26 * (len(self._shown) + 1))
        self.setToolTip("Number of changes from one state (row) to another (column).")

    def sizeHint(self) -> QSize:
        return QSize(280, self.height())

    def draw(self, canvas: Canvas) -> None:
        if not self._shown:
            return
        names = [self._states[state].name for state in self._shown]
        widths = [canvas.width_of(name, 11) for name in names]
        numbered = max(widths) + 4 > (self.width() - max(widths) - 8) / len(names)
        if numbered:
            names = [f"{name} {number}" for number, name in enumerate(names, 1)]
        left = min(max(canvas.width_of(name, 11) for name in names) + 8, self.width() * 0.4)
        cell = (self.width() - left) / len(names)
        most = max(self._counts.values())
        for row, source in enumerate(self._shown):
            y, head = 26.0 * (row + 1), str(row + 1) if numbered else names[row]
            canvas.text(0, y, left - 8, 26, names[row], "second", 11, 400, RIGHT, least=1)
            canvas.text(left + row * cell + 2, 0, cell - 4, 24, head, "second", 11, 400, CENTRE, least=1)
            for column, target in enumerate(self._shown):
                box = (left + column * cell + 1, y + 1, cell - 2, 24.0)
                count = self._counts.get((source, target), 0.0)
                canvas.rect(*box, "sunken")
                if source == target:
                    if canvas.width_of("stay", 11) <= cell - 4:
                        canvas.text(*box, "stay", "muted", 11, 400, CENTRE, least=1)
                elif count:
                    canvas.rect(*box, f"selection/{0.45 + 0.55 * count / most:.3f}")
                    said = count_text(count)
                    if canvas.width_of(said, 11, 600) > cell - 4:
                        said = prefixed(count, "", 1).replace(NARROW, "")
                    canvas.text(*box, said, "link", 11, 600, CENTRE, least=1)


def _mean_transitions(blocks: Sequence[BlockMetrics]) -> dict[tuple[int, int], float]:
    counts: dict[tuple[int, int], float] = {}
    for metrics in blocks:
        for t in metrics.transitions:
            key = (t.from_state, t.to_state)
            counts[key] = counts.get(key, 0.0) + t.count / len(blocks)
    return counts


def _balanced(counts: dict[tuple[int, int], float], states: int) -> bool:
    """Every state is left as often as entered, but for the one it begins in and the one it ends in."""
    net = [0.0] * states
    for (source, target), count in counts.items():
        net[source] -= count
        net[target] += count
    return sum(abs(n) for n in net) <= 2.0 + 1e-6


def _first_of_each(findings: Sequence[Finding]) -> list[Finding]:
    """Replicas and parts repeat a finding; the one ranked highest represents all."""
    best: dict[str, Finding] = {}
    for finding in findings:
        best.setdefault(finding.title, finding)
    return list(best.values())
