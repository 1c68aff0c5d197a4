"""Tries other values of a model's inputs beside the document; the document changes only on request."""

from collections.abc import Callable
from functools import partial

from workbench.api.predictions import Layer
from workbench.formats.units import UnitError
from workbench.formats.yaml_edit import set_value
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.predict.formulas import Evaluation
from workbench.predict.inputs import number
from workbench.predict.words import input_written
from workbench.session.edit.documents import Event
from workbench.session.edit.history import HistoryStep
from workbench.session.edit.model_document import ModelDocument

Layers = tuple[Layer, ...] | None


class WhatIf:
    """The tried values: `changes` are inputs with values other than the model's, `layers` the moved memory layers;
    `changed` follows both. Each step is in the document's history. `reading` is the chosen reading."""

    def __init__(self, document: ModelDocument, reading: Callable[[], str | None]) -> None:
        self._document, self._reading = document, reading
        self.changes: dict[str, float] = {}
        self.layers: Layers = None
        self.changed = Event()

    @property
    def any(self) -> bool:
        return bool(self.changes) or self.layers is not None

    def values(self) -> Evaluation | None:
        """The model with the tried values; None if there is none."""
        file = self._document.model_file
        return Evaluation(file, self.changes, self._reading()) if file else None

    def look_at(self, label: str, changes: dict[str, float], layers: Layers = None) -> None:
        """Try exactly these values; the model's own values are no changes."""
        if file := self._document.model_file:
            model_values = file.at({}, self._reading())
            changes = {name: value for name, value in changes.items() if value != model_values[name]}
        before = self.changes, self.layers
        if before != (changes, layers):
            do, undo = partial(self._show, changes, layers), partial(self._show, *before)
            self._document.history.do(HistoryStep(label, do, undo))

    def _show(self, changes: dict[str, float], layers: Layers) -> None:
        self.changes, self.layers = changes, layers
        self.changed.emit()

    def type(self, name: str, text: str) -> None:
        """Try a typed value of an input. WorkbenchError if it is not allowed."""
        file = self._document.model_file
        if file is None or name not in file.inputs:
            return
        try:
            value = number(text.strip(), file.unit(name))
        except UnitError as error:
            raise WorkbenchError(Diagnostic(error.message, error.hint)) from None
        file.check(name, value)
        self.look_at(f"try {name} {text.strip()}", {**self.changes, name: value})

    def take_back(self, name: str) -> None:
        """Try the model's own value of an input."""
        self.look_at(f"take {name} back", {other: value for other, value in self.changes.items() if other != name})

    def reset(self) -> None:
        """Try the model's own values and layers."""
        self.look_at("take the model's own values", {})

    def hold_to_model(self) -> None:
        """Remove tried values of inputs that the changed model no longer has."""
        if file := self._document.model_file:
            self.changes = {name: value for name, value in self.changes.items() if name in file.inputs}

    def keep(self) -> None:
        """Write the tried values into the model, in one undo step. WorkbenchError if its text cannot be edited that
        way."""
        file, document, before = self._document.model_file, self._document, self.changes
        if file is None or document.read_only:
            return
        old = new = document.text
        for name in before.keys() & file.model.inputs.keys():
            new = set_value(new, ("inputs", name, "value"), input_written(file, name, before[name]))

        def show(changes: dict[str, float], text: str) -> None:
            self.changes = changes
            document.type(text)

        do, undo = partial(show, {}, new), partial(show, before, old)
        document.history.do(HistoryStep("write the what-if into the model", do, undo))
