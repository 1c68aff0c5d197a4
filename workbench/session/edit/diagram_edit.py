"""Edits a model through its drawing: several steps in its text that one undo reverts."""

from collections.abc import Mapping
from typing import Any

from workbench.api.model_diagrams import DiagramChange, DiagramEditor, DocumentStep
from workbench.formats import yaml_edit
from workbench.model.diagnostic import WorkbenchError, has_errors
from workbench.predict.kinds import parse_model
from workbench.session.edit.model_document import ModelDocument


def editor_of(document: ModelDocument) -> DiagramEditor | None:
    """The editor of the model's drawings; None if its kind has none."""
    kind = document.model_kind
    return kind.drawing() if kind and kind.drawing else None


def data_of(document: ModelDocument) -> Mapping[str, Any]:
    """The document as plain data, as written."""
    data = document.marked.data if document.marked else {}
    return data if isinstance(data, Mapping) else {}


def changed(text: str, change: DiagramChange) -> str:
    """A model's text with a change. WorkbenchError if the text cannot be edited that way."""
    for step in change.steps:
        text = _stepped(text, step)
    return text


def _stepped(text: str, step: DocumentStep) -> str:
    if step.value is None:
        return yaml_edit.remove_item(text, step.path)
    if step.inserted:
        return yaml_edit.insert_item(text, step.path[:-1], int(step.path[-1]), step.value)
    return yaml_edit.set_value(text, step.path, step.value)


def apply_change(document: ModelDocument, change: DiagramChange) -> None:
    """Apply a change as one undo step. WorkbenchError, with the model unchanged, if the result has errors."""
    kind = document.model_kind
    assert kind is not None
    text = changed(document.text, change)
    _, problems = parse_model(kind, text, str(document.path), document.platforms)
    if has_errors(problems) and not document.errors:
        raise WorkbenchError(*(d for d in problems if has_errors([d])))
    document.apply(change.title, lambda _: text)
