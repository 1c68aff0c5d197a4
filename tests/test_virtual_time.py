"""An FPGA's clock found from messages' times: against data made with a known clock, and against clocks that are wrong,
drift, or are not there. What is judged is virtual time over the span of the data, never an offset alone."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answers import document_of
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.api.virtual_time import Triples, calibrate, clock_problems, frame_of, frames_of, per_frame
from workbench.cli.main import main

S_P, S_F = 0.43253, 7.5  # ns of a tick; virtual time is the processor's


def messages(
    count: int = 1000, *, forth_ns: float = 600, back_ns: float = 600, jitter_ns: float = 0, preempted: float = 0,
    rate: float = S_F, drift: float = 0, seed: int = 1, s_p: float = S_P,
) -> tuple[np.ndarray[Any, Any], float]:  # fmt: skip
    """Counters of messages in a second, and the FPGA's time 0 on the processor's clock. The cycle grows by the share
    `drift` until the end."""
    random = np.random.default_rng(seed)
    sent_ns = np.sort(random.uniform(1e6, 1e9, count))

    def late(ns: float) -> np.ndarray[Any, Any]:
        often = random.random(count) < preempted
        return ns + random.exponential(jitter_ns or 1e-9, count) + often * random.exponential(30_000, count)

    met_ns = sent_ns + late(forth_ns)
    back = met_ns + late(back_ns)
    zero_ns = -123456789.25
    cycles = (met_ns - zero_ns) / (rate * (1 + drift * met_ns / 1e9))
    return np.floor(np.stack([sent_ns / s_p, cycles, back / s_p], axis=1)).astype(np.int64), zero_ns


def written(path: Path, rows: np.ndarray[Any, Any]) -> Path:
    path.write_text("tP1,tF2,tP3\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    return path


def asked(capsys: pytest.CaptureFixture[str], path: Path, *options: str, code: int = 0) -> dict[str, Any]:
    assert main(["calibrate", str(path), "--s-p", str(S_P), "--json", *options]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def worst_ns(found: dict[str, Any], rows: np.ndarray[Any, Any], zero_ns: float) -> float:
    """How far the clock that was found is off, at most, between the first cycle and the last; times in cycles that are
    read down are meant at their beginnings."""
    cycles = np.linspace(rows[:, 1].min(), rows[:, 1].max(), 100)
    truth_ns = S_F * cycles + zero_ns - S_P * rows[0, 0]
    return float(np.abs(found["s_f_ns"] * (cycles - rows[0, 1]) + found["b_f_ns"] - truth_ns).max())


#: What the dissertation's method reaches in 95 of 100 cases, rounded up; of two ways, with half their difference.
CASES: dict[str, tuple[dict[str, Any], float]] = {
    "only ticks": ({}, 10.0),
    "jitter": ({"jitter_ns": 200}, 15.0),
    "asymmetric": ({"forth_ns": 500, "back_ns": 900, "jitter_ns": 100}, 260.0),
    "preempted": ({"jitter_ns": 150, "preempted": 0.1}, 13.0),
}


@pytest.mark.parametrize("known", [True, False], ids=["rate known", "rate fitted"])
@pytest.mark.parametrize("case", CASES)
def test_virtual_time_is_found_within_the_tolerance(
    case: str, known: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given_, tolerance_ns = CASES[case]
    for seed in range(5):
        rows, zero_ns = messages(**given_, seed=seed)
        found = asked(capsys, written(tmp_path / "triples.csv", rows), *(["--s-f", "7.5"] if known else []))
        assert worst_ns(found, rows, zero_ns) <= tolerance_ns
        truth = zero_ns + S_F * rows[0, 1] - S_P * rows[0, 0]
        if known:
            assert found["s_f_ns"] == 7.5
            assert found["lower_ns"] < truth < found["upper_ns"]
        assert found["lower_ns"] < found["b_f_ns"] < found["upper_ns"]
        assert found["diagnostics"] == []


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6), forth=st.floats(10, 3000), back=st.floats(10, 3000), jitter=st.floats(0, 1000),
    s_f=st.floats(1, 40),
)  # fmt: skip
def test_the_true_offset_is_always_within_the_bounds(
    seed: int, forth: float, back: float, jitter: float, s_f: float
) -> None:
    rows, zero_ns = messages(200, forth_ns=forth, back_ns=back, jitter_ns=jitter, rate=s_f, seed=seed)
    clock = calibrate(Triples(*rows.T), S_P, s_f)
    assert clock.lower_ns < zero_ns < clock.upper_ns


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6), forth=st.floats(10, 3000), back=st.floats(10, 3000), jitter=st.floats(0, 1000),
    s_f=st.floats(1, 40), drift=st.floats(-50e-6, 50e-6), count=st.integers(2, 400), far=st.floats(0, 5e8),
)  # fmt: skip
def test_no_time_of_a_runs_frames_is_farther_off_than_they_say(
    seed: int, forth: float, back: float, jitter: float, s_f: float, drift: float, count: int, far: float
) -> None:
    """However many messages there were, before the first and after the last too, of a clock that drifts by up to 100
    ppm in a second. The ways there and back may be as unlike as they like, and a tenth of the messages late."""
    rows, truth_ps = on_the_hosts_clock(
        count, forth_ns=forth, back_ns=back, jitter_ns=jitter, preempted=0.1, rate=s_f, drift=drift, seed=seed
    )
    last = int(rows[:, 1].max() + 1 + far / s_f)
    frames = frames_of(Triples(*rows.T), last)
    assert (frames[0].first, frames[-1].last, sum(f.messages for f in frames) <= count) == (0, last, True)
    assert all(f.last == g.first for f, g in pairwise(frames))
    for cycle in np.linspace(0, last, 50).astype(int).tolist():
        frame = frame_of(frames, cycle)
        assert abs(frame.at(cycle) - truth_ps(cycle)) <= frame.uncertainty_ps + s_f * 1000  # within its cycle


def on_the_hosts_clock(count: int = 1000, **given: Any) -> tuple[np.ndarray[Any, Any], Callable[[int], float]]:
    """`messages` with a host's clock of ps, and when a cycle begins on it; cycle 0 is near its time 0."""
    rows, zero_ns = messages(count, s_p=1e-3, **given)
    rate, drift = given.get("rate", S_F), given.get("drift", 0.0)
    first = int(-zero_ns / rate)
    rows[:, 1] -= first

    def truth_ps(cycle: int) -> float:
        turns = rate * (cycle + first)  # t - zero = rate (1 + drift t) (cycle + first)
        return 1000 * (turns + zero_ns) / (1 - drift * 1e-9 * turns)

    return rows, truth_ps


