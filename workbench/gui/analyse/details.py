"""Beside the block graph: one finding, or one block, read from gain to source."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from workbench.analysis.finding_words import becomes_words, bound_words, cap_words, folded_words
from workbench.analysis.rate_curves import finding_plot
from workbench.api.results import Analysis, BlockMetrics, CallMetrics
from workbench.gui.analyse.excerpt import SourceExcerpt, read_lines
from workbench.gui.analyse.words import block_words, ratio_or_dash, scope_words, where_words
from workbench.gui.canvas import Drawn
from workbench.gui.context import Context
from workbench.gui.plot_view import PlotView
from workbench.gui.theme import set_ground
from workbench.gui.widgets import (
    Button,
    ElidedLabel,
    EmptyState,
    IconButton,
    SeverityIcon,
    StateBar,
    Swatch,
    label,
    rule,
    scrolled,
)
from workbench.model.blocks import Side
from workbench.model.finding import Advice, Finding
from workbench.model.text import bytes_text, count_text, counted, percent_text, rate_text, time_text
from workbench.pictures.canvas import CENTRE, Canvas
from workbench.pictures.states import category_name

MOST_METRICS = 12


class NumberDisc(Drawn, QWidget):
    """The number of a suggestion."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number
        self.setFixedSize(20, 20)

    def draw(self, canvas: Canvas) -> None:
        middle = self.width() / 2
        canvas.disc(middle, middle, middle, "selection")
        canvas.write(middle, middle, str(self._number), "link", 11, 700, CENTRE)


class FoldedAdvice(QWidget):
    """The advice after the first, behind a link that tells how much there is."""

    def __init__(self, advice: Sequence[Advice]) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self.fold = Button(folded_words(advice), "chevron-right", kind="link")
        self.rest = QWidget()
        self.fold.clicked.connect(lambda: self.show_all(self.rest.isHidden()))
        column.addWidget(self.fold, 0, Qt.AlignmentFlag.AlignLeft)
        rows = QVBoxLayout(self.rest)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(8)
        for number, one in enumerate(advice, 2):
            rows.addWidget(_advice_row(number, one))
        column.addWidget(self.rest)
        self.show_all(False)

    def show_all(self, shown: bool) -> None:
        self.rest.setVisible(shown)
        self.fold.set_icon("chevron-down" if shown else "chevron-right")


def _advice_row(number: int, advice: Advice) -> QWidget:
    """What to do, and below it what that gains at most and what the bound rests on."""
    widget = QWidget()
    row = QHBoxLayout(widget)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(10)
    row.addWidget(NumberDisc(number), 0, Qt.AlignmentFlag.AlignTop)
    words = QVBoxLayout()
    words.setSpacing(2)
    for text, role in ((advice.text, ""), (bound_words(advice), "smallsecond")):
        said = label(text, role, wrap=True)
        said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        words.addWidget(said)
    row.addLayout(words, 1)
    return widget


