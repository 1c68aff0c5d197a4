"""What the timeline is drawn from: rows, rulers, colours, calls and messages against plain counting."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_traces import small_index

from workbench.gui.modes.timeline.hover import place_tooltip
from workbench.model.blocks import Side
from workbench.model.run import Run
from workbench.pictures.graph_text import shortened
from workbench.pictures.layout_sizes import Box
from workbench.pictures.palette import LIGHT
from workbench.pictures.svg import SvgCanvas
from workbench.pictures.timeline.drawing import _seen
from workbench.pictures.timeline.hits import hit_at, messages_of
from workbench.pictures.timeline.raster import bar_colours, column_table, columns, in_runs, stacked_shares
from workbench.pictures.timeline.rows import GROWING, HEIGHTS, Kind, build_rows, fitted, share_rows
from workbench.pictures.timeline.scale import Span, exact_time, ruler, tick_step, zoomed
from workbench.pictures.timeline.surface import Surface, rows_surface
from workbench.traces.buses import Bus
from workbench.traces.calls import CELL_PX, GAP_PX, STRIDE, BlockCalls, calls_of_run, lengths
from workbench.traces.sample import count_at_once, sample
from workbench.traces.scene import Scene
from workbench.traces.trace import CATEGORIES, NOTHING

WAIT_SEND, WORK = CATEGORIES.index("wait_send"), CATEGORIES.index("work")


def test_rows_put_the_host_above_and_fold_replicas(scene: Scene) -> None:
    rows = build_rows(scene.blocks, scene.index, with_calls=True)
    kinds = [row.kind for row in rows]
    assert kinds[:5] == [Kind.HEAD, Kind.CALLS, Kind.STATES, Kind.CLOCK, Kind.HEAD]
    stack = next(row for row in rows if row.kind is Kind.STACK)
    assert stack.label == "core × 6"
    assert len(stack.members) == 6
    folded = build_rows(scene.blocks, scene.index, with_calls=True, folded={stack.key})
    assert len(folded) == len(rows) - 6
    only = build_rows(scene.blocks, scene.index, with_calls=True, wanted="core[2]")
    assert [row.label for row in only if row.kind is Kind.STATES] == ["core[2]"]


def test_each_fpga_has_a_head_with_its_blocks_below(scene: Scene) -> None:
    names = ("host.main", "left:sender.send", "right:receiver.take", "left:sender.count")
    blocks = [
        replace(block, id=name, component=name.rpartition(".")[0], group=name)
        for block, name in zip(scene.blocks, names, strict=False)
    ]
    rows = build_rows(blocks, scene.index, with_calls=False)
    assert [(row.kind, row.label) for row in rows][3:] == [
        (Kind.HEAD, "left:sender"), (Kind.STATES, "send"), (Kind.STATES, "count"),
        (Kind.HEAD, "right:receiver"), (Kind.STATES, "take"),
    ]  # fmt: skip


def test_each_process_has_a_head_and_names_keep_what_differs(scene: Scene) -> None:
    names = [f"host.rank[{rank}].main" for rank in (0, 1)] + ["rank[0].top.left.unit", "rank[1].top.left.unit"]
    blocks = [
        replace(block, id=name, component=name.rpartition(".")[0], group=name, side=side)
        for block, name, side in zip(
            scene.blocks, names, (Side.HOST, Side.HOST, Side.FPGA, Side.FPGA), strict=False
        )
    ]  # fmt: skip
    buses = [Bus("rank[1].PCI-X", *(np.zeros(0, np.int64) for _ in range(4)), np.zeros(0, np.uint8))]
    rows = build_rows(blocks, scene.index, with_calls=True, buses=buses)
    assert [row.label for row in rows][:7] == [
        "host, rank[0]", "main, calls", "main", "host, rank[1]", "main, calls", "main", "PCI-X",
    ]  # fmt: skip
    assert "host.rank[1].main" in rows[5].tip
    assert len(build_rows(blocks, scene.index, True, {"host rank[0]"}, buses=buses)) == len(rows) - 2
    canvas = SvgCanvas()
    assert shortened(canvas, "left.middle.right × 20", 90, 12) == "…right × 20"
    assert shortened(canvas, "left.middle.right, calls", 400, 12) == "left.middle.right, calls"


@given(st.floats(10, 1e11))
def test_ticks_are_round_and_far_enough_apart(pixel_ps: float) -> None:
    step = tick_step(pixel_ps, 130)
    assert step >= pixel_ps * 130 * 0.999
    assert step <= pixel_ps * 130 * 10 + 1
    assert str(step).rstrip("0") in {"1", "2", "5"}
    marks = ruler(Span(3.2e13, pixel_ps, 1200))
    assert len(marks.ticks) <= 11
    assert len({text for _, text in marks.ticks}) == len(marks.ticks)


def test_zoom_keeps_the_time_under_the_pointer() -> None:
    span = Span(5e9, 1e6, 1000)
    near = zoomed(span, 0.5, 250, 10**11)
    assert near.time(250) == pytest.approx(span.time(250))
    assert exact_time(31_204_100_000_000, 1e9).startswith("31.204")


def test_waits_are_44_percent_high_and_patterns_start_at_three_pixels() -> None:
    colours = bar_colours(LIGHT)
    table = column_table(16, colours).reshape(16, 2, 2, NOTHING + 1, -1)
    solid = table[:, 0, 1]
    wait = (solid[:, WAIT_SEND, 0] == 0xFFD55E00).sum()
    assert round(wait / 16, 2) == pytest.approx(0.44, abs=0.03)
    assert (solid[:, WORK, 0] == 0xFF009E73).all()
    runs = in_runs(np.array([[3, 3, 4, 4, 4, 5]], np.uint8), 3)
    assert runs.tolist() == [[False, False, True, True, True, False]]


def visible(surface: Surface, height: int) -> np.ndarray:
    return surface.buffer[surface.pad : surface.pad + height]


def test_rows_of_any_height_are_drawn_and_cut_ones_as_far_as_they_are_visible(scene: Scene) -> None:
    """Higher than a pattern repeats, and cut at the top by more than a low row's height."""
    high = fitted(build_rows(scene.blocks, scene.index, with_calls=True), 10_000)
    assert {row.height for row in high if row.kind in GROWING} == {GROWING[Kind.STATES], GROWING[Kind.STACK]}
    low = fitted(high, 0, HEIGHTS[Kind.STATES][0])
    assert {row.height for row in low if row.kind in GROWING} == {HEIGHTS[k][0] for k in (Kind.STATES, Kind.STACK)}
    span = Span(0, scene.index.end_ps / 300, 300)
    shares = fitted(share_rows(scene.blocks, scene.index), 10_000)
    for row in (*high, shares[1]):
        if row.kind in GROWING:
            whole = visible(rows_surface(scene, [(row, 0)], span, row.height, LIGHT), row.height)
            cut = row.height // 2
            assert len(np.unique(whole[cut:])) > 1
            part = visible(rows_surface(scene, [(row, -cut)], span, row.height - cut, LIGHT), row.height - cut)
            assert (part == whole[cut:]).all()


