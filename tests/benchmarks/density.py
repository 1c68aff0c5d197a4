"""Every sigma of the density paper, and what it is computed from, beside the number that the bundled models come to.

    python tests/benchmarks/density.py [--json] [--quick]

`agrees`: our number rounds to the printed one. `erratum`: why it cannot (ERRATA.md of the plugin). Exits 1 where a
cell has neither. `measured` is rho of matrix multiply measured from real code; `--quick` takes fewer sizes of it.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

from rc_workbench_plugins.density.measured import beside, bundled_kernel, measure

from workbench.formats.platform_file import load_platform
from workbench.model.platform import Platform
from workbench.predict.formulas import Evaluation
from workbench.predict.kinds import load_model
from workbench.predict.library import find_model
from workbench.predict.paper_tables import CellRow, printed_rows
from workbench.session.plugins import load_plugins


def platforms() -> dict[str, Platform]:
    templates = Path(str(files("workbench.platform_templates")))
    return {p.name: p for p in (load_platform(path)[0] for path in templates.glob("*.yaml")) if p is not None}


def show(rows: tuple[CellRow, ...]) -> None:
    for row in rows:
        verdict = "agrees" if row.agrees else row.erratum or "DIFFERS"
        print(f"{row.table:5} {row.cell:58} {row.paper:>12} {row.ours:>22.12g}  {verdict}")
    print(f"{len(rows)} cells: {sum(r.agrees for r in rows)} agree, {sum(bool(r.erratum) for r in rows)} errata")


def multiplied(quick: bool) -> list[dict[str, str | float]]:
    """rho of matrix multiply measured from its loads (120 x 120, 4-byte elements), beside Eq. 4.

    Blocked: blocks that fill the store, alpha = 2 B^2 elements, a run for each. Naive: one run for every alpha.
    """
    kind = load_plugins().model_kinds["density"]
    file, _ = load_model(kind, find_model("matrix_multiply", kind), platforms())
    assert file is not None
    model = Evaluation(file)
    kernel = bundled_kernel("matrix_multiply")
    points: list[dict[str, str | float]] = []
    for block in (4, 10, 40) if quick else (4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40):
        found = beside(model, measure(kernel, ["120", "blocked", str(block)]), [8.0 * block**2])
        points += [{"order": "blocked"} | asdict(point) for point in found]
    found = beside(model, measure(kernel, ["120", "naive"]), [8.0 * block**2 for block in (4, 10, 40, 80, 120)])
    return points + [{"order": "naive"} | asdict(point) for point in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    rows = printed_rows(load_plugins().model_kinds["density"], platforms())
    measured = multiplied(arguments.quick)
    if arguments.json:
        print(json.dumps({"rows": [asdict(row) for row in rows], "measured": measured}))
    else:
        show(rows)
        for point in measured:
            print(
                " ".join(f"{key} {value:g}" if isinstance(value, float) else f"{value}" for key, value in point.items())
            )
    return 0 if all(row.agrees or row.erratum for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
