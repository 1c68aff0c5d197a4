"""What a RATSS model comes to, as a JSON document and as a table of text; and the printed cells of its paper."""

from collections.abc import Sequence
from typing import Any

from rc_workbench_plugins.ratss.compute import Model, Prediction, notes, predict
from rc_workbench_plugins.ratss.errors import errors
from rc_workbench_plugins.ratss.power import Energy, estimated
from workbench.api import Answer, Diagnostic, WorkbenchError, table, time_text
from workbench.api.predictions import Cell
from workbench.api.unstable import prefixed


def answer(values: Model) -> Answer:
    prediction, of = predict(values), estimated(values.model)
    return Answer(_document(prediction, of), _text(prediction, bool(of)), errors(values), notes(values))


def _document(prediction: Prediction, estimates: Sequence[str]) -> dict[str, Any]:
    return {
        "total_s": prediction.total_s,
        "speedup": prediction.speedup,
        "resources": dict(prediction.resources),
        "energy": _energy_document(prediction.energy, estimates) if prediction.energy else None,
        "stages": [
            {
                "name": name,
                "comp_s": prediction.comp_s[name],
                "comm_s": prediction.comm_s[name],
                "total_s": prediction.stage_s[name],
                "parts": [
                    {"name": part, "time_s": time_s}
                    for (stage, part), time_s in prediction.parts.items()
                    if stage == name
                ],
            }
            for name in prediction.stage_s
        ],
    }


def _energy_document(energy: Energy, estimates: Sequence[str]) -> dict[str, Any]:
    return {
        "parts_j": dict(energy.parts_j),
        "total_j": energy.total_j,
        "per_iteration_j": energy.per_iteration_j,
        "power_w": energy.power_w,
        "estimated": list(estimates),
    }


def _text(prediction: Prediction, by_estimates: bool) -> str:
    rows = [("Stage", "Part", "Time")]
    for name in prediction.stage_s:
        rows += [
            (name, part, time_text(float(time_s), 4))
            for (stage, part), time_s in prediction.parts.items()
            if stage == name
        ]
        rows.append((name, "computation", time_text(float(prediction.comp_s[name]), 4)))
        rows.append((name, "communication", time_text(float(prediction.comm_s[name]), 4)))
        rows.append((name, "all iterations", time_text(float(prediction.stage_s[name]), 4)))
    rows.append(("application", "", time_text(float(prediction.total_s), 4)))
    if prediction.speedup is not None:
        rows.append(("speedup", "", f"{prediction.speedup:.4g}"))
    if energy := prediction.energy:
        spent, power = ("energy, estimate", "power, estimate") if by_estimates else ("energy", "power")
        rows += [(spent, name, prefixed(float(part_j), "J")) for name, part_j in energy.parts_j.items()]
        rows.append((spent, "application", prefixed(float(energy.total_j), "J")))
        rows.append((spent, "an iteration", prefixed(float(energy.per_iteration_j), "J")))
        rows.append((power, "average", prefixed(float(energy.power_w), "W")))
    rows += [(name, "", f"{value:g}") for name, value in prediction.resources.items()]
    return table(rows)


def cell_value(values: Model, cell: Cell) -> float:
    """The number that a printed cell names, in SI units."""
    kind, _, name = cell.what.partition(" ")
    if kind == "field":
        return float(values.of(*(int(part) if part.isdigit() else part for part in name.split("."))))
    if kind == "network":
        network, _, attribute = name.partition(".")
        assert values.platform is not None
        return float(getattr(next(n for n in values.platform.networks if n.name == network), attribute))
    if kind in ("measured", "error"):
        row = next(
            row
            for row in errors(values)
            if row.quantity == name and all(row.inputs.get(k) == v for k, v in values.changes.items())
        )
        return row.measured if kind == "measured" else row.error_pct
    prediction = predict(values)
    if kind == "part":
        stage, _, part = name.partition("/")
        return float(prediction.parts[stage, part])
    results = {
        "comp": prediction.comp_s.get(name),
        "comm": prediction.comm_s.get(name),
        "stage": prediction.stage_s.get(name),
        "total": prediction.total_s,
        "speedup": prediction.speedup,
    }.get(kind)
    if results is None:
        raise WorkbenchError(Diagnostic(f"the model {cell.model} has no result '{cell.what}'"))
    return float(results)
