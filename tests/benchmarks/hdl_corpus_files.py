"""The files of a folder of HDL for `hdl_corpus.py`: which need which, what is wrong with each, marks at branches."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyslang
from pyslang import parsing, syntax
from rc_workbench_plugins.vhdl.blocks import read_blocks as processes
from rc_workbench_plugins.vhdl.syntax import plain, read_file, without_comments
from rc_workbench_plugins.vhdl.units import units_of

from workbench.api import languages
from workbench.api.languages import syntax_of
from workbench.api.source.edits import decode, encode, insert_pragma
from workbench.hdl.blocks import SourceBlock
from workbench.hdl.source_file import read_pragmas
from workbench.hdl.verilog.blocks import read_blocks as always_blocks
from workbench.hdl.verilog.design import read_design
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.pragma import Category, Pragma
from workbench.session.open.reader_child import ReaderEnded, in_child
from workbench.system.files import replace_file

READ_OUT = ReadOut(first=0, last=15)
READ_S = 60.0
VERILOG, VHDL = (".v", ".sv"), (".vhd", ".vhdl")
UNIT = re.compile(r"^\s*(?:module|package|interface)\s+(?:automatic\s+|static\s+)?(\w+)", re.MULTILINE)
MODULE = re.compile(r"^\s*module\s+(?:automatic\s+|static\s+)?(\w+)", re.MULTILINE)
DESIGN_UNIT = re.compile(
    r"^\s*(?:(entity|context|package(?!\s+body))\s+(\w+)\s+is|(?:package\s+(body)|(architecture\s+\w+\s+of))\s+(\w+)\s+is)",
    re.MULTILINE | re.IGNORECASE,
)
DEFINE = re.compile(r"^\s*`define\s+(\w+)", re.MULTILINE)
MACRO = re.compile(r"unknown macro or compiler directive '`(\w+)'")
INCLUDE = re.compile(r'^\s*`include\s+"([^"]+)"', re.MULTILINE)
Unit = tuple[str, str]  # what it is and its name, in small letters where it is VHDL's


@dataclass(frozen=True)
class Seen:
    """What one file says by itself. `lacks` is what it needs that no file has, `wrong` the first error of its syntax,
    `ended` what ended its reading. `designs` are its modules and entities with clocked blocks, with their clocks."""

    file: str
    language: str
    lines: int = 0
    lacks: str = ""
    wrong: str = ""
    ended: str = ""
    before: tuple[str, ...] = ()  # files that must stand before it, for their macros
    blocks: int = 0
    branches: int = 0
    placed: int = 0
    observable: tuple[int, ...] = ()  # their lines, once marked
    refused: tuple[str, ...] = ()
    designs: tuple[tuple[str, tuple[str, ...]], ...] = ()


def is_vhdl(name: str) -> bool:
    return name.lower().endswith(VHDL)


@dataclass
class Corpus:
    """A folder, and which of its files define what; the files by their size."""

    folder: Path
    names: list[str] = field(default_factory=list)
    before: dict[str, tuple[str, ...]] = field(default_factory=dict)  # what files were seen to need for their macros

    def __post_init__(self) -> None:
        found = [
            path for path in self.folder.rglob("*")
            if path.suffix.lower() in (*VERILOG, *VHDL) and path.is_file() and ".git" not in path.parts
        ]  # fmt: skip
        self.names = [str(path.relative_to(self.folder)) for path in sorted(found, key=lambda one: one.stat().st_size)]
        texts = {name: (self.folder / name).read_bytes().decode("utf-8", "replace") for name in self.names}
        texts |= {name: without_comments(text) for name, text in texts.items() if is_vhdl(name)}
        verilog = {name: text for name, text in texts.items() if not is_vhdl(name)}
        self.include_dirs = tuple(sorted(self._include_dirs(verilog)))
        self.defines: dict[Unit, list[str]] = {}
        for name, text in texts.items():
            for unit in _units(name, text):
                self.defines.setdefault(unit, []).append(name)
        called: dict[str, list[Unit]] = {}
        for unit in self.defines:
            called.setdefault(unit[1].lower(), []).append(unit)
        self.uses = {name: set(_used(name, text, called)) for name, text in texts.items()}
        included = {Path(path).name for text in verilog.values() for path in INCLUDE.findall(text)}
        self.fragments = {
            name for name, text in verilog.items() if Path(name).name in included and not MODULE.search(text)
        }
        self.macros: dict[str, str] = {}
        for name, text in verilog.items():
            for macro in DEFINE.findall(text):
                self.macros.setdefault(macro, name)

    def _include_dirs(self, verilog: dict[str, str]) -> set[str]:
        """The files' folders, and those from which a file is included by a path."""
        found = {str(Path(name).parent) for name in verilog}
        headers = [path.relative_to(self.folder) for path in self.folder.rglob("*.*h") if path.is_file()]
        texts = [*verilog.values(), *((self.folder / path).read_text(errors="replace") for path in headers)]
        wanted = {Path(path).parts for text in texts for path in INCLUDE.findall(text)}
        for path in (*headers, *map(Path, verilog)):
            found |= {str(Path(*path.parts[: -len(parts)])) for parts in wanted if path.parts[-len(parts) :] == parts}
        return found

    def sources(self, name: str) -> tuple[str, ...]:
        """A file and all that define what it uses: of several, the nearest."""
        needed, waiting = {name: None}, [name]
        while waiting:
            user = waiting.pop()
            for unit in sorted(self.uses[user]):
                there = self.defines[unit]
                if not any(other in needed for other in there):
                    other = max(there, key=lambda one: (len(_common(one, user)), -len(one)))
                    needed[other] = None
                    waiting.append(other)
            for other in self.before.get(user, ()):
                if other not in needed:
                    needed[other] = None
                    waiting.append(other)
        return tuple(needed)

    def nearest_first(self, name: str) -> tuple[str, ...]:
        """Folders to include from, those that share most of the way with a file's first."""
        return tuple(sorted(self.include_dirs, key=lambda one: (-len(_common(one, name)), len(one))))


