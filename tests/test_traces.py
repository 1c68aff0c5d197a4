"""Traces: one reader for every layout of chunks, and pyramids that hold exactly what counting finds."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_runs import without_tables
from small_traces import Row, small_index, small_trace

from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.blocks import Side
from workbench.model.run import Run
from workbench.traces import index as index_module
from workbench.traces.index import TimelineIndex, index_of_run
from workbench.traces.pyramid import build_pyramid, keep_pyramid, kept_pyramid
from workbench.traces.sample import most_at_once, sample
from workbench.traces.scene import build_scene
from workbench.traces.statistics import selection_statistics
from workbench.traces.trace import CATEGORIES, NOTHING, Trace, trace_of

WAIT_SEND, WORK = CATEGORIES.index("wait_send"), CATEGORIES.index("work")


@pytest.fixture(scope="module")
def index(six_cores: Run) -> TimelineIndex:
    made = index_of_run(six_cores)
    assert made is not None
    return made


# ---- the reader


ROWS = st.lists(st.lists(st.integers(1, 60), min_size=1, max_size=30), min_size=1, max_size=4)


def chunked(rows: list[Row], cuts: list[int]) -> list[list[Row]]:
    """Rows cut into chunks at times, as a writer does it."""
    bounds = [0, *sorted(cuts), 1 << 60]
    return [
        [[(start, state) for start, state in row if low <= start < high] for row in rows]
        for low, high in pairwise(bounds)
    ]


@given(spans=ROWS, cuts=st.lists(st.integers(0, 1800), max_size=5), times=st.tuples(*[st.integers(0, 1900)] * 2))
@settings(max_examples=150)
def test_chunks_read_as_one(spans: list[list[int]], cuts: list[int], times: tuple[int, int]) -> None:
    starts = [np.concatenate(([0], np.cumsum(row)[:-1])).tolist() for row in spans]
    rows: list[Row] = [[(at, (at * 7 + n) % 7) for n, at in enumerate(row)] for row in starts]
    end = max(sum(row) for row in spans)
    whole, cut = small_trace([rows], end), small_trace(chunked(rows, cuts), end)
    first, last = sorted(times)
    for row in range(len(rows)):
        each_ps = np.repeat([s for _, s in rows[row]], np.diff([*starts[row], end]))
        for trace in (whole, cut):
            edges, states = trace.row(row)
            assert (edges.tolist(), states.tolist()) == ([*starts[row], end], [s for _, s in rows[row]])
            assert sum(len(states) for _, states in trace.pieces(row)) == len(rows[row])
            inside = trace.between(row, first, last)[1]
            assert trace.count(row, first, last) == len(inside)
            expected = [n for n in range(len(edges) - 1) if edges[n] < last and (edges[n + 1] > first)]
            assert (inside.tolist() == states[expected].tolist()) or first == last or first >= end
            assert (
                trace.state_times_ps(row, first, last).tolist()
                == np.bincount(each_ps[first:last], minlength=7).tolist()
            )
            for at in (first, last):
                found = trace.at(row, at)
                assert (found[0] if found else None) == (each_ps[at] if at < end else None)
                later = [s for s, state in rows[row] if state == 3 and s > at]
                assert trace.next_entry(row, 3, at) == (later[0] if later else None)
                earlier = [s for s, state in rows[row] if state == 3 and s < at]
                assert trace.next_entry(row, 3, at, backwards=True) == (earlier[-1] if earlier else None)


def test_a_profile_has_no_trace(six_cores: Run) -> None:
    profile = without_tables(six_cores, "intervals", "interval_offsets")
    assert trace_of(profile) is None
    assert index_of_run(profile) is None


def test_time_outside_the_run_shows_nothing(index: TimelineIndex) -> None:
    shown = sample(index, [0], index.end_ps * 0.9, index.end_ps / 1000, 500)
    assert (shown.code[0, 101:] == NOTHING).all()
    assert (shown.code[0, :99] != NOTHING).all()
    assert index.trace.at(0, index.end_ps) is None
    assert index.trace.at(0, -1) is None


def test_at_once_counts_overlaps() -> None:
    rows = [[(0, 0), (10, WORK), (20, 0)], [(0, 0), (15, WORK), (30, 0)], [(0, 0), (20, WORK), (40, 0)]]
    trace = small_trace([rows], 50)
    assert most_at_once(trace, [0, 1, 2], WORK, 0, 50) == 2  # 10..20 ends as 20..40 begins
    assert most_at_once(trace, [0], WORK, 0, 50) == 1
    assert most_at_once(trace, [0, 1, 2], WORK, 41, 50) == 0


# ---- pyramids


@given(
    spans=st.lists(st.integers(1, 5_000), min_size=1, max_size=80),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60)
def test_pyramids_hold_exactly_what_counting_finds(spans: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    states = rng.integers(0, len(CATEGORIES), len(spans)).tolist()
    starts = np.concatenate(([0], np.cumsum(spans)[:-1])).tolist()
    end = sum(spans)
    index = small_index([list(zip(starts, states, strict=True))], end)
    each_ps = np.repeat(states, spans)
    assert index.totals_ps[0].tolist() == np.bincount(each_ps, minlength=len(CATEGORIES)).tolist()
    for level in index.levels:
        for number in range(level.dominant.shape[1]):
            inside = each_ps[number * level.bin_ps : (number + 1) * level.bin_ps]
            if not len(inside):
                assert level.dominant[0, number] == NOTHING
                assert level.present[0, number] == 0
                continue
            counts = np.bincount(inside, minlength=len(CATEGORIES))
            assert counts[level.dominant[0, number]] == counts.max()
            assert level.present[0, number] == sum(1 << int(c) for c in np.unique(inside))
    a, b = sorted(rng.integers(0, end + 1, 2).tolist())
    expected = np.bincount(each_ps[a:b], minlength=len(CATEGORIES))
    assert index.category_times_ps(0, a, b).tolist() == expected.tolist()


def test_a_long_row_is_summed_in_windows() -> None:
    """A row of 200,000 intervals has more bins than a window; every level and sum is that of its intervals."""
    rng = np.random.default_rng(7)
    spans = rng.integers(1, 1000, 200_000)
    states = rng.integers(0, len(CATEGORIES), len(spans)).astype(np.uint8)
    edges = np.concatenate(([0], np.cumsum(spans)))
    codes = (np.arange(len(CATEGORIES), dtype=np.uint8),)
    trace = Trace(edges[:-1], states, np.array([0, len(spans)]), codes, int(edges[-1]))
    pyramid = build_pyramid(trace)
    assert pyramid.shape.bins[0] > 1 << 14
    for level in pyramid.levels:
        bins = level.dominant.shape[1]
        points = np.unique(np.concatenate((edges, np.arange(bins) * level.bin_ps)))
        points = points[points <= edges[-1]]
        code = states[np.searchsorted(edges, points[:-1], "right") - 1]
        times = np.bincount(
            points[:-1] // level.bin_ps * 8 + code, weights=np.diff(points), minlength=bins * 8
        ).reshape(bins, 8)
        used = times.any(axis=1)
        assert (level.dominant[0] == np.where(used, times.argmax(axis=1), NOTHING)).all()
        assert (level.present[0] == ((times > 0) << np.arange(8)).sum(axis=1)).all()
    assert pyramid.times_ps[0].sum(axis=1).tolist() == np.bincount(states, weights=spans).tolist()


@pytest.mark.parametrize("zoom", [1, 7, 400, 20_000])
def test_a_stall_of_one_cycle_is_pinned_at_every_zoom(zoom: int) -> None:
    """200,000 intervals, one of them a wait to send of 10 ns: some pixel shows it, however much is in view."""
    count = 200_000
    starts = np.arange(count, dtype=np.int64) * 1_000_000
    states = (np.arange(count) % 2 * 2 + 1).astype(np.uint8)  # work and send
    at = 154_321
    starts = np.insert(starts, at, starts[at - 1] + 500_000)
    starts = np.insert(starts, at + 1, starts[at] + 10_000)
    states = np.insert(states, at, WAIT_SEND)
    states = np.insert(states, at + 1, 1)
    index = small_index([list(zip(starts.tolist(), states.tolist(), strict=True))], count * 1_000_000)
    pixel = index.end_ps / 1600 / zoom
    first = max(0.0, float(starts[at]) - 800 * pixel)
    for coarse in (False, True):
        shown = sample(index, [0], first, pixel, 1600, coarse)
        seen = (shown.pin[0] == WAIT_SEND) | (shown.code[0] == WAIT_SEND)
        assert seen.any()
        middle = np.flatnonzero(seen).mean()
        assert abs(middle - (starts[at] - first) / pixel) < max(3, index.levels[0].bin_ps / pixel)
    assert index.seldom(0, WAIT_SEND, 3) == [(int(starts[at]), int(starts[at + 1]))]
    assert index.seldom(0, WORK, 3) == []


def test_samples_agree_with_the_state_at_each_pixel(index: TimelineIndex) -> None:
    pixel = index.levels[0].bin_ps / 50
    shown = sample(index, [0, 3], index.end_ps * 0.4, pixel, 500)
    assert shown.exact
    for place, row in enumerate((0, 3)):
        for x in range(0, 500, 7):
            found = index.trace.at(row, index.end_ps * 0.4 + (x + 0.5) * pixel)
            assert found is not None
            near = {int(c) for c in shown.code[place, max(x - 1, 0) : x + 2]}
            assert int(index.trace.codes[row][found[0]]) in near


def test_overview_shares_sum_to_one(index: TimelineIndex) -> None:
    shares = index.shares(0)
    inside = -(-index.end_ps // index.pyramid.sum_ps)
    assert np.allclose(shares.sum(axis=0)[:inside], 1)


# ---- kept on disk


@pytest.fixture
def folder(tmp_path: Path, six_cores: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run's folder; every trace counts as large."""
    monkeypatch.setattr(index_module, "KEPT_FROM", 1)
    RunWriter(tmp_path / "run").finish(six_cores.manifest, six_cores.tables)
    return tmp_path / "run"


