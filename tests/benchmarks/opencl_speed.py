"""How long the interpreter takes for the bundled OpenCL kernels at 100,000 work items, and for a large launch's sample.

    python tests/benchmarks/opencl_speed.py [--json] [--quick]

`rows`: [{kernel, work_items, groups, launched, seconds, processor_s, operations_per_s}]: `groups` that ran of those
`launched`, the time by the clock and of the processor, and instructions of all work items together in a second of the
latter. --quick takes a tenth of the work items.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from command_line import command, show
from rc_workbench_plugins.opencl import interpret
from rc_workbench_plugins.opencl.compile import compile_file
from rc_workbench_plugins.opencl.ndrange import NDRange

KERNELS = Path(interpret.__file__).with_name("kernels")
Launch = tuple[str, str, NDRange, dict[str, Any], int | None]


def launches(items: int, width: int) -> Iterator[Launch]:
    """File, kernel, size, arguments, and how many groups are run."""
    random = np.random.default_rng(1)
    line = NDRange((items,), (64,))
    integers = {name: random.integers(0, 1000, items, np.int32) for name in "abc"}
    yield "vector_add", "vector_add", line, integers, None
    points, centres = random.random(8 * items, np.float32), random.random(8 * 128, np.float32)
    for kernel in ("kmeans", "kmeans_local_coalesced"):
        means = {"points": points, "centres": centres, "nearest": np.zeros(items, np.int32)}
        yield "kmeans", kernel, line, means, None
    text = random.choice(np.frombuffer(b"etaoin shrdlu", np.uint8), 16 * items)
    words = {"text": text, "bytes": len(text), "part_bytes": 16, "words": np.zeros(32 * items, np.uint8),
             "counts": np.zeros(1024, np.int32)}  # fmt: skip
    yield "word_count", "word_count", line, words, None
    square = {name: np.ones(width * width, np.float32) for name in "abc"} | {"a_width": width, "b_width": width}
    yield "matrix_multiply", "matrix_multiply", NDRange((width, width), (64, 4)), square, 4
    yield "matrix_multiply", "matrix_multiply_tiled", NDRange((width, width), (64, 64)), square, 1


def main(argv: Sequence[str] | None = None) -> int:
    given = command(__doc__, "a tenth of the work items").parse_args(argv)
    rows = []
    for file, name, size, arguments, groups in launches(10_048 if given.quick else 100_032, 2048):
        kernel = compile_file(KERNELS / f"{file}.cl").kernel(name)
        began, begin_s = time.perf_counter(), time.process_time()
        profile = interpret.run(kernel, size, arguments, groups).profile
        seconds, used = time.perf_counter() - began, time.process_time() - begin_s
        done = sum(len(block.instructions) * profile.blocks[block.name] for block in kernel.blocks)
        rows.append({"kernel": name, "work_items": profile.work_items, "groups": profile.groups_sampled,
                     "launched": profile.groups_launched, "seconds": seconds, "processor_s": used,
                     "operations_per_s": done / used})  # fmt: skip
    show({"rows": rows}, given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
