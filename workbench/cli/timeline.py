"""`workbench timeline`: what lies between two moments of a traced run, where something occurs next, and its picture."""

import argparse
from typing import Any

from workbench.cli.opened import Opened
from workbench.cli.output import DONE, print_diagnostics, print_json
from workbench.cli.runs import moments_ps
from workbench.formats.run_folder import open_run
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import PS_PER_S
from workbench.model.text import percent_text, time_text
from workbench.pictures.timeline.drawing import timeline_svg
from workbench.pictures.timeline.table import interval_rows
from workbench.session.program.files import write_result_table, write_result_text
from workbench.traces.find import Occurrence, name_of, occurrence
from workbench.traces.scene import Scene, build_scene
from workbench.traces.statistics import Statistics, selection_statistics
from workbench.traces.trace import CATEGORIES


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
    if arguments.svg:
        write_result_text(arguments.svg, timeline_svg(scene, first, last))
    if arguments.csv:
        write_result_table(arguments.csv, interval_rows(scene, first, last))
    occurrences = _occurrences(scene, arguments.find, first, last) if arguments.find else []
    statistics = selection_statistics(scene, first, last)
    if arguments.json:
        print_json(_document(scene, statistics) | ({"found": occurrences} if arguments.find else {}))
    else:
        _print(scene, statistics)
        for place in occurrences:
            print(f"{time_text(place['time_s'], 7):>14}  {place['block']}: {place['name']}")
        if arguments.find and not occurrences:
            print(f"nothing in this range is called {arguments.find!r}")
    return DONE


def _occurrences(scene: Scene, words: str, first_ps: int, last_ps: int) -> list[dict[str, Any]]:
    """Every occurrence between two moments, in their order."""
    rows, place = [], occurrence(scene, words, Occurrence(first_ps - 1, len(scene.blocks)))
    while place is not None and place.time_ps < last_ps:
        block = scene.blocks[place.block].id
        rows.append({"time_s": place.time_ps / PS_PER_S, "block": block, "name": name_of(scene, place)})
        place = occurrence(scene, words, place)
    return rows


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
