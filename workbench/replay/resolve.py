"""Resolves the names in a change to indices of a run's manifest: calls, blocks, states, clocks, FIFOs and streams."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from workbench.model.blocks import Block, Side
from workbench.model.changes import Change, Depth, OtherClock, Replicas, Retype, ScaleHost, ScaleState, Width
from workbench.model.diagnostic import Diagnostic, WorkbenchError, did_you_mean, near
from workbench.model.platform import Platform
from workbench.model.run import Manifest, Site

T = TypeVar("T")
ALL = "*"  # in place of a state: all of the block's own code


@dataclass(frozen=True)
class Named:
    """The items that a change names, in the order of the manifest; empty for kinds that it does not name.

    `states` are pairs (block, state). A group's name, with its indices starred, means all its blocks.
    """

    sites: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()
    states: tuple[tuple[int, int], ...] = ()
    clocks: tuple[int, ...] = ()
    fifos: tuple[int, ...] = ()
    streams: tuple[int, ...] = ()


def resolve(
    change: Change, manifest: Manifest, platform: Platform | None = None, edges: Collection[str] = ()
) -> Named:  # fmt: skip
    """The items of a run that the change names. `platform` is the run's platform, for changes that name one of its
    tables; `edges` are the labels of a streaming application's edges, whose depths may change.

    Raises WorkbenchError for a name that the run does not have, with the nearest one.
    """
    wrong = partial(_unknown, change)
    if isinstance(change, ScaleState | ScaleHost):
        side = Side.FPGA if isinstance(change, ScaleState) else Side.HOST
        blocks = _blocks(change.block, manifest, wrong, side)
        return Named(blocks=blocks, states=_states(change.state, blocks, manifest.blocks, wrong))
    if isinstance(change, Replicas):
        return Named(blocks=_blocks(change.group, manifest, wrong, Side.FPGA))
    if isinstance(change, OtherClock):
        return Named(clocks=_by_name("clock", change.clock, [one.name for one in manifest.clocks], wrong))
    if isinstance(change, Depth):
        if change.fifo in edges:
            return Named()
        if edges:
            raise wrong("edge", change.fifo, edges)
        return Named(fifos=_by_name("FIFO", change.fifo, [one.id for one in manifest.fifos], wrong))
    if isinstance(change, Width):
        return Named(streams=_by_name("stream", change.stream, [one.id for one in manifest.streams], wrong))
    if isinstance(change, Retype) and platform is not None and change.table not in platform.transfer_tables:
        raise wrong("transfer table", change.table, platform.transfer_tables)
    calls: Sequence[str] = getattr(change, "calls", ())
    return Named(sites=tuple(sorted({site for call in calls for site in sites_of(call, manifest.sites, change)})))


def sites_of(call: str, sites: Sequence[Site], change: Change) -> tuple[int, ...]:
    """The calls that `call` names: by `FILE:LINE` or `FILE:LINE:COLUMN`, with as much of the file's path as is unique,
    or by the called function, or by a pragma's label."""
    file, line, column = _place(call)
    if not file:
        matches = tuple(n for n, site in enumerate(sites) if call in (site.label, site.callee))
        if matches:
            return matches
        raise _unknown(change, "call", call, {name for site in sites for name in (site.label, site.callee)})
    files = dict.fromkeys(site.file for site in sites)
    of_file = [one for one in files if one == file] or [one for one in files if one.endswith(f"/{file}")]
    if not of_file:
        raise _unknown(change, "file with calls", file, files)
    if len(of_file) > 1:
        raise _wrong(change, f"'{file}' is several files", f"Write which: {', '.join(of_file)}.")
    here = {n: site for n, site in enumerate(sites) if site.file == of_file[0]}
    if matches := tuple(n for n, site in here.items() if site.line == line and column in (0, site.column)):
        return matches
    lines = sorted({site.line for site in here.values()}, key=lambda one: (abs(one - line), one))[:3]
    raise _wrong(change, f"no call begins at {call}", f"The nearest are in {_lines(sorted(lines))}.")


def _place(call: str) -> tuple[str, int, int]:
    """File, line and column (0: any) of a call that is named by its place; no file if it is named otherwise."""
    parts = call.split(":")
    numbers = [int(part) for part in parts[-2:] if part.isascii() and part.isdigit() and len(part) < 10]
    if len(parts) > 2 and len(numbers) == 2:
        return ":".join(parts[:-2]), numbers[0], numbers[1]
    if len(parts) > 1 and parts[-1].isascii() and parts[-1].isdigit() and len(parts[-1]) < 10:
        return ":".join(parts[:-1]), int(parts[-1]), 0
    return "", 0, 0


def _lines(lines: Sequence[int]) -> str:
    return f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"


def _blocks(name: str, manifest: Manifest, wrong: _Wrong, side: Side) -> tuple[int, ...]:
    numbered = [(n, block) for n, block in enumerate(manifest.blocks) if block.side is side]
    matches = tuple(n for n, block in numbered if block.id == name) or tuple(
        n for n, block in numbered if block.group == name
    )
    if matches:
        return matches
    kind = "host block" if side is Side.HOST else "FPGA block"
    raise wrong(kind, name, {known for _, block in numbered for known in (block.id, block.group)})


def _states(
    name: str, of_blocks: tuple[int, ...], blocks: Sequence[Block], wrong: _Wrong
) -> tuple[tuple[int, int], ...]:
    numbered = [(block, state) for block in of_blocks for state in blocks[block].states]
    matches = tuple((block, state.index) for block, state in numbered if name in (ALL, state.name))
    if matches:
        return matches
    raise wrong(f"state of {blocks[of_blocks[0]].id}", name, dict.fromkeys(state.name for _, state in numbered))


def _by_name(kind: str, name: str, names: Sequence[str], wrong: _Wrong) -> tuple[int, ...]:
    if name in names:
        return (names.index(name),)
    raise wrong(kind, name, names)


_Wrong = Callable[[str, str, Iterable[str]], WorkbenchError]


def _unknown(change: Change, kind: str, name: str, known: Iterable[str]) -> WorkbenchError:
    known = sorted(known)
    few = near(name, known, "Known") if len(known) < 20 else did_you_mean(name, known)
    return _wrong(change, f"the run has no {kind} '{name}'", few or "The run's report lists them all.")


def _wrong(change: Change, message: str, hint: str) -> WorkbenchError:
    return WorkbenchError(Diagnostic(f"change '{change}': {message}", hint))
