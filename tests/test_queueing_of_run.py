"""Queueing models calibrated from a run: of networks that another program simulates (ciw), whose numbers are known, and
the distributions that a model predicts against those measured."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answers import document_of
from predicting import KINDS
from rc_workbench_plugins.queueing.calibrated import calibrated
from rc_workbench_plugins.queueing.distribution import fit
from rc_workbench_plugins.queueing.network import network
from rc_workbench_plugins.queueing.shown import results
from rc_workbench_plugins.queueing.station import limited_waiting_shares, simulated_shares, waiting, waiting_shares
from stream_runs import US, kept, simulated

from workbench.api.stream_events import EdgeEvents, Events, Pool
from workbench.api.virtual_queue import Bus, passage
from workbench.cli.main import main
from workbench.model.topology import End, StreamEdge
from workbench.predict.formulas import Evaluation
from workbench.predict.kinds import parse_model

EXACT = json.loads((Path(__file__).parent / "data" / "queueing_exact.json").read_text())
BEHIND_BUS = json.loads((Path(__file__).parent / "data" / "virtual_queue.json").read_text())["iid"]["MM_B64_D0"][
    "downstream"
]
KIND = KINDS["queueing"]


def told(run: Path, capsys: pytest.CaptureFixture[str], *options: str, code: int = 0) -> dict[str, Any]:
    assert main(["predict", "queueing", "--from", str(run), "--json", *options]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.parametrize("seen_waiting", [True, False], ids=["waiting seen", "waiting not seen"])
def test_a_simulated_network_is_calibrated_to_its_own_numbers(
    seen_waiting: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(kept(simulated(seen_waiting=seen_waiting), tmp_path / "run"), capsys)
    a, b = found["stations"]
    assert (a["name"], b["name"]) == ("a", "b")
    assert a["arrivals_per_s"] == pytest.approx(0.7e6, rel=0.03)
    assert b["arrivals_per_s"] == pytest.approx(0.42e6, rel=0.03)
    assert a["service_per_s"] == pytest.approx(1.25e6, rel=0.03)
    assert b["service_per_s"] == pytest.approx(1e6, rel=0.03)
    for row in found["measured"]:
        assert row["predicted"] == pytest.approx(row["measured"], rel=0.15), row
    for row in found["distributions"]:
        assert row["chance"] > 0.01
        assert row["ks"] < 0.03


def test_constant_service_is_found_and_predicted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "made.queueing.yaml"
    found = told(kept(simulated(constant=True), tmp_path / "run"), capsys, "--out", str(model))
    assert found["distributions"][0]["chance"] > 0.01
    text = model.read_text()
    assert document_of(capsys, ["predict", "queueing", str(model), "--json"])["distributions"] == found["distributions"]
    file, _ = parse_model(KIND, text, str(model), {})
    assert file is not None
    assert float(Evaluation(file).of("stations", 0, "variation")) < 1e-3
    other, _ = parse_model(KIND, text.replace("variation: 0\n", "variation: 1\n", 1), str(model), {})
    assert other is not None
    page = results(Evaluation(other))
    chart = page.charts["Against measurements"]
    assert [curve.name for curve in chart.curves] == ["alike", "a", "b"]
    assert chart.curves[1].x[-1] > chart.curves[1].y[-1]  # exponential services make more wait than was measured
    wrong = page.tables["Against measurements"][1].rows[0]
    assert wrong.values[-1] == "below 0.1 %"


def test_what_is_asked_of_a_run_wrongly_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = kept(None, tmp_path / "run")
    assert "has no stream events" in told(empty, capsys, code=2)["diagnostics"][0]["message"]
    run = kept(simulated(), tmp_path / "full")
    assert "cannot be combined" in told(run, capsys, "blastn", code=2)["diagnostics"][0]["message"]
    (tmp_path / "mine.yaml").write_text("mine")
    said = told(run, capsys, "--out", str(tmp_path / "mine.yaml"), code=2)
    assert "already exists" in said["diagnostics"][0]["message"]
    assert (tmp_path / "mine.yaml").read_text() == "mine"
    assert main(["predict", "queueing", "--json"]) == 2
    assert "there is no model" in capsys.readouterr().out


def test_an_unstable_station_is_said_to_be_and_has_no_distribution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Elements come as fast as they may, each worked on for 2 us."""
    push = np.arange(0, 1000, 1) * int(US)
    edge = StreamEdge("app.x", End("app.s", "out"), End("app.a", "in"), "unsigned32", depth=2000)
    events = Events("app", {"app.x": EdgeEvents(edge, push, 2 * push[:500])}, int(1000 * US))
    found = told(kept(events, tmp_path / "run"), capsys)
    assert "'a' is unstable: jobs arrive at 2.000 times its service rate" in found["diagnostics"][0]["message"]
    assert found["distributions"] == []


