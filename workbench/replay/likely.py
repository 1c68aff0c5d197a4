"""A likely course of the FPGA's blocks in a run without a trace, from its profile and the host's calls.

A profile holds the number of each block's state transitions and the time in each state; the host's calls are known one
by one. A block leaves a wait when the event that its pragmas name happens: the n-th wait at the n-th event.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Side
from workbench.model.pragma import CPU, WAITS, Category
from workbench.model.run import Run
from workbench.model.targets import resolve_target
from workbench.replay.answers import seen_by
from workbench.replay.courses import Course, Fixed, HostWords, Source, Turns
from workbench.replay.events import AllEvents, merged
from workbench.replay.fpga import Rows, fpga_of_rows
from workbench.replay.host import ASK, IRQ, HostPart
from workbench.replay.points import places_for
from workbench.replay.walks import fitted, known_stays, lengths, walk
from workbench.traces.groups import rows_of_block

Numbers = NDArray[np.int64]
#: The largest number of stays; each takes about a microsecond.
MOST_STAYS = 400_000
#: The number of stays followed while ends of waits are tried, and the sufficient distance from the profile.
_MOST_FOLLOWED, _NEAR = 2_000_000, 1e-9
#: The number of alternative courses if the profile does not determine one.
_OTHERS = 8
#: The number of fits of work to answers; a fit may shift the begin of work.
_FITS = 3
#: The cycles after a word at which a block may go on, the likeliest first.
_LAGS = (1, 0, 2, 3)


@dataclass(frozen=True)
class Likely:
    """The possible courses of the blocks that have any, the closest to the profile first, and the reason for each other
    block (by id)."""

    courses: tuple[Rows, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)


class _LeftOutError(Exception):
    pass


def likely_course(run: Run, host: HostPart, periods_ps: Sequence[Fraction]) -> Likely:
    """The likely course of blocks that wait; a block that runs freely gets one stay."""
    return _Courses(run, host, periods_ps).fit()


class _Courses:
    def __init__(self, run: Run, host: HostPart, periods_ps: Sequence[Fraction]) -> None:
        self.run, self.blocks, self.periods_ps = run, run.manifest.blocks, periods_ps
        self.numbers = {block.id: number for number, block in enumerate(self.blocks)}
        self.events = AllEvents(run, host, fpga_of_rows(run, {}), periods_ps)
        self.left_out: dict[int, str] = {}
        self.courses: dict[int, Course] = {}
        self.free: list[int] = []  # blocks that run freely, without a cause
        self._begin()

    def _begin(self) -> None:
        complete = {"state_time", "transitions", "dwell"} <= self.run.tables.keys()
        stays = 0
        for number, block in enumerate(self.blocks):
            if block.side is not Side.FPGA or len(block.states) < 2 or not block.works:
                continue
            waits = frozenset(s.index for s in block.states if s.category in WAITS)
            if not waits:
                if not any(CPU in s.targets for s in block.states):
                    self.free.append(number)
                continue
            if not complete:
                self.left_out[number] = "the run kept no profile of it"
                continue
            rows = rows_of_block(self.run.tables["state_time"]["block"], number)
            mine = int(np.asarray(self.run.tables["state_time"]["visits"][rows]).sum())
            if stays + mine > MOST_STAYS:
                self.left_out[number] = f"it changed its state too often ({mine} times)"
                continue
            stays += mine
            states = walk(number, dict(self.run.tables))
            if states is None or not known_stays(number, states, self.run.tables["dwell"]):
                self.left_out[number] = "its state changes are incomplete"
                continue
            lasts = lengths(number, states, self.run.tables["dwell"])
            self.courses[number] = Course(
                number, self.events.fpga.clock[number], states.tolist(), lasts.tolist(), waits
            )

    def fit(self) -> Likely:
        while True:
            self._find_sources()
            off = self._follow()
            stuck = [number for number, course in self.courses.items() if not course.done]
            if not stuck:
                break
            for number in stuck:
                course = self.courses[number]
                name = self.blocks[number].states[course.states[len(course.begin) - 1]].name
                self._leave_out(number, f"its waits in '{name}' do not match their messages one to one")
        courses = [(self._fitted(self._improved(off)), self._rows())]
        stays = sum(len(course.states) for course in self.courses.values())
        if courses[0][0] > _NEAR:
            for seed in range(min(_OTHERS, MOST_STAYS // max(stays, 1))):
                courses.append(self._another(np.random.default_rng(seed)))
        courses.sort(key=lambda one: one[0])
        reasons = {self.blocks[number].id: why for number, why in self.left_out.items()}
        return Likely(tuple(rows for _, rows in courses), reasons)

    def _rows(self) -> Rows:
        rows = {
            number: (np.array(course.begin), np.array(course.states), self._cycles(number))
            for number, course in self.courses.items()
        }
        rows |= {number: (np.zeros(1, np.int64), np.zeros(1, np.int64), self._cycles(number)) for number in self.free}
        return dict(sorted(rows.items()))

    def _another(self, random: np.random.Generator) -> tuple[float, Rows]:
        """A course with the same profile and a different sequence of stays, with its distance from the profile."""
        for number, course in self.courses.items():
            lasts = lengths(number, np.array(course.states), self.run.tables["dwell"], random)
            course.lasts = lasts.tolist()
        return self._fitted(self._follow(), random), self._rows()

    def _improved(self, off: float) -> float:
        """Try other ends for each wait of each kind of block, and keep those closer to the profile. Returns the new
        distance."""
        budget = _MOST_FOLLOWED // max(sum(len(course.states) for course in self.courses.values()), 1)
        alike: dict[tuple[str, int], list[Course]] = {}
        for number, course in self.courses.items():
            for wait in course.others:
                alike.setdefault((self.blocks[number].group, wait), []).append(course)
        for (_, wait), courses in alike.items():
            for choice in range(min(len(course.others[wait]) for course in courses)):
                if off < _NEAR or budget <= 0:
                    break
                before = [course.sources[wait] for course in courses]
                for course in courses:
                    course.sources[wait] = course.others[wait][choice]
                budget -= 1
                nearer = self._follow()
                if nearer < off:
                    off = nearer
                    continue
                for course, source in zip(courses, before, strict=True):
                    course.sources[wait] = source
        return self._follow()

    def _fitted(self, off: float, random: np.random.Generator | None = None) -> float:
        """Fit stretches of work to the ends that the host's answers give. Returns the distance from the profile."""
        before = {number: np.array(course.lasts) for number, course in self.courses.items()}
        for _ in range(_FITS):
            changed = False
            for number, course in self.courses.items():
                waiting = np.isin(course.states, list(course.waits))
                ends = np.flatnonzero(waiting[1:] & ~waiting[:-1]) + 1
                bounds = self._answered(course, len(ends))
                if bounds is None:
                    continue
                begin = np.array(course.begin)[~waiting & np.append(True, waiting[:-1])][: len(ends)]
                mine = np.flatnonzero(~waiting[: ends[-1]])
                stretch = np.searchsorted(ends, mine, side="right")
                lasts = before[number].copy()
                low, high = (bound - begin for bound in bounds)
                lasts[mine] = fitted(lasts[mine], np.array(course.states)[mine], stretch, low, high, random)
                changed |= lasts.tolist() != course.lasts
                course.lasts = lasts.tolist()
            if not changed:
                break
            off = self._follow()
        return off

    def _answered(self, course: Course, count: int) -> tuple[Numbers, Numbers] | None:
        """The earliest and latest end cycle of each of `count` stretches of work, by the host's waits that name the
        block; None if the numbers differ."""
        ops = self.events.host.ops
        asking = np.flatnonzero(np.isin(ops["kind"], (ASK, IRQ)))
        groups: dict[tuple[int, int], list[int]] = {}
        for row in asking.tolist():
            groups.setdefault((int(ops["site"][row]), int(ops["address"][row])), []).append(row)
        mine = [np.array(rows) for rows in groups.values() if len(rows) == count and self._names(rows[0], course)]
        members = self._members(course.number)
        if not mine or len(mine) not in (1, len(members)):
            return None
        clock, failed, seen_cycles = seen_by(self.events, mine[members.index(course.number) if len(mine) > 1 else 0])
        return (failed + 1, seen_cycles) if clock == course.clock else None

    def _names(self, op: int, course: Course) -> bool:
        """Whether the pragma of a host's wait names the block, or no block."""
        op_of = self.events.host.ops[op]
        host = self.blocks[self.run.manifest.sites[int(op_of["site"])].block]
        targets = host.states[int(op_of["state"])].targets
        return not targets or any(
            other.id == self.blocks[course.number].id
            for target in targets
            for other in resolve_target(target, self.blocks, host)
        )

    def _leave_out(self, number: int, why: str) -> None:
        self.left_out[number] = why
        self.courses.pop(number, None)

    def _cycles(self, number: int) -> int:
        dwell = self.run.tables["dwell"]
        return int(np.asarray(dwell["cycles"][rows_of_block(dwell["block"], number)]).sum())

    def _find_sources(self) -> None:
        """For every wait of every block the possible ends, the likeliest first. Blocks without any are left out, with
        blocks that depend on them."""
        count_before = -1
        while count_before != len(self.left_out):
            count_before = len(self.left_out)
            for number, course in list(self.courses.items()):
                try:
                    course.others = {w: list(self._sources(course, w)) for w in course.waits if course.leaves(w)}
                except _LeftOutError as error:
                    self._leave_out(number, str(error))
                else:
                    course.sources = {wait: sources[0] for wait, sources in course.others.items()}

    def _follow(self) -> float:
        """Move all blocks to their ends. Returns their mean distance from the profile as a share of their time, 1 for
        an unfinished course."""
        for course in self.courses.values():
            course.restart()
        going = list(self.courses.values())
        while going:
            going = [course for course in going if course.go_on()] and [course for course in going if not course.done]
        off = [self._off(course) for course in self.courses.values()]
        return sum(off) / max(len(off), 1)

    def _off(self, course: Course) -> float:
        """The distance of the stays' lengths from the profile, by state and binary logarithm, 0 to 1."""
        cycles = self._cycles(course.number)
        if not course.done or course.begin[-1] >= cycles:
            return 1.0
        dwell = self.run.tables["dwell"]
        rows = rows_of_block(dwell["block"], course.number)
        lasts = np.diff(np.append(course.begin, cycles))
        state, log2, cycles_in_profile = (np.asarray(dwell[name][rows]) for name in ("state", "log2_cycles", "cycles"))
        sums = np.zeros((len(self.blocks[course.number].states), 64))
        np.add.at(sums, (state, log2), cycles_in_profile)
        np.add.at(sums, (np.array(course.states), np.frexp(lasts)[1] - 1), -lasts.astype(float))
        return float(np.abs(sums).sum() / 2 / cycles)

    # -- what ends a wait

    def _sources(self, course: Course, wait: int) -> Iterator[Source]:
        state = self.blocks[course.number].states[wait]
        count = course.leaves(wait)
        partners = self._partners(course.number, wait)
        if any(number in self.free for number in partners):
            yield Fixed(lengths(course.number, np.full(count, wait), self.run.tables["dwell"]).tolist())
            return
        if left_out := [number for number in partners if number in self.left_out]:
            raise _LeftOutError(f"it waits in '{state.name}' for {self.blocks[left_out[0]].id}, which is not followed")
        courses = [self.courses[number] for number in partners if number in self.courses]
        sources = list(
            self._of_blocks(course, wait, courses, count) if courses else self._of_words(course, wait, count)
        )
        if not sources:
            partner = self.blocks[courses[0].number].group if courses else "the host"
            raise _LeftOutError(f"it waits in '{state.name}' {count} times, not once for each message of {partner}")
        yield from sources

    def _partners(self, number: int, wait: int) -> list[int]:
        """The FPGA blocks that a wait names."""
        block = self.blocks[number]
        state = block.states[wait]
        partners: dict[int, None] = {}
        for target in state.targets:
            for other in resolve_target(target, self.blocks, block):
                if other.side is Side.FPGA and other.id != block.id:
                    partners[self.numbers[other.id]] = None
        return list(partners)

    def _of_words(self, course: Course, wait: int, count: int) -> Iterator[Source]:
        """Ends of a wait by words of the host: those with the wait's messages first, and calls' last words before all
        words."""
        messages = self.blocks[course.number].states[wait].messages
        sources = [
            cycles.tolist()
            for some in places_for(self.events, messages)
            for last in (True, False)
            if len(cycles := self._words(course, some, last, count)) == count
        ]
        for lag in _LAGS:
            yield from (HostWords(cycles, lag) for cycles in sources)
        matching = self.events.sites_with(messages)
        if matching and len(cycles := self._words(course, matching, True, count)) > count:
            yield from (HostWords(cycles.tolist(), lag, queued=False) for lag in _LAGS)

    def _words(self, course: Course, sites: Sequence[int], last: bool, count: int) -> Numbers:
        """The cycles of words; for a replica those that are for it."""
        words = merged([self.events.words(site, course.clock) for site in sites])
        words = words.some(words.byte < 0) if last else words
        members = self._members(course.number)
        if len(members) > 1 and len(words) == count * len(members):
            addresses = self.events.host.ops["address"][words.source]
            return words.time[_of_member(addresses, members.index(course.number), len(members))]
        return words.time

    def _members(self, number: int) -> list[int]:
        group = self.blocks[number].group
        return [other for other, block in enumerate(self.blocks) if block.group == group]

    def _of_blocks(self, course: Course, wait: int, partners: Sequence[Course], count: int) -> Iterator[Source]:
        """Ends of a wait by what the partners do once for each wait."""
        state = self.blocks[course.number].states[wait]
        receives = state.category is Category.WAIT_RECV
        ratios = [self._ratio(partner.clock, course.clock) for partner in partners]
        members = self._members(course.number)
        for number, leaves in self._kinds(partners[0].number, receives, set(state.messages)):
            counts = [partner.leaves(number) if leaves else partner.states.count(number) for partner in partners]
            turns = partial(Turns, partners, number, leaves, ratios)
            if all(0 <= partner - count <= 1 for partner in counts):
                yield turns(together=len(partners) > 1)
            elif len(partners) > 1 and 0 <= sum(counts) - count <= len(partners):
                yield turns()
            elif len(partners) == 1 and len(members) > 1 and 0 <= counts[0] - count * len(members) <= 1:
                yield turns(first=members.index(course.number), step=len(members))

    def _kinds(self, partner: int, receives: bool, messages: set[str]) -> list[tuple[int, bool]]:
        """The partner's state changes that may end a wait, the likeliest first: a state, and whether it leaves it."""
        states = self.blocks[partner].states
        mine = [s for s in states if not messages or not s.messages or messages & set(s.messages)]
        if receives:
            order = [(Category.WAIT_SEND, False), (Category.SEND, True), (Category.WORK, True)]
        else:
            order = [(Category.WAIT_RECV, False), (Category.RECV, False)]
        kinds = [(s.index, leaves) for category, leaves in order for s in mine if s.category is category]
        return kinds + [(s.index, False) for s in states if s.category in WAITS]

    def _ratio(self, theirs: int, mine: int) -> Fraction:
        return self.periods_ps[theirs] / self.periods_ps[mine]


def _of_member(addresses: Numbers, member: int, members: int) -> NDArray[np.bool_]:
    """A mask of the calls for one of several replicas: those at its address if each has one, otherwise in turn."""
    kinds, address_index = np.unique(addresses, return_inverse=True)
    if len(kinds) == members:
        return address_index.reshape(-1) == member
    return np.arange(len(addresses)) % members == member
