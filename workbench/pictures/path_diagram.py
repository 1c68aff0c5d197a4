"""The critical path within blocks as a diagram: its states and calls, and the transitions between them."""

from collections import Counter
from collections.abc import Mapping

from workbench.model.blocks import below_top
from workbench.model.prediction import CriticalPath, PathPart
from workbench.model.text import time_text
from workbench.pictures.state_diagram import StateDiagram, StateNode, arranged

NAME = "the critical path"
_Key = tuple[str, str, str, int]


def path_parts(path: CriticalPath, names: Mapping[str, str]) -> list[PathPart]:
    """The states and calls on the path, in the order of the diagram's indexes; `names` maps a block to the name under
    which it is counted."""
    parts: dict[_Key, PathPart] = {}
    for move in path.moves:
        for part in (move.source, move.target):
            parts.setdefault(_key(part, names), part)
    return list(parts.values())


def path_diagram(path: CriticalPath, names: Mapping[str, str]) -> StateDiagram | None:
    """The path as a state diagram, with the least slack of each state; None if it has fewer than two states."""
    parts = path_parts(path, names)
    if len(parts) < 2:
        return None
    index = {_key(part, names): number for number, part in enumerate(parts)}
    counts, visits, spent_s = Counter[tuple[int, int]](), Counter[int](), dict.fromkeys(index.values(), 0.0)
    for move in path.moves:
        source, target = index[_key(move.source, names)], index[_key(move.target, names)]
        counts[source, target] += move.count
        visits[target] += move.count
    slacks: dict[_Key, float] = {}
    for line in path.lines:
        number = index.get((names.get(line.block, line.block), line.name, line.file, line.line))
        if number is not None:
            spent_s[number] += line.time_s
    for one in path.slack:
        key = names.get(one.block, one.block), one.call or one.state, one.file, one.line
        if one.slack_s is not None:
            slacks[key] = min(one.slack_s, slacks.get(key, one.slack_s))
    nodes = {}
    for part, (key, number) in zip(parts, index.items(), strict=True):
        count, time_s = max(visits[number], 1), spent_s[number]
        slack_s = slacks.get(key)
        note = f"slack {time_text(slack_s)}" if slack_s else ""
        share = time_s / max(path.time_s, 1e-30)
        nodes[number] = StateNode(
            number, part.name, part.category, share, count, time_text(time_s / count), _title(key[0]), note
        )
    return arranged(NAME, nodes, counts)


def _title(block: str) -> str:
    return block.replace(".", " ", 1) if block.startswith("host.") else below_top(block)


def _key(part: PathPart, names: Mapping[str, str]) -> _Key:
    return names.get(part.block, part.block), part.name, part.file, part.line
