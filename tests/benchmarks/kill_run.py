"""`workbench run` killed with -9 at random moments: what is then changed, left running, or cannot be opened.

    python tests/benchmarks/kill_run.py [--json] [--quick] [--kills N] [--seed N] [--cache DIR]

The tiny project of the tests runs to its end once; then again and again, each time killed at a random moment: of the
whole command's time, or (every second one) of the time after its run folder appeared. One in ten begins without any
built card, so that compilers are killed as well. After each kill:

- `changed`: files of the project that are not as they were, and files that are new outside its `runs` folder
- `left`: processes of the run that are still there ten seconds later
- `unopened`: run folders that cannot be opened
- `shown`: run folders that show what was recorded until then (a run that was killed before its program ran has none)
- `strays`: entries of the `runs` folder that are no run of ours

At the end the project runs once more, on the cache that the killed runs left: `same_result` says that its output and
time are those of the first.
"""

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

import psutil
from command_line import command

from workbench.formats.run_folder import open_run
from workbench.model.diagnostic import WorkbenchError
from workbench.session.keep.results import open_result
from workbench.session.program.plugins import load_plugins

TINY = Path(__file__).parents[1] / "data" / "tiny"
MARK = "RCW_KILL_RUN"
PATIENCE_S = 10.0


class Bench:
    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder, self.cache = folder, cache
        self.project = shutil.copytree(TINY, folder / "tiny")
        self.before = self.snapshot()
        self.mark = uuid.uuid4().hex

    def snapshot(self) -> dict[str, str]:
        files = (p for p in self.project.rglob("*") if p.is_file() and p.relative_to(self.project).parts[0] != "runs")
        return {str(p.relative_to(self.project)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}

    def start(self, name: str, cache: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "workbench", "run", str(self.project), "--deterministic", "--trace"]
        settings = {"RCW_CACHE": str(cache), "RCW_PREFERENCES": str(self.folder / "preferences"), MARK: self.mark}
        return subprocess.Popen(
            [*command, "--out", str(self.project / "runs" / name)],
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def whole(self, name: str, cache: Path) -> tuple[float, float, tuple[str, int]]:
        """Run to the end: how long that took, how long with a run folder, and what came out."""
        began = time.monotonic()
        child = self.start(name, cache)
        self.wait_for_folder(name, child)
        appeared = time.monotonic()
        if child.wait():
            sys.exit("the project does not run to its end, even without being killed")
        ended = time.monotonic()
        run, _ = open_run(self.project / "runs" / name)
        return ended - began, ended - appeared, (run.manifest.stdout_sha256, run.manifest.time_ps)

    def wait_for_folder(self, name: str, child: subprocess.Popen[bytes]) -> None:
        while child.poll() is None and not (self.project / "runs" / name).exists():
            time.sleep(0.001)

    def processes(self) -> list[str]:
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(" ".join(process.cmdline()))
            except psutil.Error:
                continue
        return found

    def kill_one(self, name: str, at_s: float, cache: Path, from_folder: bool) -> dict[str, Any]:
        child = self.start(name, cache)
        if from_folder:
            self.wait_for_folder(name, child)
        try:
            child.wait(at_s)
        except subprocess.TimeoutExpired:
            child.kill()
        killed = child.wait() != 0
        deadline = time.monotonic() + PATIENCE_S
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.02)
        status, shown = "no folder yet", False
        out = self.project / "runs" / name
        if out.exists():
            try:
                opened = open_result(out, load_plugins())
                status = opened.run.manifest.status.value
                shown = opened.analysis.time_s > 0
            except WorkbenchError as error:
                status = f"unopened: {error}"
        return {
            "at_s": at_s,
            "from_folder": from_folder,
            "killed": killed,
            "status": status,
            "shown": shown,
            "left": left,
            "changed": self.changed(),
        }

    def changed(self) -> list[str]:
        now = self.snapshot()
        return sorted(name for name in now.keys() | self.before.keys() if now.get(name) != self.before.get(name))


def measure(kills: int, seed: int, cache: Path | None) -> dict[str, Any]:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench = Bench(folder, cache or folder / "cache")
        *cold_s, first = bench.whole("first", bench.cache)
        *warm_s, _ = bench.whole("second", bench.cache)
        rows: list[dict[str, Any]] = []
        while sum(row["killed"] for row in rows) < kills:
            number = len(rows)
            from_folder, cold = number % 2 == 1, cache is None and number % 10 == 9
            at_s = chance.uniform(0.0, (cold_s if cold else warm_s)[from_folder])
            cards = folder / f"cold-{number}" if cold else bench.cache
            rows.append(bench.kill_one(f"killed-{number}", at_s, cards, from_folder))
        *_, last = bench.whole("last", bench.cache)
        ours = {"first", "second", "last", *(f"killed-{number}" for number in range(len(rows)))}
        entries = [p.name for p in (bench.project / "runs").iterdir()]
    return {
        "kills": sum(row["killed"] for row in rows),
        "changed": sum(len(row["changed"]) for row in rows),
        "left": sum(len(row["left"]) for row in rows),
        "unopened": sum(row["status"].startswith("unopened") for row in rows),
        "shown": sum(row["shown"] for row in rows),
        "strays": sorted(set(entries) - ours),
        "same_result": first == last,
        "seed": seed,
        "rows": rows,
    }


def show(result: dict[str, Any]) -> None:
    by_status: dict[str, int] = {}
    for row in result["rows"]:
        by_status[row["status"]] = by_status.get(row["status"], 0) + 1
    print(f"{len(result['rows'])} runs, {result['kills']} of them killed: {by_status}")
    print(
        f"files changed {result['changed']}, processes left {result['left']}, run folders that do not open "
        f"{result['unopened']}, that show what was recorded {result['shown']}, "
        f"strays {result['strays']}, the same result afterwards: {result['same_result']}"
    )


def main() -> int:
    parser = command(__doc__, "5 kills")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="built cards to begin with; compilers are then not killed")
    arguments = parser.parse_args()
    result = measure(5 if arguments.quick else arguments.kills, arguments.seed, arguments.cache)
    if arguments.json:
        print(json.dumps(result))
    else:
        show(result)
    good = not (result["changed"] or result["left"] or result["unopened"]) and result["same_result"]
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
