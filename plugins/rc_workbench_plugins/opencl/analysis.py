"""A kernel compiled, taken apart and run at a launch: what the model needs of it, made once for each of them."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rc_workbench_plugins.opencl.annotations import annotated
from rc_workbench_plugins.opencl.compile import compile_file
from rc_workbench_plugins.opencl.hierarchy import hierarchy
from rc_workbench_plugins.opencl.interpret import run
from rc_workbench_plugins.opencl.kernel import Kernel, Kind, Node, Profile, Space
from rc_workbench_plugins.opencl.launch import Launch, Values, local_size, values_of
from rc_workbench_plugins.opencl.ndrange import NDRange
from rc_workbench_plugins.opencl.optimisations import Change
from rc_workbench_plugins.opencl.statistics import Work
from workbench.api import Job
from workbench.api.source.files import is_file
from workbench.api.unstable import read_file, sha256

#: Work items that are run where a launch does not say how many groups: of more, that many show what all do.
ITEMS = 1 << 14
KEPT = 32


@dataclass(frozen=True)
class Analysed:
    """`changes` are the optimisations that the source's own annotations ask for, `headers` the files that it includes,
    as they were. `works` keeps what follows from it for each board."""

    kernel: Kernel
    root: Node
    profile: Profile
    changes: tuple[Change, ...]
    headers: Mapping[Path, str]
    works: dict[str, Work] = field(default_factory=dict, compare=False)


_known: OrderedDict[tuple[str, ...], Analysed] = OrderedDict()


def key_of(source: Path, name: str, launch: Launch, folder: Path) -> tuple[str, ...]:
    """What an analysis is of: the kernel's text, the launch, and the files of its buffers as they are now."""
    buffers = [folder / v.file for v in launch.arguments.values() if isinstance(v, Values) and v.file]
    return sha256(read_file(source)), str(source), name, launch.model_dump_json(), str(folder), *map(_state, buffers)


def _state(path: Path) -> str:
    return str(path.stat().st_mtime_ns) if is_file(path) else ""


def arguments_of(kernel: Kernel, launch: Launch, folder: Path) -> dict[str, object]:
    """What the kernel is launched with, as the interpreter takes it."""
    values = values_of(kernel, launch, folder)
    arguments: dict[str, object] = {}
    for argument in kernel.arguments:
        value = values[argument.name]
        scalar = argument.type.kind is not Kind.POINTER and argument.type.lanes == 1
        arguments[argument.name] = value.nbytes if argument.type.space is Space.LOCAL else value[0] if scalar else value
    return arguments


def _known_by(key: tuple[str, ...]) -> Analysed | None:
    known = _known.get(key)
    return known if known is not None and all(_state(path) == state for path, state in known.headers.items()) else None


def is_known(source: Path, name: str, launch: Launch, folder: Path) -> bool:
    return _known_by(key_of(source, name, launch, folder)) is not None


def analysed(source: Path, name: str, launch: Launch, folder: Path, job: Job | None = None) -> Analysed:
    """The kernel `name` of a file (the only one where it is empty), run at a launch whose files stand in `folder`.

    WorkbenchError with the compiler's errors, or with what is wrong with the launch.
    """
    key = key_of(source, name, launch, folder)
    if known := _known_by(key):
        _known.move_to_end(key)
        return known
    kernels = compile_file(source, launch.macros, launch.standard, job, [folder / name for name in launch.include])
    kernel = kernels.kernel(name)
    arguments = arguments_of(kernel, launch, folder)
    size = NDRange(launch.global_size, local_size(kernel, launch))
    groups = launch.groups or max(1, ITEMS // size.group_items)
    changes = annotated(source, kernel.line, [k.line for k in kernels.kernels])
    profile = run(kernel, size, arguments, groups, job).profile
    result = Analysed(kernel, hierarchy(kernel), profile, changes, {path: _state(path) for path in kernels.headers})
    _known[key] = result
    while len(_known) > KEPT:
        _known.popitem(last=False)
    return result
