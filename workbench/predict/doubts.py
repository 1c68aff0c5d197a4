"""Values that a model may have, and that nothing real has: an FPGA's clock beyond any FPGA."""

import numpy as np

from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.text import value_text
from workbench.predict.formulas import Evaluation, dotted


def clock_doubts(values: Evaluation) -> tuple[Diagnostic, ...]:
    """A warning for each clock of an FPGA whose value (in a sweep, the largest) is beyond what its `Domain` doubts."""
    found = []
    for path, formula in values.file.formulas.items():
        limit_hz = formula.domain.doubtful
        if limit_hz < np.inf and (most_hz := float(np.max(values.of(*path)))) > limit_hz:
            message = f"no FPGA reaches {value_text(most_hz, 'Hz')}, the clock {dotted(path)}"
            hint = f"The fastest clock networks reach {value_text(limit_hz, 'Hz')}."
            more = "Do more operations in a cycle, or use more nodes."
            found.append(values.problem(path, message, f"{hint} {more}", Severity.WARNING))
    return tuple(found)


def reading_notes(values: Evaluation) -> tuple[Diagnostic, ...]:
    """How a model's values are to be read: what its kind says, and doubts of its clocks."""
    return (*values.file.kind.notes(values), *clock_doubts(values))
