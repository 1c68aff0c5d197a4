"""Sources as people have them: headers, macros, odd bytes, pointers, old C; what cannot be seen is said."""

from collections import Counter
from pathlib import Path

import pytest
from clang import cindex
from rc_workbench_plugins.c.system_clang import first_that_loads, newer

START = '#include <stdio.h>\n#include "fake.h"\n'


def recorded_is_true(project, *, missed: int = 0):
    """Instrument, run plain and instrumented, and hold the counts against what happened."""
    build = project.instrument()
    assert len(build.missed) == missed, build.missed
    assert not [d for d in build.diagnostics if d.severity == "error"], build.diagnostics
    plain = project.run(None, name="plain")
    ran = project.run(build)
    assert (ran.exit, ran.stdout, ran.stderr) == (plain.exit, plain.stdout, plain.stderr)
    assert ran.truth == plain.truth
    if not missed:
        assert ran.recorded == Counter(ran.truth)
    return build, ran


def test_calls_in_headers_of_the_user(project) -> None:
    project.include_dirs = ("include",)
    project.file(
        "include/deep/io.h",
        '#pragma once\n#include "../types.h"\nstatic inline int put(fake_t *f, word w)\n{\n'
        "    #pragma recap putWord send(data, top.in, p1)\n    return fakeWrite(f, &w, 0, 1);\n}\n",
    )
    project.file("include/types.h", '#include "fake.h"\ntypedef uint32_t word;\n')
    project.file("src/part.h", 'int part(fake_t *f);\n#define LATER "table.inc"\n')
    project.file("src/table.inc", "int table[] = { 1, 2, 3 };\n")
    project.file(
        "src/part.c",
        '#include <deep/io.h>\n#include "part.h"\n#include LATER\n'
        "int part(fake_t *f) { return put(f, table[1]) + fakeReg(f, 5); }\n",
    )
    project.file(
        "src/main.c",
        '#include "../include/deep/io.h"\n#include "part.h"\n#include <stdio.h>\nint main(void)\n{\n'
        '    fake_t *f = fakeOpen(0);\n    printf("%d %s\\n", put(f, 1) + part(f), __FILE__);\n    return 0;\n}\n',
    )
    build, ran = recorded_is_true(project)
    assert ran.states.count("putWord") == 2
    assert len(build.sites) == 3
    assert sum(site.file.endswith("include/deep/io.h") for site in build.sites) == 1


def test_excluded_files_are_left_alone(project) -> None:
    layer = '#include "fake.h"\nint layer(fake_t *f) { return fakeReg(f, 3); }\n'
    project.file("api/layer.c", layer)
    project.file(
        "main.c", START + "int layer(fake_t *f);\nint main(void) { fake_t *f = fakeOpen(0); return layer(f) != 3; }\n"
    )
    host = project.platform.host
    for patterns in (("layer.c",), ("api/*",)):
        project.platform = project.platform.model_copy(
            update={"host": host.model_copy(update={"exclude_files": patterns})}
        )
        build = project.instrument()
        assert [s.callee for s in build.sites] == ["fakeOpen"]
        assert [c.callee for c in project.scan().calls] == ["fakeOpen"]
        assert layer in build.sources[0].read_text()
    assert project.run(build).recorded == Counter(["fakeOpen"])


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_bytes_survive(project, ending: str) -> None:
    text = (
        "\ufeff/* gr\u00fc\u00df */\n" + START + "int main(void)\n{\n    fake_t *f = fakeOpen(0);\n"
        '    puts("\u00e4\u00f6 \\\n fakeReg(f, 1)"); // fakeReg(f, 1) \\\n    fakeReg(f, 1);\n'
        "    #pragma recap first recv(data, top.a, m)\n    int \u00e4 = fakeReg(f, 2);\n    return \u00e4 != 2;\n}\n"
    )
    source = project.file("main.c", text.replace("\n", ending).encode())
    build, ran = recorded_is_true(project)
    assert ran.exit == 0
    assert ran.states == ["fakeOpen", "first"]
    copy = build.sources[0].read_bytes()
    assert copy.count(b"\n") == source.read_bytes().count(b"\n") + 1
    assert copy.count(b"\r\n") == source.read_bytes().count(b"\r\n")


