"""From a folder of sources to a gain that was predicted and then measured, in the real window: a film in pictures.

    python tests/benchmarks/film.py [--json] [--quick] [--measured] PICTURES

Needs Xvfb, openbox and xdotool. A host program in C and a design in Verilog (of `bounds_apps`, without any pragma) are
opened by New from sources, every proposed mark is accepted, the application runs, its first advice is tried and
confirmed on the simulated card, the change is made in the source, and the run after it is compared with the one before.
Everything is done with keys and clicks; each is counted, and so is each text that is typed (a folder, a change, the
lines of the new code), as one. PICTURES gets a picture of every scene, and `film.md` with what was pressed and what is
then to be seen. `--quick` ends with the first run's findings. With `--measured` host time is measured, not counted.

The exit code is 1 where the gain does not come within the interval of its prediction, or takes more than 40 keys and
clicks, or a fault was met.
"""

import json
import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from command_line import command

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("DRIVEN_PATIENCE_S", "300")  # read as the driver is imported

from driven.driver import Driven, Stage
from gain_walk import EDITOR, TRY, outcome

APPS = Path(__file__).parent / "bounds_apps"
SOURCES = ("small.c", "common.h", "unit.v")
#: What the build would define, at the head of the header.
DEFINED = {"ROUNDS": 40, "EFFORT": 600, "CLEAR": 0, "CYCLES": 200}
MOST = 40
#: What is tried, and what is then written for these lines.
CHANGE = "unite calls=fpgaWrite count=16"
FIRST, OLD_LINES = "for (int i = 0; i < WORDS; i += 4) {", 4
NEW = "        fpgaWrite(fpga, words, 0, WORDS);"
WIDGETS = "__import__('PySide6.QtWidgets', fromlist=['x'])"
TICKED = f"[b for b in {TRY}.findChildren({WIDGETS}.QCheckBox) if b.isChecked()]"
SCROLL = f"{TRY}.findChild({WIDGETS}.QScrollArea)"
DETERMINISTIC = "Deterministic: host time is counted work, not measured"
SIZE = (1440, 900)


@dataclass
class Scene:
    """What was pressed since the scene before, and what is then seen."""

    name: str
    said: str
    pressed: tuple[str, ...]


@dataclass
class Film:
    """A window, what was pressed in it, and its scenes."""

    driven: Driven
    pictures: Path
    scenes: list[Scene] = field(default_factory=list)
    pressed: list[str] = field(default_factory=list)

    def key(self, *names: str) -> None:
        for name in names:
            self.driven.key(name)
            self.pressed.append(name)

    def click(self, widget: str, what: str, *place: float) -> None:
        self.driven.click(widget, *place)
        self.pressed.append(f"click {what}")

    def type(self, text: str, what: str) -> None:
        self.driven.type(text)
        self.pressed.append(f"type {what}")

    def scene(self, said: str) -> None:
        """Take a picture of what is shown."""
        self.driven.settle()
        before = sum(len(scene.pressed) for scene in self.scenes)
        name = f"film-{len(self.scenes) + 1:02}.png"
        self.driven.picture(self.pictures / name)
        self.scenes.append(Scene(name, said, tuple(self.pressed[before:])))


def sources(folder: Path) -> Path:
    """The application as its author has it: without a pragma."""
    folder.mkdir()
    for name in SOURCES:
        lines = (APPS / name).read_text().splitlines()
        text = "".join(f"{line}\n" for line in lines if "pragma recap" not in line)
        if name == "common.h":
            text = "".join(f"#define {macro} {value}\n" for macro, value in DEFINED.items()) + text
        (folder / name).write_text(text)
    return folder


def to_the_findings(film: Film, folder: Path, measured: bool) -> None:
    """The first half: from a folder of sources to what should be changed first."""
    driven = film.driven
    film.scene("The window as it starts.")
    film.key("ctrl+n")
    driven.wait("bool(app.activeModalWidget()) and hasattr(app.focusWidget(), 'text')", "the question for a folder")
    driven.settle()
    film.type(str(folder), "the folder")
    driven.wait(f"getattr(app.focusWidget(), 'text', str)() == {str(folder)!r}", "the folder's name")
    driven.settle()
    film.key("Return")
    made = "window.findChild(__import__('workbench.gui.open.new_project', fromlist=['x']).NewProject)"
    driven.wait(f"{made} is not None and {made}.proposal is not None", "what was found in the folder")
    film.scene("New from sources: what was found in the folder, and why.")
    film.key("Return")
    driven.wait("window.context.scan is not None and window.context.navigation.mode == 'source'", "the project")
    driven.settle()
    film.key("ctrl+shift+m")
    panel = "window.modes.views['source'].proposals"
    driven.wait(f"{panel}.isVisible()", "the proposed marks")
    film.click(f"{panel}.everywhere", "Whole project")
    driven.settle()
    film.scene("The marks that are proposed for the whole project, each with its reason.")
    film.click(f"{panel}.accept_all", "Accept all")
    driven.wait("bool(window.context.documents.unsaved)", "marked sources")
    driven.settle()
    if not measured:
        film.click("window.header.run_button.how", "the arrow beside Run")
        driven.wait(f"can_press({DETERMINISTIC!r})", "the ways to run")
        film.click(f"find({DETERMINISTIC!r})", "Deterministic", 9)
        film.key("Escape")
    film.key("F5")
    run_to_its_end(film)
    film.scene("The run has ended: what to change first, and what that gains.")
    film.click("window.end_banner.findings", "Show findings")
    driven.wait("window.context.navigation.selection is not None", "the best finding")
    film.scene("The findings, in the order of what they gain.")


