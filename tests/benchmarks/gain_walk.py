"""A predicted gain that comes true, in the real window by real keys: finding, Try, Confirm, edit, run, ledger.

    python tests/benchmarks/gain_walk.py [--json] [--quick] [--runs DIR] [--only STEP] PICTURES

Needs Xvfb, openbox and xdotool. The application (`bounds_apps/small.c`) writes its data in pieces of four words. Its
first finding advises to unite those writes: the walk tries that, confirms it on the simulated card, keeps it, makes the
change in the source, runs, and looks at Compare. PICTURES gets every step in both themes at four sizes, and once with
QT_SCALE_FACTOR=2. `--runs` keeps the first run there, for the next walk.

Printed for every step: the text that is cut. The exit code is 1 where the gain did not come as predicted, or a step
failed.
"""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from command_line import command

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

os.environ.setdefault("DRIVEN_PATIENCE_S", "300")  # read as the driver is imported

from bounds import Bench, Program
from driven.driver import Driven, Stage

Sizes = tuple[tuple[int, int], ...]
SIZES: Sizes = ((1600, 1000), (1024, 700), (1270, 720), (2560, 1440))
THEMES = ("light", "dark")
PROGRAM = Program("small", settings={"EFFORT": 600, "CYCLES": 200}, trace=True)
EDITOR = "window.modes.views['source'].editor"
TRY = "window.modes.views['analyse'].details.trying"
CHANGE = "unite calls=put count=16"
CHANGED = ("#pragma recap put send(data, unit_top.worker, x)", "fpgaWrite(fpga, words, 0, WORDS);")
FIRST_LINE, OLD_LINES = 11, 4  # of the loop that writes, counted from 0


class Walk:
    """A window on the project, and the pictures of its steps."""

    def __init__(self, driven: Driven, pictures: Path, sizes: Sizes) -> None:
        self.driven, self.pictures, self.sizes = driven, pictures, sizes

    def show(self, step: str) -> dict[str, Any]:
        """Take a step's pictures in every size and theme; the text that is cut in the first theme, by size."""
        cut: dict[str, list[str]] = {}
        for theme in THEMES:
            self.driven.do(f"window.set_theme({theme!r})")
            for size in self.sizes:
                self.driven.resize(size)
                name = f"{step}-{size[0]}x{size[1]}-{theme}"
                self.driven.picture(self.pictures / f"{name}.png")
                if theme == THEMES[0] and (found := self.driven.ask("clipped(window)")):
                    cut[f"{size[0]}x{size[1]}"] = found
        self.driven.do("window.set_theme('light')")
        self.driven.resize(self.sizes[0])
        return {"step": step, "clipped": cut}

    def steps(self) -> Iterator[str]:
        """Each is shown when it is reached."""
        driven = self.driven
        driven.key("ctrl+2")
        driven.wait("window.context.replayed is not None", "predictions")
        driven.settle()
        driven.wait("window.context.navigation.selection is not None")
        driven.settle()
        yield "1-finding"
        driven.key("ctrl+t")
        driven.wait(f"{TRY} is not None and {TRY}.trial is not None", "a prediction")
        driven.settle()
        ticked = (
            f"next(b for b in {TRY}.findChildren(__import__('PySide6.QtWidgets').QtWidgets.QCheckBox) if b.isChecked())"
        )
        driven.click(ticked)
        driven.click(f"{TRY}.edit")
        driven.type(CHANGE)
        driven.key("Return")
        driven.wait(
            f"{TRY}.trial is not None and {CHANGE!r} in map(str, {TRY}.trial.prediction.changes)", "a prediction"
        )
        driven.settle()
        yield "2-try"
        self.press(f"{TRY}.confirm.button")
        confirming = f"bool({TRY}.confirm.under_way or {TRY}.confirm.confirmed)"
        driven.wait(f"bool(app.activeModalWidget()) or {confirming}", "the re-run, or the question of trust")
        if not driven.ask(confirming):  # another walk may have trusted it
            driven.settle()
            driven.click("find('This project is my own: do not ask when its files change')", 9)
            driven.click("find('Trust and run')")
        driven.wait(confirming, "the re-run")
        driven.wait(f"bool({TRY}.confirm.confirmed or {TRY}.confirm.why.text())", "the re-run")
        driven.settle()
        self.press(f"{TRY}.keep")
        driven.wait(f"{TRY}.kept.text()")
        driven.settle()
        yield "3-confirmed"
        self.edit()
        yield "4-edited"
        driven.do("window.show_run_options()")
        driven.click("find('Deterministic: host time is counted work, not measured time')", 9)
        driven.key("Escape")
        driven.key("F5")
        driven.wait("window.context.running", "a run that begins")
        driven.wait("not window.context.running", "the run's end")
        driven.settle()
        yield "5-run"
        driven.key("ctrl+4")
        driven.wait("window.context.navigation.mode == 'compare'")
        driven.settle()
        driven.wait("bool(window.modes.current().beside and window.modes.current().beside.settled)", "the ledger")
        driven.settle()
        yield "6-compare"
        driven.key("ctrl+3")
        driven.settle()
        driven.key("c")
        driven.wait("window.modes.current().view.path is not None", "the critical path")
        driven.settle()
        yield "7-path"

    def press(self, button: str) -> None:
        """Press a button of Try, brought into view as the wheel does."""
        scroll = f"{TRY}.findChild(__import__('PySide6.QtWidgets').QtWidgets.QScrollArea)"
        self.driven.do(f"{scroll}.ensureWidgetVisible({button})")
        self.driven.click(button)

    def edit(self) -> None:
        """Make the change in the source, by keys."""
        driven = self.driven
        driven.key("ctrl+1")
        driven.wait("window.context.navigation.mode == 'source'")
        place = "window.context.resolve('small.c')"
        driven.do(f"window.context.navigation.open_line(str({place}), 12)")
        driven.settle()
        driven.click(EDITOR)
        driven.key("ctrl+Home", *["Down"] * FIRST_LINE, "Home", *["shift+Down"] * OLD_LINES, "Delete")
        driven.type(" " * 8)
        for line in CHANGED:  # the next one is indented alike
            driven.type(line)
            driven.key("Escape", "Return")
        driven.key("ctrl+s")
        driven.wait("not window.context.documents.unsaved", "the saved file")
        driven.settle()