def _units(name: str, text: str) -> Iterator[Unit]:
    if not is_vhdl(name):
        yield from (("module", unit) for unit in UNIT.findall(text))
        return
    for kind, unit, body, architecture, of in DESIGN_UNIT.findall(text):
        yield (kind or body or architecture).lower(), plain(unit or of)


def _used(name: str, text: str, called: dict[str, list[Unit]]) -> Iterator[Unit]:
    """What the words of a text may mean: units of its own language, or else what the other one may be asked for."""
    words = set(re.findall(r"\w+", text))
    for word in {one.lower() for one in words} & called.keys():
        own = [unit for unit in called[word] if (unit[0] == "module") != is_vhdl(name)]
        if not is_vhdl(name):
            own = [unit for unit in own if unit[1] in words]
        yield from own or [unit for unit in called[word] if unit[0] in ("module", "entity")]
        if not is_vhdl(name) and not own:  # an entity comes with its architectures
            yield from (unit for unit in called[word] if unit[0].startswith("architecture"))


def _common(one: str, other: str) -> list[str]:
    """The folders that two paths begin with."""
    pairs = zip(Path(one).parts, Path(other).parts, strict=False)
    return [a for a, b in pairs if a == b]


def read_one(corpus: Corpus, deep: bool, name: str) -> Seen:
    """A file by itself, in a child; where `deep` a pragma is put before every branch of it, within the folder."""
    language = "vhdl" if is_vhdl(name) else "verilog"
    read = _read_vhdl if is_vhdl(name) else _read_verilog
    try:
        return Seen(**in_child(lambda: vars(read(corpus, name, deep)), READ_S))
    except ReaderEnded as error:
        return Seen(name, language, ended=error.why)
    except Exception as error:  # a defect, to be told with its file
        return Seen(name, language, ended=f"{type(error).__name__}: {error}")


def _read_vhdl(corpus: Corpus, name: str, deep: bool) -> Seen:
    path = corpus.folder / name
    file = read_file(path, "work", 0)
    seen = Seen(name, "vhdl", len(file.starts))
    if faults := file.faults():
        line, column = file.place(faults[0])
        seen = replace(seen, wrong=f"line {line}: this cannot be read as VHDL (column {column})")
    return _marked(seen, path, lambda: _processes(path), deep)


def _processes(path: Path) -> Sequence[SourceBlock]:
    file = read_file(path, "work", 0)
    source, _ = read_pragmas(path, file.data, languages.VHDL, path.name)
    return [block for unit in units_of(file) for block in processes(unit, source)]


def _read_verilog(corpus: Corpus, name: str, deep: bool) -> Seen:
    path = corpus.folder / name
    wrong, lacks, before = _syntax_errors(corpus, name)
    seen = Seen(name, "verilog", path.read_bytes().count(b"\n"), lacks, wrong, before=before)
    return _marked(seen, path, lambda: _always(corpus, name, before), deep)


