"""Design-space exploration: the same numbers whichever way they are computed, and answers that can be checked."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from answers import document_of
from predicting import load_named, parse_ratss, predict

from workbench.cli.main import main
from workbench.model.diagnostic import WorkbenchError
from workbench.model.platform import Platform
from workbench.model.text import NARROW
from workbench.predict.doubts import clock_doubts
from workbench.predict.explore import Exploration, bands, explore, sweep
from workbench.predict.formulas import Evaluation, ModelFile, Spread, what_if
from workbench.predict.kinds import outputs_of
from workbench.predict.sensitivity import sensitivity
from workbench.predict.solve import solve
from workbench.predict.space import Space, chunk_inputs, make_space, parse_axis, plan, point_inputs
from workbench.predict.summary import Front, Spectrum

AXES = {
    "nodes": np.array([1.0, 2.0, 4.0, 8.0]),
    "clock": np.linspace(100e6, 250e6, 7),
    "kernels": np.array([10.0, 40.0, 80.0]),
}
SPREADS = {"clock": Spread(195e6, 150e6, 220e6), "read_efficiency": Spread(0.1, deviation=0.005)}


@pytest.fixture(scope="module")
def pdf2d(platforms: Mapping[str, Platform]) -> ModelFile:
    file, problems = (load_named("ratss", "pdf2d", platforms), ())
    assert file is not None, problems
    return file


def test_a_sweep_is_every_single_prediction(pdf2d: ModelFile) -> None:
    space = make_space(pdf2d, AXES)
    table = sweep(pdf2d, space)
    for place in itertools.product(*(range(len(values)) for values in AXES.values())):
        inputs = {name: float(values[i]) for (name, values), i in zip(AXES.items(), place, strict=True)}
        single = predict(pdf2d, inputs)
        assert table.outputs["total_s"][place] == pytest.approx(float(single.total_s), rel=1e-15)
        assert table.outputs["speedup"][place] == pytest.approx(float(single.speedup or 0), rel=1e-15)
        assert point_inputs(space, int(np.ravel_multi_index(place, space.shape))) == inputs


@pytest.mark.parametrize("chunk_points", [1, 2, 5, 21, 84, 1 << 15])
def test_chunks_cover_every_point_once(pdf2d: ModelFile, chunk_points: int) -> None:
    for space in (
        make_space(pdf2d, AXES),
        make_space(pdf2d, {"nodes": AXES["nodes"]}, 37, SPREADS),
        make_space(pdf2d, {}, 50, SPREADS),
        Space(),
    ):
        cut = plan(space, chunk_points)
        ends = []
        for chunk in range(cut.chunks):
            inputs, first, shape = chunk_inputs(space, cut, chunk)
            assert first == (ends[-1] if ends else 0)
            ends.append(first + int(np.prod(shape)))
            where = {name: np.broadcast_to(values, shape).ravel() for name, values in inputs.items()}
            for offset in {0, int(np.prod(shape)) - 1}:
                assert {n: v[offset] for n, v in where.items()} == point_inputs(space, first + offset)
        assert ends[-1] == space.points


def brute(pdf2d: ModelFile, space: Space) -> tuple[np.ndarray, np.ndarray]:
    outputs = sweep(pdf2d, space).outputs
    return outputs["total_s"].ravel(), outputs["multipliers"].ravel()


def check(found: Exploration, times: np.ndarray, against: np.ndarray) -> None:
    assert found.points == times.size
    assert (found.minimum.value, found.maximum.value) == (times.min(), times.max())
    assert found.mean == pytest.approx(times.mean(), rel=1e-12)
    for share, value in found.quantiles.items():
        exact = np.sort(times)[min(int(share * times.size), times.size - 1)]
        assert value == pytest.approx(exact, rel=2e-3)
    front = {
        (x, y)
        for x, y in zip(against, times, strict=True)
        if not np.any((against <= x) & (times <= y) & ((against < x) | (times < y)))
    }
    assert {(p.x, p.y) for p in found.front} == front


@pytest.mark.parametrize("chunk_points", [7, 64, 1 << 15])
def test_streaming_gives_what_the_table_gives(pdf2d: ModelFile, chunk_points: int) -> None:
    for space in (make_space(pdf2d, AXES), make_space(pdf2d, {"kernels": AXES["kernels"]}, 60, SPREADS)):
        check(explore(pdf2d, space, "total_s", "multipliers", chunk_points=chunk_points), *brute(pdf2d, space))


def test_random_inputs_give_a_front_too(pdf2d: ModelFile) -> None:
    spreads = {"kernels": Spread(80, 8, 96), "clock": Spread(0, 1e8, 2.5e8), "nodes": Spread(2, 2, 16)}
    space = make_space(pdf2d, {}, 3000, spreads, seed=3)
    check(explore(pdf2d, space, "total_s", "multipliers", chunk_points=512), *brute(pdf2d, space))
    again = explore(pdf2d, make_space(pdf2d, {}, 3000, spreads, seed=3), "total_s", "multipliers")
    assert again.minimum == explore(pdf2d, space, "total_s", "multipliers").minimum
    other = explore(pdf2d, make_space(pdf2d, {}, 3000, spreads, seed=4), "total_s")
    assert other.minimum.value != again.minimum.value


def test_the_best_point_opens_its_breakdown(pdf2d: ModelFile) -> None:
    found = explore(pdf2d, make_space(pdf2d, AXES), "speedup")
    assert found.maximum.inputs == {"nodes": 8, "clock": 250e6, "kernels": 80}
    assert predict(pdf2d, dict(found.maximum.inputs)).speedup == pytest.approx(found.maximum.value)


def test_parts_of_a_summary_merge_to_the_whole() -> None:
    rng = np.random.default_rng(1)
    values = rng.lognormal(0, 3, 10_000)
    whole, halves = Spectrum(), Spectrum()
    whole.add(values, 0)
    for start in range(0, 10_000, 1000):
        part = Spectrum()
        part.add(values[start : start + 1000], start)
        halves.merge(part)
    assert (whole.least_at, whole.most_at, whole.count) == (halves.least_at, halves.most_at, halves.count)
    assert whole.base == halves.base
    assert np.array_equal(whole.counts, halves.counts)
    for share in (0.001, 0.1, 0.5, 0.9, 0.999):
        assert whole.quantile(share) == pytest.approx(np.quantile(values, share, method="higher"), rel=2e-3)


def test_fronts_stay_small() -> None:
    front = Front()
    x = np.linspace(1, 2, 30_000)
    front.add(x, 1 / x, 0, x.shape)
    assert front.thinned
    assert front.x.size <= 4096
    assert (front.x[0], front.x[-1]) == (1, 2)


def test_memory_does_not_grow_with_the_points(pdf2d: ModelFile) -> None:
    """A billion points are a plan, not an array."""
    space = make_space(pdf2d, AXES | {"write_efficiency": np.linspace(0.1, 0.9, 3500), "bins": np.arange(1.0, 3501.0)})
    assert space.points > 10**9
    cut = plan(space)
    inputs, _, shape = chunk_inputs(space, cut, cut.chunks - 1)
    assert np.prod(shape) <= 1 << 15
    assert float(np.max(np.asarray(outputs_of(pdf2d, inputs)["total_s"]))) > 0


def test_bands_hold_the_certain_value(pdf2d: ModelFile) -> None:
    space = make_space(pdf2d, {"nodes": AXES["nodes"]}, 2000, {"clock": Spread(195e6, 185e6, 205e6)})
    found = bands(pdf2d, space)
    certain = sweep(pdf2d, make_space(pdf2d, {"nodes": AXES["nodes"]})).outputs["total_s"]
    assert np.all(found.quantiles[0.05] < certain)
    assert np.all(found.quantiles[0.95] > certain)
    low = predict(pdf2d, {"clock": 204e6}).total_s
    assert found.quantiles[0.05][1] == pytest.approx(float(low), rel=2e-3)


def test_sensitivity_against_known_shares() -> None:
    """y = a + 2 b over equal spreads: b explains 4/5 of the variance."""
    text = (
        "schema_version: 1\nname: y\ninputs: {a: {value: 1, low: 0.5, high: 1.5}, b: {value: 1, low: 0.5, high: 1.5}}\n"
    )
    file, problems = parse_ratss(text + "stages: [{name: s, preprocessing_s: a + 2 * b}]", "y.yaml", {})
    assert file is not None, problems
    first, second = sensitivity(file)
    assert (first.name, second.name) == ("b", "a")
    assert first.first_order == pytest.approx(0.8, abs=0.01)
    assert second.total_order == pytest.approx(0.2, abs=0.01)
    assert first.elasticity == pytest.approx(2 / 3, rel=1e-6)


def test_sensitivity_of_the_2d_pdf(pdf2d: ModelFile) -> None:
    found = {influence.name: influence for influence in sensitivity(pdf2d)}
    assert found["bins"].elasticity > 1.9  # the work is quadratic in the bins
    assert found["clock"].elasticity == pytest.approx(found["kernels"].elasticity, rel=1e-3)  # from 79 to 81 kernels


def test_solving_for_an_input(pdf2d: ModelFile) -> None:
    solution = solve(pdf2d, "clock", 200)
    assert predict(pdf2d, {"clock": solution.value}).speedup == pytest.approx(200, rel=1e-9)
    assert (solution.reached, solution.integer) == (pytest.approx(200, rel=1e-9), False)


@pytest.mark.parametrize(
    ("asked", "clock"),
    [
        (("--solve", "clock", "--speedup", "1000"), "3.02 GHz"),
        (("--sweep", "clock=100e6:2e9:3"), "2 GHz"),
        (("--set", "clock=1.5 GHz"), "1.5 GHz"),
        (("--solve", "clock", "--speedup", "300"), ""),  # 433 MHz
        (("--set", "clock=1 GHz"), ""),
    ],
)
def test_a_clock_beyond_any_fpga_is_doubted(
    asked: Sequence[str], clock: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", "ratss", "pdf2d", "--json", *asked]) == 0
    told = json.loads(capsys.readouterr().out)["diagnostics"]
    found = [d for d in told if "no FPGA reaches" in d["message"]]
    assert bool(found) == bool(clock)
    for doubt in found:
        said = doubt["message"].replace(NARROW, " ")
        assert said == f"no FPGA reaches {clock}, the clock stages[0].nodes[0].clock_hz"
        assert (doubt["severity"], doubt["line"]) == ("warning", 26)
        assert doubt["hint"].startswith("The fastest clock networks reach 1")


def test_rat_doubts_its_clock() -> None:
    rat = load_named("rat", "pdf1d", {})
    assert clock_doubts(Evaluation(rat)) == ()
    (doubt,) = clock_doubts(Evaluation(rat, {"clock": 1.2e9}))
    assert doubt.message.replace(NARROW, " ") == "no FPGA reaches 1.2 GHz, the clock clock_hz"


def test_a_whole_number_is_solved_in_whole_numbers(pdf2d: ModelFile) -> None:
    """The first that is good enough, its output there, and the one beside it that falls short."""
    for name, target, changes in (("kernels", 100.0, {"nodes": 4.0}), ("nodes", 300.0, {}), ("bins", 500.0, {})):
        found = solve(what_if(pdf2d, changes), name, target)
        assert (found.integer, found.value % 1, abs(found.value - (found.short or 0))) == (True, 0, 1)
        assert float(predict(pdf2d, {**changes, name: found.value}).speedup or 0) == found.reached >= target
        assert float(predict(pdf2d, {**changes, name: found.short or 0}).speedup or 0) == found.short_reached < target
    assert solve(pdf2d, "nodes", 300).value == 5
    fewer = solve(pdf2d, "nodes", 100, output="total_s")  # a time is good where it is short
    assert (fewer.value, fewer.short) == (4, 3)
    assert fewer.reached < 100 < (fewer.short_reached or 0)


def test_a_solution_stays_within_the_bounds(pdf2d: ModelFile) -> None:
    with pytest.raises(WorkbenchError, match=r"no 'nodes' from 1 to 2\u202f000 gives a speedup of 1.00×. "):
        solve(pdf2d, "nodes", 1)
    with pytest.raises(WorkbenchError, match=r"no 'read_efficiency' from 0\.0001 to 1 gives"):
        solve(pdf2d, "read_efficiency", 200)
    for target in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(WorkbenchError, match="the speedup cannot be"):
            solve(pdf2d, "clock", target)


def test_a_formula_bounds_what_is_searched() -> None:
    """A share that is twice an input: solutions reach up to the input's half, and no farther."""
    text = """schema_version: 1
name: halves
inputs: {e: {value: 0.1}}
stages:
  - name: move
    transactions:
      - {name: all, kind: io, bytes: 1000, rate_bytes_per_s: 1 kB/s, efficiency: 2 * e}
"""
    file, problems = parse_ratss(text, "model.yaml", {})
    assert file is not None, problems
    assert solve(file, "e", 1.001, "total_s").value == pytest.approx(0.5 / 1.001)
    with pytest.raises(WorkbenchError, match=r"no 'e' from 0\.0001 to 0\.5 gives a total time of 990.0\u202fms"):
        solve(file, "e", 0.99, "total_s")


