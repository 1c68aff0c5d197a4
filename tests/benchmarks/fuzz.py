"""Wrong inputs for every format that the program reads, each answered in words, soon, and in bounded memory.

    python tests/benchmarks/fuzz.py [--inputs N] [--seed S] [--only FORMAT] [--first N] [--jobs N] [--seconds S]
        [--json] [--quick]

Every format that is read (`fuzz_readers.py`: templates, projects, models, rules, pragmas, formulas, run folders, a
boards' records, streaming applications with queries, C, Verilog; `fuzz_foreign.py`: FuseSoC cores, simulators' lists,
compilation databases, Chrome's traces, headers, OpenCL kernels, VHDL, settings, names of any bytes, records of a run
that was ended; `fuzz_questions.py`: assertions, directives, statements, changes, studies, recorded traffic) is mutated
by bytes, words, lines, keys and values, and read as the commands read it. Input K of a format depends on seed, format
and K alone. `ok` were taken, `diagnosed` were answered with diagnostics; `tracebacks`
escaped as anything else (or ended the process), `hangs` took over 10 s of processor time or a minute on the clock
in which they used none, `over_memory` over 1 GB; both of the process and the children that read for it. `files_lost`
changed or took away a file that they only had to read. Sources are read in a child process, as the program does, once
in 16 inputs: otherwise in the process itself, which takes a third of the time. What comes to harm there is read again
in a child, and that counts. A reading process may take 3 GB of addresses more than it begins with: an input that
wants more ends it, and nothing else.
"""

import argparse
import contextlib
import json
import math
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
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fuzz_records
import psutil
from fuzz_foreign import FOREIGN
from fuzz_questions import QUESTIONS
from fuzz_readers import OWN, READER, LostError, read_here_or_in_child, remember_what_ships

Part = tuple[str, int, int]  # of a format: its name, the number of the first input, and how many
HANG_CPU_S, HANG_S, MEMORY_BYTES, ADDRESS_BYTES = 10.0, 60.0, 1_000_000_000, 3_000_000_000
SLICES = 50  # in which the formats take turns, so that the first inputs are of all of them
IN_CHILD_EVERY = 16
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
READ = {**OWN, **FOREIGN, **QUESTIONS}
FORMATS = {**READ, "self-check": (read_self_check, 0.0)}


# ---- a process that reads


def work(parts: Sequence[Part], seed: int, in_child: bool) -> None:
    """Read inputs, and say of each when it begins and what became of it. Ends early where memory was spent: another
    process goes on."""
    say = os.fdopen(os.dup(1), "w", buffering=1)
    sys.stdout = sys.stderr
    if any(name in READ for name, _, _ in parts):
        remember_what_ships()
        read_here_or_in_child()
    limit_addresses()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for name, number in _each(parts):
            print(f"begin {name} {number}", file=say)
            READER.in_child = in_child or number % IN_CHILD_EVERY == 0
            outcome, most = _read(name, random.Random(f"{seed}/{name}/{number}"), Path(folder))
            print(json.dumps(outcome), file=say)
            if most > MEMORY_BYTES / 2:
                return


def limit_addresses() -> None:
    """Let this process and its children take little more memory than the bar, whatever an input wants."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + ADDRESS_BYTES,) * 2)


def _each(parts: Sequence[Part]) -> Iterator[tuple[str, int]]:
    return ((name, number) for name, first, count in parts for number in range(first, first + count))


def _read(name: str, rng: random.Random, folder: Path) -> tuple[dict[str, str], int]:
    """What became of an input, and the most bytes of memory so far."""
    from workbench.model.diagnostic import WorkbenchError

    begun_s = _cpu_s()
    try:
        outcome = {"outcome": "ok" if FORMATS[name][0](rng, folder) else "diagnosed"}
    except (WorkbenchError, SystemExit):
        outcome = {"outcome": "diagnosed"}
    except LostError as error:
        outcome = {"outcome": "files_lost", "note": str(error)}
    except BaseException as error:  # what the fuzzer is for
        place = traceback.extract_tb(error.__traceback__)[-1]
        note = f"{type(error).__name__}: {str(error)[-300:]} ({Path(place.filename).name}:{place.lineno})"
        outcome = {"outcome": "over_memory" if isinstance(error, MemoryError) else "tracebacks", "note": note}
    most = max(_most_bytes(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10)
    if (cpu_s := _cpu_s() - begun_s) > HANG_CPU_S:
        outcome = {"outcome": "hangs", "note": f"{cpu_s:.1f} s of processor time"}
    if most > MEMORY_BYTES and outcome["outcome"] != "tracebacks":
        outcome = {"outcome": "over_memory", "note": f"{most} bytes"}
    return outcome, most


def _most_bytes() -> int:
    """The most memory that this program had; `ru_maxrss` counts what its starter had before it, too."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) << 10


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


def outcomes(
    parts: Sequence[Part], seed: int, hang_s: float = HANG_S, in_child: bool = False
) -> Iterator[tuple[str, int, str, str]]:
    """(format, number, outcome, note) of each input, read by one process, which is replaced where it ends or hangs."""
    left = [*parts]
    while left:
        doubtful: list[Part] = []
        words = [sys.executable, __file__, "--seed", str(seed), "--worker", json.dumps(left), *["--child"] * in_child]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0) as worker:
            try:
                for found in _followed(worker, hang_s):
                    name, number, outcome, _ = found
                    left = _after(left, name, number)
                    if outcome in KINDS[2:] and not in_child and name in READ:
                        doubtful = [(name, number, 1)]
                        break
                    yield found
            finally:
                worker.kill()
        if doubtful:
            yield from outcomes(doubtful, seed, hang_s, in_child=True)


