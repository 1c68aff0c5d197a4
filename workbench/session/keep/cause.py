"""The source line that causes the difference of two runs, found on equal work."""

from workbench.analysis.came_true import work_of
from workbench.analysis.cause import Cause, find_cause
from workbench.analysis.equal_work import EqualWork, equal_work
from workbench.analysis.measured import MeasuredRun
from workbench.model.ledger import Work
from workbench.model.run import Run
from workbench.session.keep.time_range import between
from workbench.traces.trace import has_trace


def cause_of(a: Run, b: Run, equal: EqualWork | None = None) -> Cause | None:
    """The largest difference of run B against run A: of the whole runs if their work is equal, otherwise of a part of
    both traces with equal work. None if there is no such part, or a run did not finish. `equal` is that part, if it is
    known already."""
    if not (a.complete and b.complete):
        return None
    if work_of(a, b) is Work.EQUAL:
        return find_cause(MeasuredRun(a), MeasuredRun(b))
    if not (has_trace(a) and has_trace(b)):
        return None
    equal = equal or equal_work(a, b)
    if equal is None or not equal.calls:
        return None
    in_a, in_b = (between(run, part.from_ps, part.to_ps) for run, part in ((a, equal.a), (b, equal.b)))
    return find_cause(MeasuredRun(in_a), MeasuredRun(in_b), part=True)
