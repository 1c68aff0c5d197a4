"""What may be put where a pragma is typed: from the same names as the popover's lists. Plain data, no Qt."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.api.source.pragma_text import format_pragma
from workbench.api.source.pragma_typed import Typed
from workbench.gui.modes.source.points import Choices, MarkPoint, suggested
from workbench.model.pragma import CPU, MEM, Category
from workbench.model.proposal import Proposal
from workbench.model.scan import ProjectScan

#: What each category means, in a few words.
MEANINGS = {
    Category.WORK: "the application's own work",
    Category.OVERHEAD: "extra work that the implementation needs",
    Category.SEND: "sends data or control messages",
    Category.RECV: "receives data or control messages",
    Category.WAIT_SEND: "waits until another block receives",
    Category.WAIT_RECV: "waits until another block sends",
}
_SPECIAL = {CPU: "the host processor", MEM: "memory outside of the FPGA"}
_BEGINS = re.compile(r"(?:^|&&|\|\||\(|!|\band|\bor|\bnot)\Z", re.IGNORECASE)  # behind it a whole condition may be


@dataclass(frozen=True)
class Word:
    """Something that can be put: `text`, what it is, and what is behind it if nothing else does yet."""

    text: str
    note: str = ""
    behind: str = ""
    category: Category | None = None


@dataclass(frozen=True)
class PragmaPlace:
    """Where a pragma is typed: the call or branch below, the block's id there, and what is proposed for it."""

    point: MarkPoint | None = None
    proposals: tuple[Proposal, ...] = ()


def place_below(
    line: int, texts: Sequence[str], points: Sequence[MarkPoint], proposals: Sequence[Proposal]
) -> PragmaPlace:
    """What a pragma on a line (from 1) of a text would speak of; nothing but blank lines and pragmas between."""
    below = line
    while below < len(texts) and (not texts[below].strip() or "pragma" in texts[below]):
        below += 1
    at = below + 1
    point = next((p for p in points if line < p.pragma_line <= at), None)
    return PragmaPlace(point, tuple(p for p in proposals if line < p.line <= at))


def words_for(typed: Typed, after: str, place: PragmaPlace, scan: ProjectScan, offered: Choices) -> tuple[Word, ...]:
    """What can be put, likeliest first. `after` is what is behind the cursor in its line."""
    start = place.proposals[0].pragma if place.proposals else None
    start = start or (suggested(place.point, scan, offered) if place.point is not None else None)
    candidates: Iterator[Word]
    if typed.part == "recap":
        candidates = iter([Word("recap", "what the code is doing", " ")])
    elif typed.part == "name":
        candidates = _names(place, scan, offered, whole=not after.strip())
    elif typed.part == "category":
        order = sorted(Category, key=lambda one: start is None or one is not start.category)
        candidates = (Word(one, MEANINGS[one], "()" if one is Category.WORK else "(", one) for one in order)
    elif typed.part == "condition":
        candidates = _conditions(typed, place, scan)
    else:
        candidates = _items(typed, (*start.reasons, *start.targets, *start.messages) if start else (), offered)
    words: dict[str, Word] = {}
    for word in candidates:
        words.setdefault(word.text, replace(word, behind="") if after[:1].strip() else word)
    return tuple(words.values())


def _names(place: PragmaPlace, scan: ProjectScan, offered: Choices, *, whole: bool) -> Iterator[Word]:
    if whole:
        for proposal in place.proposals:
            yield Word(format_pragma(proposal.pragma), proposal.why, "", proposal.pragma.category)
    for proposal in place.proposals:
        yield Word(proposal.pragma.name, "a name alone", " ")
    if place.point is not None and not place.proposals:
        yield Word(suggested(place.point, scan, offered).name, f"this {place.point.kind}", " ")
    for register in scan.hdl.registers:
        if place.point is not None and register.block == place.point.block:
            for value in register.values:
                if value.name.isidentifier():
                    yield Word(value.name, f"a value of {register.name}", " ")
    block = next((b for b in scan.hdl.blocks if place.point is not None and b.id == place.point.block), None)
    for placed in block.pragmas if block is not None else ():
        yield Word(placed.pragma.name, "a state that already has a name", " ", placed.pragma.category)


def _items(typed: Typed, likely: Sequence[str], offered: Choices) -> Iterator[Word]:
    if typed.category is None:
        return
    notes = {**offered.meanings, **_SPECIAL}
    items = {
        "reason": offered.reasons.get(typed.category, ()), "target": offered.targets, "message": offered.messages,
    }[typed.part]  # fmt: skip
    last = typed.part == "message" or typed.category is Category.OVERHEAD
    order = sorted(items, key=lambda item: item not in likely)
    new = offered.messages[-1] if typed.part == "message" else ""
    for item in order:
        yield Word(item, "a new name" if item == new else notes.get(item, ""), ")" if last else ", ")


def _conditions(typed: Typed, place: PragmaPlace, scan: ProjectScan) -> Iterator[Word]:
    if place.point is None:
        return
    begins = _BEGINS.search(typed.before) is not None
    for register in scan.hdl.registers:
        if register.block == place.point.block:
            for value in register.values:
                if begins:
                    yield Word(value.condition, f"{register.name} is {value.name}")
                else:
                    yield Word(value.name, f"a value of {register.name}")
    block = next((b for b in scan.hdl.blocks if b.id == place.point.block), None)
    for branch in block.branches if block is not None else ():
        for term in branch.terms:
            yield Word(term.signal, "a signal that the block needs")
