"""Whether predictions come true: changes of the catalogue, predicted from one run, against programs really changed.

    python tests/benchmarks/whatif.py [--json] [--quick] [--only TEXT] [--runs DIR] [--core DIR] [--profiles]

Rows of `origin: advice` take their changes from the advice of the base run's report. Where advice leaves open by how
much (half the time, four times the depth), the number is the changed program's; where that does more than the advice,
there is no such row.

Applications and changed programs are those of `bounds.py`, and the same with a state, the host's code or a clock at
other speeds. Each is run once, traced, with counted host time. Changes are of the catalogue (`origin: catalogue`);
which, and with what numbers, follows by one rule for each kind of advice from what the base's run shows: the calls that
poll or send, how many of them follow one another, and by how much the changed program's settings differ. Figures are of
changes that move the time by more than 5 %; errors are of predictions that are trusted. `order` is of all pairs of
changes of one application whose gains differ by more than 5 %, `first` of applications with several: whether what is
predicted to gain most does. Applications are also projects of this repository (examples, streaming, several FPGAs and
clocks, threads; `--core`: a RISC-V core) with other clocks, buses, host code and texts (`whatif_projects.py`).
`--runs` keeps the runs, and takes those that are there. With `--profiles` the runs that are predicted from keep no
trace, and errors are of all that is answered (`profile`).
"""

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from command_line import command

sys.path.insert(0, str(Path(__file__).parent))

import bounds
from whatif_projects import TWIN, Project
from whatif_rows import Case, advised, cases, catalogue

from workbench.model.changes import Change
from workbench.model.diagnostic import WorkbenchError
from workbench.model.prediction import Prediction, Trust
from workbench.replay.predict import Replayed
from workbench.session.keep.results import OpenRun

MOVED = 0.05
QUICK = 6


class Bench(bounds.Bench):
    """Runs programs and projects."""

    def made(self, program: bounds.Program | Project, trace: bool = True) -> OpenRun:
        if isinstance(program, Project):
            return self.ran(program.folder if trace else f"{program.folder}_untraced", program.make, trace)
        return self.run(replace(program, trace=trace))


def at_most(case: Case, opened: OpenRun) -> float | None:
    """The bound of the advice, where the report gives it."""
    if not case.change:
        return None
    found = [a.at_most for f in opened.analysis.findings for a in f.advice if a.text.startswith(case.advice)]
    return max(found, default=None)


def rows_of(case: Case, base: OpenRun, replayed: Replayed, twin: OpenRun) -> Iterable[dict[str, Any]]:
    try:
        yield row("catalogue", catalogue(case, base.run), case, base, replayed, twin)
    except WorkbenchError as error:  # a change that cannot be read
        yield row("catalogue", [], case, base, replayed, twin) | {"why": str(error)}
    if (changes := advised(case, base)) is not None:
        yield row("advice", changes, case, base, replayed, twin)


def row(
    origin: str, changes: Sequence[Change], case: Case, base: OpenRun, replayed: Replayed, twin: OpenRun
) -> dict[str, Any]:
    try:
        prediction = replayed.predict(changes) if changes else Prediction((), Trust.REFUSED, why="nothing to change")
    except WorkbenchError as error:
        prediction = Prediction((), Trust.REFUSED, why=str(error))
    return {
        "application": case.application,
        "change": "; ".join(map(str, changes)),
        "advice": case.advice,
        "origin": origin,
        "way": "replay",
        "predicted": prediction.speedup,
        "interval": list(prediction.interval) if prediction.interval else None,
        "measured": base.run.manifest.time_ps / twin.run.manifest.time_ps,
        "at_most": at_most(case, base),
        "trust": prediction.trust.value,
        "why": prediction.why,
        "exact": replayed.exact,
        "traced": base.run.manifest.traced,
    }


