"""Several FPGAs in one run: names that include the FPGA, and the counters read from each."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from workbench.api import HdlBuild, HdlLanguage
from workbench.api.instrument import readout
from workbench.api.tables import joined, table_of
from workbench.model.application import HardwareSources
from workbench.model.blocks import Block, Side
from workbench.model.links import link_words
from workbench.model.pragma import CPU
from workbench.model.run import Manifest
from workbench.model.run_tables import Table
from workbench.model.scan import HdlBlock, HdlScan, Term
from workbench.model.streams import Fifo, Stream

T = TypeVar("T")


def on_fpgas(builds: Sequence[HdlBuild], hardware: HardwareSources) -> HdlBuild:
    """The joined build of all FPGAs, block after block, with the links between them as FIFOs. A single FPGA adds no
    names."""
    places = hardware.places
    if places == ("",):
        return builds[0]
    streams, links = _linked(builds, hardware)
    return replace(
        builds[0],
        blocks=tuple(
            _block_on(block, place) for one, place in zip(builds, places, strict=True) for block in one.blocks
        ),
        streams=streams,
        fifos=(*_fifos(builds, places), *links),
        read_out=next((one.read_out for one in builds if one.read_out), None),
        files=replace(builds[0].files, data=_once(one.files.data for one in builds)),
        simulation=replace(
            builds[0].simulation,
            made={path: clock for one in builds for path, clock in one.simulation.made.items()},
        ),
        missed=_once(one.missed for one in builds),
        diagnostics=_once(one.diagnostics for one in builds),
        fpgas=tuple(builds),
        places=tuple(places),
    )


def manifest_of_ranks(manifests: Sequence[Manifest], places: Sequence[str]) -> Manifest:
    """The first manifest with a design for each rank, whose program's manifest is that of its number; `places` are the
    name prefixes of the ranks."""
    of_ranks = list(zip(places, manifests, strict=True))
    firsts = np.cumsum([0, *(len(one.streams) for one in manifests)]).tolist()
    host = tuple(block for block in manifests[0].blocks if block.side is Side.HOST)
    return replace(
        manifests[0],
        blocks=(*host, *(
            _block_on(replace(block, clock=place + (block.clock or (one.clocks[0].name if one.clocks else ""))), place)
            for place, one in of_ranks for block in one.blocks if block.side is not Side.HOST
        )),
        clocks=tuple(
            replace(clock, name=place + clock.name, derived_from=clock.derived_from and place + clock.derived_from)
            for place, one in of_ranks for clock in one.clocks
        ),
        streams=tuple(_stream_on(stream, place, first)
                      for first, (place, one) in zip(firsts, of_ranks, strict=False) for stream in one.streams),
        fifos=tuple(_fifo_on(fifo, place, first)
                    for first, (place, one) in zip(firsts, of_ranks, strict=False) for fifo in one.fifos),
    )  # fmt: skip


def scanned_on_fpgas(scans: Sequence[HdlScan], hardware: HardwareSources) -> HdlScan:
    """The joined scan of all FPGAs' designs; a block that several designs contain appears once, with all its instances.
    The top's ports, clocks and resets are those of the first design."""
    if len(scans) == 1:
        return scans[0]
    places, blocks = hardware.places, dict[tuple[str, str, int], HdlBlock]()
    streams, links = _linked(scans, hardware)
    for one, place, first in zip(scans, places, _firsts(scans), strict=False):
        for block in one.blocks:
            block = _scanned_block_on(block, place, first)
            earlier = blocks.get(key := (block.id, block.file, block.line))
            if earlier is None or (earlier.why_not and not block.why_not):
                block = replace(block, instances=(*(earlier.instances if earlier else ()), *block.instances))
            else:
                block = replace(earlier, instances=(*earlier.instances, *block.instances))
            blocks[key] = block
    return replace(
        scans[0],
        blocks=tuple(blocks.values()),
        instances=tuple((place + path, module) for one, place in zip(scans, places, strict=True)
                        for path, module in one.instances),
        diagnostics=_once(one.diagnostics for one in scans),
        streams=streams,
        fifos=(*_fifos(scans, places), *links),
        registers=_once(one.registers for one in scans),
        fpgas=tuple(zip(places, scans, strict=True)),
    )  # fmt: skip


def _linked(
    builds: Sequence[HdlBuild | HdlScan], hardware: HardwareSources
) -> tuple[tuple[Stream, ...], tuple[Fifo, ...]]:
    """The streams of all FPGAs, and the links between two of them."""
    streams, links = list(_streams(builds, hardware.places)), []
    number = {(place, stream.id.partition(".")[2]): first + n
              for one, place, first in zip(builds, hardware.places, _firsts(builds), strict=False)
              for n, stream in enumerate(one.streams)}  # fmt: skip
    for link in hardware.links:
        ends = [number.get((f"{fpga}:", link_words(signals)))
                for fpga, _, signals in (link.source.partition("."), link.target.partition("."))]  # fmt: skip
        if (source := ends[0]) is not None:
            streams[source] = replace(streams[source], target=link.name)
        if (target := ends[1]) is not None:
            streams[target] = replace(streams[target], source=link.name)
        if source is not None and target is not None:
            links.append(Fifo(link.name, "link", source, target, link.words))
    return tuple(streams), tuple(links)