def opened(folder: Path) -> TimelineIndex:
    made = index_of_run(open_run(folder)[0])
    assert made is not None
    return made


def test_a_pyramid_is_built_once_and_kept(folder: Path, index: TimelineIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(folder)
    monkeypatch.setattr(index_module, "build_pyramid", None)  # calling it would end the test
    again = opened(folder)
    assert not again.pyramid.dominant.flags.writeable  # mapped, not read
    assert len(again.levels) == len(index.levels)
    for kept, made in zip(again.levels, index.levels, strict=True):
        assert kept.bin_ps == made.bin_ps
        assert np.array_equal(kept.dominant, made.dominant)
        assert np.array_equal(kept.present, made.present)
    assert np.array_equal(again.totals_ps, index.totals_ps)
    assert open_run(folder)[1] == ()


@pytest.mark.parametrize("name", ["key", "dominant", "present", "times_ps"])
def test_a_damaged_pyramid_is_built_anew(folder: Path, index: TimelineIndex, name: str) -> None:
    opened(folder)
    path = folder / "pyramid" / f"{name}.npy"
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)
    assert np.array_equal(opened(folder).levels[0].dominant, index.levels[0].dominant)
    path.unlink()
    assert np.array_equal(opened(folder).totals_ps, index.totals_ps)
    trace = trace_of(open_run(folder)[0])
    assert trace is not None
    assert kept_pyramid(folder, trace) is not None  # kept again


