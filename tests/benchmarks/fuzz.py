"""Wrong inputs for every format that the program reads, each answered in words, soon, and in bounded memory.

    python tests/benchmarks/fuzz.py [--inputs N] [--seed S] [--only FORMAT] [--first N] [--jobs N] [--json] [--quick]

Bundled templates, projects, models, rules, pragmas in three comment styles, formulas, a run folder, a streaming
application with a query, C and Verilog are mutated (by bytes, words, lines and values) and read as the commands read
them. Input K of a format depends on seed, format and K alone. `ok` were taken, `diagnosed` were answered with
diagnostics; `tracebacks` escaped as anything else (or ended the process), `hangs` took over 10 s of processor time or a
minute on the clock (which a busy machine shares out), `over_memory` over 1 GB; both of the process and the children
that read for it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
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
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import fuzz_inputs as inputs
import fuzz_records

HANG_CPU_S, HANG_S, MEMORY_BYTES = 10.0, 60.0, 1_000_000_000
KINDS = ("ok", "diagnosed", "tracebacks", "hangs", "over_memory")
Read = Callable[[random.Random, Path], bool]


@cache
def _plugins() -> Any:
    from workbench.session.plugins import load_plugins

    return load_plugins()


def command(*arguments: str) -> bool:
    """Run a command in this process, its JSON read; whether it was content."""
    from workbench.cli.main import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main([*arguments, "--json"])
    json.loads(out.getvalue())
    return code == 0


def _clean(problems: Any) -> bool:
    for problem in problems:
        problem.text()
    return not problems


def read_template(rng: random.Random, folder: Path) -> bool:
    file = folder / "card.yaml"
    file.write_bytes(inputs.document(inputs.seeds("template"), rng))
    return command("template", "check", str(file))


def read_project(rng: random.Random, folder: Path) -> bool:
    from workbench.model.diagnostic import WorkbenchError
    from workbench.session.opening import open_workspace

    file = inputs.project_copy() / "fuzzed.workbench.yaml"
    file.write_bytes(inputs.document(inputs.seeds("project")[:1], rng))
    try:
        return _clean(open_workspace(file, _plugins()).diagnostics)
    except WorkbenchError as error:
        return _clean(error.diagnostics)


def read_model(rng: random.Random, folder: Path) -> bool:
    kind = rng.choice(("ratss", "ratss", "density"))
    file = folder / f"model.{kind}.yaml"
    file.write_bytes(inputs.document(inputs.seeds(kind), rng))
    more: list[tuple[str, ...]] = [(), ("--sensitivity", "--uncertain", "64"), ("--uncertain", "20")]
    return command("predict", kind, str(file), *rng.choice(more if rng.random() < 0.2 else more[:1]))


def read_calibration(rng: random.Random, folder: Path) -> bool:
    """A model held against a run, and its measurements taken over."""
    file = folder / "model.ratss.yaml"
    text = inputs.seeds("ratss")[rng.randrange(len(inputs.seeds("ratss")))]
    file.write_bytes(inputs.document([text], rng) if rng.random() < 0.6 else text)
    run = inputs.damaged_run(rng) if rng.random() < 0.6 else inputs.run_copy()
    return command("predict", "ratss", str(file), "--run", str(run), *rng.choice(((), ("--take-over",))))


def read_streams(rng: random.Random, folder: Path) -> bool:
    """A streaming application in the X language and in a project, and what is asked of it."""
    for name, changed in zip(inputs.STREAMS, inputs.one_changed([*inputs.STREAMS.values()], rng), strict=True):
        (folder / name).write_bytes(changed)
    return command("query", str(folder / "laplace.workbench.yaml"), str(folder / "asked.query"))


def read_rules(rng: random.Random, folder: Path) -> bool:
    file = folder / "rules.yaml"
    file.write_bytes(inputs.document(inputs.seeds("rules"), rng))
    content = command("rules", "check", str(file))
    if content:
        _applied(file)
    return content


def _applied(file: Path) -> None:
    from rc_workbench_plugins.recap_rules.metrics import METRICS

    from workbench.analysis import analyse, load_knowledge
    from workbench.analysis.report import report_json
    from workbench.testing.runs import synthetic_platform, synthetic_run

    knowledge, _ = load_knowledge([file], METRICS)
    run = synthetic_run(cores=2, rounds=2)
    report_json(run.manifest, analyse(run, synthetic_platform(), knowledge))


_PRAGMA = "{} {} {}({}, {}, {}): {}"


def read_pragmas(rng: random.Random, folder: Path) -> bool:
    from workbench.api.source.pragma_text import PREFIX, Style, find_pragmas, pragma_extent

    style: Style = rng.choice(("c", "vhdl", "verilog"))
    lines = []
    for _ in range(rng.randrange(1, 6)):
        words = [rng.choice(("put", "x", "", "é", "9a")), rng.choice(("send", "recv", "work", "overhead", "wait_sned"))]
        places = [rng.choice(("data", "", "$CPU", "top.core[3].ctrl", "x|y", "core[*]", "9", "x|")) for _ in range(3)]
        lines.append(_PRAGMA.format(PREFIX[style], *words, *places, rng.choice(("a > 3", "", "nosuch >", "/* x"))))
    seed = rng.choice([*inputs.seeds("c"), *inputs.seeds("verilog")]) if rng.random() < 0.5 else b""
    text = inputs.mutated("\n".join(lines).encode() + seed, rng, inputs.seeds("c")).decode("utf-8", "surrogateescape")
    _, problems = find_pragmas(text, style, "x")
    pragma_extent(text, style, rng.randrange(1, 9))
    return _clean(problems)


def _formula(rng: random.Random, depth: int) -> str:
    if not depth or rng.random() < 0.3:
        return rng.choice(("a", "b.c", "1", "2.5", "1e300", "0", "'x'", "true", "𝔘", "x.y.z"))
    inner = [_formula(rng, depth - 1) for _ in range(3)]
    sign = rng.choice(("+", "-", "*", "/", "//", "%", "**", "<", ">=", "==", "!=", "and", "or", "&&", ","))
    forms = ("{0} {s} {1}", "({0} {s} {1})", "min({0}, {1})", "where({0}, {1}, {2})", "log2({0})", "-{0}", "not {0}")
    return rng.choice(forms).format(*inner, s=sign)


def read_formula(rng: random.Random, folder: Path) -> bool:
    import numpy as np

    from workbench.model.diagnostic import WorkbenchError
    from workbench.model.expression import Expression

    text = _formula(rng, 4)
    if rng.random() < 0.6:
        text = inputs.mutated(text.encode(), rng, [b"a + b.c"]).decode("utf-8", "surrogateescape")
    expression, problems = Expression.parse(text, line=1)
    if expression is None:
        return _clean(problems)
    values = {name: rng.choice((0.0, -1.0, 1e300, np.arange(3.0), "x", float("nan"))) for name in expression.names}
    with contextlib.suppress(WorkbenchError):
        expression.evaluate(values)
    return True


def read_run(rng: random.Random, folder: Path) -> bool:
    run = str(inputs.damaged_run(rng))
    chosen = rng.randrange(6)
    if chosen == 0:
        return command("report", run, "--html", str(folder / "report.html"), "--svg", str(folder / "graph.svg"))
    if chosen == 1:
        return command("compare", run, str(inputs.run_copy()))
    if chosen == 2:
        from workbench.cli.main import main

        out = str(folder / "out")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return main(["export", run, "--format", rng.choice(("chrome", "csv")), "--out", out]) == 0
    return command("report", run)


def read_records(rng: random.Random, folder: Path) -> bool:
    """Records of a board, damaged: a run is made of what can be used, which opens without a fault of its own."""
    from workbench.formats.run_folder import open_run

    with tempfile.TemporaryDirectory(dir=folder) as own:
        damaged = fuzz_records.damaged_records(Path(own), rng)
        before = contents(damaged)
        content = command("collect", str(fuzz_records.board() / "tree"), str(damaged), "--out", f"{own}/run")
        unchanged(damaged, before)
        if Path(own, "run").exists():
            faults = [fault for fault in open_run(Path(own, "run"))[1] if "run failed" not in fault.message]
            assert not faults, faults
    return content


def contents(folder: Path) -> dict[Path, bytes]:
    """What the files below a folder hold."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def unchanged(folder: Path, before: dict[Path, bytes]) -> None:
    """Raise LostError where files of the person's are not as they were."""
    now = contents(folder)
    gone = [path.name for path, data in before.items() if now.get(path) != data]
    if gone:
        raise LostError(f"changed or gone: {', '.join(gone)}")


