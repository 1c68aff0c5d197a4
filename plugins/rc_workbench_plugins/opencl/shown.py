"""A kernel's model as the window shows it: figures, its blocks, its designs, where every number comes from."""

from collections.abc import Iterable, Iterator

from rc_workbench_plugins.opencl.answer import (
    SUGGESTED,
    compared_rows,
    designs_rows,
    designs_time,
    measured_texts,
    reasons,
)
from rc_workbench_plugins.opencl.compute import Model, Prediction, predictions, profile_of
from rc_workbench_plugins.opencl.driven import Compared, compared
from rc_workbench_plugins.opencl.factors import changes_of
from rc_workbench_plugins.opencl.kernel import Leaf, Loop, Node, Sequence, Switch
from rc_workbench_plugins.opencl.model import REPAIRED, Number
from rc_workbench_plugins.opencl.potentials import KINDS
from rc_workbench_plugins.opencl.resources import MEMORY, scarcest, share_text
from rc_workbench_plugins.opencl.search import suggestions
from workbench.api import Category, Results, Row, count_text, percent_text, ratio_text, time_text
from workbench.api.predictions import PaperTable, PartLine, Piece, Share, Structure
from workbench.api.unstable import value_text
from workbench.api.views import Figure


def results(values: Model) -> Results:
    """Raises WorkbenchError where the model has no value here."""
    all_predictions, profile = predictions(values), profile_of(values)
    last = all_predictions[-1]
    highest = last.potentials.highest
    symbol, what, asked = KINDS[highest]
    value = float(last.potentials.values[highest])
    cycles = count_text(float(last.cycles))
    if last.time_s is not None:
        time = Figure("Time", time_text(float(last.time_s)), "Eq. 6")
    elif last.time_range_s is not None:
        time = Figure("Cycles", cycles, f"{designs_time(last)}, an estimate")
    else:
        time = Figure("Cycles", cycles, "no clock given: times are in cycles")
    speedup = Figure(
        "Speedup", ratio_text(float(all_predictions[0].cycles / last.cycles)), "in cycles, over the first design"
    )
    slowest = last.estimate.work.blocks[last.estimate.slowest]
    return Results(
        figures=(
            time,
            Figure("Highest potential", percent_text(value), f"{what} ({symbol}): {', '.join(asked)}"),
            *([speedup] if len(all_predictions) > 1 else []),
            *_scarcest(last),
            Figure("Slowest block", f"line {slowest.line}", slowest.id),
        ),
        point=(time, Figure(_title(what), percent_text(value), symbol)),
        parts_title="Blocks, with all trips",
        parts=tuple(_lines(last)),
        said=f"{last.design.name}, profile {profile}",
        tables={
            "Designs": (_designs(all_predictions),),
            **({"-O3": tuple(_table_4(designs))} if (designs := compared(values)) else {}),
            "Advice": (_advice(last, profile),),
            "Numbers": (_numbers(last),),
        },
        shares_title="Potentials at each step",
        shares=tuple(share for one in all_predictions for share in _potentials(one)),
        structure=structure(last, values),
        more={f"potential, {KINDS[name][1]}": percent_text(float(v)) for name, v in last.potentials.values.items()},
    )


def _potentials(one: Prediction) -> Iterator[Share]:
    """A design's potentials in the paper's order; B_comp's upper bound where its use is estimated."""
    for name, (_, what, _) in KINDS.items():
        value = one.potentials.values.get(name)
        if value is not None:
            yield Share(one.design.name, _title(what), float(value), name == one.potentials.highest)
        elif name == "b_comp" and one.most_b_comp is not None:
            yield Share(one.design.name, f"{_title(what)}, at most", one.most_b_comp, False)


def _title(what: str) -> str:
    return f"{what[:1].upper()}{what[1:]}"


def _scarcest(one: Prediction) -> tuple[Figure, ...]:
    """What bounds a design on its board, where that is known or estimated."""
    if not (name := scarcest(one.shares)):
        return ()
    origin = "by its report" if one.design.used else "an estimate"
    text = share_text(one.shares[name])
    if name == MEMORY and one.memory_range is not None:
        origin = f"{origin}, {' to '.join(map(share_text, one.memory_range))}"
    return (Figure(f"Scarcest: {name}", text, f"{origin}; it does not fit" if one.shares[name] > 1 else origin),)


def structure(one: Prediction, values: Model) -> Structure:
    """The hierarchy of Fig. 5, each node with the cycles of all its repetitions (R6)."""
    estimate = one.estimate
    repeated = estimate.profile == REPAIRED

    def piece(node: Node, times: float, name: str = "") -> Piece:
        if isinstance(node, Leaf):
            block = estimate.blocks[node.id]
            cycles, lines = float(block.total_cycles), block.work.lines or (block.work.line,)
            slowest, changes = node.id == estimate.slowest, changes_of(values, one, node)
            said = count_text(cycles)
            return Piece(node.id, _lines_text(lines), cycles, said, lines, node.id, (), 0, slowest, changes)
        cycles, lines = float(estimate.nodes[node.id]) * times, tuple(range(node.lines[0], node.lines[1] + 1))
        note, inside = "", times
        if isinstance(node, Loop):
            rounds = float(estimate.rounds[node.id])
            name, note = f"loop {node.id}", f"{rounds:g} round{'s' if rounds != 1 else ''}"
            inside = times * rounds if repeated else times
        children: list[Piece] = []
        arms = [child for child in node.children if not isinstance(child, Sequence) or child.children]
        for number, child in enumerate(arms):
            if not isinstance(child, Sequence):
                children.append(piece(child, inside))
            elif len(arms) == 1:
                children += (piece(part, inside) for part in child.children)
            elif isinstance(node, Switch):
                children.append(piece(child, inside, f"way {number + 1}"))
            else:
                children.append(piece(child, inside, "else" if number else "then"))
        name = name or ("switch" if isinstance(node, Switch) else "if")
        head = 0 if isinstance(node, Sequence) else lines[0]
        changes = changes_of(values, one, node)
        return Piece(node.id, name, cycles, count_text(cycles), lines, note, tuple(children), head, False, changes)

    source = values.folder / values.model.kernel_file
    return Structure(source, "cycles", piece(estimate.work.root, 1.0, estimate.work.kernel))


def _lines_text(lines: tuple[int, ...]) -> str:
    if not lines:
        return "no line"
    return f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]} to {lines[-1]}"


def _lines(one: Prediction) -> list[PartLine]:
    most = max((float(b.total_cycles) for b in one.estimate.blocks.values()), default=1.0) or 1.0
    lines = []
    for name, block in one.estimate.blocks.items():
        cycles, memory = float(block.total_cycles), float(block.mem) > float(block.comp)
        less = f"computing {count_text(float(block.comp))}" if memory else f"memory {count_text(float(block.mem))}"
        said = f"{'memory' if memory else 'computing'}, over {less}"
        category = Category.RECV if memory else Category.WORK
        at = f"line {block.work.line}, {name}"
        lines.append(PartLine(at, count_text(cycles), cycles / most, f"{said}   Eq. 10", category))
    return lines


def _designs(predictions: Iterable[Prediction]) -> PaperTable:
    head, *rows = designs_rows(predictions)
    columns = tuple(row[0] for row in rows)
    titles = {symbol: f"Potential, {what}" for symbol, what, _ in KINDS.values()}
    lines = tuple(
        Row(titles.get(name, name), "", tuple(row[n] for row in rows), tip=name if name in titles else "")
        for n, name in enumerate(head)
        if n
    )
    return PaperTable("Designs", "each includes the one before; Eqs. 6, 20 to 23", columns, lines)


def _table_4(designs: tuple[Compared, ...]) -> Iterator[PaperTable]:
    head, *rows = compared_rows(designs)
    measured = ", ".join(dict.fromkeys(one.measured.source for one in designs if one.measured and one.measured.source))
    note = "replication by resources alone, and the steps" + (f"; measured: {measured}" if measured else "")
    lines = []
    for one, (name, *texts) in zip(designs, rows, strict=True):
        text, within = measured_texts(one)
        if head[-1] == "Measured":
            texts[-1] = text
        notes = (*("" for _ in texts[1:]), within) if within else ()
        lines.append(Row(name, "", tuple(texts), notes=notes))
    yield PaperTable("Speedup over the first design", note, head[1:], tuple(lines))
    for name, reason in reasons(designs):
        yield PaperTable(f"Why {name} differs from the measured speedup", reason, (), ())


def _advice(one: Prediction, profile: str) -> PaperTable:
    rows = tuple(
        Row(s.said, s.what, (ratio_text(s.speedup),), notes=(", ".join(KINDS[name][0] for name in s.answers),))
        for s in suggestions(one, profile)[:SUGGESTED]
    )
    note = "each alone, applied analytically; speedup in cycles" if rows else "no single optimisation makes it faster"
    return PaperTable("Optimisations", note, ("speedup",), rows)


def _numbers(one: Prediction) -> PaperTable:
    """Every number with its equation and inputs: the kernel's, then each node's under its name."""
    by_node: dict[str, list[Number]] = {}
    for number in (*one.estimate.numbers, *one.potentials.numbers):
        by_node.setdefault(number.node, []).append(number)
    rows: list[Row] = []
    for node in sorted(by_node, key=lambda name: name != ""):
        rows.append(Row(node or "The kernel", "", ("", ""), strong=True))
        rows += (Row(_equation_name(n), "", (value_text(float(n.value)), _equation(n))) for n in by_node[node])
    return PaperTable("Every number", "and its parts", ("value", "equation"), tuple(rows))


def _equation_name(number: Number) -> str:
    """A number's symbol, and its parts."""
    parts = ", ".join(f"{name} {value_text(float(value))}" for name, value in number.inputs.items())
    return f"{number.symbol}: {parts}" if parts else number.symbol


def _equation(number: Number) -> str:
    return f"{number.equation}, {number.reading}" if number.reading else number.equation
