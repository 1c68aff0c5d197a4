"""The search field: recently used items, and the order of matches. No Qt here."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from workbench.system import store

KEPT = 30
#: Words of a question that say little of what is looked for.
SMALL = frozenset(
    ("a", "an", "the", "my", "is", "are", "was", "of", "to", "how", "do", "does", "did", "i", "in", "on", "for", "what",
     "where", "which", "me", "can", "show", "this", "that", "it", "at")
)  # fmt: skip
LEAST_LETTERS, MOST_SPREAD = 3, 3  # of letters in their order, and over how many times as many they may be spread
T = TypeVar("T")
#: Other words for commands, as people may search for them; those of several by how their names begin.
WORDS: Mapping[str, str] = {
    "new_project": "create start begin import verilog vhdl host",
    "open_project": "load folder",
    "open_run": "load results",
    "quick_open": "go to file jump",
    "new_document": "create add",
    "report": "export html pdf print share",
    "quit": "exit",
    "undo": "revert",
    "redo": "repeat",
    "pragma": "annotate mark label add state code",
    "propose": "suggest annotate automatically pragmas",
    "fix_problems": "repair errors quick fix",
    "find": "search",
    "find_in_project": "search grep text all files",
    "details": "inspector properties side panel",
    "run_panel": "log output console terminal build messages debug",
    "problems": "errors warnings diagnostics",
    "split_editor": "side by side two views",
    "flame": "where is my time spent slow hot spots hotspot profile bottleneck",
    "treemap": "where is my time spent slow hot spots hotspot profile",
    "reset_layout": "default panels windows docks",
    "next_finding": "bottleneck what is slow advice",
    "try_change": "what if optimise optimize speedup advice",
    "compare_before": "diff speedup faster before after baseline",
    "go_to": "line jump",
    "definition": "jump symbol declaration",
    "search": "command palette",
    "next_panel": "focus keyboard switch",
    "run": "start execute simulate build compile measure profile go",
    "again": "rerun repeat",
    "cancel": "stop abort kill",
    "how_to_run": "options arguments trace vcd waveform record ranks settings",
    "instrument": "export sources real board machine",
    "prove": "check verify equivalence",
    "rescan": "reload refresh",
    "settings": "preferences options configure",
    "keys": "shortcuts keyboard hotkeys bindings",
    "guide": "help manual documentation",
    "tour": "tutorial introduction getting started first steps",
    "about": "version license licence",
    "mode_source": "show code editor files",
    "mode_timeline": "show trace events waveform gantt when zoom",
    "mode_analyse": "show where is my time spent findings bottleneck slow block graph results what is wrong",
    "mode_compare": "show diff runs speedup scaling faster",
    "mode_platform": "show add new board card template transfer times host api",
    "mode_predict": "show models what if estimate queueing speedup",
    "mode_streams": "show queues fifo throughput query depths",
    "mode_project": "show settings configuration top sources",
    "theme_": "colours colors appearance night mode",
    "example_": "demo sample tutorial try",
}


def words_of(command: str) -> str:
    """Other words that a command is searched by."""
    begun = (words for begin, words in WORDS.items() if begin.endswith("_") and command.startswith(begin))
    return WORDS.get(command) or next(begun, "")


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
    with the text, then those with words that begin with it. If there is none, those that contain every word but small
    ones, then those whose titles have the typed letters in their order."""
    items, words = tuple(items), typed.lower().split()
    place = {name: number for number, name in enumerate(lately)}
    name_of = name_of or title_of
    telling = [word for word in words if word not in SMALL]
    for asked in (words, telling) if telling else (words,):
        ranked = []
        for number, item in enumerate(items):
            text = text_of(item).lower()
            if all(word in text for word in asked):
                title = title_of(item).lower()
                title_differs = bool(asked) and not title.startswith(" ".join(asked))
                inside = (_inside(asked, title), _inside(asked, text))
                ranked.append(((place.get(name_of(item), KEPT), title_differs, *inside, number), item))
        if ranked:
            ranked.sort(key=lambda pair: pair[0])
            return [item for _, item in ranked]
    letters = "".join(words)
    in_order = re.compile(".*?".join(map(re.escape, letters)))
    found = (
        (match.end() - match.start(), item) for item in items if (match := in_order.search(title_of(item).lower()))
    )
    close = [pair for pair in found if len(letters) >= LEAST_LETTERS and pair[0] <= MOST_SPREAD * len(letters)]
    return [item for _, item in sorted(close, key=lambda pair: pair[0])]


def _inside(words: Iterable[str], text: str) -> bool:
    """Whether one of the words is not the beginning of a word of the text."""
    return any(not re.search(rf"(?:^|[\W_]){re.escape(word)}", text) for word in words)


def with_line(typed: str) -> tuple[str, int]:
    """`main.c:12` as a file name and a line; 0 without a line."""
    match = re.fullmatch(r"(.*\S):(\d+)", typed.strip())
    return (match[1], int(match[2])) if match else (typed, 0)
