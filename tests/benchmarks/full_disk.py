"""Every command that writes, on a disk that is full at once or soon: what is left behind, and what is said.

    python tests/benchmarks/full_disk.py [--json] [--quick] [--only COMMAND ...] [--cache DIR]

It mounts a small tmpfs of its own, and so is run as root.

Each command is run with the disk full at once, after one page, and after some, with the person's files, preferences,
cache and log all on that disk. `silent` says that it ended with 0 although its result is not there; `traceback` that
it told of no person's fault; `left` names files that it began and did not finish, but for a ledger without a line and
the folders of a study, which goes on where it stopped, and of a run that never began, which the next one takes;
`blocked` that the same command failed again once there was room. With --cache what is built is kept in that folder, so
that it is the run that finds the disk full, and not a compiler before it.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from command_line import command

ROOT = Path(__file__).parents[2]
TINY = ROOT / "tests" / "data" / "tiny"
FREE_PAGES = (0, 1, 6)
CACHE = "FULL_DISK_CACHE"
BAD = ("silent", "traceback", "left", "changed", "blocked")
STUDY = "schema_version: 1\nname: small\nprojects: [tiny.workbench.yaml]\nvary: {ROUNDS: [1]}\n"
#: Each command, and the file or folder that it makes.
COMMANDS = {
    "template new": ("template new {d}/own.yaml --header {api}", "own.yaml"),
    "template new --of": ("template new {d}/mine.yaml --of xrt_native", "mine.yaml"),
    "settings set": ("settings set theme dark", "preferences/window.json"),
    "new": ("new {d}/begun --platform nallatech_h101 --top tiny_top", "begun/begun.workbench.yaml"),
    "instrument": ("instrument {d}/tiny --out {d}/copies", "copies/recap.json"),
    "run": ("run {d}/tiny --deterministic --out {d}/made", "made/manifest.json"),
    "study": ("study {d}/tiny/small.study.yaml --again", "tiny/small.study/runs"),
    "ledger": (
        "whatif {d}/asked/runs/base --change 'calls calls=writeSamples factor=0.5' --keep",
        "asked/runs/predictions.jsonl",
    ),
    "report": ("report {run} --html {d}/report.html", "report.html"),
    "export": ("export {run} --format chrome --out {d}/run.trace", "run.trace"),
    "import": ("import {trace} --out {d}/imported", "imported/manifest.json"),
    "compare": ("compare {run} {run} --junit {d}/junit.xml", "junit.xml"),
    "predict": ("predict ratss image_filter --sweep nodes=1,2,3 --csv {d}/sweep.csv", "sweep.csv"),
    "propose": ("propose {d}/tiny --accept all", "tiny/host/main.c"),
}


@contextmanager
def small_disk(kib: int) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="full-disk-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
        folder.rmdir()


def tried(name: str, free_pages: int, given: dict[str, str]) -> dict[str, object]:
    """What a command does with so many pages free, and again with room."""
    command, result = COMMANDS[name]
    with small_disk(4096) as disk:
        shutil.copytree(TINY, disk / "tiny")
        shutil.copytree(TINY, disk / "begun", ignore=shutil.ignore_patterns("*.yaml"))
        (disk / "tiny" / "small.study.yaml").write_text(STUDY)
        shutil.copytree(TINY, disk / "asked")
        shutil.copytree(given["run"], disk / "asked" / "runs" / "base")
        words = shlex.split(command.format(d=disk, **given))
        before = files(disk)
        with (disk / "filler").open("wb", buffering=0) as filler:
            fill(filler, free_pages)
        first = run(words, disk)
        after = files(disk)
        os.unlink(disk / "filler")
        subprocess.run(["mount", "-o", "remount,size=512m", str(disk)], check=True)
        again = run(words, disk)
        result_there = (disk / result).exists()
    changed = [n for n, data in before.items() if after.get(n) != data]
    new = sorted(n for n in after.keys() - before.keys() if not n.startswith(("cache/", "preferences/state/")))
    new = [n for n in new if after[n] or not n.endswith("/predictions.jsonl")]
    new = [n for n in new if not n.startswith(("made/", "tiny/small.study/"))]
    return {
        "command": name, "free_pages": free_pages, "code": first.returncode,
        "silent": first.returncode == 0 and result not in after,
        "traceback": "Traceback" in first.stderr or "failed here" in first.stderr,
        "left": new if first.returncode else [], "changed": changed if first.returncode else [],
        "blocked": first.returncode != 0 and (again.returncode != 0 or not result_there),
        "said": (first.stderr.strip().splitlines() or [""])[-1][-200:],
        "said_again": again.stderr.strip()[-200:] if again.returncode else "",
    }  # fmt: skip


def fill(filler: object, free_pages: int) -> None:
    """Write until nothing more goes, and then leave so many pages."""
    size = 0
    try:
        while True:
            size += filler.write(b"x" * 4096)  # type: ignore[attr-defined]
    except OSError:
        pass
    os.ftruncate(filler.fileno(), max(0, size - 4096 * free_pages))  # type: ignore[attr-defined]


def run(words: list[str], disk: Path) -> subprocess.CompletedProcess[str]:
    homes = {name: str(disk / name.lower()) for name in ("cache", "state", "preferences")}
    environment = {**os.environ, "RCW_CACHE": os.environ.get(CACHE) or homes["cache"],
                   "RCW_PREFERENCES": homes["preferences"], "XDG_STATE_HOME": homes["state"]}  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "workbench", *words], env=environment, cwd=ROOT, capture_output=True, text=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def files(disk: Path) -> dict[str, bytes]:
    return {str(p.relative_to(disk)): p.read_bytes() for p in disk.rglob("*") if p.is_file() and p.name != "filler"}


def show(row: dict[str, object]) -> None:
    bad = [key for key in BAD if row[key]]
    print(f"{row['command']:20} {row['free_pages']} pages: exit {row['code']} {', '.join(bad) or 'as it should'}")
    for key in ("said", *bad, *(["said_again"] if bad else [])):
        print(f"    {row[key]}")


def main() -> int:
    parser = command(__doc__, "a disk that is full at once only")
    parser.add_argument("--only", choices=sorted(COMMANDS), action="append")
    parser.add_argument("--cache", default="", metavar="DIR")
    chosen = parser.parse_args()
    if chosen.cache:
        os.environ[CACHE] = chosen.cache
    from workbench.formats.run_folder import RunWriter
    from workbench.testing.runs import synthetic_run

    with tempfile.TemporaryDirectory() as folder:
        made = synthetic_run(cores=2, rounds=2)
        manifest = replace(made.manifest, project=str(TINY / "tiny.workbench.yaml"))
        RunWriter(Path(folder, "run")).finish(manifest, made.tables)
        event = {"ph": "X", "pid": 7, "tid": 1, "ts": 100, "dur": 10, "name": "serve", "cat": "work"}
        Path(folder, "trace.json").write_text(json.dumps({"traceEvents": [event]}))
        api = ROOT / "platform_templates" / "nallatech_h101" / "fpga.h"
        given = {"run": f"{folder}/run", "trace": f"{folder}/trace.json", "api": str(api)}
        rows = []
        for name in chosen.only or COMMANDS:
            for free_pages in FREE_PAGES[:1] if chosen.quick else FREE_PAGES:
                rows.append(tried(name, free_pages, given))
                if not chosen.json:
                    show(rows[-1])
    if chosen.json:
        print(json.dumps(rows, indent=1))
    return int(any(row[key] for row in rows for key in BAD))


if __name__ == "__main__":
    sys.exit(main())
