"""The real window, walked through with real keys: keys that do nothing, text that is cut, turns that block.

    python tests/benchmarks/window_walk.py [--json] [--quick] [--sizes S ...] [--themes T ...] [--pictures DIR]
        [--demo DIR] [--cycles N] [--long]

Needs Xvfb, openbox and xdotool. `rows` has one entry for each mode, size and theme: `dead_keys` are keys of the menus
after which nothing happened, and changes that Undo and Redo did not follow (`walk.EDITS`); `clipped` is what cannot be
read, or touches another text, on any page and also with every panel open; `nameless` are controls without a name for a
screen reader; `pages` is the processor time of the longest turn in which each further page was shown (`walk.PAGES`:
Source's marks and split, Analyse's tables, rules and states, Timeline's lists, markers and causes, Compare of many
runs, a model of every kind with its drawing, Streams' plots, Project's forms; `walk.FLOATING`: what floats), `faults`
are exceptions and complaints of Qt, `blocked_ms` the processor time of the window's thread in its longest turn of the
event loop, `wall_ms` what the clock said of the same turn, and `stack` where it was spent where that was over 80 ms.
Each size and theme has a window of its own that starts cold, so that it holds the first showing of every mode; a row
with mode "theme" is the switch to another theme with every mode made, "reopen" that to another project. Rows with `of`
are of further runs (the 2-D PDF with each of its findings, MPI ranks, host queues), opened in the same window; themes
of high contrast are looked at without keys. `held` is what N cycles of closing and opening a project left behind
(widgets, Python's objects, file descriptors, memory after the first tenth and at the end). `numpy_ms` is the processor
time of `import numpy` in a fresh interpreter, before and after the walk: what this machine's milliseconds are worth
just then. `long` is of sources of 50,000 lines, in C and in Verilog: the processor time of the window's thread in its
longest turn as the file is opened (`open_ms`), at each kind of key (the goal is 20), after a pause (`pause_ms`), and as
another program writes the file (`reload_ms`; the goal of all but keys is 100).

`--demo` takes a folder that `workbench demo` left in place of the small project of the tests; `--quick` walks one size
and 20 cycles; `--long` measures the long files alone; `--sizes` and `--themes` walk some alone, without long files and
cycles: "scaled" is 1600x1000 pixels with QT_SCALE_FACTOR=2, "scaled-large" 3200x2000. `--pictures` keeps every mode and
page (Try, the ledger, the scaling curve, depths): a picture that nobody looked at says nothing. Processor time alone is
measured, and waits are for the state of the window's jobs, so that a busy machine makes the walk longer and changes
nothing else. Bytecode is written before, as it is in an installed program.
"""

import compileall
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

from command_line import command

sys.path.insert(0, str(Path(__file__).parents[1]))

from driven import driver, walk
from driven.driver import Driven, Stage
from startup import cpu_s
from stream_topologies import ASKED, with_streams

from workbench.api.job import Job
from workbench.formats.run_folder import RunWriter
from workbench.gui.modes import MODES
from workbench.gui.modes.source.typed_check import PAUSE_MS
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.examples import EXAMPLES, copy_example
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_run

#: With QT_SCALE_FACTOR=2, on 1600x1000 and on 3200x2000 pixels; sizes are in the window's own pixels.
SCALED = {"scaled": (800, 500), "scaled-large": (1600, 1000)}
SIZES = {f"{wide}x{high}": (wide, high) for wide, high in
         ((800, 500), (1024, 700), (1270, 720), (1600, 1000), (2560, 1440))} | SCALED  # fmt: skip
THEMES = ("light", "dark", "light-contrast", "dark-contrast")
KEYED = THEMES[:2]  # in which keys are pressed
OTHER_MODES = ("analyse", "timeline", "compare", "streams")  # in which a further run is looked at
TOLD_MS = 80.0
DATA = Path(__file__).parents[1] / "data"
TINY = DATA / "tiny"


