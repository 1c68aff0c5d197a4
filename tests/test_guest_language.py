"""A plugin's host language is opened, begun by New, marked, looked up, coloured and completed, without the house naming
it: an invented one, of files *.tin, whose comments begin with `;`."""

import shutil
from collections.abc import Callable
from pathlib import Path

from test_plugins import bring, brought  # noqa: F401 - `bring` is a fixture

from workbench.api.languages import syntax_of
from workbench.api.source.pragma_typed import typed_at
from workbench.gui.modes.source.highlight import pragma_spans
from workbench.gui.modes.source.line_lexer import spans
from workbench.session.begin.new_choice import Choice
from workbench.session.begin.new_project import create, propose
from workbench.session.make.compiler import command
from workbench.session.mark.marking import proposed, write_marks
from workbench.session.open.opening import open_workspace

TINY = Path(__file__).parent / "data" / "tiny"
TIN = """
import re
from workbench.api import HostBuild
from workbench.api.languages import FileKind, Syntax
from workbench.api.source.lines import source_bytes
from workbench.api.source.pragma_text import find_pragmas
from workbench.model.scan import CallSite, Definition, HostFile, HostScan

SYNTAX = Syntax(";", ("(*", "*)"), keywords="to|call|end", includes=r'^use "([^"\\n]+)"')

class Tin:
    name = "tin"
    files = (FileKind("Tin", (".tin",), SYNTAX),
             FileKind("Tin header", (".tih",), SYNTAX, compiled=False, included=True))
    def scan(self, root, host, platform, defines, job):
        calls, problems = [], []
        for name in host.sources:
            text = source_bytes(root / name).decode()
            pragmas, more = find_pragmas(text, SYNTAX, name)
            problems += more
            for number, line in enumerate(text.splitlines(), 1):
                if found := re.match(r"\\s*call (fpga\\w+)", line):
                    entry = next(e for e in platform.host.entries if found[1] in e.prototype)
                    own = tuple(p for p in pragmas if p.line == number - 1)
                    calls.append(CallSite(name, number, found.start(1) + 1, found[1], entry.kind, entry.prototype,
                                          pragmas=own, pragma_line=number, indent=line.index("call") + 1))
        return HostScan(tuple(calls), tuple(problems))
    def instrument(self, root, host, platform, defines, out, job): raise NotImplementedError
    def outline(self, root, files):
        texts = {name: (root / name).read_text() for name in files}
        return tuple(HostFile(name, "to main" in text, tuple(re.findall(r"to (\\w+)", text)),
                              frozenset(re.findall(r"\\w+", text)), (), ()) for name, text in texts.items())
    def definition(self, root, part, values, file, line, column, job):
        lines = source_bytes(file).decode().splitlines()
        name = next(m[0] for m in re.finditer(r"\\w+", lines[line - 1]) if m.start() < column <= m.end())
        at = lines.index(f"to {name}") + 1
        return Definition(str(file), at, 4, name, "procedure")

@hookimpl
def workbench_host_languages():
    return [Tin()]
"""
PROGRAM = """(* adds
words *)
to main
  call fpgaOpen
  ;pragma recap put send(data, tiny_top.adder, w1)
  call fpgaWrite words ; "no pragma"
  call fpgaReadReg 0x101
  total 5
end
to total
end
"""


def test_a_guest_language_is_a_full_citizen(bring: Callable[[str, str], None], tmp_path: Path) -> None:  # noqa: F811
    bring("tin", TIN)
    plugins, plugin = brought("tin")
    assert plugin.error == ""
    folder = tmp_path / "adder"
    shutil.copytree(TINY / "hdl", folder / "hdl")
    source = folder / "main.tin"
    source.write_text(PROGRAM)

    proposal = propose(folder, plugins, Choice(platform="nallatech_h101"))
    workspace = open_workspace(create(proposal), plugins)
    assert (workspace.host_language.name, workspace.host.sources) == ("tin", ("main.tin",))

    scan = workspace.scan({})
    calls = {call.callee: [p.pragma.name for p in call.pragmas] for call in scan.host.calls}
    assert calls == {"fpgaOpen": [], "fpgaWrite": ["put"], "fpgaReadReg": []}
    marks = [one for one in proposed(workspace, scan) if one.file == "main.tin"]
    write_marks(workspace, marks)
    assert "  ;pragma recap fpgaReadReg recv(ctrl, tiny_top.port, d1|s1)\n" in source.read_text()
    assert {c.callee for c in workspace.scan({}).host.calls if c.pragmas} == {"fpgaOpen", "fpgaWrite", "fpgaReadReg"}

    source.write_text(PROGRAM)
    meant = workspace.definition(source, 8, 3)
    assert meant is not None
    assert (meant.line, meant.what) == (10, "procedure")

    syntax = syntax_of(source)
    assert syntax is not None
    typed = typed_at("  ;pragma recap put se", syntax)
    assert typed is not None
    assert (typed.part, typed.begun) == ("category", "se")
    assert pragma_spans(PROGRAM.splitlines()[4], syntax)[0] == (2, 48, "pragma")
    lines = spans(PROGRAM, ".tin")
    assert lines[:4] == [[(0, 7, "comment")], [(0, 8, "comment")], [(0, 2, "keyword")], [(2, 4, "keyword")]]
    assert (23, 13, "comment") in lines[5]


def test_files_of_a_guest_language_are_sources_of_workbench_cc(bring: Callable[[str, str], None]) -> None:  # noqa: F811
    bring("tin", TIN.replace('(".tin",), SYNTAX', '(".tin",), SYNTAX, compiler="c"'))
    command.guests.cache_clear()
    read = command.read_command(
        ["-x", "c", "-c", "main.tin", "a.tih", "-x", "c++", "b.tin", "-x", "none", "c.cpp", "d.o"]
    )
    command.guests.cache_clear()
    assert read.sources == ("main.tin", "c.cpp")
    assert [one.name for one in read.other_code] == ["a.tih", "b.tin"]


def test_a_guest_language_whose_files_are_badly_described_is_named(bring: Callable[[str, str], None]) -> None:  # noqa: F811
    bring("tin", TIN.replace('keywords="', 'strings="(", keywords="'))
    plugins, plugin = brought("tin")
    assert plugin.error.startswith(("error: missing )", "PatternError: missing )"))
    assert "tin" not in plugins.host_languages
