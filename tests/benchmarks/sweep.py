"""How fast design points of the 2-D PDF model are computed, and in how much memory.

    python tests/benchmarks/sweep.py [--json] [--quick]

`points_per_s`: a grid of 10 million points (five inputs), each point's total time in the extremes, the quantiles and
the Pareto front of time against multipliers, on one core (processor time). `random_points_per_s`: the same with five
inputs drawn at random, so that nothing is shared between points. `peak_bytes`: by how much the process grew over the
larger of the sweeps, `stream_points` points of the grid (1e8; 1e7 with --quick): it does not grow with the points.
"""

import resource
import sys
import time
from importlib.resources import files
from pathlib import Path

import numpy as np
from command_line import command, show

from workbench.formats.platform_file import load_platform
from workbench.predict.explore import explore
from workbench.predict.formulas import ModelFile, Spread
from workbench.predict.kinds import load_model
from workbench.predict.library import find_model
from workbench.predict.space import Space, make_space
from workbench.session.program.plugins import load_plugins


def pdf2d() -> ModelFile:
    folder = Path(str(files("workbench.platform_templates")))
    platform, _ = load_platform(folder / "nallatech_h101.yaml")
    assert platform is not None
    kind = load_plugins().model_kinds["ratss"]
    file, problems = load_model(kind, find_model("pdf2d", kind), {platform.name: platform})
    if file is None:
        sys.exit("\n".join(p.text() for p in problems))
    return file


def grid(file: ModelFile, points: int) -> Space:
    return make_space(
        file,
        {
            "nodes": np.arange(1.0, points // 1_000_000 + 1),
            "clock": np.linspace(100e6, 250e6, 100),
            "kernels": np.arange(1.0, 101.0),
            "write_efficiency": np.linspace(0.2, 0.4, 10),
            "read_efficiency": np.linspace(0.05, 0.2, 10),
        },
    )


def at_random(file: ModelFile, points: int) -> Space:
    spreads = {
        "nodes": Spread(2, 2, 16),
        "clock": Spread(195e6, 100e6, 250e6),
        "kernels": Spread(80, 8, 96),
        "write_efficiency": Spread(0.31, 0.2, 0.4),
        "read_efficiency": Spread(0.1, 0.05, 0.2),
    }
    return make_space(file, {}, points, spreads)


def timed(file: ModelFile, space: Space) -> float:
    """Processor seconds of a sweep."""
    start = time.process_time()
    explore(file, space, "total_s", "multipliers")
    return time.process_time() - start


def main() -> int:
    arguments = command(__doc__).parse_args()
    file = pdf2d()
    timed(file, grid(file, 1_000_000))  # warm
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ten = grid(file, 10_000_000)
    grid_s = min(timed(file, ten) for _ in range(3))
    count = 1_000_000 if arguments.quick else 10_000_000
    random_s = min(timed(file, at_random(file, count)) for _ in range(1 if arguments.quick else 2))
    after_ten = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    long = grid(file, 10_000_000 if arguments.quick else 100_000_000)
    stream_s = timed(file, long)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    document = {
        "points_per_s": ten.points / grid_s,
        "seconds_for_10_million": grid_s,
        "random_points_per_s": count / random_s,
        "stream_points": long.points,
        "stream_points_per_s": long.points / stream_s,
        "peak_bytes": (after - before) * 1024,
        "grown_by_streaming_bytes": (after - after_ten) * 1024,
        "process_bytes": after * 1024,
    }
    show(document, arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
