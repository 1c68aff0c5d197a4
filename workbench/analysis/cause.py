"""Finds the source line that causes the time difference of two runs with equal work."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.analysis.finding_words import block_words
from workbench.analysis.measured import MeasuredRun
from workbench.api.results import BlockMetrics, CallMetrics, StateMetrics
from workbench.model.blocks import Side
from workbench.model.finding import Place
from workbench.model.pragma import WAITS
from workbench.model.text import bytes_text, counted, time_text

#: An FPGA state explains a wait of the host if its own difference is at least this share of the wait's.
_EXPLAINS = 0.5
#: Two runs take the same time if their times differ by less than this share.
EVEN = 0.005


@dataclass(frozen=True)
class Spent:
    """The time of one call or state in one run. `bytes` is 0 if it moved none; `waits` says whether it is a wait."""

    time_s: float
    count: int
    bytes: int = 0
    place: Place | None = None
    waits: bool = False


@dataclass(frozen=True)
class Line:
    """A call or state of a block in both runs; `a` or `b` is None if that run lacks it."""

    block: str
    name: str
    call: bool
    a: Spent | None
    b: Spent | None

    @property
    def difference_s(self) -> float:
        return (self.b.time_s if self.b else 0.0) - (self.a.time_s if self.a else 0.0)

    @property
    def places(self) -> tuple[Place, ...]:
        """Its place in B, then its place in A if that differs."""
        places = [spent.place for spent in (self.b, self.a) if spent and spent.place]
        return tuple({(place.file, place.line): place for place in reversed(places)}.values())[::-1]


@dataclass(frozen=True)
class Cause:
    """The largest difference between two runs. `line` belongs to the host's main thread, whose time is the run's;
    `behind` is the FPGA state that explains a wait there. `difference_s` is the whole difference: of the runs, or, if
    `part`, of the parts with equal work."""

    line: Line
    behind: Line | None
    difference_s: float
    part: bool = False

    @property
    def places(self) -> tuple[Place, ...]:
        behind = self.behind.places if self.behind else ()
        return tuple(dict.fromkeys((*self.line.places, *behind)))


def is_even(speedup: float | None) -> bool:
    """Whether two runs take the same time."""
    return speedup is not None and abs(speedup - 1) < EVEN


def find_cause(a: MeasuredRun, b: MeasuredRun, part: bool = False) -> Cause | None:
    """The call or state of the host's main thread with the largest time difference in the direction of the runs'
    difference. Both runs (with `part`: the compared parts) must have done equal work. None if they take the same
    time."""
    difference_s = b.run.time_s - a.run.time_s
    if is_even(a.run.time_s / b.run.time_s if b.run.time_s else None):
        return None
    sign = 1 if difference_s > 0 else -1
    line = _largest_difference(_paired(_of_host(a), _of_host(b)), sign)
    if line is None:
        return None
    behind = None
    if any(spent.waits for spent in (line.a, line.b) if spent):
        behind = _largest_difference(_paired(_of_fpga(a), _of_fpga(b)), sign)
        if behind and abs(behind.difference_s) < _EXPLAINS * abs(line.difference_s):
            behind = None
    return Cause(line, behind, difference_s, part)


Key = tuple[str, str, bool]  # block, name, whether it is a call


def _largest_difference(lines: Iterable[Line], sign: int) -> Line | None:
    most = max(lines, key=lambda line: sign * line.difference_s, default=None)
    return most if most and sign * most.difference_s > 0 else None


def _paired(a: Mapping[Key, Spent], b: Mapping[Key, Spent]) -> list[Line]:
    return [Line(*key, a.get(key), b.get(key)) for key in dict.fromkeys((*a, *b))]


def _of_host(run: MeasuredRun) -> dict[Key, Spent]:
    """The main thread's calls by label, and its states without their calls. They sum to its time."""
    host = next((m for m in run.blocks if m.block.side is Side.HOST), None)
    if host is None:
        return {}
    spent: dict[Key, Spent] = {}
    in_calls_s: dict[str, float] = {}
    mine = [call for call in run.calls if call.block == host.block.id]
    for call in sorted(mine, key=lambda call: -call.time_s):  # the place of the longest one
        key = (host.block.id, call.site.label, True)
        spent[key] = _with_call(spent.get(key), call)
        in_calls_s[call.state.name] = in_calls_s.get(call.state.name, 0.0) + call.time_s
    for state in host.states:
        rest_s = state.time_s - in_calls_s.get(state.state.name, 0.0)
        if rest_s > 0:
            spent[host.block.id, state.state.name, False] = _of_state(state, rest_s, state.visits)
    return spent


def _with_call(spent: Spent | None, call: CallMetrics) -> Spent:
    waits = call.state.category in WAITS
    if spent is None:
        return Spent(call.time_s, call.count, call.bytes, Place(call.site.file, call.site.line, call.site.label), waits)
    return Spent(
        spent.time_s + call.time_s, spent.count + call.count, spent.bytes + call.bytes, spent.place,
        spent.waits or waits,
    )  # fmt: skip


