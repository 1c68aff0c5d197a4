"""The made-up runs that other tests stand on are themselves consistent in every table."""

import numpy as np
import pytest
from small_runs import without_tables

from workbench.model.blocks import Side
from workbench.model.run import Run
from workbench.model.run_tables import TABLES
from workbench.testing.runs import CLOCK_HZ, synthetic_run


@pytest.fixture(params=["original", "optimised"], scope="module")
def run(request: pytest.FixtureRequest) -> Run:
    return synthetic_run(cores=20, rounds=10, form=request.param)


def test_every_table_is_there_with_its_columns(run: Run) -> None:
    assert set(run.tables) == set(TABLES)
    for name, columns in TABLES.items():
        kinds = {key: column.dtype.str[1:] for key, column in run.tables[name].items()}
        assert kinds == {**columns, "state": "u1"} if name == "intervals" else kinds == columns  # as few bytes as do
        assert len({len(column) for column in run.tables[name].values()}) == 1


def test_every_picosecond_and_every_cycle_is_in_one_state(run: Run) -> None:
    table = run.tables["state_time"]
    for number, block in enumerate(run.manifest.blocks):
        mine = table["block"] == number
        assert table["time_ps"][mine].sum() == run.manifest.time_ps
        if block.side is Side.FPGA:
            assert table["cycles"][mine].sum() == run.manifest.cycles
            assert (table["cycles"][mine] * (10**12 // int(CLOCK_HZ)) == table["time_ps"][mine]).all()


def test_transitions_balance(run: Run) -> None:
    """Into a state as often as it was visited, but for the first; out of it as often, but for the last."""
    moves, times = run.tables["transitions"], run.tables["state_time"]
    for number, block in enumerate(run.manifest.blocks):
        mine = moves["block"] == number
        into, out = np.zeros(len(block.states), int), np.zeros(len(block.states), int)
        np.add.at(into, moves["to_state"][mine], moves["count"][mine])
        np.add.at(out, moves["from_state"][mine], moves["count"][mine])
        visits = np.zeros(len(block.states), int)
        visits[times["state"][times["block"] == number]] = times["visits"][times["block"] == number]
        assert (visits - into).sum() == 1
        assert set(visits - into) <= {0, 1}
        assert np.abs(into - out).sum() in (0, 2)


def test_intervals_sum_to_the_states_times(run: Run) -> None:
    table, offsets = run.tables["intervals"], run.tables["interval_offsets"]["offset"]
    times = run.tables["state_time"]
    assert len(offsets) == len(run.manifest.blocks) + 1
    for number, block in enumerate(run.manifest.blocks):
        part = slice(offsets[number], offsets[number + 1])
        lengths = np.diff([*table["start_ps"][part], run.manifest.time_ps])
        assert (lengths > 0).all()
        spent = np.zeros(len(block.states), dtype=np.int64)
        np.add.at(spent, table["state"][part], lengths)
        mine = times["block"] == number
        assert (spent[times["state"][mine]] == times["time_ps"][mine]).all()


def test_dwell_times_sum_to_the_states_cycles(run: Run) -> None:
    dwell, times = run.tables["dwell"], run.tables["state_time"]
    fpga = times["cycles"] > 0
    for block, state, cycles, visits in zip(
        *(times[name][fpga] for name in ("block", "state", "cycles", "visits")), strict=True
    ):
        mine = (dwell["block"] == block) & (dwell["state"] == state)
        assert dwell["cycles"][mine].sum() == cycles
        assert dwell["count"][mine].sum() == visits


def test_calls_sum_to_their_statistics_and_never_overlap(run: Run) -> None:
    calls, stats = run.tables["calls"], run.tables["call_stats"]
    assert (calls["t0_ps"][1:] >= calls["t1_ps"][:-1]).all()
    assert (calls["port_first_ps"] >= calls["t0_ps"]).all()
    assert (calls["port_last_ps"] < calls["t1_ps"]).all()
    for row, site in enumerate(stats["site"]):
        mine = calls["site"] == site
        assert stats["count"][row] == mine.sum()
        assert stats["bytes"][row] == calls["bytes"][mine].sum()
        assert stats["time_ps"][row] == (calls["t1_ps"] - calls["t0_ps"])[mine].sum()


def test_the_original_looks_like_the_papers() -> None:
    run = synthetic_run(cores=20, rounds=10)
    calls, times = run.tables["calls"], run.tables["state_time"]
    took_s = (calls["t1_ps"] - calls["t0_ps"]) * 1e-12
    assert took_s[calls["bytes"] == 4].mean() == pytest.approx(8.2e-6, rel=0.1)
    assert took_s[calls["bytes"] == 2048].mean() == pytest.approx(14e-6, rel=0.05)
    cores = np.isin(times["block"], np.arange(5, 25)) & (times["state"] == 4)
    share = times["time_ps"][cores].sum() / (20 * run.manifest.time_ps)
    assert 0.05 < share < 0.07  # the paper: 5.95 %


def test_a_profile_has_no_intervals() -> None:
    assert "intervals" not in synthetic_run(cores=2, rounds=1, traced=False).tables
    assert "calls" not in without_tables(synthetic_run(cores=2, rounds=1), "calls").tables
