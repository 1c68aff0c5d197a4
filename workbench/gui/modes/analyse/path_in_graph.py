"""The critical path in the block graph, and by line in the details, while its pill is on."""

from workbench.analysis.path_page import path_page
from workbench.api.window import Context
from workbench.gui.modes.analyse.details import AnalyseDetails
from workbench.gui.modes.analyse.graph import GraphView
from workbench.gui.widgets import PillButton
from workbench.model.prediction import CriticalPath
from workbench.pictures.graph import node_facts
from workbench.pictures.graph_path import path_pairs, with_path

_TIP = "What the run's end waited for, and what has time to spare"
_NOT_YET = "Known once the run was replayed for predictions"


class PathInGraph:
    """`pill` switches it on and off."""

    def __init__(self, graph: GraphView, details: AnalyseDetails, context: Context) -> None:
        self._graph, self._details, self._context = graph, details, context
        self.pill = PillButton("Critical path")
        self.pill.clicked.connect(self._clicked)

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
            self._details.show_page(path_page(self.path, self._context.analysis.graph.blocks))
