"""How surely times of a run's FPGAs lie on the host's clock."""

from workbench.api.virtual_time import TABLE
from workbench.model.run import PS_PER_S, Run
from workbench.model.text import counted, time_text


def unsure_ps(run: Run) -> int:
    """How far off one may be. In a simulation none is: its one clock shows them all."""
    manifest = run.manifest
    return 0 if manifest.simulated else max((clock.uncertainty_ps for clock in manifest.clocks), default=0)


def exact_words(run: Run) -> str:
    """How far off times of FPGAs may be, in words; of a simulation also what its messages make it on a board."""
    if unsure := unsure_ps(run):
        return f"to within ± {time_text(unsure / PS_PER_S)} on the host's clock"
    table = run.tables.get(TABLE) if run.manifest.simulated else None
    if table is None or not len(table["messages"]):
        return "exact, as the simulation has one clock" if run.manifest.simulated else "host and FPGA on one clock"
    on_a_board, messages = int(table["uncertainty_ps"].max()), int(table["messages"].sum())
    within = time_text(on_a_board / PS_PER_S)
    return f"exact, as the simulation has one clock; on a board ± {within}, by {counted(messages, 'message')}"
