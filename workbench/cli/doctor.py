"""`workbench doctor`: what this machine has and lacks, where things are kept; `workbench desktop`: the menu's entry."""

import argparse
import platform

from workbench import __version__
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, print_json
from workbench.model.diagnostic import Diagnostic
from workbench.model.text import table
from workbench.run.machine import Requirement, libraries, machine_report
from workbench.session.program import desktop
from workbench.session.program.journal import log_dir
from workbench.system.cache import cache_bytes, cache_dir, clear_cache
from workbench.system.folders import config_dir


def run_doctor(arguments: argparse.Namespace, workbench: Opened) -> int:
    if arguments.clear_cache:
        freed_bytes = clear_cache()
        if arguments.json:
            print_json({"cache": str(cache_dir()), "freed_bytes": freed_bytes})
        else:
            print(f"{cache_dir()}: {freed_bytes / 1e6:.0f} MB deleted")
        return DONE
    parts = machine_report()
    packages = libraries()
    folders = {"log": str(log_dir()), "preferences": str(config_dir()), "cache": str(cache_dir())}
    ready = not any(part.needed and isinstance(part.state, Diagnostic) for part in parts) and all(packages.values())
    if arguments.json:
        print_json(
            {
                "version": __version__,
                "system": platform.platform(),
                "ready": ready,
                "tools": [tool_json(part) for part in parts],
                "libraries": packages,
                "folders": folders,
                "cache_bytes": cache_bytes(),
            }
        )
        return DONE if ready else FAILED
    print(f"RC Workbench {__version__} on {platform.platform()}\n")
    print(table(_row(part) for part in parts))
    print()
    print(table((f"{name} folder", path) for name, path in folders.items()))
    print(f"The cache holds {cache_bytes() / 1e6:.0f} MB; `workbench doctor --clear-cache` empties it.")
    for part in parts:
        if isinstance(part.state, Diagnostic):
            print(f"\n{part.state.message}.\n    {part.state.hint}")
    lacking = [name for name, number in packages.items() if not number]
    if lacking:
        print(f"\nPython packages are missing.\n    Install them with `pip install {' '.join(lacking)}`.")
    print("\nEverything needed is here." if ready else "\nNot everything that is needed is here.")
    return DONE if ready else FAILED


def _row(part: Requirement) -> tuple[str, ...]:
    if isinstance(part.state, Diagnostic):
        return "missing" if part.needed else "none", part.purpose, "" if part.needed else "(not needed)", ""
    return "ok", part.purpose, part.state.version, str(part.state.path)


def tool_json(part: Requirement) -> dict[str, object]:
    """One tool: `install` is the command where it lacks, else None; `message` says what for."""
    about = {"name": part.name, "purpose": part.purpose, "needed": part.needed}
    state = part.state
    if isinstance(state, Diagnostic):
        return {**about, "version": None, "path": None, "message": state.message, "install": state.command}
    return {**about, "version": state.version, "path": str(state.path), "message": None, "install": None}


def run_desktop(arguments: argparse.Namespace, workbench: Opened) -> int:
    changed = desktop.remove() if arguments.remove else desktop.install()
    if arguments.json:
        print_json({"removed" if arguments.remove else "installed": [str(path) for path in changed]})
    else:
        for path in changed:
            print(f"{'removed' if arguments.remove else 'installed'}: {path}")
    return DONE
