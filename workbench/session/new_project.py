"""A project begun from sources: what is in a folder, what each file is for, and a project file of it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.api import PortKind
from workbench.api.instrument.port_finder import FoundPort, describe, find_ports, template_entry
from workbench.api.job import Job
from workbench.formats.platform_file import callee_name, load_platform
from workbench.model.application import HostSources
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, unknown_name
from workbench.model.platform import Platform
from workbench.model.scan import HdlTop, HostFile
from workbench.session.plugins import Plugins
from workbench.session.port_match import PortMatch, match_port
from workbench.session.project_text import Found, project_text
from workbench.session.reading import read
from workbench.session.workspace import PROJECT_SUFFIX
from workbench.system.files import real

READ_OUT_WORDS = 16
_MOST_FILES = 2000
_LARGEST_BYTES = 4 << 20
_HIGHEST_BITS = 28  # a port of 32 bits rarely decodes all of them, and an end that is far away is as good
_SKIPPED = {"runs", "build", "obj_dir", "node_modules", "__pycache__"}
_UNDECLARED = re.compile(r"undeclared identifier '(\w+)'")


@dataclass(frozen=True)
class Choice:
    """What a person may say instead of what is found; empty means to look for it."""

    name: str = ""
    top: str = ""  # a module's name, or its file
    platform: str = ""
    host: str = ""  # the file with main


@dataclass(frozen=True)
class Proposal:
    """A project to be written: `files` are their texts, the project file first. Nothing is written yet."""

    path: Path
    files: Mapping[Path, str]
    found: tuple[Found, ...]
    left_out: tuple[tuple[str, str], ...]  # file, why
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass
class _Notes:
    found: list[Found] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)


@dataclass(frozen=True)
class _Platform:
    """A platform that may be meant: `calls` are those of its API that the host's words name."""

    key: str
    platform: Platform
    template: Path
    api: tuple[str, ...]

    def calls(self, words: Iterable[str]) -> list[str]:
        known = set(words)
        return [name for name in self.api if name in known]


def propose(folder: Path, plugins: Plugins, choice: Choice | None = None) -> Proposal:
    """Look at the sources below `folder`. Reads only. WorkbenchError where there is no host program or no design."""
    choice, notes, root = choice or Choice(), _Notes(), real(folder)
    if not root.is_dir():
        raise WorkbenchError(
            Diagnostic("there is no such folder", "Name the folder of your sources.", file=str(folder))
        )
    if choice.name and not re.fullmatch(r"\w[\w.-]*", choice.name):
        hint = "Write letters, digits, dots, dashes and underscores."
        raise WorkbenchError(Diagnostic(f"'{choice.name}' is no name of a project", hint))
    files = _files(root, notes)
    host_language, hdl_language = plugins.host_languages["c"], plugins.hdl_languages["verilog"]
    c_files = [f for f in files if f.endswith(tuple(s for s in host_language.suffixes if s != ".h"))]
    hdl_files = [f for f in files if f.endswith(hdl_language.suffixes)]
    outlines = read(lambda: host_language.outline(root, c_files), root)
    platforms = _platforms(plugins, choice, root)
    host = _host(root, outlines, files, platforms, choice, notes)
    tops = read(lambda: hdl_language.tops(root, hdl_files), root)
    top, chosen, match = _top(tops, platforms, host, plugins.port_kinds, choice, root, notes)
    _say_left_out(hdl_files, top, tops, notes)
    include_dirs = _include_dirs(root, host, files)
    sources = HostSources(sources=tuple(f.file for f in host), include_dirs=include_dirs)
    api = plugins.platforms.get(chosen.platform.name)
    with_api = (*include_dirs, *((str(api.api_dir),) if api and api.api_dir else ()))
    with_header = sources.model_copy(update={"include_dirs": with_api})
    scan = read(lambda: host_language.scan(root, with_header, chosen.platform, {}, Job()), root)
    words = frozenset(word for file in host for word in file.words)
    settings = _settings([d.message for d in scan.diagnostics], words, top, notes)
    name = choice.name or re.sub(r"\W+", "_", root.name).strip("_").lower() or "project"
    path = root / f"{name}{PROJECT_SUFFIX}"
    numbers = {n for file in host for n in file.numbers} | set(top.numbers)
    read_out = _read_out(top, match, chosen.platform, numbers, notes)
    own_names = match.renames if match and not match.missing else {}
    text = project_text(name, chosen.key, sources, top, settings, read_out, own_names, notes.found)
    return Proposal(path, {path: text}, tuple(notes.found), tuple(notes.left_out.items()),
                    tuple(notes.problems))  # fmt: skip


