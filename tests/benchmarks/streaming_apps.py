"""The streaming applications that come along, each deployed in several ways, beside plain sequential programs.

    python tests/benchmarks/streaming_apps.py [--json] [--quick]

`rows` [{application, top, cores, on_fpga, time_s, same}]: the run's virtual time, and whether it prints what the
sequential program does; `stuck` where no block can go on, as the search without messages should. `--quick`: each
application once.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.api.job import Job
from workbench.session.pipeline import RunOptions, run_workspace
from workbench.session.plugins import load_plugins
from workbench.session.workspace import open_workspace

EXAMPLES = Path(__file__).resolve().parents[2] / "resources" / "examples"
CHUNKS = "  blocks: {Split: {cpp: [split.hpp], unit: {cpp: SplitByChunk}}}\n"


@dataclass(frozen=True)
class Deployment:
    """An example with another top, blocks on the FPGA, cores, and further lines of its section."""

    example: str
    top: str
    on_fpga: tuple[str, ...] = ()
    cores: int = 12
    lines: str = ""
    expected: Callable[[Any], str] = field(default=lambda reference: str(reference.printed()))

    def project(self, folder: Path, changes: Sequence[tuple[str, str]] = ()) -> Path:
        """A copy of the example's folder, with its X file changed so."""
        shutil.copytree(EXAMPLES / self.example, folder, dirs_exist_ok=True)
        topology = folder / f"{self.example}.x"
        text = topology.read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        topology.write_text(text)
        path = folder / "tried.workbench.yaml"
        mapping = "".join(f"    {block}: card\n" for block in self.on_fpga)
        path.write_text(
            f"schema_version: 1\nname: tried\nplatform: nallatech_h101\nstreaming:\n  sources: [{topology.name}]\n"
            f"  top: {self.top}\n{self.lines}"
            + (f"  mapping:\n{mapping}" if mapping else "")
            + f"simulation: {{cores: {self.cores}}}\n"
        )
        return path


def reference(example: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"{example}_reference", EXAMPLES / example / "reference.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _laplace(blocks: int) -> Callable[[Any], str]:
    return lambda program: str(program.printed(blocks))


DEPLOYMENTS = (
    Deployment("laplace", "Two", expected=_laplace(2)),
    Deployment("laplace", "Two", lines=CHUNKS, expected=_laplace(2)),
    Deployment("laplace", "Two", lines=CHUNKS, cores=2, expected=_laplace(2)),
    Deployment("laplace", "Two", lines=CHUNKS, cores=1, expected=_laplace(2)),
    Deployment("laplace", "Four", lines=CHUNKS, expected=_laplace(4)),
    Deployment("laplace", "Eight", lines=CHUNKS, expected=_laplace(8)),
    Deployment("laplace", "Eight", ("mt",), lines=CHUNKS + "  bulk_elements: 4096\n", expected=_laplace(8)),
    *(Deployment("blastn", top, cores=8) for top in ("Each", "Interval", "Silence")),
    Deployment("blastn", "Deadlock", cores=8, expected=lambda program: ""),
)
QUICK = (DEPLOYMENTS[1], DEPLOYMENTS[-2])


def measured(deployment: Deployment, folder: Path) -> dict[str, object]:
    path = deployment.project(folder)
    options = RunOptions(out=folder / "run", deterministic=True)
    run = run_workspace(open_workspace(path, load_plugins()), options, Job())
    printed = (folder / "run" / "stdout.txt").read_text()
    return {
        "application": deployment.example,
        "top": deployment.top,
        "split": "by chunk" if deployment.lines.startswith(CHUNKS) else "",
        "cores": deployment.cores,
        "on_fpga": list(deployment.on_fpga),
        "time_s": run.manifest.time_ps / 1e12,
        "stuck": "no thread of the host can go on" in run.manifest.reason,
        "same": printed == deployment.expected(reference(deployment.example)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    rows = []
    for deployment in QUICK if arguments.quick else DEPLOYMENTS:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measured(deployment, Path(folder)))
        if not arguments.json:
            print(
                *(f"{name} {value}" for name, value in rows[-1].items() if value not in ("", [])), sep=", ", flush=True
            )
    if arguments.json:
        print(json.dumps({"rows": rows}, indent=1))
    return 0 if all(row["same"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
