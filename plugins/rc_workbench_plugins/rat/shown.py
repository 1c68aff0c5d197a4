"""The results of RAT's throughput test as they are shown: the parts of an iteration, and the first iterations with one
buffer and with two."""

from collections.abc import Iterator, Mapping

from rc_workbench_plugins.rat.model import RatModel, outputs
from workbench.api import Category, ModelValues, Results, Row, percent_text, ratio_text, time_text
from workbench.api.predictions import Bar, Lane, PaperTable, PartLine, Timing
from workbench.api.unstable import thousands
from workbench.api.views import Figure

ROUNDS = 3  # that are drawn
_BUFFERS = ("One buffer", "Two buffers")
_PARTS = (
    ("write", Category.SEND, "in × bytes / (rate × efficiency)"),
    ("compute", Category.WORK, "in × ops / (clock × ops a cycle)"),
    ("read", Category.RECV, "out × bytes / (rate × efficiency)"),
)


def results(values: ModelValues[RatModel]) -> Results:
    """Raises WorkbenchError where the model has no value here."""
    computed = {name: float(value) for name, value in outputs(values).items()}
    spans = {"write": _moved_s(values, "in"), "read": _moved_s(values, "out")}
    spans["compute"] = computed["comp_s"] / float(values.of("iterations"))
    longest = max(spans.values()) or 1.0
    bound = "transfers" if computed["comm_s"] > computed["comp_s"] else "computation"
    figures = (
        Figure("Speedup", ratio_text(computed["speedup"]), "one buffer"),
        Figure("Speedup, two buffers", ratio_text(computed["speedup_double"]), f"limited by the {bound}"),
        Figure("Total time", time_text(computed["total_s"]), "one buffer"),
        Figure("Total time, two buffers", time_text(computed["total_double_s"]), "transfers beside computation"),
    )
    return Results(
        figures=figures,
        point=figures[:3],
        parts_title="Each part, once an iteration",
        parts=tuple(
            PartLine(name, time_text(spans[name]), spans[name] / longest, equation, category)
            for name, category, equation in _PARTS
        ),
        said="the design point" if values.changes else "the model's own values",
        timing=_timing(spans, max(round(float(values.of("iterations"))), 1)),
        tables={"Outputs": (_table(computed),)},
    )


def _moved_s(values: ModelValues[RatModel], way: str) -> float:
    amount = float(values.of(f"elements_{way}")) * float(values.of("element_bytes"))
    return amount / float(values.of("rate_bytes_per_s")) / float(values.of(f"efficiency_{way}"))


def _table(computed: Mapping[str, float]) -> PaperTable:
    def row(title: str, one: str, two: str, *, strong: bool = False) -> Row:
        return Row(title, "", (one, two), strong)

    def both(name: str) -> tuple[str, str]:
        return time_text(computed[name]), time_text(computed[name])

    busy = computed["computing_share"], computed["computing_share_double"]
    moving = (computed["comm_s"] / computed[name] for name in ("total_s", "total_double_s"))
    rows = (
        row("Communication", *both("comm_s")),
        row("Computation", *both("comp_s")),
        row("Total time", time_text(computed["total_s"]), time_text(computed["total_double_s"])),
        row("Speedup", ratio_text(computed["speedup"]), ratio_text(computed["speedup_double"]), strong=True),
        row("Share of the time in which the FPGA computes", *map(percent_text, busy)),
        row("Share of the time in which data moves", *map(percent_text, moving)),
    )
    return PaperTable("Outputs", "throughput of a design on one FPGA", _BUFFERS, rows)


def _timing(spans: Mapping[str, float], rounds: int) -> Timing:
    """With two buffers, data of the next iteration and of the one before move beside each computation."""
    lanes = tuple(Lane(buffers, where) for buffers in _BUFFERS for where in ("transfers", "FPGA"))
    bars = (*_in_turn(spans, rounds), *_side_by_side(spans, rounds))
    drawn = f"the first {min(ROUNDS, rounds)} of {thousands(rounds)} iterations"
    return Timing(lanes, bars, (), max(bar.end_s for bar in bars), drawn)


def _in_turn(spans: Mapping[str, float], rounds: int) -> Iterator[Bar]:
    at = 0.0
    for number in range(1, min(ROUNDS, rounds) + 1):
        for name, *_ in _PARTS:
            yield _bar(int(name == "compute"), name, number, rounds, at, spans[name])
            at += spans[name]


def _side_by_side(spans: Mapping[str, float], rounds: int) -> Iterator[Bar]:
    each_s = max(spans["compute"], spans["write"] + spans["read"])
    for number in range(1, min(ROUNDS, rounds) + 1):
        at = (number - 1) * each_s
        yield _bar(3, "compute", number, rounds, at, spans["compute"])
        if number < rounds:
            yield _bar(2, "write", number + 1, rounds, at, spans["write"])
        if number > 1:
            yield _bar(2, "read", number - 1, rounds, at + spans["write"], spans["read"])


def _bar(lane: int, name: str, number: int, rounds: int, start_s: float, long_s: float) -> Bar:
    category, equation = next((category, equation) for part, category, equation in _PARTS if part == name)
    return Bar(lane, category, name, _BUFFERS[lane // 2], number, rounds, start_s, start_s + long_s, start_s, equation)
