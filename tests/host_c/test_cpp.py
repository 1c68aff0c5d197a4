"""Hosts in C++: what is recorded of each kind of call is what was made, and the program does what it did without."""

import subprocess
from pathlib import Path

import pytest
from rc_workbench_plugins.c import CLanguage
from rc_workbench_plugins.c.reading import HIDDEN

from workbench.api import HostBuild
from workbench.api.records import read_calls
from workbench.model.application import HostSources
from workbench.model.platform import CallKind, Host, HostEntry, Platform

MAIN = """#include "card.hpp"
#include <cstdio>
#include <string>
struct words { std::string text; ~words() { std::printf("gone %s\\n", text.c_str()); } };

template <class B> int twice(B &b, int n) { b.write(n, n); return b.write(2 * n, n) + SCALE; }

int main()
{
    card::buffer b{10};
    for (int i = 0; i < 4; i++) {
        #pragma recap even send(words, top, data): i % 2 == 0
        b.write(i, words{"w"}.text.size());
    }
    int x = twice(b, 5);
    try {
        b.fail(words{"f"}.text);
    } catch (int code) {
        x += code;
    }
    std::printf("%d\\n", x);
    return 0;
}
"""
HEADER = """#pragma once
#include <string>
#define SCALE 8
namespace vendor { inline namespace v2 { namespace api {
struct buffer {
    int base;
    int write(int at, long words, int more = 0) { return at + words + more; }
    void fail(const std::string &why) { throw (int)why.size(); }
};
} } }
namespace card { using namespace vendor::api; }
"""
WRITE = "int card::buffer::write(int at, long words)"
ENTRIES = (
    HostEntry(prototype=WRITE, kind=CallKind.SEND, subtype="low", condition="at < 2", bytes="words * SCALE",
              address="self.base + at"),
    HostEntry(prototype=WRITE, kind=CallKind.SEND, subtype="high", condition="at < 10", bytes="words * SCALE",
              address="self.base + at"),
    HostEntry(prototype="void card::buffer::fail(const std::string &why)", kind=CallKind.OTHER, bytes="why.size()"),
)  # fmt: skip


@pytest.fixture
def built(tmp_path: Path) -> HostBuild:
    (tmp_path / "card.hpp").write_text(HEADER)
    (tmp_path / "main.cpp").write_text(MAIN)
    host = Host(include_lines=('"card.hpp"',), entries=ENTRIES)
    platform = Platform(schema_version=2, name="card", host=host)
    return CLanguage().instrument(tmp_path, HostSources(sources=("main.cpp",)), platform, {}, tmp_path / "build")


def test_conditions_pragmas_bytes_and_exceptions(tmp_path: Path, built: HostBuild) -> None:
    shown = {}
    for source in built.extra_sources:
        subprocess.run(["gcc", "-O1", "-c", source, "-o", tmp_path / f"{source.stem}.o"], check=True)
    objects = [tmp_path / f"{source.stem}.o" for source in built.extra_sources]
    for name, sources in (("plain", [tmp_path / "main.cpp"]), ("host", [*built.sources, *objects])):
        command = ["g++", "-std=c++14", "-Wall", f"-I{tmp_path}", *sources, "-o", tmp_path / name, "-pthread"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert all("unknown-pragmas" in line for line in done.stderr.splitlines() if "warning:" in line), done.stderr
        environment = {"RCW_RAW": str(tmp_path), "RCW_TRACE": "1"} if name == "host" else None
        shown[name] = subprocess.run([tmp_path / name], env=environment, check=True, capture_output=True).stdout
    assert shown["host"] == shown["plain"]
    calls = read_calls(tmp_path).in_order("t1_ps").at()
    told = [
        (built.sites[site].line, built.blocks[0].states[state].name, ENTRIES[entry].subtype, size, address)
        for site, state, entry, size, address in calls[["site", "state", "entry", "bytes", "address"]].tolist()
    ]
    assert told == [
        (13, "even", "low", 8, 10),
        (13, "card::buffer::write (low)", "low", 8, 11),
        (13, "even", "high", 8, 12),
        (13, "card::buffer::write (high)", "high", 8, 13),
        (6, "card::buffer::write (high)", "high", 40, 15),
        (17, "card::buffer::fail", "", 1, -1),
    ], "a write of which no entry's condition holds is not recorded"
    assert built.missed == ()


def test_what_the_parser_does_not_show_is_told(tmp_path: Path) -> None:
    """A statement before a switch's condition, and a macro of an API that has calls in C++."""
    header = HEADER + "#define PEEK(at) (*(at))\n#define WRITE(n) b.write(n, 1)\n"
    main = """#include "card.hpp"
int main()
{
    card::buffer b{1};
    int at = 4;
    if (int n = b.write(1, 2); n)
        at = PEEK(&n);
    switch (int n = b.write(3, at); n) {
    default: break;
    }
    for (int n = WRITE(3); int m : {n, 1})
        at += m;
    return at;
}
"""
    (tmp_path / "card.hpp").write_text(header)
    (tmp_path / "main.cpp").write_text(main)
    entries = (*ENTRIES, HostEntry(prototype="int PEEK(int *at)", kind=CallKind.RECEIVE))
    platform = Platform(schema_version=2, name="card", host=Host(include_lines=('"card.hpp"',), entries=entries))
    host = HostSources(sources=("main.cpp",), flags=("-std=c++20",))
    build = CLanguage().instrument(tmp_path, host, platform, {}, tmp_path / "build")
    assert [site.line for site in build.sites] == [6]
    assert sorted((one.line, one.message.partition(": ")[2]) for one in build.missed) == [
        (7, "it is a macro: in C++ its calls cannot be separated from the API's"),
        (8, HIDDEN),
        (11, HIDDEN),
    ]
