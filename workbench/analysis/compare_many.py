"""Compares two to twenty runs in one table: their differing settings first, then the times compared with the first
run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.analysis.came_true import work_of
from workbench.analysis.equal_work import LETTERS
from workbench.api.results import Analysis, StateMetrics
from workbench.model.blocks import Side
from workbench.model.ledger import Work
from workbench.model.pragma import Category
from workbench.model.run import Manifest, Run
from workbench.model.text import count_text, counted, faster_text, listed, percent_text, ratio_text, time_text

MOST_RUNS = len(LETTERS)
Value = int | float | str


@dataclass(frozen=True)
class ComparedRun:
    """One of several compared runs. `values` holds its values of the differing settings, by name. `states` are the
    states of the host's main block, each with category and seconds; `change` is the state that differs most from the
    first run's, with the seconds. `speedup` is relative to the first run, None if one of the two did not finish.
    `predicted_s` is its predicted time; `base` says whether others were predicted from it."""

    letter: str
    name: str
    path: Path | None
    values: Mapping[str, Value]
    time_s: float
    speedup: float | None
    states: tuple[tuple[str, Category | None, float], ...]
    change: tuple[str, float] | None
    work: Work
    same_output: bool | None
    predicted_s: float | None = None
    base: bool = False

    @property
    def error(self) -> float | None:
        """The relative error of the prediction: measured time over predicted time, minus 1."""
        return self.time_s / self.predicted_s - 1 if self.predicted_s else None


@dataclass(frozen=True)
class ManyRuns:
    """The runs, and the names of the differing values: settings and parameters, then sources and the rest."""

    runs: tuple[ComparedRun, ...]
    differ: tuple[str, ...]

    @property
    def by_setting(self) -> str:
        """The numeric setting that is the only difference between the runs; "" if there is none."""
        name = self.differ[0] if len(self.differ) == 1 else ""
        return name if name and all(isinstance(run.values[name], int | float) for run in self.runs) else ""


def compare_many(
    runs: Sequence[tuple[Run, Analysis]], predicted_s: Mapping[str, tuple[float | None, bool]] | None = None
) -> ManyRuns:
    """Compare each run with the first. `predicted_s` maps a run's folder to its predicted time and to whether other
    runs were predicted from it."""
    predictions, first = predicted_s or {}, runs[0]
    values = different_values([run.manifest for run, _ in runs])
    rows = []
    for letter, (run, analysis), run_values in zip(LETTERS, runs, values, strict=False):
        complete = run.complete and first[0].complete and run.time_s and first[0].time_s
        outputs = [compared.manifest.stdout_sha256 for compared in (run, first[0])]
        time_s, base = predictions.get(str(run.path), (None, False))
        rows.append(ComparedRun(
            letter, run.path.name if run.path else run.manifest.name, run.path, run_values, run.time_s,
            first[0].time_s / run.time_s if complete else None, _states(analysis), _most_changed(first[1], analysis),
            Work.EQUAL if run is first[0] else work_of(first[0], run),
            outputs[0] == outputs[1] if complete and all(outputs) else None, time_s, base,
        ))  # fmt: skip
    return ManyRuns(tuple(rows), tuple(values[0]) if values else ())


def different_values(manifests: Sequence[Manifest]) -> list[dict[str, Value]]:
    """For each run its values of the differing items: settings and parameters, sources, and the way it was run."""
    firsts = {one.project: one.sources for one in reversed(manifests)}  # those of other projects are other ones anyway
    every: list[dict[str, Value]] = []
    for one in manifests:
        first = firsts[one.project]
        changed = [name for name in {**first, **one.sources} if first.get(name) != one.sources.get(name)]
        every.append({
            **one.parameters, **one.settings,
            "sources": listed(changed) if changed else "as the first",
            "changes": "; ".join(one.changes) or "none",
            "project": Path(one.project).name.removesuffix(".workbench.yaml") or one.name, "platform": one.platform,
            "card": "simulated" if one.simulated else "machine",
            "host time": "counted" if one.deterministic else "measured",
            "records": "traced" if one.traced else "profile",
        })  # fmt: skip
    names = [name for name in dict.fromkeys(n for one in every for n in one) if len({o.get(name) for o in every}) > 1]
    return [{name: one.get(name, "none") for name in names} for one in every]


def _main_states(analysis: Analysis) -> tuple[StateMetrics, ...]:
    hosts = analysis.side(Side.HOST)
    return tuple(hosts[0].states) if hosts else ()


def _states(analysis: Analysis) -> tuple[tuple[str, Category | None, float], ...]:
    return tuple((s.state.name, s.state.category, s.time_s) for s in _main_states(analysis) if s.time_s)


def _most_changed(first: Analysis, other: Analysis) -> tuple[str, float] | None:
    """The host state with the largest time difference, and the difference (s)."""
    before, after = ({s.state.name: s.time_s for s in _main_states(one)} for one in (first, other))
    changes = {name: after.get(name, 0.0) - before.get(name, 0.0) for name in {**before, **after}}
    name = max(changes, key=lambda one: abs(changes[one]), default="")
    return (name, changes[name]) if name and changes[name] else None


def value_text(value: Value) -> str:
    """A value as tables print it."""
    return count_text(value) if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else value


def differ_words(many: ManyRuns) -> str:
    """The differences between the runs, in a sentence."""
    number = counted(len(many.runs), "run")
    if not many.differ:
        return f"{number} of the same program with the same settings."
    alone = " alone" if len(many.differ) == 1 else ""
    return f"{number}, which differ in {listed(list(many.differ))}{alone}."


def fastest_words(many: ManyRuns, name_of: Callable[[ComparedRun], str] = lambda run: run.letter) -> str:
    """The fastest run with its speedup, and the runs with unequal work."""
    complete = [run for run in many.runs if run.speedup]
    if len(complete) < 2:
        return "There are no two complete runs to compare."
    best = max(complete, key=lambda run: run.speedup or 0.0)
    first = many.runs[0]
    than = "" if best is first else f": {faster_text(best.speedup or 1.0)} than {name_of(first)}"
    sentence = f"{name_of(best)} is the fastest{than}."
    unequal = [name_of(run) for run in many.runs if run.work is Work.UNEQUAL]
    return f"{sentence} {listed(unequal)} did other work than {name_of(first)}." if unequal else sentence


def most_words(run: ComparedRun) -> str:
    """The state that differs most: `−10.2 ms wait_recv`."""
    if run.change is None:
        return ""
    name, more_s = run.change
    return f"{'+' if more_s > 0 else '−'}{time_text(abs(more_s))} {name}"


def error_text(run: ComparedRun) -> str:
    """The error of the predicted time; `base` for the run that others were predicted from."""
    if run.base:
        return "base"
    if run.error is None:
        return ""
    return f"{'+' if run.error > 0 else '−'}{percent_text(abs(run.error))}" if abs(run.error) >= 5e-5 else "0"


def many_rows(many: ManyRuns) -> list[tuple[str, ...]]:
    """The table of all runs as text, column heads first."""
    predicted = any(run.predicted_s or run.base for run in many.runs)
    heads = ["", *many.differ, "run", "time", "speedup", *(["predicted", "error"] if predicted else []), "differs most"]
    rows = [tuple(heads)]
    for run in many.runs:
        row = [run.letter, *(value_text(run.values[name]) for name in many.differ), run.name, time_text(run.time_s, 4)]
        row.append(ratio_text(run.speedup) if run.speedup else "–")
        row += [time_text(run.predicted_s) if run.predicted_s else "", error_text(run)] if predicted else []
        rows.append((*row, most_words(run)))
    return rows


def many_json(many: ManyRuns) -> dict[str, Any]:
    """The runs as `workbench compare --json` prints them, times in seconds."""
    return {
        "differ": list(many.differ),
        "runs": [
            {
                "letter": run.letter, "run": str(run.path or run.name), "values": dict(run.values),
                "time_s": run.time_s, "speedup": run.speedup, "work": run.work.value, "same_output": run.same_output,
                "states": {name: time_s for name, _, time_s in run.states},
                "differs_most": {"state": run.change[0], "change_s": run.change[1]} if run.change else None,
                "predicted_s": run.predicted_s, "error": run.error,
            }
            for run in many.runs
        ],
    }  # fmt: skip