def small_project(folder: Path) -> list[Path]:
    """A project and runs with streams, as the tests have them; further ones on fewer cores."""
    shutil.copytree(TINY, folder / "tiny")
    (folder / "tiny" / "streams.query").write_text(ASKED)
    runs = {"first": (4, 3), "second": (4, 2), "third": (3, 3), "fourth": (2, 3), "fifth": (1, 3)}
    for name, (cores, rounds) in runs.items():
        run = with_streams(synthetic_run(cores=cores, rounds=rounds))
        RunWriter(folder / name, run.manifest).finish(run.manifest, run.tables)
    return [folder / "tiny" / "tiny.workbench.yaml", *(folder / name for name in runs)]


def further_runs(folder: Path) -> dict[str, Path]:
    """Runs of what the small project has not: many findings with parts, MPI ranks, and queues of a C++ host."""
    plugins = load_plugins()
    original, ranks = (
        next(one for one in EXAMPLES if one.project == f"{name}.workbench.yaml") for name in ("original", "ranks")
    )
    shutil.copytree(DATA / "queued", folder / "queued")
    projects = {
        "pdf2d": (copy_example(original, folder), {"POINTS": 8192}, 1),
        "ranks": (copy_example(ranks, folder), {"CORES": 2, "POINTS": 2 * 16384}, 2),
        "queues": (folder / "queued" / "queued.workbench.yaml", {}, 1),
    }
    found = {}
    for name, (project, settings, count) in projects.items():
        options = RunOptions(folder / f"run-{name}", trace=True, deterministic=True, ranks=count, settings=settings)
        found[name] = run_workspace(open_workspace(project, plugins), options, Job()).path or folder
    return found


def demo_project(demo: Path) -> list[Path]:
    return [demo / "project" / "pdf2d" / "original.workbench.yaml", demo / "original", demo / "optimised"]


def row(driven: Driven, mode: str, size: str, theme: str, turn: Sequence[Any] = (), **found: Any) -> dict[str, Any]:
    blocked_ms, wall_ms, stack = turn or driven.ask("turns.take()")
    row = {
        "mode": mode, "size": size, "theme": theme, "dead_keys": [], "clipped": [], **found,
        "blocked_ms": round(blocked_ms, 1), "wall_ms": round(wall_ms, 1), "faults": list(driven.faults),
    }  # fmt: skip
    driven.faults.clear()
    return row | ({"stack": stack} if blocked_ms > TOLD_MS else {})


def kept(found: dict[str, Any]) -> dict[str, Any]:
    """What a later row of the same mode, size and theme keeps of one."""
    return {name: found[name] for name in ("clipped", "nameless", "pages", "slow")}


def look(driven: Driven, mode: str, name: str, pictures: Path | None) -> dict[str, Any]:
    """Of the mode shown the longest turn so far, and what is cut on all its pages, of each of which a picture is kept;
    and the processor time of the longest turn in which each further page was shown."""
    found: list[str] = []
    nameless: list[str] = []

    def keep(page: str) -> None:
        if pictures:
            driven.picture(pictures / f"{mode}{page and f'-{page}'}-{name}.png")

        found.extend(f"{page}: {text}" if page else text for text in driven.ask("clipped(window)"))
        nameless.extend(f"{page}: {kinds}" for kinds in driven.ask("nameless(window)"))

    turn, pages = driven.ask("turns.take()"), {}
    keep("")
    slow = {}
    for page in walk.pages(driven, mode):
        pages[page] = take(driven, page, slow)
        keep(page)
    return {"turn": turn, "clipped": found, "nameless": nameless, "pages": pages, "slow": slow}


