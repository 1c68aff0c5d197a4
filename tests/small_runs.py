"""Runs of a few states, written down by their times: for tests of rules, metrics and whatever else reads aggregates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.api.tables import table_of
from workbench.model.blocks import Block, Side, State
from workbench.model.pragma import UNCLASSIFIED, Category
from workbench.model.run import PS_PER_S, Entry, Manifest, Run, RunClock, RunStatus, Site

CLOCK_HZ = 100e6


@dataclass(frozen=True)
class Calls:
    """The calls made in a host state: all of one entry at one site, in so many `runs` of consecutive ones."""

    count: int
    bytes: int = 0
    callee: str = "fpgaWrite"
    kind: str = "send"
    transfer: str = ""
    runs: int | None = None
    suggestion: str = ""


@dataclass(frozen=True)
class Spent:
    """A state and how long the block was in it."""

    name: str
    category: Category
    time_s: float
    reasons: tuple[str, ...] = ()
    target: str = ""
    message: str = ""
    visits: int = 1
    calls: Calls | None = None


def small_run(time_s: float, host: Sequence[Spent] = (), fpga: Mapping[str, Sequence[Spent]] | None = None) -> Run:
    """A run of `time_s`: the host's remaining time is `work`, that of hardware blocks `unclassified`.

    `fpga` maps block ids to their states; `top.core[0].p` and `top.core[1].p` are replicas. Without `host` states there
    is no host block. Raises ValueError where a block's states last longer than the run.
    """
    total_ps = round(time_s * PS_PER_S)
    blocks: list[Block] = []
    sites: list[Site] = []
    entries: list[Entry] = []
    rows: dict[str, list[Sequence[float]]] = {name: [] for name in ("state_time", "transitions", "call_stats")}
    if host:
        states = [Spent("work", Category.WORK, _rest(time_s, host), visits=sum(s.visits for s in host) + 1), *host]
        _add_block(blocks, rows, "host.main", Side.HOST, "host", states, total_ps)
        for index, spent in enumerate(host, start=2):
            if spent.calls:
                entry = Entry(spent.calls.callee, "", spent.calls.kind, spent.calls.transfer, spent.calls.suggestion)
                if entry not in entries:
                    entries.append(entry)
                sites.append(Site("main.c", 10 * index, 5, spent.calls.callee, spent.name, 0))
                rows["call_stats"].append(_call_row(len(sites) - 1, index, entries.index(entry), spent, spent.calls))
    for id_, spent_in in (fpga or {}).items():
        _add_block(blocks, rows, id_, Side.FPGA, id_.rpartition(".")[0], spent_in, total_ps)
    manifest = Manifest(
        name="small",
        status=RunStatus.COMPLETE,
        created="2026-01-01T12:00:00+00:00",
        clocks=(RunClock("clk", CLOCK_HZ, cycles=round(time_s * CLOCK_HZ)),),
        time_ps=total_ps,
        exit=0,
        blocks=tuple(blocks),
        entries=tuple(entries),
        sites=tuple(sites),
    )
    return Run(None, manifest, {name: table_of(name, found) for name, found in rows.items()})


def with_state(states: Iterable[Spent], name: str, time_s: float) -> tuple[Spent, ...]:
    """The same states with another time in one of them."""
    return tuple(replace(s, time_s=time_s) if s.name == name else s for s in states)


def _rest(time_s: float, states: Sequence[Spent]) -> float:
    rest = time_s - sum(s.time_s for s in states)
    if rest < -1e-9:
        raise ValueError("the states last longer than the run")
    return max(rest, 0.0)


def _add_block(
    blocks: list[Block],
    rows: dict[str, list[Sequence[float]]],
    id_: str,
    side: Side,
    component: str,
    spent: Sequence[Spent],
    total_ps: int,
) -> None:
    number = len(blocks)
    states = [State(0, UNCLASSIFIED)]
    used_ps = 0
    for index, one in enumerate(spent, start=1):
        targets, messages = ((text,) if text else () for text in (one.target, one.message))
        file = "main.c" if side is Side.HOST else "top.v"
        states.append(State(index, one.name, one.category, one.reasons, targets, messages, file, 10 * index - 1))
        time_ps = round(one.time_s * PS_PER_S)
        used_ps += time_ps
        cycles = round(one.time_s * CLOCK_HZ) if side is Side.FPGA else 0
        rows["state_time"].append((number, index, time_ps, cycles, one.visits))
        rows["transitions"].append((number, 0, index, one.visits))
        rows["transitions"].append((number, index, 0, one.visits))
    if used_ps > total_ps:
        raise ValueError(f"the states of {id_} last longer than the run")
    rest_ps = total_ps - used_ps
    cycles = round(rest_ps / PS_PER_S * CLOCK_HZ) if side is Side.FPGA else 0
    rows["state_time"].append((number, 0, rest_ps, cycles, sum(s.visits for s in spent) + 1))
    group = id_[: id_.index("[")] + "[*]" + id_[id_.index("]") + 1 :] if "[" in id_ else id_
    kind = "thread" if side is Side.HOST else "always"
    blocks.append(Block(id_, side, component, kind, group, tuple(states), clock="clk" if side is Side.FPGA else None))


def _call_row(site: int, state: int, entry: int, spent: Spent, calls: Calls) -> Sequence[float]:
    runs = calls.runs or calls.count
    length = calls.count // runs
    rate = calls.bytes / spent.time_s if calls.bytes else float("nan")
    time_ps = round(spent.time_s * PS_PER_S)
    return site, 0, state, entry, calls.count, calls.bytes, time_ps, rate, rate, runs, length, length


def without_tables(run: Run, *names: str) -> Run:
    """The same run with some tables left out, as a damaged or older folder would have it."""
    return replace(run, tables={name: table for name, table in run.tables.items() if name not in names})