def test_another_trace_s_pyramid_is_not_taken(folder: Path, index: TimelineIndex) -> None:
    opened(folder)
    other = replace(index.trace, end_ps=index.end_ps + 1)
    assert kept_pyramid(folder, index.trace) is not None
    assert kept_pyramid(folder, other) is None


def test_a_folder_that_cannot_be_written_to_costs_time_only(tmp_path: Path, index: TimelineIndex) -> None:
    (tmp_path / "file").write_text("")
    assert not keep_pyramid(tmp_path / "file", index.trace, index.pyramid)
    assert keep_pyramid(tmp_path, index.trace, index.pyramid)


def test_a_call_site_of_two_threads_is_counted_for_both(six_cores: Run) -> None:
    """The second host thread makes the first one's calls at the same times."""
    alone = build_scene(six_cores)
    assert alone is not None
    (host,) = alone.calls
    other = next(number for number in range(len(alone.blocks)) if number != host)
    blocks = [replace(b, side=Side.HOST) if number == other else b for number, b in enumerate(alone.blocks)]
    run = replace(six_cores, manifest=replace(six_cores.manifest, blocks=tuple(blocks)))
    both = replace(alone, run=run, calls={host: alone.calls[host], other: alone.calls[host]})
    end_ps = six_cores.manifest.time_ps
    once = {site: (count, s) for site, count, s in selection_statistics(alone, 0, end_ps).calls}
    twice = {site: (count, s) for site, count, s in selection_statistics(both, 0, end_ps).calls}
    assert once
    assert twice == {site: (2 * count, pytest.approx(2 * s)) for site, (count, s) in once.items()}


def test_of_several_fpgas_it_is_said_in_which_the_block_is(six_cores: Run) -> None:
    scene = build_scene(six_cores)
    assert scene is not None
    first = next(number for number, block in enumerate(scene.blocks) if block.side is Side.FPGA)
    of_left = [
        replace(b, id=f"left:{b.id}", component=f"left:{b.component}", group=f"left:{b.id}") if number == first else b
        for number, b in enumerate(scene.blocks)
        if number == first or b.side is Side.HOST
    ]
    run = replace(six_cores, manifest=replace(six_cores.manifest, blocks=tuple(of_left)))
    shown = selection_statistics(replace(scene, run=run), 0, six_cores.manifest.time_ps).shares[-1].title
    assert shown.startswith("left:")
    assert shown.count("left:") == 1
