"""How the fuzzer reads what a person asks of a design and of its run: assertions and directives in the design's text,
statements of the query language, changes, conditions, moments, studies, and the recorded traffic of ports."""

import random
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import fuzz_inputs as inputs
from fuzz_readers import Read, clean, command, plugins

_DATA = inputs.ROOT / "tests" / "data"
_PROJECT = inputs.TINY / "tiny.workbench.yaml"
_WATCHED = {"verilog": "tiny_top.v", "vhdl": "tiny_top.vhd"}
_OF_STREAMS = b"""m1: measure rate at gen.out
measure hist(bins=16, low=0, high=10) occupancy at queue.q  // how full
measure mean(frame=1 us) latency at gen.out -> use.out when m1 > 100 ktps & !backpressure at queue.q
a1: assert m1 >= 100 Mtps | util at queue.q < 50 %
"""
_OF_STATES = b"""s1: measure share of state add of adder
measure mean dwell of state idle of adder when visits of state add of adder > 0
measure transitions of state add -> idle of adder
a2: assert s1 > 0.1 % & visits of state fetch of adder >= 3
"""
_CHANGES = (
    b"unite calls=put count=16", b"clock clock=clk frequency_hz=2e8", b"split calls=put count=2",
    b"state block=tiny_top.adder state=add factor=0.5", b"calls calls=put factor=0", b"early calls=host/main.c:31",
    b"replicas group=tiny_top.adder count=4", b"poll_delay calls=poll delay='1 us'", b"depth fifo=x depth=8",
)  # fmt: skip
_CONDITIONS = (
    b"time > 1.02", b"findings.new > 0 or findings.gone > 1", b"call('put').count > 3",
    b"block('tiny_top.adder').time > 1 and not state('tiny_top.adder', 'add').time < 0.9",
)  # fmt: skip
_MOMENTS = (b"1.5 ms", b"10 us", b"0", b"3 ns", b"-1 s", b"1e400 s")
_WORDS = (b"adder add", b"put", b"wait_recv", b"*")
_STUDY = b"""schema_version: 1
name: delays
projects: [tiny.workbench.yaml]
vary:
  DELAY: [1, 2, 4]
set:
  ROUNDS: 3
predicted:
  base: {DELAY: 2}
  by: ["state 'block=adder state=add factor={DELAY}'"]
"""


def _text(seed: bytes, rng: random.Random, *others: bytes) -> str:
    """The seed, mutated in most cases, as the argument of a command."""
    text = inputs.mutated(seed, rng, [seed, *others]) if rng.random() < 0.7 else seed
    return text.replace(b"\0", b"")[:100_000].decode("utf-8", "surrogateescape")


def read_watched(rng: random.Random, folder: Path) -> bool:
    """Assertions (SVA, PSL, VHDL's), branches and directives for metrics, in a design that is instrumented."""
    language = rng.choice(("verilog", "verilog", "vhdl"))
    kind = rng.choice(("assertions", "metrics"))
    text = (_DATA / kind / _WATCHED[language]).read_bytes()
    with tempfile.TemporaryDirectory(dir=folder) as own:
        project = Path(shutil.copytree(inputs.TINY, Path(own) / "tiny"))
        source = project / "hdl" / _WATCHED[language]
        shutil.rmtree(project / "hdl")
        source.parent.mkdir()
        source.write_bytes(_line_changed(text, rng) if rng.random() < 0.7 else inputs.mutated(text, rng, [text]))
        file = project / "tiny.workbench.yaml"
        asked = "hardware:\n  assertions: true\n  branches: true\n"
        file.write_text(file.read_text().replace("hardware:\n", asked).replace("hdl/*.v", f"hdl/{source.name}"))
        return command("instrument", str(file), "--out", f"{own}/copies")