def look_at_floating(driven: Driven, size: str, theme: str, pictures: Path | None) -> dict[str, Any]:
    """What floats over the window, which must fit on a screen of the window's size."""
    found: list[str] = []
    nameless: list[str] = []
    pages, slow = {}, {}
    driven.ask("turns.take()")
    for name in walk.floating(driven):
        pages[name] = take(driven, name, slow)
        widget = walk.FLOATING[name][1]
        found += [f"{name}: {text}" for text in driven.ask(f"clipped({widget})")]
        nameless += [f"{name}: {kinds}" for kinds in driven.ask(f"nameless({widget})")]
        width, height = driven.ask(f"({widget}.width(), {widget}.height())")
        if width > SIZES[size][0] or height > SIZES[size][1]:
            found.append(f"{name}: {width}x{height} on {size}")
        if pictures:
            driven.picture(pictures / f"{name}-{size}-{theme}.png", widget)
    return {"clipped": found, "nameless": nameless, "pages": pages, "slow": slow}


def look_at_others(
    driven: Driven, others: dict[str, Path], size: str, theme: str, pictures: Path | None
) -> Iterator[dict[str, Any]]:
    """The modes that show a run, with further ones; in the end the first run is open again."""
    for name, run in {**others, "": None}.items():
        path = f"Path({str(run)!r})" if run else "first_run"
        driven.do(f"first_run = globals().get('first_run') or window.context.run.path; window.context.open_run({path})")
        driven.wait(f"window.context.run is not None and window.context.run.path == {path}")
        driven.settle()
        for mode in OTHER_MODES if run else ():
            walk.go_to(driven, mode)
            if pictures:
                driven.picture(pictures / f"{mode}-of-{name}-{size}-{theme}.png")
            clipped = driven.ask("clipped(window)")
            for number in range(driven.ask("len(window.context.analysis.findings)") if mode == "analyse" else 0):
                driven.do("window.step_finding(1)")
                driven.settle()
                clipped += [f"finding {number}: {text}" for text in driven.ask("clipped(window)")]
            yield row(driven, mode, size, theme, clipped=clipped, of=name)


def set_theme(driven: Driven, theme: str) -> None:
    driven.do(f"QTimer.singleShot(0, lambda: window.set_theme({theme!r}))")
    driven.wait(f"app.property('rcw_theme') == {theme!r}")
    driven.settle()


@contextmanager
def scaled(size: str) -> Iterator[None]:
    if size in SCALED:
        os.environ["QT_SCALE_FACTOR"] = "2"
    try:
        yield
    finally:
        os.environ.pop("QT_SCALE_FACTOR", None)


def walk_through(
    opened: list[Path], others: dict[str, Path], theme: str, size: str, pictures: Path | None
) -> Iterator[dict[str, Any]]:
    with (
        scaled(size),
        Stage(warm=False) as stage,
        stage.window(*opened, theme=theme, turns=True, size=SIZES[size]) as driven,
    ):
        yield row(driven, "start", size, theme)
        rows = []
        for mode in MODES:  # first all modes as they come, cold; then keys, which go to and fro
            walk.go_to(driven, mode)
            rows.append(row(driven, mode, size, theme, **look(driven, mode, f"{size}-{theme}", pictures)))
        walk.toggle_panels(driven)
        for found in rows:
            walk.go_to(driven, found["mode"])
            faults = walk.clipped(driven, found["mode"]) + walk.squeezed(driven)
            found["clipped"] += [f"with every panel: {text}" for text in faults]
        walk.toggle_panels(driven)
        driven.ask("turns.take()")
        for found in rows:
            if theme not in KEYED:
                yield found
                continue
            walk.go_to(driven, found["mode"])
            dead = walk.dead_edits(driven, found["mode"]) + walk.dead_keys(driven, found["mode"])
            again = row(driven, found["mode"], size, theme, **kept(found), dead_keys=dead)
            again["faults"] = found["faults"] + again["faults"]
            yield (
                again
                if again["blocked_ms"] > found["blocked_ms"]
                else again | {name: found[name] for name in ("blocked_ms", "wall_ms", "stack") if name in found}
            )
        yield row(driven, "floating", size, theme, **look_at_floating(driven, size, theme, pictures))
        if theme in KEYED:
            yield from look_at_others(driven, others, size, theme, pictures)
        walk.open_another(driven, opened[0])
        yield row(driven, "reopen", size, theme)
        other = THEMES[THEMES.index(theme) ^ 1]
        driven.ask("turns.take()")
        set_theme(driven, other)
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
    with Stage(warm=False) as stage, stage.window(project, turns=True) as driven:
        walk.go_to(driven, "source")
        for file in (project.parent / "host" / "main.c", project.parent / "hdl" / "tiny_top.v"):
            took(driven)
            driven.do(f"window.modes.views['source'].open_line(Path({str(file)!r}), {LONG_LINES // 2})")
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
            driver.rest(2 * PAUSE_MS / 1000)
            driven.settle()
            row["pause_ms"] = took(driven)
            driven.do(f"{EDITOR}.file.revert()")
            driven.settle()
            driven.ask("turns.take()")
            file.write_text(file.read_text().replace("17", "18", 1).replace("taken", "took", 1))
            driven.wait(f"{EDITOR}.text == Path({str(file)!r}).read_text()")
            driven.settle()
            yield row | {"reload_ms": took(driven)}


