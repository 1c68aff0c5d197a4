"""A design's streams as blocks of its own in the FPGA: each is a correlation of valid and ready, counted and recorded
as custom metrics are, from which come the tables that the simulated card makes of streams."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from workbench.api.records import Records
from workbench.api.source import suffixes
from workbench.model.application import HardwareSources
from workbench.model.blocks import Block, fpga_of
from workbench.model.custom import MOST_VALUE_BITS
from workbench.model.diagnostic import Diagnostic, OfProject, Severity
from workbench.model.run_tables import Table
from workbench.model.scan import HdlBlock, HdlScan
from workbench.model.streams import Fifo, Stream
from workbench.model.text import listed

#: What a stream's block is called behind its valid signal.
_BEHIND = "_passes"
#: Its states: offered and not taken, room and nothing offered, a word passes.
OFFERED, READY, PASSES = 1, 2, 3


def with_streams(hardware: HardwareSources, scan: HdlScan, valued: Collection[str] = ()) -> HardwareSources:
    """The sources with a metric for each of the design's streams whose signals are in one module, and can be counted by
    its clock there. The words of those whose ids are `valued` are led up too."""
    modules, metrics = dict(scan.instances), defaultdict[str, list[str]](list)
    for module, texts in hardware.metrics.items():
        metrics[module] += texts
    for stream in scan.streams:
        for one in _seen(stream):
            anchor = _anchor(modules[place], scan) if (place := _place(one, scan)) else None
            if anchor and (text := _text(one, anchor)):
                known = metrics[modules[place]]
                with_words = _text(one, anchor, _data(stream, place.partition(".")[2]))
                if stream.id in valued:
                    known[:] = [other for other in known if other != text]
                    text = with_words
                known += [text] if not {text, with_words} & {*known} else []
                break
    return hardware.model_copy(update={"metrics": {module: tuple(texts) for module, texts in metrics.items()}})


def _seen(stream: Stream) -> Iterator[Stream]:
    """The stream as each place has its two signals."""
    yield from (replace(stream, valid=valid, ready=ready) for valid, ready in stream.pairs)
    yield stream


def stream_blocks(streams: Sequence[Stream], blocks: Sequence[Block]) -> dict[int, int]:
    """The blocks' numbers that streams are, by the streams' numbers."""
    numbers = {block.id: number for number, block in enumerate(blocks)}
    ids = {number: [_block_id(one) for one in _seen(stream)] for number, stream in enumerate(streams)}
    return {number: numbers[there[0]] for number, names in ids.items() if (there := [n for n in names if n in numbers])}


def not_counted(streams: Sequence[Stream], blocks: Sequence[Block]) -> Iterator[Diagnostic]:
    """A note of those that have no block."""
    there = stream_blocks(streams, blocks)
    if missed := [stream.id for number, stream in enumerate(streams) if number not in there]:
        text = f"these streams are counted on the simulated card only: {listed(missed)}"
        hint = "Valid and ready have to be signals of one module, with a clocked block outside of generates."
        yield OfProject(text, hint, Severity.NOTE, keys=("hardware", "count_streams"))


def counted_streams(streams: Sequence[Stream], blocks: Sequence[Block], state_time: Table) -> Table | None:
    """Table `streams` of what monitors counted of their blocks; None where they counted none of them."""
    rows = []
    numbers, states, cycles = (np.asarray(state_time[name]) for name in ("block", "state", "cycles"))
    for number, block in stream_blocks(streams, blocks).items():
        mine = numbers == block
        of = {code: int(cycles[mine & (states == code)].sum()) for code in range(4)}
        if any(of.values()):
            rows.append((number, of[PASSES], of[READY], of[OFFERED], of[0]))
    columns = np.array(rows, np.int64).reshape(-1, 5).T
    names = ("stream", "transfers", "source_stalls", "sink_stalls", "idle")
    return {name: c.astype("i4" if name == "stream" else "i8") for name, c in zip(names, columns, strict=True)} or None


def traced_transfers(streams: Sequence[Stream], blocks: Sequence[Block], taps: Records) -> Table:
    """Table `stream_transfers` of the changes of states that monitors recorded (dtype TAPS)."""
    rows: list[NDArray[np.int64]] = []
    for number, block in sorted(stream_blocks(streams, blocks).items()):
        mine = taps[taps["block"] == block]
        begin, state = mine["cycle"].astype(np.int64), mine["state"]
        lasting = np.diff(np.append(begin, begin[-1:]))
        passes = np.flatnonzero((state == PASSES) & (lasting > 0))
        before = np.maximum(passes - 1, 0)
        sign = np.where(state[before] == OFFERED, 1, np.where(state[before] == READY, -1, 0)) * (passes > 0)
        held = sign * lasting[before]
        first = np.repeat(np.cumsum(lasting[passes]) - lasting[passes], lasting[passes])
        place = np.arange(int(lasting[passes].sum())) - first
        cycle, early = np.repeat(begin[passes], lasting[passes]) + place, np.repeat(held, lasting[passes])
        rows.append(np.stack((np.full(len(cycle), number), cycle, np.where(place == 0, early, 0)), axis=1))
    table = np.concatenate([np.empty((0, 3), np.int64), *rows])
    return {"stream": table[:, 0].astype("i4"), "cycle": table[:, 1].copy(), "early": table[:, 2].astype("i4")}


def held_words(streams: Sequence[Stream], fifos: Sequence[Fifo], counts: Table, transfers: Table) -> Table:
    """Table `occupancy` of FIFOs whose every word was recorded: how many cycles began with so many in it."""
    rows: list[tuple[int, int, int]] = []
    cycles = {int(n): sum(int(counts[name][row]) for name in ("transfers", "source_stalls", "sink_stalls", "idle"))
              for row, n in enumerate(counts["stream"])}  # fmt: skip
    for number, fifo in enumerate(fifos):
        ends = {fifo.input, fifo.output}
        if not ends <= cycles.keys() or len({streams[n].clock for n in ends}) > 1:
            continue
        into, out = (np.asarray(transfers["cycle"])[np.asarray(transfers["stream"]) == n] + 1
                     for n in (fifo.input, fifo.output))  # fmt: skip
        times = np.unique(np.concatenate(([0], into, out)))
        held = np.searchsorted(into, times, "right") - np.searchsorted(out, times, "right")
        lasting = np.diff(np.append(times, cycles[fifo.input]))
        if (held >= 0).all():
            rows += [(number, n, int(lasting[held == n].sum())) for n in np.unique(held).tolist()]
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    return {"fifo": columns[0].astype("i4"), "words": columns[1].astype("i4"), "cycles": columns[2].copy()}


def _place(stream: Stream, scan: HdlScan) -> str:
    """The instance that has both of a stream's signals; empty where they are in two."""
    top = scan.instances[0][0]
    signals = [name for name in (stream.valid, stream.ready, stream.mark) if name]
    scopes = {".".join([top, *name.lstrip("!").split(".")[:-1]]) for name in signals}
    scope = scopes.pop() if len(scopes) == 1 else ""
    return scope if scope in dict(scan.instances) else ""


