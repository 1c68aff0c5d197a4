"""The workbench's own modes, in the order of the loop; found by its entry point, as a plugin's are. No Qt here."""

from collections.abc import Callable, Sequence
from importlib import import_module

from workbench.api import hookimpl
from workbench.api.modes import Panel, Undo, WindowMode


def _view(name: str, of_module: str) -> Callable[[], type]:
    def view() -> type:
        view_class: type = getattr(import_module(of_module), name)
        return view_class

    return view


_MODES = (
    WindowMode(
        "source", "Source", "code", _view("SourceMode", "workbench.gui.modes.source.mode"),
        nothing=("No file is open", "Choose a file in the tree, or follow a link to a line."),
        side=Panel(188, 174), details=Panel(222, 222), crumbs=("run", "range"), undo=Undo.DOCUMENT,
    ),
    WindowMode(
        "analyse", "Analyse", "workflow", _view("AnalyseMode", "workbench.gui.modes.analyse.mode"),
        nothing=("No run is open", "Open a project or a run folder to see its blocks and findings here."),
        details=Panel(472, 306), crumbs=("run", "range"),
    ),
    WindowMode(
        "timeline", "Timeline", "chart-gantt", _view("TimelineMode", "workbench.gui.modes.timeline.mode"),
        nothing=("No run is open", "Run the project or open a run folder to see its timeline here."),
        details=Panel(320, 300), crumbs=("run", "range"),
    ),
    WindowMode(
        "compare", "Compare", "columns-2", _view("CompareMode", "workbench.gui.modes.compare.mode"),
        nothing=("No run is open", "Open a run, then a second one to compare with it."),
    ),
    WindowMode(
        "platform", "Platform", "cpu", _view("PlatformMode", "workbench.gui.modes.platform.mode"),
        nothing=("No platform is open", "Create a template, look at a built-in one, or open a project to edit its own.",
                 "New platform"),
        crumbs=("platform",), makes="platform", undo=Undo.DOCUMENT,
    ),
    WindowMode(
        "predict", "Predict", "trending-up", _view("PredictMode", "workbench.gui.modes.predict.mode"),
        nothing=("No model is open", "Choose a model at the left."),
        details=Panel(400, 240), makes="model", undo=Undo.DOCUMENT,
    ),
    WindowMode(
        "streams", "Streams", "waypoints", _view("QueryMode", "workbench.gui.modes.streams.mode"),
        nothing=("No run is open", "Open a traced run of a streaming application to query it here."),
        crumbs=("run",),
    ),
    WindowMode(
        "project", "Project", "layers", _view("ProjectMode", "workbench.gui.modes.project.mode"),
        nothing=("No project is open", "Open a project to edit its file here."),
        crumbs=(), undo=Undo.DOCUMENT,
    ),
)  # fmt: skip
MODES = {mode.name: mode for mode in _MODES}


@hookimpl
def workbench_modes() -> Sequence[WindowMode]:
    return tuple(MODES.values())
