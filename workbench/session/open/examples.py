"""The bundled applications, which are copied to a folder of the user's before anything is built or changed."""

import shutil
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from workbench.model.diagnostic import Diagnostic, WorkbenchError


@dataclass(frozen=True)
class Example:
    """A bundled project: `folder` is its folder below the examples, `project` its project file, `made_of` its
    languages."""

    folder: str
    project: str
    title: str
    summary: str
    made_of: str = "C host, Verilog cores"


EXAMPLES = (
    Example(
        "pdf2d",
        "original.workbench.yaml",
        "2-D PDF, original",
        "Small transfers, polling and host-driven control.",
    ),
    Example(
        "pdf2d",
        "optimised.workbench.yaml",
        "2-D PDF, optimised",
        "32 KB transfers, one status register, control in hardware.",
    ),
    Example(
        "laplace",
        "two.workbench.yaml",
        "Laplace's equation",
        "Random walks as a pipeline of blocks: one of them limits it.",
        "Streams: X, C++ and Verilog",
    ),
    Example(
        "blastn",
        "blastn.workbench.yaml",
        "Similar sequences",
        "Blocks that drop most of their input and can deadlock.",
        "Streams: X, C++ and Verilog",
    ),
    Example(
        "queues",
        "into.workbench.yaml",
        "A queue over the bus",
        "From processor to FPGA: what a queue's replay can show.",
        "Streams: X, C++ and Verilog",
    ),
    Example(
        "own_board",
        "own_board.workbench.yaml",
        "A board with a C++ class",
        "A board without a plugin, described from its header.",
        "C++ host with a class API, Verilog",
    ),
    Example(
        "pdf2d",
        "ranks.workbench.yaml",
        "2-D PDF, four ranks",
        "MPI processes, each with a card of its own, as one run.",
        "C host with MPI, Verilog cores",
    ),
)


def copy_example(example: Example, folder: Path) -> Path:
    """Copy an example below `folder` and return its project file. An earlier copy is used unchanged."""
    target = folder / example.folder
    if not target.exists():
        try:
            with as_file(files("workbench.resources").joinpath("examples", example.folder)) as source:
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "runs"))
        except OSError as error:
            raise WorkbenchError(
                Diagnostic(
                    f"cannot copy the example: {error}", "Choose a folder that can be written.", file=str(target)
                )
            ) from None
    return target / example.project
