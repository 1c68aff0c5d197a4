"""`workbench cc` in the compiler's place, in other people's ways to build."""

import json
import multiprocessing
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from host_c.conftest import PLATFORM, read_rows

from workbench.api.host_stats import read_stats
from workbench.api.host_units import read_units
from workbench.cli.main import main
from workbench.session.keep.collecting import collect_records
from workbench.session.make.compiler.command import read_command
from workbench.session.program.plugins import load_plugins
from workbench.system.cache import cache_dir
from workbench.system.toolchain import Tool, clang_command, find_clang

TEMPLATES = Path(__file__).parents[2] / "platform_templates"
HARDWARE = yaml.safe_load((TEMPLATES / "nallatech_h101.yaml").read_text())["hardware"]
FILES = {
    "app.workbench.yaml": "schema_version: 1\nname: app\nplatform: fake.yaml\n"
    "host: {sources: [src/main.c, lib/put.c]}\n"
    "hardware: {sources: [top.v], top: top, read_out: {first: 0xFF00, last: 0xFF0F}}\n",
    "fake.yaml": PLATFORM.replace("schema_version: 1", "schema_version: 2") + yaml.safe_dump({"hardware": HARDWARE}),
    "top.v": "module top(input clk); endmodule\n",
    "src/main.c": '#define _GNU_SOURCE\n#include <stdio.h>\n#include "put.h"\n\nint main(void)\n{\n'
    "    fake_t *f = fakeOpen(0);\n    put(f, LATER(f));\n    fakeClose(f);\n"
    '    printf("%s:%d\\n", __FILE__, __LINE__);\n    return 0;\n}\n',
    "src/plain.c": "int plain(void) { return 1; }\n",
    "lib/put.h": '#include "fake.h"\n#define LATER(f) (int)fakeReg(f, 3)\nint put(fake_t *f, int times);\n',
    "lib/put.c": '#include "put.h"\n\nint put(fake_t *f, int times)\n{\n    for (int i = 0; i < times; i++)\n'
    "        #pragma recap words send(data, top.in, m)\n        fakeWrite(f, 0, i, 2 + SIZE);\n    return 0;\n}\n",
    "Makefile": "CFLAGS = -g -O2 -Wall -Wno-unknown-pragmas -Ilib -I$(API) -MMD -MP $(MORE)\n"
    "app: src/main.o src/plain.o libput.a\n\t$(CC) $(CFLAGS) $^ $(API)/fake.o -o $@\n"
    "libput.a: lib/put.o\n\tar rcs $@ $^\nlib/put.o: CFLAGS += -DSIZE=6\n-include src/main.d lib/put.d\n",
}


