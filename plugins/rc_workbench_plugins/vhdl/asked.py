"""Which signals of one bit must be high, or low, for a branch to be taken, and which instance drives each."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rc_workbench_plugins.vhdl.blocks import Arm, joined
from rc_workbench_plugins.vhdl.clocks import Clocks, Place
from rc_workbench_plugins.vhdl.states import signals_of
from rc_workbench_plugins.vhdl.syntax import plain
from workbench.api.unstable import Term
from workbench.hdl.instances import BlockUse, Instance, Loop

_NAME = re.compile(r"[a-z]\w*(?:\s*\.\s*[a-z]\w*|\s*\([^()]*\))*", re.IGNORECASE)
_NOT = re.compile(r"(?:not\b|\?\?)\s*(.*)", re.IGNORECASE | re.DOTALL)
_HELD = re.compile(r"(.+?)\s*(/=|=)\s*('[01]'|true|false)", re.IGNORECASE | re.DOTALL)
_CHOSEN = re.compile(r"('[01]'|true|false)\s+when\s+(.+?)\s+else\s+('[01]'|true|false)", re.IGNORECASE | re.DOTALL)
_HIGH = ("'1'", "true")
_MOST_STEPS = 50


Seen = frozenset[tuple[str, str]]  # names, each with its instance's path


@dataclass(frozen=True)
class _Asked:
    name: str
    high: bool


class Asks:
    """The conditions of an elaborated design; a block's are those of its first instance."""

    def __init__(self, top: Instance, names: Clocks) -> None:
        self._names = names
        self._uses: dict[object, tuple[Instance, BlockUse]] = {}
        self._declared: dict[int, frozenset[str]] = {}
        for instance in top.walk():
            for use in instance.blocks:
                self._uses.setdefault(use.source.key, (instance, use))

    def of(self, key: object, arms: Sequence[Arm]) -> Mapping[int, tuple[Term, ...]]:
        """Of a block's ifs and what is left of them, by where statements can be put in the branch."""
        if key not in self._uses:
            return {}
        instance, use = self._uses[key]
        terms_of: dict[int, tuple[Term, ...]] = {}
        for arm in arms:
            if arm.kind in ("if", "elsif"):
                asked = needed(arm.label, True)
            elif arm.kind == "else" and (before := _before(arm, arms)) is not None:
                asked = needed(before.label, False)
            else:
                continue
            terms_of[arm.at] = tuple(self._terms(instance, use, asked, use.loops, frozenset()))
        return terms_of

    def _terms(
        self,
        instance: Instance,
        use: BlockUse,
        asked: Iterator[_Asked],
        loops: Sequence[Loop],
        seen: Seen,
    ) -> Iterator[Term]:
        """Behind each signal those that it is made of."""
        for one in asked:
            if not self._is_signal(instance, one.name):
                continue
            place = self._names.follow(instance, one.name, loops)
            key = (place.instance.path, plain(place.name))
            if key in seen or len(seen) > _MOST_STEPS:
                continue
            port = self._names.input_of(place)
            yield Term(one.name, one.high, "" if port else self._driver(place, use), port, given_as=place.port)
            sources = self._names.sources(place)
            if not port and len(set(sources)) == 1:  # a generate's copies say the same
                conditions = needed(sources[0], one.high ^ place.turned)
                yield from self._terms(place.instance, use, conditions, (), seen | {key})

    def _driver(self, place: Place, use: BlockUse) -> str:
        """The instance that a signal is driven in; in the block's own the other block that alone assigns it."""
        if all(own is not use for own in place.instance.blocks):
            return place.instance.path
        blocks = self._names.assigning(place)
        other = len(blocks) == 1 and blocks[0] is not use
        return blocks[0].path if other else place.instance.path

    def _is_signal(self, instance: Instance, name: str) -> bool:
        """Whether it is no function, and no constant."""
        unit = instance.body
        if unit is None:
            return False
        if id(unit) not in self._declared:
            ports = {plain(port.name) for port in unit.entity_ports}
            self._declared[id(unit)] = frozenset(ports | signals_of(unit))
        return plain(re.split(r"[.(\s]", name, maxsplit=1)[0]) in self._declared[id(unit)]


def needed(condition: str, high: bool) -> Iterator[_Asked]:
    """The signals that must be high, or low, for a condition to hold (`high`) or not to."""
    if match := _CHOSEN.fullmatch(condition.strip()):
        first, second = (match[number].lower() in _HIGH for number in (1, 3))
        if first != second:
            yield from needed(match[2], high == first)
        return
    word, parts = joined(condition)
    if word:
        turned = word in ("nand", "nor")
        if (word in ("and", "nand")) == (high ^ turned) and word not in ("xor", "xnor"):
            for part in parts:
                yield from needed(part, high ^ turned)
        return
    (text,) = parts
    if match := _HELD.fullmatch(text):
        yield from needed(match[1], high ^ (match[2] == "/=") ^ (match[3].lower() not in _HIGH))
    elif match := _NOT.fullmatch(text):
        turned = not match[0].startswith("?")
        yield from needed(match[1], high ^ turned)
    elif _NAME.fullmatch(text) and text.lower() not in ("true", "false"):
        yield _Asked("".join(text.split()), high)


def _before(arm: Arm, arms: Sequence[Arm]) -> Arm | None:
    """The branch of the same statement that stands before one."""
    statement = arm.statement.parent
    own = [
        one for one in arms
        if one is not arm and one.statement.parent == statement and one.kind in ("if", "elsif") and one.at < arm.at
    ]  # fmt: skip
    return max(own, key=lambda one: one.at, default=None)