def take(driven: Driven, page: str, slow: dict[str, str]) -> float:
    """As `took`; where a page took long, where it was spent is put into `slow`."""
    worked_ms, _, stack = driven.ask("turns.take()")
    if worked_ms > TOLD_MS:
        slow[page] = stack
    return round(worked_ms, 1)


def took(driven: Driven) -> float:
    """Milliseconds of processor time of the longest turn since this was asked last."""
    return round(driven.ask("turns.take()")[0], 1)


def write_bytecode() -> None:
    """No window compiles a module, as none of an installed program does."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_path(maxlevels=9, quiet=2)
    for folder in ("workbench", "plugins"):
        compileall.compile_dir(Path(__file__).parents[2] / folder, quiet=2)


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


def say(found: dict[str, Any]) -> None:
    of = found.get("of", "")
    print(f"{found['mode']:10} {of:6} {found['size']:10} {found['theme']:14} {found['blocked_ms']:8.1f} ms", end="")
    slow = {page: (found["pages"][page], stack) for page, stack in found.get("slow", {}).items()}
    print(f"  pages {slow}" * bool(slow), end="")
    print(f"  dead {found['dead_keys']}  clipped {len(found['clipped'])}  {found.get('stack', '')}")
    for fault in (*found["clipped"], *found.get("nameless", ()), *found["faults"]):
        print(f"    {fault}", flush=True)


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--demo", type=Path)
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--cycles", type=int, default=0)
    parser.add_argument("--sizes", nargs="+", choices=SIZES)
    parser.add_argument("--themes", nargs="+", choices=THEMES)
    asked = parser.parse_args()
    some = asked.sizes or asked.themes
    sizes = asked.sizes or list(SIZES)[:: 99 if asked.quick else 1]
    themes = asked.themes or THEMES[: 1 if asked.quick else None]
    driver.PATIENCE_S = 60.0
    write_bytecode()
    with tempfile.TemporaryDirectory() as folder:
        long_rows = [] if some else list(measure_long(Path(folder)))
        if asked.long:
            print(json.dumps({"long": long_rows}, indent=1))
            return
        numpy_ms = [numpy_now_ms()]
        opened = demo_project(asked.demo.resolve()) if asked.demo else small_project(Path(folder))
        others = {} if asked.quick else further_runs(Path(folder))
        rows = []
        for size, theme in product(sizes, themes):
            if not asked.demo:  # what keys change and save is of one window
                opened = small_project(Path(tempfile.mkdtemp(dir=folder)))
            for found in walk_through(opened, others, theme, size, asked.pictures):
                rows.append(found)
                if not asked.json:
                    say(found)
        numpy_ms.append(numpy_now_ms())
        held = {} if some else hold(opened, asked.cycles or (20 if asked.quick else 200))
    if asked.json:
        print(json.dumps({"rows": rows, "held": held, "numpy_ms": numpy_ms, "long": long_rows}, indent=1))
    else:
        for long_row in long_rows:
            print(long_row)
        print("held", held, "import numpy", numpy_ms)


if __name__ == "__main__":
    main()
