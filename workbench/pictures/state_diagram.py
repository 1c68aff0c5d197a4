"""The states of one block as a Markov model (ReCAP, section 3.3): each state's share of the run, visits and mean time,
and the probabilities of the next state."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.api.results import BlockMetrics
from workbench.model.pragma import Category
from workbench.model.text import count_text, counted, percent_text, time_text
from workbench.pictures.canvas import CENTRE, Canvas, Points
from workbench.pictures.graph_text import LEAST_PX
from workbench.pictures.layout_sizes import Box, Point
from workbench.pictures.palette import LIGHT, Palette
from workbench.pictures.signs import draw_swatch
from workbench.pictures.svg import SvgCanvas

#: The largest number of drawn states, those with the most time.
MOST_STATES = 16
NODE_WIDTH, NODE_HEIGHT = 204.0, 56.0
LABEL_SIZE = 11.0
_LINE = 18.0
_GAP = 84.0  # between states, where labels and arrows are
_EDGE = 24.0
_BEND = 0.16  # the bend of an arrow to its right, as a share of its length
_STEPS = 160
_ARROW = 9.0
_PLACES = (0.5, 0.4, 0.6, 0.32, 0.68, 0.25, 0.75)


@dataclass(frozen=True)
class StateNode:
    """A state. `index` is its index in its block; `share` its share of the run's time; `each` the text of a visit's
    mean time. On a path through several blocks `of` is the state's block, and `note` is a text beside its visits."""

    index: int
    name: str
    category: Category | None
    share: float
    visits: int
    each: str
    of: str = ""
    note: str = ""


@dataclass(frozen=True)
class StateStep:
    """A transition from a state to another (indexes of `states`), `count` times; `probability` among all transitions
    from the first."""

    source: int
    target: int
    count: int
    probability: float


@dataclass(frozen=True)
class StateDiagram:
    """The states of a block, or of replicas together, in an order in which frequent transitions join neighbours. If all
    transitions begin or end in one state, it is the first, and `has_hub` is set. `left_out` is the number of states not
    drawn."""

    block: str
    states: tuple[StateNode, ...]
    steps: tuple[StateStep, ...]
    has_hub: bool = False
    left_out: int = 0

    @cached_property
    def home(self) -> str:
        """The block of most states of a path, which they do not repeat; "" if there is none."""
        (block, count), *_ = Counter(state.of for state in self.states).most_common(1)
        return block if 2 * count > len(self.states) else ""

    @property
    def note(self) -> str:
        """A summary of the diagram."""
        parts = [counted(len(self.states), "state"), counted(len(self.steps), "transition")]
        parts += [f"in {self.home} where no block is named"] if self.home else []
        return ", ".join([*parts, *([f"{self.left_out} rare states left out"] if self.left_out else [])])

    @property
    def node_height(self) -> float:
        """The height of a state, one line more if it names its block."""
        return NODE_HEIGHT + (_LINE if any(state.of != self.home for state in self.states) else 0.0)

    @cached_property
    def size(self) -> tuple[float, float]:
        """The width and height of the whole picture."""
        across, down = _radii(self)
        return 2 * (across + NODE_WIDTH / 2 + _EDGE), 2 * (down + self.node_height / 2 + _EDGE)

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """The states' boxes, in their order: a hub in the middle, others around an ellipse, from the left."""
        (width, height), (across, down) = self.size, _radii(self)
        around = len(self.states) - self.has_hub
        middles = [(width / 2, height / 2)] if self.has_hub else []
        for number in range(around):
            angle = math.pi + 2 * math.pi * number / around
            middles.append((width / 2 + across * math.cos(angle), height / 2 + down * math.sin(angle)))
        high = self.node_height
        return tuple(Box(x - NODE_WIDTH / 2, y - high / 2, NODE_WIDTH, high) for x, y in middles)

    @cached_property
    def curves(self) -> tuple[tuple[StateStep, list[Point]], ...]:
        """Each transition with its line."""
        return tuple((step, _curve(self.boxes[step.source], self.boxes[step.target])) for step in self.steps)


def state_diagram(name: str, members: Sequence[BlockMetrics]) -> StateDiagram | None:
    """The diagram of a block, or of replicas with the same states; None if no transition was counted."""
    if not members:
        return None
    counts = Counter[tuple[int, int]]()
    for one in members:
        for step in one.transitions:
            counts[step.from_state, step.to_state] += step.count
    entered = {index for pair, count in counts.items() if count for index in pair}
    return arranged(name, {index: _node(index, members) for index in entered}, counts) if entered else None