@pytest.mark.parametrize(
    ("name", "target", "expected"),
    [
        ("read_efficiency", 1000, "nearest at read_efficiency"),
        ("clokc", 100, "Did you mean 'clock'"),
        ("per_block", 100, "from 0 to 1 gives a speedup of 100×"),
    ],
)
def test_what_cannot_be_solved_is_said(pdf2d: ModelFile, name: str, target: float, expected: str) -> None:
    with pytest.raises(WorkbenchError, match=expected):
        solve(pdf2d, name, target)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("clock", "is not a sweep"),
        ("clok=1:2:3", "Did you mean 'clock'"),
        ("clock=1:2", "is not a sweep"),
        ("clock=1:2:0", "is not a sweep"),
        ("clock=1 furlong", "there is no unit 'furlong'"),
        ("nodes=two", "'two' is not a number"),
    ],
)
def test_bad_sweeps_are_answered(pdf2d: ModelFile, text: str, expected: str) -> None:
    with pytest.raises(WorkbenchError, match=expected):
        parse_axis(text, pdf2d)


def test_sweeps_with_units(pdf2d: ModelFile) -> None:
    name, values = parse_axis("clock=100 MHz:0.2 GHz:3", pdf2d)
    assert name == "clock"
    assert values.tolist() == [100e6, 150e6, 200e6]
    assert parse_axis("nodes=2, 4,8", pdf2d)[1].tolist() == [2, 4, 8]


