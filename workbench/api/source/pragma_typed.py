"""Which part of a pragma stands at the cursor while it is typed, by the grammar of `pragma_text`."""

import re
from dataclasses import dataclass
from typing import Literal

from workbench.api.languages import Syntax
from workbench.model.pragma import Category

Part = Literal["recap", "name", "category", "reason", "target", "message", "condition"]

_ARGUMENTS: tuple[Part, ...] = ("reason", "target", "message")
_NAME = re.compile(r"\w*")
_CATEGORY = re.compile(r"\w+\s+(\w*)")
_LIST = re.compile(r"\w+\s+(\w+)\s*\(([^():]*)")
_CONDITION = re.compile(r"\w+\s+\w+\s*(?:\([^()]*\)\s*)?:(.*)")
_LAST_WORD = re.compile(r"[\w$]*\Z")


@dataclass(frozen=True)
class Typed:
    """A part of a pragma, and what of it (of its last item, where there may be several) stands before the cursor.

    `category` is the pragma's, once it stands there; `before` is what of the condition stands before `begun`.
    """

    part: Part
    begun: str
    category: Category | None = None
    before: str = ""


def typed_at(before: str, syntax: Syntax) -> Typed | None:
    """What is being typed behind a line's text; None outside of a pragma, and where nothing more can stand."""
    who = syntax.any_pragma.match(before, len(before) - len(before.lstrip()))
    if who is None:
        return None
    rest = before[who.end() :]
    if not who["gap"]:
        return Typed("recap", who["who"]) if not rest else None
    if who["who"].lower() != "recap":
        return None
    if _NAME.fullmatch(rest):
        return Typed("name", rest)
    if match := _CATEGORY.fullmatch(rest):
        return Typed("category", match[1])
    if match := _LIST.fullmatch(rest):
        return _argument(match[1], match[2].split(","))
    if match := _CONDITION.fullmatch(rest):
        begun = _LAST_WORD.search(match[1])
        begun_text = begun[0] if begun else ""
        return Typed("condition", begun_text, before=match[1][: len(match[1]) - len(begun_text)].strip())
    return None


def _argument(name: str, arguments: list[str]) -> Typed | None:
    category = Category(name) if name in set(Category) else None
    most = {None: 0, Category.WORK: 0, Category.OVERHEAD: 1}.get(category, len(_ARGUMENTS))
    if len(arguments) > most:
        return None
    return Typed(_ARGUMENTS[len(arguments) - 1], arguments[-1].rpartition("|")[2].lstrip(), category)
