"""The search field: recently used items, and the order of matches. No Qt here."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from workbench.system import store

KEPT = 30
T = TypeVar("T")


def recently_used() -> tuple[str, ...]:
    """The names of the recently chosen items, newest first."""
    return tuple(store.load("used", []))


def remember_used(name: str) -> None:
    store.save("used", [name, *(one for one in recently_used() if one != name)][:KEPT])


def matching(
    items: Iterable[T],
    typed: str,
    title_of: Callable[[T], str],
    text_of: Callable[[T], str],
    lately: Sequence[str] = (),
    name_of: Callable[[T], str] | None = None,
) -> list[T]:
    """The items that contain every typed word, in any order: first recently used ones, then those whose titles begin
    with the text, then those with words that begin with it."""
    words = typed.lower().split()
    place = {name: number for number, name in enumerate(lately)}
    name_of = name_of or title_of
    ranked = []
    for number, item in enumerate(items):
        text = text_of(item).lower()
        if all(word in text for word in words):
            title = title_of(item).lower()
            title_differs = bool(words) and not title.startswith(" ".join(words))
            inside = any(not re.search(rf"(?:^|[\W_]){re.escape(word)}", title) for word in words)
            ranked.append(((place.get(name_of(item), KEPT), title_differs, inside, number), item))
    ranked.sort(key=lambda pair: pair[0])
    return [item for _, item in ranked]


def with_line(typed: str) -> tuple[str, int]:
    """`main.c:12` as a file name and a line; 0 without a line."""
    match = re.fullmatch(r"(.*\S):(\d+)", typed.strip())
    return (match[1], int(match[2])) if match else (typed, 0)
