"""How the fuzzer reads each of the workbench's own formats: as the commands do. True: the input was taken."""

import contextlib
import io
import json
import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fuzz_inputs as inputs
import fuzz_records

Read = Callable[[random.Random, Path], bool]


def remember_what_ships() -> None:
    """Read plugins, their rules and shipped templates once a process, not once an input. Comes before any command is
    imported."""
    from workbench.formats import platform_file
    from workbench.session.keep import results
    from workbench.session.program import plugins as loaded

    read = platform_file.load_platform
    shipped = cache(read)

    def load_platform(path: Path | str, kinds: Any = platform_file.NO_KINDS) -> Any:
        is_shipped = kinds is platform_file.NO_KINDS and Path(path).parent == inputs.ROOT / "platform_templates"
        return shipped(Path(path)) if is_shipped else read(path, kinds)

    platform_file.load_platform = load_platform
    loaded.load_plugins = cache(loaded.load_plugins)
    open_knowledge = results.open_knowledge
    knowledge = cache(lambda: open_knowledge(plugins()))
    results.open_knowledge = lambda *_: knowledge()


READER = SimpleNamespace(in_child=True)


def read_here_or_in_child() -> None:
    """Let `READER` say whether sources are read in a child process or in this one, whose faults then are the same."""
    from workbench.session.open import reader_child, reading

    in_child = reader_child.in_child

    def read(work: Callable[[], Any], *limits: Any, **more: Any) -> Any:
        if READER.in_child:
            return in_child(work, *limits, **more)
        return reader_child.result_or_raise(reader_child.outcome(work))

    reading.in_child = read


@cache
def plugins() -> Any:
    from workbench.session.program.plugins import load_plugins

    return load_plugins()


def command(*arguments: str) -> bool:
    """Run a command in this process, its JSON read; whether it was content."""
    from workbench.cli.main import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main([*arguments, "--json"])
    json.loads(out.getvalue())
    return code == 0


def clean(problems: Any) -> bool:
    for problem in problems:
        problem.text()
    return not problems


def read_template(rng: random.Random, folder: Path) -> bool:
    file = folder / "card.yaml"
    file.write_bytes(inputs.document(inputs.seeds("template"), rng))
    return command("template", "check", str(file))


def read_project(rng: random.Random, folder: Path) -> bool:
    from workbench.model.diagnostic import WorkbenchError
    from workbench.session.open.opening import open_workspace

    file = inputs.project_copy() / "fuzzed.workbench.yaml"
    file.write_bytes(inputs.document(inputs.seeds("project")[:1], rng))
    try:
        return clean(open_workspace(file, plugins()).diagnostics)
    except WorkbenchError as error:
        return clean(error.diagnostics)


def read_model(rng: random.Random, folder: Path) -> bool:
    kind = rng.choice(inputs.MODELS)
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
    from workbench.api.languages import VERILOG, VHDL, C
    from workbench.api.source.pragma_text import find_pragmas, pragma_extent

    syntax = rng.choice((C, VHDL, VERILOG))
    lines = []
    for _ in range(rng.randrange(1, 6)):
        words = [rng.choice(("put", "x", "", "é", "9a")), rng.choice(("send", "recv", "work", "overhead", "wait_sned"))]
        places = [rng.choice(("data", "", "$CPU", "top.core[3].ctrl", "x|y", "core[*]", "9", "x|")) for _ in range(3)]
        lines.append(_PRAGMA.format(syntax.pragma, *words, *places, rng.choice(("a > 3", "", "nosuch >", "/* x"))))
    seed = rng.choice([*inputs.seeds("c"), *inputs.seeds("verilog")]) if rng.random() < 0.5 else b""
    text = inputs.mutated("\n".join(lines).encode() + seed, rng, inputs.seeds("c")).decode("utf-8", "surrogateescape")
    _, problems = find_pragmas(text, syntax, "x")
    pragma_extent(text, syntax, rng.randrange(1, 9))
    return clean(problems)


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
        return clean(problems)
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


def read_records(name: str) -> Read:
    """Records of a board, damaged: a run is made of what can be used, which opens without a fault of its own."""

    def read(rng: random.Random, folder: Path) -> bool:
        from workbench.formats.run_folder import open_run

        with tempfile.TemporaryDirectory(dir=folder) as own:
            damaged = fuzz_records.damaged_records(name, Path(own), rng)
            before = contents(damaged)
            content = command("collect", str(fuzz_records.board(name) / "tree"), str(damaged), "--out", f"{own}/run")
            unchanged(damaged, before)
            if Path(own, "run").exists():
                faults = [fault for fault in open_run(Path(own, "run"))[1] if "run failed" not in fault.message]
                assert not faults, faults
                command(rng.choice(("report", "streams", "path")), f"{own}/run")
        return content

    return read


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


OWN: dict[str, tuple[Read, float]] = {
    "template": (read_template, 0.08), "project": (read_project, 0.15), "model": (read_model, 0.06),
    "calibration": (read_calibration, 0.02), "rules": (read_rules, 0.05), "pragmas": (read_pragmas, 0.19),
    "formula": (read_formula, 0.19), "streams": (read_streams, 0.04), "run": (read_run, 0.03),
    **{fuzz_records.format_of(name): (read_records(name), 0.01) for name in fuzz_records.DAMAGED},
    "c": (read_source("host/main.c", "c"), 0.01),
    "verilog": (read_source("hdl/tiny_top.v", "verilog"), 0.01),
}  # fmt: skip
