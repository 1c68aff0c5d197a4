"""The real window, walked through with real keys: keys that do nothing, text that is cut, turns that block.

    python tests/benchmarks/window_walk.py [--json] [--quick] [--demo DIR] [--cycles N]

Needs Xvfb, openbox and xdotool. `rows` has one entry for each mode, size and theme: `dead_keys` are keys of the menus
after which nothing happened, `clipped` is text that cannot be read, on any page and also with every panel open,
`blocked_ms` the processor time of the window's thread in its longest turn of the event loop, `wall_ms` what the clock
said of the same turn, and `stack` where it was spent where that was over 80 ms. The first size of a theme starts
cold, so that it holds the first showing of every mode; a row with mode "theme" is the switch to the other theme with
every mode made. `held` is what N cycles of closing and opening a project left behind (widgets, Python's objects, file
descriptors, memory after the first tenth and at the end). `numpy_ms` is the processor time of `import numpy` in a
fresh interpreter, before and after the walk: what this machine's milliseconds are worth just then. `--demo` takes a
folder that `workbench demo` left in place of the small project of the tests; `--quick` walks one size and 20 cycles.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from driven import driver, walk
from driven.driver import Driven, Stage
from startup import cpu_s
from stream_topologies import ASKED, with_streams

from workbench.formats.run_folder import RunWriter
from workbench.gui.modes import MODES
from workbench.testing.runs import synthetic_run

SIZES = ((1600, 1000), (1024, 700), (1280, 800), (2560, 1440))
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


def row(driven: Driven, mode: str, size: tuple[int, int], theme: str, **found: Any) -> dict[str, Any]:
    blocked_ms, wall_ms, stack = driven.ask("turns.take()")
    row = {
        "mode": mode, "size": f"{size[0]}x{size[1]}", "theme": theme, "dead_keys": [], "clipped": [], **found,
        "blocked_ms": round(blocked_ms, 1), "wall_ms": round(wall_ms, 1),
    }  # fmt: skip
    return row | ({"stack": stack} if blocked_ms > TOLD_MS else {})


def walk_through(opened: list[Path], theme: str, quick: bool) -> Iterator[dict[str, Any]]:
    with Stage(warm=False) as stage, stage.window(*opened, theme=theme, turns=True) as driven:
        yield row(driven, "start", SIZES[0], theme)
        for size in SIZES[:1] if quick else SIZES:
            driven.resize(size)
            driven.ask("turns.take()")
            rows = []
            for mode in MODES:  # first all modes as they come, cold in the first size; then keys, which go to and fro
                walk.go_to(driven, mode)
                rows.append(row(driven, mode, size, theme, clipped=walk.clipped(driven, mode)))
            walk.toggle_panels(driven)
            for found in rows:
                walk.go_to(driven, found["mode"])
                found["clipped"] += [f"with every panel: {text}" for text in walk.clipped(driven, found["mode"])]
            walk.toggle_panels(driven)
            driven.ask("turns.take()")
            for found in rows:
                walk.go_to(driven, found["mode"])
                dead = walk.dead_keys(driven, found["mode"])
                again = row(driven, found["mode"], size, theme, clipped=found["clipped"], dead_keys=dead)
                yield again if again["blocked_ms"] > found["blocked_ms"] else found | {"dead_keys": dead}
        other = THEMES[1 - THEMES.index(theme)]
        driven.do(f"QTimer.singleShot(0, lambda: window.set_theme({other!r}))")
        driven.wait(f"app.property('rcw_theme') == {other!r}")
        driven.settle()
        yield row(driven, "theme", size, other)


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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--demo", type=Path)
    parser.add_argument("--cycles", type=int, default=0)
    asked = parser.parse_args()
    driver.PATIENCE_S = 60.0
    with tempfile.TemporaryDirectory() as folder:
        numpy_ms = [numpy_now_ms()]
        opened = demo_project(asked.demo.resolve()) if asked.demo else small_project(Path(folder))
        rows = []
        for theme in THEMES[:1] if asked.quick else THEMES:
            for found in walk_through(opened, theme, asked.quick):
                rows.append(found)
                if not asked.json:
                    print(
                        f"{found['mode']:10} {found['size']:10} {found['theme']:6} {found['blocked_ms']:8.1f} ms",
                        end="",
                    )
                    print(f"  dead {found['dead_keys']}  clipped {len(found['clipped'])}  {found.get('stack', '')}")
        numpy_ms.append(numpy_now_ms())
        held = hold(opened, asked.cycles or (20 if asked.quick else 200))
    if asked.json:
        print(json.dumps({"rows": rows, "held": held, "numpy_ms": numpy_ms}, indent=1))
    else:
        print("held", held, "import numpy", numpy_ms)


if __name__ == "__main__":
    main()