def test_latin_1(project) -> None:
    project.file(
        "main.c",
        (START + "/* \u00fc */ int main(void)\n{\n    fake_t *f = fakeOpen(0); puts(\"\u00e9\");\n"
         "    #pragma recap take recv(data, top.a, m) /* \u00e9 */\n    fakeReg(f, 1);\n    return 0;\n}\n"
         ).encode("latin-1"),
    )  # fmt: skip
    _, ran = recorded_is_true(project)
    assert ran.stdout == b"\xe9\n"
    assert ran.states == ["fakeOpen", "take"]


def test_every_use_of_a_macro_is_a_site(project) -> None:
    project.file("poll.h", "#define POLL(f, a) fakeReg((f), \\\n  (a))\n#define READ fakeRead\n")
    project.file(
        "main.c",
        START + '#include "poll.h"\n#include <assert.h>\n'
        "#define BOTH(f) (POLL(f, 7) + POLL(f, 8))\n"
        "#define IF(c) if (c)\n"
        "#define SHOW(e) printf(\"%d\\n\", (int)(e))\n"
        "#define UNUSED(f) fakeClose(f)\n"
        "#define fakeMove(f, d, n, to) (puts(\"mine\"), fakeMove(f, d, n, to))\n"
        "int main(void)\n{\n    uint32_t d[4]; fake_t *f = fakeOpen(0);\n"
        "    #pragma recap one recv(data, top.a, m): d[0] != 0 || 1\n"
        "    unsigned x = POLL(f,\n 5);\n"
        "    #pragma recap two recv(data, top.a, m)\n"
        "    x += POLL(f, 6);\n"
        "    #pragma recap both recv(data, top.a, m)\n"
        "    x += BOTH(f);\n"
        "    IF (POLL(f, 9) == 9) READ(f, d, 0, 1);\n"
        "    SHOW(POLL(\n        f, 10) + sizeof(POLL(f, 11)));\n"
        "    assert(POLL(f, 12));\n"
        "    fakeMove(f, d, 4, 1);\n"
        "    return x != 5 + 6 + 7 + 8;\n}\n",
    )  # fmt: skip
    build, ran = recorded_is_true(project)
    assert ran.exit == 0
    at = dict(zip(ran.calls["address"].tolist(), ran.states, strict=True))
    assert at | {0: "", -1: ""} == {
        -1: "", 0: "", 5: "one", 6: "two", 7: "both", 8: "both", 9: "fakeReg", 10: "fakeReg", 12: "fakeReg",
    }  # fmt: skip
    lines = {site.line for site in build.sites if site.callee == "fakeReg"}
    assert len(lines) == 6


def test_a_macro_of_the_api(project) -> None:
    project.file(
        "main.c",
        START + "int main(void)\n{\n    fake_t *f = fakeOpen(0);\n    #pragma recap peek recv(data, top.a, m)\n"
        "    return fakePeek(f, 3 + 4) - fakePeek(f, fakePeek(f, 3) + 1);\n}\n",
    )
    build, ran = recorded_is_true(project)
    assert ran.exit == 0
    assert ran.recorded["fakePeek"] == 3
    assert [d.severity for d in build.diagnostics] == ["warning"]


def test_what_cannot_be_seen_is_said(project) -> None:
    project.file(
        "main.c",
        START + "#define CALL(x) fake##x\nint main(void)\n{\n    fake_t *f = fakeOpen(0);\n"
        "    CALL(Reg)(f, 1);\n    fakePoll(f);\n    return 0;\n}\n",
    )
    build, ran = recorded_is_true(project, missed=2)
    assert [(d.line, d.column) for d in build.missed] == [(7, 5), (8, 5)]
    assert "macro" in build.missed[0].message
    assert ran.recorded == Counter(["fakeOpen"])


