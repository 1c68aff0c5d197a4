"""Changes of a model by its drawing: several steps in its text, taken back as one."""

from collections.abc import Mapping
from typing import Any

from workbench.api.model_diagrams import DiagramChange, DiagramEditor, DocumentStep
from workbench.formats import yaml_edit
from workbench.model.diagnostic import WorkbenchError, has_errors
from workbench.predict.kinds import parse_model
from workbench.session.edit.model_document import ModelDocument


def editor_of(document: ModelDocument) -> DiagramEditor | None:
    """What edits the model by its drawings; None where its kind is not edited so."""
    kind = document.model_kind
    return kind.drawing() if kind and kind.drawing else None


def data_of(document: ModelDocument) -> Mapping[str, Any]:
    """The document as it was written."""
    data = document.marked.data if document.marked else {}
    return data if isinstance(data, Mapping) else {}


def changed(text: str, change: DiagramChange) -> str:
    """A model's text with a change. WorkbenchError where the text cannot be edited so."""
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
    """Make a change that one undo takes back. WorkbenchError, with the model as it was, where it would be left with
    errors."""
    kind = document.model_kind
    assert kind is not None
    text = changed(document.text, change)
    _, problems = parse_model(kind, text, str(document.path), document.platforms)
    if has_errors(problems) and not document.errors:
        raise WorkbenchError(*(d for d in problems if has_errors([d])))
    document.apply(change.title, lambda _: text)
