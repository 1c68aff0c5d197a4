"""What a kernel's model comes to, as a JSON document and as tables of text; and a search over its optimisations."""

from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rc_workbench_plugins.opencl.compute import Model, Prediction, predictions, profile_of
from rc_workbench_plugins.opencl.driven import Compared, compared
from rc_workbench_plugins.opencl.kernel import Loop, Node, walk
from rc_workbench_plugins.opencl.model import Number
from rc_workbench_plugins.opencl.notes import notes
from rc_workbench_plugins.opencl.potentials import KINDS
from rc_workbench_plugins.opencl.resources import MEMORY, share_text, too_much
from rc_workbench_plugins.opencl.search import Combination, Suggestion, search, suggestions
from rc_workbench_plugins.opencl.written import Written, write_best
from workbench.api import Answer, Job, Values, count_text, percent_text, ratio_text, table, time_text

SUGGESTED = 8
#: what a design takes of, in the order of its table
TAKEN = {"logic": "Logic", MEMORY: "Memory blocks", "DSP blocks": "DSP blocks"}


def answer(values: Model) -> Answer:
    all_predictions, profile = predictions(values), profile_of(values)
    last = all_predictions[-1]
    advice = suggestions(last, profile)
    document = {
        **_summary(last),
        "profile": profile,
        "designs": [{**_summary(one), "speedup_cycles": _number(all_predictions[0].cycles) / _number(one.cycles)}
                    for one in all_predictions],
        "compared": [_compared(one) for one in compared(values)],
        "hierarchy": _tree(last.estimate.work.root, last),
        "suggestions": [_suggestion(one) for one in advice],
        "numbers": [_traced(one) for one in (*last.estimate.numbers, *last.potentials.numbers)],
    }  # fmt: skip
    return Answer(document, _text(all_predictions, advice, profile, compared(values)), notes=notes(values))


def _number(value: Values) -> float:
    return float(value)


def _summary(one: Prediction) -> dict[str, Any]:
    design, work = one.design, one.estimate.work
    used = design.used
    slowest = one.estimate.slowest
    return {
        "name": design.name,
        "kernel": work.kernel,
        "cycles": _number(one.cycles),
        "time_s": None if one.time_s is None else _number(one.time_s),
        "time_range_s": None if one.time_range_s is None else [_number(end) for end in one.time_range_s],
        "frequency_hz": None if design.frequency_hz is None else _number(design.frequency_hz),
        "work_items": _number(design.setting.work_items),
        "compute_units": _number(design.setting.compute_units),
        "simd": _number(design.setting.simd),
        "unroll": {name: _number(value) for name, value in design.setting.unroll.items()},
        "changes": [str(change) for change in design.changes],
        "used": None if used is None else {n: _number(getattr(used, n)) for n in ("logic", "memory", "dsp")},
        "potentials": {name: _number(value) for name, value in one.potentials.values.items()},
        "highest": one.potentials.highest,
        "most_b_comp": None if used is not None else one.most_b_comp,
        "estimated_shares": {name: _number(share) for name, share in one.needed.shares.items()},
        "memory_range": None if one.memory_range is None else list(one.memory_range),
        "fits": not too_much(one.shares, used is None),
        "clock_range_hz": None if one.clocks_hz is None else list(one.clocks_hz),
        "slowest": {"block": slowest, "line": work.blocks[slowest].line},
    }


def _tree(node: Node, one: Prediction) -> dict[str, Any]:
    """The hierarchy of Fig. 5, each node with its cycles."""
    estimate = one.estimate
    said: dict[str, Any] = {"kind": type(node).__name__.lower(), "id": node.id, "lines": list(node.lines)}
    if isinstance(node, Loop):
        said["trips"] = _number(estimate.work.trips.get(node.id, 0.0))
    block = estimate.blocks.get(node.id)
    said["cycles"] = _number(block.cycles if block else estimate.nodes[node.id])
    return said | ({"children": [_tree(child, one) for child in node.children]} if node.children else {})


def _traced(one: Number) -> dict[str, Any]:
    inputs = {name: _number(value) for name, value in one.inputs.items()}
    said = {"symbol": one.symbol, "node": one.node, "equation": one.equation, "value": _number(one.value)}
    return {**said, "inputs": inputs, "reading": one.reading}


def _suggestion(one: Suggestion) -> dict[str, Any]:
    return {"what": one.what, "said": one.said, "line": one.line, "speedup": one.speedup, "answers": list(one.answers),
            "potentials": dict(one.potentials), "largest_used": one.largest_used}  # fmt: skip


