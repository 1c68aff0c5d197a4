"""What a mode of the window is made of, for plugins as for the built-in modes: the one module here that leads to Qt.

A plot in the colours of the window:

    view = PlotView("Load")
    view.show_plot(Plot(Axis("time", time_text), Axis("load", percent_text), (Line("host", x, y),)))
"""

from typing import TYPE_CHECKING

from workbench.api.lazy import loads

if TYPE_CHECKING:
    from workbench.gui.frame.context import Context
    from workbench.gui.look.theme import colour, fill_state, frame_colour, palette, set_ground, state_colour
    from workbench.gui.modes.mode import Mode
    from workbench.gui.views.plot_view import PlotView
    from workbench.pictures.palette import Palette
    from workbench.pictures.plot import Axis, Line, Mark, Plot, Spot
else:
    __getattr__ = loads(__name__, __file__)

__all__ = [
    "Axis", "Context", "Line", "Mark", "Mode", "Palette", "Plot", "PlotView", "Spot", "colour", "fill_state",
    "frame_colour", "palette", "set_ground", "state_colour",
]  # fmt: skip
