"""Which uses of the API only wait: reads of one address in a loop until the FPGA answers, here or through functions.

`while (!(read(d, STATUS) & 1));` waits for the FPGA, whatever the function is for. Where such a loop calls a function
of the project that reads, the read in that function waits: always, or for the arguments that such loops give it.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Protocol

from rc_workbench_plugins.c.facts import Ask, Decided, Range, Reading, Use
from rc_workbench_plugins.c.flow import HARMLESS
from rc_workbench_plugins.c.loops import volatile
from workbench.api import Callee, CallKind

Place = tuple[Path, int]
Bound = Mapping[str, int | None]
_MOST_DEEP = 8  # functions that call each other
_NEAR = 64  # functions before a place among which is the one around it


def reaching(readings: Iterable[Reading]) -> set[str]:
    """The names of functions that use the API, or call such functions."""
    calls: dict[str, set[str]] = defaultdict(set)  # a function's name -> who calls it
    names: set[str] = set()
    for reading in readings:
        holders = _Holders(reading.functions)
        for name, place in reading.called:
            calls[name].update(holders.of(place))
        for use in (*reading.uses, *volatile(reading)):
            names.update(holders.of((use.place.file, use.place.offset)))
    pending = list(names)
    while pending:
        more = calls[pending.pop()] - names
        names |= more
        pending += more
    return names


def concerned(reading: Reading, names: Set[str]) -> set[Range]:
    """The functions of a source that use the API, or call one of these functions."""
    holders = _Holders(reading.functions)
    uses = ((use.place.file, use.place.offset) for use in (*reading.uses, *volatile(reading)))
    places = (*uses, *(place for name, place in reading.called if name in names))
    return {function for place in places if (function := holders.around(place))}


class _Holders:
    """Which function a place stands in. (Functions follow each other; within one stand only lambdas' and classes'.)"""

    def __init__(self, functions: Iterable[Range]) -> None:
        self._of: dict[Path, list[Range]] = defaultdict(list)
        for function in sorted(set(functions), key=lambda one: (one.start, -one.end)):
            self._of[function.file].append(function)

    def around(self, place: Place) -> Range | None:
        listed = self._of.get(place[0], [])
        at = bisect_right(listed, place[1], key=lambda one: one.start)
        return next((one for one in reversed(listed[max(0, at - _NEAR) : at]) if place[1] < one.end), None)

    def of(self, place: Place) -> Iterator[str]:
        function = self.around(place)
        yield from [function.name] if function else []


class _Source(Protocol):
    @property
    def reading(self) -> Reading: ...


def polls(units: Iterable[_Source], callees: Mapping[str, Callee]) -> dict[tuple[Place, str], str]:
    """By place and callee, when a use only waits: a condition in C, empty where it always does."""
    return _Polls([unit.reading for unit in units], callees).conditions()


class _Polls:
    def __init__(self, readings: list[Reading], callees: Mapping[str, Callee]) -> None:
        self.callees = callees
        self.uses: dict[Place, list[Use]] = defaultdict(list)
        self.called: dict[str, set[Place]] = defaultdict(set)  # a function's name -> its calls
        for reading in readings:
            for use in reading.uses:
                self.uses[use.place.file, use.place.offset].append(use)
            for name, place in reading.called:
                self.called[name].add(place)
        self.loops = [one for reading in readings for one in reading.loops]
        self.calls = [one for reading in readings for one in reading.calls]
        self.results = {one.function: one for reading in readings for one in reading.results}
        self.bound: dict[tuple[Place, str], list[Bound]] = defaultdict(list)
        self.within: dict[tuple[Place, str], str] = {}
        self.asked: dict[str, set[Place]] = defaultdict(set)  # those of `called` that only wait
        self.transfers = reaching(readings)

    def conditions(self) -> dict[tuple[Place, str], str]:
        for loop in self.loops:
            asks = [ask for ask in loop.asks if not self._acts(ask, 0)]
            if not any(self._moves(ask) for ask in loop.beside):
                for ask in asks:
                    for bound in self._given(loop, ask):
                        self._resolve(ask, bound, "", 0)
        whens = ((key, self._when(key, bound)) for key, bound in self.bound.items())
        return {key: when for key, when in whens if when is not None}

    def _when(self, key: tuple[Place, str], bound: list[Bound]) -> str | None:
        name = self.within[key]
        if any(not one for one in bound) or (name and self.called[name] <= self.asked[name]):
            return ""
        known = [one for one in bound if None not in one.values()]
        texts = (" && ".join(f"{p} == {value}" for p, value in sorted(one.items())) for one in known)
        return " || ".join(dict.fromkeys(texts)) or None

    def _resolve(self, ask: Ask, known: Bound, function: str, depth: int) -> None:
        uses = self._uses(ask)
        for use in uses:
            if any(entry.kind is CallKind.RECEIVE for _, entry in self.callees[use.callee].entries):
                key = (use.place.file, use.place.offset), use.callee
                texts = (text for text in ask.arguments if isinstance(text, str)) if depth else ()
                given = {text: known.get(text) for text in texts}
                self.bound[key].append(given)
                self.within[key] = function
        result = self.results.get(ask.function)
        if uses or result is None or depth == _MOST_DEEP:
            return
        self.asked[ask.name].update(ask.places[-1:])
        inner = _bound(result, ask, known)
        for one in result.asks:
            self._resolve(one, inner, ask.name, depth + 1)

    def _uses(self, ask: Ask) -> list[Use]:
        at = (use for place in dict.fromkeys(ask.places) for use in self.uses.get(place, ()))
        return [use for use in at if bool(use.access) == (not ask.name)
                and (use.access or _last(self.callees[use.callee]) == ask.name)]  # fmt: skip

    def _given(self, loop: Decided, ask: Ask) -> list[Bound]:
        """What the function around a loop is called with, where the loop hands that on."""
        if not any(isinstance(argument, str) for argument in ask.arguments):
            return [{}]
        calls = [call for call in self.calls if call.function == loop.function]
        return [_bound(loop, call, {}) for call in calls] or [{}]

    def _acts(self, ask: Ask, depth: int) -> bool:
        """Whether a call of the project's own function does more than ask: it transfers too."""
        result = None if self._uses(ask) else self.results.get(ask.function)
        if result is None or depth == _MOST_DEEP:
            return False
        return any(map(self._moves, result.beside)) or any(self._acts(one, depth + 1) for one in result.asks)

    def _moves(self, ask: Ask) -> bool:
        """Whether what a loop does besides is more than waiting: transfers, here or in functions of the project's."""
        if any(use for use in self._uses(ask)):
            return True
        return ask.name in self.transfers and not HARMLESS.search(ask.name)


def _bound(of: Decided, call: Ask, known: Bound) -> Bound:
    """The values of a function's parameters where it is called."""
    values = (known.get(a) if isinstance(a, str) else a for a in call.arguments)
    return dict(zip(of.parameters, values, strict=False))


def _last(callee: Callee) -> str:
    return callee.prototype.name.rpartition("::")[2]
