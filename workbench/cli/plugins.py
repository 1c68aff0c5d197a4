"""`workbench plugins`: what is loaded, from where, and what failed to load and why; new plugins, checks of plugins, and
the names that they may import."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, as_json, print_diagnostics, print_json
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.text import table
from workbench.session.program.loaded_plugin import LoadedPlugin

_SLOW_S = 0.5


def run_list(arguments: argparse.Namespace, workbench: Opened) -> int:
    loaded = workbench.plugins.loaded
    if arguments.json:
        print_json({"plugins": list(map(asdict, loaded))})
    else:
        print(table((p.name, p.origin, p.error or ", ".join(map(_count, p.brings.items()))) for p in loaded))
        for plugin in loaded:
            if plugin.overrides:
                print(f"{plugin.name} overrides: {', '.join(plugin.overrides)}")
            if plugin.load_s >= _SLOW_S:
                print(f"{plugin.name} takes {plugin.load_s:.1f} s to load")
    return DONE


def run_info(arguments: argparse.Namespace, workbench: Opened) -> int:
    loaded = workbench.plugins.loaded
    named = [plugin for plugin in loaded if plugin.name == arguments.name]
    if not named:
        hint = f"The loaded ones are {', '.join(plugin.name for plugin in loaded)}."
        raise WorkbenchError(Diagnostic(f"no plugin is named '{arguments.name}'", hint))
    return _print(named, (), arguments.json)


def run_check(arguments: argparse.Namespace, workbench: Opened) -> int:
    from workbench.session.program.plugin_folder import check_plugins

    return _print(*check_plugins(arguments.folder, workbench.plugins), arguments.json)


def run_new(arguments: argparse.Namespace, workbench: Opened) -> int:
    from workbench.session.program.plugin_folder import begin_plugin

    written = [str(path) for path in begin_plugin(arguments.folder)]
    if arguments.json:
        print_json({"written": written})
    else:
        print(*written, sep="\n")
        print(f"Check it with `workbench plugins check {arguments.folder}`.")
        print(f"Install it with `pip install -e {arguments.folder}`.")
    return DONE


def run_api(arguments: argparse.Namespace, workbench: Opened) -> int:
    from workbench.session.program.api_reference import api_json, api_page

    if arguments.json:
        print_json(api_json())
    else:
        print(api_page(), end="")
    return DONE


def _print(plugins: Sequence[LoadedPlugin], problems: Sequence[Diagnostic], as_document: bool) -> int:
    if as_document:
        print_json({"plugins": list(map(asdict, plugins)), "diagnostics": as_json(problems)})
    else:
        print("\n\n".join(map(_text, plugins)))
        print_diagnostics(problems)
    wrong = any(plugin.error for plugin in plugins) or any(p.severity is Severity.ERROR for p in problems)
    return FAILED if wrong else DONE


def _text(plugin: LoadedPlugin) -> str:
    rows = [
        ("name", f"{plugin.name} {plugin.version}".rstrip()),
        ("from", plugin.origin),
        ("load time", f"{plugin.load_s * 1e3:.0f} ms"),
        *((kind.replace("_", " "), ", ".join(names)) for kind, names in plugin.brings.items()),
    ]
    if plugin.overrides:
        rows.append(("overrides", ", ".join(plugin.overrides)))
    if plugin.error:
        rows.append(("error", plugin.error))
    return table(rows)


def _count(brought: tuple[str, Sequence[str]]) -> str:
    kind, names = brought
    words = kind.replace("_", " ")
    one = "query" if kind == "queries" else words.removesuffix("s")
    return f"{len(names)} {one if len(names) == 1 else words}"
