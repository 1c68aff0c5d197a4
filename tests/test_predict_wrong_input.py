"""Wrong models and wrong options: each is answered once, with the line and with what would be right; none is taken."""

import copy
import json
import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from predicting import parse_density, parse_ratss

from workbench.cli.main import main, parser
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.platform import Platform
from workbench.predict.formulas import Evaluation, ModelFile
from workbench.predict.kinds import outputs_of
from workbench.predict.solve import solve

BIG = 10**400
#: What people and programs write where a number, a formula, a name or a list should be.
VALUES: tuple[Any, ...] = (
    0, -1, 0.5, 3, 1e308, -1e308, 1e-320, BIG, -BIG, "", " ", "x", "n", "n / 0", "n - 1e9", "0 / 0", "1e400", "nan",
    ".nan", ".inf", "-inf", "3 furlong", "3 KB", "3 MB/s", "100 MHz", "(" * 80, "𝔘*()", "n and", "where(n, 1)",
    "__import__('os')", "a.b.c", "9" * 400, True, False, None, [], [1], ["a", "a"], {}, {"n": 3}, {"a": {"value": -1}},
)  # fmt: skip

RATSS = """
schema_version: 1
name: all
title: every field
description: of a RATSS model
platform: nallatech_h101
system: NNUS
inputs:
  n: {value: 4, type: integer, minimum: 1, maximum: 64, title: nodes, unit: ''}
  f: {value: 100 MHz, unit: Hz, low: 50 MHz, high: 200 MHz}
  e: {value: 0.5, deviation: 0.1}
readings: {other: {n: 8, f: 1.0e+8}}
stages:
- name: first
  iterations: 3
  overlapped: true
  nonblocking: true
  configuration_s: 1 us
  preprocessing_s: 1 us
  postprocessing_s: 1 us
  microprocessor_s: 1 us
  nodes:
  - {name: work, pipeline_cycles: 11, elements: n, ops_per_element: 2, clock_hz: f, ops_per_cycle: 2, correction: 1,
     measured_in: [compute]}
  transactions:
  - {name: bus, kind: io, nodes: 2, bytes: n * 4, transfers: 2, rate_bytes_per_s: 1 GB/s, efficiency: e,
     latency_s: 1 us, overhead_s: 1 us, returns: true, measured_in: [readBins], correction: 1}
  - {name: table, kind: io, table: write, bytes: 4096}
  - {name: sum, kind: reduce, nodes: n, bytes: 1024, network: Gigabit Ethernet, reading: fitted, gap_s: 1 us,
     gap_per_byte_s: 1 ns/B, reduction_s: 1 ns, bytes_per_element: 4}
  - {name: serial, kind: gather, nodes: n, bytes: 1024, network: Gigabit Ethernet, serial: true, overlapped: true}
- {name: second, after: [first]}
iterations: 1
pipelined: false
baseline_s: 1
resources: {cost: n}
measured:
- {stage: first, inputs: {n: 2}, comp_s: 1, comm_s: 1, total_s: 1, source: by hand}
- {speedup: 3, total_s: 1}
"""
DENSITY = """
schema_version: 1
name: all
title: every field
description: of a density model
platform: src6_map
algorithm: convolution
operation: multiply-add
element_bytes: 4
inputs: {n: {value: 128}, taps: {value: 3}}
readings: {other: {n: 64}}
layers: [{name: More, layer_bytes: 1 MB, bandwidth_bytes_per_s: 1 GB/s, latency_s: 1 us}]
compute: {units: 3, ops_per_cycle: 1, clock_hz: 100 MHz}
operations: n ** 2
problem_bytes: n * 4
eta: alpha / s
"""


