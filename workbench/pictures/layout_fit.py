"""The largest layout of a block graph in a room: labels on one or two lines, gutters as wide as fits."""

from dataclasses import replace
from typing import Any

from workbench.model.blocks import BlockGraph
from workbench.pictures.layout import layout_graph
from workbench.pictures.layout_parts import GraphLayout
from workbench.pictures.layout_sizes import LayoutStyle

#: Style for a low and wide room: labels on one line, replicas in fewer and longer rows.
FLAT: dict[str, Any] = {
    "label_lines": 1, "label_height": 18.0, "tiles_per_row": 10, "stack_width": 340.0, "stack_head": 86.0,
    "tile_height": 31.0,
}  # fmt: skip
#: Style for many blocks one below another: the details show their states' shares.
LOW: dict[str, Any] = {"host_height": 72.0, "node_height": 72.0}
#: A graph below this scale gets a low layout, if that enlarges it by this factor.
LOW_FROM_SCALE, LOW_GAIN = 0.6, 1.3
#: Fields whose width depends on their text.
WORDS = ("character_width", "host_width", "node_width", "stack_width")
#: The largest scale of a graph.
MOST_SCALE = 1.25
MOST_STRETCH = 400.0
#: Graphs of more blocks have only one layout, since layouts take time and no room shows them whole.
MOST_BLOCKS = 200


def layout_to_fit(
    graph: BlockGraph, style: LayoutStyle, width: float, height: float, most: float = MOST_SCALE
) -> GraphLayout:
    """Lay out a graph for a room of this size in pixels, to be shown at a scale of at most `most`. Deterministic."""
    layout = layout_graph(graph, style)
    if len(graph.blocks) > MOST_BLOCKS:
        return layout
    flat = replace(style, **FLAT)
    candidate = layout_graph(graph, flat)
    if fit_scale(candidate, width, height, most) > fit_scale(layout, width, height, most):
        layout, style = candidate, flat
    scale = fit_scale(layout, width, height, most)
    if scale < LOW_FROM_SCALE:
        low = replace(style, **LOW)
        candidate = layout_graph(graph, low)
        if fit_scale(candidate, width, height, most) > LOW_GAIN * scale:
            layout, style = candidate, low
            scale = fit_scale(layout, width, height, most)
    for grown in (1 / scale, (1 + 1 / scale) / 2) if scale < 1 else ():  # the text size is unchanged
        roomy = replace(style, **{name: getattr(style, name) * grown for name in WORDS})
        candidate = layout_graph(graph, roomy)
        if fit_scale(candidate, width, height, most) >= scale:
            layout, style = candidate, roomy
            break
    return widened(graph, style, layout, width / scale)


def rough_scale(graph: BlockGraph, style: LayoutStyle, width: float, height: float, most: float = MOST_SCALE) -> float:
    """The scale of a graph that is laid out for a room, without finding the best widths of its texts."""
    return max(fit_scale(layout_graph(graph, one), width, height, most) for one in (style, replace(style, **FLAT)))


def widened(graph: BlockGraph, style: LayoutStyle, layout: GraphLayout, width: float) -> GraphLayout:
    """The layout with gutters of labels widened to the full width."""
    spare = width - layout.width
    gutters = layout_graph(graph, replace(style, stretch=1.0)).width - layout.width
    if spare < gutters or gutters < 1:
        return layout
    return layout_graph(graph, replace(style, stretch=min(spare / gutters, MOST_STRETCH)))


def fit_scale(layout: GraphLayout, width: float, height: float, most: float = MOST_SCALE) -> float:
    """The scale at which a layout fits a room, at most `most`."""
    return min(width / max(layout.width, 1), height / max(layout.height, 1), most)
