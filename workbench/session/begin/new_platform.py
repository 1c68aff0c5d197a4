"""Chooses the platform of a new project: a template in its folder, or one of a plugin; and finds a host API that no
template describes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.formats.platform_file import callee_name, load_platform
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, unknown_name
from workbench.model.platform import Platform
from workbench.model.scan import HostFile
from workbench.model.text import listed
from workbench.session.begin.new_choice import Choice, UnknownApi
from workbench.session.begin.new_entries import header_entries
from workbench.session.begin.project_text import Decision
from workbench.session.open.own_api import own_support
from workbench.session.open.project_path import PROJECT_SUFFIX
from workbench.session.program.plugins import Plugins
from workbench.system.files import read_file

_WORD = re.compile(r"\w+")
_TEMPLATE = re.compile(rb"^(transfer_tables|memories)\s*:|^\s+(entries|clocks|ports)\s*:", re.MULTILINE)
_NOT_FOUND = re.compile(r"'(.+\.h\w*)' file not found")
_MOST_HEADERS = 20


@dataclass
class Notes:
    decisions: list[Decision] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    broken: list[Diagnostic] = field(default_factory=list)  # diagnostics of templates in the folder that cannot be read
    apis: list[PlatformFound] = field(default_factory=list)  # APIs of plugins, each with an example board


@dataclass(frozen=True)
class PlatformFound:
    """A candidate platform. `calls` are the API's calls among the words of the host, in C++ with classes and
    namespaces; `lacks` gives the reason why it cannot be simulated."""

    key: str
    platform: Platform
    template: Path
    api: tuple[str, ...]
    lacks: tuple[Diagnostic, ...] = ()
    own: bool = False  # a template in the folder

    @property
    def estimated(self) -> bool:
        """Whether transfer times are estimates."""
        return any(table.estimated_within for table in self.platform.transfer_tables.values())

    def calls(self, words: Iterable[str]) -> list[str]:
        host_words = {*words, "operator"}
        return list(dict.fromkeys(name for name in self.api if host_words.issuperset(_WORD.findall(name))))


def find_platforms(
    plugins: Plugins, choice: Choice, root: Path, files: Sequence[str], notes: Notes
) -> list[PlatformFound]:
    """The candidate platforms: the templates among the folder's `files`, complete or not, then those of plugins that
    can be simulated. A template that the user named (by name or file) comes first, whatever its state."""
    own_templates = {name: root / name for name in files if _is_template(root / name)}
    brought = {name: support.template for name, support in plugins.platforms.items()}
    templates = own_templates | {name: path for name, path in brought.items() if name not in own_templates}
    if choice.platform and choice.platform not in templates:
        if not os.path.isfile(root / choice.platform):
            raise WorkbenchError(unknown_name("platform template", choice.platform, templates))
        templates[choice.platform] = root / choice.platform
    usable = []
    for key, template in templates.items():
        platform, problems = load_platform(template, plugins.port_kinds)
        if platform is None and key == choice.platform:
            raise WorkbenchError(*problems)
        if platform is None:
            notes.left_out[key] = f"a platform template, but: {problems[0].message}"
            notes.broken += problems
            continue
        lacks = _lacking(platform, template, plugins)
        entries = platform.host.entries
        if (
            key not in own_templates and key != choice.platform
        ):  # a program that opens the card may call common functions, such as `read`
            entries = tuple(e for e in entries if not (e.of or e.opens or e.condition))
        names = tuple(filter(None, (callee_name(entry.prototype) for entry in entries)))
        one = PlatformFound(key, platform, template, names, lacks, key in own_templates)
        if not lacks or key in own_templates or key == choice.platform:
            usable.append(one)
        elif plugins.platforms[key].board:
            notes.apis.append(one)
    return sorted(usable, key=lambda one: not (one.own or one.key == choice.platform) and one.estimated)


def _is_template(path: Path) -> bool:
    """Whether a document has the parts that only a platform template has."""
    has_suffix = path.suffix in (".yaml", ".yml") and not path.name.endswith(PROJECT_SUFFIX)
    return has_suffix and bool(_TEMPLATE.search(read_file(path)))


def _lacking(platform: Platform, template: Path, plugins: Plugins) -> tuple[Diagnostic, ...]:
    """What the target with the fewest missing items needs to simulate the platform."""
    try:
        support = own_support(platform, template, plugins.platforms)
    except WorkbenchError as error:
        return error.diagnostics
    lacking = [tuple(target.lacks(platform, support)) for target in plugins.targets.values() if target.simulated]
    return min(lacking, key=len, default=(Diagnostic("no plugin brings a target that simulates"),))


def say_platform(
    chosen: PlatformFound, host: Sequence[HostFile], platforms: Sequence[PlatformFound], notes: Notes
) -> None:
    calls = chosen.calls(word for file in host for word in file.words)
    api = f"({', '.join(chosen.api[:3])}, ...)" if chosen.api else "(it names none)"
    reason = f"the host calls {', '.join(calls[:3])}{' and others' if len(calls) > 3 else ''}" if calls else (
        f"the host calls no function of its API {api}" if host else "of the known platforms, it fits the top best"
    )  # fmt: skip
    tables = chosen.platform.transfer_tables.values()
    if chosen.own and any(point.source == "assumed" for table in tables for point in table.points):
        reason += "; its transfer times are assumed, not measured"
    other_keys = tuple(one.key for one in platforms if one is not chosen)
    notes.decisions.append(Decision("platform", chosen.key, reason, other_keys))
    if chosen.lacks:
        lacks = "; ".join(dict.fromkeys(one.message for one in chosen.lacks))
        hint = (
            f"Add it in Platform mode, or by hand; `workbench template check {chosen.template}` lists what is missing."
        )
        message = f"the platform template {chosen.key} cannot be simulated yet: {lacks}"
        notes.problems.append(Diagnostic(message, hint, Severity.WARNING, str(chosen.template)))


def say_unknown_api(
    chosen: PlatformFound, host: Sequence[HostFile], platforms: Sequence[PlatformFound], root: Path, plugins: Plugins,
    notes: Notes,
) -> UnknownApi | None:  # fmt: skip
    """The API that the host calls if it calls none of the platform's; adds a problem to the notes."""
    if not host or chosen.calls(word for file in host for word in file.words):
        return None
    notes.problems += notes.broken
    of_plugin = max(_without_board(host, root, notes), key=lambda api: len(api.calls), default=None)
    unknown = of_plugin or max(
        _undescribed(host, platforms, root, plugins), key=lambda api: len(api.calls), default=None
    )
    if unknown is None:
        hint = "Choose another platform, or describe yours beside the sources (`workbench template new`)."
        problem = f"the host calls no function of the platform {chosen.key}"
        notes.problems += _missing_headers(host, root, plugins)
        notes.problems.append(Diagnostic(problem, hint, Severity.WARNING))
        return None
    options = (f" --of {unknown.of}" if unknown.of else "") + (f" --header {unknown.header}" if unknown.header else "")
    command = f"`workbench template new {unknown.template}{options}`"
    message = f"the host calls {listed(unknown.calls)} of {unknown.file.name}, which no platform template describes"
    hint = f"Describe them, then run again: {command}"
    if of_plugin:
        message = f"the host calls {listed(unknown.calls)} of {unknown.of}, which is the API of many boards"
        hint = f"Create your own template from an example of a board, then run again: {command}"
    notes.problems.append(Diagnostic(message, hint, Severity.ERROR, str(unknown.file) if not of_plugin else None))
    return unknown


