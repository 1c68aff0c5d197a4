"""Writes the copies of a design, and the top and monitors around it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.api.instrument import wrapper
from workbench.api.instrument.crossing import CROSSING_MODULE, CROSSING_SOURCE
from workbench.api.instrument.metric_probe import BIN_MODULE, BIN_SOURCE
from workbench.api.instrument.monitor_text import AGENTS_FILE, FIRST_MODULE, OPEN_MODULE, VALUE_MODULE
from workbench.model.diagnostic import Diagnostic, WorkbenchError


def write_around(generated: str, out: Path, timescale: str = "", agents: str = "") -> list[Path]:
    """Write the generated top and monitors, their agents and the sources that they need, below `out`; a path for each.
    `timescale` is the directive that all of them begin with."""
    traced = [wrapper.TRACE_SOURCE] if "recap_trace_collector" in generated else []
    depths = [DEPTH_SOURCE] if DEPTH_MODULE in generated else []
    crossing = [CROSSING_SOURCE] if CROSSING_MODULE in generated else []
    values = [wrapper.VALUE_SOURCE] if VALUE_MODULE in generated else []
    of_agents = [wrapper.AVERAGE_SOURCE] if values else []
    of_agents += [BIN_SOURCE] if BIN_MODULE in generated else []
    firsts = [wrapper.FIRST_SOURCE] if FIRST_MODULE in generated else []
    opens = [wrapper.OPEN_SOURCE] if OPEN_MODULE in generated else []
    own = (*wrapper.RUNTIME, *crossing, *traced, *depths, *values, *firsts, *opens)
    texts = {name: wrapper.runtime_source(name) for name in own}
    texts |= {_ours(name.rpartition("/")[2]): _ours(wrapper.runtime_source(name)) for name in of_agents}
    texts |= {AGENTS_FILE: agents} if agents else {}
    texts[wrapper.TOP_FILE] = generated
    return [write_file(out / "recap" / name, (timescale + text).encode()) for name, text in texts.items()]


def _ours(text: str) -> str:
    """A module of the agents' under a name that the application's own agents do not have."""
    return text.replace("agent_", "recap_")


def write_file(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """While the design is written below `out`: WorkbenchError where that cannot be done."""
    try:
        yield
    except OSError as error:
        hint = "Choose a folder that can be written to."
        problem = f"cannot write the instrumented design: {error.strerror}"
        raise WorkbenchError(Diagnostic(problem, hint, file=str(error.filename or out))) from None


def copy_path(root: Path, path: Path, number: int, out: Path) -> Path:
    """Where the copy of a source goes: as in the project; what lies outside of it, numbered."""
    if path.is_relative_to(root):
        return out / path.relative_to(root)
    return out / "outside" / f"{number}_{path.name}"


DEPTH_MODULE, DEPTH_SOURCE = "recap_depth", "recap_depth.v"
