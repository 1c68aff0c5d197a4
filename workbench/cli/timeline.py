"""`workbench timeline`: what lies between two moments of a traced run, where something occurs, markers, its picture."""

import argparse
from collections.abc import Iterable
from typing import Any

from workbench.cli.opened import Opened
from workbench.cli.output import DONE, print_diagnostics, print_json
from workbench.cli.runs import moment_ps, moments_ps, open_printed
from workbench.formats.run_folder import open_run
from workbench.model.diagnostic import Diagnostic, WorkbenchError, unknown_name
from workbench.model.run import PS_PER_S
from workbench.model.text import count_text, counted, percent_text, time_text
from workbench.pictures.timeline.drawing import timeline_svg
from workbench.pictures.timeline.shown import rows_of
from workbench.pictures.timeline.table import interval_rows
from workbench.session.keep.timeline_marks import load_markers, load_pinned, save_markers, save_pinned
from workbench.session.program.files import write_result_table, write_result_text
from workbench.traces.find import Hits, hits, name_of
from workbench.traces.markers import Marker
from workbench.traces.scene import Scene, build_scene
from workbench.traces.state_table import StateRow, state_rows
from workbench.traces.statistics import Statistics, selection_statistics
from workbench.traces.trace import CATEGORIES

_ALL = 1 << 40  # hits


def run_timeline(arguments: argparse.Namespace, workbench: Opened) -> int:
    run, problems = open_run(arguments.run_folder)
    print_diagnostics(problems)
    scene = build_scene(run)
    if scene is None:
        where = str(arguments.run_folder)
        raise WorkbenchError(Diagnostic("this run has no trace", "Trace a run to see it over time.", file=where))
    first, last = moments_ps(run, arguments.first, arguments.last)
    if first >= last:
        raise WorkbenchError(Diagnostic("this range is empty", "--from is a moment before --to, both of the run."))
    markers, pinned = _markers(scene, arguments), _pinned(scene, arguments)
    if arguments.svg:
        path = open_printed(arguments.run_folder, workbench.plugins).prepared().run_path() if arguments.causes else None
        if arguments.causes and path is None:
            raise WorkbenchError(Diagnostic("the causes of this run's waits are not known", "It cannot be replayed."))
        picture = timeline_svg(
            scene, first, last, shares=arguments.shares, path=path, pinned=pinned, markers=markers
        )  # fmt: skip
        write_result_text(arguments.svg, picture)
    if arguments.csv:
        write_result_table(arguments.csv, interval_rows(scene, first, last))
    found = hits(scene, arguments.find, from_ps=first, to_ps=last, most=_ALL) if arguments.find else None
    states = list(state_rows(scene, first, last)) if arguments.statistics else []
    statistics = selection_statistics(scene, first, last)
    if arguments.json:
        document = _document(scene, statistics) | {"markers": _marker_rows(markers), "pinned": list(pinned)}
        if found is not None:
            document |= {"hits": found.count, "found": [_hit(scene, found, n) for n in range(len(found))]}
        if arguments.statistics:
            document["statistics"] = [_state(scene, row) for row in states]
        print_json(document)
        return DONE
    _print(scene, statistics)
    _print_states(scene, states)
    for row in _marker_rows(markers):
        print(f"{time_text(row['time_s'], 7):>14}  {row['name']}")
    if found is not None:
        for hit in (_hit(scene, found, number) for number in range(len(found))):
            print(f"{time_text(hit['time_s'], 7):>14}  {hit['block']}: {hit['name']}, {time_text(hit['duration_s'])}")
        print(f"{counted(found.count, 'occurrence')} of {arguments.find!r}")
    return DONE


def _hit(scene: Scene, found: Hits, number: int) -> dict[str, Any]:
    place = found.place(number)
    return {
        "time_s": place.time_ps / PS_PER_S,
        "block": scene.blocks[place.block].id,
        "name": name_of(scene, place),
        "kind": "state" if place.call < 0 else "call",
        "duration_s": (int(found.rows[number, 3]) - place.time_ps) / PS_PER_S,
    }


def _state(scene: Scene, row: StateRow) -> dict[str, Any]:
    lengths = ("least", "mean", "median", "p95", "most")
    return {
        "block": scene.blocks[row.block].id,
        "state": row.state.name,
        "category": row.state.category.value if row.state.category else None,
        "visits": row.visits,
        "time_s": row.time_ps / PS_PER_S,
        "share": row.share,
        **{f"{name}_s": getattr(row, f"{name}_ps") / PS_PER_S for name in lengths},
        "exact": row.exact,
    }


