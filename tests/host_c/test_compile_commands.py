"""Sources read and built with the flags that the project's own build has for each of them."""

import json
from pathlib import Path

import pytest
import yaml
from answers import refusal
from rc_workbench_plugins.simulated_card.host import build_host

from workbench.api import HdlBuild, HostBuild
from workbench.api.job import Job
from workbench.api.targets import Task
from workbench.model.diagnostic import Severity
from workbench.session.open.opening import open_workspace
from workbench.session.open.trust import content
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins

FILES = {
    "src/main.c": '#include "sub.h"\nconst char *name = NAME;\nint main(void)\n{\n#if SIZE == 3 && !defined(OF_SUB)\n'
    "    unsigned word;\n    return fpgaRead(fpgaOpen(0), &word, 8, SIZE) + sub();\n#endif\n}\n",
    "src/sub.c": '#include "sub.h"\nint sub(void)\n{\n#ifdef OF_SUB\n    fpgaWrite(0, 0, 8, SIZE);\n#endif\n'
    "    return 0;\n}\n",
    "lib/deep/sub.h": "#include <fpga.h>\nint sub(void);\n",
    "top.v": "module top(input clk); endmodule\n",
}
COMMANDS = [
    {
        "directory": "..",
        "file": "src/main.c",
        "command": "cc -Ilib/deep -DNAME='\"a b\"' -O0 -DSIZE=3 -MD -c src/main.c",
    },
    {
        "directory": "../lib",
        "file": "../src/sub.c",
        "arguments": ["cc", "-I", "deep", "-D", "OF_SUB", "-DSIZE=6", "-flto", "-fplugin=./p.so", "-o", "x.o"],
    },
]


def opened(root: Path, text: str = "", **host: object) -> Workspace:
    for name, source in {**FILES, "build/compile_commands.json": text or json.dumps(COMMANDS)}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(source)
    part = {"sources": ["src/*.c"], "compile_commands": "build/compile_commands.json", **host}
    hardware = {"sources": ["top.v"], "top": "top", "read_out": {"first": 0xFF00, "last": 0xFF0F}}
    document = {"schema_version": 1, "name": "app", "platform": "nallatech_h101", "host": part, "hardware": hardware}
    (root / "app.workbench.yaml").write_text(yaml.safe_dump(document))
    return open_workspace(root, load_plugins())


def build(workspace: Workspace, host: HostBuild | None) -> Path:
    folder = workspace.root / "made"
    hdl, support = HdlBuild((), "top", ()), workspace.support
    return build_host(
        Task(workspace.project, workspace.platform, workspace.root, hdl, folder, folder, support, host), Job()
    )


def test_each_source_is_read_and_built_with_its_own_flags(tmp_path: Path) -> None:
    workspace = opened(tmp_path)
    root, language = workspace.root, workspace.host_language
    assert workspace.diagnostics == ()
    assert workspace.project.host.source_flags == {
        "src/main.c": ("-I", f"{root}/lib/deep", '-DNAME="a b"', "-O0", "-DSIZE=3"),
        "src/sub.c": ("-I", f"{root}/lib/deep", "-DOF_SUB", "-DSIZE=6"),
    }
    found = language.scan(root, workspace.host, workspace.platform, {}, Job())
    assert found.diagnostics == ()
    assert [(Path(call.file).name, call.line) for call in found.calls] == [("main.c", 7), ("main.c", 7), ("sub.c", 5)]
    assert build(workspace, None).is_file()
    made = language.instrument(root, workspace.host, workspace.platform, {}, root / "copies", Job())
    assert [site.line for site in made.sites] == [7, 7, 5]
    assert build(workspace, made).is_file()
    assert workspace.root / "build" / "compile_commands.json" in workspace.documents
    assert "build/compile_commands.json" in content(workspace), "agreed to with all else that a build reads"


def test_one_beside_the_project_is_found_and_the_projects_own_flags_come_last(tmp_path: Path) -> None:
    (tmp_path / "compile_commands.json").write_text(json.dumps([{**COMMANDS[0], "directory": "."}]))
    own = {"src/main.c": ["-O3"], "src/mian.c": ["-O1"]}
    workspace = opened(tmp_path, compile_commands="", source_flags=own)
    assert workspace.project.host.source_flags["src/main.c"][-3:] == ("-O0", "-DSIZE=3", "-O3")
    (told,) = workspace.diagnostics
    lines = workspace.path.read_text().splitlines()
    assert (told.message, told.line) == ("there is no host source 'src/mian.c'", lines.index("    - -O1") + 1)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[\n{]", 2, "it is not JSON"),
        ('{"file": 1}', None, "it is not a list of commands"),
        ('[{"directory": "/", "file": "a.c"}]', None, "entry 1 has no directory, file and command"),
        ('[{"directory": "/", "file": "a.c", "command": "cc \'"}]', None, "entry 1 has no directory"),
    ],
)
def test_a_broken_one_is_told_and_the_project_opens(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    workspace = opened(tmp_path, text)
    (told,) = workspace.diagnostics
    assert message in told.message
    assert (told.file, told.line) == (str(workspace.root / "build" / "compile_commands.json"), line)
    assert told.severity is Severity.WARNING
    assert workspace.project.host.source_flags == {}


def test_one_that_is_named_has_to_be_there(tmp_path: Path) -> None:
    told = refusal(opened, tmp_path, compile_commands="built/compile_commands.json")
    assert told.message == "there is no file 'built/compile_commands.json'"
    assert told.line is not None


@pytest.mark.parametrize("key", ["directory", "file", "command"])
def test_a_character_that_no_name_can_have_costs_one_entry(tmp_path: Path, key: str) -> None:
    commands = [dict(command) for command in COMMANDS]
    commands[0][key] += "\0"
    workspace = opened(tmp_path, json.dumps(commands))
    (problem,) = (p for p in workspace.diagnostics if "entry 1" in p.message)
    assert "entry 1 has a character (U+0000) that names and flags cannot contain" in problem.message
    assert set(workspace.project.host.source_flags) == {"src/sub.c"}
