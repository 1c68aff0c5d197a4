"""The critical path in the block graph, and by line in the details, while its pill is on."""

from PySide6.QtCore import QObject, Signal

from workbench.analysis.path_page import path_page
from workbench.api.window import Context
from workbench.gui.modes.analyse.details import AnalyseDetails
from workbench.gui.modes.analyse.graph import GraphView
from workbench.gui.widgets import Button, PillButton
from workbench.model.blocks import Side
from workbench.model.prediction import CriticalPath
from workbench.pictures.graph import node_facts
from workbench.pictures.graph_path import path_pairs, with_path

#: Of a path through so many blocks of the FPGA (replicas are one) the graph says little.
FEW_BLOCKS = 1
_TIP = "The chain that ends the run, and the slack of all else"
_NOT_YET = "Available after the replay for predictions"


class PathInGraph(QObject):
    """`pill` switches it on and off; `within` shows it by state and call, which `within_wanted` asks for. Where it
    goes through few blocks that says most, and so is shown at once."""

    within_wanted = Signal()

    def __init__(self, graph: GraphView, details: AnalyseDetails, context: Context) -> None:
        super().__init__(graph)
        self._graph, self._details, self._context = graph, details, context
        self.pill = PillButton("Critical path")
        self.pill.clicked.connect(self._clicked)
        self.within = Button("States", kind="link", on=self.within_wanted.emit)
        self.within.setToolTip("Which states and calls the critical path goes through, and how often")
        self.within.hide()

    @property
    def path(self) -> CriticalPath | None:
        """The run's, once it was replayed."""
        analysis = self._context.analysis
        path = analysis.what_if.path if analysis and analysis.what_if else None
        return path if path and path.lines else None

    def show_facts(self) -> None:
        """Say at the nodes what the analysis has, with the path if it is asked for."""
        analysis, layout, path = self._context.analysis, self._graph.layout_, self.path
        self.pill.setEnabled(path is not None)
        self.pill.setToolTip(_TIP if path else _NOT_YET)
        self.within.setVisible(bool(path and path.moves and self.pill.isChecked()))
        if analysis is None or layout is None:
            return
        facts = node_facts(layout, analysis)
        if path and self.pill.isChecked():
            self._graph.set_facts(with_path(facts, layout, path), path_pairs(layout, path))
        else:
            self._graph.set_facts(facts)

    def _clicked(self) -> None:
        self.show_facts()
        if self.pill.isChecked() and self._context.analysis and self.path:
            self._context.navigation.select(None)
            blocks = self._context.analysis.graph.blocks
            self._details.show_page(path_page(self.path, blocks))
            on_path = {line.block for line in self.path.lines}
            groups = {block.group for block in blocks if block.side is Side.FPGA and block.id in on_path}
            if len(groups) <= FEW_BLOCKS and self.path.moves:
                self.within_wanted.emit()