def test_a_name_is_in_the_visible_part_of_its_row() -> None:
    band = Box(0, 100, 500, 300)
    assert _seen(Box(0, 50, 500, 100), band) == Box(0, 100, 500, 50)
    assert _seen(Box(0, 350, 500, 100), band) == Box(0, 350, 500, 50)
    assert _seen(Box(0, 8, 500, 100), band) == Box(0, 8, 500, 100), "no room for it"


def test_shares_have_the_patterns_of_their_states_where_there_is_room() -> None:
    """Two bins, each shown by half of the columns: work under wait_recv in equal parts, then one pixel of work."""
    shares = np.zeros((len(CATEGORIES), 2))
    shares[CATEGORIES.index("work")], shares[CATEGORIES.index("wait_recv")] = (0.5, 0.02), (0.5, 0.98)
    which = np.repeat([0, 1], 30)
    drawn = stacked_shares(shares, which, 50, LIGHT)
    colours = bar_colours(LIGHT)
    work, wait = (CATEGORIES.index(name) for name in ("work", "wait_recv"))
    assert (drawn[25:, :30] == colours.tiles[work][25:50, :30]).all()
    assert (drawn[:25, :30] == colours.tiles[wait][:25, :30]).all()
    assert len(np.unique(drawn[:25, :30])) > 1 == len(np.unique(drawn[25:, :30]))  # work alone is solid
    assert (drawn[49, 30:] == colours.plain[work]).all()
    faded = stacked_shares(shares, which, 50, LIGHT, faded=frozenset({work}))
    assert (faded[25:, :30] != drawn[25:, :30]).all()
    assert (faded[:25] == drawn[:25]).all()