def _line_changed(text: bytes, rng: random.Random) -> bytes:
    """A design of which a line that says what to watch is changed."""
    lines = text.splitlines(keepends=True)
    watching = [at for at, line in enumerate(lines) if b"assert" in line or b"pragma recap" in line or b"psl" in line]
    at = rng.choice(watching)
    lines[at] = inputs.mutated(lines[at], rng, [lines[other] for other in watching])[:20_000]
    return b"".join(lines)


@cache
def _fifo_run() -> Path:
    """A run with streams and a FIFO of ordinary RTL, written to a folder."""
    sys.path.insert(0, str(inputs.ROOT / "tests"))
    from rtl_run import fifo_run

    from workbench.formats.run_folder import RunWriter

    run = fifo_run()
    writer = RunWriter(Path(tempfile.mkdtemp(prefix="fuzz-")) / "run")
    writer.finish(run.manifest, run.tables)
    return writer.path


@cache
def _recorded_run() -> Path:
    """A traced run of the tiny project whose ports' traffic was recorded."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    words = [
        sys.executable,
        "-m",
        "workbench",
        "run",
        str(_PROJECT),
        "--trace",
        "--ports",
        "--out",
        str(folder / "run"),
    ]
    subprocess.run(words, check=True, capture_output=True)
    return folder / "run"


def read_statements(rng: random.Random, folder: Path) -> bool:
    """Statements of the query language, about streams of ordinary RTL and states of blocks."""
    run, seed = rng.choice(((_fifo_run, _OF_STREAMS), (_recorded_run, _OF_STATES)))
    lines, others = seed.splitlines(keepends=True), [_OF_STREAMS, _OF_STATES, inputs.STREAMS["asked.query"]]
    asked = rng.choice(lines[1:])
    changed = inputs.mutated(asked, rng, others) if rng.random() < 0.8 else asked
    (folder / "asked.query").write_bytes(lines[0] + changed)  # the first has the label that others name
    return command("query", str(run()), str(folder / "asked.query"), *rng.choice(((), ("--limits",))))


def read_question(rng: random.Random, folder: Path) -> bool:
    """What a run is asked in words of a command: changes, conditions, moments and names."""
    run, kind = str(_recorded_run()), rng.randrange(3)
    if kind == 0:
        changes = [f"--change={_text(rng.choice(_CHANGES), rng, *_CHANGES)}" for _ in range(rng.choice((1, 1, 2)))]
        return command("whatif", run, *changes)
    if kind == 1:
        return command("compare", run, run, f"--fail-if={_text(rng.choice(_CONDITIONS), rng, *_CONDITIONS)}")
    moments = [f"--{side}={_text(rng.choice(_MOMENTS), rng, *_MOMENTS)}" for side in ("from", "to")]
    return command("timeline", run, *moments[: rng.randrange(3)], f"--find={_text(rng.choice(_WORDS), rng, *_WORDS)}")


def read_study(rng: random.Random, folder: Path) -> bool:
    """A study, read with the projects and settings that it names."""
    from workbench.model.diagnostic import WorkbenchError
    from workbench.session.make.study import load_study

    file = inputs.project_copy() / "fuzzed.study.yaml"
    file.write_bytes(inputs.document([_STUDY], rng))
    try:
        return clean(load_study(file, plugins())[1])
    except WorkbenchError as error:
        return clean(error.diagnostics)


def read_traffic(rng: random.Random, folder: Path) -> bool:
    """Recorded traffic of ports, damaged, of which a testbench is written."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        run = Path(shutil.copytree(_recorded_run(), Path(own) / "run"))
        (run / "checksums.json").unlink()
        (waves,) = run.rglob("*.vcd")
        text = waves.read_bytes()
        waves.write_bytes(inputs.mutated(text, rng, [text]))
        return command("testbench", str(run), "--out", f"{own}/bench", "--project", str(_PROJECT))


QUESTIONS: dict[str, tuple[Read, float]] = {
    "watched": (read_watched, 0.004), "statements": (read_statements, 0.02),
    "question": (read_question, 0.02), "study": (read_study, 0.02),
    "traffic": (read_traffic, 0.002),
}  # fmt: skip