def _potential(one: Prediction, name: str) -> str:
    if name in one.potentials.values:
        return percent_text(_number(one.potentials.values[name]))
    return "not known" if one.most_b_comp is None else f"at most {percent_text(one.most_b_comp)}"


def _share(one: Prediction, name: str) -> str:
    """What a design takes of a resource; an estimate has a sign before it."""
    share = one.shares.get(name)
    if share is None or one.design.used:
        return "not known" if share is None else share_text(share)
    ends = one.memory_range if name == MEMORY else None
    return f"≈ {share_text(share)}" + (f" ({' to '.join(map(share_text, ends))})" if ends else "")


def designs_time(one: Prediction) -> str:
    """A design's time, or its range at the clocks that the board's kernels reach."""
    if one.time_s is not None:
        return time_text(_number(one.time_s))
    return _range_text(one.time_range_s)


def _range_text(ends: tuple[Values, Values] | None) -> str:
    return " to ".join(time_text(_number(end)) for end in ends) if ends else "no clock"


def designs_rows(predictions: Iterable[Prediction]) -> list[tuple[str, ...]]:
    """A row for each design: cycles, time, speedup in cycles over the first, potentials, what it takes, the slowest
    line."""
    symbols = tuple(symbol for symbol, _, _ in KINDS.values())
    rows: list[tuple[str, ...]] = [("Design", "Cycles", "Time", "Speedup", *symbols, *TAKEN.values(), "Slowest")]
    first: float | None = None
    for one in predictions:
        cycles = _number(one.cycles)
        first = cycles if first is None else first
        time = designs_time(one)
        slowest = one.estimate.work.blocks[one.estimate.slowest]
        rows.append((one.design.name, count_text(cycles), time, ratio_text(first / cycles),
                     *(_potential(one, name) for name in KINDS),
                     *(_share(one, name) for name in TAKEN), f"line {slowest.line}"))  # fmt: skip
    return rows


def _compared(one: Compared) -> dict[str, Any]:
    ends = one.speedup_time
    shares = {name: _number(share) for name, share in one.prediction.shares.items()}
    times = None if ends is None else list(ends)
    measured = one.measured and {**one.measured.model_dump(exclude={"design"}), "within": one.within}
    return {"name": one.name, "speedup_cycles": one.speedup_cycles, "speedup_time": times, "reach": list(one.reach),
            "shares": shares, "measured": measured}  # fmt: skip


def compared_rows(designs: Iterable[Compared]) -> list[tuple[str, ...]]:
    """Speedups of Table 4: in cycles, in time by the clocks that both designs may reach, and in cycles by any SIMD and
    compute units that fit; as measured, where the model says so."""
    designs = tuple(designs)
    measured = any(one.measured for one in designs)
    head = ("Over the first design", "In cycles", "In time", "Any SIMD and CU")
    rows: list[tuple[str, ...]] = [(*head, "Measured") if measured else head]
    for one in designs:
        ends = "no clock" if one.speedup_time is None else " to ".join(map(ratio_text, one.speedup_time))
        reach = " to ".join(dict.fromkeys(map(ratio_text, one.reach)))
        row = one.name, ratio_text(one.speedup_cycles), ends, reach
        rows.append((*row, ", ".join(filter(None, measured_texts(one)))) if measured else row)
    return rows


def measured_texts(one: Compared) -> tuple[str, str]:
    """A measured speedup, and whether it is in the range in time."""
    if one.measured is None:
        return "not known", ""
    return ratio_text(one.measured.speedup), {True: "in the range", False: "outside", None: ""}[one.within]


def reasons(designs: Iterable[Compared]) -> list[tuple[str, str]]:
    """Of each measured speedup that differs: the design, and the reason that the model gives."""
    return [
        (one.name, one.measured.reason)
        for one in designs if one.measured and one.measured.reason and not one.within
    ]  # fmt: skip


def _text(
    predictions: tuple[Prediction, ...], advice: tuple[Suggestion, ...], profile: str, designs: tuple[Compared, ...]
) -> str:
    last = predictions[-1]
    parts = [f"{last.estimate.work.kernel}, profile {profile}", table(designs_rows(predictions))]
    if designs:
        parts.append(table(compared_rows(designs)))
        parts += (f"{name} differs from the measured speedup: {reason}" for name, reason in reasons(designs))
    loops = [n for n in walk(last.estimate.work.root) if isinstance(n, Loop)]
    rows = [("Block", "Line", "Trips", "Computing", "Memory", "Cycles")]
    for name, block in last.estimate.blocks.items():
        said = (f"{_number(block.weight):.4g}", count_text(_number(block.comp)), count_text(_number(block.mem)))
        rows.append((name, str(block.work.line), *said, count_text(_number(block.total_cycles))))
    parts.append(table(rows))
    if loops:
        trips = [(n.id, f"lines {n.lines[0]} to {n.lines[1]}", f"{_number(last.estimate.work.trips[n.id]):.4g} trips")
                 for n in loops]  # fmt: skip
        parts.append(table([("Loop", "Where", "Trips"), *trips]))
    if advice:
        parts.append("\n".join(["Optimisations, each alone:", *map(suggestion_text, advice[:SUGGESTED])]))
    else:
        parts.append("No single optimisation that fits makes it faster.")
    return "\n\n".join(parts)