@pytest.fixture
def app(tmp_path: Path, fake_api: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / "app" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "app"


def make(app: Path, api: Path, *words: str) -> subprocess.CompletedProcess[str]:
    compiler = f"{sys.executable} -m workbench cc"
    return subprocess.run(
        ["make", f"CC={compiler}", f"API={api}", *words], cwd=app, capture_output=True, text=True, timeout=240
    )


def workbench(folder: Path, command: str, *words: str | Path, typed: str = "") -> subprocess.CompletedProcess[str]:
    """`workbench COMMAND` in a fork of this process, which has the modules whose import takes most of its second."""
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(typed.encode())
        stdin.seek(0)
        arguments = (folder, [command, *map(str, words)], [file.fileno() for file in (stdin, stdout, stderr)])
        forked = multiprocessing.get_context("fork").Process(target=_in_place_of_this, args=arguments)
        forked.start()
        forked.join(240)
        assert forked.exitcode is not None
        said = []
        for file in (stdout, stderr):
            file.seek(0)
            said.append(file.read().decode(errors="surrogateescape"))
    return subprocess.CompletedProcess(words, forked.exitcode, *said)


def _in_place_of_this(folder: Path, words: Sequence[str], streams: Sequence[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", 1, closefd=False, errors="backslashreplace") for number in (1, 2))
    os.chdir(folder)
    sys.exit(main(words))


def run(app: Path) -> tuple[str, dict[tuple[str, int, str, int], int]]:
    """What the program prints, and how often, and with how many bytes, each of its calls was made."""
    raw = app / "raw"
    raw.mkdir(exist_ok=True)
    environment = {**os.environ, "RCW_RAW": str(raw), "FAKE_LOG": str(app / "log")}
    done = subprocess.run([app / "app"], env=environment, capture_output=True, text=True, check=True)
    units = read_units(raw)
    assert units is not None
    rows = read_rows(read_stats(raw))
    sites = [(units.sites[row["site"]], int(row["count"]), int(row["bytes"])) for row in rows if row["count"]]
    return done.stdout, {(site.file, site.line, site.callee, size): count for site, count, size in sites}


EXPECTED = {
    ("src/main.c", 7, "fakeOpen", 0): 1,
    ("src/main.c", 9, "fakeClose", 0): 1,
    ("src/main.c", 8, "fakeReg", 4): 1,
    ("lib/put.c", 7, "fakeWrite", 96): 3,
}


def test_a_makefile_builds_its_sources_apart_into_one_program_that_is_recorded(app: Path, fake_api: Path) -> None:
    built = make(app, fake_api)
    assert (built.returncode, built.stderr) == (0, "")
    assert run(app) == ("src/main.c:10\n", EXPECTED)
    collected = workbench(app, "collect", ".", "raw", "--out", app.parent / "run", "--json")
    assert collected.returncode == 0, collected.stderr
    calls = json.loads(workbench(app, "report", app.parent / "run", "--json").stdout)["calls"]
    assert {(call["entry"], call["site"], call["count"], call["bytes"]) for call in calls} == {
        (callee, f"{file}:{line}", count, size) for (file, line, callee, size), count in EXPECTED.items()
    }
    listed = (app / "src" / "main.d").read_text()
    assert listed.startswith("src/main.o: src/main.c lib/put.h")
    assert str(cache_dir()) not in listed
    lines = subprocess.run(["objdump", "--dwarf=decodedline", app / "app"], capture_output=True, text=True).stdout
    assert {name for name in ("main.c", "put.c", "plain.c") if f"{name}:" in lines} == {"main.c", "put.c", "plain.c"}
    again = make(app, fake_api, "-q")
    assert again.returncode == 0, "nothing is left to be made"
    (app / "lib" / "put.c").write_text(
        FILES["lib/put.c"].replace("put(fake_t *f, int times)\n{", "put(fake_t *f, int t)\n{")
    )
    broken = make(app, fake_api)
    assert broken.returncode != 0
    assert "lib/put.c:5:25: error: ‘times’ undeclared" in broken.stderr


def test_compiled_and_linked_at_once_with_a_condition_that_is_wrong(app: Path, fake_api: Path) -> None:
    (app / "words").write_text(f"-O1 -w -DSIZE=6 -I lib -isystem '{fake_api}'")
    words = ["@words", "src/main.c", "lib/put.c", fake_api / "fake.o", "-o", "app"]
    built = workbench(app, "cc", *words)
    assert (built.returncode, built.stderr) == (0, "")
    assert run(app) == ("src/main.c:10\n", EXPECTED)
    text = FILES["lib/put.c"].replace("top.in, m)", "top.in, m): j > 1")
    (app / "lib" / "put.c").write_text(text)
    wrong = workbench(app, "cc", *words)
    assert wrong.returncode == 2
    assert "put.c:6" in wrong.stderr
    assert "does not compile here: use of undeclared identifier 'j'" in wrong.stderr
    for target, code in (("put.o", 2), ("/dev/null", 0)):  # the latter is the compiler's own affair
        assert workbench(app, "cc", "@words", "-c", "lib/put.c", "-o", target).returncode == code
    assert not (app / "put.o").exists(), "make would take it for made"
    assert not Path("/dev/null").is_file()


def test_a_source_is_compiled_and_linked_with_object_files_that_record(app: Path, fake_api: Path) -> None:
    flags = ["-w", "-DSIZE=6", "-Ilib", f"-I{fake_api}"]
    for words in (["-c", "lib/put.c", "-o", "put.o"], ["put.o", "src/main.c", fake_api / "fake.o", "-o", "app"]):
        done = workbench(app, "cc", *flags, *words)
        assert (done.returncode, done.stderr) == (0, "")
    assert run(app) == ("src/main.c:10\n", EXPECTED)


def test_a_call_that_is_not_recorded_is_told_by_the_compiler_and_by_the_run(app: Path, fake_api: Path) -> None:
    text = '#include "put.h"\n#define JOIN(a, b) a##b\n'
    text += "int put(fake_t *f, int t)\n{\n    return t + JOIN(fake, Reg)(f, 1);\n}\n"
    (app / "lib" / "put.c").write_text(text)
    built = make(app, fake_api)
    told = "lib/put.c:5:16: warning: this use of fakeReg is not instrumented: its name is produced by a macro"
    assert built.returncode == 0
    assert told in built.stderr
    run(app)
    made = collect_records(app, app / "raw", app.parent / "run", load_plugins())
    assert [d.text().partition(" that is not")[0] for d in made.manifest.diagnostics] == [f"{app}/{told}"]
    assert [call.callee for call in made.manifest.sites] == ["fakeOpen", "fakeReg", "fakeClose"]


def test_an_address_taken_in_two_sources_stays_one_and_a_header_may_be_included_by_its_path(
    app: Path, fake_api: Path
) -> None:
    (app / "api.d").mkdir()
    (app / "api.d" / "fake.h").write_text((fake_api / "fake.h").read_text())
    begin = '#include "../api.d/fake.h"\n#include <stdio.h>\ntypedef uint32_t (*reader)(fake_t *, uint32_t);\n'
    (app / "src" / "other.c").write_text(f"{begin}reader other(void) {{ return fakeReg; }}\n")
    text = "reader other(void);\nint main(void)\n{\n    fake_t *f = fakeOpen(0);\n    reader mine = fakeReg;\n"
    text += '    printf("%d\\n", mine == other());\n    return (int)(mine(f, 1) - other()(f, 1));\n}\n'
    (app / "src" / "main.c").write_text(begin + text)
    words = ["-w", "src/main.c", "src/other.c", fake_api / "fake.o", "-o", "app"]
    built = workbench(app, "cc", *words)
    assert (built.returncode, built.stderr) == (0, "")
    assert run(app) == ("1\n", {("src/main.c", 7, "fakeOpen", 0): 1, ("src/main.c", 8, "fakeReg", 8): 2})


def test_what_is_no_compiling_is_the_compilers_own(app: Path) -> None:
    version = workbench(app, "cc", "--version")
    assert version.stdout == subprocess.run(["gcc", "--version"], capture_output=True, text=True).stdout
    elsewhere = app.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.c").write_text("int a;\n")
    alone = workbench(elsewhere, "cc", "-c", "a.c")
    assert alone.returncode == 2
    assert "there is no project file here or in a folder above" in alone.stderr


def test_a_cpp_source_where_a_build_system_takes_this_program_for_the_compiler(
    app: Path, fake_api: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'extern "C" {\n#include "fake.h"\n}\n#include <vector>\n\n'
    text += "namespace vendor { namespace api { using ::fakeReg; } }\n\nint main()\n{\n"
    text += "    fake_t *f = ::fakeOpen(0);\n    for (int i : std::vector<int>{1, 2}) vendor::api::fakeReg(f, i);\n"
    text += "    #pragma recap shut overhead(finalize): f != nullptr\n    return ::fakeClose(f), 0;\n}\n"
    (app / "src" / "main.cpp").write_text(text)
    words = [f"-I{fake_api}", "-g", "src/main.cpp", fake_api / "fake.o", "-o", "app"]
    monkeypatch.setenv("CXX", str(Path(sys.executable).with_name("workbench")))
    built = workbench(app, "c++", *words)
    assert (built.returncode, built.stderr) == (0, "")
    calls = {("src/main.cpp", 10, "fakeOpen", 0): 1, ("src/main.cpp", 11, "fakeReg", 8): 2}
    assert run(app)[1] == {**calls, ("src/main.cpp", 13, "fakeClose", 0): 1}


def test_what_was_the_source_before_is_compiled_and_linked_again(app: Path, fake_api: Path) -> None:
    """A branch switched there and back: every object file is newer than the program."""
    first, second = FILES["src/plain.c"], "int plain(void) { return 2; }\n"
    main = FILES["src/main.c"].replace("__LINE__)", "plain())").replace('"put.h"', '"put.h"\nint plain(void);')
    (app / "src" / "main.c").write_text(main)
    for text, printed in ((first, 1), (second, 2), (first, 1)):
        (app / "src" / "plain.c").write_text(text)
        assert make(app, fake_api).returncode == 0
        assert run(app)[0] == f"src/main.c:{printed}\n"
        assert make(app, fake_api, "-q").returncode == 0, "nothing is left to be made"


def test_a_copied_project_has_its_own_paths_and_the_environment_counts(
    app: Path, fake_api: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '#include <stdio.h>\n#include "kind.h"\n'
    text += 'int main(void) { printf("%s %s %d\\n", __FILE__, DATA, KIND); return 0; }\n'
    (app / "src" / "main.c").write_text(text)
    for number in (1, 2):
        (app.parent / str(number)).mkdir()
        (app.parent / str(number) / "kind.h").write_text(f"#define KIND {number}\n")
    for place in (app, Path(shutil.copytree(app, app.parent / "copy"))):
        for number in (1, 2):
            monkeypatch.setenv("CPATH", str(app.parent / str(number)))
            words = [f'-DDATA="{place}"', f"{place}/src/main.c", "-o", "app"]
            assert workbench(place, "cc", *words).returncode == 0
            printed = subprocess.run([place / "app"], capture_output=True, text=True, check=True).stdout
            assert printed == f"{place}/src/main.c {place} {number}\n"


WARNS = '#include "fake.h"\nint f(fake_t *d) { int unused; /* \xfc */ int x = 3; return fakeWrite(d, 0, 0, 1); }\n'
#: words for the compiler, and the files that it writes
SAME_BUILD = (
    "-MD src/main.c lib/put.c API/fake.o -o app", "-MMD -MFx.d -MTfoo -c src/main.c -o sub.o",
    "-Wp,-MMD,dep.d -c src/main.c -o sub.o", "-c src/main.c --output zz.o", "--sysroot / --compile src/main.c",
    "--shared -fPIC src/main.c -o l.so", "-x c -o app src/main.c lib/put.c -x none API/fake.o",
    "-xc -c src/main.c -osub.o",
    "-save-temps src/main.c lib/put.c API/fake.o -o app", "@latin -c src/main.c", "-o", "-c nofile.c", "src/plain.h",
    "-fstack-usage -c src/main.c src/plain.c",
    "-Wall -fdiagnostics-color=always -std=c89 -pedantic-errors -c src/warns.c",
)  # fmt: skip


@pytest.mark.parametrize("line", SAME_BUILD)
def test_a_build_is_the_same_build(app: Path, fake_api: Path, line: str) -> None:
    (app / "latin").write_bytes(b'-DNAME=\\"\xe9\\" "-DTWO=a\\ b"\n')
    (app / "src" / "plain.h").write_text("int plain(void);\n")
    (app / "src" / "warns.c").write_text(WARNS, "latin-1")
    words = ["-Wno-unknown-pragmas", "-Ilib", f"-I{fake_api}", "-DSIZE=6", *line.replace("API", str(fake_api)).split()]

    def built(recorded: bool) -> tuple[object, ...]:
        before = {path: path.read_bytes() for path in app.rglob("*") if path.is_file()}
        gcc = {"cwd": app, "capture_output": True, "text": True, "errors": "surrogateescape"}
        done = workbench(app, "cc", *words) if recorded else subprocess.run(["gcc", *words], **gcc)  # type: ignore[call-overload]
        new = sorted(path for path in app.rglob("*") if path.is_file() and path not in before)
        lists = {path.name: path.read_text() for path in new if path.suffix in (".d", ".i")}
        printed = run(app)[0] if app / "app" in new and recorded else ""
        assert not printed or printed == "src/main.c:10\n"
        written = [path for path in new if path.is_file()]
        for path in written:
            path.unlink()
        return done.returncode, done.stdout, done.stderr, written, lists

    assert built(recorded=True) == built(recorded=False)


@pytest.mark.parametrize(
    ("words", "typed", "why"),
    [
        (["-x", "c++", "-fpermissive", "src/main.c"], "", "-x c++ and its name do not agree"),
        (["src/main.i"], "", "it is preprocessed"),
        (["-x", "c", "-"], FILES["src/main.c"], "it comes from standard input"),
    ],
)
def test_what_cannot_be_recorded_is_reported(app: Path, fake_api: Path, words: list[str], typed: str, why: str) -> None:
    flags = ["-w", "-Ilib", f"-I{fake_api}"]
    subprocess.run(["gcc", *flags, "-E", "src/main.c", "-o", "src/main.i"], cwd=app, check=True)
    done = workbench(app, "cc", *flags, "-c", *words, "-o", "main.o", typed=typed)
    assert (done.returncode, done.stdout) == (0, "")
    assert f"{words[-1]}: warning: the calls in this code are not recorded: {why}." in done.stderr
    assert (app / "main.o").is_file()
    quiet = [*words[:-1], "src/plain.c" if words[-1] != "-" else "-"]
    done = workbench(app, "cc", "-c", *quiet, "-o", "plain.o", typed="int plain;\n")
    assert (done.returncode, done.stderr) == (0, ""), "no call, no word"


def test_a_script_that_leads_back_does_not_start_without_end(
    app: Path, fake_api: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = app / "mycc"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m workbench cc -DSIZE=6 "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    words = ["-w", "-Ilib", f"-I{fake_api}", "src/main.c", "lib/put.c", fake_api / "fake.o", "-o", "app"]
    subprocess.run([script, *words], cwd=app, check=True, timeout=120)
    assert run(app) == ("src/main.c:10\n", EXPECTED)
    monkeypatch.setenv("PATH", str(app / "bin"), prepend=os.pathsep)
    (app / "bin").mkdir()
    (app / "bin" / "gcc").symlink_to(script)
    done = subprocess.run([script, *words], cwd=app, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "the compiler that `workbench cc` starts is that command itself. Set RECAP_CC" in done.stderr


def test_what_the_compiler_writes_beside_an_object_file_is_the_users_own(app: Path, fake_api: Path) -> None:
    built = make(app, fake_api, "MORE=--coverage")
    assert (built.returncode, built.stderr) == (0, "")
    assert run(app)[1] == EXPECTED
    told = subprocess.run(["gcov", "-t", "lib/put.o"], cwd=app, capture_output=True, text=True, check=True).stdout
    assert "        3:    7:        fakeWrite(f, 0, i, 2 + SIZE);" in told


@pytest.mark.parametrize("flags", ["-O0", "-O2 -flto"])
def test_clang_in_the_compilers_place(app: Path, fake_api: Path, monkeypatch: pytest.MonkeyPatch, flags: str) -> None:
    found = find_clang()
    assert isinstance(found, Tool)
    words = clang_command(found)
    if found.path.name == "zig":  # whose own headers and target are another system's
        words += [f"--target={platform.machine()}-linux-gnu", "-isystem", str(found.path.parent / "lib" / "include")]
    clang = app / "clang"
    clang.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    clang.chmod(0o755)
    monkeypatch.setenv("RECAP_CC", str(clang))
    compiled = f"-g -Wno-unknown-pragmas -DSIZE=6 -Ilib -I{fake_api} -c {flags}".split()
    for step in (
        [*compiled, "src/main.c", "-o", "main.o"],
        [*compiled, "lib/put.c", "-o", "put.o"],
        ["main.o", "put.o", fake_api / "fake.o", "-o", "app"],
    ):
        done = workbench(app, "cc", *step)
        assert (done.returncode, done.stderr) == (0, "")
    assert run(app) == ("src/main.c:10\n", EXPECTED)


def test_options_are_read_as_gcc_reads_them(tmp_path: Path) -> None:
    """Each of its options with a word after it, which is either the option's value or a file to be linked."""
    listed = subprocess.run(["gcc", "--completion=-"], capture_output=True, text=True, check=True).stdout.split()
    options = [name for name in listed if not re.match(r"--?(W|f|param|m|O|g|std|help|wrapper)|.*no-", name)]
    assert {"-MF", "--output", "--sysroot", "-dumpbase", "--print-search-dirs"} <= set(options)
    (tmp_path / "a.c").write_text("int a;\n")
    differ = []
    for option in options:
        words = [option, "value", "-c", "a.c", "-o", "x.o"]
        done = subprocess.run(["gcc", "-###", *words], cwd=tmp_path, capture_output=True, text=True)
        if done.returncode or option == "-###":
            continue
        compiles = re.search(r"^ \S*/cc1\"? .* a\.c ", done.stderr, re.MULTILINE)
        made = bool(compiles) and bool(re.search(r"^ as .*-o x\.o ", done.stderr, re.MULTILINE))
        command = read_command(words)
        if made != (command.makes_objects and command.sources == ("a.c",) and command.value("-o") == "x.o"):
            differ.append(option)
    assert differ == []


#: keeps an object file by the preprocessed source, as ccache does
CCACHE = """#!/bin/sh
for word; do [ "$last" = -o ] && out=$word; last=$word; done
export CCACHE_DISABLE=1
text=$(printf "%s\\n" "$@" | grep -vxF -e -c -e -o -e "$out" | xargs -d "\\n" sh -c '"$@" -E' sh)
key=$(echo "$text" | sha256sum | cut -c1-40)
[ -f "$KEPT/$key" ] || { "$@" && cp "$out" "$KEPT/$key"; } || exit
echo "$key" >>"$KEPT/asked"
cp "$KEPT/$key" "$out"
"""


def test_a_cache_of_object_files_in_front_knows_the_platform(
    app: Path, fake_api: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ccache, kept = tmp_path / "ccache", tmp_path / "kept"
    ccache.write_text(CCACHE)
    ccache.chmod(0o755)
    kept.mkdir()
    monkeypatch.setenv("KEPT", str(kept))
    template = app / "fake.yaml"

    def asked_for() -> str:
        words = [ccache, sys.executable, "-m", "workbench", "cc", "-DSIZE=6", f"-I{fake_api}", "-c", "lib/put.c", "-o"]
        subprocess.run([*words, "put.o"], cwd=app, check=True, capture_output=True, timeout=60)
        return (kept / "asked").read_text().split()[-1]

    first, again = asked_for(), asked_for()
    assert first == again
    template.write_text(template.read_text() + "# changed\n")
    assert asked_for() != first
