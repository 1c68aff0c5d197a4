"""Functions shared by the edits of a program: the operations that a change names, and their removal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from workbench.model.changes import Change
from workbench.model.platform import Platform
from workbench.model.pragma import COMMUNICATION, WAITS
from workbench.replay.events import WORD
from workbench.replay.fpga import works
from workbench.replay.host import MESSAGES
from workbench.replay.program import Program
from workbench.replay.resolve import Named

Numbers = NDArray[np.int64]


#: The share of saved host code that the loops and calls around it may keep.
UNSURE = 0.005
#: A call is held up if the design adds more than this share to its table time.
HELD_UP = 0.02
#: The largest number of calls and stretches after a change; each takes up to ten microseconds.
MOST_ROWS = 2_000_000


class RefusedError(Exception):
    """A change that replay cannot predict; the text is the reason."""


def has_links(program: Program) -> bool:
    """Whether words passed from one FPGA to another in the run."""
    return any(fifo.id.startswith("link:") for fifo in program.run.manifest.fifos)


@dataclass
class Edited:
    """The side effects of edits: notes for the user (`notes`), reasons for doubt (`doubts`), and whether the host's
    code or the FPGA's design changes. `platforms` are those that changes name, `own` is the factor on each thread's own
    code, `depths` are FIFO depths, `in_order` says whether threads take locks in the recorded order. A change may have
    several readings (`ways`); this is number `way`."""

    platforms: Mapping[str, Platform] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    host: bool = False
    fpga: bool = False
    own: dict[int, float] = field(default_factory=dict)
    depths: dict[str, int] = field(default_factory=dict)
    way: int = 0
    ways: int = 1
    in_order: bool = True


def refuse_unmade(program: Program, named: Named, change: Change) -> NoReturn:
    """Refuse a change that names calls without operations in the run, with the reason."""
    calls, manifest = program.run.tables["calls"], program.run.manifest
    entries = np.unique(np.asarray(calls["entry"])[np.isin(calls["site"], named.sites)]).tolist()
    if any(entry >= 0 and manifest.entries[entry].kind in MESSAGES for entry in entries):
        raise RefusedError(
            f"'{change}' names calls that exchange messages with other ranks, whose calls would have to change too"
        )
    raise RefusedError(f"'{change}' names calls that the run did not make")


def operations(program: Program, named: Named, kinds: Sequence[int], change: Change, what: str) -> Numbers:
    """The operations of these kinds that a change names. Raises RefusedError if it names others, or none."""
    is_named = np.isin(program.ops["site"], named.sites)
    if not is_named.any():
        refuse_unmade(program, named, change)
    numbers = np.flatnonzero(is_named & np.isin(program.ops["kind"], kinds))
    if len(numbers) < is_named.sum():
        raise RefusedError(f"'{change}' names calls that are not {what}")
    return numbers


def refuse_more(rows: int, change: Change) -> None:
    """Refuse a change that makes more calls or stretches than replay handles."""
    if rows > MOST_ROWS:
        raise RefusedError(f"'{change}' makes {rows} calls or stretches, and at most {MOST_ROWS} are followed")


def refuse_held_up(program: Program, ops: Numbers, change: Change) -> None:
    """Refuse to change transfers that the design holds up, since the remaining delay is unknown."""
    held_up = ops[program.ops["beyond_ps"][ops] > HELD_UP * program.ops["work_ps"][ops]]
    if len(held_up):
        site = program.run.manifest.sites[int(program.ops["site"][held_up[0]])]
        raise RefusedError(f"'{change}' is of calls that the design holds up, the first at {site.file}:{site.line}")


def remove(program: Program, gone: Numbers) -> None:
    """Remove operations; the host's own code before them remains, and `loop_ps` is what may go of it."""
    keep = np.ones(len(program.ops), bool)
    keep[gone] = False
    own_ps = program.ops["own_ps"]
    remaining = np.flatnonzero(keep)
    since = np.append(0, remaining[:-1] + 1) if len(remaining) else remaining
    before = np.append(0, np.cumsum(np.where(keep, 0, own_ps)))
    loops = np.append(0, np.cumsum(np.where(keep, 0, loops_ps(own_ps, program.ops["thread"], ~keep))))
    rest_ps = int(before[-1] - before[remaining[-1] + 1]) if len(remaining) else int(before[-1])
    program.ops["own_ps"][remaining] += before[remaining] - before[since]
    program.loop_ps[remaining] += loops[remaining] - loops[since]
    thread = int(program.ops["thread"][0]) if len(program.ops) else 0
    program.rest_ps[thread] = program.rest_ps.get(thread, 0) + rest_ps
    place = np.cumsum(keep) - 1
    program.at = np.where((program.at >= 0) & keep[program.at], place[program.at], -1)
    take(program, remaining)