def measure(wanted: Sequence[Case], folder: Path, trace: bool) -> list[dict[str, Any]]:
    bench, ready, rows, seen = Bench(folder), {}, [], set()
    for number, case in enumerate(wanted, 1):
        base = bench.made(case.base, trace)
        free = trace or bench.made(case.base).run.manifest.time_ps == base.run.manifest.time_ps
        twin = bench.made(case.twin, free)  # a streaming library records its trace in the host's own time
        key = repr(case.base)
        if key not in ready:
            ready[key] = base.prepared()
        platforms = {TWIN: twin.platform} if twin.platform else {}
        for one in rows_of(case, base, replace(ready[key], platforms=platforms), twin):
            name = (key, repr(case.twin), one["origin"], one["change"])
            rows += [one] if name not in seen else []  # advice of several findings may be the same
            seen.add(name)
        print(f"{number} of {len(wanted)}: {case.application}", file=sys.stderr)
    return rows


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    moved = [r for r in rows if abs(r["measured"] - 1) > MOVED]
    answered = [r for r in moved if r["predicted"] is not None]
    traced = all(r["traced"] for r in rows)
    every = [(r["trust"] == "trusted", abs(r["predicted"] / r["measured"] - 1) * 100) for r in answered]
    errors = [error for trusted, error in every if trusted or not traced]
    holds = [r["interval"][0] * 0.99999 <= r["measured"] <= r["interval"][1] * 1.00001 for r in answered]
    by_application = defaultdict(list)
    for one in answered:
        by_application[one["application"], one["origin"]].append(one)
    order, first = [], []
    for several in by_application.values():
        for a, b in combinations(several, 2):
            if abs(a["measured"] / b["measured"] - 1) > MOVED:
                order.append((a["predicted"] > b["predicted"]) == (a["measured"] > b["measured"]))
        if len(several) > 1:
            best = max(several, key=lambda r: r["predicted"])["measured"]
            first.append(best >= max(r["measured"] for r in several) * (1 - 1e-9))
    exact = {r["application"]: r["exact"] for r in rows}
    return {
        "changes": len(moved),
        "applications": len({r["application"] for r in moved}),
        "base_exact": f"{sum(exact.values())} of {len(exact)}",
        "answered_pct": _share(r["predicted"] is not None for r in moved),
        "order_right_pct": _share(order),
        "first_right_pct": _share(first),
        "interval_holds_pct": _share(holds),
        "trace" if traced else "profile": {
            "trusted" if traced else "answered": len(errors),
            "median_error_pct": _quantile(errors, 50),
            "p95_error_pct": _quantile(errors, 95),
            "worst_error_pct": _quantile(errors, 100),
            "median_error_with_doubtful_pct": _quantile([error for _, error in every], 50),
            "p95_error_with_doubtful_pct": _quantile([error for _, error in every], 95),
        },
    }


def _share(of: Iterable[bool]) -> float | None:
    values = list(of)
    return 100 * sum(values) / len(values) if values else None


def _quantile(values: Sequence[float], percent: float) -> float | None:
    return float(np.percentile(values, percent)) if values else None


def main() -> int:
    parser = command(__doc__, f"the first {QUICK} changes only")
    parser.add_argument("--only", default="", metavar="TEXT", help="applications whose name holds this")
    parser.add_argument("--runs", type=Path, metavar="DIR", help="keep the runs here, and take those that are there")
    parser.add_argument("--core", type=Path, metavar="DIR", help="a folder with picorv32.v: its rows too")
    parser.add_argument("--profiles", action="store_true", help="predict from runs without a trace")
    arguments = parser.parse_args()
    wanted = [case for case in cases(arguments.core) if arguments.only in case.application]
    wanted = wanted[: QUICK if arguments.quick else None]
    with tempfile.TemporaryDirectory(prefix="whatif-") as folder:
        rows = measure(wanted, arguments.runs or Path(folder), not arguments.profiles)
    found = summary(rows)
    if arguments.json:
        print(json.dumps({**found, "rows": rows}, indent=1))
        return 0
    for one in rows:
        name = f"{one['origin']}, {one['application']}"
        predicted = f"{one['predicted']:9.4f}" if one["predicted"] else "  refused"
        error = f"{100 * (one['predicted'] / one['measured'] - 1):+8.3f} %" if one["predicted"] else "          "
        print(f"{one['measured']:9.4f} {predicted} {error} {one['trust']:8}  {name}: {one['change']}")
        if not one["predicted"]:
            print(f"          {one['why']}")
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
