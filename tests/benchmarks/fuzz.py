"""Wrong inputs for every format that the program reads, each answered in words, soon, and in bounded memory.

    python tests/benchmarks/fuzz.py [--inputs N] [--seed S] [--only FORMAT] [--first N] [--jobs N] [--json] [--quick]

Every format that is read (`fuzz_readers.py`: templates, projects, models, rules, pragmas, formulas, run folders, a
board's records, streaming applications with queries, C, Verilog; `fuzz_foreign.py`: FuseSoC cores, simulators' lists,
compilation databases, Chrome's traces, headers, OpenCL kernels, VHDL, settings, names of any bytes, records of a run
that was ended) is mutated by bytes, words, lines, keys and values, and read as the commands read it. Input K of a
format depends on seed, format and K alone. `ok` were taken, `diagnosed` were answered with diagnostics; `tracebacks`
escaped as anything else (or ended the process), `hangs` took over 10 s of processor time or a minute on the clock
(which a busy machine shares out), `over_memory` over 1 GB; both of the process and the children that read for it.
`files_lost` changed or took away a file that they only had to read.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import select
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fuzz_records
from fuzz_foreign import FOREIGN
from fuzz_readers import OWN, LostError, remember_what_ships

HANG_CPU_S, HANG_S, MEMORY_BYTES = 10.0, 60.0, 1_000_000_000
KINDS = ("ok", "diagnosed", "tracebacks", "hangs", "over_memory", "files_lost")


def read_self_check(rng: random.Random, folder: Path) -> bool:
    """What the fuzzer must tell apart, for its own test."""
    kind = rng.randrange(5)
    if kind == 0:
        raise KeyError("planted")
    if kind == 1:
        time.sleep(3600)
    if kind == 2:
        bytearray(MEMORY_BYTES)[::4096] = b"x" * -(-MEMORY_BYTES // 4096)
    if kind == 3:
        os._exit(0)
    return rng.random() < 0.5


#: How each format is read, and its share of the inputs.
FORMATS = {**OWN, **FOREIGN, "self-check": (read_self_check, 0.0)}


# ---- a process that reads


def work(name: str, first: int, count: int, seed: int) -> None:
    """Read inputs, and say of each when it begins and what became of it. Ends early where memory was spent."""
    from workbench.model.diagnostic import WorkbenchError

    say, read = os.fdopen(os.dup(1), "w", buffering=1), FORMATS[name][0]
    sys.stdout = sys.stderr
    remember_what_ships()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for number in range(first, first + count):
            print(f"begin {number}", file=say)
            begun_s = _cpu_s()
            try:
                clean = read(random.Random(f"{seed}/{name}/{number}"), Path(folder))
                outcome = {"outcome": "ok" if clean else "diagnosed"}
            except (WorkbenchError, SystemExit):
                outcome = {"outcome": "diagnosed"}
            except LostError as error:
                outcome = {"outcome": "files_lost", "note": str(error)}
            except BaseException as error:  # what the fuzzer is for
                place = traceback.extract_tb(error.__traceback__)[-1]
                note = f"{type(error).__name__}: {str(error)[-300:]} ({Path(place.filename).name}:{place.lineno})"
                outcome = {"outcome": "tracebacks", "note": note}
            most = max(_most_bytes(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10)
            if (cpu_s := _cpu_s() - begun_s) > HANG_CPU_S:
                outcome = {"outcome": "hangs", "note": f"{cpu_s:.1f} s of processor time"}
            if most > MEMORY_BYTES and outcome["outcome"] != "tracebacks":
                outcome = {"outcome": "over_memory", "note": f"{most} bytes"}
            print(json.dumps(outcome), file=say)
            if most > MEMORY_BYTES:
                return


def _most_bytes() -> int:
    """The most memory that this program had; `ru_maxrss` counts what its starter had before it, too."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) << 10


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


