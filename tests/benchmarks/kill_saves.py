"""The window killed with -9 at random moments while its three editors save: what is then lost, changed or unreadable.

    python tests/benchmarks/kill_saves.py [--json] [--quick] [--kills N] [--seed N]

Each time a window (off screen) opens the tiny project of the tests, with a platform and a model of its own, and then
edits and saves a source, the platform and the model without end, until it is killed. After each kill:

- `torn`: files that are neither as they were before a save nor as they were to be after it
- `changed`: other files of the project that are not as they were
- `unopened`: projects that cannot be opened
- `strays`: files beside the user's that a save left (beginnings of files that were to replace others)
- `kept`: unsaved texts that a next window would offer; `unreadable` are records that cannot be read

`saves` counts what was saved in all.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path

from command_line import command

ROOT = Path(__file__).parents[1]
TINY = ROOT / "data" / "tiny"
EDITED = ("host/main.c", "card.yaml", "mine.density.yaml")
LONGEST_S = 1.5
LINE = 20_000  # characters that a save adds, so that a write takes a moment


def prepare(folder: Path) -> Path:
    """A copy of the project with a platform and a model of its own."""
    shutil.copytree(TINY, folder)
    bundled = files("rc_workbench_plugins.density").joinpath("models", "matrix_multiply.density.yaml")
    (folder / "card.yaml").write_bytes(
        files("workbench.platform_templates").joinpath("nallatech_h101.yaml").read_bytes()
    )
    (folder / "mine.density.yaml").write_bytes(bundled.read_bytes())
    project = folder / "tiny.workbench.yaml"
    project.write_text(project.read_text().replace("platform: nallatech_h101", "platform: card.yaml"))
    return project


def save_without_end(project: Path, ready: int) -> None:
    """A window that edits and saves in every editor until the process ends."""
    from workbench.gui.app import make_application
    from workbench.gui.frame.main_window import MainWindow
    from workbench.session.program.plugins import load_plugins

    plugins = load_plugins()
    application = make_application()
    window = MainWindow(plugins)
    window.open(project)
    window.show()
    while window.context.scan is None or window.busy:
        application.processEvents()
    window.context.navigation.open_line(str(project.parent / "host" / "main.c"), 1)
    modes = {mode: window.show_mode(mode) for mode in ("platform", "predict", "source")}
    texts = {mode: shown.shown_document.text for mode, shown in modes.items() if shown.shown_document}
    os.write(ready, b"r")
    number = 0
    while True:
        number += 1
        for mode, text in texts.items():
            document = modes[mode].shown_document
            assert document is not None
            sign = "//" if mode == "source" else "#"
            document.replace("edit", f"{text}{sign} {number} {'x' * LINE} end\n")
            application.processEvents()
            if number % 3 or mode != "source":  # now and then something stays unsaved
                modes[mode].save()
                os.write(ready, b"s")
            window.context.documents.keep()


def whole(now: str, before: str) -> bool:
    """Whether a file is as it was, or as a save would have it."""
    return now == before or (now.startswith(before) and now.endswith(" end\n") and now.count(" end\n") == 1)


def kill_once(folder: Path, wait_s: float, sums: dict[str, int]) -> None:
    project = prepare(folder)
    root = project.parent
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    os.environ["RCW_PREFERENCES"] = str(folder.with_name("preferences-" + folder.name))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            save_without_end(project, writing)
        finally:
            os._exit(1)
    os.close(writing)
    if os.read(reading, 1) != b"r":
        raise RuntimeError("the window did not come up")
    time.sleep(wait_s)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as told:
        sums["saves"] += told.read().count(b"s")
    judge(project, before, sums)


def judge(project: Path, before: dict[Path, bytes], sums: dict[str, int]) -> None:
    from workbench.model.diagnostic import WorkbenchError
    from workbench.session.edit.recovery import FOLDER, left_behind
    from workbench.session.open.opening import open_workspace
    from workbench.session.program.plugins import load_plugins
    from workbench.system.folders import state_dir

    root = project.parent
    for path, data in before.items():
        now = path.read_bytes()
        if str(path.relative_to(root)) in EDITED:
            sums["torn"] += not whole(now.decode("utf-8"), data.decode("utf-8"))
        else:
            sums["changed"] += hashlib.sha256(now).digest() != hashlib.sha256(data).digest()
    sums["strays"] += sum(1 for path in root.rglob("*") if path.is_file() and path not in before)
    try:
        open_workspace(project, load_plugins())
    except WorkbenchError:
        sums["unopened"] += 1
    records = len(list((state_dir() / FOLDER).glob("*.json")))
    kept = len(left_behind())
    sums["kept"] += kept
    sums["unreadable"] += records - kept
    sums["kills"] += 1


def main() -> int:
    parser = command(__doc__, "5 kills")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=2011)
    asked = parser.parse_args()
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    chosen = random.Random(asked.seed)
    names = ("kills", "saves", "torn", "changed", "unopened", "strays", "kept", "unreadable")
    sums = dict.fromkeys(names, 0)
    with tempfile.TemporaryDirectory(prefix="rcw-kill-") as folder:
        for number in range(5 if asked.quick else asked.kills):
            kill_once(Path(folder, f"{number}"), chosen.uniform(0, LONGEST_S), sums)
    if asked.json:
        print(json.dumps(sums))
    else:
        print(", ".join(f"{name} {value}" for name, value in sums.items()))
    return 1 if sums["torn"] or sums["changed"] or sums["unopened"] or sums["unreadable"] else 0


if __name__ == "__main__":
    sys.exit(main())
