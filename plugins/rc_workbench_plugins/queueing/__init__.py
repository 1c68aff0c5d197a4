"""Queueing networks of streaming applications: how busy each stage is and how full its queue gets (Lancaster 2011,
chapter 7; Jackson 1957)."""

from collections.abc import Sequence
from pathlib import Path

from workbench.api import EVERY, Later, ModelKind, Printed, hookimpl

HERE = Path(__file__).parent
PLACE = __name__
STARTER = """\
inputs:
  rate: {value: 1000000, title: jobs a second from outside}

stations:
  - name: stage
    arrivals_per_s: rate
    service_per_s: 2000000
"""


@hookimpl
def workbench_model_kinds() -> Sequence[ModelKind]:
    return [
        ModelKind(
            name="queueing",
            label="queueing",
            title="queues and servers of a streaming application (Jackson networks)",
            document=Later(f"{PLACE}.model:QueueingModel").load,
            outputs=Later(f"{PLACE}.network:outputs"),
            goal="utilisation",
            solve_option="--utilisation",
            larger=frozenset({"most_per_s"}),
            unbounded=EVERY,  # queues grow without end where more is asked for than is served
            models=HERE / "models",
            starter=STARTER,
            check=Later(f"{PLACE}.model:check"),
            answer=Later(f"{PLACE}.shown:answer"),
            drawing=Later(f"{PLACE}.drawing:Drawing"),
            results=Later(f"{PLACE}.shown:results"),
            notes=Later(f"{PLACE}.network:notes"),
            of_run=Later(f"{PLACE}.calibrated:model_of"),
            printed=Printed(HERE / "tables.yaml", Later(f"{PLACE}.network:cell_value"), "Table"),
        )
    ]
