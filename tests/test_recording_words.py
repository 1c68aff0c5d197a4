"""What recording did to a run's time is said in the same numbers everywhere."""

from dataclasses import replace

from workbench.analysis.recording import recording_parts, recording_words
from workbench.testing.runs import synthetic_run

TOLD = {"taken_off_pct": 6.392, "host_pct": 0.1, "virtual_pct": 0.088, "own_pct": 1.8, "unsure_pct": 0.09}
MEASURED = replace(synthetic_run(cores=1, rounds=1).manifest, deterministic=False, overhead=TOLD)


def test_a_measured_run_says_how_much_was_taken_off_and_how_much_may_be_left() -> None:
    assert recording_words(MEASURED) == (
        "instrumentation overhead 6.39 % subtracted, call by call; residual 0.09 ± 0.09 %"
    )
    nothing = dict.fromkeys(MEASURED.overhead, 0.0)
    assert recording_parts(replace(MEASURED, overhead=nothing)) == ("no instrumentation overhead",)
    assert recording_parts(MEASURED) == ("instrumentation overhead 6.4 % subtracted (residual ≤ 0.2 %)",)


def test_counted_time_holds_no_recording() -> None:
    counted = replace(MEASURED, deterministic=True)
    assert "only the user's own code is counted" in recording_words(counted)
    assert recording_parts(counted) == ()


def test_a_plain_run_and_one_without_a_figure_say_nothing() -> None:
    for manifest in (replace(MEASURED, instrumented=False), replace(MEASURED, overhead={})):
        assert (recording_words(manifest), recording_parts(manifest)) == ("", ())


def test_a_run_of_an_earlier_version_says_that_recording_is_in_it() -> None:
    earlier = replace(MEASURED, overhead={"host_pct": 4.4, "virtual_pct": 4.4})
    assert recording_words(earlier) == "recording overhead is in the times, 4.40 % of the host's"
