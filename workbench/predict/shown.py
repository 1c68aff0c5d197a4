"""What is shown of any model: what its kind says of it, else its outputs as they are."""

from workbench.api.predictions import PaperTable, Results, Row
from workbench.api.views import Figure
from workbench.predict.formulas import Evaluation
from workbench.predict.kinds import outputs_of
from workbench.predict.words import output_text, output_title

FIGURES = 4


def results_of(values: Evaluation) -> Results:
    """A model at one point. WorkbenchError where it has no value there."""
    kind = values.file.kind
    if kind.results:
        return kind.results(values)
    outputs = {
        name: output_text(name, float(value))
        for name, value in outputs_of(values.file, values.changes, values.reading).items()
    }
    first = [kind.goal, *(name for name in outputs if name != kind.goal)]
    figures = tuple(Figure(output_title(name), outputs[name]) for name in first[:FIGURES] if name in outputs)
    rows = tuple(Row(output_title(name), "", (text,), name == kind.goal) for name, text in outputs.items())
    return Results(
        figures=figures,
        point=figures[:3],
        parts_title="",
        parts=(),
        said="the design point" if values.changes else "the model's own values",
        tables={"Outputs": (PaperTable("Outputs", kind.title, ("Value",), rows),)},
    )
