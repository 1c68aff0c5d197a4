"""Queueing networks: single stations against numbers worked out independently, Table 7.2, networks against sums by hand
and against a simulator of queues, and what a person is told."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ciw
import numpy as np
import pytest
from answers import document_of
from hypothesis import given
from hypothesis import strategies as st
from predicting import KINDS
from rc_workbench_plugins.queueing.network import Network, network
from rc_workbench_plugins.queueing.shown import results
from rc_workbench_plugins.queueing.station import at_least, full, limited_jobs, waiting

from workbench.cli.main import main
from workbench.predict.formulas import Evaluation
from workbench.predict.kinds import parse_model
from workbench.predict.paper_tables import printed_rows

EXACT = json.loads((Path(__file__).parent / "data" / "queueing_exact.json").read_text())
KIND = KINDS["queueing"]


def solved(text: str, changes: Mapping[str, Any] | None = None) -> Network:
    file, problems = parse_model(KIND, f"schema_version: 1\nname: test\n{text}", "model.yaml", {})
    assert file is not None, problems
    return network(Evaluation(file, changes or {}))


@pytest.mark.parametrize("row", EXACT["MM1"], ids=lambda row: str(row["rho"]))
def test_an_exponential_station(row: dict[str, Any]) -> None:
    assert waiting(row["rho"]) == pytest.approx(row["mean_NQ"], rel=1e-9)
    for jobs, chance in row["P_N_ge"].items():
        assert at_least(row["rho"], int(jobs)) == pytest.approx(chance, rel=1e-9)


@pytest.mark.parametrize("row", EXACT["MD1"], ids=lambda row: str(row["rho"]))
def test_a_station_of_constant_service(row: dict[str, Any]) -> None:
    assert waiting(row["rho"], 0.0) == pytest.approx(row["mean_NQ"], rel=1e-12)
    assert waiting(row["rho"], 0.0) + row["rho"] == pytest.approx(row["mean_N"], rel=1e-12)


@pytest.mark.parametrize("row", EXACT["MM1K"], ids=lambda row: f"{row['rho']}, {row['K']}")
def test_a_station_that_loses_what_finds_it_full(row: dict[str, Any]) -> None:
    assert full(row["rho"], row["K"]) == pytest.approx(row["P_K"], rel=1e-9)
    assert limited_jobs(row["rho"], row["K"]) == pytest.approx(row["mean_N"], rel=1e-9)
    text = f"stations: [{{name: a, arrivals_per_s: {row['rho']}, service_per_s: 1, places: {row['K']}, limited: true}}]"
    (state,) = solved(text).stations
    assert state.waiting == pytest.approx(row["mean_NQ"], rel=1e-9, abs=1e-12)
    assert state.busy == pytest.approx(row["utilization"], rel=1e-12)
    assert state.lost_per_s == pytest.approx(row["rho"] * row["loss_prob"], rel=1e-9)


def test_the_chart_by_load_is_that_of_each_station_up_to_where_one_is_unstable() -> None:
    """By the closed form of M/M/1: rho / (1 - rho) jobs."""
    first = "{name: a, arrivals_per_s: 2, service_per_s: 4, to: [{station: b}]}"
    text = f"stations: [{first}, {{name: b, service_per_s: 10}}]"
    file, problems = parse_model(KIND, f"schema_version: 1\nname: test\n{text}", "model.yaml", {})
    assert file is not None, problems
    curves = results(Evaluation(file, {})).charts["Stations"].curves
    assert [(curve.name, curve.plain) for curve in curves] == [("a", False), ("a", True), ("b", False), ("b", True)]
    for curve, rho in zip(curves, (0.5, 0.5, 0.2, 0.2), strict=True):
        loads = np.array(curve.x)
        np.testing.assert_allclose(curve.y, rho * loads / (1 - rho * loads), rtol=1e-9)
        assert 1 <= loads.max() < 2  # where "a" serves no more


@given(rho=st.floats(1e-3, 50.0), places=st.integers(1, 2000))
def test_a_limited_station_is_its_states_added_up(rho: float, places: int) -> None:
    log = np.arange(places + 1) * np.log(rho)
    chances = np.exp(log - log.max())
    chances /= chances.sum()
    assert full(rho, places) == pytest.approx(chances[-1], rel=1e-7, abs=1e-300)
    assert limited_jobs(rho, places) == pytest.approx(chances @ np.arange(places + 1), rel=1e-7)


def test_every_printed_prediction_agrees_or_has_an_erratum() -> None:
    rows = printed_rows(KIND, {})
    assert [row for row in rows if not row.agrees and not row.erratum] == []
    assert {row.erratum for row in rows if row.erratum} == {"T1", "T2", "T3"}
    assert len(rows) - sum(bool(row.erratum) for row in rows) == 10


def test_the_bundled_model_is_table_7_1(capsys: pytest.CaptureFixture[str]) -> None:
    for reading, expected in EXACT["runs"].items():
        assert main(["predict", "queueing", "blastn", "--json", *(["--reading", reading] if reading else [])]) == 0
        stations = {s["name"]: s for s in json.loads(capsys.readouterr().out)["stations"]}
        for name, value in expected.items():
            field, station = name.split(" ")
            assert stations[station][field] == (None if value == "inf" else pytest.approx(value, rel=1e-9)), name


def test_jobs_that_come_back_and_jobs_that_carry_several() -> None:
    """By hand: a gets 3 a second and a quarter of what it serves again, 4 in all; of its 4, half go on as two each."""
    found = solved(
        "stations:\n"
        "  - {name: a, arrivals_per_s: 3, service_per_s: 5, to: [{station: a, jobs: 0.25}, {station: b, jobs: 1}]}\n"
        "  - {name: b, service_per_s: 16}\n"
    )
    a, b = found.stations
    assert (a.arrivals_per_s, b.arrivals_per_s) == (pytest.approx(4), pytest.approx(4))
    assert (a.jobs, b.jobs) == (pytest.approx(4), pytest.approx(1 / 3))  # rho / (1 - rho)
    assert found.latency_s == pytest.approx((4 + 1 / 3) / 3)
    assert (found.busiest, found.most_per_s) == ("a", pytest.approx(3 / 0.8))


def test_what_a_limited_station_loses_does_not_arrive_behind_it() -> None:
    found = solved(
        "stations:\n"
        "  - {name: a, arrivals_per_s: 2, service_per_s: 2, places: 3, limited: true, to: [{station: b}]}\n"
        "  - {name: b, service_per_s: 2, to: [{station: a, jobs: 0.5}]}\n"
    )
    a, b = found.stations
    assert b.arrivals_per_s == pytest.approx(a.arrivals_per_s - a.lost_per_s)
    assert a.arrivals_per_s == pytest.approx(2 + 0.5 * b.arrivals_per_s)


def test_sweeps_are_the_same_point_by_point() -> None:
    text = (
        "inputs: {rate: {value: 1}, share: {value: 0.5}}\n"
        "stations:\n"
        "  - {name: a, arrivals_per_s: rate, service_per_s: 4, to: [{station: b, jobs: share}]}\n"
        "  - {name: b, service_per_s: 1, variation: 0.25, places: 5}\n"
    )
    rates, shares = np.array([0.5, 1.0, 3.0, 5.0])[:, None], np.array([0.1, 0.9])
    swept = solved(text, {"rate": rates, "share": shares})
    for r, rate in enumerate(rates[:, 0]):
        for s, share in enumerate(shares):
            one = solved(text, {"rate": float(rate), "share": float(share)})
            assert float(one.latency_s) == swept.latency_s[r, s]  # type: ignore[index]
            for alone, among in zip(one.stations, swept.stations, strict=True):
                assert float(alone.waiting) == among.waiting[r, s]  # type: ignore[index]


def as_simulated(found: Network, **nodes: Any) -> bool:
    """Whether the mean of ten simulations of a network has as many jobs waiting at each node, within four of the mean's
    standard errors."""
    runs = []
    for seed in range(10):
        ciw.seed(seed)
        simulation = ciw.Simulation(ciw.create_network(**nodes))
        simulation.simulate_until_max_time(1_100)
        waits = [0.0] * len(found.stations)
        for record in simulation.get_all_records(only=["service"]):
            if 100 < record.arrival_date <= 1_050:
                waits[record.node - 1] += record.waiting_time / 950  # Little: waiting per second is jobs waiting
        runs.append(waits)
    error = np.std(runs, axis=0, ddof=1) / np.sqrt(len(runs))
    off = np.abs(np.mean(runs, axis=0) - [float(state.waiting) for state in found.stations])
    assert (error < 0.25 * np.mean(runs, axis=0)).all()  # or anything would do
    return bool((off < 4 * error).all())


def test_a_network_with_branches_and_a_loop_is_as_simulated() -> None:
    text = (
        "inputs: {mu: {value: 2}}\n"
        "stations:\n"
        "  - {name: a, arrivals_per_s: 1, service_per_s: mu, to: [{station: b, jobs: 0.6}, {station: c, jobs: 0.4}]}\n"
        "  - {name: b, service_per_s: 1, to: [{station: a, jobs: 0.2}]}\n"
        "  - {name: c, arrivals_per_s: 0.2, service_per_s: 1}\n"
    )
    exponential = ciw.dists.Exponential
    nodes: dict[str, Any] = {
        "arrival_distributions": [exponential(1), None, exponential(0.2)],
        "service_distributions": [exponential(2), exponential(1), exponential(1)],
        "routing": [[0.0, 0.6, 0.4], [0.2, 0.0, 0.0], [0.0, 0.0, 0.0]],
        "number_of_servers": [1, 1, 1],
    }
    assert as_simulated(solved(text), **nodes)
    assert not as_simulated(solved(text, {"mu": 2.5}), **nodes)


def test_constant_service_is_as_simulated() -> None:
    text = (
        "inputs: {variation: {value: 0}}\n"
        "stations: [{name: a, arrivals_per_s: 0.8, service_per_s: 1, variation: variation}]"
    )
    nodes: dict[str, Any] = {
        "arrival_distributions": [ciw.dists.Exponential(0.8)],
        "service_distributions": [ciw.dists.Deterministic(1)],
        "number_of_servers": [1],
    }
    assert as_simulated(solved(text), **nodes)
    assert not as_simulated(solved(text, {"variation": 1}), **nodes)


def test_a_measurement_stands_beside_the_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.queueing.yaml"
    path.write_text(
        "schema_version: 1\nname: mine\nstations: [{name: a, arrivals_per_s: 1, service_per_s: 2}]\n"
        "measured: [{station: a, utilisation: 0.75, waiting: 0.25, source: by eye}]\n"
    )
    assert main(["predict", "queueing", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["measured"] == [
        {"station": "a", "quantity": "utilisation", "predicted": 0.5, "measured": 0.75, "source": "by eye"},
        {"station": "a", "quantity": "waiting", "predicted": 0.5, "measured": 0.25, "source": "by eye"},
    ]
    file, _ = parse_model(KIND, path.read_text(), str(path), {})
    assert file is not None
    (shown,) = results(Evaluation(file)).tables["Against measurements"]
    assert [(row.attribute, row.values) for row in shown.rows] == [
        ("utilisation, a", ("0.500", "0.750", "0.250")),
        ("waiting, a", ("0.500", "0.250", "0.250")),
    ]


@pytest.mark.parametrize(
    ("stations", "line", "said"),
    [
        ("[{name: a, service_per_s: 1, to: [{station: b}]}]", 3, "there is no station 'b'"),
        ("[{name: a, service_per_s: 1}, {name: a, service_per_s: 1}]", 3, "two stations are called 'a'"),
        ("[{name: a, service_per_s: 0}]", 3, "service_per_s"),
        ("[{name: a, service_per_s: 1, limited: true}]", 3, "this limited station has no capacity"),
        ("[{name: a, service_per_s: 1, limited: true, places: 2, variation: 0}]", 3, "needs exponential service times"),
        ("[{name: a, service_per_s: 1, places: 2.5}]", 3, "places"),
        ("[{name: a, arrivals_per_s: 1, service_per_s: 1, to: [{station: a}]}]", 3, "faster than they leave"),
        ("[]", None, "the model has no stations"),
    ],
)
def test_a_wrong_network_is_told_at_its_line(
    stations: str, line: int | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.queueing.yaml"
    path.write_text(f"schema_version: 1\nname: mine\nstations: {stations}\n")
    told = document_of(capsys, ["predict", "queueing", str(path), "--json"], 2)["diagnostics"]
    assert any(said in d["message"] and line in (None, d["line"]) for d in told), told


def test_an_unstable_station_is_said_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    document = document_of(capsys, ["predict", "queueing", "blastn", "--reading", "run 2", "--json"])
    (told,) = document["diagnostics"]
    assert told["severity"] == "warning"
    assert "'1b' is unstable: jobs arrive at 1.008 times its service rate" in told["message"]
    assert "fewer jobs than stated reach 2" in told["hint"]


def test_a_queue_that_would_be_full_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "queueing", "blastn", "--reading", "run 2, unrounded", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert "would be full for 92.3 % of the time" in told["message"]


def test_the_rate_that_keeps_a_station_at_a_utilisation_is_solved_for(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["predict", "queueing", "blastn", "--solve", "input_per_s", "--utilisation", "0.8", "--json"]
    assert document_of(capsys, arguments)["value"] == pytest.approx(800e6)
