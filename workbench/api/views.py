"""What is shown of a run or a model, described once; the window, the HTML page and the terminal render it.

A `Page` is about one thing (a finding, a block) and consists of sections of items. A `Table` has functions as columns,
so that a table of many rows costs nothing until it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.model.finding import Place
from workbench.model.pragma import Category

#: Draws a row's cell on a canvas of `workbench.pictures`: left, top, width and height of the cell, and the row.
CellPicture = Callable[[Any, float, float, float, float, Any], None]


def no_text(row: Any) -> str:
    return ""


@dataclass(frozen=True)
class Column:
    """`text` is shown and, under its head, copied; `picture` stands in its place on the screen.

    It is `width_px` wide, or has a `share` of the room that is left. A click on its head sorts by `key`, where it has
    one. `ink` is the colour, size and weight of a row's text. `tip` explains the head and `tip_of` a row's cell.
    `page` columns are on the HTML page only. `elide_middle`: a shortened text keeps its end.
    """

    head: str
    text: Callable[[Any], str] = no_text
    width_px: int = 0
    share: float = 0.0
    right: bool = False
    key: Callable[[Any], float | str] | None = None
    ink: Callable[[Any], tuple[str, int, int]] = lambda row: ("text", 13, 400)
    elide_middle: bool = False
    picture: CellPicture | None = None
    picture_head: Callable[[Any, float, float, float, float], None] | None = None
    category: Callable[[Any], Category | None] | None = None
    tip: str = ""
    tip_of: Callable[[Any], str] = no_text
    page: bool = False


@dataclass(frozen=True)
class Table:
    """`parts` are the rows that hang under a row; `place` is the source line that a row leads to."""

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Any] = ()
    note: str = ""
    parts: Callable[[Any], Sequence[Any]] = lambda row: ()
    place: Callable[[Any], Place | None] = lambda row: None


@dataclass(frozen=True)
class Figure:
    """A number that is shown large, what it is, and a line under it."""

    title: str
    value: str
    note: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Figures:
    """The first one leads. A terminal writes those that its head line does not say."""

    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Text:
    """`role` is "" for a plain paragraph, `second` for one that explains, `code` for an expression."""

    text: str
    role: str = ""


@dataclass(frozen=True)
class Fact:
    """A number with its title, and the name by which rules know it. `brief`: a short text has it too."""

    title: str
    value: str
    name: str = ""
    brief: bool = False


@dataclass(frozen=True)
class Facts:
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Step:
    """Something to do: `text`, what it gains (`gain`, short), `notes` below it, `tags` as (text, level of severity).

    `detail` is what changes, as facts. `action` is the id of the button that tries it, "" for none.
    """

    text: str
    gain: str = ""
    notes: tuple[str, ...] = ()
    tags: tuple[tuple[str, str], ...] = ()
    detail: tuple[Fact, ...] = ()
    action: str = ""


@dataclass(frozen=True)
class Steps:
    """`folded` says what the steps after the first `shown` are behind, "" for nothing folded. Where the first `leads`,
    it is shown in full, and figures and buttons of the page are its own."""

    steps: tuple[Step, ...]
    folded: str = ""
    shown: int = 1
    leads: bool = True


@dataclass(frozen=True)
class Link:
    """Leads to another finding, by its id. `sign` is a level of severity."""

    id: str
    title: str
    sign: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Links:
    links: tuple[Link, ...]


@dataclass(frozen=True)
class Shares:
    """A bar of states, each with its share of 1; `part` of the whole width where bars are on one scale."""

    shares: tuple[tuple[Category | None, float], ...]
    title: str = ""
    value: str = ""
    part: float = 1.0
    note: str = ""


@dataclass(frozen=True)
class Curves:
    """A plot of `workbench.pictures.plot`, `height_px` high."""

    plot: Any
    name: str
    height_px: int = 206


@dataclass(frozen=True)
class Source:
    """A line of source with those around it; `places` are all that belong to it."""

    places: tuple[Place, ...]


@dataclass(frozen=True)
class Action:
    """A button; `key` is a keyboard shortcut that is named on it."""

    id: str
    text: str
    key: str = ""
    primary: bool = False


@dataclass(frozen=True)
class Actions:
    actions: tuple[Action, ...]


Item = Figures | Text | Facts | Steps | Links | Shares | Curves | Source | Actions | Table


@dataclass(frozen=True)
class Section:
    """`note` stands beside the title. A terminal puts `word` before its lines; only with --all unless `brief`.

    `beside`: on a wide page it stands in the second column. `folded`: where one can fold, it is shut at first.
    """

    title: str
    items: tuple[Item, ...]
    note: str = ""
    word: str = ""
    brief: bool = False
    beside: bool = False
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """`where` says in one line which part of the run it is about, `summary` what it comes to; `sign` is a severity."""

    id: str
    title: str
    where: str
    sections: tuple[Section, ...] = field(default=())
    sign: str = ""
    summary: str = ""

    def without(self, *titles: str) -> Page:
        return replace(self, sections=tuple(s for s in self.sections if s.title not in titles))
