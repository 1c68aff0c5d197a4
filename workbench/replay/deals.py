"""Replicas to which another FPGA block deals items in turn, and the same items dealt to another number of replicas."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.replay.events import STAY
from workbench.replay.points import EDGES, SHORT
from workbench.replay.program import Program

Numbers = NDArray[np.int64]
Pairs = list[tuple[int, int]]  # (row, copy)


@dataclass(frozen=True)
class BlockDeal:
    """Items in the order in which they are dealt: stretch `heads[i]` begins item i, and stay `sources[i]` deals it.

    A replica's `tails`, by replica, are stretches that it runs once for all items since the previous tail; `after`
    holds the number of items before each. `begins` are the stretches before the first item. An item has `length`
    stretches. The dealer deals an item `lag` cycles after the replica's item `rounds` before is in its stay number
    `taken`; with `rounds` 0 the dealer never waits.
    """

    blocks: tuple[int, ...]
    heads: Numbers
    sources: Numbers
    length: int
    begins: tuple[Numbers, ...]
    tails: tuple[tuple[Numbers, ...], ...]
    after: tuple[int, ...]
    rounds: int
    taken: int
    lag: int

    def chains(self, count: int) -> list[Pairs]:
        """For each of `count` replicas its stretches as pairs (row, copy)."""
        before, pairs = len(self.blocks), []
        for member in range(count):
            like, copy = member % before, member // before
            chain = [(int(row), copy) for row in self.begins[like]]
            first = 0
            for tail, after in enumerate((*self.after, len(self.heads))):
                for item in range(first + (member - first) % count, after, count):
                    chain += [(int(self.heads[item]) + n, 0) for n in range(self.length)]
                first = after
                if tail < len(self.after):
                    chain += [(int(row), copy) for row in self.tails[like][tail]]
            pairs.append(chain)
        return pairs


def dealt_by_block(program: Program, blocks: Sequence[int]) -> BlockDeal | None:
    """The items that another block deals to these blocks in turn; None if no block does."""
    fpga, count = program.fpga, len(blocks)
    place = np.full(max(fpga.blocks) + 1, -1, np.int64)
    place[list(blocks)] = np.arange(count)
    edges = program.edges[program.edges["kind"] == STAY]
    member, dealer = place[fpga.block[edges["stretch"]]], fpga.stay_block[edges["source"]]
    mine = np.flatnonzero((member >= 0) & (place[dealer] < 0) & (edges["lag"] <= SHORT))
    if count < 2 or not len(mine):
        return None
    mine = mine[dealer[mine] == np.bincount(dealer[mine]).argmax()]
    mine = mine[edges["lag"][mine] == np.bincount(edges["lag"][mine]).argmax()]
    _, source_index, times = np.unique(edges["source"][mine], return_inverse=True, return_counts=True)
    mine = mine[times[source_index] == 1]
    mine = mine[np.argsort(edges["source"][mine])]
    heads, sources = edges["stretch"][mine].astype(np.int64), edges["source"][mine].astype(np.int64)
    if len(mine) < 2 * count or (member[mine] != (member[mine[0]] + np.arange(len(mine))) % count).any():
        return None
    if len(np.unique(heads)) < len(heads) or member[mine[0]]:
        return None
    bounds = [np.append(np.sort(heads[member[mine] == n]), np.flatnonzero(fpga.block == blocks[n])[-1] + 1)
              for n in range(count)]  # fmt: skip
    length = int(np.bincount(np.concatenate([np.diff(one) for one in bounds])).argmax())
    number = np.full(len(fpga.first), -1, np.int64)
    number[heads] = np.arange(len(heads))
    tails, last = [], []
    for one in bounds:
        lengths = np.diff(one)
        if (lengths < length).any():
            return None
        longer = np.flatnonzero(lengths > length)
        tails.append(tuple(np.arange(one[n] + length, one[n + 1]) for n in longer))
        last.append(number[one[longer]])
    if len({len(one) for one in tails}) > 1:
        return None
    after = tuple(int(items) + 1 for items in np.max(last, axis=0)) if len(tails[0]) else ()
    begins = tuple(np.arange(np.flatnonzero(fpga.block == block)[0], one[0])
                   for block, one in zip(blocks, bounds, strict=True))  # fmt: skip
    rounds, taken_stay, lag = _room(program, heads, sources, length, count)
    return BlockDeal(tuple(blocks), heads, sources, length, begins, tuple(tails), after, rounds, taken_stay, lag)


def _room(program: Program, heads: Numbers, sources: Numbers, length: int, count: int) -> tuple[int, int, int]:
    """The number of rounds, the item's stay and the lag in cycles after which the dealer deals again; zeros if it never
    waits."""
    fpga = program.fpga
    item_of = np.full(len(fpga.first), -1, np.int64)
    for n in range(length):
        item_of[heads + n] = np.arange(len(heads))
    dealt = np.full(len(fpga.first), -1, np.int64)
    dealt[fpga.stretch_of[sources]] = np.arange(len(sources))
    edges = program.edges[(program.edges["kind"] == STAY) & (dealt[program.edges["stretch"]] >= 0)]
    of = item_of[fpga.stretch_of[edges["source"]]]
    edges, of = edges[of >= 0], of[of >= 0]
    back = dealt[edges["stretch"]] - of
    is_round = (back > 0) & (back % count == 0)
    if not is_round.any():
        return 0, 0, 0
    rounds = int(np.bincount(back[is_round] // count).argmax())
    of_round = is_round & (back == rounds * count)
    taken = edges["source"][of_round] - fpga.first[heads[of[of_round]]]
    usual = int(np.bincount(taken).argmax())
    return rounds, usual, int(np.bincount(edges["lag"][of_round][taken == usual]).argmax())


def as_dealt(program: Program, deal: BlockDeal, count: int) -> None:
    """Change the causes to those of `count` replicas: for the dealer's waits, and for waits for all replicas."""
    fpga, edges = program.fpga, program.edges
    members = np.isin(fpga.block, deal.blocks)
    of_stay = edges["kind"] == STAY
    inside = np.zeros(len(edges), bool)
    inside[of_stay] = members[fpga.stretch_of[edges["source"][of_stay]]]
    dealing = fpga.stretch_of[deal.sources]
    to = edges["stretch"]
    removed = of_stay & inside & np.isin(to, dealing)
    removed |= of_stay & ~inside & members[to] & (edges["lag"] > SHORT)
    joins = [edges[~removed]]
    if deal.rounds:
        back = deal.rounds * count
        room_edges = np.zeros(max(len(deal.heads) - back, 0), EDGES)
        room_edges["stretch"], room_edges["kind"], room_edges["byte"], room_edges["lag"] = (
            dealing[back:],
            STAY,
            -1,
            deal.lag,
        )
        room_edges["source"] = fpga.first[deal.heads[: len(room_edges)]] + deal.taken
        joins.append(room_edges)
    tail_of = np.full(len(fpga.first), -1, np.int64)
    for of_member in deal.tails:
        for number, tail in enumerate(of_member):
            tail_of[tail] = number
    for edge in edges[~removed & inside & ~members[to]]:
        stretch = fpga.stretch_of[edge["source"]]
        number = tail_of[stretch]
        if number < 0:
            continue
        offset = next(edge["source"] - fpga.first[one[number][0]] for one in deal.tails if stretch in one[number])
        every = np.repeat(edge, len(deal.blocks))
        every["source"] = [fpga.first[one[number][0]] + offset for one in deal.tails]
        joins.append(every)
    program.edges = np.concatenate(joins)
