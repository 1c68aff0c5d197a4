"""Several cards that hold the same design: each block is named by its card, each counter read for its card."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from workbench.api import HdlBuild, HdlLanguage
from workbench.api.instrument import readout
from workbench.api.tables import joined
from workbench.model.blocks import Block
from workbench.model.run import Table
from workbench.model.streams import Stream


def on_cards(hdl: HdlBuild, cards: int) -> HdlBuild:
    """The build with the blocks of so many cards, one card's after the other's; one card needs no names."""
    if cards == 1:
        return hdl
    return replace(
        hdl,
        cards=cards,
        blocks=tuple(_on_card(block, n) for n in range(cards) for block in hdl.blocks),
        streams=tuple(_stream_on(stream, n, len(hdl.streams)) for n in range(cards) for stream in hdl.streams),
        fifos=tuple(
            replace(
                fifo,
                id=f"card[{n}].{fifo.id}",
                input=fifo.input + n * len(hdl.streams),
                output=fifo.output + n * len(hdl.streams),
            )
            for n in range(cards)
            for fifo in hdl.fifos
        ),
    )


def _stream_on(stream: Stream, card: int, streams: int) -> Stream:
    ends = (f"card[{card}].{end}" if end else "" for end in (stream.id, stream.source, stream.target))
    id_, source, target = ends
    waits = tuple(replace(wait, other=wait.other + card * streams) for wait in stream.waits)
    return replace(stream, id=id_, source=source, target=target, waits=waits)


def _on_card(block: Block, card: int) -> Block:
    name = f"card[{card}]"
    return replace(
        block,
        id=f"{name}.{block.id}",
        component=f"{name}.{block.component}" if block.component else name,
        group=f"card[*].{block.group}",
    )


def decoded(language: HdlLanguage, hdl: HdlBuild, words: NDArray[np.uint32]) -> dict[str, Table]:
    """What the counters of all cards say, in tables whose blocks are numbered as the build's."""
    blocks = len(hdl.blocks) // hdl.cards
    one = replace(hdl, blocks=hdl.blocks[:blocks], cards=1)
    tables: dict[str, Table] = {}
    for card, of_card in enumerate(np.split(words, hdl.cards)):
        for name, table in language.decode(one, of_card).items():
            if "block" in table:
                table = {**table, "block": table["block"] + np.int32(card * blocks)}
            tables[name] = joined(tables[name], table) if name in tables else table
    return tables


def silent(hdl: HdlBuild, words: NDArray[np.uint32]) -> dict[str, list[int]]:
    """The clocks that did not answer when the words were read, with the numbers of their blocks, of all cards."""
    blocks, found = len(hdl.blocks) // hdl.cards, dict[str, list[int]]()
    for card, own in enumerate(np.split(words, hdl.cards)):
        for clock, numbers in readout.silent(hdl, own):
            found.setdefault(clock, []).extend(card * blocks + number for number in numbers)
    return found


def unwatched(hdl: HdlBuild, words: NDArray[np.uint32]) -> tuple[int, ...]:
    """The numbers of the blocks, on all cards, that a counter could have watched and did not."""
    of_cards = enumerate(np.split(words, hdl.cards))
    blocks = len(hdl.blocks) // hdl.cards
    return tuple(card * blocks + number for card, own in of_cards for number in readout.unwatched(hdl, own))