def arranged(name: str, nodes: Mapping[int, StateNode], counts: Counter[tuple[int, int]]) -> StateDiagram:
    """The diagram of these states, by their index, with the counts of transitions."""
    kept_states = sorted(nodes, key=lambda index: (-nodes[index].share, index))[:MOST_STATES]
    drawn = [pair for pair, count in counts.items() if count and pair[0] != pair[1] and {*pair} <= {*kept_states}]
    hubs = [index for index in kept_states if len(kept_states) > 3 and all(index in pair for pair in drawn)]
    order = _in_order(kept_states, counts, hubs)
    place = {index: at for at, index in enumerate(order)}
    out = Counter[int]()
    for (source, _), count in counts.items():
        out[source] += count
    steps = tuple(
        StateStep(place[a], place[b], count, count / out[a])
        for (a, b), count in sorted((pair, counts[pair]) for pair in drawn)
    )
    return StateDiagram(name, tuple(nodes[index] for index in order), steps, bool(hubs), len(nodes) - len(kept_states))


def _node(index: int, members: Sequence[BlockMetrics]) -> StateNode:
    states = [one.states[index] for one in members]
    visits, cycles = sum(s.visits for s in states), sum(s.cycles for s in states)
    length = ""
    if visits:
        time_s = sum(s.time_s for s in states) / visits
        length = _cycles_text(cycles / visits) if cycles else time_text(time_s)
    share = sum(s.share for s in states) / len(members)
    state = members[0].states[index].state
    return StateNode(index, state.name, state.category, share, visits, length)


def _cycles_text(cycles: float) -> str:
    number = count_text(round(cycles)) if cycles >= 1000 or cycles == round(cycles) else f"{cycles:.3g}"
    return f"{number} cycle{'s' if cycles != 1 else ''}"


def _in_order(states: Sequence[int], counts: Counter[tuple[int, int]], first: Sequence[int]) -> list[int]:
    """The states, each followed by the remaining one that it leads to most often; the first is one of `first`, or the
    first state."""
    remaining, order = [*first[:1], *(index for index in states if index not in first[:1])], list[int]()
    while remaining:
        here = order[-1] if order else None
        following = max(remaining, key=lambda index: counts[here, index] if here is not None else 0)
        order.append(following)
        remaining.remove(following)
    return order


# ---- where things are


def _radii(diagram: StateDiagram) -> tuple[float, float]:
    """The radii of the ellipse through the states' centres."""
    count = len(diagram.states) - diagram.has_hub
    if count <= 2:
        return (NODE_WIDTH + 2 * _GAP) / 2 * (count - 1), 24.0
    turn = 2 * math.sin(math.pi / count)
    high = diagram.node_height
    least = (NODE_WIDTH + _GAP, high + _GAP) if diagram.has_hub else (0.0, 90.0)
    return max((NODE_WIDTH + _GAP) / turn, least[0]), max((high + _GAP) / turn, least[1])


def _curve(source: Box, target: Box) -> list[Point]:
    """A curve between the borders of two boxes, bent to the right, so that the opposite transition has another."""
    (x0, y0), (x1, y1) = source.centre, target.centre
    bent = (x0 + x1) / 2 - (y1 - y0) * _BEND, (y0 + y1) / 2 + (x1 - x0) * _BEND
    points = []
    for step in range(_STEPS + 1):
        t = step / _STEPS
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t
        points.append((a * x0 + b * bent[0] + c * x1, a * y0 + b * bent[1] + c * y1))
    first = next((n for n, point in enumerate(points) if not source.holds(point)), 0)
    last = next((n for n, point in enumerate(points) if n > first and target.holds(point)), len(points) - 1)
    return points[max(first - 1, 0) : last + 1]


# ---- drawing


def draw_states(canvas: Canvas, diagram: StateDiagram, chosen: int = -1) -> None:
    """Draw the whole diagram; `chosen` is the index in its block of the state that is highlighted with its
    transitions."""
    labels, strongest = list[Box](), dict[int, float]()
    for step in diagram.steps:
        strongest[step.source] = max(strongest.get(step.source, 0.0), step.probability)
    for step, points in diagram.curves:
        marked = chosen in (diagram.states[step.source].index, diagram.states[step.target].index)
        ink = "accent" if marked else "text" if step.probability == strongest[step.source] else "muted"
        _draw_arrow(canvas, points, ink, 1.0 + 2.0 * step.probability)
    for step, points in sorted(diagram.curves, key=lambda one: -one[0].probability):
        _draw_probability(canvas, points, percent_text(step.probability), diagram.boxes, labels)
    for state, box in zip(diagram.states, diagram.boxes, strict=True):
        _draw_state(canvas, state, box, chosen == state.index, diagram.home)