def test_calls_through_pointers(project) -> None:
    project.file(
        "main.c",
        START + "struct ops { uint32_t (*reg)(fake_t *, uint32_t); int (*control)(fake_t *, int, ...); };\n"
        "static const struct ops ops = { .reg = fakeReg };\n"
        "int main(void)\n{\n    fake_t *f = fakeOpen(0);\n    uint32_t (*reg)(fake_t *, uint32_t) = &fakeReg;\n"
        "    return ops.reg(f, 1) + reg(f, 2) + (reg == fakeReg && ops.reg == reg) - 4;\n}\n",
    )  # fmt: skip
    build, ran = recorded_is_true(project)
    assert ran.exit == 0
    assert [d.severity for d in build.diagnostics] == ["note"] * 3
    assert len(build.sites) == 2
    project.file(
        "main.c", START + "int (*c)(fake_t *, int, ...) = fakeControl; int main(void) { return 0; }\n", source=False
    )
    assert "varying number" in project.instrument().missed[0].message


def test_old_c(project) -> None:
    project.flags = ("-std=gnu89",)
    project.file(
        "main.c",
        "#include <stdint.h>\ntypedef struct { int number; } fake_t;\nfake_t *fakeOpen(int);\nuint32_t fakeReg();\n"
        "int fakeWrite(fake_t *f);\n"
        "int twice(f, n) fake_t *f; int n; { return fakeReg(f, n) * 2; }\n"
        "main() { fake_t *f = fakeOpen(0); if (0) fakeWrite(f); return twice(f, 2) - 4; }\n",
    )
    build, ran = recorded_is_true(project, missed=2)
    assert ran.recorded == Counter(["fakeOpen"])
    assert "without parameters" in build.missed[0].message
    assert "1 parameter, the platform's entry has 4" in build.missed[1].message


def test_a_source_that_is_not_wholly_read(project) -> None:
    project.file("main.c", '#include "nowhere.h"\n' + START + "int main(void)\n{\n    fakeOpen(0);\n    return x;\n}\n")
    scan = project.scan()
    assert [(d.line, d.severity) for d in scan.diagnostics] == [(1, "error"), (7, "error")]
    assert "nowhere.h" in scan.diagnostics[0].message
    assert [c.callee for c in scan.calls] == ["fakeOpen"]
    build = project.instrument()  # gcc has the last word
    assert {d.severity for d in build.diagnostics} == {"warning"}
    with pytest.raises(AssertionError, match=r"main.c:1:10: fatal error: nowhere.h"):
        project.run(build)


def test_what_only_gcc_accepts_still_runs(project) -> None:
    project.file(
        "main.c",
        START + "int main(void)\n{\n    fake_t *f = fakeOpen(0);\n    int nested(int n) { return fakeReg(f, n); }\n"
        "    later(nested(2));\n    fakeClose(f);\n    return 0;\n}\nint later(int n) { return n; }\n",
    )
    build = project.instrument()
    assert [(d.line, d.severity) for d in build.diagnostics] == [(6, "warning")]
    ran = project.run(build, flags=["-w"])
    assert ran.exit == 0
    assert ran.recorded == Counter(["fakeOpen", "fakeClose"])


def test_an_api_of_the_projects_own_beside_the_source(project) -> None:
    project.file("src/layer.h", "#include \"fake.h\"\nstatic inline int layerPut(fake_t *f, int n)\n"
                 "{ return fakeWrite(f, 0, 0, n); }\n")  # fmt: skip
    project.file("src/string.h", "#error not the system's\n")
    project.file(
        "src/main.c", '#include <string.h>\n#include "layer.h"\nint main(void) { return layerPut(0, 2) - 2; }\n'
    )
    entry = project.platform.host.entries[1].model_copy(
        update={"prototype": "int layerPut(fake_t *f, int n)", "bytes": "n * 4", "fpga": "", "address": ""}
    )
    host = project.platform.host.model_copy(
        update={"entries": (entry,), "include_lines": ("layer.h",), "exclude_files": ("layer.h",)}
    )
    project.platform = project.platform.model_copy(update={"host": host})
    build = project.instrument()
    assert not build.diagnostics
    ran = project.run(build)
    assert (ran.exit, ran.recorded, ran.calls["bytes"].tolist()) == (0, Counter(["layerPut"]), [8])


