"""What the program answers: the JSON document of a command, and the diagnostic with which a call fails."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from workbench.cli.main import main
from workbench.model.diagnostic import Diagnostic, WorkbenchError


def document_of(capsys: pytest.CaptureFixture[str], words: Sequence[str], exit_code: int = 0) -> Any:
    """What a command with `--json` prints; it ends with this exit code."""
    assert main(list(words)) == exit_code
    return json.loads(capsys.readouterr().out)


def refusal(call: Callable[..., object], *arguments: Any, **named: Any) -> Diagnostic:
    """The one diagnostic of the error that a call ends with."""
    with pytest.raises(WorkbenchError) as caught:
        call(*arguments, **named)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic
