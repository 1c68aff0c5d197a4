"""Kinds of models that predict without a run, as plugins hand them over."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what only types need: a plugin that is loaded, and not used, costs next to nothing
    from argparse import ArgumentParser, Namespace

    from workbench.api.host_probe import HostProbe, HostRegion
    from workbench.api.job import Job
    from workbench.api.languages import FileKind
    from workbench.api.model_diagrams import DiagramEditor
    from workbench.api.models import Completed, ModelDocument, ModelReading, ModelValues, Values
    from workbench.api.predictions import Answer, Cell, LayerModel, Results, RunComparison
    from workbench.model.diagnostic import Diagnostic
    from workbench.model.run import Run


@dataclass(frozen=True)
class Printed:
    """Tables that a paper prints of models that come with a kind: `file` (YAML) lists their cells, and `value` gives
    the number of one, in SI units. `word` stands before a table's name ("Table")."""

    file: Path
    value: Callable[[ModelValues[Any], Cell], float]
    word: str = ""


@dataclass(frozen=True)
class Question:
    """A question that one kind of model answers: `workbench predict KIND MODEL --OPTION`.

    `asked` is its option as it is told ("--kernel FILE"), `options` the arguments' names, the one that asks it first.
    """

    asked: str
    options: tuple[str, ...]
    add: Callable[[ArgumentParser], None]
    answer: Callable[[ModelValues[Any], Namespace], Answer]


@dataclass(frozen=True)
class Begun:
    """Other files than models, of which `workbench predict KIND FILE` makes a model by itself: `text` is the document,
    as it would stand beside the file. `add` tells the options that it takes, which are `options` by their arguments'
    names."""

    files: tuple[FileKind, ...]
    options: tuple[str, ...]
    add: Callable[[ArgumentParser], None]
    text: Callable[[Path, Namespace], str]

    @property
    def suffixes(self) -> tuple[str, ...]:
        return tuple(suffix for kind in self.files for suffix in kind.suffixes)


class _Every(Container[str]):
    def __contains__(self, name: object) -> bool:
        return True


#: Whatever name is asked for: a `ModelKind` whose outputs should all be large, or may all be infinite.
EVERY: Container[str] = _Every()


@dataclass(frozen=True)
class ModelKind:
    """A kind of model that predicts without a run: `NAME.KIND.yaml`, `workbench predict KIND`.

    `document` gives its schema, a `workbench.api.models.ModelDocument` with fields of its own. `outputs` computes every
    number that the model comes to, by name, from its values; these may be arrays, so that sweeps, draws, solving and
    sensitivity come of themselves. `goal` is the output to solve for where none is named, by the option `solve_option`;
    outputs in `larger` should be large, all others small; those in `unbounded` may be infinite. A sweep also has the
    Pareto front of its output and of `against`, where a model has that. `models` is a folder of models that come with
    it, `starter` the fields of a model to begin with.

    The rest is for kinds that have more to say than their outputs. `check` looks at a document before its formulas are
    read, and completes it. `answer` is what `workbench predict` says, `results` what the window shows, `notes` how a
    result is to be read. `readings` are those that every model of the kind has besides its own, asked for by
    `reading_option` too; `begun` is of files that models are made of. `prepare` gives what takes its time before a
    model can be computed, and is kept then; None where it was done. `compare` holds a model against a run, `of_run`
    gives the document of one that is calibrated from a run and what makes it doubtful (WorkbenchError where the run
    tells too little), `of_host` measures a region of a project's host while it runs, for the document of a model,
    `layers` is of models that are memory layers, `drawing` edits models by their diagrams. `write_best` searches, and
    writes what is best into a folder as a copy of the model's sources; it gives the copy's model, what was written, and
    what is left to do.
    """

    name: str
    title: str
    document: Callable[[], type[ModelDocument]]
    outputs: Callable[[ModelValues[Any]], Mapping[str, Values]]
    goal: str
    larger: Container[str] = frozenset()
    against: str = ""
    unbounded: Container[str] = frozenset()
    models: Path | None = None
    label: str = ""  # "RATSS", for lists; the name where it is empty
    starter: str = ""
    solve_option: str = "--target"
    check: Callable[[ModelReading[Any]], Completed] | None = None
    answer: Callable[[ModelValues[Any]], Answer] | None = None
    results: Callable[[ModelValues[Any]], Results] | None = None
    notes: Callable[[ModelValues[Any]], Sequence[Diagnostic]] = lambda values: ()
    compare: Callable[[ModelValues[Any], Run], RunComparison] | None = None
    of_run: Callable[[Run], tuple[str, Sequence[Diagnostic]]] | None = None
    of_host: Callable[[HostRegion], HostProbe] | None = None
    layers: Callable[[], LayerModel] | None = None
    drawing: Callable[[], DiagramEditor] | None = None
    printed: Printed | None = None
    readings: tuple[str, ...] = ()
    reading_option: str = "--reading"
    begun: Begun | None = None
    prepare: Callable[[ModelValues[Any]], Callable[[Job], object] | None] = lambda values: None
    write_best: Callable[[ModelValues[Any], Path, Job], tuple[Path, str, str]] | None = None
    questions: tuple[Question, ...] = ()
