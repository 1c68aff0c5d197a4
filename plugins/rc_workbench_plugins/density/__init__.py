"""Computational density: what memories let an algorithm reach, whatever its processing elements (Steffen 2007)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api import EVERY, Later, ModelKind, PlatformSupport, Printed, Question, hookimpl

if TYPE_CHECKING:
    from argparse import ArgumentParser

HERE = Path(__file__).parent
PLACE = __name__
STARTER = """\
algorithm: dot_product
element_bytes: element

inputs:
  element: {value: 4, unit: B, title: bytes of an operand}

layers:
  - {name: main memory, layer_bytes: 1 GB, bandwidth_bytes_per_s: 1 GB/s, latency_s: 0}

compute:
  units: 1
  clock_hz: 100 MHz
"""


@hookimpl
def workbench_platforms() -> Sequence[PlatformSupport]:
    """Today's boards, a CPU and a GPU as memory layers."""
    return [PlatformSupport(template.stem, template) for template in sorted((HERE / "platforms").glob("*.yaml"))]


@hookimpl
def workbench_model_kinds() -> Sequence[ModelKind]:
    return [
        ModelKind(
            name="density",
            title="the rate that memories allow an algorithm (computational density)",
            label="density",
            document=Later(f"{PLACE}.model:DensityModel").load,
            outputs=Later(f"{PLACE}.compute:outputs"),
            goal="limit_ops_per_s",
            solve_option="--rate",
            larger=EVERY,
            unbounded=frozenset({"limit_ops_per_s"}),
            models=HERE / "models",
            starter=STARTER,
            check=Later(f"{PLACE}.model:check"),
            answer=Later(f"{PLACE}.answer:answer"),
            results=Later(f"{PLACE}.shown:results"),
            of_host=Later(f"{PLACE}.host:HostDensity"),
            layers=Later(f"{PLACE}.shown:Layers"),
            printed=Printed(HERE / "tables.yaml", Later(f"{PLACE}.compute:cell_value")),
            questions=(
                Question(
                    "--kernel FILE",
                    ("kernel", "kernel_args", "platform"),
                    _add_kernel,
                    Later(f"{PLACE}.answer:kernel_answer"),
                ),
                Question("--platform NAME", ("platform",), _add_platform, Later(f"{PLACE}.answer:platforms_answer")),
            ),
        )
    ]


def _add_kernel(command: ArgumentParser) -> None:
    said = "compile and run a C kernel (a file, or a bundled name), and compare its rho with the model's"
    command.add_argument("--kernel", metavar="FILE.c", help=said)
    command.add_argument("--kernel-args", metavar="'ARGS'", help="the kernel's arguments")


def _add_platform(command: ArgumentParser) -> None:
    said = (
        "compare the model's memory layers with those of another platform, the fastest first (repeat; 'all' for every "
        "one that has layers); with --kernel, by the density that is measured"
    )
    command.add_argument("--platform", metavar="NAME", action="append", default=[], help=said)
