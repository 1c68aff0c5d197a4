"""A user's marks on a timeline: named markers, kept in the run's folder, and pinned rows, kept for the project."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system import store
from workbench.system.files import read_regular
from workbench.traces.markers import Marker

if TYPE_CHECKING:
    from workbench.model.run import Run

FILE = "markers.json"  # beside a run's manifest
MOST_MARKERS, MOST_NAME, MOST_PINNED = 1000, 200, 100
_LIMIT_BYTES = 1 << 20
_PINNED = "pinned_rows"
_HINT = "Delete the file, or correct it: a list of markers, each with `name` and `time_ps`."


def load_markers(run: Run) -> tuple[tuple[Marker, ...], tuple[Diagnostic, ...]]:
    """A run's named markers, by time, and the problems of their file; markers that cannot be read are left out."""
    if run.path is None:
        return (), ()
    path = run.path / FILE
    try:
        listed = json.loads(read_regular(path, _LIMIT_BYTES))["markers"]
        markers = [_marker(one, run.manifest.time_ps) for one in listed[:MOST_MARKERS]]
    except FileNotFoundError:
        return (), ()
    except OSError as error:
        return (), (Diagnostic(f"cannot read the run's markers: {error.strerror}", file=str(path)),)
    except (ValueError, KeyError, TypeError, RecursionError):
        return (), (Diagnostic("this is not a list of markers", _HINT, file=str(path)),)
    good = tuple(sorted(marker for marker in markers if marker is not None))
    bad = len(listed) - len(good)
    problem = Diagnostic(f"{bad} of {len(listed)} markers cannot be read", _HINT, file=str(path))
    return good, (problem,) if bad else ()


def _marker(one: Any, end_ps: int) -> Marker | None:
    name, time_ps = (one.get("name"), one.get("time_ps")) if isinstance(one, dict) else (None, None)
    if not isinstance(name, str) or not isinstance(time_ps, int) or not 0 <= time_ps <= end_ps:
        return None
    return Marker(int(time_ps), name[:MOST_NAME])


def save_markers(run: Run, markers: Iterable[Marker]) -> None:
    """Save a run's markers in its folder. WorkbenchError if it cannot be written; a run without a folder keeps none."""
    if run.path is None:
        return
    path = run.path / FILE
    listed = [{"name": marker.name, "time_ps": marker.time_ps} for marker in sorted(markers)]
    try:
        if listed:
            store.write_json(path, {"markers": listed})
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        problem = f"cannot keep the run's markers: {error.strerror}"
        raise WorkbenchError(Diagnostic(problem, "They stay until the run is closed.", file=str(path))) from None


def load_pinned(run: Run) -> tuple[str, ...]:
    """The names of the pinned rows of a run's project."""
    return tuple(store.load(_PINNED, {}).get(_project(run), ()))


def save_pinned(run: Run, names: Iterable[str]) -> None:
    store.save(_PINNED, {**store.load(_PINNED, {}), _project(run): list(names)[:MOST_PINNED]})


def _project(run: Run) -> str:
    return run.manifest.project or run.manifest.name