class LostError(Exception):
    """A file of the person's was changed or taken away by a command that only reads it."""


def read_source(name: str, kind: str) -> Read:
    def read(rng: random.Random, folder: Path) -> bool:
        project = inputs.project_copy()
        original = (inputs.TINY / name).read_bytes()
        seed = original if rng.random() < 0.7 else rng.choice(inputs.seeds(kind))
        (project / name).write_bytes(inputs.mutated(seed, rng, inputs.seeds(kind)))
        try:
            return command("scan", str(project / "tiny.workbench.yaml"))
        finally:
            (project / name).write_bytes(original)

    return read


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
FORMATS: dict[str, tuple[Read, float]] = {
    "template": (read_template, 0.10), "project": (read_project, 0.20), "model": (read_model, 0.07),
    "calibration": (read_calibration, 0.02), "rules": (read_rules, 0.05), "pragmas": (read_pragmas, 0.22),
    "formula": (read_formula, 0.22), "streams": (read_streams, 0.04), "run": (read_run, 0.04),
    "records": (read_records, 0.02), "c": (read_source("host/main.c", "c"), 0.02),
    "verilog": (read_source("hdl/tiny_top.v", "verilog"), 0.02), "self-check": (read_self_check, 0.0),
}  # fmt: skip


# ---- a process that reads


def work(name: str, first: int, count: int, seed: int) -> None:
    """Read inputs, and say of each when it begins and what became of it. Ends early where memory was spent."""
    from workbench.model.diagnostic import WorkbenchError

    say, read = os.fdopen(os.dup(1), "w", buffering=1), FORMATS[name][0]
    sys.stdout = sys.stderr
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for number in range(first, first + count):
            print(f"begin {number}", file=say)
            begun_s = _cpu_s()
            try:
                clean = read(random.Random(f"{seed}/{name}/{number}"), Path(folder))
                outcome = {"outcome": "ok" if clean else "diagnosed"}
            except (WorkbenchError, SystemExit):
                outcome = {"outcome": "diagnosed"}
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
    with ThreadPoolExecutor(jobs) as pool:
        asked = {n: pool.submit(read_format, n, first, round(total * share), seed) for n, share in shares.items()}
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
    parser.add_argument("--quick", action="store_true", help="600 inputs")
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
    result = fuzz(600 if chosen.quick else chosen.inputs, chosen.seed, chosen.only, chosen.first, chosen.jobs)
    if chosen.json:
        print(json.dumps(result, indent=1))
    else:
        for name, counts in {**result["formats"], "all": result}.items():
            print(f"{name:12}", *(f"{kind} {counts[kind]:7}" for kind in ("inputs", *KINDS)))
    return 1 if result["tracebacks"] or result["hangs"] or result["over_memory"] else 0


if __name__ == "__main__":
    sys.exit(main())
