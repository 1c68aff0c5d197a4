"""What `workbench run --best` says of a run that has ended."""

from dataclasses import dataclass
from typing import Any

from workbench.analysis.ended import before_json, beside_words, best_json, best_of
from workbench.formats.run_folder import manifest_in
from workbench.model.run import Run
from workbench.model.text import capitalised
from workbench.session.keep.results import open_result, predicted, run_before
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import Plugins
from workbench.session.program.settings import value


@dataclass(frozen=True)
class Ended:
    """The best finding, and the run before: as lines to read, and for scripts."""

    lines: tuple[str, ...]
    document: dict[str, Any]


def ended_of(run: Run, workspace: Workspace, plugins: Plugins) -> Ended:
    """Analyse a run of a project, predict what its findings gain, and compare it with the one before."""
    assert run.path is not None
    opened = open_result(run.path, plugins, project=workspace.path)
    if opened.analysis.predictable and (budget_s := float(value("predict_s"))) > 0:
        opened, _ = predicted(opened, budget_s)
    path = run_before(run.path, workspace.run_folders())
    before = manifest_in(path) if path else None
    beside = beside_words(run.manifest, before, path.name if path else "")
    lines = (best_of(run.manifest, opened.analysis).text, capitalised(beside))
    document = best_json(opened.analysis) | {"before": before_json(run.manifest, before, str(path))}
    return Ended(tuple(filter(None, lines)), document)
