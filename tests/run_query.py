"""Statements asked about a run."""

from rc_workbench_plugins.streaming.query.measures import AssertResult, MeasureResult
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.query.seen import seen

from workbench.model.run import Run


def asked(run: Run, text: str) -> list[MeasureResult | AssertResult]:
    """What the measures and the assertions of a correct query come to."""
    there = seen(run)
    query = read_query(text, there.topology, blocks=there.blocks)
    assert query.diagnostics == ()
    results = there.answer(query)
    return [*results[0], *results[1]]


def values(run: Run, text: str) -> list[float | None]:
    """The value of each frame of each measure."""
    return [frame.value for one in asked(run, text) if isinstance(one, MeasureResult) for frame in one.frames]