def loops_ps(own_ps: Numbers, thread: Numbers, is_gone: NDArray[np.bool_]) -> Numbers:
    """How much of the host's code before each call goes with it, if it goes: all between two such calls, which is a
    loop around them, and before others as much as before any call, since it is work for others."""
    follows = np.append(False, is_gone[:-1] & (thread[1:] == thread[:-1]))[: len(is_gone)]
    least_ps = int(own_ps[own_ps > 0].min(initial=np.iinfo(np.int64).max))
    return np.where(follows, own_ps, np.minimum(own_ps, least_ps))


def take(program: Program, rows: Numbers) -> None:
    for name in ("ops", "base", "loop_ps", "unsure_ps", "delay_ps", "sooner_ps", "buffers"):
        setattr(program, name, getattr(program, name)[rows])


def reorder(program: Program, order: Numbers) -> None:
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    program.at = np.where(program.at >= 0, place[program.at], -1)
    take(program, order)


def sends_of(program: Program) -> NDArray[np.bool_]:
    """For each operation whether it moves data to the FPGA."""
    entries = program.run.manifest.entries
    kinds = np.array([e.kind == "send" for e in entries] + [False])
    sends: NDArray[np.bool_] = kinds[np.asarray(program.run.tables["calls"]["entry"])[program.ops["row"]]]
    return sends


def begun_by(program: Program, ops: Numbers) -> Numbers:
    """The edges from words of these operations to blocks that wait for them, without ports, which only pass words
    on."""
    base = np.flatnonzero(np.isin(program.at, ops))
    edges = np.flatnonzero((program.edges["kind"] == WORD) & np.isin(program.edges["source"], base))
    wait = np.array([works(block) for block in program.run.manifest.blocks])
    return edges[wait[program.fpga.block[program.edges["stretch"][edges]]]] if len(edges) else edges


def let_words_go(program: Program, ops: Numbers) -> str:
    """Remove the FPGA's stretches that only move words of these operations, and return "". If a block works on such a
    word, remove nothing and return that block's id."""
    removed = np.isin(program.edges["stretch"], program.edges["stretch"][begun_by(program, ops)])
    stretches = np.unique(program.edges["stretch"][removed])
    if len(busy := _working(program, stretches)):
        return program.run.manifest.blocks[program.fpga.block[busy[0]]].id
    program.stays[np.isin(program.fpga.stretch_of, stretches)] = 0
    program.lag_after[stretches] = 0
    program.edges = program.edges[~removed]
    return ""


def only_taken(program: Program, ops: Numbers) -> Numbers:
    """The operations whose words the FPGA waits for and only moves, without working on any."""
    edges = program.edges[begun_by(program, ops)]
    busy = np.isin(edges["stretch"], _working(program, np.unique(edges["stretch"])))
    of = program.at[edges["source"]]
    return np.setdiff1d(of[~busy], of[busy])


def _working(program: Program, stretches: Numbers) -> Numbers:
    """The stretches in which a block does more than move data and wait."""
    fpga, blocks = program.fpga, program.run.manifest.blocks
    stays = np.flatnonzero(np.isin(fpga.stretch_of, stretches))
    quiet = [np.array([s.category in (*COMMUNICATION, *WAITS) for s in block.states]) for block in blocks]
    works = [bool(quiet[b][s]) for b, s in zip(fpga.stay_block[stays], fpga.stay_state[stays], strict=True)]
    return np.unique(fpga.stretch_of[stays[~np.array(works, bool)]])


def ask_for_both(program: Program, row: int, other: int, change: Change) -> None:
    """Let a poll also wait for the events of another one. Raises RefusedError if they are unknown."""
    answer, other_answer = (program.answers.get(int(program.base[n])) for n in (row, other))
    if answer is None or other_answer is None or answer.kind != other_answer.kind or answer.kind == WORD:
        raise RefusedError(f"'{change}' removes polls, and it is unknown what answers them")
    sources = tuple(dict.fromkeys((*answer.sources, *other_answer.sources)))
    program.answers[int(program.base[row])] = replace(answer, sources=sources, lag=max(answer.lag, other_answer.lag))