class AnalyseDetails(QWidget):
    """The panel. It is written anew for each selection."""

    closed = Signal()
    finding_wanted = Signal(str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        set_ground(self, "panel")
        self.setMinimumWidth(240)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._scroll = scrolled()
        column.addWidget(self._scroll)
        self.curve: PlotView | None = None
        self.excerpt: SourceExcerpt | None = None
        self._body = QWidget()
        self.show_nothing()

    def show_nothing(self) -> None:
        self.curve = self.excerpt = None
        self._scroll.setWidget(
            EmptyState("search", "Nothing is selected", "Select a finding or a block to read about it.")
        )

    def _begin(self) -> QVBoxLayout:
        body = QWidget()
        set_ground(body, "panel")
        column = QVBoxLayout(body)
        column.setContentsMargins(16, 14, 14, 20)
        column.setSpacing(8)
        self.curve = self.excerpt = None
        self._body = body
        return column

    def _finish(self, column: QVBoxLayout) -> None:
        """Show what was written, all at once."""
        column.addStretch(1)
        self._scroll.setWidget(self._body)

    # ---- a finding

    def show_finding(self, finding: Finding, analysis: Analysis) -> None:
        column = self._begin()
        self._add_title(column, finding.title, scope_words(finding), finding.severity)
        if finding.explanation:
            column.addWidget(label(finding.explanation, "smallsecond", wrap=True))
        column.addLayout(_figures(finding, analysis))
        column.addSpacing(2)
        column.addWidget(rule())
        if finding.advice:
            column.addWidget(label("What to do", "strong"))
            column.addWidget(_advice_row(1, finding.advice[0]))
            if finding.advice[1:]:
                column.addWidget(FoldedAdvice(finding.advice[1:]))
            column.addSpacing(2)
            column.addWidget(rule())
        self._add_curve(column, finding, analysis)
        self._add_numbers(column, finding, analysis)
        if finding.places:
            place = finding.places[0]
            self._add_source(column, place.file, place.line, place.label)
        self._add_parts(column, finding, analysis)
        self._finish(column)

    def _add_title(self, column: QVBoxLayout, title: str, subtitle: str, severity: str = "") -> None:
        row = QHBoxLayout()
        row.setSpacing(10)
        if severity:
            row.addWidget(SeverityIcon(severity, 20), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label(title, "finding", wrap=True), 1)
        close = IconButton("x", "Close (Esc)")
        close.clicked.connect(self.closed.emit)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(row)
        below = label(subtitle, "smallsecond", wrap=True)
        below.setContentsMargins(30 if severity else 0, 0, 0, 0)
        column.addWidget(below)

    def _add_curve(self, column: QVBoxLayout, finding: Finding, analysis: Analysis) -> None:
        platform = self.context.platform
        plot = finding_plot(finding, analysis, platform)
        if plot is None or platform is None:
            return
        head = QHBoxLayout()
        head.addWidget(label("Transfer rate by size", "strong"))
        said = f"{_of_calls(len(plot.spots), len(analysis.calls))}, {platform.title or platform.name}"
        head.addWidget(_at_right(ElidedLabel(said, "small")), 1)
        column.addLayout(head)
        self.curve = PlotView("Transfer rate by size", 206, in_page=True)
        self.curve.setFixedHeight(206)
        self.curve.problem.connect(self.context.notices.tell)
        self.curve.show_plot(plot)
        column.addWidget(self.curve)
        column.addWidget(rule())

    def _add_numbers(self, column: QVBoxLayout, finding: Finding, analysis: Analysis) -> None:
        if not finding.metrics and not finding.condition:
            return
        column.addWidget(label("Numbers behind the rule", "strong"))
        if finding.condition:
            column.addWidget(_code_box(finding.condition))
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(0, 3)
        grid.setColumnStretch(1, 2)
        for row, (name, value) in enumerate(list(finding.metrics.items())[:MOST_METRICS]):
            metric = analysis.metrics[name]
            first = label(metric.title, "smallsecond")
            first.setWordWrap(True)
            second = ElidedLabel(name, "codemuted", Qt.TextElideMode.ElideMiddle)
            third = label(metric.text(value), "strong")
            third.setAlignment(Qt.AlignmentFlag.AlignRight)
            for place, widget in enumerate((first, second, third)):
                grid.addWidget(widget, row, place)
        column.addLayout(grid)
        column.addSpacing(2)
        column.addWidget(rule())

    def _add_source(self, column: QVBoxLayout, file: str, line: int, name: str) -> None:
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(label("Source", "strong"))
        head.addWidget(ElidedLabel(f"{file.rsplit('/', 1)[-1]}:{line}{', ' + name if name else ''}", "small"), 1)
        go = Button("Open line", kind="link")
        go.setToolTip("Enter")
        go.clicked.connect(lambda: self.context.navigation.open_line(file, line))
        head.addWidget(go)
        column.addLayout(head)
        lines = read_lines(self.context.resolve(file), line)
        if lines is None:
            column.addWidget(label(f"{file} cannot be read here.", "small", wrap=True))
            return
        self.excerpt = SourceExcerpt()
        self.excerpt.set_lines(lines[0], lines[1], line)
        column.addWidget(self.excerpt)

    def _add_parts(self, column: QVBoxLayout, finding: Finding, analysis: Analysis) -> None:
        parts = [f for f in analysis.findings if f.part_of == finding.id]
        if parts:
            column.addSpacing(2)
            column.addWidget(rule())
        _add_findings(column, "Parts of this", parts, self.finding_wanted.emit, where_words)

    # ---- a block

    def show_block(self, members: Sequence[BlockMetrics], analysis: Analysis) -> None:
        """One block, or replicas with their mean."""
        column = self._begin()
        block = members[0].block
        many = len(members)
        name = block_words(block.id) if many == 1 else f"{block_words(block.group)} × {many}"
        clock = f", {block.clock}" if block.clock else ""
        what = "thread" if block.side is Side.HOST else f"{block.kind}{clock}"
        self._add_title(
            column, name, f"{what}{', mean of ' + str(many) if many > 1 else ''}, {time_text(analysis.time_s)}"
        )
        seconds = [sum(m.states[k].time_s for m in members) / many for k in range(len(members[0].states))]
        total = max(sum(seconds), 1e-30)
        order = sorted((k for k in range(len(seconds)) if seconds[k] > 0), key=lambda k: -seconds[k])
        drawn = [(block.drawn_as(members[0].states[k].state), seconds[k] / total) for k in order]
        column.addWidget(StateBar(drawn, 16))
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(5)
        grid.setColumnStretch(2, 1)
        for row, k in enumerate(order):
            state = members[0].states[k].state
            visits = sum(m.states[k].visits for m in members) / many
            cells = (
                Swatch(block.drawn_as(state)), label(state.name, "strong"),
                label(category_name(block.drawn_as(state)), "small"),
                label(percent_text(seconds[k] / total), "strong"), label(time_text(seconds[k]), "second"),
                label(counted(visits, "visit"), "small"),
            )  # fmt: skip
            for place, cell in enumerate(cells):
                if isinstance(cell, QLabel) and place > 2:
                    cell.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                grid.addWidget(cell, row, place)
        column.addLayout(grid)
        ids = {m.block.id for m in members} | {block.group}
        found = [f for f in analysis.findings if f.block in ids or f.culprit in ids]
        column.addSpacing(4)
        column.addWidget(rule())
        _add_findings(column, "Findings here", found, self.finding_wanted.emit)
        if not found:
            column.addWidget(label("No rule fired here.", "small"))
        if block.file and block.line:
            column.addWidget(rule())
            self._add_source(column, block.file, block.line, block.kind)
        self._finish(column)

    def show_call(self, calls: Sequence[CallMetrics], analysis: Analysis) -> None:
        """All calls of one site."""
        column = self._begin()
        first = calls[0]
        self._add_title(column, first.site.label, f"{first.site.callee}, {first.place}, {block_words(first.block)}")
        count, size, spent = sum(c.count for c in calls), sum(c.bytes for c in calls), sum(c.time_s for c in calls)
        rows = [("Calls", count_text(count)), ("Time", f"{time_text(spent)}, {percent_text(spent / analysis.time_s)}")]
        if size:
            rows += [("Bytes a call", bytes_text(size / count)), ("Rate", rate_text(size / spent))]
        if first.rate:
            rows.append(("Least and greatest rate", f"{rate_text(first.rate.min)} to {rate_text(first.rate.max)}"))
        rows.append(("In a row", f"{first.runs.min} to {first.runs.max}, {first.runs.avg:.3g} on average"))
        grid = QGridLayout()
        grid.setVerticalSpacing(5)
        for at, (name, value) in enumerate(rows):
            grid.addWidget(label(name, "smallsecond"), at, 0)
            cell = label(value, "strong")
            cell.setAlignment(Qt.AlignmentFlag.AlignRight)
            grid.addWidget(cell, at, 1)
        column.addLayout(grid)
        column.addWidget(rule())
        place = (first.site.file, first.site.line)
        found = [f for f in analysis.findings if any((p.file, p.line) == place for p in f.places)]
        _add_findings(column, "Findings here", found, self.finding_wanted.emit)
        self._add_source(column, first.site.file, first.site.line, first.site.label)
        self._finish(column)


def _of_calls(shown: int, total: int) -> str:
    return f"{shown} of {total} calls" if shown < total else counted(shown, "call")


def _at_right(widget: ElidedLabel) -> ElidedLabel:
    widget.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return widget


def _figures(finding: Finding, analysis: Analysis) -> QGridLayout:
    """Cap (what the best advice gains at most), ideal, time."""
    known = finding.speedup_cap is not None
    share = finding.time_s / analysis.time_s if analysis.time_s else 0.0
    becomes = becomes_words(analysis.time_s, finding.gain)
    columns = (
        ("Cap", ratio_or_dash(finding.speedup_cap), becomes if known else cap_words(finding), known),
        ("Ideal", ratio_or_dash(finding.speedup_ideal), "if only this time went" if known else becomes, not known),
        ("Time", time_text(finding.time_s), f"{percent_text(share)} of {time_text(analysis.time_s)}", False),
    )
    grid = QGridLayout()
    grid.setHorizontalSpacing(14)
    grid.setVerticalSpacing(0)
    grid.setContentsMargins(0, 8, 0, 6)
    for at, (title, figure, note, strong) in enumerate(columns):
        if at:
            grid.addWidget(rule(vertical=True), 0, at * 2 - 1, 3, 1)
        grid.setColumnStretch(at * 2, 1)
        grid.addWidget(label(title, "small"), 0, at * 2)
        grid.addWidget(label(figure, "figure" if strong else "figureplain"), 1, at * 2)
        grid.addWidget(label(note, "small", wrap=True), 2, at * 2, Qt.AlignmentFlag.AlignTop)
    return grid


def _code_box(text: str) -> QWidget:
    box = label(text, "code", wrap=True)
    box.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    box.setContentsMargins(10, 6, 10, 6)
    frame = QFrame()
    set_ground(frame, "sunken")
    column = QVBoxLayout(frame)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(box)
    return frame


def _add_findings(
    column: QVBoxLayout, title: str, findings: Sequence[Finding], go: object,
    called: Callable[[Finding], str] = lambda finding: finding.title,
) -> None:  # fmt: skip
    if not findings:
        return
    column.addWidget(label(title, "strong"))
    for finding in findings:
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(SeverityIcon(finding.severity))
        link = Button(called(finding), kind="link")
        link.clicked.connect(lambda checked=False, wanted=finding.id: go(wanted))  # type: ignore[operator]
        row.addWidget(link)
        row.addStretch(1)
        row.addWidget(label(ratio_or_dash(finding.gain), "strong"))
        column.addLayout(row)