def create(proposal: Proposal) -> Path:
    """Write the proposed files; none of them where one is there already. Gives the project file."""
    for path in proposal.files:
        if path.exists():
            hint = "Name another project with --name, or take this file away."
            raise WorkbenchError(Diagnostic("this file exists already, and was left as it is", hint, file=str(path)))
    try:
        for path, text in proposal.files.items():
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise WorkbenchError(Diagnostic(f"cannot write: {error.strerror}", file=str(path))) from None
    return proposal.path


# ---- files, host


def _files(root: Path, notes: _Notes) -> list[str]:
    """Regular files below the folder, as relative names; hidden and built ones and links are not looked at."""
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n not in _SKIPPED)
        for name in sorted(names):
            path = Path(folder) / name
            if path.is_symlink() or not path.is_file():
                continue
            shown = path.relative_to(root).as_posix()
            if path.stat().st_size > _LARGEST_BYTES:
                notes.left_out[shown] = "larger than 4 MiB"
                continue
            found.append(shown)
            if len(found) >= _MOST_FILES:
                message = f"only the first {_MOST_FILES} files of this folder were looked at"
                notes.problems.append(Diagnostic(message, "Begin in a smaller folder.", Severity.WARNING, str(root)))
                return found
    return found


def _host(
    root: Path, outlines: Sequence[HostFile], files: Sequence[str], platforms: Sequence[_Platform], choice: Choice,
    notes: _Notes,
) -> tuple[HostFile, ...]:  # fmt: skip
    programs = [file for file in outlines if file.entry]
    if not programs:
        hint = "The host program is a C source with main. Name the folder that holds it and the hardware."
        raise WorkbenchError(Diagnostic("no C program was found here", hint, file=str(root)))
    excluded = {name for one in platforms for name in one.platform.host.exclude_files}

    def calls(file: HostFile) -> int:
        return max((len(one.calls(file.words)) for one in platforms), default=0)

    ranked = sorted(programs, key=lambda file: -calls(file))
    if choice.host:
        ranked = [f for f in programs if choice.host in (f.file, str(root / f.file), Path(f.file).name)]
        if not ranked:
            raise WorkbenchError(unknown_name("program", choice.host, [f.file for f in programs], root))
    main, rest = ranked[0], [file for file in outlines if not file.entry]
    chosen, reasons = [main], [f"main stands in {main.file}" + (", which calls the card" if calls(main) else "")]
    grew = True
    while grew:
        words = {word for file in chosen for word in file.words}
        grew = False
        for file in rest:
            used = [name for name in file.functions if name in words]
            if file not in chosen and used and Path(file.file).name not in excluded:
                chosen.append(file)
                reasons.append(f"{used[0]}, which it calls, in {file.file}")
                grew = True
    for file in outlines:
        if file not in chosen:
            why = "nothing of it is used"
            if file.entry:
                why = "another program: main stands here too"
            elif Path(file.file).name in excluded:
                why = "the platform's API itself"
            notes.left_out[file.file] = why
    others = tuple(file.file for file in programs if file is not main)
    notes.found.append(Found("host sources", ", ".join(f.file for f in chosen), "; ".join(reasons), others))
    return tuple(chosen)


def _include_dirs(root: Path, host: Sequence[HostFile], files: Sequence[str]) -> tuple[str, ...]:
    """Folders of headers that stand neither beside their includer nor under the name it gives."""
    found: dict[str, None] = {}
    for file in host:
        for name in file.includes:
            if (root / file.file).parent.joinpath(name).is_file():
                continue
            for other in files:
                if other == name or other.endswith("/" + name):
                    found[other[: -len(name)].rstrip("/") or "."] = None
                    break
    return tuple(found)


# ---- platform, top