def _draw_arrow(canvas: Canvas, points: Points, ink: str, line: float) -> None:
    (x0, y0), (x1, y1) = points[max(len(points) - 9, 0)], points[-1]
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    back = x1 - ux * _ARROW, y1 - uy * _ARROW
    shaft = [*(p for p in points[:-1] if math.hypot(p[0] - x1, p[1] - y1) > _ARROW), back]
    if len(shaft) > 1:
        canvas.path(shaft, ink, line)
    side = _ARROW * 0.45
    canvas.shape(
        [(x1, y1), (back[0] - uy * side, back[1] + ux * side), (back[0] + uy * side, back[1] - ux * side)], ink
    )


def _size(canvas: Canvas, size: float) -> float:
    """A text size that can be read at any scale of the picture."""
    return max(size, LEAST_PX / canvas.scale)


def _draw_probability(canvas: Canvas, points: Points, words: str, boxes: Sequence[Box], labels: list[Box]) -> None:
    """Draw the label on the line if it covers no state and no other label."""
    size = _size(canvas, LABEL_SIZE)
    width, height = canvas.width_of(words, size, 500) + 8, size + 5
    places = [points[min(round(part * (len(points) - 1)), len(points) - 1)] for part in _PLACES]
    options = [Box(x - width / 2, y - height / 2, width, height) for x, y in places]
    used_boxes = [*boxes, *labels]
    box = next((one for one in options if not any(map(one.overlaps, used_boxes))), None)
    if box is None:
        return
    labels.append(box)
    canvas.rect(box.x, box.y, box.width, box.height, "window", radius=3)
    canvas.write(box.x + box.width / 2, box.y + box.height / 2, words, "text", size, 500, CENTRE)


def _draw_state(canvas: Canvas, state: StateNode, box: Box, chosen: bool, home: str) -> None:
    """Draw its name and share, and below them the lines that have room and can be read."""
    head, small = _size(canvas, 13), _size(canvas, 12)
    line = max(_LINE, small * 1.3)
    share, is_small = percent_text(state.share), small > 12
    parts = [*filter(None, [share * is_small, _visits_words(state), state.note])]
    if is_small and canvas.width_of(", ".join(parts), small) > box.width - 20:
        parts = [share, counted(state.visits, "visit")]
    lines = [*([state.of] if state.of != home else []), ", ".join(parts)][: max(int((box.height - 4) / line) - 1, 0)]
    top = box.centre[1] - line * (1 + len(lines)) / 2
    with canvas.named(state_words(state)):
        canvas.rect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1, "panel", "accent" if chosen else "edge",
                    2.0 if chosen else 1.2, 6)  # fmt: skip
        draw_swatch(canvas, box.x + 10, top + line / 2 - 6, 14, 12, state.category)
        used = 0.0 if is_small else canvas.width_of(share, 12, 600) + 18
        canvas.text(box.x + 31, top, box.width - 31 - max(used, 6), line, state.name, "text", head, 600)
        if not is_small:
            canvas.write(box.right - used + 8, top + line / 2, share, "text", 12, 600)
        for number, words in enumerate(lines, 1):
            canvas.text(box.x + 10, top + line * number, box.width - 20, line, words, "second", small)


def state_words(state: StateNode) -> str:
    """A state in a line, for a tooltip."""
    name = f"{state.of} {state.name}".strip()
    return ", ".join(
        filter(None, [f"{name}: {percent_text(state.share)} of the run", _visits_words(state), state.note])
    )


def _visits_words(state: StateNode) -> str:
    times = counted(state.visits, "visit")
    return f"{times} of {state.each}" if state.each else times


def next_words(diagram: StateDiagram, place: int) -> list[str]:
    """The states that follow the one at this place, each with its probability, the most probable first."""
    steps = sorted((step for step in diagram.steps if step.source == place), key=lambda step: -step.probability)
    return [f"{diagram.states[step.target].name} {percent_text(step.probability)}" for step in steps]


def diagram_rows(diagram: StateDiagram) -> Iterator[tuple[str | float, ...]]:
    """The transitions as a table, heads first."""
    yield "from", "to", "count", "probability"
    for step in diagram.steps:
        yield diagram.states[step.source].name, diagram.states[step.target].name, step.count, step.probability


def states_svg(diagram: StateDiagram, palette: Palette = LIGHT) -> str:
    """The diagram as an SVG document."""
    width, height = diagram.size
    canvas = SvgCanvas(palette)
    canvas.rect(0, 0, width, height, "window")
    draw_states(canvas, diagram)
    return canvas.document(width, height, f"States of {diagram.block}")