def suggestion_text(one: Suggestion) -> str:
    symbols = ", ".join(KINDS[name][0] for name in one.answers)
    used = "" if one.largest_used is None else f"; the scarcest resource at {percent_text(one.largest_used)}"
    return f"  {ratio_text(one.speedup)} {one.what}: {one.said} (for {symbols}{used})"


def search_answer(values: Model, arguments: Namespace) -> Answer:
    """`--search N`: the fastest combinations of optimisations within the FPGA's resources."""
    last = predictions(values)[-1]
    found = search(last, profile_of(values), max(arguments.search, 1))
    estimated = last.design.used is None
    document = {
        "combinations": [_combination(one, estimated) for one in found.fit],
        "left_out": [_combination(one, estimated) for one in found.too_large],
        "budget": bool(last.shares),
        "estimated": estimated,
    }
    said = table([("Combination", "Cycles", "Time", "Speedup", "Scarcest resource"), *map(_row, found.fit)])
    if arguments.write is not None:
        best = write_best(values, arguments.write)
        document["written"], said = _written(best), f"{written_text(best)}\n\n{said}"
    if found.too_large:
        rows = [(*_row(one)[:-1], too_much(one.shares, estimated)) for one in found.too_large]
        said += "\n\nLeft out, since they do not fit the board:\n"
        said += table([("Combination", "Cycles", "Time", "Speedup", "Reason"), *rows])
    if not last.shares:
        said += "\n\nNo budget limits this: give a report of the kernel's resources, or the shares."
    elif estimated:
        names = ", ".join(last.shares)
        said += f"\n\nThere is no report of the kernel's resources: {names} are estimated."
    return Answer(document, said, notes=notes(values))


def _written(one: Written) -> dict[str, Any]:
    return {
        "source": str(one.source), "model": str(one.model), "combination": one.best.design.name,
        "done": list(one.rewritten.done), "left": list(one.rewritten.left),
        "cycles": _number(one.predicted.cycles), "search_cycles": one.best.cycles, "same_results": one.same_results,
    }  # fmt: skip


def best_written(values: Model, folder: Path, job: Job) -> tuple[Path, str, str]:
    """The best of a search written into a folder: its model, what was written, and what is left to do."""
    one = write_best(values, folder, job)
    left = "; ".join(one.rewritten.left)
    return one.model, f"{one.best.design.name} is written to {one.source}", f"Left to do: {left}" if left else ""


def written_text(one: Written) -> str:
    """What was written of a search's best, and what was not."""
    cycles = (
        f"{count_text(_number(one.predicted.cycles))} cycles predicted, {count_text(one.best.cycles)} by the search"
    )
    lines = [
        f"{one.best.design.name} is written to {one.source}: {cycles}.",
        *(f"  {done}" for done in one.rewritten.done),
    ]
    if one.same_results:
        lines.append("On the launch's data its results equal the original's.")
    if one.rewritten.left:
        lines += ["Not written; left to you:", *(f"  {left}" for left in one.rewritten.left)]
    return "\n".join([*lines, f"Its model is {one.model}."])


def _row(one: Combination) -> tuple[str, ...]:
    used = "not known" if one.largest_used is None else share_text(one.largest_used)
    most = max(one.shares, key=lambda name: one.shares[name], default="")
    cells = one.design.name, count_text(one.cycles), _range_text(one.time_range_s), ratio_text(one.speedup)
    return (*cells, f"{used} of the {most}" if most else used)


def _combination(one: Combination, estimated: bool) -> dict[str, Any]:
    setting = one.design.setting
    return {
        "shares": dict(one.shares), "reason": too_much(one.shares, estimated),
        "time_range_s": one.time_range_s and list(one.time_range_s),
        "name": one.design.name, "cycles": one.cycles, "speedup": one.speedup, "largest_used": one.largest_used,
        "simd": _number(setting.simd), "compute_units": _number(setting.compute_units),
        "unroll": {name: _number(value) for name, value in setting.unroll.items()},
        "changes": [str(change) for change in one.design.changes],
    }  # fmt: skip
