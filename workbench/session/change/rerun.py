"""Tries changes of the catalogue by running the application again, with rules of the simulated card, settings, FIFO
depths, clocks and platforms. Changes that a run cannot try get a reason."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TypeVar

import numpy as np

from workbench.api.ports import HardwarePort
from workbench.api.targets import TimingRule
from workbench.model.changes import (
    Asynchronous,
    Change,
    ControlInFpga,
    Depth,
    Early,
    FewerStarts,
    Interrupt,
    OtherClock,
    OtherPlatform,
    PollDelay,
    Replicas,
    Resize,
    Retype,
    ScaleCalls,
    ScaleHost,
    ScaleState,
    Split,
    Unite,
    Width,
)  # fmt: skip
from workbench.model.platform import CallKind, Platform
from workbench.model.run import PS_PER_S, Run
from workbench.model.text import listed
from workbench.replay.resolve import ALL, Named, resolve
from workbench.run.host_tables import WORK
from workbench.session.open.workspace import Value, Workspace, once_each

C = TypeVar("C", bound=Change)
_PARTS = 10**9  # of a factor, as the card counts them
_MOST_BUFFERS = 256  # the card's limit of asynchronous sends
_ALONE = {Unite, Split, Interrupt, PollDelay}  # a call is under one of these at most
_KINDS = {kind.value: kind for kind in CallKind}
_QUIET = {"acquire", "other"}  # calls that do not use the card


class NotPossible(Exception):
    """A run cannot try a change; the text is the reason for the user."""


@dataclass(frozen=True)
class Rerun:
    """The differences of the run that tries the changes. `counts` are the expected numbers of members of groups, by
    name."""

    rules: tuple[TimingRule, ...] = ()
    settings: Mapping[str, Value] = field(default_factory=dict)
    depths: Mapping[str, int] = field(default_factory=dict)
    clocks_hz: Mapping[str, float] = field(default_factory=dict)
    platform: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def builds_anew(self) -> bool:
        """Whether host or design must be built again."""
        return bool(self.settings or self.depths or self.platform)


def plan(workspace: Workspace, run: Run, platform: Platform, changes: Sequence[Change]) -> Rerun:
    """The run that tries the changes together; `platform` is the platform of the original run.

    Raises WorkbenchError for a name that the run does not have, and NotPossible.
    """
    named = [resolve(change, run.manifest, platform) for change in changes]
    _check_together(changes, named)
    rerun = Rerun()
    for change, of in zip(changes, named, strict=True):
        rerun = _HOW[type(change)](rerun, _Case(workspace, run, platform, of), change)
    return rerun


@dataclass(frozen=True)
class _Case:
    workspace: Workspace
    run: Run
    platform: Platform
    named: Named

    def kinds(self) -> dict[CallKind, str]:
        """The kinds of the calls, each with the place of its first call."""
        manifest, calls = self.run.manifest, self.run.tables["calls"]
        first_places: dict[CallKind, str] = {}
        for site in self.named.sites:
            for entry in np.unique(calls["entry"][calls["site"] == site]):
                place = manifest.sites[site]
                kind = _KINDS.get(manifest.entries[entry].kind, CallKind.OTHER)
                first_places.setdefault(kind, f"{place.callee} at {place.file}:{place.line}")
        return first_places

    def only(self, *kinds: CallKind, why: str) -> None:
        """Raise NotPossible if one of the calls is of another kind."""
        if not (first_places := self.kinds()):
            raise NotPossible("none of these calls was made in the run")
        if other := [place for kind, place in first_places.items() if kind not in kinds]:
            raise NotPossible(f"{other[0]} {why}")

    def tables(self) -> list[str]:
        """The transfer tables of the calls."""
        calls, entries = self.run.tables["calls"], self.run.manifest.entries
        used = np.unique(calls["entry"][np.isin(calls["site"], self.named.sites)])
        return sorted({entries[entry].transfer for entry in used} & self.platform.transfer_tables.keys())


def _check_together(changes: Sequence[Change], named: Sequence[Named]) -> None:
    for (a, of_a), (b, of_b) in combinations(zip(changes, named, strict=True), 2):
        same_calls = set(of_a.sites) & set(of_b.sites)
        same_thing = type(a) is type(b) and (same_calls or (not of_a.sites and set(of_a.blocks) & set(of_b.blocks)))
        if same_thing or (same_calls and {type(a), type(b)} <= _ALONE):
            raise NotPossible(f"`{a}` and `{b}` change the same thing in two ways")


# ---- rules of calls and of the host's code ----


def _rule(rerun: Rerun, case: _Case, change: Change, kind: str, *numbers: int) -> Rerun:
    return replace(rerun, rules=(*rerun.rules, TimingRule(kind, numbers, case.named.sites, str(change))))


def _scale_calls(rerun: Rerun, case: _Case, change: ScaleCalls) -> Rerun:
    case.only(
        CallKind.SEND, CallKind.RECEIVE, CallKind.CONFIGURE,
        why="moves no data: its time is that of what it waits for",
    )  # fmt: skip
    return _rule(rerun, case, change, "scale", round(change.factor * _PARTS))


def _unite(rerun: Rerun, case: _Case, change: Unite) -> Rerun:
    case.only(CallKind.SEND, CallKind.RECEIVE, why="moves no data that another call could move with its own")
    if len(case.kinds()) > 1:
        raise NotPossible("some of these calls send and others receive: one call cannot do both")
    row, step = _rows(case)
    return _rule(rerun, case, change, "unite", change.count, row, step)


def _rows(case: _Case) -> tuple[int, int]:
    """The length of rows of consecutive calls (0: it varies), and the distance of their addresses. NotPossible if reads
    are not evenly spaced, or if no two calls are consecutive."""
    calls, entries = case.run.tables["calls"], case.run.manifest.entries
    reaching = np.array([entry.kind not in _QUIET for entry in entries], bool)[calls["entry"]]
    lengths: set[int] = set()
    steps: set[int] = set()
    for thread in np.unique(calls["block"]):
        rows_of_thread = np.flatnonzero((calls["block"] == thread) & reaching)
        is_named = np.isin(calls["site"][rows_of_thread], case.named.sites).astype(np.int8)
        edges = np.flatnonzero(np.diff(is_named, prepend=0, append=0)).reshape(-1, 2)
        lengths |= set((edges[:, 1] - edges[:, 0]).tolist())
        inner = np.flatnonzero(is_named[1:] & is_named[:-1])
        addresses = calls["address"][rows_of_thread]
        steps |= set((addresses[inner + 1] - addresses[inner]).tolist())
    if lengths == {1}:
        raise NotPossible("other calls come between these calls: the program has to bring them together first")
    if CallKind.RECEIVE in case.kinds() and len(steps) > 1:
        raise NotPossible("the addresses that these calls read are not evenly spaced: the next address is unknown")
    return (lengths.pop() if len(lengths) == 1 else 0), (steps.pop() if len(steps) == 1 else 0)


def _split(rerun: Rerun, case: _Case, change: Split) -> Rerun:
    case.only(CallKind.SEND, CallKind.RECEIVE, why="moves no data")
    return _rule(rerun, case, change, "split", change.count)


def _retype(rerun: Rerun, case: _Case, change: Retype) -> Rerun:
    tables = case.platform.transfer_tables
    new = tables[change.table]
    case.only(CallKind.SEND, CallKind.RECEIVE, why="moves no data")
    for name in case.tables():
        if tables[name].direction != new.direction:
            raise NotPossible(f"'{change.table}' is a table of the other direction")
        if tables[name].port != new.port:
            raise NotPossible(f"'{change.table}' goes through another port of the hardware, with addresses of its own")
    return _rule(rerun, case, change, "table", [*tables].index(change.table))


def _asynchronous(rerun: Rerun, case: _Case, change: Asynchronous) -> Rerun:
    case.only(CallKind.SEND, why="does not send: the program needs its data when it returns")
    if change.buffers > _MOST_BUFFERS:
        raise NotPossible(f"the simulated card keeps at most {_MOST_BUFFERS} sends under way")
    return _rule(rerun, case, change, "asynchronous", change.buffers)


def _interrupt(rerun: Rerun, case: _Case, change: Interrupt) -> Rerun:
    case.only(CallKind.RECEIVE, why="reads nothing: it is not a poll")
    hardware = case.platform.hardware
    ports = [port for port in (hardware.ports if hardware else ()) if isinstance(port, HardwarePort)]
    by_name = {port.name: port for port in ports}
    first = next((port for port in ports if port.takes_transfers), None)
    for name in case.tables():
        port = by_name.get(case.platform.transfer_tables[name].port, first)
        if port and not port.addressed:
            raise NotPossible("data read from a stream are gone: a poll cannot read them again")
    return _rule(rerun, case, change, "interrupt")


def _poll_delay(rerun: Rerun, case: _Case, change: PollDelay) -> Rerun:
    case.only(CallKind.RECEIVE, why="reads nothing: it is not a poll")
    return _rule(rerun, case, change, "poll_delay", round(change.delay_s * PS_PER_S))


def _scale_host(rerun: Rerun, case: _Case, change: ScaleHost) -> Rerun:
    if change.state != ALL and any(state != WORK for _, state in case.named.states):
        raise NotPossible(
            f"in state '{change.state}' the host is in a call, not in code of its own: change the call, or "
            f"state={case.run.manifest.blocks[case.named.blocks[0]].states[WORK].name}"
        )
    rules = [TimingRule("host", (block, round(change.factor * _PARTS)), (), str(change)) for block in case.named.blocks]
    return replace(rerun, rules=(*rerun.rules, *rules))


# ---- settings, clocks, depths, platforms ----


def _replicas(rerun: Rerun, case: _Case, change: Replicas) -> Rerun:
    project, settings = case.workspace.project, case.run.manifest.settings
    members = len(case.named.blocks)
    listed_too = {name for one in (project.hardware, *project.hardware.designs()) for name in one.parameters}
    names = [name for name, value in settings.items() if value == members and name in listed_too]
    if not names:
        raise NotPossible(
            f"no setting that is a parameter of the design has the value {members}, the number of members of "
            f"{change.group}: the design has to change"
        )
    if len(names) > 1:
        raise NotPossible(f"settings {listed(names)} are all {members}: which one sets {change.group} is unknown")
    counts = {**rerun.counts, change.group: change.count}
    return replace(rerun, settings={**rerun.settings, names[0]: change.count}, counts=counts)


def _clock(rerun: Rerun, case: _Case, change: OtherClock) -> Rerun:
    hardware = case.platform.hardware
    clock_names = {clock.name for clock in hardware.clocks} if hardware else set()
    if change.clock not in clock_names:
        raise NotPossible(
            f"the design makes '{change.clock}' itself, of {listed(sorted(clock_names))}: change that clock"
        )
    return replace(rerun, clocks_hz={**rerun.clocks_hz, change.clock: change.frequency_hz})


def _depth(rerun: Rerun, case: _Case, change: Depth) -> Rerun:
    return replace(rerun, depths={**rerun.depths, change.fifo: change.words})


def _platform(rerun: Rerun, case: _Case, change: OtherPlatform) -> Rerun:
    if rerun.platform:
        raise NotPossible("an application runs on one platform")
    return replace(rerun, platform=change.platform)


def _never(why: str) -> Callable[[Rerun, _Case, Change], Rerun]:
    def refuse(rerun: Rerun, case: _Case, change: Change) -> Rerun:
        raise NotPossible(why)

    return refuse


_HOW: Mapping[type[Change], Callable[..., Rerun]] = {
    ScaleHost: _scale_host,
    ScaleCalls: _scale_calls,
    Unite: _unite,
    Split: _split,
    Retype: _retype,
    Asynchronous: _asynchronous,
    Interrupt: _interrupt,
    PollDelay: _poll_delay,
    Replicas: _replicas,
    OtherClock: _clock,
    Depth: _depth,
    OtherPlatform: _platform,
    ScaleState: _never("the design runs cycle by cycle as it is written: one of its states cannot be made faster"),
    Resize: _never("the program's source sets how much a call moves: change it there"),
    Early: _never("the program makes its calls in their order: none can come before an earlier one"),
    FewerStarts: _never("the design works once for each start: it has to change before one start can serve several"),
    ControlInFpga: _never("the design waits for the host's starts: it has to change before it can go on by itself"),
    Width: _never("the design's streams are as wide as it is written: where a setting says how wide, run with that"),
}


def with_clocks(workspace: Workspace, clocks_hz: Mapping[str, float]) -> Workspace:
    """The project on its platform with other clock frequencies, for each FPGA's design too."""
    if not clocks_hz:
        return workspace
    designs = once_each(workspace.own_designs, lambda one: with_clocks(one, clocks_hz))
    return replace(workspace, platform=_faster(workspace.platform, clocks_hz), own_designs=designs)


def _faster(platform: Platform, clocks_hz: Mapping[str, float]) -> Platform:
    if platform.hardware is None:
        return platform
    clocks = tuple(
        clock.model_copy(update={"frequency_hz": clocks_hz.get(clock.name, clock.frequency_hz)})
        for clock in platform.hardware.clocks
    )
    return platform.model_copy(update={"hardware": platform.hardware.model_copy(update={"clocks": clocks})})


def unmet(rerun: Rerun, base: Run, tried: Run) -> Iterator[str]:
    """The expectations that the run with the changes did not fulfil, in sentences."""
    if rerun.rules and tried.manifest.sites != base.manifest.sites:
        yield "other settings or another platform change the program's calls, so changes to calls do not fit"
    for group, count in rerun.counts.items():
        members = sum(block.group == group for block in tried.manifest.blocks)
        if members != count:
            yield f"with {listed([f'{n} {v}' for n, v in rerun.settings.items()])} there are {members} of {group}"
