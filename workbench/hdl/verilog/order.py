"""Which source files need which: by macros, packages, names declared outside of modules, instances and interfaces.

Verilog is read file after file, and a macro or a package must stand before its use. Whatever order a project lists its
files in (a pattern gives the alphabet's), this gives one that can be read, and the files that a top module reaches.
"""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyslang
from pyslang import ast, parsing, syntax

from workbench.api.languages import VERILOG
from workbench.api.source.left_out import synthesised
from workbench.api.source.lines import source_bytes, typed_texts

Kind = syntax.SyntaxKind
_FOREIGN = re.compile(rb"[\x80-\xff]")
#: What slang reads for a byte that is not ASCII, in a text that is not UTF-8.
UNREADABLE = "\x7f"
_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_][\w$]*")
_DEFINE = re.compile(r"`define\s+([A-Za-z_]\w*)")
_INCLUDE = re.compile(r"`include\s*\"([^\"\n]+)\"")
_MACRO = re.compile(r"`([A-Za-z_]\w*)")
_SCOPE = re.compile(r"\b([A-Za-z_][\w$]*)\s*::")
_UNITS = {Kind.ModuleDeclaration: "module", Kind.InterfaceDeclaration: "interface",
          Kind.PackageDeclaration: "package", Kind.ProgramDeclaration: "program"}  # fmt: skip
_MOST_BROKEN = 8  # files that are tried behind all others
_WITHOUT_INSTANCES = {
    Kind.AlwaysBlock, Kind.AlwaysFFBlock, Kind.AlwaysCombBlock, Kind.AlwaysLatchBlock, Kind.InitialBlock,
    Kind.FinalBlock, Kind.ContinuousAssign, Kind.DataDeclaration, Kind.NetDeclaration, Kind.FunctionDeclaration,
    Kind.TaskDeclaration, Kind.AnsiPortList, Kind.NonAnsiPortList, Kind.ClassDeclaration, Kind.TypedefDeclaration,
}  # fmt: skip


def plain_text(text: str) -> str:
    """A piece of Verilog without comments, on one line."""
    return " ".join(_COMMENT.sub(" ", text).split())


@dataclass(frozen=True)
class Unit:
    """A module, interface, package or program on these lines, and the modules that it instantiates."""

    name: str
    kind: str
    line: int
    end_line: int
    has_ports: bool
    instantiates: tuple[str, ...]


@dataclass
class SourceText:
    """What one file says by itself: `before` are the files that must be read first, `needs` all that it uses."""

    path: Path
    text: str
    included: tuple[Path, ...]
    lost: tuple[str, ...]  # includes that are in no folder known
    units: list[Unit] = field(default_factory=list)
    loose: set[str] = field(default_factory=set)  # names declared, or imported, outside of every unit
    binds: set[str] = field(default_factory=set)  # units that it binds something to
    loose_instances: set[str] = field(default_factory=set)
    before: list[Path] = field(default_factory=list)
    needs: list[Path] = field(default_factory=list)


def source_manager(paths: Iterable[Path]) -> Any:
    """What slang reads these files, and those they include, through: texts that are typed, those without what
    synthesis leaves out, and those that are no UTF-8, stand in it for the files."""
    manager = pyslang.SourceManager()
    texts = dict(typed_texts())
    for path in paths:
        data = texts.get(path) or source_bytes(path)
        kept = synthesised(data, VERILOG)
        if kept is not data or not (is_utf8(data) or b"\0" in data):
            texts[path] = kept
    for path, text in texts.items():
        manager.assignText(str(path), _decoded(text))
    return manager