def test_dimmed_columns_are_paler() -> None:
    index = small_index([[(0, WORK)]], 1000)
    shown = sample(index, [0], 0, 10, 100)
    table = column_table(10, bar_colours(LIGHT))
    dim = np.arange(100) >= 50
    drawn = table[5, columns(shown, 0, dim)[0]]
    assert set(drawn[:50]) == {0xFF009E73}
    assert 0xFF009E73 not in set(drawn[50:])


def test_calls_are_grouped_by_site_and_counted(six_cores: Run) -> None:
    calls = calls_of_run(six_cores)[0]
    sites = six_cores.manifest.sites
    assert len(calls) == len(six_cores.tables["calls"]["t0_ps"])
    groups = len(calls.group_first) - 1
    assert groups == 4 * len(sites)  # each round calls each site once for every core
    every = np.zeros(len(sites))  # each site has room enough
    boxes = calls.boxes(0, six_cores.manifest.time_ps / 4000, 4000, every)
    assert [b.sites[0][0] for b in boxes[: len(sites)]] == [
        int(calls.site[calls.group_first[k]]) for k in range(len(sites))
    ]
    crowded = calls.boxes(0, six_cores.manifest.time_ps / 6, 6, every + 50)
    assert sum(count for box in crowded for _, count in box.sites) == len(calls)
    totals = calls.between(0, six_cores.manifest.time_ps)
    assert sum(count for _, count, _ in totals) == len(calls)
    assert sum(t for _, _, t in totals) == int((calls.t1_ps - calls.t0_ps).sum())


def test_calls_too_narrow_for_their_name_stand_together(six_cores: Run) -> None:
    calls, sites = calls_of_run(six_cores)[0], six_cores.manifest.sites
    canvas = SvgCanvas()
    least = np.array([canvas.width_of(site.label, 11, 500) + 8 for site in sites])
    for width in (300, 900, 3000, 20_000):
        boxes = calls.boxes(0, six_cores.manifest.time_ps / width, width, least)
        assert sum(count for box in boxes for _, count in box.sites) == len(calls)
        for one, two in pairwise(boxes):
            assert one.right <= two.left
        for box in boxes:
            assert box.right - box.left < 3 * CELL_PX or len(box.sites) == 1
        apart = calls.boxes(0, six_cores.manifest.time_ps / width, width, np.zeros(len(sites)))
        narrow = [len([b for b in some if b.right - b.left < least[b.sites[0][0]]]) for some in (boxes, apart)]
        assert narrow[0] * 4 <= narrow[1]
    assert {len(box.sites) for box in boxes} == {1}  # with room enough each site has a box of its own


