"""Modes of the window: what each is called, what stands beside it, what it edits. Its view alone knows Qt."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


class Undo(Enum):
    """What Ctrl+Z takes back in a mode."""

    DOCUMENT = "document"  # changes of what the mode edits, where there is something
    WINDOW = "window"  # ranges chosen and findings set aside, in whichever mode that was done
    OWN = "own"  # what was done by the mode's `do`, and nothing else


@dataclass(frozen=True)
class Panel:
    """A panel beside a mode: how wide it is before anyone moved its edge, and the least at which nothing is cut."""

    width_px: int
    least_px: int


@dataclass(frozen=True)
class WindowMode:
    """A mode of the window. Its place in the rail, and its key (Ctrl and a digit), follow the order of the plugins.

    `icon` is a name of `resources/icons`, or the path of an SVG file whose strokes are `currentColor`. `view` gives the
    class of its middle, a `workbench.gui.modes.mode.Mode`; it is imported when the mode is first shown, and supplies
    the panels. `crumbs` are the parts of the header that say what its figures are of: "run", "range", "platform".
    `makes` is what New begins here, or nothing. `nothing` is what it says where it has nothing to show: that, why,
    and perhaps a button's text.
    """

    name: str
    title: str
    icon: str
    view: Callable[[], type]
    nothing: tuple[str, ...] = ("No run is open", "")
    side: Panel | None = None
    details: Panel | None = None
    crumbs: tuple[str, ...] = ("run",)
    makes: str = ""
    undo: Undo = Undo.WINDOW