def fields(data: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every key and item of a document."""
    if at:
        yield at
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from fields(value, (*at, key))


def written(data: Any, path: tuple[str | int, ...], value: Any, *, rename: bool = False) -> str:
    """The document with the value at a path, or its key, replaced."""
    changed = copy.deepcopy(data)
    inner = changed
    for part in path[:-1]:
        inner = inner[part]
    if rename:
        inner[str(value)] = inner.pop(path[-1])
    else:
        inner[path[-1]] = value
    return yaml.dump(changed, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)


def answered(problems: tuple[Diagnostic, ...], what: str) -> None:
    """Every diagnostic has its place, and nothing is said twice."""
    said = [(p.line, p.column, p.message) for p in problems]
    assert len(said) == len(set(said)), (what, said)
    for problem in problems:
        assert problem.file == "model.yaml", (what, problem)
        assert problem.line, (what, problem)
        assert problem.message, (what, problem)
        words = problem.hint.rstrip(".").split(": ")
        assert len(words) == len(set(words)), (what, problem)
        assert problem.hint or "should be" in problem.message or problem.severity is not Severity.ERROR, (what, problem)


def sound(file: ModelFile, what: str) -> None:
    """A model that is taken has sensible numbers, or names the line why not."""
    try:
        found = {**outputs_of(file)}
        file.kind.notes(Evaluation(file))
        for reading in file.model.readings:
            found |= {f"{reading}: {name}": value for name, value in outputs_of(file, None, reading).items()}
    except WorkbenchError as error:
        answered(error.diagnostics, what)
        return
    for name, value in found.items():
        assert math.isfinite(float(value)), (what, name)
        assert float(value) >= 0, (what, name)


def read(text: str, kind: str, platforms: Mapping[str, Platform]) -> ModelFile | None:
    parse: Callable[..., tuple[ModelFile | None, tuple[Diagnostic, ...]]]
    parse = parse_ratss if kind == "ratss" else parse_density
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        file, problems = parse(text, "model.yaml", platforms)
        answered(problems, text)
        assert (file is None) == any(p.severity is Severity.ERROR for p in problems), text
        if file is not None:
            sound(file, text)
    return file


@pytest.mark.parametrize(("kind", "text"), [("ratss", RATSS), ("density", DENSITY)])
def test_every_field_with_wrong_values(kind: str, text: str, platforms: Mapping[str, Platform]) -> None:
    data = yaml.safe_load(text)
    assert read(text, kind, platforms) is not None
    taken = 0
    for number, path in enumerate(fields(data)):
        for value in (BIG, *VALUES[number % 8 :: 8]):  # neighbours that are alike see all of them
            taken += read(written(data, path, value), kind, platforms) is not None
        if isinstance(path[-1], str):
            read(written(data, path, "zz", rename=True), kind, platforms)
    assert taken  # some of it is fine in some places: a name may be "x"


@settings(max_examples=80, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    which=st.integers(0, 10_000),
    value=st.one_of(
        st.text(max_size=40),
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(),
        st.lists(st.sampled_from(["n", "f", "+", "-", "*", "/", "**", "(", ")", "1", "0", "log2", "min", ","])).map(
            " ".join
        ),
        st.recursive(st.none() | st.booleans() | st.integers(), lambda inner: st.lists(inner, max_size=3)),
    ),
)  # fmt: skip
def test_any_field_with_any_value(which: int, value: Any, platforms: Mapping[str, Platform]) -> None:
    kind, text = ("ratss", RATSS) if which % 3 else ("density", DENSITY)
    data = yaml.safe_load(text)
    paths = list(fields(data))
    read(written(data, paths[which % len(paths)], value), kind, platforms)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("schema_version: 1", "schema_version: 99", "this workbench reads up to 1"),
        ("efficiency: e", "efficiency: 3", "efficiency is 3. It must be above 0, at most 1."),
        ("e: {value: 0.5", "e: {value: 3", "'e' is 3. It must be above 0, at most 1."),
        ("deviation: 0.1", "unit: furlong", "there is no unit 'furlong' here. Units here are: s, ms"),
        ("total_s: 1", "total_s: -1", "-1 should be above 0"),
        ("comp_s: 1", "comp_s: -1", "-1 should be at least 0"),
        ("baseline_s: 1", "baseline_s: 0", "baseline_s is 0. It must be above 0."),
        (
            "value: 100 MHz",
            "value: 300 MHz",
            "'f' is 300000000, outside its own low and high. Write 50000000 to 200000000",
        ),
        ("minimum: 1", "minimum: 5", "'n' is 4. It must be a whole number, at least 5, at most 64."),
        ("{n: 8, f", "{n: 128, f", "'n' is 128. It must be a whole number, at least 1, at most 64."),
        ("inputs: {n: 2}", "inputs: {n: 2.5}", "'n' is 2.5. It must be a whole number"),
        ("inputs: {n: 2}", "inputs: {m: 2}", "the model has no input 'm'. The model's inputs: n, f, e."),
        ("stage: first", "stage: frist", "there is no stage 'frist'. Did you mean 'first'?"),
        ("elements: n", f"elements: {BIG}", "is too large a whole number. Write it as in 1e30."),
        ("elements: n", "elements: .nan", "'.nan' is not a finite number. Write for example 4 or 1e6."),
        (
            "name: table",
            "name: work",
            "two parts of the stage are called 'work'. Give this one another name: the first",
        ),
        (
            "name: second",
            "name: first",
            "two stages are called 'first'. Give this one another name: the first is on",
        ),
        ("rate_bytes_per_s: 1 GB/s, ", "", "an efficiency without a rate has no effect. Give `rate_bytes_per_s`"),
        ("table: write", "table: writes", "there is no transfer table 'writes'. Did you mean 'write'?"),
        ("network: Gigabit Ethernet, reading", "reading", ""),
        ("after: [first]", "after: [third]", "there is no stage 'third'. Stages are: first, second."),
        (
            "table: write",
            "table: write, gap_s: 1 us",
            "warning: gap_s has no effect for a transfer table. Leave it out.",
        ),
        ("speedup: 3", "stage: first", ""),
        ("{cost: n}", "{total_s: n}", "'total_s' is an output of every model. Choose another name."),
        ("{cost: n}", "{n: 2 * n}", "the resource 'n' has the name of an input, but another formula"),
        ("{cost: n}", "{n: n}", ""),
    ],
)
def test_what_is_wrong_is_said_with_what_is_right(
    old: str, new: str, expected: str, platforms: Mapping[str, Platform]
) -> None:
    assert old in RATSS
    file, problems = parse_ratss(RATSS.replace(old, new, 1), "model.yaml", platforms)
    assert [expected in p.text() for p in problems] == [True] * bool(expected)
    assert (file is None) == (bool(problems) and problems[0].severity is Severity.ERROR)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("stages:", "stages: []\nrest:", "the model has no stages"),
        (
            "name: More",
            "name: 'On-board memory, from main memory'}, {name: 'On-board memory, from main memory'",
            "layers",
        ),
        ("taps: {value: 3}", "taps: {value: 0.5}", "'taps' is 0.5. It must be a whole number, at least 1."),
        ("units: 3", "units: 0", "compute.units is 0. It must be above 0."),
        ("name: More", "name: limit_ops_per_s", "'limit_ops_per_s' is a reserved name here"),
    ],
)
def test_a_few_of_the_rest(old: str, new: str, expected: str, platforms: Mapping[str, Platform]) -> None:
    if old in DENSITY:
        _, problems = parse_density(DENSITY.replace(old, new, 1), "model.yaml", platforms)
    else:
        head = RATSS[: RATSS.index("stages:")]
        _, problems = parse_ratss(f"{head}stages: []", "model.yaml", platforms)
    assert [expected in p.text() for p in problems] == [True]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("model.yaml").write_text(RATSS, encoding="utf-8")
    Path("density.yaml").write_text(DENSITY, encoding="utf-8")
    return "model.yaml"


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, the JSON document, and what stands on stderr."""
    capsys.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code = main(["predict", *arguments, "--json"])
    out, err = capsys.readouterr()
    document = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert "Traceback" not in err
    assert isinstance(document["diagnostics"], list)
    return code, document, err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--seed", "-1", "--uncertain", "5"], "the seed cannot be -1"),
        (["--seed", "3"], "Give --sensitivity or --uncertain N too."),
        (["--seed", "3", "--sweep", "n=1,2"], "Give --uncertain N too."),
        (["--spread", "f=60 MHz:90 MHz"], "Give --sensitivity or --uncertain N too."),
        (["--spread", "f=60 MHz:90 MHz", "--sweep", "n=1,2"], "Give --uncertain N too."),
        (
            ["--spread", "n=0:9", "--uncertain", "5"],
            "'n' cannot be 0. It must be a whole number, at least 1, at most 64.",
        ),
        (["--spread", "f=3:2", "--uncertain", "5"], "Write the lower value first."),
        (["--spread", "e=nan:1", "--uncertain", "5"], "'nan' is not a finite number"),
        (["--uncertain", "0"], "0 samples cannot be drawn"),
        (["--uncertain", "-4"], "-4 samples cannot be drawn"),
        (["--uncertain", str(BIG)], "that many samples cannot be drawn"),
        (["--sensitivity", "--uncertain", str(BIG)], "cannot be computed from this many samples"),
        (["--set", "n"], "'n' sets nothing. Write NAME=VALUE."),
        (["--set", "n=0"], "'n' cannot be 0. It must be a whole number"),
        (["--set", "n=2", "--set", "n=3"], "'n' is set twice"),
        (["--set", "f=fast"], "in 'f=fast': 'fast' is not a frequency"),
        (["--set", "zz=1"], "the model has no input 'zz'. The model's inputs: n, f, e."),
        (["--sweep", "n=0,1"], "'n' cannot be 0"),
        (["--sweep", "n=2.5"], "'n' cannot be 2.5"),
        (["--sweep", f"n={BIG}"], "is not a finite number"),
        (["--sweep", "n=1:65:3"], "'n' cannot be 65"),
        (["--sweep", "e=0.5,2"], "'e' cannot be 2. It must be above 0, at most 1."),
        (["--sweep", "zz=1"], "the model has no input 'zz'. The model's inputs: n, f, e."),
        (["--reading", "zz"], "The model's readings: other."),
        (["--solve", "e", "--speedup", "nan"], "the speedup cannot be nan"),
        (["--solve", "e", "--speedup", "-1"], "the speedup cannot be -1"),
        (["--solve", "e", "--speedup", "1e12"], "no 'e' from 0.0005 to 1 gives a speedup of"),
        (["--solve", "e", "--speedup", "3", "--sweep", "n=1,2"], "cannot be combined"),
        (["--speedup", "3"], "--speedup alone asks nothing. Give --solve NAME too."),
        (["--against", "cost"], "--against alone asks nothing"),
        (["--output", "zz", "--sensitivity"], "the model has no output 'zz'. The model's outputs: total_s"),
        (["--run", "nowhere", "--sensitivity"], "cannot be combined"),
    ],
)
def test_wrong_options_are_answered(
    arguments: list[str], expected: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document, err = told(capsys, "ratss", model, *arguments)
    assert code == 2
    assert expected in err
    (problem,) = document["diagnostics"]
    assert problem["line"] or not problem["file"]


OPTIONS = ("--sweep", "--uncertain", "--spread", "--output", "--against", "--solve", "--speedup", "--seed", "--reading",
           "--scheduler", "--run", "--sensitivity", "--take-over")  # fmt: skip
WORDS = st.one_of(
    st.sampled_from(["n=1,2", "n=1:8:3", "f=60 MHz:90 MHz", "e=0.1:0.9", "e=0.1:0.9:4", "n", "e", "total_s", "cost",
                     "3", "0", "1e400", "nan", str(BIG), "other", "", "=", ":", "n=", "n=::", "x" * 5000, "speedup"]),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
)  # fmt: skip


@settings(max_examples=12, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(options=st.lists(st.tuples(st.sampled_from(OPTIONS), WORDS), max_size=3))
def test_any_options_are_answered(
    options: list[tuple[str, str]], model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words: list[str] = []
    for name, word in options:
        small = word if name != "--uncertain" or not word.strip("3") else "50"  # a large number is a long sweep
        words += [name] if name in ("--sensitivity", "--take-over") else [f"{name}={small}"]
    try:
        parser().parse_args(["predict", "ratss", model, *words])
    except SystemExit:  # no number where one should be: the usage is shown
        return
    code, document, _ = told(capsys, "ratss", model, *words)
    assert code in (0, 2)
    assert (code == 2) == any(problem["severity"] == "error" for problem in document["diagnostics"])


KERNEL = '#include "rho.h"\nvolatile double sink;\nint main(void)\n{\n    static double x[64];\n'


@pytest.mark.parametrize(
    ("body", "line", "expected"),
    [
        ("rho_input(x, sizeof x, 8);\n    rho_begin();\n    sink = 1;\n    rho_end(1);", 7, "reads none of its inputs"),
        ("rho_input(x, sizeof x, 8);\n    rho_begin();\n    sink = x[3];\n    rho_end(0);", 9, "counts no operations"),
        ("rho_begin(;", 6, "it does not compile"),
    ],
)
def test_kernels_that_measure_nothing(
    body: str, line: int, expected: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("kernel.c").write_text(f"{KERNEL}    {body}\n    return 0;\n}}\n", encoding="utf-8")
    code, document, _ = told(capsys, "density", "density.yaml", "--kernel", "kernel.c")
    assert code == 2
    (problem,) = document["diagnostics"]
    assert expected in problem["message"]
    assert (problem["file"], problem["line"]) == ("kernel.c", line)


def test_a_kernel_is_found_from_here(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("sub").mkdir()
    body = (
        "rho_input(x, sizeof x, 8);\n    rho_begin();\n    for (int i = 0; i < 64; i++) sink = x[i];\n    rho_end(64);"
    )
    Path("sub/own.h").write_text("/* beside the kernel */\n", encoding="utf-8")
    source = f'#include "own.h"\n{KERNEL}    {body}\n    return 0;\n}}\n'
    Path("sub/kernel.c").write_text(source, encoding="utf-8")
    code, document, _ = told(capsys, "density", "density.yaml", "--kernel", os.path.join("sub", "kernel.c"))
    assert (code, document["reads"]) == (0, 64)
    for kernel, expected in (("sub", "there is no kernel"), ("x" * 5000, "there is no kernel")):
        code, document, _ = told(capsys, "density", "density.yaml", "--kernel", kernel)
        assert code == 2
        assert expected in document["diagnostics"][0]["message"]
    for wrong in ("'x", "x \\"):
        code, document, _ = told(capsys, "density", "density.yaml", "--kernel", "sub/kernel.c", "--kernel-args", wrong)
        assert code == 2
        assert "--kernel-args cannot be read" in document["diagnostics"][0]["message"]


def test_a_project_beside_brings_its_own_platform(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As in the window: the model names the project's platform, a file of the project's own."""
    template = Path(str(files("workbench.platform_templates"))) / "nallatech_h101.yaml"
    own = template.read_text(encoding="utf-8").replace("name: nallatech_h101", "name: my_card")
    Path("my_card.yaml").write_text(own, encoding="utf-8")
    Path(model).write_text(RATSS.replace("platform: nallatech_h101", "platform: my_card"), encoding="utf-8")
    code, document, _ = told(capsys, "ratss", model)
    assert (code, document["diagnostics"][0]["line"]) == (2, 6)
    assert "there is no platform template 'my_card'" in document["diagnostics"][0]["message"]
    Path("my.workbench.yaml").write_text(
        "schema_version: 1\nname: mine\nplatform: my_card.yaml\nhost: {sources: [a.c]}\n"
        "hardware: {sources: [a.v], top: a, read_out: {first: 0, last: 4}}\n",
        encoding="utf-8",
    )
    for source in ("a.c", "a.v"):
        Path(source).write_text("\n", encoding="utf-8")
    code, document, _ = told(capsys, "ratss", model)
    assert code == 0
    assert document["total_s"] > 0


def test_sweeps_and_draws_keep_to_what_an_input_may_be(
    model: str, capsys: pytest.CaptureFixture[str], platforms: Mapping[str, Platform]
) -> None:
    code, document, _ = told(capsys, "ratss", model, "--sweep", "n=1:8:4")
    assert code == 0
    assert [row["n"] for row in document["rows"]] == [1, 3, 6, 8]
    rounded, note = document["diagnostics"]
    assert {rounded["severity"], note["severity"]} == {"note"}
    assert rounded["message"] == "'n' takes whole numbers only: it is swept at 4 of them"
    assert note["message"] == "sum: 3 nodes are not a power of two; counted as 2 whole rounds"
    code, document, _ = told(capsys, "ratss", model, "--sweep", "n=1:2:9")
    assert [row["n"] for row in document["rows"]] == [1, 2]
    assert document["diagnostics"][0]["message"] == "'n' takes whole numbers only: it is swept at 2 of them"
    assert told(capsys, "ratss", model, "--sweep", "n=1:4:4")[1]["diagnostics"][0]["message"].startswith("sum: 3 nodes")
    code, document, _ = told(capsys, "ratss", model, "--uncertain", "2000", "--spread", "n=1:4")
    assert code == 0
    assert {document[end]["inputs"]["n"] % 1 for end in ("minimum", "maximum")} == {0}
    # e is normal around 0.5 with a deviation of 0.1: its efficiency is never above 1
    wide = RATSS.replace("deviation: 0.1", "deviation: 0.2, minimum: 0.01")
    Path("model.yaml").write_text(wide, encoding="utf-8")
    code, document, _ = told(capsys, "ratss", model, "--uncertain", "20000")
    assert code == 0
    assert 0.01 <= document["minimum"]["inputs"]["e"] <= 1
    file, _ = parse_ratss(wide, "model.yaml", platforms)
    assert file is not None
    found = solve(file, "n", float(np.asarray(outputs_of(file, {"n": 16})["speedup"])))
    assert (found.value, found.integer) == (16, True)
