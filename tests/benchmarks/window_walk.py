"""The real window, walked through with real keys: keys that do nothing, text that is cut, turns that block.

    python tests/benchmarks/window_walk.py [--json] [--quick] [--demo DIR] [--cycles N] [--pictures DIR]

Needs Xvfb, openbox and xdotool. `rows` has one entry for each mode, size and theme: `dead_keys` are keys of the menus
after which nothing happened, `clipped` is text that cannot be read, on any page and also with every panel open, `pages`
the processor time of the longest turn in which each further page was shown (try, critical path, flame graph, treemap,
states, tables of what was counted, find, palette, quick open, plots of streams, depths),
`blocked_ms` the processor time of the window's thread in its longest turn of the event loop, `wall_ms` what the clock
said of the same turn, and `stack` where it was spent where that was over 80 ms. The first size of a theme starts
cold, so that it holds the first showing of every mode; a row with mode "theme" is the switch to the other theme with
every mode made. `held` is what N cycles of closing and opening a project left behind (widgets, Python's objects, file
descriptors, memory after the first tenth and at the end). `numpy_ms` is the processor time of `import numpy` in a
fresh interpreter, before and after the walk: what this machine's milliseconds are worth just then. `long` is of sources
of 50,000 lines, in C and in Verilog: the processor time of the window's thread in its longest turn as the file is
opened (`open_ms`), at each kind of key (the goal is 20), after a pause (`pause_ms`), and as another program writes the
file (`reload_ms`; the goal of all but keys is 100).
`--demo` takes a folder that `workbench demo` left in place of the small project of the tests; `--quick` walks one size
and 20 cycles; `--long` measures the long files alone. `--pictures` keeps every mode and page (Try, the ledger, the
scaling curve, depths) in every size and theme, and with QT_SCALE_FACTOR=2 in the size of a small screen: a picture that
nobody looked at says nothing.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from command_line import command

sys.path.insert(0, str(Path(__file__).parents[1]))

from driven import driver, walk
from driven.driver import Driven, Stage
from startup import cpu_s
from stream_topologies import ASKED, with_streams

from workbench.formats.run_folder import RunWriter
from workbench.gui.modes import MODES
from workbench.gui.modes.source.typed_check import PAUSE_MS
from workbench.testing.runs import synthetic_run

SIZES = ((1600, 1000), (1024, 700), (1270, 720), (2560, 1440))
SCALED = "2", (1270, 720)  # QT_SCALE_FACTOR, and the size in the window's own pixels
THEMES = ("light", "dark")
TOLD_MS = 80.0
TINY = Path(__file__).parents[1] / "data" / "tiny"


def small_project(folder: Path) -> list[Path]:
    """A project and two runs with streams, as the tests have them."""
    shutil.copytree(TINY, folder / "tiny")
    (folder / "tiny" / "streams.query").write_text(ASKED)
    for name, rounds in (("first", 3), ("second", 2)):
        run = with_streams(synthetic_run(cores=4, rounds=rounds))
        RunWriter(folder / name, run.manifest).finish(run.manifest, run.tables)
    return [folder / "tiny" / "tiny.workbench.yaml", folder / "first", folder / "second"]


def demo_project(demo: Path) -> list[Path]:
    return [demo / "project" / "pdf2d" / "original.workbench.yaml", demo / "original", demo / "optimised"]


def row(
    driven: Driven, mode: str, size: tuple[int, int], theme: str, turn: Sequence[Any] = (), **found: Any
) -> dict[str, Any]:
    blocked_ms, wall_ms, stack = turn or driven.ask("turns.take()")
    row = {
        "mode": mode, "size": f"{size[0]}x{size[1]}", "theme": theme, "dead_keys": [], "clipped": [], **found,
        "blocked_ms": round(blocked_ms, 1), "wall_ms": round(wall_ms, 1),
    }  # fmt: skip
    return row | ({"stack": stack} if blocked_ms > TOLD_MS else {})


def kept(found: dict[str, Any]) -> dict[str, Any]:
    """What a later row of the same mode, size and theme keeps of one."""
    return {name: found[name] for name in ("clipped", "pages")}


def look(driven: Driven, mode: str, name: str, pictures: Path | None) -> dict[str, Any]:
    """Of the mode shown the longest turn so far, and what is cut on all its pages, of each of which a picture is kept;
    and the processor time of the longest turn in which each further page was shown."""

    def keep(page: str) -> None:
        if pictures:
            driven.picture(pictures / f"{mode}{page and f'-{page}'}-{name}.png")

    keep("")
    found = walk.clipped(driven, mode)
    turn, pages = driven.ask("turns.take()"), {}
    for page in walk.pages(driven, mode):
        pages[page] = took(driven)
        keep(page)
        found += [f"{page}: {text}" for text in driven.ask("clipped(window)")]
    return {"turn": turn, "clipped": found, "pages": pages}


def walk_scaled(opened: list[Path], theme: str, pictures: Path | None) -> Iterator[dict[str, Any]]:
    """Every mode and page on a screen of twice as many pixels."""
    os.environ["QT_SCALE_FACTOR"], size = SCALED
    try:
        with Stage(warm=False) as stage, stage.window(*opened, size=size, theme=theme, turns=True) as driven:
            for mode in MODES:
                walk.go_to(driven, mode)
                seen = look(driven, mode, f"{size[0]}x{size[1]}-scaled-{theme}", pictures)
                yield row(driven, mode, size, theme, **seen, scale=SCALED[0])
    finally:
        del os.environ["QT_SCALE_FACTOR"]


def walk_through(opened: list[Path], theme: str, quick: bool, pictures: Path | None) -> Iterator[dict[str, Any]]:
    with Stage(warm=False) as stage, stage.window(*opened, theme=theme, turns=True) as driven:
        yield row(driven, "start", SIZES[0], theme)
        for size in SIZES[:1] if quick else SIZES:
            driven.resize(size)
            driven.ask("turns.take()")
            rows = []
            for mode in MODES:  # first all modes as they come, cold in the first size; then keys, which go to and fro
                walk.go_to(driven, mode)
                rows.append(
                    row(driven, mode, size, theme, **look(driven, mode, f"{size[0]}x{size[1]}-{theme}", pictures))
                )
            walk.toggle_panels(driven)
            for found in rows:
                walk.go_to(driven, found["mode"])
                found["clipped"] += [f"with every panel: {text}" for text in walk.clipped(driven, found["mode"])]
            walk.toggle_panels(driven)
            driven.ask("turns.take()")
            for found in rows:
                walk.go_to(driven, found["mode"])
                dead = walk.dead_keys(driven, found["mode"])
                again = row(driven, found["mode"], size, theme, **kept(found), dead_keys=dead)
                yield again if again["blocked_ms"] > found["blocked_ms"] else found | {"dead_keys": dead}
        other = THEMES[1 - THEMES.index(theme)]
        driven.do(f"QTimer.singleShot(0, lambda: window.set_theme({other!r}))")
        driven.wait(f"app.property('rcw_theme') == {other!r}")
        driven.settle()
        yield row(driven, "theme", size, other)


def long_project(folder: Path) -> Path:
    """The small project with sources of 50,000 lines: 5,000 functions and 5,000 clocked blocks."""
    shutil.copytree(TINY, folder / "long")
    main, top = folder / "long" / "host" / "main.c", folder / "long" / "hdl" / "tiny_top.v"
    functions = "".join(LONG_C.replace("@", str(number)) for number in range(LONG_LINES // LONG_C.count("\n")))
    blocks = "".join(
        LONG_VERILOG.replace("@", str(number)).replace("#", "@")
        for number in range(LONG_LINES // LONG_VERILOG.count("\n"))
    )
    main.write_text(main.read_text().replace("int main(void)", f"{functions}int main(void)"))
    top.write_text(top.read_text().replace("endmodule", f"{blocks}endmodule"))
    return folder / "long" / "tiny.workbench.yaml"


LONG_LINES = 50_000
LONG_C = """static uint32_t step@(uint32_t value)  /* one of many */
{
    uint32_t left = value * @u;
    if (left > 17) {
        printf("step @: %u\\n", left);
        left -= 17;
    }
    return left + 1;
}