def boxes_by_hand(calls: BlockCalls, from_ps: float, pixel_ps: float, width: int, least_px: list[float]) -> list[Any]:
    """As the docstrings of `BlockCalls.boxes` and `Groups` say it, group by group: left, right, calls of each site."""
    cuts, cell_ps = calls.group_first.tolist(), 2 ** math.ceil(math.log2(CELL_PX * pixel_ps))
    first_call: dict[int, int] = {}
    rounds: list[list[int]] = []
    for group, call in enumerate(cuts[:-1]):
        site = int(calls.site[call])
        if not group or first_call.setdefault(site, group) <= first_call[int(calls.site[call - 1])]:
            rounds.append([])
        first_call.setdefault(site, group)
        rounds[-1].append(group)
    begin = [int(calls.t0_ps[call]) for call in cuts[:-1]]
    end = [int(calls.t1_ps[call - 1]) for call in cuts[1:]]
    cells = {}
    for number, groups in enumerate(rounds):
        until = begin[rounds[number + 1][0]] if number + 1 < len(rounds) else end[-1]
        long = until - begin[groups[0]] > CELL_PX * pixel_ps
        for group in groups:
            cells[group] = (number if long else -1, begin[group if long else groups[0]] // cell_ps)

    def pixel(time_ps: int) -> int:
        return min(max(round((time_ps - from_ps) / pixel_ps), -1), width + 1)

    found: list[Any] = []
    joins = False
    for group in range(*calls.groups_between(from_ps, from_ps + pixel_ps * width)):
        site, count = int(calls.site[cuts[group]]), cuts[group + 1] - cuts[group]
        left, right = pixel(begin[group]), pixel(end[group])
        narrow = right - left < least_px[site]
        if joins and narrow and left - found[-1][1] < GAP_PX and cells[group] == cells[group - 1]:
            found[-1][1] = right
            found[-1][2][site] = found[-1][2].get(site, 0) + count
        else:
            found.append([left, right, {site: count}])
        joins = narrow
    return found


@pytest.mark.parametrize("seed", range(6))
def test_boxes_of_calls_are_what_they_are_by_hand(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of loops within loops, calls of all lengths, gaps; sums of strides too short to matter otherwise."""
    monkeypatch.setattr("workbench.traces.calls.STRIDE", 8)
    rng = np.random.default_rng(seed)
    pattern = [0, *[1, 1, 2] * int(rng.integers(1, 4)), 3, *[4] * int(rng.integers(0, 3))]
    site = np.array([5, *pattern * 60], np.int32)
    long = rng.exponential(1e6, len(site)).astype(np.int64) + 1
    long[rng.integers(0, len(site), 5)] *= 300
    gap = np.where(rng.random(len(site)) < 0.02, 3e7, rng.exponential(1e5, len(site))).astype(np.int64)
    t0_ps = np.cumsum(long + gap) - long
    nothing = np.zeros(len(site), np.int64)
    cuts = np.concatenate(([0], np.flatnonzero(np.diff(site)) + 1, [len(site)]))
    calls = BlockCalls(t0_ps, t0_ps + long, site, nothing, nothing, nothing, nothing, cuts)
    end_ps, least = int(t0_ps[-1] + long[-1]), [40.0, 60.0, 50.0, 70.0, 45.0, 30.0]
    for pixels in (300, 2_000, 30_000, 400_000):
        for from_ps in (0.0, end_ps / 3):
            asked = (from_ps, end_ps / pixels, 1000)
            boxes = calls.boxes(*asked, np.array(least))
            assert [[b.left, b.right, dict(b.sites)] for b in boxes] == boxes_by_hand(calls, *asked, least)


def test_calls_that_stand_together_begin_where_a_round_begins(six_cores: Run) -> None:
    calls = calls_of_run(six_cores)[0]
    sites = six_cores.manifest.sites
    boxes = calls.boxes(0, six_cores.manifest.time_ps / 300, 300, np.full(len(sites), 1e9))
    firsts = {sites[box.sites[0][0]].label for box in boxes[1:]}
    assert len(boxes) > 2
    assert firsts == {sites[int(calls.site[0])].label}


def test_stacks_counted_by_bins_are_what_their_rows_show(scene: Scene) -> None:
    rows = [n for n, block in enumerate(scene.blocks) if "core" in block.id]
    end = scene.index.end_ps
    for from_ps, pixel_ps in ((0, end / 400), (end / 3, end / 4000), (-end / 10, end / 300)):
        codes = sample(scene.index, rows, from_ps, pixel_ps, 400, coarse=True).code
        counted = count_at_once(scene.index, rows, WORK, from_ps, pixel_ps, 400)
        assert counted.tolist() == (codes == WORK).sum(axis=0).tolist()
        assert counted.max() > 0


def test_messages_lead_from_the_call_to_its_target(scene: Scene) -> None:
    rows = build_rows(scene.blocks, scene.index, with_calls=True)
    row = next(r for r in rows if r.kind is Kind.CALLS)
    calls = scene.calls[0]
    label = {n: s.label for n, s in enumerate(scene.run.manifest.sites)}
    start = next(n for n in range(len(calls)) if label[int(calls.site[n])] == "startCore")
    hit = hit_at(scene, row, float(calls.t0_ps[start]) + 1)
    assert hit is not None
    assert hit.lines[0] == "startCore, 1st of 6"
    found = messages_of(scene, hit)
    assert len(found) == 6
    assert all(source == 0 and arrived >= sent for source, sent, _, arrived in found)
    targets = {scene.blocks[target].id for _, _, target, _ in found}
    wanted = next(s for s in scene.blocks[0].states if s.index == hit.state).targets[0].split(".")[-1]
    assert all(wanted.split("[")[0] in target for target in targets)


def test_edges_in_the_fpga_are_as_soft_as_they_are_unsure(scene: Scene) -> None:
    """A pixel is the mean of what may have been there; the host's edges stay sharp. A simulation's are exact."""
    rows = {row.label: row for row in build_rows(scene.blocks, scene.index, False) if row.kind is Kind.STATES}
    core = next(row for label, row in rows.items() if label.startswith("core"))
    host = next(row for row in rows.values() if scene.blocks[row.block].side is Side.HOST)
    told = scene.run.manifest
    clocks = tuple(replace(clock, uncertainty_ps=500_000) for clock in told.clocks)
    board = replace(scene, run=replace(scene.run, manifest=replace(told, simulated=False, clocks=clocks)))
    _, _, changes_ps = scene.index.trace.at(core.block, scene.index.end_ps // 2) or (0, 0, 0)
    span = Span(changes_ps - 20_000_000, 100_000, 400)  # 5 pixels of uncertainty
    placed = [(core, 0), (host, 40)]
    sharp, soft = (visible(rows_surface(one, placed, span, 80, LIGHT), 80) for one in (scene, board))
    assert (sharp[40:] == soft[40:]).all()
    middle = core.height // 2
    green = [(image[middle] >> 8 & 255).astype(int) for image in (sharp, soft)]
    assert len(set(green[0].tolist())) > 1
    around = np.stack([np.pad(green[0], 5, "edge")[shift : shift + 400] for shift in range(11)])
    assert (green[1] == around.sum(axis=0) // 11).all()
    said = [hit_at(one, core, span.from_ps) for one in (scene, board)]
    assert [hit.lines[2] for hit in said if hit] == [
        "FPGA times: exact, as the simulation has one clock; on a board ± 400\u202fns, by 40 messages",
        "FPGA times: to within ± 500\u202fns on the host's clock",
    ]


def test_the_tooltip_never_covers_the_clock_lane() -> None:
    lane = Box(200, 180, 1000, 32)
    inside = Box(200, 0, 1000, 500)
    for x in range(210, 1190, 70):
        for y in range(100, 490, 10):
            box = place_tooltip((x, y), (230, 74), inside, lane)
            assert not box.overlaps(lane)
            assert inside.x <= box.x < box.right <= inside.right
            assert inside.y <= box.y < box.bottom <= inside.bottom


@given(st.integers(0, 2**32 - 1), st.integers(1, 3 * STRIDE))
def test_what_is_long_is_found_as_by_looking_at_all(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    begin = rng.integers(0, 1 << 40, count)
    end = begin + (rng.exponential(100, count) * rng.choice([1, 1, 1, 300], count)).astype(np.int64)
    first, last = sorted(rng.integers(0, count + 1, 2).tolist())
    found = lengths(begin, end).at_least(5000, first, last)
    np.testing.assert_array_equal(found, first + np.flatnonzero((end - begin)[first:last] >= 5000))
