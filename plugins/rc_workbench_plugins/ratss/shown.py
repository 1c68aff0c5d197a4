"""The results of a RATSS model as they are shown: its figures, its parts, its timing diagram, its tables."""

from rc_workbench_plugins.ratss.compute import Model, Prediction, notes, predict
from rc_workbench_plugins.ratss.diagrams import diagrams
from rc_workbench_plugins.ratss.errors import errors, quantities
from rc_workbench_plugins.ratss.tables import energy_table, model_tables
from rc_workbench_plugins.ratss.timing import timing_of
from rc_workbench_plugins.ratss.words import move_equation, node_equation, stage_words
from workbench.api import Category, Diagnostic, Results, percent_text, ratio_text, time_text
from workbench.api.predictions import PartLine
from workbench.api.unstable import thousands, value_text
from workbench.api.views import Figure


def results(values: Model) -> Results:
    """Raises WorkbenchError where the model has no value here."""
    prediction = predict(values)
    speedup = ratio_text(float(prediction.speedup)) if prediction.speedup is not None else "–"
    longest = max(prediction.stage_s, key=lambda n: float(prediction.stage_s[n]), default="")
    application, nodes, networks = model_tables(values)
    return Results(
        figures=_figures(prediction, speedup, next(iter(notes(values)), None)),
        point=(
            Figure("Total", time_text(float(prediction.total_s))),
            Figure("Speedup", speedup),
            Figure("Longest stage", time_text(float(prediction.stage_s.get(longest, 0.0))), longest),
        ),
        parts_title="Each part, once an iteration",
        parts=tuple(_lines(values, prediction)),
        said="the design point" if values.changes else "the model's own values",
        timing=timing_of(values, prediction),
        tables={
            "Application": (application, *([energy_table(values)] if prediction.energy else [])),
            "Nodes": (nodes,),
            "Networks": (networks,),
        },
        diagrams=diagrams(values, prediction),
        errors=errors(values),
        more={name: value_text(float(value)) for name, value in prediction.resources.items()},
    )


def _figures(prediction: Prediction, speedup: str, uneven: Diagnostic | None) -> tuple[Figure, ...]:
    whole = quantities(prediction)
    comp, comm, total = (float(whole[key] or 0.0) for key in ("comp_s", "comm_s", "total_s"))
    rounds = sum(int(n) for n in prediction.iterations.values())
    figures = (
        Figure("Speedup", speedup, "over the software" if prediction.speedup is not None else "no software time given",
               "baseline_s / t_application"),
        Figure("Total", time_text(total, 4), f"{thousands(rounds)} iteration{'s' if rounds != 1 else ''}", "Eq. 17"),
        Figure("Computation", time_text(comp), f"{percent_text(comp / total)} of total" if total else "",
               "Eq. 12, all iterations"),
        Figure("Communication", time_text(comm), f"{percent_text(comm / total)} of total" if total else "",
               f"{uneven.message}. {uneven.hint}" if uneven else "Eq. 14, all iterations"),
    )  # fmt: skip
    return figures if prediction.speedup is not None else (*figures[1:], figures[0])


def _lines(values: Model, prediction: Prediction) -> list[PartLine]:
    """Stages with their nodes and transactions, longest bar the longest part."""
    longest = max((float(v) for v in prediction.parts.values()), default=1.0) or 1.0
    lines: list[PartLine] = []
    for stage in values.model.stages:
        said, spent = stage_words(stage.name), float(prediction.stage_s[stage.name])
        lines.append(PartLine(f"{said[:1].upper()}{said[1:]}", time_text(spent), 0.0, ""))
        for node in stage.nodes:
            spent = float(prediction.parts[stage.name, node.name])
            lines.append(PartLine(node.name, time_text(spent), spent / longest, node_equation(node), Category.WORK))
        for move in stage.transactions:
            spent = float(prediction.parts[stage.name, move.name])
            back = move.returns or move.kind in ("gather", "reduce")
            state = Category.RECV if back else Category.SEND
            lines.append(PartLine(move.name, time_text(spent), spent / longest, move_equation(move), state))
    return lines
