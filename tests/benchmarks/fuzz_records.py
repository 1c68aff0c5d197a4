"""Records that a program left on a board, and how they are damaged: keys and files that are missing, numbers that
cannot be, ends that are cut, parts that are repeated, folders in files' places."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from fuzz_inputs import ROOT, TINY

#: Names the folder where an earlier process left trees and records, a folder for each of `BOARDS`.
BOARD_VARIABLE = "RCW_FUZZ_BOARD"
_TEXTS = (
    b"", b"nan", b"inf", b"-1", b"-5", b"0", b"1", b"x", b"1e30", b"9" * 30, b"9" * 5000, b"-" + b"9" * 30, b"1.5",
    b"9223372036854775807", b"-9223372036854775808", b"\xff\xfe", b"\x00", b"\xd9\xa1",
)  # fmt: skip
_NUMBERS = (0, 1, -1, 2, 4, 100, 10**6, 2**31 - 1, -(2**31), 2**52, 2**62, -(2**63), 2**63 - 1)


def _tiny(folder: Path) -> Path:
    """A project whose calls and states are traced."""
    project = Path(shutil.copytree(TINY, folder / "tiny")) / "tiny.workbench.yaml"
    project.write_text(project.read_text().replace("hardware:\n", "hardware:\n  trace: {records: 256}\n"))
    return project


def _agents(folder: Path) -> Path:
    """A project whose streams, FIFO and statements are counted in the FPGA."""
    from test_streams_on_board import write_project

    return write_project(folder)


def _ranks(folder: Path) -> Path:
    """A project whose program is MPI ranks."""
    from ranks_machine import project

    return project(folder)


#: Applications whose boards leave records: what writes the project, what its build needs, what starts the program.
BOARDS: dict[str, tuple[Callable[[Path], Path], tuple[str, ...], tuple[str, ...]]] = {
    "tiny": (_tiny, (), ()),
    "agents": (_agents, ("WORD_CYCLES=20",), ()),
    "ranks": (_ranks, (), ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2")),
}


#: Of these the records that are damaged: together they hold all that the first one's do.
DAMAGED = ("agents", "ranks")


def format_of(name: str) -> str:
    """What the fuzzer calls records of one of `BOARDS`."""
    return f"records_of_{name}"


def leave_records(folder: Path, name: str = "tiny") -> Path:
    """`folder` with `tree`, an instrumented application, and `records`, which its program left on the board that stands
    in for a real one, traced."""
    sys.path.insert(0, str(ROOT / "tests"))
    from rtl_simulator import make_board

    from workbench.session.make.pipeline import instrument_workspace
    from workbench.session.open.opening import open_workspace
    from workbench.session.program.plugins import load_plugins

    write_project, make_words, launcher = BOARDS[name]
    folder.mkdir(exist_ok=True)
    instrument_workspace(open_workspace(write_project(folder), load_plugins()), {}, folder / "tree")
    (folder / "build").mkdir()
    (folder / "records").mkdir()
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(make_board(folder / "tree", *make_words), cwd=folder / "build", **quiet)
    environment = {**os.environ, "RCW_RAW": str(folder / "records"), "RCW_TRACE": "1"}
    subprocess.run([*launcher, folder / "build" / "host"], cwd=folder / "tree" / "hdl", env=environment, **quiet)
    return folder


@cache
def board(name: str) -> Path:
    """What `leave_records` left, once for all processes where a variable names the folder of all boards."""
    left = os.environ.get(BOARD_VARIABLE)
    return Path(left, name) if left else leave_records(Path(tempfile.mkdtemp(prefix="fuzz-board-")), name)


def damaged_records(name: str, folder: Path, rng: random.Random) -> Path:
    """A copy of a board's records with a file or two damaged."""
    records = Path(shutil.copytree(board(name) / "records", folder / "records"))
    files = sorted(path for path in records.rglob("*") if path.is_file())
    for file in rng.sample(files, rng.choice((1, 1, 1, 2))):
        data, kind = file.read_bytes(), rng.randrange(12)
        if kind < 2:
            file.unlink()
        if kind == 1:
            file.mkdir()
        if kind > 1:
            file.write_bytes(b"" if kind == 2 else damaged(data, rng, file.suffix == ".txt"))
    return records


def damaged(data: bytes, rng: random.Random, is_text: bool) -> bytes:
    """A record's bytes with an end, a line or some numbers changed."""
    kind = rng.randrange(8)
    if kind == 0 or not data:
        return data[: rng.randrange(len(data) + 1)]
    if kind == 1:
        return data + data[: rng.randrange(len(data) + 1)]
    if is_text:
        lines = data.splitlines(keepends=True)
        line = rng.randrange(len(lines))
        key = lines[line].split(b" ")[0]
        value = b"" if kind == 2 else key + b" " + rng.choice(_TEXTS) + b"\n"
        lines[line : line + 1] = [lines[line], lines[line]] if kind == 3 else [value]
        return b"".join(lines)
    spoilt = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 10))):
        width, upto = rng.choice((4, 8)), min(len(data), rng.choice((len(data), 64, 8192)))
        at = rng.randrange(max(upto // width, 1)) * width
        number = rng.choice(_NUMBERS) if rng.random() < 0.7 else rng.getrandbits(62)
        spoilt[at : at + width] = (number % (1 << 8 * width)).to_bytes(width, "little")
    return bytes(spoilt)
