"""Intervals modulated by a Markov chain, to be held against blocks of neighbours: hidden states that change from one
element to the next, each with a distribution of its own (of exponential ones, Fischer and Meier-Hellstern 1993's MMPP).

Fitted by expectation and maximisation (Baum, Petrie, Soules and Weiss 1970); distributions are shares of `CLASSES`
classes that the measured intervals fill evenly, so that nothing is assumed of their shape. How many states there are is
what Schwarz's criterion (1978) says.
"""

from bisect import bisect
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Numbers = NDArray[np.int64]

CLASSES = 24
STATES = (1, 2, 4, 8)  # tried, as long as each is better than the one before
ROUNDS, ENOUGH = 200, 1e-6  # of the fit, at most; and what a round must gain in log-likelihood for each interval
PIECE = 500  # intervals; the chain begins anew in each, and all pieces are gone through at once
WIDTHS = (1, 4, 16, 64, 256)  # of neighbours that may tell states apart, to begin with


@dataclass(frozen=True, eq=False)
class Chain:
    """`moves[i, j]` is how probable state j is after i, `shares[i, c]` an interval of class c in state i; `measured`
    ascend."""

    moves: Values
    shares: Values
    measured: Values

    def drawn(self, count: int, random: np.random.Generator) -> Values:
        rows = [row.cumsum()[:-1].tolist() for row in self.moves]
        state, path = 0, []
        for chance in random.random(count).tolist():
            state = bisect(rows[state], chance)
            path.append(state)
        by_state, chances = self.shares.cumsum(axis=1)[:, :-1], random.random(count)
        classes = (chances[:, None] > by_state[np.array(path)]).sum(axis=1)
        places = (classes + random.random(count)) * len(self.measured) / CLASSES
        return self.measured[places.astype(np.int64)]


def fitted(values: Values) -> Chain:
    measured, classes = np.sort(values), np.empty(len(values), np.int64)
    classes[np.argsort(values, kind="stable")] = np.arange(len(values)) * CLASSES // len(values)
    best, least = None, np.inf
    for states in STATES:
        likelihood, moves, shares = _climbed(classes, *_begin(classes, states))
        criterion = states * (states + CLASSES - 2) * np.log(len(values)) - 2 * likelihood
        if criterion >= least:
            break
        best, least = Chain(moves, shares, measured), criterion
    assert best is not None
    return best


def _begin(classes: Numbers, states: int) -> tuple[Values, Values]:
    """States by how long the intervals around an element are, over so many as tell most apart: the variance of their
    mean falls with their number where they owe nothing to one another."""
    sums, count = np.concatenate([[0.0], classes.cumsum()]), len(classes)
    means = {width: (sums[width:] - sums[:-width]) / width for width in WIDTHS if width * states * 4 <= count}
    width = max(means, key=lambda w: means[w].var() * np.sqrt(w))
    smooth = np.pad(means[width], (width // 2, width - 1 - width // 2), mode="edge")
    path = np.argsort(np.argsort(smooth, kind="stable")) * states // count
    moves, shares = np.ones((states, states)), np.ones((states, CLASSES))
    np.add.at(moves, (path[:-1], path[1:]), 1)
    np.add.at(shares, (path, classes), 1)
    return moves / moves.sum(axis=1, keepdims=True), shares / shares.sum(axis=1, keepdims=True)


def _climbed(classes: Numbers, moves: Values, shares: Values) -> tuple[float, Values, Values]:
    """The log-likelihood and the chain, when no round adds to it any more. What is behind the last interval is of a
    class that says nothing."""
    states, rows = len(moves), -(-len(classes) // PIECE)
    seen = np.pad(classes, (0, rows * PIECE - len(classes)), constant_values=CLASSES).reshape(rows, PIECE).T
    before = -np.inf
    for _ in range(ROUNDS):
        emits = np.concatenate([shares, np.ones((states, 1))], axis=1).T[seen]  # by place, row and state
        forward, scale = np.empty_like(emits), np.empty(seen.shape)
        at = np.broadcast_to(_settled(moves), (rows, states))
        for n in range(PIECE):
            at = (at @ moves if n else at) * emits[n]
            scale[n] = at.sum(axis=1)
            forward[n] = at = at / scale[n][:, None]
        likelihood = float(np.log(scale).sum())
        if likelihood - before < ENOUGH * len(classes):
            break
        before, counted, within = likelihood, np.zeros_like(moves), np.empty_like(emits)
        back = np.ones((rows, states))
        for n in reversed(range(PIECE)):
            within[n] = forward[n] * back
            if n:
                coming = emits[n] * back / scale[n][:, None]
                counted += forward[n - 1].T @ coming
                back = coming @ moves.T
        of = seen.ravel()
        parts = within.reshape(-1, states).T
        shares = np.stack([np.bincount(of, weights=part, minlength=CLASSES + 1)[:CLASSES] for part in parts]) + 1e-9
        moves = counted * moves + 1e-9
        shares /= shares.sum(axis=1, keepdims=True)
        moves /= moves.sum(axis=1, keepdims=True)
    return likelihood, moves, shares


def _settled(moves: Values) -> Values:
    """How much of the time a chain is in each state."""
    equations = np.concatenate([moves.T - np.eye(len(moves)), np.ones((1, len(moves)))])
    found: Values = np.linalg.lstsq(equations, np.append(np.zeros(len(moves)), 1.0), rcond=None)[0].clip(1e-12)
    return found / found.sum()
