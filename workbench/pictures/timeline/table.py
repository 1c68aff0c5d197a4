"""The contents of a stretch of a timeline as a table: every state and call under way in it."""

from collections.abc import Iterator

from workbench.pictures.states import category_name
from workbench.pictures.timeline.raster import category
from workbench.traces.scene import Scene


def interval_rows(scene: Scene, from_ps: int, to_ps: int) -> Iterator[tuple[str | float, ...]]:
    """Each block's states, then its calls, not cut at the stretch's ends; heads first."""
    yield ("block", "kind", "name", "category", "from_ps", "to_ps", "bytes", "file", "line")
    for number, block in enumerate(scene.blocks):
        states = {state.index: state for state in block.states}
        codes = scene.index.trace.codes[number]
        edges, state_codes = scene.index.trace.between(number, from_ps, to_ps)
        for at, index in enumerate(state_codes.tolist()):
            state, kind = states[index], category_name(category(int(codes[index])))
            times = int(edges[at]), int(edges[at + 1])
            yield (block.id, "state", state.name, kind, *times, "", state.file or "", state.line or "")
        if calls := scene.calls.get(number):
            for call in calls.under_way(from_ps, to_ps):
                site = scene.run.manifest.sites[calls.site[call]]
                times = int(calls.t0_ps[call]), int(calls.t1_ps[call])
                yield (block.id, "call", site.label, site.callee, *times, int(calls.bytes[call]), site.file, site.line)