def _once(items_of_fpgas: Iterable[Sequence[T]]) -> tuple[T, ...]:
    """All items of all FPGAs, each once."""
    return tuple(dict.fromkeys(item for of_fpga in items_of_fpgas for item in of_fpga))


def _firsts(parts: Sequence[HdlBuild | HdlScan]) -> Iterator[int]:
    """The number of each FPGA's first stream."""
    return accumulate((len(one.streams) for one in parts), initial=0)


def _streams(parts: Sequence[HdlBuild | HdlScan], places: Sequence[str]) -> tuple[Stream, ...]:
    placed = zip(parts, places, _firsts(parts), strict=False)
    return tuple(_stream_on(stream, place, first) for one, place, first in placed for stream in one.streams)


def _fifos(parts: Sequence[HdlBuild | HdlScan], places: Sequence[str]) -> tuple[Fifo, ...]:
    placed = zip(parts, places, _firsts(parts), strict=False)
    return tuple(_fifo_on(fifo, place, first) for one, place, first in placed for fifo in one.fifos)


def _scanned_block_on(block: HdlBlock, place: str, first: int) -> HdlBlock:
    def term_on(term: Term) -> Term:
        stream = term.stream + first if term.stream >= 0 else -1
        return replace(term, driver=place + term.driver if term.driver else "", stream=stream)

    branches = tuple(replace(branch, terms=tuple(map(term_on, branch.terms))) for branch in block.branches)
    return replace(block, branches=branches, instances=tuple(place + path for path in block.instances))


def _stream_on(stream: Stream, place: str, first: int) -> Stream:
    id_, source, target = (place + end if end else "" for end in (stream.id, stream.source, stream.target))
    waits = tuple(replace(wait, other=wait.other + first) for wait in stream.waits)
    return replace(stream, id=id_, source=source, target=target, waits=waits)


def _fifo_on(fifo: Fifo, place: str, first: int) -> Fifo:
    return replace(fifo, id=place + fifo.id, input=fifo.input + first, output=fifo.output + first)


def _block_on(block: Block, place: str) -> Block:
    alike = re.sub(r"\[\d+\]", "[*]", place)
    component = place + block.component if block.component else place.rstrip(".:")
    states = tuple(
        replace(state, depends=tuple(one if one == CPU else place + one for one in state.depends))
        for state in block.states
    )
    return replace(block, id=place + block.id, component=component, group=alike + block.group, states=states)


def block_in(block: Block, place: str) -> Block:
    """An FPGA's block under its name in its own design, without the FPGA's prefix."""
    if not place:
        return block
    alike = re.sub(r"\[\d+\]", "[*]", place)
    component = "" if block.component == place.rstrip(".:") else block.component.removeprefix(place)
    states = tuple(
        replace(state, depends=tuple(one.removeprefix(place) for one in state.depends)) for state in block.states
    )
    id_, group = block.id.removeprefix(place), block.group.removeprefix(alike)
    clock = block.clock and block.clock.removeprefix(place)
    return replace(block, id=id_, component=component, group=group, clock=clock, states=states)


def words_of_each(hdl: HdlBuild, words: NDArray[np.uint32]) -> Iterator[tuple[int, HdlBuild, NDArray[np.uint32]]]:
    """For each FPGA the number of its first block, its build and its own words."""
    block = word = 0
    for one in hdl.each:
        count = one.read_out.words if one.read_out else 0
        yield block, one, words[word : word + count]
        block, word = block + len(one.blocks), word + count


def decoded(languages: Sequence[HdlLanguage], hdl: HdlBuild, words: NDArray[np.uint32]) -> dict[str, Table]:
    """The decoded counters of all FPGAs, each design in its language, in tables with the build's block numbers."""
    tables: dict[str, Table] = {}
    for language, (first, one, own_words) in zip(languages, words_of_each(hdl, words), strict=True):
        tables_of_design = (
            _not_read(one) if hdl.fpgas and one.read_out and not own_words.any() else language.decode(one, own_words)
        )
        for name, table in tables_of_design.items():
            if "block" in table:
                table = {**table, "block": table["block"] + np.int32(first)}
            tables[name] = joined(tables[name], table) if name in tables else table
    return tables


def _not_read(hdl: HdlBuild) -> dict[str, Table]:
    """The tables of an FPGA whose counters were not read."""
    times = [(number, 0, 0, 0, 1) for number in range(len(hdl.blocks))]
    return {"state_time": table_of("state_time", times), "transitions": table_of("transitions", [])}


def silent(hdl: HdlBuild, words: NDArray[np.uint32]) -> dict[str, list[int]]:
    """The clocks that did not answer when the words were read, each with the numbers of its blocks, on all FPGAs."""
    blocks_of_clock: dict[str, list[int]] = {}
    for first, one, own_words in words_of_each(hdl, words):
        for clock, numbers in readout.silent(one, own_words) if own_words.any() else ():
            blocks_of_clock.setdefault(clock, []).extend(first + number for number in numbers)
    return blocks_of_clock


def unwatched(hdl: HdlBuild, words: NDArray[np.uint32]) -> tuple[int, ...]:
    """The numbers of the blocks, on all FPGAs, that a counter could have watched but did not."""
    return tuple(first + number for first, one, own_words in words_of_each(hdl, words) if own_words.any()
                 for number in readout.unwatched(one, own_words))  # fmt: skip
