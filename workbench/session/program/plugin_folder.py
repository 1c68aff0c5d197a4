"""A plugin's own folder: created, and checked without installation."""

import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import EntryPoint
from importlib.resources import files
from pathlib import Path
from string import Template

from workbench.analysis.knowledge import load_knowledge
from workbench.api.faults import GROUP
from workbench.formats.platform_file import load_platform
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.program.loaded_plugin import LoadedPlugin
from workbench.session.program.plugins import Brought, Plugins, load_plugin
from workbench.system.files import read_file, write_files


def begin_plugin(folder: Path) -> Sequence[Path]:
    """Write a plugin with one metric and one rule, named after its folder. WorkbenchError if the folder exists or its
    name does not give a valid package name."""
    package = re.sub(r"[\s.-]+", "_", folder.name).lower()
    if not package.isidentifier() or not package.isascii():
        hint = "Choose a name of letters, digits and hyphens, as in my-plugin."
        raise WorkbenchError(Diagnostic(f"'{folder.name}' cannot be the name of a package", hint, file=str(folder)))
    if folder.exists():
        raise WorkbenchError(Diagnostic("this folder exists", "Name a new one.", file=str(folder)))
    skeleton = files("workbench.resources").joinpath("plugin")
    names = {"pyproject.toml": Path(), "package.py": Path(package, "__init__.py"), "rules.yaml": Path(package)}
    written = {}
    for name, place in names.items():
        text = Template(skeleton.joinpath(name).read_text("utf-8"))
        path = folder / (place if place.suffix else place / name)
        written[path] = text.substitute(package=package, distribution=package.replace("_", "-")).encode()
    try:
        (folder / package).mkdir(parents=True)
    except OSError as error:
        raise WorkbenchError(Diagnostic(f"cannot make this folder: {error.strerror}", file=str(folder))) from None
    write_files(written)
    return list(written)


def check_plugins(folder: Path, installed: Plugins) -> tuple[Sequence[LoadedPlugin], Sequence[Diagnostic]]:
    """Load the plugins that a folder's pyproject.toml names without installing them; their code runs. Also returns the
    problems of their templates and rules. WorkbenchError if the folder names no plugin."""
    about = folder / "pyproject.toml"
    try:
        document = tomllib.loads(read_file(about).decode())
        points = document["project"]["entry-points"][GROUP]
        entry_points = [EntryPoint(name, value, GROUP) for name, value in points.items()]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WorkbenchError(Diagnostic(f"this is not TOML: {error}", file=str(about))) from None
    except (KeyError, TypeError, AttributeError):
        hint = f'Name its module under [project.entry-points."{GROUP}"], as in: my_plugin = "my_plugin".'
        raise WorkbenchError(Diagnostic("this names no plugin", hint, file=str(about))) from None
    other_plugins = [plugin for plugin in installed.loaded if plugin.name not in points]
    sys.path[:0] = [str(folder / "src"), str(folder)]
    loaded = [load_plugin(point, str(folder), "", other_plugins) for point in entry_points]
    problems = [problem for _, brought in loaded for problem in _problems(brought, installed)]
    return [plugin for plugin, _ in loaded], problems


def _problems(brought: Brought, installed: Plugins) -> Iterator[Diagnostic]:
    """The problems of the documents that a plugin brings, read with its own port kinds and metrics."""
    port_kinds = {**installed.port_kinds, **brought.get("port_kinds", {})}
    for platform in brought.get("platforms", {}).values():
        yield from load_platform(platform.template, port_kinds)[1]
    metrics = {**installed.metrics, **brought.get("metrics", {})}
    for rules in brought.get("rules", {}).values():
        yield from load_knowledge([rules.path], metrics.values())[1]