def test_a_source_that_is_not_there(project) -> None:
    project.sources.append("gone.c")
    (problem,) = project.scan().diagnostics
    assert problem.file.endswith("gone.c")
    with pytest.raises(Exception, match="does not exist"):
        project.instrument()


def test_the_compiler_speaks_of_the_users_file(project) -> None:
    project.flags = ("-Wall", "-Wno-unknown-pragmas")
    source = project.file(
        "main.c", START + "int main(void)\n{\n    int unused;\n    return fakeReg(0, 2) + nothing;\n}\n"
    )
    build = project.instrument()
    with pytest.raises(AssertionError) as failure:
        project.run(build)
    assert f"{source}:5:9: warning: unused variable" in str(failure.value)
    assert f"{source}:6:" in str(failure.value)


def test_deterministic_counting_sees_only_the_users_blocks(project) -> None:
    """Basic blocks of the instrumented copy are those of the source: wrappers are compiled apart."""
    project.file(
        "main.c",
        START + "extern int blocks;\nint main(void)\n{\n    fake_t *f = fakeOpen(0);\n"
        "    for (int i = 1; i < 50; i++)\n        if (fakeReg(f, i) % 3)\n"
        "            #pragma recap put send(data, top.a, m)\n            fakeWrite(f, 0, 0, i);\n"
        '    printf("%d\\n", blocks);\n    return 0;\n}\n',
    )
    counter = project.work / "counter.c"
    counter.write_text("int blocks;\nvoid __sanitizer_cov_trace_pc(void) { blocks++; }\n")
    flags = ["-fsanitize-coverage=trace-pc"]
    plain = project.run(None, name="plain", flags=flags, extra=[counter])
    ran = project.run(project.instrument(), flags=flags, extra=[counter])
    assert int(plain.stdout) > 100
    assert ran.stdout == plain.stdout


def test_a_macro_that_makes_a_text_of_a_call_is_told(project) -> None:
    """Its calls are recorded, and what it shows is the one thing that may differ."""
    project.file(
        "main.c",
        '#include "fake.h"\n'
        "#include <assert.h>\n"
        "#include <stdio.h>\n"
        "#define CHECK(call) ((call) == 0 ? 0 : printf(#call))\n"
        "#define TWICE(call) ((call) + (call))\n"
        "int main(void)\n{\n"
        "    fake_t *f = fakeOpen(0);\n"
        "    assert(f);\n"
        "    CHECK(TWICE(fakeReg(f, 2)));\n"
        "    return CHECK(fakeReg(f, 3)) + TWICE(fakeRead(f, 4));\n}\n",
        source=True,
    )
    build = project.instrument()
    assert [site.line for site in build.sites] == [8, 10, 11, 11]
    assert [(d.line, d.message.partition(" ")[0]) for d in build.diagnostics if "text" in d.message] == [(10, "CHECK")]


def test_of_the_systems_libclangs_the_newest_is_taken_that_is_newer_and_has_its_headers(tmp_path: Path) -> None:
    (ours,) = Path(cindex.__file__).parent.glob("native/libclang*")

    def there(version: int, library: Path | None, *, headers: bool) -> Path:
        folder = tmp_path / f"llvm-{version}" / "lib"
        folder.mkdir(parents=True)
        file = folder / f"libclang-{version}.so.{version}"
        file.symlink_to(library) if library else file.write_text("of another machine")
        if headers:
            (folder / "clang" / str(version) / "include").mkdir(parents=True)
            (folder / "clang" / str(version) / "include" / "stddef.h").write_text("")
        return folder

    folders = [
        there(14, ours, headers=True),
        there(19, ours, headers=True),
        there(20, ours, headers=True),
        there(21, ours, headers=False),
        there(22, None, headers=True),
    ]
    found = first_that_loads(newer(folders, 18))
    assert found is not None
    assert (found.version, found.headers) == (20, tmp_path / "llvm-20" / "lib" / "clang" / "20")
    assert first_that_loads(newer(folders[:1], 18)) is None
