"""Newcomers' walks, followed through the code: a state's name from its pragma to the line of a finding, and a run from
its folder to the pixels of its timeline.

    python tests/benchmarks/walks.py [--json] [--quick]

Two commands are run with every return of a function of the workbench looked at: `instrument` on a small project, whose
pragma names the state, and `report` on a made run that has one of that name. A file counts where one of its functions
holds the name in what it returns or in a variable; a type where an object of it carries the name (each is a re-wrap).
Sources are read in child processes: what these pass through counts too.

For the second the window opens the run and paints its timeline, and every call is looked at: a file counts where a
function of it is called, a climb where a function is called by one of a lower room. `--quick` changes nothing.
"""

import dataclasses
import json
import os
import sys
import tempfile
import tomllib
from pathlib import Path
from types import FrameType
from typing import Any

from command_line import command

from workbench.cli.main import main as workbench
from workbench.formats.run_folder import RunWriter
from workbench.testing.runs import synthetic_run

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "tests" / "data" / "tiny" / "tiny.workbench.yaml"
PLACES = (f"{ROOT}/workbench/", f"{ROOT}/plugins/")
DEEP, MANY = 4, 200  # how far into what a variable holds is looked


def carriers(value: Any, word: str, depth: int = DEEP) -> tuple[str, ...] | None:
    """The types of the objects in which the word stands, the innermost first; None where it stands in none."""
    if isinstance(value, str):
        return () if value == word else None
    if depth == 0:
        return None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, field.name, None) for field in dataclasses.fields(value)]
        found = carriers(inner, word, depth)
        return None if found is None else (*found, type(value).__name__)
    items: list[Any] = []
    if isinstance(value, dict):
        items = [*value.values(), *value]
    elif isinstance(value, list | tuple):
        items = list(value)
    return next((found for item in items[:MANY] if (found := carriers(item, word, depth - 1)) is not None), None)


def follow(word: str, log: Path, *command: str) -> None:
    """Run a command; what the word passes through is added to the log, by children too."""
    seen: set[str] = set()

    def look(frame: FrameType, event: str, answer: Any) -> None:
        if event != "return" or not frame.f_code.co_filename.startswith(PLACES):
            return
        for value in (answer, *frame.f_locals.values()):
            if (found := carriers(value, word)) is not None:
                file = os.path.relpath(frame.f_code.co_filename, ROOT)
                new = {f"file {file}", *(f"type {name}" for name in found)} - seen
                seen.update(new)
                if new:
                    with log.open("a") as out:
                        out.write("".join(f"{line}\n" for line in sorted(new)))
                return

    sys.setprofile(look)
    try:
        code = workbench(list(command))
    finally:
        sys.setprofile(None)
    if code:
        raise SystemExit(code)


def rooms() -> list[str]:
    """The names of rooms, from the highest down: the layers of import-linter's first contract."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return [layer.replace("workbench.", "") for layer in contracts[0]["layers"]]


def to_pixels(folder: Path) -> tuple[list[str], list[str]]:
    """The files through which a run becomes a painted timeline, and where a lower room called a higher one."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtTest import QTest

    from workbench.gui.app import make_application
    from workbench.gui.frame.main_window import MainWindow
    from workbench.gui.run import background
    from workbench.session.program.plugins import load_plugins

    application = make_application()
    window = MainWindow(load_plugins())
    window.show()
    mode: Any = window.modes.whole("timeline")
    place = {room: n for n, names in enumerate(rooms()) for room in names.split(" | ")}
    files: set[str] = set()
    climbs: set[str] = set()

    def room_of(frame: FrameType | None) -> tuple[str, int | None]:
        while frame is not None and not frame.f_code.co_filename.startswith(PLACES):
            frame = frame.f_back
        if frame is None:
            return "", None
        file = os.path.relpath(frame.f_code.co_filename, ROOT)
        return file, place.get(file.split("/")[1].removesuffix(".py"))

    def look(frame: FrameType, event: str, answer: Any) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(PLACES) or frame.f_code.co_name == "<module>":
            return
        (file, here), (by, above) = room_of(frame), room_of(frame.f_back)
        files.add(file)
        if here is not None and above is not None and here < above:
            climbs.add(f"{by} -> {file}")

    run = background._run

    def looked_at(*task: Any) -> None:
        sys.setprofile(look)
        run(*task)
        sys.setprofile(None)

    background._run = looked_at
    sys.setprofile(look)
    window.context.open_run(folder)
    window.go_to("timeline")
    while mode.view.traced is None or mode.view.moving or window.context.background.busy:
        QTest.qWait(10)
    mode.view.grab()
    sys.setprofile(None)
    window.context.close()
    application.quit()
    return sorted(files), sorted(climbs)


def main() -> int:
    asked = command(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, log = Path(name), Path(name) / "log"
        run = synthetic_run(cores=4, rounds=3)
        RunWriter(folder / "run", run.manifest).finish(run.manifest, run.tables)
        stdout = os.dup(1)
        os.dup2(2, 1)
        follow("idle", log, "instrument", str(PROJECT), "--out", str(folder / "copies"))
        follow("readDone", log, "report", str(folder / "run"), "--threshold", "1", "--all")
        sys.stdout.flush()
        os.dup2(stdout, 1)
        files, climbs = to_pixels(folder / "run")
        lines = sorted(set(log.read_text().splitlines()))
    found = {kind: [line[5:] for line in lines if line.startswith(kind)] for kind in ("file", "type")}
    row = {"walk": "a pragma to a finding", "files": found["file"], "types": found["type"]}
    second = {"walk": "a run's folder to the pixels of its timeline", "files": files, "climbs": climbs}
    if asked.json:
        print(json.dumps({"rows": [row, second]}))
    else:
        print(f"a pragma to a finding: {len(found['file'])} files, {len(found['type'])} types")
        print("\n".join([*found["file"], " ".join(found["type"])]))
        print(f"\n{second['walk']}: {len(files)} files, {len(climbs)} climbs")
        print("\n".join([*files, *climbs]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
