"""`workbench plugins`: what is loaded, from where, and what failed to load and why."""

from __future__ import annotations

import argparse

from workbench.cli.opened import Opened
from workbench.cli.output import DONE, print_json
from workbench.model.text import table


def run_plugins(arguments: argparse.Namespace, workbench: Opened) -> int:
    loaded = workbench.plugins.loaded
    if arguments.json:
        print_json(
            {
                "plugins": [
                    {"name": p.name, "origin": p.origin, "version": p.version, "hooks": list(p.hooks), "error": p.error}
                    for p in loaded
                ]
            }
        )
    else:
        print(table((p.name, p.origin, p.error or ", ".join(p.hooks)) for p in loaded))
    return DONE
