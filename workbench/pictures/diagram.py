"""Lays out and draws a model as a graph of nodes and links, like the block graph."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from workbench.api.model_diagrams import Diagram, DiagramLink, DiagramNode
from workbench.api.models import FieldPath
from workbench.model.blocks import Block, BlockGraph, Edge, Side, State
from workbench.pictures import graph
from workbench.pictures.edge_labels import draw_block_labels
from workbench.pictures.graph import NodeFacts, draw_graph
from workbench.pictures.layout import GraphLayout, RoutedEdge, layout_graph
from workbench.pictures.layout_fit import layout_to_fit, rough_scale
from workbench.pictures.layout_sizes import LayoutStyle
from workbench.pictures.palette import LIGHT, Palette
from workbench.pictures.svg import SvgCanvas

_FRAME = "model"
_LEAST_WIDTH, _MOST_WIDTH, _CHARACTER, _AIR = 128.0, 250.0, 8.0, 36.0
_COLUMNS = (12, 6, 5, 4, 3, 2, 1)
_WORTH_FOLDING = 1.3
_MOST_FOLDED = 24  # larger diagrams are laid out once
_GAP = 16.0  # between diagrams in one picture
#: The largest scale of a diagram, which has few nodes.
MOST_SCALE = 1.5
ON_PAGE = 1.25  # where it stands among texts


def fitted_diagram(diagram: Diagram, width: float, height: float, most: float = MOST_SCALE) -> GraphLayout:
    """The diagram laid out for a room of this size in pixels; folded if that makes it much larger, at most `most`."""
    graph, style = _graph(diagram), _style(diagram)
    counts = _COLUMNS if len(diagram.nodes) <= _MOST_FOLDED else _COLUMNS[:1]
    styles, scales = [replace(style, columns_per_band=count) for count in counts], list[float]()
    for one in styles:
        scales.append(rough_scale(graph, one, width, height, most))
        if scales[0] >= most / _WORTH_FOLDING:
            break
    first = next(n for n, scale in enumerate(scales) if scale >= max(scales) / _WORTH_FOLDING)
    return _titled(diagram, layout_to_fit(graph, styles[first], width, height, most))


def diagram_facts(diagram: Diagram) -> Mapping[str, NodeFacts]:
    """The facts of the nodes, by their keys in a layout."""
    return {
        _key(number): NodeFacts(
            (), node.figure, node.words, node.second, icon=node.icon, ground="selection" if node.strong else "panel"
        )
        for number, node in enumerate(diagram.nodes)
    }


def diagram_notes(diagram: Diagram) -> Mapping[str, str]:
    """The text beside the frame's title."""
    return {diagram.title: diagram.note}


def node_at(diagram: Diagram, key: str) -> DiagramNode | None:
    """The node with a key of the diagram's layout."""
    return next((node for number, node in enumerate(diagram.nodes) if _key(number) == key), None)


def key_at(diagram: Diagram, part: FieldPath) -> str:
    """The key of the first node at a place of the document; "" if there is none."""
    nodes = enumerate(diagram.nodes)
    return next((_key(number) for number, node in nodes if part and part in (node.field, node.part)), "")


def links_at(diagram: Diagram, edge: RoutedEdge) -> list[DiagramLink]:
    """The links that one line of the layout stands for."""
    ends = {_key(number): node.id for number, node in enumerate(diagram.nodes)}
    names = {one.message for one in edge.edges}
    between = (ends[edge.source], ends[edge.target])
    return [link for link in diagram.links if (link.source, link.target) == between and link.name in names]


def diagram_rows(diagram: Diagram) -> Iterator[tuple[str | float, ...]]:
    """The links as a table, heads first."""
    titles = {node.id: node.title for node in diagram.nodes}
    yield "from", "to", "name", "amount", "time (s)"
    for link in diagram.links:
        yield titles[link.source], titles[link.target], link.name, link.amount, link.time_s


def diagrams_svg(
    diagrams: Mapping[str, Diagram], title: str, palette: Palette = LIGHT, room: tuple[float, float] | None = None
) -> str:
    """All diagrams of a model, one below another; each folded for a room of this size, if given."""
    canvas = SvgCanvas(palette)
    if room:
        layouts = [fitted_diagram(one, *room, ON_PAGE) for one in diagrams.values()]
    else:
        layouts = [_titled(one, layout_graph(_graph(one), _style(one))) for one in diagrams.values()]
    width = max((layout.width for layout in layouts), default=0.0)
    height = sum(layout.height for layout in layouts) + _GAP * max(len(layouts) - 1, 0)
    canvas.rect(0, 0, width, height, "window")
    y = 0.0
    for one, layout in zip(diagrams.values(), layouts, strict=True):
        with canvas.placed(0, y):
            draw_graph(canvas, layout, diagram_facts(one), diagram_notes(one))
            draw_block_labels(canvas, layout)
        y += layout.height + _GAP
    return canvas.document(width, height, title)


def _key(number: int) -> str:
    return f"{_FRAME}.{number}"


def _graph(diagram: Diagram) -> BlockGraph:
    """The graph of the nodes in one frame."""
    keys = {node.id: _key(number) for number, node in enumerate(diagram.nodes)}
    blocks = (Block(key, Side.FPGA, key, "", key, (State(0, "unclassified"),)) for key in keys.values())
    edges = (
        Edge(keys[link.source], keys[link.target], link.name, time_s=link.time_s, rate=link.amount)
        for link in diagram.links
    )
    return BlockGraph(tuple(blocks), tuple(edges))


def _style(diagram: Diagram) -> LayoutStyle:
    """A style with nodes as wide as their longest line."""
    longest = max(
        (len(line) for n in diagram.nodes for line in (n.title, f"{n.figure} {n.words}", n.second)), default=0
    )
    width = min(max(longest * _CHARACTER + _AIR, _LEAST_WIDTH), _MOST_WIDTH)
    return replace(
        graph.STYLE,
        flow=True,
        columns_per_band=_COLUMNS[0],
        node_width=width,
        node_height=72,
        label_height=40,
        gap=16,
        character_width=_CHARACTER,
    )


def _titled(diagram: Diagram, layout: GraphLayout) -> GraphLayout:
    """The layout with the diagram's own texts at nodes, frame and links."""
    titles = {_key(number): node.title for number, node in enumerate(diagram.nodes)}
    edges = []
    for edge in layout.edges:
        links = links_at(diagram, edge)
        edges.append(replace(edge, label=links[0].name, detail=links[0].amount) if len(links) == 1 else edge)
    return replace(
        layout,
        nodes=tuple(replace(node, title=titles[node.key]) for node in layout.nodes),
        frames=tuple(replace(frame, title=diagram.title) for frame in layout.frames),
        edges=tuple(edges),
    )