def _of_fpga(run: MeasuredRun) -> dict[Key, Spent]:
    """The times of FPGA blocks' states other than waits, each the mean over the replicas of a group."""
    groups: dict[str, list[BlockMetrics]] = {}
    for metrics in run.blocks:
        if metrics.block.side is Side.FPGA:
            groups.setdefault(metrics.block.group, []).append(metrics)
    spent: dict[Key, Spent] = {}
    for group, members in groups.items():
        for state in members[0].states[1:]:
            if state.state.category is None or state.state.category in WAITS:
                continue
            alike = [s for m in members for s in m.states if s.state.name == state.state.name]
            mean_s = sum(s.time_s for s in alike) / len(members)
            spent[group, state.state.name, False] = _of_state(state, mean_s, sum(s.visits for s in alike))
    return spent


def line_of_call(name: str, a: CallMetrics | None, b: CallMetrics | None) -> Line:
    """A call's line in both runs."""
    block = next((call.block for call in (b, a) if call), "")
    return Line(block, name, True, *(_with_call(None, call) if call else None for call in (a, b)))


def line_of_state(block: str, name: str, a: StateMetrics | None, b: StateMetrics | None) -> Line:
    """A state's line in both runs."""
    return Line(block, name, False, *(_of_state(one, one.time_s, one.visits) if one else None for one in (a, b)))


def _of_state(metrics: StateMetrics, time_s: float, visits: int) -> Spent:
    state = metrics.state
    place = Place(state.file, state.line, state.name) if state.file and state.line else None
    return Spent(time_s, visits, 0, place, state.category in WAITS)


def first_words(cause: Cause, who: str = "B") -> str:
    """The largest difference: `clearBins takes 5.42 ms less in B`; empty if the run differs the other way."""
    if cause.line.difference_s * cause.difference_s <= 0:
        return ""
    return f"{_most_words(cause, who)}{' for equal work' if cause.part else ''}"


def _most_words(cause: Cause, who: str) -> str:
    return f"{_name(cause.line)} takes {_change(cause.line.difference_s)} in {who}"


def cause_words(cause: Cause, who: str = "B") -> str:
    """The largest difference beside the whole difference, in a sentence; `who` is the letter of the second run."""
    compared = "a part of equal work" if cause.part else "the run"
    return f"{_most_words(cause, who)}; {compared} takes {_change(cause.difference_s)}."


def cause_details(cause: Cause, who: str = "B") -> str:
    """Times, counts and bytes in A and in B (`who`), and the FPGA state behind a wait."""
    line, says = cause.line, [lambda spent: time_text(spent.time_s)]
    if line.call:
        says.append(lambda spent: counted(spent.count, "call"))
        if any(spent.bytes for spent in (line.a, line.b) if spent):
            says.append(lambda spent: f"{bytes_text(spent.bytes / max(spent.count, 1))} a call")
    compared = _compared(line, says, who)
    sentence = f"{compared}." if compared else ""
    if cause.behind:
        sentence += f" It waits: {_name(cause.behind)} takes {_change(cause.behind.difference_s)}."
    return sentence


def _compared(line: Line, says: Sequence[Callable[[Spent], str]], who: str) -> str:
    """The values in both runs that differ, or the values of the only run that has the line."""
    if line.a and line.b:
        texts = [(say(line.a), say(line.b)) for say in says]
        return "; ".join(f"{a} in A, {b} in {who}" for a, b in texts if a != b)
    only = line.a or line.b
    return f"{'A' if line.a else who} only: {', '.join(say(only) for say in says)}" if only else ""


def _change(seconds: float) -> str:
    return f"{time_text(abs(seconds))} {'more' if seconds > 0 else 'less'}"


def _name(line: Line) -> str:
    return line.name if line.call else f"{line.name} of {block_words(line.block)}"


def place_text(place: Place) -> str:
    return f"{place.file}:{place.line}"


def cause_json(cause: Cause) -> dict[str, Any]:
    """The cause as `workbench compare --json` prints it. With `part`, times are those of a part with equal work."""
    return {
        "part": cause.part, "difference_s": cause.difference_s,
        "line": _line_json(cause.line), "behind": _line_json(cause.behind) if cause.behind else None,
        "words": f"{cause_words(cause)} {cause_details(cause)}",
    }  # fmt: skip


def _line_json(line: Line) -> dict[str, Any]:
    return {
        "block": line.block, "name": line.name, "kind": "call" if line.call else "state",
        "difference_s": line.difference_s, "a": _spent_json(line.a), "b": _spent_json(line.b),
    }  # fmt: skip


def _spent_json(spent: Spent | None) -> dict[str, Any] | None:
    if spent is None:
        return None
    place = spent.place
    return {
        "time_s": spent.time_s, "count": spent.count, "bytes": spent.bytes,
        "file": place.file if place else None, "line": place.line if place else None,
    }  # fmt: skip
