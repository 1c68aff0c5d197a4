"""Beside the timeline: what happened between A and B, by state, by call, and one sentence about it."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from workbench.api.window import set_ground
from workbench.gui.widgets import Button, PanelHeader, StateBar, Swatch, label, plain_column, rule, scrolled
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.model.blocks import Side
from workbench.model.run import PS_PER_S, Site
from workbench.model.text import NARROW, count_text, counted, percent_text, time_text
from workbench.pictures.states import category_name
from workbench.pictures.timeline.raster import category
from workbench.pictures.timeline.scale import exact_time
from workbench.session.program.keys import with_key
from workbench.traces.clocks import exact_words, unsure_ps
from workbench.traces.path import NO_LIMIT_PS, RunPath
from workbench.traces.scene import Scene
from workbench.traces.statistics import Share, Statistics
from workbench.traces.trace import CATEGORIES

MOST_CALLS, MOST_OF_PATH = 12, 6
_MARGIN_PX, _APART_PX = 16, 24  # of sections that are beside each other


class TimelineDetails(QWidget):
    """The panel. `range_wanted` uses A to B as the range of every view, `cleared` drops the markers."""

    range_wanted = Signal()
    cleared = Signal()
    site_wanted = Signal(int)
    finding_wanted = Signal()
    line_wanted = Signal(str, int)

    def __init__(self, *, offers_range: bool = True) -> None:
        super().__init__()
        self._offers_range = offers_range
        set_ground(self, "panel")
        self.setMinimumWidth(240)
        self.header = PanelHeader("Selection")
        self._scroll = scrolled("Details of the selection or range")
        self._body = QWidget()
        self._sections = QBoxLayout(QBoxLayout.Direction.TopToBottom, self._body)
        self._columns: list[QVBoxLayout] = []
        self._rules: list[QWidget] = []
        plain_column(self, self.header, (self._scroll, 1))
        self.statistics: Statistics | None = None
        self.path: RunPath | None = None  # the critical path, while it is shown

    def show_words(self, words: str) -> None:
        """Say why there is nothing to show."""
        self.statistics = None
        self.header.set_title("Range", "")
        self._begin()
        self._section().addWidget(label(words, "second", wrap=True))
        self._end()

    def show_statistics(
        self, scene: Scene, statistics: Statistics, marked: bool, title: tuple[str, str], finding: str = ""
    ) -> None:
        """Write the panel anew. `finding` is the title of a finding about the stack of replicas, if there is one."""
        self.statistics = statistics
        self.header.set_title(*title)
        self._begin()
        column = self._section()
        length = (statistics.to_ps - statistics.from_ps) / PS_PER_S
        head = row_layout(label(time_text(length, 4), "hero"), STRETCH)
        column.addLayout(head)
        if any(block.side is Side.FPGA for block in scene.blocks):
            unsure = unsure_ps(scene.run)
            exact = label(f"± 0{NARROW}s", "good")
            head.addWidget(label(f"± {time_text(unsure / PS_PER_S)}", "second") if unsure else exact)
            column.addWidget(label(f"FPGA times: {exact_words(scene.run)}", "smallsecond", wrap=True))
        step = max(statistics.to_ps - statistics.from_ps, 1) / 1000
        column.addWidget(
            label(
                f"{exact_time(statistics.from_ps, step)} to {exact_time(statistics.to_ps, step)}",
                "smallsecond",
                wrap=True,
            )
        )
        if marked:
            column.addSpacing(4)
            column.addLayout(self._buttons())
        self._add_rule()
        for share in statistics.shares:
            _add_share(self._section(), share, length)
        self._add_rule()
        if self.path and not marked:
            self._add_path(self._section(), scene, self.path)
            self._add_rule()
        column = self._section()
        self._add_calls(column, scene, statistics)
        self._add_sentence(column, statistics, finding)
        self._end()

    # ---- sections, below each other or beside each other

    def _begin(self) -> None:
        self._body, self._columns, self._rules = QWidget(), [], []
        set_ground(self._body, "panel")
        self._sections = QBoxLayout(QBoxLayout.Direction.TopToBottom, self._body)
        self._sections.setContentsMargins(_MARGIN_PX, 16, _MARGIN_PX, 16)
        self._sections.setSpacing(16)

    def _section(self) -> QVBoxLayout:
        column = column_layout(spacing=8)
        self._columns.append(column)
        self._sections.addLayout(column)
        return column

    def _add_rule(self) -> None:
        self._rules.append(rule())
        self._sections.addWidget(self._rules[-1])

    def _end(self) -> None:
        for column in self._columns:
            column.addStretch(1)  # not an alignment: that would cut wrapped text
        self._sections.addStretch(1)
        self._scroll.setWidget(self._body)
        self._turn()

    def _turn(self) -> None:
        """Sections are beside each other where the panel is much wider than high, and they have the room."""
        needs = 2 * _MARGIN_PX + sum(column.minimumSize().width() + _APART_PX for column in self._columns) - _APART_PX
        room = self.width() - self._scroll.verticalScrollBar().sizeHint().width()
        beside = self.width() > 2 * self.height() and len(self._columns) > 1 and needs <= room
        ways = QBoxLayout.Direction
        self._sections.setDirection(ways.LeftToRight if beside else ways.TopToBottom)
        self._sections.setSpacing(_APART_PX if beside else 16)
        for line in self._rules:
            line.setVisible(not beside)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def _buttons(self) -> QHBoxLayout:
        row = row_layout(spacing=8)
        clear = Button("Clear", on=self.cleared.emit)
        if self._offers_range:
            use = Button("Use as range", on=self.range_wanted.emit)
            use.setToolTip(with_key("Restrict all views to this range", "view_range"))
            row.addWidget(use, 1)
        row.addWidget(clear)
        row.addStretch(1)
        return row

    def _add_path(self, column: QVBoxLayout, scene: Scene, path: RunPath) -> None:
        """What the critical path is spent on, and which rows have time to spare."""
        blocks, sites = scene.blocks, scene.run.manifest.sites
        head = QHBoxLayout()
        head.addWidget(label("On the critical path", "strong"))
        head.addStretch(1)
        head.addWidget(label(counted(len(path.steps), "part"), "second"))
        column.addLayout(head)
        for share in path.steps.shares(tuple(block.group for block in blocks))[:MOST_OF_PATH]:
            block = blocks[share.block]
            state = block.states[share.state]
            place = sites[share.site] if share.site >= 0 else state
            name = place.label if isinstance(place, Site) else state.name
            row = row_layout(Swatch(block.drawn_as(state)), spacing=8)
            if place.file and place.line:
                link = Button(name, kind="link", on=partial(self.line_wanted.emit, place.file, place.line))
                link.setToolTip(f"{place.file}:{place.line}")
                row.addWidget(link)
            else:
                row.addWidget(label(name))
            row.addStretch(1)
            for text, role in ((percent_text(share.part), "strong"), (time_text(share.time_ps / PS_PER_S), "second")):
                cell = label(text, role)
                cell.setMinimumWidth(60)
                cell.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                row.addWidget(cell)
            column.addLayout(row)
        if path.unknown:
            column.addWidget(
                label(f"The cause of some waits is unknown:  {path.unknown[0]}.", "smallsecond", wrap=True)
            )
        spare = sorted(
            (parts.least_slack_ps, number)
            for number, parts in path.parts.items()
            if number not in path.blocks and 0 < parts.least_slack_ps < NO_LIMIT_PS
        )
        if spare:
            column.addSpacing(6)
            column.addWidget(label("Not on the path", "strong"))
            column.addWidget(label("Smallest slack of one interval of work", "smallsecond", wrap=True))
        for slack_ps, number in spare[:MOST_OF_PATH]:
            _add_line(column, label(scene.names[number]), "", time_text(slack_ps / PS_PER_S))

    def _add_calls(self, column: QVBoxLayout, scene: Scene, statistics: Statistics) -> None:
        head = QHBoxLayout()
        head.addWidget(label("Calls in the selection", "strong"))
        head.addStretch(1)
        head.addWidget(label(count_text(sum(c for _, c, _ in statistics.calls)), "second"))
        column.addSpacing(6)
        column.addLayout(head)
        for site, calls, spent in statistics.calls[:MOST_CALLS]:
            place = scene.run.manifest.sites[site]
            name = Button(place.label, kind="link", on=_call_with(self.site_wanted.emit, site))
            name.setToolTip(f"{place.callee}, {place.file}:{place.line}")
            _add_line(column, name, f"× {count_text(calls)}" if calls else "in part", time_text(spent))
        if len(statistics.calls) > MOST_CALLS:
            column.addWidget(label(f"{len(statistics.calls) - MOST_CALLS} more sites", "small"))
        if not statistics.calls:
            column.addWidget(label("None.", "small"))

    def _add_sentence(self, column: QVBoxLayout, statistics: Statistics, finding: str) -> None:
        if statistics.at_work is None:
            return
        name, most, members = statistics.at_work
        column.addSpacing(10)
        what = "All" if most == members else f"At most {most} of"
        said = f"{what} {members} × {name} work at once" if most is not None else f"Each {name} on average"
        column.addWidget(label(said, "strong", wrap=True))
        share = next((s for s in statistics.shares if s.title == f"{name} × {members}"), None)
        if share:
            total = max(sum(share.seconds), 1e-30)
            work = share.seconds[CATEGORIES.index("work")]
            waits = sum(share.seconds[CATEGORIES.index(c)] for c in ("wait_send", "wait_recv"))
            text = (
                f"On average, one works {time_text(work)} of {time_text(total)} ({percent_text(work / total)}) "
                f"and waits {percent_text(waits / total)}."
            )
            column.addWidget(label(text, "smallsecond", wrap=True))
        if finding:
            link = Button("Show the finding", kind="link", on=self.finding_wanted.emit)
            link.setToolTip(finding)
            column.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)


def _call_with(function: Callable[[int], None], argument: int) -> Callable[[], None]:
    return lambda: function(argument)


def _add_share(column: QVBoxLayout, share: Share, length: float) -> None:
    head = row_layout(label(share.title, "strong"), label(share.note, "small"), STRETCH, spacing=8)
    column.addLayout(head)
    total = max(sum(share.seconds), 1e-30)
    order = sorted(range(len(CATEGORIES)), key=lambda code: -share.seconds[code])
    order = [code for code in order if share.seconds[code] > 0]
    column.addWidget(StateBar([(category(code), share.seconds[code] / total) for code in order], 16))
    grid = QGridLayout()
    grid.setHorizontalSpacing(10)
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(1, 1)
    for at, code in enumerate(order):
        grid.addWidget(Swatch(category(code)), at, 0)
        grid.addWidget(label(category_name(category(code))), at, 1)
        for place, (text, role) in enumerate(
            ((percent_text(share.seconds[code] / total), "strong"), (time_text(share.seconds[code]), "second")), 2
        ):
            cell = label(text, role)
            cell.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            cell.setMinimumWidth(64)
            grid.addWidget(cell, at, place)
    column.addLayout(grid)


def _add_line(column: QVBoxLayout, first: QWidget, second: str, third: str) -> None:
    last = label(third, "strong")
    last.setMinimumWidth(70)
    last.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    row = row_layout(first, STRETCH, label(second, "second"), last, spacing=8)
    column.addLayout(row)