def test_a_point_that_cannot_be_computed_names_its_field(pdf2d: ModelFile) -> None:
    with pytest.raises(WorkbenchError, match=r"elements is not a finite number"):
        predict(pdf2d, {"nodes": np.array([0.0, 2.0])})
    with pytest.raises(WorkbenchError, match=r"'nodes' cannot be 0. It must be a whole number, at least 1"):
        make_space(pdf2d, {"nodes": np.array([0.0, 2.0])})
    with pytest.raises(WorkbenchError, match="no uncertain inputs"):
        make_space(pdf2d, {}, 10)
    with pytest.raises(WorkbenchError, match="the model has no output"):
        explore(pdf2d, make_space(pdf2d, AXES), "total")


def test_density_models_are_swept_alike(platforms: Mapping[str, Platform]) -> None:
    file, _ = (load_named("density", "matrix_multiply", platforms), ())
    assert file is not None
    found = explore(file, make_space(file, {"units": np.array([10.0, 100.0, 1e6])}))
    assert found.minimum.value == 10 * 100e6
    assert found.maximum.value == pytest.approx(219089023002.0664)


def test_rates_of_layers_are_better_large(platforms: Mapping[str, Platform]) -> None:
    """A larger store and more units are both better: the front of two rates is their largest point."""
    file, _ = (load_named("density", "matrix_multiply", platforms), ())
    assert file is not None
    layer = "On-board memory, from main memory"
    axes = {"on_board": np.array([14e6, 28e6, 56e6]), "units": np.array([1.0, 10.0])}
    (best,) = explore(file, make_space(file, axes), "limit_ops_per_s", layer).front
    assert best.inputs == {"on_board": 56e6, "units": 10}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Dask scheduler and two worker processes on this machine, in a process of their own."""
    script = (
        "import sys\nfrom dask.distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:\n"
        "        print(cluster.scheduler_address, flush=True)\n"
        "        sys.stdin.read()\n"
    )
    path = tmp_path_factory.mktemp("dask") / "cluster.py"
    path.write_text(script)
    process = subprocess.Popen(
        [sys.executable, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=path.parent,
        start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_dask_gives_identical_numbers(pdf2d: ModelFile, cluster: str) -> None:
    assert cluster.startswith("tcp://")
    for space in (make_space(pdf2d, AXES), make_space(pdf2d, {"nodes": AXES["nodes"]}, 40_000, SPREADS, seed=5)):
        here = explore(pdf2d, space, "total_s", "multipliers", chunk_points=4096)
        there = explore(pdf2d, space, "total_s", "multipliers", chunk_points=4096, scheduler=cluster)
        assert np.array_equal(here.histogram[0], there.histogram[0])
        assert np.array_equal(here.histogram[1], there.histogram[1])
        for field in ("points", "minimum", "maximum", "mean", "quantiles", "front"):
            assert getattr(here, field) == getattr(there, field)


def test_no_scheduler_is_said(pdf2d: ModelFile) -> None:
    with pytest.raises(WorkbenchError, match="no Dask scheduler answers"):
        explore(pdf2d, make_space(pdf2d, AXES), scheduler="nonsense://here")


def test_normal_draws_stay_within_the_bounds(pdf2d: ModelFile) -> None:
    """A clock that is off by its own value is never 0 or less, an efficiency never above 1, kernels stay whole."""
    spreads = {
        "clock": Spread(195e6, deviation=195e6),
        "read_efficiency": Spread(0.9, deviation=0.5),
        "kernels": Spread(2, deviation=3),
    }
    space = make_space(pdf2d, {}, 20_000, spreads)
    inputs, _, _ = chunk_inputs(space, plan(space, space.points), 0)
    drawn = {name: np.ravel(values) for name, values in inputs.items()}
    assert drawn["clock"].min() > 0
    assert (drawn["read_efficiency"] <= 1).all()
    assert (drawn["kernels"] >= 1).all()
    assert not (drawn["kernels"] % 1).any()
    assert explore(pdf2d, space).points == 20_000


def asked(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    found: dict[str, Any] = document_of(capsys, ["predict", "ratss", "pdf2d", "--json", *options])
    return found


def test_a_what_if_is_asked_beside_every_question(pdf2d: ModelFile, capsys: pytest.CaptureFixture[str]) -> None:
    """--set looks at another value; the model's file, whose readings would set it too, stays as it is."""
    slow = {"clock": 97.5e6}
    set_ = ("--set", "clock=97.5 MHz")
    assert asked(capsys, *set_)["total_s"] == pytest.approx(float(predict(pdf2d, slow).total_s))
    assert "set" not in asked(capsys)
    for question in ((), ("--sensitivity",), ("--sweep", "nodes=1,2"), ("--solve", "nodes", "--speedup", "300")):
        assert asked(capsys, *set_, *question)["set"] == slow
    swept = asked(capsys, *set_, "--sweep", "nodes=1,2,4", "--output", "total_s")
    slowest = float(predict(pdf2d, {**slow, "nodes": 1}).total_s)
    assert swept["maximum"]["value"] == pytest.approx(slowest)
    solved = asked(capsys, *set_, "--solve", "nodes", "--speedup", "300")
    assert float(predict(pdf2d, {**slow, "nodes": solved["value"]}).speedup or 0) >= 300
    assert main(["predict", "ratss", "pdf2d", *set_]) == 0
    said = capsys.readouterr().out
    assert said.startswith("what if clock = 97.5\u202fMHz (the model has 195\u202fMHz)\n")
    assert pdf2d.at({}, "per block")["per_block"] == 1
    assert what_if(pdf2d, {"per_block": 0.0}).at({}, "per block")["per_block"] == 0
    with pytest.raises(WorkbenchError, match="'nodes' cannot be 0"):
        what_if(pdf2d, {"nodes": 0.0})


def test_an_influence_that_cannot_be_told_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    """Where an input is 0 one per cent more of it is nothing. JSON has no `NaN`."""
    assert main(["predict", "ratss", "pdf2d", "--sensitivity"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"(?m)^per_block +–", out)
    assert "the input or the output is 0" in out
    assert "nan" not in out
    assert main(["predict", "ratss", "pdf2d", "--sensitivity", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["inputs"]
    assert [row["name"] for row in rows if row["elasticity"] is None] == ["per_block"]
