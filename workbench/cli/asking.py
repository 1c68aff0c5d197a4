"""The one question before a project's code is built and run."""

import sys
from functools import partial

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.open.trust import trust, trust_sentences, trust_state
from workbench.session.open.workspace import Workspace


def ask_trust(workspace: Workspace) -> None:
    """Building and running runs the project's code: asked on a terminal. In a script, where nobody can answer, the
    command itself is the answer, for this run and no other."""
    state = trust_state(workspace)
    if state.trusted:
        return
    show = partial(print, file=sys.stderr)
    show(f"Running {workspace.path.name} runs its code.")
    if not sys.stdin.isatty():
        show("This command trusts the project for this run.")
        return
    for sentence in trust_sentences(workspace, state):
        show(f"  {sentence}")
    show("Trust it? [y]es, as it is now; [m]y own project, whatever changes; [N]o: ", end="", flush=True)
    answer = sys.stdin.readline().strip().lower()
    if answer not in ("y", "yes", "m"):
        raise WorkbenchError(
            Diagnostic("this project is not trusted", "Nothing was built or run.", file=str(workspace.path))
        )
    trust(workspace, own=answer == "m")
