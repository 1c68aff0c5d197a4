"""`workbench plugins`: what is loaded, from where, and what failed to load and why."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from workbench.cli.opened import Opened
from workbench.cli.output import DONE, print_json
from workbench.model.text import table

_SLOW_S = 0.5


def run_plugins(arguments: argparse.Namespace, workbench: Opened) -> int:
    loaded = workbench.plugins.loaded
    if arguments.json:
        print_json({"plugins": list(map(asdict, loaded))})
    else:
        print(table((p.name, p.origin, p.error or ", ".join(p.hooks)) for p in loaded))
        for plugin in loaded:
            if plugin.overrides:
                print(f"{plugin.name} takes the place of: {', '.join(plugin.overrides)}")
            if plugin.load_s >= _SLOW_S:
                print(f"{plugin.name} takes {plugin.load_s:.1f} s to load")
    return DONE