def _anchor(module: str, scan: HdlScan) -> HdlBlock | None:
    """A block of a module outside of its generates, where all of these have one clock."""
    own = {path for path, of in scan.instances if of == module}
    blocks = [
        block for block in scan.blocks
        if block.component == module and {path.rpartition(".")[0] for path in block.instances} & own
    ]  # fmt: skip
    return blocks[0] if len({(block.clock, block.edge) for block in blocks}) == 1 else None


def _data(stream: Stream, scope: str) -> str:
    """The signal of a stream's words in an instance, below the top; empty where it is none that can be counted."""
    there = [name.rpartition(".")[2] for name in stream.data if name.rpartition(".")[0] == scope]
    return there[0] if there and re.fullmatch(r"\w+", there[0]) and 0 < stream.bits <= MOST_VALUE_BITS else ""


def _text(stream: Stream, anchor: HdlBlock, data: str = "") -> str:
    """The metric, with the words of the signal `data` if it is not empty; empty where its language cannot say it."""
    vhdl = anchor.file.lower().endswith(tuple(suffixes.VHDL))
    names = {role: getattr(stream, role).lstrip("!").rpartition(".")[2] for role in ("valid", "ready", "mark")}
    if vhdl and not all(re.fullmatch(r"\w*", name) for name in names.values()):
        return ""

    def says(role: str, is_high: bool = True) -> str:
        high = getattr(stream, role).startswith("!") != is_high
        if vhdl:
            return f"{names[role]} = '{int(high)}'"
        return names[role] if high else f"!{names[role]}"

    both = {role: says(role) for role in ("valid", "ready")}
    if stream.mark:
        word = f"({says('valid', False)} {'or' if vhdl else '||'} {says('mark', False)})"
        both = {role: f"{text} {'and' if vhdl else '&&'} {word}" for role, text in both.items()}
    words = f" of {data}" if data else ""
    return f"correlate {_called(names['valid'])}{words} when {both['valid']} with {both['ready']}"


def _called(signal: str) -> str:
    return re.sub(r"\W+", "_", signal).strip("_") + _BEHIND


def _block_id(stream: Stream) -> str:
    place = fpga_of(stream.id)
    top = stream.id.removeprefix(place).partition(".")[0]
    *scope, name = stream.valid.lstrip("!").split(".")
    return place + ".".join([top, *scope, _called(name)])


def board_tables(
    streams: Sequence[Stream], fifos: Sequence[Fifo], blocks: Sequence[Block], counted: Mapping[str, Table],
    taps: Records | None,
) -> tuple[dict[str, Table], tuple[Diagnostic, ...]]:  # fmt: skip
    """The tables of streams and FIFOs from monitors in hardware, with the design's block numbers. Transfers are left
    out, with a diagnostic, if the trace does not have all of them."""
    table = counted_streams(streams, blocks, counted["state_time"]) if "state_time" in counted else None
    if table is None:
        return {}, ()
    if taps is None:
        return {"streams": table}, ()
    transfers = traced_transfers(streams, blocks, taps)
    there = np.bincount(transfers["stream"], minlength=len(streams))[table["stream"]]
    if not np.array_equal(there, table["transfers"]):
        text = (
            f"the FPGA's trace has {int(there.sum()):,} of the {int(table['transfers'].sum()):,} words of its streams"
        )
        hint = "All are counted. Frames, conditions, latencies and FIFOs need every word: raise hardware.trace.records."
        return {"streams": table}, (Diagnostic(text, hint, Severity.WARNING),)
    held = held_words(streams, fifos, table, transfers)
    return {"streams": table, "stream_transfers": transfers, "occupancy": held}, ()