def is_utf8(text: bytes) -> bool:
    """Whether a text is UTF-8. Of a text that is not, slang gives no piece (`str(node)` raises)."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decoded(text: bytes) -> str:
    """With each byte where it was: of a text that is no UTF-8, UNREADABLE for what is no ASCII."""
    return (text if is_utf8(text) else _FOREIGN.sub(UNREADABLE.encode(), text)).decode()


def read_order(
    paths: Sequence[Path], defines: Mapping[str, Any], include_dirs: Sequence[Path]
) -> dict[Path, SourceText]:
    """The files in an order that can be read, each with those that it needs. What cannot be parsed needs nothing."""
    files = {path: _text(path, include_dirs) for path in paths}
    _find_macros(files)
    files = {path: files[path] for path in _sorted(files)}
    _find_units(files, defines, include_dirs)
    _find_uses(files)
    return {path: files[path] for path in _sorted(files)}


def with_headers(files: Mapping[Path, SourceText], include_dirs: Sequence[Path]) -> tuple[Path, ...]:
    """The files, and all that they include."""
    paths = dict.fromkeys(files)
    pending = [header for file in files.values() for header in file.included]
    while pending:
        if (header := pending.pop()) not in paths:
            paths[header] = None
            pending += _text(header, include_dirs).included
    return tuple(paths)


def declaring(files: Mapping[Path, SourceText], name: str) -> tuple[Path, ...]:
    """The files that declare a unit of that name."""
    return tuple(path for path, file in files.items() if any(unit.name == name for unit in file.units))


def reached(files: Mapping[Path, SourceText], starts: Collection[Path]) -> tuple[Path, ...]:
    """`starts` and every file that they need, in the order of `files`."""
    open_, seen = list(starts), set(starts)
    while open_:
        file = files[open_.pop()]
        more = {path for path in (*file.before, *file.needs) if path in files} - seen  # an included file is none
        seen |= more
        open_ += more
    return tuple(path for path in files if path in seen)


def reached_units(files: Mapping[Path, SourceText], top: str) -> set[str]:
    """The names of a top and all that it instantiates, whatever is chosen as it is elaborated."""
    of: dict[str, set[str]] = {}
    loose = {name for file in files.values() for name in file.loose_instances}
    for file in files.values():
        for unit in file.units:
            of.setdefault(unit.name, set()).update(unit.instantiates)
    open_, seen = {top, *loose}, set[str]()
    while open_:
        name = open_.pop()
        seen.add(name)
        open_ |= of.get(name, set()) - seen
    return seen


def leaves_first(files: Mapping[Path, SourceText], chosen: Collection[Path]) -> tuple[Path, ...]:
    """The chosen files, each after all that it needs: packages, then the smallest modules, the top at the end."""
    everything = {path: [*file.before, *file.needs] for path, file in files.items()}
    return tuple(path for path in _depth_first(everything) if path in chosen)


def includes(path: Path) -> list[str]:
    """The names of the files that a file includes."""
    return _INCLUDE.findall(_COMMENT.sub(" ", synthesised(source_bytes(path), VERILOG).decode("utf-8", "replace")))


def _text(path: Path, include_dirs: Sequence[Path]) -> SourceText:
    raw = synthesised(source_bytes(path), VERILOG).decode("utf-8", "replace")
    included: list[Path] = []
    lost: list[str] = []
    for name in includes(path):
        place = next((p for folder in (path.parent, *include_dirs) if os.path.isfile(p := folder / name)), None)
        if place is None:
            lost.append(name)
        else:
            included.append(place.resolve())
    return SourceText(path, _NOISE.sub(" ", raw), tuple(included), tuple(lost))


def _find_macros(files: Mapping[Path, SourceText]) -> None:
    """A file that uses a macro is read after the first that defines it, where it does not define it itself."""
    headers: dict[Path, str] = {}

    def with_includes(file: SourceText) -> str:
        parts = [file.text]
        for header in file.included:
            if header not in headers:
                headers[header] = ""  # a circle ends here
                headers[header] = with_includes(_text(header, (header.parent,)))
            parts.append(headers[header])
        return "\n".join(parts)

    texts = {path: with_includes(file) for path, file in files.items()}
    definers: dict[str, Path] = {}
    for path, text in texts.items():
        for name in _DEFINE.findall(text):
            definers.setdefault(name, path)
    for path, text in texts.items():
        own = set(_DEFINE.findall(text))
        used = dict.fromkeys(name for name in _MACRO.findall(text) if name in definers and name not in own)
        files[path].before += dict.fromkeys(definers[name] for name in used)


def _find_units(files: Mapping[Path, SourceText], defines: Mapping[str, Any], include_dirs: Sequence[Path]) -> None:
    """Parse everything as one text, and note what each file declares and instantiates."""
    if not files:
        return
    options = parsing.PreprocessorOptions()
    options.predefines = [f"{name}={value}" for name, value in defines.items()]
    options.additionalIncludePaths = [str(folder) for folder in include_dirs]
    last: dict[Path, None] = {}  # what is wrong in one, as an end that is not there, may reach into all after it
    while True:
        manager = source_manager(files)
        paths = [*(path for path in files if path not in last), *last]
        tree = syntax.SyntaxTree.fromFiles([str(path) for path in paths], manager, pyslang.Bag([options]))
        wrong = (_at(manager, one) for one in tree.diagnostics if one.isError())
        broken = next((path for path in wrong if path in files), None)
        if broken is None or broken in last or len(last) == _MOST_BROKEN:
            break
        last[broken] = None
    root: Any = tree.root
    members = root.members if root.kind == Kind.CompilationUnit else [root]
    held = {one.header.name.valueText: set().union(*map(_declared, one.members))
            for one in members if one.kind == Kind.PackageDeclaration}  # fmt: skip
    for member in members:
        file = _file_of(manager, member, files)
        if file is None:
            continue
        instances = _instances(member)
        if member.kind in _UNITS:
            name = member.header.name
            ports = member.header.ports
            has_ports = ports is not None and bool(len(getattr(ports, "ports", ())))
            tokens = (name, member.getLastToken())
            line, end = (manager.getLineNumber(manager.getFullyExpandedLoc(token.location)) for token in tokens)
            file.units.append(Unit(name.valueText, _UNITS[member.kind], line, end, has_ports, instances))
        else:
            file.loose_instances |= set(instances)
            if member.kind == Kind.PackageImportDeclaration:
                items = (one for one in member.items if isinstance(one, syntax.PackageImportItemSyntax))
                every = (one.package.valueText for one in items if one.item.valueText == "*")
                file.loose |= set().union(*(held.get(name, ()) for name in every))
            elif member.kind == Kind.BindDirective:
                file.binds |= set(_WORD.findall(str(member.target)))
            else:
                file.loose |= _declared(member)


def _file_of(manager: Any, member: Any, files: Mapping[Path, SourceText]) -> SourceText | None:
    """The listed file that a member stands in, or that includes the one where it stands."""
    location = manager.getFullyExpandedLoc(member.getFirstToken().location)
    for _ in range(64):
        path = Path(manager.getFullPath(location.buffer))
        if path in files:
            return files[path]
        location = manager.getIncludedFrom(location.buffer)
    return None


def _instances(member: Any) -> tuple[str, ...]:
    modules: dict[str, None] = {}

    def look(node: Any) -> Any:
        kind = getattr(node, "kind", None)
        if kind in (Kind.HierarchyInstantiation, Kind.PrimitiveInstantiation):
            modules[node.type.valueText] = None
        return ast.VisitAction.Skip if kind in _WITHOUT_INSTANCES else ast.VisitAction.Advance

    member.visit(look)
    return tuple(modules)


def _declared(member: Any) -> set[str]:
    """Names that a member outside of every unit may declare: rather too many than one too few."""
    if member.kind in (Kind.ClassDeclaration, Kind.UdpDeclaration, Kind.TypedefDeclaration):
        return {member.name.valueText}
    prototype = getattr(member, "prototype", None)
    if prototype is not None:
        return {plain_text(str(prototype.name))}
    declarators = getattr(getattr(member, "parameter", member), "declarators", ())
    return {one.name.valueText for one in declarators if hasattr(one, "name")}


def _at(manager: Any, diagnostic: Any) -> Path:
    """The file that a diagnostic stands in."""
    return Path(manager.getFullPath(manager.getFullyExpandedLoc(diagnostic.location).buffer))


def _find_uses(files: Mapping[Path, SourceText]) -> None:
    homes: dict[str, list[tuple[str, Path]]] = {}
    loose: dict[str, Path] = {}
    for path, file in files.items():
        for unit in file.units:
            homes.setdefault(unit.name, []).append((unit.kind, path))
        for name in file.loose:
            loose.setdefault(name, path)

    def home(name: str, user: Path, *kinds: str) -> list[Path]:
        """Where a unit is declared; of several, the one beside its user (variants of a design share names)."""
        places = [path for kind, path in homes.get(name, ()) if not kinds or kind in kinds]
        return [next((path for path in places if path.parent == user.parent), places[0])] if places else []

    for path, file in files.items():
        words = set(_WORD.findall(file.text))
        scopes = [place for name in _SCOPE.findall(file.text) for place in home(name, path, "package")]
        file.before = _others(path, [*file.before, *scopes, *(loose[name] for name in sorted(words & loose.keys()))])
        instances = [*(name for unit in file.units for name in unit.instantiates), *sorted(file.loose_instances)]
        interfaces = [place for name in sorted(words & homes.keys()) for place in home(name, path, "interface")]
        file.needs = _others(path, [*(place for name in instances for place in home(name, path)), *interfaces])
    for path, file in files.items():
        for place in (place for name in sorted(file.binds) for place in home(name, path)):
            files[place].needs = _others(place, [*files[place].needs, path])


def _others(path: Path, paths: Iterable[Path]) -> list[Path]:
    return [other for other in dict.fromkeys(paths) if other != path]


def _sorted(files: Mapping[Path, SourceText]) -> list[Path]:
    return _depth_first({path: file.before for path, file in files.items()})


def _depth_first(needs: Mapping[Path, Iterable[Path]]) -> list[Path]:
    """Items, each after those that it needs, otherwise in the given order; a cycle is cut where it is met."""
    done: dict[Path, None] = {}
    seen: set[Path] = set()
    for start in needs:
        stack: list[tuple[Path, list[Path]]] = [] if start in seen else [(start, list(needs[start]))]
        seen.add(start)
        while stack:
            path, left = stack[-1]
            following = next((p for p in left if p not in seen and p in needs), None)
            if following is None:
                done[path] = None
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, list(needs[following])))
    return list(done)
