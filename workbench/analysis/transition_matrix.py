"""How often a block went from each state to each other one, as a table of shaded counts."""

from math import log
from typing import Any

from workbench.api.results import BlockMetrics
from workbench.model.text import count_text
from workbench.pictures.palette import LIGHT

MOST_STATES = 16


def transition_matrix(metrics: BlockMetrics) -> dict[str, Any] | None:
    """Transition counts, rows from and columns to, for blocks of few enough states that were visited."""
    order = [*range(1, len(metrics.states)), 0]
    used = [index for index in order if any(index in (t.from_state, t.to_state) for t in metrics.transitions)]
    if not used or len(used) > MOST_STATES:
        return None
    counts = {(t.from_state, t.to_state): t.count for t in metrics.transitions}
    most = max(counts.values())
    rows = []
    for a in used:
        cells = []
        for b in used:
            count = counts.get((a, b), 0)
            part = log(1 + count) / log(1 + most)
            cells.append({"count": count_text(count) if count else "", "ground": _shade(part), "ink": _ink(part)})
        rows.append({"name": metrics.states[a].state.name, "cells": cells})
    return {"names": [metrics.states[index].state.name for index in used], "rows": rows}


def _shade(part: float) -> str:
    """From the selection's tint to the accent."""
    low, high = (tuple(int(colour[n : n + 2], 16) for n in (1, 3, 5)) for colour in (LIGHT.selection, LIGHT.accent))
    strength = part * part
    return "#" + "".join(f"{round(a + (b - a) * strength):02X}" for a, b in zip(low, high, strict=True))


def _ink(part: float) -> str:
    return "#FFFFFF" if part * part > 0.5 else LIGHT.text