@pytest.mark.parametrize(("held_up_us", "said"), [(250, True), (5, False)])
def test_a_source_that_waits_for_room_is_told(
    held_up_us: int, said: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its jobs arrive as fast as the station lets them: a model in which they come of themselves is another."""
    push = np.arange(0, 1000, 1) * int(US)
    blocked = np.array([[0, held_up_us * US]], np.int64)
    edge = StreamEdge("app.x", End("app.s", "out"), End("app.a", "in"), "unsigned32", depth=4)
    events = Events("app", {"app.x": EdgeEvents(edge, push, 2 * push[:500], None, blocked)}, int(1000 * US))
    messages = [one["message"] for one in told(kept(events, tmp_path / "run"), capsys)["diagnostics"]]
    assert ("s waited for room in x for 25" in " ".join(messages)) == said, messages


def test_elements_of_blocks_that_are_no_stations_come_from_outside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Block `r` takes two queries and sends many elements for each: it is no station, and its rate is known."""
    push = np.arange(1000) * int(US)
    queries = EdgeEvents(
        StreamEdge("app.q", End("app.s", "y"), End("app.r", "x"), "unsigned32", depth=4), push[:2], push[:2] + 1
    )
    waiting = np.stack((push + int(US) // 2, push + int(US)), axis=1)
    edge = StreamEdge("app.x", End("app.r", "y"), End("app.a", "x"), "unsigned32", depth=4)
    edges = {"app.q": queries, "app.x": EdgeEvents(edge, push, push, None, waiting_ps=waiting)}
    events = Events("app", edges, int(1000 * US), pools={"app.a": Pool(2, int(500 * US), 0)})
    found = told(kept(events, tmp_path / "run"), capsys)
    (station,) = found["stations"]
    assert (station["name"], station["arrivals_per_s"]) == ("a", pytest.approx(1e6))
    assert station["utilisation"] == pytest.approx(0.25), "two threads were busy for 500 us together"
    assert "leaves out r: fewer than 50 elements" in found["diagnostics"][0]["message"]


@pytest.mark.parametrize("row", EXACT["MM1"] + EXACT["MD1"], ids=lambda row: f"{row['rho']}, {'P_N_ge' in row}")
def test_how_many_wait_is_as_often_as_worked_out_apart(row: dict[str, Any]) -> None:
    variation = 1.0 if "P_N_ge" in row else 0.0
    shares = waiting_shares(row["rho"], variation, 4000)
    if row["rho"] < 0.99:
        assert shares.sum() == pytest.approx(1, abs=1e-9)
        assert shares @ np.arange(4000) == pytest.approx(row["mean_NQ"], rel=1e-9)
    for jobs, chance in row.get("P_N_ge", {}).items():
        if int(jobs) > 1:  # as many wait as there are in the station, but for the one being served
            assert 1 - shares[: int(jobs) - 1].sum() == pytest.approx(chance, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("variation", [0.25, 0.999999, 3.0])
def test_gamma_distributed_services_make_as_many_wait_as_pollaczek_and_khinchine_say(variation: float) -> None:
    shares = waiting_shares(0.7, variation, 400)
    assert shares @ np.arange(400) == pytest.approx(0.7**2 / 0.3 * (1 + variation) / 2, rel=1e-6)
    if variation == 0.999999:
        assert shares[:20] == pytest.approx(waiting_shares(0.7, 1.0, 20), rel=1e-4)


@pytest.mark.parametrize("row", EXACT["MM1K"], ids=lambda row: f"{row['rho']}, {row['K']}")
def test_a_limited_stations_waiting_jobs(row: dict[str, Any]) -> None:
    shares = limited_waiting_shares(row["rho"], row["K"])
    assert shares @ np.arange(row["K"]) == pytest.approx(row["mean_NQ"], rel=1e-9, abs=1e-12)


def test_chi_square_is_fair() -> None:
    """Of samples from the model itself, one in twenty is as improbable as one in twenty."""
    random, model = np.random.default_rng(1), waiting_shares(0.6, 1.0, 200)
    chances = []
    for _ in range(400):
        drawn = np.bincount(random.choice(200, 500, p=model / model.sum()))
        found = fit("a", drawn / 500, model, 500)
        assert found.chance is not None
        chances.append(found.chance)
    # two degrees are given to what is fitted, which here is nothing: improbable ones are then rather too many
    assert 0.05 <= np.mean(np.array(chances) < 0.05) < 0.2
    off = fit("a", np.array([0.5, 0.5]), model, 500)
    assert off.chance is not None
    assert off.chance < 1e-6


def test_what_crosses_a_bus_comes_when_it_is_delivered() -> None:
    events = simulated()
    edge = events.edges["app.x"]
    late = replace(edge, push_ps=edge.push_ps - 5_000_000, taken_ps=edge.push_ps, delivered_ps=edge.push_ps)
    here, over_a_bus = (
        calibrated(Events("app", {**events.edges, "app.x": one}, events.end_ps))[0] for one in (edge, late)
    )
    assert over_a_bus.occupancy == pytest.approx(here.occupancy)
    assert over_a_bus.outside_per_s == here.outside_per_s


def test_batches_that_come_by_a_poisson_process_wait_as_theory_says() -> None:
    """M^[X]/G/1 with X one number (Kleinrock 1975): (rho (b - 1) + rho^2 (1 + c^2)) / (2 (1 - rho)) jobs wait."""
    for rho, variation, batch in ((0.8, 1.0, 4), (0.5, 0.0, 32), (0.9, 2.0, 2)):
        expected = (rho * (batch - 1) + rho**2 * (1 + variation)) / (2 * (1 - rho))
        assert float(waiting(rho, variation, batch)) == pytest.approx(expected)
    shares = simulated_shares(0.8, 1.0, 4, 1.0)
    assert shares @ np.arange(len(shares)) == pytest.approx(9.2, rel=0.03)


def test_what_a_bus_gathers_waits_behind_it_as_an_independent_simulation_says() -> None:
    """Bulks of 64 elements that came one by one: they come at more even times, 1/64 as variable."""
    mean_behind, _ = BEHIND_BUS
    assert float(waiting(0.8, 1.0, 64, 1 / 64)) == pytest.approx(mean_behind, rel=0.03)
    shares = simulated_shares(0.8, 1.0, 64, 1 / 64)
    assert shares @ np.arange(len(shares)) == pytest.approx(mean_behind, rel=0.01)


def test_a_station_behind_a_bus_is_calibrated_with_the_bulks_that_arrive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random, count = np.random.default_rng(4), 32 * 1000
    between, service = random.exponential(1.25, count), random.exponential(1.0, count)
    crossed = passage(between, service, Bus(32, (4.0,)))
    moments = (crossed.inserted, crossed.taken, crossed.delivered, crossed.removed)
    push, taken, there, pop = (np.rint(US * times).astype(np.int64) for times in moments)
    idle = np.stack([np.rint(US * (crossed.removed + service)).astype(np.int64)[:-1], pop[1:]], axis=1)
    edge = StreamEdge("app.x", End("app.s", "out"), End("app.a", "in"), "unsigned32", depth=200)
    of = EdgeEvents(edge, push, pop, waiting_ps=idle[idle[:, 1] > idle[:, 0]], taken_ps=taken, delivered_ps=there)
    model = tmp_path / "made.queueing.yaml"
    run = kept(Events("app", {"app.x": of}, int(pop[-1])), tmp_path / "run")
    found = told(run, capsys, "--out", str(model))
    assert "batch: 32\n" in model.read_text()
    _, waits = found["measured"]
    assert waits["predicted"] == pytest.approx(waits["measured"], rel=0.1)
    assert found["distributions"][0]["ks"] < 0.05
    plain, _ = parse_model(KIND, model.read_text().replace("    batch: 32\n", ""), str(model), {})
    assert plain is not None
    (without,) = network(Evaluation(plain)).stations
    assert float(without.waiting) < waits["measured"] / 4
    limited = model.read_text().replace("batch: 32\n", "batch: 32\n    limited: true\n")
    _, problems = parse_model(KIND, limited, str(model), {})
    assert "a limited station needs jobs that come one by one" in [p.message for p in problems]


def test_hardly_anything_waits_is_written_as_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of elements that come a microsecond apart, and whose service takes a tenth of that and varies, 1e-100 wait."""
    came = (US * np.arange(1, 2001)).astype(np.int64)
    served = came + np.where(np.arange(2000) % 2, 90_000, 110_000)
    waiting = np.stack([served[:-1], came[1:]], axis=1)
    edge = StreamEdge("app.x", End("app.s", "out"), End("app.a", "in"), "unsigned32", depth=16)
    run = kept(
        Events("app", {"app.x": EdgeEvents(edge, came, came, waiting_ps=waiting)}, int(2001 * US)), tmp_path / "run"
    )
    assert 0 < told(run, capsys)["stations"][0]["waiting"] < 1e-20
    assert main(["predict", "queueing", "--from", str(run)]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) < 120
    assert main(["predict", "queueing", "--from", str(run), "--sensitivity"]) == 0
    assert "has no inputs" in capsys.readouterr().out
