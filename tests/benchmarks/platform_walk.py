"""Adding a platform in the real window with real keys and mouse, from Welcome to the findings of a first run, as the
guide's page tells it.

    python tests/benchmarks/platform_walk.py [--json] [--quick] [--pictures DIR]

Needs Xvfb, openbox and xdotool. One row for each step, size and theme: the seconds that it took on the wall, what it
needed of a person (`clicks`, `keys` and characters `typed`; a paste is two keys), `blocked_ms`, the processor time of
the window's thread in its longest turn of the event loop, and `clipped`, text that cannot be read. `dead` holds keys
and clicks after which what the page says did not come. `--quick` walks one size in one theme; `--pictures` keeps what
the window showed after each step.
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from command_line import command

sys.path.insert(0, str(Path(__file__).parents[1]))

from driven import driver
from driven.driver import Driven, Stage
from guide_page import block, write_files

SIZES = ((1600, 1000), (1024, 700), (1280, 800), (2560, 1440))
THEMES = ("light", "dark")
TO_SAVED = 8  # steps to the saved template
DIALOG = "app.activeModalWidget()"
PLATFORM = "window.modes.views['platform']"
DOCUMENT = f"{PLATFORM}.document"


class Person:
    """Who does the steps: each click, key and character is counted."""

    def __init__(self, driven: Driven, folder: Path, pictures: Path | None) -> None:
        self.driven, self.folder, self.pictures = driven, folder, pictures
        self.clicks = self.keys = self.typed = 0
        self.rows: list[dict[str, Any]] = []

    def click(self, widget: str, x: float | None = None, y: float | None = None, times: int = 1) -> None:
        self.clicks += 1
        self.driven.click(widget, x, y, times=times)

    def key(self, *names: str) -> None:
        self.keys += len(names)
        self.driven.key(*names)

    def type(self, text: str) -> None:
        self.typed += len(text)
        self.driven.type(text)

    def press(self, text: str) -> None:
        """Click the button with this text."""
        self.driven.wait(f"can_press({text!r})")
        self.click(f"find({text!r})")

    def answer(self, name: str) -> None:
        """Name a file in the dialog that is open."""
        self.driven.wait(f"{DIALOG} and {DIALOG}.isActiveWindow()", "a file dialog")
        self.key("ctrl+a")
        self.type(str(self.folder / name))
        self.key("Return")
        self.driven.wait(f"'FileDialog' not in type({DIALOG}).__name__", "the file dialog closed")

    def add(self, section: str, tab: str) -> None:
        """Click a tab of the template's parts, and the plus beside a section there."""
        parts = f"{PLATFORM}.parts"
        self.driven.do(f"tabs = {parts}.tabs; at = [tabs.tabText(n).rstrip(' !') for n in range(tabs.count())]")
        x, y = self.driven.ask(f"tabs.tabRect(at.index({tab!r})).center().toTuple()")
        self.click("tabs", x, y)
        self.driven.wait(f"{parts}.tab == {tab!r}")
        shown = f"[getattr({parts}.lines.rows.row(i), 'title', '') for i in indexes]"
        self.driven.do(
            f"lines = {parts}.lines; indexes = [lines.rows.index(n, 2) for n in range(lines.rows.rowCount())]"
        )
        x, y = self.driven.ask(f"lines.visualRect(indexes[{shown}.index({section!r})]).center().toTuple()")
        self.click("lines.viewport()", x, y)

    def scroll_to(self, area: str, widget: str) -> None:
        """Turn the wheel until all of a widget is in view."""
        view = f"{area}.viewport()"
        for _ in range(20):
            if self.driven.ask(f"{widget}.visibleRegion().boundingRect() == {widget}.rect()"):
                return
            before = self.driven.ask(f"{area}.verticalScrollBar().value()")
            self.driven.click(view, 8, 8, button=5)
            self.driven.wait(f"{area}.verticalScrollBar().value() != {before}", "the wheel scrolls")

    def paste(self, text: str) -> None:
        """What stands in the clipboard comes from elsewhere."""
        self.driven.do(f"app.clipboard().setText({text!r})")
        self.key("ctrl+v")

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        driven, began, counted = self.driven, time.monotonic(), (self.clicks, self.keys, self.typed)
        driven.ask("turns.take()")
        dead = []
        try:
            yield
            driven.settle()
        except (AssertionError, RuntimeError) as error:
            dead = [str(error)]
        seconds = time.monotonic() - began
        blocked_ms, _, stack = driven.ask("turns.take()")
        now = (self.clicks, self.keys, self.typed)
        clicks, keys, typed = (after - before for before, after in zip(counted, now, strict=True))
        if self.pictures:
            driven.picture(self.pictures / f"{len(self.rows):02}-{name.replace(' ', '-')}.png")
        self.rows.append({
            "step": name, "seconds": round(seconds, 1), "clicks": clicks, "keys": keys, "typed": typed,
            "blocked_ms": round(blocked_ms, 1), "clipped": driven.ask("clipped(window)"), "dead": dead,
            **({"stack": stack} if blocked_ms > 80 else {}),
        })  # fmt: skip
        if dead:
            raise Lost


