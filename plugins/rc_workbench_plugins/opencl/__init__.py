"""OpenCL kernels on FPGAs: their structure, what they do on data, and what that costs (Wang, He, Zhang, Jiang 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api import Begun, FileKind, Later, ModelKind, Question, hookimpl
from workbench.api.languages import C

if TYPE_CHECKING:
    from argparse import ArgumentParser

PLACE = __name__
STARTER = """\
platform: de5_net
kernel_file: kernel.cl

launch:
  global_size: [65536]
  arguments:
    a: {elements: 65536}
"""


@hookimpl
def workbench_model_kinds() -> Sequence[ModelKind]:
    return [
        ModelKind(
            name="opencl",
            title="cycles and potentials of an OpenCL kernel on an FPGA board",
            label="OpenCL",
            document=Later(f"{PLACE}.document:OpenClModel").load,
            outputs=Later(f"{PLACE}.compute:outputs"),
            goal="cycles",
            larger=frozenset({"speedup", "speedup_cycles"}),
            models=Path(__file__).parent / "models",
            starter=STARTER,
            check=Later(f"{PLACE}.document:check"),
            answer=Later(f"{PLACE}.answer:answer"),
            results=Later(f"{PLACE}.shown:results"),
            notes=Later(f"{PLACE}.notes:notes"),
            prepare=Later(f"{PLACE}.compute:prepare"),
            write_best=Later(f"{PLACE}.answer:best_written"),
            readings=("printed", "repaired"),
            reading_option="--profile",
            begun=Begun(
                (FileKind("OpenCL C", (".cl",), C),),
                ("board", "launch", "kernel"),
                _add_kernel,
                Later(f"{PLACE}.begun:text"),
            ),
            questions=(
                Question("--search N", ("search", "write"), _add_search, Later(f"{PLACE}.answer:search_answer")),
            ),
        )
    ]


def _add_kernel(command: ArgumentParser) -> None:
    command.add_argument("--board", metavar="PLATFORM", help="with a kernel file: the board, such as de5_net")
    said = "of a kernel file: the launch, a YAML file or its text, as in '{global_size: [1024], arguments: {n: 4}}'"
    command.add_argument("--launch", metavar="SPEC", help=said)
    command.add_argument("--kernel", metavar="NAME", help="with a kernel file: the kernel's name, if it has several")


def _add_search(command: ArgumentParser) -> None:
    command.add_argument("--search", type=int, metavar="N", help="the N fastest combinations of optimisations that fit")
    said = "with --search: write the fastest into a copy of the source in this folder, as far as that is safe"
    command.add_argument("--write", type=Path, metavar="DIR", help=said)