def _print_states(scene: Scene, rows: Iterable[StateRow]) -> None:
    heads = ("share", "time", "visits", "mean", "median", "95 %", "longest")
    for number, row in enumerate(rows):
        if not number:
            print(f"{'':<44}" + "".join(f"{head:>10}" for head in heads))
        lengths = (time_text(ps / PS_PER_S) for ps in (row.mean_ps, row.median_ps, row.p95_ps, row.most_ps))
        cells = (percent_text(row.share), time_text(row.time_ps / PS_PER_S), count_text(row.visits), *lengths)
        print(f"{f'{scene.names[row.block]}: {row.state.name}':<44}" + "".join(f"{cell:>10}" for cell in cells))


def _marker_rows(markers: Iterable[Marker]) -> list[dict[str, Any]]:
    return [{"name": marker.name, "time_s": marker.time_ps / PS_PER_S} for marker in markers]


def _markers(scene: Scene, arguments: argparse.Namespace) -> tuple[Marker, ...]:
    """The run's markers, after those that are set and deleted."""
    markers, problems = load_markers(scene.run)
    print_diagnostics(problems)
    for name in arguments.unmark:
        if name not in (known := [marker.name for marker in markers]):
            raise WorkbenchError(unknown_name("marker", name, known))
        markers = tuple(marker for marker in markers if marker.name != name)
    for text in arguments.mark:
        name, named, moment = text.rpartition("=")
        if not named or not name.strip():
            raise WorkbenchError(Diagnostic(f"--mark {text} names no marker", 'Write --mark "first round=1.5 ms".'))
        time_ps = moment_ps("--mark", moment)
        if not 0 <= time_ps <= scene.index.end_ps:
            ends = time_text(scene.index.end_ps / PS_PER_S, 6)
            raise WorkbenchError(Diagnostic(f"--mark {text} lies outside of the run", f"It lasts {ends}."))
        markers = (*(marker for marker in markers if marker.name != name), Marker(time_ps, name.strip()))
    if arguments.mark or arguments.unmark:
        save_markers(scene.run, markers)
    return tuple(sorted(markers))


def _pinned(scene: Scene, arguments: argparse.Namespace) -> tuple[str, ...]:
    """The names of pinned rows, after those that are pinned and let go."""
    pinned = load_pinned(scene.run)
    rows = [row for shares in (False, True) for row in rows_of(scene, shares=shares) if row.name]
    for label in (*arguments.unpin, *arguments.pin):
        names = [row.name for row in rows if label in (row.label, row.name)]
        if not names:
            raise WorkbenchError(unknown_name("row", label, [row.label for row in rows]))
        pinned = tuple(name for name in pinned if name not in names)
        pinned += tuple(names) if label in arguments.pin else ()
    if arguments.pin or arguments.unpin:
        save_pinned(scene.run, pinned)
    return pinned


def _document(scene: Scene, statistics: Statistics) -> dict[str, Any]:
    at_work = statistics.at_work
    sites = scene.run.manifest.sites
    return {
        "from_s": statistics.from_ps / PS_PER_S,
        "to_s": statistics.to_ps / PS_PER_S,
        "shares": [
            {"name": share.title, "states_s": dict(zip(CATEGORIES, share.seconds, strict=True))}
            for share in statistics.shares
        ],
        "calls": [
            {"site": sites[site].label, "file": sites[site].file, "line": sites[site].line, "count": count, "time_s": s}
            for site, count, s in statistics.calls
        ],
        "at_work": at_work and {"name": at_work[0], "most": at_work[1], "of": at_work[2]},
    }


def _print(scene: Scene, statistics: Statistics) -> None:
    length = (statistics.to_ps - statistics.from_ps) / PS_PER_S
    print(f"{time_text(length, 6)}, from {time_text(statistics.from_ps / PS_PER_S, 6)} on")
    for share in statistics.shares:
        print(f"{share.title}{f', {share.note}' if share.note else ''}")
        for name, seconds in sorted(zip(CATEGORIES, share.seconds, strict=True), key=lambda part: -part[1]):
            if seconds:
                print(f"  {name:<14}{percent_text(seconds / length):>8}  {time_text(seconds)}")
    for site, count, seconds in statistics.calls:
        place = scene.run.manifest.sites[site]
        print(f"{place.label:<16}{count:>8} calls  {time_text(seconds):>9}  {place.file}:{place.line}")
