"""An importer: lines `SECONDS busy` or `SECONDS idle`, one after the other, as a run of one host thread."""

from pathlib import Path

import numpy as np

from workbench.api import PS_PER_S, Block, Category, Diagnostic, Manifest, Run, RunStatus, Side, State, WorkbenchError

NAMES = {"idle": 0, "busy": 1}


def read_busy(path: Path) -> Run:
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            seconds, name = line.split()
            rows.append((round(float(seconds) * PS_PER_S), NAMES[name]))
        except (ValueError, KeyError):
            hint = "Write for example: 0.5 busy"
            raise WorkbenchError(
                Diagnostic("this is not a time with a state", hint, file=str(path), line=number)
            ) from None
    lasts, states = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    block = Block("host.main", Side.HOST, "host", "thread", "host.main",
                  (State(0, "unclassified"), State(1, "busy", Category.WORK)))  # fmt: skip
    time_ps = int(lasts.sum())
    manifest = Manifest(path.stem, RunStatus.COMPLETE, "", simulated=False, time_ps=time_ps, blocks=(block,))
    spent = np.bincount(states, weights=lasts, minlength=2).astype(np.int64)
    table = {
        "block": np.zeros(2, "i4"), "state": np.arange(2, dtype="i4"), "time_ps": spent,
        "cycles": np.zeros(2, "i8"), "visits": np.bincount(states, minlength=2),
    }  # fmt: skip
    return Run(None, manifest, {"state_time": table})
