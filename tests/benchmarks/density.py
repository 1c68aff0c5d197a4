"""Every sigma of the density paper, and what it is computed from, beside the number that the bundled models come to.

    python tests/benchmarks/density.py [--json] [--quick]

`agrees`: our number rounds to the printed one. `erratum`: why it cannot (ERRATA.md of the plugin). Exits 1 where a
cell has neither. `measured` is rho of matrix multiply measured from real code; `--quick` takes fewer sizes of it.
"""

import sys
from dataclasses import asdict

from paper_cells import compare, platforms
from rc_workbench_plugins.density.measured import beside, bundled_kernel, measure

from workbench.predict.formulas import Evaluation
from workbench.predict.kinds import load_model
from workbench.predict.library import find_model
from workbench.session.program.plugins import load_plugins


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


if __name__ == "__main__":
    sys.exit(compare("density", __doc__, multiplied))