def outcomes(name: str, first: int, count: int, seed: int, hang_s: float = HANG_S) -> Iterator[tuple[int, str, str]]:
    """(number, outcome, note) of each input, read by processes that are replaced where one ends or hangs."""
    upto = first + count
    while first < upto:
        words = [sys.executable, __file__, "--worker", name, str(first), str(upto - first), str(seed)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0) as worker:
            assert worker.stdout is not None
            for number, outcome, note in _followed(worker, hang_s):
                first = number + 1
                yield number, outcome, note
            worker.kill()


def _followed(worker: subprocess.Popen[bytes], hang_s: float) -> Iterator[tuple[int, str, str]]:
    assert worker.stdout is not None
    number, begun, rest = -1, time.monotonic(), b""
    while True:
        limit = 120.0 if number < 0 else max(0.0, hang_s - (time.monotonic() - begun))
        ready = select.select([worker.stdout], [], [], limit)[0]
        piece = os.read(worker.stdout.fileno(), 1 << 16) if ready else b""
        if not piece:
            if number >= 0:
                yield (number, "tracebacks", "the process ended") if ready else (number, "hangs", f"over {hang_s:g} s")
            elif worker.poll() not in (0, None):
                raise RuntimeError(f"the reading process cannot begin: {worker.args}")
            return
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"begin"):
                number, begun = int(line.split()[1]), time.monotonic()
            else:
                told = json.loads(line)
                yield number, told["outcome"], told.get("note", "")
                number = -1


# ---- all of them


Note = dict[str, object]


def read_format(name: str, first: int, count: int, seed: int) -> tuple[Counter[str], list[Note]]:
    """How many inputs of a format came to what, and a note on each that came to harm."""
    counts: Counter[str] = Counter()
    notes: list[Note] = []
    for number, outcome, note in outcomes(name, first, count, seed):
        counts[outcome] += 1
        if note:
            notes.append({"format": name, "number": number, "seed": seed, "outcome": outcome, "note": note})
            print(f"{name} {number}: {outcome}: {note}", file=sys.stderr, flush=True)
    return counts, notes


def fuzz(total: int, seed: int, only: str, first: int, jobs: int) -> dict[str, Any]:
    shares = {only: 1.0} if only else {name: share for name, (_, share) in FORMATS.items() if share}
    with tempfile.TemporaryDirectory(prefix="fuzz-board-") as board, ThreadPoolExecutor(jobs) as pool:
        if "records" in shares and fuzz_records.BOARD_VARIABLE not in os.environ:
            os.environ[fuzz_records.BOARD_VARIABLE] = str(fuzz_records.leave_records(Path(board)))
        asked = {
            n: pool.submit(read_format, n, first, max(1, round(total * share)), seed) for n, share in shares.items()
        }
        found = {name: answer.result() for name, answer in asked.items()}
    formats = {name: _counted(counts) for name, (counts, _) in found.items()}
    everything = sum((counts for counts, _ in found.values()), Counter[str]())
    notes = [note for _, culprits in found.values() for note in culprits]
    return {**_counted(everything), "formats": formats, "seed": seed, "first": first, "culprits": notes}


def _counted(counts: Counter[str]) -> dict[str, int]:
    return {"inputs": counts.total(), **{kind: counts[kind] for kind in KINDS}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true", help="2,000 inputs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(FORMATS), default="")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--jobs", type=int, default=2, help="processes that read at a time")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        name, *numbers = chosen.worker
        work(name, *map(int, numbers))
        return 0
    result = fuzz(2000 if chosen.quick else chosen.inputs, chosen.seed, chosen.only, chosen.first, chosen.jobs)
    if chosen.json:
        print(json.dumps(result, indent=1))
    else:
        for name, counts in {**result["formats"], "all": result}.items():
            print(f"{name:12}", *(f"{kind} {counts[kind]:7}" for kind in ("inputs", *KINDS)))
    return 1 if any(result[kind] for kind in KINDS[2:]) else 0


if __name__ == "__main__":
    sys.exit(main())