def _missing_headers(host: Sequence[HostFile], root: Path, plugins: Plugins) -> Iterator[Diagnostic]:
    """A warning for each header that the host includes and that is neither in the folder nor on this machine."""
    here = {os.path.basename(file.file) for file in host}
    for file in host[:_MOST_HEADERS]:
        try:
            problems = header_entries(plugins, root / file.file)[1].diagnostics
        except WorkbenchError as error:
            problems = error.diagnostics
        for one in problems:
            missing = _NOT_FOUND.fullmatch(one.message)
            if missing and os.path.basename(missing[1]) not in here:
                hint = "Copy it to this folder, or install it: the API that the host calls may be declared there."
                yield replace(one, hint=hint)


def _without_board(host: Sequence[HostFile], root: Path, notes: Notes) -> Iterator[UnknownApi]:
    """The plugins' APIs that the host calls and that do not belong to a board."""
    words = {word for file in host for word in file.words}
    for one in notes.apis:
        if len(calls := one.calls(words)) > 1:
            yield UnknownApi(tuple(calls), one.template, root / f"{one.key}_board.yaml", one.key)


def _undescribed(
    host: Sequence[HostFile], platforms: Sequence[PlatformFound], root: Path, plugins: Plugins
) -> Iterator[UnknownApi]:
    """The host's headers with functions that it calls and that none of its sources defines."""
    base = next((one.template for one in platforms if one.own and not one.api), None)
    sources = [file for file in host if not file.header]
    words = {word for file in sources for word in file.words}
    defined = {name for file in host for name in file.functions}
    for file in [file for file in host if file.header][:_MOST_HEADERS]:
        try:
            entries, _ = header_entries(plugins, root / file.file)
        except WorkbenchError:
            continue
        names = [callee_name(entry["prototype"]) for entry in entries if "prototype" in entry]
        parts = {name: _WORD.findall(name) for name in names if name}
        calls = tuple(
            name
            for name, name_parts in parts.items()
            if name_parts and words.issuperset(name_parts) and not defined & set(name_parts)
        )
        if calls:
            header = root / file.file
            template = (base or root / header.name).with_name(f"{header.stem}.yaml")
            yield UnknownApi(calls, header, template, str(base or ""), header)
