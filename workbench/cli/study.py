"""`workbench study`: a sweep of runs, on this machine's cores or an engine, measured beside predicted."""

import argparse
from contextlib import AbstractContextManager

from workbench.api.job import Job
from workbench.api.studies import Status, StudyState, point_json
from workbench.cli.asking import ask_trust
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, as_json, print_diagnostics, print_json
from workbench.cli.progress import progress
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.predict.formulas import Evaluation
from workbench.predict.kinds import load_model
from workbench.predict.page import results_page
from workbench.predict.shown import results_of
from workbench.session.make.engines import Engine, dask, local, submitit
from workbench.session.make.study import Study, failures, load_study, run_point, run_study
from workbench.session.open.opening import open_workspace
from workbench.session.program.files import write_result_table, write_result_text
from workbench.session.program.plugins import Plugins


def run_study_command(arguments: argparse.Namespace, workbench: Opened) -> int:
    if arguments.jobs < 0:
        raise WorkbenchError(Diagnostic(f"{arguments.jobs} jobs cannot run at once", "Give 1 or more."))
    study, problems = load_study(arguments.study, workbench.plugins)
    print_diagnostics(problems)
    if arguments.point:
        state = run_point(study, arguments.point, workbench.plugins, Job())
        if arguments.json:
            print_json(point_json(study.point(arguments.point), state, study.folder))
        return FAILED if state.status is Status.FAILED else DONE
    for project in study.model.projects:
        ask_trust(open_workspace(study.path.parent / project, workbench.plugins))
    with progress() as watch:
        job = Job(watch)
        with _engine(arguments, study, job) as engine:
            outcome = run_study(study, workbench.plugins, engine, job, again=arguments.again)
    failed = failures(outcome)
    print_diagnostics(failed)
    if arguments.html:
        write_result_text(arguments.html, _page(study, workbench.plugins))
    if arguments.csv:
        write_result_table(arguments.csv, _table(study, outcome))
    if arguments.json:
        points = [point_json(point, outcome.of(point), study.folder) for point in outcome.points]
        print_json({"study": study.model.name, "folder": str(study.folder), "points": points,
                    "diagnostics": as_json((*problems, *failed))})  # fmt: skip
    else:
        print(_text(study, outcome, workbench.plugins))
    return FAILED if failed else DONE


def _engine(arguments: argparse.Namespace, study: Study, job: Job) -> AbstractContextManager[Engine]:
    if arguments.engine == "dask":
        return dask(arguments.scheduler, study.alive)
    if arguments.engine == "submitit":
        return submitit(study.jobs, study.alive, study.model.submitit, arguments.jobs)
    return local(arguments.jobs, job)


def _page(study: Study, plugins: Plugins) -> str:
    """The study as a page, with what the window shows of it."""
    file, problems = load_model(plugins.model_kinds["study"], study.path, {})
    if file is None:
        raise WorkbenchError(*problems)
    return results_page(study.model.title or study.model.name, study.path.name, results_of(Evaluation(file)))


def _table(study: Study, state: StudyState) -> list[list[str | float]]:
    """Every point in a row, times in seconds; what is not known is empty."""
    names = [*study.model.vary]
    rows: list[list[str | float]] = [
        ["project", "platform", "changes", *names, "measured_s", "predicted_s", "error", "status", "note", "run"]
    ]
    for point in state.points:
        point_values = point_json(point, state.of(point), study.folder)
        values = [point.settings[name] for name in names]
        rest = (point_values[name] for name in ("time_s", "predicted_s", "error", "status"))
        note = point_values["failed"] or point_values["note"] or point_values["why"]
        cells = [point.project, point.platform, point.changes, *values, *rest, note, point_values["run"]]
        rows.append(["" if cell is None else cell for cell in cells])
    return rows


def _text(study: Study, state: StudyState, plugins: Plugins) -> str:
    """The table of points, as the kind of model says it."""
    kind = plugins.model_kinds["study"]
    file, _ = load_model(kind, study.path, {})
    said = kind.answer(Evaluation(file)).text if file and kind.answer else ""
    return f"{said}\n{state.count(Status.DONE)} measured, in {study.folder}"