def _always(corpus: Corpus, name: str, before: Sequence[str]) -> Sequence[SourceBlock]:
    text = (corpus.folder / name).read_bytes().decode("utf-8", "replace")
    tops = MODULE.findall(text)
    hardware = HardwareSources(
        sources=(*before, name),
        top=tops[0] if tops else "none",
        include_dirs=corpus.nearest_first(name),
        read_out=READ_OUT,
    )
    blocks, _ = always_blocks(read_design(corpus.folder, hardware, {}))
    return [block for block in blocks if block.path == (corpus.folder / name).resolve()]


def _syntax_errors(corpus: Corpus, name: str) -> tuple[str, str, tuple[str, ...]]:
    """The first error of a file's syntax, what it needs that no file has (both may be ''), and the files that it needs
    before it for their macros."""
    before: dict[str, None] = {}
    while True:
        manager, options = pyslang.SourceManager(), parsing.PreprocessorOptions()
        options.additionalIncludePaths = [str(corpus.folder / one) for one in corpus.nearest_first(name)]
        files = [str(corpus.folder / one) for one in (*before, name)]
        tree = syntax.SyntaxTree.fromFiles(files, manager, pyslang.Bag([options]))
        errors = [one for one in tree.diagnostics if one.isError()]
        engine = pyslang.DiagnosticEngine(manager)
        macros = [said[1] for one in errors if (said := MACRO.search(engine.formatMessage(one)))]
        found = {corpus.macros[macro] for macro in macros if macro in corpus.macros} - {*before, name}
        if not found:
            break
        before.update(dict.fromkeys(sorted(found)))
    absent = [one for one in errors if "CouldNotOpenInclude" in str(one.code)]
    unknown = [macro for macro in macros if macro not in corpus.macros]
    lacks = engine.formatMessage(absent[0]) if absent else f"the macro {unknown[0]}" if unknown else ""
    if lacks or not errors:
        return "", lacks, tuple(before)
    line = manager.getLineNumber(manager.getFullyExpandedLoc(errors[0].location))
    return f"line {line}: {engine.formatMessage(errors[0])}", "", tuple(before)


def _marked(seen: Seen, path: Path, read: Callable[[], Sequence[SourceBlock]], deep: bool) -> Seen:
    """With its blocks, and how many of their branches hold the pragma that is put where reading says, all at once."""
    blocks = read()
    before = path.read_bytes()
    replace_file(path, _with_marks(before, path, blocks))
    again = read() if blocks else ()
    if not deep:
        replace_file(path, before)
    clocks: dict[str, list[str]] = {}
    for block in again:
        if re.fullmatch(r"\w+", block.clock):
            clocks.setdefault(block.module, []).append(block.clock)
    ordered = {module: tuple(sorted(set(all_), key=lambda one: -all_.count(one))) for module, all_ in clocks.items()}
    return replace(
        seen, blocks=len(blocks), branches=sum(len(block.arms) for block in blocks),
        placed=sum(bool(arm.pragmas) for block in again for arm in block.arms),
        observable=tuple(block.line for block in again if not block.why_not),
        refused=tuple(block.why_not for block in blocks if block.why_not), designs=tuple(ordered.items()),
    )  # fmt: skip


def _with_marks(data: bytes, path: Path, blocks: Sequence[SourceBlock]) -> bytes:
    """A file with a pragma before the first statement of each branch, as the editor puts it."""
    syntax = syntax_of(path)
    assert syntax is not None
    lines = decode(data).split("\n")
    places = {(arm.pragma_line, arm.pragma_column): arm.indent for block in blocks for arm in block.arms}
    for number, ((line, column), indent) in enumerate(sorted(places.items(), reverse=True)):
        if line:
            pragma = Pragma(f"b{number}", Category.WORK)
            lines[line - 1] = insert_pragma(lines[line - 1], 1, indent, syntax, pragma, column)
    return encode("\n".join(lines), data)


def copied(root: Path, folder: Path) -> None:
    """All of a folder but what git keeps, whose links may hang."""
    for place, inner, files in os.walk(root):
        inner[:] = [name for name in inner if name != ".git"]
        there = folder / Path(place).relative_to(root)
        there.mkdir(parents=True, exist_ok=True)
        for name in files:
            source = Path(place, name)
            if source.is_symlink():
                (there / name).symlink_to(source.readlink())
            elif source.is_file():
                (there / name).write_bytes(source.read_bytes())
