"""What the status bar says of the file in view."""

from workbench.api.languages import syntax_of
from workbench.gui.modes.source.editor import CodeEditor
from workbench.model.text import counted


def status_words(editor: CodeEditor) -> tuple[str, ...]:
    """Where the cursor is, how many pragmas the file has and lacks, whether it is saved, and the line's advice."""
    at = f"line {editor.line}, column {editor.textCursor().columnNumber() + 1}"
    state = "not saved" if editor.file.dirty else "read only" if editor.isReadOnly() else "saved"
    if syntax_of(editor.path) is None:
        return at, state
    pragmas, lacking = counted(len(editor.margin.pragmas), "pragma"), counted(len(editor.margin.lacking), "place")
    advice = editor.advice.of_line(editor.line)
    return at, f"{editor.path.name}: {pragmas}, {lacking} unmarked", state, *([advice.words] if advice else [])