"""
LONG_VERILOG = """    reg [31:0] r@;
    always #(posedge clk) begin : block@
        if (rst)
            r@ <= 0;
        else if (wr_en && addr == 32'd@) begin  // taken
            r@ <= wr_data;
        end else begin
            r@ <= r@ + 1;
        end
    end
"""
EDITOR = "window.modes.views['source'].editor"
#: What is typed in the middle of a long file, as xdotool has it.
TYPED = {"letters": "a b c d e", "Return": "Return Return", "BackSpace": "BackSpace BackSpace", "undo": "ctrl+z ctrl+z",
         "comment": "slash asterisk", "paste": "ctrl+v"}  # fmt: skip


def measure_long(folder: Path) -> Iterator[dict[str, Any]]:
    project = long_project(folder)
    driver.PATIENCE_S = 300.0
    with Stage(warm=False) as stage, stage.window(project, turns=True) as driven:
        walk.go_to(driven, "source")
        for file in (project.parent / "host" / "main.c", project.parent / "hdl" / "tiny_top.v"):
            took(driven)
            driven.do(f"window.modes.views['source'].open_file(Path({str(file)!r}), {LONG_LINES // 2})")
            driven.settle()
            row: dict[str, Any] = {
                "file": file.name,
                "lines": driven.ask(f"len({EDITOR}.lines)"),
                "open_ms": took(driven),
            }
            driven.do("app.clipboard().setText('// pasted\\n' * 20)")
            for what, keys in TYPED.items():
                longest = 0.0
                for key in keys.split():
                    before = driven.ask(f"len({EDITOR}.text), {EDITOR}.textCursor().position()")
                    driven.ask("turns.take()")
                    driven.key(key)
                    driven.wait(f"[len({EDITOR}.text), {EDITOR}.textCursor().position()] != {before}")
                    longest = max(longest, took(driven))
                row[f"{what}_ms"] = longest
            time.sleep(2 * PAUSE_MS / 1000)
            driven.settle()
            row["pause_ms"] = took(driven)
            driven.do(f"{EDITOR}.file.revert()")
            driven.settle()
            driven.ask("turns.take()")
            file.write_text(file.read_text().replace("17", "18", 1).replace("taken", "took", 1))
            driven.wait(f"{EDITOR}.text == Path({str(file)!r}).read_text()")
            driven.settle()
            yield row | {"reload_ms": took(driven)}


def took(driven: Driven) -> float:
    """Milliseconds of processor time of the longest turn since this was asked last."""
    return round(driven.ask("turns.take()")[0], 1)


def numpy_now_ms() -> float:
    return round(min(cpu_s("import numpy", dict(os.environ)) for _ in range(3)) * 1000, 1)


def hold(opened: list[Path], cycles: int) -> dict[str, Any]:
    with Stage() as stage, stage.window(*opened) as driven:
        walk.open_and_close(driven, max(cycles // 10, 2), modes=True)
        early = driven.ask("held()")
        walk.open_and_close(driven, cycles - max(cycles // 10, 2) - 1)
        walk.open_and_close(driven, 1, modes=True)
        late = driven.ask("held()")
    return {"cycles": cycles, **{name: [early[name], late[name]] for name in early}}


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--demo", type=Path)
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--cycles", type=int, default=0)
    asked = parser.parse_args()
    driver.PATIENCE_S = 60.0
    with tempfile.TemporaryDirectory() as folder:
        long_rows = list(measure_long(Path(folder)))
        if asked.long:
            print(json.dumps({"long": long_rows}, indent=1))
            return
        numpy_ms = [numpy_now_ms()]
        opened = demo_project(asked.demo.resolve()) if asked.demo else small_project(Path(folder))
        rows = []
        for theme in THEMES[:1] if asked.quick else THEMES:
            scaled = () if asked.quick else walk_scaled(opened, theme, asked.pictures)
            for found in chain(walk_through(opened, theme, asked.quick, asked.pictures), scaled):
                rows.append(found)
                if not asked.json:
                    print(
                        f"{found['mode']:10} {found['size']:10} {found['theme']:6} {found['blocked_ms']:8.1f} ms",
                        end="",
                    )
                    slow = {page: ms for page, ms in found.get("pages", {}).items() if ms > TOLD_MS}
                    print(f"  pages {slow}" * bool(slow), end="")
                    print(f"  dead {found['dead_keys']}  clipped {len(found['clipped'])}  {found.get('stack', '')}")
        numpy_ms.append(numpy_now_ms())
        held = hold(opened, asked.cycles or (20 if asked.quick else 200))
    if asked.json:
        print(json.dumps({"rows": rows, "held": held, "numpy_ms": numpy_ms, "long": long_rows}, indent=1))
    else:
        for long_row in long_rows:
            print(long_row)
        print("held", held, "import numpy", numpy_ms)


if __name__ == "__main__":
    main()