def outcome(driven: Driven) -> dict[str, Any]:
    """The settled prediction that Compare shows: its title, its fate, and the speedups predicted and measured."""
    entry = "window.context.navigation and window.modes.views['compare'].beside.settled[-1]"
    said = f"{{'title': ({entry}).title, 'fate': ({entry}).fate.value, 'came': ({entry}).came.speedup,"
    said += f" 'predicted': ({entry}).prediction.speedup}}"
    settled: dict[str, Any] = driven.ask(said)
    return settled


@contextmanager
def project(runs: Path) -> Iterator[list[Path]]:
    """The application's project and its traced run, put back at the end as they were."""
    made = Bench(runs).run(PROGRAM).run.path
    assert made is not None
    source = made.parent / "small.c"
    text = source.read_text()
    try:
        yield [made.parent / "app.workbench.yaml", made]
    finally:
        source.write_text(text)
        for left in (made.parent / "runs", made.with_name(f"{made.name}.confirmed")):
            shutil.rmtree(left, ignore_errors=True)


def walk(pictures: Path, runs: Path | None, sizes: Sizes, only: str) -> dict[str, Any]:
    """The steps with the text that is cut, the outcome, and the faults that the window met."""
    with (
        tempfile.TemporaryDirectory(prefix="gain-walk-") as folder,
        Stage() as stage,
        project(runs or Path(folder)) as opened,
        stage.window(*opened, size=sizes[0]) as driven,
    ):
        taken = Walk(driven, pictures, sizes)
        shown = [taken.show(step) for step in taken.steps() if any(part in step for part in only.split(","))]
        return {"steps": shown, "outcome": outcome(driven), "faults": list(driven.faults)}


def main() -> int:
    parser = command(__doc__, "one size, without the scaled window")
    parser.add_argument("pictures", type=Path, metavar="PICTURES")
    parser.add_argument("--runs", type=Path, metavar="DIR")
    parser.add_argument("--only", default="", metavar="STEPS", help="pictures of these alone, by commas")
    parser.add_argument("--scaled", action="store_true", help="with QT_SCALE_FACTOR=2 alone")
    arguments = parser.parse_args()
    walks = []
    if not arguments.scaled:
        sizes = SIZES[:1] if arguments.quick else SIZES
        walks.append(walk(arguments.pictures, arguments.runs, sizes, arguments.only))
    if not arguments.quick:
        os.environ["QT_SCALE_FACTOR"] = "2"
        walks.append(walk(arguments.pictures / "scaled", arguments.runs, ((1270, 720),), arguments.only))
    print(json.dumps({"rows": walks}) if arguments.json else "\n".join(map(json.dumps, walks)))
    return int(any(one["faults"] or one["outcome"]["fate"] != "inside" for one in walks))


if __name__ == "__main__":
    sys.exit(main())