def _after(parts: Sequence[Part], name: str, number: int) -> list[Part]:
    """What is left of the parts after an input."""
    at = next(place for place, (other, first, count) in enumerate(parts) if other == name and number < first + count)
    _, first, count = parts[at]
    rest = first + count - number - 1
    return [*([(name, number + 1, rest)] if rest else []), *parts[at + 1 :]]


def _followed(worker: subprocess.Popen[bytes], hang_s: float) -> Iterator[tuple[str, int, str, str]]:
    assert worker.stdout is not None
    name, number, rest = "", -1, b""
    while True:
        limit_s, used_s = hang_s if name else 120.0, list[float]()
        while not (ready := select.select([worker.stdout], [], [], limit_s)[0]) and name:
            used_s.append(_used_s(worker.pid))
            waits = used_s[-1:] == used_s[-2:-1]
            if waits or used_s[-1] - used_s[0] > 2 * HANG_CPU_S:
                break
        piece = os.read(worker.stdout.fileno(), 1 << 16) if ready else b""
        if not piece:
            if name:
                outcome = ("tracebacks", "the process ended") if ready else ("hangs", f"over {hang_s:g} s")
                yield (name, number, *outcome)
            elif worker.poll() not in (0, None):
                raise RuntimeError(f"the reading process cannot begin: {worker.args}")
            return
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"begin"):
                _, name, at = line.decode().split()
                number = int(at)
            else:
                told = json.loads(line)
                yield name, number, told["outcome"], told.get("note", "")
                name = ""


def _used_s(process: int) -> float:
    """The processor time of a process and all that it started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        worker = psutil.Process(process)
        return sum(sum(one.cpu_times()[:4]) for one in (worker, *worker.children(recursive=True)))
    return 0.0


# ---- all of them


Note = dict[str, object]


def read_parts(parts: Sequence[Part], seed: int, until_s: float) -> tuple[dict[str, Counter[str]], list[Note]]:
    """How many inputs of each format came to what until a time on the monotonic clock, and a note on each that came to
    harm."""
    counts: dict[str, Counter[str]] = {name: Counter() for name, _, _ in parts}
    notes: list[Note] = []
    for name, number, outcome, note in outcomes(parts, seed):
        counts[name][outcome] += 1
        if note:
            notes.append({"format": name, "number": number, "seed": seed, "outcome": outcome, "note": note})
            print(f"{name} {number}: {outcome}: {note}", file=sys.stderr, flush=True)
        if time.monotonic() > until_s:
            break
    return counts, notes


def fuzz(total: int, seed: int, only: str, first: int, jobs: int, seconds: float = math.inf) -> dict[str, Any]:
    """All inputs, or as many as are read within a time, shared out among so many processes, each of which reads its
    share of every format."""
    shares = {only: 1.0} if only else {name: share for name, (_, share) in FORMATS.items() if share}
    boards_of = {fuzz_records.format_of(board): board for board in fuzz_records.DAMAGED}
    some = {name: total * share for name, share in shares.items() if name not in boards_of or total * share >= 1}
    numbers = {name: round(count) or 1 for name, count in some.items()}
    plans = [list(_share(numbers, first, job, jobs)) for job in range(jobs)]
    with tempfile.TemporaryDirectory(prefix="fuzz-board-") as boards, ThreadPoolExecutor(jobs) as pool:
        if fuzz_records.BOARD_VARIABLE not in os.environ:
            for name in boards_of.keys() & numbers.keys():
                fuzz_records.leave_records(Path(boards, boards_of[name]), boards_of[name])
            os.environ[fuzz_records.BOARD_VARIABLE] = boards
        answers = [pool.submit(read_parts, plan, seed, time.monotonic() + seconds) for plan in plans]
        found = [answer.result() for answer in answers]
    by_format = {name: sum((counts.get(name, Counter()) for counts, _ in found), Counter[str]()) for name in numbers}
    formats = {name: _counted(counts) for name, counts in by_format.items()}
    everything = sum(by_format.values(), Counter[str]())
    notes = [note for _, culprits in found for note in culprits]
    return {**_counted(everything), "formats": formats, "seed": seed, "first": first, "culprits": notes}


def _share(numbers: Mapping[str, int], first: int, job: int, jobs: int) -> Iterator[Part]:
    for part in range(SLICES * job, SLICES * (job + 1)):
        for name, count in numbers.items():
            begin, end = (count * edge // (SLICES * jobs) for edge in (part, part + 1))
            if end > begin:
                yield name, first + begin, end - begin


def _counted(counts: Counter[str]) -> dict[str, int]:
    return {"inputs": counts.total(), **{kind: counts[kind] for kind in KINDS}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true", help="2,000 inputs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(FORMATS), default="")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--seconds", type=float, default=math.inf, help="then stop, with what was read until then")
    parser.add_argument("--jobs", type=int, default=2, help="processes that read at a time")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        work(chosen.worker, chosen.seed, chosen.child)
        return 0
    total = 2000 if chosen.quick else chosen.inputs
    result = fuzz(total, chosen.seed, chosen.only, chosen.first, chosen.jobs, chosen.seconds)
    if chosen.json:
        print(json.dumps(result, indent=1))
    else:
        for name, counts in {**result["formats"], "all": result}.items():
            print(f"{name:12}", *(f"{kind} {counts[kind]:7}" for kind in ("inputs", *KINDS)))
    return 1 if any(result[kind] for kind in KINDS[2:]) else 0


if __name__ == "__main__":
    sys.exit(main())