@pytest.mark.parametrize("case", CASES)
def test_a_runs_clock_is_found_within_the_tolerance(case: str) -> None:
    """By frames too: of a steady clock there is one."""
    given_, tolerance_ns = CASES[case]
    for seed in range(5):
        rows, truth_ps = on_the_hosts_clock(**given_, seed=seed)
        (frame,) = frames_of(Triples(*rows.T), int(rows[:, 1].max()))
        for cycle in np.linspace(rows[:, 1].min(), rows[:, 1].max(), 50).astype(int).tolist():
            assert abs(frame.at(cycle) - truth_ps(cycle)) <= 1000 * tolerance_ns


def test_a_clock_that_drifts_is_followed_by_frames() -> None:
    rows, truth_ps = on_the_hosts_clock(jitter_ns=100, drift=50e-6, seed=1)
    last = int(rows[:, 1].max())
    frames = frames_of(Triples(*rows.T), last)
    assert len(frames) > 2
    assert max(abs(frame_of(frames, c).at(c) - truth_ps(c)) for c in range(0, last, last // 50)) < 700_000
    assert calibrate(Triples(*rows.T), 1e-3).crossed_ns > 10_000  # at one rate, where a message takes some 1,200 ns
    *_, told = clock_problems("clk", frames, 1e9 / S_F)
    assert "has no constant rate" in told.message


def test_counters_of_a_card_that_runs_for_years_lose_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Counters near 2^63: as numbers of double precision they would be off by 1,024 ticks."""
    rows, _ = messages()
    far = rows + np.array([2**62 + 12345, 2**61 + 777, 2**62 + 12345])
    near, away = (asked(capsys, written(tmp_path / f"{n}.csv", r)) for n, r in (("near", rows), ("far", far)))
    assert near == away


def test_the_order_of_the_lines_does_not_matter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, _ = messages(jitter_ns=100)
    shuffled = np.concatenate([rows[:1], np.random.default_rng(3).permutation(rows[1:])])
    ordered, mixed = (asked(capsys, written(tmp_path / f"{n}.csv", r)) for n, r in (("a", rows), ("b", shuffled)))
    assert ordered == mixed


def test_a_wrong_rate_is_said_and_gives_no_offset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """133 MHz are 7.5188 ns, not 7.5: 2,500 ppm."""
    rows, _ = messages(jitter_ns=100)
    found = asked(capsys, written(tmp_path / "triples.csv", rows), "--s-f", "7.5188", code=1)
    assert found["b_f_ns"] is None
    assert found["lower_ns"] > found["upper_ns"]
    (told,) = found["diagnostics"]
    assert "the FPGA's cycle is not 7.5188 ns" in told["message"]
    assert "These messages fit 7.5" in told["hint"]
    assert "ppm" in told["hint"]


def test_a_drifting_clock_is_said_to_be_and_followed_by_frames(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, _ = messages(drift=50e-6, jitter_ns=50)
    found = asked(capsys, written(tmp_path / "triples.csv", rows), "--frames", "20", code=1)
    assert found["b_f_ns"] is None
    assert "no single rate fits" in found["diagnostics"][0]["message"]
    rates = [part["s_f_ns"] for part in found["per_frame"]]
    assert len(rates) == 20
    # d t_V / d t_F of t_F (1 + drift t_V) = t_V - zero: it grows by twice the drift, in ns a cycle
    assert rates[-1] - rates[0] == pytest.approx(S_F * 2 * 50e-6 * 0.95, rel=0.1)
    assert [part["first"] for part in found["per_frame"]] == list(range(0, 1000, 50))
    asked(capsys, written(tmp_path / "steady.csv", messages(jitter_ns=50)[0]), "--frames", "20")


def test_frames_of_one_cycle_show_no_rate() -> None:
    triples = Triples(np.array([0, 1, 2, 50]), np.array([3, 3, 3, 9]), np.array([10, 11, 12, 60]))
    assert [part.first for part in per_frame(triples, 1.0, None, 2)] == [2]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "the columns are nothing"),
        ("a,b,c\n1,2,3\n", 1, "the columns are a, b, c"),
        ("tP1,tF2,tP3\n", 1, "0 messages are too few"),
        ("tP1,tF2,tP3\n1,2,3\n1,2\n", 3, "2 values instead of three"),
        ("tP1,tF2,tP3\n1,2,3\n\n1,-2,3\n", 4, "'-2' is not a count of ticks"),
        ("tP1,tF2,tP3\n1,2,3\n1,99999999999999999999,3\n", 3, "is not a count of ticks"),
        ("tP1,tF2,tP3\n1,2,3\n1,1e3,3\n", 3, "'1e3' is not a count"),
        ("tP1,tF2,tP3\n1,2,3\n9,3,8\n", 3, "before the message left"),
        ("tP1,tF2,tP3\n0,2,3\n9000000000000000000,3,9000000000000000000\n", 2, "too far apart"),
        ("tP1,tF2,tP3\n1,2,3\n2,2,4\n", None, "every message met the same FPGA cycle"),
        ("tP1,tF2,tP3\n1,9,2\n101,5,102\n201,1,202\n", None, "the FPGA's counter falls"),
        ('tP1,tF2,tP3\n"1,2,3\n', 2, "1 value instead"),
        ("tP1,tF2,tP3\n\0,2,3\n", 2, "not a count of ticks"),
        ("tP1,tF2,tP3\r1,2,x\r", 2, "not a count of ticks"),
        ("x" * 140_000, 1, "this is not a row of a table: field larger"),
    ],
)
def test_a_bad_file_is_told_at_its_line(
    text: str, line: int | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "triples.csv"
    path.write_text(text)
    (told,) = document_of(capsys, ["calibrate", str(path), "--json"], 2)["diagnostics"]
    assert said in told["message"]
    assert (told["line"], told["file"]) == (line, str(path))


def test_columns_are_found_by_name_and_told_in_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, _ = messages(count=40)
    path = tmp_path / "triples.csv"
    path.write_text("\ufefftF2, tP3 ,tP1\n" + "".join(f"{b},{c},{a}\n" for a, b, c in rows))
    assert main(["calibrate", str(path), "--s-p", str(S_P), "--s-f", "7.5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["Messages", "Cycle,", "ns"]
    assert [line.split("  ")[0] for line in lines[1:]] == ["all", "1 to 20", "21 to 40"]
