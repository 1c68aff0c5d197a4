"""Ctrl+click, F12: where the name under the pointer or the cursor is defined, found in the background."""

from collections.abc import Callable
from pathlib import Path

from workbench.api.job import Job
from workbench.api.source.lines import reading_typed
from workbench.api.window import Context
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.typed_check import typed_bytes
from workbench.model.scan import Definition


def find_definition(
    context: Context, editor: CodeEditor, show: Callable[[Definition], None], say: Callable[[str], None]
) -> None:
    """Call `show` with where the name at the cursor is defined; where it is not known, `say` so."""
    workspace, cursor, path = context.workspace, editor.textCursor(), editor.path
    line, name = cursor.blockNumber() + 1, editor.name_at(cursor).selectedText()
    column = len(cursor.block().text()[: cursor.positionInBlock()].encode()) + 1
    if workspace is None or not name:
        say("there is no name here" if workspace else "only sources of a project have definitions")
        return
    data = typed_bytes(context)

    def work(job: Job) -> Definition | None:
        with reading_typed(data()):
            return workspace.definition(path, line, column, job)

    def done(definition: Definition | None) -> None:
        if definition is None:
            say(f"'{name}' has no known definition")
        elif (Path(definition.file), definition.line) == (path, line):
            say(f"'{name}' is defined here")
        else:
            show(definition)

    say(f"searching for the definition of '{name}'")
    context.background.start_job("definition", work, done, context.failed)
