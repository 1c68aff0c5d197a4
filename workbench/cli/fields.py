"""`workbench fields`: every field of the documents, from the schemas that check them."""

import argparse

from workbench.cli.opened import Opened
from workbench.cli.output import DONE, print_json
from workbench.model.diagnostic import Diagnostic, WorkbenchError, near
from workbench.session.edit.fields import NAMES, reference, schemas


def run_fields(arguments: argparse.Namespace, workbench: Opened) -> int:
    if arguments.document not in (None, *NAMES):
        hint = near(arguments.document, NAMES, "Documents are")
        raise WorkbenchError(Diagnostic(f"there is no document '{arguments.document[:80]}'", hint))
    names = [arguments.document] if arguments.document else list(NAMES)
    if arguments.json:
        print_json({file: schema for name in names for file, schema in schemas(name).items()})
    else:
        print(reference(names), end="")
    return DONE
