"""RATSS: what an application should take on a system of many FPGAs (Holland, George, Lam and Smith, TRETS 2011)."""

from collections.abc import Sequence
from pathlib import Path

from workbench.api import Later, ModelKind, Printed, hookimpl

HERE = Path(__file__).parent
PLACE = __name__
STARTER = """\
inputs:
  elements: {value: 1000, title: elements}

stages:
  - name: compute
    nodes:
      - name: node
        elements: elements
        ops_per_element: 1
        clock_hz: 100 MHz
        ops_per_cycle: 1
"""


@hookimpl
def workbench_model_kinds() -> Sequence[ModelKind]:
    return [
        ModelKind(
            name="ratss",
            title="multi-FPGA systems: nodes, networks, stages (RATSS)",
            label="RATSS",
            document=Later(f"{PLACE}.model:RatssModel").load,
            outputs=Later(f"{PLACE}.compute:outputs"),
            goal="speedup",
            solve_option="--speedup",
            larger=frozenset({"speedup"}),
            against="power_w",
            models=HERE / "models",
            starter=STARTER,
            check=Later(f"{PLACE}.check:check"),
            answer=Later(f"{PLACE}.answer:answer"),
            results=Later(f"{PLACE}.shown:results"),
            notes=Later(f"{PLACE}.compute:notes"),
            drawing=Later(f"{PLACE}.drawing:Drawing"),
            compare=Later(f"{PLACE}.against_run:compare_with_run"),
            printed=Printed(HERE / "tables.yaml", Later(f"{PLACE}.answer:cell_value"), "Table"),
        )
    ]
