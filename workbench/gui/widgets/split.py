"""A splitter that remembers the user's sizes: panes shrink with the window, and grow back."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget


class Split(QSplitter):
    """Panes beside each other (or below, `vertical`), each a widget and the pixels it wants.

    With `kept` panes, those keep their wanted size while there is room, and the others share what is over; without
    any, all share in proportion to what they want. Dragging says anew what is wanted.
    """

    def __init__(self, *panes: tuple[QWidget, int], vertical: bool = False, kept: Sequence[int] = ()) -> None:
        super().__init__(Qt.Orientation.Vertical if vertical else Qt.Orientation.Horizontal)
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self._wanted, self._kept = [pixels for _, pixels in panes], frozenset(kept)
        self._most: dict[int, tuple[int | None, int, int]] = {}  # of a pane: most, beside its rows, of a row
        self._dragged = False
        for widget, _ in panes:
            self.addWidget(widget)
        self.setSizes(self._wanted)
        self.splitterMoved.connect(self._on_moved)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        room = self.height() if self.orientation() is Qt.Orientation.Vertical else self.width()
        sizes = shares(self._wanted, room - self.handleWidth() * (len(self._wanted) - 1), self._kept)
        for pane, (most_px, beside_px, row_px) in self._most.items():
            if most_px is None:
                continue
            part_px = max(sizes[pane] - beside_px, 0) % row_px
            over = max(sizes[pane] - most_px, part_px if sizes[pane] < most_px else 0)
            if over > 0:
                sizes[pane] -= over
                sizes[0 if pane else 1] += over
        self.setSizes(sizes)

    def want(self, *pixels: int) -> None:
        """Share the room otherwise from now on."""
        self._wanted = list(pixels)
        self._share()

    def bound(self, pane: int, most_px: int | None, beside_px: int = 0, row_px: int = 1) -> None:
        """Give a pane no more than it can use, unless sizes were dragged: the first of the others has the rest. Where
        it has less, that is whole rows of `row_px`, and `beside_px` for what is above and below them."""
        bounds = most_px, beside_px, row_px
        if not self._dragged and self._most.get(pane) != bounds:
            self._most[pane] = bounds
            self._share()

    def _on_moved(self) -> None:
        self._wanted, self._dragged = self.sizes(), True
        self._most.clear()


def shares(wanted: Sequence[int], room: int, kept: frozenset[int] = frozenset()) -> list[int]:
    """How `room` pixels are shared out: as wanted where there is enough, in proportion to it where there is not."""
    if room < sum(wanted) or not kept:
        return [round(room * pixels / sum(wanted)) for pixels in wanted]
    free = room - sum(wanted[i] for i in kept)
    others = sum(pixels for i, pixels in enumerate(wanted) if i not in kept)
    return [pixels if i in kept else round(free * pixels / others) for i, pixels in enumerate(wanted)]
