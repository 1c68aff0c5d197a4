"""What virtual cores cost in real time, and what measured threads take on them (`threads.py --timed`)."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

CALLS, ACCESSES, HANDOVERS, KERNEL = 200_000, 1_000_000, 10_000, 200_000
TIMES = 5
COUNTED = ("-O2", "-fsanitize-coverage=trace-pc")


def rows(threads: Any, folder: Path, quick: bool) -> Iterator[dict[str, object]]:
    """Medians of some runs: real ns of one thing each, or virtual ms beside what the sum of its work lets expect.

    `threads` is the module of threads.py.
    """
    times = 3 if quick else TIMES

    def program(what: str, often: int = 0, **settings: int) -> Any:
        return threads.Program(what, {}, (often,), settings)

    def real_ns(built: Any, what: str, often: int) -> float:
        ran = [threads.run(built, program(what, often), 1, folder / "raw") for _ in range(times)]
        return median(int(one.output) for one in ran) / often

    measured = threads.build("costs.c", folder / "measured", False, ("-O2",))
    counted = threads.build("costs.c", folder / "counted", True, COUNTED)
    for what, often in (("calls", CALLS), ("accesses", ACCESSES), ("handovers", HANDOVERS), ("kernel", KERNEL)):
        for kind, built in (("measured", measured), ("deterministic", counted)):
            each = 2 if what == "handovers" else 1  # there and back
            yield {"what": what, "kind": kind, "real_ns": real_ns(built, what, often) / each}

    def virtual_ms(run: Callable[[], Any]) -> list[float]:
        return sorted(run().end_ps / 1e9 for _ in range(times))

    alone = median(virtual_ms(lambda: threads.run(measured, program("kernel", KERNEL), 1, folder / "raw")))
    for cores in (4, 1):
        found = virtual_ms(partial(threads.run, measured, program("four", KERNEL), cores, folder / "raw"))
        yield {
            "what": "four", "kind": "measured", "cores": cores, "expected_ms": alone * (4 if cores == 1 else 1),
            "virtual_ms": median(found), "least_ms": found[0], "most_ms": found[-1],
        }  # fmt: skip

    spinning = threads.build("programs.cpp", folder / "spinning", True, COUNTED)
    for slice_us in (100, 4000):
        for skips in (True, False)[: 1 + (slice_us == 100)]:
            began = perf_counter()
            ran = threads.run(
                spinning, program("spinning_pipeline", slice_ps=slice_us * 1_000_000), 2, folder / "raw", skips
            )
            yield {
                "what": "spinning_pipeline", "kind": "deterministic", "slice_us": slice_us, "skips": skips,
                "real_s": perf_counter() - began, "virtual_ms": ran.end_ps / 1e9,
            }  # fmt: skip