class Lost(Exception):
    """A step did not come to its end, so that none can follow."""


def add_a_platform(person: Person) -> None:
    driven, header = person.driven, (person.folder / "mx.h").read_text()
    with person.step("new platform"):
        person.press("Add a platform")
        person.press("New platform")
        person.answer("mx.yaml")
        driven.wait(f"{DOCUMENT}.path is not None")
    with person.step("paste the header"):
        person.paste(header)
        driven.wait(f"len({DOCUMENT}.value(('host', 'entries')) or ()) == 7", "seven entries")
    with person.step("a slip in an expression"):
        person.key("Down", "Down")
        driven.wait(f"{PLATFORM}.form.part.title == 'mx_write'")
        driven.do(f"editor = {PLATFORM}.form.row('bytes').editor")
        person.scroll_to(f"{PLATFORM}.form", "editor")
        person.click("editor")
        person.key("End", "BackSpace")
        driven.wait(f"{PLATFORM}.form.row('bytes').problem.isVisible()", "the slip told while one types")
    with person.step("fixed"):
        person.type("s")
        driven.wait(f"not {PLATFORM}.form.row('bytes').problem.isVisible()")
        person.key("Tab")
    with person.step("times of sends"):
        person.press("Add a table")
        driven.wait(f"{DOCUMENT}.value(('transfer_tables', 'write'))")
        person.click(f"{PLATFORM}.table.viewport()")
        person.paste(block("bytes,time"))
        driven.wait(f"len({DOCUMENT}.value(('transfer_tables', 'write', 'points'))) == 3")
    with person.step("times of receives"):
        person.add("Transfer times", "Times")
        driven.wait(f"{DOCUMENT}.value(('transfer_tables', 'read'))")
        person.click(f"{PLATFORM}.table.viewport()")
        person.paste(block("4,10 us"))
        driven.wait(f"len({DOCUMENT}.value(('transfer_tables', 'read', 'points'))) == 2")
    with person.step("the port"):
        person.add("Hardware ports", "Ports")
        driven.wait(f"{DOCUMENT}.value(('hardware', 'ports'))")
    with person.step("save"):
        person.key("ctrl+s")
        driven.wait(f"not {DOCUMENT}.dirty")
    with person.step("try it on a source"):
        person.press("A source")
        person.answer("host/main.c")
        driven.wait(f"'6 calls match' in {PLATFORM}.trying.said.text()")
        person.press("Show them")
        driven.wait(f"{PLATFORM}.trying.calls.isVisible()")
    with person.step("new project"):
        person.key("ctrl+n")
        person.answer("")
        driven.wait(f"type({DIALOG}).__name__ == 'NewProject' and {DIALOG}.proposal is not None", "what was found")
        person.key("Return")
        driven.wait("window.context.workspace is not None")
    with person.step("run"):
        person.key("F5")
        driven.wait(f"{DIALOG} is not None", "the question of trust")
    with person.step("first run"):
        person.press("Trust and run")
        driven.wait("window.context.run is not None", "the run")
    with person.step("findings"):
        person.key("ctrl+2")
        driven.wait("window.context.navigation.mode == 'analyse' and len(window.context.opened.analysis.findings) > 1")


def walk(size: tuple[int, int], theme: str, pictures: Path | None) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder, Stage(warm=False) as stage:
        write_files(Path(folder))
        with stage.window(size=size, theme=theme, turns=True) as driven:
            shown = f"{size[0]}x{size[1]}"
            person = Person(driven, Path(folder), pictures / f"{shown}-{theme}" if pictures else None)
            with suppress(Lost):
                add_a_platform(person)
            for row in person.rows:
                yield {"size": shown, "theme": theme, **row}


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--pictures", type=Path)
    asked = parser.parse_args()
    driver.PATIENCE_S = 60.0
    rows = []
    for theme in THEMES[:1] if asked.quick else THEMES:
        for size in SIZES[:1] if asked.quick else SIZES:
            for row in walk(size, theme, asked.pictures):
                rows.append(row)
                if not asked.json:
                    did = f"{row['clicks']} clicks, {row['keys']} keys, {row['typed']:3} typed"
                    print(
                        f"{row['size']:10} {row['theme']:6} {row['step']:26} {row['seconds']:6.1f} s  {did}", end="  "
                    )
                    print(f"{row['blocked_ms']:6.1f} ms  dead {row['dead']}  clipped {row['clipped']}", end="  ")
                    print(row.get("stack", ""), flush=True)
    if asked.json:
        print(json.dumps({"rows": rows}, indent=1))
    else:
        for walked in dict.fromkeys((row["size"], row["theme"]) for row in rows):
            mine = [row for row in rows if (row["size"], row["theme"]) == walked]
            saved, all_ = (sum(row["seconds"] for row in some) for some in (mine[:TO_SAVED], mine))
            print(*walked, f"{saved:.0f} s to the saved template, {all_:.0f} s to the findings")


if __name__ == "__main__":
    main()
