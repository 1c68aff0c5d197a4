"""The ledger's file: one event a line, in JSON, only ever appended to, so that no window can lose what another wrote.

The events are `kept` (a prediction was adopted), `confirmed`, `came` and `dropped`; the last three name its id.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from workbench.formats.json_text import JsonError, read_json
from workbench.model.changes import as_json, change_of
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.ledger import Base, Confirmed, Entry, Expected, MeasuredResult
from workbench.model.prediction import Prediction, Trust
from workbench.system.files import read_file

NAME = "predictions.jsonl"
_BASE, _CAME, _CONFIRMED = TypeAdapter(Base), TypeAdapter(MeasuredResult), TypeAdapter(Confirmed)
_EXPECTED = TypeAdapter(tuple[Expected, ...])
_NUMBER, _INTERVAL = TypeAdapter(float | None), TypeAdapter(tuple[float, float] | None)
_TEXT = TypeAdapter(str)


def read_ledger(path: Path) -> tuple[tuple[Entry, ...], tuple[Diagnostic, ...]]:
    """The entries in the order of their adoption, and a warning for each line that is damaged. Raises WorkbenchError
    where there is a file that cannot be read."""
    if not path.exists():
        return (), ()
    entries: dict[str, Entry] = {}
    problems = []
    for number, line in enumerate(read_file(path).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            _take(entries, read_json(line))
        except JsonError as error:
            problems.append(_damaged(path, number, f"it is not JSON ({error.message})"))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            problems.append(_damaged(path, number, f"{place}: {first['msg']}" if place else first["msg"]))
        except WorkbenchError as error:
            problems.append(_damaged(path, number, error.diagnostics[0].message))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problems.append(_damaged(path, number, f"it is not a ledger event ({error})"))
    return tuple(entries.values()), tuple(problems)


def append_kept(path: Path, entry: Entry) -> None:
    """Add a prediction. Raises WorkbenchError where it cannot be written; the ledger then is as it was."""
    prediction = entry.prediction
    _append(path, {
        "event": "kept", "id": entry.id, "at": entry.at, "project": entry.project, "base": asdict(entry.base),
        "prediction": {
            "changes": [as_json(change) for change in prediction.changes], "trust": prediction.trust.value,
            "time_s": prediction.time_s, "speedup": prediction.speedup, "interval": prediction.interval,
            "why": prediction.why, "bound_by": prediction.bound_by, "interval_holds": prediction.interval_holds,
        },
        "expected": [asdict(one) for one in entry.expected],
    })  # fmt: skip


def append_confirmed(path: Path, entry_id: str, confirmed: Confirmed) -> None:
    """Add what the card confirmed of a prediction."""
    _append(path, {"event": "confirmed", "id": entry_id, "confirmed": asdict(confirmed)})


def append_result(path: Path, entry_id: str, came: MeasuredResult) -> None:
    """Add what a run of changed sources came to."""
    _append(path, {"event": "came", "id": entry_id, "came": asdict(came)})


def append_dropped(path: Path, entry_id: str) -> None:
    """Note that the user takes a prediction back; its line stays."""
    _append(path, {"event": "dropped", "id": entry_id})


def _append(path: Path, event: Mapping[str, Any]) -> None:
    """One whole line at the file's end, on the disk, while nobody else writes."""
    data = json.dumps(event, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = file.seek(0, os.SEEK_END)
            if size and os.pread(file.fileno(), 1, size - 1) != b"\n":  # left by a writer that was killed
                data = b"\n" + data
            try:
                if file.write(data) != len(data):
                    raise OSError("the disk has no room for it")
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise
    except OSError as error:
        message = f"cannot write the ledger: {error.strerror or error}"
        raise WorkbenchError(Diagnostic(message, "Free space, or allow writing there.", file=str(path))) from None


def _take(entries: dict[str, Entry], event: Mapping[str, Any]) -> None:
    """Lay one event over the entries. Raises for what is none."""
    entry_id = _TEXT.validate_python(event["id"])
    if event["event"] == "kept":
        if entry_id in entries:
            raise ValueError(f"the prediction '{entry_id}' exists already")
        entries[entry_id] = _entry(entry_id, event)
        return
    if entry_id not in entries:
        raise ValueError(f"no earlier line has a prediction '{entry_id}'")
    entries[entry_id] = replace(entries[entry_id], **dict(_of_event(event)))


def _of_event(event: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    match event["event"]:
        case "confirmed":
            yield "confirmed", _CONFIRMED.validate_python(event["confirmed"])
        case "came":
            yield "came", _CAME.validate_python(event["came"])
        case "dropped":
            yield "dropped", True
        case other:
            raise ValueError(f"there is no event '{other}' here")


def _entry(entry_id: str, event: Mapping[str, Any]) -> Entry:
    stored = event["prediction"]
    why, bound_by, holds = (
        _TEXT.validate_python(stored.get(name, "")) for name in ("why", "bound_by", "interval_holds")
    )
    prediction = Prediction(
        changes=tuple(change_of(change) for change in stored["changes"]),
        trust=Trust(stored["trust"]),
        time_s=_NUMBER.validate_python(stored["time_s"]),
        speedup=_NUMBER.validate_python(stored["speedup"]),
        interval=_INTERVAL.validate_python(stored["interval"]),
        why=why,
        bound_by=bound_by,
        interval_holds=holds,
    )
    return Entry(
        entry_id,
        _TEXT.validate_python(event["at"]),
        _TEXT.validate_python(event.get("project", "")),
        _BASE.validate_python(event["base"]),
        prediction,
        _EXPECTED.validate_python(event.get("expected", ())),
    )


def _damaged(path: Path, line: int, why: str) -> Diagnostic:
    hint = "The line was left out, and stays in the file."
    return Diagnostic(f"a line of the ledger cannot be read: {why}", hint, Severity.WARNING, str(path), line)