def to_the_gain(film: Film) -> None:
    """The second half: from the finding to the change that came true."""
    driven = film.driven
    film.key("ctrl+t")
    driven.wait(f"{TRY} is not None and {TRY}.trial is not None", "a prediction")
    driven.settle()
    for _ in range(driven.ask(f"len({TICKED})")):
        film.click(f"{TICKED}[0]", "the change that is ticked")
        driven.settle()
    film.click(f"{TRY}.edit", "the field for a change")
    film.type(CHANGE, "the change")
    film.key("Return")
    driven.wait(f"{TRY}.trial is not None and {CHANGE!r} in map(str, {TRY}.trial.prediction.changes)", "a prediction")
    film.scene("Try: what uniting 16 writes would gain, with its interval. Nothing is edited.")
    driven.do(f"{SCROLL}.ensureWidgetVisible({TRY}.confirm.button)")
    film.click(f"{TRY}.confirm.button", "Confirm on the card")
    driven.wait(f"bool({TRY}.confirm.confirmed or {TRY}.confirm.why.text())", "the re-run")
    driven.settle()
    driven.do(f"{SCROLL}.ensureWidgetVisible({TRY}.keep)")
    film.click(f"{TRY}.keep", "Keep in the ledger")
    driven.wait(f"{TRY}.kept.text()", "the ledger")
    film.scene("Confirmed: the application ran again under the changed timing, with the same answer.")
    film.key("ctrl+1")
    driven.wait("window.context.navigation.mode == 'source'", "the source")
    driven.settle()
    line = next(n for n, text in enumerate(driven.ask(f"{EDITOR}.toPlainText()").splitlines(), 1) if FIRST in text)
    typed_in = driven.ask("id(app.focusWidget())")
    film.key("ctrl+l")
    driven.wait(f"id(app.focusWidget()) != {typed_in}", "the question for a line")
    film.type(str(line), "the line")
    film.key("Return", "Home", *["shift+Down"] * OLD_LINES, "Delete")
    film.type(NEW, "the changed line")
    film.key("Escape", "Return", "ctrl+s")
    driven.wait("not window.context.documents.unsaved", "the saved file")
    film.scene("The change in the source: one write in place of sixteen.")
    film.key("F5")
    run_to_its_end(film)
    film.scene("The run of the changed program has ended.")
    film.key("ctrl+shift+c")
    driven.wait("window.context.navigation.mode == 'compare'", "the comparison")
    driven.settle()
    beside = "window.modes.current().beside"
    driven.wait(f"bool({beside} and {beside}.settled)", "the ledger")
    film.scene("Compare: what was predicted, beside what came.")


def run_to_its_end(film: Film) -> None:
    """Answer what is asked, and wait for the run and the predictions of what its findings advise."""
    driven = film.driven
    before = driven.ask("str(window.context.run.path) if window.context.run else ''")
    driven.wait("bool(app.activeModalWidget()) or window.context.running", "the run, or a question")
    while driven.ask("bool(app.activeModalWidget())"):
        driven.settle()
        texts = driven.ask(f"[b.text() for b in app.activeModalWidget().findChildren({WIDGETS}.QPushButton)]")
        answer = next(one for one in ("Save, trust and run", "Save and run", "Trust and run") if one in texts)
        film.click(f"find({answer!r})", answer)
        driven.settle()
    driven.wait(
        f"window.context.run is not None and str(window.context.run.path) != {before!r} and not window.context.running",
        "the run's end",
    )
    driven.wait("window.context.replayed is not None", "predictions")


def page(film: Film) -> str:
    """The film as a page beside its pictures."""
    lines = ["# From sources to a gain", ""]
    for scene in film.scenes:
        pressed = f"Pressed: {', '.join(scene.pressed)}." if scene.pressed else ""
        lines += [f"{scene.said} {pressed}".strip(), "", f"![{scene.said}]({scene.name})", ""]
    return "\n".join([*lines, f"{len(film.pressed)} keys and clicks.", ""])


def main() -> int:
    parser = command(__doc__, "the first run alone")
    parser.add_argument("pictures", type=Path, metavar="PICTURES")
    parser.add_argument("--measured", action="store_true", help="with measured host time")
    arguments = parser.parse_args()
    settled: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="film-") as work, Stage() as stage, stage.window(size=SIZE) as driven:
        film = Film(driven, arguments.pictures)
        to_the_findings(film, sources(Path(work, "app")), arguments.measured)
        if not arguments.quick:
            to_the_gain(film)
            settled = outcome(driven)
        faults = list(driven.faults)
    (arguments.pictures / "film.md").write_text(page(film), encoding="utf-8")
    rows = [{"picture": scene.name, "said": scene.said, "pressed": scene.pressed} for scene in film.scenes]
    if arguments.json:
        print(json.dumps({"rows": rows, "pressed": len(film.pressed), "outcome": settled, "faults": faults}))
    else:
        for row in rows:
            print(f"{row['picture']}  {row['said']}  [{', '.join(row['pressed'])}]")
        print(f"{len(film.pressed)} keys and clicks; {settled or 'no second run'}; faults: {faults or 'none'}")
    came = arguments.quick or settled["fate"] == "inside"
    return int(bool(faults) or len(film.pressed) > MOST or not came)


if __name__ == "__main__":
    sys.exit(main())
