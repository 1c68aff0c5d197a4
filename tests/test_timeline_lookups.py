"""Lookups in a trace: hits of a search, statistics of a range, shares of states, rare waits; and markers of a run."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_traces import small_index

from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.diagnostic import WorkbenchError
from workbench.model.run import Run
from workbench.pictures.palette import LIGHT
from workbench.pictures.timeline.raster import bar_colours
from workbench.pictures.timeline.rows import Kind
from workbench.pictures.timeline.rows import Row as Line
from workbench.pictures.timeline.scale import whole_span
from workbench.pictures.timeline.surface import rows_surface
from workbench.session.keep.timeline_marks import FILE, load_markers, load_pinned, save_markers, save_pinned
from workbench.testing.runs import synthetic_run
from workbench.traces.find import Occurrence, hits, occurrence
from workbench.traces.index import TimelineIndex
from workbench.traces.markers import Marker, next_name
from workbench.traces.scene import Scene, build_scene
from workbench.traces.shares import category_shares, rare_waits
from workbench.traces.state_table import state_rows
from workbench.traces.trace import CATEGORIES, NOTHING

WORK, SEND, WAIT_SEND, WAIT_RECV = (CATEGORIES.index(name) for name in ("work", "send", "wait_send", "wait_recv"))
HOUR_PS, CYCLE_PS = 3600 * 10**12, 10_000


@pytest.fixture(scope="module")
def scene() -> Scene:
    made = build_scene(synthetic_run(cores=3, rounds=4))
    assert made is not None
    return made


@pytest.fixture(scope="module")
def hour() -> TimelineIndex:
    """An hour of three replicas that work and send by turns; one of them once waits for a single cycle of 100 MHz."""
    starts = np.linspace(0, HOUR_PS, 3001, dtype=np.int64)[:-1].tolist()
    rows: list[list[tuple[int, int]]] = [[(at, (WORK, SEND)[n % 2]) for n, at in enumerate(starts)] for _ in range(3)]
    stall = starts[1700] + 123_456_789
    at = next(n for n, (start, _) in enumerate(rows[1]) if start > stall)
    before = rows[1][at - 1][1]
    rows[1][at:at] = [(stall, WAIT_SEND), (stall + CYCLE_PS, before)]
    return small_index(rows, HOUR_PS)


@pytest.mark.parametrize("words", ["startcore", "core work", "fpgaread", "wait"])
def test_all_hits_are_those_that_stepping_finds(scene: Scene, words: str) -> None:
    stepped, at = [], Occurrence(-1, -1)
    while (place := occurrence(scene, words, at)) is not None:
        stepped.append((place.time_ps, place.block))
        at = place
    every = hits(scene, words)
    assert [(place.time_ps, place.block) for place in map(every.place, range(len(every)))] == stepped
    assert every.count == len(stepped) > 0
    assert [every.number_of(every.place(number)) for number in range(len(every))] == list(range(len(every)))
    few = hits(scene, words, most=2)
    assert (few.count, few.rows.tolist()) == (every.count, every.rows[:2].tolist())
    middle = int(every.rows[len(every) // 2, 0])
    later = hits(scene, words, from_ps=middle)
    assert later.rows.tolist() == every.rows[every.rows[:, 0] >= middle].tolist()
    assert hits(scene, words, to_ps=middle).count + later.count == every.count


def test_statistics_of_a_range_are_those_of_plain_counting(scene: Scene) -> None:
    from_ps, to_ps = scene.index.end_ps // 5, scene.index.end_ps * 4 // 5
    rows = list(state_rows(scene, from_ps, to_ps))
    for number, block in enumerate(scene.blocks):
        edges, states = scene.index.trace.row(number)
        for state in block.states:
            cut = [
                min(int(edges[n + 1]), to_ps) - max(int(edges[n]), from_ps)
                for n in np.flatnonzero(states == state.index)
                if edges[n] < to_ps and edges[n + 1] > from_ps
            ]
            (row,) = [r for r in rows if r.block == number and r.state.index == state.index] or [None]
            if not cut:
                assert row is None
                continue
            assert row is not None
            assert (row.visits, row.time_ps, row.least_ps, row.most_ps) == (len(cut), sum(cut), min(cut), max(cut))
            assert row.share == pytest.approx(sum(cut) / (to_ps - from_ps))
            assert (row.mean_ps, row.median_ps) == pytest.approx((np.mean(cut), np.median(cut)))
        mine = sum(row.time_ps for row in rows if row.block == number)
        assert mine == to_ps - from_ps


def test_shares_are_near_the_times_in_each_bin(hour: TimelineIndex) -> None:
    for bins, within in ((7, 2 * hour.pyramid.sum_ps / (HOUR_PS / 7)), (2500, 0.06)):
        bin_ps = HOUR_PS / bins
        shares = category_shares(hour, (0, 1, 2), 0, bin_ps, bins)
        assert shares.sum(axis=0) == pytest.approx(np.ones(bins))
        exact = np.zeros((len(CATEGORIES), bins))
        for row in (0, 1, 2):
            for at in range(bins):
                exact[:, at] += hour.category_times_ps(row, round(at * bin_ps), round((at + 1) * bin_ps)) / 3 / bin_ps
        assert np.abs(shares - exact).max() < within
    assert category_shares(hour, (0,), HOUR_PS * 2.0, HOUR_PS, 3).sum() == 0


@pytest.mark.parametrize("kind", [Kind.STATES, Kind.STACK, Kind.SHARES])
@pytest.mark.parametrize("zoom", [1, 1000, 10**8])
@pytest.mark.parametrize("moving", [False, True])
def test_a_stall_of_one_cycle_in_an_hour_is_seen(hour: TimelineIndex, kind: Kind, zoom: int, moving: bool) -> None:
    """In its own row, in its folded stack, and among the shares of all replicas; at rest and while things move."""
    starts, states = hour.trace.row(1)
    stall = int(starts[:-1][states == WAIT_SEND][0])
    made = synthetic_run(cores=1, rounds=1)
    scene = Scene(made, hour, {}, (), 0, hour.shares(0))
    block = 1 if kind is Kind.STATES else -1
    line = Line(kind, "core", block=block, members=(0, 1, 2), key="core", folded=True)
    span = replace(whole_span(HOUR_PS, 1000), pixel_ps=HOUR_PS / 1000 / zoom)
    span = replace(span, from_ps=max(stall - span.pixel_ps * 500, 0.0))
    blocks = tuple(replace(made.manifest.blocks[0], id=f"b{n}") for n in range(3))
    scene = replace(scene, run=replace(made, manifest=replace(made.manifest, blocks=blocks)))
    surface = rows_surface(scene, [(line, 0)], span, line.height, LIGHT, coarse=moving)
    colour = int(bar_colours(LIGHT).plain[WAIT_SEND])
    tile = set(bar_colours(LIGHT).tiles[WAIT_SEND].ravel().tolist())
    seen = np.isin(surface.buffer[surface.pad : -surface.pad], [colour, *tile]).any(axis=0)
    assert seen.any()
    assert abs(np.flatnonzero(seen).mean() - (stall - span.from_ps) / span.pixel_ps) < 3 + CYCLE_PS / span.pixel_ps


def test_no_wait_is_rare_where_none_is(hour: TimelineIndex) -> None:
    assert (rare_waits(hour, (0, 2), 0, HOUR_PS / 100, 100) == NOTHING).all()
    shown = rare_waits(hour, (0, 1, 2), 0, HOUR_PS / 100, 100)
    assert sorted(set(shown.tolist())) == [WAIT_SEND, NOTHING]
    assert (shown == WAIT_SEND).sum() == 1


# ---- markers and pinned rows


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = synthetic_run(cores=1, rounds=1)
    RunWriter(tmp_path / "run", made.manifest).finish(made.manifest, made.tables)
    return open_run(tmp_path / "run")[0]


def test_markers_and_pinned_rows_come_back(run: Run) -> None:
    assert load_markers(run) == ((), ())
    markers = (Marker(7, "late"), Marker(3, "early"), Marker(3, "again"))
    save_markers(run, markers)
    assert load_markers(run) == (tuple(sorted(markers)), ())
    assert not open_run(run.path)[1]  # a folder with markers is as whole as before
    save_markers(run, ())
    assert not (run.path / FILE).exists()
    save_pinned(run, ["states host.main"])
    assert load_pinned(run) == ("states host.main",)
    assert next_name([Marker(0, "Marker 1"), Marker(0, "Marker 3")]) == "Marker 2"


@pytest.mark.parametrize(
    ("text", "kept", "problem"),
    [
        ("[", 0, "not a list of markers"),
        ('{"markers": 3}', 0, "not a list of markers"),
        ("[" * 100_000, 0, "not a list of markers"),
        ('{"markers": [{"name": "a", "time_ps": 1}, {"name": 3}, 7]}', 1, "2 of 3 markers cannot be read"),
        ('{"markers": [{"name": "a", "time_ps": -1}, {"name": "b", "time_ps": 1e99}]}', 0, "2 of 2 markers"),
    ],
)
def test_damaged_markers_are_reported(run: Run, text: str, kept: int, problem: str) -> None:
    (run.path / FILE).write_text(text)
    markers, (diagnostic,) = load_markers(run)
    assert len(markers) == kept
    assert problem in diagnostic.message
    assert diagnostic.file == str(run.path / FILE)


def test_markers_that_cannot_be_written_are_reported(run: Run) -> None:
    (run.path / FILE).mkdir()
    with pytest.raises(WorkbenchError, match="cannot keep the run's markers"):
        save_markers(run, [Marker(1, "a")])


def test_what_is_kept_is_plain_json(run: Run) -> None:
    save_markers(run, [Marker(5, "first round")])
    assert json.loads((run.path / FILE).read_text()) == {"markers": [{"name": "first round", "time_ps": 5}]}
