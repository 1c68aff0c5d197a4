"""What a form needs before it can be written: a trace, and the library of somebody else that writes it."""

from importlib import import_module
from typing import Any

from workbench.api import Diagnostic, Measured, WorkbenchError


def require_trace(measured: Measured) -> None:
    """WorkbenchError for a run without a trace."""
    if not measured.traced:
        raise WorkbenchError(
            Diagnostic("this run has no trace", "Run again with tracing on (`workbench run --trace`).",
                       file=str(measured.run.path) if measured.run.path else None)
        )  # fmt: skip


def library(name: str, form: str) -> Any:
    """A module that a form needs. WorkbenchError, with how to install it, where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        problem = f"writing {form} needs the Python package {name.split('.')[0]}, which is not installed"
        raise WorkbenchError(Diagnostic(problem, "Install it: pip install 'rc-workbench[formats]'.")) from None
