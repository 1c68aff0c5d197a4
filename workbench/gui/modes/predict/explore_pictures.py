"""The pictures and texts of Explore: a sweep, the Pareto front, the most important inputs, a solution. No Qt."""

import math
from collections.abc import Sequence

import numpy as np

from workbench.gui.modes.predict.sweeping import SweepAnswer
from workbench.model.text import percent_text
from workbench.pictures.bars import Bar, Bars
from workbench.pictures.plot import Axis, Line, Plot
from workbench.predict.formulas import ModelFile
from workbench.predict.sensitivity import Influence
from workbench.predict.solve import Solution
from workbench.predict.words import input_text, input_title, output_text, output_title, unit_of

INKS = ("accent", "good", "medium_text", "keyword", "number")


def sweep_plot(file: ModelFile, answer: SweepAnswer) -> Plot:
    """The output over the input that was swept, a line for each value of the second one; the model's own point."""
    asked = answer.question
    lines = []
    for n, values in enumerate(answer.values):
        name = output_title(asked.output)
        if len(answer.second):
            name = f"{input_title(file, asked.second)} {input_text(file, asked.second, float(answer.second[n]))}"
        band = None
        if answer.bands:
            low, high = min(answer.bands.quantiles), max(answer.bands.quantiles)
            band = (answer.bands.quantiles[low], answer.bands.quantiles[high])
        lines.append(Line(name, answer.x, values, INKS[n % len(INKS)], band=band, points=len(answer.x) <= 32))
    if asked.low <= answer.own_x <= asked.high:
        lines.append(Line("", np.array([answer.own_x]), np.array([answer.own_y]), "text", points=True, joined=False))

    def said(line: int, point: int) -> str:
        own = "the model: " if line >= len(answer.values) else ""
        x, y = float(lines[line].x[point]), float(lines[line].y[point])
        return f"{own}{input_title(file, asked.name)} {input_text(file, asked.name, x)}: {output_text(asked.output, y)}"

    return Plot(
        Axis(input_title(file, asked.name), lambda v: input_text(file, asked.name, v), asked.log and asked.low > 0,
             unit_of(file, asked.name)),
        Axis(output_title(asked.output), lambda v: output_text(asked.output, v), asked.log),
        tuple(lines),
        say=said,
    )  # fmt: skip


def front_plot(file: ModelFile, answer: SweepAnswer) -> Plot:
    """The points that no other point beats in both output and resource, before all that were swept."""
    asked = answer.question
    x, y = np.array([p.x for p in answer.front]), np.array([p.y for p in answer.front])

    def said(line: int, point: int) -> str:
        if line:
            return output_text(asked.output, float(answer.values.ravel()[point]))
        at = answer.front[point]
        inputs = ", ".join(f"{input_title(file, n)} {input_text(file, n, value)}" for n, value in at.inputs.items())
        return f"{inputs}: {output_text(asked.output, at.y)}, {output_text(asked.resource, at.x)}"

    swept = Line("", answer.others.ravel(), answer.values.ravel(), "muted", points=True, joined=False)
    return Plot(
        Axis(output_title(asked.resource), lambda v: output_text(asked.resource, v)),
        Axis(output_title(asked.output), lambda v: output_text(asked.output, v)),
        (Line("", x, y, "good", points=len(x) <= 80), *([swept] if asked.second else [])),
        say=said,
    )


def can_have_front(file: ModelFile, answer: SweepAnswer) -> bool:
    """Whether models of this kind have anything to compare an output with."""
    return bool(answer.question.resource) or "resources" in type(file.model).model_fields


def no_front_words(answer: SweepAnswer) -> str:
    """Why there is no front to show; "" where there is one."""
    if answer.question.resource:
        return "" if len(answer.front) > 1 else "One point is best in both."
    return "The model has no resources. Add one to compare time with it."


def solution_words(file: ModelFile, solution: Solution) -> str:
    """What an input must be, and what the model has."""
    rest = f"the model has {input_text(file, solution.name, file.inputs[solution.name])}"
    if solution.short is not None:
        rest += f"; whole numbers only: {output_text(solution.output, solution.reached)} there, "
        reached = output_text(solution.output, solution.short_reached or 0.0)
        rest += f"{reached} at {input_text(file, solution.name, solution.short)}"
    return f"{input_title(file, solution.name)} must be {input_text(file, solution.name, solution.value)} ({rest})"


def influence_bars(file: ModelFile, rows: Sequence[Influence]) -> Bars:
    """What 1 % more of each input does to the output, and its share of the variance where inputs are uncertain."""
    shares = any(row.total_order is not None for row in rows)

    def size(row: Influence) -> float:
        return abs(row.elasticity) if math.isfinite(row.elasticity) else 0.0

    most = max(map(size, rows), default=0.0) or 1.0
    ranked = sorted(rows, key=lambda r: -(r.total_order or 0.0) if shares else -size(r))
    bars = []
    for row in ranked:
        said = "–" if math.isnan(row.elasticity) else signed(row.elasticity)
        share = "" if row.total_order is None else percent_text(row.total_order)
        cells = (row.name, row.elasticity, *(("" if row.total_order is None else row.total_order,) if shares else ()))
        bars.append(
            Bar(
                row.name,
                input_title(file, row.name),
                row.elasticity,
                (said, share) if shares else (said,),
                cells,
                strong=False,
            )
        )
    return Bars(
        Axis("elasticity", signed), ("input", "elasticity", *(("share of the variance",) if shares else ())),
        tuple(bars), (-most * 1.04, most * 1.04), mark=0.0,
        foot="% for 1 % more of the input" + ("; right: its share of the variance" if shares else ""),
    )  # fmt: skip


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−") if value else "0"