def _platforms(plugins: Plugins, choice: Choice, root: Path) -> list[_Platform]:
    """The platforms that can be simulated, or the one that is named (a template, or a file)."""
    templates = {name: support.template for name, support in plugins.platforms.items() if support.api_sources}
    if choice.platform:
        if choice.platform in plugins.platforms:
            templates = {choice.platform: plugins.platforms[choice.platform].template}
        elif (root / choice.platform).is_file():
            templates = {choice.platform: root / choice.platform}
        else:
            raise WorkbenchError(unknown_name("platform template", choice.platform, plugins.platforms))
    found = []
    for key, template in templates.items():
        platform, problems = load_platform(template, plugins.port_kinds)
        if platform is None and choice.platform:
            raise WorkbenchError(*problems)
        if platform is not None:
            names = (callee_name(entry.prototype) for entry in platform.host.entries)
            found.append(_Platform(key, platform, template, tuple(name for name in names if name)))
    return found


def _top(
    tops: Sequence[HdlTop], platforms: Sequence[_Platform], host: Sequence[HostFile], kinds: Mapping[str, PortKind],
    choice: Choice, root: Path, notes: _Notes,
) -> tuple[HdlTop, _Platform, PortMatch | None]:  # fmt: skip
    """The top and the platform that go together best: the host calls its API, and the top has its port."""
    possible = tops
    if choice.top:
        possible = [top for top in tops if choice.top in (top.name, top.file)]
        if not possible:
            raise WorkbenchError(unknown_name("top module", choice.top, [top.name for top in tops], root))
    if not possible:
        hint = "A top module has ports, and no other module instantiates it."
        raise WorkbenchError(Diagnostic("no Verilog top module was found here", hint, file=str(root)))
    words = frozenset(word for file in host for word in file.words)
    alike = set(re.findall(r"\w+", host[0].file))  # of several variants, the one called as the host is
    pairs = []
    for top in possible:
        for one in platforms:
            match = match_port(top, one.platform.hardware, kinds) if one.platform.hardware else None
            lacking = sum(one.signals for one in match.missing) if match else 99
            exact = bool(match and not (match.missing or match.renames))
            shared = len(alike & set(re.findall(r"\w+", top.file)))
            rank = (not one.calls(words), lacking, not exact, -shared, -len(top.sources))
            pairs.append((rank, (top, one, match)))
    top, chosen, match = min(pairs, key=lambda pair: pair[0])[1]
    others = tuple(dict.fromkeys(t.name if t.name != top.name else t.file for t in tops if t is not top))
    reason = f"no other module instantiates it; it stands in {top.file}:{top.line}"
    notes.found.append(Found("top", top.name, reason, others))
    notes.found.append(
        Found("hardware sources", ", ".join(top.sources), "what the top reaches, each file after those it needs")
    )
    if top.parameters:
        shown = ", ".join(f"{name} = {value}" for name, value in top.parameters)
        notes.found.append(Found("parameters", shown, "the top's own values"))
    _say_platform(chosen, words, platforms, notes)
    if match:
        _say_port(top, chosen, match, kinds, notes)
    notes.problems += [d if not d.file else replace(d, file=str(root / d.file)) for d in top.diagnostics]
    return top, chosen, match


def _say_platform(chosen: _Platform, words: frozenset[str], platforms: Sequence[_Platform], notes: _Notes) -> None:
    calls = chosen.calls(words)
    reason = f"the host calls {', '.join(calls[:3])}{' and others' if len(calls) > 3 else ''}" if calls else (
        f"the host calls nothing of its API ({', '.join(chosen.api[:3])}, ...)"
    )  # fmt: skip
    others = tuple(one.key for one in platforms if one is not chosen)
    notes.found.append(Found("platform", chosen.key, reason, others))
    if not calls:
        hint = "Name another one with --platform, or describe yours: workbench template new."
        problem = f"the host calls nothing of the platform {chosen.key}"
        notes.problems.append(Diagnostic(problem, hint, Severity.WARNING))


