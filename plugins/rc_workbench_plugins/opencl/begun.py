"""A model made of a kernel's file: `workbench predict opencl KERNEL.cl --board BOARD --launch SPEC`."""

import json
from argparse import Namespace
from pathlib import Path
from textwrap import indent

from workbench.api import Diagnostic, WorkbenchError
from workbench.api.source.files import is_file
from workbench.api.unstable import read_file

_EXAMPLES = {"board": "de5_net", "launch": "'{global_size: [1024], arguments: {n: 4}}'"}


def text(path: Path, arguments: Namespace) -> str:
    """The model's document, as it would stand beside the kernel. WorkbenchError with every option that is missing, or
    with what is wrong with one."""
    missing = [(option, example) for option, example in _EXAMPLES.items() if not getattr(arguments, option)]
    if missing:
        raise WorkbenchError(
            *(Diagnostic(f"--{one} is missing", f"Write --{one} {example}.") for one, example in missing)
        )
    fields = {"name": path.stem, "platform": arguments.board, "kernel_file": path.name}
    fields["kernel"] = arguments.kernel or ""
    head = "".join(f"{name}: {json.dumps(value)}\n" for name, value in fields.items())
    return f"schema_version: 1\n{head}launch:\n{indent(_launch(arguments.launch), '  ')}\n"


def _launch(spec: str) -> str:
    """The launch's text: what stands in a file, or what is given."""
    if is_file(file := Path(spec)):
        return read_file(file).decode("utf-8", "replace")
    if ":" in spec:
        return spec
    hint = "Give a YAML file, or its text: '{global_size: [1024], arguments: {n: 4}}'."
    raise WorkbenchError(Diagnostic(f"there is no launch file '{spec[:80]}'", hint))