def _say_port(top: HdlTop, chosen: _Platform, match: PortMatch, kinds: Mapping[str, PortKind], notes: _Notes) -> None:
    blocks = dict(top.clocks)
    if match.clock:
        why = f"drives {blocks.get(match.clock, 0)} of {sum(blocks.values())} clocked blocks"
        notes.found.append(Found("clock", match.clock, why))
    if match.reset:
        how = "the design uses it" if match.reset in dict(top.resets) else "its name says"
        why = f"low means reset, as {how}" if match.reset_low else "the reset of the platform's port"
        notes.found.append(Found("reset", match.reset, why))
    why = "by their names, directions and widths; `signals` keeps them"
    if shown := ", ".join(f"{name}: {said}" for name, said in match.shown.items() if said):
        notes.found.append(Found("port", shown, why if match.renames else "as the platform names them"))
    interfaces = find_ports(top.ports, kinds.values(), [clock for clock, _ in top.clocks]).ports
    for port in interfaces:
        if not port.names & match.names:
            notes.found.append(_interface(port, kinds))
    for one in match.missing:
        otherwise = "Name it under hardware.signals."
        if one.of == "interfaces":
            otherwise = "Name a platform that has these with --platform, or describe them in a template of your own."
        hint = f"Its {one.of}: {', '.join(one.candidates) or 'none that fits'}. {otherwise}"
        problem = f"the top module {top.name} has no {one.what} that could be told by its name"
        notes.problems.append(Diagnostic(problem, hint, Severity.ERROR, top.file, top.line))


def _interface(port: FoundPort, kinds: Mapping[str, PortKind]) -> Found:
    """What the top has besides the platform's port."""
    shown = ", ".join(f"{role} {name}" for role, name in port.signals)
    asked = f"; what are {', '.join(port.ask)} for?" if port.ask else ""
    entry = template_entry(port, kinds)
    offer = f"; in a template's ports: {entry}" if entry else ""
    return Found("interface", f"{describe(port)}: {shown}", f"by its signals' names{asked}{offer}")


def _say_left_out(hdl_files: Sequence[str], top: HdlTop, tops: Sequence[HdlTop], notes: _Notes) -> None:
    for file in hdl_files:
        if file not in top.sources and file.endswith((".v", ".sv")):
            other = next((one.name for one in tops if file in one.sources), "")
            notes.left_out[file] = f"{top.name} does not reach it" + (f"; {other} does" if other else "")


# ---- settings, address range


def _settings(
    messages: Sequence[str], words: Collection[str], top: HdlTop, notes: _Notes
) -> dict[str, int | float | str]:
    """What a run can be given: the top's parameters, and names that the host uses and nothing declares."""
    values: dict[str, int | float | str] = {}
    names = dict.fromkeys(match[1] for message in messages for match in _UNDECLARED.finditer(message))
    for name, value in top.parameters:
        if name in names or name not in words:  # else the host has a meaning of its own for it
            values[name] = value
            what = "a macro of the host, and a parameter of the top" if name in names else "a parameter of the top"
            notes.found.append(Found("setting", f"{name} = {value}", what))
    for name in names:
        if name not in values and name.isupper():
            values[name] = 1
            why = "the host uses it and nothing declares it: give its value"
            notes.found.append(Found("setting", f"{name} = 1", why))
            hint = "Write it under settings in the project file; 1 stands there now."
            notes.problems.append(Diagnostic(f"the value of {name} is not known", hint, Severity.WARNING))
    return values


def _read_out(
    top: HdlTop, match: PortMatch | None, platform: Platform, numbers: set[int], notes: _Notes
) -> tuple[int, int]:
    """Addresses that nothing seems to use: the last ones of the port's that hold no number of the sources."""
    hardware = platform.hardware
    widths = {p.name: p.bits for p in top.ports}
    found = [widths[name] for name in match.address_signals if name in widths] if match else []
    ports = [port.model_dump() for port in hardware.ports] if hardware else []
    port = next((port for port in ports if "address_bits" in port), {"address_bits": 32, "word_bits": 32})
    bits = min([*found, port.get("address_bits", 32), _HIGHEST_BITS])
    step = READ_OUT_WORDS * max(1, port["word_bits"] // 8 // port.get("address_unit_bytes", 4))
    last = (1 << bits) - 1
    while last >= step and any(last - step < number <= last for number in numbers):
        last -= step
    first = last - step + 1
    if first <= 0:
        problem = f"no {READ_OUT_WORDS} addresses in a row are free of numbers that the sources name"
        hint = "Widen the address port, or write a range under hardware.read_out that nothing uses."
        notes.problems.append(Diagnostic(problem, hint, Severity.ERROR, top.file, top.line))
        first, last = (1 << bits) - step, (1 << bits) - 1
    largest = max((n for n in numbers if n < first), default=0)
    why = f"{bits} address bits; no number in the sources lies in it, the largest below it is {largest:#x}"
    notes.found.append(Found("unused addresses", f"{first:#x} to {last:#x}", why))
    return first, last
